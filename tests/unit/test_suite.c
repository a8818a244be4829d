#include "common/suite.h"

#include "common/clock.h"
#include "tests/unit/cases.h"

static struct suite s;

/* A drive with a log of its health. */
#define DRIVE(bytes, block) (&(const struct suite_drive){bytes, block, true})

static int
parse(const json_t *doc, struct err *e)
{
	int rc = suite_parse(doc, &s, e);

	suite_fini(&s);
	return rc;
}

static void
load(const char *file)
{
	char *path = xasprintf("%s/../../etc/suites/%s", TESTS_DATA_DIR, file);
	struct err e = {0};
	json_t *doc;

	OK(json_read_file(path, &doc, &e));
	OK(suite_parse(doc, &s, &e));
	json_decref(doc);
	free(path);
}

START_TEST(each_bad_document_is_refused_with_place_and_cure)
{
	cases_run("suite", parse);
}
END_TEST

START_TEST(the_shipped_suites_are_what_their_names_say)
{
	load("four-corners-1.json");
	ck_assert_str_eq(s.name, "four-corners");
	ck_assert_uint_eq(s.version, 1);
	ck_assert(!s.scaled);
	ck_assert_uint_eq(s.n_workloads, 4);
	ck_assert_uint_eq(s.ramp.n_loads, 12);
	ck_assert_int_eq(s.ramp.measure_ns, 60 * NS_PER_S);
	ck_assert_uint_eq(s.workloads[0].in_flight, 128);
	ck_assert_uint_eq(workload_block_max(&s.workloads[3]), 65536);
	load("four-corners-demo-1.json");
	ck_assert(s.scaled);
	ck_assert_uint_eq(s.minimum_capacity_bytes, 64 << 20);
}
END_TEST

START_TEST(data_that_shrink_are_written_only_when_asked_for)
{
	struct err e = {0};
	json_t *doc = NULL;
	json_t *data;

	load("four-corners-1.json");
	ck_assert_double_eq(s.data.compress_percent, 0);
	ck_assert_double_eq(s.data.dedupe_percent, 0);
	OK(json_read_file(TESTS_DATA_DIR "/suite/valid-all/input.json", &doc, &e));
	OK(suite_parse(doc, &s, &e));
	ck_assert_double_eq(s.data.compress_percent, 62.5);
	ck_assert_double_eq(s.data.dedupe_percent, 20);
	data = json_object_get(doc, "data");
	json_object_del(data, "compress");
	OK(suite_parse(doc, &s, &e));
	ck_assert_double_eq(s.data.compress_percent, 0);
	ck_assert_double_eq(s.data.dedupe_percent, 20);
	json_decref(doc);
}
END_TEST

START_TEST(a_program_has_every_step_in_bytes)
{
	struct program p;

	load("four-corners-demo-1.json");
	s.data.compress_percent = 50;
	s.data.dedupe_percent = 12.5;
	suite_compile(&s, DRIVE(256 << 20, 512), &p);
	ck_assert_uint_eq(p.n_steps, 6);
	ck_assert_int_eq(p.steps[0].kind, STEP_IDENTIFY);
	ck_assert_int_eq(p.steps[1].kind, STEP_FILL);
	ck_assert_uint_eq(p.steps[1].passes, 1);
	ck_assert_uint_eq(workload_block_max(&p.steps[1].workload), 131072);
	ck_assert_uint_eq(p.steps[1].workload.in_flight, 32);
	ck_assert_int_eq(p.steps[5].kind, STEP_WORKLOAD);
	ck_assert_str_eq(p.steps[5].workload.id, "64k-sequential-write");
	ck_assert_uint_eq(p.steps[5].ramp.n_loads, 12);
	ck_assert_uint_eq(p.region_offset, 0);
	ck_assert_uint_eq(p.region_length, 64 << 20);
	ck_assert_double_eq(p.data.compress_percent, 50);
	ck_assert_double_eq(p.data.dedupe_percent, 12.5);
	program_fini(&p);
}
END_TEST

START_TEST(a_purge_comes_before_the_fill_and_counts_as_a_pass)
{
	struct suite_cost without, with;
	struct program p;

	load("four-corners-demo-1.json");
	ck_assert(!s.purge);
	suite_cost(&s, DRIVE(1000000000, 512), 100000000, 100000000, &without);
	s.purge = true;
	suite_cost(&s, DRIVE(1000000000, 512), 100000000, 100000000, &with);
	ck_assert_int_eq(with.duration_ns, without.duration_ns + 10 * NS_PER_S);
	ck_assert_uint_eq(with.write_bytes, without.write_bytes + 1000000000);
	ck_assert_uint_eq(with.points, without.points);
	suite_compile(&s, DRIVE(256 << 20, 512), &p);
	ck_assert_uint_eq(p.n_steps, 7);
	ck_assert_int_eq(p.steps[1].kind, STEP_PURGE);
	ck_assert_int_eq(p.steps[2].kind, STEP_FILL);
	ck_assert(program_writes(&p));
	program_fini(&p);
	s.n_workloads = SUITE_WORKLOADS_MAX;
	suite_compile(&s, DRIVE(256 << 20, 512), &p);
	ck_assert_uint_eq(p.n_steps, SUITE_WORKLOADS_MAX + 3);
	program_fini(&p);
}
END_TEST

START_TEST(a_region_ends_within_the_drive_at_a_round_offset)
{
	struct program p;

	load("four-corners-demo-1.json");
	for (uint64_t capacity = 64 << 20; capacity < UINT64_C(1) << 44;
		capacity = capacity * 3 + 512) {
		suite_compile(&s, DRIVE(capacity, 4096), &p);
		ck_assert_uint_le(p.region_length, capacity / 4);
		ck_assert_uint_gt(p.region_length + (2 << 20), capacity / 4);
		ck_assert_uint_eq(p.region_length % (1 << 20), 0);
		program_fini(&p);
	}
	s.region_percent = 100;
	suite_compile(&s, DRIVE(INT64_MAX, 512), &p);
	ck_assert_uint_le(p.region_length, INT64_MAX);
	program_fini(&p);
}
END_TEST

START_TEST(a_drive_that_does_not_fit_is_told_why)
{
	struct err e = {0};

	load("four-corners-demo-1.json");
	OK(suite_fits(&s, DRIVE(64 << 20, 512), &e));
	OK(suite_fits(&s, DRIVE(64 << 20, 4096), &e));
	FAILS(suite_fits(&s, DRIVE((64 << 20) - 512, 512), &e), ERR_INVALID,
		"a minimum capacity of 64MiB");
	ck_assert_msg(strstr(e.fix, "ssdlab suite ls") != NULL, "%s", e.fix);
	FAILS(suite_fits(&s, DRIVE(64 << 20, 8192), &e), ERR_INVALID,
		"workload 4k-random-read: a block of 4KiB is no multiple of the logical "
		"block of the drive, 8KiB");
	ck_assert_str_eq(e.fix, "use a drive with logical blocks of at most 4KiB, or "
				"leave the workload out with \"workloads\"");
	s.minimum_capacity_bytes = 0;
	FAILS(suite_fits(&s, DRIVE(1 << 20, 512), &e), ERR_INVALID,
		"25% of the drive's 1MiB");
	workload_plain(&s.workloads[2], 100, 0, 16 << 20);
	s.workloads[2].workers = 2;
	FAILS(suite_fits(&s, DRIVE(64 << 20, 512), &e), ERR_INVALID, "needs (32MiB)");
	s.workloads[2].workers = 1;
	s.workloads[2].streams[0].cursors = 64;
	s.workloads[2].streams[0].to_percent = 6.25;
	FAILS(suite_fits(&s, DRIVE(UINT64_C(32) << 30, 512), &e), ERR_INVALID,
		"workload 64k-sequential-read: a part of the region of 512MiB has no "
		"room for 64 sequential cursors with blocks of 16MiB");
	ck_assert_str_eq(e.fix, "use a larger drive, or leave the workload out with "
				"\"workloads\"");
	OK(suite_fits(&s, DRIVE(UINT64_C(64) << 30, 512), &e));
}
END_TEST

START_TEST(the_cost_is_the_fill_and_the_ramps)
{
	struct suite_cost cost;

	load("four-corners-demo-1.json");
	suite_cost(&s, DRIVE(1000000000, 512), 100000000, 100000000, &cost);
	ck_assert_uint_eq(cost.points, 1 + 4 * 13);
	/* 10 s of fill, 4 workloads of 13 points of 2 s */
	ck_assert_int_eq(cost.duration_ns, (10 + 4 * 13 * 2) * NS_PER_S);
	/* two workloads write: at full speed for the maximum and from 100 %, else a share
	 */
	ck_assert_uint_eq(cost.write_bytes,
		1000000000 + 2 * (uint64_t)(100000000 * 2 * (1 + 4.5 + 3)));
}
END_TEST

/* Two workloads: "rated", which writes half of its I/Os at 100 and 300 a second, and
 * "ramp". */
static void
load_rates(void)
{
	static const char text[] =
		"{\"ssdlab\":\"suite/v1\",\"name\":\"x\",\"version\":1,\"ramp\":{"
		"\"maximum\":{\"warmup\":\"1s\",\"measure\":\"9s\"},\"point\":{"
		"\"warmup\":\"1s\",\"measure\":\"4s\"},\"load\":[\"50%\"]},"
		"\"workloads\":[{\"id\":\"ramp\",\"read\":\"100%\",\"access\":"
		"\"random\",\"block\":\"4KiB\",\"in_flight\":4},{\"id\":\"rated\","
		"\"read\":\"50%\",\"access\":\"random\",\"block\":\"8KiB\","
		"\"in_flight\":4,\"rates_iops\":[100,300]}]}";
	struct err e = {0};
	json_t *doc = NULL;

	OK(json_parse(text, strlen(text), &doc, &e));
	OK(suite_parse(doc, &s, &e));
	json_decref(doc);
}

START_TEST(rates_are_the_ramp_of_their_workload_alone)
{
	static const char rated[][WORKLOAD_ID_MAX] = {"rated"};
	struct err e = {0};
	struct program p;

	load_rates();
	suite_compile(&s, DRIVE(256 << 20, 512), &p);
	ck_assert_uint_eq(p.n_steps, 3);
	ck_assert_uint_eq(p.steps[1].ramp.n_loads, 1);
	ck_assert_uint_eq(p.steps[1].ramp.n_rates, 0);
	ck_assert_uint_eq(p.steps[2].ramp.n_loads, 0);
	ck_assert_uint_eq(p.steps[2].ramp.n_rates, 2);
	ck_assert_double_eq(p.steps[2].ramp.rate_iops[1], 300);
	ck_assert_int_eq(p.steps[2].ramp.maximum_measure_ns, 0);
	ck_assert_int_eq(p.steps[2].ramp.measure_ns, 4 * NS_PER_S);
	program_fini(&p);
	ck_assert(suite_wants_maximum(&s));
	OK(suite_choose(&s, rated, 1, &e));
	ck_assert(!suite_wants_maximum(&s));
	suite_compile(&s, DRIVE(256 << 20, 512), &p);
	ck_assert_uint_eq(p.steps[1].ramp.n_rates, 2);
	program_fini(&p);
}
END_TEST

START_TEST(what_rates_write_does_not_depend_on_the_drive)
{
	struct suite_cost cost;

	load_rates();
	suite_cost(&s, DRIVE(1000000000, 512), 100000000, UINT64_C(16000000000), &cost);
	ck_assert_uint_eq(cost.points, 2 + 2);
	ck_assert_int_eq(cost.duration_ns, (10 + 5 + 2 * 5) * NS_PER_S);
	ck_assert_int_eq(cost.writing_ns, 0);
	/* half of 100 and 300 a second, 5 s each */
	ck_assert_uint_eq(cost.rate_bytes, 200 * 5 * UINT64_C(8192));
	ck_assert_uint_eq(cost.write_bytes, cost.rate_bytes);
}
END_TEST

START_TEST(chosen_workloads_keep_their_order)
{
	static const char both[][WORKLOAD_ID_MAX] = {
		"64k-sequential-read", "4k-random-read"};
	static const char wrong[][WORKLOAD_ID_MAX] = {"4k-random-read", "4k"};
	struct err e = {0};

	load("four-corners-demo-1.json");
	OK(suite_choose(&s, both, 0, &e));
	ck_assert_uint_eq(s.n_workloads, 4);
	FAILS(suite_choose(&s, wrong, 2, &e), ERR_INVALID,
		"suite four-corners-demo@1 has no workload \"4k\"");
	ck_assert_str_eq(e.pointer, "/workloads/1");
	ck_assert_msg(strstr(e.fix, "4k-random-write") != NULL, "%s", e.fix);
	OK(suite_choose(&s, both, 2, &e));
	ck_assert_uint_eq(s.n_workloads, 2);
	ck_assert_str_eq(s.workloads[0].id, "4k-random-read");
}
END_TEST

START_TEST(a_suite_writes_unless_it_only_reads_and_fills_nothing)
{
	static const char reads[][WORKLOAD_ID_MAX] = {"4k-random-read"};
	struct err e = {0};

	load("four-corners-1.json");
	OK(suite_choose(&s, reads, 1, &e));
	ck_assert(suite_writes(&s));
	s.fill_passes = 0;
	s.purge = true;
	ck_assert(suite_writes(&s));
	s.purge = false;
	ck_assert(!suite_writes(&s));
	s.workloads[0].streams[0].read_percent = 99.9;
	ck_assert(suite_writes(&s));
}
END_TEST

/* Two tests: IOPS with a cell of 512 bytes, filled twice; more, which goes on from it. */
static void
load_tests(void)
{
	static const char text[] =
		"{\"ssdlab\":\"suite/v1\",\"name\":\"x\",\"version\":1,\"tests\":["
		"{\"id\":\"iops\",\"purge\":true,\"fill\":{\"passes\":2},\"rounds\":{"
		"\"measure\":\"60s\",\"cells\":[{\"workload\":{\"id\":\"w512\",\"read\":"
		"\"0%\",\"access\":\"random\",\"block\":\"512B\",\"in_flight\":4}},"
		"{\"workload\":{\"id\":\"w4k\",\"read\":\"0%\",\"access\":\"random\","
		"\"block\":\"4KiB\",\"in_flight\":4}}],"
		"\"tracking\":[{\"cell\":\"w4k\",\"metric\":\"iops\"}]}},"
		"{\"id\":\"more\",\"continues\":true,\"rounds\":{\"measure\":\"5s\","
		"\"pause\":\"5s\",\"max_rounds\":10,\"stop_capacities\":0.5,\"cells\":[{"
		"\"workload\":{\"id\":\"w4k\",\"read\":\"0%\",\"access\":\"random\","
		"\"block\":\"4KiB\",\"in_flight\":4}}]}}]}";
	struct err e = {0};
	json_t *doc = NULL;

	OK(json_parse(text, strlen(text), &doc, &e));
	OK(suite_parse(doc, &s, &e));
	json_decref(doc);
}

START_TEST(tests_say_how_they_are_measured)
{
	const struct rounds *r;

	load_tests();
	ck_assert_uint_eq(s.n_tests, 2);
	ck_assert_uint_eq(s.n_workloads, 0);
	ck_assert(s.tests[0].purge && !s.tests[0].continues);
	r = &s.tests[0].rounds;
	ck_assert_uint_eq(r->window, 5);
	ck_assert_double_eq(r->range_percent, 20);
	ck_assert_double_eq(r->slope_percent, 10);
	ck_assert_uint_eq(r->max_rounds, 25);
	ck_assert_uint_eq(r->tracked[0].cell, 1);
	ck_assert_int_eq(s.tests[1].rounds.cells[0].pause_ns, 5 * NS_PER_S);
	ck_assert_int_eq(rounds_duration_ns(&s.tests[1].rounds), 10 * NS_PER_S);
	ck_assert(suite_writes(&s));
	suite_fini(&s);
}
END_TEST

START_TEST(the_cost_of_tests_is_that_of_all_their_rounds)
{
	struct suite_cost cost;

	load_tests();
	suite_cost(&s, DRIVE(1000000000, 512), 100000000, 1000000, &cost);
	ck_assert_uint_eq(cost.points, 2 + 25 * 2 + 10);
	/* purge and two passes of 10 s, 25 rounds of 2 min, 10 of 10 s */
	ck_assert_int_eq(cost.duration_ns, (30 + 25 * 120 + 100) * NS_PER_S);
	/* 1 MB/s in all rounds; the second test would stop at 500 MB */
	ck_assert_uint_eq(cost.write_bytes, UINT64_C(3000000000) +
						    UINT64_C(25) * 120 * 1000000 +
						    UINT64_C(50) * 1000000);
	suite_cost(&s, DRIVE(20000000, 512), 100000000, 1000000, &cost);
	/* of 20 MB: half of them, and the round in which that is passed */
	ck_assert_uint_eq(cost.write_bytes,
		UINT64_C(60000000) + UINT64_C(3000) * 1000000 + 10000000 + 5000000);
	suite_fini(&s);
}
END_TEST

START_TEST(what_is_left_is_what_is_behind_the_point)
{
	const struct suite_drive d = {1000000000, 512, false};

	load("four-corners-demo-1.json");
	/* 10 s of fill, 4 workloads of 13 points of 2 s; identify is step 1 */
	ck_assert_int_eq(
		suite_left_ns(&s, &d, 100000000, 0, 0), (10 + 4 * 13 * 2) * NS_PER_S);
	ck_assert_int_eq(suite_left_ns(&s, &d, 100000000, 2, 1), 4 * 13 * 2 * NS_PER_S);
	ck_assert_int_eq(
		suite_left_ns(&s, &d, 100000000, 3, 3), (10 + 3 * 13) * 2 * NS_PER_S);
	ck_assert_int_eq(suite_left_ns(&s, &d, 100000000, 6, 13), 0);
	ck_assert_uint_eq(suite_fill_passes(&s, &d, 2), 1);
	ck_assert_uint_eq(suite_fill_passes(&s, &d, 3), 0);
	load_tests();
	/* purge and the second pass, 25 rounds of 2 min, 10 of 10 s */
	ck_assert_int_eq(
		suite_left_ns(&s, &d, 100000000, 3, 1), (10 + 25 * 120 + 100) * NS_PER_S);
	/* five rounds are done */
	ck_assert_int_eq(
		suite_left_ns(&s, &d, 100000000, 4, 10), (20 * 120 + 100) * NS_PER_S);
	suite_fini(&s);
}
END_TEST

/* A matrix of two demands behind writes; a test that takes one of them over. */
START_TEST(what_is_chosen_is_bound_by_all_that_may_be)
{
	static const char text[] =
		"{\"ssdlab\":\"suite/v1\",\"name\":\"x\",\"version\":1,\"tests\":["
		"{\"id\":\"matrix\",\"rounds\":{\"measure\":\"60s\",\"cells\":["
		"{\"workload\":{\"id\":\"pre\",\"read\":\"0%\",\"access\":\"random\","
		"\"block\":\"8KiB\",\"in_flight\":64,\"workers\":8}},"
		"{\"workload\":{\"id\":\"t1\",\"read\":\"65%\",\"access\":\"random\","
		"\"block\":\"8KiB\",\"in_flight\":16,\"workers\":1}},"
		"{\"workload\":{\"id\":\"t4\",\"read\":\"65%\",\"access\":\"random\","
		"\"block\":\"8KiB\",\"in_flight\":8,\"workers\":4}}],"
		"\"tracking\":[{\"cell\":\"t1\",\"metric\":\"iops\"}]}},"
		"{\"id\":\"high\",\"continues\":true,\"rounds\":{\"measure\":\"10s\","
		"\"choose\":{\"from\":\"matrix\",\"pick\":\"mid\",\"mean_below\":"
		"\"5ms\"},\"cells\":[{\"workload\":{\"id\":\"w\",\"read\":\"65%\","
		"\"access\":\"random\",\"block\":\"8KiB\"}}]}}]}";
	struct err e = {0};
	struct suite_cost cost;
	const struct rounds *r;
	struct program p;
	json_t *doc = NULL;

	OK(json_parse(text, strlen(text), &doc, &e));
	OK(suite_parse(doc, &s, &e));
	json_decref(doc);
	r = &s.tests[1].rounds;
	ck_assert_str_eq(r->choice.from, "matrix");
	ck_assert_int_eq(r->choice.pick, ROUNDS_PICK_MID);
	ck_assert_int_eq(r->choice.mean_below_ns, 5 * NS_PER_MS);
	/* not 8 and 64: other I/Os than those that are tracked are not chosen */
	ck_assert_uint_eq(r->cells[0].workload.workers, 4);
	ck_assert_uint_eq(r->cells[0].workload.in_flight, 16);
	suite_cost(&s, DRIVE(1 << 30, 512), 100000000, 1000000, &cost);
	ck_assert_int_eq(cost.duration_ns, (25 * 180 + 10) * NS_PER_S);
	suite_compile(&s, DRIVE(1 << 30, 512), &p);
	ck_assert_ptr_eq(program_chosen_from(&p, p.n_steps - 1), &p.steps[p.n_steps - 2]);
	ck_assert_ptr_null(program_chosen_from(&p, p.n_steps - 2));
	ck_assert_int_eq(p.steps[p.n_steps - 1].rounds.choice.pick, ROUNDS_PICK_MID);
	program_fini(&p);
	suite_fini(&s);
}
END_TEST

START_TEST(a_cost_that_no_integer_holds_is_the_largest_one)
{
	struct suite_cost cost;

	load_tests();
	suite_cost(&s, DRIVE(UINT64_C(1) << 62, 512), 1, UINT64_MAX, &cost);
	ck_assert_int_eq(cost.duration_ns, INT64_MAX);
	ck_assert_uint_eq(cost.write_bytes, INT64_MAX);
	suite_fini(&s);
	load("four-corners-1.json");
	suite_cost(&s, DRIVE(UINT64_C(1) << 62, 512), 1, UINT64_MAX, &cost);
	ck_assert_int_eq(cost.duration_ns, INT64_MAX);
	ck_assert_uint_eq(cost.write_bytes, INT64_MAX);
	suite_fini(&s);
}
END_TEST

START_TEST(the_parts_of_a_suite_cost_what_it_costs)
{
	static const char *const files[] = {"four-corners-1.json", "targeted-1.json"};

	for (size_t f = 0; f < 2; f++) {
		struct suite_cost all, part, sum = {0};
		size_t n;

		load(files[f]);
		n = s.n_tests > 0 ? s.n_tests : s.n_workloads;
		suite_cost(&s, DRIVE(1000000000, 512), 100000000, 1000000000, &all);
		sum.overwrites = s.fill_passes + s.purge;
		sum.duration_ns = sum.overwrites * 10 * NS_PER_S;
		sum.write_bytes = sum.fill_bytes = sum.overwrites * UINT64_C(1000000000);
		for (size_t i = 0; i < n; i++) {
			suite_part_cost(&s, i, DRIVE(1000000000, 512), 100000000,
				1000000000, &part);
			sum.duration_ns += part.duration_ns;
			sum.measure_ns += part.measure_ns;
			sum.writing_ns += part.writing_ns;
			sum.write_bytes += part.write_bytes;
			sum.fill_bytes += part.fill_bytes;
			sum.overwrites += part.overwrites;
		}
		ck_assert_int_eq(all.duration_ns, sum.duration_ns);
		ck_assert_int_eq(all.measure_ns, sum.measure_ns);
		ck_assert_int_eq(all.writing_ns, sum.writing_ns);
		ck_assert_uint_eq(all.write_bytes, sum.write_bytes);
		ck_assert_uint_eq(all.fill_bytes, sum.fill_bytes);
		ck_assert_uint_eq(all.overwrites, sum.overwrites);
		/* fills take 10 s each; what is measured writes a byte a ns */
		ck_assert_int_eq(
			all.duration_ns, all.measure_ns + all.overwrites * 10 * NS_PER_S);
		ck_assert_uint_eq(all.fill_bytes, all.overwrites * UINT64_C(1000000000));
		ck_assert_uint_le(
			all.fill_bytes + (uint64_t)all.writing_ns, all.write_bytes + n);
		ck_assert_uint_ge(
			all.fill_bytes + (uint64_t)all.writing_ns + n, all.write_bytes);
		suite_fini(&s);
	}
}
END_TEST

START_TEST(tests_become_steps_in_order)
{
	struct program p;

	load_tests();
	suite_compile(&s, DRIVE(256 << 20, 512), &p);
	ck_assert_uint_eq(p.n_steps, 5);
	ck_assert_int_eq(p.steps[1].kind, STEP_PURGE);
	ck_assert_int_eq(p.steps[2].kind, STEP_FILL);
	ck_assert_uint_eq(p.steps[2].passes, 2);
	ck_assert_int_eq(p.steps[3].kind, STEP_ROUNDS);
	ck_assert_str_eq(p.steps[3].test, "iops");
	ck_assert_uint_eq(p.steps[3].rounds.n_cells, 2);
	ck_assert_uint_eq(p.steps[3].rounds.stop_bytes, 0);
	ck_assert_str_eq(p.steps[4].test, "more");
	ck_assert_uint_eq(p.steps[4].rounds.stop_bytes, 128 << 20);
	ck_assert_uint_eq(p.region_length, 256 << 20);
	program_fini(&p);
	suite_fini(&s);
}
END_TEST

START_TEST(cells_that_a_drive_has_no_blocks_for_are_left_out_and_named)
{
	struct str out = {0};
	struct err e = {0};
	struct program p;

	load_tests();
	suite_left_out(&s, 512, &out);
	ck_assert_str_eq(str_text(&out), "");
	suite_left_out(&s, 4096, &out);
	ck_assert_str_eq(str_text(&out), "iops/w512");
	OK(suite_fits(&s, DRIVE(256 << 20, 4096), &e));
	suite_compile(&s, DRIVE(256 << 20, 4096), &p);
	ck_assert_uint_eq(p.steps[3].rounds.n_cells, 1);
	ck_assert_uint_eq(p.steps[3].rounds.tracked[0].cell, 0);
	ck_assert_uint_eq(p.steps[3].rounds.n_left_out, 1);
	ck_assert_str_eq(p.steps[3].rounds.left_out[0], "w512");
	program_fini(&p);
	/* what is tracked is missing: the test is, and the one that goes on from it */
	s.tests[0].rounds.tracked[0].cell = 0;
	str_reset(&out);
	suite_left_out(&s, 4096, &out);
	ck_assert_str_eq(str_text(&out), "iops, more");
	FAILS(suite_fits(&s, DRIVE(256 << 20, 4096), &e), ERR_INVALID,
		"no test of suite x@1");
	suite_compile(&s, DRIVE(256 << 20, 4096), &p);
	ck_assert_uint_eq(p.n_steps, 3);
	ck_assert_uint_eq(p.steps[1].rounds.n_cells, 0);
	ck_assert_uint_eq(p.steps[1].rounds.n_tracked, 0);
	ck_assert_uint_eq(p.steps[1].rounds.n_left_out, 2);
	program_fini(&p);
	str_fini(&out);
	suite_fini(&s);
}
END_TEST

START_TEST(a_test_that_polls_is_left_out_where_there_is_no_health_to_poll)
{
	const struct suite_drive without = {256 << 20, 512, false};
	struct suite_cost with_cost, cost;
	struct str out = {0};
	struct err e = {0};
	struct program p;

	load_tests();
	suite_left_out_for_health(&s, &out);
	ck_assert_str_eq(str_text(&out), "");
	s.tests[1].rounds.cells[0].poll_health_ns = NS_PER_S;
	suite_left_out_for_health(&s, &out);
	ck_assert_str_eq(str_text(&out), "more");
	OK(suite_fits(&s, &without, &e));
	suite_compile(&s, DRIVE(256 << 20, 512), &p);
	ck_assert(program_polls_health(&p));
	ck_assert(!p.steps[4].rounds.left_out_for_health);
	program_fini(&p);
	suite_compile(&s, &without, &p);
	ck_assert(!program_polls_health(&p));
	ck_assert_uint_eq(p.steps[3].rounds.n_cells, 2);
	ck_assert_uint_eq(p.steps[4].rounds.n_cells, 0);
	ck_assert_str_eq(p.steps[4].rounds.left_out[0], "w4k");
	ck_assert(p.steps[4].rounds.left_out_for_health);
	program_fini(&p);
	/* neither its rounds nor its time are counted */
	suite_cost(&s, DRIVE(256 << 20, 512), 1000000, 1, &with_cost);
	suite_cost(&s, &without, 1000000, 1, &cost);
	ck_assert_uint_eq(with_cost.points - cost.points, 10);
	ck_assert_int_eq(with_cost.duration_ns - cost.duration_ns, 100 * NS_PER_S);
	/* a test that goes on from it has nothing to go on from */
	s.tests[1].rounds.cells[0].poll_health_ns = 0;
	s.tests[0].rounds.cells[1].poll_health_ns = NS_PER_S;
	str_reset(&out);
	suite_left_out_for_health(&s, &out);
	ck_assert_str_eq(str_text(&out), "iops, more");
	FAILS(suite_fits(&s, &without, &e), ERR_INVALID,
		"it has no log of its health that they could poll");
	OK(suite_fits(&s, DRIVE(256 << 20, 512), &e));
	str_fini(&out);
	suite_fini(&s);
}
END_TEST

START_TEST(a_cell_without_room_is_told_with_its_test)
{
	struct err e = {0};

	load_tests();
	s.tests[1].rounds.cells[0].workload.streams[0].to_percent = 1e-5;
	FAILS(suite_fits(&s, DRIVE(256 << 20, 512), &e), ERR_INVALID,
		"suite x@1, test more, cell w4k: ");
	suite_fini(&s);
}
END_TEST

START_TEST(a_test_is_chosen_with_what_it_goes_on_from)
{
	static const char second[][WORKLOAD_ID_MAX] = {"more"};
	static const char first[][WORKLOAD_ID_MAX] = {"iops"};
	static const char both[][WORKLOAD_ID_MAX] = {"more", "iops"};
	static const char wrong[][WORKLOAD_ID_MAX] = {"w4k"};
	struct err e = {0};

	load_tests();
	FAILS(suite_choose(&s, second, 1, &e), ERR_INVALID,
		"test \"more\" goes on where \"iops\" ends");
	ck_assert_str_eq(e.pointer, "/workloads/0");
	FAILS(suite_choose(&s, wrong, 1, &e), ERR_INVALID,
		"suite x@1 has no test \"w4k\"");
	ck_assert_str_eq(e.fix, "it has: iops, more");
	OK(suite_choose(&s, both, 2, &e));
	ck_assert_uint_eq(s.n_tests, 2);
	OK(suite_choose(&s, first, 1, &e));
	ck_assert_uint_eq(s.n_tests, 1);
	ck_assert_str_eq(s.tests[0].id, "iops");
	suite_fini(&s);
}
END_TEST

START_TEST(a_reference_has_a_name_and_a_version)
{
	static const char *const bad[] = {"", "x", "x@", "@1", "x@0", "x@1x", "x@1000000",
		"X@1", "-x@1", "x@1@1", "x @1", "x@-1",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@1"};
	char name[SUITE_NAME_MAX];
	struct err e = {0};
	uint32_t version;

	OK(suite_parse_ref("four-corners@12", name, &version, &e));
	ck_assert_str_eq(name, "four-corners");
	ck_assert_uint_eq(version, 12);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		FAILS(suite_parse_ref(bad[i], name, &version, &e), ERR_INVALID,
			"does not name a suite");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("suite");

	tcase_add_test(tc, each_bad_document_is_refused_with_place_and_cure);
	tcase_add_test(tc, the_shipped_suites_are_what_their_names_say);
	tcase_add_test(tc, data_that_shrink_are_written_only_when_asked_for);
	tcase_add_test(tc, a_program_has_every_step_in_bytes);
	tcase_add_test(tc, a_purge_comes_before_the_fill_and_counts_as_a_pass);
	tcase_add_test(tc, a_region_ends_within_the_drive_at_a_round_offset);
	tcase_add_test(tc, a_drive_that_does_not_fit_is_told_why);
	tcase_add_test(tc, the_cost_is_the_fill_and_the_ramps);
	tcase_add_test(tc, what_is_left_is_what_is_behind_the_point);
	tcase_add_test(tc, rates_are_the_ramp_of_their_workload_alone);
	tcase_add_test(tc, what_rates_write_does_not_depend_on_the_drive);
	tcase_add_test(tc, chosen_workloads_keep_their_order);
	tcase_add_test(tc, a_suite_writes_unless_it_only_reads_and_fills_nothing);
	tcase_add_test(tc, tests_say_how_they_are_measured);
	tcase_add_test(tc, the_cost_of_tests_is_that_of_all_their_rounds);
	tcase_add_test(tc, what_is_chosen_is_bound_by_all_that_may_be);
	tcase_add_test(tc, a_cost_that_no_integer_holds_is_the_largest_one);
	tcase_add_test(tc, the_parts_of_a_suite_cost_what_it_costs);
	tcase_add_test(tc, tests_become_steps_in_order);
	tcase_add_test(tc, cells_that_a_drive_has_no_blocks_for_are_left_out_and_named);
	tcase_add_test(
		tc, a_test_that_polls_is_left_out_where_there_is_no_health_to_poll);
	tcase_add_test(tc, a_cell_without_room_is_told_with_its_test);
	tcase_add_test(tc, a_test_is_chosen_with_what_it_goes_on_from);
	tcase_add_test(tc, a_reference_has_a_name_and_a_version);
	return unit_run("suite", tc);
}
