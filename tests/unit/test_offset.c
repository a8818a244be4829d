#include "agent/offset.h"

#include "tests/unit/unit.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)

/*
 * An exchange at mono, the node's wall clock being ahead of the controller's; there and
 * back are the times under way, held what the controller took.
 */
static void
exchange(struct offset *o, int64_t mono, int64_t ahead, int64_t there, int64_t held,
	int64_t back)
{
	int64_t wall = mono + 5000 * S;

	offset_add(o, &(struct offset_exchange){
			      .sent_mono = mono,
			      .got_mono = mono + there + held + back,
			      .got_wall = wall + ahead + there + held + back,
			      .answered_wall = wall + there + held,
			      .held = held,
		      });
}

START_TEST(nothing_is_known_before_the_first_exchange)
{
	struct offset o = {0};
	int64_t ahead, doubt;

	ck_assert(!offset_best(&o, S, &ahead, &doubt));
}
END_TEST

START_TEST(equal_ways_give_the_offset_exactly)
{
	struct offset o = {0};
	int64_t ahead, doubt;

	exchange(&o, S, 77 * MS, 2 * MS, 25 * S, 2 * MS);
	ck_assert(offset_best(&o, S + 25 * S + 4 * MS, &ahead, &doubt));
	ck_assert_int_eq(ahead, 77 * MS);
	ck_assert_int_eq(doubt, 2 * MS);
	o = (struct offset){0};
	exchange(&o, S, -3600 * S, 2 * MS, 0, 2 * MS);
	ck_assert(offset_best(&o, S + 4 * MS, &ahead, &doubt));
	ck_assert_int_eq(ahead, -3600 * S);
}
END_TEST

START_TEST(unequal_ways_stay_within_the_doubt)
{
	struct offset o = {0};
	int64_t ahead, doubt;

	exchange(&o, S, 10 * MS, 8 * MS, S, 0);
	ck_assert(offset_best(&o, 3 * S, &ahead, &doubt));
	ck_assert_int_eq(ahead, 6 * MS);
	ck_assert_int_ge(doubt, 4 * MS);
}
END_TEST

START_TEST(the_shortest_round_counts_until_it_is_old)
{
	struct offset o = {0};
	int64_t ahead, doubt;

	exchange(&o, S, 10 * MS, MS, 0, MS);
	exchange(&o, 2 * S, 11 * MS, 20 * MS, 0, 20 * MS);
	ck_assert(offset_best(&o, 3 * S, &ahead, &doubt));
	ck_assert_int_eq(ahead, 10 * MS);
	ck_assert_int_lt(doubt, 2 * MS);
	/* 15 ppm of 100,000 s are 1.5 s */
	exchange(&o, 100000 * S, 12 * MS, 20 * MS, 0, 20 * MS);
	ck_assert(offset_best(&o, 100001 * S, &ahead, &doubt));
	ck_assert_int_eq(ahead, 12 * MS);
	ck_assert_int_lt(doubt, 21 * MS);
	/* the oldest makes room */
	for (int i = 0; i < OFFSET_SAMPLES; i++)
		exchange(&o, (100002 + i) * S, 13 * MS, 9 * MS, 0, 9 * MS);
	ck_assert(offset_best(&o, 100020 * S, &ahead, &doubt));
	ck_assert_int_eq(ahead, 13 * MS);
}
END_TEST

START_TEST(a_clock_that_was_set_is_measured_anew)
{
	struct offset o = {0};
	int64_t ahead, doubt;

	exchange(&o, S, 10 * MS, MS, 0, MS);
	exchange(&o, 2 * S, 5000 * MS, 30 * MS, 0, 30 * MS);
	ck_assert(offset_best(&o, 3 * S, &ahead, &doubt));
	ck_assert_int_eq(ahead, 5000 * MS);
}
END_TEST

START_TEST(an_exchange_that_cannot_be_is_left_out)
{
	struct offset o = {0};
	int64_t ahead, doubt;

	exchange(&o, S, 10 * MS, -2 * MS, S, MS);
	exchange(&o, S, 10 * MS, 20 * MS, -5 * MS, MS);
	ck_assert(!offset_best(&o, 3 * S, &ahead, &doubt));
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("offset");

	tcase_add_test(tc, nothing_is_known_before_the_first_exchange);
	tcase_add_test(tc, equal_ways_give_the_offset_exactly);
	tcase_add_test(tc, unequal_ways_stay_within_the_doubt);
	tcase_add_test(tc, the_shortest_round_counts_until_it_is_old);
	tcase_add_test(tc, a_clock_that_was_set_is_measured_anew);
	tcase_add_test(tc, an_exchange_that_cannot_be_is_left_out);
	return unit_run("offset", tc);
}
