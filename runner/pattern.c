#include "runner/pattern.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The part of n blocks that worker share of shares has. */
static uint64_t
share_start(uint64_t n, unsigned share, unsigned shares)
{
	return (uint64_t)((rng_wide)n * share / shares);
}

static struct mix *
new_mix(const struct pattern_config *c)
{
	const struct mix_config m = {
		.offset = c->offset,
		.length = c->length,
		.workload = c->workload,
		.share = c->share,
		.shares = c->shares,
	};

	return mix_new(&m);
}

void
pattern_init(struct pattern *p, const struct pattern_config *c)
{
	uint64_t length = c->one_pass != 0 ? c->one_pass : c->length;
	uint32_t block = workload_block_max(c->workload);
	uint64_t blocks = length / block;

	assert(c->share < c->shares && length <= c->length);
	memset(p, 0, sizeof(*p));
	rng_init(&p->rng, c->seed, c->share);
	if (!workload_is_plain(c->workload)) {
		assert(c->one_pass == 0);
		p->mix = new_mix(c);
		return;
	}
	p->offset = c->offset;
	p->blocks = blocks;
	p->block_bytes = block;
	p->once = c->one_pass != 0;
	if (!p->once) {
		p->read_below = rng_threshold(workload_read_percent(c->workload));
		p->random_below = rng_threshold(workload_random_percent(c->workload));
	}
	p->first = c->offset + share_start(blocks, c->share, c->shares) * block;
	p->end = c->offset + share_start(blocks, c->share + 1, c->shares) * block;
	if (p->once && c->share + 1 == c->shares)
		p->end = c->offset + length;
	p->cursor = p->first;
}

void
pattern_fini(struct pattern *p)
{
	mix_free(p->mix);
	p->mix = NULL;
}

bool
pattern_again(struct pattern *p, struct io *io)
{
	if (p->mix != NULL) {
		mix_again(p->mix, &p->rng, io);
		return true;
	}
	if (p->once)
		return false;
	if (p->was_random) {
		io->offset = p->offset + rng_below(&p->rng, p->blocks) * p->block_bytes;
		return true;
	}
	if (p->cursor == p->end)
		p->cursor = p->first;
	io->offset = p->cursor;
	p->cursor += io->length;
	return true;
}
