#include "runner/chore.h"

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "common/clock.h"
#include "tests/unit/unit.h"

static struct {
	sem_t begun, go_on;
	atomic_uint calls;
	unsigned fail_at; /* this call fails; 0: none */
} job;

static int
work(void *arg, struct err *e)
{
	unsigned call = atomic_fetch_add(&job.calls, 1) + 1;

	ck_assert_ptr_eq(arg, &job);
	sem_post(&job.begun);
	while (sem_wait(&job.go_on) != 0)
		;
	return call == job.fail_at ? err_set(e, ERR_FULL, "call %u", call) : 0;
}

static struct chore *
start(unsigned fail_at, int64_t period_ns)
{
	struct chore *k;
	struct err e = {0};

	sem_init(&job.begun, 0, 0);
	sem_init(&job.go_on, 0, 0);
	atomic_store(&job.calls, 0);
	job.fail_at = fail_at;
	OK(chore_start(&k, work, &job, period_ns, &e));
	return k;
}

static void
await(sem_t *s)
{
	while (sem_wait(s) != 0)
		;
}

START_TEST(a_job_that_blocks_blocks_nobody_else)
{
	struct chore *k = start(0, 1);
	struct err e = {0};

	for (unsigned i = 1; i <= 3; i++) {
		await(&job.begun);
		/* It waits for us now, and this does not wait for it. */
		ck_assert(!chore_failed(k));
		ck_assert_uint_eq(atomic_load(&job.calls), i);
		if (i < 3)
			sem_post(&job.go_on);
	}
	for (unsigned i = 0; i < 100; i++)
		sem_post(&job.go_on);
	OK(chore_stop(k, &e));
}
END_TEST

START_TEST(a_job_that_fails_is_the_last)
{
	struct chore *k = start(2, 1);
	struct err e = {0};

	sem_post(&job.go_on);
	sem_post(&job.go_on);
	while (!chore_failed(k))
		sched_yield();
	FAILS(chore_stop(k, &e), ERR_FULL, "call 2");
	ck_assert_uint_eq(atomic_load(&job.calls), 2);
}
END_TEST

START_TEST(the_end_waits_for_no_period)
{
	struct chore *k = start(0, 1000 * NS_PER_S);
	struct err e = {0};

	OK(chore_stop(k, &e));
	ck_assert_uint_eq(atomic_load(&job.calls), 0);
	OK(chore_stop(NULL, &e));
}
END_TEST

static unsigned ticks;

static void
let_go(void *arg)
{
	ck_assert_ptr_eq(arg, &ticks);
	if (++ticks == 3)
		sem_post(&job.go_on);
}

/* It goes on when it was ticked three times, and else never. */
START_TEST(a_job_is_done_once_while_the_caller_goes_on)
{
	struct err e = {0};

	sem_init(&job.begun, 0, 0);
	sem_init(&job.go_on, 0, 0);
	atomic_store(&job.calls, 0);
	job.fail_at = 1;
	ticks = 0;
	FAILS(chore_once(work, &job, let_go, &ticks, &e), ERR_FULL, "call 1");
	ck_assert_uint_ge(ticks, 3);
	ck_assert_uint_eq(atomic_load(&job.calls), 1);
	job.fail_at = 0;
	ticks = 0;
	OK(chore_once(work, &job, let_go, &ticks, &e));
	ck_assert_uint_eq(atomic_load(&job.calls), 2);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("chore");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_job_that_blocks_blocks_nobody_else);
	tcase_add_test(tc, a_job_that_fails_is_the_last);
	tcase_add_test(tc, the_end_waits_for_no_period);
	tcase_add_test(tc, a_job_is_done_once_while_the_caller_goes_on);
	return unit_run("chore", tc);
}
