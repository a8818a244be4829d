/* snia-pts and its quick form against tables typed from public accounts of the PTS. */

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"
#include "tests/unit/shipped_rig.h"

/* A test in rounds: its cells, how long each is measured, and what is tracked. */
struct test_row {
	const char *id;
	size_t n_cells;
	int64_t measure_s, pause_s;
	unsigned fill_passes;
	bool purge, continues;
	const char *tracked; /* id of the cell; NULL: none */
	enum rounds_metric metric;
	unsigned max_rounds;
	double stop_capacities;
};

/* SNIA PTS 2.0.2 as public implementations have it; methods, times and rounds. */
static const struct test_row snia[] = {
	{"iops", 56, 60, 0, 2, true, false, "r0-4k", ROUNDS_IOPS, 25, 0},
	{"throughput-1m", 2, 60, 0, 2, true, false, "r0-1m", ROUNDS_BYTES_PER_SECOND, 25,
		0},
	{"throughput-128k", 2, 60, 0, 2, true, false, "r0-128k", ROUNDS_BYTES_PER_SECOND,
		25, 0},
	{"latency", 9, 60, 0, 2, true, false, "r0-4k", ROUNDS_LAT_MEAN_NS, 25, 0},
	{"wsat", 1, 60, 0, 0, true, false, NULL, ROUNDS_IOPS, 1440, 4},
	{"hir", 1, 60, 0, 2, true, false, "w-4k", ROUNDS_IOPS, 25, 0},
	{"hir-5", 1, 5, 5, 0, false, true, NULL, ROUNDS_IOPS, 360, 0},
	{"hir-5-after", 1, 60, 0, 0, false, true, NULL, ROUNDS_IOPS, 30, 0},
	{"hir-10", 1, 5, 10, 0, false, true, NULL, ROUNDS_IOPS, 360, 0},
	{"hir-10-after", 1, 60, 0, 0, false, true, NULL, ROUNDS_IOPS, 30, 0},
	{"hir-15", 1, 5, 15, 0, false, true, NULL, ROUNDS_IOPS, 360, 0},
	{"hir-15-after", 1, 60, 0, 0, false, true, NULL, ROUNDS_IOPS, 30, 0},
	{"hir-25", 1, 5, 25, 0, false, true, NULL, ROUNDS_IOPS, 360, 0},
	{"hir-25-after", 1, 60, 0, 0, false, true, NULL, ROUNDS_IOPS, 30, 0},
	{"hir-50", 1, 5, 50, 0, false, true, NULL, ROUNDS_IOPS, 360, 0},
	{"hir-50-after", 1, 60, 0, 0, false, true, NULL, ROUNDS_IOPS, 30, 0},
	{"xsr", 1, 60, 0, 0, true, false, NULL, ROUNDS_IOPS, 480, 0},
	{"xsr-random", 1, 60, 0, 0, false, true, NULL, ROUNDS_IOPS, 360, 0},
	{"xsr-again", 1, 60, 0, 0, false, true, NULL, ROUNDS_IOPS, 480, 0},
	{"composite", 1, 60, 0, 2, true, false, "jesd219", ROUNDS_IOPS, 25, 0},
	{"composite-demand", 8, 60, 0, 0, false, true, NULL, ROUNDS_IOPS, 1, 0},
};

#define N_SNIA (sizeof(snia) / sizeof(snia[0]))

/* Of the quick form only times and numbers of rounds are others. */
static void
test_is(const struct suite_test *t, const struct test_row *row, bool quick)
{
	const struct rounds *r = &t->rounds;

	ck_assert_str_eq(t->id, row->id);
	ck_assert_msg(r->n_cells == row->n_cells, "%s: %zu cells", t->id, r->n_cells);
	ck_assert_msg(t->fill_passes == row->fill_passes && t->purge == row->purge &&
			      t->continues == row->continues,
		"%s: prepared otherwise", t->id);
	ck_assert_double_eq(t->stop_capacities, row->stop_capacities);
	ck_assert_uint_eq(r->n_tracked, row->tracked != NULL);
	if (row->tracked != NULL) {
		ck_assert_str_eq(r->cells[r->tracked[0].cell].workload.id, row->tracked);
		ck_assert_int_eq(r->tracked[0].metric, row->metric);
		ck_assert_uint_eq(r->window, 5);
		ck_assert_double_eq(r->range_percent, 20);
		ck_assert_double_eq(r->slope_percent, 10);
	}
	for (size_t i = 0; i < r->n_cells && !quick; i++) {
		ck_assert_int_eq(r->cells[i].measure_ns, row->measure_s * NS_PER_S);
		ck_assert_int_eq(r->cells[i].pause_ns, row->pause_s * NS_PER_S);
		ck_assert_int_eq(r->cells[i].warmup_ns, 0);
	}
	if (!quick)
		ck_assert_uint_eq(r->max_rounds, row->max_rounds);
}

START_TEST(snia_s_tests_have_the_shape_of_the_specification)
{
	static const char *const files[] = {"snia-pts-1.json", "snia-pts-quick-1.json"};
	/* in this order, reads in percent outside, sizes in bytes inside */
	static const double mixes[] = {100, 95, 65, 50, 35, 5, 0};
	static const unsigned sizes[] = {
		1048576, 131072, 65536, 32768, 16384, 8192, 4096, 512};

	for (size_t f = 0; f < 2; f++) {
		load(files[f]);
		ck_assert_msg(strstr(s.title, "PTS-like") != NULL, "%s", s.title);
		ck_assert_uint_eq(s.n_tests, N_SNIA + 5);
		for (size_t i = 0; i < N_SNIA; i++)
			test_is(&s.tests[i], &snia[i], f == 1);
		for (size_t i = 0; i < 56; i++) {
			const struct workload *w = &s.tests[0].rounds.cells[i].workload;

			ck_assert(workload_is_plain(w));
			ck_assert_double_eq(workload_read_percent(w), mixes[i / 8]);
			ck_assert_double_eq(workload_random_percent(w), 100);
			ck_assert_uint_eq(workload_block_max(w), sizes[i % 8]);
		}
		for (size_t i = 0; i < 9; i++)
			ck_assert_uint_eq(
				s.tests[3].rounds.cells[i].workload.in_flight, 1);
		ck_assert_uint_eq(
			s.tests[19].rounds.cells[0].workload.streams[0].n_zones, 3);
	}
}
END_TEST

/* A cell of 8 KiB, random. */
static void
demand_is(const struct rounds *r, size_t i, double read, unsigned workers, unsigned depth,
	unsigned measure_s)
{
	const struct rounds_cell *c = &r->cells[i];

	ck_assert(workload_is_plain(&c->workload));
	ck_assert_double_eq(workload_read_percent(&c->workload), read);
	ck_assert_double_eq(workload_random_percent(&c->workload), 100);
	ck_assert_uint_eq(workload_block_max(&c->workload), 8192);
	ck_assert_uint_eq(c->workload.workers, workers);
	ck_assert_uint_eq(c->workload.in_flight, workers * depth);
	if (measure_s > 0)
		ck_assert_int_eq(c->measure_ns, measure_s * NS_PER_S);
}

/* Writes of half an hour, of which the first minute is tracked. */
static void
writes_are(unsigned workers, unsigned depth, bool quick)
{
	const struct suite_test *t = &s.tests[N_SNIA];
	const struct rounds *r = &t->rounds;

	ck_assert(t->purge && t->fill_passes == 2 && t->fill_block_bytes == 131072);
	ck_assert_uint_eq(r->n_cells, 2);
	demand_is(r, 0, 0, workers, depth, quick ? 0 : 60);
	demand_is(r, 1, 0, workers, depth, quick ? 0 : 29 * 60);
	ck_assert(r->n_tracked == 1 && r->tracked[0].cell == 0);
}

/* A matrix over n workers and depths behind writes with the most of both. */
static void
matrix_is(const unsigned *workers, const unsigned *depths, size_t n, bool quick)
{
	const struct rounds *r = &s.tests[N_SNIA + 1].rounds;

	ck_assert_uint_eq(r->n_cells, 1 + n * n);
	demand_is(r, 0, 0, workers[0], depths[0], quick ? 0 : 300);
	for (size_t i = 0; i < n * n; i++)
		demand_is(r, 1 + i, 65, workers[i / n], depths[i % n], quick ? 0 : 60);
	ck_assert(r->n_tracked == 1 && r->tracked[0].cell == 1);
	ck_assert_uint_eq(r->max_rounds, quick ? 7 : 25);
}

/* The three points that are chosen of it, at most with these. */
static void
points_are(unsigned workers, unsigned depth, bool quick)
{
	static const enum rounds_pick picks[] = {
		ROUNDS_PICK_MAX, ROUNDS_PICK_MID, ROUNDS_PICK_MIN};

	for (size_t i = 0; i < 3; i++) {
		const struct suite_test *t = &s.tests[N_SNIA + 2 + i];
		const struct rounds *r = &t->rounds;

		ck_assert(t->continues && r->n_cells == 2 && r->max_rounds == 1);
		ck_assert_str_eq(r->choice.from, "dirth-matrix");
		ck_assert_int_eq(r->choice.pick, picks[i]);
		ck_assert_int_eq(r->choice.mean_below_ns, i < 2 ? 5 * NS_PER_MS : 0);
		demand_is(r, 0, 0, workers, depth, quick ? 0 : 3600);
		demand_is(r, 1, 65, workers, depth, quick ? 0 : 600);
	}
}

START_TEST(demand_intensity_has_the_shape_of_public_accounts_of_it)
{
	static const unsigned full[] = {32, 16, 8, 6, 4, 2, 1};
	static const unsigned workers[] = {4, 2, 1}, depths[] = {16, 4, 1};

	load("snia-pts-1.json");
	writes_are(32, 32, false);
	matrix_is(full, full, 7, false);
	points_are(32, 32, false);
	load("snia-pts-quick-1.json");
	writes_are(4, 16, true);
	matrix_is(workers, depths, 3, true);
	points_are(4, 16, true);
}
END_TEST

/* On drives with blocks of 4 KiB: a column of the matrix, a third of the latencies, and
 * the composite, whose mix has blocks of 512 bytes. */
START_TEST(what_a_4kn_drive_cannot_do_is_told)
{
	struct str out = {0};

	load("snia-pts-1.json");
	suite_left_out(&s, 4096, &out);
	ck_assert_str_eq(str_text(&out),
		"iops/r100-512, iops/r95-512, iops/r65-512, iops/r50-512, iops/r35-512, "
		"iops/r5-512, iops/r0-512, latency/r100-512, latency/r65-512, "
		"latency/r0-512, composite, composite-demand");
	str_fini(&out);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("snia");

	tcase_add_test(tc, snia_s_tests_have_the_shape_of_the_specification);
	tcase_add_test(tc, demand_intensity_has_the_shape_of_public_accounts_of_it);
	tcase_add_test(tc, what_a_4kn_drive_cannot_do_is_told);
	return unit_run("snia", tc);
}
