/*
 * spool - the on-disk log of an attempt's records: append-only segments in one directory.
 *
 * Written by exactly one process (the runner; after its end the agent), read by the
 * agent. Format: schema/wire.md, "Spool". Sequence numbers start at 1 and have no holes.
 * A torn tail (crash, power cut, full disk) is cut off when the spool is opened for
 * writing, and said. Calls wait for the disk. A spool or a reader belongs to one thread.
 */
#ifndef COMMON_SPOOL_H
#define COMMON_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record.h"

#define SPOOL_SEGMENT_BYTES (8U << 20)
/* Kept allocated behind the last record for everything that is no sample. */
#define SPOOL_RESERVE_BYTES (512U << 10)

struct err;
struct spool;
struct spool_reader;

/* One record as it stands in the spool; payload is borrowed until the next call. */
struct spool_record {
	uint64_t seq;
	enum record_kind kind; /* not 0; may be a kind that is not known here */
	const uint8_t *payload;
	size_t len;
	uint32_t crc; /* CRC-32C of kind, seq and payload, as stored (record_crc) */
};

/*
 * spool_open opens dir (made when missing) for writing behind its last good record;
 * *ret_cut is the number of bytes of a torn tail that were cut. Damage before the last
 * good record stays for the reader to tell. Errors: ERR_IO, ERR_FULL, ERR_STATE when
 * another process has it open for writing (a success proves that none has: the lock is a
 * flock that dies with its holder), ERR_STORE for a format that is not known.
 */
int spool_open(struct spool **ret_s, const char *dir, uint64_t *ret_cut, struct err *e);

/*
 * spool_append writes one record of at most RECORD_MAX_BYTES bytes and gives it the next
 * sequence number; ret_seq may be NULL. On failure nothing of the record remains and the
 * number is not used. Samples are refused while less than SPOOL_RESERVE_BYTES are left,
 * so that the other kinds still fit. Errors: ERR_FULL (try again later), ERR_IO,
 * ERR_LIMIT.
 */
int spool_append(struct spool *s, enum record_kind kind, const void *payload, size_t len,
	uint64_t *ret_seq, struct err *e);

/*
 * spool_give_up says that the numbers up to seq were lost: the next record gets seq + 1,
 * in a segment of its own, so that a reader anywhere is told of the loss. Only forwards.
 * Errors: as spool_append.
 */
int spool_give_up(struct spool *s, uint64_t seq, struct err *e);

/* spool_sync makes all appended records durable (fdatasync). Errors: ERR_FULL, ERR_IO. */
int spool_sync(struct spool *s, struct err *e);

/* spool_last returns the last sequence number, 0 when the spool is empty. */
uint64_t spool_last(const struct spool *s);

/* spool_close closes; NULL allowed. Does not sync. */
void spool_close(struct spool *s);

/*
 * spool_reader_open opens a spool for reading from sequence number from (0 is the same as
 * 1). A directory that is not there yet reads as empty. Errors: ERR_IO.
 */
int spool_reader_open(
	struct spool_reader **ret_r, const char *dir, uint64_t from, struct err *e);

/*
 * spool_reader_next returns 1 and the next record, or 0 when there is none yet (an
 * incomplete record at the end of the last segment counts as none), or -1: ERR_IO,
 * ERR_STORE when a record before the end is damaged or missing. When records from `from`
 * on were trimmed, the first one returned has a larger number.
 */
int spool_reader_next(
	struct spool_reader *r, struct spool_record *ret_rec, struct err *e);

/* spool_reader_seek makes from the next record to be read. Errors: ERR_IO. */
int spool_reader_seek(struct spool_reader *r, uint64_t from, struct err *e);

/*
 * spool_reader_skip goes on behind the damage that spool_reader_next has just told; the
 * records *ret_from..*ret_to are lost (*ret_to < *ret_from: none). Errors: ERR_IO.
 */
int spool_reader_skip(
	struct spool_reader *r, uint64_t *ret_from, uint64_t *ret_to, struct err *e);

/* spool_reader_next_good is spool_reader_next for those who need no word about damage:
 * it goes on behind it. Errors: ERR_IO. */
int spool_reader_next_good(
	struct spool_reader *r, struct spool_record *ret_rec, struct err *e);

/*
 * spool_reader_sync makes what was read durable (fdatasync), for a reader that is ahead
 * of its writer's own syncs. Errors: ERR_FULL, ERR_IO.
 */
int spool_reader_sync(struct spool_reader *r, struct err *e);

/* spool_reader_close closes; NULL allowed. */
void spool_reader_close(struct spool_reader *r);

/*
 * spool_set_acked stores durably that all records up to seq are committed by the
 * controller; spool_acked reads it (0 when never stored or not readable: sending again is
 * harmless). Errors: ERR_IO, ERR_FULL.
 */
int spool_set_acked(const char *dir, uint64_t seq, struct err *e);
uint64_t spool_acked(const char *dir);

/*
 * spool_find_last walks over the last segment for the number and the kind (NULL: not
 * wanted) of the last good record; the kind is 0 when that segment has none, the number
 * when there never was one. Allowed while the spool is written. Errors: ERR_IO.
 */
int spool_find_last(const char *dir, uint64_t *ret_seq, int *ret_kind, struct err *e);

/*
 * spool_trim deletes the segments that hold only records up to seq, oldest first, never
 * the last segment. Allowed while the spool is written and read. Errors: ERR_IO.
 */
int spool_trim(const char *dir, uint64_t seq, struct err *e);

/*
 * spool_remove deletes a spool directory with everything in it; one that is not there is
 * no error. Errors: ERR_STATE when a process has it open for writing, ERR_IO.
 */
int spool_remove(const char *dir, struct err *e);

#endif
