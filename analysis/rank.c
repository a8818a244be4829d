#include "analysis/rank.h"

#include <math.h>
#include <stdlib.h>

static int
lower_first(const void *va, const void *vb)
{
	const struct rank_entry *a = va;
	const struct rank_entry *b = vb;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int
higher_first(const void *va, const void *vb)
{
	const struct rank_entry *a = va;
	const struct rank_entry *b = vb;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static double
percent(double part, double whole)
{
	return whole > 0 ? part / whole * 100 : (double)NAN;
}

void
rank_order(struct rank_entry *entries, size_t n, bool higher_is_better)
{
	if (n == 0)
		return;
	qsort(entries, n, sizeof(entries[0]),
		higher_is_better ? higher_first : lower_first);
	for (size_t i = 0; i < n; i++) {
		struct rank_entry *e = &entries[i];
		bool tied = i > 0 && e->value == entries[i - 1].value;

		e->rank = tied ? entries[i - 1].rank : i + 1;
		e->percent_of_best = higher_is_better
					     ? percent(e->value, entries[0].value)
					     : percent(entries[0].value, e->value);
	}
}
