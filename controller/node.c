#include "controller/node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/event.h"
#include "controller/state.h"
#include "controller/store.h"

static const char *const admin_states[] = {
#define ADMIN_STATE(name, text) [NODE_##name] = (text),
#include "controller/node_tbl.h"
};
static const char *const admin_events[] = {
#define ADMIN_EVENT(name, text) [NODE_DO_##name] = (text),
#include "controller/node_tbl.h"
};
static const struct fsm_edge admin_edges[] = {
#define ADMIN_EDGE(from, event, to) {NODE_##from, NODE_DO_##event, NODE_##to},
#include "controller/node_tbl.h"
};
static const char *const observed_states[] = {
#define OBSERVED_STATE(name, text) [NODE_IS_##name] = (text),
#include "controller/node_tbl.h"
};
static const char *const observed_events[] = {
#define OBSERVED_EVENT(name, text) [NODE_SEE_##name] = (text),
#include "controller/node_tbl.h"
};
static const struct fsm_edge observed_edges[] = {
#define OBSERVED_EDGE(from, event, to) {NODE_IS_##from, NODE_SEE_##event, NODE_IS_##to},
#include "controller/node_tbl.h"
};

const struct fsm node_admin_fsm = FSM_INIT(admin_states, admin_events, admin_edges);
const struct fsm node_observed_fsm = FSM_INIT(
	observed_states, observed_events, observed_edges);

static const struct state_variable admin_variable = {
	.object = "node",
	.letter = 'n',
	.variable = "admin",
	.fsm = &node_admin_fsm,
	.select = "SELECT admin FROM node WHERE id = ?1",
	.update = "UPDATE node SET admin = ?1 WHERE id = ?2",
};
static const struct state_variable observed_variable = {
	.object = "node",
	.letter = 'n',
	.variable = "observed",
	.fsm = &node_observed_fsm,
	.select = "SELECT observed FROM node WHERE id = ?1",
	.update = "UPDATE node SET observed = ?1 WHERE id = ?2",
};

int
node_admin_change(struct tx *t, int64_t node, enum node_admin_event ev, const char *why,
	const char *actor, struct err *e)
{
	struct state_change c = {
		.id = node, .event = (int)ev, .why = why, .actor = actor};

	if (state_apply(t, &admin_variable, &c, e) != 0)
		return -1;
	tx_notify(t, NOTIFY_SCHED, 0);
	return tx_exec(
		t, e, "UPDATE node SET admin_reason = ?1 WHERE id = ?2", "si", why, node);
}

/* Runs whose attempt is on the node and whose flag is not yet as it should be. */
static int
mark_unknown(struct tx *t, int64_t node, bool unknown, const char *actor, struct err *e)
{
	struct transition x = {.object = "run",
		.variable = "unknown",
		.from = unknown ? "no" : "yes",
		.to = unknown ? "yes" : "no",
		.why = unknown ? "its node is lost" : "its node is back",
		.actor = actor};

	for (;;) {
		int found = tx_int(t, &x.id, e,
			"SELECT r.id FROM attempt a JOIN run r ON r.id = a.run_id"
			" WHERE a.node_id = ?1 AND a.state IN ('granted', 'running', "
			"'exited')"
			" AND r.state IN ('leased', 'running', 'collecting')"
			" AND r.unknown <> ?2 ORDER BY r.id LIMIT 1",
			"ii", node, (int64_t)unknown);

		if (found <= 0)
			return found;
		if (tx_exec(t, e, "UPDATE run SET unknown = ?1 WHERE id = ?2", "ii",
			    (int64_t)unknown, x.id) != 0 ||
			event_transition(t, &x, e) != 0)
			return -1;
	}
}

int
node_observe(struct tx *t, int64_t node, enum node_observed_event ev, const char *why,
	const char *actor, struct err *e)
{
	struct state_change c = {
		.id = node, .event = (int)ev, .why = why, .actor = actor};

	if (state_apply(t, &observed_variable, &c, e) != 0)
		return -1;
	if (c.to == c.from)
		return 0;
	if (c.to == NODE_IS_INCOMPATIBLE)
		log_warn("node.incompatible", "node=n%" PRId64 " why=%s", node, why);
	tx_notify(t, NOTIFY_SCHED, 0);
	return mark_unknown(t, node, c.to == NODE_IS_LOST, actor, e);
}

int
node_trouble(
	struct tx *t, int64_t node, const char *trouble, const char *actor, struct err *e)
{
	struct transition x = {.object = "node",
		.id = node,
		.variable = "trouble",
		.from = trouble[0] != '\0' ? "no" : "yes",
		.to = trouble[0] != '\0' ? "yes" : "no",
		.why = trouble,
		.actor = actor};

	if (tx_exec(t, e, "UPDATE node SET trouble = ?1 WHERE id = ?2 AND trouble <> ?1",
		    "si", trouble, node) != 0)
		return -1;
	if (tx_changes(t) == 0)
		return 0;
	tx_notify(t, NOTIFY_SCHED, 0);
	return event_transition(t, &x, e);
}

int
node_json(struct tx *t, int64_t node, json_t **ret_doc, struct err *e)
{
	struct cur *c;
	json_t *doc;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT name, admin, admin_reason, observed, hostname, version, "
		    "max_runs,"
		    " labels, enrolled_ns, last_seen_ns,"
		    " (SELECT count(*) FROM lease l INDEXED BY lease_one_per_drive"
		    "  JOIN attempt a ON a.id = l.attempt_id"
		    "  WHERE a.node_id = node.id AND l.released_ns IS NULL),"
		    " (SELECT count(*) FROM sighting s WHERE s.node_id = node.id), "
		    "trouble,"
		    " clock_ahead_ns, clock_doubt_ns"
		    " FROM node WHERE id = ?1",
		    "i", node) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc <= 0) {
		cur_close(c);
		return rc < 0 ? -1
			      : err_set(e, ERR_NOTFOUND, "there is no node n%" PRId64,
					node);
	}
	doc = json_object();
	json_put(doc, "schema", json_string("ssdlab/node/v1"));
	json_put(doc, "id", api_id('n', node));
	json_put(doc, "name", json_string(cur_text(c, 0)));
	json_put(doc, "admin", json_string(cur_text(c, 1)));
	json_put(doc, "admin_reason", json_string(cur_text(c, 2)));
	json_put(doc, "observed", json_string(cur_text(c, 3)));
	json_put(doc, "hostname", json_string(cur_text(c, 4)));
	json_put(doc, "version", json_string(cur_text(c, 5)));
	json_put(doc, "max_runs", json_integer(cur_int(c, 6)));
	json_put(doc, "running", json_integer(cur_int(c, 10)));
	json_put(doc, "drained",
		json_boolean(
			strcmp(cur_text(c, 1), "draining") == 0 && cur_int(c, 10) == 0));
	json_put(doc, "labels", doc_stored(cur_text(c, 7)));
	json_put(doc, "enrolled", api_time(cur_int(c, 8)));
	json_put(doc, "last_seen", api_time(cur_int(c, 9)));
	json_put(doc, "drives", json_integer(cur_int(c, 11)));
	json_put(doc, "trouble", json_string(cur_text(c, 12)));
	json_put(doc, "clock_ahead_ns",
		cur_null(c, 13) ? json_null() : json_integer(cur_int(c, 13)));
	json_put(doc, "clock_doubt_ns",
		cur_null(c, 14) ? json_null() : json_integer(cur_int(c, 14)));
	cur_close(c);
	*ret_doc = doc;
	return 0;
}
