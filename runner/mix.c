#include "runner/mix.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "runner/draw.h"

/* Where random blocks of one size may begin: n places, `stride` bytes apart. */
struct places {
	uint64_t first, n; /* first: bytes from the start of the region, or of a piece */
};

/* The block sizes of one direction. */
struct sizes {
	struct alias which;
	uint32_t bytes[FLOW_BLOCKS_MAX];
	uint32_t stride[FLOW_BLOCKS_MAX];
	struct places places[FLOW_ZONES_MAX][FLOW_BLOCKS_MAX]; /* zipf: of a piece */
};

/* A sequential part, bytes from the start of the region. */
struct cursor {
	uint64_t first, at, end;
};

struct source {
	uint64_t read_below, random_below; /* of 2^32 */
	uint8_t dir;			   /* enum direction of what does not read */
	bool fua;
	struct sizes sizes[DATA_DIRECTIONS];
	struct alias zones;
	bool ranked; /* zipf */
	struct zipf zipf;
	struct scatter scatter;
	uint64_t first_piece, piece_bytes;
	unsigned turn, n_cursors;
	struct cursor cursors[FLOW_CURSORS_MAX];
};

struct mix {
	uint64_t offset;
	struct alias which;
	/* The last I/O: its source, its size of these, whether its place was drawn. */
	struct source *last;
	const struct sizes *sizes;
	unsigned size;
	bool was_random;
	size_t n;
	struct source sources[];
};

static void
set_sizes(struct source *src, const struct flow *s, enum direction dir, uint64_t length)
{
	const struct block_mix *m = &s->blocks[dir];
	struct sizes *to = &src->sizes[dir];
	size_t zones = s->n_zones > 0 ? s->n_zones : 1;
	double weights[FLOW_BLOCKS_MAX];

	for (size_t i = 0; i < m->n; i++) {
		weights[i] = m->list[i].percent;
		to->bytes[i] = m->list[i].bytes;
		to->stride[i] = flow_stride(s, m->list[i].bytes);
	}
	if (m->n > 0)
		alias_init(&to->which, weights, m->n);
	for (size_t z = 0; z < zones; z++) {
		struct span span = flow_zone_span(s, z, length);

		if (src->ranked)
			span = (struct span){0, src->piece_bytes};
		for (size_t i = 0; i < m->n; i++) {
			struct places *p = &to->places[z][i];

			p->n = span_positions(
				span, to->bytes[i], to->stride[i], &p->first);
		}
	}
}

static void
set_zones(struct source *src, const struct flow *s)
{
	double weights[FLOW_ZONES_MAX] = {100};

	for (size_t z = 0; z < s->n_zones; z++)
		weights[z] = s->zones[z].share_percent;
	alias_init(&src->zones, weights, s->n_zones > 0 ? s->n_zones : 1);
}

static void
set_ranks(struct source *src, const struct flow *s, uint64_t length)
{
	uint64_t n;

	if (s->spread != SPREAD_ZIPF || s->random_percent <= 0)
		return;
	src->ranked = true;
	src->piece_bytes = flow_piece_bytes(s);
	n = span_positions(flow_part(s, length), src->piece_bytes, src->piece_bytes,
		&src->first_piece);
	assert(n > 0);
	zipf_init(&src->zipf, n, s->theta);
	scatter_init(&src->scatter, n);
}

/* The parts of all cursors of all workers are of one size and follow each other. */
static void
set_cursors(struct source *src, const struct flow *s, const struct mix_config *c)
{
	uint64_t block = flow_block_max(s);
	uint64_t all = (uint64_t)c->shares * s->cursors;
	uint64_t first, blocks;

	if (block == 0)
		return; /* only flushes */
	blocks = span_positions(flow_part(s, c->length), block, block, &first);
	src->n_cursors = s->cursors;
	for (unsigned i = 0; i < s->cursors; i++) {
		uint64_t k = (uint64_t)c->share * s->cursors + i;
		struct cursor *to = &src->cursors[i];

		to->first = first + (uint64_t)((rng_wide)blocks * k / all) * block;
		to->end = first + (uint64_t)((rng_wide)blocks * (k + 1) / all) * block;
		to->at = to->first;
		assert(s->random_percent >= 100 || to->end > to->first);
	}
}

struct mix *
mix_new(const struct mix_config *c)
{
	const struct workload *w = c->workload;
	struct mix *m = xcalloc(1, sizeof(*m) + w->n_streams * sizeof(m->sources[0]));
	double weights[WORKLOAD_STREAMS_MAX];

	assert(w->n_streams > 0 && w->n_streams <= WORKLOAD_STREAMS_MAX);
	m->offset = c->offset;
	m->n = w->n_streams;
	for (size_t i = 0; i < w->n_streams; i++) {
		const struct flow *s = &w->streams[i];
		struct source *src = &m->sources[i];

		weights[i] = s->share_percent;
		src->read_below = rng_threshold(s->read_percent);
		src->random_below = rng_threshold(s->random_percent);
		src->dir = (uint8_t)operation_direction(s->operation);
		src->fua = s->operation == OP_WRITE_FUA;
		set_ranks(src, s, c->length);
		set_zones(src, s);
		set_cursors(src, s, c);
		for (int d = 0; d < DATA_DIRECTIONS; d++)
			set_sizes(src, s, (enum direction)d, c->length);
	}
	alias_init(&m->which, weights, w->n_streams);
	return m;
}

void
mix_free(struct mix *m)
{
	free(m);
}

static uint64_t
random_place(
	const struct source *src, struct rng *r, const struct sizes *sizes, unsigned i)
{
	const struct places *p = &sizes->places[0][i];
	uint64_t base = 0;

	if (src->ranked)
		base = src->first_piece +
		       scatter_place(&src->scatter, zipf_draw(&src->zipf, r)) *
			       src->piece_bytes;
	else
		p = &sizes->places[alias_draw(&src->zones, r)][i];
	if (p->n > 1)
		base += rng_below(r, p->n) * sizes->stride[i];
	return base + p->first;
}

static uint64_t
next_place(struct source *src, uint32_t bytes)
{
	struct cursor *c = &src->cursors[src->turn];
	uint64_t at;

	src->turn = src->turn + 1 == src->n_cursors ? 0 : src->turn + 1;
	if (c->end - c->at < bytes)
		c->at = c->first;
	at = c->at;
	c->at += bytes;
	return at;
}

void
mix_again(struct mix *m, struct rng *r, struct io *io)
{
	if (m->was_random)
		io->offset = m->offset + random_place(m->last, r, m->sizes, m->size);
	else
		io->offset = m->offset + next_place(m->last, io->length);
}

void
mix_next(struct mix *m, struct rng *r, struct io *io)
{
	struct source *src = &m->sources[alias_draw(&m->which, r)];
	uint64_t draw = rng_next(r);
	bool read = (draw & UINT32_MAX) < src->read_below;

	io->dir = read ? (uint8_t)DIR_READ : src->dir;
	io->fua = !read && src->fua;
	if (io->dir == DIR_FLUSH) {
		io->offset = m->offset;
		io->length = 0;
		return;
	}
	m->last = src;
	m->sizes = &src->sizes[read ? DIR_READ : DIR_WRITE];
	m->size = alias_draw(&m->sizes->which, r);
	io->length = m->sizes->bytes[m->size];
	m->was_random = draw >> 32 < src->random_below;
	mix_again(m, r, io);
}
