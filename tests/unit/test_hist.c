#include "common/hist.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "tests/unit/unit.h"

#define FIO_BUCKETS (29 * 64)

/* Changes of each byte that are tried: its bits, and some by chance. */
#define CHANGES 20

static uint64_t seed; /* not 0; main sets it */

static uint64_t
rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* fio's documented mapping (stat.h): the leading bit picks a group of 64, the six bits
 * behind it the place in the group; the first two groups are exact. */
static unsigned
fio_bucket(uint64_t ns)
{
	unsigned bits = 0;
	uint64_t place;

	if (ns < 128)
		return (unsigned)ns;
	while (ns >> bits >= 128)
		bits++;
	place = (bits + 1) * UINT64_C(64) + (ns >> bits) - 64;
	return place < FIO_BUCKETS ? (unsigned)place : FIO_BUCKETS - 1;
}

/* A latency whose magnitude is even over the range of the histogram. */
static uint64_t
any_latency(void)
{
	return rnd() >> (24 + rnd() % 40);
}

static struct hist *
filled(unsigned n)
{
	struct hist *h = calloc(1, sizeof(*h));

	ck_assert_ptr_nonnull(h);
	for (unsigned i = 0; i < n; i++)
		hist_add(h, any_latency());
	return h;
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	return (*x > *y) - (*x < *y);
}

/* Plain comparisons: the macros of Check are too slow for millions of values. */
static void
same_bucket(uint64_t ns)
{
	if (hist_index(ns) != fio_bucket(ns))
		ck_abort_msg("%llu ns: bucket %u, fio has %u", (unsigned long long)ns,
			hist_index(ns), fio_bucket(ns));
}

START_TEST(buckets_are_those_of_fio_below_2_to_the_34)
{
	for (uint64_t ns = 0; ns < 1U << 14; ns++)
		same_bucket(ns);
	for (unsigned i = 0; i < 20000; i++)
		same_bucket(rnd() >> (30 + rnd() % 30));
	ck_assert_uint_eq(hist_index((UINT64_C(1) << 34) - 1), FIO_BUCKETS - 1);
	ck_assert_uint_eq(hist_index(UINT64_C(1) << 34), FIO_BUCKETS);
}
END_TEST

START_TEST(buckets_cover_all_values_without_gap_or_overlap)
{
	ck_assert_uint_eq(hist_low(0), 0);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		ck_assert_uint_eq(hist_index(hist_low(i)), i);
		ck_assert_uint_eq(hist_index(hist_high(i)), i);
		if (i != 0)
			ck_assert_uint_eq(hist_low(i), hist_high(i - 1) + 1);
		ck_assert(hist_high(i) - hist_low(i) <= hist_low(i) / 64);
	}
	ck_assert_uint_eq(hist_high(HIST_BUCKETS - 1), (UINT64_C(1) << 40) - 1);
	ck_assert_uint_eq(hist_index(UINT64_C(1) << 40), HIST_BUCKETS - 1);
	ck_assert_uint_eq(hist_index(UINT64_MAX), HIST_BUCKETS - 1);
}
END_TEST

START_TEST(counters_and_extremes_are_exact)
{
	struct hist *h = filled(0);

	ck_assert_double_eq(hist_mean(h), 0);
	ck_assert_uint_eq(hist_percentile(h, 0.5), 0);
	hist_add(h, 1000003);
	ck_assert_uint_eq(h->min_ns, 1000003);
	hist_add(h, 7);
	hist_add(h, UINT64_C(1) << 41);
	ck_assert_uint_eq(h->n, 3);
	ck_assert_uint_eq(h->min_ns, 7);
	ck_assert_uint_eq(h->max_ns, UINT64_C(1) << 41);
	ck_assert_uint_eq(h->sum_ns, (UINT64_C(1) << 41) + 1000010);
	ck_assert_uint_eq(hist_percentile(h, 1), UINT64_C(1) << 41);
	hist_reset(h);
	ck_assert_uint_eq(h->n + h->sum_ns + h->min_ns + h->max_ns, 0);
	free(h);
}
END_TEST

START_TEST(percentiles_are_those_of_the_sorted_values_within_a_bucket)
{
	enum { N = 5000 };
	static const double qs[] = {0, 0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1};
	static uint64_t all[N];
	struct hist *h = filled(0);

	for (unsigned i = 0; i < N; i++) {
		all[i] = any_latency();
		hist_add(h, all[i]);
	}
	qsort(all, N, sizeof(all[0]), by_value);
	for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++) {
		size_t rank = (size_t)(qs[i] * N + 0.9999);
		uint64_t exact = all[rank == 0 ? 0 : rank - 1];
		uint64_t got = hist_percentile(h, qs[i]);

		ck_assert_uint_eq(hist_index(got), hist_index(exact));
		ck_assert_uint_ge(got, exact);
	}
	free(h);
}
END_TEST

/* The percentile k of 1000 against the sorted values: within its bucket, never below. */
static void
check_percentile(const struct hist *h, const uint64_t *sorted, unsigned n, unsigned k)
{
	unsigned rank = (k * n + 999) / 1000;
	uint64_t exact = sorted[rank == 0 ? 0 : rank - 1];
	uint64_t got = hist_percentile(h, k / 1000.0);
	unsigned bucket = hist_index(exact);
	double middle = ((double)hist_low(bucket) + (double)hist_high(bucket)) / 2;

	if (bucket == HIST_BUCKETS - 1 && got == h->max_ns)
		return; /* 2^40 ns and more are not told apart */
	if (hist_index(got) != bucket || got < exact || got - exact > exact / 64 ||
		(bucket != HIST_BUCKETS - 1 &&
			fabs(middle - (double)exact) > (double)exact / 128))
		ck_abort_msg("%u of 1000 of %u: %llu ns instead of %llu", k, n,
			(unsigned long long)got, (unsigned long long)exact);
}

/* Values of all magnitudes, counted by turns in three histograms. */
static void
one_round(struct hist *all, struct hist part[3], uint64_t *values, unsigned n)
{
	static uint8_t buf[HIST_ENCODED_MAX];
	uint64_t sum = 0;
	struct err e = {0};
	size_t used = 0;
	size_t len;

	for (unsigned i = 0; i < 3; i++)
		hist_reset(&part[i]);
	for (unsigned i = 0; i < n; i++) {
		values[i] = rnd() >> (22 + rnd() % 42);
		sum += values[i];
		hist_add(&part[rnd() % 3], values[i]);
	}
	hist_merge(&part[0], &part[1]);
	hist_merge(&part[0], &part[2]);
	len = hist_encode(&part[0], buf, sizeof(buf));
	OK(hist_decode(all, buf, len, &used, &e));
	ck_assert_uint_eq(used, len);
	ck_assert_int_eq(memcmp(all, &part[0], sizeof(*all)), 0);
	qsort(values, n, sizeof(values[0]), by_value);
	ck_assert_uint_eq(all->n, n);
	ck_assert_uint_eq(all->min_ns, values[0]);
	ck_assert_uint_eq(all->max_ns, values[n - 1]);
	ck_assert_uint_eq(all->sum_ns, sum);
}

START_TEST(random_histograms_are_those_of_their_sorted_values)
{
	enum { ROUNDS = 4000, MOST = 300 };
	static const unsigned ks[] = {0, 1, 10, 500, 900, 950, 990, 999, 1000};
	static uint64_t values[MOST];
	static struct hist all, part[3];

	seed = 20261130; /* the same values in each run */
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned n = 1 + (unsigned)(rnd() % (round % 8 == 0 ? MOST : 8));

		one_round(&all, part, values, n);
		for (size_t i = 0; i < sizeof(ks) / sizeof(ks[0]); i++)
			check_percentile(&all, values, n, ks[i]);
		for (unsigned i = 0; i < 4; i++)
			check_percentile(&all, values, n, (unsigned)(rnd() % 1001));
	}
}
END_TEST

START_TEST(a_rank_that_is_a_whole_number_is_not_rounded_up)
{
	struct hist *h = filled(0);

	for (unsigned i = 1; i <= 100; i++)
		hist_add(h, i);
	for (unsigned i = 1; i <= 100; i++)
		ck_assert_uint_eq(hist_percentile(h, i / 100.0), i);
	free(h);
}
END_TEST

START_TEST(a_percentile_is_known_with_ten_values_beyond_it)
{
	struct hist h = {.n = 999};

	ck_assert(!hist_percentile_known(&h, 0.99));
	h.n = 1000;
	ck_assert(hist_percentile_known(&h, 0.99));
	h.n = 99999;
	ck_assert(!hist_percentile_known(&h, 0.9999));
	h.n = 100000;
	ck_assert(hist_percentile_known(&h, 0.9999));
	h.n = 1000000;
	ck_assert(hist_percentile_known(&h, 0.99999));
}
END_TEST

START_TEST(merging_equals_counting_in_one)
{
	struct hist *all = filled(0);
	struct hist *a = filled(0);
	struct hist *b = filled(0);

	for (unsigned i = 0; i < 10000; i++) {
		uint64_t ns = any_latency();

		hist_add(all, ns);
		hist_add(i % 3 == 0 ? a : b, ns);
	}
	hist_merge(a, b);
	ck_assert(memcmp(a, all, sizeof(*a)) == 0);
	hist_reset(b);
	hist_merge(a, b);
	ck_assert(memcmp(a, all, sizeof(*a)) == 0);
	hist_merge(b, a);
	ck_assert(memcmp(b, all, sizeof(*b)) == 0);
	free(all);
	free(a);
	free(b);
}
END_TEST

START_TEST(what_is_encoded_decodes_to_the_same)
{
	static const unsigned sizes[] = {0, 1, 2, 3, 100, 10000};
	uint8_t *buf = malloc(HIST_ENCODED_MAX);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct hist *h = filled(sizes[i]);
		struct hist *back = filled(5);
		struct err e = {0};
		size_t used = 0;
		size_t len = hist_encode(h, buf, HIST_ENCODED_MAX);

		OK(hist_decode(back, buf, len, &used, &e));
		ck_assert_uint_eq(used, len);
		ck_assert(memcmp(h, back, sizeof(*h)) == 0);
		if (sizes[i] == 0)
			ck_assert_uint_eq(len, 1);
		free(h);
		free(back);
	}
	free(buf);
}
END_TEST

/* Hours of overload: a hundred thousand arrivals that wait add up to 10^17 ns. */
START_TEST(a_sum_that_is_full_still_travels_and_has_a_mean)
{
	struct hist *all = filled(0);
	struct hist *day = filled(0);
	struct hist *back = filled(0);
	uint8_t *buf = malloc(HIST_ENCODED_MAX);
	struct err e = {0};
	size_t used = 0;
	size_t len;

	for (unsigned i = 0; i < 100000; i++)
		hist_add(day, UINT64_C(1000000000000));
	for (unsigned i = 0; i < 50; i++)
		hist_merge(all, day);
	ck_assert_uint_eq(all->sum_ns, HIST_SUM_MAX);
	len = hist_encode(all, buf, HIST_ENCODED_MAX);
	OK(hist_decode(back, buf, len, &used, &e));
	ck_assert(memcmp(all, back, sizeof(*all)) == 0);
	ck_assert_double_eq_tol(hist_mean(back), 1e12, 1e12 / 128);
	ck_assert_double_eq(hist_mean(day), 1e12);
	free(all);
	free(day);
	free(back);
	free(buf);
}
END_TEST

START_TEST(the_largest_histogram_fits_its_buffer)
{
	struct hist *h = filled(0);
	struct hist *back = filled(0);
	uint8_t *buf = malloc(HIST_ENCODED_MAX);
	struct err e = {0};
	size_t used = 0;
	size_t len;

	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		h->count[i] = UINT64_MAX;
	h->max_ns = UINT64_MAX;
	h->sum_ns = UINT64_MAX;
	len = hist_encode(h, buf, HIST_ENCODED_MAX);
	ck_assert_uint_le(len, HIST_ENCODED_MAX);
	FAILS(hist_decode(back, buf, len, &used, &e), ERR_INVALID, "damaged");
	free(h);
	free(back);
	free(buf);
}
END_TEST

START_TEST(a_typical_second_is_small)
{
	struct hist *h = filled(0);
	uint8_t *buf = malloc(HIST_ENCODED_MAX);

	for (unsigned i = 0; i < 100000; i++)
		hist_add(h, 80000 + rnd() % 40000);
	ck_assert_uint_lt(hist_encode(h, buf, HIST_ENCODED_MAX), 400);
	free(h);
	free(buf);
}
END_TEST

/* Every prefix, and each byte changed in one bit or by chance, is refused or is a
 * histogram that encodes to the very same bytes: nothing else can have been written. */
START_TEST(hostile_bytes_are_refused_or_canonical)
{
	struct hist *h = filled(40);
	struct hist *back = filled(0);
	uint8_t *buf = malloc(HIST_ENCODED_MAX);
	uint8_t *again = malloc(HIST_ENCODED_MAX);
	size_t len = hist_encode(h, buf, HIST_ENCODED_MAX);
	size_t used = 0;
	struct err e = {0};

	for (size_t cut = 0; cut < len; cut++)
		FAILS(hist_decode(back, buf, cut, &used, &e), ERR_INVALID, "damaged");
	for (size_t i = 0; i < len * CHANGES; i++) {
		size_t at = i / CHANGES;
		uint8_t was = buf[at];

		buf[at] = (uint8_t)(i % CHANGES < 8 ? was ^ 1U << i % CHANGES : rnd());
		err_clear(&e);
		if (hist_decode(back, buf, len, &used, &e) == 0) {
			ck_assert_uint_eq(
				hist_encode(back, again, HIST_ENCODED_MAX), used);
			ck_assert(memcmp(buf, again, used) == 0);
		}
		buf[at] = was;
	}
	free(h);
	free(back);
	free(buf);
	free(again);
}
END_TEST

START_TEST(histograms_that_cannot_be_are_refused)
{
	static const struct {
		const char *why;
		uint8_t bytes[16];
		size_t len;
	} cases[] = {
		{"nothing", {0}, 0},
		{"a varint in a long form", {0x80, 0x00}, 2},
		{"more buckets than there are", {0xff, 0x7f}, 2},
		{"minimum outside of the first bucket", {1, 5, 0, 5, 6, 0}, 6},
		{"maximum outside of the last bucket", {1, 5, 9, 19, 5, 1}, 6},
		{"two extremes of one value", {1, 0xc8, 0x01, 1, 0xc8, 0x01, 0xa4, 1, 0},
			9},
		{"a sum below the smallest", {1, 5, 0, 4, 5, 0}, 6},
		{"a sum above the largest", {1, 5, 0, 6, 5, 0}, 6},
		{"a bucket past the end", {1, 5, 0, 5, 0xff, 0x7f, 0}, 7},
		{"a count that never ends",
			{1, 5, 0, 5, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				0xff, 0x01},
			15},
	};
	struct hist *h = filled(9);
	struct err e = {0};
	size_t used;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err_clear(&e);
		ck_assert_msg(
			hist_decode(h, cases[i].bytes, cases[i].len, &used, &e) == -1,
			"%s is not refused", cases[i].why);
		ck_assert_uint_eq(h->n, 0);
	}
	OK(hist_decode(h, (const uint8_t[]){1, 5, 0, 5, 5, 0, 99}, 7, &used, &e));
	ck_assert_uint_eq(used, 6);
	free(h);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("hist");
	const char *again = getenv("HIST_SEED");

	seed = again != NULL ? strtoull(again, NULL, 10) : (uint64_t)clock_wall();
	printf("HIST_SEED=%" PRIu64 "\n", seed);
	fflush(stdout); /* or each forked test prints it again */
	seed |= 1;
	tcase_add_test(tc, buckets_are_those_of_fio_below_2_to_the_34);
	tcase_add_test(tc, buckets_cover_all_values_without_gap_or_overlap);
	tcase_add_test(tc, counters_and_extremes_are_exact);
	tcase_add_test(tc, percentiles_are_those_of_the_sorted_values_within_a_bucket);
	tcase_add_test(tc, random_histograms_are_those_of_their_sorted_values);
	tcase_add_test(tc, a_rank_that_is_a_whole_number_is_not_rounded_up);
	tcase_add_test(tc, a_percentile_is_known_with_ten_values_beyond_it);
	tcase_add_test(tc, merging_equals_counting_in_one);
	tcase_add_test(tc, what_is_encoded_decodes_to_the_same);
	tcase_add_test(tc, a_sum_that_is_full_still_travels_and_has_a_mean);
	tcase_add_test(tc, the_largest_histogram_fits_its_buffer);
	tcase_add_test(tc, a_typical_second_is_small);
	tcase_add_test(tc, hostile_bytes_are_refused_or_canonical);
	tcase_add_test(tc, histograms_that_cannot_be_are_refused);
	return unit_run("hist", tc);
}
