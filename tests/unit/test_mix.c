#include "runner/mix.h"

#include <stdio.h>

#include "common/json.h"
#include "runner/draw.h"
#include "runner/pattern.h"
#include "tests/unit/chi2.h"

#define BASE (UINT64_C(8) << 20) /* where the region starts */
#define LENGTH (UINT64_C(64) << 20)

enum { DRAWS = 200000 };

static struct workload w;
static struct pattern p;
static unsigned count[4096];

/* Starts the pattern of a workload written as in a suite, quotes single. */
static void
start(const char *text)
{
	struct pattern_config c = {
		.offset = BASE, .length = LENGTH, .workload = &w, .seed = 5, .shares = 1};
	struct err e = {0};
	char doc[1024];
	json_t *o = NULL;

	snprintf(doc, sizeof(doc), "{'id':'m','in_flight':1,%s}", text);
	for (char *at = doc; *at != '\0'; at++)
		if (*at == '\'')
			*at = '"';
	OK(json_parse(doc, strlen(doc), &o, &e));
	OK(workload_parse(o, "", &w, &e));
	OK(workload_fits(&w, LENGTH, 512, &e));
	ck_assert(!workload_is_plain(&w));
	json_decref(o);
	pattern_init(&p, &c);
	memset(count, 0, sizeof(count));
}

/* The next I/O, its offset counted from the start of the region. */
static struct io
next(void)
{
	struct io io;

	ck_assert(pattern_next(&p, &io));
	if (io.offset < BASE || io.offset - BASE > LENGTH ||
		io.length > LENGTH - (io.offset - BASE))
		ck_abort_msg("offset %llu", (unsigned long long)io.offset);
	io.offset -= BASE;
	return io;
}

START_TEST(streams_have_their_shares)
{
	static const double shares[] = {62.5, 25, 12.5};

	start("'streams':["
	      "{'share':'62.5%','read':'100%','access':'random','block':'4KiB',"
	      " 'region':{'from':'0%','to':'25%'}},"
	      "{'share':'25%','read':'0%','access':'sequential','block':'64KiB',"
	      " 'region':{'from':'25%','to':'50%'}},"
	      "{'share':'12.5%','read':'50%','random':'50%','block':'8KiB',"
	      " 'region':{'from':'50%','to':'100%'}}]");
	for (unsigned i = 0; i < DRAWS; i++) {
		struct io io = next();
		unsigned stream = io.offset < LENGTH / 4   ? 0
				  : io.offset < LENGTH / 2 ? 1
							   : 2;

		count[stream]++;
		ck_assert_uint_eq(io.length, stream == 0   ? 4096
					     : stream == 1 ? 65536
							   : 8192);
		if (stream < 2)
			ck_assert_int_eq(io.dir, stream == 0 ? DIR_READ : DIR_WRITE);
	}
	chi2_want("streams", count, shares, 3);
	pattern_fini(&p);
}
END_TEST

/* The mix of JESD219: reads and writes of twelve sizes, in three zones. */
START_TEST(directions_sizes_and_zones_have_their_shares)
{
	static const double sizes[] = {4, 1, 1, 1, 1, 1, 1, 67, 10, 7, 3, 3};
	static const double zones[] = {50, 30, 20};
	static const double directions[] = {40, 60};
	static unsigned dirs[DIRECTIONS], zone[3], spread[100];
	static double even[100];

	start("'read':'40%','access':'random','align':'4KiB','distribution':'jesd219',"
	      "'block':{'512B':'4%','1KiB':'1%','1.5KiB':'1%','2KiB':'1%','2.5KiB':'1%',"
	      "'3KiB':'1%','3.5KiB':'1%','4KiB':'67%','8KiB':'10%','16KiB':'7%',"
	      "'32KiB':'3%','64KiB':'3%'}");
	ck_assert_uint_eq(w.streams[0].blocks[DIR_READ].n, 12);
	for (unsigned i = 0; i < DRAWS; i++) {
		struct io io = next();
		double at = (double)io.offset / LENGTH;
		size_t size = 0;

		ck_assert_uint_eq(io.offset % 4096, 0);
		while (w.streams[0].blocks[io.dir].list[size].bytes != io.length)
			size++;
		count[size]++;
		dirs[io.dir]++;
		zone[at < 0.05 ? 0 : at < 0.2 ? 1 : 2]++;
		if (at >= 0.2 && io.length == 4096)
			spread[(unsigned)((at - 0.2) / 0.8 * 100)]++;
	}
	for (unsigned i = 0; i < 100; i++)
		even[i] = 1;
	chi2_want("sizes", count, sizes, 12);
	chi2_want("directions", dirs, directions, 2);
	chi2_want("zones", zone, zones, 3);
	chi2_want("inside a zone", spread, even, 100);
	pattern_fini(&p);
}
END_TEST

/* What does not read does what its stream says, at places and with sizes as writes. */
START_TEST(operations_have_their_shares_and_the_sizes_of_writes)
{
	/* reads, writes, trims, write-zeroes, flushes */
	static const double shares[DIRECTIONS] = {42, 18, 25, 10, 5};
	static const double sizes[] = {30, 70};
	static unsigned dirs[DIRECTIONS], sized[2], spread[25];
	static double even[25];

	start("'streams':["
	      "{'share':'60%','read':'70%','operation':'write-fua','access':'random',"
	      " 'block':'4KiB'},"
	      "{'share':'25%','read':'0%','operation':'trim','access':'random',"
	      " 'block':{'64KiB':'30%','256KiB':'70%'},"
	      " 'region':{'from':'25%','to':'50%'}},"
	      "{'share':'10%','read':'0%','operation':'write-zeroes',"
	      " 'access':'sequential','block':'64KiB',"
	      " 'region':{'from':'50%','to':'75%'}},"
	      "{'share':'5%','read':'0%','operation':'flush'}]");
	for (unsigned i = 0; i < DRAWS; i++) {
		struct io io = next();

		ck_assert_int_lt(io.dir, DIRECTIONS);
		dirs[io.dir]++;
		if (io.fua != (io.dir == DIR_WRITE))
			ck_abort_msg("FUA is for writes");
		if (io.dir == DIR_TRIM) {
			sized[io.length != 65536]++;
			if (io.length == 65536)
				spread[(io.offset - LENGTH / 4) * 25 / (LENGTH / 4)]++;
		} else if (io.dir == DIR_ZERO) {
			if (io.offset / (LENGTH / 4) != 2 || io.length != 65536)
				ck_abort_msg(
					"zeroes at %llu", (unsigned long long)io.offset);
		} else if (io.dir == DIR_FLUSH) {
			if (io.length != 0 || io.offset != 0)
				ck_abort_msg("a flush has a place");
		}
	}
	chi2_want("operations", dirs, shares, DIRECTIONS);
	chi2_want("sizes of trims", sized, sizes, 2);
	/* 256 places in 25 cells: some have one more than others. */
	for (unsigned k = 0; k < 256; k++)
		even[k * 25 / 256]++;
	chi2_want("places of trims", spread, even, 25);
	pattern_fini(&p);
}
END_TEST

START_TEST(each_direction_has_sizes_of_its_own)
{
	static const double reads[] = {60, 40};
	static const double writes[] = {10, 20, 70};
	static unsigned written[3];

	start("'read':'50%','access':'random','read_block':{'4KiB':'60%','64KiB':'40%'},"
	      "'write_block':{'16KiB':'20%','8KiB':'10%','128KiB':'70%'}");
	for (unsigned i = 0; i < DRAWS; i++) {
		struct io io = next();

		ck_assert_uint_eq(io.offset % io.length, 0);
		if (io.dir == DIR_READ)
			count[io.length == 65536]++;
		else
			written[io.length == 8192 ? 0 : io.length == 16384 ? 1 : 2]++;
	}
	chi2_want("reads", count, reads, 2);
	chi2_want("writes", written, writes, 3);
	pattern_fini(&p);
}
END_TEST

/* Pieces of 64 KiB are ranked; what is smaller lies evenly inside its piece. */
START_TEST(hot_pieces_are_those_of_zipf_for_all_sizes)
{
	enum { PIECES = LENGTH / 65536 };
	static double weights[PIECES];
	static unsigned rank_of[PIECES], by_size[2][PIECES], inside[16];
	static double even[16];
	struct scatter s;

	start("'read':'100%','access':'random','distribution':{'zipf':1.1},"
	      "'block':{'4KiB':'50%','64KiB':'50%'}");
	scatter_init(&s, PIECES);
	for (unsigned k = 1; k <= PIECES; k++) {
		rank_of[scatter_place(&s, k)] = k - 1;
		weights[k - 1] = pow(k, -1.1);
	}
	for (unsigned i = 0; i < DRAWS; i++) {
		struct io io = next();
		unsigned rank = rank_of[io.offset / 65536];

		ck_assert_uint_eq(io.offset % io.length, 0);
		by_size[io.length == 65536][rank]++;
		if (io.length == 4096)
			inside[io.offset % 65536 / 4096]++;
	}
	for (unsigned i = 0; i < 16; i++)
		even[i] = 1;
	chi2_want("ranks of 4 KiB", by_size[0], weights, PIECES);
	chi2_want("ranks of 64 KiB", by_size[1], weights, PIECES);
	chi2_want("inside a piece", inside, even, 16);
	pattern_fini(&p);
}
END_TEST

START_TEST(another_place_is_of_the_same_stream_and_size)
{
	unsigned moved = 0;

	start("'streams':["
	      "{'share':'50%','read':'50%','access':'random','distribution':{'zipf':1.1},"
	      " 'block':{'4KiB':'50%','64KiB':'50%'},'region':{'from':'0%','to':'50%'}},"
	      "{'share':'50%','read':'50%','random':'50%','block':'8KiB',"
	      " 'region':{'from':'50%','to':'100%'}}]");
	for (unsigned i = 0; i < 20000; i++) {
		struct io io = next(), other = io;

		ck_assert(pattern_again(&p, &other));
		other.offset -= BASE;
		ck_assert_int_eq(other.dir, io.dir);
		ck_assert_uint_eq(other.length, io.length);
		ck_assert_uint_eq(other.offset < LENGTH / 2, io.offset < LENGTH / 2);
		ck_assert_uint_eq(other.offset % other.length, 0);
		ck_assert_uint_le(other.offset + other.length, LENGTH);
		moved += other.offset != io.offset;
	}
	ck_assert_uint_gt(moved, 15000);
	pattern_fini(&p);
}
END_TEST

START_TEST(cursors_take_turns_and_wrap_in_their_parts)
{
	start("'read':'100%','access':'sequential','block':'64KiB','cursors':4");
	for (unsigned i = 0; i < 5000; i++) {
		struct io io = next();
		uint64_t want = i % 4 * (LENGTH / 4) + i / 4 * 65536 % (LENGTH / 4);

		ck_assert_uint_eq(io.offset, want);
		ck_assert_uint_eq(io.length, 65536);
	}
	pattern_fini(&p);
}
END_TEST

START_TEST(a_sequence_of_several_sizes_has_no_gap_until_it_wraps)
{
	uint64_t at = 0;
	unsigned wraps = 0;

	start("'read':'50%','access':'sequential','block':{'4KiB':'50%','48KiB':'50%'}");
	for (unsigned i = 0; i < 20000; i++) {
		struct io io = next();

		if (io.offset != at) {
			ck_assert_uint_eq(io.offset, 0);
			ck_assert_uint_gt(at + 48 * 1024, LENGTH / 49152 * 49152);
			wraps++;
		}
		at = io.offset + io.length;
	}
	ck_assert_uint_gt(wraps, 5);
	pattern_fini(&p);
}
END_TEST

START_TEST(no_two_workers_share_a_sequential_part)
{
	static unsigned char seen[LENGTH / 4096];
	struct pattern_config c = {
		.offset = BASE, .length = LENGTH, .workload = &w, .seed = 5, .shares = 3};
	uint64_t covered = 0;

	start("'read':'100%','access':'sequential','block':'4KiB','cursors':5");
	pattern_fini(&p);
	for (c.share = 0; c.share < c.shares; c.share++) {
		pattern_init(&p, &c);
		for (unsigned i = 0; i < LENGTH / 4096 / 15 * 5; i++) {
			struct io io = next();

			covered += seen[io.offset / 4096]++ == 0;
		}
		pattern_fini(&p);
	}
	ck_assert_uint_eq(covered, LENGTH / 4096 / 15 * 15);
}
END_TEST

START_TEST(the_same_seed_draws_the_same)
{
	static struct io first[2000];

	for (int round = 0; round < 2; round++) {
		start("'streams':[{'share':'50%','read':'70%','random':'60%',"
		      "'block':{'4KiB':'50%','8KiB':'50%'},'distribution':{'zipf':0.9}},"
		      "{'share':'50%','read':'70%','access':'random','block':'64KiB',"
		      "'distribution':'jesd219'}]");
		for (unsigned i = 0; i < 2000; i++) {
			struct io io = next();

			if (round == 0)
				first[i] = io;
			ck_assert_uint_eq(io.offset, first[i].offset);
			ck_assert_uint_eq(io.length, first[i].length);
			ck_assert_int_eq(io.dir, first[i].dir);
		}
		pattern_fini(&p);
	}
}
END_TEST

/* A number of percent, now and then one of the ends. */
static double
some_percent(struct rng *r)
{
	uint64_t x = rng_below(r, 120);

	return x >= 110 ? 100 : x >= 100 ? 0 : (double)x;
}

/* Cuts 100 into n shares above 0. */
static void
some_shares(struct rng *r, double *share, size_t n)
{
	double rest = 100;

	for (size_t i = 0; i + 1 < n; i++) {
		share[i] = 1 + (double)rng_below(r, (uint64_t)(rest - (double)(n - i)));
		rest -= share[i];
	}
	share[n - 1] = rest;
}

static void
some_blocks(struct rng *r, struct block_mix *m)
{
	double share[FLOW_BLOCKS_MAX];
	size_t n = 1 + rng_below(r, 5);

	some_shares(r, share, n);
	for (size_t i = 0; i < n; i++)
		while (block_mix_add(m, 512 * (1 + rng_below(r, 160)), share[i], NULL) !=
			0)
			;
}

static void
some_stream(struct rng *r, struct flow *s)
{
	double share[2][FLOW_ZONES_MAX];
	size_t zones = 1 + rng_below(r, FLOW_ZONES_MAX);

	memset(s, 0, sizeof(*s));
	s->read_percent = some_percent(r);
	s->operation = (enum operation)rng_below(r, OPERATIONS);
	s->random_percent = some_percent(r);
	some_blocks(r, &s->blocks[DIR_READ]);
	some_blocks(r, &s->blocks[DIR_WRITE]);
	s->align_bytes = (uint32_t)(rng_below(r, 2) * 512 * (1 + rng_below(r, 20)));
	s->from_percent = (double)rng_below(r, 60);
	s->to_percent = s->from_percent + 1 + (double)rng_below(r, 40);
	s->cursors = (uint32_t)(1 + rng_below(r, 6));
	switch (rng_below(r, 3)) {
	case 0:
		s->spread = SPREAD_ZIPF;
		s->theta = 0.2 + 0.1 * (double)rng_below(r, 20);
		break;
	case 1:
		some_shares(r, share[0], zones);
		some_shares(r, share[1], zones);
		for (size_t i = 0; i < zones; i++)
			ck_assert_int_eq(
				flow_add_zone(s, share[0][i], share[1][i], NULL), 0);
		break;
	default:
		break;
	}
}

/* Whether the stream may do this I/O (offset from the start of the region). */
static bool
may_be_of(const struct flow *s, const struct io *io, uint64_t length)
{
	struct span part = flow_part(s, length);
	const struct block_mix *m =
		&s->blocks[io->dir == DIR_READ ? DIR_READ : DIR_WRITE];
	size_t i = 0;

	if (io->dir == DIR_FLUSH)
		return flow_uses(s, DIR_FLUSH) && io->length == 0;
	while (i < m->n && m->list[i].bytes != io->length)
		i++;
	if (i == m->n || !flow_uses(s, io->dir) || io->offset < part.from ||
		io->offset + io->length > part.to)
		return false;
	return s->random_percent < 100 || io->offset % flow_stride(s, io->length) == 0;
}

static void
check_draws(const struct pattern_config *c)
{
	pattern_init(&p, c);
	for (unsigned i = 0; i < 300; i++) {
		struct io io;
		bool found = false;

		if (!pattern_next(&p, &io) || io.offset < c->offset ||
			io.offset % 512 != 0)
			ck_abort();
		io.offset -= c->offset;
		for (size_t k = 0; k < w.n_streams; k++)
			found = found || may_be_of(&w.streams[k], &io, c->length);
		if (!found)
			ck_abort_msg("no stream makes this: %llu + %u of %llu",
				(unsigned long long)io.offset, io.length,
				(unsigned long long)c->length);
	}
	pattern_fini(&p);
}

START_TEST(no_workload_leaves_its_region_or_its_alignment)
{
	unsigned done = 0;
	unsigned refused = 0;
	struct rng r;

	rng_init(&r, 2026, 0);
	for (unsigned i = 0; i < 8000; i++) {
		double share[WORKLOAD_STREAMS_MAX];
		struct pattern_config c = {.offset = 512 * rng_below(&r, 10000),
			.length = 512 * (1 + rng_below(&r, 200000)),
			.workload = &w,
			.seed = i};

		w.n_streams = 1 + rng_below(&r, rng_below(&r, WORKLOAD_STREAMS_MAX) + 1);
		w.workers = (uint32_t)(1 + rng_below(&r, 3));
		some_shares(&r, share, w.n_streams);
		for (size_t k = 0; k < w.n_streams; k++) {
			some_stream(&r, &w.streams[k]);
			w.streams[k].share_percent = share[k];
		}
		c.shares = w.workers;
		c.share = (unsigned)rng_below(&r, w.workers);
		if (workload_check(&w, NULL) != 0 ||
			workload_fits(&w, c.length, 512, NULL) != 0) {
			refused++;
			continue;
		}
		check_draws(&c);
		done++;
	}
	ck_assert_msg(done > 2500 && refused > 500, "%u done, %u refused", done, refused);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("mix");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, streams_have_their_shares);
	tcase_add_test(tc, directions_sizes_and_zones_have_their_shares);
	tcase_add_test(tc, operations_have_their_shares_and_the_sizes_of_writes);
	tcase_add_test(tc, each_direction_has_sizes_of_its_own);
	tcase_add_test(tc, hot_pieces_are_those_of_zipf_for_all_sizes);
	tcase_add_test(tc, another_place_is_of_the_same_stream_and_size);
	tcase_add_test(tc, cursors_take_turns_and_wrap_in_their_parts);
	tcase_add_test(tc, a_sequence_of_several_sizes_has_no_gap_until_it_wraps);
	tcase_add_test(tc, no_two_workers_share_a_sequential_part);
	tcase_add_test(tc, the_same_seed_draws_the_same);
	tcase_add_test(tc, no_workload_leaves_its_region_or_its_alignment);
	return unit_run("mix", tc);
}
