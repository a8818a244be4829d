/*
 * journal - what each block of a drive may hold, in a file that outlives its writer.
 *
 * The file is a head and one word of 32 bits per block: the generation that was
 * acknowledged last, how many later ones were begun, how often the host has stopped
 * since, and whether one is in flight. It is mapped, shared, and changed in place before
 * a write is submitted and after it is acknowledged, so there is no tail to tear and
 * nothing to compact: its size is 12 KiB and 4 bytes per block, reserved when it is made
 * (1 GiB for 1 TiB in blocks of 4 KiB).
 *
 * What it guarantees:
 * - The writer is killed, or the drive loses power while the host runs: all that was
 *   begun or acknowledged is known, because the pages belong to the kernel.
 * - The host itself stops: each word is as it was at the last journal_sync or later,
 *   since an aligned word is written whole. Acknowledgements may be missing then, so less
 *   is asked of the drive; and generations later than the word says are expected, up to
 *   JOURNAL_LOST of them per block and stop. A boot id in the head tells this case.
 * - A journal that was closed is protected by a checksum; damage is found at opening.
 * - A file that is cut while it is in use ends the process with a sentence when a word of
 *   the part that is gone is wanted (see busfault), else the next journal_sync fails.
 *
 * It must not lie on the drive under test. Words may be changed by many threads.
 */
#ifndef RUNNER_JOURNAL_H
#define RUNNER_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Fields of a word, from the lowest bit: generation, begun since, stops of the host
 * since, in flight. */
#define JOURNAL_GENERATION_BITS 18
#define JOURNAL_BEGUN_BITS 10
#define JOURNAL_STOPS_BITS 3
#define JOURNAL_GENERATIONS ((1U << JOURNAL_GENERATION_BITS) - 1)
#define JOURNAL_BEGUN_MAX ((1U << JOURNAL_BEGUN_BITS) - 1)
#define JOURNAL_STOPS_MAX ((1U << JOURNAL_STOPS_BITS) - 1)
#define JOURNAL_STOPS_AT (JOURNAL_GENERATION_BITS + JOURNAL_BEGUN_BITS)
#define JOURNAL_BUSY (1U << 31)

/* Writes of one block that the host may have forgotten when it stopped. */
#define JOURNAL_LOST 10000

/* Most blocks of a journal; it takes 32 GiB then. */
#define JOURNAL_BLOCKS_MAX (UINT64_C(1) << 33)

/* Bytes of the name of a drive, with its NUL. */
#define JOURNAL_DRIVE_MAX 96

struct journal_config {
	char drive[JOURNAL_DRIVE_MAX]; /* who it is of, not empty; see target_key */
	uint64_t offset, length;       /* the region, bytes; whole blocks */
	uint32_t block_bytes;	       /* multiple of 512 */
	uint64_t seed;		       /* told from other journals by it */
};

struct journal;

/*
 * journal_open opens the journal at path for writing, or makes it. An existing one must
 * be of the same drive and region, and the block of c whole blocks of it; its seed stays.
 * What was in flight when it was left counts as begun. Errors: ERR_INVALID for another
 * drive, region or block, ERR_STATE while another process has it, ERR_STORE for a damaged
 * one, ERR_LIMIT, ERR_FULL, ERR_IO.
 */
int journal_open(struct journal **ret_j, const char *path, const struct journal_config *c,
	struct err *e);

/* journal_read opens an existing journal and leaves the file as it is. Errors: as
 * journal_open, ERR_NOTFOUND. */
int journal_read(struct journal **ret_j, const char *path, struct err *e);

/* journal_is_of wants the journal to be of this drive. Errors: ERR_INVALID. */
int journal_is_of(const struct journal *j, const char *drive, struct err *e);

/* journal_sync makes the words durable; it may take long. Errors: ERR_IO, ERR_FULL,
 * ERR_STORE when the file was deleted or cut meanwhile. */
int journal_sync(struct journal *j, struct err *e);

/* journal_close closes the file with its checksum. NULL allowed. Errors: as journal_sync;
 * it is freed nevertheless. */
int journal_close(struct journal *j, struct err *e);

/* journal_acked returns the generation of a word that was acknowledged; 0: none. */
static inline uint32_t
journal_acked(uint32_t word)
{
	return word & JOURNAL_GENERATIONS;
}

/* journal_begun returns how many later generations a word says were begun. */
static inline uint32_t
journal_begun(uint32_t word)
{
	return word >> JOURNAL_GENERATION_BITS & JOURNAL_BEGUN_MAX;
}

/* journal_stops returns how often the host has stopped since the acknowledgement. */
static inline uint32_t
journal_stops(uint32_t word)
{
	return word >> JOURNAL_STOPS_AT & JOURNAL_STOPS_MAX;
}

/* journal_ahead returns how many generations the next write of a block leaves out: those
 * that were begun, and room for those that the host has forgotten. */
static inline uint32_t
journal_ahead(uint32_t word)
{
	return journal_begun(word) + journal_stops(word) * JOURNAL_LOST;
}

/*
 * journal_possible returns how many later generations may be on the drive. Stops that are
 * too many to be counted leave room for no more generations, so that what is forgotten
 * each time begins at the same one.
 */
static inline uint32_t
journal_possible(uint32_t word)
{
	return journal_ahead(word) +
	       (journal_stops(word) == JOURNAL_STOPS_MAX ? JOURNAL_LOST : 0);
}

/* journal_later returns the generation that comes n after one; 1 follows the last. */
static inline uint32_t
journal_later(uint32_t generation, uint32_t n)
{
	return generation == 0 ? n : (generation - 1 + n) % JOURNAL_GENERATIONS + 1;
}

/* journal_between returns how many generations `to` is later than `from`; neither is 0.
 */
static inline uint32_t
journal_between(uint32_t from, uint32_t to)
{
	return (to + JOURNAL_GENERATIONS - from) % JOURNAL_GENERATIONS;
}

/* journal_config returns what the file says; borrowed. */
const struct journal_config *journal_config(const struct journal *j);

/* journal_blocks returns how many blocks the region has. */
uint64_t journal_blocks(const struct journal *j);

/* journal_block_of returns the block of the region that an offset on the drive begins;
 * both are counted in whole blocks. */
uint64_t journal_block_of(const struct journal *j, uint64_t offset);

/* journal_word returns the word of a block. */
uint32_t journal_word(const struct journal *j, uint64_t block);

/* journal_next_write returns a number that is higher than those of all writes before. */
uint64_t journal_next_write(struct journal *j);

/*
 * journal_begin notes that a write of a block begins. Returns its generation; 0 when one
 * is in flight, or too many were begun in a row and none was acknowledged.
 */
uint32_t journal_begin(struct journal *j, uint64_t block);

/* journal_end notes that the write in flight was acknowledged, or that it failed and may
 * or may not be there. */
void journal_end(struct journal *j, uint64_t block, bool acknowledged);

/* journal_undo takes journal_begin back: the write was not submitted. */
void journal_undo(struct journal *j, uint64_t block);

#endif
