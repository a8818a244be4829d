/*
 * series - the samples of an attempt, as rows while a point runs, packed afterwards.
 *
 * A row of table series holds up to SERIES_CHUNK_BYTES of samples of one finished point:
 * for each seq u64, crc u32, length u32, payload, little-endian, in the order of seq.
 * Readers see rows and packed samples as one list. Inside store jobs.
 */
#ifndef CONTROLLER_SERIES_H
#define CONTROLLER_SERIES_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct tx;

#define SERIES_CHUNK_BYTES (1U << 20)

/* One sample record; payload is borrowed until the next call on its source. */
struct series_entry {
	uint64_t seq;
	uint32_t crc;
	const uint8_t *payload;
	size_t len;
};

/*
 * series_compact moves the sample rows of a point with seq below end into packed ones,
 * and adds the measured time that they cover to "sampled_ns" of the point's document.
 * Twice is no error and changes nothing. ERR_STORE, ERR_FULL.
 */
int series_compact(
	struct tx *t, int64_t attempt, int64_t point, uint64_t end, struct err *e);

/*
 * series_find finds a packed sample by its seq: 1 and *ret_entry without its payload, 0
 * when there is none, -1: ERR_STORE.
 */
int series_find(struct tx *t, int64_t attempt, uint64_t seq,
	struct series_entry *ret_entry, struct err *e);

struct series_reader;

/*
 * series_open starts reading the samples of an attempt with seq above after, in the order
 * of seq. point 0: all points. Owned by the caller; series_close. ERR_STORE.
 */
int series_open(struct series_reader **ret_r, struct tx *t, int64_t attempt,
	int64_t point, uint64_t after, struct err *e);

/* series_next returns 1 and a sample, 0 at the end, -1: ERR_STORE, also for a damaged
 * row. */
int series_next(struct series_reader *r, struct series_entry *ret_entry, struct err *e);

/* series_close ends reading. NULL allowed. */
void series_close(struct series_reader *r);

#endif
