#include "controller/plan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/json.h"
#include "common/xalloc.h"

#define BIT(name) (UINT32_C(1) << BLOCKER_##name)

static const char *const codes[BLOCKERS] = {
#define BLOCKER(name, code) [BLOCKER_##name] = (code),
#include "controller/plan_tbl.h"
#undef BLOCKER
};

/* All three structures begin with their id. */
static int
compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int
compare_runs(const void *a, const void *b)
{
	const struct plan_run *x = a;
	const struct plan_run *y = b;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

struct plan_drive *
plan_drive_of(const struct plan *p, int64_t id)
{
	if (p->n_drives == 0)
		return NULL;
	return bsearch(&id, p->drives, p->n_drives, sizeof(*p->drives), compare_ids);
}

struct plan_node *
plan_node_of(const struct plan *p, int64_t id)
{
	if (p->n_nodes == 0)
		return NULL;
	return bsearch(&id, p->nodes, p->n_nodes, sizeof(*p->nodes), compare_ids);
}

static uint32_t
drive_blockers(const struct plan_drive *d, bool writes)
{
	static const uint32_t of_admin[DRIVE_ADMINS] = {
		[DRIVE_UNAPPROVED] = BIT(DRIVE_UNAPPROVED),
		[DRIVE_READONLY] = BIT(DRIVE_READONLY),
		[DRIVE_RETIRED] = BIT(DRIVE_RETIRED),
	};
	static const uint32_t of_observed[DRIVE_OBSERVEDS] = {
		[DRIVE_IS_ABSENT] = BIT(DRIVE_ABSENT),
		[DRIVE_IS_PROTECTED] = BIT(DRIVE_PROTECTED),
		[DRIVE_IS_CONFLICT] = BIT(DRIVE_CONFLICT),
	};
	static const uint32_t of_occupancy[DRIVE_OCCUPANCIES] = {
		[DRIVE_HAS_LEASED] = BIT(DRIVE_LEASED),
		[DRIVE_HAS_FENCED] = BIT(DRIVE_FENCED),
		[DRIVE_HAS_QUARANTINED] = BIT(DRIVE_QUARANTINED),
	};
	uint32_t collecting = d->collecting != 0 ? BIT(DRIVE_COLLECTING) : 0;
	uint32_t all = collecting | of_admin[d->admin] | of_observed[d->observed] |
		       of_occupancy[d->occupancy];

	return writes ? all : all & ~BIT(DRIVE_READONLY);
}

static uint32_t
node_blockers(const struct plan_node *n)
{
	static const uint32_t of_admin[NODE_ADMINS] = {
		[NODE_PENDING] = BIT(NODE_PENDING),
		[NODE_DRAINING] = BIT(NODE_DRAINING),
		[NODE_RETIRED] = BIT(NODE_RETIRED),
	};
	static const uint32_t of_observed[NODE_OBSERVEDS] = {
		[NODE_IS_LATE] = BIT(NODE_LATE),
		[NODE_IS_LOST] = BIT(NODE_LOST),
		[NODE_IS_INCOMPATIBLE] = BIT(NODE_INCOMPATIBLE),
	};
	uint32_t full = n->running >= n->max_runs ? BIT(NODE_FULL) : 0;

	if (n->trouble[0] != '\0' && n->observed != NODE_IS_INCOMPATIBLE)
		full |= BIT(NODE_TROUBLE);
	return of_admin[n->admin] | of_observed[n->observed] | full;
}

/* The drive of a run and the drive's node; that they are in the plan is the caller's
 * word.
 */
static void
place_of(const struct plan *p, const struct plan_run *r, struct plan_drive **ret_d,
	struct plan_node **ret_n)
{
	*ret_d = plan_drive_of(p, r->drive);
	assert(*ret_d != NULL);
	*ret_n = plan_node_of(p, (*ret_d)->node);
	assert(*ret_n != NULL);
}

/* A drive of the node that another run of a campaign has whose runs go apart, or NULL. */
static const struct plan_drive *
apart_from(const struct plan_run *r, const struct plan_node *n)
{
	for (const struct plan_drive *d = n->drives; r->apart != 0 && d != NULL;
		d = d->next)
		if (d->apart == r->apart)
			return d;
	return NULL;
}

static uint32_t
run_blockers(
	const struct plan_run *r, const struct plan_drive *d, const struct plan_node *n)
{
	return drive_blockers(d, r->writes) | node_blockers(n) |
	       (r->paused ? BIT(CAMPAIGN_PAUSED) : 0) |
	       (apart_from(r, n) != NULL ? BIT(CAMPAIGN_APART) : 0);
}

/* Grants a run unless something blocks it. */
static bool
take(struct plan *p, struct plan_run *r)
{
	struct plan_drive *d;
	struct plan_node *n;

	place_of(p, r, &d, &n);
	r->granted = run_blockers(r, d, n) == 0;
	if (!r->granted)
		return false;
	d->occupancy = DRIVE_HAS_LEASED;
	d->holder = r->id;
	d->apart = r->apart;
	n->running++;
	return true;
}

static void
give_back(struct plan *p, struct plan_run *r)
{
	struct plan_drive *d;
	struct plan_node *n;

	place_of(p, r, &d, &n);
	r->granted = false;
	d->occupancy = DRIVE_HAS_IDLE;
	d->holder = 0;
	d->apart = 0;
	n->running--;
}

/* The next run of its group, or NULL. */
static struct plan_run *
next_of(struct plan_run *r)
{
	return r->next > 0 ? r + r->next : NULL;
}

/* Grants all runs of a group, or none. */
static void
take_group(struct plan *p, struct plan_run *first)
{
	uint32_t taken = 0;
	bool all = true;

	for (struct plan_run *r = first; r != NULL && all; r = next_of(r)) {
		all = take(p, r);
		taken += all;
	}
	for (struct plan_run *r = first; r != NULL; r = next_of(r)) {
		if (r->granted && !all)
			give_back(p, r);
		r->peers = all ? taken : 0;
	}
}

static int
compare_groups(const void *a, const void *b)
{
	const struct plan_run *x = *(struct plan_run *const *)a;
	const struct plan_run *y = *(struct plan_run *const *)b;

	if (x->group != y->group)
		return x->group > y->group ? 1 : -1;
	return (x > y) - (x < y); /* as they are sorted already */
}

/* Chains the runs of each group, in their order. */
static void
chain_groups(struct plan *p)
{
	struct plan_run **list = xcalloc(p->n_runs, sizeof(struct plan_run *));
	size_t n = 0, end;

	for (size_t i = 0; i < p->n_runs; i++)
		if (p->runs[i].group != 0)
			list[n++] = &p->runs[i];
	qsort(list, n, sizeof(struct plan_run *), compare_groups);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && list[end]->group == list[i]->group; end++) {
			list[end - 1]->next = (size_t)(list[end] - list[end - 1]);
			list[end]->follows = true;
		}
		for (size_t k = i; k < end; k++)
			list[k]->of_group = (uint32_t)(end - i);
	}
	free(list);
}

/* Chains the drives of each node. */
static void
chain_drives(struct plan *p)
{
	for (size_t i = 0; i < p->n_nodes; i++)
		p->nodes[i].drives = NULL;
	for (size_t i = p->n_drives; i > 0; i--) {
		struct plan_drive *d = &p->drives[i - 1];
		struct plan_node *n = plan_node_of(p, d->node);

		assert(n != NULL);
		d->next = n->drives;
		n->drives = d;
	}
}

/* Sorts the runs and forgets what an earlier plan said of them. */
static void
prepare(struct plan *p)
{
	qsort(p->runs, p->n_runs, sizeof(*p->runs), compare_runs);
	for (size_t i = 0; i < p->n_runs; i++) {
		struct plan_run *r = &p->runs[i];

		r->granted = r->follows = false;
		r->peers = r->of_group = 0;
		r->next = 0;
	}
	chain_groups(p);
	chain_drives(p);
}

void
plan_make(struct plan *p)
{
	struct plan_drive *d;
	struct plan_node *n;

	if (p->n_runs == 0)
		return;
	prepare(p);
	for (size_t i = 0; i < p->n_runs; i++) {
		if (p->runs[i].group == 0)
			take(p, &p->runs[i]);
		else if (!p->runs[i].follows)
			take_group(p, &p->runs[i]);
	}
	/* only now is it known what the others have taken */
	for (size_t i = 0; i < p->n_runs; i++) {
		struct plan_run *r = &p->runs[i];

		place_of(p, r, &d, &n);
		r->blockers = r->granted ? 0 : run_blockers(r, d, n);
		if (!r->granted && r->group != 0 && r->blockers == 0)
			r->blockers = BIT(CAMPAIGN_TOGETHER);
	}
}

static json_t *
drive_text(enum blocker b, const struct plan_drive *d)
{
	long long id = (long long)d->id;

	switch ((int)b) {
	case BLOCKER_DRIVE_UNAPPROVED:
		return json_sprintf(
			"drive d%lld is not approved; ssdlab drive approve %s", id,
			d->serial);
	case BLOCKER_DRIVE_READONLY:
		return json_sprintf(
			"drive d%lld may only be read; ssdlab drive approve %s", id,
			d->serial);
	case BLOCKER_DRIVE_RETIRED:
		return json_sprintf("drive d%lld is retired", id);
	case BLOCKER_DRIVE_ABSENT:
		return json_sprintf("drive d%lld is not in its node", id);
	case BLOCKER_DRIVE_PROTECTED:
		return json_sprintf("drive d%lld is protected: %s", id, d->protected);
	case BLOCKER_DRIVE_CONFLICT:
		return json_sprintf(
			"drive d%lld is seen on two nodes; its identity must be unique",
			id);
	case BLOCKER_DRIVE_LEASED:
		return json_sprintf(
			"drive d%lld is held by r%lld", id, (long long)d->holder);
	case BLOCKER_DRIVE_COLLECTING:
		return json_sprintf("drive d%lld waits for the last records of r%lld, "
				    "which tell whether it is well",
			id, (long long)d->collecting);
	case BLOCKER_DRIVE_FENCED:
		return json_sprintf(
			"drive d%lld is fenced: nothing proves that r%lld has "
			"let go of it; ssdlab drive release %s",
			id, (long long)d->holder, d->serial);
	default:
		return json_sprintf("drive d%lld is quarantined: its last run failed at "
				    "it; ssdlab drive release %s",
			id, d->serial);
	}
}

static json_t *
node_text(enum blocker b, const struct plan_node *n)
{
	switch ((int)b) {
	case BLOCKER_NODE_PENDING:
		return json_sprintf("node %s has not enrolled yet", n->name);
	case BLOCKER_NODE_DRAINING:
		return json_sprintf("node %s is drained%s%s; ssdlab node resume %s",
			n->name, n->reason[0] != '\0' ? ": " : "", n->reason, n->name);
	case BLOCKER_NODE_RETIRED:
		return json_sprintf("node %s is retired", n->name);
	case BLOCKER_NODE_LATE:
		return json_sprintf("node %s has been silent for a while", n->name);
	case BLOCKER_NODE_LOST:
		return json_sprintf("node %s is lost: nothing is heard of it", n->name);
	case BLOCKER_NODE_INCOMPATIBLE:
		return json_sprintf(
			"node %s does not fit this controller: %s", n->name, n->trouble);
	case BLOCKER_NODE_TROUBLE:
		return json_sprintf("node %s says: %s", n->name, n->trouble);
	default:
		return json_sprintf("node %s has %u of at most %u runs", n->name,
			(unsigned)n->running, (unsigned)n->max_runs);
	}
}

static json_t *
campaign_text(enum blocker b, const struct plan_run *r, const struct plan_node *n)
{
	const struct plan_drive *other;

	if (b == BLOCKER_CAMPAIGN_PAUSED)
		return json_string("the campaign is paused");
	if (b == BLOCKER_CAMPAIGN_APART) {
		other = apart_from(r, n);
		return json_sprintf("r%lld of the campaign has node %s to itself: its "
				    "runs go apart",
			other != NULL ? (long long)other->holder : 0, n->name);
	}
	return json_sprintf("the %u runs of its repeat start together, and not all of "
			    "them can: each of their drives has to be free, and each "
			    "node to have room",
		(unsigned)r->of_group);
}

json_t *
plan_blockers(const struct plan *p, const struct plan_run *r)
{
	json_t *list = json_array();
	struct plan_drive *d;
	struct plan_node *n;

	place_of(p, r, &d, &n);
	for (int b = 0; b < BLOCKERS; b++) {
		json_t *o, *text;

		if ((r->blockers & (UINT32_C(1) << b)) == 0)
			continue;
		if (b < BLOCKER_DRIVE_UNAPPROVED)
			text = campaign_text((enum blocker)b, r, n);
		else if (b < BLOCKER_NODE_PENDING)
			text = drive_text((enum blocker)b, d);
		else
			text = node_text((enum blocker)b, n);
		o = json_object();
		json_put(o, "code", json_string(codes[b]));
		json_put(o, "text", text);
		json_array_append_new(list, o);
	}
	return list;
}
