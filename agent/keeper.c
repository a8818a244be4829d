#include "agent/keeper_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/disk.h"
#include "agent/hold.h"
#include "agent/scan.h"
#include "common/loop.h"
#include "common/spool.h"
#include "common/xalloc.h"

/* A spool that is still in use at so many tries in a row is told as trouble. */
#define STUCK_TRIES 6
#define SOON_NS (50 * NS_PER_MS)
/* The time that the kernel gets to close what a dead process had open. */
#define LET_GO_NS (30 * NS_PER_S)

/* A runner that has not answered for so long is one that hangs, whatever it said. */
#define STATUS_FRESH_NS (5 * NS_PER_S)
/* No drive purges itself for longer, and a runner ends by itself before. */
#define HOLD_MAX_NS (24 * 3600 * NS_PER_S)

/* How a runner is made to end, more and more firmly. */
static const struct rung {
	int64_t after_ns;
	int signo; /* 0: none, say that nothing helps */
	const char *what;
} rungs[] = {
	{10 * NS_PER_S, SIGTERM, "SIGTERM"},
	{30 * NS_PER_S, SIGKILL, "SIGKILL"},
	{60 * NS_PER_S, 0, "nothing helps; is its I/O stuck in the kernel? see dmesg"},
};
#define RUNGS ((int)(sizeof(rungs) / sizeof(rungs[0])))

struct keeper *
keeper_new(const struct keeper_env *env)
{
	struct keeper *k = xcalloc(1, sizeof(*k));

	k->env = *env;
	k->runs_dir = xasprintf("%s/runs", env->state_dir);
	k->fence_dir = xasprintf("%s/fence", env->state_dir);
	return k;
}

void
ward_drop_socket(struct ward *w)
{
	if (w->sock < 0)
		return;
	loop_del_fd(w->k->env.loop, w->sock);
	close(w->sock);
	w->sock = -1;
	w->stop_told = false;
}

static void
drop_process(struct ward *w)
{
	if (w->proc.pidfd >= 0)
		loop_del_fd(w->k->env.loop, w->proc.pidfd);
	spawn_forget(&w->proc);
}

static void
ward_free(struct ward *w)
{
	ward_drop_socket(w);
	drop_process(w);
	attempt_free(w->a);
	free(w);
}

void
ward_remove(struct ward *w)
{
	struct ward **at = &w->k->first;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	ward_free(w);
}

void
keeper_free(struct keeper *k)
{
	if (k == NULL)
		return;
	loop_timer_stop(k->env.loop, k->soon);
	while (k->first != NULL) {
		struct ward *w = k->first;

		k->first = w->next;
		ward_free(w);
	}
	free(k->runs_dir);
	free(k->fence_dir);
	free(k);
}

const struct ward *
keeper_first(const struct keeper *k)
{
	return k->first;
}

size_t
keeper_running(const struct keeper *k)
{
	size_t n = 0;

	for (const struct ward *w = k->first; w != NULL; w = w->next)
		n += attempt_has_process(w->a->state);
	return n;
}

struct drive_list *
keeper_leased(const struct keeper *k)
{
	struct drive_list *l = xcalloc(1, sizeof(*l));

	for (const struct ward *w = k->first; w != NULL; w = w->next)
		if (attempt_has_process(w->a->state) && w->drive.serial[0] != '\0')
			drive_list_add(l, &w->drive, w->a->drive_path, "");
	return l;
}

void
keeper_trouble(const struct keeper *k, char *ret_text, size_t size)
{
	ret_text[0] = '\0';
	if (k->damaged[0] != '\0')
		snprintf(ret_text, size,
			"an attempt cannot be read, its records are not sent: %s; is "
			"that disk sound? move its directory away and restart the agent",
			k->damaged);
	for (const struct ward *w = k->first; w != NULL; w = w->next) {
		if (w->stuck[0] != '\0')
			snprintf(ret_text, size,
				"what became of a run cannot be recorded: %s", w->stuck);
		else if (w->a->spool_lost && w->a->state != ATTEMPT_FORGOTTEN)
			snprintf(ret_text, size,
				"the spool of attempt %" PRIu64
				" was damaged on the disk of this node; is that disk "
				"sound? see dmesg",
				w->a->id);
	}
}

struct ward *
ward_find(const struct keeper *k, uint64_t attempt)
{
	struct ward *w = k->first;

	while (w != NULL && (w->a->id != attempt || w->a->aside))
		w = w->next;
	return w;
}

/* Takes a into the list. */
struct ward *
ward_add(struct keeper *k, struct attempt *a)
{
	struct ward *w = xcalloc(1, sizeof(*w));
	struct ward **at = &k->first;

	w->k = k;
	w->a = a;
	w->sock = -1;
	w->proc = PROC_NONE;
	while (*at != NULL && (*at)->a->id < a->id)
		at = &(*at)->next;
	w->next = *at;
	*at = w;
	return w;
}

void
ward_tell(struct ward *w)
{
	w->k->env.changed(w->k->env.arg, w);
}

/* Logs a failure of a ward unless it is the one that was logged last. */
void
ward_say(struct ward *w, enum log_level level, const char *event, const struct err *e)
{
	if (strncmp(w->said, e->text, sizeof(w->said) - 1) == 0)
		return;
	snprintf(w->said, sizeof(w->said), "%.*s", (int)sizeof(w->said) - 1, e->text);
	log_failure(level, event, e);
}

/*
 * A person is told as trouble of the node, too. A spool that somebody has still open ends
 * by itself, as a rule.
 */
void
ward_stuck(struct ward *w, const struct err *e)
{
	w->retry_mono = clock_mono() + KEEPER_RETRY_NS;
	ward_say(w, LOG_LEVEL_WARN, "attempt.stuck", e);
	if (e->class != ERR_STATE || ++w->tries >= STUCK_TRIES)
		snprintf(w->stuck, sizeof(w->stuck), "%.*s", (int)sizeof(w->stuck) - 1,
			e->text);
}

/*
 * Steps and tells; a failed step is logged and tried again by the tick. attempt_step says
 * which attempt it was.
 */
bool
ward_step(struct ward *w, enum attempt_event ev)
{
	enum attempt_state from = w->a->state;
	struct err e = {0};

	if (attempt_step(w->a, ev, &e) != 0) {
		ward_stuck(w, &e);
		return false;
	}
	w->said[0] = w->stuck[0] = '\0';
	w->tries = 0;
	log_info("attempt.state", "attempt=%" PRIu64 " run=r%" PRIu64 " from=%s to=%s",
		w->a->id, w->a->run, attempt_state_name(from),
		attempt_state_name(w->a->state));
	/* Who reads it may have files open that are gone. */
	if (ev == ATTEMPT_EV_END && w->a->spool_lost)
		w->k->env.dropped(w->k->env.arg, w->a->id);
	ward_tell(w);
	return true;
}

static void
on_soon(void *arg)
{
	struct keeper *k = arg;

	k->soon = NULL;
	for (struct ward *w = k->first; w != NULL; w = w->next)
		if (w->gone_mono != 0 && attempt_has_process(w->a->state))
			ward_tick(w);
}

/* Looks again before the next second does. */
static void
look_soon(struct keeper *k)
{
	if (k->soon == NULL)
		k->soon = loop_timer_start(k->env.loop, SOON_NS, 0, on_soon, k);
}

/*
 * The drive is let go of: the last thing that happens to a runner. Something else may
 * claim it before we look; so what does not end is no runner any more, and the claim
 * itself keeps the next one away.
 */
static bool
has_let_go(struct ward *w)
{
	int64_t now = clock_mono();

	if (w->gone_mono == 0)
		w->gone_mono = now;
	if (w->a->drive_path[0] != '\0' && hold_is_free(w->a->drive_path))
		return true;
	if (now - w->gone_mono < LET_GO_NS) {
		look_soon(w->k);
		return false;
	}
	log_warn("drive.claimed", "attempt=%" PRIu64 " drive=%s why=%s", w->a->id,
		log_q(w->a->drive_path),
		log_q(w->a->drive_path[0] != '\0'
				? "the runner is gone and still something has the drive "
				  "claimed"
				: "nobody can say whether something has the drive "
				  "claimed: where it is was lost"));
	return true;
}

/*
 * The process is gone when its lock is; the drive is free when nothing has it claimed;
 * and the step proves that the spool is free.
 */
static void
try_end(struct ward *w)
{
	if (spawn_alive(w->a) || clock_mono() < w->retry_mono)
		return;
	/* A pidfd will tell, and only then is the exit status there for its parent. */
	if (w->proc.pidfd >= 0 || !spawn_reap(&w->proc, w->a))
		return;
	if (!has_let_go(w) || ward_restart(w) || !ward_step(w, ATTEMPT_EV_END))
		return;
	ward_drop_socket(w);
	if (w->a->exit_known && w->a->exit_signal != 0)
		log_warn("runner.killed", "attempt=%" PRIu64 " signal=%d", w->a->id,
			w->a->exit_signal);
	else if (w->a->exit_known && w->a->exit_code != 0)
		log_warn("runner.failed", "attempt=%" PRIu64 " exit_code=%d log=%s",
			w->a->id, w->a->exit_code, log_q(w->a->dir));
}

static void
on_process_end(void *arg, uint32_t events)
{
	struct ward *w = arg;

	(void)events;
	loop_del_fd(w->k->env.loop, w->proc.pidfd);
	if (!spawn_reap(&w->proc, w->a)) {
		/* A debugger is told first; each tick asks again. */
		close(w->proc.pidfd);
		w->proc.pidfd = -1;
	}
	w->a->pid = 0;
	try_end(w);
}

/* Watches a process that was found or started. */
void
ward_watch(struct ward *w)
{
	struct err e = {0};

	if (w->proc.pidfd < 0)
		return;
	if (loop_add_fd(w->k->env.loop, w->proc.pidfd, EPOLLIN, on_process_end, w, &e) ==
		0)
		return;
	log_failure(LOG_LEVEL_WARN, "runner.watch", &e);
	close(w->proc.pidfd);
	w->proc.pidfd = -1;
}

static void
take_status(struct ward *w, const struct runner_status *s)
{
	w->status = *s;
	w->status_mono = clock_mono();
	if (s->last_seq > w->a->last_seq)
		w->a->last_seq = s->last_seq;
	if (w->a->state == ATTEMPT_STARTING && strcmp(s->state, "starting") != 0)
		ward_step(w, ATTEMPT_EV_ANSWER);
}

static void
on_socket(void *arg, uint32_t events)
{
	struct ward *w = arg;
	struct runner_status s;
	int rc;

	(void)events;
	while ((rc = talk_read(w->sock, &s)) > 0)
		if (rc == 1)
			take_status(w, &s);
	if (rc < 0)
		ward_drop_socket(w);
}

static void
connect_runner(struct ward *w)
{
	struct err e = {0};
	pid_t pid;

	if (talk_open(w->a->dir, &w->sock, &e) != 0) {
		w->sock = -1;
		if (e.class != ERR_NOTFOUND && e.class != ERR_BUSY)
			ward_say(w, LOG_LEVEL_WARN, "runner.socket", &e);
		return;
	}
	pid = talk_peer(w->sock);
	if (loop_add_fd(w->k->env.loop, w->sock, EPOLLIN, on_socket, w, &e) != 0) {
		close(w->sock);
		w->sock = -1;
		ward_say(w, LOG_LEVEL_WARN, "runner.socket", &e);
		return;
	}
	if (w->proc.pidfd < 0 && !w->proc.child && spawn_find(w->a, pid, &w->proc))
		ward_watch(w);
}

/* Whether it does what goes on in its drive also without it. To kill it would give the
 * drive away in the middle of that. */
static bool
is_held(struct ward *w)
{
	int64_t now = clock_mono();

	if (w->status.cannot_stop[0] == '\0' || now - w->status_mono > STATUS_FRESH_NS)
		return false;
	if (w->hold_mono == 0) {
		w->hold_mono = now;
		log_warn("runner.hold", "attempt=%" PRIu64 " drive=%s why=%s", w->a->id,
			log_q(w->a->drive_path), log_q(w->status.cannot_stop));
	}
	return now - w->hold_mono < HOLD_MAX_NS;
}

/* Climbs the ladder of stopping as time goes by; one that is held stays at its foot. */
static void
press(struct ward *w)
{
	int64_t waited = clock_mono() - w->stop_mono;
	const struct rung *g;

	if (!w->stop_told && w->sock >= 0)
		w->stop_told = talk_stop(w->sock, w->a->why);
	if (is_held(w)) {
		w->stop_mono = clock_mono();
		w->rung = 0;
		return;
	}
	if (w->rung == RUNGS || waited < rungs[w->rung].after_ns)
		return;
	g = &rungs[w->rung++];
	if (g->signo == 0) {
		log_err("runner.stuck", "attempt=%" PRIu64 " pid=%d drive=%s why=%s",
			w->a->id, (int)w->proc.pid, log_q(w->a->drive_path),
			log_q(g->what));
		return;
	}
	if (g->signo == SIGKILL)
		w->a->killed = true;
	log_warn("runner.press", "attempt=%" PRIu64 " with=%s sent=%s", w->a->id, g->what,
		spawn_signal(&w->proc, g->signo) ? "yes" : "no");
}

void
ward_tick(struct ward *w)
{
	if (!spawn_alive(w->a)) {
		try_end(w);
		return;
	}
	if (w->sock < 0)
		connect_runner(w);
	if (w->sock >= 0 && !talk_ask_status(w->sock) && errno != EAGAIN)
		ward_drop_socket(w);
	if (w->proc.pidfd < 0 && !w->proc.child && spawn_find(w->a, w->a->pid, &w->proc))
		ward_watch(w);
	if (w->stop_mono != 0)
		press(w);
}

static uint64_t
bytes_below(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	struct stat st;
	uint64_t sum = 0;

	while (d != NULL && (entry = readdir(d)) != NULL)
		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_blocks * 512;
	if (d != NULL)
		closedir(d);
	return sum;
}

/* Deletes a forgotten attempt; spool_remove refuses one that somebody still writes. */
static bool
remove_attempt(struct ward *w)
{
	char spool[4096];
	struct err e = {0};

	attempt_spool(w->a, spool, sizeof(spool));
	if (spool_remove(spool, &e) != 0 || disk_remove_tree(w->a->dir, &e) != 0) {
		ward_say(w, LOG_LEVEL_WARN, "attempt.remove", &e);
		return false;
	}
	log_info("attempt.removed", "attempt=%" PRIu64 " run=r%" PRIu64, w->a->id,
		w->a->run);
	return true;
}

static uint64_t
spool_bytes(const struct ward *w)
{
	char spool[4096];

	attempt_spool(w->a, spool, sizeof(spool));
	return bytes_below(spool);
}

static bool
is_due(const struct keeper *k, const struct ward *w, uint64_t sum)
{
	if (w->a->state != ATTEMPT_FORGOTTEN)
		return false;
	return sum > k->env.spool_limit ||
	       clock_wall() - w->a->forgotten_ns >= k->env.retention_ns;
}

/*
 * Removes forgotten attempts that are older than the retention, and the oldest ones (by
 * id) beyond the limit in bytes.
 */
static void
sweep(struct keeper *k)
{
	struct ward *w, *next;
	uint64_t sum = 0;

	for (w = k->first; w != NULL; w = w->next)
		if (w->a->state == ATTEMPT_FORGOTTEN)
			sum += spool_bytes(w);
	for (w = k->first; w != NULL; w = next) {
		uint64_t bytes;

		next = w->next;
		if (!is_due(k, w, sum))
			continue;
		bytes = spool_bytes(w);
		if (!remove_attempt(w))
			continue;
		sum -= bytes < sum ? bytes : sum;
		ward_remove(w);
	}
}

/* The controller has records of a lost spool that this node did not know it had sent. */
static void
go_behind(struct ward *w)
{
	struct err e = {0};
	int rc = attempt_outdone(w->a, w->acked_seq, &e);

	if (rc < 0)
		ward_stuck(w, &e);
	if (rc <= 0)
		return;
	log_warn("attempt.outdone", "attempt=%" PRIu64 " acked=%" PRIu64, w->a->id,
		w->acked_seq);
	w->k->env.dropped(w->k->env.arg, w->a->id);
	ward_tell(w);
}

void
keeper_tick(struct keeper *k)
{
	int64_t now = clock_mono();

	for (struct ward *w = k->first; w != NULL; w = w->next) {
		if (attempt_has_process(w->a->state))
			ward_tick(w);
		else if (w->a->state == ATTEMPT_REFUSED && now >= w->retry_mono)
			ward_step(w, ATTEMPT_EV_RECORD);
		else if (w->a->state == ATTEMPT_EXITED && now >= w->retry_mono)
			go_behind(w);
		else if (w->recalled && now >= w->retry_mono)
			w->recalled = !ward_step(w, ATTEMPT_EV_RECALL);
		else if (w->gives_way)
			ward_give_way(w);
	}
	if (k->swept_mono == 0 || now - k->swept_mono >= 60 * NS_PER_S) {
		k->swept_mono = now;
		sweep(k);
	}
}

void
keeper_keep(struct keeper *k, uint64_t attempt)
{
	struct ward *w = ward_find(k, attempt);

	if (w == NULL || w->wanted)
		return;
	w->wanted = true;
	w->retry_mono = 0;
}

void
keeper_stop(struct keeper *k, uint64_t attempt, const char *why)
{
	struct ward *w = ward_find(k, attempt);
	struct err e = {0};

	if (w == NULL || !attempt_has_process(w->a->state) || w->stop_mono != 0)
		return;
	w->stop_mono = clock_mono();
	w->a->stop_asked = true;
	snprintf(w->a->why, sizeof(w->a->why), "%s",
		why[0] != '\0' ? why : "stopped by the controller");
	log_info("attempt.stop", "attempt=%" PRIu64 " run=r%" PRIu64 " why=%s", w->a->id,
		w->a->run, log_q(w->a->why));
	if (attempt_save(w->a, &e) != 0)
		ward_say(w, LOG_LEVEL_WARN, "attempt.save", &e);
	ward_tick(w);
}

void
keeper_forget(struct keeper *k, uint64_t attempt)
{
	struct ward *w = ward_find(k, attempt);

	if (w == NULL || w->a->state == ATTEMPT_FORGOTTEN ||
		attempt_has_process(w->a->state))
		return;
	if (ward_step(w, ATTEMPT_EV_FORGET))
		k->env.dropped(k->env.arg, attempt);
}

void
keeper_progress(struct keeper *k, uint64_t attempt, uint64_t last_seq, uint64_t acked_seq)
{
	struct ward *w = ward_find(k, attempt);

	if (w == NULL)
		return;
	/* At its end an attempt has counted for itself. */
	if (last_seq > w->a->last_seq && attempt_has_process(w->a->state))
		w->a->last_seq = last_seq;
	w->acked_seq = acked_seq;
}

void
keeper_blocked(struct keeper *k, uint64_t attempt, const char *why)
{
	struct ward *w = ward_find(k, attempt);

	if (w == NULL || strcmp(w->blocked, why) == 0)
		return;
	snprintf(w->blocked, sizeof(w->blocked), "%s", why);
	ward_tell(w);
}
