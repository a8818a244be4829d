#include "common/hist.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/err.h"

/*
 * Encoding, all numbers as varints (7 bits a byte, low bits first, shortest form):
 *
 *   k                    non-empty buckets; 0 ends an empty histogram
 *   min, max - min, sum  ns
 *   k times: empty buckets since the last one, count - 1
 */

/* Far above what a test can count, low enough that sums of many decoded ones hold. */
#define N_MAX (UINT64_C(1) << 48)
#define NS_MAX HIST_SUM_MAX

struct reader {
	const uint8_t *p;
	const uint8_t *end;
};

void
hist_reset(struct hist *h)
{
	memset(h, 0, sizeof(*h));
}

void
hist_merge(struct hist *h, const struct hist *from)
{
	if (from->n == 0)
		return;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		h->count[i] += from->count[i];
	if (h->n == 0 || from->min_ns < h->min_ns)
		h->min_ns = from->min_ns;
	if (from->max_ns > h->max_ns)
		h->max_ns = from->max_ns;
	h->n += from->n;
	h->sum_ns += from->sum_ns;
	if (h->sum_ns > HIST_SUM_MAX)
		h->sum_ns = HIST_SUM_MAX;
}

uint64_t
hist_low(unsigned bucket)
{
	unsigned group = bucket >> HIST_SUB_BITS;
	uint64_t sub = bucket & ((1U << HIST_SUB_BITS) - 1);

	assert(bucket < HIST_BUCKETS);
	if (group < 2)
		return bucket;
	return ((UINT64_C(1) << HIST_SUB_BITS) + sub) << (group - 1);
}

uint64_t
hist_high(unsigned bucket)
{
	unsigned group = bucket >> HIST_SUB_BITS;
	uint64_t width = group < 2 ? 1 : UINT64_C(1) << (group - 1);

	return hist_low(bucket) + width - 1;
}

/* The rank of quantile q among n values, 1..n. The product of two rounded numbers must
 * not push 99.0 % of 100 to rank 100, hence the margin. */
static uint64_t
rank_of(uint64_t n, double q)
{
	double x = q * (double)n;
	double rank = ceil(x - x * 1e-12);

	if (rank < 1)
		return 1;
	return rank > (double)n ? n : (uint64_t)rank;
}

uint64_t
hist_percentile(const struct hist *h, double q)
{
	uint64_t rank = rank_of(h->n, q);
	uint64_t seen = 0;

	if (h->n == 0)
		return 0;
	for (unsigned i = 0; i < HIST_BUCKETS - 1; i++) {
		seen += h->count[i];
		if (seen >= rank)
			return hist_high(i) < h->max_ns ? hist_high(i) : h->max_ns;
	}
	return h->max_ns;
}

bool
hist_percentile_known(const struct hist *h, double q)
{
	return (double)h->n * (1 - q) >= 10 - 1e-6;
}

double
hist_mean(const struct hist *h)
{
	double sum = (double)h->sum_ns;

	if (h->n == 0)
		return 0;
	if (h->sum_ns >= HIST_SUM_MAX) {
		sum = 0;
		for (unsigned i = 0; i < HIST_BUCKETS; i++)
			sum += (double)h->count[i] *
			       ((double)hist_low(i) + (double)hist_high(i)) / 2;
	}
	return sum / (double)h->n;
}

static uint8_t *
put(uint8_t *p, uint64_t x)
{
	for (; x >= 0x80; x >>= 7)
		*p++ = (uint8_t)(x | 0x80);
	*p++ = (uint8_t)x;
	return p;
}

size_t
hist_encode(const struct hist *h, uint8_t *buf, size_t cap)
{
	uint8_t *p = buf;
	uint64_t used = 0;
	unsigned next = 0;

	assert(cap >= HIST_ENCODED_MAX);
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		used += h->count[i] != 0;
	p = put(p, used);
	if (used == 0)
		return 1;
	p = put(p, h->min_ns);
	p = put(p, h->max_ns - h->min_ns);
	p = put(p, h->sum_ns);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (h->count[i] == 0)
			continue;
		p = put(p, i - next);
		p = put(p, h->count[i] - 1);
		next = i + 1;
	}
	return (size_t)(p - buf);
}

/* Reads a varint of at most max in its shortest form. */
static bool
get(struct reader *r, uint64_t max, uint64_t *ret_x)
{
	uint64_t x = 0;

	for (unsigned shift = 0; shift < 63 && r->p < r->end; shift += 7) {
		uint8_t b = *r->p++;

		x |= (uint64_t)(b & 0x7f) << shift;
		if ((b & 0x80) != 0)
			continue;
		if ((b == 0 && shift != 0) || x > max)
			return false;
		*ret_x = x;
		return true;
	}
	return false;
}

static bool
get_buckets(struct reader *r, uint64_t k, struct hist *h)
{
	uint64_t next = 0;

	for (uint64_t i = 0; i < k; i++) {
		uint64_t skip, count;

		if (!get(r, HIST_BUCKETS - 1, &skip) || !get(r, N_MAX - 1, &count))
			return false;
		if (next + skip >= HIST_BUCKETS || h->n + count + 1 > N_MAX)
			return false;
		next += skip;
		h->count[next] = count + 1;
		h->n += count + 1;
		next++;
	}
	return true;
}

/* The sum must be one that values in these buckets, with these extremes, can have; a full
 * one stands for all above it. */
static bool
sum_is_possible(const struct hist *h)
{
	double low = 0;
	double high = 0;
	double sum = (double)h->sum_ns;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		double top = i == HIST_BUCKETS - 1 ? (double)h->max_ns
						   : (double)hist_high(i);

		low += (double)h->count[i] * (double)hist_low(i);
		high += (double)h->count[i] * top;
	}
	return (sum >= low * (1 - 1e-9) || h->sum_ns == HIST_SUM_MAX) &&
	       sum <= high * (1 + 1e-9);
}

/* Adds the counts up, and finds the first and the last bucket that has any; false when
 * they are too many. */
static bool
count_all(const struct hist *h, uint64_t *ret_n, unsigned *ret_first, unsigned *ret_last)
{
	*ret_n = 0;
	*ret_first = *ret_last = 0;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (h->count[i] > N_MAX - *ret_n)
			return false;
		if (h->count[i] == 0)
			continue;
		if (*ret_n == 0)
			*ret_first = i;
		*ret_last = i;
		*ret_n += h->count[i];
	}
	return true;
}

/* The extremes and the sum are numbers that can be. */
static bool
is_in_range(const struct hist *h)
{
	return h->min_ns <= NS_MAX && h->max_ns >= h->min_ns &&
	       h->max_ns - h->min_ns <= NS_MAX && h->sum_ns <= NS_MAX;
}

bool
hist_is_sound(const struct hist *h)
{
	unsigned first, last;
	uint64_t n;

	if (!count_all(h, &n, &first, &last) || n != h->n || !is_in_range(h))
		return false;
	if (n == 0)
		return h->max_ns == 0 && h->sum_ns == 0;
	return hist_index(h->min_ns) == first && hist_index(h->max_ns) == last &&
	       (n > 1 || h->min_ns == h->max_ns) && sum_is_possible(h);
}

static bool
decode(struct hist *h, struct reader *r)
{
	uint64_t k, span;

	if (!get(r, HIST_BUCKETS, &k))
		return false;
	if (k == 0)
		return true;
	if (!get(r, NS_MAX, &h->min_ns) || !get(r, NS_MAX, &span) ||
		!get(r, NS_MAX, &h->sum_ns))
		return false;
	h->max_ns = h->min_ns + span;
	return get_buckets(r, k, h) && hist_is_sound(h);
}

int
hist_decode(
	struct hist *h, const uint8_t *buf, size_t len, size_t *ret_used, struct err *e)
{
	struct reader r = {buf, buf + len};

	hist_reset(h);
	if (!decode(h, &r)) {
		hist_reset(h);
		return err_set(e, ERR_INVALID,
			"the histogram is damaged after %zu of %zu bytes",
			(size_t)(r.p - buf), len);
	}
	*ret_used = (size_t)(r.p - buf);
	return 0;
}
