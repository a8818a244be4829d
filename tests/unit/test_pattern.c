#include "runner/pattern.h"

#include <math.h>
#include <stdio.h>

#include "tests/unit/unit.h"

static struct workload workload;
static struct flow *const stream = &workload.streams[0];

static struct pattern_config
config(void)
{
	workload_plain(&workload, 100, 100, 4096);
	return (struct pattern_config){
		.offset = 1 << 20,
		.length = 64 << 20,
		.workload = &workload,
		.seed = 42,
		.shares = 1,
	};
}

START_TEST(random_offsets_are_aligned_inside_and_even)
{
	enum { BLOCKS = 100, DRAWS = 200000 };
	static unsigned count[BLOCKS];
	struct pattern_config c = config();
	struct pattern p;
	struct io io;
	double chi2 = 0;

	c.length = BLOCKS * 4096 + 4095; /* what is no whole block is never touched */
	pattern_init(&p, &c);
	for (unsigned i = 0; i < DRAWS; i++) {
		if (!pattern_next(&p, &io) || io.offset < c.offset ||
			(io.offset - c.offset) % 4096 != 0 || io.length != 4096 ||
			(io.offset - c.offset) / 4096 >= BLOCKS)
			ck_abort_msg("offset %llu", (unsigned long long)io.offset);
		count[(io.offset - c.offset) / 4096]++;
	}
	for (unsigned i = 0; i < BLOCKS; i++) {
		double want = (double)DRAWS / BLOCKS;

		chi2 += (count[i] - want) * (count[i] - want) / want;
	}
	/* 99 degrees of freedom; the seed is fixed, so this cannot flicker. */
	ck_assert_double_lt(chi2, 150);
}
END_TEST

START_TEST(sequential_offsets_follow_and_wrap)
{
	struct pattern_config c = config();
	struct pattern p;
	struct io io;

	stream->random_percent = 0;
	c.length = 10 * 4096;
	pattern_init(&p, &c);
	for (unsigned i = 0; i < 35; i++) {
		ck_assert(pattern_next(&p, &io));
		ck_assert_uint_eq(io.offset, c.offset + i % 10 * 4096);
	}
}
END_TEST

START_TEST(a_mix_is_drawn_per_io_and_the_sequential_part_goes_on)
{
	enum { DRAWS = 400000 };
	struct pattern_config c = config();
	struct pattern p;
	struct io io;
	uint64_t next;
	unsigned reads = 0;
	unsigned sequential = 0;

	stream->read_percent = 97;
	stream->random_percent = 80;
	next = c.offset;
	pattern_init(&p, &c);
	for (unsigned i = 0; i < DRAWS; i++) {
		if (!pattern_next(&p, &io))
			ck_abort();
		reads += io.dir == DIR_READ;
		if (io.offset != next)
			continue;
		sequential++;
		next = next + 4096 == c.offset + c.length ? c.offset : next + 4096;
	}
	/* Five standard deviations. */
	ck_assert_double_eq_tol(reads, 0.97 * DRAWS, 5 * sqrt(DRAWS * 0.97 * 0.03));
	ck_assert_double_eq_tol(
		sequential, 0.2 * DRAWS, 5 * sqrt(DRAWS * 0.2 * 0.8) + 30);
}
END_TEST

START_TEST(pure_mixes_have_no_exception)
{
	struct pattern_config c = config();
	struct pattern p;
	struct io io;

	for (int reads = 0; reads <= 1; reads++) {
		stream->read_percent = reads * 100.0;
		pattern_init(&p, &c);
		for (unsigned i = 0; i < 100000; i++) {
			if (!pattern_next(&p, &io) ||
				io.dir != (reads ? DIR_READ : DIR_WRITE))
				ck_abort_msg("direction %d", io.dir);
		}
	}
}
END_TEST

START_TEST(same_seed_same_sequence_other_share_another)
{
	struct pattern_config c = config();
	struct pattern a, b, other;
	struct io x, y, z;
	unsigned equal = 0;

	c.shares = 2;
	stream->read_percent = 50;
	pattern_init(&a, &c);
	pattern_init(&b, &c);
	c.share = 1;
	pattern_init(&other, &c);
	for (unsigned i = 0; i < 10000; i++) {
		ck_assert(pattern_next(&a, &x));
		ck_assert(pattern_next(&b, &y));
		ck_assert(pattern_next(&other, &z));
		ck_assert_uint_eq(x.offset, y.offset);
		ck_assert_int_eq(x.dir, y.dir);
		equal += x.offset == z.offset;
	}
	ck_assert_uint_lt(equal, 20);
}
END_TEST

/* Sets a bit for each 512 bytes of the I/O; none may be set twice. */
static void
mark(unsigned char *seen, const struct io *io, uint64_t base)
{
	for (uint64_t at = io->offset - base; at < io->offset - base + io->length;
		at += 512) {
		if (seen[at / 512]++ != 0)
			ck_abort_msg("byte %llu comes twice", (unsigned long long)at);
	}
}

START_TEST(another_place_is_of_the_same_kind)
{
	struct pattern_config c = config();
	uint64_t sequential = c.offset;
	unsigned randoms = 0, moved = 0;
	struct pattern p;

	stream->read_percent = 50;
	stream->random_percent = 50;
	pattern_init(&p, &c);
	for (unsigned i = 0; i < 10000; i++) {
		struct io io, other;

		ck_assert(pattern_next(&p, &io));
		other = io;
		ck_assert(pattern_again(&p, &other));
		ck_assert_int_eq(other.dir, io.dir);
		ck_assert_uint_eq(other.length, io.length);
		ck_assert_uint_ge(other.offset, c.offset);
		ck_assert_uint_le(other.offset + other.length, c.offset + c.length);
		if (!p.was_random) {
			ck_assert_uint_eq(io.offset, sequential);
			sequential += 4096;
			ck_assert_uint_eq(other.offset, sequential == c.offset + c.length
								? c.offset
								: sequential);
			sequential = other.offset + 4096;
			if (sequential == c.offset + c.length)
				sequential = c.offset;
		}
		randoms += p.was_random;
		moved += other.offset != io.offset;
	}
	ck_assert_uint_gt(randoms, 4500);
	ck_assert_uint_gt(moved, 9950);
	pattern_fini(&p);
}
END_TEST

START_TEST(one_pass_has_no_other_place)
{
	struct pattern_config c = config();
	struct pattern p;
	struct io io;

	c.one_pass = 8 * 4096;
	pattern_init(&p, &c);
	ck_assert(pattern_next(&p, &io));
	ck_assert(!pattern_again(&p, &io));
	pattern_fini(&p);
}
END_TEST

START_TEST(one_pass_writes_every_byte_once)
{
	static const struct {
		uint64_t bytes;
		unsigned shares;
	} cases[] = {
		{4096, 1}, {512, 1}, {100 * 4096, 3}, {100 * 4096 + 1536, 7}, {1536, 4}};
	static unsigned char seen[(64 << 20) / 512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pattern_config c = config();
		uint64_t bytes = 0;

		memset(seen, 0, sizeof(seen));
		c.one_pass = cases[i].bytes;
		c.shares = cases[i].shares;
		for (c.share = 0; c.share < c.shares; c.share++) {
			struct pattern p;
			struct io io;

			pattern_init(&p, &c);
			while (pattern_next(&p, &io)) {
				ck_assert_int_eq(io.dir, DIR_WRITE);
				mark(seen, &io, c.offset);
				bytes += io.length;
			}
		}
		ck_assert_uint_eq(bytes, c.one_pass);
	}
}
END_TEST

START_TEST(sequential_shares_do_not_meet)
{
	static unsigned char seen[(64 << 20) / 512];
	struct pattern_config c = config();

	stream->random_percent = 0;
	c.shares = 3;
	for (c.share = 0; c.share < c.shares; c.share++) {
		struct pattern p;
		struct io io;

		pattern_init(&p, &c);
		for (unsigned i = 0; i < 5461; i++) {
			pattern_next(&p, &io);
			mark(seen, &io, c.offset);
		}
	}
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("pattern");

	tcase_add_test(tc, random_offsets_are_aligned_inside_and_even);
	tcase_add_test(tc, sequential_offsets_follow_and_wrap);
	tcase_add_test(tc, a_mix_is_drawn_per_io_and_the_sequential_part_goes_on);
	tcase_add_test(tc, pure_mixes_have_no_exception);
	tcase_add_test(tc, same_seed_same_sequence_other_share_another);
	tcase_add_test(tc, another_place_is_of_the_same_kind);
	tcase_add_test(tc, one_pass_has_no_other_place);
	tcase_add_test(tc, one_pass_writes_every_byte_once);
	tcase_add_test(tc, sequential_shares_do_not_meet);
	return unit_run("pattern", tc);
}
