#include "runner/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/flow.h"
#include "common/record.h"
#include "runner/buffers.h"
#include "runner/content.h"
#include "runner/load.h"
#include "runner/others.h"
#include "runner/rng.h"
#include "tests/unit/unit.h"

#define BLOCK 4096U
#define BLOCKS 512U
#define DEPTH 32U

static struct load_result result;

/* A file of BLOCKS blocks that is gone when closed, with direct I/O where a directory
 * offers it. */
static int
scratch(void)
{
	const char *const dirs[] = {getenv("TMPDIR"), ".", "/var/tmp", "/tmp"};
	int fd = -1;

	for (int direct = 1; direct >= 0 && fd < 0; direct--)
		for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && fd < 0; i++)
			if (dirs[i] != NULL)
				fd = open(dirs[i],
					O_TMPFILE | O_RDWR | O_CLOEXEC |
						(direct != 0 ? O_DIRECT : 0),
					0600);
	ck_assert_msg(fd >= 0, "no directory for a scratch file");
	ck_assert_int_eq(ftruncate(fd, BLOCKS * BLOCK), 0);
	return fd;
}

static void
read_all(int fd, unsigned char *buf)
{
	struct buffers b;
	struct err e = {0};

	OK(buffers_map(&b, 1, BLOCKS * BLOCK, &e));
	ck_assert_int_eq(pread(fd, b.data, BLOCKS * BLOCK, 0), BLOCKS * BLOCK);
	memcpy(buf, b.data, BLOCKS * BLOCK);
	buffers_unmap(&b);
}

static bool
have_uring(void)
{
	struct buffers b;
	struct engine *g = NULL;
	struct err e = {0};
	int fd = scratch();
	struct engine_config c = {.fd = fd, .depth = 1, .buffer_bytes = BLOCK};
	bool have;

	OK(buffers_map(&b, 1, BLOCK, &e));
	c.buffers = b.data;
	have = engine_uring.open(&g, &c, &e) == 0;
	if (!have)
		printf("skipped the part with io_uring: %s\n", e.text);
	else
		printf("%s\n", engine_uring.describe(g));
	engine_uring.close(g);
	buffers_unmap(&b);
	close(fd);
	return have;
}

struct rig {
	const struct engine_ops *ops;
	struct engine *g;
	struct buffers buffers;
	struct io ios[DEPTH];
	struct io *idle[DEPTH];
	unsigned n_idle;
	int fd;
};

static unsigned rig_operations; /* what the engines are told */

static void
rig_open(struct rig *t, const struct engine_ops *ops, int fd)
{
	struct engine_config c = {.fd = fd,
		.depth = DEPTH,
		.buffer_bytes = BLOCK,
		.operations = rig_operations};
	struct err e = {0};

	memset(t, 0, sizeof(*t));
	t->ops = ops;
	t->fd = fd;
	OK(buffers_map(&t->buffers, DEPTH, BLOCK, &e));
	c.buffers = t->buffers.data;
	OK(ops->open(&t->g, &c, &e));
	for (unsigned i = 0; i < DEPTH; i++) {
		t->ios[i].slot = (uint16_t)i;
		t->ios[i].buf = (char *)t->buffers.data + i * BLOCK;
		t->ios[i].length = BLOCK;
		t->idle[t->n_idle++] = &t->ios[i];
	}
}

static void
rig_close(struct rig *t)
{
	t->ops->close(t->g);
	buffers_unmap(&t->buffers);
}

/* Submits up to n I/Os of a direction at the blocks of order, whole groups at a time;
 * writes carry data that depends on the block only. */
static unsigned
rig_submit(struct rig *t, const unsigned *order, unsigned n, uint8_t dir)
{
	struct io *batch[DEPTH];
	unsigned taken = 0;

	while (taken < n && t->n_idle > 0) {
		struct io *io = t->idle[--t->n_idle];

		io->dir = dir;
		io->fua = dir == DIR_WRITE && (rig_operations & 1U << OP_WRITE_FUA) != 0;
		io->length = dir == DIR_FLUSH ? 0 : BLOCK;
		io->offset = (uint64_t)order[taken] * BLOCK;
		io->submit_ns = clock_mono();
		if (dir == DIR_WRITE)
			content_fill(io->buf, BLOCK, io->offset);
		batch[taken++] = io;
	}
	if (taken > 0)
		ck_assert_int_eq(t->ops->submit(t->g, batch, taken), (int)taken);
	return taken;
}

static unsigned
rig_reap(struct rig *t, int32_t want)
{
	struct io *done[DEPTH];
	int n = t->ops->reap(t->g, done, DEPTH, NS_PER_S);

	ck_assert_int_ge(n, 0);
	for (int i = 0; i < n; i++) {
		ck_assert_int_eq(done[i]->result, want);
		ck_assert_int_ge(done[i]->complete_ns, done[i]->submit_ns);
		if (done[i]->dir == DIR_READ && want > 0) {
			static unsigned char wanted[BLOCK];

			content_fill(wanted, BLOCK, done[i]->offset);
			ck_assert(memcmp(wanted, done[i]->buf, BLOCK) == 0);
		}
		t->idle[t->n_idle++] = done[i];
	}
	return (unsigned)n;
}

/* Every block once, in a shuffled order, DEPTH in flight. */
static void
transfer_all(const struct engine_ops *ops, int fd, uint8_t dir)
{
	unsigned order[BLOCKS];
	unsigned started = 0;
	unsigned done = 0;
	struct rng r;
	struct rig t;

	rng_init(&r, 9, dir);
	for (unsigned i = 0; i < BLOCKS; i++)
		order[i] = i;
	for (unsigned i = BLOCKS - 1; i > 0; i--) {
		unsigned k = (unsigned)rng_below(&r, i + 1);
		unsigned was = order[i];

		order[i] = order[k];
		order[k] = was;
	}
	rig_open(&t, ops, fd);
	while (done < BLOCKS) {
		started += rig_submit(&t, order + started, BLOCKS - started, dir);
		done += rig_reap(&t, BLOCK);
	}
	ck_assert_uint_eq(t.n_idle, DEPTH);
	rig_close(&t);
}

START_TEST(what_one_engine_writes_the_other_reads)
{
	bool uring = have_uring();
	int a = scratch();
	int b = scratch();
	unsigned char *x = malloc(BLOCKS * BLOCK);
	unsigned char *y = malloc(BLOCKS * BLOCK);

	transfer_all(&engine_sync, a, DIR_WRITE);
	transfer_all(&engine_sync, a, DIR_READ);
	if (uring) {
		transfer_all(&engine_uring, a, DIR_READ);
		transfer_all(&engine_uring, b, DIR_WRITE);
		transfer_all(&engine_sync, b, DIR_READ);
		read_all(a, x);
		read_all(b, y);
		ck_assert(memcmp(x, y, BLOCKS * BLOCK) == 0);
	}
	free(x);
	free(y);
	close(a);
	close(b);
}
END_TEST

static struct load
write_load(const struct engine_ops *ops, int fd)
{
	struct load l = {
		.fd = fd,
		.engine = ops,
		.workload = {.in_flight = 1, .workers = 1},
		.offset = 16 * BLOCK,
		.length = (BLOCKS - 32) * BLOCK,
		.align_bytes = 512,
		.one_pass = (BLOCKS - 32) * BLOCK,
		.seed = 77,
	};

	workload_plain(&l.workload, 0, 100, BLOCK);
	return l;
}

START_TEST(the_same_load_leaves_the_same_bytes_and_none_outside_its_region)
{
	bool uring = have_uring();
	int fds[2] = {scratch(), scratch()};
	unsigned char *bytes[2] = {malloc(BLOCKS * BLOCK), malloc(BLOCKS * BLOCK)};

	for (int i = 0; i < (uring ? 2 : 1); i++) {
		struct load l = write_load(i == 0 ? &engine_sync : &engine_uring, fds[i]);
		struct err e = {0};

		OK(load_run(&l, &result, &e));
		ck_assert_int_eq(result.end, LOAD_DONE);
		ck_assert_uint_eq(result.bytes[DIR_WRITE], l.one_pass);
		read_all(fds[i], bytes[i]);
		for (unsigned at = 0; at < 16 * BLOCK; at++)
			if ((bytes[i][at] | bytes[i][BLOCKS * BLOCK - 1 - at]) != 0)
				ck_abort_msg("a byte outside the region was written");
	}
	if (uring)
		ck_assert(memcmp(bytes[0], bytes[1], BLOCKS * BLOCK) == 0);
	for (int i = 0; i < 2; i++) {
		free(bytes[i]);
		close(fds[i]);
	}
}
END_TEST

/* Random writes stay inside as well, with many in flight and several workers. */
START_TEST(random_writes_stay_inside_the_region)
{
	bool uring = have_uring();
	unsigned char *bytes = malloc(BLOCKS * BLOCK);
	int fd = scratch();
	struct load l = write_load(uring ? &engine_uring : &engine_sync, fd);
	struct err e = {0};
	unsigned touched = 0;

	l.one_pass = 0;
	l.measure_ns = 100 * NS_PER_MS;
	l.workload.in_flight = uring ? 33 : 2;
	l.workload.workers = 2;
	OK(load_run(&l, &result, &e));
	ck_assert_int_eq(result.end, LOAD_DONE);
	read_all(fd, bytes);
	for (unsigned i = 0; i < BLOCKS * BLOCK; i++) {
		bool inside = i >= 16 * BLOCK && i < (BLOCKS - 16) * BLOCK;

		if (!inside && bytes[i] != 0)
			ck_abort_msg("byte %u was written", i);
		touched += bytes[i] != 0;
	}
	ck_assert_uint_gt(touched, BLOCK / 2);
	free(bytes);
	close(fd);
}
END_TEST

START_TEST(reads_past_the_end_are_short_in_every_engine)
{
	const struct engine_ops *const all[] = {&engine_sync, &engine_uring};
	bool uring = have_uring();
	int fd = scratch();

	for (int i = 0; i < (uring ? 2 : 1); i++) {
		const unsigned past = BLOCKS + 5;
		struct rig t;

		rig_open(&t, all[i], fd);
		ck_assert_uint_eq(rig_submit(&t, &past, 1, DIR_READ), 1);
		ck_assert_uint_eq(rig_reap(&t, 0), 1);
		rig_close(&t);
	}
	close(fd);
}
END_TEST

/* Does one operation at each of some blocks, several in flight. */
static void
operate(const struct engine_ops *ops, int fd, uint8_t dir, const unsigned *order,
	unsigned n)
{
	unsigned started = 0;
	unsigned done = 0;
	struct rig t;

	rig_open(&t, ops, fd);
	while (done < n) {
		started += rig_submit(&t, order + started, n - started, dir);
		done += rig_reap(&t, dir == DIR_FLUSH ? 0 : (int32_t)BLOCK);
	}
	rig_close(&t);
}

static bool
is_zero(const unsigned char *block)
{
	for (unsigned i = 0; i < BLOCK; i++)
		if (block[i] != 0)
			return false;
	return true;
}

/* Trims and zeroes leave zeros in their blocks and nothing elsewhere, durable writes and
 * flushes leave what was written, whatever the engine. */
START_TEST(operations_leave_the_same_in_every_engine)
{
	const struct engine_ops *const all[] = {&engine_sync, &engine_uring};
	static const enum operation operations[] = {OP_TRIM, OP_WRITE_ZEROES};
	unsigned char *bytes = malloc(BLOCKS * BLOCK);
	static unsigned char wanted[BLOCK];
	unsigned picked[BLOCKS / 4];
	bool uring = have_uring();

	for (unsigned i = 0; i < BLOCKS / 4; i++)
		picked[i] = i * 4 + i % 3;
	for (int i = 0; i < (uring ? 4 : 2); i++) {
		enum operation op = operations[i % 2];
		int fd = scratch();
		struct err e = {0};

		if (others_check(fd, 1U << op, &e) != 0) {
			printf("skipped %s: %s\n", operation_name(op), e.text);
			close(fd);
			continue;
		}
		rig_operations = 1U << OP_WRITE_FUA;
		transfer_all(all[i / 2], fd, DIR_WRITE);
		rig_operations = 1U << op | 1U << OP_FLUSH;
		operate(all[i / 2], fd, (uint8_t)operation_direction(op), picked,
			BLOCKS / 4);
		operate(all[i / 2], fd, DIR_FLUSH, picked, 40);
		rig_operations = 0;
		read_all(fd, bytes);
		for (unsigned b = 0; b < BLOCKS; b++) {
			content_fill(wanted, BLOCK, (uint64_t)b * BLOCK);
			if (b == picked[b / 4]
					? !is_zero(bytes + b * BLOCK)
					: memcmp(bytes + b * BLOCK, wanted, BLOCK) != 0)
				ck_abort_msg("%s by %s: block %u is wrong",
					operation_name(op), all[i / 2]->name, b);
		}
		close(fd);
	}
	free(bytes);
}
END_TEST

/* A file system in memory has holes, and no ranges of zeros (mm/shmem.c). */
START_TEST(what_cannot_be_done_is_found_out_before)
{
	const struct engine_ops *const all[] = {&engine_sync, &engine_uring};
	int fd = memfd_create("others", MFD_CLOEXEC);
	char page[BLOCK], back[BLOCK];

	ck_assert_int_ge(fd, 0);
	memset(page, 7, sizeof(page));
	ck_assert_int_eq(write(fd, page, sizeof(page)), (ssize_t)sizeof(page));
	for (int i = 0; i < (have_uring() ? 2 : 1); i++) {
		struct engine_config c = {.fd = fd, .depth = 1};
		struct engine *g = NULL;
		struct buffers b;
		struct err e = {0};

		OK(buffers_map(&b, 1, BLOCK, &e));
		c.buffers = b.data;
		c.buffer_bytes = BLOCK;
		c.operations = 1U << OP_WRITE_ZEROES;
		FAILS(all[i]->open(&g, &c, &e), ERR_STATE, "knows no write-zeroes");
		c.operations = 1U << OP_TRIM | 1U << OP_FLUSH;
		OK(all[i]->open(&g, &c, &e));
		all[i]->close(g);
		buffers_unmap(&b);
	}
	/* Asking has changed nothing. */
	ck_assert_int_eq(lseek(fd, 0, SEEK_END), BLOCK);
	ck_assert_int_eq(pread(fd, back, sizeof(back), 0), (ssize_t)sizeof(back));
	ck_assert_mem_eq(page, back, sizeof(page));
	close(fd);
}
END_TEST

START_TEST(a_read_only_target_takes_no_writes)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct load l = write_load(&engine_sync, fd);
	struct err e = {0};

	FAILS(load_run(&l, &result, &e), ERR_INVALID, "open for reading only");
	l.one_pass = 0;
	l.measure_ns = NS_PER_S;
	l.workload.streams[0].operation = OP_TRIM;
	FAILS(load_run(&l, &result, &e), ERR_INVALID, "open for reading only");
	l.workload.streams[0].operation = OP_WRITE_ZEROES;
	FAILS(load_run(&l, &result, &e), ERR_INVALID, "open for reading only");
	close(fd);
	fd = scratch();
	l = write_load(&engine_sync, fd);
	l.length = l.one_pass = BLOCKS * BLOCK;
	FAILS(load_run(&l, &result, &e), ERR_INVALID, "ends after the last");
	close(fd);
}
END_TEST

START_TEST(a_wait_without_io_ends_in_time)
{
	const struct engine_ops *const all[] = {&engine_null, &engine_uring};
	bool uring = have_uring();
	int fd = scratch();

	for (int i = 0; i < (uring ? 2 : 1); i++) {
		struct io *done[1];
		int64_t start;
		struct rig t;

		rig_open(&t, all[i], fd);
		start = clock_mono();
		ck_assert_int_eq(t.ops->reap(t.g, done, 1, 0), 0);
		ck_assert_int_eq(t.ops->reap(t.g, done, 1, 5 * NS_PER_MS), 0);
		ck_assert_int_ge(clock_mono() - start, 5 * NS_PER_MS);
		rig_close(&t);
	}
	close(fd);
}
END_TEST

START_TEST(engines_have_names)
{
	ck_assert_ptr_eq(engine_named("uring"), &engine_uring);
	ck_assert_ptr_eq(engine_named("sync"), &engine_sync);
	ck_assert_ptr_eq(engine_named("null"), &engine_null);
	ck_assert_ptr_null(engine_named("libaio"));
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("engine");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_one_engine_writes_the_other_reads);
	tcase_add_test(
		tc, the_same_load_leaves_the_same_bytes_and_none_outside_its_region);
	tcase_add_test(tc, random_writes_stay_inside_the_region);
	tcase_add_test(tc, reads_past_the_end_are_short_in_every_engine);
	tcase_add_test(tc, operations_leave_the_same_in_every_engine);
	tcase_add_test(tc, what_cannot_be_done_is_found_out_before);
	tcase_add_test(tc, a_read_only_target_takes_no_writes);
	tcase_add_test(tc, a_wait_without_io_ends_in_time);
	tcase_add_test(tc, engines_have_names);
	return unit_run("engine", tc);
}
