/* The options of a fio job file: what each is carried to, or why it is not. */

#include <stdio.h>
#include <string.h>

#include "cli/fio_priv.h"
#include "common/err.h"

#define IN_CAMPAIGN "where a suite runs is said in the campaign, by the drive's serial"
#define NO_COMMANDS "no command of a file is run"
#define IN_REPORT "is about fio's own reports and logs"
#define PROCESSES "is about fio's own processes"
#define NO_FILES "a suite tests drives, not files"
#define NO_VERIFY "a suite verifies no data; ssdlab-runner verify does"
#define NO_REPLAY "a suite replays no traces"
#define NO_RATE "of all that is about rates only rate_iops is carried"
#define NO_THINK "a workload does not pause between I/Os"
#define NO_ZONES "a suite is for drives without zones of their own"
#define NO_BUFFERS "a suite says shares of what compresses and repeats, no patterns"
#define NO_TRIMS "trims are a workload of their own"
#define NO_END "a point ends with its time"
#define NO_STEADY "a ramp has a fixed number of points"
#define NO_BATCH "I/Os are submitted as soon as they are due"
#define NO_LATENCY "a ramp does not search for a latency"

void
fio_left(struct fio_reader *r, const struct fio_option *o, enum left_kind kind,
	const char *why)
{
	convert_left(r->c, o->line, kind, o->text, "%s", why);
}

void
fio_broken(struct fio_reader *r, const struct fio_option *o, const char *why)
{
	fio_left(r, o, LEFT_LOAD,
		strchr(o->value, '$') != NULL
			? "its value is a variable, which is not in the file"
			: why);
	r->job->broken = true;
}

/* A flag is set by its name alone, too. */
static bool
is_set(const struct fio_option *o)
{
	return strcmp(o->value, "0") != 0;
}

static void
read_rw(struct fio_reader *r, const struct fio_option *o)
{
	static const struct {
		const char *name;
		bool random, reads, writes, trims;
	} known[] = {{"read", false, true, false, false},
		{"write", false, false, true, false}, {"trim", false, false, false, true},
		{"randread", true, true, false, false},
		{"randwrite", true, false, true, false},
		{"randtrim", true, false, false, true}, {"rw", false, true, true, false},
		{"readwrite", false, true, true, false},
		{"randrw", true, true, true, false},
		{"trimwrite", false, false, true, true},
		{"randtrimwrite", true, false, true, true}};
	struct fio_job *j = r->job;
	size_t n = strcspn(o->value, ":");

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].name) != n ||
			strncmp(known[i].name, o->value, n) != 0)
			continue;
		j->random = known[i].random;
		j->reads = known[i].reads;
		j->writes = known[i].writes;
		j->trims = known[i].trims;
		if (j->writes && j->trims)
			fio_broken(r, o,
				"a stream trims or writes, not one after the "
				"other");
		else if (o->value[n] != '\0')
			fio_left(r, o, LEFT_LOAD,
				"how far apart offsets are is not carried: they are "
				"random, "
				"or follow each other");
		return;
	}
	fio_broken(r, o, "it is no kind of I/O that is known here");
}

/* A whole option of one number, low..high. */
static bool
read_count(struct fio_reader *r, const struct fio_option *o, double low, double high,
	double *ret_x)
{
	double x;

	if (fio_number(o->value, &x) && x >= low && x <= high) {
		*ret_x = x;
		return true;
	}
	fio_broken(r, o, "its value is no number, or out of range");
	return false;
}

static void
read_mix_read(struct fio_reader *r, const struct fio_option *o)
{
	read_count(r, o, 0, 100, &r->job->read_percent);
}

static void
read_mix_write(struct fio_reader *r, const struct fio_option *o)
{
	if (read_count(r, o, 0, 100, &r->job->read_percent))
		r->job->read_percent = 100 - r->job->read_percent;
}

static void
read_blocks(struct fio_reader *r, const struct fio_option *o)
{
	const char *why = strcmp(o->name, "bsrange") == 0 ||
					  strcmp(o->name, "blocksize_range") == 0
				  ? fio_ranges(r->job, o->value)
			  : strcmp(o->name, "bssplit") == 0
				  ? fio_splits(r->job, o->value)
				  : fio_blocks(r->job, o->value);

	if (why != NULL)
		fio_broken(r, o, why);
}

static void
read_align(struct fio_reader *r, const struct fio_option *o)
{
	const char *pos = o->value;
	double bytes;
	bool percent;

	if (!fio_size(&pos, r->job->kb_base, ",", &bytes, &percent) || percent ||
		*pos != '\0' || !(bytes >= 512 && bytes <= FLOW_BLOCK_MAX) ||
		(uint64_t)bytes % 512 != 0)
		fio_broken(r, o,
			"an alignment is one size, a multiple of 512 bytes and at most "
			"16MiB");
	else
		r->job->align_bytes = (uint64_t)bytes;
}

static void
read_percentage_random(struct fio_reader *r, const struct fio_option *o)
{
	double x[3];
	char text[24];
	size_t n = 0;

	for (const char *p = o->value; n < 3; p++) {
		size_t len = strcspn(p, ",");

		snprintf(text, sizeof(text), "%.*s", len < 24 ? (int)len : 0, p);
		if (!fio_number(text, &x[n]) || x[n] > 100) {
			fio_broken(r, o, "its value is no percentage");
			return;
		}
		if (n > 0 && (x[n] < x[0] || x[n] > x[0])) {
			fio_broken(r, o, "a stream has one share of random I/O");
			return;
		}
		n++;
		p += len;
		if (*p == '\0')
			break;
	}
	r->job->random_percent = x[0];
}

static void
read_distribution(struct fio_reader *r, const struct fio_option *o)
{
	struct flow *f = &r->job->spread;
	const char *why = NULL;
	struct err e = {0};
	double theta;

	memset(f, 0, sizeof(*f));
	if (strncmp(o->value, "zipf:", 5) == 0) {
		if (!fio_number(o->value + 5, &theta) ||
			flow_set_theta(f, theta, &e) != 0)
			why = "zipf wants one exponent, above 0 and at most 5; offsets "
			      "are even";
	} else if (strncmp(o->value, "zoned:", 6) == 0) {
		why = strchr(o->value, ',') != NULL
			      ? "zones are those of all I/Os of a stream; offsets are "
				"even"
			      : fio_zones(f, o->value + 6);
	} else if (strcmp(o->value, "random") != 0) {
		why = "a suite has even, zipf and zoned offsets; these are even now";
	}
	if (why != NULL)
		fio_left(r, o, LEFT_LOAD, why);
}

static void
read_depth(struct fio_reader *r, const struct fio_option *o)
{
	if (read_count(r, o, 1, WORKLOAD_IN_FLIGHT_MAX, &r->job->depth))
		r->job->depth_line = o->line;
}

static void
read_jobs(struct fio_reader *r, const struct fio_option *o)
{
	read_count(r, o, 1, WORKLOAD_IN_FLIGHT_MAX, &r->job->jobs);
}

static void
read_engine(struct fio_reader *r, const struct fio_option *o)
{
	static const char *const synchronous[] = {
		"sync", "psync", "vsync", "pvsync", "pvsync2"};
	static const char *const queues[] = {"libaio", "io_uring", "io_uring_cmd",
		"posixaio", "sg", "windowsaio", "solarisaio", "null"};

	for (size_t i = 0; i < sizeof(synchronous) / sizeof(synchronous[0]); i++)
		if (strcmp(o->value, synchronous[i]) == 0) {
			r->job->synchronous = true;
			fio_left(r, o, LEFT_ASIDE,
				"ssdlab has an engine of its own; one I/O at a time is "
				"carried");
			return;
		}
	r->job->synchronous = false;
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
		if (strcmp(o->value, queues[i]) == 0) {
			fio_left(r, o, LEFT_ASIDE, "ssdlab has an engine of its own");
			return;
		}
	fio_broken(r, o, "it is no engine for I/O to a drive");
}

/* A part of the drive in percent; bytes are not carried. Returns false after listing. */
static bool
read_part(struct fio_reader *r, const struct fio_option *o, double *ret_percent)
{
	const char *pos = o->value;
	double x;
	bool percent;

	if (fio_size(&pos, r->job->kb_base, "", &x, &percent) && *pos == '\0' &&
		(percent ? x <= 100 : x <= 0)) {
		*ret_percent = x;
		return true;
	}
	fio_left(r, o, LEFT_LOAD,
		"a suite has parts of the capacity, not bytes; write a percentage such "
		"as 25%");
	return false;
}

static void
read_size(struct fio_reader *r, const struct fio_option *o)
{
	read_part(r, o, &r->job->size_percent);
}

static void
read_offset(struct fio_reader *r, const struct fio_option *o)
{
	read_part(r, o, &r->job->offset_percent);
}

static void
read_increment(struct fio_reader *r, const struct fio_option *o)
{
	read_part(r, o, &r->job->increment_percent);
}

static void
read_runtime(struct fio_reader *r, const struct fio_option *o)
{
	if (fio_time(o->value, &r->job->runtime_ns))
		r->job->runtime_line = o->line;
	else
		fio_left(r, o, LEFT_LOAD, "it is no time");
}

static void
read_ramp_time(struct fio_reader *r, const struct fio_option *o)
{
	if (!fio_time(o->value, &r->job->ramp_ns))
		fio_left(r, o, LEFT_LOAD, "it is no time");
}

/* Up to three numbers, for reads, writes and trims; one that is not there is that before
 * it. */
static void
read_rate_iops(struct fio_reader *r, const struct fio_option *o)
{
	double rates[FIO_DIRECTIONS] = {0};
	const char *p = o->value;
	bool ok = true, percent = false;
	int d = 0;

	for (;; p++, d++) {
		ok = d < FIO_DIRECTIONS &&
		     (*p == ',' || *p == '\0' ||
			     (fio_size(&p, r->job->kb_base, ",", &rates[d], &percent) &&
				     !percent));
		if (!ok || *p == '\0')
			break;
	}
	if (!ok) {
		fio_broken(r, o, "it is no rate");
		return;
	}
	for (int k = d + 1; k < FIO_DIRECTIONS; k++)
		rates[k] = rates[d];
	memcpy(r->job->rates, rates, sizeof(rates));
	r->job->rate_line = o->line;
}

static void
read_rate_process(struct fio_reader *r, const struct fio_option *o)
{
	r->job->arrivals = strcmp(o->value, "poisson") == 0 ? ARRIVALS_POISSON
							    : ARRIVALS_FIXED;
}

static void
read_stonewall(struct fio_reader *r, const struct fio_option *o)
{
	r->job->stonewall = is_set(o);
}

static void
read_time_based(struct fio_reader *r, const struct fio_option *o)
{
	r->job->time_based = is_set(o);
}

static void
read_norandommap(struct fio_reader *r, const struct fio_option *o)
{
	r->job->norandommap = is_set(o);
}

static void
read_direct(struct fio_reader *r, const struct fio_option *o)
{
	bool direct = is_set(o) != (strcmp(o->name, "buffered") == 0);

	r->job->direct = direct;
	if (!direct)
		fio_left(r, o, LEFT_LOAD, "ssdlab always goes past the page cache");
}

static void
read_sync(struct fio_reader *r, const struct fio_option *o)
{
	r->job->durable = is_set(o) && strcmp(o->value, "none") != 0;
}

static void
read_compress(struct fio_reader *r, const struct fio_option *o)
{
	if (read_count(r, o, 0, 100, &r->job->compress_percent))
		r->job->data_line = o->line;
}

static void
read_dedupe(struct fio_reader *r, const struct fio_option *o)
{
	if (read_count(r, o, 0, 100, &r->job->dedupe_percent))
		r->job->data_line = o->line;
}

static void
read_zero_buffers(struct fio_reader *r, const struct fio_option *o)
{
	if (!is_set(o))
		return;
	r->job->compress_percent = 100;
	r->job->data_line = o->line;
}

static void
read_kb_base(struct fio_reader *r, const struct fio_option *o)
{
	if (strcmp(o->value, "1000") == 0 || strcmp(o->value, "1024") == 0)
		r->job->kb_base = strcmp(o->value, "1000") == 0 ? 1000 : 1024;
	else
		fio_broken(r, o, "kb_base is 1000 or 1024");
}

static void
read_target(struct fio_reader *r, const struct fio_option *o)
{
	snprintf(r->job->target, sizeof(r->job->target), "%.127s", o->value);
	fio_left(r, o, LEFT_ASIDE, IN_CAMPAIGN);
}

static const struct {
	const char *name;
	void (*read)(struct fio_reader *r, const struct fio_option *o);
	enum left_kind kind; /* of those that are not read */
	const char *why;
} options[] = {
#define READ(name, fn) {name, fn, LEFT_LOAD, NULL},
#define LOAD(name, why) {name, NULL, LEFT_LOAD, why},
#define ASIDE(name, why) {name, NULL, LEFT_ASIDE, why},
#include "cli/fio_tbl.h"
#undef READ
#undef LOAD
#undef ASIDE
};

void
fio_read_option(struct fio_reader *r, const struct fio_option *o)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strcmp(options[i].name, o->name) != 0)
			continue;
		if (options[i].read != NULL)
			options[i].read(r, o);
		else
			fio_left(r, o, options[i].kind, options[i].why);
		return;
	}
	fio_left(r, o, LEFT_LOAD, "no option of fio that is known here");
}
