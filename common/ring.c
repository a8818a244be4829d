#include "common/ring.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/xalloc.h"

#define CACHE_LINE 64

/* pushed and popped only grow; their difference is the number of slots in use. Each is
 * written by one side and has a cache line of its own. */
struct ring {
	_Alignas(CACHE_LINE) atomic_uint pushed;
	_Alignas(CACHE_LINE) atomic_uint popped;
	_Alignas(CACHE_LINE) unsigned n;
	size_t slot_bytes;
	unsigned char *slots;
};

struct ring *
ring_new(unsigned n, size_t slot_bytes)
{
	struct ring *r = aligned_alloc(CACHE_LINE, sizeof(*r));

	assert(n != 0 && (n & (n - 1)) == 0 && r != NULL);
	atomic_init(&r->pushed, 0);
	atomic_init(&r->popped, 0);
	r->n = n;
	r->slot_bytes = slot_bytes;
	r->slots = xcalloc(n, slot_bytes);
	return r;
}

void
ring_free(struct ring *r)
{
	if (r == NULL)
		return;
	free(r->slots);
	free(r);
}

static void *
slot(struct ring *r, unsigned number)
{
	return r->slots + (number & (r->n - 1)) * r->slot_bytes;
}

void *
ring_free_slot(struct ring *r, unsigned ahead)
{
	unsigned pushed = atomic_load_explicit(&r->pushed, memory_order_relaxed);
	unsigned popped = atomic_load_explicit(&r->popped, memory_order_acquire);

	if (pushed - popped + ahead >= r->n)
		return NULL;
	return slot(r, pushed + ahead);
}

void
ring_push(struct ring *r)
{
	unsigned pushed = atomic_load_explicit(&r->pushed, memory_order_relaxed);

	assert(pushed - atomic_load_explicit(&r->popped, memory_order_relaxed) < r->n);
	atomic_store_explicit(&r->pushed, pushed + 1, memory_order_release);
}

void *
ring_first(struct ring *r)
{
	unsigned popped = atomic_load_explicit(&r->popped, memory_order_relaxed);
	unsigned pushed = atomic_load_explicit(&r->pushed, memory_order_acquire);

	return pushed == popped ? NULL : slot(r, popped);
}

void
ring_pop(struct ring *r)
{
	unsigned popped = atomic_load_explicit(&r->popped, memory_order_relaxed);

	assert(popped != atomic_load_explicit(&r->pushed, memory_order_relaxed));
	atomic_store_explicit(&r->popped, popped + 1, memory_order_release);
}
