/*
 * hist - latency histogram: log-linear, 64 buckets per power of two, mergeable.
 *
 * The mapping is fio's (stat.h, FIO_IO_U_PLAT_BITS 6) with more groups, so that fio's
 * json+ bins merge with ours: values below 128 ns are exact, above that a bucket is at
 * most 1/64 of its value wide (1/128 from its middle). Values of 2^40 ns and more count
 * in the last bucket; minimum, maximum and sum are exact (the sum up to HIST_SUM_MAX).
 * Plain data, owned by whoever declares it; one writer.
 */
#ifndef COMMON_HIST_H
#define COMMON_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define HIST_SUB_BITS 6
#define HIST_GROUPS 35
#define HIST_BUCKETS (HIST_GROUPS << HIST_SUB_BITS)

/* 146 years of waiting, all I/Os together. */
#define HIST_SUM_MAX (UINT64_C(1) << 62)

struct hist {
	uint64_t count[HIST_BUCKETS]; /* I/Os per bucket; hist_low and hist_high give its
					 ns */
	uint64_t n;		      /* sum of count */
	uint64_t sum_ns; /* merging stops at HIST_SUM_MAX: then it is not known */
	uint64_t min_ns; /* 0 when n is 0 */
	uint64_t max_ns;
};

/* hist_index returns the bucket of a latency. */
static inline unsigned
hist_index(uint64_t ns)
{
	unsigned msb, shift;

	if (ns < (2U << HIST_SUB_BITS))
		return (unsigned)ns;
	msb = 63U - (unsigned)__builtin_clzll(ns);
	if (msb >= HIST_GROUPS + HIST_SUB_BITS - 1)
		return HIST_BUCKETS - 1;
	shift = msb - HIST_SUB_BITS;
	return ((shift + 1) << HIST_SUB_BITS) +
	       (unsigned)((ns >> shift) & ((1U << HIST_SUB_BITS) - 1));
}

/* hist_add counts one latency. The hot path: no branch on anything but the value. */
static inline void
hist_add(struct hist *h, uint64_t ns)
{
	h->count[hist_index(ns)]++;
	h->sum_ns += ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	if (h->n++ == 0 || ns < h->min_ns)
		h->min_ns = ns;
}

/* hist_reset empties h. */
void hist_reset(struct hist *h);

/*
 * hist_is_sound says whether h can be one of values that were added: its counts sum up to
 * n, and its extremes and its sum are possible in its buckets.
 */
bool hist_is_sound(const struct hist *h);

/* hist_merge adds the counters of from to h. */
void hist_merge(struct hist *h, const struct hist *from);

/* hist_low and hist_high return the first and the last ns of a bucket. */
uint64_t hist_low(unsigned bucket);
uint64_t hist_high(unsigned bucket);

/*
 * hist_percentile returns the upper bound of the first bucket with at least ceil(q * n)
 * values at or below it, never more than max_ns; q in 0..1. 0 when h is empty.
 */
uint64_t hist_percentile(const struct hist *h, double q);

/* hist_percentile_known says whether at least 10 values lie beyond q: n * (1 - q) >= 10.
 */
bool hist_percentile_known(const struct hist *h, double q);

/* hist_mean returns the mean in ns, 0 when h is empty; from the middles of the buckets
 * when the sum is full. */
double hist_mean(const struct hist *h);

/* Largest number of bytes hist_encode can write. */
#define HIST_ENCODED_MAX (HIST_BUCKETS * 12 + 40)

/*
 * hist_encode writes h sparse (schema/wire.md, "Histogram") to buf of cap >=
 * HIST_ENCODED_MAX bytes; returns the number of bytes. An empty histogram is one byte.
 */
size_t hist_encode(const struct hist *h, uint8_t *buf, size_t cap);

/*
 * hist_decode reads what hist_encode wrote; *ret_used is the number of bytes read. Bytes
 * are not trusted: ERR_INVALID for anything that hist_encode cannot have written.
 */
int hist_decode(
	struct hist *h, const uint8_t *buf, size_t len, size_t *ret_used, struct err *e);

#endif
