#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "common/clock.h"
#include "runner/place.h"
#include "runner/worker_impl.h"

/* I/Os prepared with one reading of the clock. */
#define BATCH 32

/* The longest wait without a look at the stop flag. */
#define WAIT_MAX_NS (50 * NS_PER_MS)

/* Sleeps end this much before an arrival: at first, and the range of what is learned. */
#define EARLY_NS 20000
#define EARLY_MIN_NS 2000
#define EARLY_MAX_NS 200000

/* EAGAIN is tried again so often in a row before it counts as a failure. */
#define AGAIN_MAX 100000

/* Draws of a place that meets no write in flight; load_check sees to it that one in a
 * hundred at least does. */
#define DRAWS_MAX 1000000

/* An engine that has failed gets so long to return what it holds. */
#define FAILED_DRAIN_NS (5 * NS_PER_S)

/* Starts counting a second in the slot; the reader has left it empty. */
static void
begin_slot(struct worker *w, struct worker_slot *slot, uint32_t second, int64_t at)
{
	slot->s.point = w->c.point;
	slot->s.second = second;
	slot->s.flags = w->measuring ? 0 : SAMPLE_WARMUP;
	slot->s.mono_ns = at;
	slot->s.wall_ns = w->start_wall_ns + (at - w->start_ns);
	slot->end_second = second;
	w->slot = slot;
}

/* Ends the time of the second; errors of the drain may still be added. */
static void
end_slot(struct worker *w, int64_t at)
{
	struct sample *s = &w->slot->s;

	s->length_ns = at - s->mono_ns;
	s->in_flight = w->in_flight;
	if (w->arrival == NULL)
		return;
	s->dropped += arrival_advance(w->arrival, at);
	s->backlog = arrival_waiting(w->arrival);
}

/* Adds the I/Os in flight since the last change; at never goes back. */
static inline void
account(struct worker *w, int64_t at)
{
	w->report.in_flight_ns += (double)w->in_flight * (double)(at - w->changed_ns);
	w->changed_ns = at;
}

static void
begin_measuring(struct worker *w)
{
	w->measuring = true;
	w->report.in_flight_ns = 0;
	w->report.backlog_max = 0;
	w->report.late = (struct late){0};
	getrusage(RUSAGE_THREAD, &w->cpu_at_start);
}

static int64_t
between(struct timeval from, struct timeval to)
{
	return (to.tv_sec - from.tv_sec) * NS_PER_S + (to.tv_usec - from.tv_usec) * 1000;
}

/* Ends the counting at a time; what is in flight is then drained. */
static void
finish(struct worker *w, int64_t at)
{
	struct rusage cpu;

	if (w->over)
		return;
	w->over = true;
	w->end_ns = at;
	account(w, at);
	end_slot(w, at);
	if (!w->measuring)
		return;
	getrusage(RUSAGE_THREAD, &cpu);
	w->report.cpu_user_ns = between(w->cpu_at_start.ru_utime, cpu.ru_utime);
	w->report.cpu_system_ns = between(w->cpu_at_start.ru_stime, cpu.ru_stime);
	w->report.measured_ns = at - w->measure_start_ns;
}

static void
set_boundary(struct worker *w, int64_t from)
{
	int64_t stage_end = w->measuring ? w->end_ns : w->measure_start_ns;

	w->boundary_ns = stage_end - from > w->second_ns ? from + w->second_ns
							 : stage_end;
}

/* Ends the second at its boundary and begins the next, in a new slot if one is free. */
static void
end_second(struct worker *w)
{
	int64_t at = w->boundary_ns;
	struct worker_slot *next = ring_free_slot(w->ring, 1);
	uint32_t second = ++w->slot->end_second;
	bool measure_now = at == w->measure_start_ns && !w->measuring;

	if (at == w->end_ns) {
		w->slot->end_second--;
		finish(w, at);
		return;
	}
	account(w, at);
	if (measure_now)
		begin_measuring(w);
	if (next != NULL) {
		end_slot(w, at);
		ring_push(w->ring);
		begin_slot(w, next, second, at);
	} else if (measure_now) {
		/* Warm-up and measured time never mix: the end of the warm-up goes. */
		sample_reset(&w->slot->s);
		begin_slot(w, w->slot, second, at);
		w->slot->s.flags |= SAMPLE_MERGED;
	} else {
		w->slot->s.flags |= SAMPLE_MERGED;
	}
	set_boundary(w, at);
}

/* Lets the time be now; false when that ends the load. */
static inline bool
tick(struct worker *w, int64_t now)
{
	while (__builtin_expect(now >= w->boundary_ns, 0) && !w->over)
		end_second(w);
	return !w->over;
}

static void
fail(struct worker *w, int num, int64_t now)
{
	w->report.engine_failure = num;
	finish(w, now);
}

/* An I/O that did not transfer what it should. */
static void
fault(struct worker *w, struct io *io)
{
	struct worker_report *r = &w->report;
	uint64_t errors;

	if (io->result == -EAGAIN && w->again_in_a_row++ < AGAIN_MAX) {
		w->again[w->n_again++] = io;
		return;
	}
	if (w->port != NULL)
		verify_done(w->port, io);
	w->in_flight--;
	w->idle[w->n_idle++] = io;
	w->slot->s.errors[io->dir]++;
	r->faults[io->result >= 0 ? LOAD_FAULT_SHORT : load_fault_of(-io->result)]++;
	if (r->first_fault.complete_ns == 0)
		r->first_fault = *io;
	errors = atomic_load_explicit(&w->errors, memory_order_relaxed) + 1;
	atomic_store_explicit(&w->errors, errors, memory_order_relaxed);
	if (errors > w->c.max_errors) {
		r->too_many_errors = true;
		finish(w, io->complete_ns);
	}
}

/* Keeps apart what the end of the measured time cut off: it is drained, not measured. */
static void
not_finished(struct worker *w, const struct io *io, int64_t at)
{
	int64_t since = w->arrival != NULL ? io->intended_ns : io->submit_ns;

	hist_add(&w->report.unfinished, (uint64_t)(at - since));
}

static inline void
count(struct worker *w, struct io *io)
{
	struct sample *s = &w->slot->s;

	if (__builtin_expect(io->result != (int32_t)io->length, 0)) {
		fault(w, io);
		return;
	}
	if (__builtin_expect(w->port != NULL, 0))
		verify_done(w->port, io);
	w->in_flight--;
	w->idle[w->n_idle++] = io;
	w->again_in_a_row = 0;
	if (__builtin_expect(w->over, 0)) {
		w->report.drained_bytes[io->dir] += io->length;
		not_finished(w, io, io->complete_ns);
		return;
	}
	s->ops[io->dir]++;
	s->bytes[io->dir] += io->length;
	hist_add(&s->service[io->dir], (uint64_t)(io->complete_ns - io->submit_ns));
	if (w->arrival != NULL)
		hist_add(&s->response[io->dir],
			(uint64_t)(io->complete_ns - io->intended_ns));
}

/* Collects completions; returns how many came. */
static int
reap(struct worker *w, int64_t wait_ns)
{
	int n = w->ops->reap(w->engine, w->reaped, w->depth, wait_ns);
	int64_t now = n > 0 ? w->reaped[0]->complete_ns : clock_mono();

	tick(w, now);
	if (n < 0) {
		fail(w, -n, now);
		return 0;
	}
	if (!w->over)
		account(w, now);
	if (w->n_idle == 0)
		w->free_since_ns = now;
	for (int i = 0; i < n; i++)
		count(w, w->reaped[i]);
	return n;
}

/* Gives I/Os to the engine; those it does not take go first the next time. */
static void
submit(struct worker *w, struct io **batch, unsigned n)
{
	int taken = w->ops->submit(w->engine, batch, n);

	if (taken < 0) {
		fail(w, -taken, clock_mono());
		taken = 0;
	}
	for (unsigned i = (unsigned)taken; i < n; i++)
		w->again[w->n_again++] = batch[i];
}

static void
submit_again(struct worker *w)
{
	struct io *batch[BATCH];
	unsigned n = 0;

	while (w->n_again > 0 && n < BATCH)
		batch[n++] = w->again[--w->n_again];
	if (n > 0)
		submit(w, batch, n);
}

/* Draws places until the I/O meets no write in flight. */
static bool
find_place(struct worker *w, struct io *io)
{
	for (unsigned i = 0; i < DRAWS_MAX; i++) {
		if (verify_may(w->port, io))
			return true;
		if (!pattern_again(&w->pattern, io))
			break;
	}
	w->report.no_place = true;
	finish(w, clock_mono());
	return false;
}

/* The next I/O of the pattern with its data ready, or NULL when there is none. */
static inline struct io *
next_io(struct worker *w)
{
	struct io *io = w->idle[w->n_idle - 1];

	if (!pattern_next(&w->pattern, io)) {
		w->exhausted = true;
		return NULL;
	}
	if (__builtin_expect(w->port != NULL, 0) && !find_place(w, io))
		return NULL;
	if (io->dir == DIR_WRITE) {
		content_make(&w->content, io->buf, io->length);
		if (__builtin_expect(w->port != NULL, 0))
			verify_stamp(w->port, io);
	}
	w->n_idle--;
	return io;
}

/* Submits new I/Os; all get the time now, read when they are ready to go. */
static void
send(struct worker *w, struct io **batch, unsigned n)
{
	int64_t now = clock_mono();

	if (!tick(w, now)) {
		if (w->arrival != NULL)
			w->slot->s.backlog += n;
		while (n > 0) {
			w->idle[w->n_idle++] = batch[--n];
			if (w->arrival != NULL)
				not_finished(w, batch[n], now);
			if (w->port != NULL)
				verify_drop(w->port, batch[n]);
		}
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		batch[i]->submit_ns = now;
		if (w->arrival != NULL && batch[i]->intended_ns >= w->free_since_ns)
			late_add(&w->report.late, now - batch[i]->intended_ns);
	}
	account(w, now);
	w->in_flight += n;
	submit(w, batch, n);
}

static void
refill_closed(struct worker *w)
{
	while (w->n_idle > 0 && !w->exhausted && !w->over) {
		struct io *batch[BATCH];
		unsigned n = 0;

		while (n < BATCH && w->n_idle > 0) {
			struct io *io = next_io(w);

			if (io == NULL)
				break;
			batch[n++] = io;
		}
		if (n > 0)
			send(w, batch, n);
	}
}

/* Takes arrivals that wait into a batch; returns their number. */
static unsigned
take_arrivals(struct worker *w, struct io *batch[BATCH])
{
	unsigned n = 0;

	while (n < BATCH && w->n_idle > 0 && arrival_waiting(w->arrival) > 0) {
		struct io *io = next_io(w);

		if (io == NULL)
			break;
		io->intended_ns = arrival_take(w->arrival);
		batch[n++] = io;
	}
	return n;
}

static void
refill_open(struct worker *w)
{
	struct io *batch[BATCH];
	int64_t now = clock_mono();
	unsigned n;

	if (!tick(w, now))
		return;
	w->slot->s.dropped += arrival_advance(w->arrival, now);
	while (!w->over && (n = take_arrivals(w, batch)) > 0)
		send(w, batch, n);
	if (arrival_waiting(w->arrival) > w->report.backlog_max)
		w->report.backlog_max = arrival_waiting(w->arrival);
}

/* How long a wait for completions may last: to the end of the second at most. */
static int64_t
until_second(const struct worker *w, int64_t now)
{
	int64_t wait = w->boundary_ns - now;

	if (wait > WAIT_MAX_NS)
		return WAIT_MAX_NS;
	return wait > 0 ? wait : 0;
}

/*
 * Learns from a sleep that should have ended at `at` how early to wake up: early_ns
 * settles where two sleeps in three are later than that, whatever the worst of them are.
 * Earlier, it would watch the clock more than it sleeps; the arrivals are not much less
 * late for it (docs/evidence/open-loop.txt).
 */
static void
learn_early(struct worker *w, int64_t at, int64_t now)
{
	if ((double)(now - at) > w->early_ns)
		w->early_ns += 0.005 * w->early_ns;
	else
		w->early_ns -= 0.01 * w->early_ns;
	if (w->early_ns < EARLY_MIN_NS)
		w->early_ns = EARLY_MIN_NS;
	if (w->early_ns > EARLY_MAX_NS)
		w->early_ns = EARLY_MAX_NS;
}

static void
look_at_stop(struct worker *w)
{
	int64_t now;

	if (!atomic_load_explicit(&w->stop, memory_order_relaxed))
		return;
	now = clock_mono();
	if (tick(w, now))
		finish(w, now);
}

static void
step_closed(struct worker *w)
{
	int64_t wait;

	refill_closed(w);
	if (w->exhausted && w->in_flight == 0)
		finish(w, w->changed_ns);
	if (w->over)
		return;
	wait = until_second(w, w->changed_ns);
	reap(w, w->n_again > 0 ? 0 : wait);
}

static void
step_open(struct worker *w)
{
	int64_t now, arrival, wait;
	int n;

	refill_open(w);
	if (w->over)
		return;
	now = clock_mono();
	wait = until_second(w, now);
	arrival = w->n_idle > 0 ? arrival_next(w->arrival) : INT64_MAX;
	if (arrival != INT64_MAX && arrival - (int64_t)w->early_ns - now < wait)
		wait = arrival - (int64_t)w->early_ns - now;
	else
		arrival = INT64_MAX;
	n = reap(w, wait > 0 && w->n_again == 0 ? wait : 0);
	if (n == 0 && wait > 0 && arrival != INT64_MAX)
		learn_early(w, now + wait, clock_mono());
	else if (n == 0 && wait <= 0)
		cpu_relax();
}

/* An engine that failed may keep some I/Os for ever. Without a device none is lost when a
 * load is stopped, however long its script makes them take. */
static bool
may_keep_some(const struct worker *w)
{
	return w->report.engine_failure != 0 ||
	       (w->ops->no_device &&
		       atomic_load_explicit(&w->stop, memory_order_relaxed));
}

/* Waits for what is in flight, and gives up what waits for a slot. */
static void
drain(struct worker *w)
{
	int64_t give_up = clock_mono() + FAILED_DRAIN_NS;
	int64_t now;

	while (w->in_flight > 0) {
		bool failed = may_keep_some(w);

		if (failed && clock_mono() > give_up)
			break;
		if (!failed)
			submit_again(w);
		else
			w->in_flight -= w->n_again;
		if (failed)
			w->n_again = 0;
		reap(w, w->n_again > 0 ? 0 : WAIT_MAX_NS);
	}
	now = clock_mono();
	w->report.drain_ns = now - w->end_ns;
	while (w->arrival != NULL && arrival_waiting(w->arrival) > 0)
		hist_add(&w->report.unfinished,
			(uint64_t)(now - arrival_take(w->arrival)));
}

static void
wait_until(int64_t ns)
{
	struct timespec ts = {ns / NS_PER_S, ns % NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void
run(struct worker *w)
{
	w->changed_ns = w->start_ns;
	w->free_since_ns = w->start_ns;
	w->early_ns = EARLY_NS;
	w->end_ns = w->once ? INT64_MAX : w->start_ns + w->c.warmup_ns + w->c.measure_ns;
	w->measure_start_ns = w->start_ns + (w->once ? 0 : w->c.warmup_ns);
	if (w->arrival != NULL)
		arrival_start(w->arrival, w->start_ns);
	/* Sleeps end when they should, not up to 50 us later. */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	wait_until(w->start_ns);
	w->report.start_lag_ns = clock_mono() - w->start_ns;
	if (w->measure_start_ns == w->start_ns)
		begin_measuring(w);
	begin_slot(w, ring_free_slot(w->ring, 0), 0, w->start_ns);
	set_boundary(w, w->start_ns);
	while (!w->over) {
		if (w->n_again > 0)
			submit_again(w);
		if (w->arrival != NULL)
			step_open(w);
		else
			step_closed(w);
		look_at_stop(w);
	}
	drain(w);
	w->slot->end_second++;
	ring_push(w->ring);
}

void *
worker_thread(void *arg)
{
	struct worker *w = arg;
	char place[64] = "";

	if (!w->ops->no_device)
		place_near_drive(w->c.engine.fd, place, sizeof(place));
	w->opened = w->ops->open(&w->engine, &w->c.engine, w->open_err) == 0;
	sem_post(&w->ready);
	if (!w->opened)
		return NULL;
	snprintf(w->report.engine, sizeof(w->report.engine), "%s%s",
		w->ops->describe(w->engine), place);
	while (sem_wait(&w->go) != 0)
		;
	if (w->start_ns != 0)
		run(w);
	if (w->port != NULL)
		w->report.verify = *verify_port_report(w->port);
	w->ops->close(w->engine);
	atomic_store_explicit(&w->done, true, memory_order_release);
	return NULL;
}
