#include "controller/reconcile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/approval.h"
#include "controller/doc.h"
#include "controller/lease.h"
#include "controller/node.h"
#include "controller/report.h"
#include "controller/run.h"
#include "controller/session.h"
#include "controller/store.h"

/* Keeps a faulty agent from using up the epochs that the database can count. */
#define EPOCH_SEEN_MAX (INT32_MAX / 2)

/* One attempt as the store has it. */
struct attempt {
	int64_t id, run, node;
	uint64_t fence;
	enum attempt_state state;
	bool stop_requested;
	char boot_id[128];
	char cannot_stop[128];
	char why[256]; /* of the stop that is requested */
};

static void
read_attempt(struct cur *c, struct attempt *a)
{
	memset(a, 0, sizeof(*a));
	a->id = cur_int(c, 0);
	a->run = cur_int(c, 1);
	a->node = cur_int(c, 2);
	a->fence = (uint64_t)cur_int(c, 3);
	a->state = (enum attempt_state)fsm_state(&attempt_fsm, cur_text(c, 4));
	a->stop_requested = cur_int(c, 5) != 0;
	snprintf(a->boot_id, sizeof(a->boot_id), "%s", cur_text(c, 6));
	snprintf(a->why, sizeof(a->why), "%s", cur_text(c, 7));
	snprintf(a->cannot_stop, sizeof(a->cannot_stop), "%s", cur_text(c, 8));
}

#define ATTEMPT_COLUMNS                                                      \
	"SELECT id, run_id, node_id, fence, state, stop_requested, boot_id," \
	" (SELECT reason FROM run WHERE run.id = run_id), cannot_stop FROM attempt "

/* The attempt that a report means: 1, 0 when it is not this node's (any more), or -1. */
static int
find_attempt(struct tx *t, int64_t node, const struct reported_attempt *r,
	struct attempt *ret_a, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e, ATTEMPT_COLUMNS "WHERE id = ?1", "i", r->id) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1)
		read_attempt(c, ret_a);
	cur_close(c);
	if (rc == 1 && (ret_a->node != node || ret_a->fence != r->fence))
		return 0;
	return rc;
}

/* The active attempts of a node; *ret_list is owned by the caller. Their number, or -1.
 */
static int64_t
active_attempts(struct tx *t, int64_t node, struct attempt **ret_list, struct err *e)
{
	int64_t n = 0;
	size_t i = 0;
	struct cur *c;
	int rc;

	*ret_list = NULL;
	if (tx_int(t, &n, e,
		    "SELECT count(*) FROM attempt WHERE node_id = ?1"
		    " AND state IN ('granted', 'running', 'exited')",
		    "i", node) < 0 ||
		tx_query(t, &c, e,
			ATTEMPT_COLUMNS "WHERE node_id = ?1"
					" AND state IN ('granted', 'running', 'exited')"
					" ORDER BY id",
			"i", node) != 0)
		return -1;
	*ret_list = xcalloc((size_t)n + 1, sizeof(**ret_list));
	while ((rc = cur_next(c, e)) == 1 && i < (size_t)n)
		read_attempt(c, &(*ret_list)[i++]);
	cur_close(c);
	return rc < 0 ? -1 : (int64_t)i;
}

/* What a node reports of an attempt that is given up already. */
static int
take_given_up(struct tx *t, const struct attempt *a, enum reported_state state,
	const char *actor, struct err *e)
{
	if (state == REPORTED_EXITED)
		return lease_release(
			t, a->id, "its node reports that its runner has ended", actor, e);
	return lease_fence(
		t, a->id, "its node still runs an attempt that was given up", actor, e);
}

static int
take_exit(struct tx *t, const struct attempt *a, const char *actor, struct err *e)
{
	const char *why = "its node reports that its runner has ended";

	if (attempt_change(t, a->id, ATTEMPT_DO_EXIT, why, actor, e) != 0 ||
		run_change(t, a->run, RUN_DO_EXIT, why, actor, e) != 0)
		return -1;
	return lease_release(t, a->id, why, actor, e);
}

/* Notes that it was seen. The boot in which its process was last seen is what a later one
 * is held to; what nothing stops goes on no longer than its runner. */
static int
note_seen(struct tx *t, const struct attempt *a, const struct reported_attempt *r,
	const char *boot_id, struct err *e)
{
	bool ended = r->state == REPORTED_EXITED;
	const char *cannot_stop = ended ? "" : r->cannot_stop;

	if ((ended || strcmp(a->boot_id, boot_id) == 0) &&
		strcmp(a->cannot_stop, cannot_stop) == 0)
		return 0;
	return tx_exec(t, e,
		"UPDATE attempt SET cannot_stop = ?1,"
		" boot_id = CASE WHEN ?2 THEN boot_id ELSE ?3 END WHERE id = ?4",
		"sisi", cannot_stop, (int64_t)ended, boot_id, a->id);
}

static int
take_reported(struct tx *t, const struct attempt *a, const struct reported_attempt *r,
	const char *boot_id, const char *actor, struct err *e)
{
	bool active = a->state == ATTEMPT_GRANTED || a->state == ATTEMPT_RUNNING;
	bool ended = r->state == REPORTED_EXITED;

	if (note_seen(t, a, r, boot_id, e) != 0)
		return -1;
	if (a->state == ATTEMPT_SEALED || a->state == ATTEMPT_LOST)
		return take_given_up(t, a, r->state, actor, e);
	if (a->state == ATTEMPT_GRANTED && !ended) {
		if (attempt_change(t, a->id, ATTEMPT_DO_START, "", actor, e) != 0)
			return -1;
		return run_change(t, a->run, RUN_DO_START, "", actor, e);
	}
	if (active && ended && take_exit(t, a, actor, e) != 0)
		return -1;
	return ended ? run_collected(t, a->id, e) : 0;
}

/* An attempt that its node has known and does not know any more. */
static int
lose(struct tx *t, const struct attempt *a, bool rebooted, const char *actor,
	struct err *e)
{
	const char *why =
		rebooted ? "its node was started anew and does not know it any more"
			 : "its node does not know it any more";

	if (a->state == ATTEMPT_EXITED)
		return run_lose(t, a->id, "its node does not have its records any more",
			actor, e);
	if (run_lose(t, a->id, why, actor, e) != 0)
		return -1;
	if (rebooted)
		return lease_release(t, a->id,
			"the node has a new boot id: no process of before is left", actor,
			e);
	return lease_fence(t, a->id, why, actor, e);
}

static int
withdraw(struct tx *t, const struct attempt *a, const char *actor, struct err *e)
{
	if (run_withdraw(t, a->id, actor, e) != 0)
		return -1;
	return lease_release(
		t, a->id, "its node has never started the attempt", actor, e);
}

/*
 * One that is not listed is asked for, and given up only when the node answers that: what
 * it says without may be a report from before, sent again since our answer was lost.
 */
static int
take_missing(struct tx *t, const struct attempt *a, const struct report *r,
	const char *actor, struct err *e)
{
	bool rebooted = a->boot_id[0] != '\0' && strcmp(a->boot_id, r->boot_id) != 0;

	if (!report_disowns(r, a->id, a->fence))
		return 0;
	if (a->state != ATTEMPT_GRANTED)
		return lose(t, a, rebooted, actor, e);
	/* else the answer asks for its start, once more */
	return a->stop_requested ? withdraw(t, a, actor, e) : 0;
}

/* Fenced drives of runners that cannot have survived the node's start. */
static int
release_rebooted(struct tx *t, int64_t node, const struct report *r, const char *actor,
	struct err *e)
{
	int64_t attempt = 0;
	int rc;

	while ((rc = tx_int(t, &attempt, e,
			"SELECT a.id FROM lease l INDEXED BY lease_one_per_drive"
			" JOIN attempt a ON a.id = l.attempt_id"
			" WHERE a.node_id = ?1 AND l.released_ns IS NULL"
			" AND a.state IN ('sealed', 'lost') AND a.boot_id NOT IN ('', ?2)"
			" AND a.id > ?3 ORDER BY a.id LIMIT 1",
			"isi", node, r->boot_id, attempt)) == 1) {
		if (report_find(r, attempt) != NULL)
			continue;
		if (lease_release(t, attempt,
			    "the node has a new boot id: no process of before is left",
			    actor, e) != 0)
			return -1;
	}
	return rc;
}

static int
take_attempts(struct tx *t, int64_t node, const struct report *r, const char *actor,
	struct err *e)
{
	struct attempt *list;
	int64_t n;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < r->n_attempts; i++) {
		struct attempt a;

		rc = find_attempt(t, node, &r->attempts[i], &a, e);
		if (rc == 1)
			rc = take_reported(t, &a, &r->attempts[i], r->boot_id, actor, e);
	}
	if (rc != 0)
		return -1;
	n = active_attempts(t, node, &list, e);
	if (n < 0)
		rc = -1;
	for (int64_t i = 0; rc == 0 && i < n; i++) {
		const struct reported_attempt *x = report_find(r, list[i].id);

		if (x == NULL || x->fence != list[i].fence)
			rc = take_missing(t, &list[i], r, actor, e);
	}
	free(list);
	return rc == 0 ? release_rebooted(t, node, r, actor, e) : -1;
}

/*
 * Whether the node's past fits ours. A node that has seen a later epoch belongs to
 * another controller, or our database is older than what it has seen: then nothing is
 * started until a person looked. Enrolling the node was such a look.
 */
static int
check_epoch(struct tx *t, const struct report *r, bool just_enrolled, char **ret_why,
	struct err *e)
{
	uint64_t epoch;
	uint64_t floor = r->epoch_seen << 32;

	if (lease_epoch(t, &epoch, e) != 0)
		return -1;
	if (r->epoch_seen > EPOCH_SEEN_MAX)
		return err_set(e, ERR_INVALID, "no controller has had %" PRIu64 " epochs",
			r->epoch_seen);
	if (r->epoch_seen <= epoch || just_enrolled) {
		if (r->epoch_seen > epoch && lease_raise(t, floor, e) != 0)
			return -1;
		return r->fence > 0 ? lease_raise(t, r->fence, e) : 0;
	}
	*ret_why = xasprintf(
		"it has seen a later epoch, %" PRIu64 ", than this controller's, %" PRIu64
		"; was the database restored? if it is the right one, restart the "
		"controller",
		r->epoch_seen, epoch);
	return tx_exec(t, e,
		"UPDATE meta SET value = ?1 WHERE key = 'epoch' AND value < ?1", "i",
		(int64_t)r->epoch_seen);
}

/* Notes that the node lives and whether it fits: *ret_fits. */
static int
take_head(struct tx *t, int64_t node, const struct report *r, const char *actor,
	bool *ret_fits, struct err *e)
{
	char *why = NULL;
	int64_t seen_before = 0;
	int rc;

	if (tx_int(t, &seen_before, e, "SELECT last_seen_ns FROM node WHERE id = ?1", "i",
		    node) < 0)
		return -1;
	if (r->protocol_min > REPORT_PROTOCOL_MAX ||
		r->protocol_max < REPORT_PROTOCOL_MIN)
		why = xasprintf("it speaks protocol %" PRId64 " to %" PRId64
				", this controller %d to %d: upgrade the older one",
			r->protocol_min, r->protocol_max, REPORT_PROTOCOL_MIN,
			REPORT_PROTOCOL_MAX);
	else if (check_epoch(t, r, seen_before == 0, &why, e) != 0)
		return -1;
	*ret_fits = why == NULL;
	/* A boot may have set the clock: until the node has timed it, it is not known. */
	if (!r->has_clock &&
		tx_exec(t, e,
			"UPDATE node SET clock_ahead_ns = NULL, clock_doubt_ns = NULL"
			" WHERE id = ?1 AND boot_id IS NOT ?2",
			"is", node, r->boot_id) != 0) {
		free(why);
		return -1;
	}
	rc = tx_exec(t, e,
		"UPDATE node SET boot_id = ?1, version = ?2, last_seen_ns = ?3,"
		" seen_mono_ns = ?4, seen_epoch = ?5 WHERE id = ?6",
		"ssiiii", r->boot_id, r->version, tx_wall(t), tx_mono(t),
		(int64_t)tx_epoch(t), node);
	if (rc == 0 && r->has_clock)
		rc = tx_exec(t, e,
			"UPDATE node SET clock_ahead_ns = ?1, clock_doubt_ns = ?2"
			" WHERE id = ?3",
			"iii", r->clock_ahead_ns, r->clock_doubt_ns, node);
	if (rc == 0)
		rc = node_trouble(t, node, why != NULL ? why : r->trouble, actor, e);
	if (rc == 0)
		rc = node_observe(t, node, why != NULL ? NODE_SEE_REFUSE : NODE_SEE_SEEN,
			why != NULL ? why : "", actor, e);
	free(why);
	return rc;
}

int
reconcile_take(
	struct tx *t, int64_t node, const struct report *r, bool *ret_fits, struct err *e)
{
	char actor[24];

	snprintf(actor, sizeof(actor), "n%" PRId64, node);
	if (take_head(t, node, r, actor, ret_fits, e) != 0 ||
		drives_sighted(t, node, r->drives, r->n_drives, e) != 0)
		return -1;
	return *ret_fits ? take_attempts(t, node, r, actor, e) : 0;
}

static json_t *
duty(int64_t attempt, uint64_t fence, const char *what, const char *why)
{
	json_t *o = json_object();

	json_put(o, "attempt", json_u64((uint64_t)attempt));
	json_put(o, "do", json_string(what));
	json_put(o, "why", json_string(why));
	json_put(o, "fence", json_u64(fence));
	return o;
}

/*
 * What is to be done about an attempt that the node has. covered: people still allow its
 * program; a second lock behind the stop that the end of an approval requests.
 */
static json_t *
duty_of(const struct reported_attempt *r, const struct attempt *a, bool covered)
{
	bool ended = r->state == REPORTED_EXITED;

	if (a == NULL)
		return ended ? duty(r->id, r->fence, "forget", "")
			     : duty(r->id, r->fence, "stop",
				       "the controller does not know this attempt");
	if (a->state == ATTEMPT_SEALED || a->state == ATTEMPT_LOST)
		return ended ? duty(r->id, r->fence, "forget", "")
			     : duty(r->id, r->fence, "stop",
				       "the controller has given this attempt up");
	if (a->stop_requested && !ended)
		return duty(r->id, r->fence, "stop",
			a->why[0] != '\0' ? a->why : "its campaign was cancelled");
	if (!covered && !ended)
		return duty(r->id, r->fence, "stop",
			"its drive is not approved for what it does");
	return duty(r->id, r->fence, "keep", "");
}

/* Grants that the node does not have yet, of drives that people still allow. */
static int
add_starts(struct tx *t, int64_t node, const struct report *r, json_t *list,
	bool *ret_calm, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT a.id, a.fence, a.program, d.path FROM attempt a"
		    " JOIN run r ON r.id = a.run_id JOIN drive d ON d.id = r.drive_id"
		    " WHERE a.node_id = ?1 AND a.state = 'granted' AND a.stop_requested "
		    "= 0"
		    " ORDER BY a.id",
		    "i", node) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		int covered;
		json_t *o;

		if (report_find(r, cur_int(c, 0)) != NULL)
			continue;
		covered = approval_covers(t, cur_int(c, 0), e);
		if (covered < 0) {
			rc = -1;
			break;
		}
		if (covered == 0)
			continue;
		o = duty(cur_int(c, 0), (uint64_t)cur_int(c, 1), "start", "");
		json_put(o, "drive_path", json_string(cur_text(c, 3)));
		json_put(o, "program", doc_stored(cur_text(c, 2)));
		json_array_append_new(list, o);
		*ret_calm = false;
	}
	cur_close(c);
	return rc;
}

/* A node whose attempts are not to be touched keeps what it has. */
static int
is_incompatible(struct tx *t, int64_t node, struct err *e)
{
	int64_t yes = 0;

	if (tx_int(t, &yes, e, "SELECT observed = 'incompatible' FROM node WHERE id = ?1",
		    "i", node) < 0)
		return -1;
	return yes != 0;
}

/*
 * What the node did not list and should have: one that it has forgotten, since a later
 * database of ours had all of it, it lists and sends again; one that it does not know, it
 * says. It is heard again at once: people wait for its word.
 */
static int
add_missing(struct tx *t, int64_t node, const struct report *r, json_t *list,
	bool *ret_calm, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT id, fence FROM attempt WHERE node_id = ?1"
		    " AND state IN ('granted', 'running', 'exited')"
		    " AND (state != 'granted' OR stop_requested = 1) ORDER BY id",
		    "i", node) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		if (report_find(r, cur_int(c, 0)) != NULL)
			continue;
		*ret_calm = false;
		json_array_append_new(
			list, duty(cur_int(c, 0), (uint64_t)cur_int(c, 1), "keep", ""));
	}
	cur_close(c);
	return rc;
}

int
reconcile_answer(struct tx *t, int64_t node, const struct report *r, json_t **ret_doc,
	bool *ret_calm, struct err *e)
{
	json_t *list = json_array();
	int keep = is_incompatible(t, node, e);
	int rc = keep < 0 ? -1 : 0;

	*ret_calm = true;
	for (size_t i = 0; rc == 0 && i < r->n_attempts; i++) {
		const struct reported_attempt *x = &r->attempts[i];
		struct attempt a;
		json_t *o;
		int found = find_attempt(t, node, x, &a, e);
		int covered = found == 1 ? approval_covers(t, a.id, e) : 1;

		if (found < 0 || covered < 0)
			rc = -1;
		o = keep != 0 ? duty(x->id, x->fence, "keep", "")
			      : duty_of(x, found == 1 ? &a : NULL, covered != 0);
		if (strcmp(json_text_of(o, "do"), "keep") != 0)
			*ret_calm = false;
		json_array_append_new(list, o);
	}
	if (rc == 0 && keep == 0)
		rc = add_starts(t, node, r, list, ret_calm, e);
	if (rc == 0 && keep == 0)
		rc = add_missing(t, node, r, list, ret_calm, e);
	if (rc != 0) {
		json_decref(list);
		return -1;
	}
	*ret_doc = json_object();
	json_put(*ret_doc, "epoch", json_u64(tx_epoch(t)));
	json_put(*ret_doc, "session_known", json_true());
	json_put(*ret_doc, "attempts", list);
	return 0;
}

/* What the node needs to tell how far its clock is from ours. */
static json_t *
clock_json(struct tx *t, const struct api_call *c)
{
	json_t *o = json_object();

	json_put(o, "answered_ns", json_u64((uint64_t)tx_wall(t)));
	json_put(o, "held_ns",
		json_u64((uint64_t)(c->came_mono != 0 ? tx_mono(t) - c->came_mono : 0)));
	return o;
}

/* Only the main loop knows the sessions. One that is not known is news: no long poll. */
static void
tell_session(struct api_call *c)
{
	const uint8_t *session = c->after_data;
	bool known = session != NULL &&
		     session_known(c->sessions, c->node, session, clock_mono());

	json_put(c->doc, "session_known", json_boolean(known));
	if (!known)
		c->hold = false;
	free(c->after_data);
}

int
api_agents_reconcile(struct tx *t, struct api_call *c, struct err *e)
{
	/* a held call comes here again: its report was taken the first time */
	bool again = c->hold_until_mono != 0;
	struct report r;
	bool fits, calm;
	int rc = report_parse(c->body, &r, e);

	if (rc == 0 && !again)
		rc = reconcile_take(t, c->node, &r, &fits, e);
	if (rc == 0)
		rc = reconcile_answer(t, c->node, &r, &c->doc, &calm, e);
	if (rc == 0) {
		c->after = tell_session;
		if (r.has_session) {
			c->after_data = xcalloc(1, SEAL_SESSION_BYTES);
			memcpy(c->after_data, r.session, SEAL_SESSION_BYTES);
		}
		json_put(c->doc, "clock", clock_json(t, c));
		c->hold = calm;
		c->hold_node = c->node;
		if (!again) {
			c->came_mono = tx_mono(t);
			c->hold_until_mono = tx_mono(t) + r.wait_s * NS_PER_S;
		}
	}
	report_fini(&r);
	return rc;
}
