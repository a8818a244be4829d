/*
 * engine - the seam to the kernel: four calls, one engine per worker, nothing shared.
 *
 * Ends: uring (real), sync (the oracle it is compared with), null (scripted delays and
 * errors; for tests and for measuring our own ceiling). The descriptor is verified and
 * borrowed; no name reaches an engine.
 */
#ifndef RUNNER_ENGINE_H
#define RUNNER_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct engine;

/* One I/O; allocated, aligned and registered before the first is submitted. */
struct io {
	uint64_t offset; /* bytes from the start of the drive */
	uint32_t length; /* bytes */
	uint8_t dir;	 /* enum direction; a flush has length 0 */
	bool fua;	 /* a write that is durable when it ends */
	uint16_t slot;	 /* index of the I/O, and of its registered buffer */
	int32_t result;	 /* after reap: bytes, or -errno; length for what moves none */
	void *buf;
	int64_t intended_ns; /* CLOCK_MONOTONIC; open loops only */
	int64_t submit_ns;
	int64_t complete_ns; /* set by reap */
};

struct engine_config {
	int fd;		/* borrowed; not used by null */
	unsigned depth; /* most I/Os in flight */
	void *buffers;	/* depth buffers of buffer_bytes each, page-aligned; borrowed */
	size_t buffer_bytes;
	unsigned operations;	 /* of the load, bits 1 << enum operation */
	const char *script;	 /* null engine only, see engine_null.c; else NULL */
	const atomic_bool *stop; /* ends a pause of the null engine; borrowed, or NULL */
};

/*
 * All calls come from the thread that called open. An io belongs to the engine from
 * submit until reap returns it.
 */
struct engine_ops {
	const char *name;
	bool no_device; /* moves no data: fd may be -1, buffers are not touched */
	bool blocking;	/* an I/O starts when the one before has ended: depth 1 only, or
			   time in our own queue would pass for time of the drive */
	/* open makes an engine. Errors: ERR_IO, ERR_STATE with what the kernel or the
	   drive lacks. */
	int (*open)(struct engine **ret_g, const struct engine_config *c, struct err *e);
	/*
	 * Queues n I/Os; returns how many were taken (0: full) or -errno. What is queued
	 * starts at once or with the next reap. All are taken while at most depth are in
	 * flight.
	 */
	int (*submit)(struct engine *g, struct io *const io[], unsigned n);
	/*
	 * Waits up to wait_ns (0: not at all) for 1..max completions; their number, 0 for
	 * none or when interrupted, or -errno. All of one call share one complete_ns, the
	 * time they were seen, unless the engine knows better.
	 */
	int (*reap)(struct engine *g, struct io *ret_io[], unsigned max, int64_t wait_ns);
	/* Says which kernel features are used, for the record; borrowed until close. */
	const char *(*describe)(const struct engine *g);
	/* Frees. The kernel ends I/Os that are still in flight, and keeps fd and buffers
	 * open for them until then. NULL allowed. */
	void (*close)(struct engine *g);
};

extern const struct engine_ops engine_uring;
extern const struct engine_ops engine_sync;
extern const struct engine_ops engine_null;

/* cpu_relax tells the processor that this is a loop that waits. */
static inline void
cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* engine_named returns "uring", "sync" or "null", or NULL for another name. */
const struct engine_ops *engine_named(const char *name);

#endif
