#include "controller/liveness.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "controller/node.h"
#include "controller/store.h"

struct silent {
	int64_t node, since_mono;
	int observed;
};

static bool
is_held(const struct liveness *l, int64_t node)
{
	for (size_t i = 0; i < l->n_held; i++)
		if (l->held[i] == node)
			return true;
	return false;
}

/* The first enrolled node with a larger id: 1, 0 at the end, -1 on error. */
static int
next_node(struct tx *t, const struct liveness *l, struct silent *s, struct err *e)
{
	struct cur *c;
	int rc;

	/* the monotonic time of an earlier epoch may be another boot's */
	if (tx_query(t, &c, e,
		    "SELECT id, CASE WHEN seen_epoch = ?2 THEN seen_mono_ns ELSE 0 END,"
		    " observed FROM node WHERE id > ?1 AND admin <> 'pending'"
		    " ORDER BY id LIMIT 1",
		    "ii", s->node, (int64_t)tx_epoch(t)) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		s->node = cur_int(c, 0);
		s->since_mono = cur_int(c, 1);
		if (s->since_mono < l->started_mono)
			s->since_mono = l->started_mono;
		s->observed = fsm_state(&node_observed_fsm, cur_text(c, 2));
	}
	cur_close(c);
	return rc;
}

static int
look_at(struct tx *t, const struct liveness *l, const struct silent *s, struct err *e)
{
	int64_t silence = tx_mono(t) - s->since_mono;
	char why[64];

	/* noted well before it would be late, also when the next pass is not in time, and
	 * not each time: an idle lab writes little */
	if (is_held(l, s->node) && silence + LIVENESS_EVERY_NS < l->late_ns / 2)
		return 0;
	if (is_held(l, s->node))
		return tx_exec(t, e,
			"UPDATE node SET last_seen_ns = ?1, seen_mono_ns = ?2,"
			" seen_epoch = ?3 WHERE id = ?4",
			"iiii", tx_wall(t), tx_mono(t), (int64_t)tx_epoch(t), s->node);
	snprintf(why, sizeof(why), "silent for %" PRId64 " s", silence / NS_PER_S);
	if (silence >= l->lost_ns && s->observed != NODE_IS_LOST)
		return node_observe(t, s->node, NODE_SEE_LOSE, why, "liveness", e);
	if (silence >= l->late_ns && s->observed == NODE_IS_ONLINE)
		return node_observe(t, s->node, NODE_SEE_DELAY, why, "liveness", e);
	return 0;
}

int
liveness_pass(struct tx *t, void *arg, struct err *e)
{
	const struct liveness *l = arg;
	struct silent s = {0};
	int rc;

	while ((rc = next_node(t, l, &s, e)) == 1)
		if (look_at(t, l, &s, e) != 0)
			return -1;
	return rc;
}

int
liveness_tell(struct tx *t, int64_t node, int64_t late_ns, json_t *doc, struct err *e)
{
	int64_t silence = 0;

	if (strcmp(json_text_of(doc, "observed"), "online") != 0)
		return 0;
	if (tx_int(t, &silence, e,
		    "SELECT CASE WHEN seen_epoch = ?2 THEN ?3 - seen_mono_ns"
		    " ELSE ?4 - last_seen_ns END FROM node WHERE id = ?1",
		    "iiii", node, (int64_t)tx_epoch(t), tx_mono(t), tx_wall(t)) < 0)
		return -1;
	if (silence >= late_ns)
		json_put(doc, "observed", json_string("late"));
	return 0;
}
