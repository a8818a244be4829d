#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cut.h"
#include "analysis/metrics.h"
#include "analysis/sanity.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/program.h"
#include "common/str.h"
#include "runner/bench.h"
#include "runner/bench_mix.h"
#include "runner/verify_cmd.h"

static const char *const ends[] = {
	[LOAD_DONE] = "done",
	[LOAD_STOPPED] = "stopped",
	[LOAD_FAILED] = "failed",
};

static void
put_parameters(json_t *doc, const struct bench_options *o)
{
	const struct load *l = &o->load;
	const struct workload *w = &l->workload;
	bool open = l->offered_iops > 0;
	bool plain = workload_is_plain(w);

	json_put(doc, "target", json_text(o->target));
	json_put(doc, "offset_bytes", json_u64(l->offset));
	json_put(doc, "length_bytes", json_u64(l->length));
	json_put(doc, "block_bytes",
		plain ? json_integer(workload_block_max(w)) : json_null());
	json_put(doc, "read_percent", json_real(workload_read_percent(w)));
	json_put(doc, "random_percent", json_real(workload_random_percent(w)));
	json_put(doc, "workload", workload_to_json(w));
	json_put(doc, "in_flight", json_integer(l->workload.in_flight));
	json_put(doc, "workers", json_integer(l->workload.workers));
	json_put(doc, "offered_iops", open ? json_real(l->offered_iops) : json_null());
	json_put(doc, "arrivals",
		open ? json_string(arrivals_name(l->arrivals)) : json_null());
	json_put(doc, "warmup_ns", json_u64((uint64_t)l->warmup_ns));
	json_put(doc, "measure_ns", json_u64((uint64_t)l->measure_ns));
	json_put(doc, "seed", json_u64(l->seed));
	json_put(doc, "compress_percent", json_real(l->compress_percent));
	json_put(doc, "dedupe_percent", json_real(l->dedupe_percent));
	json_put(doc, "max_errors", json_u64(l->max_errors));
}

static json_t *
errors_to_json(const struct load_result *r)
{
	json_t *o = json_object();
	json_t *kinds = json_object();
	char why[128];

	for (int d = 0; d < DIRECTIONS; d++)
		if (d < DATA_DIRECTIONS || r->ops[d] != 0 || r->errors[d] != 0)
			json_put(o, direction_name((enum direction)d),
				json_u64(r->errors[d]));
	for (int f = 0; f < LOAD_FAULTS; f++)
		json_put(kinds, load_fault_name((enum load_fault)f),
			json_u64(r->faults[f]));
	json_put(o, "kinds", kinds);
	if (r->first_error == 0) {
		json_put(o, "first", json_null());
	} else {
		json_t *first = json_object();

		json_put(first, "errno", json_integer(r->first_error));
		json_put(first, "text",
			json_string(strerror_r(r->first_error, why, sizeof(why))));
		json_put(first, "offset_bytes", json_u64(r->first_error_offset));
		json_put(o, "first", first);
	}
	return o;
}

static void
compute(const struct load_result *r, struct point_metrics *ret_m)
{
	/* A load that was stopped at once has measured nothing; 0 in 1 ns says so. */
	metrics_compute(r->service, r->response, r->ops, r->bytes,
		r->length_ns > 0 ? r->length_ns : 1, ret_m);
}

static void
put_unfinished(json_t *doc, const struct bench_options *o, const struct load_result *r)
{
	double factor = cut_factor(r->service, r->response, &r->unfinished);

	json_put(doc, "unfinished", o->fio ? json_null() : json_u64(r->unfinished.n));
	json_put(doc, "unfinished_max_ns",
		r->unfinished.n > 0 ? json_integer((json_int_t)r->unfinished.max_ns)
				    : json_null());
	json_put(doc, "unfinished_factor",
		!o->fio && isfinite(factor) ? json_real(factor) : json_null());
}

json_t *
bench_to_json(const struct bench_options *o, const struct load_result *r)
{
	json_t *doc = json_object();
	struct point_metrics m;
	json_t *figures;
	char when[40];

	compute(r, &m);
	figures = metrics_to_json(&m);
	json_put(doc, "schema", json_string("ssdlab/bench/v1"));
	json_put(doc, "state", json_string(ends[r->end]));
	json_put(doc, "reason", json_string(r->reason != NULL ? r->reason : ""));
	put_parameters(doc, o);
	json_put(doc, "engine", json_text(r->engine));
	json_put(doc, "started",
		json_string(format_time(r->start_wall_ns, when, sizeof(when))));
	json_put(doc, "length_ns", json_u64((uint64_t)r->length_ns));
	json_object_update(doc, figures);
	json_decref(figures);
	json_put(doc, "in_flight_mean",
		o->fio ? json_null() : json_real(r->in_flight_mean));
	json_put(doc, "backlog_max", o->fio ? json_null() : json_u64(r->backlog_max));
	json_put(doc, "dropped", o->fio ? json_null() : json_u64(r->dropped));
	json_put(doc, "late_mean_ns",
		r->late.n > 0 ? json_real(late_mean_ns(&r->late)) : json_null());
	json_put(doc, "late_max_ns",
		r->late.n > 0 ? json_integer(r->late.max_ns) : json_null());
	json_put(doc, "missed_ns",
		o->fio ? json_null() : json_u64((uint64_t)r->missed_measure_ns));
	json_put(doc, "drain_ns", o->fio ? json_null() : json_u64((uint64_t)r->drain_ns));
	put_unfinished(doc, o, r);
	json_put(doc, "errors", errors_to_json(r));
	json_put(doc, "verify",
		o->journal != NULL ? verify_to_json(&r->verify) : json_null());
	json_put(doc, "cpu_user_s", json_real((double)r->cpu_user_ns / 1e9));
	json_put(doc, "cpu_system_s", json_real((double)r->cpu_system_ns / 1e9));
	return doc;
}

/* A time with three significant digits in the unit that fits. */
static const char *
latency(double ns, char *buf, size_t size)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t i = 0;
	int digits = 2;

	if (!isfinite(ns)) {
		snprintf(buf, size, "-");
		return buf;
	}
	/* 999.5 would be shown as 1000. */
	for (; i + 1 < sizeof(units) / sizeof(units[0]) && ns >= 999.5; i++)
		ns /= 1000;
	if (ns >= 99.95 || (i == 0 && ns == floor(ns)))
		digits = 0;
	else if (ns >= 9.995)
		digits = 1;
	snprintf(buf, size, "%.*f %s", digits, ns, units[i]);
	return buf;
}

static void
put_latencies(struct str *out, const char *name, const struct lat_metrics *m)
{
	const double figures[] = {m->mean, m->p50, m->p99, m->p99_9, m->p99_99, m->max};
	char buf[40];

	if (m->n == 0)
		return;
	str_printf(out, "  %-16s", name);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		str_printf(out, "%12s", latency(figures[i], buf, sizeof(buf)));
	str_puts(out, "\n");
}

/* What the lines of the operations are called. */
static const char *const lines[DIRECTIONS] = {
	[DIR_READ] = "  reads",
	[DIR_WRITE] = "  writes",
	[DIR_TRIM] = "  trims",
	[DIR_ZERO] = "  write-zeroes",
	[DIR_FLUSH] = "  flushes",
};

/* Reads and writes together, and each operation for itself when that is not the same. */
static void
put_kind(struct str *out, const char *kind, const struct lat_metrics *all,
	const struct lat_metrics dir[DIRECTIONS])
{
	bool mixed = dir[DIR_READ].n != 0 && dir[DIR_WRITE].n != 0;
	bool alone = all->n != 0;

	put_latencies(out, kind, all);
	for (int d = 0; d < DIRECTIONS; d++) {
		if (d >= DATA_DIRECTIONS && !alone && dir[d].n != 0) {
			str_printf(out, "  %s\n", kind);
			alone = true;
		}
		if (mixed || d >= DATA_DIRECTIONS)
			put_latencies(out, lines[d], &dir[d]);
	}
}

static void
put_rates(struct str *out, const char *name, double iops, double bytes_per_second)
{
	str_printf(out, "  %-16s%12.0f IOPS ", name, iops);
	/* a flush moves no data */
	if (bytes_per_second > 0)
		str_printf(out, "%12.1f MB/s\n", bytes_per_second / 1e6);
	else
		str_printf(out, "%12s\n", "-");
}

/* Where in the target the stream goes, unless it is everywhere. */
static void
put_places(struct str *out, const struct flow *s)
{
	char size[40];

	if (s->align_bytes > 0)
		str_printf(out, ", aligned to %s",
			format_size(s->align_bytes, size, sizeof(size)));
	if (s->from_percent > 0 || s->to_percent < 100)
		str_printf(out, ", from %g%% to %g%%", s->from_percent, s->to_percent);
	if (s->cursors > 1)
		str_printf(out, ", %u cursors", s->cursors);
}

/* The total is that of reads and writes. */
static void
put_all_rates(struct str *out, const struct point_metrics *m)
{
	bool mixed = m->read_iops > 0 && m->write_iops > 0;

	put_rates(out, "total", m->iops, m->bytes_per_second);
	for (int d = 0; d < DIRECTIONS; d++)
		if (d < DATA_DIRECTIONS ? mixed : m->op_iops[d] > 0)
			put_rates(
				out, lines[d], m->op_iops[d], m->op_bytes_per_second[d]);
}

/* Block sizes of the stream and how random it is; nothing when it only flushes. */
static void
put_sizes(struct str *out, const struct flow *s)
{
	bool reads = flow_uses_blocks(s, DIR_READ);
	bool others = flow_uses_blocks(s, DIR_WRITE);
	const struct block_mix *b = s->blocks;

	if (!reads && !others)
		return;
	if (reads && others && !block_mix_equal(&b[DIR_READ], &b[DIR_WRITE])) {
		str_puts(out, "reads ");
		bench_put_blocks(out, &b[DIR_READ]);
		str_puts(out, ", writes ");
		bench_put_blocks(out, &b[DIR_WRITE]);
	} else {
		bench_put_blocks(out, &b[reads ? DIR_READ : DIR_WRITE]);
	}
	str_printf(out, ", %g%% random", s->random_percent);
	if (s->spread != SPREAD_UNIFORM) {
		str_puts(out, " (");
		bench_put_distribution(out, s);
		str_puts(out, ")");
	}
	str_puts(out, ", ");
}

static void
put_stream(struct str *out, const struct flow *s)
{
	put_sizes(out, s);
	str_printf(out, "%g%% read", s->read_percent);
	if (s->operation != OP_WRITE)
		str_printf(out, ", the rest %s", operation_name(s->operation));
	put_places(out, s);
}

/* The stream, or the streams with their shares, each on a line of its own. */
static void
put_workload(struct str *out, const struct workload *w)
{
	for (size_t i = 0; i < w->n_streams; i++) {
		if (w->n_streams > 1)
			str_printf(out, "%g%%: ", w->streams[i].share_percent);
		put_stream(out, &w->streams[i]);
		str_puts(out, w->n_streams > 1 ? "\n          " : ", ");
	}
	str_printf(out, "%u in flight, %u worker%s, ", w->in_flight, w->workers,
		w->workers == 1 ? "" : "s");
}

static void
put_load(struct str *out, const struct bench_options *o, const struct load_result *r)
{
	char size[40], time[40], took[40];

	str_printf(out, "target    %s, %s\n", o->target,
		format_size(o->load.length, size, sizeof(size)));
	str_puts(out, "load      ");
	put_workload(out, &o->load.workload);
	if (o->load.offered_iops > 0)
		str_printf(out, "%g/s offered (%s), ", o->load.offered_iops,
			arrivals_name(o->load.arrivals));
	if (o->load.compress_percent > 0)
		str_printf(out, "compress %g%%, ", o->load.compress_percent);
	if (o->load.dedupe_percent > 0)
		str_printf(out, "dedupe %g%%, ", o->load.dedupe_percent);
	format_duration(o->load.measure_ns, time, sizeof(time));
	if (r->length_ns == o->load.measure_ns)
		str_printf(out, "%s\n", time);
	else
		str_printf(out, "%s measured of %s\n",
			latency((double)r->length_ns, took, sizeof(took)), time);
}

static void
put_late(struct str *out, const struct late *l)
{
	char mean[40], max[40];

	if (l->n > 0)
		str_printf(out, "generator late: mean %s, max %s\n",
			latency(late_mean_ns(l), mean, sizeof(mean)),
			latency((double)l->max_ns, max, sizeof(max)));
}

static void
put_stalled(struct str *out, const struct load_result *r)
{
	char missed[40];

	if ((double)r->missed_measure_ns > SANITY_MISSED * (double)r->length_ns)
		str_printf(out, "stalled   this host did not run the load for %s of it\n",
			latency((double)r->missed_measure_ns, missed, sizeof(missed)));
}

/* Only where the percentiles above would be others with it. */
static void
put_cut(struct str *out, const struct load_result *r)
{
	double factor = cut_factor(r->service, r->response, &r->unfinished);
	char longest[40];

	if (factor > SANITY_CUT_FACTOR)
		str_printf(out,
			"cut off   %" PRIu64
			" I/Os had not ended at the end, the longest after %s: with "
			"them a percentile would be %.0f times as high\n",
			r->unfinished.n,
			latency((double)r->unfinished.max_ns, longest, sizeof(longest)),
			factor);
}

/* What the kernel does one after the other (see docs/ENGINE.md, "Other ends"). */
static void
put_queue(struct str *out, const struct bench_options *o, const struct load_result *r)
{
	const struct load *l = &o->load;
	bool trims = r->ops[DIR_TRIM] > 0 && l->engine->blocking;
	bool zeroes = r->ops[DIR_ZERO] > 0;

	if (l->workload.in_flight > 1 && !l->engine->no_device && (trims || zeroes))
		str_printf(out,
			"queue     the kernel does %s one after the other: their service "
			"time holds that queue\n",
			!zeroes ? "trims"
			: trims ? "trims and write-zeroes"
				: "write-zeroes");
}

static void
put_troubles(struct str *out, const struct load_result *r)
{
	char why[128];

	if (r->backlog_max != 0 || r->dropped != 0)
		str_printf(out,
			"backlog   %" PRIu64 " arrivals waited at most, %" PRIu64
			" were dropped\n",
			r->backlog_max, r->dropped);
	for (int f = 0; f < LOAD_FAULTS; f++)
		if (r->faults[f] != 0)
			str_printf(out, "errors    %" PRIu64 " %s\n", r->faults[f],
				load_fault_name((enum load_fault)f));
	if (r->first_error != 0)
		str_printf(out, "          the first at byte %" PRIu64 ": %s\n",
			r->first_error_offset,
			strerror_r(r->first_error, why, sizeof(why)));
	if (r->end != LOAD_DONE)
		str_printf(out, "ended     %s%s%s\n", ends[r->end],
			r->reason != NULL ? ": " : "",
			r->reason != NULL ? r->reason : "");
}

void
bench_to_text(const struct bench_options *o, const struct load_result *r, struct str *out)
{
	struct point_metrics m;
	double seconds = (double)r->length_ns / 1e9;
	double cpu = (double)(r->cpu_user_ns + r->cpu_system_ns) / 1e9;

	compute(r, &m);
	put_load(out, o, r);
	str_printf(
		out, "engine    %s\nseed      %" PRIu64 "\n\n", r->engine, o->load.seed);
	put_all_rates(out, &m);
	str_printf(out, "\n  %-16s%12s%12s%12s%12s%12s%12s\n", "latency", "mean", "p50",
		"p99", "p99.9", "p99.99", "max");
	put_kind(out, "service", &m.service, m.service_dir);
	put_kind(out, "response", &m.response, m.response_dir);
	str_puts(out, "\n");
	if (!o->fio)
		str_printf(out, "in flight %.1f on average\n", r->in_flight_mean);
	if (seconds > 0)
		str_printf(out, "processor %.2f s (%.0f %% user, %.0f %% system)\n", cpu,
			(double)r->cpu_user_ns / 1e7 / seconds,
			(double)r->cpu_system_ns / 1e7 / seconds);
	put_late(out, &r->late);
	put_stalled(out, r);
	put_cut(out, r);
	put_queue(out, o, r);
	if (o->journal != NULL)
		verify_to_text(&r->verify, out);
	put_troubles(out, r);
}
