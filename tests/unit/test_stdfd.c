#include "common/stdfd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/* The character device 1:3. */
static bool
is_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && major(st.st_rdev) == 1 &&
	       minor(st.st_rdev) == 3;
}

/* In a process with these of the standard descriptors closed: what is wrong, 0: nothing.
 */
static int
without(unsigned closed)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int fd, bad = 0;

		for (fd = 0; fd <= 2; fd++)
			if (closed >> fd & 1)
				close(fd);
		stdfd_open();
		for (fd = 0; fd <= 2; fd++)
			if (fcntl(fd, F_GETFD) != 0 ||
				((closed >> fd & 1) && !is_null(fd)))
				bad = 1;
		fd = open("/", O_RDONLY);
		_exit(fd <= 2 ? 2 : bad);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(no_file_gets_the_number_of_a_standard_descriptor)
{
	for (unsigned closed = 0; closed < 8; closed++)
		ck_assert_int_eq(without(closed), 0);
}
END_TEST

/* In a process whose stdout is closed or not: what is wrong, 0: nothing. */
static int
writing_out(bool closed)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (closed)
			close(STDOUT_FILENO);
		else
			dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		stdfd_open();
		if (stdfd_out_is_closed() != closed)
			_exit(1);
		_exit((write(STDOUT_FILENO, "x", 1) < 0) == closed ? 0 : 2);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(what_is_written_to_a_closed_stdout_fails)
{
	ck_assert_int_eq(writing_out(true), 0);
	ck_assert_int_eq(writing_out(false), 0);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("stdfd");

	tcase_add_test(tc, no_file_gets_the_number_of_a_standard_descriptor);
	tcase_add_test(tc, what_is_written_to_a_closed_stdout_fails);
	return unit_run("stdfd", tc);
}
