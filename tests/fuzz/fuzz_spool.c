/*
 * Input: flags (1: make all checksums right), the distance of the second segment's number
 * (0: one segment only), the length of the first segment (2 bytes), then the bytes of the
 * segments. Whatever they are, reading ends, numbers only grow, and after opening for
 * writing a record can be appended and read.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/crc32c.h"
#include "common/err.h"
#include "common/le.h"
#include "common/segment.h"
#include "tests/fuzz/fuzz.h"

static char root[128], dir[160];

static void
remove_root(void)
{
	spool_remove(dir, NULL);
	rmdir(root);
}

static void
make_root(void)
{
	const char *tmp = getenv("TMPDIR");

	if (root[0] != '\0')
		return;
	snprintf(root, sizeof(root), "%.100s/fuzz_spool.XXXXXX",
		tmp != NULL ? tmp : "/tmp");
	MUST(mkdtemp(root) != NULL);
	snprintf(dir, sizeof(dir), "%s/spool", root);
	atexit(remove_root);
}

/* mend makes the checksums of a segment right, as far as its lengths lead. */
static void
mend(uint8_t *p, size_t size)
{
	size_t at = SEGMENT_HEAD_BYTES;

	if (size >= SEGMENT_HEAD_BYTES)
		le_put32(p + 28, crc32c(0, p, 28));
	while (at < size && size - at >= SEGMENT_RECORD_HEAD_BYTES) {
		uint8_t *rec = p + at;
		size_t len = le_get32(rec);

		if (len > size - at - SEGMENT_RECORD_HEAD_BYTES)
			return;
		le_put32(rec + 4, record_crc((enum record_kind)rec[16], le_get64(rec + 8),
					  rec + SEGMENT_RECORD_HEAD_BYTES, len));
		le_put32(rec + 20, crc32c(0, rec, 20));
		at += SEGMENT_RECORD_HEAD_BYTES + len;
	}
}

static void
write_segment(uint64_t first, const uint8_t *data, size_t size, bool mended)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);
	char path[256];
	int fd;

	MUST(copy != NULL);
	memcpy(copy, data, size);
	if (mended)
		mend(copy, size);
	snprintf(path, sizeof(path), "%s/", dir);
	segment_name(first, path + strlen(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, copy, size) == (ssize_t)size);
	close(fd);
	free(copy);
}

/* read_all reads over all damage and returns the last number, 0 for none. */
static uint64_t
read_all(uint64_t from, size_t size)
{
	size_t tries = 2 * size / SEGMENT_RECORD_HEAD_BYTES + 8;
	struct spool_reader *r = NULL;
	struct spool_record rec;
	uint64_t last = 0, lost_from, lost_to;
	int rc = 1;

	MUST(spool_reader_open(&r, dir, from, NULL) == 0);
	while (rc != 0) {
		struct err e = {0};

		MUST(tries-- > 0);
		rc = spool_reader_next(r, &rec, &e);
		if (rc < 0 && e.fix[0] != '\0')
			break; /* a version that is not known */
		if (rc < 0) {
			MUST(e.class == ERR_STORE);
			MUST(spool_reader_skip(r, &lost_from, &lost_to, &e) == 0);
		}
		if (rc <= 0)
			continue;
		MUST(rec.seq > last && rec.seq >= from);
		MUST(rec.crc == record_crc(rec.kind, rec.seq, rec.payload, rec.len));
		last = rec.seq;
	}
	spool_reader_close(r);
	return last;
}

/* pass_over reads with no word about damage; that must end, too. */
static void
pass_over(size_t size)
{
	size_t tries = 2 * size / SEGMENT_RECORD_HEAD_BYTES + 8;
	struct spool_reader *r = NULL;
	struct spool_record rec;
	uint64_t last = 0;

	MUST(spool_reader_open(&r, dir, 1, NULL) == 0);
	while (spool_reader_next_good(r, &rec, NULL) == 1) {
		MUST(tries-- > 0);
		MUST(rec.seq > last);
		last = rec.seq;
	}
	spool_reader_close(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spool *s = NULL;
	uint64_t cut, seq;
	size_t split;

	if (size < 4)
		return 0;
	make_root();
	MUST(mkdir(dir, 0700) == 0);
	split = le_get16(data + 2);
	if (data[1] == 0 || split > size - 4)
		split = size - 4;
	write_segment(1, data + 4, split, data[0] & 1);
	if (data[1] != 0)
		write_segment(UINT64_C(1) + data[1], data + 4 + split, size - 4 - split,
			data[0] & 1);
	read_all(1, size);
	read_all(2, size);
	pass_over(size);
	if (spool_open(&s, dir, &cut, NULL) == 0) {
		MUST(cut <= size);
		seq = spool_last(s);
		MUST(seq < UINT64_MAX);
		MUST(spool_append(s, RECORD_EVENT, "{}", 2, &seq, NULL) == 0);
		spool_close(s);
		MUST(read_all(seq, size + 64) == seq);
	}
	MUST(spool_remove(dir, NULL) == 0);
	return 0;
}
