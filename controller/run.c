#include "controller/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/xalloc.h"
#include "controller/campaign.h"
#include "controller/doc.h"
#include "controller/lease.h"
#include "controller/state.h"
#include "controller/store.h"
#include "controller/unfinished.h"

static const char *const run_states[] = {
#define STATE(name, text) [RUN_##name] = (text),
#include "controller/run_tbl.h"
};
static const char *const run_events[] = {
#define EVENT(name, text) [RUN_DO_##name] = (text),
#include "controller/run_tbl.h"
};
static const struct fsm_edge run_edges[] = {
#define EDGE(from, event, to) {RUN_##from, RUN_DO_##event, RUN_##to},
#include "controller/run_tbl.h"
};
static const char *const attempt_states[] = {
#define STATE(name, text) [ATTEMPT_##name] = (text),
#include "controller/attempt_tbl.h"
};
static const char *const attempt_events[] = {
#define EVENT(name, text) [ATTEMPT_DO_##name] = (text),
#include "controller/attempt_tbl.h"
};
static const struct fsm_edge attempt_edges[] = {
#define EDGE(from, event, to) {ATTEMPT_##from, ATTEMPT_DO_##event, ATTEMPT_##to},
#include "controller/attempt_tbl.h"
};

const struct fsm run_fsm = FSM_INIT(run_states, run_events, run_edges);
const struct fsm attempt_fsm = FSM_INIT(attempt_states, attempt_events, attempt_edges);

static const struct state_variable run_variable = {
	.object = "run",
	.letter = 'r',
	.variable = "state",
	.fsm = &run_fsm,
	.select = "SELECT state FROM run WHERE id = ?1",
	.update = "UPDATE run SET state = ?1 WHERE id = ?2",
};
static const struct state_variable attempt_variable = {
	.object = "attempt",
	.variable = "state",
	.fsm = &attempt_fsm,
	.select = "SELECT state FROM attempt WHERE id = ?1",
	.update = "UPDATE attempt SET state = ?1 WHERE id = ?2",
};

bool
run_is_final(enum run_state s)
{
	return s >= RUN_DONE;
}

static int
conclude(struct tx *t, int64_t run, const char *why, const char *actor, struct err *e)
{
	int64_t campaign;

	if (tx_exec(t, e,
		    "UPDATE run SET finished_ns = ?1, reason = ?2, unknown = 0,"
		    " blockers = '[]' WHERE id = ?3",
		    "isi", tx_wall(t), why, run) != 0 ||
		tx_int(t, &campaign, e, "SELECT campaign_id FROM run WHERE id = ?1", "i",
			run) < 0)
		return -1;
	tx_notify(t, NOTIFY_SCHED, 0);
	return campaign_settle(t, campaign, actor, e);
}

int
run_change(struct tx *t, int64_t run, enum run_event ev, const char *why,
	const char *actor, struct err *e)
{
	struct state_change c = {.id = run, .event = (int)ev, .why = why, .actor = actor};

	if (state_apply(t, &run_variable, &c, e) != 0)
		return -1;
	if (run_is_final((enum run_state)c.to))
		return conclude(t, run, why, actor, e);
	if (c.to == RUN_RUNNING)
		return tx_exec(t, e,
			"UPDATE run SET started_ns = coalesce(started_ns, ?1) WHERE id = "
			"?2",
			"ii", tx_wall(t), run);
	if (c.to != RUN_PENDING)
		return 0;
	tx_notify(t, NOTIFY_SCHED, 0);
	return tx_exec(t, e, "UPDATE run SET unknown = 0 WHERE id = ?1", "i", run);
}

int
attempt_change(struct tx *t, int64_t attempt, enum attempt_event ev, const char *why,
	const char *actor, struct err *e)
{
	static const char *const stamps[ATTEMPT_STATES] = {
		[ATTEMPT_RUNNING] = "UPDATE attempt SET started_ns = ?1 WHERE id = ?2",
		[ATTEMPT_EXITED] = "UPDATE attempt SET exited_ns = ?1 WHERE id = ?2",
		[ATTEMPT_SEALED] = "UPDATE attempt SET sealed_ns = ?1 WHERE id = ?2",
	};
	struct state_change c = {
		.id = attempt, .event = (int)ev, .why = why, .actor = actor};

	if (state_apply(t, &attempt_variable, &c, e) != 0)
		return -1;
	if (c.to == ATTEMPT_LOST)
		return unfinished_lose(t, attempt, e);
	if (c.to == ATTEMPT_SEALED && unfinished_note(t, attempt, e) != 0)
		return -1;
	if (stamps[c.to] == NULL)
		return 0;
	return tx_exec(t, e, stamps[c.to], "ii", tx_wall(t), attempt);
}

/* What run_collected needs to know of an attempt and its run. */
struct collected {
	int64_t run, node, drive;
	bool cancel_requested;
	int64_t retries_left;
	enum run_event event;
	char fail_class[16]; /* "" unless failed */
	char *why;	     /* owned */
};

/* 1 when the attempt has exited with all its records, 0 when not, -1 on error. */
static int
load_collected(struct tx *t, int64_t attempt, struct collected *ret_x,
	json_t **ret_result, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT r.id, a.node_id, r.drive_id, r.cancel_requested,"
		    " r.retries_left, a.result"
		    " FROM attempt a JOIN run r ON r.id = a.run_id"
		    " WHERE a.id = ?1 AND a.state = 'exited' AND r.state = 'collecting'"
		    " AND a.result IS NOT NULL AND a.acked_seq >= a.result_seq",
		    "i", attempt) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		ret_x->run = cur_int(c, 0);
		ret_x->node = cur_int(c, 1);
		ret_x->drive = cur_int(c, 2);
		ret_x->cancel_requested = cur_int(c, 3) != 0;
		ret_x->retries_left = cur_int(c, 4);
		*ret_result = doc_stored(cur_text(c, 5));
	}
	cur_close(c);
	return rc;
}

/* A class that the table of runs knows; what nobody has defined is the infrastructure's.
 */
static const char *
known_class(const char *name)
{
	static const char *const classes[] = {"drive", "recipe", "safety", "timeout"};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strcmp(classes[i], name) == 0)
			return name;
	return "infra";
}

/* What the result (written by a runner or its agent) means for the run. */
static void
judge(struct collected *x, const json_t *result)
{
	const char *state = json_text_of(result, "state");
	const char *reason = json_text_of(result, "reason");

	if (strcmp(state, "done") == 0) {
		x->event = RUN_DO_FINISH;
		x->why = xstrdup("");
		return;
	}
	if (strcmp(state, "cancelled") == 0) {
		x->event = RUN_DO_CANCEL;
		x->why = xstrdup(reason);
		return;
	}
	x->event = RUN_DO_FAIL;
	snprintf(x->fail_class, sizeof(x->fail_class), "%s",
		known_class(json_text_of(result, "class")));
	if (strcmp(state, "failed") != 0)
		x->why = xstrdup("the result of the runner was not understood");
	else
		x->why = xstrdup(reason[0] != '\0' ? reason : "no reason was given");
	/* Only what lies outside of the drive and the recipe may go better next time. */
	if (strcmp(x->fail_class, "infra") == 0 && x->retries_left > 0 &&
		!x->cancel_requested)
		x->event = RUN_DO_RETRY;
}

static int
try_again(struct tx *t, const struct collected *x, struct err *e)
{
	if (tx_exec(t, e,
		    "UPDATE run SET reason = ?1, retries_left = retries_left - 1"
		    " WHERE id = ?2",
		    "si", x->why, x->run) != 0)
		return -1;
	return run_change(t, x->run, RUN_DO_RETRY, x->why, "scheduler", e);
}

static int
fail(struct tx *t, int64_t run, const char *class, const char *why, const char *actor,
	struct err *e)
{
	if (tx_exec(t, e, "UPDATE run SET fail_class = ?1 WHERE id = ?2", "si", class,
		    run) != 0)
		return -1;
	return run_change(t, run, RUN_DO_FAIL, why, actor, e);
}

static int
apply_result(struct tx *t, const struct collected *x, struct err *e)
{
	if (x->event == RUN_DO_RETRY)
		return try_again(t, x, e);
	if (x->event != RUN_DO_FAIL)
		return run_change(t, x->run, x->event, x->why, "scheduler", e);
	if (strcmp(x->fail_class, "drive") == 0 &&
		lease_quarantine(t, x->drive, x->why, "scheduler", e) != 0)
		return -1;
	return fail(t, x->run, x->fail_class, x->why, "scheduler", e);
}

int
run_collected(struct tx *t, int64_t attempt, struct err *e)
{
	struct collected x = {0};
	json_t *result = NULL;
	int rc = load_collected(t, attempt, &x, &result, e);

	if (rc != 1)
		return rc;
	judge(&x, result);
	rc = attempt_change(t, attempt, ATTEMPT_DO_SEAL, "", "scheduler", e);
	if (rc == 0)
		rc = apply_result(t, &x, e);
	if (rc == 0)
		tx_notify(t, NOTIFY_NODE, x.node);
	json_decref(result);
	free(x.why);
	return rc;
}

/* The run of an attempt and its state. */
static int
run_of(struct tx *t, int64_t attempt, int64_t *ret_run, enum run_state *ret_state,
	struct err *e)
{
	char *text = NULL;
	int rc = tx_int(
		t, ret_run, e, "SELECT run_id FROM attempt WHERE id = ?1", "i", attempt);

	if (rc == 1)
		rc = tx_text(t, &text, e, "SELECT state FROM run WHERE id = ?1", "i",
			*ret_run);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_NOTFOUND, "there is no attempt %" PRId64, attempt);
	*ret_state = (enum run_state)fsm_state(&run_fsm, text);
	free(text);
	return 0;
}

int
run_lose(struct tx *t, int64_t attempt, const char *why, const char *actor, struct err *e)
{
	enum run_state state;
	int64_t run;

	if (attempt_change(t, attempt, ATTEMPT_DO_LOSE, why, actor, e) != 0 ||
		run_of(t, attempt, &run, &state, e) != 0)
		return -1;
	return run_is_final(state) ? 0 : run_change(t, run, RUN_DO_LOSE, why, actor, e);
}

/* Loses a run whose last records are on a node that is lost: a person said enough. */
static int
stop_waiting(struct tx *t, int64_t run, const char *why, const char *actor, struct err *e)
{
	int64_t attempt;
	char *reason;
	int rc = tx_int(t, &attempt, e,
		"SELECT a.id FROM attempt a JOIN node n ON n.id = a.node_id"
		" WHERE a.run_id = ?1 AND a.state = 'exited' AND n.observed = 'lost'",
		"i", run);

	if (rc != 1)
		return rc;
	reason = xasprintf(
		"%s; its node is lost and has not sent all of its records", why);
	rc = run_lose(t, attempt, reason, actor, e);
	free(reason);
	return rc;
}

int
run_cancel(struct tx *t, int64_t run, const char *why, const char *actor, struct err *e)
{
	char *text = NULL;
	enum run_state state;
	int64_t node;
	int rc = tx_text(t, &text, e, "SELECT state FROM run WHERE id = ?1", "i", run);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_NOTFOUND, "there is no run r%" PRId64, run);
	state = (enum run_state)fsm_state(&run_fsm, text);
	free(text);
	if (run_is_final(state))
		return 0;
	if (tx_exec(t, e,
		    "UPDATE run SET cancel_requested = 1, reason = ?2"
		    " WHERE id = ?1 AND cancel_requested = 0",
		    "is", run, why) != 0)
		return -1;
	if (state == RUN_PENDING)
		return run_change(t, run, RUN_DO_CANCEL, why, actor, e);
	if (state == RUN_COLLECTING)
		return stop_waiting(t, run, why, actor, e);
	if (tx_changes(t) == 0)
		return 0;
	rc = tx_int(t, &node, e,
		"UPDATE attempt SET stop_requested = 1"
		" WHERE run_id = ?1 AND state IN ('granted', 'running') RETURNING "
		"node_id",
		"i", run);
	if (rc == 1)
		tx_notify(t, NOTIFY_NODE, node);
	return rc < 0 ? -1 : 0;
}

int
run_reject(struct tx *t, int64_t run, const char *why, const char *actor, struct err *e)
{
	return fail(t, run, "recipe", why, actor, e);
}

int
run_withdraw(struct tx *t, int64_t attempt, const char *actor, struct err *e)
{
	enum run_state state;
	int64_t run;
	char *asked = NULL;
	char *why;
	int rc;

	if (run_of(t, attempt, &run, &state, e) != 0 ||
		tx_text(t, &asked, e, "SELECT reason FROM run WHERE id = ?1", "i", run) <
			0)
		return -1;
	why = xasprintf("%s before its node had started it",
		asked != NULL && asked[0] != '\0' ? asked : "cancelled");
	rc = attempt_change(t, attempt, ATTEMPT_DO_WITHDRAW, why, actor, e);
	if (rc == 0)
		rc = run_change(t, run, RUN_DO_CANCEL, why, actor, e);
	free(why);
	free(asked);
	return rc;
}
