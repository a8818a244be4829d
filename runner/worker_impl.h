/*
 * worker_impl - the state of a worker, shared by its life (worker_life.c) and its loop
 * (worker.c) and by nobody else.
 */
#ifndef RUNNER_WORKER_IMPL_H
#define RUNNER_WORKER_IMPL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "common/ring.h"
#include "runner/buffers.h"
#include "runner/worker.h"

/* Padded on purpose: the caller's looks must not slow the thread down.
 * NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct worker {
	/* Shared with the caller. */
	atomic_bool stop, done;
	_Atomic uint64_t errors;
	struct ring *ring;

	/* The thread's own from start to done. */
	_Alignas(64) struct engine *engine;
	const struct engine_ops *ops;
	struct worker_slot *slot; /* the second being filled */
	struct pattern pattern;
	struct content content;
	struct verify_port *port; /* NULL: data are not checked */
	struct arrival *arrival;  /* NULL: closed loop */
	struct io **idle;
	struct io **again; /* got EAGAIN, or was not taken: to submit first */
	struct io **reaped;
	unsigned n_idle, n_again;
	unsigned depth;
	unsigned in_flight; /* submitted for the first time and not yet finished */
	unsigned again_in_a_row;
	bool over;	/* the time is up, or it was stopped, or it failed */
	bool exhausted; /* one pass: nothing left to submit */
	bool once, measuring;
	int64_t boundary_ns; /* when the second ends */
	int64_t measure_start_ns, end_ns;
	int64_t second_ns;
	int64_t changed_ns;    /* in_flight is accounted for until here */
	int64_t free_since_ns; /* a slot has been idle since then, or is not */
	double early_ns;
	struct rusage cpu_at_start;
	struct worker_report report;

	/* Fixed before the thread starts. */
	struct worker_config c;
	struct io *ios;
	struct buffers buffers;
	int64_t start_ns, start_wall_ns;

	/* Start and end of the thread. */
	pthread_t thread;
	bool has_thread;
	sem_t ready, go;
	struct err *open_err;
	bool opened;
};

/* worker_thread is the thread: opens the engine, waits for the start, runs the load. */
void *worker_thread(void *worker);

#endif
