#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/segment.h"
#include "common/spool.h"
#include "common/xalloc.h"

#define READ_BYTES (512U << 10)

_Static_assert(SEGMENT_RECORD_HEAD_BYTES + RECORD_MAX_BYTES <= READ_BYTES,
	"a reader holds any record");

struct spool_reader {
	char *dir;
	int dir_fd;	 /* -1 until the directory is there */
	int fd;		 /* the segment being read, -1: to be chosen by want */
	uint64_t first;	 /* its first sequence number */
	uint64_t base;	 /* offset of buf in it */
	uint64_t expect; /* the record at buf + at */
	uint64_t want;	 /* the next record to return */
	size_t at, len;
	uint8_t buf[READ_BYTES];
};

int
spool_reader_open(
	struct spool_reader **ret_r, const char *dir, uint64_t from, struct err *e)
{
	struct spool_reader *r = xcalloc(1, sizeof(*r));

	r->dir = xstrdup(dir);
	r->dir_fd = r->fd = -1;
	if (spool_reader_seek(r, from, e) != 0) {
		spool_reader_close(r);
		return -1;
	}
	*ret_r = r;
	return 0;
}

static void
leave_segment(struct spool_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

/* open_dir returns 1 when the directory is open, 0 when it is not there, -1 otherwise. */
static int
open_dir(struct spool_reader *r, struct err *e)
{
	if (r->dir_fd >= 0)
		return 1;
	r->dir_fd = segment_open_dir(r->dir);
	if (r->dir_fd >= 0)
		return 1;
	if (errno == ENOENT)
		return 0;
	return err_errno(e, ERR_IO, errno, "open spool %s", r->dir);
}

int
spool_reader_seek(struct spool_reader *r, uint64_t from, struct err *e)
{
	leave_segment(r);
	r->want = from > 0 ? from : 1;
	return open_dir(r, e) < 0 ? -1 : 0;
}

void
spool_reader_close(struct spool_reader *r)
{
	if (r == NULL)
		return;
	leave_segment(r);
	if (r->dir_fd >= 0)
		close(r->dir_fd);
	free(r->dir);
	free(r);
}

/* use_segment opens the segment that begins with first; 0 when it is gone. */
static int
use_segment(struct spool_reader *r, uint64_t first, struct err *e)
{
	int fd = segment_open(r->dir_fd, first, O_RDONLY);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(e, ERR_IO, errno, "%s: open spool segment %" PRIu64,
			r->dir, first);
	leave_segment(r);
	r->fd = fd;
	r->first = r->expect = first;
	r->base = SEGMENT_HEAD_BYTES;
	r->at = r->len = 0;
	return 1;
}

/* check_head returns 1 for a good head, 0 for one that is not all there yet. */
static int
check_head(struct spool_reader *r, struct err *e)
{
	uint8_t head[SEGMENT_HEAD_BYTES];
	int64_t n = segment_read(r->fd, head, sizeof(head), 0);

	if (n < 0)
		return err_errno(e, ERR_IO, errno, "%s: read spool segment", r->dir);
	switch (segment_head_check(head, (size_t)n, r->first)) {
	case SEGMENT_HEAD_GOOD:
		return 1;
	case SEGMENT_HEAD_SHORT:
		return 0;
	case SEGMENT_HEAD_UNKNOWN:
		err_set(e, ERR_STORE,
			"%s: spool segment %" PRIu64 " has a format that is not known",
			r->dir, r->first);
		return err_fix(e, "use the ssdlab version that wrote it");
	case SEGMENT_HEAD_DAMAGED:
	default:
		return err_set(e, ERR_STORE,
			"%s: the head of spool segment %" PRIu64 " is damaged", r->dir,
			r->first);
	}
}

/* enter opens the segment that holds, or will hold, the wanted record. */
static int
enter(struct spool_reader *r, struct err *e)
{
	struct segment_near near;
	int rc = open_dir(r, e);

	if (rc <= 0)
		return rc;
	if (segment_near(r->dir_fd, r->want, &near, e) != 0)
		return err_ctx(e, "%s", r->dir);
	if (!near.has_at && !near.has_after)
		return 0;
	if (!near.has_at)
		r->want = near.after; /* what came before was trimmed */
	rc = use_segment(r, near.has_at ? near.at : near.after, e);
	if (rc > 0)
		rc = check_head(r, e);
	if (rc <= 0)
		leave_segment(r); /* and try again next time */
	return rc;
}

/* fill reads on from the present record. Nothing that was incomplete is kept: a failed
 * append may have been cut off and replaced since. */
static int
fill(struct spool_reader *r, struct err *e)
{
	int64_t n;

	r->base += r->at;
	r->at = r->len = 0;
	n = segment_read(r->fd, r->buf, sizeof(r->buf), r->base);
	if (n < 0)
		return err_errno(e, ERR_IO, errno, "%s: read spool segment", r->dir);
	r->len = (size_t)n;
	return 0;
}

static enum segment_got
decode(struct spool_reader *r, struct spool_record *ret_rec, size_t *ret_used)
{
	enum segment_got got = segment_record_decode(
		r->buf + r->at, r->len - r->at, ret_rec, ret_used);

	if (got == SEGMENT_RECORD && ret_rec->seq != r->expect)
		return SEGMENT_BAD;
	return got;
}

/* good_within looks for a good record in size bytes at start of the segment. */
static bool
good_within(struct spool_reader *r, uint64_t start, size_t size, uint64_t *ret_offset,
	uint64_t *ret_seq)
{
	uint8_t *rest = xcalloc(size, 1);
	struct spool_record rec;
	size_t at = size, used;
	bool good;

	if (segment_read(r->fd, rest, size, start) == (int64_t)size)
		at = segment_find(rest, size, r->expect);
	good = at < size &&
	       segment_record_decode(rest + at, size - at, &rec, &used) == SEGMENT_RECORD;
	if (good) {
		*ret_offset = start + at;
		*ret_seq = rec.seq;
	}
	free(rest);
	return good;
}

/*
 * find_good looks from the present record on in its segment: 1 and the place and number
 * of the next good one, 0 for none.
 */
static int
find_good(struct spool_reader *r, uint64_t *ret_offset, uint64_t *ret_seq, struct err *e)
{
	uint64_t start = r->base + r->at;
	struct stat st;

	if (fstat(r->fd, &st) != 0)
		return err_errno(e, ERR_IO, errno, "%s: look at spool segment", r->dir);
	if ((uint64_t)st.st_size <= start || st.st_size > SEGMENT_MAX_BYTES)
		return 0;
	return good_within(
		r, start, (size_t)st.st_size - (size_t)start, ret_offset, ret_seq);
}

static int
damaged(struct spool_reader *r, struct err *e)
{
	return err_set(e, ERR_STORE,
		"%s: record %" PRIu64 " in spool segment %" PRIu64
		" is damaged or missing",
		r->dir, r->expect, r->first);
}

/*
 * at_end decides what it means that there is no good record here: 1 to look again, 0 for
 * the end of what was written so far, -1 for damage.
 */
static int
at_end(struct spool_reader *r, struct err *e)
{
	struct segment_near near;
	enum segment_got got;
	struct spool_record rec;
	uint64_t offset, seq;
	size_t used;
	int rc;

	if (segment_near(r->dir_fd, r->first, &near, e) != 0)
		return err_ctx(e, "%s", r->dir);
	/* The writer may have ended this segment and begun another since we read. */
	if (fill(r, e) != 0)
		return -1;
	got = decode(r, &rec, &used);
	if (got == SEGMENT_RECORD)
		return 1;
	if (near.has_after && (near.after != r->expect || r->len > 0))
		return damaged(r, e);
	if (near.has_after) {
		rc = use_segment(r, near.after, e);
		if (rc > 0)
			rc = check_head(r, e);
		if (rc <= 0) {
			r->want = r->want > r->expect ? r->want : r->expect;
			leave_segment(r);
		}
		return rc;
	}
	/* An incomplete record is being written, unless a good one stands behind it. */
	rc = find_good(r, &offset, &seq, e);
	if (rc <= 0)
		return rc;
	return offset == r->base && seq == r->expect ? 1 : damaged(r, e);
}

int
spool_reader_next(struct spool_reader *r, struct spool_record *ret_rec, struct err *e)
{
	enum segment_got got;
	size_t used = 0;
	int rc;

	for (;;) {
		if (r->fd < 0 && (rc = enter(r, e)) <= 0)
			return rc;
		got = decode(r, ret_rec, &used);
		if (got != SEGMENT_RECORD) {
			if (fill(r, e) != 0)
				return -1;
			got = decode(r, ret_rec, &used);
		}
		if (got != SEGMENT_RECORD) {
			rc = at_end(r, e);
			if (rc <= 0)
				return rc;
			continue;
		}
		r->at += used;
		r->expect++;
		if (ret_rec->seq >= r->want) {
			r->want = r->expect;
			return 1;
		}
	}
}

int
spool_reader_skip(
	struct spool_reader *r, uint64_t *ret_from, uint64_t *ret_to, struct err *e)
{
	struct segment_near near;
	uint64_t offset, seq;
	int rc;

	*ret_from = r->want;
	*ret_to = r->want - 1;
	if (r->dir_fd < 0)
		return 0;
	if (r->fd < 0) { /* it was the head that is damaged */
		if (segment_near(r->dir_fd, r->want, &near, e) != 0)
			return err_ctx(e, "%s", r->dir);
		if (!near.has_at || use_segment(r, near.at, e) <= 0)
			return 0;
	}
	rc = find_good(r, &offset, &seq, e);
	if (rc < 0)
		return -1;
	if (rc > 0) {
		r->base = offset;
		r->at = r->len = 0;
		r->expect = seq;
	} else {
		if (segment_near(r->dir_fd, r->first, &near, e) != 0)
			return err_ctx(e, "%s", r->dir);
		if (!near.has_after)
			return 0;
		r->want = r->want > near.after ? r->want : near.after;
		leave_segment(r);
		r->expect = near.after;
	}
	if (r->expect > *ret_from)
		*ret_to = r->expect - 1;
	r->want = r->want > r->expect ? r->want : r->expect;
	return 0;
}

int
spool_reader_next_good(
	struct spool_reader *r, struct spool_record *ret_rec, struct err *e)
{
	struct err bad = {0};
	uint64_t from, to;
	bool free_of_loss = false; /* the last skip: a second one leads nowhere */
	int rc;

	while ((rc = spool_reader_next(r, ret_rec, &bad)) < 0 && bad.class == ERR_STORE) {
		if (spool_reader_skip(r, &from, &to, e) != 0)
			return -1;
		if (to < from && free_of_loss)
			return 0;
		free_of_loss = to < from;
		err_clear(&bad);
	}
	if (rc < 0)
		err_set(e, bad.class, "%s", bad.text);
	return rc;
}

int
spool_find_last(const char *dir, uint64_t *ret_seq, int *ret_kind, struct err *e)
{
	struct spool_reader *r;
	struct spool_record rec;
	int kind = 0;
	struct segment_near near;
	int rc;

	*ret_seq = 0;
	if (spool_reader_open(&r, dir, 1, e) != 0)
		return -1;
	rc = r->dir_fd < 0 ? 0 : segment_near(r->dir_fd, UINT64_MAX, &near, e);
	if (r->dir_fd >= 0 && rc == 0 && near.has_at) {
		*ret_seq = near.at - 1;
		r->want = near.at;
		while ((rc = spool_reader_next_good(r, &rec, e)) == 1) {
			*ret_seq = rec.seq;
			kind = (int)rec.kind;
		}
	}
	if (ret_kind != NULL)
		*ret_kind = kind;
	spool_reader_close(r);
	return rc;
}

int
spool_reader_sync(struct spool_reader *r, struct err *e)
{
	/* Segments before this one were synced when it was begun. */
	if (r->fd >= 0 && fdatasync(r->fd) != 0)
		return err_errno(e, ERR_IO, errno, "%s: sync spool segment", r->dir);
	return 0;
}
