/*
 * workload - what a load does: one stream of I/Os or several mixed, in base units, with
 * everything decided.
 */
#ifndef COMMON_WORKLOAD_H
#define COMMON_WORKLOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/flow.h"

struct err;

#define WORKLOAD_ID_MAX 64
#define WORKLOAD_IN_FLIGHT_MAX 4096
#define WORKLOAD_BLOCK_MAX FLOW_BLOCK_MAX
#define WORKLOAD_STREAMS_MAX 8
/* Bytes of memory for all I/Os in flight of a load, each of its largest block. */
#define WORKLOAD_BUFFERS_MAX (UINT64_C(8) << 30)

struct workload {
	char id[WORKLOAD_ID_MAX]; /* [a-z0-9][a-z0-9-]* */
	uint32_t in_flight;	  /* total over all workers, 1..WORKLOAD_IN_FLIGHT_MAX */
	uint32_t workers;	  /* 1..in_flight */
	size_t n_streams;	  /* 1..WORKLOAD_STREAMS_MAX; their shares sum to 100 */
	struct flow streams[WORKLOAD_STREAMS_MAX];
};

/* workload_plain makes the streams of w one plain stream (flow_plain). */
void workload_plain(struct workload *w, double read_percent, double random_percent,
	uint32_t block_bytes);

/* workload_is_plain says whether the streams of w are one plain stream. */
bool workload_is_plain(const struct workload *w);

/* workload_does_same says whether the streams of both are the same: the I/Os, however
 * many of them are in flight. */
bool workload_does_same(const struct workload *a, const struct workload *b);

/* workload_workers returns the number of workers, 1 where none is said. */
static inline unsigned
workload_workers(const struct workload *w)
{
	return w->workers != 0 ? w->workers : 1;
}

/* workload_read_percent and workload_random_percent are shares of all I/Os, 0..100. */
double workload_read_percent(const struct workload *w);
double workload_random_percent(const struct workload *w);

/* workload_writes says whether any I/O changes what the drive holds: writes, zeroes and
 * trims do, flushes do not. */
bool workload_writes(const struct workload *w);

/* workload_written_part returns the share of writes and zeroes in the bytes that are
 * read, written or zeroed, 0..1; trims are none of it. */
double workload_written_part(const struct workload *w);

/* workload_written_bytes returns the mean bytes that an I/O writes or zeroes. */
double workload_written_bytes(const struct workload *w);

/* workload_unit returns the most bytes that all offsets and lengths of the workload are
 * multiples of, counted from the start of its region. */
uint32_t workload_unit(const struct workload *w);

/* workload_operations returns what the I/Os that do not read do: bits 1 << enum
 * operation. */
unsigned workload_operations(const struct workload *w);

/* workload_block_max returns the largest block, bytes; at least 512, also when there are
 * only flushes. */
uint32_t workload_block_max(const struct workload *w);

/* workload_check_buffers wants blocks of so many bytes, so many in flight, to fit
 * WORKLOAD_BUFFERS_MAX. ERR_INVALID, no pointer. */
int workload_check_buffers(uint32_t block_bytes, uint32_t in_flight, struct err *e);

/* workload_check wants all that is said at the members of the workload's streams, that
 * their shares sum to 100, no more than 1 in flight where all I/Os are write-zeroes, and
 * workload_check_buffers. ERR_INVALID, no pointer. */
int workload_check(const struct workload *w, struct err *e);

/* workload_fits is flow_fits for each stream. ERR_INVALID, no pointer. */
int workload_fits(const struct workload *w, uint64_t length, uint32_t logical_block_bytes,
	struct err *e);

/* workload_need_id reads a member that is an id as that of a workload. ERR_INVALID with
 * pointer. */
int workload_need_id(const json_t *o, const char *at, const char *name,
	char ret_id[WORKLOAD_ID_MAX], struct err *e);

/* workload_parse reads the human form of a suite: units in texts, defaults filled in. The
 * member "rates_iops" is left to those who know of rates. ERR_INVALID with pointer. */
int workload_parse(
	const json_t *o, const char *at, struct workload *ret_w, struct err *e);

/* workload_to_json and workload_from_json: base units, as in a run program; nothing
 * optional. A plain stream is told by its three members, others by "streams". */
json_t *workload_to_json(const struct workload *w);
int workload_from_json(
	const json_t *o, const char *at, struct workload *ret_w, struct err *e);

#endif
