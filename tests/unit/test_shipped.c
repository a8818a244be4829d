/* The suites in etc/suites against tables typed from their sources, not from them. */

#include <dirent.h>
#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/suite.h"
#include "common/xalloc.h"
#include "tests/unit/shipped_rig.h"

#define TB UINT64_C(1000000000000)

/* A drive with a log of its health. */
#define DRIVE(bytes, block) (&(const struct suite_drive){bytes, block, true})

/* Calls check for each file that we ship, with its suite in s. */
static void
for_each(void (*check)(const char *file))
{
	char *dir = xasprintf("%s/../../etc/suites", TESTS_DATA_DIR);
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);
	int suites = 0;

	ck_assert_int_ge(n, 0);
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.') {
			load(list[i]->d_name);
			check(list[i]->d_name);
			suites++;
		}
		free(list[i]);
	}
	free(list);
	free(dir);
	ck_assert_int_eq(suites, 14);
}

/* One stream of a workload. */
struct row {
	const char *id;
	unsigned in_flight;
	double read, random; /* percent */
	const char *blocks;  /* KiB, with percent where there are several */
	double mean;	     /* KiB; 0: not told */
	double share;	     /* percent of the I/Os; 0: all */
};

/* StorageReview, 2018 and 2019: profiles as printed; writes as Little's law has them. */
static const struct row corners_2018[] = {
	{"4k-random-read", 128, 100, 100, "4", 0, 0},
	{"4k-random-write", 128, 0, 100, "4", 0, 0},
	{"64k-sequential-read", 16, 100, 0, "64", 0, 0},
	{"64k-sequential-write", 16, 0, 0, "64", 0, 0},
};

/* 2021, with the forms of high load. */
static const struct row corners_2021[] = {
	{"4k-random-read", 128, 100, 100, "4", 0, 0},
	{"4k-random-write", 128, 0, 100, "4", 0, 0},
	{"64k-sequential-read", 32, 100, 0, "64", 0, 0},
	{"64k-sequential-write", 16, 0, 0, "64", 0, 0},
};

static const struct row high_2021[] = {
	{"4k-random-read-high-load", 512, 100, 100, "4", 0, 0},
	{"4k-random-write-high-load", 512, 0, 100, "4", 0, 0},
	{"64k-sequential-read-high-load", 64, 100, 0, "64", 0, 0},
	{"64k-sequential-write-high-load", 64, 0, 0, "64", 0, 0},
};

/* The mean blocks of VDI lie within what the published bandwidths allow: boot 13 to 14,
 * 20, 22 KiB; linked clones 24, 33, 33 KiB, each within 8 %. */
static const struct row applications[] = {
	{"sql", 32, 97, 100, "8", 8, 0},
	{"sql-90-10", 32, 90, 100, "8", 8, 0},
	{"sql-80-20", 32, 80, 100, "8", 8, 0},
	{"oracle", 36, 80, 100, "8", 8, 99},
	{"oracle", 36, 1, 0.1, "64", 64, 1},
	{"oracle-90-10", 22, 90, 100, "8", 8, 0},
	{"oracle-80-20", 22, 80, 100, "8", 8, 0},
	{"vdi-fc-boot", 35, 85, 80, "4:45 8:15 16:25 32:10 64:5", 13.4, 0},
	{"vdi-fc-initial-login", 30, 30, 80, "4:35 8:15 16:20 32:15 64:15", 20.2, 0},
	{"vdi-fc-monday-login", 16, 35, 80, "4:30 8:15 16:20 32:18 64:17", 22.2, 0},
	{"vdi-lc-boot", 16, 75, 80, "4:30 8:10 16:25 32:15 64:20", 23.6, 0},
	{"vdi-lc-initial-login", 8, 25, 80, "4:22 8:10 16:15 32:15 64:38", 33.2, 0},
	{"vdi-lc-monday-login", 16, 35, 80, "4:22 8:10 16:16 32:15 64:37", 32.7, 0},
};

/* fio's examples/jesd219.fio: 4 jobs with 256 I/Os each. */
static const struct row jesd219[] = {
	{"jesd219", 4 * 256, 40, 100,
		"0.5:4 1:1 1.5:1 2:1 2.5:1 3:1 3.5:1 4:67 8:10 16:7 32:3 64:3", 0, 0},
};

#define ROWS(a) a, sizeof(a) / sizeof((a)[0])

static void
blocks_are(const char *id, const struct block_mix *m, const char *want)
{
	struct str got = {0};

	for (size_t i = 0; i < m->n; i++) {
		str_printf(&got, "%s%g", i > 0 ? " " : "", m->list[i].bytes / 1024.0);
		if (m->n > 1)
			str_printf(&got, ":%g", m->list[i].percent);
	}
	ck_assert_msg(strcmp(str_text(&got), want) == 0, "%s %s: blocks %s", s.name, id,
		str_text(&got));
	str_fini(&got);
}

static bool
near(double a, double b, double error)
{
	return fabs(a - b) <= error;
}

static void
stream_is(const struct workload *w, const struct flow *f, const struct row *row)
{
	enum direction dir = row->read > 0 ? DIR_READ : DIR_WRITE;

	ck_assert_str_eq(w->id, row->id);
	ck_assert_int_eq(f->operation, OP_WRITE);
	ck_assert_msg(w->in_flight == row->in_flight, "%s %s: %u in flight", s.name,
		w->id, w->in_flight);
	ck_assert_msg(near(f->read_percent, row->read, 1e-9), "%s %s: reads %g %%",
		s.name, w->id, f->read_percent);
	ck_assert_msg(near(f->random_percent, row->random, 1e-9), "%s %s: random %g %%",
		s.name, w->id, f->random_percent);
	ck_assert_msg(near(f->share_percent, row->share > 0 ? row->share : 100, 1e-9),
		"%s %s: share %g %%", s.name, w->id, f->share_percent);
	for (int d = 0; d < DATA_DIRECTIONS; d++)
		blocks_are(w->id, &f->blocks[d], row->blocks);
	ck_assert_msg(
		row->mean <= 0 || near(flow_mean_bytes(f, dir) / 1024, row->mean, 0.051),
		"%s %s: mean block %g", s.name, w->id, flow_mean_bytes(f, dir));
}

/* Wants the rows as the streams of the workloads from *at on, which moves behind them. */
static void
workloads_are(size_t *at, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; (*at)++) {
		const struct workload *w = &s.workloads[*at];

		ck_assert_uint_lt(*at, s.n_workloads);
		for (size_t k = 0; k < w->n_streams; k++, i++) {
			ck_assert_uint_lt(i, n);
			stream_is(w, &w->streams[k], &rows[i]);
		}
	}
}

/* The preparation and ramp that all suites after reviews share. */
static void
ramp_is_a_review_s(void)
{
	ck_assert_uint_eq(s.fill_passes, 1);
	ck_assert_double_eq_tol(s.region_percent, 25, 1e-9);
	ck_assert_uint_eq(s.ramp.n_loads, 12);
	for (size_t i = 0; i < 12; i++)
		ck_assert_double_eq_tol(
			s.ramp.load_percent[i], 10 * (double)(i + 1), 1e-9);
	ck_assert_int_eq(s.ramp.arrivals, ARRIVALS_POISSON);
	for (size_t i = 0; i < s.n_workloads; i++)
		for (size_t k = 0; k < s.workloads[i].n_streams; k++)
			ck_assert_int_eq(
				s.workloads[i].streams[k].spread, SPREAD_UNIFORM);
}

START_TEST(the_reviews_of_2018_have_16_workloads)
{
	static const char *const files[] = {
		"storagereview-2018-1.json", "storagereview-2018-quick-1.json"};

	for (size_t i = 0; i < 2; i++) {
		size_t at = 0;

		load(files[i]);
		workloads_are(&at, ROWS(corners_2018));
		workloads_are(&at, ROWS(applications));
		ck_assert_uint_eq(at, s.n_workloads);
		ck_assert_uint_eq(at, 16);
		ramp_is_a_review_s();
	}
}
END_TEST

START_TEST(the_reviews_of_2021_have_20_workloads)
{
	static const char *const files[] = {
		"storagereview-2021-1.json", "storagereview-2021-quick-1.json"};

	for (size_t i = 0; i < 2; i++) {
		size_t at = 0;

		load(files[i]);
		workloads_are(&at, ROWS(corners_2021));
		workloads_are(&at, ROWS(high_2021));
		workloads_are(&at, ROWS(applications));
		ck_assert_uint_eq(at, s.n_workloads);
		ck_assert_uint_eq(at, 20);
		ramp_is_a_review_s();
	}
}
END_TEST

START_TEST(the_four_corners_are_those_of_2021)
{
	static const char *const files[] = {
		"four-corners-1.json", "four-corners-demo-1.json"};

	for (size_t i = 0; i < 2; i++) {
		size_t at = 0;

		load(files[i]);
		workloads_are(&at, ROWS(corners_2021));
		ck_assert_uint_eq(at, s.n_workloads);
		ramp_is_a_review_s();
	}
}
END_TEST

START_TEST(jesd219_is_one_stream_with_three_zones)
{
	static const char *const files[] = {"jesd219-1.json", "jesd219-quick-1.json"};
	/* space and share: the first 5 %, the next 15 %, the rest */
	static const double zones[3][2] = {{5, 50}, {15, 30}, {80, 20}};

	for (size_t i = 0; i < 2; i++) {
		const struct flow *f = &s.workloads[0].streams[0];
		size_t at = 0;

		load(files[i]);
		workloads_are(&at, ROWS(jesd219));
		ck_assert_uint_eq(s.n_workloads, 1);
		ck_assert_uint_eq(f->align_bytes, 4096);
		ck_assert_uint_eq(f->n_zones, 3);
		for (size_t z = 0; z < 3; z++) {
			ck_assert_double_eq(f->zones[z].space_percent, zones[z][0]);
			ck_assert_double_eq(f->zones[z].share_percent, zones[z][1]);
		}
		ck_assert_double_eq(s.region_percent, 100);
		ck_assert_uint_eq(s.fill_block_bytes, 128 << 10);
		ck_assert_uint_eq(s.fill_passes, i == 0 ? 2 : 1);
	}
}
END_TEST

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text);

	return n >= strlen(end) && strcmp(text + n - strlen(end), end) == 0;
}

static void
check_name(const char *file)
{
	char *want = xasprintf("%s-%u.json", s.name, s.version);

	ck_assert_str_eq(file, want);
	ck_assert_msg(
		s.scaled == (ends_with(s.name, "-quick") || ends_with(s.name, "-demo")),
		"%s: scaled is wrong", file);
	if (s.n_tests > 0) {
		free(want);
		return;
	}
	/* a scaled point takes 2 s, others take at least what vdbench scripts take */
	ck_assert_int_eq(s.ramp.measure_ns, s.ramp.maximum_measure_ns);
	ck_assert_int_eq(s.ramp.warmup_ns, s.ramp.maximum_warmup_ns);
	if (s.scaled)
		ck_assert_int_eq(s.ramp.measure_ns, NS_PER_S);
	else
		ck_assert_int_ge(s.ramp.measure_ns, 60 * NS_PER_S);
	free(want);
}

START_TEST(a_file_is_called_as_its_suite_and_a_scaled_one_says_so)
{
	for_each(check_name);
}
END_TEST

/* Random 4 KiB and JESD219 ask for more than one thread of ours may do. */
static void
check_workers(const char *file)
{
	bool plain = strncmp(file, "four-corners", 12) == 0;

	for (size_t i = 0; i < s.n_workloads; i++) {
		const struct workload *w = &s.workloads[i];
		bool many = strncmp(w->id, "4k-random", 9) == 0 ||
			    strcmp(w->id, "jesd219") == 0;

		ck_assert_msg(w->workers == (many && !plain ? 4 : 1), "%s %s: %u workers",
			file, w->id, w->workers);
	}
}

START_TEST(workers_share_what_one_may_not_keep_up_with)
{
	for_each(check_workers);
}
END_TEST

static void
check_fit(const char *file)
{
	struct err e = {0};

	(void)file;
	OK(suite_fits(&s, DRIVE(TB, 512), &e));
	OK(suite_fits(&s, DRIVE(s.minimum_capacity_bytes, 512), &e));
	FAILS(suite_fits(&s, DRIVE(s.minimum_capacity_bytes - 512, 512), &e), ERR_INVALID,
		"needs a minimum capacity of");
	ck_assert_str_eq(e.fix, "use a larger drive or a smaller suite: ssdlab suite ls");
	if (strncmp(s.name, "jesd219", 7) != 0) { /* tests are left out instead */
		OK(suite_fits(&s, DRIVE(TB, 4096), &e));
		return;
	}
	FAILS(suite_fits(&s, DRIVE(TB, 4096), &e), ERR_INVALID,
		"workload jesd219: a block of 512B is no multiple of the logical block "
		"of the drive, 4KiB");
	ck_assert_str_eq(e.fix, "use a drive with logical blocks of at most 512B");
}

static const struct {
	const char *file;
	size_t n_tests, n_cells; /* of all */
} others[] = {
	{"sweeps-1.json", 7, 2 * 9 + 4 * 12 + 11},
	{"sweeps-quick-1.json", 7, 2 * 9 + 4 * 12 + 11},
	{"targeted-1.json", 7, 5 + 4 + 13 + 1 + 4 + 4 + 4},
	{"targeted-quick-1.json", 7, 5 + 4 + 13 + 1 + 4 + 4 + 4},
};

START_TEST(sweeps_and_targeted_tests_are_whole)
{
	size_t n = 0;

	load(others[_i].file);
	ck_assert_uint_eq(s.n_tests, others[_i].n_tests);
	for (size_t i = 0; i < s.n_tests; i++)
		n += s.tests[i].rounds.n_cells;
	ck_assert_uint_eq(n, others[_i].n_cells);
}
END_TEST

/* The workload without its id and the members of names; new reference. */
static json_t *
all_but(const struct workload *w, const char *const names[])
{
	json_t *o = workload_to_json(w);

	json_object_del(o, "id");
	for (size_t i = 0; names[i] != NULL; i++)
		json_object_del(o, names[i]);
	return o;
}

/* The same load with and without polls, so that nothing else makes a difference. */
START_TEST(a_polled_drive_has_the_load_of_one_that_is_left_alone)
{
	static const char *const none[] = {NULL};
	static const int64_t polls[] = {0, NS_PER_S, 10 * NS_PER_MS, 0};
	static const char *const files[] = {"targeted-1.json", "targeted-quick-1.json"};
	struct str out = {0};

	for (size_t f = 0; f < 2; f++) {
		const struct rounds *r;

		load(files[f]);
		r = &s.tests[5].rounds;
		ck_assert_str_eq(s.tests[5].id, "health-polling");
		for (size_t i = 0; i < 4; i++) {
			const struct rounds_cell *c = &r->cells[i];
			json_t *first = all_but(&r->cells[0].workload, none);
			json_t *w = all_but(&c->workload, none);

			ck_assert(json_equal(first, w));
			ck_assert_int_eq(c->poll_health_ns, polls[i]);
			ck_assert_int_eq(c->warmup_ns, r->cells[0].warmup_ns);
			ck_assert_int_eq(c->measure_ns, r->cells[0].measure_ns);
			json_decref(first);
			json_decref(w);
		}
		str_reset(&out);
		suite_left_out_for_health(&s, &out);
		ck_assert_str_eq(str_text(&out), "health-polling");
	}
	str_fini(&out);
}
END_TEST

/* What a step of a sweep may change, by the first part of the test's id. */
static const struct {
	const char *id, *names[2];
	double way; /* up or down */
} swept[] = {
	{"depth", {"in_flight", NULL}, 1},
	{"block", {"block_bytes", NULL}, 1},
	{"mix", {"read_percent", NULL}, -1},
};

static size_t
swept_by(const char *test)
{
	size_t k = 0;

	while (strncmp(test, swept[k].id, strlen(swept[k].id)) != 0)
		ck_assert_uint_lt(++k, sizeof(swept) / sizeof(swept[0]));
	return k;
}

START_TEST(a_sweep_changes_one_thing_and_that_in_each_step)
{
	static const char *const files[] = {"sweeps-1.json", "sweeps-quick-1.json"};

	load(files[_i]);
	for (size_t i = 0; i < s.n_tests; i++) {
		const struct rounds *r = &s.tests[i].rounds;
		size_t by = swept_by(s.tests[i].id);
		const char *const *names = swept[by].names;
		double last = -1;

		for (size_t c = 0; c < r->n_cells; c++) {
			json_t *first = all_but(&r->cells[0].workload, names);
			json_t *rest = all_but(&r->cells[c].workload, names);
			json_t *whole = workload_to_json(&r->cells[c].workload);
			double x = json_number_value(json_object_get(whole, names[0]));

			ck_assert_msg(json_equal(first, rest), "%s/%s", s.tests[i].id,
				r->cells[c].workload.id);
			ck_assert_int_eq(r->cells[c].measure_ns, r->cells[0].measure_ns);
			ck_assert_int_eq(r->cells[c].warmup_ns, r->cells[0].warmup_ns);
			ck_assert(c == 0 || swept[by].way * (x - last) > 0);
			last = x;
			json_decref(first);
			json_decref(rest);
			json_decref(whole);
		}
	}
}
END_TEST

/* All twelve changes between four patterns, each once. */
START_TEST(transitions_go_from_each_pattern_to_each_other)
{
	bool seen[4][4] = {{false}};
	const struct rounds *r;
	int last = -1;

	load("targeted-1.json");
	ck_assert_str_eq(s.tests[2].id, "transitions");
	r = &s.tests[2].rounds;
	for (size_t i = 0; i < r->n_cells; i++) {
		const struct workload *w = &r->cells[i].workload;
		int now = (workload_read_percent(w) > 50 ? 2 : 0) +
			  (workload_random_percent(w) > 50 ? 1 : 0);

		if (last >= 0) {
			ck_assert_msg(!seen[last][now] && last != now,
				"%s: %d to %d again", w->id, last, now);
			seen[last][now] = true;
		}
		last = now;
	}
	ck_assert_uint_eq(r->n_cells, 13);
}
END_TEST

/* A quick form takes minutes on a small drive, and writes little. */
START_TEST(quick_tests_take_minutes)
{
	static const char *const files[] = {
		"snia-pts-quick-1.json", "sweeps-quick-1.json", "targeted-quick-1.json"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct suite_cost cost;

		load(files[i]);
		suite_cost(&s, DRIVE(256 << 20, 512), 400000000, 400000000, &cost);
		ck_assert_msg(cost.duration_ns < 180 * NS_PER_S, "%s: %lld s", files[i],
			(long long)(cost.duration_ns / NS_PER_S));
	}
}
END_TEST

START_TEST(all_fit_a_terabyte_and_say_why_not_what_is_too_small_or_4kn)
{
	for_each(check_fit);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("shipped");

	tcase_add_test(tc, the_reviews_of_2018_have_16_workloads);
	tcase_add_test(tc, the_reviews_of_2021_have_20_workloads);
	tcase_add_test(tc, the_four_corners_are_those_of_2021);
	tcase_add_test(tc, jesd219_is_one_stream_with_three_zones);
	tcase_add_test(tc, a_file_is_called_as_its_suite_and_a_scaled_one_says_so);
	tcase_add_test(tc, workers_share_what_one_may_not_keep_up_with);
	tcase_add_loop_test(tc, sweeps_and_targeted_tests_are_whole, 0,
		(int)(sizeof(others) / sizeof(others[0])));
	tcase_add_loop_test(tc, a_sweep_changes_one_thing_and_that_in_each_step, 0, 2);
	tcase_add_test(tc, a_polled_drive_has_the_load_of_one_that_is_left_alone);
	tcase_add_test(tc, transitions_go_from_each_pattern_to_each_other);
	tcase_add_test(tc, quick_tests_take_minutes);
	tcase_add_test(tc, all_fit_a_terabyte_and_say_why_not_what_is_too_small_or_4kn);
	return unit_run("shipped", tc);
}
