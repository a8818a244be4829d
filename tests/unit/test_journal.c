#include "runner/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/verify_rig.h"

static void
change_byte(off_t offset)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint8_t x;

	ck_assert_int_eq(pread(fd, &x, 1, offset), 1);
	x ^= 0x10;
	ck_assert_int_eq(pwrite(fd, &x, 1, offset), 1);
	close(fd);
}

/* Changes a byte of both heads. */
static void
change_heads(off_t offset)
{
	change_byte(HEAD_AT(0) + offset);
	change_byte(HEAD_AT(1) + offset);
}

START_TEST(what_is_no_good_journal_is_refused)
{
	struct journal_config c = config();
	struct journal *j;
	struct err e = {0};

	FAILS(journal_open(&j, path, &c, &e), ERR_STATE, "another process");
	FAILS(journal_read(&j, path, &e), ERR_STATE, "another process");
	FAILS(journal_read(&j, copy, &e), ERR_NOTFOUND, "open the journal");
	ck_assert_int_eq(mkfifo(copy, 0600), 0); /* nobody writes to it, ever */
	FAILS(journal_read(&j, copy, &e), ERR_INVALID, "this is no journal");
	FAILS(journal_open(&j, copy, &c, &e), ERR_INVALID, "this is no journal");
	unlink(copy);
	write_blocks(0, 1);
	close_all();
	c.length -= BLOCK;
	FAILS(journal_open(&j, path, &c, &e), ERR_INVALID, "the load goes to");
	c = config();
	c.block_bytes = 512;
	FAILS(journal_open(&j, path, &c, &e), ERR_INVALID, "knows blocks of 4KiB");
	change_byte(WORDS_AT + 2);
	FAILS(journal_read(&j, path, &e), ERR_STORE, "checksum of its words");
	change_byte(WORDS_AT + 2);
	change_byte(WRITES_AT);
	FAILS(journal_read(&j, path, &e), ERR_STORE, "checksum of its words");
	change_byte(WRITES_AT);
	change_heads(20);
	FAILS(journal_read(&j, path, &e), ERR_STORE, "checksum of its head");
	change_heads(20);
	change_heads(0);
	FAILS(journal_read(&j, path, &e), ERR_INVALID, "no journal");
	change_heads(0);
	change_heads(8);
	FAILS(journal_read(&j, path, &e), ERR_STORE, "format 19");
	change_heads(8);
	ck_assert_int_eq(truncate(path, WORDS_AT + 10), 0);
	FAILS(journal_read(&j, path, &e), ERR_STORE, "has been cut");
	ck_assert_int_eq(truncate(path, 100), 0);
	FAILS(journal_read(&j, path, &e), ERR_INVALID, "no journal");
	unlink(path);
	open_all();
}
END_TEST

/* Of the journal's file. */
struct image {
	uint8_t bytes[WORDS_AT + BLOCKS * 4];
};

static void
take_image(struct image *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(pread(fd, to->bytes, sizeof(to->bytes), 0), sizeof(to->bytes));
	close(fd);
}

static void
expect_readable(const struct image *i, size_t new_bytes)
{
	int fd = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct journal *j;
	struct err e = {0};

	ck_assert_int_eq(pwrite(fd, i->bytes, sizeof(i->bytes), 0), sizeof(i->bytes));
	close(fd);
	if (journal_read(&j, copy, &e) != 0)
		ck_abort_msg("with %zu new bytes: %s", new_bytes, e.text);
	ck_assert_uint_eq(journal_word(j, 0), 1);
	ck_assert_uint_eq(journal_word(j, 1), 0);
	OK(journal_close(j, &e));
}

/* From one image to the other, byte by byte. */
static void
expect_readable_between(const struct image *from, const struct image *to)
{
	struct image mixed = *from;
	unsigned changed = 0;

	for (size_t n = 0; n < sizeof(mixed.bytes); n++) {
		if (mixed.bytes[n] == to->bytes[n])
			continue;
		mixed.bytes[n] = to->bytes[n];
		changed++;
		expect_readable(&mixed, n + 1);
	}
	ck_assert_uint_gt(changed, 4);
}

START_TEST(a_head_that_is_written_in_part_loses_nothing)
{
	struct image open_, closed, again;

	write_blocks(0, 1);
	take_image(&open_);
	close_all();
	take_image(&closed);
	expect_readable_between(&open_, &closed);
	open_all();
	take_image(&again);
	expect_readable_between(&closed, &again);
}
END_TEST

#define LARGE_BLOCKS (UINT64_C(1) << 20) /* 4 MiB of words */

static void
open_and_close(atomic_uint *turns)
{
	struct journal_config c = {.drive = "SN1-aa",
		.length = LARGE_BLOCKS * 512,
		.block_bytes = 512,
		.seed = 1};
	struct journal *j;

	for (;;) {
		if (journal_open(&j, copy, &c, NULL) != 0)
			_exit(1);
		atomic_fetch_add(turns, 1);
		if (journal_close(j, NULL) != 0)
			_exit(1);
		atomic_fetch_add(turns, 1);
	}
}

/* Kills while the journal is opened or closed: the parent sees only where the turns are,
 * so that the moment is any. */
START_TEST(a_writer_may_be_killed_while_it_opens_or_closes)
{
	atomic_uint *turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct journal *j;
	struct err e = {0};

	ck_assert_ptr_ne(turns, MAP_FAILED);
	for (unsigned i = 0; i < 8; i++) {
		int status;
		pid_t pid;

		atomic_store(turns, 0);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			open_and_close(turns);
		while (atomic_load(turns) < 2 + i % 2)
			if (waitpid(pid, &status, WNOHANG) == pid)
				ck_abort_msg("it could not open or close");
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		OK(journal_read(&j, copy, &e));
		ck_assert_uint_eq(journal_word(j, LARGE_BLOCKS - 1), 0);
		OK(journal_close(j, &e));
	}
	munmap(turns, sizeof(*turns));
}
END_TEST

START_TEST(what_was_in_flight_when_it_was_closed_is_so_no_more)
{
	struct journal *j;
	struct err e = {0};

	write_blocks(3, 1);
	ck_assert(begin(0, DIR_WRITE, 3, 1));
	close_all();
	OK(journal_read(&j, path, &e));
	ck_assert_uint_eq(journal_word(j, 3), 1 | 1U << JOURNAL_GENERATION_BITS);
	OK(journal_close(j, &e));
	open_all();
	ck_assert_uint_eq(journal_word(journal, 3), 1 | 1U << JOURNAL_GENERATION_BITS);
	/* A read of it is judged, and it is written again. */
	ck_assert(begin(1, DIR_READ, 3, 1));
	memset(ios[1].buf, 0x55, BLOCK);
	end(1, BLOCK);
	ck_assert_uint_eq(verify_bad(verify_port_report(port)), 8);
	write_blocks(3, 1);
	ck_assert_uint_eq(journal_word(journal, 3), 3);
	close_all();
	OK(journal_read(&j, path, &e));
	OK(journal_close(j, &e));
	open_all();
}
END_TEST

START_TEST(another_drive_of_the_same_size_is_refused)
{
	struct journal_config c = config();
	struct journal *j;
	struct err e = {0};

	write_blocks(0, 1);
	OK(journal_is_of(journal, "SN1-aa", &e));
	FAILS(journal_is_of(journal, "SN2-aa", &e), ERR_INVALID,
		"the journal is of drive SN1-aa, and this is drive SN2-aa");
	close_all();
	snprintf(c.drive, sizeof(c.drive), "SN2-aa");
	FAILS(journal_open(&j, path, &c, &e), ERR_INVALID, "of drive SN1-aa");
	OK(journal_read(&j, path, &e));
	OK(journal_is_of(j, "SN1-aa", &e));
	OK(journal_close(j, &e));
	open_all();
	ck_assert_uint_eq(journal_word(journal, 0), 1);
}
END_TEST

START_TEST(what_is_deleted_or_cut_meanwhile_is_told)
{
	struct journal_config c = config();
	struct journal *j;
	struct err e = {0};

	OK(journal_open(&j, copy, &c, &e));
	OK(journal_sync(j, &e));
	ck_assert_int_eq(unlink(copy), 0);
	FAILS(journal_sync(j, &e), ERR_STORE, "was deleted while it was in use");
	FAILS(journal_close(j, &e), ERR_STORE, "was deleted while it was in use");
	OK(journal_open(&j, copy, &c, &e));
	ck_assert_int_eq(truncate(copy, WORDS_AT), 0);
	FAILS(journal_sync(j, &e), ERR_STORE, "was cut while it was in use");
	FAILS(journal_close(j, &e), ERR_STORE, "was cut while it was in use");
	FAILS(journal_read(&j, copy, &e), ERR_STORE, "has been cut");
}
END_TEST

/* Opens the journal, cuts it and wants a word; stderr goes to a file at out. */
static void
want_what_is_gone(const char *out)
{
	struct journal_config c = config();
	int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct journal *j;

	if (journal_open(&j, copy, &c, NULL) != 0 || truncate(copy, 4096) != 0 ||
		dup2(fd, STDERR_FILENO) < 0)
		_exit(10);
	_exit(journal_word(j, 2) == 0 ? 11 : 12);
}

START_TEST(what_is_gone_and_wanted_ends_with_a_sentence)
{
	char out[96], text[512] = "";
	pid_t pid;
	int status, fd;

	snprintf(out, sizeof(out), "%s/err", dir);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		want_what_is_gone(out);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	fd = open(out, O_RDONLY | O_CLOEXEC);
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	unlink(out);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %#x: %s",
		(unsigned)status, text);
	ck_assert_msg(strstr(text, "the journal was cut while it was in use") != NULL,
		"%s", text);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("journal");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_is_no_good_journal_is_refused);
	tcase_add_test(tc, a_head_that_is_written_in_part_loses_nothing);
	tcase_add_test(tc, a_writer_may_be_killed_while_it_opens_or_closes);
	tcase_add_test(tc, what_was_in_flight_when_it_was_closed_is_so_no_more);
	tcase_add_test(tc, another_drive_of_the_same_size_is_refused);
	tcase_add_test(tc, what_is_deleted_or_cut_meanwhile_is_told);
	tcase_add_test(tc, what_is_gone_and_wanted_ends_with_a_sentence);
	return unit_run("journal", tc);
}
