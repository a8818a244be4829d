#include "controller/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/left.h"
#include "controller/run.h"
#include "controller/state.h"
#include "controller/store.h"

static const char *const states[] = {
#define STATE(name, text) [CAMPAIGN_##name] = (text),
#include "controller/campaign_tbl.h"
};
static const char *const events[] = {
#define EVENT(name, text) [CAMPAIGN_DO_##name] = (text),
#include "controller/campaign_tbl.h"
};
static const struct fsm_edge edges[] = {
#define EDGE(from, event, to) {CAMPAIGN_##from, CAMPAIGN_DO_##event, CAMPAIGN_##to},
#include "controller/campaign_tbl.h"
};

const struct fsm campaign_fsm = FSM_INIT(states, events, edges);

static const struct state_variable variable = {
	.object = "campaign",
	.letter = 'c',
	.variable = "state",
	.fsm = &campaign_fsm,
	.select = "SELECT state FROM campaign WHERE id = ?1",
	.update = "UPDATE campaign SET state = ?1 WHERE id = ?2",
};

int
campaign_change(struct tx *t, int64_t campaign, enum campaign_event ev, const char *why,
	const char *actor, struct err *e)
{
	struct state_change c = {
		.id = campaign, .event = (int)ev, .why = why, .actor = actor};

	if (state_apply(t, &variable, &c, e) != 0)
		return -1;
	if (ev == CAMPAIGN_DO_PAUSE || ev == CAMPAIGN_DO_RESUME)
		tx_notify(t, NOTIFY_SCHED, 0);
	if (c.to < CAMPAIGN_DONE)
		return 0;
	return tx_exec(t, e, "UPDATE campaign SET finished_ns = ?1 WHERE id = ?2", "ii",
		tx_wall(t), campaign);
}

/* The state of a campaign, -1 on error. */
static int
state_of(struct tx *t, int64_t campaign, struct err *e)
{
	char *text = NULL;
	int state;
	int rc = tx_text(t, &text, e, variable.select, "i", campaign);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return doc_missing('c', campaign, e);
	state = fsm_state(&campaign_fsm, text);
	free(text);
	return state;
}

int
campaign_started(struct tx *t, int64_t campaign, const char *actor, struct err *e)
{
	int state = state_of(t, campaign, e);

	if (state < 0)
		return -1;
	if (state != CAMPAIGN_QUEUED)
		return 0;
	return campaign_change(t, campaign, CAMPAIGN_DO_START, "", actor, e);
}

int
campaign_settle(struct tx *t, int64_t campaign, const char *actor, struct err *e)
{
	int64_t active = 0, cancelled = 0, failed = 0;
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT count(*) FILTER (WHERE state IN"
		    "  ('pending', 'leased', 'running', 'collecting')),"
		    " count(*) FILTER (WHERE state = 'cancelled'),"
		    " count(*) FILTER (WHERE state IN ('failed', 'lost'))"
		    " FROM run WHERE campaign_id = ?1",
		    "i", campaign) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		active = cur_int(c, 0);
		cancelled = cur_int(c, 1);
		failed = cur_int(c, 2);
	}
	cur_close(c);
	if (rc < 0)
		return -1;
	if (active > 0)
		return 0;
	if (cancelled > 0)
		return campaign_change(t, campaign, CAMPAIGN_DO_CANCEL,
			"its runs were cancelled", actor, e);
	if (failed > 0)
		return campaign_change(t, campaign, CAMPAIGN_DO_FAIL,
			"not all of its runs are done", actor, e);
	return campaign_change(
		t, campaign, CAMPAIGN_DO_FINISH, "all of its runs are done", actor, e);
}

int
campaign_cancel(struct tx *t, int64_t campaign, const char *actor, struct err *e)
{
	char *why;
	int64_t run = 0;
	int rc = 0;

	if (state_of(t, campaign, e) < 0)
		return -1;
	why = xasprintf("cancelled by %s", actor);
	/* one at a time: the last one settles the campaign */
	while (rc == 0 &&
		(rc = tx_int(t, &run, e,
			 "SELECT id FROM run WHERE campaign_id = ?1 AND id > ?2"
			 " AND state IN ('pending', 'leased', 'running', 'collecting')"
			 " ORDER BY id LIMIT 1",
			 "ii", campaign, run)) == 1)
		rc = run_cancel(t, run, why, actor, e);
	free(why);
	return rc;
}

static json_t *
counts(struct cur *c, int first)
{
	json_t *o = json_object();
	int64_t total = 0;

	json_put(o, "total", json_null());
	for (int i = 0; i < RUN_STATES; i++) {
		json_put(o, run_fsm.states[i], json_integer(cur_int(c, first + i)));
		total += cur_int(c, first + i);
	}
	json_put(o, "total", json_integer(total));
	return o;
}

/*
 * The doubts of two nodes add up; on one node both runs are timed by one clock. A doubt
 * that is not known makes the sum so.
 */
static const char select_starts[] =
	"SELECT start_ns, count(*), count(start_lag_ns),"
	" CASE WHEN count(start_lag_ns) > 1"
	"  THEN max(start_lag_ns) - min(start_lag_ns) END,"
	" CASE WHEN count(DISTINCT node_id) = 1 THEN 0"
	"  WHEN count(start_doubt_ns) = count(*) THEN"
	"  max(start_doubt_ns) + max(start_doubt_ns) FILTER (WHERE place = 2) END"
	" FROM (SELECT a.start_ns, a.start_lag_ns, a.start_doubt_ns, a.node_id,"
	"  row_number() OVER (PARTITION BY a.start_ns ORDER BY a.start_doubt_ns DESC)"
	"  AS place FROM attempt a JOIN run r ON r.id = a.run_id"
	"  WHERE r.campaign_id = ?1 AND a.start_ns IS NOT NULL)"
	" GROUP BY start_ns ORDER BY start_ns";

/* Adds how far apart the runs began that were to start together. */
static int
put_starts(struct tx *t, int64_t campaign, json_t *doc, struct err *e)
{
	json_t *list = json_array();
	struct cur *c;
	int rc;

	json_put(doc, "starts", list);
	if (tx_query(t, &c, e, select_starts, "i", campaign) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		json_t *o = json_object();

		json_put(o, "at", api_time(cur_int(c, 0)));
		json_put(o, "runs", json_integer(cur_int(c, 1)));
		json_put(o, "begun", json_integer(cur_int(c, 2)));
		json_put(o, "skew_ns", doc_int(c, 3));
		json_put(o, "doubt_ns", doc_int(c, 4));
		json_array_append_new(list, o);
	}
	cur_close(c);
	return rc;
}

/* Adds how long its runs still take, null when there are none or it is not known. */
static int
put_left(struct tx *t, int64_t campaign, json_t *doc, struct err *e)
{
	int64_t ns = -1;
	bool at_most = false;

	if (json_is_null(json_object_get(doc, "finished")) &&
		left_campaign(t, campaign, &ns, &at_most, e) != 0)
		return -1;
	json_put(doc, "left_ns", ns >= 0 ? json_u64((uint64_t)ns) : json_null());
	json_put(doc, "left_at_most", json_boolean(at_most));
	return 0;
}

int
campaign_json(struct tx *t, int64_t campaign, bool whole, json_t **ret_doc, struct err *e)
{
	struct cur *c;
	json_t *doc;
	int rc;

	/* the order of the counts is that of run_tbl.h */
	if (tx_query(t, &c, e,
		    "SELECT c.name, s.name || '@' || s.version, c.state, c.priority, "
		    "c.owner,"
		    " c.labels, c.created_ns, c.finished_ns, c.doc,"
		    " count(*) FILTER (WHERE r.state = 'pending'),"
		    " count(*) FILTER (WHERE r.state = 'leased'),"
		    " count(*) FILTER (WHERE r.state = 'running'),"
		    " count(*) FILTER (WHERE r.state = 'collecting'),"
		    " count(*) FILTER (WHERE r.state = 'done'),"
		    " count(*) FILTER (WHERE r.state = 'failed'),"
		    " count(*) FILTER (WHERE r.state = 'cancelled'),"
		    " count(*) FILTER (WHERE r.state = 'lost'),"
		    " count(*) FILTER (WHERE r.cancel_requested AND r.state IN"
		    "  ('pending', 'leased', 'running', 'collecting'))"
		    " FROM campaign c JOIN suite s ON s.id = c.suite_id"
		    " LEFT JOIN run r ON r.campaign_id = c.id"
		    " WHERE c.id = ?1 GROUP BY c.id",
		    "i", campaign) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc <= 0) {
		cur_close(c);
		return rc < 0 ? -1 : doc_missing('c', campaign, e);
	}
	doc = json_object();
	json_put(doc, "schema", json_string("ssdlab/campaign/v1"));
	json_put(doc, "id", api_id('c', campaign));
	json_put(doc, "name", json_string(cur_text(c, 0)));
	json_put(doc, "suite", json_string(cur_text(c, 1)));
	json_put(doc, "state", json_string(cur_text(c, 2)));
	json_put(doc, "priority", json_integer(cur_int(c, 3)));
	json_put(doc, "owner", json_string(cur_text(c, 4)));
	json_put(doc, "labels", doc_stored(cur_text(c, 5)));
	json_put(doc, "created", api_time(cur_int(c, 6)));
	json_put(doc, "finished", api_time(cur_int(c, 7)));
	json_put(doc, "runs", counts(c, 9));
	json_put(doc, "cancelling", json_boolean(cur_int(c, 9 + RUN_STATES) > 0));
	if (whole)
		json_put(doc, "document", doc_stored(cur_text(c, 8)));
	cur_close(c);
	if (put_left(t, campaign, doc, e) != 0 ||
		(whole && put_starts(t, campaign, doc, e) != 0)) {
		json_decref(doc);
		return -1;
	}
	*ret_doc = doc;
	return 0;
}
