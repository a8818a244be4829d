/*
 * mix - the next I/O of a workload that is more than one plain stream.
 *
 * Each I/O is drawn for itself: its stream, its direction, random or sequential, its
 * block, then its place; so shares are met at any rate, whatever is in flight. A random
 * place is as likely as any other of its zone; with a zipf distribution the region is cut
 * into pieces (flow_piece_bytes), their ranks are scattered, and a block smaller than
 * its piece lies evenly inside it. A sequential I/O goes on at the next of the stream's
 * cursors, in turn; a cursor wraps when the block drawn does not fit into the rest of its
 * part. No I/O leaves its stream's part of the region. Nothing is allocated after
 * mix_new. One thread.
 */
#ifndef RUNNER_MIX_H
#define RUNNER_MIX_H

#include <stdint.h>

#include "common/workload.h"
#include "runner/engine.h"
#include "runner/rng.h"

struct mix;

struct mix_config {
	uint64_t offset, length;	 /* the region, bytes; workload_fits it */
	const struct workload *workload; /* borrowed for mix_new */
	unsigned share, shares;		 /* worker number and workers */
};

/* mix_new prepares all tables. Owned by the caller. */
struct mix *mix_new(const struct mix_config *c);

/* mix_free frees it; NULL allowed. */
void mix_free(struct mix *m);

/* mix_next sets direction, offset and length of the next I/O. */
void mix_next(struct mix *m, struct rng *r, struct io *io);

/* mix_again draws another place for the I/O that mix_next has just made: stream,
 * direction, length and whether it is random stay. */
void mix_again(struct mix *m, struct rng *r, struct io *io);

#endif
