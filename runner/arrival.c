#include "runner/arrival.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "runner/rng.h"

/*
 * waiting is a circle of due times: taken and arrived only grow.
 *
 * The arrivals left in a span are as many independent uniform draws over what is left of
 * it, so the next one is the smallest of n of them: left * (1 - U^(1/n)), with U uniform
 * and -log(U) exponential.
 */
struct arrival {
	struct arrival_config c;
	struct rng rng;
	int64_t start_ns;
	int64_t next_ns;
	double gap_ns;
	uint64_t fixed; /* arrivals drawn so far */
	unsigned span;
	double span_start_ns, left_ns; /* of the span, relative to start_ns */
	uint64_t left;		       /* arrivals yet to be drawn in it */
	int64_t *waiting;
	unsigned taken, arrived;
};

struct arrival *
arrival_new(const struct arrival_config *c)
{
	struct arrival *a = xcalloc(1, sizeof(*a));

	assert(c->rate > 0 && (c->backlog_max & (c->backlog_max - 1)) == 0);
	a->c = *c;
	a->gap_ns = 1e9 / c->rate;
	a->waiting = xcalloc(c->backlog_max, sizeof(*a->waiting));
	/* Touched now, so that overload does not meet page faults. */
	for (unsigned i = 0; i < c->backlog_max; i++)
		a->waiting[i] = -1;
	return a;
}

void
arrival_free(struct arrival *a)
{
	if (a == NULL)
		return;
	free(a->waiting);
	free(a);
}

static void
enter_span(struct arrival *a, unsigned span)
{
	a->span = span;
	a->left_ns = (double)a->c.span_ns[span];
	a->left = (uint64_t)llround(a->c.rate * a->left_ns / 1e9);
	if (span > 0)
		a->span_start_ns += (double)a->c.span_ns[span - 1];
}

static int64_t
next_fixed(struct arrival *a)
{
	double at = ((double)a->fixed++ + a->c.phase) * a->gap_ns;
	double end = (double)(a->c.span_ns[0] + a->c.span_ns[1]);

	return at < end ? a->start_ns + (int64_t)at : INT64_MAX;
}

static int64_t
next_poisson(struct arrival *a)
{
	double x;

	while (a->left == 0) {
		if (a->span + 1 == ARRIVAL_SPANS)
			return INT64_MAX;
		enter_span(a, a->span + 1);
	}
	x = rng_exponential(&a->rng) / (double)a->left;
	/* exp(-x); the series is exact to 1e-17 there and five times faster. */
	a->left_ns *= x < 1e-4 ? 1 - x * (1 - x * (0.5 - x / 6)) : exp(-x);
	a->left--;
	return a->start_ns +
	       (int64_t)(a->span_start_ns + (double)a->c.span_ns[a->span] - a->left_ns);
}

static void
draw(struct arrival *a)
{
	a->next_ns = a->c.kind == ARRIVALS_FIXED ? next_fixed(a) : next_poisson(a);
}

void
arrival_start(struct arrival *a, int64_t start_ns)
{
	a->start_ns = start_ns;
	a->fixed = 0;
	a->span_start_ns = 0;
	a->taken = 0;
	a->arrived = 0;
	rng_init(&a->rng, a->c.seed, UINT64_C(0x6172726976616c));
	enter_span(a, 0);
	draw(a);
}

uint64_t
arrival_advance(struct arrival *a, int64_t now_ns)
{
	uint64_t dropped = 0;

	for (; a->next_ns <= now_ns; draw(a)) {
		if (a->arrived - a->taken == a->c.backlog_max)
			dropped++;
		else
			a->waiting[a->arrived++ & (a->c.backlog_max - 1)] = a->next_ns;
	}
	return dropped;
}

unsigned
arrival_waiting(const struct arrival *a)
{
	return a->arrived - a->taken;
}

int64_t
arrival_take(struct arrival *a)
{
	assert(a->arrived != a->taken);
	return a->waiting[a->taken++ & (a->c.backlog_max - 1)];
}

int64_t
arrival_next(const struct arrival *a)
{
	return a->next_ns;
}
