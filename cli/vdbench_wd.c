/* Workload definitions of a vdbench parameter file. */

#include <string.h>

#include "cli/vdbench_priv.h"
#include "common/err.h"

/* workload definitions */

static void
wd_sd(struct vd *v, const struct vdbench_param *p)
{
	v->wd->sds = p;
}

static void
wd_skew(struct vd *v, const struct vdbench_param *p)
{
	vd_number(v, p, 0, 100, &v->wd->skew, &v->wd->broken);
}

/* (min,max,align): any multiple of align between them, each as often as the others. */
static const char *
spread_sizes(const struct vdbench_number *n, struct block_mix *m)
{
	double steps = n[2].x > 0 ? (n[1].x - n[0].x) / n[2].x + 1 : 0;
	unsigned count = steps >= 1 && steps < 1e6 ? (unsigned)steps : 0;
	struct err e = {0};

	if (count == 0)
		return "sizes between two others want a step: (4k,16k,4k)";
	if (count > FLOW_BLOCKS_MAX)
		return "it has more than the 16 sizes that a stream can mix";
	for (unsigned i = 0; i < count; i++)
		if (block_mix_add(
			    m, (uint64_t)(n[0].x + i * n[2].x), 100.0 / count, &e) != 0)
			return "a block is a multiple of 512 bytes, at most 16MiB";
	return NULL;
}

/* (size,percent,size,percent,...); equal sizes add up. */
static const char *
weigh_sizes(const struct vdbench_number *n, size_t count, struct block_mix *m)
{
	double total = 0;
	struct err e = {0};

	if (count % 2 != 0)
		return "sizes and percentages come in pairs: (4k,60,64k,40)";
	for (size_t i = 1; i < count; i += 2)
		total += n[i].x;
	/* vdbench forgives what rounds to 100; a suite does not */
	if (!(total >= 99.5 && total < 100.5))
		return "the percentages do not add up to 100";
	for (size_t i = 0; i < count; i += 2) {
		size_t k = 0;

		while (k < m->n && m->list[k].bytes != (uint32_t)n[i].x)
			k++;
		if (n[i + 1].x <= 0)
			continue;
		if (k < m->n)
			m->list[k].percent += n[i + 1].x * 100 / total;
		else if (!(n[i].x < 1e12) || block_mix_add(m, (uint64_t)n[i].x,
						     n[i + 1].x * 100 / total, &e) != 0)
			return m->n == FLOW_BLOCKS_MAX
				       ? "it has more than the 16 sizes that a stream "
					 "can mix"
				       : "a block is a multiple of 512 bytes, at most "
					 "16MiB";
	}
	return NULL;
}

static void
wd_xfersize(struct vd *v, const struct vdbench_param *p)
{
	const struct vdbench_number *n = v->numbers;
	const char *why;
	size_t count = vdbench_numbers(p, false, v->numbers, &why);
	struct block_mix m = {0};
	struct vdbench_number pair[2];

	if (count == 3) {
		why = spread_sizes(n, &m);
	} else if (count > 0) {
		pair[0] = n[0];
		pair[1] = (struct vdbench_number){100, true};
		why = weigh_sizes(count == 1 ? pair : n, count == 1 ? 2 : count, &m);
	}
	v->wd->blocks = m;
	if (why == NULL)
		return;
	vd_left(v, p, LEFT_LOAD, why);
	v->wd->broken = true;
}

static void
set_read(struct vd *v, const struct vdbench_param *p, bool writes)
{
	double x;

	if (!vd_number(v, p, 0, 100, &x, &v->wd->broken))
		return;
	if (x > (double)(unsigned)x)
		vd_left(v, p, LEFT_ASIDE,
			"vdbench cuts it to a whole number, and so "
			"does the suite");
	x = (double)(unsigned)x;
	v->wd->read = writes ? 100 - x : x;
}

static void
wd_read(struct vd *v, const struct vdbench_param *p)
{
	set_read(v, p, false);
}

static void
wd_write(struct vd *v, const struct vdbench_param *p)
{
	set_read(v, p, true);
}

static void
wd_range(struct vd *v, const struct vdbench_param *p)
{
	vd_read_range(v, p, &v->wd->range);
}

static void
wd_hotband(struct vd *v, const struct vdbench_param *p)
{
	if (vd_read_range(v, p, &v->wd->range))
		vd_left(v, p, LEFT_LOAD,
			"its range is carried, its curve of hits is not: offsets are "
			"even in it");
}

static bool
is_start_of(const char *text, const char *word)
{
	return text[0] != '\0' && strncmp(word, text, strlen(text)) == 0;
}

static void
wd_seekpct(struct vd *v, const struct vdbench_param *p)
{
	const char *why;

	if (vdbench_numbers(p, false, v->numbers, &why) > 0) {
		vd_number(v, p, 0, 100, &v->wd->seek, &v->wd->broken);
	} else if (is_start_of(p->value, "sequential")) {
		v->wd->seek = 0;
	} else if (is_start_of(p->value, "random")) {
		v->wd->seek = 100;
	} else if (strcmp(p->value, "seqnz") == 0) {
		v->wd->seek = 0;
		vd_left(v, p, LEFT_LOAD,
			"a sequential stream begins at the start of its part, not "
			"elsewhere");
	} else if (strcmp(p->value, "eof") == 0) {
		v->wd->seek = 0;
		vd_left(v, p, LEFT_LOAD,
			"a sequential stream begins again at the end; it does not stop");
	} else if (strstr(p->value, "poisson") != NULL) {
		v->wd->seek = 100;
		vd_left(v, p, LEFT_LOAD,
			"random offsets are even, not drawn by Poisson's distribution");
	} else {
		vd_left(v, p, LEFT_LOAD, why);
		v->wd->broken = true;
	}
}

static void
wd_iorate(struct vd *v, const struct vdbench_param *p)
{
	if (vd_number(v, p, 0, 1e9, &v->wd->iorate, NULL) && v->wd->iorate > 0)
		vd_left(v, p, LEFT_LOAD,
			"a rate is that of a whole run; where all workloads of a run "
			"have one, the rates become shares");
}

static void
wd_openflags(struct vd *v, const struct vdbench_param *p)
{
	vd_durable(v, p, &v->wd->durable);
}

static void
wd_threads(struct vd *v, const struct vdbench_param *p)
{
	if (v->concatenate)
		vd_number(
			v, p, 1, WORKLOAD_IN_FLIGHT_MAX, &v->wd->threads, &v->wd->broken);
	else
		vd_left(v, p, LEFT_LOAD,
			"vdbench wants concatenatesds=yes for it; threads of the storage "
			"definition count");
}

static void
wd_streams(struct vd *v, const struct vdbench_param *p)
{
	vd_number(v, p, 1, FLOW_CURSORS_MAX, &v->wd->streams, NULL);
}

const struct vd_row vd_wd_rows[] = {
	{"sd", true, wd_sd, LEFT_LOAD, NULL},
	{"skew", false, wd_skew, LEFT_LOAD, NULL},
	{"xfersize", false, wd_xfersize, LEFT_LOAD, NULL},
	{"readpct", false, wd_read, LEFT_LOAD, NULL},
	{"rdpct", false, wd_read, LEFT_LOAD, NULL},
	{"writepct", false, wd_write, LEFT_LOAD, NULL},
	{"wrpct", false, wd_write, LEFT_LOAD, NULL},
	{"range", false, wd_range, LEFT_LOAD, NULL},
	{"hotband", false, wd_hotband, LEFT_LOAD, NULL},
	{"seekpct", false, wd_seekpct, LEFT_LOAD, NULL},
	{"stride", false, NULL, LEFT_LOAD, "a suite has no strides: offsets are even"},
	{"priority", false, NULL, LEFT_LOAD,
		"the streams of a workload have shares, no "
		"priorities"},
	{"iorate", false, wd_iorate, LEFT_LOAD, NULL},
	{"rhpct", false, NULL, LEFT_LOAD, VD_NO_CACHE},
	{"whpct", false, NULL, LEFT_LOAD, VD_NO_CACHE},
	{"host", false, NULL, LEFT_ASIDE, VD_IN_CAMPAIGN},
	{"hd", true, NULL, LEFT_ASIDE, VD_IN_CAMPAIGN},
	{"openflags", false, wd_openflags, LEFT_LOAD, NULL},
	{"user", true, NULL, LEFT_LOAD, "no code of others is run"},
	{"threads", false, wd_threads, LEFT_LOAD, NULL},
	{"streams", false, wd_streams, LEFT_LOAD, NULL},
	{0},
};
