#include "runner/judge.h"

#include <time.h>

#include "runner/content.h"
#include "tests/unit/verify_rig.h"

#define LARGE (UINT32_C(16) << 20)
#define LARGE_SECTORS (LARGE / SECTOR_BYTES)

/* A journal of one I/O that is as large as they get, and the I/O. */
static struct journal *large;
static struct verify *checker;
static struct io io;

static void
large_setup(void)
{
	struct journal_config c = config();
	struct err e = {0};

	setup();
	c.length = LARGE;
	OK(journal_open(&large, copy, &c, &e));
	checker = verify_new(large);
	port = (verify_port_free(port), verify_port_new(checker, 1, LARGE));
	io = (struct io){
		.buf = malloc(LARGE), .offset = REGION, .length = LARGE, .result = LARGE};
	ck_assert_ptr_nonnull(io.buf);
}

static void
large_teardown(void)
{
	struct err e = {0};

	free(io.buf);
	verify_free(checker);
	OK(journal_close(large, &e));
	teardown();
}

/* A write that succeeds; io.buf holds it. */
static void
write_all(void)
{
	io.dir = DIR_WRITE;
	ck_assert(verify_may(port, &io));
	content_fill(io.buf, io.length, 1);
	verify_stamp(port, &io);
	verify_done(port, &io);
}

/* Reads what is in io.buf; returns the processor time of the judgement. */
static double
read_all(void)
{
	struct timespec from, to;

	io.dir = DIR_READ;
	ck_assert(verify_may(port, &io));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	verify_done(port, &io);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return (double)(to.tv_sec - from.tv_sec) +
	       (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* So much more than a good read may a damaged one cost. Each sector against each other
 * would be 1,000 times and more, and so would a search for a flipped byte in each. */
#define COST_MAX 200

START_TEST(a_large_read_that_is_bad_all_through_costs_little_more)
{
	const struct verify_report *r = verify_port_report(port);
	uint8_t *old = malloc(LARGE);
	double good, stale, foreign;

	ck_assert_ptr_nonnull(old);
	write_all();
	memcpy(old, io.buf, LARGE);
	good = read_all();
	ck_assert_uint_eq(r->sectors[VERIFY_GOOD], LARGE_SECTORS);
	write_all();
	memcpy(io.buf, old, LARGE);
	stale = read_all();
	ck_assert_uint_eq(r->sectors[VERIFY_STALE], LARGE_SECTORS);
	content_fill(io.buf, LARGE, 2);
	foreign = read_all();
	ck_assert_uint_eq(r->sectors[VERIFY_FOREIGN], LARGE_SECTORS);
	ck_assert_uint_eq(r->n, VERIFY_FINDINGS);
	if (stale > COST_MAX * good || foreign > COST_MAX * good)
		ck_abort_msg("good %g s, stale %g s, foreign %g s", good, stale, foreign);
	free(old);
}
END_TEST

START_TEST(a_sector_is_torn_by_any_write_that_covers_it)
{
	uint8_t first[4 * BLOCK], second[4 * BLOCK];
	struct judge *g = judge_new(journal, sizeof(first));
	struct judge_read read = {.offset = at(8), .buf = first, .bytes = sizeof(first)};
	struct verify_report r = {0};

	write_blocks(8, 4);
	get(at(8), first, sizeof(first));
	write_blocks(10, 2);
	write_blocks(8, 4);
	get(at(8), second, sizeof(second));
	/* The last write is there in one sector, and covers all. */
	memcpy(first + 5 * SECTOR_BYTES, second + 5 * SECTOR_BYTES, SECTOR_BYTES);
	judge_sectors(g, &read, &r);
	ck_assert_uint_eq(r.sectors[VERIFY_GOOD], 1);
	ck_assert_uint_eq(r.sectors[VERIFY_TORN], 31);
	/* One sector is older than the rest, which is of one write and stale. */
	write_blocks(10, 2);
	get(at(8), second, sizeof(second));
	write_blocks(8, 4);
	get(at(8), first, sizeof(first));
	write_blocks(8, 4);
	memcpy(first + 16 * SECTOR_BYTES, second + 16 * SECTOR_BYTES, SECTOR_BYTES);
	memset(&r, 0, sizeof(r));
	judge_sectors(g, &read, &r);
	ck_assert_uint_eq(r.sectors[VERIFY_STALE] + r.sectors[VERIFY_TORN], 32);
	ck_assert_uint_eq(r.sectors[VERIFY_TORN], 1);
	judge_free(g);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("judge");
	TCase *all = tcase_create("large");
	Suite *suite = suite_create("judge");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_sector_is_torn_by_any_write_that_covers_it);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(all, large_setup, large_teardown);
	tcase_set_timeout(all, 120);
	tcase_add_test(all, a_large_read_that_is_bad_all_through_costs_little_more);
	suite_add_tcase(suite, all);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
