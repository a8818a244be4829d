#include "runner/run.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/program.h"
#include "common/sysfs.h"
#include "common/xalloc.h"
#include "config.h"
#include "runner/chore.h"
#include "runner/claim.h"
#include "runner/control.h"
#include "runner/engine.h"
#include "runner/health.h"
#include "runner/manifest.h"
#include "runner/outbox.h"
#include "runner/purge.h"
#include "runner/resume.h"
#include "runner/smart.h"
#include "runner/start.h"
#include "runner/steps.h"
#include "runner/witness.h"

#define USAGE "usage: ssdlab-runner run --dir DIR --state-dir DIR --drive PATH\n"
#define HELP                                                                             \
	USAGE "Executes the run program DIR/program.json; ssdlab-agent starts this.\n\n" \
	      "  --dir DIR        the attempt: program, spool and socket\n"              \
	      "  --state-dir DIR  the node: fence tokens and locks of its drives\n"      \
	      "  --drive PATH     the drive, which must be the one of the program\n"

/* How long samples may wait for space once everything is measured. */
#define SETTLE_NS (600 * NS_PER_S)
#define POLL_MS 100

struct run {
	const char *dir;
	const char *state_dir;
	const char *drive;
	char *spool_dir;
	struct program program;
	struct outbox *outbox;
	struct control *control;
	struct control_status status;
	struct claim *claim;
	struct resume resume;		/* what an earlier runner of the attempt left */
	char block_dir[SYSFS_PATH_MAX]; /* of the drive */
	struct health_place health;	/* of the drive that was taken */
	atomic_bool hurry;		/* it is told to stop */
	struct steps_result result;
};

/* Returns -1 when the command line is not complete. */
static int
parse_args(struct run *r, int argc, char **argv, bool *ret_help)
{
	static const struct option options[] = {
		{"dir", required_argument, NULL, 'd'},
		{"state-dir", required_argument, NULL, 's'},
		{"drive", required_argument, NULL, 'D'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c;

	*ret_help = false;
	optind = 1;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): before threads start */
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'd')
			r->dir = optarg;
		else if (c == 's')
			r->state_dir = optarg;
		else if (c == 'D')
			r->drive = optarg;
		else if (c == 'h')
			*ret_help = true;
		else
			return -1;
	}
	if (*ret_help)
		return 0;
	if (optind != argc || r->dir == NULL || r->state_dir == NULL || r->drive == NULL)
		return -1;
	return 0;
}

static const char *
tick(void *arg)
{
	struct run *r = arg;

	outbox_tick(r->outbox);
	control_poll(r->control, &r->status, 0);
	if (control_stop_reason(r->control) != NULL)
		atomic_store(&r->hurry, true);
	return control_stop_reason(r->control);
}

static int
verify(void *arg, struct drive_id *ret_seen, struct err *e)
{
	struct run *r = arg;

	return claim_verify(r->claim, ret_seen, e);
}

/* A look at the drive is short: it goes on when the run is told to stop. */
static bool
go_on(void *arg)
{
	tick(arg);
	return true;
}

static int
witness(void *arg, char *ret_text, struct err *e)
{
	struct run *r = arg;
	const struct purge_job job = {
		.fd = claim_fd(r->claim),
		.drive = &r->program.drive,
		.tick = go_on,
		.arg = r,
	};

	return witness_take(&job, ret_text, e);
}

/* Tells how the drive was found or left, for those who will have to know whether somebody
 * else has written to it; null when it cannot be read. */
static void
tell_witness(struct run *r, const char *event)
{
	char text[WITNESS_MAX];
	struct err e = {0};
	json_t *o = json_object();

	if (witness(r, text, &e) == 0)
		json_put(o, "witness", json_string(text));
	else
		json_put(o, "witness", json_null());
	outbox_event(r->outbox, event, o);
}

static int
read_program(struct run *r, struct err *e)
{
	char *path = xasprintf("%s/program.json", r->dir);
	json_t *doc = NULL;
	int rc = json_read_file(path, &doc, e);

	if (rc == 0 && (rc = program_from_json(doc, &r->program, e)) != 0)
		err_ctx(e, "%s, %s", path, e->pointer);
	json_decref(doc);
	free(path);
	return rc;
}

/* Finds the directory of the drive in sysfs by its descriptor. */
static const char *
find_block_dir(struct run *r)
{
	struct stat st;

	return fstat(claim_fd(r->claim), &st) == 0 && S_ISBLK(st.st_mode) &&
			       sysfs_block_dir(st.st_rdev, r->block_dir)
		       ? r->block_dir
		       : NULL;
}

static bool
is_nvme(const struct run *r)
{
	return r->program.drive.kind == DRIVE_NVME;
}

/* Tells what machine this is, before anything is measured on it. */
static void
tell_environment(struct run *r)
{
	json_t *format = is_nvme(r) ? smart_format(claim_fd(r->claim)) : json_null();
	const struct manifest_place place = {.root = "",
		.block_dir = r->health.block_dir,
		.drive = &r->program.drive,
		.format = format,
		/* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets it */
		.agent = getenv("SSDLAB_AGENT_VERSION"),
		.liburing = LIBURING_VERSION};
	json_t *o = json_object();

	json_put(o, "manifest", manifest_make(&place));
	outbox_event(r->outbox, "environment", o);
	json_decref(format);
}

/* For polls: on another thread, which nothing here but r->health is for. */
static int
read_health(void *arg, struct err *e)
{
	const struct run *r = arg;

	return health_answer(&r->health, e);
}

struct look {
	const struct health_place *place;
	json_t *doc;
};

static int
look(void *arg, struct err *e)
{
	struct look *l = arg;

	(void)e;
	l->doc = health_read(l->place);
	return 0;
}

static void
hear(void *arg)
{
	tick(arg);
}

/* Tells how the drive is, before or after everything is done to it. It may take long to
 * answer, and who asks the runner meanwhile is answered. */
static void
tell_health(struct run *r, const char *moment)
{
	struct look l = {&r->health, NULL};
	json_t *o = json_object();

	if (chore_once(look, &l, hear, r, NULL) != 0)
		look(&l, NULL);
	json_put(o, "moment", json_string(moment));
	json_put(o, "health", l.doc);
	outbox_event(r->outbox, "health", o);
}

/* The engine is the kernel's own; a run on another one would be another measurement. */
static void
run_program(struct run *r)
{
	struct err e = {0};
	struct steps_env env = {
		.program = &r->program,
		.engine = engine_named("uring"),
		.outbox = r->outbox,
		.resume = r->resume.begun ? &r->resume : NULL,
		.status = &r->status,
		.verify = verify,
		.witness = witness,
		.read_health = read_health,
		.tick = tick,
		.arg = r,
	};

	if (read_program(r, &e) != 0) {
		steps_fail(&r->result, e.class == ERR_INVALID ? "recipe" : "infra", &e);
		return;
	}
	if (r->resume.begun && !resume_is_possible(&r->resume, &r->program)) {
		err_set(&e, ERR_STATE,
			"this attempt was started before and ended without a result");
		r->result.points = r->resume.points;
		steps_fail(&r->result, "infra", &e);
		return;
	}
	log_info("run.start", "run=r%" PRIu64 " attempt=%" PRIu64 " drive=%s",
		r->program.run, r->program.attempt, log_q(r->program.drive.serial));
	if (claim_take(&r->claim, &r->program, r->state_dir, r->drive, &e) != 0) {
		steps_fail(&r->result, steps_class(&e), &e);
		return;
	}
	env.fd = claim_fd(r->claim);
	env.place = (struct reading_place){find_block_dir(r), is_nvme(r), env.fd};
	r->health = (struct health_place){
		&r->program.drive, env.fd, env.place.block_dir, "smartctl", &r->hurry};
	tell_witness(r, "drive.found");
	tell_environment(r);
	tell_health(r, "before");
	/* One that goes on with a step has begun before. */
	if (r->resume.step == 0)
		start_wait(&r->program.start, r->outbox, tick, r);
	steps_run(&env, &r->result);
	/* a drive that fails may take minutes for each block */
	if (r->result.end != STEPS_FAILED)
		tell_witness(r, "drive.left");
	tell_health(r, "after");
	if (r->result.end != STEPS_CANCELLED || control_is_cancelled(r->control))
		return;
	/* Nobody gave the run up: it may be tried again when the server is back. */
	err_set(&e, ERR_STATE, "%s", control_stop_reason(r->control));
	steps_fail(&r->result, "infra", &e);
}

static void
tell_result(struct run *r)
{
	static const char *const states[] = {
		[STEPS_DONE] = "done",
		[STEPS_FAILED] = "failed",
		[STEPS_CANCELLED] = "cancelled",
	};
	const struct steps_result *s = &r->result;
	json_t *o = json_object();

	json_put(o, "state", json_string(states[s->end]));
	json_put(o, "class", s->class != NULL ? json_string(s->class) : json_null());
	json_put(o, "reason", json_text(s->reason));
	json_put(o, "points", json_integer(s->points));
	outbox_result(r->outbox, o);
	log_info("run.end", "state=%s class=%s points=%" PRIu32 " reason=%s",
		states[s->end], s->class != NULL ? s->class : "none", s->points,
		log_q(s->reason));
}

/* Gives up the samples that wait so that the rest can use the space the spool keeps. */
static void
settle_for_less(struct run *r, const char *reason)
{
	outbox_give_up_samples(r->outbox, reason);
	outbox_sync(r->outbox);
}

/*
 * Waits until the spool has everything. When it is full the samples that wait in memory
 * get some minutes; then they are given up, and the rest is kept until there is room. A
 * word to end shortens that: what still finds no room then is lost. Returns the exit
 * code.
 */
static int
settle(struct run *r)
{
	int64_t deadline = clock_mono() + SETTLE_NS;
	unsigned stops = control_stops(r->control);

	outbox_sync(r->outbox);
	while (!outbox_is_settled(r->outbox)) {
		r->status.last_seq = outbox_last(r->outbox);
		control_poll(r->control, &r->status, POLL_MS);
		if (control_stops(r->control) != stops)
			break;
		if (clock_mono() > deadline) {
			settle_for_less(r, "the spool stayed full after the last point");
			deadline = INT64_MAX;
		}
		outbox_tick(r->outbox);
	}
	if (!outbox_is_settled(r->outbox))
		settle_for_less(r, "the spool was full when the runner was told to end");
	if (!outbox_is_settled(r->outbox)) {
		log_err("run.unsettled", "waiting=%zu why=%s", outbox_waiting(r->outbox),
			log_q(control_stop_reason(r->control)));
		return 1;
	}
	r->status.state = "ended";
	r->status.last_seq = outbox_last(r->outbox);
	control_poll(r->control, &r->status, 0);
	return 0;
}

/* Ends an attempt that nobody could ask or stop. Returns the exit code. */
static int
fail_attempt(struct run *r, const struct err *e)
{
	steps_fail(&r->result, "infra", e);
	tell_result(r);
	outbox_sync(r->outbox);
	return outbox_is_settled(r->outbox) ? 0 : 1;
}

/* Everything once the spool and the socket are open. Returns the exit code. */
static int
run_attempt(struct run *r)
{
	struct err e = {0};

	if (resume_read(r->spool_dir, &r->resume, &e) != 0)
		return fail_attempt(r, &e);
	if (r->resume.has_result)
		return 0;
	outbox_count_samples(r->outbox, r->resume.samples);
	run_program(r);
	tell_result(r);
	return settle(r);
}

int
run_command(int argc, char **argv)
{
	struct run r = {.status = {.state = "starting", .load_percent = (double)NAN}};
	struct err e = {0};
	int code = 1;
	bool help;

	if (parse_args(&r, argc, argv, &help) != 0) {
		fputs(USAGE, stderr);
		return 2;
	}
	if (help) {
		fputs(HELP, stdout);
		return 0;
	}
	signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of write(2) then */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN); /* the terminal or agent that started us may go */
	r.spool_dir = xasprintf("%s/spool", r.dir);
	if (outbox_open(&r.outbox, r.spool_dir, &e) != 0)
		log_failure(LOG_LEVEL_ERR, "run.start", &e);
	else if (control_open(&r.control, r.dir, &e) != 0)
		code = fail_attempt(&r, &e);
	else
		code = run_attempt(&r);
	control_close(r.control);
	claim_drop(r.claim);
	outbox_close(r.outbox);
	resume_fini(&r.resume);
	program_fini(&r.program);
	free(r.spool_dir);
	return code;
}
