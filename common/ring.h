/*
 * ring - preallocated slots that one thread fills and one other thread empties.
 *
 * Wait-free on both sides: no call blocks, allocates or enters the kernel. Slots are
 * filled and read in place; the reader leaves a slot as the writer wants to find it.
 */
#ifndef COMMON_RING_H
#define COMMON_RING_H

#include <stddef.h>

struct ring;

/*
 * ring_new makes a ring of n slots (a power of two) of slot_bytes each, zeroed. Owned by
 * the caller.
 */
struct ring *ring_new(unsigned n, size_t slot_bytes);

/* ring_free frees the ring; NULL allowed. Both threads have let go of it. */
void ring_free(struct ring *r);

/*
 * ring_free_slot returns the free slot `ahead` places behind the next one to be pushed
 * (0: that one), or NULL when it is not free. Writer only; the slot is the writer's until
 * its ring_push.
 */
void *ring_free_slot(struct ring *r, unsigned ahead);

/* ring_push hands the next slot, which was free, to the reader. Writer only. */
void ring_push(struct ring *r);

/*
 * ring_first returns the oldest slot pushed and not popped, or NULL. Reader only; the
 * slot is the reader's until its ring_pop.
 */
void *ring_first(struct ring *r);

/* ring_pop gives the oldest slot back to the writer. Reader only. */
void ring_pop(struct ring *r);

#endif
