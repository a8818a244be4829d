#include "runner/polls.h"

#include <semaphore.h>
#include <time.h>

#include "common/clock.h"
#include "common/json.h"
#include "tests/unit/unit.h"

#define TOOK_NS (2 * NS_PER_MS)

static struct {
	sem_t done; /* posted by each read */
	int n, fails_from;
} drive;

static int
read_health(void *arg, struct err *e)
{
	const struct timespec took = {0, TOOK_NS};

	ck_assert_ptr_eq(arg, &drive);
	nanosleep(&took, NULL);
	drive.n++;
	sem_post(&drive.done);
	return drive.n >= drive.fails_from ? err_set(e, ERR_IO, "read %d failed", drive.n)
					   : 0;
}

/* Polls until there were so many reads. */
static struct polls_report
poll_for(int reads, int fails_from)
{
	struct polls_report r;
	struct err e = {0};
	struct polls *p;

	sem_init(&drive.done, 0, 0);
	drive.n = 0;
	drive.fails_from = fails_from;
	OK(polls_start(&p, read_health, &drive, 1, &e));
	while (reads > 0)
		if (sem_wait(&drive.done) == 0)
			reads--;
	polls_stop(p, &r);
	sem_destroy(&drive.done);
	return r;
}

START_TEST(each_read_is_counted_with_how_long_it_took)
{
	struct polls_report r = poll_for(3, 100);
	json_t *o = polls_json(&r);

	ck_assert_uint_ge(r.n, 3);
	ck_assert_uint_eq(r.n, (unsigned)drive.n);
	ck_assert_uint_eq(r.failed, 0);
	ck_assert_int_ge(r.sum_ns, (int64_t)r.n * TOOK_NS);
	ck_assert_int_ge(r.max_ns, r.sum_ns / (int64_t)r.n);
	ck_assert_str_eq(json_text_of(o, "period_ns"), "1");
	ck_assert(json_is_null(json_object_get(o, "why")));
	ck_assert_double_eq_tol(json_number_value(json_object_get(o, "mean_ns")),
		(double)r.sum_ns / (double)r.n, 1);
	json_decref(o);
}
END_TEST

START_TEST(a_read_that_fails_is_not_the_last_and_the_first_says_why)
{
	struct polls_report r = poll_for(5, 3);

	ck_assert_uint_ge(r.n, 5);
	ck_assert_uint_eq(r.failed, r.n - 2);
	ck_assert_str_eq(r.why, "read 3 failed");
}
END_TEST

START_TEST(who_never_began_has_polled_nothing)
{
	struct polls_report r;
	json_t *o;

	polls_stop(NULL, &r);
	ck_assert_int_eq(r.period_ns, 0);
	o = polls_json(&r);
	ck_assert_str_eq(json_text_of(o, "polls"), "0");
	ck_assert(json_is_null(json_object_get(o, "mean_ns")));
	ck_assert(json_is_null(json_object_get(o, "max_ns")));
	json_decref(o);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("polls");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, each_read_is_counted_with_how_long_it_took);
	tcase_add_test(tc, a_read_that_fails_is_not_the_last_and_the_first_says_why);
	tcase_add_test(tc, who_never_began_has_polled_nothing);
	return unit_run("polls", tc);
}
