/*
 * segment - how records lie in the files of a spool (schema/wire.md, "Spool").
 *
 * Private to spool.c and spool_reader.c. Turns bytes into records and finds the file that
 * holds a record; writes nothing. Decoders trust no byte.
 */
#ifndef COMMON_SEGMENT_H
#define COMMON_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spool.h"

struct err;

#define SEGMENT_VERSION 1
#define SEGMENT_HEAD_BYTES 32
#define SEGMENT_RECORD_HEAD_BYTES 24
#define SEGMENT_NAME_BYTES 25 /* 20 digits, ".seg" and a NUL */
/* The largest file: records that may not wait go on behind SPOOL_SEGMENT_BYTES. */
#define SEGMENT_MAX_BYTES (SPOOL_SEGMENT_BYTES + (1U << 20))

/* No segment has more: a number further ahead is not believed. */
#define SEGMENT_RECORDS_MAX (SEGMENT_MAX_BYTES / SEGMENT_RECORD_HEAD_BYTES)

enum segment_got {
	SEGMENT_RECORD, /* a whole and good record */
	SEGMENT_SHORT,	/* the bytes end before the record does */
	SEGMENT_BAD,	/* these bytes are no record */
};

enum segment_head {
	SEGMENT_HEAD_GOOD,
	SEGMENT_HEAD_SHORT,   /* not all there: as if the segment were empty */
	SEGMENT_HEAD_DAMAGED, /* the records behind it may still be good */
	SEGMENT_HEAD_UNKNOWN, /* a version that only another ssdlab can read */
};

/* The segments around a sequence number. */
struct segment_near {
	bool has_at, has_after;
	uint64_t at;	/* largest first sequence number that is not larger */
	uint64_t after; /* smallest first sequence number that is larger */
};

/* segment_name writes the file name of the segment whose first record is first. */
void segment_name(uint64_t first, char ret_name[SEGMENT_NAME_BYTES]);

/* segment_parse_name is the inverse; false for the name of anything else, also for
 * numbers of 2^63 and more. */
bool segment_parse_name(const char *name, uint64_t *ret_first);

/* segment_open_dir opens the directory of a spool. -1 and errno. */
int segment_open_dir(const char *dir);

/* segment_open opens the segment that begins with first for reading, or also writing. -1
 * and errno. */
int segment_open(int dir_fd, uint64_t first, int flags);

/* segment_near finds the segments around seq by their names. Errors: ERR_IO. */
int segment_near(int dir_fd, uint64_t seq, struct segment_near *ret_near, struct err *e);

/* segment_read reads at most len bytes at offset, fewer only at the end of the file. -1
 * and errno. */
int64_t segment_read(int fd, void *buf, size_t len, uint64_t offset);

/* segment_head_encode writes the head of a segment. */
void segment_head_encode(uint64_t first, uint8_t out[SEGMENT_HEAD_BYTES]);

/* segment_head_check judges the head of the segment whose name says first. */
enum segment_head segment_head_check(const uint8_t *buf, size_t len, uint64_t first);

/* segment_record_encode writes a record: SEGMENT_RECORD_HEAD_BYTES bytes and its payload.
 * rec->crc is set. Returns the bytes. */
size_t segment_record_encode(struct spool_record *rec, uint8_t *out);

/*
 * segment_record_decode reads the record at buf and checks both checksums; its payload
 * points into buf. SEGMENT_SHORT only when the head is incomplete or good.
 */
enum segment_got segment_record_decode(
	const uint8_t *buf, size_t len, struct spool_record *ret_rec, size_t *ret_used);

/*
 * segment_find returns the offset of the first good record with a sequence number from
 * seq on that these bytes can hold, or len when there is none.
 */
size_t segment_find(const uint8_t *buf, size_t len, uint64_t seq);

#endif
