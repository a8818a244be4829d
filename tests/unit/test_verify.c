#include "runner/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "runner/load.h"
#include "tests/unit/verify_rig.h"

/* What the whole drive looks like. */
static struct verify_report
look(void)
{
	struct verify_report r = {0};
	struct err e = {0};

	OK(verify_scan(journal, disk, always, NULL, &r, &e));
	return r;
}

/* Wants that many bad sectors, all of one kind, and the first as described. */
static void
expect(enum verify_kind kind, uint64_t sectors, uint64_t offset, const char *expected,
	const char *seen)
{
	struct verify_report r = look();

	ck_assert_uint_eq(verify_bad(&r), sectors);
	ck_assert_uint_eq(r.sectors[kind], sectors);
	ck_assert_uint_ge(r.n, 1);
	ck_assert_int_eq(r.first[0].kind, kind);
	ck_assert_uint_eq(r.first[0].offset, offset);
	ck_assert_str_eq(r.first[0].expected, expected);
	ck_assert_str_eq(r.first[0].seen, seen);
}

/* Wants one bad sector. */
static void
expect_one(enum verify_kind kind, uint64_t offset)
{
	struct verify_report r = look();

	ck_assert_uint_eq(verify_bad(&r), 1);
	ck_assert_uint_eq(r.sectors[kind], 1);
	ck_assert_uint_eq(r.first[0].offset, offset);
}

START_TEST(what_was_written_is_good_and_the_rest_unknown)
{
	struct verify_report r;

	write_blocks(0, 4);
	write_blocks(2, 1);
	write_blocks(BLOCKS - 1, 1);
	r = look();
	ck_assert_uint_eq(r.sectors[VERIFY_GOOD], 5 * 8);
	ck_assert_uint_eq(r.sectors[VERIFY_UNKNOWN], (BLOCKS - 5) * 8);
	ck_assert_uint_eq(verify_bad(&r), 0);
	ck_assert(begin(1, DIR_READ, 2, 4));
	get(at(2), ios[1].buf, ios[1].length);
	end(1, 4 * BLOCK);
	ck_assert_uint_eq(verify_port_report(port)->sectors[VERIFY_GOOD], 2 * 8);
	ck_assert_uint_eq(verify_port_report(port)->sectors[VERIFY_UNKNOWN], 2 * 8);
	ck_assert_uint_eq(verify_bad(verify_port_report(port)), 0);
}
END_TEST

START_TEST(a_flipped_bit_is_found_with_its_byte)
{
	char expected[8], seen[8];

	write_blocks(1, 1);
	for (unsigned bit = 0; bit < SECTOR_BYTES * 8; bit += bit < 320 ? 11 : 37) {
		uint64_t offset = at(1) + SECTOR_BYTES + bit / 8;
		uint8_t good, bad;

		get(offset, &good, 1);
		bad = good ^ (uint8_t)(1U << bit % 8);
		put(offset, &bad, 1);
		snprintf(expected, sizeof(expected), "0x%02x", good);
		snprintf(seen, sizeof(seen), "0x%02x", bad);
		expect(VERIFY_FLIPPED, 1, offset, expected, seen);
		put(offset, &good, 1);
	}
	ck_assert_uint_eq(look().sectors[VERIFY_GOOD], 8);
}
END_TEST

START_TEST(more_than_one_damaged_byte_is_told_by_the_checksum)
{
	struct verify_report r;
	uint8_t s[SECTOR_BYTES];

	write_blocks(1, 1);
	get(at(1), s, sizeof(s));
	s[100] ^= 0xff;
	s[300] ^= 0x01;
	put(at(1), s, sizeof(s));
	r = look();
	ck_assert_uint_eq(r.sectors[VERIFY_FLIPPED], 1);
	ck_assert_uint_eq(r.first[0].offset, at(1));
	ck_assert_ptr_eq(strstr(r.first[0].expected, "CRC-32C 0x"), r.first[0].expected);
	ck_assert_str_ne(r.first[0].expected, r.first[0].seen);
}
END_TEST

START_TEST(an_old_copy_is_stale)
{
	uint8_t old[BLOCK];

	write_blocks(5, 1);
	get(at(5), old, sizeof(old));
	write_blocks(5, 1);
	write_blocks(5, 1);
	put(at(5), old, sizeof(old));
	expect(VERIFY_STALE, 8, at(5), "generation 3", "generation 1");
}
END_TEST

START_TEST(swapped_blocks_are_misplaced)
{
	uint8_t a[BLOCK], b[BLOCK];
	char seen[48];

	write_blocks(4, 1);
	write_blocks(9, 1);
	get(at(4), a, sizeof(a));
	get(at(9), b, sizeof(b));
	put(at(4), b, sizeof(b));
	put(at(9), a, sizeof(a));
	snprintf(seen, sizeof(seen), "offset %llu", (unsigned long long)at(9));
	expect(VERIFY_MISPLACED, 16, at(4), "offset 28672", seen);
}
END_TEST

START_TEST(halves_of_two_writes_are_torn)
{
	uint8_t old[4 * BLOCK];

	write_blocks(8, 4);
	get(at(8), old, sizeof(old));
	write_blocks(8, 4);
	put(at(8) + 1536, old + 1536, BLOCK - 1536);
	expect(VERIFY_TORN, 5, at(8) + 1536, "generation 2", "generation 1");
	/* A whole block of a larger write. */
	write_blocks(8, 4);
	put(at(10), old + 2 * BLOCK, BLOCK);
	expect(VERIFY_TORN, 8, at(10), "generation 3", "generation 1");
	/* Nothing of a write: that is stale, also beside other writes. */
	put(at(8), old, sizeof(old));
	expect(VERIFY_STALE, 32, at(8), "generation 3", "generation 1");
}
END_TEST

START_TEST(what_is_gone_is_told_from_what_is_foreign)
{
	uint8_t s[BLOCK] = {0};
	struct journal_config c = config();
	struct journal *mine = journal, *other;
	struct verify_port *my_port = port;
	struct verify *others;
	struct err e = {0};

	write_blocks(3, 1);
	put(at(3), s, sizeof(s));
	expect(VERIFY_UNWRITTEN, 8, at(3), "generation 1", "0x00 in all bytes");
	content_fill(s, sizeof(s), 1);
	put(at(3), s, sizeof(s));
	expect(VERIFY_FOREIGN, 8, at(3), "generation 1", "data without a head");
	c.seed = 78;
	OK(journal_open(&other, copy, &c, &e));
	others = verify_new(other);
	port = verify_port_new(others, 1, BLOCK);
	write_blocks(3, 1);
	verify_port_free(port);
	verify_free(others);
	OK(journal_close(other, &e));
	journal = mine;
	port = my_port;
	expect(VERIFY_FOREIGN, 8, at(3), "seed 77", "seed 78");
}
END_TEST

/* Reads one block through the port; returns the sectors that are not good. */
static uint64_t
read_bad(unsigned slot, const uint8_t *data)
{
	uint64_t before = verify_bad(verify_port_report(port));

	memcpy(ios[slot].buf, data, BLOCK);
	end(slot, BLOCK);
	return verify_bad(verify_port_report(port)) - before;
}

START_TEST(a_read_beside_a_write_may_see_either)
{
	uint8_t old[BLOCK], new[BLOCK], mixed[BLOCK], parts[BLOCK];

	write_blocks(0, 1);
	get(at(0), old, BLOCK);
	ck_assert(begin(1, DIR_READ, 0, 1));
	ck_assert(begin(0, DIR_WRITE, 0, 1));
	memcpy(new, ios[0].buf, BLOCK);
	memcpy(mixed, new, BLOCK);
	memcpy(mixed + 2048, old + 2048, 2048);
	ck_assert(begin(2, DIR_READ, 0, 1));
	ck_assert_uint_eq(read_bad(2, mixed), 0);
	ck_assert(begin(2, DIR_READ, 0, 1));
	end(0, BLOCK);
	ck_assert_uint_eq(read_bad(1, old), 0);
	ck_assert_uint_eq(read_bad(2, new), 0);
	/* Memory behind a file may show a sector in two parts, but only then. */
	ck_assert(begin(0, DIR_WRITE, 0, 1));
	ck_assert(begin(1, DIR_READ, 0, 1));
	ck_assert(begin(2, DIR_READ, 0, 1));
	memcpy(parts, ios[0].buf, BLOCK);
	memcpy(parts + 1000, new + 1000, BLOCK - 1000);
	end(0, BLOCK);
	ck_assert_uint_eq(read_bad(1, parts), 0);
	ck_assert_uint_eq(verify_port_report(port)->sectors[VERIFY_UNKNOWN], 1);
	memcpy(new, ios[0].buf, BLOCK);
	ck_assert(begin(1, DIR_READ, 0, 1));
	ck_assert_uint_eq(read_bad(1, parts), 7);
	ck_assert_uint_eq(verify_port_report(port)->sectors[VERIFY_FLIPPED], 1);
	ck_assert_uint_eq(verify_port_report(port)->sectors[VERIFY_TORN], 6);
	/* What begins after the acknowledgement sees the new one. */
	ck_assert(begin(1, DIR_READ, 0, 1));
	ck_assert_uint_eq(read_bad(1, old), 8);
	ck_assert(begin(1, DIR_READ, 0, 1));
	memcpy(mixed, new, 2048);
	ck_assert_uint_eq(read_bad(1, mixed), 4);
	ck_assert_uint_eq(verify_port_report(port)->sectors[VERIFY_STALE], 8);
	ck_assert_uint_eq(verify_port_report(port)->sectors[VERIFY_TORN], 6 + 4);
}
END_TEST

START_TEST(two_writes_of_a_block_are_never_in_flight)
{
	ck_assert(begin(0, DIR_WRITE, 4, 2));
	ck_assert(!begin(1, DIR_WRITE, 5, 1));
	ck_assert(!begin(1, DIR_WRITE, 2, 4));
	/* The refusal left nothing behind. */
	ck_assert(begin(1, DIR_WRITE, 2, 2));
	ck_assert(begin(2, DIR_WRITE, 6, 1));
	for (unsigned i = 0; i < 3; i++) {
		put(ios[i].offset, ios[i].buf, ios[i].length);
		end(i, (int)ios[i].length);
	}
	ck_assert_uint_eq(look().sectors[VERIFY_GOOD], 5 * 8);
	ck_assert_uint_eq(journal_acked(journal_word(journal, 2)), 1);
	ck_assert(begin(1, DIR_WRITE, 5, 1));
	end(1, BLOCK);
}
END_TEST

START_TEST(what_was_not_submitted_leaves_nothing)
{
	write_blocks(0, 2);
	ck_assert(begin(0, DIR_WRITE, 1, 2));
	verify_drop(port, &ios[0]);
	ck_assert(begin(0, DIR_READ, 1, 2));
	verify_drop(port, &ios[0]);
	ck_assert_uint_eq(journal_word(journal, 1), 1);
	ck_assert_uint_eq(journal_word(journal, 2), 0);
	ck_assert_uint_eq(look().sectors[VERIFY_GOOD], 16);
}
END_TEST

/* A load of writes and reads on the disk, over all of the region. */
static void
run_load(double read_percent, int64_t measure_ns, struct load_result *r)
{
	struct load l = {.fd = disk,
		.engine = &engine_sync,
		.workload = {.in_flight = 4, .workers = 4},
		.offset = REGION,
		.length = BLOCKS * BLOCK,
		.align_bytes = 512,
		.measure_ns = measure_ns,
		.seed = 5,
		.verify = verify};
	struct err e = {0};

	workload_plain(&l.workload, read_percent, 50, BLOCK);
	OK(load_run(&l, r, &e));
	ck_assert_int_eq(r->end, LOAD_DONE);
}

START_TEST(a_load_checks_what_it_reads_while_it_writes)
{
	static struct load_result r;
	struct verify_report all;
	uint8_t s[SECTOR_BYTES];

	run_load(50, 200 * NS_PER_MS, &r);
	ck_assert_uint_eq(verify_bad(&r.verify), 0);
	all = look();
	ck_assert_uint_eq(verify_bad(&all), 0);
	ck_assert_uint_eq(all.begun.blocks, 0);
	for (unsigned b = 0; b < BLOCKS; b++)
		write_blocks(b, 1);
	get(at(7), s, sizeof(s));
	s[50] ^= 4;
	put(at(7), s, sizeof(s));
	expect_one(VERIFY_FLIPPED, at(7) + 50);
	run_load(100, 200 * NS_PER_MS, &r);
	ck_assert_uint_gt(r.verify.sectors[VERIFY_GOOD], 0);
	ck_assert_uint_gt(verify_bad(&r.verify), 0);
	ck_assert_uint_eq(verify_bad(&r.verify), r.verify.sectors[VERIFY_FLIPPED]);
}
END_TEST

/* A journal of a region with room for many, in place of the small one. */
static struct journal *wide;
static struct verify *wide_verify;

#define WIDE_BLOCKS 4096

static void
open_wide(void)
{
	struct journal_config c = config();
	struct err e = {0};

	c.length = WIDE_BLOCKS * BLOCK;
	ck_assert_int_eq(ftruncate(disk, REGION + WIDE_BLOCKS * BLOCK), 0);
	OK(journal_open(&wide, copy, &c, &e));
	wide_verify = verify_new(wide);
}

static void
close_wide(void)
{
	struct err e = {0};

	verify_free(wide_verify);
	OK(journal_close(wide, &e));
}

/* Few places, many in flight, one worker: writes meet writes all the time. */
static struct load
crowded_load(void)
{
	struct load l = {.fd = disk,
		.engine = &engine_uring,
		.workload = {.in_flight = 128, .workers = 1},
		.offset = REGION,
		.length = WIDE_BLOCKS * BLOCK,
		.align_bytes = 512,
		.measure_ns = 300 * NS_PER_MS,
		.seed = 5,
		.verify = wide_verify};

	workload_plain(&l.workload, 50, 100, BLOCK);
	return l;
}

START_TEST(writes_that_meet_writes_leave_the_load_as_it_was_asked_for)
{
	static struct load_result r;
	struct load l;
	struct err e = {0};
	double n, reads;

	open_wide();
	l = crowded_load();
	OK(flow_set_theta(&l.workload.streams[0], 1.1, &e));
	if (load_run(&l, &r, &e) != 0) {
		printf("not tried: %s\n", e.text);
		close_wide();
		return;
	}
	ck_assert_int_eq(r.end, LOAD_DONE);
	ck_assert_uint_eq(verify_bad(&r.verify), 0);
	ck_assert_uint_gt(r.verify.redraws, 0);
	reads = (double)r.ops[DIR_READ];
	n = reads + (double)r.ops[DIR_WRITE];
	/* Six deviations of a coin, and what the end cut off. */
	ck_assert_double_lt(fabs(reads - n / 2), 6 * sqrt(n) / 2 + 128);
	close_wide();
}
END_TEST

START_TEST(a_load_that_finds_no_place_says_so)
{
	static struct load_result r;
	struct err e = {0};
	int fd;

	open_wide();
	/* No block can be begun once more. */
	fd = open(copy, O_WRONLY | O_CLOEXEC);
	for (unsigned b = 0; b < WIDE_BLOCKS; b++) {
		uint32_t word = JOURNAL_BEGUN_MAX << JOURNAL_GENERATION_BITS;

		ck_assert_int_eq(pwrite(fd, &word, 4, WORDS_AT + 4 * (off_t)b), 4);
	}
	close(fd);
	for (unsigned workers = 1; workers <= 2; workers++) {
		struct load l = crowded_load();

		l.engine = &engine_sync;
		l.workload.in_flight = l.workload.workers = workers;
		l.measure_ns = 1000 * NS_PER_S;
		workload_plain(&l.workload, 0, 100, BLOCK);
		OK(load_run(&l, &r, &e));
		ck_assert_int_eq(r.end, LOAD_FAILED);
		ck_assert_str_eq(
			r.reason, "a write found no block that is in no other write");
		ck_assert_int_eq(r.first_error, 0);
		ck_assert_uint_eq(r.ops[DIR_WRITE], 0);
	}
	close_wide();
}
END_TEST

START_TEST(loads_that_leave_writes_no_room_are_refused)
{
	static struct load_result r;
	struct load l;
	struct err e = {0};

	open_wide();
	l = crowded_load();
	OK(load_check(&l, &e));
	OK(flow_set_theta(&l.workload.streams[0], 5, &e));
	FAILS(load_run(&l, &r, &e), ERR_INVALID,
		"would find a place to write, and 1% must");
	l.workload.streams[0].read_percent = 100;
	memset(&l.workload.streams[0].blocks[DIR_WRITE], 0, sizeof(struct block_mix));
	OK(load_check(&l, &e));
	close_wide();
}
END_TEST

START_TEST(loads_that_cannot_be_verified_are_refused)
{
	struct load l = {.fd = disk,
		.engine = &engine_sync,
		.workload = {.in_flight = 1, .workers = 1},
		.offset = REGION,
		.length = BLOCKS * BLOCK,
		.align_bytes = 512,
		.measure_ns = NS_PER_MS,
		.verify = verify};
	static struct load_result r;
	struct err e = {0};

	workload_plain(&l.workload, 0, 100, BLOCK);
	l.dedupe_percent = 1;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "none can repeat another");
	l.dedupe_percent = 0;
	workload_plain(&l.workload, 0, 100, 512);
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "whole blocks of 4KiB");
	workload_plain(&l.workload, 0, 100, BLOCK);
	l.workload.streams[0].align_bytes = 512;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "whole blocks of 4KiB");
	workload_plain(&l.workload, 0, 100, BLOCK);
	l.offset -= BLOCK;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "whole blocks of 4KiB");
	l.offset += BLOCK;
	l.workload.streams[0].operation = OP_TRIM;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "write or write-fua");
	l.workload.streams[0].operation = OP_FLUSH;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "write or write-fua");
	l.workload.streams[0].operation = OP_WRITE;
	l.workload.in_flight = l.workload.workers = BLOCKS / 2 + 1;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "a region of 26 blocks");
	l.engine = &engine_null;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "null engine keeps no data");
}
END_TEST

START_TEST(a_write_that_failed_may_be_there_or_not)
{
	uint8_t old[BLOCK];

	write_blocks(0, 1);
	get(at(0), old, BLOCK);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert(begin(0, DIR_WRITE, 0, 1));
		end(0, i == 1 ? 512 : -EIO);
		ck_assert_uint_eq(look().sectors[VERIFY_GOOD], 8);
		ck_assert_uint_eq(look().begun.blocks, 1);
		ck_assert_uint_eq(look().begun.there, i > 0);
		put(at(0), ios[0].buf, BLOCK);
		ck_assert_uint_eq(look().sectors[VERIFY_GOOD], 8);
		ck_assert_uint_eq(look().begun.there, 1);
		put(at(0), old, 512);
		ck_assert_uint_eq(look().begun.partly, 1);
		put(at(0), ios[0].buf, BLOCK);
	}
	write_blocks(0, 1);
	ck_assert_uint_eq(look().begun.blocks, 0);
	put(at(0), old, BLOCK);
	expect(VERIFY_STALE, 8, at(0), "generation 5", "generation 1");
}
END_TEST

START_TEST(generations_go_round)
{
	uint8_t old[BLOCK];

	put_word(0, JOURNAL_GENERATIONS - 1);
	write_blocks(0, 1);
	get(at(0), old, BLOCK);
	write_blocks(0, 1);
	ck_assert_uint_eq(journal_word(journal, 0), 1);
	ck_assert_uint_eq(look().sectors[VERIFY_GOOD], 8);
	put(at(0), old, BLOCK);
	expect(VERIFY_STALE, 8, at(0), "generation 1", "generation 262143");
}
END_TEST

START_TEST(a_later_run_knows_what_an_earlier_one_wrote)
{
	uint8_t old[BLOCK];

	write_blocks(0, 4);
	get(at(1), old, BLOCK);
	close_all();
	open_all();
	ck_assert_uint_eq(look().sectors[VERIFY_GOOD], 32);
	write_blocks(1, 1);
	close_all();
	open_all();
	ck_assert_uint_eq(look().sectors[VERIFY_GOOD], 32);
	put(at(1), old, BLOCK);
	expect(VERIFY_STALE, 8, at(1), "generation 2", "generation 1");
}
END_TEST

START_TEST(a_killed_writer_leaves_all_it_knew)
{
	int status;
	pid_t pid;

	close_all();
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		open_all();
		write_blocks(0, 2);
		if (!begin(1, DIR_WRITE, 4, 1))
			_exit(1);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	open_all();
	ck_assert_uint_eq(look().sectors[VERIFY_GOOD], 16);
	ck_assert_uint_eq(look().begun.blocks, 1);
	ck_assert_uint_eq(journal_word(journal, 4), 1U << JOURNAL_GENERATION_BITS);
	/* What was in flight may be written again. */
	write_blocks(4, 1);
	ck_assert_uint_eq(look().sectors[VERIFY_GOOD], 24);
}
END_TEST

static void
unreadable_range(void)
{
	ck_assert_int_eq(ftruncate(disk, (off_t)at(2)), 0);
}

/* A host that has stopped may have forgotten writes of any block, but that it did is not
 * recorded. */
START_TEST(what_was_begun_is_told_from_what_may_have_been)
{
	struct verify_report r;

	write_blocks(0, 1);
	write_blocks(1, 1);
	ck_assert(begin(0, DIR_WRITE, 1, 2));
	close_all();
	stop_host();
	open_all();
	r = look();
	ck_assert_uint_eq(r.begun.blocks, 2);
	ck_assert_uint_eq(r.begun.there + r.begun.partly, 0);
	ck_assert_uint_eq(r.forgotten.blocks, BLOCKS - 2);
	ck_assert_uint_eq(r.forgotten.there + r.forgotten.partly, 0);
	ck_assert_uint_eq(r.sectors[VERIFY_GOOD], 16);
	/* Written by this boot: acknowledged, and in flight. */
	write_blocks(0, 1);
	write_blocks(5, 1);
	ck_assert(begin(0, DIR_WRITE, 7, 1));
	put(at(7), ios[0].buf, BLOCK);
	end(0, -EIO);
	r = look();
	ck_assert_uint_eq(r.begun.blocks, 3);
	ck_assert_uint_eq(r.begun.there, 1);
	ck_assert_uint_eq(r.forgotten.blocks, BLOCKS - 2 - 3);
	ck_assert_uint_eq(verify_bad(&r), 0);
}
END_TEST

START_TEST(what_cannot_be_read_is_told_block_by_block)
{
	struct verify_report r;

	write_blocks(0, 4);
	unreadable_range();
	r = look();
	ck_assert_uint_eq(r.sectors[VERIFY_GOOD], 16);
	ck_assert_uint_eq(r.sectors[VERIFY_UNREADABLE], 16);
	ck_assert_uint_eq(verify_bad(&r), 16);
	ck_assert_uint_eq(r.first[0].offset, at(2));
	ck_assert_str_eq(r.first[0].seen, "the end of the drive");
	close(disk);
	disk = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
	r = look();
	ck_assert_uint_eq(r.sectors[VERIFY_UNREADABLE], 32);
	ck_assert_str_eq(r.first[0].seen, "Bad file descriptor");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("verify");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_was_written_is_good_and_the_rest_unknown);
	tcase_add_test(tc, a_flipped_bit_is_found_with_its_byte);
	tcase_add_test(tc, more_than_one_damaged_byte_is_told_by_the_checksum);
	tcase_add_test(tc, an_old_copy_is_stale);
	tcase_add_test(tc, swapped_blocks_are_misplaced);
	tcase_add_test(tc, halves_of_two_writes_are_torn);
	tcase_add_test(tc, what_is_gone_is_told_from_what_is_foreign);
	tcase_add_test(tc, a_read_beside_a_write_may_see_either);
	tcase_add_test(tc, two_writes_of_a_block_are_never_in_flight);
	tcase_add_test(tc, what_was_not_submitted_leaves_nothing);
	tcase_add_test(tc, a_load_checks_what_it_reads_while_it_writes);
	tcase_add_test(tc, writes_that_meet_writes_leave_the_load_as_it_was_asked_for);
	tcase_add_test(tc, a_load_that_finds_no_place_says_so);
	tcase_add_test(tc, loads_that_leave_writes_no_room_are_refused);
	tcase_add_test(tc, loads_that_cannot_be_verified_are_refused);
	tcase_add_test(tc, a_write_that_failed_may_be_there_or_not);
	tcase_add_test(tc, generations_go_round);
	tcase_add_test(tc, a_later_run_knows_what_an_earlier_one_wrote);
	tcase_add_test(tc, a_killed_writer_leaves_all_it_knew);
	tcase_add_test(tc, what_was_begun_is_told_from_what_may_have_been);
	tcase_add_test(tc, what_cannot_be_read_is_told_block_by_block);
	return unit_run("verify", tc);
}
