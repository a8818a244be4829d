/*
 * rank - an order of values by one figure, with ties. Pure.
 */
#ifndef ANALYSIS_RANK_H
#define ANALYSIS_RANK_H

#include <stdbool.h>
#include <stddef.h>

struct rank_entry {
	double value; /* finite */
	size_t index; /* the caller's: what the value belongs to */
	size_t rank; /* from 1; equal values share one, the next is counted on: 1, 1, 3 */
	double percent_of_best; /* 100 for the best; NAN when it cannot be told (best is
				   0) */
};

/*
 * rank_order sorts n entries, best first, and fills rank and percent_of_best. Equal
 * values stay in the order of their index. For figures where lower is better,
 * percent_of_best is best / value.
 */
void rank_order(struct rank_entry *entries, size_t n, bool higher_is_better);

#endif
