/*
 * The writer is included, so that each of its system calls can be made to fail in turn.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_at;    /* the how-manieth call fails, 0: none */
static int fail_errno; /* and how */
static bool fail_rest; /* and all after it, as on a full disk */

static bool
fails(void)
{
	if (fail_at == 0 || (fail_at > 1 && fail_at--))
		return false;
	if (!fail_rest)
		fail_at = 0;
	errno = fail_errno;
	return true;
}

static size_t written; /* bytes, of all writes */

static ssize_t
weak_pwrite(int fd, const void *buf, size_t len, off_t at)
{
	written += len;
	if (!fails())
		return pwrite(fd, buf, len, at);
	/* Half of it gets there, as when the last block goes. */
	if (pwrite(fd, buf, len / 2, at) < 0)
		errno = fail_errno;
	return -1;
}

#define pwrite weak_pwrite
#define fallocate(...) (fails() ? -1 : fallocate(__VA_ARGS__))
/* No test can see what is durable, but a thousand syncs take their time. */
#define fdatasync(fd) ((void)(fd), fails() ? -1 : 0)
#define fsync(fd) ((void)(fd), fails() ? -1 : 0)
#define ftruncate(fd, len) (fails() ? -1 : ftruncate(fd, len))
#define renameat(a, b, c, d) (fails() ? -1 : renameat(a, b, c, d))
#define mkdir(path, mode) (fails() ? -1 : mkdir(path, mode))
#include "common/spool.c"
#undef pwrite
#undef fallocate
#undef fdatasync
#undef fsync
#undef ftruncate
#undef renameat
#undef mkdir

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "tests/unit/spool_help.h"

#define DEADLINE (300 * NS_PER_S)

static void
setup_calls(void)
{
	setup();
	fail_at = 0;
	fail_rest = false;
}

START_TEST(a_write_that_ends_at_any_byte_leaves_nothing_and_can_be_repeated)
{
	struct rlimit old, small;
	struct err e = {0};
	struct spool *s;
	uint8_t got[512];
	size_t size;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	fill(1, 0);
	size = read_segment(1, got, sizeof(got));
	s = open_spool(1, 0);
	for (size_t more = 0; more < SEGMENT_RECORD_HEAD_BYTES + length_of(2, 0);
		more++) {
		int rc, limited, lifted;

		/* the limit holds for Check's own file too: nothing is asserted under it
		 */
		small.rlim_cur = size + more;
		err_clear(&e);
		limited = setrlimit(RLIMIT_FSIZE, &small);
		rc = append(s, RECORD_SAMPLE, 0, &e);
		lifted = setrlimit(RLIMIT_FSIZE, &old);
		ck_assert_int_eq(limited, 0);
		ck_assert_int_eq(lifted, 0);
		ck_assert_int_eq(rc, -1);
		ck_assert_int_eq(e.class, ERR_FULL);
		ck_assert_ptr_nonnull(strstr(e.text, "write spool record"));
		ck_assert_uint_eq(read_segment(1, got, sizeof(got)), size);
	}
	OK(append(s, RECORD_SAMPLE, 0, &e));
	spool_close(s);
	expect_all(1, 2, 0);
}
END_TEST

/* repeat runs a call until it succeeds; the first failure ends the trouble. */
#define REPEAT(call)                                                     \
	while ((call) != 0) {                                            \
		ck_assert_int_eq(e.class, ERR_FULL);                     \
		ck_assert_msg(fail_at != 0 || !fail_rest, "%s", e.text); \
		fail_at = 0;                                             \
		fail_rest = false;                                       \
		err_clear(&e);                                           \
	}

/* Opens a spool that ends just before a border, and writes over it. */
static void
use_spool(uint64_t from, uint64_t to)
{
	struct spool *s = NULL;
	struct err e = {0};
	uint64_t cut;

	REPEAT(spool_open(&s, dir, &cut, &e));
	ck_assert_uint_eq(cut, 0);
	ck_assert_uint_eq(spool_last(s), from);
	while (spool_last(s) < to) {
		REPEAT(append(s, spool_last(s) % 2 == 0 ? RECORD_EVENT : RECORD_SAMPLE,
			100000, &e));
		REPEAT(spool_sync(s, &e));
	}
	spool_close(s);
	REPEAT(spool_set_acked(dir, to, &e));
	ck_assert_uint_eq(spool_acked(dir), to);
}

START_TEST(every_system_call_may_fail_once_or_for_a_while)
{
	size_t cap = SPOOL_SEGMENT_BYTES, size;
	uint8_t *full = malloc(cap);
	struct err e = {0};
	bool met = true;

	fill(165, 100000);
	size = read_segment(1, full, cap);
	ck_assert_uint_gt(size, cap - 200000);
	for (int n = 1; met; n++) {
		OK(spool_remove(dir, &e));
		write_segment(1, full, size);
		fail_at = n;
		fail_errno = ENOSPC;
		fail_rest = _i == 1;
		use_spool(165, 173);
		met = fail_at == 0;
		fail_at = 0;
		ck_assert_uint_eq(count_segments(), 2);
		expect_all(163, 173, 100000);
		ck_assert_int_lt(n, 100);
	}
	free(full);
}
END_TEST

/* The kernel forgets what it could not write: a sync that succeeds later proves nothing.
 */
START_TEST(what_could_not_be_synced_is_written_again)
{
	struct spool *s = open_spool(0, 0);
	struct err e = {0};
	size_t first, more;

	OK(append(s, RECORD_EVENT, 0, &e));
	OK(spool_sync(s, &e));
	written = 0;
	OK(append(s, RECORD_EVENT, 50000, &e));
	first = written;
	fail_at = 1;
	fail_errno = EIO;
	FAILS(spool_sync(s, &e), ERR_IO, "sync");
	OK(append(s, RECORD_EVENT, 50000, &e));
	more = written;
	ck_assert_uint_gt(more, first);
	OK(spool_sync(s, &e));
	ck_assert_uint_eq(written, 2 * more);
	OK(spool_sync(s, &e));
	ck_assert_uint_eq(written, 2 * more);
	spool_close(s);
}
END_TEST

START_TEST(events_still_fit_when_samples_no_longer_do)
{
	struct err e = {0};
	struct spool *s;

	fill(160, 100000);
	ck_assert_uint_eq(count_segments(), 1);
	s = open_spool(160, 0);
	OK(append(s, RECORD_SAMPLE, 100000, &e));
	/* Writes into reserved space succeed, everything that needs more does not. */
	fail_at = 1;
	fail_errno = ENOSPC;
	fail_rest = true;
	s->reserved = s->end;
	FAILS(append(s, RECORD_SAMPLE, 100000, &e), ERR_FULL, "reserve space");
	fail_at = 0;
	OK(append(s, RECORD_EVENT, 100000, &e));
	/* No new segment can be made: events go on behind the border. */
	while (s->end + RECORD_MAX_BYTES < SPOOL_SEGMENT_BYTES)
		OK(append(s, RECORD_SAMPLE, 100000, &e));
	for (int i = 0; i < 8; i++) {
		fail_at = 2; /* spool_sync, then the file of the segment */
		fail_rest = false;
		OK(append(s, RECORD_EVENT, 100000, &e));
		if (s->end > SPOOL_SEGMENT_BYTES)
			break;
	}
	ck_assert_uint_gt(s->end, SPOOL_SEGMENT_BYTES);
	fail_at = 0;
	OK(append(s, RECORD_SAMPLE, 100000, &e));
	ck_assert_uint_eq(count_segments(), 2);
	expect_all(1, spool_last(s), 100000);
	spool_close(s);
}
END_TEST

static atomic_int stop_writer;

/* The writer of the next test: now and then an append fails half-way. */
static void *
write_records(void *arg)
{
	struct spool *s = arg;
	struct err e = {0};

	for (int i = 0; spool_last(s) < 600 && !stop_writer; i++) {
		if (i % 7 == 0) {
			fail_at = 1;
			fail_errno = EIO;
		}
		err_clear(&e);
		append(s, i % 2 == 0 ? RECORD_EVENT : RECORD_RESULT, 60000, &e);
		fail_at = 0;
	}
	return NULL;
}

START_TEST(a_reader_keeps_up_with_a_writer_over_segment_borders)
{
	struct spool_reader *r = open_reader(1);
	struct spool *s = open_spool(0, 0);
	int64_t deadline = clock_mono() + DEADLINE;
	struct spool_record rec;
	struct err e = {0};
	pthread_t thread;
	int rc = 0;

	ck_assert_int_eq(pthread_create(&thread, NULL, write_records, s), 0);
	for (uint64_t seq = 1; seq <= 600; seq += rc == 1) {
		rc = spool_reader_next(r, &rec, &e);
		if (rc == 1)
			check_record(&rec, seq, 60000);
		if (rc < 0 || clock_mono() > deadline)
			break;
	}
	stop_writer = 1;
	pthread_join(thread, NULL);
	ck_assert_msg(rc == 1, "%s", e.text);
	expect_rest(r, 601, 600, 60000);
	ck_assert_uint_ge(count_segments(), 3);
	spool_reader_close(r);
	spool_close(s);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("spool_write");

	tcase_add_checked_fixture(tc, setup_calls, teardown);
	tcase_add_test(
		tc, a_write_that_ends_at_any_byte_leaves_nothing_and_can_be_repeated);
	tcase_add_loop_test(tc, every_system_call_may_fail_once_or_for_a_while, 0, 2);
	tcase_add_test(tc, what_could_not_be_synced_is_written_again);
	tcase_add_test(tc, events_still_fit_when_samples_no_longer_do);
	tcase_add_test(tc, a_reader_keeps_up_with_a_writer_over_segment_borders);
	return unit_run("spool_write", tc);
}
