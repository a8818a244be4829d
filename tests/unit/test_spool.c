#include "common/spool.h"

#include <signal.h>
#include <sys/wait.h>

#include "common/crc32c.h"
#include "common/le.h"
#include "tests/unit/spool_help.h"

/* Checks how many records there are for a reader that passes over damage. */
static void
expect_good(unsigned want)
{
	struct spool_reader *r = open_reader(1);
	struct spool_record rec;
	struct err e = {0};
	unsigned n = 0;
	int rc;

	while ((rc = spool_reader_next_good(r, &rec, &e)) == 1)
		n++;
	ck_assert_msg(rc == 0, "%s", e.text);
	ck_assert_uint_eq(n, want);
	spool_reader_close(r);
}

START_TEST(what_is_appended_is_read_back_over_all_segments)
{
	fill(300, 100000);
	ck_assert_uint_eq(count_segments(), 2);
	expect_all(1, 300, 100000);
}
END_TEST

START_TEST(numbers_go_on_when_the_spool_is_opened_again)
{
	struct err e = {0};

	for (uint64_t n = 0; n < 5; n++) {
		struct spool *s = open_spool(n, 0);

		OK(append(s, RECORD_EVENT, 0, &e));
		spool_close(s);
	}
	expect_all(1, 5, 0);
}
END_TEST

START_TEST(a_segment_is_the_golden_bytes_both_ways)
{
	uint8_t want[512], got[512];
	size_t n = golden("segment.hex", want, sizeof(want));
	struct spool_record rec;
	struct spool_reader *r;
	struct err e = {0};
	struct spool *s;

	write_segment(7, want, SEGMENT_HEAD_BYTES);
	s = open_spool(6, 0);
	OK(spool_append(s, RECORD_EVENT, "{\"event\":\"note\"}", 16, NULL, &e));
	OK(spool_append(s, RECORD_POINT, NULL, 0, NULL, &e));
	OK(spool_append(s, RECORD_RESULT, "{\"state\":\"done\"}", 16, NULL, &e));
	spool_close(s);
	SAME(got, read_segment(7, got, sizeof(got)), want, n);
	/* The records before 7 are taken for trimmed. */
	r = open_reader(1);
	ck_assert_int_eq(spool_reader_next(r, &rec, &e), 1);
	ck_assert_uint_eq(rec.seq, 7);
	ck_assert_mem_eq(rec.payload, "{\"event\":\"note\"}", 16);
	spool_reader_close(r);
}
END_TEST

START_TEST(a_torn_tail_is_cut_wherever_it_was_torn)
{
	uint8_t whole[512];
	size_t size, ends[5] = {0, SEGMENT_HEAD_BYTES};
	struct err e = {0};

	fill(3, 0);
	size = read_segment(1, whole, sizeof(whole));
	for (uint64_t seq = 1; seq <= 3; seq++)
		ends[seq + 1] = ends[seq] + SEGMENT_RECORD_HEAD_BYTES + length_of(seq, 0);
	ck_assert_uint_eq(ends[4], size);
	for (size_t k = 0; k <= size; k++) {
		struct spool_reader *r;
		struct spool *s;
		uint64_t last = 0;
		size_t good = 0;

		for (unsigned i = 0; i < 5; i++)
			if (ends[i] <= k) {
				good = ends[i];
				last = i > 1 ? i - 1 : 0;
			}
		write_segment(1, whole, k);
		r = open_reader(1);
		expect_rest(r, 1, last, 0);
		s = open_spool(last, k - good);
		expect_rest(r, last + 1, last, 0);
		OK(append(s, RECORD_EVENT, 0, &e));
		OK(append(s, RECORD_EVENT, 0, &e));
		spool_close(s);
		expect_rest(r, last + 1, last + 2, 0);
		spool_reader_close(r);
	}
}
END_TEST

START_TEST(a_tail_of_zeros_or_noise_is_cut_too)
{
	uint8_t whole[4096];
	size_t size;

	fill(3, 0);
	size = read_segment(1, whole, sizeof(whole));
	for (int noise = 0; noise < 2; noise++) {
		memset(whole + size, 0, sizeof(whole) - size);
		for (size_t i = size; noise && i < sizeof(whole); i++)
			whole[i] = (uint8_t)(i * i * 31 >> 3);
		write_segment(1, whole, sizeof(whole));
		expect_all(1, 3, 0);
		spool_close(open_spool(3, sizeof(whole) - size));
		ck_assert_uint_eq(read_segment(1, whole, sizeof(whole)), size);
	}
}
END_TEST

/* check_damage wants: record 2 of 4 is lost, said, and everything else is there. */
static void
check_damage(size_t bit)
{
	struct spool_reader *r = open_reader(1);
	struct spool_record rec;
	uint64_t from, to;
	struct err e = {0};

	ck_assert_int_eq(spool_reader_next(r, &rec, &e), 1);
	for (int i = 0; i < 2; i++) {
		err_clear(&e);
		ck_assert_msg(spool_reader_next(r, &rec, &e) == -1, "bit %zu", bit);
		ck_assert_int_eq(e.class, ERR_STORE);
	}
	OK(spool_reader_skip(r, &from, &to, &e));
	ck_assert_uint_eq(from, 2);
	ck_assert_uint_eq(to, 2);
	expect_rest(r, 3, 4, 0);
	spool_reader_close(r);
}

START_TEST(one_wrong_bit_before_the_end_is_told_and_costs_one_record)
{
	size_t start = SEGMENT_HEAD_BYTES + SEGMENT_RECORD_HEAD_BYTES + length_of(1, 0);
	size_t end = start + SEGMENT_RECORD_HEAD_BYTES + length_of(2, 0);
	uint8_t whole[512];
	size_t size;

	fill(4, 0);
	size = read_segment(1, whole, sizeof(whole));
	for (size_t bit = 8 * start; bit < 8 * end; bit++) {
		whole[bit / 8] ^= (uint8_t)(1U << bit % 8);
		write_segment(1, whole, size);
		check_damage(bit);
		expect_good(3);
		spool_close(open_spool(4, 0));
		whole[bit / 8] ^= (uint8_t)(1U << bit % 8);
	}
}
END_TEST

START_TEST(a_wrong_bit_in_the_last_record_makes_it_a_torn_tail)
{
	size_t last = SEGMENT_RECORD_HEAD_BYTES + length_of(2, 0);
	uint8_t whole[512];
	size_t size;

	fill(2, 0);
	size = read_segment(1, whole, sizeof(whole));
	for (size_t bit = 8 * (size - last); bit < 8 * size; bit++) {
		whole[bit / 8] ^= (uint8_t)(1U << bit % 8);
		write_segment(1, whole, size);
		whole[bit / 8] ^= (uint8_t)(1U << bit % 8);
		expect_all(1, 1, 0);
		spool_close(open_spool(1, last));
	}
}
END_TEST

START_TEST(a_damaged_segment_head_is_told_and_costs_nothing)
{
	uint8_t whole[512];
	size_t size;

	fill(4, 0);
	size = read_segment(1, whole, sizeof(whole));
	for (size_t bit = 0; bit < 8 * SEGMENT_HEAD_BYTES; bit++) {
		struct spool_reader *r = open_reader(2);
		struct spool_record rec;
		uint64_t from, to;
		struct err e = {0};

		whole[bit / 8] ^= (uint8_t)(1U << bit % 8);
		write_segment(1, whole, size);
		whole[bit / 8] ^= (uint8_t)(1U << bit % 8);
		FAILS(spool_reader_next(r, &rec, &e), ERR_STORE, "head of spool segment");
		FAILS(spool_reader_next(r, &rec, &e), ERR_STORE, "head of spool segment");
		expect_good(4);
		OK(spool_reader_skip(r, &from, &to, &e));
		ck_assert_uint_lt(to, from);
		expect_rest(r, 2, 4, 0);
		spool_reader_close(r);
		spool_close(open_spool(4, 0));
	}
}
END_TEST

START_TEST(a_format_of_the_future_is_refused)
{
	uint8_t head[SEGMENT_HEAD_BYTES];
	struct spool_record rec;
	struct spool_reader *r;
	struct err e = {0};
	struct spool *s;
	uint64_t cut;

	segment_head_encode(1, head);
	head[8] = 2;
	le_put32(head + 28, crc32c(0, head, 28));
	write_segment(1, head, sizeof(head));
	FAILS(spool_open(&s, dir, &cut, &e), ERR_STORE, "has format 2, known is 1");
	ck_assert_str_ne(e.fix, "");
	r = open_reader(1);
	FAILS(spool_reader_next(r, &rec, &e), ERR_STORE, "format that is not known");
	spool_reader_close(r);
}
END_TEST

START_TEST(a_missing_segment_is_told_and_can_be_passed)
{
	struct spool_record rec;
	struct spool_reader *r;
	struct segment_near near;
	uint64_t from, to, middle;
	char path[160];
	struct err e = {0};
	int dir_fd, rc;

	fill(500, 100000);
	ck_assert_uint_eq(count_segments(), 3);
	dir_fd = segment_open_dir(dir);
	OK(segment_near(dir_fd, 1, &near, &e));
	middle = near.after;
	OK(segment_near(dir_fd, middle, &near, &e));
	close(dir_fd);
	segment_path(middle, path, sizeof(path));
	ck_assert_int_eq(unlink(path), 0);
	r = open_reader(1);
	while ((rc = spool_reader_next(r, &rec, &e)) == 1)
		;
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(e.class, ERR_STORE);
	ck_assert_uint_eq(rec.seq, middle - 1);
	OK(spool_reader_skip(r, &from, &to, &e));
	ck_assert_uint_eq(from, middle);
	ck_assert_uint_eq(to, near.after - 1);
	expect_good(500 - (unsigned)(near.after - middle));
	expect_rest(r, near.after, 500, 100000);
	spool_reader_close(r);
}
END_TEST

START_TEST(a_reader_starts_anywhere)
{
	struct spool_reader *r;
	struct err e = {0};
	struct spool *s;

	fill(200, 100000);
	r = open_reader(0);
	for (uint64_t from = 1; from <= 201; from += 25) {
		OK(spool_reader_seek(r, from, &e));
		expect_rest(r, from, 200, 100000);
	}
	OK(spool_reader_seek(r, 203, &e));
	expect_rest(r, 203, 202, 100000);
	s = open_spool(200, 0);
	for (int i = 0; i < 4; i++)
		OK(append(s, RECORD_EVENT, 100000, &e));
	spool_close(s);
	expect_rest(r, 203, 204, 100000);
	spool_reader_close(r);
}
END_TEST

START_TEST(a_spool_that_is_not_there_yet_reads_as_empty)
{
	struct spool_reader *r = open_reader(1);
	struct err e = {0};
	struct spool *s;

	expect_rest(r, 1, 0, 0);
	s = open_spool(0, 0);
	expect_rest(r, 1, 0, 0);
	OK(append(s, RECORD_EVENT, 0, &e));
	expect_rest(r, 1, 1, 0);
	spool_close(s);
	spool_reader_close(r);
}
END_TEST

START_TEST(the_lock_is_held_until_the_writer_is_gone)
{
	int ready[2], status;
	struct err e = {0};
	struct spool *s;
	uint64_t cut;
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		s = open_spool(0, 0);
		append(s, RECORD_EVENT, 0, &e);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	FAILS(spool_open(&s, dir, &cut, &e), ERR_STATE, "another process is writing");
	FAILS(spool_remove(dir, &e), ERR_STATE, "another process is writing");
	expect_all(1, 1, 0);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	s = open_spool(1, 0);
	FAILS(spool_open(&s, dir, &cut, &e), ERR_STATE, "another process is writing");
	spool_close(s);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

START_TEST(a_record_may_not_be_too_large)
{
	struct spool *s = open_spool(0, 0);
	struct err e = {0};

	OK(spool_append(s, RECORD_EVENT, payload, RECORD_MAX_BYTES, NULL, &e));
	FAILS(spool_append(s, RECORD_EVENT, payload, RECORD_MAX_BYTES + 1, NULL, &e),
		ERR_LIMIT, "larger than 294912");
	ck_assert_uint_eq(spool_last(s), 1);
	spool_close(s);
}
END_TEST

START_TEST(trimming_deletes_only_what_is_wholly_acknowledged)
{
	struct spool_record rec;
	struct spool_reader *r;
	struct segment_near near;
	struct err e = {0};
	struct spool *s;
	uint64_t second;
	int dir_fd;

	fill(500, 100000);
	dir_fd = segment_open_dir(dir);
	OK(segment_near(dir_fd, 1, &near, &e));
	close(dir_fd);
	second = near.after;
	OK(spool_trim(dir, 0, &e));
	OK(spool_trim(dir, second - 2, &e));
	ck_assert_uint_eq(count_segments(), 3);
	OK(spool_trim(dir, second - 1, &e));
	ck_assert_uint_eq(count_segments(), 2);
	r = open_reader(1);
	ck_assert_int_eq(spool_reader_next(r, &rec, &e), 1);
	ck_assert_uint_eq(rec.seq, second);
	spool_reader_close(r);
	OK(spool_trim(dir, UINT64_MAX, &e));
	ck_assert_uint_eq(count_segments(), 1);
	s = open_spool(500, 0);
	OK(append(s, RECORD_EVENT, 100000, &e));
	spool_close(s);
	expect_all(500, 501, 100000);
}
END_TEST

START_TEST(the_watermark_is_kept_and_anything_else_counts_as_none)
{
	static const char *const bad[] = {"", "\n", "12", "x\n", "-1\n", "1 \n",
		"99999999999999999999\n", "12\n3\n"};
	struct err e = {0};
	char path[100];

	ck_assert_uint_eq(spool_acked(dir), 0);
	FAILS(spool_set_acked(dir, 1, &e), ERR_IO, "open spool");
	spool_close(open_spool(0, 0));
	ck_assert_uint_eq(spool_acked(dir), 0);
	OK(spool_set_acked(dir, UINT64_MAX, &e));
	ck_assert_uint_eq(spool_acked(dir), UINT64_MAX);
	OK(spool_set_acked(dir, 12, &e));
	ck_assert_uint_eq(spool_acked(dir), 12);
	snprintf(path, sizeof(path), "%s/acked", dir);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

		ck_assert_int_eq(
			write(fd, bad[i], strlen(bad[i])), (ssize_t)strlen(bad[i]));
		close(fd);
		ck_assert_uint_eq(spool_acked(dir), 0);
	}
}
END_TEST

START_TEST(only_a_whole_spool_is_removed_and_only_once)
{
	struct err e = {0};
	char path[100];

	OK(spool_remove(dir, &e));
	fill(2, 0);
	snprintf(path, sizeof(path), "%s/folder", dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	FAILS(spool_remove(dir, &e), ERR_IO, "delete folder");
	ck_assert_int_eq(rmdir(path), 0);
	OK(spool_remove(dir, &e));
	OK(spool_remove(dir, &e));
	ck_assert_int_eq(access(dir, F_OK), -1);
}
END_TEST

START_TEST(names_of_other_files_are_no_segments)
{
	static const char *const bad[] = {"", "lock", "acked", "segment.tmp",
		"00000000000000000000.seg", "0000000000000000001.seg",
		"000000000000000000001.seg", "00000000000000000001.sem",
		"09223372036854775808.seg", "99999999999999999999.seg",
		"0000000000000000000x.seg"};
	char name[SEGMENT_NAME_BYTES];
	uint64_t first;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert(!segment_parse_name(bad[i], &first));
	segment_name(INT64_MAX, name);
	ck_assert(segment_parse_name(name, &first));
	ck_assert_uint_eq(first, INT64_MAX);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("spool");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_is_appended_is_read_back_over_all_segments);
	tcase_add_test(tc, numbers_go_on_when_the_spool_is_opened_again);
	tcase_add_test(tc, a_segment_is_the_golden_bytes_both_ways);
	tcase_add_test(tc, a_torn_tail_is_cut_wherever_it_was_torn);
	tcase_add_test(tc, a_tail_of_zeros_or_noise_is_cut_too);
	tcase_add_test(tc, one_wrong_bit_before_the_end_is_told_and_costs_one_record);
	tcase_add_test(tc, a_wrong_bit_in_the_last_record_makes_it_a_torn_tail);
	tcase_add_test(tc, a_damaged_segment_head_is_told_and_costs_nothing);
	tcase_add_test(tc, a_format_of_the_future_is_refused);
	tcase_add_test(tc, a_missing_segment_is_told_and_can_be_passed);
	tcase_add_test(tc, a_reader_starts_anywhere);
	tcase_add_test(tc, a_spool_that_is_not_there_yet_reads_as_empty);
	tcase_add_test(tc, the_lock_is_held_until_the_writer_is_gone);
	tcase_add_test(tc, a_record_may_not_be_too_large);
	tcase_add_test(tc, trimming_deletes_only_what_is_wholly_acknowledged);
	tcase_add_test(tc, the_watermark_is_kept_and_anything_else_counts_as_none);
	tcase_add_test(tc, only_a_whole_spool_is_removed_and_only_once);
	tcase_add_test(tc, names_of_other_files_are_no_segments);
	return unit_run("spool", tc);
}
