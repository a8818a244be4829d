#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/show.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/xalloc.h"

#define TOPICS_MAX 60 /* runs that are subscribed to one by one */
#define BAR 10	      /* characters */
#define EXIT_FAILED_RUNS 10
#define PACE_NEW 0.25 /* weight of the newest point in the time that one takes */
#define WHAT_WIDTH 40 /* columns of a long reason that the block keeps room for */

/* What a narrow terminal makes the block leave out, each with all before it. */
enum narrow {
	NARROW_NOT,
	NARROW_BAR,
	NARROW_KIND,
	NARROW_NODE,
	NARROW_OFFERED,
	NARROW_STATE
};

/* A run and what only its events tell. */
struct followed {
	json_t *doc; /* as GET gives it */
	double iops; /* live; NAN when not known */
	double p99_ns;
	double offered_iops;
	json_t *kind;	 /* "response" or "service": whose p99 that is; or NULL */
	json_t *point;	 /* the last event that told its workload, newer than doc; or
			    NULL */
	double done;	 /* points, at the last one seen to end; NAN: none was */
	int64_t done_ns; /* when that was */
	double pace_ns;	 /* what a point takes; NAN: not known */
};

struct progress {
	char id[24];
	json_t *campaign; /* or NULL */
	struct followed *runs;
	size_t n_runs;
	double plan_ns; /* what a point takes by the suite; NAN: not known */
	double fills;	/* points before the first measured one */
	bool stale;
	enum narrow narrow; /* of the last block, and the terminal it was for */
	unsigned width;
};

struct progress *
progress_new(const char *id)
{
	struct progress *p = xcalloc(1, sizeof(*p));

	snprintf(p->id, sizeof(p->id), "%s", id);
	p->plan_ns = (double)NAN;
	return p;
}

static void
followed_fini(struct followed *f)
{
	json_decref(f->doc);
	json_decref(f->kind);
	json_decref(f->point);
}

void
progress_free(struct progress *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; i < p->n_runs; i++)
		followed_fini(&p->runs[i]);
	free(p->runs);
	json_decref(p->campaign);
	free(p);
}

static struct followed *
find(const struct progress *p, const char *id)
{
	for (size_t i = 0; i < p->n_runs; i++)
		if (strcmp(json_text_of(p->runs[i].doc, "id"), id) == 0)
			return &p->runs[i];
	return NULL;
}

static double
points(const json_t *run, const char *name)
{
	double n = 0;

	json_number(json_object_get(json_object_get(run, "progress"), name), &n);
	return n;
}

static long
number_of(const json_t *run)
{
	const char *id = json_text_of(run, "id");

	return id[0] != '\0' ? strtol(id + 1, NULL, 10) : 0;
}

/* Makes room for a run, in the order of their numbers. */
static struct followed *
add_run(struct progress *p, const json_t *run)
{
	size_t i = p->n_runs++;

	p->runs = xrealloc(p->runs, p->n_runs, sizeof(*p->runs));
	for (; i > 0 && number_of(p->runs[i - 1].doc) > number_of(run); i--)
		p->runs[i] = p->runs[i - 1];
	p->runs[i] = (struct followed){.iops = (double)NAN,
		.p99_ns = (double)NAN,
		.offered_iops = (double)NAN,
		.done = (double)NAN,
		.pace_ns = (double)NAN};
	return &p->runs[i];
}

/* Forgets what only the events of a running run tell. */
static void
not_running(struct followed *f)
{
	f->iops = f->p99_ns = f->offered_iops = (double)NAN;
	f->done = f->pace_ns = (double)NAN;
	f->done_ns = 0;
	json_decref(f->point);
	f->point = NULL;
}

/*
 * Learns what a point takes. The first end that is seen only sets the clock: when that
 * point began nobody knows. Nor do passes that fill the drive tell of those that measure.
 */
static void
learn_pace(const struct progress *p, struct followed *f, double done, int64_t now_ns)
{
	double new_ns;

	if (isfinite(f->done) && done > f->done && f->done_ns > 0 &&
		f->done >= p->fills) {
		double old_ns = isfinite(f->pace_ns) ? f->pace_ns : p->plan_ns;

		new_ns = (double)(now_ns - f->done_ns) / (done - f->done);
		f->pace_ns = isfinite(old_ns) ? old_ns + PACE_NEW * (new_ns - old_ns)
					      : new_ns;
	}
	if (isfinite(f->done) && done > f->done)
		f->done_ns = now_ns;
	f->done = done;
}

static void
update_run(struct progress *p, json_t *run, int64_t now_ns)
{
	struct followed *f = find(p, json_text_of(run, "id"));

	if (f == NULL)
		f = add_run(p, run);
	if (show_text_is(run, "state", "running"))
		learn_pace(p, f, points(run, "points_done"), now_ns);
	else
		not_running(f);
	json_decref(f->doc);
	f->doc = json_incref(run);
}

void
progress_update(
	struct progress *p, const json_t *campaign, const json_t *runs, int64_t now_ns)
{
	json_t *run;
	size_t i;

	if (campaign != NULL) {
		json_decref(p->campaign);
		p->campaign = json_incref((json_t *)(uintptr_t)campaign);
	}
	json_array_foreach (runs, i, run)
		update_run(p, run, now_ns);
}

/* Warm-up and measured time of "ramp/maximum" or "ramp/point"; 0 when not known. */
static double
phase_ns(const json_t *suite, const char *phase)
{
	static const char *const parts[] = {"warmup", "measure"};
	double sum = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const json_t *o = json_at(suite, phase);
		int64_t ns;

		if (parse_duration(json_text_of(o, parts[i]), &ns, NULL) == 0)
			sum += (double)ns;
	}
	return sum;
}

void
progress_suite(struct progress *p, const json_t *suite)
{
	double loads = (double)json_array_size(json_at(suite, "document/ramp/load"));
	double sum = phase_ns(suite, "document/ramp/maximum") +
		     loads * phase_ns(suite, "document/ramp/point");

	/* where only rates are offered there is no maximum */
	if (phase_ns(suite, "document/ramp/maximum") <= 0)
		sum = (loads + 1) * phase_ns(suite, "document/ramp/point");
	if (sum > 0)
		p->plan_ns = sum / (loads + 1);
	json_number(json_at(suite, "document/prepare/fill/passes"), &p->fills);
}

const char *
progress_suite_name(const struct progress *p)
{
	if (p->campaign == NULL && p->n_runs > 0)
		return json_text_of(p->runs[0].doc, "suite");
	return json_text_of(p->campaign, "suite");
}

void
progress_stale(struct progress *p, bool stale)
{
	p->stale = stale;
}

void
progress_topics(const struct progress *p, struct str *out)
{
	str_printf(out, "%s:%s", p->id[0] == 'c' ? "campaign" : "run", p->id);
	if (p->n_runs > TOPICS_MAX) {
		str_puts(out, ",run");
		return;
	}
	for (size_t i = 0; i < p->n_runs; i++) {
		const char *id = json_text_of(p->runs[i].doc, "id");

		if (strcmp(id, p->id) != 0)
			str_printf(out, ",run:%s", id);
	}
}

/* The run that an event is about; NULL when it is about none of ours. */
static struct followed *
run_of(const struct progress *p, const char *name, const json_t *data)
{
	const char *id = json_text_of(data, "run");

	if (strncmp(name, "run.", 4) != 0)
		return NULL;
	return find(p, id[0] != '\0' ? id : json_text_of(data, "id"));
}

/* The number, NAN when there is none. */
static double
number_or_nan(const json_t *o, const char *name)
{
	double x;

	return json_number(json_object_get(o, name), &x) ? x : (double)NAN;
}

/* Whether a member is the same number in both, or one in neither. */
static bool
same_number(const json_t *a, const json_t *b, const char *name)
{
	const json_t *x = json_object_get(a, name);
	const json_t *y = json_object_get(b, name);

	return json_is_number(x) || json_is_number(y) ? json_equal(x, y) : true;
}

/* Whether two events are of one load. */
static bool
same_load(const json_t *a, const json_t *b)
{
	return strcmp(json_text_of(a, "workload"), json_text_of(b, "workload")) == 0 &&
	       same_number(a, b, "load_percent") && same_number(a, b, "offered_iops");
}

static void
take_live(struct followed *f, const json_t *data)
{

	bool other = false;

	if (json_text_of(data, "workload")[0] != '\0') {
		other = !same_load(f->point, data);
		json_decref(f->point);
		f->point = json_incref((json_t *)(uintptr_t)data);
	}
	/* The figures of a point that has ended are not those of the next. */
	if (!json_has(data, "iops") && !other)
		return;
	f->iops = number_or_nan(data, "iops");
	f->p99_ns = number_or_nan(data, "lat_p99_ns");
	f->offered_iops = number_or_nan(data, "offered_iops");
	json_decref(f->kind);
	f->kind = json_incref(json_object_get(data, "latency"));
}

bool
progress_event(struct progress *p, const char *name, const json_t *data, bool *ret_stale)
{
	struct followed *f = run_of(p, name, data);

	*ret_stale = false;
	if (f == NULL && (strcmp(name, "campaign.state") != 0 ||
				 strcmp(json_text_of(data, "id"), p->id) != 0))
		return false;
	*ret_stale = strcmp(name, "run.sample") != 0;
	if (f != NULL)
		take_live(f, data);
	return true;
}

/* "29.1 k of 38.1 k IOPS offered, response p99 503 ms, saturated" of a point. */
static void
add_figures(const json_t *data, struct str *out)
{
	const char *kind = json_text_of(data, "latency");
	json_t *flag;
	size_t i;
	double x;

	if (show_text_is(data, "workload", "fill") &&
		json_number(json_object_get(data, "bytes_per_second"), &x)) {
		str_puts(out, ": ");
		human_bytes(x, out);
		str_puts(out, "/s");
	} else if (json_number(json_object_get(data, "iops"), &x)) {
		str_puts(out, ": ");
		human_count(x, out);
		if (json_number(json_object_get(data, "offered_iops"), &x)) {
			str_puts(out, " of ");
			human_count(x, out);
			str_puts(out, " IOPS offered");
		} else {
			str_puts(out, " IOPS");
		}
	}
	if (json_number(json_object_get(data, "lat_p99_ns"), &x)) {
		str_printf(out, ", %s p99 ", kind[0] != '\0' ? kind : "service");
		human_latency(x, out);
	} else if (out->len > 0 && json_has(data, "iops") &&
		   !show_text_is(data, "workload", "fill")) {
		/* too few I/Os support it */
		str_printf(out, ", %s p99 -", kind[0] != '\0' ? kind : "service");
	}
	json_array_foreach (json_object_get(data, "flags"), i, flag) {
		str_puts(out, ", ");
		raw_value(flag, out);
	}
}

static void
state_line(const json_t *data, struct str *out)
{
	str_printf(out, "%s -> %s", json_text_of(data, "from"), json_text_of(data, "to"));
	if (json_text_of(data, "why")[0] != '\0')
		str_printf(out, " (%s)", json_text_of(data, "why"));
}

static void
run_line(const struct followed *f, const char *name, const json_t *data, struct str *out)
{
	const json_t *workload = json_object_get(data, "workload");

	str_printf(out, "%s %s: ", json_text_of(f->doc, "id"),
		json_text_of(json_object_get(f->doc, "drive"), "serial"));
	if (strcmp(name, "run.state") == 0) {
		state_line(data, out);
	} else if (strcmp(name, "run.alarm") == 0) {
		str_printf(out, "alarm: %s", json_text_of(data, "text"));
	} else if (strcmp(name, "run.point") == 0) {
		show_load(data, out);
		add_figures(data, out);
		if (strcmp(json_text_of(data, "state"), "done") != 0)
			str_printf(out, " [%s]", json_text_of(data, "state"));
	} else {
		str_printf(out, "step %s", json_text_of(data, "kind"));
		if (json_string_length(workload) > 0)
			str_printf(out, " %s", json_string_value(workload));
	}
}

void
progress_line(
	const struct progress *p, const char *name, const json_t *data, struct str *out)
{
	const struct followed *f = run_of(p, name, data);

	/* The end of a point has its figures; its start would only say the same again. */
	if (strcmp(name, "run.sample") == 0 || show_text_is(data, "event", "point.start"))
		return;
	if (f != NULL) {
		run_line(f, name, data, out);
	} else {
		str_printf(out, "%s: ", p->id);
		state_line(data, out);
	}
}

void
progress_summary(const struct progress *p, struct str *out)
{
	static const char *const states[] = {"pending", "leased", "running", "collecting",
		"done", "failed", "cancelled", "lost"};
	const json_t *run = p->n_runs > 0 ? p->runs[0].doc : NULL;

	if (p->campaign == NULL) {
		str_printf(out, "%s %s, %s, %s", p->id,
			json_text_of(json_object_get(run, "drive"), "serial"),
			json_text_of(run, "suite"), json_text_of(run, "state"));
		return;
	}
	str_printf(out, "%s %s, %s, %s:", p->id, json_text_of(p->campaign, "name"),
		json_text_of(p->campaign, "suite"), json_text_of(p->campaign, "state"));
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		size_t n = 0;

		for (size_t r = 0; r < p->n_runs; r++)
			n += show_text_is(p->runs[r].doc, "state", states[i]);
		if (n > 0)
			str_printf(out, " %zu %s", n, states[i]);
	}
}

static void
bar_text(const json_t *row, struct str *out)
{
	bool utf8 = json_is_true(json_object_get(row, "utf8"));
	double done = 0, total = 0;
	int full;

	json_number(json_object_get(row, "done"), &done);
	json_number(json_object_get(row, "total"), &total);
	if (total <= 0)
		return;
	full = (int)(done / total * BAR);
	for (int i = 0; i < BAR && json_has(row, "utf8"); i++) {
		if (utf8)
			str_puts(out, i < full ? "\xe2\x96\x93" : "\xe2\x96\x91");
		else
			str_puts(out, i < full ? "#" : ".");
	}
	str_printf(out, "%s%.0f/%.0f", json_has(row, "utf8") ? " " : "", done, total);
}

static void
p99_text(const json_t *row, struct str *out)
{
	double ns;

	if (!json_number(json_object_get(row, "p99_ns"), &ns))
		return;
	human_latency(ns, out);
	if (json_has(row, "kind"))
		str_printf(out, " %s", json_text_of(row, "kind"));
}

/* "stale" where a figure would be, while nothing is known. */
static void
iops_text(const json_t *row, struct str *out)
{
	double x;

	if (json_number(json_object_get(row, "iops"), &x))
		human_count(x, out);
	else
		str_puts(out, json_text_of(row, "iops"));
}

static const struct column columns[] = {
	{"RUN", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"DRIVE", "serial", UNIT_TEXT, 0, NULL},
	{"NODE", "node", UNIT_TEXT, 0, NULL},
	{"STATE", "state", UNIT_STATE, COL_KEEP, NULL},
	{"IOPS", "iops", UNIT_COUNT, 0, iops_text},
	{"OFFERED", "offered_iops", UNIT_COUNT, 0, NULL},
	{"P99", "p99_ns", UNIT_NS, 0, p99_text},
	{"POINTS", "done", UNIT_TEXT, COL_KEEP, bar_text},
	{"ETA", "eta_ns", UNIT_SPAN, 0, NULL},
	{"WHAT", "what", UNIT_TEXT, 0, NULL},
};
#define BLOCK_COLUMNS (sizeof(columns) / sizeof(columns[0]))

/*
 * What is left: the points still to do, the present one less what has passed of it. NAN
 * when it is not known what a point takes.
 */
static double
eta_ns(const struct progress *p, const struct followed *f, int64_t now_ns)
{
	double left = points(f->doc, "points_total") - points(f->doc, "points_done");
	double pace_ns = isfinite(f->pace_ns) ? f->pace_ns : p->plan_ns;
	double passed_ns = f->done_ns > 0 ? (double)(now_ns - f->done_ns) : 0;

	if (left < 0 || !isfinite(pace_ns))
		return (double)NAN;
	return pace_ns * left - fmin(passed_ns, left > 0 ? pace_ns : 0);
}

static void
put_known(json_t *o, const char *name, double x)
{
	if (isfinite(x))
		json_put(o, name, json_real(x));
}

/* What of a running run changes by the second, or that it is not known now. */
static void
add_live(const struct progress *p, const struct followed *f, json_t *row, int64_t now_ns)
{
	struct str what = {0};
	bool silent = json_is_true(json_object_get(f->doc, "unknown"));

	if (p->stale || silent) {
		json_put(row, "iops", json_string("stale"));
	} else {
		put_known(row, "iops", f->iops);
		put_known(row, "offered_iops", f->offered_iops);
		put_known(row, "p99_ns", f->p99_ns);
		put_known(row, "eta_ns", eta_ns(p, f, now_ns));
	}
	if (f->point != NULL && !silent)
		show_load(f->point, &what);
	else
		show_run_what(f->doc, &what);
	json_put(row, "what", json_string(str_text(&what)));
	str_fini(&what);
}

static json_t *
block_row(const struct progress *p, const struct followed *f, bool utf8, int64_t now_ns)
{
	json_t *row = json_object();
	struct str what = {0};

	json_put(row, "id", json_string(json_text_of(f->doc, "id")));
	json_put(row, "serial",
		json_string(json_text_of(json_object_get(f->doc, "drive"), "serial")));
	json_put(row, "node",
		json_string(json_text_of(json_object_get(f->doc, "node"), "name")));
	json_put(row, "state", json_string(json_text_of(f->doc, "state")));
	json_put(row, "utf8", json_boolean(utf8));
	json_put(row, "done", json_real(points(f->doc, "points_done")));
	json_put(row, "total", json_real(points(f->doc, "points_total")));
	if (f->kind != NULL)
		json_object_set(row, "kind", f->kind);
	if (show_text_is(f->doc, "state", "running")) {
		add_live(p, f, row, now_ns);
	} else {
		show_run_what(f->doc, &what);
		json_put(row, "what", json_string(str_text(&what)));
		str_fini(&what);
	}
	return row;
}

/* Puts the state of a run that does not run before the rest that is told of it. */
static void
state_into_what(json_t *row)
{
	const char *what = json_text_of(row, "what");

	if (!show_text_is(row, "state", "running"))
		json_put(row, "what",
			json_sprintf("%s%s%s", json_text_of(row, "state"),
				what[0] != '\0' ? ": " : "", what));
}

static bool
is_left_out(const struct column *c, enum narrow narrow)
{
	return (narrow >= NARROW_NODE && strcmp(c->path, "node") == 0) ||
	       (narrow >= NARROW_OFFERED && strcmp(c->path, "offered_iops") == 0) ||
	       (narrow >= NARROW_STATE && strcmp(c->path, "state") == 0);
}

/* The columns of a block that leaves so much out; rows lose what is none. */
static size_t
narrowed(enum narrow narrow, json_t *rows, struct column *ret_columns)
{
	json_t *row;
	size_t i;
	size_t n = 0;

	json_array_foreach (rows, i, row) {
		if (narrow >= NARROW_BAR)
			json_object_del(row, "utf8");
		if (narrow >= NARROW_KIND)
			json_object_del(row, "kind");
		if (narrow >= NARROW_STATE)
			state_into_what(row);
	}
	for (i = 0; i < BLOCK_COLUMNS; i++)
		if (!is_left_out(&columns[i], narrow))
			ret_columns[n++] = columns[i];
	return n;
}

/* Prints the rows as wide as the terminal lets them be. What was left out stays so while
 * the terminal keeps its width: columns that come and go would dance. */
static void
print_rows(struct progress *p, const struct out *o, json_t *rows)
{
	struct column chosen[BLOCK_COLUMNS];
	unsigned width = out_width(o);
	size_t n;

	if (width != p->width)
		p->narrow = NARROW_NOT;
	p->width = width;
	n = narrowed(p->narrow, rows, chosen);
	while (width > 0 && p->narrow < NARROW_STATE &&
		table_width(o, rows, chosen, n, WHAT_WIDTH) > width) {
		p->narrow++;
		n = narrowed(p->narrow, rows, chosen);
	}
	table_print(o, rows, chosen, n);
}

/* Those that move first, then those that wait, then those that have ended. */
static int
class_of(const struct followed *f)
{
	if (show_text_is(f->doc, "state", "running") ||
		show_text_is(f->doc, "state", "collecting") ||
		show_text_is(f->doc, "state", "leased"))
		return 0;
	return show_text_is(f->doc, "state", "pending") ? 1 : 2;
}

void
progress_block(struct progress *p, const struct out *o, unsigned max_rows, int64_t now_ns)
{
	json_t *rows = json_array();
	struct str line = {0};
	bool all = p->n_runs <= max_rows;

	progress_summary(p, &line);
	if (p->stale)
		str_puts(&line, " (stale: the controller is away)");
	out_line(o, "%s", str_text(&line));
	str_fini(&line);
	for (int class = 0; class < (all ? 1 : 3); class ++)
		for (size_t i = 0; i < p->n_runs; i++)
			if ((all || class_of(&p->runs[i]) == class) &&
				json_array_size(rows) < max_rows)
				json_array_append_new(
					rows, block_row(p, &p->runs[i], o->utf8, now_ns));
	print_rows(p, o, rows);
	if (!all)
		out_line(o, "and %zu more", p->n_runs - json_array_size(rows));
	json_decref(rows);
}

/* 10 when a run of ours failed or was lost, else what the final state says. */
static int
exit_code_of(const struct progress *p, const char *state)
{
	for (size_t i = 0; i < p->n_runs; i++)
		if (show_text_is(p->runs[i].doc, "state", "failed") ||
			show_text_is(p->runs[i].doc, "state", "lost"))
			return EXIT_FAILED_RUNS;
	if (strcmp(state, "cancelled") == 0)
		return 1;
	return strcmp(state, "done") == 0 ? 0 : EXIT_FAILED_RUNS;
}

bool
progress_ended(const struct progress *p, int *ret_exit_code)
{
	static const char *const finals[] = {"done", "failed", "cancelled", "lost"};
	const json_t *doc = p->campaign;
	const char *state;

	if (doc == NULL && p->n_runs > 0)
		doc = p->runs[0].doc;
	state = json_text_of(doc, "state");
	for (size_t i = 0; i < sizeof(finals) / sizeof(finals[0]); i++) {
		if (strcmp(finals[i], state) != 0)
			continue;
		*ret_exit_code = exit_code_of(p, state);
		return true;
	}
	return false;
}
