#include "controller/plan.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

#include "common/json.h"
#include "common/str.h"
#include "tests/unit/unit.h"

#define NODES 4
#define DRIVES 12
#define RUNS 40
#define ROUNDS 4000

static uint64_t seed;

/* splitmix64, so that a seed means the same everywhere */
static uint32_t
random_below(uint32_t n)
{
	uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((x ^ (x >> 31)) % n);
}

/* Mostly the good state, so that grants happen. */
static int
mostly(int good, int states)
{
	return random_below(4) != 0 ? good : (int)random_below((uint32_t)states);
}

struct world {
	struct plan_node nodes[NODES];
	struct plan_drive drives[DRIVES];
	struct plan_run runs[RUNS];
	struct plan p;
};

static void
make_world(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->p = (struct plan){w->runs, 1 + random_below(RUNS), w->drives,
		1 + random_below(DRIVES), w->nodes, 1 + random_below(NODES)};
	for (size_t i = 0; i < w->p.n_nodes; i++)
		w->nodes[i] = (struct plan_node){.id = (int64_t)(i * 2 + 1),
			.name = "n",
			.reason = "",
			.trouble = random_below(8) == 0 ? "full" : "",
			.admin = (enum node_admin)mostly(NODE_ACTIVE, NODE_ADMINS),
			.observed = (enum node_observed)mostly(
				NODE_IS_ONLINE, NODE_OBSERVEDS),
			.max_runs = random_below(4),
			.running = random_below(3)};
	for (size_t i = 0; i < w->p.n_drives; i++)
		w->drives[i] = (struct plan_drive){.id = (int64_t)(i * 3 + 2),
			.node = w->nodes[random_below((uint32_t)w->p.n_nodes)].id,
			.serial = "S",
			.protected = "",
			.admin = (enum drive_admin)mostly(
				DRIVE_DESTRUCTIVE, DRIVE_ADMINS),
			.observed = (enum drive_observed)mostly(
				DRIVE_IS_PRESENT, DRIVE_OBSERVEDS),
			.occupancy = (enum drive_occupancy)mostly(
				DRIVE_HAS_IDLE, DRIVE_OCCUPANCIES),
			.collecting = random_below(40) == 0 ? 1 : 0};
	for (size_t i = 0; i < w->p.n_drives; i++)
		if (w->drives[i].occupancy == DRIVE_HAS_LEASED)
			w->drives[i].apart = random_below(3);
	for (size_t i = 0; i < w->p.n_runs; i++)
		w->runs[i] = (struct plan_run){.id = (int64_t)(100 + i),
			.drive = w->drives[random_below((uint32_t)w->p.n_drives)].id,
			.priority = random_below(3),
			.writes = random_below(4) != 0,
			.paused = random_below(10) == 0,
			.group = random_below(4) == 0 ? 1 + random_below(4) : 0,
			.apart = random_below(3)};
}

/* Copies a world; the plan of the copy points into it. */
static void
copy_world(struct world *to, const struct world *from)
{
	*to = *from;
	to->p.runs = to->runs;
	to->p.drives = to->drives;
	to->p.nodes = to->nodes;
}

static void
shuffle(struct world *w)
{
	for (size_t i = w->p.n_runs - 1; i > 0; i--) {
		size_t k = random_below((uint32_t)i + 1);
		struct plan_run r = w->runs[i];

		w->runs[i] = w->runs[k];
		w->runs[k] = r;
	}
}

static const struct plan_run *
find_run(const struct world *w, int64_t id)
{
	for (size_t i = 0; i < w->p.n_runs; i++)
		if (w->runs[i].id == id)
			return &w->runs[i];
	return NULL;
}

static const struct plan_run *
run_of(const struct world *w, int64_t id)
{
	const struct plan_run *r = find_run(w, id);

	assert(r != NULL);
	return r;
}

static bool
goes_before(const struct plan_run *a, const struct plan_run *b)
{
	return a->priority != b->priority ? a->priority > b->priority : a->id < b->id;
}

/* A group has the place of the first of it. */
static const struct plan_run *
first_of(const struct world *w, const struct plan_run *r)
{
	const struct plan_run *first = r;

	for (size_t i = 0; r->group != 0 && i < w->p.n_runs; i++)
		if (w->runs[i].group == r->group && goes_before(&w->runs[i], first))
			first = &w->runs[i];
	return first;
}

/* Whether a grant is allowed by what was before. */
static void
check_grant(const struct world *before, const struct plan_run *r)
{
	const struct plan_drive *d = plan_drive_of(&before->p, r->drive);
	const struct plan_node *n = plan_node_of(&before->p, d->node);

	ck_assert_uint_eq(r->blockers, 0);
	ck_assert(!r->paused);
	ck_assert(d->admin == DRIVE_DESTRUCTIVE ||
		  (d->admin == DRIVE_READONLY && !r->writes));
	ck_assert_int_eq(d->observed, DRIVE_IS_PRESENT);
	ck_assert_int_eq(d->occupancy, DRIVE_HAS_IDLE);
	ck_assert_int_eq(d->collecting, 0);
	ck_assert_int_eq(n->admin, NODE_ACTIVE);
	ck_assert_int_eq(n->observed, NODE_IS_ONLINE);
	ck_assert_str_eq(n->trouble, "");
}

/* Whether a run of its campaign, whose runs go apart, has the node to itself. */
static bool
is_kept_apart(const struct world *w, const struct plan_run *r, int64_t node)
{
	for (size_t i = 0; i < w->p.n_drives; i++)
		if (r->apart != 0 && w->drives[i].node == node &&
			w->drives[i].apart == r->apart)
			return true;
	return false;
}

/* Whether what a waiting run is told is all of it, and nothing else. */
static void
check_waiting(
	const struct world *before, const struct world *after, const struct plan_run *r)
{
	const struct plan_drive *d = plan_drive_of(&after->p, r->drive);
	const struct plan_node *n = plan_node_of(&after->p, d->node);
	uint32_t full = UINT32_C(1) << BLOCKER_NODE_FULL;
	uint32_t own = UINT32_C(1) << BLOCKER_DRIVE_LEASED | full;
	int all = r->paused + (d->observed != DRIVE_IS_PRESENT) +
		  (d->occupancy != DRIVE_HAS_IDLE) + (n->admin != NODE_ACTIVE) +
		  (n->observed != NODE_IS_ONLINE) +
		  /* of a node that does not fit, the trouble is why */
		  (n->trouble[0] != '\0' && n->observed != NODE_IS_INCOMPATIBLE) +
		  (n->running >= n->max_runs) + (d->collecting != 0) +
		  (d->admin != DRIVE_DESTRUCTIVE &&
			  (d->admin != DRIVE_READONLY || r->writes)) +
		  is_kept_apart(after, r, n->id);
	const struct plan_run *holder = find_run(after, d->holder);

	ck_assert_uint_ne(r->blockers, 0);
	if (all == 0) {
		/* only the others of its group are in its way */
		ck_assert_int_ne(r->group, 0);
		ck_assert_uint_eq(r->blockers, UINT32_C(1) << BLOCKER_CAMPAIGN_TOGETHER);
		return;
	}
	ck_assert_int_eq(__builtin_popcount(r->blockers), all);
	if ((r->blockers & ~own) != 0 || r->group != 0)
		return;
	/* it could have run but for others: each of them was before it */
	d = plan_drive_of(&before->p, r->drive);
	if (d->occupancy == DRIVE_HAS_IDLE && holder != NULL)
		ck_assert(goes_before(first_of(after, holder), r));
	for (size_t i = 0; r->blockers == full && i < after->p.n_runs; i++) {
		const struct plan_run *o = &after->runs[i];

		if (o->granted && plan_drive_of(&after->p, o->drive)->node == n->id)
			ck_assert(goes_before(first_of(after, o), r));
	}
}

static void
check_pair(const struct world *w, const struct plan_run *a, const struct plan_run *b)
{
	int64_t node_a = plan_drive_of(&w->p, a->drive)->node;
	int64_t node_b = plan_drive_of(&w->p, b->drive)->node;

	if (a->granted && b->granted) {
		ck_assert_int_ne(a->drive, b->drive);
		ck_assert(a->apart == 0 || a->apart != b->apart || node_a != node_b);
	}
	if (a->group != 0 && a->group == b->group) {
		ck_assert_int_eq(a->granted, b->granted);
		ck_assert_uint_eq(a->peers, b->peers);
	}
}

static void
check_world(const struct world *before, const struct world *after)
{
	for (size_t i = 0; i < after->p.n_runs; i++) {
		const struct plan_run *r = &after->runs[i];

		if (r->granted)
			check_grant(before, r);
		else
			check_waiting(before, after, r);
		for (size_t k = 0; k < i; k++)
			check_pair(after, r, &after->runs[k]);
	}
	for (size_t i = 0; i < after->p.n_nodes; i++)
		ck_assert(after->nodes[i].running <= after->nodes[i].max_runs ||
			  after->nodes[i].running == before->nodes[i].running);
}

START_TEST(any_world_is_planned_safely_completely_and_always_the_same)
{
	static struct world before, after, again;
	uint64_t first = (uint64_t)time(NULL);
	size_t granted = 0;

	if (getenv("PLAN_SEED") != NULL)
		first = strtoull(getenv("PLAN_SEED"), NULL, 10);
	printf("PLAN_SEED=%llu\n", (unsigned long long)first);
	for (uint64_t round = 0; round < ROUNDS; round++) {
		seed = first + round;
		make_world(&before);
		copy_world(&after, &before);
		plan_make(&after.p);
		check_world(&before, &after);
		copy_world(&again, &before);
		shuffle(&again);
		plan_make(&again.p);
		ck_assert(memcmp(after.runs, again.runs,
				  after.p.n_runs * sizeof(after.runs[0])) == 0);
		/* what was granted is taken: nothing more can start */
		for (size_t i = 0; i < after.p.n_runs; i++)
			granted += after.runs[i].granted;
		plan_make(&again.p);
		for (size_t i = 0; i < again.p.n_runs; i++)
			ck_assert(!again.runs[i].granted);
	}
	/* The worlds are no empty ones: on average, one run in two rounds is granted. */
	ck_assert_uint_gt(granted, ROUNDS / 4);
}
END_TEST

/* One node, two drives, some runs on them: for the cases that can be told by name. */
static struct world
small_world(size_t n_runs)
{
	struct world w = {0};

	w.nodes[0] = (struct plan_node){.id = 1,
		.name = "sr-01",
		.reason = "",
		.trouble = "",
		.admin = NODE_ACTIVE,
		.observed = NODE_IS_ONLINE,
		.max_runs = 4};
	for (size_t i = 0; i < 2; i++)
		w.drives[i] = (struct plan_drive){.id = (int64_t)i + 1,
			.node = 1,
			.serial = i == 0 ? "S1" : "S2",
			.protected = "",
			.admin = DRIVE_DESTRUCTIVE,
			.observed = DRIVE_IS_PRESENT,
			.occupancy = DRIVE_HAS_IDLE};
	for (size_t i = 0; i < n_runs; i++)
		w.runs[i] = (struct plan_run){.id = (int64_t)i + 1,
			.drive = 1 + (int64_t)i % 2,
			.priority = 50,
			.writes = true};
	w.p = (struct plan){NULL, n_runs, NULL, 2, NULL, 1};
	return w;
}

static void
point_into(struct world *w)
{
	w->p.runs = w->runs;
	w->p.drives = w->drives;
	w->p.nodes = w->nodes;
}

/* "code: text; code: text" of a run's blockers; static buffer. */
static const char *
told(const struct world *w, int64_t run)
{
	static struct str out;
	json_t *list = plan_blockers(&w->p, run_of(w, run));
	json_t *b;
	size_t i;

	str_reset(&out);
	json_array_foreach (list, i, b)
		str_printf(&out, "%s%s: %s", i > 0 ? "; " : "", json_text_of(b, "code"),
			json_text_of(b, "text"));
	json_decref(list);
	return str_text(&out);
}

START_TEST(priority_goes_first_then_age)
{
	struct world w = small_world(4);

	point_into(&w);
	w.runs[2].priority = 60;
	plan_make(&w.p);
	ck_assert(run_of(&w, 3)->granted);
	ck_assert(run_of(&w, 2)->granted);
	ck_assert_str_eq(told(&w, 1), "drive.leased: drive d1 is held by r3");
	ck_assert_str_eq(told(&w, 4), "drive.leased: drive d2 is held by r2");
}
END_TEST

START_TEST(a_run_that_cannot_start_holds_up_nobody)
{
	struct world w = small_world(3);

	point_into(&w);
	w.runs[0].priority = 100;
	w.drives[0].admin = DRIVE_READONLY;
	w.runs[2].writes = false;
	plan_make(&w.p);
	ck_assert(!run_of(&w, 1)->granted);
	ck_assert(run_of(&w, 2)->granted);
	ck_assert(run_of(&w, 3)->granted);
	ck_assert_str_eq(told(&w, 1),
		"drive.readonly: drive d1 may only be read; ssdlab drive approve S1; "
		"drive.leased: drive d1 is held by r3");
}
END_TEST

START_TEST(a_waiting_run_is_told_everything_it_waits_for)
{
	struct world w = small_world(1);

	point_into(&w);
	w.runs[0].paused = true;
	w.drives[0].admin = DRIVE_UNAPPROVED;
	w.drives[0].observed = DRIVE_IS_PROTECTED;
	w.drives[0].protected = "mounted on /srv";
	w.drives[0].occupancy = DRIVE_HAS_FENCED;
	w.drives[0].holder = 9;
	w.nodes[0].admin = NODE_DRAINING;
	w.nodes[0].reason = "new fans";
	w.nodes[0].observed = NODE_IS_LOST;
	w.nodes[0].running = 4;
	plan_make(&w.p);
	ck_assert_str_eq(told(&w, 1),
		"campaign.paused: the campaign is paused; "
		"drive.unapproved: drive d1 is not approved; ssdlab drive approve S1; "
		"drive.protected: drive d1 is protected: mounted on /srv; "
		"drive.fenced: drive d1 is fenced: nothing proves that r9 has let go of "
		"it; "
		"ssdlab drive release S1; "
		"node.draining: node sr-01 is drained: new fans; ssdlab node resume "
		"sr-01; "
		"node.lost: node sr-01 is lost: nothing is heard of it; "
		"node.full: node sr-01 has 4 of at most 4 runs");
}
END_TEST

START_TEST(a_group_starts_together_or_not_at_all)
{
	struct world w = small_world(3);

	point_into(&w);
	w.runs[0].group = w.runs[1].group = 7;
	w.drives[1].observed = DRIVE_IS_ABSENT;
	plan_make(&w.p);
	ck_assert(!run_of(&w, 1)->granted && !run_of(&w, 2)->granted);
	/* what the group does not take is free for others */
	ck_assert(run_of(&w, 3)->granted);
	ck_assert_str_eq(told(&w, 1), "drive.leased: drive d1 is held by r3");
	ck_assert_str_eq(told(&w, 2), "drive.absent: drive d2 is not in its node");
	w = small_world(2);
	point_into(&w);
	w.runs[0].group = w.runs[1].group = 7;
	w.nodes[0].max_runs = 1;
	plan_make(&w.p);
	ck_assert_str_eq(told(&w, 1),
		"campaign.together: the 2 runs of its repeat start together, and not all "
		"of them can: each of their drives has to be free, and each node to have "
		"room");
	ck_assert_uint_eq(w.nodes[0].running, 0);
	w.nodes[0].max_runs = 2;
	plan_make(&w.p);
	ck_assert(run_of(&w, 1)->granted && run_of(&w, 2)->granted);
	ck_assert_uint_eq(run_of(&w, 1)->peers, 2);
	ck_assert_uint_eq(w.nodes[0].running, 2);
}
END_TEST

START_TEST(runs_apart_have_a_node_one_after_the_other)
{
	struct world w = small_world(3);

	point_into(&w);
	w.runs[0].apart = w.runs[1].apart = 5;
	w.runs[2].drive = 2;
	plan_make(&w.p);
	ck_assert(run_of(&w, 1)->granted);
	/* another campaign does not care */
	ck_assert(run_of(&w, 3)->granted);
	ck_assert_str_eq(told(&w, 2),
		"campaign.apart: r1 of the campaign has node sr-01 to itself: its runs "
		"go apart; drive.leased: drive d2 is held by r3");
	w.drives[0].occupancy = w.drives[1].occupancy = DRIVE_HAS_IDLE;
	w.drives[0].apart = 0;
	w.runs[0] = w.runs[1];
	w.p.n_runs = 1;
	plan_make(&w.p);
	ck_assert(run_of(&w, 2)->granted);
}
END_TEST

START_TEST(every_blocker_has_its_code_and_a_sentence)
{
	struct world w = small_world(1);

	point_into(&w);
	for (int b = 0; b < BLOCKERS; b++) {
		w.runs[0].blockers = UINT32_C(1) << b;
		ck_assert_uint_gt(strlen(told(&w, 1)), 20);
	}
}
END_TEST

START_TEST(nothing_to_do_is_no_trouble)
{
	struct plan p = {0};

	plan_make(&p);
	ck_assert_ptr_null(plan_drive_of(&p, 1));
	ck_assert_ptr_null(plan_node_of(&p, 1));
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("plan");

	tcase_add_test(tc, any_world_is_planned_safely_completely_and_always_the_same);
	tcase_add_test(tc, priority_goes_first_then_age);
	tcase_add_test(tc, a_run_that_cannot_start_holds_up_nobody);
	tcase_add_test(tc, a_waiting_run_is_told_everything_it_waits_for);
	tcase_add_test(tc, a_group_starts_together_or_not_at_all);
	tcase_add_test(tc, runs_apart_have_a_node_one_after_the_other);
	tcase_add_test(tc, every_blocker_has_its_code_and_a_sentence);
	tcase_add_test(tc, nothing_to_do_is_no_trouble);
	return unit_run("plan", tc);
}
