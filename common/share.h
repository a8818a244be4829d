/*
 * share - small arithmetic of parts: percentages that make a whole, and the divisor that
 * two lengths share.
 */
#ifndef COMMON_SHARE_H
#define COMMON_SHARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct err;

/* share_is_percent says whether x is 0..100. */
static inline bool
share_is_percent(double x)
{
	return x >= 0 && x <= 100;
}

/* share_is_whole says whether a sum of percentages is 100 but for what adding decimal
 * fractions loses. */
static inline bool
share_is_whole(double sum)
{
	return sum > 100 - 1e-6 && sum < 100 + 1e-6;
}

/* share_divisor returns the largest number that divides both; one of them may be 0. */
static inline uint64_t
share_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * share_need reads a member that is a text of at most 100 percent, "80%"; what: begins
 * the sentence of the error, "a share of I/Os". ERR_INVALID with pointer at/name.
 */
int share_need(const json_t *o, const char *at, const char *name, const char *what,
	double *ret_percent, struct err *e);

#endif
