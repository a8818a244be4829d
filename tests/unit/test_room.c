#include "runner/room.h"

#include "common/workload.h"
#include "runner/draw.h"
#include "tests/unit/unit.h"

#define BLOCK 4096

static struct workload w;
static struct flow *const flow = &w.streams[0];

static void
setup(void)
{
	memset(&w, 0, sizeof(w));
	workload_plain(&w, 50, 100, BLOCK);
	w.in_flight = 5;
	w.workers = 1;
}

static double
room(uint64_t blocks)
{
	struct err e = {0};

	OK(workload_fits(&w, blocks * BLOCK, 512, &e));
	return room_left(&w, blocks * BLOCK);
}

START_TEST(even_places_are_taken_one_by_one)
{
	ck_assert_double_eq_tol(room(100), 0.96, 1e-9);
	w.in_flight = 1;
	ck_assert_double_eq_tol(room(100), 1, 1e-9);
	w.in_flight = 5;
	flow->from_percent = 50;
	ck_assert_double_eq_tol(room(100), 0.92, 1e-9);
	/* Of blocks that do not lie in step, one takes the places of four. */
	flow->from_percent = 0;
	flow->align_bytes = 2048;
	ck_assert_double_eq_tol(room(100), 1 - 4 * 4 / 199.0, 1e-9);
}
END_TEST

START_TEST(reads_take_no_place)
{
	w.in_flight = 4096;
	workload_plain(&w, 100, 100, BLOCK);
	ck_assert_double_eq_tol(room(100), 1, 1e-9);
}
END_TEST

START_TEST(zones_fill_where_they_are_densest)
{
	struct err e = {0};

	OK(flow_add_zone(flow, 80, 20, &e));
	OK(flow_add_zone(flow, 5, 50, &e));
	OK(flow_add_zone(flow, 15, 30, &e));
	flow->spread = SPREAD_ZONES;
	w.in_flight = 26;
	ck_assert_double_eq_tol(room(1000), 0.75, 1e-9);
	w.in_flight = 51;
	ck_assert_double_eq_tol(room(1000), 0.5, 1e-9);
	w.in_flight = 126;
	ck_assert_double_eq_tol(room(1000), 0.35, 1e-9);
	w.in_flight = 201;
	ck_assert_double_eq_tol(room(1000), 0.2, 1e-9);
	w.in_flight = 601;
	ck_assert_double_eq_tol(room(1000), 0.1, 1e-9);
	w.in_flight = 4000;
	ck_assert_double_eq_tol(room(1000), 0, 1e-9);
}
END_TEST

START_TEST(hot_pieces_are_taken_first)
{
	struct err e = {0};

	w.in_flight = 128;
	OK(flow_set_theta(flow, 1.1, &e));
	ck_assert_double_eq_tol(room(16384), 1 - zipf_share(1.1, 16384, 127), 1e-9);
	ck_assert_double_gt(room(16384), 0.3);
	OK(flow_set_theta(flow, 5, &e));
	ck_assert_double_lt(room(16384), 1e-6);
	w.in_flight = 2;
	ck_assert_double_eq_tol(room(16384), 1 - zipf_share(5, 16384, 1), 1e-9);
	/* Sequential writes of the same stream may lie over two pieces. */
	OK(flow_set_theta(flow, 1.1, &e));
	flow->random_percent = 50;
	ck_assert_double_eq_tol(room(16384), 1 - zipf_share(1.1, 16384, 2), 1e-9);
}
END_TEST

START_TEST(the_largest_writes_of_other_streams_count)
{
	struct flow *other = &w.streams[1];

	w.n_streams = 2;
	flow->share_percent = 50;
	flow_plain(other, 0, 100, 16 * BLOCK);
	other->share_percent = 50;
	/* One of 16 blocks, anywhere, meets 17 places of a block, and 2 of its own. */
	ck_assert_double_eq_tol(room(1600), 1 - 4 * 2 / 100.0, 1e-9);
	other->read_percent = 100;
	w.in_flight = 801;
	ck_assert_double_eq_tol(room(3200), 1 - 800 * 2 / 3200.0, 1e-9);
}
END_TEST

START_TEST(sequential_parts_need_a_place_for_each_and_one_more)
{
	workload_plain(&w, 0, 0, BLOCK);
	w.in_flight = 8;
	w.workers = 2;
	ck_assert_double_eq_tol(room(8), 1, 1e-9);
	ck_assert_double_eq_tol(room(7), 0, 1e-9);
	/* With random ones in the same place, all others may be in this part. */
	flow->random_percent = 50;
	ck_assert_double_eq_tol(room(14), 0, 1e-9);
	ck_assert_double_gt(room(16), 0.5);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("room");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, even_places_are_taken_one_by_one);
	tcase_add_test(tc, reads_take_no_place);
	tcase_add_test(tc, zones_fill_where_they_are_densest);
	tcase_add_test(tc, hot_pieces_are_taken_first);
	tcase_add_test(tc, the_largest_writes_of_other_streams_count);
	tcase_add_test(tc, sequential_parts_need_a_place_for_each_and_one_more);
	return unit_run("room", tc);
}
