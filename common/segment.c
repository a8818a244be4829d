#include "common/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/crc32c.h"
#include "common/err.h"
#include "common/le.h"

static const char magic[8] = {'s', 's', 'd', 'l', 's', 'p', 'o', 'l'};

void
segment_name(uint64_t first, char ret_name[SEGMENT_NAME_BYTES])
{
	snprintf(ret_name, SEGMENT_NAME_BYTES, "%020" PRIu64 ".seg", first);
}

bool
segment_parse_name(const char *name, uint64_t *ret_first)
{
	char again[SEGMENT_NAME_BYTES];
	uint64_t n = 0;

	if (strlen(name) != SEGMENT_NAME_BYTES - 1)
		return false;
	for (int i = 0; i < 20; i++) {
		if (name[i] < '0' || name[i] > '9')
			return false;
		n = n * 10 + (uint64_t)(name[i] - '0');
	}
	segment_name(n, again);
	if (n == 0 || n > INT64_MAX || strcmp(again, name) != 0)
		return false;
	*ret_first = n;
	return true;
}

int
segment_open_dir(const char *dir)
{
	return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int
segment_open(int dir_fd, uint64_t first, int flags)
{
	char name[SEGMENT_NAME_BYTES];

	segment_name(first, name);
	return openat(dir_fd, name, flags | O_CLOEXEC | O_NOFOLLOW);
}

static void
consider(struct segment_near *near, uint64_t seq, uint64_t first)
{
	if (first <= seq && (!near->has_at || first > near->at)) {
		near->has_at = true;
		near->at = first;
	}
	if (first > seq && (!near->has_after || first < near->after)) {
		near->has_after = true;
		near->after = first;
	}
}

int
segment_near(int dir_fd, uint64_t seq, struct segment_near *ret_near, struct err *e)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	uint64_t first;

	*ret_near = (struct segment_near){0};
	if (d == NULL) {
		err_errno(e, ERR_IO, errno, "read spool directory");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	errno = 0;
	while ((entry = readdir(d)) != NULL)
		if (segment_parse_name(entry->d_name, &first))
			consider(ret_near, seq, first);
	if (errno != 0) {
		err_errno(e, ERR_IO, errno, "read spool directory");
		closedir(d);
		return -1;
	}
	closedir(d);
	return 0;
}

int64_t
segment_read(int fd, void *buf, size_t len, uint64_t offset)
{
	uint8_t *at = buf;
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, at + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

void
segment_head_encode(uint64_t first, uint8_t out[SEGMENT_HEAD_BYTES])
{
	memset(out, 0, SEGMENT_HEAD_BYTES);
	memcpy(out, magic, sizeof(magic));
	le_put16(out + 8, SEGMENT_VERSION);
	le_put64(out + 16, first);
	le_put32(out + 28, crc32c(0, out, 28));
}

enum segment_head
segment_head_check(const uint8_t *buf, size_t len, uint64_t first)
{
	if (len < SEGMENT_HEAD_BYTES)
		return SEGMENT_HEAD_SHORT;
	if (memcmp(buf, magic, sizeof(magic)) != 0 ||
		le_get32(buf + 28) != crc32c(0, buf, 28))
		return SEGMENT_HEAD_DAMAGED;
	if (le_get16(buf + 8) != SEGMENT_VERSION)
		return SEGMENT_HEAD_UNKNOWN;
	return le_get64(buf + 16) == first ? SEGMENT_HEAD_GOOD : SEGMENT_HEAD_DAMAGED;
}

size_t
segment_record_encode(struct spool_record *rec, uint8_t *out)
{
	rec->crc = record_crc(rec->kind, rec->seq, rec->payload, rec->len);
	memset(out, 0, SEGMENT_RECORD_HEAD_BYTES);
	le_put32(out, (uint32_t)rec->len);
	le_put32(out + 4, rec->crc);
	le_put64(out + 8, rec->seq);
	out[16] = (uint8_t)rec->kind;
	le_put32(out + 20, crc32c(0, out, 20));
	if (rec->len > 0)
		memcpy(out + SEGMENT_RECORD_HEAD_BYTES, rec->payload, rec->len);
	return SEGMENT_RECORD_HEAD_BYTES + rec->len;
}

enum segment_got
segment_record_decode(
	const uint8_t *buf, size_t len, struct spool_record *ret_rec, size_t *ret_used)
{
	struct spool_record rec;

	if (len < SEGMENT_RECORD_HEAD_BYTES)
		return SEGMENT_SHORT;
	if (le_get32(buf + 20) != crc32c(0, buf, 20))
		return SEGMENT_BAD;
	rec.len = le_get32(buf);
	rec.crc = le_get32(buf + 4);
	rec.seq = le_get64(buf + 8);
	rec.kind = (enum record_kind)buf[16];
	rec.payload = buf + SEGMENT_RECORD_HEAD_BYTES;
	if (rec.len > RECORD_MAX_BYTES || rec.seq == 0 || buf[16] == 0)
		return SEGMENT_BAD;
	if (len - SEGMENT_RECORD_HEAD_BYTES < rec.len)
		return SEGMENT_SHORT;
	if (rec.crc != record_crc(rec.kind, rec.seq, rec.payload, rec.len))
		return SEGMENT_BAD;
	*ret_rec = rec;
	*ret_used = SEGMENT_RECORD_HEAD_BYTES + rec.len;
	return SEGMENT_RECORD;
}

size_t
segment_find(const uint8_t *buf, size_t len, uint64_t seq)
{
	struct spool_record rec;
	size_t used;

	for (size_t at = 0; at + SEGMENT_RECORD_HEAD_BYTES <= len; at++) {
		/* The number alone tells most bytes from a record. */
		if (le_get64(buf + at + 8) - seq > SEGMENT_RECORDS_MAX)
			continue;
		if (segment_record_decode(buf + at, len - at, &rec, &used) ==
			SEGMENT_RECORD)
			return at;
	}
	return len;
}
