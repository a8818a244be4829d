/* Workloads and the ramp of a suite, from what a vdbench parameter file defines. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/vdbench_priv.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/xalloc.h"

/* A workload definition's part in a run. */
struct part {
	const struct vd_wd *wd;
	double share; /* percent of the run's I/Os */
	bool *on;     /* whether it runs on each of the storage definitions */
};

/* One run definition with the values of its loops. */
struct turn {
	const struct vd_rd *rd;
	struct part *parts; /* owned, as are their "on" */
	size_t n_parts;
	double values[LOOP_KINDS];
	bool has[LOOP_KINDS];
	char suffix[40]; /* of the id, "-8k-t16" */
	/* storage definitions whose drives get what no earlier one's gets; owned */
	bool *first;
	size_t n_first;
};

/* A name matched by a pattern in which * is anything. */
static bool
matches(const char *pattern, const char *name)
{
	const char *star = NULL, *back = name;

	while (*name != '\0') {
		if (*pattern == '*') {
			star = pattern++;
			back = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star != NULL) {
			pattern = star + 1;
			name = ++back;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

/* Writes out those that count= repeats. */
static void
expand_sds(struct vd *v)
{
	struct vd_sd *all = xcalloc(VD_SDS_MAX + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < v->n_sds; i++) {
		const struct vd_sd *sd = &v->sds[i];
		unsigned count = sd->count > 0 ? sd->count : 1;

		for (unsigned k = 0; k < count && n < VD_SDS_MAX; k++, n++) {
			all[n] = *sd;
			if (sd->count > 0)
				snprintf(all[n].name, sizeof(all[n].name), "%.63s%u",
					sd->name, sd->first + k);
		}
	}
	/* a part of a file: whatever drive there will be */
	if (n == 0)
		all[n++] = v->sd_default;
	free(v->sds);
	v->sds = all;
	v->n_sds = n;
}

/* the ramp */

static const double curve_preset[] = {10, 50, 70, 80, 90, 100}; /* For_loop.java */

static const double *
loads_of(const struct vd_rd *rd, size_t *ret_n)
{
	if (!rd->curve) {
		*ret_n = rd->n_percents;
		return rd->percents;
	}
	*ret_n = rd->n_curve_loads;
	if (*ret_n > 0)
		return rd->curve_loads;
	*ret_n = sizeof(curve_preset) / sizeof(curve_preset[0]);
	return curve_preset;
}

/* Puts a load in its place; returns whether it was the highest so far. */
static bool
add_load(struct ramp *r, double percent)
{
	size_t i = r->n_loads;

	while (i > 0 && r->load_percent[i - 1] > percent)
		i--;
	if (i > 0 && !(r->load_percent[i - 1] < percent))
		return false;
	memmove(&r->load_percent[i + 1], &r->load_percent[i],
		(r->n_loads - i) * sizeof(r->load_percent[0]));
	r->load_percent[i] = percent;
	r->n_loads++;
	return i + 1 == r->n_loads;
}

/*
 * The ramp of rd. vdbench measures `elapsed` seconds behind the warm-up, or, without one,
 * all intervals of `elapsed` but the first (Vdbmain's loop over intervals_needed).
 */
static void
ramp_of(const struct vd_rd *rd, struct ramp *ret_r, bool *ret_range, bool *ret_order)
{
	size_t n;
	const double *loads = loads_of(rd, &n);
	double warmup = rd->warmup_s, measure = rd->elapsed_s;

	memset(ret_r, 0, sizeof(*ret_r));
	*ret_range = *ret_order = true;
	if (warmup <= 0 && rd->elapsed_s > rd->interval_s) {
		warmup = rd->interval_s;
		measure -= rd->interval_s;
	}
	ret_r->warmup_ns = ret_r->maximum_warmup_ns = (int64_t)warmup * NS_PER_S;
	ret_r->measure_ns = ret_r->maximum_measure_ns = (int64_t)measure * NS_PER_S;
	ret_r->arrivals = rd->arrivals;
	for (size_t i = 0; i < n; i++) {
		/* vdbench cuts it to a whole number */
		double percent = (double)(unsigned)(loads[i] < 1e6 ? loads[i] : 1e6);

		if (percent < 1 || percent > 200)
			*ret_range = false;
		else if (!add_load(ret_r, percent))
			*ret_order = false;
	}
}

static bool
same_loads(const struct ramp *a, const struct ramp *b)
{
	if (a->n_loads != b->n_loads)
		return false;
	for (size_t i = 0; i < a->n_loads; i++)
		if (a->load_percent[i] < b->load_percent[i] ||
			a->load_percent[i] > b->load_percent[i])
			return false;
	return true;
}

/* What of a run definition's own loads and times the suite's ramp does not carry. */
static void
list_ramp(struct vd *v, const struct vd_rd *rd, const struct vd_rd *model)
{
	const struct ramp *ramp = &v->c->suite->ramp;
	const struct vdbench_param *rate = rd->curve && rd->curve_param != NULL
						   ? rd->curve_param
						   : rd->rate;
	const char *text = rate != NULL ? rate->text : rd->name;
	unsigned line = rate != NULL ? rate->line : rd->line;
	struct ramp own;
	bool range, order;

	ramp_of(rd, &own, &range, &order);
	if (rd->rate == NULL)
		convert_left(v->c, rd->line, LEFT_LOAD, rd->name,
			"it has no iorate=, without which vdbench does not run; the "
			"maximum is measured");
	if (!range)
		convert_left(v->c, line, LEFT_LOAD, text,
			"a load is from 1%% to 200%% of the maximum; the others are left "
			"out");
	if (!order)
		convert_left(v->c, line, LEFT_LOAD, text,
			"the loads of a suite rise, each once");
	if (rd == model)
		return;
	if (rd->n_rates == 0 && !same_loads(&own, ramp))
		convert_left(v->c, line, LEFT_LOAD, text,
			"a suite has one ramp for all workloads: that of rd=%.60s in "
			"line %u",
			model->name, model->line);
	if (own.warmup_ns != ramp->warmup_ns || own.measure_ns != ramp->measure_ns ||
		own.arrivals != ramp->arrivals)
		convert_left(v->c, rd->line, LEFT_LOAD, rd->name,
			"a suite has the same times and arrivals for all workloads: "
			"those of rd=%.60s in line %u",
			model->name, model->line);
}

/* Whether a run definition has nothing but file system workloads. */
static bool
is_of_files(const struct vd_rd *rd)
{
	return rd->files && rd->wds == NULL;
}

/* The one whose ramp the suite gets: the first with loads, else the first without rates,
 * else the first. */
static const struct vd_rd *
model_rd(const struct vd *v)
{
	const struct vd_rd *first = NULL;

	for (size_t i = 0; i < v->n_rds; i++) {
		const struct vd_rd *rd = &v->rds[i];

		if (rd->broken || is_of_files(rd))
			continue;
		if (rd->curve || rd->n_percents > 0)
			return rd;
		if (first == NULL || (first->n_rates > 0 && rd->n_rates == 0))
			first = rd;
	}
	return first;
}

/* parts */

struct search {
	struct vd *v;
	struct turn *turn;
	bool *on; /* of storage definitions */
	size_t found;
};

static void
add_part(struct turn *t, const struct vd_wd *wd)
{
	for (size_t i = 0; i < t->n_parts; i++)
		if (t->parts[i].wd == wd)
			return;
	t->parts = xrealloc(t->parts, t->n_parts + 1, sizeof(*t->parts));
	t->parts[t->n_parts++] = (struct part){.wd = wd};
}

static void
find_wds(const char *name, void *arg)
{
	struct search *s = arg;

	s->v->work += s->v->n_wds;
	for (size_t i = 0; i < s->v->n_wds; i++)
		if (matches(name, s->v->wds[i].name)) {
			add_part(s->turn, &s->v->wds[i]);
			s->found++;
		}
}

static void
find_sds(const char *name, void *arg)
{
	struct search *s = arg;

	s->v->work += s->v->n_sds;
	for (size_t i = 0; i < s->v->n_sds; i++)
		if (matches(name, s->v->sds[i].name)) {
			s->on[i] = true;
			s->found++;
		}
}

/* The workload definitions of a run; false after listing what is wrong with them. */
static bool
choose_wds(struct vd *v, struct turn *t)
{
	const struct vdbench_param *p = t->rd->wds;
	struct search s = {.v = v, .turn = t};
	const char *why;

	if (p == NULL) {
		add_part(t, &v->wd_default);
	} else {
		why = vdbench_names(p, find_wds, &s);
		if (why == NULL && s.found == 0)
			why = "there is no workload definition of that name";
		if (why != NULL) {
			vd_left(v, p, LEFT_LOAD, why);
			return false;
		}
	}
	for (size_t i = 0; i < t->n_parts; i++) {
		if (!t->parts[i].wd->broken)
			continue;
		convert_left(v->c, t->rd->line, LEFT_LOAD, t->rd->name,
			"left out, for it uses wd=%.60s in line %u", t->parts[i].wd->name,
			t->parts[i].wd->line);
		return false;
	}
	return true;
}

/* The storage definitions of each part: those of the run, else its own, else all. */
static bool
choose_sds(struct vd *v, struct turn *t)
{
	for (size_t i = 0; i < t->n_parts; i++) {
		struct part *part = &t->parts[i];
		const struct vdbench_param *p = t->rd->sds;
		struct search s = {.v = v, .turn = t};
		const char *why = NULL;

		/* sd=single: one after the other, as drives are tested anyway */
		if (p == NULL || strcmp(p->value, "single") == 0)
			p = part->wd->sds;
		part->on = xcalloc(v->n_sds, sizeof(*part->on));
		s.on = part->on;
		if (p == NULL || v->sds[0].line == 0)
			memset(part->on, 1, v->n_sds * sizeof(*part->on));
		else
			why = vdbench_names(p, find_sds, &s);
		if (p != NULL && v->sds[0].line != 0 && why == NULL && s.found == 0)
			why = "there is no storage definition of that name";
		if (why == NULL && v->work >= VD_WORK_MAX)
			why = "left out: the file has too many definitions for one suite";
		if (why != NULL) {
			convert_left(v->c, p != NULL ? p->line : t->rd->line, LEFT_LOAD,
				p != NULL ? p->text : t->rd->name, "%s", why);
			return false;
		}
	}
	return true;
}

/* Shares: those that are said, and the rest evenly for the others (HandleSkew.java). */
static bool
share_out(struct vd *v, struct turn *t)
{
	double said = 0, rates = 0;
	size_t silent = 0, with_rate = 0;

	for (size_t i = 0; i < t->n_parts; i++) {
		const struct vd_wd *wd = t->parts[i].wd;

		said += wd->skew;
		silent += wd->skew <= 0;
		rates += wd->iorate;
		with_rate += wd->iorate > 0;
	}
	for (size_t i = 0; i < t->n_parts; i++) {
		const struct vd_wd *wd = t->parts[i].wd;

		t->parts[i].share = with_rate == t->n_parts ? wd->iorate * 100 / rates
				    : wd->skew > 0	    ? wd->skew
						   : (100 - said) / (double)silent;
	}
	if (with_rate == t->n_parts ||
		(said < 100.0001 && (silent > 0 ? said < 99.9999 : said > 99.9999)))
		return true;
	convert_left(v->c, t->rd->line, LEFT_LOAD, t->rd->name,
		"left out: the skew of its workloads is %g%% in all%s", said,
		silent > 0 ? ", which leaves nothing for those without" : "");
	return false;
}

/* workloads */

static bool
same_parts(const struct turn *t, const struct vd_sd *sds, size_t a, size_t b)
{
	const struct vd_sd *x = &sds[a], *y = &sds[b];

	for (size_t i = 0; i < t->n_parts; i++)
		if (t->parts[i].on[a] != t->parts[i].on[b])
			return false;
	return !(x->threads < y->threads) && !(x->threads > y->threads) &&
	       !(x->align_bytes < y->align_bytes) && !(x->align_bytes > y->align_bytes) &&
	       x->range.param == y->range.param && x->durable == y->durable &&
	       x->broken == y->broken;
}

static bool
is_used(const struct turn *t, size_t sd)
{
	for (size_t i = 0; i < t->n_parts; i++)
		if (t->parts[i].on[sd])
			return true;
	return false;
}

/* Whether the drive of a storage definition gets what an earlier one gets. */
static bool
is_repeated(const struct turn *t, const struct vd_sd *sds, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_parts(t, sds, k, i))
			return true;
	return false;
}

/* Finds the storage definitions that differ; false when that takes too long. */
static bool
tell_apart(struct vd *v, struct turn *t)
{
	t->first = xcalloc(v->n_sds, sizeof(*t->first));
	for (size_t i = 0; i < v->n_sds && v->work < VD_WORK_MAX; i++) {
		t->first[i] = is_used(t, i) && !is_repeated(t, v->sds, i);
		t->n_first += t->first[i];
		v->work += i * t->n_parts + 1;
	}
	if (t->n_first > 1)
		convert_left(v->c, t->rd->line, LEFT_LOAD, t->rd->name,
			"its drives get different loads at the same time; here each is a "
			"workload of its own");
	return v->work < VD_WORK_MAX;
}

/* The block sizes of a part: those of the loop, else its own. */
static bool
make_blocks(const struct turn *t, const struct vd_wd *wd, struct block_mix *ret_m)
{
	double bytes = t->values[LOOP_XFERSIZE];
	struct err e = {0};

	*ret_m = wd->blocks;
	if (!t->has[LOOP_XFERSIZE])
		return true;
	ret_m->n = 0;
	return bytes < 1e12 && block_mix_add(ret_m, (uint64_t)bytes, 100, &e) == 0;
}

/* Returns NULL, or why the part cannot be a stream. */
static const char *
make_flow(const struct turn *t, const struct vd_wd *wd, const struct vd_sd *sd,
	struct flow *ret_f)
{
	const struct vd_range *range = wd->range.param != NULL ? &wd->range : &sd->range;
	bool durable = t->rd->durable || sd->durable || wd->durable;

	flow_plain(ret_f, t->has[LOOP_RDPCT] ? t->values[LOOP_RDPCT] : wd->read,
		t->has[LOOP_SEEKPCT] ? t->values[LOOP_SEEKPCT] : wd->seek, 0);
	if (!(ret_f->read_percent <= 100) || !(ret_f->random_percent <= 100))
		return "a share is at most 100%";
	if (!make_blocks(t, wd, &ret_f->blocks[DIR_READ]))
		return "a block is a multiple of 512 bytes, at most 16MiB";
	ret_f->blocks[DIR_WRITE] = ret_f->blocks[DIR_READ];
	if (range->param != NULL) {
		ret_f->from_percent = range->from;
		ret_f->to_percent = range->to;
	}
	if (ret_f->random_percent > 0)
		ret_f->align_bytes = (uint32_t)sd->align_bytes;
	if (wd->streams > 1 && ret_f->random_percent < 100)
		ret_f->cursors = (uint32_t)wd->streams;
	if (ret_f->read_percent < 100 && durable)
		ret_f->operation = OP_WRITE_FUA;
	return NULL;
}

/* The streams of one drive. Returns NULL, or why there can be none. */
static const char *
make_streams(const struct turn *t, const struct vd_sd *sds, size_t sd, struct workload *w)
{
	double total = 0;
	const char *why;

	for (size_t i = 0; i < t->n_parts; i++)
		total += t->parts[i].on[sd] ? t->parts[i].share : 0;
	for (size_t i = 0; i < t->n_parts; i++) {
		const struct part *part = &t->parts[i];

		if (!part->on[sd])
			continue;
		if (w->n_streams == WORKLOAD_STREAMS_MAX)
			return "a workload has at most 8 streams";
		why = make_flow(t, part->wd, &sds[sd], &w->streams[w->n_streams]);
		if (why != NULL)
			return why;
		w->streams[w->n_streams++].share_percent = part->share * 100 / total;
	}
	if (w->n_streams == 1)
		w->streams[0].share_percent = 100;
	return NULL;
}

/* I/Os in flight on one drive: threads of the run, of the workloads when drives are one,
 * else of the storage definition. */
static double
threads_of(const struct vd *v, const struct turn *t, const struct vd_sd *sd)
{
	double sum = 0;

	if (t->has[LOOP_THREADS])
		return t->values[LOOP_THREADS] < 1 ? 1 : t->values[LOOP_THREADS];
	for (size_t i = 0; v->concatenate && i < t->n_parts; i++)
		sum += t->parts[i].wd->threads;
	return sum > 0 ? sum : sd->threads;
}

/* What part of a run's rate one drive gets: that of each of its workloads is spread
 * evenly over their drives; with sd=single each drive gets it by itself. */
static double
part_of_rate(const struct vd *v, const struct turn *t, size_t sd)
{
	bool whole = v->concatenate ||
		     (t->rd->sds != NULL && strcmp(t->rd->sds->value, "single") == 0);
	double sum = 0;

	for (size_t i = 0; i < t->n_parts; i++) {
		size_t drives = 0;

		if (!t->parts[i].on[sd])
			continue;
		for (size_t k = 0; k < v->n_sds; k++)
			drives += t->parts[i].on[k];
		sum += t->parts[i].share / 100 / (whole ? 1 : (double)drives);
	}
	return sum;
}

static void
tell_origin(const struct turn *t, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size,
		"The vdbench parameter file, rd=%.40s in "
		"line %u",
		t->rd->name, t->rd->line);

	for (size_t i = 0; i < t->n_parts && n + 70 < size; i++)
		if (t->parts[i].wd->line > 0)
			n += (size_t)snprintf(buf + n, size - n, ", wd=%.40s in line %u",
				t->parts[i].wd->name, t->parts[i].wd->line);
}

/* The workload of the drive of one storage definition. */
static void
add_workload(struct vd *v, const struct turn *t, size_t sd, bool alone)
{
	struct workload *w = xcalloc(1, sizeof(*w));
	double threads = threads_of(v, t, &v->sds[sd]);
	const char *why = make_streams(t, v->sds, sd, w);
	struct suite *s = v->c->suite;
	struct suite_rates rates;
	char origin[SOURCE_TEXT_MAX];
	char id[240];

	snprintf(id, sizeof(id), "%.80s%s%s%s", t->rd->name, alone ? "" : "-",
		alone ? "" : v->sds[sd].name, t->suffix);
	if (why == NULL && !(threads <= WORKLOAD_IN_FLIGHT_MAX))
		why = "a workload has 1 to 4096 I/Os in flight";
	if (v->sds[sd].broken)
		why = "its storage definition could not be read";
	if (why == NULL && !vd_make_rates(v, t->rd, part_of_rate(v, t, sd), &rates))
		why = "none of its rates is one that a suite can have";
	if (why != NULL) {
		convert_left(v->c, t->rd->line, LEFT_LOAD, id, "left out: %s", why);
	} else {
		w->in_flight = (uint32_t)threads;
		w->workers = 1;
		tell_origin(t, origin, sizeof(origin));
		if (convert_add(v->c, w, id, t->rd->line, origin))
			s->rates[s->n_workloads - 1] = rates;
	}
	free(w);
}

static void
add_turn(struct vd *v, const struct turn *t)
{
	for (size_t i = 0; i < v->n_sds && v->tries < VD_TRIES_MAX; i++)
		if (t->first[i]) {
			v->tries++;
			add_workload(v, t, i, t->n_first == 1);
		}
}

/* Sets the values of the loops for turn number i, counted with the last loop innermost.
 */
static void
set_values(struct turn *t, size_t i)
{
	static const char *const letters[LOOP_KINDS] = {"", "r", "s", "t"};
	size_t n = 0;

	for (size_t k = t->rd->n_loops; k > 0; k--) {
		const struct vd_loop *l = &t->rd->loops[k - 1];

		t->has[l->kind] = true;
		t->values[l->kind] = l->values[i % l->n];
		i /= l->n;
	}
	/* in one order whatever the nesting, which results of vdbench do not tell */
	for (int kind = 0; kind < LOOP_KINDS; kind++) {
		double x = t->values[kind];
		bool kib = kind == LOOP_XFERSIZE && x >= 1024 && (uint64_t)x % 1024 == 0;

		if (!t->has[kind])
			continue;
		n += (size_t)snprintf(t->suffix + n, sizeof(t->suffix) - n, "-%s%.0f%s",
			letters[kind], kib ? x / 1024 : x, kib ? "k" : "");
		if (n >= sizeof(t->suffix))
			n = sizeof(t->suffix) - 1;
	}
}

/* The turns of a run definition, all loops through, until the suite is full. */
static void
add_turns(struct vd *v, struct turn *t)
{
	size_t turns = 1;

	for (size_t i = 0; i < t->rd->n_loops; i++)
		turns *= t->rd->loops[i].n;
	for (size_t i = 0; i < turns; i++) {
		if (v->c->suite->n_workloads == SUITE_WORKLOADS_MAX ||
			v->tries == VD_TRIES_MAX) {
			convert_left(v->c, t->rd->line, LEFT_LOAD, t->rd->name,
				"%zu of its %zu turns are left out: a suite has at most "
				"%d workloads",
				turns - i, turns, SUITE_WORKLOADS_MAX);
			return;
		}
		set_values(t, i);
		add_turn(v, t);
	}
}

static void
run_rd(struct vd *v, const struct vd_rd *rd, const struct vd_rd *model)
{
	struct turn t = {.rd = rd};

	if (rd->broken || is_of_files(rd)) {
		convert_left(v->c, rd->line, LEFT_LOAD, rd->name, "left out: %s",
			rd->broken ? "a value that it needs could not be read"
				   : VD_NO_FILES);
		return;
	}
	list_ramp(v, rd, model);
	if (choose_wds(v, &t) && choose_sds(v, &t) && share_out(v, &t)) {
		if (tell_apart(v, &t))
			add_turns(v, &t);
		else
			convert_left(v->c, rd->line, LEFT_LOAD, rd->name,
				"left out: the file has too many definitions for one "
				"suite");
	}
	for (size_t i = 0; i < t.n_parts; i++)
		free(t.parts[i].on);
	free(t.parts);
	free(t.first);
}

void
vd_run(struct vd *v)
{
	const struct vd_rd *model = model_rd(v);
	struct suite *s = v->c->suite;
	bool range, order;

	expand_sds(v);
	if (v->fill) {
		s->fill_passes = 1;
		s->fill_block_bytes = (uint32_t)v->fill_bytes;
		s->fill_in_flight = 32;
	}
	if (v->dedup != NULL && !v->dedup_unit)
		vd_left(v, v->dedup, LEFT_LOAD,
			"ssdlab repeats pieces of 4KiB, vdbench those of 128KiB unless "
			"dedupunit= says others");
	if (model != NULL) {
		ramp_of(model, &s->ramp, &range, &order);
		snprintf(v->c->ramp_origin, sizeof(v->c->ramp_origin),
			"The vdbench parameter file, rd=%.40s in line %u%s", model->name,
			model->line,
			model->warmup_s > 0 ? ""
					    : "; its first interval does not count, as "
					      "in vdbench");
		convert_plain(
			v->c->ramp_origin, sizeof(v->c->ramp_origin), v->c->ramp_origin);
	}
	for (size_t i = 0; i < v->n_rds; i++)
		run_rd(v, &v->rds[i], model);
	if (v->n_rds == 0)
		for (size_t i = 0; i < v->n_wds; i++)
			convert_left(v->c, v->wds[i].line, LEFT_LOAD, v->wds[i].name,
				"no run definition (rd=) uses it, and so does no suite");
}
