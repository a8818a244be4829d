#include "runner/verify_cmd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "runner/bench.h"
#include "runner/console.h"
#include "runner/journal.h"
#include "runner/verify_report.h"
#include "tests/unit/unit.h"

#define FILE_BYTES (1 << 20)

static char dir[32], target[48], path[48], output[48];
static char told[16384]; /* what a command wrote to stdout and stderr, in order */
static const char *sync_fails, *close_fails;

int __real_journal_sync(struct journal *j, struct err *e);
int __real_journal_close(struct journal *j, struct err *e);
int __wrap_journal_sync(struct journal *j, struct err *e);
int __wrap_journal_close(struct journal *j, struct err *e);

int
__wrap_journal_sync(struct journal *j, struct err *e)
{
	return sync_fails != NULL ? err_set(e, ERR_FULL, "%s", sync_fails)
				  : __real_journal_sync(j, e);
}

int
__wrap_journal_close(struct journal *j, struct err *e)
{
	int failed = __real_journal_close(j, e);

	return close_fails != NULL ? err_set(e, ERR_FULL, "%s", close_fails) : failed;
}

/* Direct I/O wants a real file system, as that of the build folder most likely is. */
static void
setup(void)
{
	int fd;

	snprintf(dir, sizeof(dir), "test_verify_cmd.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(target, sizeof(target), "%s/target", dir);
	snprintf(path, sizeof(path), "%s/journal", dir);
	snprintf(output, sizeof(output), "%s/output", dir);
	fd = open(target, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(posix_fallocate(fd, 0, FILE_BYTES), 0);
	close(fd);
}

static void
teardown(void)
{
	unlink(target);
	unlink(path);
	unlink(output);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* Runs a command, words with a blank between; keeps what it tells, and returns its exit
 * code. */
__attribute__((format(printf, 2, 3))) static int
run(int (*command)(int argc, char **argv), const char *fmt, ...)
{
	int keep[2] = {dup(1), dup(2)};
	int fd = open(output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int argc = 0, code;
	char line[256], *argv[16] = {NULL}, *rest = line, *word;
	va_list args;
	ssize_t n;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	while ((word = strtok_r(rest, " ", &rest)) != NULL && argc < 15)
		argv[argc++] = word;
	fflush(stdout);
	dup2(fd, 1);
	dup2(fd, 2);
	code = command(argc, argv);
	fflush(stdout);
	dup2(keep[0], 1);
	dup2(keep[1], 2);
	n = pread(fd, told, sizeof(told) - 1, 0);
	told[n > 0 ? n : 0] = '\0';
	close(fd);
	close(keep[0]);
	close(keep[1]);
	return code;
}

/* Reads the target for a time under the journal. */
static int
bench(const char *time)
{
	return run(bench_command, "bench %s --read 100 --time %s --verify %s", target,
		time, path);
}

static int
verify(const char *form)
{
	return run(verify_command, "verify %s --journal %s -o %s", target, path, form);
}

static size_t
place(const char *text)
{
	const char *at = strstr(told, text);

	ck_assert_msg(at != NULL, "no \"%s\" in: %s", text, told);
	return (size_t)(at - told);
}

static bool
has_direct_io(void)
{
	int fd = open(target, O_RDONLY | O_DIRECT | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	else
		printf("not tried: no direct I/O here\n");
	return fd >= 0;
}

START_TEST(what_was_found_is_told_before_that_the_journal_failed)
{
	if (!has_direct_io())
		return;
	close_fails = "no room to close it";
	ck_assert_int_eq(bench("20ms"), EXIT_FAILURE);
	ck_assert_uint_lt(place("verify    0 sectors good, 0 bad, "),
		place("journal: no room to close it"));
	close_fails = NULL;
	sync_fails = "no room to sync it";
	/* The failed sync ends it long before. */
	ck_assert_int_eq(bench("1000s"), EXIT_FAILURE);
	ck_assert_uint_lt(place("ended     stopped"), place("no room to sync it"));
	ck_assert_uint_lt(
		place("verify    0 sectors good, 0 bad, "), place("no room to sync it"));
	sync_fails = NULL;
	ck_assert_int_eq(bench("20ms"), EXIT_SUCCESS);
}
END_TEST

START_TEST(an_interrupted_verify_tells_what_it_has_found)
{
	if (!has_direct_io())
		return;
	ck_assert_int_eq(bench("20ms"), EXIT_SUCCESS);
	ck_assert_int_eq(verify("table"), EXIT_SUCCESS);
	place("verify    0 sectors good, 0 bad, 2048 unknown");
	ck_assert_ptr_null(strstr(told, "ended"));
	ck_assert_int_eq(verify("json"), EXIT_SUCCESS);
	place("\"state\":\"done\"");
	console_catch();
	ck_assert_int_eq(raise(SIGINT), 0);
	ck_assert_int_eq(verify("table"), 7);
	ck_assert_uint_lt(place("verify    0 sectors good, 0 bad, 0 unknown"),
		place("ended     stopped: not all was read"));
	ck_assert_int_eq(verify("json"), 7);
	place("\"state\":\"stopped\"");
}
END_TEST

START_TEST(bad_data_are_told_by_the_exit_code_and_nothing_else_by_that)
{
	struct verify_report r = {.sectors = {[VERIFY_GOOD] = 5, [VERIFY_UNKNOWN] = 5}};

	ck_assert_int_eq(verify_exit_code(&r, true), 0);
	ck_assert_int_eq(verify_exit_code(&r, false), 7);
	r.sectors[VERIFY_STALE] = 1;
	ck_assert_int_eq(verify_exit_code(&r, true), 1);
	ck_assert_int_eq(verify_exit_code(&r, false), 1);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("verify_cmd");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_was_found_is_told_before_that_the_journal_failed);
	tcase_add_test(tc, an_interrupted_verify_tells_what_it_has_found);
	tcase_add_test(tc, bad_data_are_told_by_the_exit_code_and_nothing_else_by_that);
	return unit_run("verify_cmd", tc);
}
