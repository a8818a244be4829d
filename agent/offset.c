#include "agent/offset.h"

void
offset_add(struct offset *o, const struct offset_exchange *x)
{
	int64_t round = x->got_mono - x->sent_mono - x->held;
	int64_t base = x->got_wall - x->got_mono;
	int64_t moved = base - o->wall_less_mono;

	if (x->answered_wall <= 0 || x->held < 0 || round < 0)
		return;
	if (moved > OFFSET_STEP_NS || moved < -OFFSET_STEP_NS)
		o->n = o->next = 0;
	o->wall_less_mono = base;
	o->samples[o->next] = (struct offset_sample){
		.ahead_ns = x->got_wall - round / 2 - x->answered_wall,
		.round_ns = round,
		.got_mono = x->got_mono,
	};
	o->next = (o->next + 1) % OFFSET_SAMPLES;
	if (o->n < OFFSET_SAMPLES)
		o->n++;
}

static int64_t
doubt_of(const struct offset_sample *s, int64_t now_mono)
{
	return s->round_ns / 2 +
	       (int64_t)(OFFSET_DRIFT * (double)(now_mono - s->got_mono));
}

bool
offset_best(const struct offset *o, int64_t now_mono, int64_t *ret_ahead_ns,
	int64_t *ret_doubt_ns)
{
	for (size_t i = 0; i < o->n; i++) {
		int64_t doubt = doubt_of(&o->samples[i], now_mono);

		if (i > 0 && doubt >= *ret_doubt_ns)
			continue;
		*ret_ahead_ns = o->samples[i].ahead_ns;
		*ret_doubt_ns = doubt;
	}
	return o->n > 0;
}
