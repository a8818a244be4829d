/*
 * The reference: one system call after the other, in the order of submission. Slow
 * and hard to get wrong; what it leaves on a drive is what the uring engine must leave.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/record.h"
#include "common/xalloc.h"
#include "runner/engine.h"
#include "runner/others.h"

/* queue is a circle of the I/Os not yet done. */
struct engine {
	int fd;
	unsigned depth, first, n;
	struct io **queue;
};

static int
sync_open(struct engine **ret_g, const struct engine_config *c, struct err *e)
{
	struct engine *g;

	if (others_check(c->fd, c->operations, e) != 0)
		return -1;
	g = xcalloc(1, sizeof(*g));
	g->fd = c->fd;
	g->depth = c->depth;
	g->queue = xcalloc(c->depth, sizeof(struct io *));
	*ret_g = g;
	return 0;
}

static int
sync_submit(struct engine *g, struct io *const io[], unsigned n)
{
	unsigned taken = 0;

	for (; taken < n && g->n < g->depth; taken++)
		g->queue[(g->first + g->n++) % g->depth] = io[taken];
	return (int)taken;
}

/* A write that has ended when its data are durable. */
static ssize_t
write_through(int fd, const struct io *io)
{
	struct iovec v = {io->buf, io->length};

	return pwritev2(fd, &v, 1, (off_t)io->offset, RWF_DSYNC);
}

static ssize_t
transfer(int fd, const struct io *io)
{
	ssize_t n;

	do {
		if (io->dir == DIR_READ)
			n = pread(fd, io->buf, io->length, (off_t)io->offset);
		else if (io->fua)
			n = write_through(fd, io);
		else
			n = pwrite(fd, io->buf, io->length, (off_t)io->offset);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t
other(int fd, const struct io *io)
{
	int failed;

	do
		failed = others_run(fd, io);
	while (failed == -EINTR);
	return failed != 0 ? failed : (ssize_t)io->length;
}

static int
sync_reap(struct engine *g, struct io *ret_io[], unsigned max, int64_t wait_ns)
{
	struct io *io;

	(void)wait_ns;
	if (g->n == 0 || max == 0)
		return 0;
	io = g->queue[g->first];
	g->first = (g->first + 1) % g->depth;
	g->n--;
	io->result = (int32_t)(io->dir < DATA_DIRECTIONS ? transfer(g->fd, io)
							 : other(g->fd, io));
	io->complete_ns = clock_mono();
	ret_io[0] = io;
	return 1;
}

static const char *
sync_describe(const struct engine *g)
{
	(void)g;
	return "sync: pread and pwrite, one at a time";
}

static void
sync_close(struct engine *g)
{
	if (g == NULL)
		return;
	free(g->queue);
	free(g);
}

const struct engine_ops engine_sync = {
	.name = "sync",
	.blocking = true,
	.open = sync_open,
	.submit = sync_submit,
	.reap = sync_reap,
	.describe = sync_describe,
	.close = sync_close,
};
