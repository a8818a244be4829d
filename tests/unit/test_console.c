#include "runner/console.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/top_rig.h"

static const int signals[] = {SIGINT, SIGTERM};

/* In a process of its own, as a flag once set stays so. */
START_TEST(a_signal_is_told_and_ends_nothing)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		bool before, after;

		console_catch();
		before = console_interrupted();
		raise(signals[_i]);
		after = console_interrupted();
		raise(signals[_i]);
		_exit(!before && after && console_interrupted() ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* What console_complain writes of an error; its exit code goes to *ret_code. */
static const char *
complaint(const struct err *e, int *ret_code)
{
	static char text[1024];
	char path[128];
	int old = dup(STDERR_FILENO);
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/stderr", top);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	dup2(fd, STDERR_FILENO);
	*ret_code = console_complain(e);
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	close(old);
	n = pread(fd, text, sizeof(text) - 1, 0);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	close(fd);
	return text;
}

START_TEST(a_complaint_has_its_fix_on_a_line_of_its_own)
{
	struct err e = {0};
	int code;

	top_make("/tmp");
	err_set(&e, ERR_INVALID, "no target is named");
	ck_assert_str_eq(complaint(&e, &code), "ssdlab-runner: no target is named\n");
	ck_assert_int_eq(code, 2);
	err_clear(&e);
	err_set(&e, ERR_UNSAFE, "it is mounted");
	err_fix(&e, "unmount it");
	ck_assert_str_eq(
		complaint(&e, &code), "ssdlab-runner: it is mounted\n  unmount it\n");
	ck_assert_int_eq(code, 5);
	top_remove();
}
END_TEST

/* What is left of an exit code when stdout, a file that was written to, goes there. */
static int
ended(const char *to, int code)
{
	int old = dup(STDOUT_FILENO);
	int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	fputs("answer\n", stdout);
	code = console_end(code);
	clearerr(stdout);
	dup2(old, STDOUT_FILENO);
	close(old);
	return code;
}

START_TEST(an_answer_that_cannot_be_written_is_a_failure)
{
	static const struct {
		int code, lost;
	} cases[] = {{0, 1}, {1, 1}, {2, 2}, {CONSOLE_STOPPED, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(ended("/dev/null", cases[i].code), cases[i].code);
		ck_assert_int_eq(ended("/dev/full", cases[i].code), cases[i].lost);
	}
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("console");

	tcase_add_loop_test(tc, a_signal_is_told_and_ends_nothing, 0,
		(int)(sizeof(signals) / sizeof(signals[0])));
	tcase_add_test(tc, a_complaint_has_its_fix_on_a_line_of_its_own);
	tcase_add_test(tc, an_answer_that_cannot_be_written_is_a_failure);
	return unit_run("console", tc);
}
