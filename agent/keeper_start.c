#include "agent/keeper_priv.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/disk.h"
#include "agent/fence.h"
#include "agent/scan.h"
#include "agent/stream.h"
#include "common/json.h"
#include "common/program.h"
#include "common/sysfs.h"
#include "common/xalloc.h"

/* An attempt that is not to be: its RESULT says why. */
static void
refuse(struct ward *w, const struct err *why)
{
	const char *class = why->class == ERR_UNSAFE ? "safety" : "infra";
	struct err e = {0};

	log_warn("attempt.refused",
		"attempt=%" PRIu64 " run=r%" PRIu64 " class=%s why=%s fix=%s", w->a->id,
		w->a->run, class, log_q(why->text), log_q(why->fix));
	if (attempt_refuse(w->a, class, why->text, &e) != 0)
		ward_stuck(w, &e);
	ward_tell(w);
}

/* Raises the fence of the drive; from here on no older token starts anything. */
static int
raise_fence(struct ward *w, struct err *e)
{
	struct keeper *k = w->k;
	bool ours = true;
	uint64_t have;

	/* An attempt was saved before its token was raised, so whose it is, is known. */
	for (const struct ward *o = k->first; o != NULL; o = o->next)
		ours = ours && (o == w || o->a->fence != w->a->fence);
	if (fence_read(k->fence_dir, w->a->drive_key, &have, e) != 0 ||
		fence_judge(have, w->a->fence, ours, e) != 0)
		return -1;
	if (have == w->a->fence)
		return 0;
	return fence_raise(k->fence_dir, w->a->drive_key, w->a->fence, e);
}

static int
check_free(const struct ward *w, struct err *e)
{
	for (const struct ward *o = w->k->first; o != NULL; o = o->next)
		if (o != w && attempt_has_process(o->a->state) &&
			strcmp(o->a->drive_key, w->a->drive_key) == 0)
			return err_set(e, ERR_UNSAFE,
				"drive %s is still held by attempt %" PRIu64
				" on this node",
				w->drive.serial, o->a->id);
	return 0;
}

/* Raises the fence and spawns; what fails makes it refused. */
static void
launch(struct ward *w)
{
	struct keeper *k = w->k;
	struct err e = {0};

	if (check_free(w, &e) != 0 || raise_fence(w, &e) != 0 ||
		spawn_runner(k->env.runner_path, k->env.state_dir, w->a, &w->proc, &e) !=
			0) {
		refuse(w, &e);
		return;
	}
	ward_watch(w);
	w->a->pid = w->proc.pid;
	/* Without it on disk the runner is found by its socket instead. */
	if (attempt_save(w->a, &e) != 0)
		log_failure(LOG_LEVEL_WARN, "attempt.save", &e);
	log_info("runner.start",
		"attempt=%" PRIu64 " run=r%" PRIu64 " pid=%d drive=%s serial=%s",
		w->a->id, w->a->run, (int)w->proc.pid, log_q(w->a->drive_path),
		log_q(w->drive.serial));
	ward_tell(w);
}

bool
ward_restart(struct ward *w)
{
	struct keeper *k = w->k;
	struct attempt *a = w->a;
	struct err e = {0};
	int rc = w->has_rounds ? attempt_can_go_on(a, &e) : 0;

	if (rc == 0)
		return false;
	if (rc < 0) {
		ward_stuck(w, &e);
		return true;
	}
	if (!w->wanted) {
		w->retry_mono = clock_mono() + KEEPER_RETRY_NS;
		return true;
	}
	a->restarts++;
	w->gone_mono = 0;
	ward_drop_socket(w);
	/* Counted on disk before there is a process: it is never started without end. */
	rc = attempt_save(a, &e);
	if (rc == 0)
		rc = spawn_runner(k->env.runner_path, k->env.state_dir, a, &w->proc, &e);
	if (rc != 0) {
		ward_say(w, LOG_LEVEL_WARN, "runner.restart", &e);
		a->restarts--;
		return false;
	}
	ward_watch(w);
	a->exit_known = false;
	a->pid = w->proc.pid;
	if (attempt_save(a, &e) != 0)
		log_failure(LOG_LEVEL_WARN, "attempt.save", &e);
	log_warn("runner.restart",
		"attempt=%" PRIu64 " run=r%" PRIu64 " pid=%d restart=%u of=%d", a->id,
		a->run, (int)a->pid, a->restarts, ATTEMPT_RESTARTS_MAX);
	ward_tell(w);
	return true;
}

/* Checks a program against its order; *ret_p is owned when it succeeds. */
static int
read_program(const json_t *doc, uint64_t attempt, uint64_t fence, struct program *ret_p,
	struct err *e)
{
	if (program_from_json(doc, ret_p, e) != 0)
		return err_ctx(e, "the run program is not understood");
	if (ret_p->attempt == attempt && ret_p->fence == fence)
		return 0;
	program_fini(ret_p);
	return err_set(
		e, ERR_INVALID, "the run program is for another attempt or fence token");
}

/* Where the drive is now; why it may not be a target. */
static int
locate(struct ward *w, const struct drive_list *drives, struct err *e)
{
	const struct seen_drive *d = drive_list_find(drives, w->a->drive_key);

	if (d == NULL)
		return err_set(e, ERR_NOTFOUND,
			"drive %s %s is not on this node (any more)", w->drive.model,
			w->drive.serial);
	if (drive_same(&w->drive, &d->id, e) != 0)
		return err_ctx(e, "%s", d->path);
	if (d->reasons[0] != '\0')
		return err_set(e, ERR_UNSAFE, "%s: %s", d->path, d->reasons);
	snprintf(w->a->drive_path, sizeof(w->a->drive_path), "%s", d->path);
	return 0;
}

/* Makes the attempt durable before anything happens for it. */
static int
save_new(struct ward *w, const json_t *program, struct err *e)
{
	char path[4096];

	if (disk_make_dir(w->a->dir, e) != 0)
		return -1;
	attempt_file(w->a, "program.json", path, sizeof(path));
	if (disk_write_json(path, program, 0600, e) != 0)
		return -1;
	/* For the case that the disk loses agent.json: no program tells where its drive
	 * was found. */
	attempt_file(w->a, "drive", path, sizeof(path));
	if (disk_write(path, w->a->drive_path, strlen(w->a->drive_path), 0600, e) != 0)
		return -1;
	return attempt_save(w->a, e);
}

/* Not more often than once a minute: the controller asks every second. */
static void
say_later(int64_t *said_mono, uint64_t attempt, const struct err *e)
{
	int64_t now = clock_mono();

	if (*said_mono != 0 && now - *said_mono < 60 * NS_PER_S)
		return;
	*said_mono = now;
	log_warn("attempt.later", "attempt=%" PRIu64 " why=%s fix=%s", attempt,
		log_q(e->text), log_q(e->fix));
}

void
keeper_late(struct keeper *k, uint64_t attempt, int64_t age_ns)
{
	struct err e = {0};

	if (k->late != attempt) {
		k->late = attempt;
		return;
	}
	err_set(&e, ERR_TIMEOUT,
		"the answers that ask for it are too long on their way (%" PRId64
		".%" PRId64 " s) to be sure that it is still wanted",
		age_ns / NS_PER_S, age_ns % NS_PER_S / (100 * NS_PER_MS));
	err_fix(&e, "is the controller overloaded, is the network slow, does this host "
		    "hang? nothing is started before an answer comes within 5 s");
	say_later(&k->late_said_mono, attempt, &e);
}

bool
ward_give_way(struct ward *w)
{
	struct err e = {0};

	w->gives_way = attempt_set_aside(w->a, &e) != 0;
	if (w->gives_way) {
		ward_stuck(w, &e);
		return false;
	}
	w->said[0] = w->stuck[0] = '\0';
	log_info("attempt.aside", "attempt=%" PRIu64 " fence=%" PRIu64 " dir=%s",
		w->a->id, w->a->fence, log_q(w->a->dir));
	return true;
}

/*
 * Another controller, and one whose database is older than what was here, give the
 * numbers of attempts again: with another token it is another attempt.
 */
static bool
give_way(struct ward *w, uint64_t fence)
{
	if (w->a->state != ATTEMPT_FORGOTTEN || w->a->fence == fence)
		return false;
	return ward_give_way(w);
}

/* A controller whose database is older than what it has acknowledged gets all again. */
void
keeper_recall(struct keeper *k, uint64_t attempt, uint64_t fence)
{
	struct ward *w = ward_find(k, attempt);

	if (w == NULL || w->a->state != ATTEMPT_FORGOTTEN || w->a->fence != fence)
		return;
	w->acked_seq = 0;
	w->gives_way = false;
	w->recalled = !ward_step(w, ATTEMPT_EV_RECALL);
}

void
keeper_start(struct keeper *k, uint64_t attempt, uint64_t fence, const json_t *program,
	const struct drive_list *drives)
{
	struct err bad = {0}, e = {0};
	struct program p = {0};
	struct ward *w = ward_find(k, attempt);
	int rc;

	keeper_recall(k, attempt, fence);
	if (w != NULL && !give_way(w, fence))
		return;
	k->late = 0;
	if (keeper_running(k) >= k->env.max_runs) {
		err_set(&e, ERR_BUSY, "max_runs (%" PRIu64 ") runners are at work",
			k->env.max_runs);
		err_fix(&e, "it is started when one ends; or raise max_runs");
		say_later(&k->full_said_mono, attempt, &e);
		return;
	}
	rc = read_program(program, attempt, fence, &p, &bad);
	w = ward_add(k, attempt_new(k->runs_dir, attempt, p.run, fence));
	w->drive = p.drive;
	w->has_rounds = rc == 0 && program_has_rounds(&p);
	w->wanted = true;
	snprintf(w->a->boot_id, sizeof(w->a->boot_id), "%s", k->env.boot_id);
	if (rc == 0) {
		drive_key(&p.drive, w->a->drive_key);
		rc = locate(w, drives, &bad);
		program_fini(&p);
	}
	if (save_new(w, program, &e) != 0) {
		say_later(&k->full_said_mono, attempt, &e);
		ward_remove(w);
	} else if (rc != 0) {
		refuse(w, &bad);
	} else {
		launch(w);
	}
}

/* The drive of an attempt from an earlier life, for scans that must not open it. */
static int
load_drive(struct ward *w, struct err *e)
{
	struct program p = {0};
	char path[4096];
	json_t *doc = NULL;
	int rc;

	attempt_file(w->a, "program.json", path, sizeof(path));
	if (json_read_file(path, &doc, e) != 0)
		return -1;
	rc = program_from_json(doc, &p, e);
	if (rc == 0) {
		w->drive = p.drive;
		w->has_rounds = program_has_rounds(&p);
		program_fini(&p);
	}
	json_decref(doc);
	return rc;
}

/*
 * No runner was spawned for it, or one that did not even make its spool, which is its
 * first act: agent.json has no process, nothing has its lock, and the drive was not
 * written to. In this order: what has the lock may make the spool at any time.
 */
static bool
never_began(const struct attempt *a)
{
	char spool[4096];

	attempt_spool(a, spool, sizeof(spool));
	return a->state == ATTEMPT_STARTING && a->pid == 0 && !a->stop_asked &&
	       !a->rebooted && !spawn_alive(a) && access(spool, F_OK) != 0 &&
	       errno == ENOENT;
}

/*
 * Its start was wanted before this agent was there, and may be wanted no more. So it
 * never was: a controller that does not see it in the report asks for it again or takes
 * it back.
 */
static bool
drop_unbegun(const struct attempt *a)
{
	struct err e = {0};

	if (disk_remove_tree(a->dir, &e) != 0) {
		log_failure(LOG_LEVEL_WARN, "attempt.remove", &e);
		return false; /* ended with a RESULT instead */
	}
	log_info("attempt.unbegun", "attempt=%" PRIu64 " run=r%" PRIu64 " why=%s", a->id,
		a->run,
		log_q("the agent ended before it started the runner; the controller is "
		      "to ask again"));
	return true;
}

/* Takes up an attempt from an earlier life; never starts anything. */
static void
adopt(struct keeper *k, struct attempt *a)
{
	struct err e = {0};
	struct ward *w;
	char spool[4096];

	a->rebooted = strcmp(a->boot_id, k->env.boot_id) != 0;
	if (a->rebooted)
		a->pid = 0; /* a number of another boot */
	if (never_began(a) && drop_unbegun(a)) {
		attempt_free(a);
		return;
	}
	w = ward_add(k, a);
	attempt_spool(a, spool, sizeof(spool));
	w->acked_seq = stream_watermark(spool);
	if (attempt_mend(a, &e) != 0)
		ward_stuck(w, &e);
	if (!attempt_has_process(a->state))
		return;
	a->program_lost = load_drive(w, &e) != 0;
	if (a->program_lost)
		log_failure(LOG_LEVEL_ERR, "attempt.program", &e);
	log_info("attempt.found",
		"attempt=%" PRIu64 " run=r%" PRIu64 " state=%s alive=%s", a->id, a->run,
		attempt_state_name(a->state), spawn_alive(a) ? "yes" : "no");
}

/*
 * An attempt whose agent.json the disk has damaged, from its run program: as one that
 * ran in this boot and is not started again. What really became of it is in its spool,
 * and whether its process is alive is in its lock. NULL when it cannot be had.
 */
static struct attempt *
rebuild(struct keeper *k, const char *name)
{
	char *path = xasprintf("%s/%s/program.json", k->runs_dir, name);
	struct attempt *a = NULL;
	struct program p = {0};
	struct err e = {0};
	json_t *doc = NULL;
	char id[24];

	if (json_read_file(path, &doc, &e) == 0 && program_from_json(doc, &p, &e) == 0) {
		snprintf(id, sizeof(id), "%" PRIu64, p.attempt);
		if (strcmp(id, name) == 0) {
			a = attempt_new(k->runs_dir, p.attempt, p.run, p.fence);
			a->state = ATTEMPT_RUNNING;
			a->restarts = ATTEMPT_RESTARTS_MAX;
			drive_key(&p.drive, a->drive_key);
			sysfs_read(a->dir, "drive", a->drive_path, sizeof(a->drive_path));
			snprintf(a->boot_id, sizeof(a->boot_id), "%s", k->env.boot_id);
			log_warn("attempt.rebuilt", "attempt=%" PRIu64 " run=r%" PRIu64,
				a->id, a->run);
		}
		program_fini(&p);
	}
	json_decref(doc);
	free(path);
	return a;
}

/* Nobody else tells of an attempt that the keeper does not know; of one that was set
 * aside, nobody wants to hear. */
static void
take_damaged(struct keeper *k, const char *name, const struct err *bad)
{
	struct attempt *a = attempt_of_aside(k->runs_dir, name);
	struct err e = {0};

	log_failure(LOG_LEVEL_ERR, "attempt.damaged", bad);
	if (a != NULL && attempt_save(a, &e) != 0) /* else its retention begins anew */
		log_failure(LOG_LEVEL_WARN, "attempt.save", &e);
	if (a == NULL)
		a = rebuild(k, name);
	if (a != NULL)
		adopt(k, a);
	else
		snprintf(k->damaged, sizeof(k->damaged), "%.*s",
			(int)sizeof(k->damaged) - 1, bad->text);
}

int
keeper_load(struct keeper *k, struct err *e)
{
	DIR *d = opendir(k->runs_dir);
	struct dirent *entry;

	if (d == NULL)
		return err_errno(e, ERR_IO, errno, "open directory %s", k->runs_dir);
	while ((entry = readdir(d)) != NULL) {
		struct err bad = {0};
		struct attempt *a;

		if (attempt_load(k->runs_dir, entry->d_name, &a, &bad) == 0)
			adopt(k, a);
		else if (bad.class != ERR_NOTFOUND)
			take_damaged(k, entry->d_name, &bad);
	}
	closedir(d);
	for (struct ward *w = k->first; w != NULL; w = w->next) {
		if (attempt_has_process(w->a->state))
			ward_tick(w);
		if (w->a->state != ATTEMPT_FORGOTTEN)
			ward_tell(w);
	}
	return 0;
}
