#include "controller/left.h"

#include <stdlib.h>
#include <string.h>

#include "common/suite.h"
#include "common/xalloc.h"
#include "controller/sched.h"
#include "controller/store.h"

uint64_t
left_fill_rate(const char *kind)
{
	return strcmp(kind, "nvme") == 0 ? 1500000000 : 400000000;
}

int
left_place(struct tx *t, int64_t attempt, struct left_place *ret_p, struct err *e)
{
	struct cur *c;
	int rc;

	*ret_p = (struct left_place){0};
	if (tx_query(t, &c, e,
		    "SELECT step, count(*) FILTER (WHERE state = 'done') FROM point"
		    " WHERE attempt_id = ?1 AND step ="
		    "  (SELECT max(step) FROM point WHERE attempt_id = ?1) GROUP BY step",
		    "i", attempt) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1)
		*ret_p = (struct left_place){
			(uint32_t)cur_int(c, 0), (uint32_t)cur_int(c, 1)};
	cur_close(c);
	return rc < 0 ? -1 : 0;
}

/* A run that has not ended, in the order of nodes and drives. */
struct waiting {
	int64_t attempt; /* 0: none yet */
	int64_t node, drive;
	int64_t at_once; /* runs that the node has at a time */
	uint64_t fill_rate;
	struct suite_drive id;
};

static int
read_waiting(struct tx *t, int64_t campaign, struct waiting **ret_w, size_t *ret_n,
	struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT coalesce((SELECT id FROM attempt WHERE run_id = r.id"
		    "   ORDER BY number DESC LIMIT 1), 0), d.node_id, d.id,"
		    " CASE WHEN c.doc ->> '$.apart' THEN 1 ELSE n.max_runs END,"
		    " d.kind, d.capacity_bytes, d.logical_block_bytes, d.virtual"
		    " FROM run r JOIN campaign c ON c.id = r.campaign_id"
		    " JOIN drive d ON d.id = r.drive_id JOIN node n ON n.id = d.node_id"
		    " WHERE r.campaign_id = ?1 AND r.state IN"
		    "  ('pending', 'leased', 'running') ORDER BY d.node_id, d.id",
		    "i", campaign) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		const char *kind = cur_text(c, 4);

		*ret_w = xrealloc(*ret_w, *ret_n + 1, sizeof(**ret_w));
		(*ret_w)[(*ret_n)++] = (struct waiting){
			.attempt = cur_int(c, 0),
			.node = cur_int(c, 1),
			.drive = cur_int(c, 2),
			.at_once = cur_int(c, 3),
			.fill_rate = left_fill_rate(kind),
			.id = {(uint64_t)cur_int(c, 5), (uint32_t)cur_int(c, 6),
				drive_has_health(kind, cur_int(c, 7) != 0)},
		};
	}
	cur_close(c);
	return rc;
}

/* The runs of a node one after the other, as many at a time as it has, but those of one
 * drive never side by side. */
struct sums {
	double node, drive; /* ns of the present ones */
	double longest;	    /* drive of the node */
	double all;	    /* node of the campaign */
};

static void
end_node(struct sums *s, int64_t at_once)
{
	double ns = at_once > 0 ? s->node / (double)at_once : s->node;

	if (ns < s->longest)
		ns = s->longest;
	if (s->all < ns)
		s->all = ns;
	s->node = s->longest = 0;
}

static int
sum_up(struct tx *t, const struct suite *suite, const struct waiting *w, size_t n,
	double *ret_ns, struct err *e)
{
	struct sums s = {0};

	for (size_t i = 0; i < n; i++) {
		struct left_place at;
		double ns;

		if (left_place(t, w[i].attempt, &at, e) != 0)
			return -1;
		ns = (double)suite_left_ns(
			suite, &w[i].id, w[i].fill_rate, at.step, at.points);
		s.node += ns;
		s.drive += ns;
		if (s.longest < s.drive)
			s.longest = s.drive;
		if (i + 1 == n || w[i + 1].drive != w[i].drive)
			s.drive = 0;
		if (i + 1 == n || w[i + 1].node != w[i].node)
			end_node(&s, w[i].at_once);
	}
	*ret_ns = s.all;
	return 0;
}

int
left_campaign(
	struct tx *t, int64_t campaign, int64_t *ret_ns, bool *ret_at_most, struct err *e)
{
	struct suite *suite = xcalloc(1, sizeof(*suite));
	struct waiting *w = NULL;
	double ns = 0;
	size_t n = 0;
	int rc = 0;

	*ret_ns = -1;
	*ret_at_most = false;
	if (sched_suite(t, campaign, suite, NULL) == 0) {
		rc = read_waiting(t, campaign, &w, &n, e);
		if (rc == 0)
			rc = sum_up(t, suite, w, n, &ns, e);
		*ret_ns = ns < 9e18 ? (int64_t)ns : INT64_MAX;
		*ret_at_most = suite->n_tests > 0;
	}
	suite_fini(suite);
	free(suite);
	free(w);
	return rc;
}
