#include "runner/start.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "common/program.h"
#include "common/spool.h"
#include "runner/outbox.h"
#include "tests/unit/unit.h"

#define TEMPLATE "/var/tmp/ssdlab-start-XXXXXX"

static char dir[] = TEMPLATE;
static struct outbox *box;
static unsigned ticks;
static const char *stop;

static void
set_up(void)
{
	struct err e = {0};

	memcpy(dir, TEMPLATE, sizeof(dir));
	ck_assert_ptr_nonnull(mkdtemp(dir));
	log_set_level(LOG_LEVEL_ERR);
	OK(outbox_open(&box, dir, &e));
	ticks = 0;
	stop = NULL;
}

static void
tear_down(void)
{
	struct err e = {0};

	outbox_close(box);
	OK(spool_remove(dir, &e));
}

static const char *
tick(void *arg)
{
	ck_assert_ptr_eq(arg, &ticks);
	ticks++;
	return stop;
}

/* Waits for an instant so far from now; returns the ns that it took. */
static int64_t
wait_for(int64_t ahead_ns)
{
	int64_t began = clock_mono();
	struct program_start s = {(uint64_t)(clock_wall() + ahead_ns), 12345};

	start_wait(&s, box, tick, &ticks);
	return clock_mono() - began;
}

/* The event that was told, or NULL. New reference. */
static json_t *
told(void)
{
	struct spool_reader *r = NULL;
	struct spool_record rec;
	struct err e = {0};
	json_t *doc = NULL;

	outbox_sync(box);
	if (outbox_last(box) == 0)
		return NULL;
	OK(spool_reader_open(&r, dir, 1, &e));
	ck_assert_int_eq(spool_reader_next_good(r, &rec, &e), 1);
	OK(json_parse((const char *)rec.payload, rec.len, &doc, &e));
	spool_reader_close(r);
	return doc;
}

static int64_t
told_lag(void)
{
	json_t *doc = told();
	json_t *lag = json_object_get(doc, "lag_ns");
	int64_t ns = (int64_t)json_integer_value(lag);

	ck_assert(json_is_integer(lag));
	ck_assert_str_eq(json_text_of(doc, "event"), "start");
	ck_assert_str_eq(json_text_of(doc, "lab_ns"), "12345");
	json_decref(doc);
	return ns;
}

START_TEST(a_run_waits_for_the_instant_and_tells_how_late_it_was)
{
	int64_t took = wait_for(300 * NS_PER_MS);
	int64_t lag = told_lag();

	ck_assert_int_ge(took, 290 * NS_PER_MS);
	ck_assert_int_ge(lag, 0);
	/* the two clocks are read one after the other */
	ck_assert_int_le(lag, took - 290 * NS_PER_MS);
	ck_assert_uint_ge(ticks, 2);
}
END_TEST

START_TEST(an_instant_that_is_over_is_not_waited_for)
{
	int64_t took = wait_for(-2 * NS_PER_S);
	int64_t lag = told_lag();

	ck_assert_uint_eq(ticks, 0);
	ck_assert_int_ge(lag, 1990 * NS_PER_MS);
	ck_assert_int_le(lag, 2010 * NS_PER_MS + took);
}
END_TEST

START_TEST(an_instant_that_nobody_agreed_is_not_waited_for)
{
	wait_for(START_WAIT_MAX_NS + 60 * NS_PER_S);
	ck_assert_uint_eq(ticks, 0);
	ck_assert_int_lt(told_lag(), -START_WAIT_MAX_NS);
}
END_TEST

START_TEST(a_run_that_is_stopped_waits_no_longer_and_tells_nothing)
{
	stop = "cancelled";
	ck_assert_int_lt(wait_for(300 * NS_PER_S), 100 * NS_PER_S);
	ck_assert_uint_eq(ticks, 1);
	ck_assert_ptr_null(told());
}
END_TEST

START_TEST(a_run_without_an_instant_begins_at_once)
{
	struct program_start s = {0};

	start_wait(&s, box, tick, &ticks);
	ck_assert_uint_eq(ticks, 0);
	ck_assert_ptr_null(told());
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("start");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_run_waits_for_the_instant_and_tells_how_late_it_was);
	tcase_add_test(tc, an_instant_that_is_over_is_not_waited_for);
	tcase_add_test(tc, an_instant_that_nobody_agreed_is_not_waited_for);
	tcase_add_test(tc, a_run_that_is_stopped_waits_no_longer_and_tells_nothing);
	tcase_add_test(tc, a_run_without_an_instant_begins_at_once);
	return unit_run("start", tc);
}
