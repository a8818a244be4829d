/*
 * spool_help - a spool in a folder of its own, with records whose content follows from
 * their numbers.
 */
#ifndef TESTS_UNIT_SPOOL_HELP_H
#define TESTS_UNIT_SPOOL_HELP_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/segment.h"
#include "common/spool.h"
#include "tests/unit/golden.h"
#include "tests/unit/unit.h"

#define NEEDED (256U << 20) /* bytes free, or the disk is used, which is slower */

static char root[64], dir[80];
static uint8_t payload[RECORD_MAX_BYTES + 1];

static inline void
setup(void)
{
	struct statvfs v;
	bool memory = statvfs("/dev/shm", &v) == 0 && v.f_bavail * v.f_frsize > NEEDED;

	snprintf(
		root, sizeof(root), "%s/test_spool.XXXXXX", memory ? "/dev/shm" : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(dir, sizeof(dir), "%s/spool", root);
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7 + i / 256);
}

static inline void
teardown(void)
{
	struct err e = {0};

	OK(spool_remove(dir, &e));
	ck_assert_int_eq(rmdir(root), 0);
}

static inline struct spool *
open_spool(uint64_t want_last, uint64_t want_cut)
{
	struct spool *s = NULL;
	struct err e = {0};
	uint64_t cut = 99;

	OK(spool_open(&s, dir, &cut, &e));
	ck_assert_uint_eq(spool_last(s), want_last);
	ck_assert_uint_eq(cut, want_cut);
	return s;
}

/* What record seq of these tests holds: its length and content follow from seq. */
static inline size_t
length_of(uint64_t seq, size_t unit)
{
	return unit == 0 ? 20 + seq % 3 : (size_t)(seq * 7919 % unit);
}

static inline int
append(struct spool *s, enum record_kind kind, size_t unit, struct err *e)
{
	uint64_t want = spool_last(s) + 1, seq = 0;
	int rc = spool_append(
		s, kind, payload + want % 100, length_of(want, unit), &seq, e);

	ck_assert_uint_eq(seq, rc == 0 ? want : 0);
	ck_assert_uint_eq(spool_last(s), rc == 0 ? want : want - 1);
	return rc;
}

static inline void
fill(uint64_t n, size_t unit)
{
	struct spool *s = open_spool(0, 0);
	struct err e = {0};

	for (uint64_t i = 0; i < n; i++)
		OK(append(s, i % 2 == 0 ? RECORD_SAMPLE : RECORD_EVENT, unit, &e));
	OK(spool_sync(s, &e));
	spool_close(s);
}

static inline void
check_record(const struct spool_record *rec, uint64_t seq, size_t unit)
{
	ck_assert_uint_eq(rec->seq, seq);
	ck_assert_uint_eq(rec->len, length_of(seq, unit));
	ck_assert_mem_eq(rec->payload, payload + seq % 100, rec->len);
	ck_assert_uint_eq(
		rec->crc, record_crc(rec->kind, rec->seq, rec->payload, rec->len));
}

static inline struct spool_reader *
open_reader(uint64_t from)
{
	struct spool_reader *r = NULL;
	struct err e = {0};

	OK(spool_reader_open(&r, dir, from, &e));
	return r;
}

/* expect_rest reads from..to and then nothing. */
static inline void
expect_rest(struct spool_reader *r, uint64_t from, uint64_t to, size_t unit)
{
	struct spool_record rec;
	struct err e = {0};

	for (uint64_t seq = from; seq <= to; seq++) {
		ck_assert_msg(spool_reader_next(r, &rec, &e) == 1, "%u: %s",
			(unsigned)seq, e.text);
		check_record(&rec, seq, unit);
	}
	OK(spool_reader_next(r, &rec, &e));
}

static inline void
expect_all(uint64_t from, uint64_t to, size_t unit)
{
	struct spool_reader *r = open_reader(from);

	expect_rest(r, from, to, unit);
	spool_reader_close(r);
}

static inline void
segment_path(uint64_t first, char *path, size_t size)
{
	snprintf(path, size, "%s/%020" PRIu64 ".seg", dir, first);
}

static inline size_t
read_segment(uint64_t first, uint8_t *buf, size_t cap)
{
	char path[160];
	ssize_t n;
	int fd;

	segment_path(first, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	n = read(fd, buf, cap);
	ck_assert_int_ge(n, 0);
	close(fd);
	return (size_t)n;
}

/* write_segment makes the spool consist of one segment with these bytes. */
static inline void
write_segment(uint64_t first, const uint8_t *buf, size_t len)
{
	char path[160];
	int fd;

	ck_assert(mkdir(dir, 0700) == 0 || errno == EEXIST);
	segment_path(first, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, buf, len), (ssize_t)len);
	close(fd);
}

static inline unsigned
count_segments(void)
{
	int dir_fd = segment_open_dir(dir);
	struct segment_near near = {0};
	struct err e = {0};
	unsigned n = 0;

	OK(segment_near(dir_fd, 0, &near, &e));
	for (; near.has_after; n++)
		OK(segment_near(dir_fd, near.after, &near, &e));
	close(dir_fd);
	return n;
}

#endif
