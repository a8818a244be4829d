#include "analysis/figure.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum better { LOWER, HIGHER };

enum where { PEAK, HALF, RATE };

static const struct row {
	const char *name, *title, *unit;
	enum better better;
	enum where where;
	size_t offset; /* of a double in struct curve_point */
} rows[FIGURES] = {
#define FIGURE(symbol, name, title, unit, better, where, field) \
	{name, title, unit, better, where, offsetof(struct curve_point, field)},
#include "analysis/figure_tbl.h"
#undef FIGURE
};

static const struct row *
row_of(enum figure f)
{
	assert((unsigned)f < FIGURES);
	return &rows[f];
}

const char *
figure_name(enum figure f)
{
	return row_of(f)->name;
}

const char *
figure_title(enum figure f)
{
	return row_of(f)->title;
}

const char *
figure_unit(enum figure f)
{
	return row_of(f)->unit;
}

bool
figure_from_name(const char *name, enum figure *ret_f)
{
	for (int i = 0; i < FIGURES; i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		*ret_f = (enum figure)i;
		return true;
	}
	return false;
}

bool
figure_higher_is_better(enum figure f)
{
	return row_of(f)->better == HIGHER;
}

const char *
figure_better(enum figure f)
{
	return figure_higher_is_better(f) ? "higher" : "lower";
}

bool
figure_applies(enum figure f, const struct curve_point *points, size_t n)
{
	return (row_of(f)->where == RATE) == (n > 0 && curve_is_rate(&points[0]));
}

const struct curve_point *
figure_point(enum figure f, const struct curve_point *points, size_t n)
{
	size_t peak;

	if (!figure_applies(f, points, n))
		return NULL;
	if (row_of(f)->where == RATE)
		return &points[n - 1];
	if (row_of(f)->where == HALF)
		return curve_at(points, n, 50);
	return curve_peak(points, n, &peak) ? &points[peak] : NULL;
}

double
figure_of(enum figure f, const struct curve_point *points, size_t n)
{
	const struct curve_point *p = figure_point(f, points, n);
	double value;

	if (p == NULL)
		return (double)NAN;
	memcpy(&value, (const char *)p + row_of(f)->offset, sizeof(value));
	return value;
}
