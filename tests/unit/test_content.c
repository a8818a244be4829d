#include "runner/content.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "common/clock.h"
#include "common/crc32c.h"
#include "common/record.h"
#include "runner/journal.h"
#include "runner/load.h"
#include "runner/verify.h"
#include "tests/unit/unit.h"

#define BYTES ((size_t)8 << 20)
#define UNITS (BYTES / CONTENT_UNIT)

static uint8_t data[BYTES], packed[BYTES + (BYTES >> 4)];

/* Fills data as I/Os of so many bytes would. */
static void
make(double compress, double dedupe, size_t io)
{
	static struct content c;
	const struct content_config config = {.seed = 42,
		.share = 1,
		.compress_percent = compress,
		.dedupe_percent = dedupe};

	content_init(&c, &config);
	for (size_t at = 0; at < BYTES; at += io)
		content_make(&c, data + at, io);
}

/* Bytes that zstd at its default level makes of the data, in parts of so many. */
static double
zstd_bytes(size_t part)
{
	double sum = 0;

	for (size_t at = 0; at < BYTES; at += part) {
		size_t n = ZSTD_compress(
			packed, sizeof(packed), data + at, part, ZSTD_CLEVEL_DEFAULT);

		ck_assert_uint_eq(ZSTD_isError(n), 0);
		sum += (double)n;
	}
	return sum;
}

static int
by_digest(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Parts of so many bytes that are equal to an earlier one. */
static size_t
repeats(size_t part)
{
	static uint64_t digests[BYTES / 512];
	size_t n = BYTES / part, same = 0;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = data + i * part;

		digests[i] = (uint64_t)crc32c(0, p, part) << 32 |
			     crc32c(1, p + part / 2, part / 2);
	}
	qsort(digests, n, sizeof(digests[0]), by_digest);
	for (size_t i = 1; i < n; i++)
		same += digests[i] == digests[i - 1];
	return same;
}

START_TEST(by_default_nothing_compresses_and_nothing_repeats)
{
	for (size_t io = 512; io <= ((size_t)1 << 20); io *= 8) {
		make(0, 0, io);
		ck_assert_double_ge(zstd_bytes(BYTES), BYTES);
		ck_assert_double_ge(zstd_bytes(4096), BYTES);
		ck_assert_uint_eq(repeats(4096), 0);
		ck_assert_uint_eq(repeats(512), 0);
	}
}
END_TEST

START_TEST(zstd_confirms_what_compresses_away)
{
	/* In parts of 4 KiB a frame of zstd's own costs 0.3 % of them. */
	static const struct {
		size_t io, part;
		int most;
	} cases[] = {{4096, BYTES, 95}, {131072, BYTES, 95}, {131072, 131072, 95},
		{4096, 4096, 80}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int percent = 10; percent <= cases[i].most; percent += 5) {
			double left;

			make(percent, 0, cases[i].io);
			left = 100 * zstd_bytes(cases[i].part) / (double)BYTES;
			ck_assert_double_eq_tol(
				left, 100 - percent, 0.05 * (100 - percent));
			if (cases[i].part > 4096)
				ck_assert_double_eq_tol(
					100 - left, percent, 0.05 * percent);
			ck_assert_uint_eq(repeats(4096), 0);
		}
	}
	make(100, 0, 4096);
	ck_assert_double_lt(zstd_bytes(BYTES), 0.01 * (double)BYTES);
	ck_assert_uint_eq(repeats(4096), 0);
}
END_TEST

START_TEST(zstd_confirms_it_also_with_heads_to_verify)
{
	const struct journal_config config = {
		.drive = "SN1-aa", .length = BYTES, .block_bytes = 4096, .seed = 42};
	char folder[] = "/tmp/test_content.XXXXXX", path[64];
	struct journal *j;
	struct verify_port *p;
	struct verify *v;
	struct err e = {0};

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/journal", folder);
	OK(journal_open(&j, path, &config, &e));
	v = verify_new(j);
	p = verify_port_new(v, 1, 4096);
	for (int percent = 0; percent <= 80; percent += 10) {
		double left;

		make(percent, 0, 4096);
		for (size_t at = 0; at < BYTES; at += 4096) {
			struct io io = {.dir = DIR_WRITE,
				.offset = at,
				.length = 4096,
				.result = 4096,
				.buf = data + at};

			ck_assert(verify_may(p, &io));
			verify_stamp(p, &io);
			verify_done(p, &io);
		}
		left = 100 * zstd_bytes(BYTES) / (double)BYTES;
		ck_assert_double_eq_tol(left, 100 - percent, 0.05 * (100 - percent));
	}
	verify_port_free(p);
	verify_free(v);
	OK(journal_close(j, &e));
	unlink(path);
	rmdir(folder);
}
END_TEST

START_TEST(as_many_blocks_repeat_as_were_asked_for)
{
	for (int percent = 0; percent <= 100; percent += 10) {
		for (size_t io = 4096; io <= 131072; io *= 32) {
			make(percent % 3 * 30, percent, io);
			ck_assert_double_eq_tol((double)repeats(4096),
				percent / 100.0 * (double)UNITS, 2);
		}
	}
}
END_TEST

START_TEST(zstd_sees_both_at_once)
{
	double left;

	/* Half of the blocks repeat one that is near, and a third of the rest goes. */
	make(33, 50, 4096);
	left = zstd_bytes(BYTES) / (double)BYTES;
	ck_assert_double_eq_tol(left, 0.67 * 0.5, 0.05 * 0.67 * 0.5);
}
END_TEST

START_TEST(data_are_the_same_for_a_seed_whatever_was_in_the_buffer)
{
	static uint8_t again[BYTES];

	make(30, 20, 4096);
	memcpy(again, data, BYTES);
	memset(data, 0, BYTES);
	make(30, 20, 65536);
	ck_assert(memcmp(again, data, BYTES) == 0);
}
END_TEST

START_TEST(no_two_workers_write_the_same)
{
	static struct content c;
	struct content_config config = {.seed = 7};

	for (; config.share < 8; config.share++) {
		content_init(&c, &config);
		content_make(&c, data + config.share * (BYTES / 8), BYTES / 8);
	}
	ck_assert_uint_eq(repeats(4096), 0);
	ck_assert_uint_eq(repeats(512), 0);
}
END_TEST

START_TEST(a_mixed_load_does_not_write_back_what_it_has_read)
{
	struct load l = {.engine = &engine_sync,
		.workload = {.in_flight = 1},
		.length = BYTES,
		.align_bytes = 512,
		.measure_ns = 100 * NS_PER_MS,
		.seed = 3};
	static struct load_result r;
	struct err e = {0};
	size_t written = 0;

	workload_plain(&l.workload, 50, 100, 4096);
	l.fd = memfd_create("content", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(l.fd, BYTES), 0);
	OK(load_run(&l, &r, &e));
	ck_assert_int_eq(pread(l.fd, data, BYTES, 0), BYTES);
	close(l.fd);
	for (size_t at = 0; at < BYTES; at += 4096) {
		size_t n = ZSTD_compress(
			packed, sizeof(packed), data + at, 4096, ZSTD_CLEVEL_DEFAULT);

		if (n > 100) {
			ck_assert_uint_ge(n, 4096);
			written++;
		}
	}
	ck_assert_uint_gt(written, 0);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("content");

	tcase_add_test(tc, by_default_nothing_compresses_and_nothing_repeats);
	tcase_add_test(tc, zstd_confirms_what_compresses_away);
	tcase_add_test(tc, zstd_confirms_it_also_with_heads_to_verify);
	tcase_add_test(tc, as_many_blocks_repeat_as_were_asked_for);
	tcase_add_test(tc, zstd_sees_both_at_once);
	tcase_add_test(tc, data_are_the_same_for_a_seed_whatever_was_in_the_buffer);
	tcase_add_test(tc, no_two_workers_write_the_same);
	tcase_add_test(tc, a_mixed_load_does_not_write_back_what_it_has_read);
	return unit_run("content", tc);
}
