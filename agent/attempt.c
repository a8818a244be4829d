#include "agent/attempt.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/disk.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/segment.h"
#include "common/spool.h"
#include "common/str.h"
#include "common/xalloc.h"

typedef int action_fn(struct attempt *a, struct err *e);

static action_fn nothing, finish, stamp, send_again;

static const struct {
	const char *text;
	const char *reported;
} states[ATTEMPT_STATES] = {
#define STATE(name, text, reported) [ATTEMPT_##name] = {text, reported},
#include "agent/attempt_tbl.h"
#undef STATE
};

static const char *const event_texts[ATTEMPT_EVENTS] = {
#define EVENT(name, text) [ATTEMPT_EV_##name] = (text),
#include "agent/attempt_tbl.h"
#undef EVENT
};

static const struct edge {
	enum attempt_state from;
	enum attempt_event event;
	enum attempt_state to;
	action_fn *act;
} edges[] = {
#define EDGE(from, event, to, act) \
	{ATTEMPT_##from, ATTEMPT_EV_##event, ATTEMPT_##to, (act)},
#include "agent/attempt_tbl.h"
#undef EDGE
};

const char *
attempt_state_name(enum attempt_state s)
{
	return states[s].text;
}

const char *
attempt_reported(enum attempt_state s)
{
	return states[s].reported;
}

bool
attempt_has_process(enum attempt_state s)
{
	return s == ATTEMPT_STARTING || s == ATTEMPT_RUNNING;
}

static const struct edge *
find_edge(enum attempt_state from, enum attempt_event ev)
{
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		if (edges[i].from == from && edges[i].event == ev)
			return &edges[i];
	return NULL;
}

bool
attempt_legal(enum attempt_state from, enum attempt_event ev, enum attempt_state *ret_to)
{
	const struct edge *g = find_edge(from, ev);

	if (g != NULL)
		*ret_to = g->to;
	return g != NULL;
}

struct attempt *
attempt_new(const char *runs_dir, uint64_t id, uint64_t run, uint64_t fence)
{
	struct attempt *a = xcalloc(1, sizeof(*a));

	a->id = id;
	a->run = run;
	a->fence = fence;
	a->dir = xasprintf("%s/%" PRIu64, runs_dir, id);
	return a;
}

void
attempt_free(struct attempt *a)
{
	if (a == NULL)
		return;
	free(a->dir);
	free(a);
}

void
attempt_file(const struct attempt *a, const char *name, char *ret_path, size_t size)
{
	int n = snprintf(ret_path, size, "%s/%s", a->dir, name);

	assert(n > 0 && (size_t)n < size);
}

void
attempt_spool(const struct attempt *a, char *ret_path, size_t size)
{
	attempt_file(a, "spool", ret_path, size);
}

static json_t *
exit_to_json(const struct attempt *a)
{
	json_t *o;

	if (!a->exit_known)
		return json_null();
	o = json_object();
	json_put(o, "code", json_integer(a->exit_code));
	json_put(o, "signal", json_integer(a->exit_signal));
	return o;
}

static json_t *
to_json(const struct attempt *a)
{
	json_t *o = json_object();

	json_put(o, "attempt", json_u64(a->id));
	json_put(o, "run", json_u64(a->run));
	json_put(o, "fence", json_u64(a->fence));
	json_put(o, "state", json_string(attempt_state_name(a->state)));
	json_put(o, "drive_key", json_text(a->drive_key));
	json_put(o, "drive_path", json_text(a->drive_path));
	json_put(o, "boot_id", json_text(a->boot_id));
	json_put(o, "pid", json_integer(a->pid));
	json_put(o, "stop_asked", json_boolean(a->stop_asked));
	json_put(o, "killed", json_boolean(a->killed));
	json_put(o, "why", json_text(a->why));
	json_put(o, "class", json_text(a->fail_class));
	json_put(o, "exit", exit_to_json(a));
	json_put(o, "restarts", json_integer(a->restarts));
	json_put(o, "last_seq", json_u64(a->last_seq));
	json_put(o, "forgotten_ns", json_integer(a->forgotten_ns));
	return o;
}

int
attempt_save(const struct attempt *a, struct err *e)
{
	char path[4096];
	json_t *o;
	int rc;

	if (disk_make_dir(a->dir, e) != 0)
		return -1;
	attempt_file(a, "agent.json", path, sizeof(path));
	o = to_json(a);
	rc = disk_write_json(path, o, 0600, e);
	json_decref(o);
	return rc;
}

static int
read_state(const json_t *o, struct attempt *a, struct err *e)
{
	const char *text;

	if (json_need_text(o, "", "state", &text, e) != 0)
		return -1;
	for (int i = 0; i < ATTEMPT_STATES; i++) {
		if (strcmp(text, states[i].text) != 0)
			continue;
		a->state = (enum attempt_state)i;
		return 0;
	}
	return err_set(e, ERR_INVALID, "\"%.20s\" is not a state", text);
}

static void
copy_text(const json_t *o, const char *name, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "%s", json_text_of(o, name));
}

static int
read_facts(const json_t *o, struct attempt *a, struct err *e)
{
	const json_t *how = json_object_get(o, "exit");
	int64_t pid;

	if (json_need_u64(o, "", "run", &a->run, e) != 0 ||
		json_need_u64(o, "", "fence", &a->fence, e) != 0 ||
		json_need_u64(o, "", "last_seq", &a->last_seq, e) != 0 ||
		json_need_int(o, "", "pid", 0, INT32_MAX, &pid, e) != 0 ||
		read_state(o, a, e) != 0)
		return -1;
	a->pid = (pid_t)pid;
	a->stop_asked = json_is_true(json_object_get(o, "stop_asked"));
	a->killed = json_is_true(json_object_get(o, "killed"));
	a->forgotten_ns = json_integer_value(json_object_get(o, "forgotten_ns"));
	a->restarts = (unsigned)json_integer_value(json_object_get(o, "restarts"));
	a->exit_known = json_is_object(how);
	a->exit_code = (int)json_integer_value(json_object_get(how, "code"));
	a->exit_signal = (int)json_integer_value(json_object_get(how, "signal"));
	copy_text(o, "drive_key", a->drive_key, sizeof(a->drive_key));
	copy_text(o, "drive_path", a->drive_path, sizeof(a->drive_path));
	copy_text(o, "boot_id", a->boot_id, sizeof(a->boot_id));
	copy_text(o, "why", a->why, sizeof(a->why));
	copy_text(o, "class", a->fail_class, sizeof(a->fail_class));
	return 0;
}

/* The directory of an attempt is its number, and its token when it was set aside. */
static bool
read_name(const char *name, uint64_t *ret_id, bool *ret_aside, uint64_t *ret_fence)
{
	const char *dot = strchr(name, '.');
	size_t n = dot != NULL ? (size_t)(dot - name) : strlen(name);
	char id[24];

	*ret_fence = 0;
	*ret_aside = dot != NULL;
	if (n >= sizeof(id))
		return false;
	memcpy(id, name, n);
	id[n] = '\0';
	return parse_uint(id, 1, UINT64_MAX, ret_id, NULL) == 0 &&
	       (dot == NULL || parse_uint(dot + 1, 1, UINT64_MAX, ret_fence, NULL) == 0);
}

int
attempt_load(
	const char *runs_dir, const char *name, struct attempt **ret_a, struct err *e)
{
	struct attempt *a;
	json_t *doc = NULL;
	char path[4096];
	uint64_t id, fence;
	bool aside;
	int rc = -1;

	if (!read_name(name, &id, &aside, &fence))
		return err_set(e, ERR_NOTFOUND, "%s/%s is no attempt", runs_dir, name);
	a = attempt_new(runs_dir, id, 0, 0);
	free(a->dir);
	a->dir = xasprintf("%s/%s", runs_dir, name);
	a->aside = aside;
	attempt_file(a, "agent.json", path, sizeof(path));
	if (json_read_file(path, &doc, e) != 0)
		goto out;
	rc = read_facts(doc, a, e);
	if (rc == 0 && aside && a->state != ATTEMPT_FORGOTTEN)
		rc = err_set(e, ERR_INVALID, "it was set aside and is not forgotten");
	if (rc != 0)
		err_ctx(e, "%s", path);
	else
		*ret_a = a;
out:
	if (rc != 0)
		attempt_free(a);
	json_decref(doc);
	return rc;
}

struct attempt *
attempt_of_aside(const char *runs_dir, const char *name)
{
	uint64_t id, fence;
	struct attempt *a;
	bool aside;

	if (!read_name(name, &id, &aside, &fence) || !aside)
		return NULL;
	a = attempt_new(runs_dir, id, 0, fence);
	free(a->dir);
	a->dir = xasprintf("%s/%s", runs_dir, name);
	a->aside = true;
	a->state = ATTEMPT_FORGOTTEN;
	a->forgotten_ns = clock_wall();
	return a;
}

int
attempt_set_aside(struct attempt *a, struct err *e)
{
	char *dir = xasprintf("%s.%" PRIu64, a->dir, a->fence);
	bool gone;

	assert(a->state == ATTEMPT_FORGOTTEN && !a->aside);
	if (disk_rename(a->dir, dir, e) != 0) {
		/* Somebody deleted it; or it was renamed, and only the sync failed. */
		gone = access(a->dir, F_OK) != 0 && errno == ENOENT;
		if (!gone || disk_make_dir(dir, e) != 0) {
			free(dir);
			return err_ctx(e, "attempt %" PRIu64, a->id);
		}
		err_clear(e);
	}
	free(a->dir);
	a->dir = dir;
	a->aside = true;
	return 0;
}

/* Why the attempt ended, as far as this node can tell. */
static void
explain(const struct attempt *a, struct str *out)
{
	char path[4096], line[200];

	if (a->why[0] != '\0' || a->fail_class[0] != '\0') {
		str_puts(out, a->why);
		if (a->killed)
			str_puts(
				out, "; the runner did not end by itself and was killed");
	} else if (a->spool_lost) {
		str_puts(out, "its spool was damaged on the disk of the node");
	} else if (a->exit_known && a->exit_signal != 0) {
		str_printf(out, "runner was killed by signal %d", a->exit_signal);
		if (a->restarts > 0)
			str_printf(out, ", and %u times before", a->restarts);
	} else if (a->exit_known) {
		attempt_file(a, "runner.log", path, sizeof(path));
		disk_last_line(path, line, sizeof(line));
		str_printf(out, "runner ended with exit code %d and no result%s%s",
			a->exit_code, line[0] != '\0' ? ": " : "", line);
	} else if (a->program_lost) {
		str_puts(out, "the run program was lost on the node");
	} else if (a->rebooted) {
		str_puts(out, "the node was restarted during the run");
	} else {
		str_puts(out, "runner is gone and left no result; how it ended is not "
			      "known, the agent was restarted meanwhile");
	}
}

static json_t *
make_result(const struct attempt *a)
{
	bool cancelled = a->stop_asked && a->fail_class[0] == '\0';
	const char *class = a->fail_class[0] != '\0' ? a->fail_class : "infra";
	json_t *o = json_object();
	struct str why = {0};

	explain(a, &why);
	json_put(o, "state", json_text(cancelled ? "cancelled" : "failed"));
	json_put(o, "class", cancelled ? json_null() : json_text(class));
	json_put(o, "reason", json_text(str_text(&why)));
	str_fini(&why);
	return o;
}

static int
append_result(struct attempt *a, struct spool *s, struct err *e)
{
	json_t *o = make_result(a);
	struct str text = {0};
	uint64_t seq;
	int rc;

	json_write(o, &text);
	rc = spool_append(s, RECORD_RESULT, text.data, text.len, &seq, e);
	str_fini(&text);
	json_decref(o);
	return rc;
}

/*
 * Looks whether records that were there are gone, with cut bytes at the end of the spool,
 * and gives up their numbers: the controller may have some, under which it would take
 * nothing else. After a power cut during the run only what is acknowledged was durable
 * for sure.
 */
static int
give_up_lost(
	struct attempt *a, struct spool *s, const char *dir, uint64_t cut, struct err *e)
{
	uint64_t last = spool_last(s), acked = spool_acked(dir);
	uint64_t most = last + cut / SEGMENT_RECORD_HEAD_BYTES;
	bool lost = acked > last && acked <= most;

	if (!a->rebooted || a->state == ATTEMPT_EXITED || a->state == ATTEMPT_FORGOTTEN)
		lost = lost || a->last_seq > last || (last == 0 && cut > 0);
	if (!lost)
		return 0;
	a->spool_lost = true;
	return spool_give_up(s, most > a->last_seq ? most : a->last_seq, e);
}

int
attempt_can_go_on(const struct attempt *a, struct err *e)
{
	char dir[4096];
	int kind;
	uint64_t last;

	if (a->restarts >= ATTEMPT_RESTARTS_MAX || a->stop_asked || a->killed ||
		a->rebooted || a->program_lost || a->fail_class[0] != '\0' ||
		(a->exit_known && a->exit_signal != SIGKILL))
		return 0;
	attempt_spool(a, dir, sizeof(dir));
	/* the last segment alone: RESULT is the last record of all */
	if (spool_find_last(dir, &last, &kind, e) != 0)
		return err_ctx(e, "attempt %" PRIu64, a->id);
	/* records that are gone are for the RESULT to tell */
	return kind != RECORD_RESULT && last >= a->last_seq;
}

/*
 * Makes sure that RESULT is the last record, for which the last segment is enough. That
 * the spool opens for writing is part of the proof that no runner is left: two processes
 * never have it.
 */
static int
finish(struct attempt *a, struct err *e)
{
	char dir[4096];
	struct spool *s = NULL;
	uint64_t cut, held, last;
	int rc = -1, kind;

	attempt_spool(a, dir, sizeof(dir));
	/* Somebody may have deleted it under the runner. */
	if (disk_make_dir(a->dir, e) != 0 || spool_open(&s, dir, &cut, e) != 0)
		goto out;
	held = spool_last(s);
	if (give_up_lost(a, s, dir, cut, e) != 0 ||
		spool_find_last(dir, &last, &kind, e) != 0)
		goto out;
	/* A RESULT under a number that is given up is none. */
	if ((kind != RECORD_RESULT || spool_last(s) != held) &&
		append_result(a, s, e) != 0)
		goto out;
	if (spool_sync(s, e) != 0)
		goto out;
	a->last_seq = spool_last(s);
	rc = 0;
out:
	spool_close(s);
	return rc;
}

static int
nothing(struct attempt *a, struct err *e)
{
	(void)a;
	(void)e;
	return 0;
}

/* The retention of a spool must survive restarts of the node: only the wall clock does.
 */
static int
stamp(struct attempt *a, struct err *e)
{
	(void)e;
	a->forgotten_ns = clock_wall();
	return 0;
}

/* All of it: what was acknowledged is what was lost. */
static int
send_again(struct attempt *a, struct err *e)
{
	char dir[4096];

	attempt_spool(a, dir, sizeof(dir));
	return finish(a, e) == 0 ? spool_set_acked(dir, 0, e) : -1;
}

int
attempt_step(struct attempt *a, enum attempt_event ev, struct err *e)
{
	const struct edge *g = find_edge(a->state, ev);
	enum attempt_state from = a->state;

	if (g == NULL)
		return err_set(e, ERR_STATE,
			"attempt %" PRIu64 ": \"%s\" is not legal in "
			"state %s",
			a->id, event_texts[ev], states[a->state].text);
	if (g->act(a, e) != 0)
		return err_ctx(e, "attempt %" PRIu64, a->id);
	a->state = g->to;
	if (attempt_save(a, e) != 0) {
		a->state = from;
		return err_ctx(e, "attempt %" PRIu64, a->id);
	}
	return 0;
}

int
attempt_mend(struct attempt *a, struct err *e)
{
	uint64_t seq = a->last_seq;
	char dir[4096];

	attempt_spool(a, dir, sizeof(dir));
	if (a->state != ATTEMPT_EXITED || spool_acked(dir) == seq)
		return 0;
	if (finish(a, e) != 0 || (a->last_seq != seq && attempt_save(a, e) != 0))
		return err_ctx(e, "attempt %" PRIu64, a->id);
	return 0;
}

int
attempt_outdone(struct attempt *a, uint64_t acked, struct err *e)
{
	uint64_t seq = a->last_seq;

	if (a->state != ATTEMPT_EXITED || !a->spool_lost || acked <= seq)
		return 0;
	a->last_seq = acked;
	if (finish(a, e) != 0 || attempt_save(a, e) != 0) {
		a->last_seq = seq;
		return err_ctx(e, "attempt %" PRIu64, a->id);
	}
	return 1;
}

int
attempt_refuse(
	struct attempt *a, const char *fail_class, const char *reason, struct err *e)
{
	snprintf(a->fail_class, sizeof(a->fail_class), "%s", fail_class);
	snprintf(a->why, sizeof(a->why), "%s", reason);
	if (attempt_step(a, ATTEMPT_EV_REFUSE, e) != 0)
		return -1;
	return attempt_step(a, ATTEMPT_EV_RECORD, e);
}
