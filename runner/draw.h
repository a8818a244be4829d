/*
 * draw - discrete distributions, drawn in constant time and without memory of their own.
 *
 * alias: a few outcomes with weights, by Walker's method of aliases (A. J. Walker, "An
 * efficient method for generating discrete random variables with general distributions",
 * ACM TOMS 3, 1977; tables as in M. D. Vose, IEEE TSE 17, 1991).
 *
 * zipf: rank k of n with weight k^-theta, by rejection-inversion (W. Hoermann and
 * G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
 * distributions", ACM TOMACS 6, 1996). Any n and any theta above 0 cost the same: fewer
 * than two tries on average.
 *
 * scatter: a bijection of ranks to places, so that the first ranks, which are the hot
 * ones, lie far from each other: multiples of about n divided by the golden ratio, modulo
 * n (D. E. Knuth, "The Art of Computer Programming" 3, 6.4, theorem S: such points divide
 * an interval most evenly). The same for each seed.
 *
 * Pure, one thread.
 */
#ifndef RUNNER_DRAW_H
#define RUNNER_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "runner/rng.h"

#define ALIAS_MAX 16

struct alias {
	uint32_t n;
	uint8_t other[ALIAS_MAX];
	uint64_t keep[ALIAS_MAX]; /* of 2^64: where draw i stays i; else it is other[i] */
};

struct zipf {
	double theta;
	double high, low; /* H(n + 1/2), H(3/2) - h(1): what is inverted is between */
	double near;	  /* so near to the inverse a rank needs no second look */
	double n;
};

struct scatter {
	uint64_t n, factor; /* coprime */
};

/* alias_init makes n outcomes, 1..ALIAS_MAX, with weights above 0 of any sum. */
void alias_init(struct alias *a, const double *weights, size_t n);

/* alias_draw returns an outcome, 0..n-1; with one outcome it draws nothing. */
static inline unsigned
alias_draw(const struct alias *a, struct rng *r)
{
	rng_wide wide;
	unsigned i;

	if (a->n == 1)
		return 0;
	wide = (rng_wide)rng_next(r) * a->n;
	i = (unsigned)(wide >> 64);
	return (uint64_t)wide < a->keep[i] ? i : a->other[i];
}

/* zipf_init: n from 1, theta above 0. */
void zipf_init(struct zipf *z, uint64_t n, double theta);

/* zipf_share returns the share of draws that fall on the first m of n ranks, to 1e-5. */
double zipf_share(double theta, uint64_t n, uint64_t m);

/* zipf_draw returns a rank, 1..n. */
uint64_t zipf_draw(const struct zipf *z, struct rng *r);

/* scatter_init: n from 1. */
void scatter_init(struct scatter *s, uint64_t n);

/* scatter_place returns the place, 0..n-1, of rank 1..n. */
static inline uint64_t
scatter_place(const struct scatter *s, uint64_t rank)
{
	return (uint64_t)((rng_wide)rank * s->factor % s->n);
}

#endif
