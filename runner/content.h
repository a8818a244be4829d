/*
 * content - what is written: data of a seed that shrinks by as much as was asked for.
 *
 * Each 4 KiB is one of a few blocks of random bytes, every 8 of them combined with a key
 * that no other 4 KiB has. So nothing that was written before, by this or another I/O,
 * comes again unless repeats were asked for, and a compressor finds no more than it
 * should. To share some is to begin with the same key again. What may compress is spread
 * evenly: each 512 bytes begin with random bytes and end with their key, over and over.
 *
 * The data follow from the seed, the share and the number of units made so far, not from
 * what the buffer held. No allocation; one thread.
 */
#ifndef RUNNER_CONTENT_H
#define RUNNER_CONTENT_H

#include <stddef.h>
#include <stdint.h>

/* What a key is for, and the unit in which repeats are counted, bytes. */
#define CONTENT_UNIT 4096

/* Blocks of random bytes; few enough to stay in the first cache. */
#define CONTENT_BASES 4

/* A repeat is one of so many units before it. */
#define CONTENT_RECENT 64

struct content_config {
	uint64_t seed;
	unsigned share;		 /* worker number: no two have a key in common */
	double compress_percent; /* share of each 512 bytes that compresses away, 0..100
				  */
	double dedupe_percent; /* share of the units that repeat an earlier one, 0..100 */
};

struct content {
	_Alignas(64) uint8_t base[CONTENT_BASES][CONTENT_UNIT];
	void (*combine)(uint8_t *to, const uint8_t *base, uint64_t key, size_t bytes);
	uint64_t next;	    /* number of the next unit that is new */
	uint64_t repeat_by; /* of 2^32: share of repeats, and what is owed of them */
	uint64_t owed;
	uint64_t rounds; /* units made */
	uint64_t recent[CONTENT_RECENT];
	unsigned n_recent, at_recent;
};

/* content_init starts the data of a seed. */
void content_init(struct content *c, const struct content_config *config);

/* content_make fills a buffer that is to be written with the next data. */
void content_make(struct content *c, void *buf, size_t bytes);

/* content_fill writes random bytes of a seed. */
void content_fill(void *buf, size_t bytes, uint64_t seed);

#endif
