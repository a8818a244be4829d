#include "common/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/parse.h"
#include "common/segment.h"
#include "common/xalloc.h"

#define LOCK_NAME "lock"
#define ACKED_NAME "acked"

struct spool {
	int dir_fd;
	int lock_fd;
	int fd;		   /* the last segment, -1 before the first */
	uint64_t end;	   /* of its last good record, bytes */
	uint64_t reserved; /* bytes of the file that have blocks, 0 for unknown */
	uint64_t last;	   /* sequence number */
	bool torn;	   /* there may be bytes of a failed append behind end */
	uint64_t synced;   /* bytes of the file that are durable */
	bool doubtful;	   /* a sync failed: the kernel may have given up the rest */
	uint8_t buf[SEGMENT_RECORD_HEAD_BYTES + RECORD_MAX_BYTES];
};

/* A file-size limit is a kind of full disk: it can be lifted, so try again later. */
static int
io_failed(struct err *e, int num, const char *what)
{
	return err_errno(e, num == EFBIG ? ERR_FULL : ERR_IO, num, "%s", what);
}

/* write_all writes all bytes at offset, or returns -1 and errno. */
static int
write_all(int fd, const void *buf, size_t len, uint64_t offset)
{
	const uint8_t *at = buf;
	size_t done = 0;

	while (done < len) {
		ssize_t n = pwrite(fd, at + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

/* write_file replaces name by rename, durable when it returns 0; else -1 and errno. */
static int
write_file(int dir_fd, const char *name, const void *data, size_t len)
{
	char tmp[SEGMENT_NAME_BYTES + 4];
	int fd, num;

	snprintf(tmp, sizeof(tmp), "%s.tmp", name);
	fd = openat(dir_fd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (write_all(fd, data, len, 0) != 0 || fdatasync(fd) != 0) {
		num = errno;
		close(fd);
		goto out;
	}
	close(fd);
	if (renameat(dir_fd, tmp, dir_fd, name) == 0)
		return fsync(dir_fd);
	num = errno;
out:
	unlinkat(dir_fd, tmp, 0);
	errno = num;
	return -1;
}

/* make_dir makes dir durable in its parent unless it is there already. */
static int
make_dir(const char *dir, struct err *e)
{
	char *copy;
	int fd;

	if (mkdir(dir, 0700) != 0) {
		if (errno == EEXIST)
			return 0;
		return err_errno(e, ERR_IO, errno, "make spool directory %s", dir);
	}
	copy = xstrdup(dir);
	fd = segment_open_dir(dirname(copy));
	free(copy);
	if (fd < 0)
		return err_errno(e, ERR_IO, errno, "open the parent of %s", dir);
	if (fsync(fd) != 0) {
		err_errno(e, ERR_IO, errno, "sync the parent of %s", dir);
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

static int
take_lock(int fd, struct err *e)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_errno(e, ERR_IO, errno, "lock spool");
	err_set(e, ERR_STATE, "another process is writing this spool");
	return err_fix(e, "wait for the runner to end");
}

/*
 * last_good walks over a whole segment and returns the end of its last good record;
 * *seq goes from the number of the first to that of the next one.
 */
static size_t
last_good(const uint8_t *buf, size_t len, uint64_t *seq)
{
	size_t end = SEGMENT_HEAD_BYTES, at = end;
	struct spool_record rec;
	size_t used;

	while (at < len) {
		if (segment_record_decode(buf + at, len - at, &rec, &used) !=
				SEGMENT_RECORD ||
			rec.seq - *seq > SEGMENT_RECORDS_MAX) {
			at += segment_find(buf + at, len - at, *seq);
			continue;
		}
		at += used;
		end = at;
		*seq = rec.seq + 1;
	}
	return end;
}

/* scan finds the end of the segment that begins with first. */
static int
scan(struct spool *s, uint64_t first, size_t size, uint64_t *ret_cut, struct err *e)
{
	uint8_t head[SEGMENT_HEAD_BYTES];
	uint8_t *buf = xcalloc(size, 1);
	uint64_t next = first;
	int rc = -1;

	if (segment_read(s->fd, buf, size, 0) != (int64_t)size) {
		err_set(e, ERR_IO, "read spool segment: fewer bytes than the file has");
		goto out;
	}
	switch (segment_head_check(buf, size, first)) {
	case SEGMENT_HEAD_UNKNOWN:
		err_set(e, ERR_STORE, "the spool has format %u, known is %d",
			buf[8] | (unsigned)buf[9] << 8, SEGMENT_VERSION);
		err_fix(e, "use the ssdlab version that wrote it");
		goto out;
	case SEGMENT_HEAD_SHORT:
		segment_head_encode(first, head);
		if (write_all(s->fd, head, sizeof(head), 0) != 0) {
			io_failed(e, errno, "write head of spool segment");
			goto out;
		}
		s->end = SEGMENT_HEAD_BYTES;
		*ret_cut = size;
		break;
	case SEGMENT_HEAD_GOOD:
	case SEGMENT_HEAD_DAMAGED:
		s->end = last_good(buf, size, &next);
		*ret_cut = size - s->end;
		break;
	}
	s->last = next - 1;
	rc = 0;
out:
	free(buf);
	return rc;
}

/* open_last opens the last segment, if any, and cuts what is no record behind its end. */
static int
open_last(struct spool *s, uint64_t *ret_cut, struct err *e)
{
	struct segment_near near;
	struct stat st;

	if (segment_near(s->dir_fd, UINT64_MAX, &near, e) != 0)
		return -1;
	if (!near.has_at)
		return 0;
	s->fd = segment_open(s->dir_fd, near.at, O_RDWR);
	if (s->fd < 0 || fstat(s->fd, &st) != 0)
		return err_errno(
			e, ERR_IO, errno, "open spool segment %" PRIu64, near.at);
	if (!S_ISREG(st.st_mode) || st.st_size > SEGMENT_MAX_BYTES)
		return err_set(e, ERR_STORE,
			"spool segment %" PRIu64 " is no file of at most %u bytes",
			near.at, SEGMENT_MAX_BYTES);
	if (scan(s, near.at, (size_t)st.st_size, ret_cut, e) != 0)
		return -1;
	if (*ret_cut > 0 && ftruncate(s->fd, (off_t)s->end) != 0)
		return err_errno(e, ERR_IO, errno, "cut torn tail of spool segment");
	return 0;
}

int
spool_open(struct spool **ret_s, const char *dir, uint64_t *ret_cut, struct err *e)
{
	struct spool *s;

	*ret_cut = 0;
	if (make_dir(dir, e) != 0)
		return -1;
	s = xcalloc(1, sizeof(*s));
	s->fd = s->lock_fd = -1;
	s->dir_fd = segment_open_dir(dir);
	if (s->dir_fd >= 0)
		s->lock_fd = openat(
			s->dir_fd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock_fd < 0) {
		err_errno(e, ERR_IO, errno, "open spool");
		goto out;
	}
	if (take_lock(s->lock_fd, e) != 0 || open_last(s, ret_cut, e) != 0)
		goto out;
	*ret_s = s;
	return 0;
out:
	err_ctx(e, "%s", dir);
	spool_close(s);
	return -1;
}

/* heal cuts what a failed append has left. */
static int
heal(struct spool *s, struct err *e)
{
	if (!s->torn)
		return 0;
	if (ftruncate(s->fd, (off_t)s->end) != 0)
		return io_failed(e, errno, "cut failed record off spool segment");
	s->reserved = 0;
	s->torn = false;
	return 0;
}

/* give_back frees what was reserved and not used; a failure costs only that space. */
static void
give_back(struct spool *s)
{
	if (s->fd >= 0 && s->reserved > s->end && ftruncate(s->fd, (off_t)s->end) == 0)
		s->reserved = s->end;
}

/* reserve makes sure that need bytes and the reserve have blocks, where that can be told.
 */
static int
reserve(struct spool *s, size_t need, struct err *e)
{
	uint64_t least = need + SPOOL_RESERVE_BYTES;

	if (s->end + least <= s->reserved)
		return 0;
	/* Twice the reserve, so that most appends need no system call. */
	for (uint64_t want = least + SPOOL_RESERVE_BYTES;; want = least) {
		if (fallocate(s->fd, FALLOC_FL_KEEP_SIZE, (off_t)s->end, (off_t)want) ==
			0) {
			s->reserved = s->end + want;
			return 0;
		}
		if (errno != ENOSPC && errno != EDQUOT)
			return 0; /* not offered here: the write itself will tell */
		if (want == least)
			return err_errno(e, ERR_FULL, errno, "reserve space for records");
	}
}

/*
 * write_again repeats the writes that are not known to be durable. After a sync has
 * failed the kernel takes the pages for clean, and the next sync would succeed without
 * them (fsync(2)).
 */
static int
write_again(struct spool *s, struct err *e)
{
	uint8_t part[16384];

	for (uint64_t at = s->synced; at < s->end;) {
		size_t len = s->end - at < sizeof(part) ? (size_t)(s->end - at)
							: sizeof(part);

		if (segment_read(s->fd, part, len, at) != (int64_t)len)
			return err_set(e, ERR_IO, "read back what was not synced");
		if (write_all(s->fd, part, len, at) != 0)
			return io_failed(e, errno, "write spool records again");
		at += len;
	}
	return 0;
}

int
spool_sync(struct spool *s, struct err *e)
{
	if (s->fd < 0)
		return 0;
	if (s->doubtful && write_again(s, e) != 0)
		return -1;
	s->doubtful = fdatasync(s->fd) != 0;
	if (s->doubtful)
		return io_failed(e, errno, "sync spool segment");
	s->synced = s->end;
	return 0;
}

/* begin_segment makes the next record the first of a new segment. */
static int
begin_segment(struct spool *s, struct err *e)
{
	uint8_t head[SEGMENT_HEAD_BYTES];
	char name[SEGMENT_NAME_BYTES];
	int fd;

	/* Only the last segment may ever have a torn tail. */
	if (spool_sync(s, e) != 0)
		return -1;
	segment_name(s->last + 1, name);
	segment_head_encode(s->last + 1, head);
	if (write_file(s->dir_fd, name, head, sizeof(head)) != 0 ||
		(fd = segment_open(s->dir_fd, s->last + 1, O_RDWR)) < 0) {
		io_failed(e, errno, "make spool segment");
		/* The record may still go to the segment before. */
		unlinkat(s->dir_fd, name, 0);
		return -1;
	}
	give_back(s);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = fd;
	s->end = s->synced = SEGMENT_HEAD_BYTES;
	s->reserved = 0;
	return 0;
}

/* make_room makes a segment ready for a record of need bytes. */
static int
make_room(struct spool *s, enum record_kind kind, size_t need, struct err *e)
{
	struct err why = {0};

	if (heal(s, e) != 0)
		return -1;
	if (s->fd < 0 || s->end + need > SPOOL_SEGMENT_BYTES) {
		if (begin_segment(s, &why) != 0 &&
			(why.class != ERR_FULL || kind == RECORD_SAMPLE || s->fd < 0 ||
				s->end + need > SEGMENT_MAX_BYTES))
			return err_set(e, why.class, "%s", why.text);
	}
	return kind == RECORD_SAMPLE ? reserve(s, need, e) : 0;
}

int
spool_append(struct spool *s, enum record_kind kind, const void *payload, size_t len,
	uint64_t *ret_seq, struct err *e)
{
	struct spool_record rec = {
		.seq = s->last + 1, .kind = kind, .payload = payload, .len = len};
	size_t bytes;

	if (len > RECORD_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "a record of %zu bytes is larger than %u",
			len, RECORD_MAX_BYTES);
	bytes = segment_record_encode(&rec, s->buf);
	if (make_room(s, kind, bytes, e) != 0)
		return -1;
	if (write_all(s->fd, s->buf, bytes, s->end) != 0) {
		io_failed(e, errno, "write spool record");
		s->torn = true;
		heal(s, NULL); /* or before the next append */
		return -1;
	}
	s->end += bytes;
	s->last = rec.seq;
	if (ret_seq != NULL)
		*ret_seq = rec.seq;
	return 0;
}

int
spool_give_up(struct spool *s, uint64_t seq, struct err *e)
{
	uint64_t last = s->last;

	if (seq <= last)
		return 0;
	if (heal(s, e) != 0)
		return -1;
	s->last = seq;
	if (begin_segment(s, e) == 0)
		return 0;
	s->last = last;
	return -1;
}

uint64_t
spool_last(const struct spool *s)
{
	return s->last;
}

void
spool_close(struct spool *s)
{
	if (s == NULL)
		return;
	give_back(s);
	if (s->fd >= 0)
		close(s->fd);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	free(s);
}

int
spool_set_acked(const char *dir, uint64_t seq, struct err *e)
{
	int fd = segment_open_dir(dir);
	char text[24];
	int n, rc;

	if (fd < 0)
		return err_errno(e, ERR_IO, errno, "open spool %s", dir);
	n = snprintf(text, sizeof(text), "%" PRIu64 "\n", seq);
	rc = write_file(fd, ACKED_NAME, text, (size_t)n);
	if (rc != 0)
		err_errno(e, ERR_IO, errno, "store the watermark of spool %s", dir);
	close(fd);
	return rc;
}

uint64_t
spool_acked(const char *dir)
{
	int dir_fd = segment_open_dir(dir);
	char text[24] = "";
	uint64_t seq = 0;
	int64_t n = -1;
	int fd = -1;

	if (dir_fd >= 0) {
		fd = openat(dir_fd, ACKED_NAME, O_RDONLY | O_CLOEXEC);
		close(dir_fd);
	}
	if (fd >= 0) {
		n = segment_read(fd, text, sizeof(text) - 1, 0);
		close(fd);
	}
	if (n < 2 || text[n - 1] != '\n')
		return 0;
	text[n - 1] = '\0';
	return parse_uint(text, 0, UINT64_MAX, &seq, NULL) == 0 ? seq : 0;
}

int
spool_trim(const char *dir, uint64_t seq, struct err *e)
{
	int dir_fd = segment_open_dir(dir);
	struct segment_near oldest, next;
	char name[SEGMENT_NAME_BYTES];
	int rc = -1;

	if (dir_fd < 0)
		return err_errno(e, ERR_IO, errno, "open spool %s", dir);
	for (;;) {
		if (segment_near(dir_fd, 0, &oldest, e) != 0)
			goto out;
		if (!oldest.has_after || oldest.after > seq)
			break;
		if (segment_near(dir_fd, oldest.after, &next, e) != 0)
			goto out;
		if (!next.has_after || next.after - 1 > seq)
			break;
		segment_name(oldest.after, name);
		if (unlinkat(dir_fd, name, 0) != 0) {
			err_errno(e, ERR_IO, errno, "delete %s/%s", dir, name);
			goto out;
		}
	}
	rc = 0;
out:
	close(dir_fd);
	return rc;
}

/* remove_files empties a directory of files; the lock goes last. */
static int
remove_files(int dir_fd, struct err *e)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	int rc = -1;

	if (d == NULL) {
		err_errno(e, ERR_IO, errno, "read spool directory");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while ((entry = readdir(d)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
			strcmp(entry->d_name, LOCK_NAME) == 0)
			continue;
		if (unlinkat(dir_fd, entry->d_name, 0) != 0) {
			err_errno(e, ERR_IO, errno, "delete %s", entry->d_name);
			goto out;
		}
	}
	if (unlinkat(dir_fd, LOCK_NAME, 0) != 0 && errno != ENOENT) {
		err_errno(e, ERR_IO, errno, "delete " LOCK_NAME);
		goto out;
	}
	rc = 0;
out:
	closedir(d);
	return rc;
}

int
spool_remove(const char *dir, struct err *e)
{
	int dir_fd = segment_open_dir(dir);
	int lock_fd, rc = -1;

	if (dir_fd < 0 && errno == ENOENT)
		return 0;
	if (dir_fd < 0)
		return err_errno(e, ERR_IO, errno, "open spool %s", dir);
	lock_fd = openat(dir_fd, LOCK_NAME, O_RDWR | O_CLOEXEC);
	if ((lock_fd >= 0 && take_lock(lock_fd, e) != 0) ||
		remove_files(dir_fd, e) != 0) {
		err_ctx(e, "remove spool %s", dir);
		goto out;
	}
	if (rmdir(dir) != 0) {
		err_errno(e, ERR_IO, errno, "remove spool %s", dir);
		goto out;
	}
	rc = 0;
out:
	if (lock_fd >= 0)
		close(lock_fd);
	close(dir_fd);
	return rc;
}
