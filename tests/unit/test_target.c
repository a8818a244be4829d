#include "runner/target.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define FILE_BYTES (1 << 20)

/* A file that is gone when it is closed. */
static int
scratch(void)
{
	char path[] = "/tmp/ssdlab-target-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unlink(path), 0);
	return fd;
}

static void
write_at(int fd, off_t from, off_t end)
{
	static const char block[4096] = "data";

	for (off_t at = from; at < end; at += (off_t)sizeof(block))
		ck_assert_int_eq(
			pwrite(fd, block, sizeof(block), at), (ssize_t)sizeof(block));
}

START_TEST(a_file_that_was_not_written_everywhere_has_holes)
{
	struct target t = {scratch(), FILE_BYTES, 512};

	ck_assert_int_eq(ftruncate(t.fd, FILE_BYTES), 0);
	if (lseek(t.fd, 0, SEEK_HOLE) == FILE_BYTES) {
		printf("not tried: the file system tells nothing of holes\n");
	} else {
		ck_assert(target_has_holes(&t));
		write_at(t.fd, 0, FILE_BYTES / 2);
		ck_assert(target_has_holes(&t));
		write_at(t.fd, FILE_BYTES / 2, FILE_BYTES);
	}
	ck_assert(target_has_holes(&t) == (lseek(t.fd, 0, SEEK_HOLE) < FILE_BYTES));
	target_close(&t);
	ck_assert_int_eq(t.fd, -1);
}
END_TEST

START_TEST(a_file_that_was_written_has_none_nor_has_what_is_no_file)
{
	struct target t = {scratch(), FILE_BYTES, 512};

	write_at(t.fd, 0, FILE_BYTES);
	ck_assert(!target_has_holes(&t));
	target_close(&t);
	ck_assert(!target_has_holes(&t));
	t.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert(!target_has_holes(&t));
	target_close(&t);
}
END_TEST

START_TEST(what_cannot_be_a_target_is_refused)
{
	struct err e = {0};
	struct target t;

	FAILS(target_open_read("/nonexistent", &t, &e), ERR_NOTFOUND, "/nonexistent");
	FAILS(target_open_read("/dev/null", &t, &e), ERR_INVALID, "neither a block");
	FAILS(target_open_write("/dev/null", &t, &e), ERR_INVALID, "neither a block");
	ck_assert_int_eq(t.fd, -1);
}
END_TEST

START_TEST(each_file_has_a_key_of_its_own)
{
	struct target a = {scratch(), FILE_BYTES, 512}, b = {scratch(), FILE_BYTES, 512};
	struct target again = {dup(a.fd), FILE_BYTES, 512};
	struct target null = {open("/dev/null", O_RDONLY | O_CLOEXEC), 0, 512};
	char first[96], second[96], third[96];
	struct err e = {0};

	OK(target_key(&a, "a", first, &e));
	OK(target_key(&b, "b", second, &e));
	OK(target_key(&again, "other name", third, &e));
	ck_assert_str_ne(first, second);
	ck_assert_str_eq(first, third);
	FAILS(target_key(&null, "/dev/null", first, &e), ERR_UNSAFE,
		"a journal must know its drive: /dev/null is neither");
	target_close(&a);
	target_close(&b);
	target_close(&again);
	target_close(&null);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("target");

	tcase_add_test(tc, a_file_that_was_not_written_everywhere_has_holes);
	tcase_add_test(tc, a_file_that_was_written_has_none_nor_has_what_is_no_file);
	tcase_add_test(tc, what_cannot_be_a_target_is_refused);
	tcase_add_test(tc, each_file_has_a_key_of_its_own);
	return unit_run("target", tc);
}
