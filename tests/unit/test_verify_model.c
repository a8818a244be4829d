/*
 * Writes at random on a drive whose power, or whose host, may go at any moment, against a
 * plain array as the oracle. Seeds are fixed.
 */
#include <errno.h>
#include <fcntl.h>

#include "runner/rng.h"
#include "tests/unit/verify_rig.h"

/* The oracle: what was acknowledged, in plain arrays. */
static struct {
	uint8_t acked[BLOCKS][BLOCK], before[BLOCKS][BLOCK];
	unsigned writes[BLOCKS]; /* acknowledged ones */
	bool doubt[BLOCKS];	 /* a write of it has failed since */
	bool in_flight[DEPTH];
} model;

static struct rng dice;

static unsigned
roll(unsigned n)
{
	return (unsigned)rng_below(&dice, n);
}

static void
model_end(unsigned slot)
{
	const struct io *io = &ios[slot];
	unsigned first = (unsigned)((io->offset - REGION) / BLOCK);
	bool fails = roll(8) == 0;

	model.in_flight[slot] = false;
	for (unsigned i = 0; i < io->length / BLOCK; i++) {
		unsigned b = first + i;

		model.doubt[b] = fails;
		if (fails) {
			if (roll(2) == 0)
				put(at(b), (uint8_t *)io->buf + i * BLOCK, BLOCK);
			continue;
		}
		memcpy(model.before[b], model.acked[b], BLOCK);
		memcpy(model.acked[b], (uint8_t *)io->buf + i * BLOCK, BLOCK);
		model.writes[b]++;
		put(at(b), model.acked[b], BLOCK);
	}
	end(slot, fails ? -EIO : (int)io->length);
}

/* One more write begins, or one that is in flight ends. */
static void
model_step(void)
{
	unsigned slot = roll(DEPTH), n = 1 + roll(IO_BLOCKS);
	unsigned block = roll(BLOCKS - n + 1);

	if (model.in_flight[slot])
		model_end(slot);
	else
		model.in_flight[slot] = begin(slot, DIR_WRITE, block, n);
}

static bool
model_is_begun(unsigned block)
{
	for (unsigned i = 0; i < DEPTH; i++) {
		uint64_t first = (ios[i].offset - REGION) / BLOCK;

		if (model.in_flight[i] && block >= first &&
			block - first < ios[i].length / BLOCK)
			return true;
	}
	return model.doubt[block];
}

static size_t
copy_journal(uint8_t *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = pread(fd, buf, size, 0);

	ck_assert_int_gt(n, WORDS_AT);
	close(fd);
	return (size_t)n;
}

/* What the power left: each sector of a write in flight is there or not. */
static int
crashed_disk(void)
{
	static uint8_t all[BLOCKS * BLOCK];
	int fd = memfd_create("crashed", MFD_CLOEXEC);

	get(REGION, all, sizeof(all));
	for (unsigned i = 0; i < DEPTH; i++) {
		unsigned how = roll(3); /* drop, keep, tear */

		if (!model.in_flight[i])
			continue;
		for (unsigned s = 0; s < ios[i].length; s += SECTOR_BYTES)
			if (how == 1 || (how == 2 && roll(2) == 0))
				memcpy(all + (ios[i].offset - REGION) + s,
					(uint8_t *)ios[i].buf + s, SECTOR_BYTES);
	}
	ck_assert_int_eq(pwrite(fd, all, sizeof(all), (off_t)REGION), sizeof(all));
	return fd;
}

static struct verify_report
check_crashed(const uint8_t *words, size_t bytes, int fd)
{
	struct verify_report r = {0};
	struct journal *j;
	struct err e = {0};
	int file = open(copy, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_eq(write(file, words, bytes), (ssize_t)bytes);
	close(file);
	OK(journal_read(&j, copy, &e));
	OK(verify_scan(j, fd, always, NULL, &r, &e));
	OK(journal_close(j, &e));
	return r;
}

static void
expect_clean(const struct verify_report *r, const char *what, unsigned step)
{
	if (verify_bad(r) != 0)
		ck_abort_msg("%s, step %u: %s at %llu: expected %s, seen %s", what, step,
			verify_kind_name(r->first[0].kind),
			(unsigned long long)r->first[0].offset, r->first[0].expected,
			r->first[0].seen);
}

static void
damage(int fd, uint64_t offset, uint8_t *sector)
{
	ck_assert_int_eq(pwrite(fd, sector, SECTOR_BYTES, (off_t)offset), SECTOR_BYTES);
}

/* Spoils one acknowledged sector: that one must be found, and nothing else. */
static void
spoil(const uint8_t *words, size_t bytes, int fd, unsigned step)
{
	unsigned b = roll(BLOCKS), other = roll(BLOCKS), k = roll(8) * SECTOR_BYTES;
	enum verify_kind want = VERIFY_STALE;
	uint8_t s[SECTOR_BYTES];
	struct verify_report r;

	if (model.writes[b] < 2 || model_is_begun(b))
		return;
	memcpy(s, model.before[b] + k, sizeof(s));
	if (roll(3) == 0) {
		memcpy(s, model.acked[b] + k, sizeof(s));
		s[roll(SECTOR_BYTES)] ^= (uint8_t)(1U << roll(8));
		want = VERIFY_FLIPPED;
	} else if (roll(3) == 0 && other != b && model.writes[other] > 0) {
		memcpy(s, model.acked[other] + k, sizeof(s));
		want = VERIFY_MISPLACED;
	}
	damage(fd, at(b) + k, s);
	r = check_crashed(words, bytes, fd);
	/* The rest of the block is newer: a stale sector in it is a torn write. */
	if (want == VERIFY_STALE)
		want = VERIFY_TORN;
	if (verify_bad(&r) != 1 || r.sectors[want] != 1 ||
		r.first[0].offset / SECTOR_BYTES != (at(b) + k) / SECTOR_BYTES)
		ck_abort_msg("step %u: %llu bad, %s at %llu, wanted %s at %llu", step,
			(unsigned long long)verify_bad(&r),
			r.n > 0 ? verify_kind_name(r.first[0].kind) : "none",
			(unsigned long long)r.first[0].offset, verify_kind_name(want),
			(unsigned long long)(at(b) + k));
}

static void
model_drain(void)
{
	for (unsigned i = 0; i < DEPTH; i++)
		if (model.in_flight[i])
			model_end(i);
}

START_TEST(power_may_go_at_any_moment)
{
	static uint8_t words[16384];
	unsigned unknown, step;

	rng_init(&dice, 20261130, 0);
	memset(&model, 0, sizeof(model));
	for (step = 0; step < 1000; step++) {
		struct verify_report r;
		size_t n;
		int fd;

		model_step();
		n = copy_journal(words, sizeof(words));
		fd = crashed_disk();
		r = check_crashed(words, n, fd);
		expect_clean(&r, "power cut", step);
		unknown = 0;
		for (unsigned b = 0; b < BLOCKS; b++)
			unknown += model.writes[b] == 0;
		ck_assert_uint_eq(r.sectors[VERIFY_GOOD], (BLOCKS - unknown) * 8);
		spoil(words, n, fd, step);
		close(fd);
	}
	model_drain();
}
END_TEST

/* The journal as it was after each of the last steps. */
#define STEPS_LOST 64
#define FILE_MAX 16384
static struct {
	uint8_t files[STEPS_LOST][FILE_MAX];
	size_t bytes;
} past;

/* What the host leaves: each word as it was at the last sync or later. The next boot is
 * another. */
static void
stopped_journal(uint8_t file[FILE_MAX], unsigned step)
{
	memcpy(file, past.files[(step + 1) % STEPS_LOST], past.bytes);
	for (size_t i = WORDS_AT; i < past.bytes; i += 4)
		memcpy(file + i,
			past.files[(step + 1 + roll(STEPS_LOST)) % STEPS_LOST] + i, 4);
	make_stopped(file);
}

static void
remember_all(void)
{
	for (unsigned i = 0; i < STEPS_LOST; i++)
		past.bytes = copy_journal(past.files[i], FILE_MAX);
}

/* The host comes up again, with the drive and the journal that the stop has left. */
static void
go_on_after(const uint8_t *file, int fd)
{
	static uint8_t all[BLOCKS * BLOCK];
	int to;

	close_all();
	to = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(to, file, past.bytes, 0), (ssize_t)past.bytes);
	close(to);
	ck_assert_int_eq(pread(fd, all, sizeof(all), (off_t)REGION), sizeof(all));
	put(REGION, all, sizeof(all));
	memset(model.in_flight, 0, sizeof(model.in_flight));
	open_all();
	remember_all();
}

START_TEST(the_host_may_stop_at_any_moment_again_and_again)
{
	uint8_t file[FILE_MAX];
	unsigned stops = 0;

	rng_init(&dice, 20261201, 0);
	memset(&model, 0, sizeof(model));
	remember_all();
	for (unsigned step = 0; step < 1000; step++) {
		struct verify_report r;
		int fd;

		model_step();
		copy_journal(past.files[step % STEPS_LOST], FILE_MAX);
		stopped_journal(file, step);
		fd = crashed_disk();
		r = check_crashed(file, past.bytes, fd);
		expect_clean(&r, "host stopped", step);
		if (roll(40) == 0) {
			go_on_after(file, fd);
			stops++;
		}
		close(fd);
	}
	ck_assert_uint_gt(stops, 10);
	model_drain();
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("verify_model");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, power_may_go_at_any_moment);
	tcase_add_test(tc, the_host_may_stop_at_any_moment_again_and_again);
	return unit_run("verify_model", tc);
}
