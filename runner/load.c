#include "runner/load.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/parse.h"
#include "common/share.h"
#include "common/xalloc.h"
#include "runner/journal.h"
#include "runner/room.h"
#include "runner/worker.h"

/* All workers begin together, so long after the last was made ready. */
#define START_IN_NS (2 * NS_PER_MS)

/* How often the caller's thread looks at the workers. */
#define TICK_NS (20 * NS_PER_MS)

/* When a tick takes so long, this process, or the whole host, did not run. */
#define GAP_NS (200 * NS_PER_MS)

/* Seconds emitted in one tick: a caller that is slower than its workers is still asked in
 * each tick whether to stop. */
#define COLLECT_MAX 16

/* Arrivals that may wait, over all workers; more are dropped. */
#define BACKLOG_MAX (1U << 20)

#define RATE_MAX 1e8

struct member {
	struct worker *worker;
	uint32_t end; /* second up to which its slots are in run.sum, or were emitted */
};

struct run {
	const struct load *l;
	struct load_result *r;
	struct member *members;
	unsigned n;
	struct sample *sum; /* slots of one second, or of merged ones, of all workers */
	bool has_sum;
	uint32_t emitted; /* second up to which samples went to the caller */
	int64_t start_ns;
	bool stopped, too_many_errors;
};

const char *
load_fault_name(enum load_fault f)
{
	static const char *const names[LOAD_FAULTS] = {
		[LOAD_FAULT_MEDIA] = "media",
		[LOAD_FAULT_TIMEOUT] = "timeout",
		[LOAD_FAULT_SPACE] = "space",
		[LOAD_FAULT_GONE] = "gone",
		[LOAD_FAULT_SHORT] = "short",
		[LOAD_FAULT_OTHER] = "other",
	};

	assert((unsigned)f < LOAD_FAULTS);
	return names[f];
}

enum load_fault
load_fault_of(int num)
{
	switch (num) {
	case EIO:
	case EILSEQ:
	case ENODATA:
	case EREMOTEIO:
	case EBADMSG:
		return LOAD_FAULT_MEDIA;
	case ETIMEDOUT:
	case ETIME:
		return LOAD_FAULT_TIMEOUT;
	case ENOSPC:
		return LOAD_FAULT_SPACE;
	case ENODEV:
	case ENXIO:
	case ESHUTDOWN:
	case ENOMEDIUM:
		return LOAD_FAULT_GONE;
	default:
		return LOAD_FAULT_OTHER;
	}
}

static int
check_workload(const struct load *l, struct err *e)
{
	const struct workload *w = &l->workload;

	if (w->in_flight == 0 || w->in_flight > WORKLOAD_IN_FLIGHT_MAX)
		return err_set(e, ERR_INVALID,
			"%u I/Os in flight are not possible; 1 to %d are", w->in_flight,
			WORKLOAD_IN_FLIGHT_MAX);
	if (w->workers > w->in_flight) {
		err_set(e, ERR_INVALID, "%u workers cannot share %u I/Os in flight",
			w->workers, w->in_flight);
		return err_fix(e,
			"at most %u workers, or at least %u I/Os in flight: each worker "
			"has one",
			w->in_flight, w->workers);
	}
	if (workload_check(w, e) != 0)
		return -1;
	if (!share_is_percent(l->compress_percent) ||
		!share_is_percent(l->dedupe_percent))
		return err_set(e, ERR_INVALID,
			"shares of data that compress or repeat are 0%% to 100%%");
	if (l->one_pass != 0 && !workload_is_plain(w))
		return err_set(e, ERR_INVALID, "one pass has one block size");
	return 0;
}

static int
check_engine(const struct load *l, struct err *e)
{
	unsigned in_flight = l->workload.in_flight;

	if (!l->engine->blocking || in_flight == workload_workers(&l->workload))
		return 0;
	err_set(e, ERR_INVALID,
		"the %s engine does one I/O per worker at a time: %u in flight need %u "
		"workers, not %u",
		l->engine->name, in_flight, in_flight, workload_workers(&l->workload));
	return err_fix(
		e, "ask for as many workers as I/Os in flight, or for engine uring");
}

static int
check_region(const struct load *l, struct err *e)
{
	uint64_t shares = workload_workers(&l->workload);
	uint64_t need = l->one_pass != 0 ? 1 : shares * workload_block_max(&l->workload);

	if (l->offset % l->align_bytes != 0 || l->one_pass % l->align_bytes != 0)
		return err_set(e, ERR_INVALID,
			"the region does not start and end on the drive's blocks");
	if (l->length < need)
		return err_set(e, ERR_INVALID,
			"the region of %llu bytes is too small: this load needs one "
			"block for each worker, %llu bytes",
			(unsigned long long)l->length, (unsigned long long)need);
	if (l->one_pass > l->length)
		return err_set(e, ERR_INVALID,
			"one pass of %llu bytes is more than the region of %llu bytes",
			(unsigned long long)l->one_pass, (unsigned long long)l->length);
	if (l->one_pass == 0 &&
		workload_fits(&l->workload, l->length, l->align_bytes, e) != 0)
		return err_fix(e, "use blocks, zones and workers that the region and the "
				  "drive have room for");
	if (l->one_pass == 0)
		return 0;
	/* The last block may be shorter, so that the region may be, too. */
	if (workload_block_max(&l->workload) % l->align_bytes == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		"the blocks of the pass are not whole blocks of the drive");
}

static int
check_times(const struct load *l, struct err *e)
{
	if (!isfinite(l->offered_iops) || l->offered_iops < 0 ||
		l->offered_iops > RATE_MAX)
		return err_set(e, ERR_INVALID,
			"a rate of %g I/Os per second is not possible", l->offered_iops);
	if (l->one_pass != 0)
		return l->offered_iops == 0
			       ? 0
			       : err_set(e, ERR_INVALID, "one pass knows no rate");
	if (l->measure_ns <= 0 || l->warmup_ns < 0)
		return err_set(e, ERR_INVALID, "the measured time must be above 0");
	return 0;
}

/* The descriptor must allow what the load does and hold the whole region. */
static int
check_target(const struct load *l, struct err *e)
{
	bool writes = l->one_pass != 0 || workload_writes(&l->workload);
	int mode = fcntl(l->fd, F_GETFL);
	off_t size;

	if (mode < 0)
		return err_errno(e, ERR_INVALID, errno, "the drive is not open");
	if (writes && (mode & O_ACCMODE) == O_RDONLY)
		return err_set(e, ERR_INVALID,
			"the load writes and the drive is open for reading only");
	size = lseek(l->fd, 0, SEEK_END);
	if (size < 0)
		return err_errno(e, ERR_IO, errno, "size of the drive");
	if (l->offset > (uint64_t)size || l->length > (uint64_t)size - l->offset)
		return err_set(e, ERR_INVALID,
			"the region ends after the last of the drive's %lld bytes",
			(long long)size);
	return 0;
}

/* Each write must find a place where no other is, and must find it soon. */
static int
check_room(const struct load *l, struct err *e)
{
	const struct workload *w = &l->workload;
	double left;

	if (l->length / workload_block_max(w) / 2 < w->in_flight)
		return err_set(e, ERR_INVALID,
			"to verify, no block is written twice at once: %u I/Os in flight "
			"need a region of %u blocks",
			w->in_flight, 2 * w->in_flight);
	left = room_left(w, l->length);
	if (left >= ROOM_MIN)
		return 0;
	err_set(e, ERR_INVALID,
		"to verify, no block is written twice at once: with %u I/Os in flight, "
		"only %.2g%% of the draws would find a place to write, and %g%% must",
		w->in_flight, 100 * left, 100 * ROOM_MIN);
	return err_fix(e,
		"use fewer I/Os in flight, a more even distribution, or a larger "
		"region");
}

int
load_check_verifiable(const struct load *l, struct err *e)
{
	const struct workload *w = &l->workload;

	if ((workload_operations(w) & ~(1U << OP_WRITE | 1U << OP_WRITE_FUA)) != 0)
		return err_set(e, ERR_INVALID,
			"the journal knows what was written, not what was trimmed, "
			"zeroed or flushed: to verify, the operation is write or "
			"write-fua");
	if (l->engine->no_device)
		return err_set(e, ERR_INVALID, "the %s engine keeps no data to verify",
			l->engine->name);
	if (l->dedupe_percent > 0)
		return err_set(e, ERR_INVALID,
			"blocks that are verified carry their offset: none can repeat "
			"another");
	return l->one_pass != 0 ? 0 : check_room(l, e);
}

/* What is checked must be whole blocks of the journal, written once at a time. */
static int
check_verify(const struct load *l, struct err *e)
{
	const struct workload *w = &l->workload;
	const struct journal_config *c;
	char block[40];

	if (l->verify == NULL)
		return 0;
	if (load_check_verifiable(l, e) != 0)
		return -1;
	c = journal_config(verify_journal(l->verify));
	if (workload_unit(w) % c->block_bytes != 0 || l->one_pass % c->block_bytes != 0 ||
		l->offset < c->offset || (l->offset - c->offset) % c->block_bytes != 0 ||
		l->length > c->length - (l->offset - c->offset))
		return err_set(e, ERR_INVALID,
			"the load is not of whole blocks of %s in the region of its "
			"journal",
			format_size(c->block_bytes, block, sizeof(block)));
	return 0;
}

int
load_check(const struct load *l, struct err *e)
{
	assert(l->align_bytes != 0 && l->engine != NULL);
	if (check_workload(l, e) != 0 || check_engine(l, e) != 0 ||
		check_region(l, e) != 0 || check_times(l, e) != 0 ||
		check_verify(l, e) != 0)
		return -1;
	return l->engine->no_device ? 0 : check_target(l, e);
}

static unsigned
backlog_of(unsigned workers)
{
	unsigned n = BACKLOG_MAX;

	while (workers > 1) {
		n /= 2;
		workers = (workers + 1) / 2;
	}
	return n > 1024 ? n : 1024;
}

static int
add_worker(struct run *run, unsigned i, struct err *e)
{
	const struct load *l = run->l;
	const struct workload *w = &l->workload;
	unsigned depth = w->in_flight / run->n + (i < w->in_flight % run->n);
	struct worker_config c = {
		.ops = l->engine,
		.engine = {.fd = l->engine->no_device ? -1 : l->fd,
			.depth = depth,
			.operations = workload_operations(w),
			.script = l->engine_script},
		.pattern = {.offset = l->offset,
			.length = l->length,
			.workload = w,
			.seed = l->seed,
			.share = i,
			.shares = run->n,
			.one_pass = l->one_pass},
		.content = {.seed = l->seed,
			.share = i,
			.compress_percent = l->compress_percent,
			.dedupe_percent = l->dedupe_percent},
		.verify = l->verify,
		.arrival = {.kind = l->arrivals,
			.rate = l->offered_iops / run->n,
			.phase = (i + 0.5) / run->n,
			.span_ns = {l->warmup_ns, l->measure_ns},
			.seed = l->seed ^ (uint64_t)i << 48,
			.backlog_max = backlog_of(run->n)},
		.warmup_ns = l->warmup_ns,
		.measure_ns = l->measure_ns,
		.max_errors = l->max_errors,
		.point = l->point,
	};

	return worker_new(&run->members[i].worker, &c, e);
}

static int
make_workers(struct run *run, struct err *e)
{
	for (unsigned i = 0; i < run->n; i++)
		if (add_worker(run, i, e) != 0)
			return -1;
	for (unsigned i = 0; i < run->n; i++)
		if (worker_open(run->members[i].worker, e) != 0)
			return -1;
	return 0;
}

static void
stop_all(struct run *run)
{
	for (unsigned i = 0; i < run->n; i++)
		worker_stop(run->members[i].worker);
}

/* Adds a slot of another worker for the same time. */
static void
add_parallel(struct sample *sum, const struct sample *s)
{
	sum->flags |= s->flags;
	sum->in_flight += s->in_flight;
	sum->backlog += s->backlog;
	sum->dropped += s->dropped;
	if (s->length_ns > sum->length_ns)
		sum->length_ns = s->length_ns;
	for (int d = 0; d < DIRECTIONS; d++) {
		sum->ops[d] += s->ops[d];
		sum->bytes[d] += s->bytes[d];
		sum->errors[d] += s->errors[d];
		hist_merge(&sum->service[d], &s->service[d]);
		hist_merge(&sum->response[d], &s->response[d]);
	}
}

/* Takes the oldest slot of a worker into the sum. */
static void
absorb(struct run *run, struct member *m, const struct worker_slot *slot)
{
	struct sample *sum = run->sum;
	int64_t end = slot->s.mono_ns + slot->s.length_ns;

	if (!run->has_sum) {
		*sum = slot->s;
		run->has_sum = true;
	} else {
		add_parallel(sum, &slot->s);
		if (m->end != run->emitted) {
			/* A later second of a worker that is in the sum already. */
			sum->in_flight -= slot->s.in_flight;
			sum->backlog -= slot->s.backlog;
		}
		if (end - sum->mono_ns > sum->length_ns)
			sum->length_ns = end - sum->mono_ns;
	}
	m->end = slot->end_second;
	worker_pop(m->worker);
}

static void
emit(struct run *run, uint32_t end)
{
	struct load_result *r = run->r;
	struct sample *s = run->sum;

	if (end > run->emitted + 1)
		s->flags |= SAMPLE_MERGED;
	run->emitted = end;
	run->has_sum = false;
	for (unsigned i = 0; i < run->n; i++)
		run->members[i].end = end;
	r->written_bytes += s->bytes[DIR_WRITE] + s->bytes[DIR_ZERO];
	for (int d = 0; d < DIRECTIONS; d++)
		r->moved_bytes[d] += s->bytes[d];
	if ((s->flags & SAMPLE_WARMUP) == 0) {
		r->dropped += s->dropped;
		for (int d = 0; d < DIRECTIONS; d++) {
			r->ops[d] += s->ops[d];
			r->bytes[d] += s->bytes[d];
			r->errors[d] += s->errors[d];
			hist_merge(&r->service[d], &s->service[d]);
			hist_merge(&r->response[d], &s->response[d]);
		}
	}
	if (run->l->on_sample != NULL)
		run->l->on_sample(run->l->arg, s);
}

/*
 * Whether the worker is as far as the sum wants it: up to `end`, or through. A worker
 * that has seconds to add adds them.
 */
static bool
catch_up(struct run *run, struct member *m, uint32_t end)
{
	while (m->end == run->emitted || m->end < end) {
		bool done = worker_is_done(m->worker); /* read before the last look */
		const struct worker_slot *slot = worker_slot(m->worker);

		if (slot == NULL)
			return done;
		absorb(run, m, slot);
	}
	return true;
}

static uint32_t
furthest(const struct run *run)
{
	uint32_t end = run->emitted;

	for (unsigned i = 0; i < run->n; i++)
		if (run->members[i].end > end)
			end = run->members[i].end;
	return end;
}

/* Emits what all workers have finished next; false when there is no such second yet. */
static bool
collect(struct run *run)
{
	uint32_t end;

	for (;;) {
		bool ready = true;

		for (unsigned i = 0; i < run->n; i++)
			ready = catch_up(run, &run->members[i], furthest(run)) && ready;
		end = furthest(run);
		if (!ready || !run->has_sum)
			return false;
		for (unsigned i = 0; i < run->n; i++)
			ready = catch_up(run, &run->members[i], end) && ready;
		if (ready && furthest(run) == end)
			break;
	}
	emit(run, end);
	return true;
}

static bool
all_done(const struct run *run)
{
	for (unsigned i = 0; i < run->n; i++)
		if (!worker_is_done(run->members[i].worker))
			return false;
	return true;
}

/* Ends the load for all workers when one has failed or all together failed too often. */
static void
watch_errors(struct run *run)
{
	uint64_t errors = 0;
	bool failed = false;

	for (unsigned i = 0; i < run->n; i++) {
		const struct worker *w = run->members[i].worker;

		errors += worker_errors(w);
		failed = failed || (worker_is_done(w) &&
					   (worker_report(w)->engine_failure != 0 ||
						   worker_report(w)->no_place ||
						   worker_report(w)->too_many_errors));
	}
	if (errors > run->l->max_errors)
		run->too_many_errors = true;
	if (run->too_many_errors || failed)
		stop_all(run);
}

/* How much of a span of time the load was to measure. */
static int64_t
measured_in(const struct run *run, int64_t from, int64_t to)
{
	int64_t begin = run->start_ns + run->l->warmup_ns;
	int64_t end = run->l->one_pass != 0 ? to : begin + run->l->measure_ns;

	from = from > begin ? from : begin;
	to = to < end ? to : end;
	return to > from ? to - from : 0;
}

/* Sleeps for a tick. One that lasts far longer was no sleep: nothing ran here. What the
 * caller does in its callbacks may take as long, and does not count. */
static void
sleep_a_tick(struct run *run)
{
	const struct timespec tick = {0, TICK_NS};
	int64_t from = clock_mono(), to;

	nanosleep(&tick, NULL);
	to = clock_mono();
	if (to - from < GAP_NS)
		return;
	run->r->missed_ns += to - from;
	run->r->missed_measure_ns += measured_in(run, from, to);
}

static void
supervise(struct run *run)
{
	while (!all_done(run)) {
		sleep_a_tick(run);
		for (int i = 0; i < COLLECT_MAX && collect(run); i++)
			;
		watch_errors(run);
		if (!run->stopped && run->l->on_tick != NULL &&
			!run->l->on_tick(run->l->arg)) {
			run->stopped = true;
			stop_all(run);
		}
	}
	while (collect(run))
		;
}

static void
report_fault(struct load_result *r, const struct worker_report *w, int64_t *first_ns)
{
	const struct io *io = &w->first_fault;

	if (w->engine_failure != 0 && r->first_error == 0)
		r->first_error = w->engine_failure;
	if (io->complete_ns == 0 || io->complete_ns >= *first_ns)
		return;
	*first_ns = io->complete_ns;
	r->first_error = io->result < 0 ? -io->result : EIO;
	r->first_error_offset = io->offset;
}

/* Adds what a worker did before and after what was measured. */
static void
report_outside(struct load_result *r, const struct worker_report *w)
{
	for (int d = 0; d < DIRECTIONS; d++)
		r->moved_bytes[d] += w->drained_bytes[d];
	if (w->start_lag_ns > r->start_lag_ns)
		r->start_lag_ns = w->start_lag_ns;
}

static void
report(struct run *run)
{
	struct load_result *r = run->r;
	int64_t first_ns = INT64_MAX;
	bool engine_failed = false, no_place = false;

	for (unsigned i = 0; i < run->n; i++) {
		const struct worker_report *w = worker_report(run->members[i].worker);

		if (w->measured_ns > r->length_ns)
			r->length_ns = w->measured_ns;
		if (w->drain_ns > r->drain_ns)
			r->drain_ns = w->drain_ns;
		hist_merge(&r->unfinished, &w->unfinished);
		if (w->measured_ns > 0)
			r->in_flight_mean += w->in_flight_ns / (double)w->measured_ns;
		r->backlog_max += w->backlog_max;
		late_merge(&r->late, &w->late);
		verify_merge(&r->verify, &w->verify);
		r->cpu_user_ns += w->cpu_user_ns;
		r->cpu_system_ns += w->cpu_system_ns;
		for (int f = 0; f < LOAD_FAULTS; f++)
			r->faults[f] += w->faults[f];
		report_outside(r, w);
		engine_failed = engine_failed || w->engine_failure != 0;
		no_place = no_place || w->no_place;
		run->too_many_errors = run->too_many_errors || w->too_many_errors;
		report_fault(r, w, &first_ns);
		snprintf(r->engine, sizeof(r->engine), "%s", w->engine);
	}
	r->end = run->stopped ? LOAD_STOPPED : LOAD_DONE;
	if (engine_failed || no_place || run->too_many_errors) {
		r->end = LOAD_FAILED;
		r->reason = engine_failed ? "the I/O engine failed"
			    : no_place
				    ? "a write found no block that is in no other write"
				    : "more I/Os failed than are allowed";
	}
}

int
load_run(const struct load *l, struct load_result *ret_r, struct err *e)
{
	struct run run = {.l = l, .r = ret_r};
	int failed = -1;

	memset(ret_r, 0, sizeof(*ret_r));
	if (load_check(l, e) != 0)
		return -1;
	run.n = workload_workers(&l->workload);
	run.members = xcalloc(run.n, sizeof(*run.members));
	run.sum = xcalloc(1, sizeof(*run.sum));
	if (make_workers(&run, e) != 0)
		goto out;
	run.start_ns = clock_mono() + START_IN_NS;
	ret_r->start_wall_ns = clock_wall() + START_IN_NS;
	for (unsigned i = 0; i < run.n; i++)
		worker_start(run.members[i].worker, run.start_ns, ret_r->start_wall_ns);
	supervise(&run);
	report(&run);
	failed = 0;
out:
	for (unsigned i = 0; i < run.n; i++)
		worker_free(run.members[i].worker);
	free(run.members);
	free(run.sum);
	return failed;
}
