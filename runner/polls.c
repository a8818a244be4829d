#include "runner/polls.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/xalloc.h"
#include "runner/chore.h"

struct polls {
	int (*read)(void *arg, struct err *e);
	void *arg;
	struct chore *chore;
	struct polls_report r; /* of the chore's thread, until that has ended */
};

/* A read that fails is counted, and is no reason to ask no more. */
static int
poll_once(void *arg, struct err *e)
{
	struct polls *p = arg;
	struct polls_report *r = &p->r;
	struct err failure = {0};
	int64_t took = clock_mono();
	int rc = p->read(p->arg, &failure);

	(void)e;
	took = clock_mono() - took;
	if (rc != 0 && r->failed++ == 0)
		snprintf(r->why, sizeof(r->why), "%.199s", failure.text);
	r->n++;
	r->sum_ns += took;
	if (took > r->max_ns)
		r->max_ns = took;
	return 0;
}

int
polls_start(struct polls **ret_p, int (*read)(void *arg, struct err *e), void *arg,
	int64_t period_ns, struct err *e)
{
	struct polls *p = xcalloc(1, sizeof(*p));

	p->read = read;
	p->arg = arg;
	p->r.period_ns = period_ns;
	if (chore_start(&p->chore, poll_once, p, period_ns, e) != 0) {
		free(p);
		e->class = ERR_STATE; /* of this host at this moment */
		return -1;
	}
	*ret_p = p;
	return 0;
}

void
polls_stop(struct polls *p, struct polls_report *ret_r)
{
	*ret_r = (struct polls_report){0};
	if (p == NULL)
		return;
	chore_stop(p->chore, NULL);
	*ret_r = p->r;
	free(p);
}

json_t *
polls_json(const struct polls_report *r)
{
	json_t *o = json_object();

	json_put(o, "period_ns", json_u64((uint64_t)r->period_ns));
	json_put(o, "polls", json_u64(r->n));
	json_put(o, "failed", json_u64(r->failed));
	json_put(o, "mean_ns",
		r->n > 0 ? json_real((double)r->sum_ns / (double)r->n) : json_null());
	json_put(o, "max_ns", r->n > 0 ? json_integer(r->max_ns) : json_null());
	json_put(o, "why", r->failed > 0 ? json_text(r->why) : json_null());
	return o;
}
