/*
 * sector - what stands in 512 bytes that were written under a journal.
 *
 * A sector begins with a head (magic, generation, offset on the drive, seed, number and
 * extent of the write) and ends with a CRC-32C over all before it. The head is combined
 * with numbers that follow from the data behind it, so that it looks as random as they
 * do: a compressor would make a third of it otherwise. Pure, any thread.
 */
#ifndef RUNNER_SECTOR_H
#define RUNNER_SECTOR_H

#include <stdbool.h>
#include <stdint.h>

#define SECTOR_BYTES 512
#define SECTOR_HEAD_BYTES 36
#define SECTOR_CRC_AT (SECTOR_BYTES - 4)

/* The head follows from so many bytes of data behind it. */
#define SECTOR_KEY_BYTES 8

struct sector {
	uint32_t generation;
	uint64_t offset, seed;
	uint64_t number; /* of the write */
	uint16_t index;	 /* sectors of the write before this one */
	uint16_t count;	 /* sectors of the write */
	bool ours;	 /* its magic says so */
	unsigned alike;	 /* how many of magic, offset and seed are as expected */
};

/* What the CRC of a sector changes by with each bit of each byte of the key. */
struct sector_sums {
	uint32_t key[SECTOR_KEY_BYTES][8];
};

/* sector_stamp writes head and checksum into 512 bytes; ours and alike are not used. */
void sector_stamp(uint8_t *p, const struct sector *s);

/* sector_read reads a head, whatever it is worth; offset and seed: what is expected. */
struct sector sector_read(const uint8_t *p, uint64_t offset, uint64_t seed);

/* sector_is_sound says whether its checksum is right. */
bool sector_is_sound(const uint8_t *p);

/*
 * sector_flip returns the byte of a sector whose change alone explains its checksum, or
 * -1; *ret_flip: the bits to change. Takes some 100 us.
 */
int sector_flip(const uint8_t *p, uint8_t *ret_flip);

/* sector_sums_init prepares sums. */
void sector_sums_init(struct sector_sums *sums);

/*
 * sector_key_is_flipped says whether one byte of what the head follows from has changed:
 * nothing of the head can be told then, and all of it after the byte is mended. Takes
 * some 2 us.
 */
bool sector_key_is_flipped(
	const struct sector_sums *sums, const uint8_t *p, uint64_t offset, uint64_t seed);

#endif
