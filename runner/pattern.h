/*
 * pattern - what the next I/O is: direction, offset and length.
 *
 * Direction and access are drawn per I/O, so that a mix is exact at any rate. Here is
 * what one plain stream does, the usual case: random offsets are whole blocks of the
 * region, each as likely as any other; sequential I/O goes on at a cursor that belongs to
 * the pattern and wraps at the end of its share of the region. Anything else is done by
 * mix. The same seed gives the same sequence on every machine. One thread.
 */
#ifndef RUNNER_PATTERN_H
#define RUNNER_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record.h"
#include "common/workload.h"
#include "runner/engine.h"
#include "runner/mix.h"
#include "runner/rng.h"

struct pattern_config {
	uint64_t offset, length; /* the region, bytes; the workload fits it, and a plain
				    one has at least one block per share */
	const struct workload *workload; /* borrowed for pattern_init */
	uint64_t seed;
	unsigned share, shares; /* worker number and workers: who has which sequential
				   part */
	uint64_t one_pass;	/* not 0: write this many bytes of the region once in
				   blocks of a plain workload, the last may be shorter */
};

struct pattern {
	struct rng rng;
	uint64_t offset, blocks; /* random blocks of the region */
	uint32_t block_bytes;
	uint64_t read_below, random_below; /* of 2^32 */
	uint64_t first, cursor, end;	   /* sequential share, bytes */
	bool once;
	bool was_random; /* the last I/O */
	struct mix *mix; /* NULL: one plain stream */
};

/* pattern_init starts a pattern; pattern_fini frees what it holds. */
void pattern_init(struct pattern *p, const struct pattern_config *c);
void pattern_fini(struct pattern *p);

/* pattern_next sets direction, offset and length of the next I/O; false after one pass.
 */
static inline bool
pattern_next(struct pattern *p, struct io *io)
{
	uint64_t draw;

	if (__builtin_expect(p->mix != NULL, 0)) {
		mix_next(p->mix, &p->rng, io);
		return true;
	}
	draw = rng_next(&p->rng);
	io->dir = (draw & UINT32_MAX) < p->read_below ? DIR_READ : DIR_WRITE;
	io->length = p->block_bytes;
	p->was_random = draw >> 32 < p->random_below;
	if (p->was_random) {
		io->offset = p->offset + rng_below(&p->rng, p->blocks) * p->block_bytes;
		return true;
	}
	if (p->cursor == p->end) {
		if (p->once)
			return false;
		p->cursor = p->first;
	}
	if (p->end - p->cursor < io->length)
		io->length = (uint32_t)(p->end - p->cursor);
	io->offset = p->cursor;
	p->cursor += io->length;
	return true;
}

/* pattern_again draws another place for the I/O that pattern_next has just made; all else
 * of it stays. False in one pass, which has no other. */
bool pattern_again(struct pattern *p, struct io *io);

#endif
