#include "controller/rundoc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/suite.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/environment.h"
#include "controller/ledger.h"
#include "controller/left.h"
#include "controller/sched.h"
#include "controller/store.h"

/* Columns of the row of a run; the order is that of its SELECT. */
enum column {
	COL_CAMPAIGN,
	COL_CAMPAIGN_NAME,
	COL_SUITE,
	COL_DRIVE,
	COL_MODEL,
	COL_SERIAL,
	COL_FIRMWARE,
	COL_NODE,
	COL_NODE_NAME,
	COL_REPEAT,
	COL_STATE,
	COL_FAIL_CLASS,
	COL_REASON,
	COL_UNKNOWN,
	COL_CANCEL_REQUESTED,
	COL_BLOCKERS,
	COL_SCALED,
	COL_VIRTUAL,
	COL_PRIORITY,
	COL_CREATED,
	COL_STARTED,
	COL_FINISHED,
	COL_ATTEMPT,
	COL_NUMBER,
	COL_ATTEMPT_STATE,
	COL_STEP,
	COL_LAST_SEQ,
	COL_ACKED_SEQ,
	COL_TROUBLE,
	COL_START,
	COL_START_DOUBT,
	COL_START_LAG,
	COL_CANNOT_STOP
};

static const char select_run[] =
	"SELECT r.campaign_id, c.name, s.name || '@' || s.version, d.id, d.model, "
	"d.serial,"
	" CASE r.firmware WHEN '' THEN d.firmware ELSE r.firmware END, n.id, n.name,"
	" r.repeat, r.state, r.fail_class, r.reason, r.unknown, r.cancel_requested,"
	" r.blockers, r.scaled, r.virtual, r.priority, r.created_ns, r.started_ns,"
	" r.finished_ns, a.id, a.number, a.state, a.step, a.last_seq, a.acked_seq,"
	" n.trouble, a.start_ns, a.start_doubt_ns, a.start_lag_ns,"
	" CASE WHEN a.stop_requested THEN a.cannot_stop ELSE '' END"
	" FROM run r JOIN campaign c ON c.id = r.campaign_id"
	" JOIN suite s ON s.id = r.suite_id JOIN drive d ON d.id = r.drive_id"
	" LEFT JOIN attempt a ON a.run_id = r.id AND a.number ="
	"  (SELECT max(number) FROM attempt WHERE run_id = r.id)"
	" JOIN node n ON n.id = coalesce(a.node_id, d.node_id)"
	" WHERE r.id = ?1";

static json_t *
drive_doc(struct cur *c)
{
	json_t *o = json_object();

	json_put(o, "id", api_id('d', cur_int(c, COL_DRIVE)));
	json_put(o, "model", json_string(cur_text(c, COL_MODEL)));
	json_put(o, "serial", json_string(cur_text(c, COL_SERIAL)));
	json_put(o, "firmware", json_string(cur_text(c, COL_FIRMWARE)));
	return o;
}

static json_t *
node_doc(struct cur *c)
{
	json_t *o = json_object();

	json_put(o, "id", api_id('n', cur_int(c, COL_NODE)));
	json_put(o, "name", json_string(cur_text(c, COL_NODE_NAME)));
	return o;
}

/* The instant at which it was to start together with others. */
static json_t *
start_doc(struct cur *c)
{
	json_t *o;

	if (cur_null(c, COL_START))
		return json_null();
	o = json_object();
	json_put(o, "at", api_time(cur_int(c, COL_START)));
	json_put(o, "lag_ns", doc_int(c, COL_START_LAG));
	json_put(o, "doubt_ns", doc_int(c, COL_START_DOUBT));
	return o;
}

static json_t *
attempt_doc(struct cur *c)
{
	json_t *o;

	if (cur_null(c, COL_ATTEMPT))
		return json_null();
	o = json_object();
	json_put(o, "id", json_u64((uint64_t)cur_int(c, COL_ATTEMPT)));
	json_put(o, "number", json_integer(cur_int(c, COL_NUMBER)));
	json_put(o, "state", json_string(cur_text(c, COL_ATTEMPT_STATE)));
	json_put(o, "step", json_string(cur_text(c, COL_STEP)));
	json_put(o, "last_seq", json_integer(cur_int(c, COL_LAST_SEQ)));
	json_put(o, "acked_seq", json_integer(cur_int(c, COL_ACKED_SEQ)));
	json_put(o, "start", start_doc(c));
	return o;
}

static void
add_blocker(json_t *list, const char *code, json_t *text)
{
	json_t *o = json_object();

	json_put(o, "code", json_string(code));
	json_put(o, "text", text);
	json_array_append_new(list, o);
}

/*
 * What keeps a run from running: of a pending one the scheduler has said it; a granted
 * one waits for a node that may be in trouble. Of one that is to end, what keeps it from
 * that.
 */
static json_t *
blockers_doc(struct cur *c)
{
	json_t *list = doc_stored(cur_text(c, COL_BLOCKERS));

	if (strcmp(cur_text(c, COL_STATE), "leased") == 0 &&
		cur_text(c, COL_TROUBLE)[0] != '\0')
		add_blocker(list, "node.trouble",
			json_sprintf("node %s says: %s", cur_text(c, COL_NODE_NAME),
				cur_text(c, COL_TROUBLE)));
	if (cur_text(c, COL_CANNOT_STOP)[0] != '\0')
		add_blocker(list, "run.cannot_stop",
			json_sprintf("cannot stop: %s; the drive goes on with it "
				     "whatever its host does, and is waited for",
				cur_text(c, COL_CANNOT_STOP)));
	return list;
}

static json_t *
run_doc(int64_t run, struct cur *c)
{
	json_t *doc = json_object();

	json_put(doc, "schema", json_string("ssdlab/run/v1"));
	json_put(doc, "id", api_id('r', run));
	json_put(doc, "campaign", api_id('c', cur_int(c, COL_CAMPAIGN)));
	json_put(doc, "campaign_name", json_string(cur_text(c, COL_CAMPAIGN_NAME)));
	json_put(doc, "suite", json_string(cur_text(c, COL_SUITE)));
	json_put(doc, "drive", drive_doc(c));
	json_put(doc, "node", node_doc(c));
	json_put(doc, "repeat", json_integer(cur_int(c, COL_REPEAT)));
	json_put(doc, "state", json_string(cur_text(c, COL_STATE)));
	json_put(doc, "fail_class",
		cur_null(c, COL_FAIL_CLASS) ? json_null()
					    : json_string(cur_text(c, COL_FAIL_CLASS)));
	json_put(doc, "reason", json_text(cur_text(c, COL_REASON)));
	json_put(doc, "unknown", json_boolean(cur_int(c, COL_UNKNOWN) != 0));
	json_put(doc, "cancel_requested",
		json_boolean(cur_int(c, COL_CANCEL_REQUESTED) != 0));
	json_put(doc, "attempt", attempt_doc(c));
	json_put(doc, "blockers", blockers_doc(c));
	json_put(doc, "scaled", json_boolean(cur_int(c, COL_SCALED) != 0));
	json_put(doc, "virtual", json_boolean(cur_int(c, COL_VIRTUAL) != 0));
	json_put(doc, "priority", json_integer(cur_int(c, COL_PRIORITY)));
	json_put(doc, "created", api_time(cur_int(c, COL_CREATED)));
	json_put(doc, "started", api_time(cur_int(c, COL_STARTED)));
	json_put(doc, "finished", api_time(cur_int(c, COL_FINISHED)));
	return doc;
}

static int
count_samples(struct tx *t, int64_t attempt, json_t *doc, struct err *e)
{
	json_t *o = json_object_get(doc, "attempt");
	int64_t n = 0;

	if (!json_is_object(o))
		return 0;
	/* samples of finished points are in series, the others are records still */
	if (tx_int(t, &n, e,
		    "SELECT (SELECT count(*) FROM record WHERE attempt_id = ?1 AND kind "
		    "= 2)"
		    " + (SELECT coalesce(sum(n), 0) FROM series WHERE attempt_id = ?1)",
		    "i", attempt) < 0)
		return -1;
	json_put(o, "samples", json_integer(n));
	return 0;
}

/* The drive of a run, as far as its points depend on it, and its kind. */
static int
drive_of(struct tx *t, int64_t run, struct suite_drive *ret_d, char ret_kind[16],
	struct err *e)
{
	struct cur *c;
	int rc;

	*ret_d = (struct suite_drive){0};
	ret_kind[0] = '\0';
	if (tx_query(t, &c, e,
		    "SELECT d.capacity_bytes, d.logical_block_bytes, d.kind, d.virtual"
		    " FROM run r JOIN drive d ON d.id = r.drive_id WHERE r.id = ?1",
		    "i", run) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		*ret_d = (struct suite_drive){(uint64_t)cur_int(c, 0),
			(uint32_t)cur_int(c, 1),
			drive_has_health(cur_text(c, 2), cur_int(c, 3) != 0)};
		snprintf(ret_kind, 16, "%s", cur_text(c, 2));
	}
	cur_close(c);
	return rc < 0 ? -1 : 0;
}

/*
 * Begins the progress with what the suite says: how many points the run has in all, 0
 * when it cannot be read any more; how long the run still takes; which pass of a fill it
 * is in.
 */
static int
add_plan(struct tx *t, int64_t campaign, int64_t run, int64_t attempt, json_t *doc,
	struct err *e)
{
	const char *state = json_text_of(doc, "state");
	bool running = strcmp(state, "running") == 0;
	bool to_do = running || strcmp(state, "pending") == 0 ||
		     strcmp(state, "leased") == 0;
	struct suite *s = xcalloc(1, sizeof(*s));
	struct suite_cost cost = {0};
	json_t *o = json_object();
	json_t *left = NULL;
	struct left_place at;
	struct suite_drive d;
	char kind[16];
	int rc = left_place(t, attempt, &at, e);

	json_put(doc, "progress", o);
	json_put(o, "fill_pass", json_null());
	json_put(o, "fill_passes", json_null());
	if (rc == 0 && sched_suite(t, campaign, s, NULL) == 0 &&
		drive_of(t, run, &d, kind, NULL) == 0) {
		uint32_t passes = suite_fill_passes(s, &d, at.step);

		suite_cost(s, &d, 1, 1, &cost);
		if (to_do)
			left = json_u64((uint64_t)suite_left_ns(
				s, &d, left_fill_rate(kind), at.step, at.points));
		if (running && passes > at.points) {
			json_put(o, "fill_pass", json_integer(at.points + 1));
			json_put(o, "fill_passes", json_integer(passes));
		}
	}
	json_put(o, "left_ns", left != NULL ? left : json_null());
	json_put(o, "points_total", json_integer(cost.points));
	suite_fini(s);
	free(s);
	return rc;
}

/* Adds which points are done; those that were skipped count no more. */
static int
add_progress(struct tx *t, int64_t attempt, json_t *doc, struct err *e)
{
	json_t *o = json_object_get(doc, "progress");
	int64_t done = 0;
	int64_t skipped = 0;
	struct cur *c;
	int rc;

	if (tx_int(t, &skipped, e,
		    "SELECT sum(detail ->> 'passes') FROM ledger"
		    " WHERE attempt_id = ?1 AND kind = 'skip'",
		    "i", attempt) < 0)
		return -1;
	json_put(o, "points_total",
		json_integer(json_integer_value(json_object_get(o, "points_total")) -
			     skipped));
	if (tx_int(t, &done, e,
		    "SELECT count(*) FROM point WHERE attempt_id = ?1 AND state = 'done'",
		    "i", attempt) < 0)
		return -1;
	json_put(o, "points_done", json_integer(done));
	if (tx_query(t, &c, e,
		    "SELECT workload, load_percent, offered_iops FROM point WHERE "
		    "attempt_id = ?1"
		    " AND state = 'running' ORDER BY point DESC LIMIT 1",
		    "i", attempt) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		json_put(o, "workload", json_string(cur_text(c, 0)));
		json_put(o, "load_percent",
			cur_null(c, 1) ? json_null() : json_real(cur_real(c, 1)));
		json_put(o, "offered_iops",
			cur_null(c, 2) ? json_null() : json_real(cur_real(c, 2)));
	}
	cur_close(c);
	return rc < 0 ? -1 : 0;
}

/*
 * What all attempts have written, by the points and purges that have ended. Runners of
 * before told only what they wrote in the measured time.
 */
static int
add_written(struct tx *t, int64_t run, json_t *doc, struct err *e)
{
	int64_t n = 0;

	if (tx_int(t, &n, e,
		    "SELECT coalesce(sum(CAST(coalesce(p.meta ->> 'written_bytes',"
		    " p.meta ->> '$.bytes[1]') AS INTEGER)), 0) + (SELECT"
		    "  coalesce(sum(l.written_bytes), 0) FROM ledger l JOIN attempt b"
		    "  ON b.id = l.attempt_id WHERE b.run_id = ?1 AND l.kind = 'purge')"
		    " FROM attempt a JOIN point p ON p.attempt_id = a.id"
		    " WHERE a.run_id = ?1",
		    "i", run) < 0)
		return -1;
	json_put(doc, "written_bytes", json_u64((uint64_t)n));
	return 0;
}

static int
add_preparation(struct tx *t, int64_t run, json_t *doc, struct err *e)
{
	json_t *list;

	if (ledger_of_run(t, run, &list, e) != 0)
		return -1;
	json_put(doc, "preparation", list);
	return 0;
}

static int
add_environment(struct tx *t, int64_t attempt, json_t *doc, struct err *e)
{
	json_t *o;

	if (environment_of(t, attempt, &o, e) != 0)
		return -1;
	json_put(doc, "environment", o);
	return 0;
}

int
run_json(struct tx *t, int64_t run, json_t **ret_doc, struct err *e)
{
	int64_t campaign, attempt;
	struct cur *c;
	json_t *doc;
	int rc;

	if (tx_query(t, &c, e, select_run, "i", run) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc <= 0) {
		cur_close(c);
		return rc < 0 ? -1 : doc_missing('r', run, e);
	}
	doc = run_doc(run, c);
	campaign = cur_int(c, COL_CAMPAIGN);
	attempt = cur_int(c, COL_ATTEMPT);
	cur_close(c);
	if (count_samples(t, attempt, doc, e) != 0 || add_written(t, run, doc, e) != 0 ||
		add_preparation(t, run, doc, e) != 0 ||
		add_plan(t, campaign, run, attempt, doc, e) != 0 ||
		add_progress(t, attempt, doc, e) != 0 ||
		add_environment(t, attempt, doc, e) != 0) {
		json_decref(doc);
		return -1;
	}
	*ret_doc = doc;
	return 0;
}
