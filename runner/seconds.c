#include "runner/seconds.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/shape.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/record.h"
#include "common/xalloc.h"

void
seconds_reset(struct seconds *s)
{
	s->n = 0;
}

void
seconds_fini(struct seconds *s)
{
	free(s->items);
	*s = (struct seconds){0};
}

/* How many values lie above ns, by whole buckets. */
static uint64_t
above(const struct hist *h, uint64_t ns)
{
	uint64_t n = 0;

	for (unsigned i = hist_index(ns) + 1; h->n > 0 && i < HIST_BUCKETS; i++)
		n += h->count[i];
	return n;
}

static void
boil_down(const struct sample *s, struct shape_second *ret)
{
	uint64_t max_ns = 0, held = 0;
	double sum_ns = 0;

	*ret = (struct shape_second){.seconds = (double)s->length_ns / (double)NS_PER_S,
		.waiting = s->in_flight > 0 || s->backlog > 0};
	for (int d = 0; d < DIRECTIONS; d++) {
		const struct hist *h = &s->service[d];

		ret->ops += (double)s->ops[d];
		ret->bytes += (double)s->bytes[d];
		sum_ns += hist_mean(h) * (double)h->n;
		if (h->n > 0 && h->max_ns > max_ns)
			max_ns = h->max_ns;
	}
	for (int d = 0; d < DIRECTIONS; d++)
		held += above(&s->service[d], max_ns / 2);
	if (ret->ops > 0)
		ret->mean_s = sum_ns / ret->ops / (double)NS_PER_S;
	ret->max_s = (double)max_ns / (double)NS_PER_S;
	ret->held = (double)held;
}

void
seconds_add(struct seconds *s, const struct sample *sample)
{
	if ((sample->flags & SAMPLE_WARMUP) != 0 || sample->length_ns <= 0)
		return;
	if (s->n == s->cap) {
		s->cap = s->cap > 0 ? 2 * s->cap : 128;
		s->items = xrealloc(s->items, s->cap, sizeof(*s->items));
	}
	boil_down(sample, &s->items[s->n++]);
}

void
seconds_shape(const struct seconds *s, bool open_loop, double in_flight,
	struct shape *ret_shape)
{
	shape_find(s->items, s->n, open_loop, in_flight, ret_shape);
}

static json_t *
time_ns(double seconds)
{
	return json_u64((uint64_t)llround(seconds * (double)NS_PER_S));
}

json_t *
seconds_json(const struct shape *h)
{
	json_t *o = json_object();
	json_t *part;

	json_put(o, "seconds", json_integer((json_int_t)h->seconds));
	json_put(o, "speed", json_string(h->rate ? "iops" : "service"));
	if (h->cliff) {
		part = json_object();
		json_put(part, "at_ns", time_ns(h->cliff_at_s));
		json_put(part, "after_bytes", json_u64((uint64_t)h->cliff_after_bytes));
		json_put(part, "from", json_real(h->cliff_from));
		json_put(part, "to", json_real(h->cliff_to));
		json_put(o, "cliff", part);
	}
	if (h->spells > 0) {
		part = json_object();
		json_put(part, "count", json_integer(h->spells));
		json_put(part, "length_ns", time_ns(h->spells_s));
		json_put(part, "fast", json_real(h->fast));
		json_put(part, "slow", json_real(h->slow));
		json_put(o, "spells", part);
	}
	if (h->stalls > 0) {
		part = json_object();
		json_put(part, "count", json_integer(h->stalls));
		json_put(part, "longest_ns", time_ns(h->stall_s));
		json_put(part, "at_ns", time_ns(h->stall_at_s));
		json_put(o, "stalls", part);
	}
	return o;
}
