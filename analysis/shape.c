#include "analysis/shape.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* The standard deviation of normal noise, by its median absolute deviation. */
#define SIGMA_OF_MAD 1.4826

/* A second that counts. */
struct seen {
	double v;    /* speed */
	double at_s; /* start */
	double bytes_before;
};

struct look {
	const struct shape_second *s;
	size_t n;
	bool open_loop;
	double in_flight;
	bool *left_out;	   /* [n] */
	struct seen *seen; /* [n_seen] */
	size_t n_seen;
	double *scratch; /* [n] */
};

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts x. */
static double
median(double *x, size_t n)
{
	if (n == 0)
		return 0;
	qsort(x, n, sizeof(*x), by_value);
	return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* What a point's end has cut is no second. */
static void
leave_out_short(struct look *k)
{
	double usual;

	for (size_t i = 0; i < k->n; i++)
		k->scratch[i] = k->s[i].seconds;
	usual = median(k->scratch, k->n);
	for (size_t i = 0; i < k->n; i++)
		k->left_out[i] = k->s[i].seconds < usual / 2;
}

static void
note_stall(struct shape *r, double length_s, double at_s)
{
	r->stalls++;
	if (length_s <= r->stall_s)
		return;
	r->stall_s = length_s;
	r->stall_at_s = at_s > 0 ? at_s : 0;
}

/* Leaves out the seconds that reach into the span before the end of second i. */
static void
leave_out_before(struct look *k, size_t i, double span_s)
{
	for (size_t j = i + 1; j > 0 && span_s > 0; j--) {
		k->left_out[j - 1] = true;
		span_s -= k->s[j - 1].seconds;
	}
}

static bool
is_stall(const struct look *k, const struct shape_second *s, double usual_max_s)
{
	double excess = s->max_s - usual_max_s;
	double could = k->in_flight;

	if (excess < SHAPE_STALL_S || s->max_s < SHAPE_STALL_TIMES * usual_max_s)
		return false;
	if (k->open_loop)
		could = fmin(could, s->ops / s->seconds * excess);
	return s->held >= fmax(1, SHAPE_STALL_HELD * could);
}

/* Finds stalls by what ended in a second and had waited long. */
static void
find_stalls(struct look *k, struct shape *r)
{
	double at_s = 0, usual, none_s = 0;
	size_t m = 0;

	for (size_t i = 0; i < k->n; i++)
		if (k->s[i].ops > 0)
			k->scratch[m++] = k->s[i].max_s;
	usual = median(k->scratch, m);
	for (size_t i = 0; i < k->n; i++) {
		const struct shape_second *s = &k->s[i];

		at_s += s->seconds;
		none_s = s->ops > 0 || !s->waiting ? 0 : none_s + s->seconds;
		if (s->ops <= 0 || !is_stall(k, s, usual))
			continue;
		note_stall(r, s->max_s, at_s - s->seconds - s->max_s);
		leave_out_before(k, i, s->seconds + s->max_s);
	}
	if (none_s < SHAPE_STALL_S || m == 0)
		return;
	note_stall(r, none_s, at_s - none_s);
	leave_out_before(k, k->n - 1, none_s);
}

/* The speed of a second, NAN when it has none. */
static double
speed(const struct look *k, const struct shape_second *s)
{
	if (!k->open_loop)
		return s->ops / s->seconds;
	if (s->ops > 0)
		return s->mean_s > 0 ? 1 / s->mean_s : (double)NAN;
	return s->waiting ? 0 : (double)NAN;
}

static void
collect(struct look *k)
{
	double at_s = 0, bytes = 0;

	for (size_t i = 0; i < k->n; i++) {
		double v = speed(k, &k->s[i]);

		if (!k->left_out[i] && isfinite(v))
			k->seen[k->n_seen++] = (struct seen){v, at_s, bytes};
		at_s += k->s[i].seconds;
		bytes += k->s[i].bytes;
	}
}

static double
median_of(struct look *k, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		k->scratch[i - from] = k->seen[i].v;
	return median(k->scratch, to - from);
}

/* Squared residuals of the straight line that fits best. */
static double
line_residuals(const struct look *k)
{
	double n = (double)k->n_seen, mx = (n - 1) / 2, my = 0;
	double sxx = 0, sxy = 0, syy = 0;

	for (size_t i = 0; i < k->n_seen; i++)
		my += k->seen[i].v / n;
	for (size_t i = 0; i < k->n_seen; i++) {
		double x = (double)i - mx, y = k->seen[i].v - my;

		sxx += x * x;
		sxy += x * y;
		syy += y * y;
	}
	return sxx > 0 ? syy - sxy * sxy / sxx : syy;
}

/* The best place to cut the seconds in two levels; *ret_residuals: squares that stay. */
static size_t
best_cut(const struct look *k, double *ret_residuals)
{
	double all = 0, squares = 0, before = 0, best = (double)INFINITY;
	size_t n = k->n_seen, cut = 0;

	for (size_t i = 0; i < n; i++) {
		all += k->seen[i].v;
		squares += k->seen[i].v * k->seen[i].v;
	}
	for (size_t i = 1; i < n; i++) {
		double rest;

		before += k->seen[i - 1].v;
		if (i < SHAPE_LEVEL_SECONDS_MIN || n - i < SHAPE_LEVEL_SECONDS_MIN)
			continue;
		rest = squares - before * before / (double)i -
		       (all - before) * (all - before) / (double)(n - i);
		if (rest < best) {
			best = rest;
			cut = i;
		}
	}
	*ret_residuals = best > 0 ? best : 0;
	return cut;
}

/* Whether nearly all seconds lie on their level's side of the middle of both. */
static bool
keep_sides(const struct look *k, size_t cut, double middle)
{
	size_t above = 0, below = 0;

	for (size_t i = 0; i < cut; i++)
		above += k->seen[i].v > middle;
	for (size_t i = cut; i < k->n_seen; i++)
		below += k->seen[i].v < middle;
	return (double)above >= SHAPE_ON_SIDE * (double)cut &&
	       (double)below >= SHAPE_ON_SIDE * (double)(k->n_seen - cut);
}

static void
find_cliff(struct look *k, struct shape *r)
{
	double rest, high, low, sigma;
	size_t cut = best_cut(k, &rest);

	if (cut == 0 || rest > SHAPE_LINE * line_residuals(k))
		return;
	high = median_of(k, 0, cut);
	low = median_of(k, cut, k->n_seen);
	for (size_t i = 0; i < k->n_seen; i++)
		k->scratch[i] = fabs(k->seen[i].v - (i < cut ? high : low));
	sigma = SIGMA_OF_MAD * median(k->scratch, k->n_seen);
	if (low > SHAPE_FALL * high || high - low < SHAPE_SIGMAS * sigma ||
		!keep_sides(k, cut, (high + low) / 2))
		return;
	r->cliff = true;
	r->cliff_at_s = k->seen[cut].at_s;
	r->cliff_after_bytes = k->seen[cut].bytes_before;
	r->cliff_from = high;
	r->cliff_to = low;
}

/* Two levels of the sorted speeds: the cut with the least squares that stay. */
struct levels {
	double cut; /* slow below */
	double slow, fast;
	size_t n_slow, n_fast;
	double sigma; /* within the two */
};

static struct levels
find_levels(struct look *k)
{
	struct levels best = {0};
	double all = 0, squares = 0, below = 0, least = (double)INFINITY;
	size_t n = k->n_seen;

	for (size_t i = 0; i < n; i++) {
		k->scratch[i] = k->seen[i].v;
		all += k->seen[i].v;
		squares += k->seen[i].v * k->seen[i].v;
	}
	qsort(k->scratch, n, sizeof(*k->scratch), by_value);
	for (size_t i = 1; i < n; i++) {
		double slow, fast, rest;

		below += k->scratch[i - 1];
		slow = below / (double)i;
		fast = (all - below) / (double)(n - i);
		rest = squares - slow * below - fast * (all - below);
		if (rest >= least || k->scratch[i] <= k->scratch[i - 1])
			continue;
		least = rest;
		best = (struct levels){(k->scratch[i - 1] + k->scratch[i]) / 2, slow,
			fast, i, n - i, sqrt(fmax(0, rest) / (double)n)};
	}
	return best;
}

static void
find_spells(struct look *k, struct shape *r)
{
	struct levels l = find_levels(k);
	double least = fmax(2, SHAPE_SPELL_PART * (double)k->n_seen);
	double usual_s;
	unsigned spells = 0;
	bool was_fast = true;

	if (l.n_slow == 0 || (double)l.n_slow < least || (double)l.n_fast < least ||
		l.slow > SHAPE_SLOW * l.fast ||
		l.fast - l.slow < SHAPE_SPELL_SIGMAS * l.sigma)
		return;
	for (size_t i = 0; i < k->n_seen; i++) {
		bool slow = k->seen[i].v < l.cut;

		spells += slow && was_fast;
		was_fast = !slow;
	}
	if (spells < 2)
		return;
	for (size_t i = 0; i < k->n; i++)
		k->scratch[i] = k->s[i].seconds;
	usual_s = median(k->scratch, k->n);
	r->spells = spells;
	r->spells_s = usual_s * (double)l.n_slow;
	r->fast = l.fast;
	r->slow = l.slow;
}

void
shape_find(const struct shape_second *s, size_t n, bool open_loop, double in_flight,
	struct shape *ret_shape)
{
	struct look k = {.s = s, .n = n, .open_loop = open_loop, .in_flight = in_flight};

	*ret_shape = (struct shape){.seconds = n, .rate = !open_loop};
	if (n < SHAPE_SECONDS_MIN)
		return;
	k.left_out = xcalloc(n, sizeof(*k.left_out));
	k.seen = xcalloc(n, sizeof(*k.seen));
	k.scratch = xcalloc(n, sizeof(*k.scratch));
	leave_out_short(&k);
	find_stalls(&k, ret_shape);
	collect(&k);
	if (k.n_seen >= SHAPE_SECONDS_MIN)
		find_cliff(&k, ret_shape);
	if (!ret_shape->cliff && k.n_seen >= SHAPE_SPELL_SECONDS_MIN)
		find_spells(&k, ret_shape);
	free(k.left_out);
	free(k.seen);
	free(k.scratch);
}
