/* How a runner that was told to stop is made to end, and when it is waited for. */
#include "tests/unit/keeper_rig.h"
#include "tests/unit/log_rig.h"

/* Stands for a runner that SIGTERM does not end. */
static const char deaf[] = "#!/bin/sh\ntrap '' TERM\nexec sleep 60\n";

static int64_t skipped_ns;   /* by the clock; linked in by --wrap */
static int listener, client; /* the socket of the runner, and who asks it */

int64_t __real_clock_mono(void);
int64_t __wrap_clock_mono(void);

int64_t
__wrap_clock_mono(void)
{
	return __real_clock_mono() + skipped_ns;
}

/* Starts a runner that SIGTERM does not end and takes its place at the socket. */
static void
begin(void)
{
	struct err e = {0};

	skipped_ns = 0;
	setup();
	OK(disk_write(runner, deaf, strlen(deaf), 0700, &e));
	log_catch();
	start();
	listener = listen_in(attempt()->dir);
	keeper_tick(keeper);
	client = accept(listener, NULL, NULL);
}

static void
end(void)
{
	close(client);
	close(listener);
	teardown();
}

/* What the runner was heard to say last. */
static void
on_heard(void *arg)
{
	if (strcmp(keeper_first(keeper)->status.workload, arg) == 0)
		loop_stop(loop);
}

/* Lets the runner say that something cannot be stopped (NULL: nothing), and waits until
 * that is heard. */
static void
say(const char *cannot_stop)
{
	static unsigned n;
	char text[200], mark[16], quoted[80] = "null";
	struct loop_timer *poll, *deadline;
	struct err e = {0};

	snprintf(mark, sizeof(mark), "w%u", ++n);
	if (cannot_stop != NULL)
		snprintf(quoted, sizeof(quoted), "\"%s\"", cannot_stop);
	snprintf(text, sizeof(text),
		"{\"state\":\"running\",\"workload\":\"%s\",\"last_seq\":\"1\","
		"\"cannot_stop\":%s}",
		mark, quoted);
	ck_assert_int_gt(send(client, text, strlen(text), 0), 0);
	poll = loop_timer_start(loop, 0, 5 * NS_PER_MS, on_heard, mark);
	deadline = loop_timer_start(loop, 10 * NS_PER_S, 0, on_deadline, NULL);
	OK(loop_run(loop, &e));
	loop_timer_stop(loop, poll);
	loop_timer_stop(loop, deadline);
}

static void
pass(int64_t ns)
{
	skipped_ns += ns;
	keeper_tick(keeper);
}

START_TEST(a_runner_that_is_told_to_stop_is_made_to_end_more_and_more_firmly)
{
	say(NULL);
	keeper_stop(keeper, 15, "enough");
	pass(9 * NS_PER_S);
	ck_assert_uint_eq(log_caught("runner.press"), 0);
	pass(2 * NS_PER_S);
	ck_assert_uint_eq(log_caught("runner.press"), 1);
	ck_assert(!attempt()->killed);
	pass(20 * NS_PER_S);
	ck_assert(attempt()->killed);
	await(ATTEMPT_EXITED);
}
END_TEST

/* Hours, as a sanitize takes; then it has the time to tell its result. */
START_TEST(what_cannot_be_stopped_is_waited_for)
{
	say("purge by sanitize, 1 % done");
	keeper_stop(keeper, 15, "enough");
	for (int i = 0; i < 5; i++) {
		skipped_ns += 3600 * NS_PER_S;
		say("purge by sanitize, 34 % done");
		keeper_tick(keeper);
	}
	ck_assert_uint_eq(log_caught("runner.press"), 0);
	ck_assert_uint_eq(log_caught("runner.hold"), 1);
	ck_assert_str_eq(
		keeper_first(keeper)->status.cannot_stop, "purge by sanitize, 34 % done");
	say(NULL);
	pass(9 * NS_PER_S);
	ck_assert_uint_eq(log_caught("runner.press"), 0);
	pass(2 * NS_PER_S);
	ck_assert_uint_eq(log_caught("runner.press"), 1);
	ck_assert(!attempt()->killed);
}
END_TEST

START_TEST(one_that_hangs_while_it_cannot_be_stopped_is_not_waited_for)
{
	say("purge by format");
	keeper_stop(keeper, 15, "enough");
	pass(4 * NS_PER_S);
	pass(9 * NS_PER_S);
	ck_assert_uint_eq(log_caught("runner.press"), 0);
	pass(2 * NS_PER_S);
	ck_assert_uint_eq(log_caught("runner.press"), 1);
	pass(20 * NS_PER_S);
	ck_assert(attempt()->killed);
	await(ATTEMPT_EXITED);
}
END_TEST

START_TEST(nothing_is_waited_for_without_end)
{
	say("purge by sanitize");
	keeper_stop(keeper, 15, "enough");
	for (int i = 0; i < 3 && !attempt()->killed; i++) {
		skipped_ns += 25 * 3600 * NS_PER_S;
		say("purge by sanitize");
		keeper_tick(keeper);
	}
	ck_assert(attempt()->killed);
	await(ATTEMPT_EXITED);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("press");

	signal(SIGPIPE, SIG_IGN);
	tcase_add_checked_fixture(tc, begin, end);
	tcase_set_timeout(tc, 30);
	tcase_add_test(
		tc, a_runner_that_is_told_to_stop_is_made_to_end_more_and_more_firmly);
	tcase_add_test(tc, what_cannot_be_stopped_is_waited_for);
	tcase_add_test(tc, one_that_hangs_while_it_cannot_be_stopped_is_not_waited_for);
	tcase_add_test(tc, nothing_is_waited_for_without_end);
	return unit_run("press", tc);
}
