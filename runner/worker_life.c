#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/xalloc.h"
#include "runner/worker_impl.h"

/* Seconds that the reader may be behind before slots are merged. */
#define SLOTS 16

/* Gives each I/O its buffer. */
static void
give_buffers(struct worker *w)
{
	struct buffers *b = &w->buffers;

	w->c.engine.buffers = b->data;
	w->c.engine.buffer_bytes = b->each_bytes;
	for (unsigned i = 0; i < w->depth; i++) {
		struct io *io = &w->ios[i];

		io->slot = (uint16_t)i;
		io->buf = (char *)b->data + i * b->each_bytes;
		w->idle[w->n_idle++] = io;
	}
}

int
worker_new(struct worker **ret_w, const struct worker_config *c, struct err *e)
{
	struct worker *w = aligned_alloc(64, sizeof(*w));

	assert(w != NULL && c->engine.depth > 0);
	memset(w, 0, sizeof(*w));
	w->c = *c;
	w->ops = c->ops;
	w->c.engine.stop = &w->stop;
	w->depth = c->engine.depth;
	w->once = c->pattern.one_pass != 0;
	w->second_ns = c->second_ns != 0 ? c->second_ns : NS_PER_S;
	w->ring = ring_new(SLOTS, sizeof(struct worker_slot));
	w->ios = xcalloc(w->depth, sizeof(*w->ios));
	w->idle = xcalloc(w->depth, sizeof(struct io *));
	w->again = xcalloc(w->depth, sizeof(struct io *));
	w->reaped = xcalloc(w->depth, sizeof(struct io *));
	sem_init(&w->ready, 0, 0);
	sem_init(&w->go, 0, 0);
	pattern_init(&w->pattern, &c->pattern);
	content_init(&w->content, &c->content);
	if (c->verify != NULL)
		w->port = verify_port_new(
			c->verify, w->depth, workload_block_max(c->pattern.workload));
	if (c->arrival.rate > 0)
		w->arrival = arrival_new(&c->arrival);
	if (buffers_map(&w->buffers, w->depth, workload_block_max(c->pattern.workload),
		    e) != 0) {
		worker_free(w);
		return -1;
	}
	give_buffers(w);
	*ret_w = w;
	return 0;
}

void
worker_free(struct worker *w)
{
	if (w == NULL)
		return;
	if (w->has_thread) {
		worker_stop(w);
		sem_post(&w->go);
		pthread_join(w->thread, NULL);
	}
	buffers_unmap(&w->buffers);
	pattern_fini(&w->pattern);
	sem_destroy(&w->ready);
	sem_destroy(&w->go);
	arrival_free(w->arrival);
	verify_port_free(w->port);
	ring_free(w->ring);
	free(w->ios);
	free(w->idle);
	free(w->again);
	free(w->reaped);
	free(w);
}

int
worker_open(struct worker *w, struct err *e)
{
	int failed;

	w->open_err = e;
	failed = pthread_create(&w->thread, NULL, worker_thread, w);
	if (failed != 0)
		return err_errno(e, ERR_IO, failed, "cannot start a worker thread");
	w->has_thread = true;
	while (sem_wait(&w->ready) != 0)
		;
	return w->opened ? 0 : -1;
}

void
worker_start(struct worker *w, int64_t start_ns, int64_t start_wall_ns)
{
	w->start_ns = start_ns;
	w->start_wall_ns = start_wall_ns;
	sem_post(&w->go);
}

void
worker_stop(struct worker *w)
{
	atomic_store_explicit(&w->stop, true, memory_order_relaxed);
}

struct worker_slot *
worker_slot(struct worker *w)
{
	return ring_first(w->ring);
}

void
worker_pop(struct worker *w)
{
	struct worker_slot *slot = ring_first(w->ring);

	sample_reset(&slot->s);
	slot->end_second = 0;
	ring_pop(w->ring);
}

uint64_t
worker_errors(const struct worker *w)
{
	return atomic_load_explicit(&w->errors, memory_order_relaxed);
}

bool
worker_is_done(const struct worker *w)
{
	return atomic_load_explicit(&w->done, memory_order_acquire);
}

const struct worker_report *
worker_report(const struct worker *w)
{
	assert(worker_is_done(w));
	return &w->report;
}
