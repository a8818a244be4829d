/*
 * record - what a runner tells: the records of a spool and their payloads.
 *
 * Samples are binary (schema/wire.md), points are JSON followed by histograms, everything
 * else is JSON. Encoders write to the caller's buffer; decoders trust no byte.
 */
#ifndef COMMON_RECORD_H
#define COMMON_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hist.h"

struct err;

/* The largest payload of one record; a record always fits a wire message. */
#define RECORD_MAX_BYTES (288U << 10)

enum record_kind {
	RECORD_EVENT = 1,  /* JSON: {"event": "step.start", ...} */
	RECORD_SAMPLE = 2, /* struct sample */
	RECORD_POINT = 3,  /* struct point_record: a point ended */
	RECORD_RESULT = 4, /* JSON: how the attempt ended; always the last record */
	RECORD_GAP = 5, /* JSON: {"from": "seq", "to": "seq", "reason": text}: stands for
			   records that will never come */
};

/*
 * What an I/O does. Reads and writes move data, and what is said of "the" IOPS, bandwidth
 * and latency of a point is about these two; the others are counted apart.
 */
enum direction { DIR_READ, DIR_WRITE, DIR_TRIM, DIR_ZERO, DIR_FLUSH, DIRECTIONS };

/* The first so many of them are reads and writes. */
#define DATA_DIRECTIONS 2

enum sample_flag {
	SAMPLE_WARMUP = 1, /* not part of the measured time */
	SAMPLE_MERGED = 2, /* covers more than one second: the writer fell behind or space
			      was short */
};

#define SAMPLE_LENGTH_MAX (INT64_C(1) << 53) /* ns, some 100 days */
#define SAMPLE_COUNT_MAX (INT64_C(1) << 62)

/* One second of one point. */
struct sample {
	uint32_t point;	    /* number of the point in the attempt, from 1, never 0 */
	uint32_t second;    /* since the point's first I/O, from 0 */
	uint32_t flags;	    /* enum sample_flag */
	uint32_t in_flight; /* at the end of the second */
	int64_t wall_ns;    /* start, ns since 1970 */
	int64_t mono_ns;    /* start, CLOCK_MONOTONIC of the node */
	int64_t length_ns;  /* 1 s unless merged, or the last of warm-up or point; > 0 */
	uint64_t backlog;   /* arrivals not yet submitted, at the end; open loop only */
	uint64_t dropped;   /* arrivals given up, in this second */
	uint64_t ops[DIRECTIONS];
	uint64_t bytes[DIRECTIONS];
	uint64_t errors[DIRECTIONS];
	struct hist service[DIRECTIONS];  /* completion - submission */
	struct hist response[DIRECTIONS]; /* completion - intended start; empty in closed
					     loops */
};

/* direction_name returns "read", "write", "trim", "write_zeroes" or "flush". */
const char *direction_name(enum direction dir);

/*
 * A point that has ended: facts in JSON (docs in schema/wire.md, "Point") and its
 * histograms. Those of trims, write-zeroes and flushes are there when the member "others"
 * of meta has them, else empty.
 */
struct point_record {
	json_t *meta; /* owned */
	struct hist service[DIRECTIONS];
	struct hist response[DIRECTIONS];
};

/*
 * sample_encode writes s to buf of cap >= RECORD_MAX_BYTES; returns the number of bytes.
 * Asserts point and length_ns.
 */
size_t sample_encode(const struct sample *s, uint8_t *buf, size_t cap);

/*
 * sample_decode reads a sample. ERR_INVALID, also for what no second can hold, so that
 * sums of many samples hold: point and length_ns are > 0, length_ns at most
 * SAMPLE_LENGTH_MAX, times and counters at most SAMPLE_COUNT_MAX.
 */
int sample_decode(struct sample *ret_s, const uint8_t *buf, size_t len, struct err *e);

/* sample_reset empties s; what its empty histograms hold is left alone, so that memory of
 * operations that never occur is not touched. */
void sample_reset(struct sample *s);

/* sample_point reads only the number of the point; 0 when buf cannot be a sample. */
uint32_t sample_point(const uint8_t *buf, size_t len);

/*
 * sample_merge adds b, the following second or seconds of the same point, to a. The
 * result is SAMPLE_MERGED, and SAMPLE_WARMUP when either was.
 */
void sample_merge(struct sample *a, const struct sample *b);

/*
 * point_encode writes p to buf of cap >= RECORD_MAX_BYTES; returns the number of bytes, 0
 * when meta is no object or too large (12 KiB of JSON always fit). Asserts that "others"
 * names all that has histograms.
 */
size_t point_encode(const struct point_record *p, uint8_t *buf, size_t cap);

/* point_decode reads a point; ret_p->meta is a new reference to an object. ERR_INVALID,
 * or ERR_LIMIT as json_parse. */
int point_decode(
	struct point_record *ret_p, const uint8_t *buf, size_t len, struct err *e);

/* point_record_fini drops meta. */
void point_record_fini(struct point_record *p);

/*
 * record_crc is the CRC-32C of kind (1 byte), seq (8 bytes, little-endian) and payload:
 * the same in the spool, on the wire and in the store.
 */
uint32_t record_crc(
	enum record_kind kind, uint64_t seq, const uint8_t *payload, size_t len);

#endif
