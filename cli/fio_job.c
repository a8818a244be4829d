#include "cli/fio_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/fio_priv.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"

/* fio 3.33, HOWTO: rw=read, bs=4k, iodepth=1, numjobs=1, a synchronous engine on Linux,
 * half reads in a mix. */
#define BLOCK 4096
#define MIX_READ 50

/* Measured time where the file gives none. */
#define MEASURE_NS (60 * NS_PER_S)
#define PHASE_MAX_NS (24 * 3600 * NS_PER_S)
#define PHASE_MIN_NS (100 * NS_PER_MS)

#define JOBS_MAX 4096

/* One line of the file, without comment and blanks around it. */
struct line {
	const char *from, *to;
	unsigned number;
};

static bool
is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r';
}

/* The next line with something in it. */
static bool
next_line(const char **pos, const char *end, struct line *l)
{
	while (*pos < end) {
		const char *nl = memchr(*pos, '\n', (size_t)(end - *pos));

		l->from = *pos;
		l->to = nl != NULL ? nl : end;
		*pos = nl != NULL ? nl + 1 : end;
		l->number++;
		for (const char *p = l->from; p < l->to; p++)
			if (*p == ';' || *p == '#')
				l->to = p;
		while (l->from < l->to && is_blank(*l->from))
			l->from++;
		while (l->to > l->from && is_blank(l->to[-1]))
			l->to--;
		if (l->from < l->to)
			return true;
	}
	return false;
}

static void
presume(struct fio_job *j)
{
	struct err e = {0};

	memset(j, 0, sizeof(*j));
	j->kb_base = 1024;
	j->reads = true;
	j->read_percent = MIX_READ;
	j->random_percent = 100;
	j->depth = j->jobs = 1;
	j->synchronous = true;
	j->arrivals = ARRIVALS_FIXED;
	j->compress_percent = j->dedupe_percent = -1;
	for (int d = 0; d < FIO_DIRECTIONS; d++)
		block_mix_add(&j->blocks[d], BLOCK, 100, &e);
}

/* workloads */

/* The part of the drive that all its numjobs use. */
static void
make_part(const struct fio_job *j, struct flow *f)
{
	double size = j->size_percent > 0 ? j->size_percent : 100;

	f->from_percent = j->offset_percent;
	f->to_percent = j->offset_percent + j->increment_percent * (j->jobs - 1) + size;
	if (f->to_percent > 100)
		f->to_percent = 100;
}

/* Whether numjobs of a sequential job have parts of their own, one behind the other, as
 * workers have them. */
static bool
apart(const struct fio_job *j)
{
	return j->increment_percent > 0 && j->size_percent > 0 &&
	       j->size_percent <= j->increment_percent &&
	       j->size_percent >= j->increment_percent &&
	       j->offset_percent + j->increment_percent * j->jobs <= 100;
}

static void
make_flow(const struct fio_job *j, struct flow *f)
{
	double read = j->reads && (j->writes || j->trims) ? j->read_percent
		      : j->reads			  ? 100
							  : 0;

	flow_plain(f, read, j->random ? j->random_percent : 0, 0);
	f->blocks[DIR_READ] = j->blocks[FIO_READ];
	f->blocks[DIR_WRITE] = j->blocks[j->trims ? FIO_TRIM : FIO_WRITE];
	make_part(j, f);
	if (read < 100 && j->trims)
		f->operation = OP_TRIM;
	else if (read < 100 && j->durable)
		f->operation = OP_WRITE_FUA;
	if (f->random_percent <= 0)
		return;
	f->align_bytes = (uint32_t)j->align_bytes;
	f->spread = j->spread.spread;
	f->theta = j->spread.theta;
	f->n_zones = j->spread.n_zones;
	memcpy(f->zones, j->spread.zones, sizeof(f->zones));
}

/* What the options of a job mean only together. */
static void
list_job(struct conversion *c, const struct fio_job *j)
{
	if (j->depth_line > 0 && j->synchronous && j->depth > 1)
		convert_left(c, j->depth_line, LEFT_ASIDE, "iodepth",
			"a synchronous ioengine (fio's default, too) has one I/O in "
			"flight, "
			"and so has the workload %s",
			j->name);
	if (j->jobs > 1 && !j->random && !apart(j))
		convert_left(c, j->line, LEFT_LOAD, j->name,
			"its numjobs overlap in fio; here each has a part of its own");
	if (j->jobs > 1 && j->random && j->increment_percent > 0)
		convert_left(c, j->line, LEFT_LOAD, j->name,
			"its numjobs share the whole part; offset_increment is not "
			"carried");
	if (j->runtime_ns == 0)
		convert_left(c, j->line, LEFT_LOAD, j->name,
			"it has no runtime=; a point lasts a time, not a number of "
			"bytes");
}

static bool
has_rate(const struct fio_job *j)
{
	return (j->reads && j->rates[FIO_READ] > 0) ||
	       (j->writes && j->rates[FIO_WRITE] > 0) ||
	       (j->trims && j->rates[FIO_TRIM] > 0);
}

/* The rate of all its numjobs, 0 without one. Those of reads and writes are one rate when
 * they are in the shares of the mix. Returns NULL, or why it cannot be carried. */
static const char *
make_rate(const struct fio_job *j, const struct flow *f, double *ret_iops)
{
	double read = j->reads ? j->rates[FIO_READ] : 0;
	double other = (j->writes ? j->rates[FIO_WRITE] : 0) +
		       (j->trims ? j->rates[FIO_TRIM] : 0);
	double sum = (read + other) * j->jobs;

	*ret_iops = 0;
	if (!has_rate(j))
		return NULL;
	if (fabs(read - (read + other) * f->read_percent / 100) > 0.005 * (read + other))
		return "its reads and writes have rates that are not in the shares of "
		       "its mix";
	if (sum > RAMP_RATE_MAX)
		return "a rate is at most 100000000 I/Os per second";
	*ret_iops = sum;
	return NULL;
}

static void
add_rate(struct conversion *c, const struct fio_job *j)
{
	struct suite *s = c->suite;
	const struct flow *f = &s->workloads[s->n_workloads - 1].streams[0];
	double iops;
	const char *why = make_rate(j, f, &iops);

	if (why != NULL)
		convert_left(c, j->rate_line, LEFT_LOAD, "rate_iops", "%s", why);
	else if (iops > 0)
		s->rates[s->n_workloads - 1] = (struct suite_rates){{iops}, 1};
	if (why == NULL && iops > 0 && j->arrivals != s->ramp.arrivals)
		convert_left(c, j->line, LEFT_LOAD, j->name,
			"a suite has the same arrivals for all workloads: %s here",
			arrivals_name(s->ramp.arrivals));
}

static void
add_job(struct conversion *c, const struct fio_job *j)
{
	struct workload *w = xcalloc(1, sizeof(*w));
	double depth = j->synchronous ? 1 : j->depth;
	char origin[SOURCE_TEXT_MAX];

	if (j->broken || depth * j->jobs > WORKLOAD_IN_FLIGHT_MAX) {
		convert_left(c, j->line, LEFT_LOAD, j->name, "left out: %s",
			j->broken ? "an option that it needs could not be carried"
				  : "a workload has at most 4096 I/Os in flight");
	} else {
		list_job(c, j);
		w->n_streams = 1;
		make_flow(j, &w->streams[0]);
		w->in_flight = (uint32_t)(depth * j->jobs);
		w->workers = (uint32_t)j->jobs;
		snprintf(origin, sizeof(origin), "The fio job file, job %.60s in line %u",
			j->name, j->line);
		if (convert_add(c, w, j->name, j->line, origin))
			add_rate(c, j);
	}
	free(w);
}

/* the suite */

static int64_t
phase(int64_t ns, int64_t least)
{
	return ns < least ? least : ns > PHASE_MAX_NS ? PHASE_MAX_NS : ns;
}

static bool
has_time(const struct fio_job *j)
{
	return j->runtime_ns > 0;
}

/* The first job that is carried and has something; NULL: none. */
static const struct fio_job *
first_job(const struct fio_job *jobs, size_t n, bool (*has)(const struct fio_job *j))
{
	for (size_t i = 0; i < n; i++)
		if (!jobs[i].broken && has(&jobs[i]))
			return &jobs[i];
	return NULL;
}

/* The times of the first job that has some are those of all. */
static void
make_ramp(struct conversion *c, const struct fio_job *jobs, size_t n)
{
	const struct fio_job *model = first_job(jobs, n, has_time);
	const struct fio_job *rated = first_job(jobs, n, has_rate);
	struct ramp *r = &c->suite->ramp;

	r->warmup_ns = model != NULL ? phase(model->ramp_ns, 0) : 0;
	r->measure_ns = model != NULL ? phase(model->runtime_ns, PHASE_MIN_NS)
				      : MEASURE_NS;
	r->arrivals = rated != NULL   ? rated->arrivals
		      : model != NULL ? model->arrivals
				      : ARRIVALS_POISSON;
	r->maximum_warmup_ns = r->warmup_ns;
	r->maximum_measure_ns = r->measure_ns;
	if (model == NULL) {
		snprintf(c->ramp_origin, sizeof(c->ramp_origin),
			"The fio job file gives no time; each workload is measured for "
			"60 s%s",
			rated == NULL ? " at its maximum" : "");
		return;
	}
	snprintf(c->ramp_origin, sizeof(c->ramp_origin),
		"The fio job file, job %.60s in line %u%s", model->name, model->line,
		rated == NULL ? "; fio measures the maximum only" : "");
	convert_plain(c->ramp_origin, sizeof(c->ramp_origin), c->ramp_origin);
	for (size_t i = 0; i < n; i++)
		if (!jobs[i].broken &&
			((jobs[i].runtime_ns > 0 &&
				 phase(jobs[i].runtime_ns, PHASE_MIN_NS) !=
					 r->measure_ns) ||
				(jobs[i].runtime_ns == model->runtime_ns &&
					phase(jobs[i].ramp_ns, 0) != r->warmup_ns)))
			convert_left(c, jobs[i].line, LEFT_LOAD, jobs[i].name,
				"a suite has the same times for all workloads: those of "
				"job %.60s in line %u",
				model->name, model->line);
}

/* The share that data have where a job says none: fio's are random and never the same. */
static double
share_of(double percent)
{
	return percent > 0 ? percent : 0;
}

static bool
same_data(const struct fio_job *a, const struct data_shares *b)
{
	double compress = share_of(a->compress_percent);
	double dedupe = share_of(a->dedupe_percent);

	return !(compress < b->compress_percent) && !(compress > b->compress_percent) &&
	       !(dedupe < b->dedupe_percent) && !(dedupe > b->dedupe_percent);
}

/* The job whose data the suite gets: the first that writes and says which; else, where
 * none writes, the first that says it. */
static const struct fio_job *
data_model(const struct fio_job *jobs, size_t n)
{
	const struct fio_job *first = NULL;
	bool written = false;

	for (size_t i = 0; i < n; i++) {
		if (jobs[i].broken)
			continue;
		written = written || jobs[i].writes;
		if (jobs[i].data_line == 0)
			continue;
		if (jobs[i].writes)
			return &jobs[i];
		if (first == NULL)
			first = &jobs[i];
	}
	return written ? NULL : first;
}

/* Which bytes are written is said once for a suite; a job that writes and says nothing of
 * them has fio's. */
static void
make_data(struct conversion *c, const struct fio_job *jobs, size_t n)
{
	const struct fio_job *model = data_model(jobs, n);
	struct data_shares *data = &c->suite->data;

	if (model != NULL) {
		data->compress_percent = share_of(model->compress_percent);
		data->dedupe_percent = share_of(model->dedupe_percent);
	}
	for (size_t i = 0; i < n; i++) {
		const struct fio_job *j = &jobs[i];
		unsigned line = j->data_line > 0 ? j->data_line : j->line;

		if (j->broken || same_data(j, data) || (!j->writes && j->data_line == 0))
			continue;
		if (!j->writes)
			convert_left(c, line, LEFT_ASIDE, j->name,
				"it writes nothing, so that the data of the suite are "
				"those of the jobs that write");
		else
			convert_left(c, line, LEFT_LOAD, j->name,
				"which bytes are written is said once for a suite: by "
				"job %.60s in line %u",
				model->name, model->line);
	}
}

/* Jobs that run side by side on what may be the same drive. */
static void
list_side_by_side(struct conversion *c, const struct fio_job *jobs, size_t n)
{
	size_t group = 0;

	for (size_t i = 1; i < n; i++) {
		if (jobs[i].stonewall)
			group = i;
		for (size_t k = group; k < i; k++) {
			if (strcmp(jobs[k].target, jobs[i].target) != 0)
				continue;
			convert_left(c, jobs[i].line, LEFT_LOAD, jobs[i].name,
				"it runs at the same time as job %.60s in fio; here one "
				"workload follows the other",
				jobs[k].name);
			break;
		}
	}
}

/* What a suite does though no line of the file says otherwise. */
static void
make_notes(struct conversion *c, const struct fio_job *jobs, size_t n)
{
	bool buffered = false, once = false, map = false;

	for (size_t i = 0; i < n; i++) {
		buffered = buffered || !jobs[i].direct;
		once = once || (!jobs[i].time_based && jobs[i].runtime_ns > 0);
		map = map || (jobs[i].random && !jobs[i].norandommap);
	}
	if (buffered)
		convert_note(c, "I/O goes past the page cache, though not all jobs have "
				"direct=1.");
	if (once)
		convert_note(
			c, "Points last their time, though not all jobs are time_based.");
	if (map)
		convert_note(c,
			"No random map is kept, as with norandommap: an offset may come "
			"twice.");
}

static void
make_suite(struct conversion *c, struct fio_job *jobs, size_t n)
{
	make_ramp(c, jobs, n);
	make_data(c, jobs, n);
	list_side_by_side(c, jobs, n);
	make_notes(c, jobs, n);
	for (size_t i = 0; i < n; i++)
		add_job(c, &jobs[i]);
}

/* sections */

struct reading {
	struct fio_reader r;
	struct fio_job *jobs; /* owned */
	size_t n_jobs;
	struct str text; /* of the option */
	struct str name;
};

static int
begin_section(struct reading *s, const struct line *l, struct err *e)
{
	struct fio_job *j;

	if (l->to[-1] != ']' || l->to - l->from < 3)
		return err_set(e, ERR_INVALID,
			"line %u: a section begins with its name in brackets: [job]",
			l->number);
	if (l->to - l->from == 8 && strncasecmp(l->from, "[global]", 8) == 0) {
		s->r.job = &s->r.global;
		return 0;
	}
	if (s->n_jobs == JOBS_MAX)
		return err_set(e, ERR_LIMIT, "line %u: there are more than %d jobs",
			l->number, JOBS_MAX);
	if ((s->n_jobs & (s->n_jobs - 1)) == 0)
		s->jobs = xrealloc(
			s->jobs, s->n_jobs == 0 ? 1 : s->n_jobs * 2, sizeof(*s->jobs));
	j = &s->jobs[s->n_jobs++];
	*j = s->r.global;
	j->line = l->number;
	str_reset(&s->name);
	str_add(&s->name, l->from + 1, (size_t)(l->to - l->from) - 2);
	convert_plain(j->name, sizeof(j->name), str_text(&s->name));
	s->r.job = j;
	return 0;
}

/* fio reads kb_base before the other options of its section. */
static void
look_ahead(struct reading *s, const char *pos, const char *end)
{
	struct line l = {0};

	while (next_line(&pos, end, &l) && l.from[0] != '[')
		if (l.to - l.from == 12 && strncmp(l.from, "kb_base=1000", 12) == 0)
			s->r.job->kb_base = 1000;
}

static int
take_option(struct reading *s, const struct line *l, struct err *e)
{
	struct fio_option o = {.line = l->number};
	const char *equals = memchr(l->from, '=', (size_t)(l->to - l->from));
	const char *name_end = equals != NULL ? equals : l->to;
	const char *value = equals != NULL ? equals + 1 : l->to;

	if (s->r.job == NULL)
		return err_set(e, ERR_INVALID,
			"line %u: an option stands before the first section, such as "
			"[global]",
			l->number);
	if (l->to - l->from > 8 && strncmp(l->from, "include ", 8) == 0)
		return err_set(e, ERR_INVALID,
			"line %u: include names a file, and no other file is read; put "
			"its text in place of the line",
			l->number);
	while (name_end > l->from && is_blank(name_end[-1]))
		name_end--;
	while (value < l->to && is_blank(*value))
		value++;
	str_reset(&s->name);
	str_add(&s->name, l->from, (size_t)(name_end - l->from));
	str_reset(&s->text);
	str_add(&s->text, l->from, (size_t)(l->to - l->from));
	o.name = str_text(&s->name);
	o.text = str_text(&s->text);
	o.value = o.text + (value - l->from);
	fio_read_option(&s->r, &o);
	return 0;
}

int
fio_job_convert(struct conversion *c, const char *text, size_t len, struct err *e)
{
	struct reading s = {.r = {.c = c}};
	const char *pos = text, *end = text + len;
	struct line l = {0};
	int rc = convert_check_text(text, len, e);

	presume(&s.r.global);
	while (rc == 0 && next_line(&pos, end, &l)) {
		if (l.from[0] != '[') {
			rc = take_option(&s, &l, e);
			continue;
		}
		rc = begin_section(&s, &l, e);
		if (rc == 0)
			look_ahead(&s, pos, end);
	}
	if (rc == 0)
		make_suite(c, s.jobs, s.n_jobs);
	free(s.jobs);
	str_fini(&s.text);
	str_fini(&s.name);
	return rc;
}

bool
fio_job_is(const char *text, size_t len)
{
	const char *pos = text;
	struct line l = {0};

	return next_line(&pos, text + len, &l) && l.from[0] == '[' && l.to[-1] == ']';
}
