#include "runner/verify_scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "runner/journal.h"
#include "runner/judge.h"
#include "runner/sector.h"

/* So much is read at once, bytes. */
#define READ_BYTES ((size_t)1 << 20)

struct scan {
	const struct journal *j;
	struct judge *judge;
	struct verify_report *r;
	int fd;
	uint8_t *buf;
	size_t block_bytes, most; /* most: blocks of a read */
};

static void
keep_unreadable(struct verify_report *r, uint64_t offset, size_t bytes, int num)
{
	struct verify_finding *f = verify_new_finding(r);
	char why[64];
	const char *text = num != 0 ? strerror_r(num, why, sizeof(why))
				    : "the end of the drive";

	r->sectors[VERIFY_UNREADABLE] += bytes / SECTOR_BYTES;
	if (f == NULL)
		return;
	*f = (struct verify_finding){.kind = VERIFY_UNREADABLE, .offset = offset};
	snprintf(f->expected, sizeof(f->expected), "%zu bytes", bytes);
	snprintf(f->seen, sizeof(f->seen), "%.47s", text);
}

/* Reads known blocks; when that fails, one by one to spare the good ones. */
static void
read_blocks(const struct scan *s, uint64_t offset, size_t bytes)
{
	const struct judge_read read = {.offset = offset, .buf = s->buf, .bytes = bytes};
	ssize_t n;

	do
		n = pread(s->fd, s->buf, bytes, (off_t)offset);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)bytes) {
		judge_sectors(s->judge, &read, s->r);
		judge_later(s->judge, &read, s->r);
		return;
	}
	if (bytes == s->block_bytes) {
		keep_unreadable(s->r, offset, bytes, n < 0 ? errno : 0);
		return;
	}
	for (size_t at = 0; at < bytes; at += s->block_bytes)
		read_blocks(s, offset + at, s->block_bytes);
}

/* How many blocks from `at` on are all known, or all not. */
static size_t
run_of(const struct scan *s, uint64_t at, bool known)
{
	size_t n = 0;

	while (n < s->most && at + n < journal_blocks(s->j) &&
		(journal_word(s->j, at + n) != 0) == known)
		n++;
	return n;
}

static bool
scan_all(const struct scan *s, bool (*go_on)(void *arg), void *arg)
{
	uint64_t offset = journal_config(s->j)->offset;

	for (uint64_t at = 0, n; at < journal_blocks(s->j); at += n) {
		bool known = journal_word(s->j, at) != 0;

		if (!go_on(arg))
			return false;
		n = run_of(s, at, known);
		if (known)
			read_blocks(s, offset + at * s->block_bytes, n * s->block_bytes);
		else
			s->r->sectors[VERIFY_UNKNOWN] += n *
							 (s->block_bytes / SECTOR_BYTES);
	}
	return true;
}

int
verify_scan(const struct journal *j, int fd, bool (*go_on)(void *arg), void *arg,
	struct verify_report *r, struct err *e)
{
	struct scan s = {.j = j, .r = r, .fd = fd};
	size_t bytes;
	bool whole;

	s.block_bytes = journal_config(j)->block_bytes;
	s.most = s.block_bytes < READ_BYTES ? READ_BYTES / s.block_bytes : 1;
	bytes = s.most * s.block_bytes;
	s.buf = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	if (s.buf == NULL)
		return err_set(
			e, ERR_LIMIT, "no memory for a buffer of %zu bytes", bytes);
	s.judge = judge_new(j, bytes);
	whole = scan_all(&s, go_on, arg);
	judge_free(s.judge);
	free(s.buf);
	return whole ? 0 : 1;
}
