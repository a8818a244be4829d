#include "common/loop.h"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mbox.h"
#include "tests/unit/unit.h"

struct world {
	struct loop *l;
	struct mbox *box;
	int calls;
	int fds[2];
	struct loop_timer *other;
};

static void
count_to_three(void *arg)
{
	struct world *w = arg;

	if (++w->calls == 3)
		loop_stop(w->l);
}

static void
give_up(void *arg)
{
	(void)arg;
	ck_abort_msg("the loop did not end within its deadline");
}

static struct world *
world_new(struct world *w)
{
	struct err e = {0};

	*w = (struct world){0};
	OK(loop_new(&w->l, &e));
	loop_timer_start(w->l, 5 * NS_PER_S, 0, give_up, w);
	return w;
}

START_TEST(a_repeating_timer_repeats)
{
	struct err e = {0};
	struct world w;
	int64_t start = clock_mono();

	world_new(&w);
	loop_timer_start(w.l, NS_PER_MS, 2 * NS_PER_MS, count_to_three, &w);
	OK(loop_run(w.l, &e));
	ck_assert_int_eq(w.calls, 3);
	ck_assert_int_ge(clock_mono() - start, 5 * NS_PER_MS);
	loop_free(w.l);
}
END_TEST

static void
stop_other(void *arg)
{
	struct world *w = arg;

	loop_timer_stop(w->l, w->other);
	loop_stop(w->l);
}

START_TEST(a_timer_can_be_stopped_by_a_callback)
{
	struct err e = {0};
	struct world w;

	world_new(&w);
	loop_timer_start(w.l, 0, 0, stop_other, &w);
	w.other = loop_timer_start(w.l, NS_PER_MS, 0, give_up, &w);
	OK(loop_run(w.l, &e));
	loop_free(w.l);
}
END_TEST

static void
read_one(void *arg, uint32_t events)
{
	struct world *w = arg;
	char c;

	ck_assert(events & EPOLLIN);
	ck_assert_int_eq(read(w->fds[0], &c, 1), 1);
	loop_del_fd(w->l, w->fds[0]);
	loop_stop(w->l);
}

START_TEST(a_readable_descriptor_is_told)
{
	struct err e = {0};
	struct world w;

	world_new(&w);
	ck_assert_int_eq(pipe(w.fds), 0);
	OK(loop_add_fd(w.l, w.fds[0], EPOLLIN, read_one, &w, &e));
	ck_assert_int_eq(write(w.fds[1], "x", 1), 1);
	OK(loop_run(w.l, &e));
	close(w.fds[0]);
	close(w.fds[1]);
	loop_free(w.l);
}
END_TEST

static void
stop_now(void *arg)
{
	loop_stop(((struct world *)arg)->l);
}

START_TEST(a_signal_is_delivered_on_the_loop)
{
	struct err e = {0};
	struct world w;

	world_new(&w);
	OK(loop_signal(w.l, SIGUSR1, stop_now, &w, &e));
	ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
	OK(loop_run(w.l, &e));
	loop_free(w.l);
}
END_TEST

static void *
send_hundred(void *arg)
{
	static int numbers[100];
	struct world *w = arg;

	for (int i = 0; i < 100; i++) {
		numbers[i] = i;
		while (!mbox_put(w->box, &numbers[i]))
			sched_yield();
		loop_wake(w->l);
	}
	return NULL;
}

static void
take_all(void *arg)
{
	struct world *w = arg;
	int *n;

	while ((n = mbox_get(w->box, 0)) != NULL)
		ck_assert_int_eq(*n, w->calls++);
	if (w->calls == 100)
		loop_stop(w->l);
}

START_TEST(wakes_from_another_thread_lose_no_message)
{
	struct err e = {0};
	struct world w;
	pthread_t t;

	world_new(&w);
	w.box = mbox_new(7);
	loop_on_wake(w.l, take_all, &w);
	ck_assert_int_eq(pthread_create(&t, NULL, send_hundred, &w), 0);
	OK(loop_run(w.l, &e));
	pthread_join(t, NULL);
	mbox_free(w.box);
	loop_free(w.l);
}
END_TEST

START_TEST(a_closed_mailbox_gives_out_what_it_holds_and_takes_no_more)
{
	struct mbox *m = mbox_new(2);
	int x = 0;

	ck_assert(mbox_put(m, &x));
	ck_assert(mbox_put(m, &x));
	ck_assert(!mbox_put(m, &x));
	mbox_close(m);
	ck_assert_ptr_eq(mbox_get(m, -1), &x);
	ck_assert(!mbox_put(m, &x));
	ck_assert_ptr_eq(mbox_get(m, -1), &x);
	ck_assert_ptr_null(mbox_get(m, -1));
	ck_assert(mbox_closed(m));
	mbox_free(m);
}
END_TEST

START_TEST(an_empty_mailbox_waits_no_longer_than_asked)
{
	struct mbox *m = mbox_new(1);
	int64_t start = clock_mono();

	ck_assert_ptr_null(mbox_get(m, 5 * NS_PER_MS));
	ck_assert_int_ge(clock_mono() - start, 5 * NS_PER_MS);
	mbox_free(m);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("loop");

	tcase_add_test(tc, a_repeating_timer_repeats);
	tcase_add_test(tc, a_timer_can_be_stopped_by_a_callback);
	tcase_add_test(tc, a_readable_descriptor_is_told);
	tcase_add_test(tc, a_signal_is_delivered_on_the_loop);
	tcase_add_test(tc, wakes_from_another_thread_lose_no_message);
	tcase_add_test(tc, a_closed_mailbox_gives_out_what_it_holds_and_takes_no_more);
	tcase_add_test(tc, an_empty_mailbox_waits_no_longer_than_asked);
	return unit_run("loop", tc);
}
