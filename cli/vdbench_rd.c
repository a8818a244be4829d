/* Run definitions of a vdbench parameter file. */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/vdbench_priv.h"
#include "common/xalloc.h"

/* vdbench 5.04.06, RD_entry.java. */
#define ELAPSED_S 30
#define INTERVAL_S 1
#define DAY_S 86400

#define NO_DATA "which bytes are written is said once for a suite"

void
vd_rd_init(struct vd_rd *rd)
{
	rd->elapsed_s = ELAPSED_S;
	rd->interval_s = INTERVAL_S;
	rd->arrivals = ARRIVALS_POISSON;
}

static void
rd_wd(struct vd *v, const struct vdbench_param *p)
{
	v->rd->wds = p;
}

static void
rd_sd(struct vd *v, const struct vdbench_param *p)
{
	v->rd->sds = p;
}

/* A list of rates, or of percentages; "max" beside the latter is what a suite measures
 * anyway. */
static void
read_rates(struct vd *v, const struct vdbench_param *p)
{
	struct vdbench_param rest = *p;
	struct vd_rd *rd = v->rd;
	char *text = xstrdup(p->value);
	const char *why;
	size_t n;
	bool max = false;

	for (char *m = text; (m = strstr(m, "max")) != NULL; max = true)
		m[0] = m[1] = m[2] = ',';
	rest.value = text;
	n = vdbench_numbers(&rest, false, v->numbers, &why);
	free(text);
	for (size_t i = 0; i < n; i++) {
		if (v->numbers[i].percent && rd->n_percents < VD_RATES_MAX)
			rd->percents[rd->n_percents++] = v->numbers[i].x;
		else if (!v->numbers[i].percent && rd->n_rates < VD_RATES_MAX)
			rd->rates[rd->n_rates++] = v->numbers[i].x;
	}
	if (n == 0 && !max) {
		vd_left(v, p, LEFT_LOAD, why);
		rd->broken = true; /* unthrottled it would be another load */
	}
	if (n > VD_RATES_MAX)
		vd_left(v, p, LEFT_LOAD, "a workload has at most 64 loads");
	if (rd->n_rates == 0 || (rd->n_percents == 0 && !max))
		return;
	vd_left(v, p, LEFT_LOAD,
		"a workload with rates has neither the maximum nor shares of it");
	rd->n_percents = 0;
}

/* Puts a rate in its place; returns whether it was the highest so far. */
static bool
add_rate(struct suite_rates *r, double iops)
{
	size_t i = r->n;

	while (i > 0 && r->iops[i - 1] > iops)
		i--;
	if (i > 0 && !(r->iops[i - 1] < iops))
		return false;
	memmove(&r->iops[i + 1], &r->iops[i], (r->n - i) * sizeof(r->iops[0]));
	r->iops[i] = iops;
	r->n++;
	return i + 1 == r->n;
}

bool
vd_make_rates(
	struct vd *v, const struct vd_rd *rd, double part, struct suite_rates *ret_r)
{
	bool order = true, whole = true, range = true;

	*ret_r = (struct suite_rates){0};
	for (size_t i = 0; i < rd->n_rates; i++) {
		double exact = rd->rates[i] * part;
		double iops = floor(exact + 0.5);

		if (!(iops >= 1 && iops <= RAMP_RATE_MAX))
			range = false;
		else if (!add_rate(ret_r, iops))
			order = false;
		whole = whole && (iops < 1 || fabs(exact - iops) < 1e-6);
	}
	if (!range)
		vd_left(v, rd->rate, LEFT_LOAD,
			"the rate of a drive is from 1 to 100000000; the others are left "
			"out");
	if (!order)
		vd_left(v, rd->rate, LEFT_LOAD, "the rates of a suite rise, each once");
	if (!whole)
		vd_left(v, rd->rate, LEFT_LOAD,
			"the rate of each drive is rounded to whole I/Os per second");
	return rd->n_rates == 0 || ret_r->n > 0;
}

static void
rd_iorate(struct vd *v, const struct vdbench_param *p)
{
	v->rd->rate = p;
	v->rd->n_percents = v->rd->n_rates = 0;
	v->rd->curve = strcmp(p->value, "curve") == 0;
	if (!v->rd->curve && strcasecmp(p->value, "max") != 0)
		read_rates(v, p);
}

static void
rd_curve(struct vd *v, const struct vdbench_param *p)
{
	const char *why;
	size_t n = vdbench_numbers(p, false, v->numbers, &why);

	if (n == 0 || n > VD_RATES_MAX) {
		vd_left(v, p, LEFT_LOAD, n == 0 ? why : "a ramp has at most 64 loads");
		v->rd->broken = true;
		return;
	}
	v->rd->curve_param = p;
	v->rd->n_curve_loads = n;
	for (size_t i = 0; i < n; i++)
		v->rd->curve_loads[i] = v->numbers[i].x;
}

/* A time in seconds, above 0 and at most a day, which a suite's phases may last. */
static void
read_time(struct vd *v, const struct vdbench_param *p, double *ret_s)
{
	const char *why;
	size_t n = vdbench_numbers(p, true, v->numbers, &why);

	if (n == 1 && v->numbers[0].x >= 1 && v->numbers[0].x <= DAY_S) {
		*ret_s = (double)(unsigned)v->numbers[0].x;
		return;
	}
	vd_left(v, p, LEFT_LOAD, n == 0 ? why : "a time is one value, from 1s to 24h");
}

static void
rd_elapsed(struct vd *v, const struct vdbench_param *p)
{
	read_time(v, p, &v->rd->elapsed_s);
}

static void
rd_interval(struct vd *v, const struct vdbench_param *p)
{
	read_time(v, p, &v->rd->interval_s);
	vd_left(v, p, LEFT_ASIDE,
		"samples are a second long; without warmup= it is the "
		"warm-up");
}

static void
rd_warmup(struct vd *v, const struct vdbench_param *p)
{
	if (strcmp(p->value, "0") == 0)
		v->rd->warmup_s = 0;
	else
		read_time(v, p, &v->rd->warmup_s);
}

/* Appends a loop; one of its kind that is there already goes (For_loop.java). */
static void
add_loop(struct vd *v, const struct vdbench_param *p, enum vd_loop_kind kind)
{
	struct vd_rd *rd = v->rd;
	const char *why;
	size_t n = vdbench_numbers(p, false, v->numbers, &why);
	struct vd_loop *l;

	if (n == 0) {
		vd_left(v, p, LEFT_LOAD, why);
		rd->broken = true;
		return;
	}
	for (size_t i = 0; i < rd->n_loops; i++)
		if (rd->loops[i].kind == kind) {
			memmove(&rd->loops[i], &rd->loops[i + 1],
				(rd->n_loops - i - 1) * sizeof(rd->loops[0]));
			rd->n_loops--;
			break;
		}
	if (n > VD_LOOP_MAX) {
		vd_left(v, p, LEFT_LOAD,
			"a suite has at most 64 workloads: the first 64 values are "
			"carried");
		n = VD_LOOP_MAX;
	}
	l = &rd->loops[rd->n_loops++];
	*l = (struct vd_loop){.kind = kind, .param = p, .n = n};
	for (size_t i = 0; i < n; i++)
		l->values[i] = v->numbers[i].x;
}

static void
rd_xfersize(struct vd *v, const struct vdbench_param *p)
{
	add_loop(v, p, LOOP_XFERSIZE);
}

static void
rd_threads(struct vd *v, const struct vdbench_param *p)
{
	add_loop(v, p, LOOP_THREADS);
}

static void
rd_rdpct(struct vd *v, const struct vdbench_param *p)
{
	add_loop(v, p, LOOP_RDPCT);
}

static void
rd_seekpct(struct vd *v, const struct vdbench_param *p)
{
	add_loop(v, p, LOOP_SEEKPCT);
}

static void
rd_distribution(struct vd *v, const struct vdbench_param *p)
{
	const char *value = p->value + (p->value[0] == '(');

	if (value[0] == 'd' || value[0] == 'D') {
		v->rd->arrivals = ARRIVALS_FIXED;
	} else {
		v->rd->arrivals = ARRIVALS_POISSON;
		if (value[0] != 'e' && value[0] != 'E')
			vd_left(v, p, LEFT_LOAD,
				"arrivals are Poisson's or at even distances; Poisson's "
				"is used");
	}
	if (strchr(value, ',') != NULL)
		vd_left(v, p, LEFT_LOAD, "a load of a suite has one rate, no bursts");
}

static void
rd_files(struct vd *v, const struct vdbench_param *p)
{
	v->rd->files = true;
	vd_left(v, p, LEFT_LOAD, VD_NO_FILES);
}

static void
rd_openflags(struct vd *v, const struct vdbench_param *p)
{
	vd_durable(v, p, &v->rd->durable);
}

/* The order of RD_entry.java and For_loop.java; a prefix is the first row it begins. */
const struct vd_row vd_rd_rows[] = {
	{"wd", true, rd_wd, LEFT_LOAD, NULL},
	{"sd", true, rd_sd, LEFT_LOAD, NULL},
	{"fsd", true, rd_files, LEFT_LOAD, NULL},
	{"iorate", false, rd_iorate, LEFT_LOAD, NULL},
	{"maxdata", true, NULL, LEFT_LOAD, "a point lasts a time, not a number of bytes"},
	{"maxdataread", true, NULL, LEFT_LOAD,
		"a point lasts a time, not a number of bytes"},
	{"maxdatawritten", true, NULL, LEFT_LOAD,
		"a point lasts a time, not a number of bytes"},
	{"curve", false, rd_curve, LEFT_LOAD, NULL},
	{"stopcurve", false, NULL, LEFT_LOAD, "a ramp goes on to its last load"},
	{"elapsed", false, rd_elapsed, LEFT_LOAD, NULL},
	{"interval", false, rd_interval, LEFT_LOAD, NULL},
	{"warmup", false, rd_warmup, LEFT_LOAD, NULL},
	{"replay", true, NULL, LEFT_LOAD, VD_NO_REPLAY},
	{"pause", false, NULL, LEFT_LOAD,
		"the points of a ramp follow each other at once"},
	{"forxfersize", false, rd_xfersize, LEFT_LOAD, NULL},
	{"forthreads", false, rd_threads, LEFT_LOAD, NULL},
	{"forrdpct", false, rd_rdpct, LEFT_LOAD, NULL},
	{"forrhpct", false, NULL, LEFT_LOAD, VD_NO_CACHE},
	{"forwhpct", false, NULL, LEFT_LOAD, VD_NO_CACHE},
	{"forseekpct", false, rd_seekpct, LEFT_LOAD, NULL},
	{"forhitarea", false, NULL, LEFT_LOAD, VD_NO_CACHE},
	{"forcompratio", false, NULL, LEFT_LOAD, NO_DATA},
	{"forcompression", false, NULL, LEFT_LOAD, NO_DATA},
	{"fordepth", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"forwidth", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"forfiles", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"forsizes", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"fortotalsize", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"forwss", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"forworkingsetsize", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"foroperations", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"xfersize", false, rd_xfersize, LEFT_LOAD, NULL},
	{"threads", false, rd_threads, LEFT_LOAD, NULL},
	{"rdpct", false, rd_rdpct, LEFT_LOAD, NULL},
	{"rhpct", false, NULL, LEFT_LOAD, VD_NO_CACHE},
	{"whpct", false, NULL, LEFT_LOAD, VD_NO_CACHE},
	{"seekpct", false, rd_seekpct, LEFT_LOAD, NULL},
	{"hitarea", false, NULL, LEFT_LOAD, VD_NO_CACHE},
	{"compratio", false, NULL, LEFT_LOAD, NO_DATA},
	{"compression", false, NULL, LEFT_LOAD, NO_DATA},
	{"depth", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"width", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"files", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"sizes", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"totalsize", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"wss", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"workingsetsize", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"distribution", false, rd_distribution, LEFT_LOAD, NULL},
	{"startcmd", false, NULL, LEFT_LOAD, VD_NO_COMMANDS},
	{"start_cmd", false, NULL, LEFT_LOAD, VD_NO_COMMANDS},
	{"endcmd", false, NULL, LEFT_LOAD, VD_NO_COMMANDS},
	{"end_cmd", false, NULL, LEFT_LOAD, VD_NO_COMMANDS},
	{"fwd", true, rd_files, LEFT_LOAD, NULL},
	{"fwdrate", false, rd_files, LEFT_LOAD, NULL},
	{"operations", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"format", false, NULL, LEFT_LOAD, VD_NO_FILES},
	{"openflags", false, rd_openflags, LEFT_LOAD, NULL},
	{"mount", false, NULL, LEFT_ASIDE, VD_NO_COMMANDS},
	{0},
};
