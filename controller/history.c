#include "controller/history.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What is proven after the entries so far. */
struct proof {
	bool purged;		  /* and nothing came between that and the fill */
	uint32_t passes;	  /* of the fill, 0: none */
	struct history_fill fill; /* as it was asked for */
	uint64_t fill_step;
	int64_t run; /* that touched the drive last */
	bool taken;  /* it has not let go of it */
	const char *witness;
	char why[300]; /* nothing is proven */
};

static void lose(struct proof *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Nothing is proven any more. */
static void
lose(struct proof *p, const char *fmt, ...)
{
	va_list ap;

	p->purged = false;
	p->passes = 0;
	va_start(ap, fmt);
	if (vsnprintf(p->why, sizeof(p->why), fmt, ap) < 0)
		p->why[0] = '\0';
	va_end(ap);
}

static bool
proves_something(const struct proof *p)
{
	return p->purged || p->passes > 0;
}

static void
found(struct proof *p, const struct history_entry *x)
{
	if (proves_something(p) && p->taken)
		lose(p, "r%" PRId64 " has not told how it left the drive", p->run);
	else if (proves_something(p) &&
		 (x->text[0] == '\0' || strcmp(x->text, p->witness) != 0))
		lose(p, "r%" PRId64 " did not find the drive as r%" PRId64 " left it",
			x->run, p->run);
	p->taken = true;
}

static void
purged(struct proof *p, const struct history_entry *x)
{
	lose(p, "the purge of r%" PRId64 " was not done to its end", x->run);
	p->purged = x->done;
}

static void
filled(struct proof *p, const struct history_entry *x)
{
	bool alone = p->purged && p->passes == 0;

	if (!x->done) {
		lose(p, "the fill of r%" PRId64 " was not done to its end", x->run);
		return;
	}
	/* another fill than the one that was going on; it comes on top */
	if (p->passes == 0 || p->fill_step != x->step) {
		p->purged = alone;
		p->passes = 0;
		p->fill_step = x->step;
		p->fill = x->fill;
	}
	p->passes++;
}

static void
follow(struct proof *p, const struct history_entry *x)
{
	switch (x->kind) {
	case HISTORY_FOUND:
		found(p, x);
		break;
	case HISTORY_PURGE:
		purged(p, x);
		break;
	case HISTORY_FILL:
		filled(p, x);
		break;
	case HISTORY_WRITE:
		lose(p, "r%" PRId64 " has written to it since (%.100s)", x->run, x->text);
		break;
	case HISTORY_LEFT:
		p->taken = false;
		p->witness = x->text;
		break;
	case HISTORY_UNKNOWN:
		lose(p, "%.250s", x->text);
		return;
	}
	p->run = x->run;
}

static bool
fills_equal(const struct history_fill *a, const struct history_fill *b)
{
	return a->passes == b->passes && a->block_bytes == b->block_bytes &&
	       a->in_flight == b->in_flight &&
	       a->data.compress_percent == b->data.compress_percent &&
	       a->data.dedupe_percent == b->data.dedupe_percent;
}

/* What the proof means for what is wanted. */
static void
conclude(const struct proof *p, const struct history_wanted *w, struct history_verdict *v)
{
	bool fill = w->fill.passes > 0;

	if (p->passes > 0 && !fill)
		snprintf(v->why, sizeof(v->why), "it was filled since its purge");
	else if (p->passes > 0 && (p->purged != w->purge))
		snprintf(v->why, sizeof(v->why), "it was filled %s a purge before",
			p->purged ? "with" : "without");
	else if (p->passes > 0 &&
		 (p->passes != p->fill.passes || !fills_equal(&p->fill, &w->fill)))
		snprintf(v->why, sizeof(v->why), "it was filled in another way");
	else if (p->passes > 0)
		v->skip_fill = true;
	else if (fill || !w->purge)
		snprintf(v->why, sizeof(v->why), "it was purged and not filled");
	v->skip_purge = w->purge && (v->skip_fill || p->passes == 0);
}

void
history_judge(const struct history_entry *list, size_t n, const struct history_wanted *w,
	struct history_verdict *ret_v)
{
	struct proof p = {.witness = ""};

	*ret_v = (struct history_verdict){.witness = ""};
	lose(&p, "no purge or fill of it is known");
	for (size_t i = 0; i < n; i++)
		follow(&p, &list[i]);
	if (!w->purge && w->fill.passes == 0)
		return;
	if (proves_something(&p) && p.taken)
		lose(&p, "r%" PRId64 " has not told how it left the drive", p.run);
	else if (proves_something(&p) && p.witness[0] == '\0')
		lose(&p, "r%" PRId64 " could not tell how it left the drive", p.run);
	if (proves_something(&p))
		conclude(&p, w, ret_v);
	else
		memcpy(ret_v->why, p.why, sizeof(p.why));
	if (ret_v->skip_purge || ret_v->skip_fill) {
		ret_v->run = p.run;
		ret_v->witness = p.witness;
	}
}
