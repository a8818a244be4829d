#include "controller/sched.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/campaign.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/program.h"
#include "common/suite.h"
#include "common/xalloc.h"
#include "controller/campaign.h"
#include "controller/doc.h"
#include "controller/lease.h"
#include "controller/reuse.h"
#include "controller/run.h"
#include "controller/store.h"

#define ACTOR "scheduler"

/* Keeps a copy of a column for the life of the world. */
static const char *
keep(struct sched_world *w, const char *text)
{
	char *copy = xstrdup(text);

	/* grows by doubling: the count is a power of two exactly when it is full */
	if ((w->n_texts & (w->n_texts - 1)) == 0)
		w->texts = xrealloc(w->texts, w->n_texts == 0 ? 1 : 2 * w->n_texts,
			sizeof(*w->texts));
	w->texts[w->n_texts++] = copy;
	return copy;
}

/* Makes room for the rows of a table: their number, or -1. */
static int64_t
room(struct tx *t, const char *count, size_t spare, size_t size, void **ret_rows,
	struct err *e)
{
	int64_t n = 0;

	if (tx_int(t, &n, e, count, "") < 0)
		return -1;
	*ret_rows = xcalloc((size_t)n + spare + 1, size);
	return n;
}

static int
load_nodes(struct tx *t, struct sched_world *w, struct err *e)
{
	struct cur *c;
	void *rows;
	int64_t n = room(
		t, "SELECT count(*) FROM node", 0, sizeof(*w->plan.nodes), &rows, e);
	int rc;

	if (n < 0)
		return -1;
	w->plan.nodes = rows;
	if (tx_query(t, &c, e,
		    "SELECT n.id, n.name, n.admin_reason, n.admin, n.observed, "
		    "n.max_runs, n.trouble,"
		    " (SELECT count(*) FROM lease l INDEXED BY lease_one_per_drive"
		    "  JOIN attempt a ON a.id = l.attempt_id"
		    "  WHERE l.released_ns IS NULL AND a.node_id = n.id)"
		    " FROM node n ORDER BY n.id",
		    "") != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1)
		w->plan.nodes[w->plan.n_nodes++] = (struct plan_node){
			.id = cur_int(c, 0),
			.name = keep(w, cur_text(c, 1)),
			.reason = keep(w, cur_text(c, 2)),
			.admin = (enum node_admin)fsm_state(
				&node_admin_fsm, cur_text(c, 3)),
			.observed = (enum node_observed)fsm_state(
				&node_observed_fsm, cur_text(c, 4)),
			.max_runs = (uint32_t)cur_int(c, 5),
			.trouble = keep(w, cur_text(c, 6)),
			.running = (uint32_t)cur_int(c, 7),
		};
	cur_close(c);
	return rc;
}

static int
load_drives(struct tx *t, struct sched_world *w, struct err *e)
{
	struct cur *c;
	void *rows;
	int64_t n = room(
		t, "SELECT count(*) FROM drive", 0, sizeof(*w->plan.drives), &rows, e);
	int rc;

	if (n < 0)
		return -1;
	w->plan.drives = rows;
	if (tx_query(t, &c, e,
		    "SELECT d.id, d.node_id, d.serial, d.protected, d.admin, d.observed,"
		    " d.occupancy, a.run_id, coalesce((SELECT c.id FROM run r JOIN "
		    "campaign c"
		    "  ON c.id = r.campaign_id WHERE r.id = a.run_id"
		    "  AND c.start = 'apart'), 0),"
		    /* a node that is lost is not waited for */
		    " (SELECT r.id FROM run r INDEXED BY run_by_state WHERE"
		    "  r.state = 'collecting' AND r.drive_id = d.id AND r.unknown = 0)"
		    " FROM drive d"
		    " LEFT JOIN lease l ON l.drive_id = d.id AND l.released_ns IS NULL"
		    " LEFT JOIN attempt a ON a.id = l.attempt_id ORDER BY d.id",
		    "") != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1)
		w->plan.drives[w->plan.n_drives++] = (struct plan_drive){
			.id = cur_int(c, 0),
			.node = cur_int(c, 1),
			.serial = keep(w, cur_text(c, 2)),
			.protected = keep(w, cur_text(c, 3)),
			.admin = (enum drive_admin)fsm_state(
				&drive_admin_fsm, cur_text(c, 4)),
			.observed = (enum drive_observed)fsm_state(
				&drive_observed_fsm, cur_text(c, 5)),
			.occupancy = (enum drive_occupancy)fsm_state(
				&drive_occupancy_fsm, cur_text(c, 6)),
			.holder = cur_int(c, 7),
			.apart = cur_int(c, 8),
			.collecting = cur_int(c, 9),
		};
	cur_close(c);
	return rc;
}

int
sched_suite(struct tx *t, int64_t campaign, struct suite *ret_s, struct err *e)
{
	struct campaign_doc doc = {0};
	char *campaign_text = NULL;
	char *suite_text = NULL;
	json_t *campaign_json = NULL;
	json_t *suite_json = NULL;
	int rc = tx_text(t, &campaign_text, e, "SELECT doc FROM campaign WHERE id = ?1",
		"i", campaign);

	ret_s->tests = NULL;
	ret_s->n_tests = 0;
	if (rc == 1)
		rc = tx_text(t, &suite_text, e,
			"SELECT s.doc FROM suite s JOIN campaign c ON c.suite_id = s.id"
			" WHERE c.id = ?1",
			"i", campaign);
	if (rc == 0)
		doc_missing('c', campaign, e);
	if (rc != 1)
		goto out;
	campaign_json = doc_stored(campaign_text);
	suite_json = doc_stored(suite_text);
	rc = campaign_parse(campaign_json, &doc, e) == 0 &&
			     suite_parse(suite_json, ret_s, e) == 0 &&
			     suite_choose(ret_s,
				     (const char(*)[WORKLOAD_ID_MAX])doc.workloads,
				     doc.n_workloads, e) == 0
		     ? 1
		     : -1;
	if (rc < 0)
		suite_fini(ret_s);
	if (rc < 0)
		err_ctx(e, "the stored documents of campaign c%" PRId64, campaign);
out:
	campaign_fini(&doc);
	json_decref(campaign_json);
	json_decref(suite_json);
	free(campaign_text);
	free(suite_text);
	return rc == 1 ? 0 : -1;
}

/* Whether the store failed, rather than what it holds. */
static bool
is_store_failure(const struct err *e)
{
	return e->class == ERR_STORE || e->class == ERR_FULL;
}

enum writes { READS_ONLY, WRITES, UNREADABLE };

/* What the runs of a campaign do to their drives; -1 when the store failed. */
static int
campaign_writes(struct tx *t, int64_t campaign, struct err *e)
{
	struct suite *s = xcalloc(1, sizeof(*s));
	struct err why = {0};
	int rc;

	if (sched_suite(t, campaign, s, &why) == 0) {
		rc = suite_writes(s) ? WRITES : READS_ONLY;
	} else if (is_store_failure(&why)) {
		*e = why;
		rc = -1;
	} else {
		rc = UNREADABLE;
	}
	suite_fini(s);
	free(s);
	return rc;
}

static int
load_runs(struct tx *t, size_t spare, struct sched_world *w, struct err *e)
{
	struct cur *c;
	void *rows;
	int64_t n = room(t, "SELECT count(*) FROM run WHERE state = 'pending'", spare,
		sizeof(*w->plan.runs), &rows, e);
	int64_t campaign = 0;
	int writes = READS_ONLY;
	int rc;

	if (n < 0)
		return -1;
	w->plan.runs = rows;
	w->unreadable = xcalloc((size_t)n + 1, sizeof(*w->unreadable));
	if (tx_query(t, &c, e,
		    "SELECT r.id, r.drive_id, r.priority, r.campaign_id,"
		    " c.state = 'paused',"
		    /* a repeat is at most 100 */
		    " CASE c.start WHEN 'together' THEN c.id * 128 + r.repeat ELSE 0 END,"
		    " CASE c.start WHEN 'apart' THEN c.id ELSE 0 END"
		    " FROM run r JOIN campaign c ON c.id = r.campaign_id"
		    " WHERE r.state = 'pending' ORDER BY r.campaign_id",
		    "") != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		if (cur_int(c, 3) != campaign) {
			campaign = cur_int(c, 3);
			writes = campaign_writes(t, campaign, e);
		}
		if (writes < 0) {
			rc = -1;
			break;
		}
		if (writes == UNREADABLE) {
			w->unreadable[w->n_unreadable++] = cur_int(c, 0);
			continue;
		}
		w->plan.runs[w->plan.n_runs++] = (struct plan_run){
			.id = cur_int(c, 0),
			.drive = cur_int(c, 1),
			.priority = (uint32_t)cur_int(c, 2),
			.writes = writes == WRITES,
			.paused = cur_int(c, 4) != 0,
			.group = cur_int(c, 5),
			.apart = cur_int(c, 6),
		};
	}
	cur_close(c);
	return rc;
}

int
sched_load(struct tx *t, size_t spare, struct sched_world *ret_w, struct err *e)
{
	memset(ret_w, 0, sizeof(*ret_w));
	if (load_nodes(t, ret_w, e) != 0 || load_drives(t, ret_w, e) != 0)
		return -1;
	return load_runs(t, spare, ret_w, e);
}

void
sched_fini(struct sched_world *w)
{
	for (size_t i = 0; i < w->n_texts; i++)
		free(w->texts[i]);
	free(w->texts);
	free(w->unreadable);
	free(w->plan.runs);
	free(w->plan.drives);
	free(w->plan.nodes);
	memset(w, 0, sizeof(*w));
}

/* Different offsets for each run, the same for each attempt at one (splitmix64). */
static uint64_t
seed_of(int64_t run)
{
	uint64_t x = (uint64_t)run * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* The identity of a drive, as it stands in a program. */
static int
load_identity(struct tx *t, int64_t drive, struct drive_id *ret_id, struct err *e)
{
	struct cur *c;
	json_t *o;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT kind, model, serial, wwn, firmware, capacity_bytes,"
		    " logical_block_bytes, numa_node, virtual FROM drive WHERE id = ?1",
		    "i", drive) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc != 1) {
		cur_close(c);
		return rc < 0 ? -1 : doc_missing('d', drive, e);
	}
	/* through its JSON form, which knows the kinds by name */
	o = json_object();
	json_put(o, "kind", json_string(cur_text(c, 0)));
	json_put(o, "model", json_string(cur_text(c, 1)));
	json_put(o, "serial", json_string(cur_text(c, 2)));
	json_put(o, "wwn", json_string(cur_text(c, 3)));
	json_put(o, "firmware", json_string(cur_text(c, 4)));
	json_put(o, "capacity_bytes", json_u64((uint64_t)cur_int(c, 5)));
	json_put(o, "logical_block_bytes", json_integer(cur_int(c, 6)));
	json_put(o, "numa_node", json_integer(cur_int(c, 7)));
	json_put(o, "virtual", json_boolean(cur_int(c, 8) != 0));
	cur_close(c);
	rc = drive_from_json(o, "", ret_id, e);
	json_decref(o);
	return rc;
}

/*
 * How far ahead runs that start together begin: longer than a node takes to hear of it (a
 * held report is answered at once, one under way comes within a second), to start its
 * runner and to take the drive.
 */
#define START_LEAD_NS (10 * NS_PER_S)

/* What the program of a run is made of; campaign, max_errors and suite stay for the next
 * run of the same campaign. */
struct recipe {
	int64_t campaign; /* 0: not read yet */
	int64_t max_errors;
	int64_t reuse; /* not 0: what the ledger proves is not prepared again */
	struct suite suite;
	int64_t drive_row;
	struct drive_id drive;
	struct program_start start; /* of this run */
	int64_t start_doubt_ns;	    /* -1: the node's clock is not known */
};

static int
load_campaign(struct tx *t, int64_t campaign, struct recipe *r, struct err *e)
{
	r->campaign = r->reuse = 0;
	suite_fini(&r->suite);
	if (tx_int(t, &r->max_errors, e,
		    "SELECT json_extract(doc, '$.max_errors') FROM campaign"
		    " WHERE id = ?1",
		    "i", campaign) < 0 ||
		tx_int(t, &r->reuse, e,
			"SELECT doc ->> 'preparation' = 'reuse' FROM campaign"
			" WHERE id = ?1",
			"i", campaign) < 0 ||
		sched_suite(t, campaign, &r->suite, e) != 0)
		return -1;
	r->campaign = campaign;
	return 0;
}

static int
load_recipe(struct tx *t, int64_t run, struct recipe *r, struct err *e)
{
	int64_t campaign = 0;

	r->drive_row = 0;
	if (tx_int(t, &campaign, e, "SELECT campaign_id FROM run WHERE id = ?1", "i",
		    run) < 0 ||
		tx_int(t, &r->drive_row, e, "SELECT drive_id FROM run WHERE id = ?1", "i",
			run) < 0 ||
		(campaign != r->campaign && load_campaign(t, campaign, r, e) != 0))
		return -1;
	return load_identity(t, r->drive_row, &r->drive, e);
}

/* Stores the program of an attempt. */
static int
add_program(struct tx *t, const struct recipe *x, int64_t run, int64_t attempt,
	uint64_t fence, struct err *e)
{
	const struct suite_drive d = suite_drive_of(&x->drive);
	struct program p = {0};
	char *text = NULL;
	int rc = 0;

	suite_compile(&x->suite, &d, &p);
	p.run = (uint64_t)run;
	p.attempt = (uint64_t)attempt;
	p.fence = fence;
	p.seed = seed_of(run);
	p.max_errors = (uint32_t)x->max_errors;
	p.drive = x->drive;
	p.start = x->start;
	if (x->reuse != 0)
		rc = reuse_apply(t, x->drive_row, attempt, &p, e);
	if (rc == 0) {
		text = doc_text(program_to_json(&p));
		rc = tx_exec(t, e, "UPDATE attempt SET program = ?1 WHERE id = ?2", "si",
			text, attempt);
	}
	free(text);
	program_fini(&p);
	return rc;
}

/* Stores an attempt at a run; its program is compiled once its number is known. */
static int
add_attempt(struct tx *t, const struct recipe *x, int64_t run, int64_t node,
	int64_t *ret_attempt, struct err *e)
{
	uint64_t fence;

	if (lease_token(t, &fence, e) != 0 ||
		tx_exec(t, e,
			"INSERT INTO attempt (run_id, number, node_id, fence, program, "
			"state,"
			" granted_ns) SELECT ?1, 1 + coalesce(max(number), 0), ?2, ?3, "
			"'',"
			" 'granted', ?4 FROM attempt WHERE run_id = ?1",
			"iiii", run, node, (int64_t)fence, tx_wall(t)) != 0)
		return -1;
	*ret_attempt = tx_last_id(t);
	return add_program(t, x, run, *ret_attempt, fence, e);
}

/* Agrees the instant at which a run of a group starts; none for one that goes alone. */
static int
agree_start(struct tx *t, const struct plan_run *r, int64_t node, struct recipe *x,
	struct err *e)
{
	int64_t ahead = 0;
	int64_t doubt = -1;
	int rc = 1;

	x->start = (struct program_start){0};
	if (r->peers <= 1)
		return 0;
	if (tx_int(t, &doubt, e, "SELECT clock_doubt_ns FROM node WHERE id = ?1", "i",
		    node) == 1)
		rc = tx_int(t, &ahead, e, "SELECT clock_ahead_ns FROM node WHERE id = ?1",
			"i", node);
	x->start.lab_ns = (uint64_t)(tx_wall(t) + START_LEAD_NS);
	x->start.at_ns = (uint64_t)((int64_t)x->start.lab_ns + ahead);
	x->start_doubt_ns = doubt;
	return rc < 0 ? -1 : 0;
}

/* Notes the instant with the attempt; NULL where there is none or no doubt is known. */
static int
note_start(struct tx *t, int64_t attempt, const struct recipe *x, struct err *e)
{
	if (x->start.at_ns == 0)
		return 0;
	return tx_exec(t, e,
		"UPDATE attempt SET start_ns = ?1,"
		" start_doubt_ns = CASE WHEN ?2 >= 0 THEN ?2 END WHERE id = ?3",
		"iii", (int64_t)x->start.lab_ns, x->start_doubt_ns, attempt);
}

static int
grant_recipe(struct tx *t, const struct plan *p, const struct plan_run *r,
	struct recipe *x, struct err *e)
{
	int64_t node = plan_drive_of(p, r->drive)->node;
	int64_t attempt;

	if (agree_start(t, r, node, x, e) != 0 ||
		add_attempt(t, x, r->id, node, &attempt, e) != 0 ||
		note_start(t, attempt, x, e) != 0 ||
		lease_grant(t, r->drive, attempt, ACTOR, e) != 0 ||
		run_change(t, r->id, RUN_DO_GRANT, "", ACTOR, e) != 0 ||
		tx_exec(t, e,
			"UPDATE run SET blockers = '[]', firmware = (SELECT firmware FROM"
			" drive WHERE id = ?1) WHERE id = ?2",
			"ii", r->drive, r->id) != 0)
		return -1;
	tx_notify(t, NOTIFY_NODE, node);
	return campaign_started(t, x->campaign, ACTOR, e);
}

/* Grants a run its drive, or ends it when what is stored makes no program. x is room, and
 * remembers the campaign. */
static int
grant(struct tx *t, const struct plan *p, const struct plan_run *r, struct recipe *x,
	struct err *e)
{
	struct err why = {0};

	if (load_recipe(t, r->id, x, &why) == 0)
		return grant_recipe(t, p, r, x, e);
	if (!is_store_failure(&why))
		return run_reject(t, r->id, why.text, ACTOR, e);
	*e = why;
	return -1;
}

/* Ends the runs whose documents this version cannot read; nothing will change that. */
static int
reject_unreadable(struct tx *t, const struct sched_world *w, struct err *e)
{
	struct recipe *x = xcalloc(1, sizeof(*x));
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < w->n_unreadable; i++) {
		struct err why = {0};

		load_recipe(t, w->unreadable[i], x, &why);
		rc = run_reject(t, w->unreadable[i], why.text, ACTOR, e);
	}
	suite_fini(&x->suite);
	free(x);
	return rc;
}

static int
note_blockers(struct tx *t, const struct plan *p, const struct plan_run *r, struct err *e)
{
	char *text = doc_text(plan_blockers(p, r));
	int rc = tx_exec(t, e,
		"UPDATE run SET blockers = ?1 WHERE id = ?2 AND blockers <> ?1", "si",
		text, r->id);

	free(text);
	return rc;
}

int
sched_pass(struct tx *t, void *arg, struct err *e)
{
	struct sched_world w;
	struct recipe *x = xcalloc(1, sizeof(*x));
	int rc = sched_load(t, 0, &w, e);

	(void)arg;
	if (rc == 0)
		rc = reject_unreadable(t, &w, e);
	if (rc == 0)
		plan_make(&w.plan);
	for (size_t i = 0; rc == 0 && i < w.plan.n_runs; i++) {
		const struct plan_run *r = &w.plan.runs[i];

		rc = r->granted ? grant(t, &w.plan, r, x, e)
				: note_blockers(t, &w.plan, r, e);
	}
	suite_fini(&x->suite);
	free(x);
	sched_fini(&w);
	return rc;
}
