#include "controller/submit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/campaign.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "common/suite.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/drives.h"
#include "controller/event.h"
#include "controller/left.h"
#include "controller/reuse.h"
#include "controller/sched.h"
#include "controller/store.h"
#include "controller/suites.h"

#define RUNS_MAX 10000

/* A drive that the document names, as the lab knows it. */
struct target {
	int64_t id, node;
	struct suite_drive drive;
	char *model, *serial, *kind, *protected, *node_name; /* owned */
	char *preparation; /* of its first run, or NULL; owned */
	enum drive_admin admin;
	enum drive_observed observed;
	bool is_virtual;
};

/* A document with all that it refers to. */
struct resolved {
	struct campaign_doc doc;
	struct suite suite; /* with the chosen workloads only */
	int64_t suite_id;
	struct target *targets; /* one per drive of doc */
};

static void
resolved_free(struct resolved *r)
{
	for (size_t i = 0; r->targets != NULL && i < r->doc.n_drives; i++) {
		free(r->targets[i].model);
		free(r->targets[i].serial);
		free(r->targets[i].kind);
		free(r->targets[i].protected);
		free(r->targets[i].node_name);
		free(r->targets[i].preparation);
	}
	free(r->targets);
	suite_fini(&r->suite);
	campaign_fini(&r->doc);
	free(r);
}

static int
no_such_drive(const struct campaign_drive *want, struct err *e)
{
	if (want->model[0] != '\0' || want->wwn[0] != '\0' || want->capacity_bytes > 0)
		err_set(e, ERR_NOTFOUND,
			"there is no drive with the serial %s and that model, wwn or "
			"capacity",
			want->serial);
	else
		err_set(e, ERR_NOTFOUND, "there is no drive with the serial %s",
			want->serial);
	if (want->capacity_bytes > 0)
		return err_fix(e,
			"a capacity is exact: capacity_bytes in ssdlab drive ls -o json");
	return err_fix(
		e, "ssdlab drive ls shows the serials of all drives that were seen");
}

static int
ambiguous(const struct campaign_drive *want, const char *drives, struct err *e)
{
	err_set(e, ERR_INVALID, "several drives have the serial %s: %.380s", want->serial,
		drives);
	return err_fix(e,
		"add the \"model\", \"wwn\" or \"capacity\" that only one of them has");
}

/*
 * Finds the drive that is meant. A drive whose capacity was changed is known twice, as it
 * was and as it is: the one that is there is meant, if only one is. That they are one
 * drive is told by model and WWN; without a WWN two drives may share a serial, unless it
 * is one that we made (ADR 4).
 */
static int
find_target(
	struct tx *t, const struct campaign_drive *want, struct target *x, struct err *e)
{
	char *drives = NULL;
	struct cur *c;
	bool one = false;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT id, node_id, capacity_bytes, logical_block_bytes, model, "
		    "serial,"
		    " kind, protected, admin, observed, virtual,"
		    " count(*) OVER () = 1 OR (sum(observed <> 'absent') OVER () = 1"
		    "  AND min(model) OVER () = max(model) OVER ()"
		    "  AND min(wwn) OVER () = max(wwn) OVER ()"
		    "  AND (min(wwn) OVER () <> '' OR min(virtual) OVER () = 1)),"
		    " group_concat('d' || id || ' (' || trim(model || ' ' || wwn) || ', '"
		    "  || capacity_bytes || 'B, ' || observed || ')', ', ') OVER (ORDER "
		    "BY"
		    "  id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),"
		    " (SELECT name FROM node WHERE id = node_id)"
		    " FROM drive WHERE serial = ?1 AND (?2 = '' OR model = ?2)"
		    " AND (?3 = '' OR wwn = ?3) AND (?4 = 0 OR capacity_bytes = ?4)"
		    " ORDER BY observed = 'absent', id LIMIT 1",
		    "sssi", want->serial, want->model, want->wwn,
		    (int64_t)want->capacity_bytes) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		x->id = cur_int(c, 0);
		x->node = cur_int(c, 1);
		x->drive = (struct suite_drive){(uint64_t)cur_int(c, 2),
			(uint32_t)cur_int(c, 3),
			drive_has_health(cur_text(c, 6), cur_int(c, 10) != 0)};
		x->model = xstrdup(cur_text(c, 4));
		x->serial = xstrdup(cur_text(c, 5));
		x->kind = xstrdup(cur_text(c, 6));
		x->protected = xstrdup(cur_text(c, 7));
		x->admin = (enum drive_admin)fsm_state(&drive_admin_fsm, cur_text(c, 8));
		x->observed = (enum drive_observed)fsm_state(
			&drive_observed_fsm, cur_text(c, 9));
		x->is_virtual = cur_int(c, 10) != 0;
		one = cur_int(c, 11) != 0;
		drives = xstrdup(cur_text(c, 12));
		x->node_name = xstrdup(cur_text(c, 13));
	}
	cur_close(c);
	if (rc == 0)
		no_such_drive(want, e);
	else if (rc == 1 && !one)
		ambiguous(want, drives, e);
	free(drives);
	return one ? 0 : -1;
}

/* What a person or a node said against writing to this drive. */
static int
check_allowed(const struct target *x, bool writes, struct err *e)
{
	if (x->admin == DRIVE_RETIRED) {
		err_set(e, ERR_UNSAFE, "drive %s is retired", x->serial);
		return err_fix(e, "leave it out");
	}
	if (x->observed == DRIVE_IS_PROTECTED) {
		err_set(e, ERR_UNSAFE, "drive %s is protected: %.300s", x->serial,
			x->protected);
		return err_fix(e, "leave it out, or free it: ssdlab drive show d%" PRId64,
			x->id);
	}
	if (x->observed == DRIVE_IS_CONFLICT) {
		err_set(e, ERR_UNSAFE, "drive %s is seen on two nodes at once",
			x->serial);
		return err_fix(e,
			"let only one node list it: ssdlab drive show d%" PRId64, x->id);
	}
	if (x->admin == DRIVE_UNAPPROVED) {
		err_set(e, ERR_UNSAFE, "drive %s is not approved as a target", x->serial);
		return err_fix(e, "ssdlab drive approve %s", x->serial);
	}
	if (x->admin == DRIVE_READONLY && writes) {
		err_set(e, ERR_UNSAFE,
			"drive %s is approved for reading only, and this "
			"campaign writes",
			x->serial);
		return err_fix(
			e, "ssdlab drive approve %s --mode destructive", x->serial);
	}
	return 0;
}

static int
check_distinct(const struct resolved *r, size_t i, struct err *e)
{
	for (size_t k = 0; k < i; k++) {
		if (r->targets[k].id != r->targets[i].id)
			continue;
		err_set(e, ERR_INVALID, "drive %s is already in the list at /drives/%zu",
			r->targets[i].serial, k);
		return err_fix(
			e, "to run a suite several times on a drive use \"repeats\"");
	}
	return 0;
}

static int
resolve_drives(struct tx *t, struct resolved *r, struct err *e)
{
	bool writes = suite_writes(&r->suite);

	r->targets = xcalloc(r->doc.n_drives, sizeof(*r->targets));
	for (size_t i = 0; i < r->doc.n_drives; i++) {
		struct target *x = &r->targets[i];

		if (find_target(t, &r->doc.drives[i], x, e) != 0 ||
			check_distinct(r, i, e) != 0 ||
			check_allowed(x, writes, e) != 0 ||
			suite_fits(&r->suite, &x->drive, e) != 0)
			return err_at(e, "/drives/%zu", i);
	}
	if (r->doc.n_drives * r->doc.repeats <= RUNS_MAX)
		return 0;
	err_set(e, ERR_INVALID, "%zu runs are too many for one campaign",
		r->doc.n_drives * r->doc.repeats);
	err_at(e, "/repeats");
	return err_fix(e, "at most %d drives times repeats", RUNS_MAX);
}

/* Reads the document and looks up what it names. *ret_r is owned, also after an error. */
static int
resolve(struct tx *t, const json_t *doc, struct resolved **ret_r, struct err *e)
{
	struct resolved *r = xcalloc(1, sizeof(*r));
	char ref[SUITE_NAME_MAX + 16];

	*ret_r = r;
	if (campaign_parse(doc, &r->doc, e) != 0)
		return -1;
	snprintf(ref, sizeof(ref), "%s@%u", r->doc.suite_name,
		(unsigned)r->doc.suite_version);
	if (suites_find(t, ref, &r->suite_id, &r->suite, e) != 0)
		return err_at(e, "/suite");
	if (suite_choose(&r->suite, (const char(*)[WORKLOAD_ID_MAX])r->doc.workloads,
		    r->doc.n_workloads, e) != 0)
		return -1;
	return resolve_drives(t, r, e);
}

static int
log_new(struct tx *t, const char *object, int64_t id, const char *state,
	const char *actor, struct err *e)
{
	struct transition x = {.object = object,
		.id = id,
		.variable = "state",
		.from = "",
		.to = state,
		.why = "",
		.actor = actor};

	return event_transition(t, &x, e);
}

static int
add_campaign(struct tx *t, const struct resolved *r, const char *actor,
	int64_t *ret_campaign, struct err *e)
{
	char *doc = doc_text(campaign_to_json(&r->doc));
	char *labels = doc_text(json_incref(r->doc.labels));
	int rc = tx_exec(t, e,
		"INSERT INTO campaign (name, doc, suite_id, state, priority, owner, "
		"labels,"
		" created_ns, start) VALUES (?1, ?2, ?3, 'queued', ?4, ?5, ?6, ?7, ?8)",
		"ssiissis", r->doc.name, doc, r->suite_id, (int64_t)r->doc.priority,
		r->doc.owner[0] != '\0' ? r->doc.owner : actor, labels, tx_wall(t),
		r->doc.together ? "together"
		: r->doc.apart	? "apart"
				: "");

	free(doc);
	free(labels);
	if (rc != 0)
		return -1;
	*ret_campaign = tx_last_id(t);
	return log_new(t, "campaign", *ret_campaign, "queued", actor, e);
}

static int
add_run(struct tx *t, const struct resolved *r, int64_t campaign, size_t drive,
	uint32_t repeat, struct err *e)
{
	return tx_exec(t, e,
		"INSERT INTO run (campaign_id, suite_id, drive_id, repeat, priority, "
		"state,"
		" retries_left, scaled, virtual, created_ns)"
		" VALUES (?1, ?2, ?3, ?4, ?5, 'pending', ?6, ?7, ?8, ?9)",
		"iiiiiiiii", campaign, r->suite_id, r->targets[drive].id, (int64_t)repeat,
		(int64_t)r->doc.priority, (int64_t)r->doc.retries,
		(int64_t)r->suite.scaled, (int64_t)r->targets[drive].is_virtual,
		tx_wall(t));
}

/* Repeats are interleaved: all drives once, then all again. */
static int
add_runs(struct tx *t, const struct resolved *r, int64_t campaign, const char *actor,
	struct err *e)
{
	for (uint32_t repeat = 1; repeat <= r->doc.repeats; repeat++)
		for (size_t i = 0; i < r->doc.n_drives; i++)
			if (add_run(t, r, campaign, i, repeat, e) != 0 ||
				log_new(t, "run", tx_last_id(t), "pending", actor, e) !=
					0)
				return -1;
	return 0;
}

int
submit_campaign(struct tx *t, const json_t *doc, const char *actor, int64_t *ret_campaign,
	struct err *e)
{
	struct resolved *r;
	int rc = resolve(t, doc, &r, e);

	if (rc == 0)
		rc = add_campaign(t, r, actor, ret_campaign, e);
	if (rc == 0)
		rc = add_runs(t, r, *ret_campaign, actor, e);
	if (rc == 0)
		tx_notify(t, NOTIFY_SCHED, 0);
	resolved_free(r);
	return rc;
}

/*
 * How fast a drive writes that was never measured, at most: what four lanes of PCIe 5.0
 * carry. Wear is planned with it, so it must not be too low for any drive.
 */
#define ASSUMED_WRITE_BYTES_PER_S UINT64_C(16000000000)

/* Sums that no integer holds end at its largest value. */
static uint64_t
times(uint64_t a, uint64_t b)
{
	return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

static uint64_t
plus(uint64_t a, uint64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* One drive of the plan; adds its blockers from the world in which the runs exist. */
static json_t *
plan_drive_doc(const struct resolved *r, size_t i, const struct suite_cost *cost,
	json_t *blockers)
{
	const struct target *x = &r->targets[i];
	uint64_t repeats = r->doc.repeats;
	json_t *o = json_object();

	json_put(o, "drive", api_id('d', x->id));
	json_put(o, "serial", json_string(x->serial));
	json_put(o, "model", json_string(x->model));
	json_put(o, "node", api_id('n', x->node));
	json_put(o, "node_name", json_string(x->node_name));
	json_put(o, "runs", json_integer((json_int_t)repeats));
	json_put(o, "duration_ns", json_u64(times((uint64_t)cost->duration_ns, repeats)));
	json_put(o, "write_bytes", json_u64(times(cost->write_bytes, repeats)));
	json_put(o, "fill_bytes", json_u64(times(cost->fill_bytes, repeats)));
	json_put(o, "writing_ns", json_u64(times((uint64_t)cost->writing_ns, repeats)));
	json_put(o, "rate_bytes", json_u64(times(cost->rate_bytes, repeats)));
	json_put(o, "erases", json_boolean(suite_writes(&r->suite)));
	if (x->preparation != NULL)
		json_put(o, "preparation", json_text(x->preparation));
	json_put(o, "blockers", blockers);
	return o;
}

/*
 * How long it takes with all drives free: drives run side by side, as many as their node
 * allows.
 */
static uint64_t
whole_duration(const struct resolved *r, const struct plan *p, const uint64_t *drive_ns)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < r->doc.n_drives; i++) {
		const struct plan_node *n = plan_node_of(p, r->targets[i].node);
		uint64_t sum = 0;

		for (size_t k = 0; k < r->doc.n_drives; k++)
			if (r->targets[k].node == r->targets[i].node)
				sum = plus(sum, drive_ns[k]);
		if (n != NULL && n->max_runs > 0 && !r->doc.apart)
			sum /= n->max_runs;
		if (sum < drive_ns[i])
			sum = drive_ns[i];
		if (sum > longest)
			longest = sum;
	}
	return longest;
}

/* What the drives cannot do for their logical blocks; once for each size. */
static void
warn_left_out(const struct resolved *r, json_t *list)
{
	for (size_t i = 0; i < r->doc.n_drives; i++) {
		uint32_t block = r->targets[i].drive.logical_block_bytes;
		struct str out = {0};
		size_t k = 0;

		while (r->targets[k].drive.logical_block_bytes != block)
			k++;
		suite_left_out(&r->suite, block, &out);
		if (k == i && out.len > 0)
			json_array_append_new(list,
				json_sprintf("left out on drives with logical blocks of "
					     "%u bytes: %s",
					(unsigned)block, str_text(&out)));
		str_fini(&out);
	}
}

/* What drives without a log of their health cannot do. */
static void
warn_without_health(const struct resolved *r, json_t *list)
{
	struct str out = {0};
	size_t n = 0;

	for (size_t i = 0; i < r->doc.n_drives; i++)
		n += !r->targets[i].drive.has_health;
	suite_left_out_for_health(&r->suite, &out);
	if (n > 0 && out.len > 0)
		json_array_append_new(list,
			json_sprintf("left out on drives without a log of their health, "
				     "which virtual ones are: %s",
				str_text(&out)));
	str_fini(&out);
}

static json_t *
warnings_of(const struct resolved *r)
{
	json_t *list = json_array();
	bool is_virtual = false;

	warn_left_out(r, list);
	warn_without_health(r, list);
	for (size_t i = 0; i < r->doc.n_drives; i++)
		is_virtual = is_virtual || r->targets[i].is_virtual;
	if (r->suite.n_workloads > 0 && r->suite.fill_passes == 0)
		json_array_append_new(list,
			json_string(
				"the suite has no preparation: the drive is neither "
				"filled nor preconditioned, and reads of what was never "
				"written touch no medium"));
	if (r->suite.scaled)
		json_array_append_new(list,
			json_string(
				"the suite is scaled down: its results are never ranked "
				"with full ones"));
	if (is_virtual)
		json_array_append_new(list,
			json_string(
				"there are virtual drives: their results are marked so "
				"for ever"));
	if (r->suite.n_tests > 0)
		json_array_append_new(list,
			json_string(
				"duration and bytes are those of all rounds; a test ends "
				"before when it is steady"));
	if (r->doc.repeats < 4)
		json_array_append_new(list,
			json_sprintf(
				"%u repeat%s cannot show that a difference is more than "
				"chance; 4 can",
				(unsigned)r->doc.repeats,
				r->doc.repeats == 1 ? "" : "s"));
	return list;
}

/* The first run of each drive, as if it had been submitted: ids in the order of drives.
 */
static void
imagine(const struct resolved *r, struct plan *p)
{
	for (size_t i = 0; i < r->doc.n_drives; i++)
		p->runs[p->n_runs++] = (struct plan_run){
			.id = INT64_MAX - (int64_t)(r->doc.n_drives - i),
			.drive = r->targets[i].id,
			.priority = r->doc.priority,
			.writes = suite_writes(&r->suite),
			.group = r->doc.together ? INT64_MAX : 0,
			.apart = r->doc.apart ? INT64_MAX : 0,
		};
	plan_make(p);
}

/* The first of them; the others follow it, as their ids are the highest there are. */
static const struct plan_run *
imagined(const struct resolved *r, const struct plan *p)
{
	size_t k = 0;

	while (p->runs[k].id != INT64_MAX - (int64_t)r->doc.n_drives)
		k++;
	return &p->runs[k];
}

static json_t *
plan_doc(const struct resolved *r, const struct plan *p)
{
	json_t *doc = json_object();
	json_t *drives = json_array();
	const struct plan_run *runs = imagined(r, p);
	uint64_t *drive_ns = xcalloc(r->doc.n_drives, sizeof(*drive_ns));
	uint64_t written = 0, filled = 0, writing_ns = 0, rated = 0;

	for (size_t i = 0; i < r->doc.n_drives; i++) {
		struct suite_cost cost;

		suite_cost(&r->suite, &r->targets[i].drive,
			left_fill_rate(r->targets[i].kind), ASSUMED_WRITE_BYTES_PER_S,
			&cost);
		drive_ns[i] = times((uint64_t)cost.duration_ns, r->doc.repeats);
		written = plus(written, times(cost.write_bytes, r->doc.repeats));
		filled = plus(filled, times(cost.fill_bytes, r->doc.repeats));
		writing_ns = plus(
			writing_ns, times((uint64_t)cost.writing_ns, r->doc.repeats));
		rated = plus(rated, times(cost.rate_bytes, r->doc.repeats));
		json_array_append_new(
			drives, plan_drive_doc(r, i, &cost, plan_blockers(p, &runs[i])));
	}
	json_put(doc, "name", json_string(r->doc.name));
	json_put(doc, "suite",
		json_sprintf("%s@%u", r->doc.suite_name, (unsigned)r->doc.suite_version));
	json_put(doc, "runs", json_integer((json_int_t)r->doc.n_drives * r->doc.repeats));
	json_put(doc, "duration_ns", json_u64(whole_duration(r, p, drive_ns)));
	json_put(doc, "write_bytes", json_u64(written));
	json_put(doc, "fill_bytes", json_u64(filled));
	json_put(doc, "writing_ns", json_u64(writing_ns));
	json_put(doc, "rate_bytes", json_u64(rated));
	json_put(doc, "assumed_write_bytes_per_second",
		json_u64(ASSUMED_WRITE_BYTES_PER_S));
	json_put(doc, "drives", drives);
	json_put(doc, "warnings", warnings_of(r));
	free(drive_ns);
	return doc;
}

/* What the ledgers of the drives say of the first runs. */
static int
plan_preparation(struct tx *t, struct resolved *r, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; r->doc.reuse && rc == 0 && i < r->doc.n_drives; i++) {
		struct target *x = &r->targets[i];
		struct program p;

		suite_compile(&r->suite, &x->drive, &p);
		rc = reuse_plan(t, x->id, &p, &x->preparation, e);
		program_fini(&p);
	}
	return rc;
}

int
submit_plan(struct tx *t, const json_t *doc, json_t **ret_plan, struct err *e)
{
	struct sched_world w = {0};
	struct resolved *r;
	int rc = resolve(t, doc, &r, e);

	if (rc == 0)
		rc = plan_preparation(t, r, e);
	if (rc == 0)
		rc = sched_load(t, r->doc.n_drives, &w, e);
	if (rc == 0) {
		imagine(r, &w.plan);
		*ret_plan = plan_doc(r, &w.plan);
	}
	sched_fini(&w);
	resolved_free(r);
	return rc;
}
