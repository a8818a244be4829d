#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "agent/disk.h"
#include "agent/fence.h"
#include "agent/host.h"
#include "agent/identity.h"
#include "agent/keeper.h"
#include "agent/link.h"
#include "agent/news.h"
#include "agent/offset.h"
#include "agent/reconcile.h"
#include "agent/scan.h"
#include "agent/spawn.h"
#include "agent/uplink.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/mbox.h"
#include "common/notify.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/xalloc.h"
#include "config.h"

#define INBOX_MAX 100000
#define SCAN_EVERY_NS (30 * NS_PER_S)
/* Without a first look at the drives the controller is kept waiting no longer. */
#define SCAN_PATIENCE_NS (20 * NS_PER_S)
/* While runs are going on the controller hears of them at least so often. */
#define BUSY_WAIT_S 5

struct agent {
	const struct agent_options *o;
	char state_dir[PATH_MAX];
	char boot_id[40];
	int lock_fd; /* of the state directory, for the life of the process */
	struct identity id;
	struct loop *loop;
	struct inbox inbox;
	struct scan_config scan_config;
	struct scan *scan;
	struct keeper *keeper;
	struct link *link;
	struct uplink *uplink;
	uint64_t epoch_seen;
	struct offset offset;	   /* of this node's clock from the controller's */
	struct drive_list *drives; /* as last seen; NULL before the first look */
	struct loop_timer *scan_patience;
	bool scanning, scan_again;
	int64_t scan_mono; /* when the look that is under way was asked for */
	bool changed;	   /* something to report may be new */
	bool awaiting;	   /* a report is at the link */
	json_t *reported;  /* the last report, NULL before the first */
	json_t *unknown;   /* of the last answer; NULL for none */
	char session[SEAL_SESSION_BYTES * 4 / 3 + 4]; /* base64, "" without one */
	bool session_asked;
	char trouble[256]; /* what keeps this node from taking runs, "" for nothing */
	char *status;	   /* last told to systemd, NULL before the first time */
};

static const struct opt rows[] = {
#define OPT(name, type, preset, min, max, help) \
	{#name, OPT_##type, offsetof(struct agent_options, name), preset, min, max, help},
#include "agent/opt_tbl.h"
#undef OPT
};

const struct opt_set agent_option_set = {
	.program = "ssdlab-agent",
	.summary = "finds the drives of a test server and runs what its controller wants",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.default_file = SSDLAB_CONF_DIR "/agent.conf",
};

/* Takes the state directory for this process; makes what is below it. */
static int
open_state(struct agent *a, struct err *e)
{
	static const char *const below[] = {"runs", "fence", "lock"};
	char path[PATH_MAX + 16];

	if (realpath(a->o->state_dir, a->state_dir) == NULL) {
		err_errno(e, ERR_IO, errno, "state directory %s", a->o->state_dir);
		return err_fix(e, "ssdlab-agent join makes it; or set state_dir");
	}
	snprintf(path, sizeof(path), "%s/agent.lock", a->state_dir);
	a->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (a->lock_fd < 0) {
		err_errno(e, ERR_IO, errno, "the state directory cannot be written: %s",
			path);
		return err_fix(e, "run as root, and check that its file system is not "
				  "full or read-only");
	}
	if (flock(a->lock_fd, LOCK_EX | LOCK_NB) != 0) {
		err_set(e, ERR_STATE, "another ssdlab-agent uses the state directory %s",
			a->state_dir);
		return err_fix(e, "stop it first (systemctl status ssdlab-agent)");
	}
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", a->state_dir, below[i]);
		if (disk_make_dir(path, e) != 0)
			return -1;
	}
	return 0;
}

static void
load_epoch(struct agent *a)
{
	char text[32];

	if (sysfs_read(a->state_dir, "epoch", text, sizeof(text)))
		parse_uint(text, 0, UINT64_MAX, &a->epoch_seen, NULL);
}

static void
raise_epoch(struct agent *a, uint64_t epoch)
{
	char *path, text[32];
	struct err e = {0};

	if (epoch <= a->epoch_seen)
		return;
	a->epoch_seen = epoch;
	path = xasprintf("%s/epoch", a->state_dir);
	snprintf(text, sizeof(text), "%" PRIu64 "\n", epoch);
	if (disk_write(path, text, strlen(text), 0600, &e) != 0)
		log_failure(LOG_LEVEL_WARN, "agent.epoch", &e);
	free(path);
}

static void
ask_scan(struct agent *a)
{
	struct drive_list *leased;

	if (a->scanning) {
		a->scan_again = true;
		return;
	}
	leased = keeper_leased(a->keeper);
	a->scanning = scan_take_request(a->scan, &leased);
	a->scan_mono = clock_mono();
	a->scan_again = false;
}

static size_t
count_attempts(const struct agent *a)
{
	size_t n = 0;

	for (const struct ward *w = keeper_first(a->keeper); w != NULL; w = w->next)
		n++;
	return n;
}

static void
fill_attempts(const struct agent *a, struct attempt_view *views)
{
	for (const struct ward *w = keeper_first(a->keeper); w != NULL; w = w->next)
		*views++ = (struct attempt_view){.id = w->a->id,
			.fence = w->a->fence,
			.state = w->recalled ? ATTEMPT_EXITED : w->a->state,
			.last_seq = w->a->last_seq,
			.acked_seq = w->acked_seq,
			.step = w->status.step,
			.point = w->status.point,
			.workload = w->status.workload,
			.cannot_stop = w->status.cannot_stop,
			.blocked = w->blocked};
}

/* The highest tokens of the drives, in their order; 0: not to be read, starts nothing. */
static void
fill_fences(const struct agent *a, uint64_t *fences)
{
	char *dir = xasprintf("%s/fence", a->state_dir);

	for (size_t i = 0; i < a->drives->n; i++)
		if (fence_read(dir, a->drives->items[i].key, &fences[i], NULL) != 0)
			fences[i] = 0;
	free(dir);
}

static int64_t
wait_s(const struct agent *a)
{
	int64_t s = a->o->reconcile_interval / NS_PER_S;

	if (s > RECONCILE_WAIT_MAX_S)
		s = RECONCILE_WAIT_MAX_S;
	return keeper_running(a->keeper) > 0 && s > BUSY_WAIT_S ? BUSY_WAIT_S : s;
}

/* Makes a view; the arrays are owned by the caller. */
static struct view
make_view(
	const struct agent *a, struct attempt_view **ret_attempts, uint64_t **ret_fences)
{
	size_t n = count_attempts(a);
	int64_t ahead = 0, doubt = -1, wall = clock_wall();

	if (!offset_best(&a->offset, clock_mono(), &ahead, &doubt) || wall < ahead)
		doubt = -1;
	*ret_attempts = xcalloc(n + 1, sizeof(**ret_attempts));
	*ret_fences = xcalloc(a->drives->n + 1, sizeof(**ret_fences));
	fill_attempts(a, *ret_attempts);
	fill_fences(a, *ret_fences);
	return (struct view){.boot_id = a->boot_id,
		.version = PACKAGE_VERSION,
		.session = a->session[0] != '\0' ? a->session : NULL,
		.wait_s = wait_s(a),
		.epoch_seen = a->epoch_seen,
		.trouble = a->trouble,
		.clock_ns = wall,
		.lab_clock_ns = wall - ahead,
		.clock_doubt_ns = doubt,
		.drives = a->drives,
		.fences = *ret_fences,
		.attempts = *ret_attempts,
		.n_attempts = n,
		.unknown = a->unknown};
}

/* Reports when there is news, or when the last report was answered. */
static int
report(void *arg)
{
	struct agent *a = arg;
	struct attempt_view *attempts;
	uint64_t *fences;
	struct view v;
	json_t *doc;
	bool urgent;

	if (a->drives == NULL || (a->awaiting && !a->changed))
		return -1;
	a->changed = false;
	v = make_view(a, &attempts, &fences);
	doc = reconcile_report(&v);
	urgent = a->reported == NULL || !reconcile_same(a->reported, doc);
	if (urgent || !a->awaiting) {
		json_decref(a->reported);
		/* A copy for the link's thread: references are not atomic. */
		a->reported = json_deep_copy(doc);
		link_take_report(a->link, &doc, urgent);
		a->awaiting = true;
	}
	json_decref(doc);
	free(attempts);
	free(fences);
	return -1;
}

static void
act(struct agent *a, const struct action *x)
{
	if (x->kind == ACTION_START)
		keeper_start(a->keeper, x->attempt, x->fence, x->program, a->drives);
	else if (x->kind == ACTION_KEEP)
		keeper_keep(a->keeper, x->attempt);
	else if (x->kind == ACTION_STOP)
		keeper_stop(a->keeper, x->attempt, x->why);
	else if (x->kind == ACTION_FORGET)
		keeper_forget(a->keeper, x->attempt);
	else if (x->kind == ACTION_RECALL)
		keeper_recall(a->keeper, x->attempt, x->fence);
}

static void
ask_session(struct agent *a)
{
	if (a->session_asked)
		return;
	a->session_asked = true;
	link_want_session(a->link);
}

/* The session of the report that was answered is still the present one. */
static bool
session_was_told(const struct agent *a)
{
	const char *told = json_string_value(json_object_get(a->reported, "session"));

	return told != NULL && strcmp(told, a->session) == 0;
}

static void
take_clock(struct agent *a, const struct answer *answer, const struct news *n)
{
	struct offset_exchange x = {n->asked_ns, n->came_ns, n->came_wall_ns,
		(int64_t)answer->answered_ns, (int64_t)answer->held_ns};

	offset_add(&a->offset, &x);
}

static void
take_answer(struct agent *a, const struct news *n)
{
	struct attempt_view *attempts;
	struct answer answer;
	struct err e = {0};
	uint64_t *fences;
	struct view v = make_view(a, &attempts, &fences);

	v.answer_age_ns = clock_mono() - n->asked_ns;
	if (reconcile_compare(&v, n->doc, &answer, &e) != 0) {
		log_failure(LOG_LEVEL_WARN, "reconcile.answer", &e);
	} else {
		if (answer.epoch_back)
			log_err("reconcile.epoch",
				"epoch=%" PRIu64 " seen=%" PRIu64 " why=%s", answer.epoch,
				a->epoch_seen,
				log_q("the controller is older than one that was here; "
				      "was its database restored? nothing is started"));
		raise_epoch(a, answer.epoch);
		take_clock(a, &answer, n);
		if (!answer.session_known && session_was_told(a))
			ask_session(a);
		for (size_t i = 0; i < answer.n; i++)
			act(a, &answer.actions[i]);
		json_decref(a->unknown);
		a->unknown = json_incref(answer.unknown);
		if (answer.late != 0)
			keeper_late(a->keeper, answer.late, v.answer_age_ns);
		answer_fini(&answer);
	}
	free(attempts);
	free(fences);
	a->awaiting = false;
}

/* What became of one drive between two looks. */
static void
log_drive(const struct seen_drive *d, const struct seen_drive *before)
{
	if (before != NULL && strcmp(before->path, d->path) == 0 &&
		strcmp(before->reasons, d->reasons) == 0)
		return;
	log_info(before == NULL ? "drive.found" : "drive.changed",
		"serial=%s model=%s path=%s protected=%s", log_q(d->id.serial),
		log_q(d->id.model), log_q(d->path), log_q(d->reasons));
}

static void
log_drives(const struct drive_list *before, const struct drive_list *now)
{
	for (size_t i = 0; i < now->n; i++)
		log_drive(&now->items[i], drive_list_find(before, now->items[i].key));
	for (size_t i = 0; before != NULL && i < before->n; i++)
		if (drive_list_find(now, before->items[i].key) == NULL)
			log_warn("drive.gone", "serial=%s path=%s",
				log_q(before->items[i].id.serial),
				log_q(before->items[i].path));
}

/* A look that began before a runner took its drive sees that somebody holds it. */
static void
clear_leased(struct agent *a, struct drive_list *l)
{
	struct drive_list *leased = keeper_leased(a->keeper);

	for (size_t i = 0; i < l->n; i++)
		if (drive_list_find(leased, l->items[i].key) != NULL)
			l->items[i].reasons[0] = '\0';
	drive_list_free(leased);
}

static void
take_drives(struct agent *a, struct drive_list **l)
{
	a->scanning = false;
	loop_timer_stop(a->loop, a->scan_patience);
	a->scan_patience = NULL;
	clear_leased(a, *l);
	if (a->drives == NULL || !drive_list_equal(a->drives, *l)) {
		log_drives(a->drives, *l);
		a->changed = true;
	}
	drive_list_free(a->drives);
	a->drives = *l;
	*l = NULL;
	if (a->scan_again)
		ask_scan(a);
}

static void
take_session(struct agent *a, const struct seal_session *s)
{
	a->session_asked = false;
	seal_base64(s->id, sizeof(s->id), a->session);
	uplink_session(a->uplink, s);
	a->changed = true;
}

static void
on_news(void *arg)
{
	struct agent *a = arg;
	struct news *n;

	while ((n = mbox_get(a->inbox.m, 0)) != NULL) {
		switch (n->kind) {
		case NEWS_ANSWER:
			take_answer(a, n);
			break;
		case NEWS_REFUSED:
			a->awaiting = false;
			break;
		case NEWS_SESSION:
			take_session(a, &n->session);
			break;
		case NEWS_DRIVES:
			take_drives(a, &n->drives);
			break;
		case NEWS_PROGRESS:
			keeper_progress(a->keeper, n->attempt, n->last_seq, n->acked_seq);
			break;
		case NEWS_BLOCKED:
			keeper_blocked(a->keeper, n->attempt, n->why);
			break;
		case NEWS_WANT_SESSION:
			ask_session(a);
			break;
		}
		news_free(n);
	}
}

static void
tell_uplink(struct agent *a, const struct ward *w)
{
	char spool[PATH_MAX + 64];

	attempt_spool(w->a, spool, sizeof(spool));
	uplink_stream(a->uplink, w->a->id, w->a->fence, spool, w->a->last_seq,
		!attempt_has_process(w->a->state));
}

static void
on_changed(void *arg, const struct ward *w)
{
	struct agent *a = arg;

	a->changed = true;
	if (w->a->state != ATTEMPT_FORGOTTEN)
		tell_uplink(a, w);
	/* Its drive is free again: what holds it now, if anything? */
	if (w->a->state == ATTEMPT_EXITED && a->drives != NULL)
		ask_scan(a);
}

static void
on_dropped(void *arg, uint64_t attempt)
{
	struct agent *a = arg;

	uplink_drop(a->uplink, attempt);
}

/* Tells systemd what has changed of it. */
static void
tell_status(struct agent *a)
{
	char *text = xasprintf("node %s of %s, %zu drives, %zu runs%s", a->id.name,
		a->id.url, a->drives != NULL ? a->drives->n : 0,
		keeper_running(a->keeper),
		a->session[0] != '\0' ? "" : ", no session yet");

	if (a->status == NULL || strcmp(text, a->status) != 0)
		notify_status(text);
	free(a->status);
	a->status = text;
}

static void
look_for_trouble(struct agent *a)
{
	char text[sizeof(a->trouble)];

	host_trouble(a->state_dir, a->trouble, text, sizeof(text));
	if (text[0] == '\0')
		keeper_trouble(a->keeper, text, sizeof(text));
	if (text[0] == '\0')
		fence_trouble(a->state_dir, a->drives, text, sizeof(text));
	if (strcmp(text, a->trouble) == 0)
		return;
	if (text[0] != '\0')
		log_err("agent.trouble", "why=%s", log_q(text));
	else
		log_info("agent.well", "after=%s", log_q(a->trouble));
	memcpy(a->trouble, text, sizeof(text));
	a->changed = true;
}

static void
on_second(void *arg)
{
	struct agent *a = arg;

	look_for_trouble(a);
	keeper_tick(a->keeper);
	/* So that the uplink knows how far it is behind what is written now, and tries
	 * again to open a spool that it could not. */
	for (const struct ward *w = keeper_first(a->keeper); w != NULL; w = w->next)
		if (w->a->state != ATTEMPT_FORGOTTEN)
			tell_uplink(a, w);
	tell_status(a);
}

static void
on_scan_time(void *arg)
{
	struct agent *a = arg;

	if (!a->scanning)
		ask_scan(a);
	else if (clock_mono() - a->scan_mono >= SCAN_EVERY_NS)
		log_warn("scan.slow", "why=%s",
			log_q("asking the drives takes longer than 30 s; does one hang? "
			      "see dmesg"));
}

/* A drive that hangs must not keep the running attempts from being reported. */
static void
on_scan_patience(void *arg)
{
	struct agent *a = arg;

	a->scan_patience = NULL;
	log_err("scan.stuck", "why=%s",
		log_q("the first look at the drives does not end, does one hang? see "
		      "dmesg; this node is reported without idle drives until it does"));
	a->drives = keeper_leased(a->keeper);
}

static void
on_watchdog(void *arg)
{
	(void)arg;
	notify_alive();
}

static void
on_end(void *arg)
{
	struct agent *a = arg;

	log_info("agent.stop", "runs=%zu", keeper_running(a->keeper));
	notify_stopping();
	loop_stop(a->loop);
}

static void
on_hangup(void *arg)
{
	ask_scan(arg);
}

/* Signals are taken before the first thread, so that all threads have them blocked. */
static int
start_loop(struct agent *a, struct err *e)
{
	if (loop_new(&a->loop, e) != 0 ||
		loop_signal(a->loop, SIGTERM, on_end, a, e) != 0 ||
		loop_signal(a->loop, SIGINT, on_end, a, e) != 0 ||
		loop_signal(a->loop, SIGHUP, on_hangup, a, e) != 0)
		return -1;
	signal(SIGPIPE, SIG_IGN);
	a->inbox.l = a->loop;
	a->inbox.m = mbox_new(INBOX_MAX);
	loop_on_wake(a->loop, on_news, a);
	return 0;
}

static int
start_threads(struct agent *a, struct err *e)
{
	a->scan_config = (struct scan_config){.keep_path = a->state_dir,
		.allow_virtual = a->o->allow_virtual_drives,
		.virtual_dir = a->o->virtual_dir,
		.virtual_devices = a->o->virtual_devices};
	if (scan_start(&a->scan, &a->scan_config, &a->inbox, e) != 0 ||
		link_start(&a->link, &a->id, a->o->ca_file, a->state_dir, &a->inbox, e) !=
			0 ||
		uplink_start(&a->uplink, &a->id, &a->inbox, UPLINK_ANSWER_NS, e) != 0)
		return -1;
	return 0;
}

static int
start_keeper(struct agent *a, struct err *e)
{
	struct keeper_env env = {.loop = a->loop,
		.state_dir = a->state_dir,
		.runner_path = a->o->runner_path,
		.boot_id = a->boot_id,
		.max_runs = a->o->max_runs,
		.retention_ns = a->o->spool_retention,
		.spool_limit = a->o->spool_limit,
		.arg = a,
		.changed = on_changed,
		.dropped = on_dropped};

	a->keeper = keeper_new(&env);
	return keeper_load(a->keeper, e);
}

static void
start_timers(struct agent *a)
{
	int64_t watchdog = notify_watchdog_ns();

	a->scan_patience = loop_timer_start(
		a->loop, SCAN_PATIENCE_NS, 0, on_scan_patience, a);
	loop_timer_start(a->loop, NS_PER_S, NS_PER_S, on_second, a);
	loop_timer_start(a->loop, SCAN_EVERY_NS, SCAN_EVERY_NS, on_scan_time, a);
	if (watchdog > 0)
		loop_timer_start(a->loop, watchdog, watchdog, on_watchdog, a);
	loop_set_prepare(a->loop, report, a);
}

static int
start(struct agent *a, struct err *e)
{
	if (identity_load(a->o->state_dir, &a->id, e) != 0 || open_state(a, e) != 0 ||
		spawn_check(a->o->runner_path, e) != 0)
		return -1;
	host_boot_id(a->boot_id, sizeof(a->boot_id));
	load_epoch(a);
	if (start_loop(a, e) != 0 || start_threads(a, e) != 0 || start_keeper(a, e) != 0)
		return -1;
	start_timers(a);
	ask_session(a);
	ask_scan(a);
	log_info("agent.start", "version=%s node=%s controller=%s state_dir=%s runs=%zu",
		PACKAGE_VERSION, a->id.name, a->id.url, log_q(a->state_dir),
		keeper_running(a->keeper));
	notify_ready();
	tell_status(a);
	return 0;
}

static void
stop(struct agent *a)
{
	struct news *n;

	uplink_stop(a->uplink);
	link_stop(a->link);
	keeper_free(a->keeper);
	if (!scan_stop(a->scan)) {
		log_warn("scan.left", "why=%s",
			log_q("a look at the drives does not end; the process ends "
			      "without it"));
		_exit(EXIT_SUCCESS);
	}
	while (a->inbox.m != NULL && (n = mbox_get(a->inbox.m, 0)) != NULL)
		news_free(n);
	mbox_free(a->inbox.m);
	loop_free(a->loop);
	free(a->status);
	drive_list_free(a->drives);
	json_decref(a->reported);
	json_decref(a->unknown);
	if (a->lock_fd >= 0)
		close(a->lock_fd);
	seal_wipe(&a->id, sizeof(a->id));
	free(a);
}

int
agent_run(const struct agent_options *o, struct err *e)
{
	struct agent *a = xcalloc(1, sizeof(*a));
	int rc;

	a->o = o;
	a->lock_fd = -1;
	rc = start(a, e);
	if (rc == 0)
		rc = loop_run(a->loop, e);
	stop(a);
	return rc;
}
