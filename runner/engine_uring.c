/*
 * io_uring with what makes it fast: one registered ring, file and buffer per I/O, and
 * completions that the kernel leaves alone until this thread asks for them
 * (DEFER_TASKRUN). A kernel that lacks a feature gets the next best, which describe
 * tells.
 *
 * The hot calls are few: an enter hands over all that is queued and collects what is
 * done. With many I/Os in flight it waits a little for several. When nothing is done yet,
 * a short spin on the ring comes before sleeping in the kernel, because a wake-up costs
 * more than most fast drives take; drives that are slow enough to sleep for are found out
 * and slept for.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/ioctl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/flow.h"
#include "common/record.h"
#include "common/xalloc.h"
#include "runner/engine.h"
#include "runner/others.h"

/* Linux 6.12, include/uapi/linux/blkdev.h; older headers lack it. The sqe's addr is where
 * to start and its addr3 how many bytes (blkdev_uring_cmd in block/ioctl.c). */
#ifndef BLOCK_URING_CMD_DISCARD
#define BLOCK_URING_CMD_DISCARD _IO(0x12, 0)
#endif

/* So many queued I/Os are handed to the kernel without waiting for the next reap. */
#define FLUSH_AT 32

/* With so many I/Os under way or more, the time between two looks at the kernel is at
 * least this part of the time that an I/O takes; 2 or more are then done at each look. */
#define GATHER_FROM 64
#define GATHER_PART 32

/* Spins before a sleep: the longest, and how long those that hit take at first. */
#define SPIN_NS 20000
#define SPIN_HIT_NS 5000

/* A miss costs the credit of so many hits: spinning goes on while 8 of 9 hit. */
#define SPIN_MISS 8
#define SPIN_CREDIT_MAX 64

/* When the credit is used up, so many waits sleep at once before the next trial. */
#define SPIN_PAUSE 128

struct engine {
	struct io_uring ring;
	bool fixed_file, fixed_buffers;
	uint8_t sqe_flags;
	bool plain; /* the load has nothing but reads and plain writes */
	bool block; /* the drive is a block device */
	int fd;
	unsigned queued;   /* not yet handed to the kernel */
	unsigned busy;	   /* submitted and not yet collected */
	int64_t looked_ns; /* when completions were collected last */
	double took_ns;	   /* how long an I/O takes, on average of late */
	bool may_spin;
	int spin_credit;     /* hits saved up */
	unsigned spin_pause; /* waits that still sleep at once */
	double spin_hit_ns;  /* how long a spin that hits takes, on average */
	char text[128];
};

/* Ring set-ups from the best to the plainest, with the kernel that brought each. */
static const struct {
	unsigned flags;
	const char *text;
} setups[] = {
	{IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
			IORING_SETUP_SUBMIT_ALL, /* 6.1 */
		"single_issuer defer_taskrun coop_taskrun"},
	{IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
		"coop_taskrun"}, /* 5.19 */
	{0, "plain"},
};

static int
setup_ring(struct engine *g, unsigned depth, const char **ret_text, struct err *e)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++) {
		struct io_uring_params p = {.flags = setups[i].flags};

		*ret_text = setups[i].text;
		failed = io_uring_queue_init_params(depth, &g->ring, &p);
		if (failed != -EINVAL)
			break;
	}
	if (failed == -EPERM || failed == -ENOSYS) {
		err_errno(e, ERR_STATE, -failed, "io_uring is not available here");
		return err_fix(
			e, "set kernel.io_uring_disabled to 0, or use --engine sync");
	}
	if (failed == -ENOMEM) {
		err_errno(e, ERR_STATE, -failed, "io_uring with %u entries", depth);
		return err_fix(e, "raise the limit of locked memory (ulimit -l), or keep "
				  "fewer I/Os in flight");
	}
	if (failed != 0)
		return err_errno(e, ERR_IO, -failed, "io_uring with %u entries", depth);
	if ((g->ring.features & IORING_FEAT_EXT_ARG) == 0) {
		io_uring_queue_exit(&g->ring);
		return err_set(e, ERR_STATE, "io_uring needs Linux 5.11 or newer");
	}
	return 0;
}

static bool
register_buffers(struct engine *g, const struct engine_config *c)
{
	struct iovec *v = xcalloc(c->depth, sizeof(*v));
	int failed;

	for (unsigned i = 0; i < c->depth; i++) {
		v[i].iov_base = (char *)c->buffers + i * c->buffer_bytes;
		v[i].iov_len = c->buffer_bytes;
	}
	failed = io_uring_register_buffers(&g->ring, v, c->depth);
	free(v);
	return failed == 0;
}

/*
 * Whether the drive can only be asked in a blocking way, as zram: the kernel then does
 * each I/O in a thread of its own. Reading at the end reads nothing but tells.
 */
static bool
blocks(const struct engine_config *c)
{
	struct iovec v = {c->buffers, c->buffer_bytes};
	off_t end = lseek(c->fd, 0, SEEK_END);

	return end >= 0 && preadv2(c->fd, &v, 1, end, RWF_NOWAIT) < 0 &&
	       errno == EOPNOTSUPP;
}

/* Spinning pays only where another processor can complete the I/O meanwhile. */
static bool
has_two_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) > 1;
}

static int
lacks(const char *what, struct err *e)
{
	err_set(e, ERR_STATE, "io_uring of this kernel knows no %s", what);
	return err_fix(e, "use --engine sync with as many workers as I/Os in flight");
}

static void
prepare_discard(struct io_uring_sqe *sqe, int fd, uint64_t offset, uint64_t length)
{
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, fd, NULL, 0, 0);
	sqe->addr = offset;
	sqe->addr3 = length;
	sqe->cmd_op = BLOCK_URING_CMD_DISCARD;
}

/* Asks for what no device does, a range of one byte: that is EINVAL where the command is
 * known, for others_check has seen that the drive takes trims. A kernel that knows no
 * commands at all (before 5.19) says EINVAL, too, and must not get here. */
static int
check_discard(struct engine *g, struct err *e)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&g->ring);
	struct io_uring_cqe *cqe;
	int res;

	if (sqe == NULL)
		return err_set(e, ERR_IO, "io_uring has no entry for a question");
	prepare_discard(sqe, g->fd, 1, 1);
	res = io_uring_submit_and_wait(&g->ring, 1);
	if (res < 0 || (res = io_uring_peek_cqe(&g->ring, &cqe)) != 0)
		return err_errno(e, ERR_IO, -res, "asking io_uring for discard");
	res = cqe->res;
	io_uring_cqe_seen(&g->ring, cqe);
	return res == -EOPNOTSUPP ? lacks("discard of block devices", e) : 0;
}

/* Finds out before the load whether its operations are possible; nothing is changed. */
static int
check_operations(struct engine *g, unsigned operations, struct err *e)
{
	const struct {
		enum operation operation;
		int op;
		const char *text;
	} wanted[] = {
		{OP_FLUSH, IORING_OP_FSYNC, "fsync"},
		{OP_WRITE_ZEROES, IORING_OP_FALLOCATE, "fallocate"},
		{OP_TRIM, g->block ? IORING_OP_URING_CMD : IORING_OP_FALLOCATE,
			g->block ? "discard of block devices" : "fallocate"},
	};
	struct io_uring_probe *probe = io_uring_get_probe_ring(&g->ring);
	int failed = others_check(g->fd, operations, e);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && failed == 0; i++)
		if ((operations & 1U << wanted[i].operation) != 0 &&
			(probe == NULL ||
				!io_uring_opcode_supported(probe, wanted[i].op)))
			failed = lacks(wanted[i].text, e);
	if (failed == 0 && g->block && (operations & 1U << OP_TRIM) != 0)
		failed = check_discard(g, e);
	io_uring_free_probe(probe);
	return failed;
}

static int
uring_open(struct engine **ret_g, const struct engine_config *c, struct err *e)
{
	struct engine *g = xcalloc(1, sizeof(*g));
	struct stat st;
	const char *text;
	bool fixed_ring;

	g->fd = c->fd;
	g->block = fstat(c->fd, &st) == 0 && S_ISBLK(st.st_mode);
	g->plain = (c->operations & ~(1U << OP_WRITE)) == 0;
	if (setup_ring(g, c->depth, &text, e) != 0) {
		free(g);
		return -1;
	}
	if (!g->plain && check_operations(g, c->operations, e) != 0) {
		io_uring_queue_exit(&g->ring);
		free(g);
		return -1;
	}
	fixed_ring = io_uring_register_ring_fd(&g->ring) == 1;
	g->fixed_file = io_uring_register_files(&g->ring, &g->fd, 1) == 0;
	g->fixed_buffers = register_buffers(g, c);
	g->may_spin = has_two_processors();
	g->spin_hit_ns = SPIN_HIT_NS;
	if (g->fixed_file)
		g->sqe_flags = IOSQE_FIXED_FILE;
	/* Saves the kernel an attempt that must fail. With a second processor it costs
	 * more than that: each I/O then wakes up a thread, where one could go on. */
	if (!g->may_spin && blocks(c))
		g->sqe_flags |= IOSQE_ASYNC;
	snprintf(g->text, sizeof(g->text), "io_uring: %s%s; registered%s%s%s%s", text,
		(g->sqe_flags & IOSQE_ASYNC) != 0 ? " async" : "",
		fixed_ring ? " ring" : "", g->fixed_file ? " file" : "",
		g->fixed_buffers ? " buffers" : "",
		fixed_ring || g->fixed_file || g->fixed_buffers ? "" : " nothing");
	*ret_g = g;
	return 0;
}

/* What is neither a read nor a write. */
static void
prepare_other(const struct engine *g, struct io_uring_sqe *sqe, int fd, struct io *io)
{
	if (io->dir == DIR_FLUSH)
		io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
	else if (io->dir == DIR_ZERO)
		io_uring_prep_fallocate(
			sqe, fd, OTHERS_ZERO_MODE, (off_t)io->offset, (off_t)io->length);
	else if (g->block)
		prepare_discard(sqe, fd, io->offset, io->length);
	else
		io_uring_prep_fallocate(
			sqe, fd, OTHERS_TRIM_MODE, (off_t)io->offset, (off_t)io->length);
}

static void
prepare(struct engine *g, struct io_uring_sqe *sqe, struct io *io)
{
	int fd = g->fixed_file ? 0 : g->fd;

	if (__builtin_expect(!g->plain, 0) && io->dir >= DATA_DIRECTIONS)
		prepare_other(g, sqe, fd, io);
	else if (g->fixed_buffers && io->dir == DIR_READ)
		io_uring_prep_read_fixed(
			sqe, fd, io->buf, io->length, io->offset, io->slot);
	else if (g->fixed_buffers)
		io_uring_prep_write_fixed(
			sqe, fd, io->buf, io->length, io->offset, io->slot);
	else if (io->dir == DIR_READ)
		io_uring_prep_read(sqe, fd, io->buf, io->length, io->offset);
	else
		io_uring_prep_write(sqe, fd, io->buf, io->length, io->offset);
	if (__builtin_expect(!g->plain, 0) && io->fua)
		sqe->rw_flags = RWF_DSYNC;
	sqe->flags = g->sqe_flags;
	io_uring_sqe_set_data(sqe, io);
}

/* Failures that pass: no memory or no room just now, or a signal. What is queued stays
 * queued. */
static bool
passes(int failed)
{
	return failed == -EAGAIN || failed == -EBUSY || failed == -EINTR ||
	       failed == -ETIME;
}

static int
flush(struct engine *g)
{
	int n = io_uring_submit(&g->ring);

	if (n < 0)
		return passes(n) ? 0 : n;
	g->queued = io_uring_sq_ready(&g->ring);
	return 0;
}

static int
uring_submit(struct engine *g, struct io *const io[], unsigned n)
{
	unsigned taken = 0;
	int failed;

	for (; taken < n; taken++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&g->ring);

		if (sqe == NULL)
			break;
		prepare(g, sqe, io[taken]);
	}
	g->queued += taken;
	g->busy += taken;
	if (g->queued < FLUSH_AT && taken == n)
		return (int)taken;
	failed = flush(g);
	return failed != 0 ? failed : (int)taken;
}

/* Whether entering the kernel would bring completions. */
static bool
work_waits(const struct engine *g)
{
	return (IO_URING_READ_ONCE(*g->ring.sq.kflags) &
		       (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
}

static int
collect(struct engine *g, struct io *ret_io[], unsigned max)
{
	struct io_uring_cqe *cqe;
	unsigned head;
	unsigned n = 0;
	int64_t now;

	if (io_uring_cq_ready(&g->ring) == 0)
		return 0;
	now = clock_mono();
	io_uring_for_each_cqe(&g->ring, head, cqe)
	{
		struct io *io = io_uring_cqe_get_data(cqe);

		if (n == max)
			break;
		io->result = cqe->res;
		if (__builtin_expect(!g->plain, 0) && io->dir >= DATA_DIRECTIONS &&
			cqe->res == 0)
			io->result = (int32_t)io->length;
		io->complete_ns = now;
		ret_io[n++] = io;
	}
	io_uring_cq_advance(&g->ring, n);
	g->busy -= n;
	g->looked_ns = now;
	g->took_ns += ((double)(now - ret_io[0]->submit_ns) - g->took_ns) / 16;
	return (int)n;
}

/* Hands over what is queued and takes what is done; no wait. */
static int
exchange(struct engine *g, struct io *ret_io[], unsigned max)
{
	int n = 0;

	if (g->queued != 0) {
		n = io_uring_submit_and_get_events(&g->ring);
		g->queued = io_uring_sq_ready(&g->ring);
	} else if (work_waits(g)) {
		n = io_uring_get_events(&g->ring);
	}
	if (n < 0 && !passes(n))
		return n;
	return collect(g, ret_io, max);
}

/* Watches the ring for at most ns; how long it took until something was there, or -1. */
static int64_t
spin(const struct engine *g, int64_t ns)
{
	int64_t start = clock_mono();
	int64_t now;

	do {
		for (int i = 0; i < 16; i++) {
			if (work_waits(g) || io_uring_cq_ready(&g->ring) != 0)
				return clock_mono() - start;
			cpu_relax();
		}
		now = clock_mono();
	} while (now - start < ns);
	return -1;
}

/*
 * Spins when it has been worth it lately, a few times as long as hits take. On a slow
 * drive, or when the processor is needed by the kernel thread that does the I/O, spins
 * miss; then only one wait in SPIN_PAUSE tries.
 */
static bool
spin_if_worth_it(struct engine *g, int64_t wait_ns)
{
	int64_t most = 2000 + (int64_t)(4 * g->spin_hit_ns);
	int64_t took;

	if (!g->may_spin)
		return false;
	if (g->spin_pause > 0) {
		g->spin_pause--;
		return false;
	}
	most = most < SPIN_NS ? most : SPIN_NS;
	took = spin(g, most < wait_ns ? most : wait_ns);
	if (took >= 0) {
		g->spin_hit_ns += ((double)took - g->spin_hit_ns) / 16;
		if (g->spin_credit < SPIN_CREDIT_MAX)
			g->spin_credit++;
		return true;
	}
	g->spin_credit -= SPIN_MISS;
	if (g->spin_credit < 0) {
		g->spin_credit = 0;
		g->spin_pause = SPIN_PAUSE;
		g->spin_hit_ns = SPIN_HIT_NS;
	}
	return false;
}

/*
 * Lets completions gather when many I/Os are under way. Each entry to the kernel takes
 * locks that whoever does the I/O needs, too, and rings the drive's doorbell; on a busy
 * drive an entry for each I/O makes all of them slower. A drive for which this would be
 * longer than a spin is slow enough to sleep for.
 */
static void
gather(const struct engine *g, int64_t wait_ns)
{
	int64_t pause = (int64_t)(g->took_ns / GATHER_PART);

	if (!g->may_spin || g->queued >= FLUSH_AT || g->busy - g->queued < GATHER_FROM ||
		pause > SPIN_NS)
		return;
	pause = pause < wait_ns ? pause : wait_ns;
	while (clock_mono() - g->looked_ns < pause)
		cpu_relax();
}

static int
uring_reap(struct engine *g, struct io *ret_io[], unsigned max, int64_t wait_ns)
{
	struct __kernel_timespec ts = {wait_ns / NS_PER_S, wait_ns % NS_PER_S};
	struct io_uring_cqe *cqe;
	int n;

	gather(g, wait_ns);
	n = exchange(g, ret_io, max);
	if (n != 0 || wait_ns <= 0)
		return n;
	if (spin_if_worth_it(g, wait_ns)) {
		n = exchange(g, ret_io, max);
		if (n != 0)
			return n;
	}
	n = io_uring_submit_and_wait_timeout(&g->ring, &cqe, 1, &ts, NULL);
	g->queued = io_uring_sq_ready(&g->ring);
	if (n < 0 && !passes(n))
		return n;
	return collect(g, ret_io, max);
}

static const char *
uring_describe(const struct engine *g)
{
	return g->text;
}

static void
uring_close(struct engine *g)
{
	if (g == NULL)
		return;
	io_uring_queue_exit(&g->ring);
	free(g);
}

const struct engine_ops engine_uring = {
	.name = "uring",
	.open = uring_open,
	.submit = uring_submit,
	.reap = uring_reap,
	.describe = uring_describe,
	.close = uring_close,
};
