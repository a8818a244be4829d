#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/document.h"
#include "common/err.h"
#include "common/parse.h"
#include "common/str.h"
#include "runner/bench.h"
#include "runner/bench_mix.h"

typedef int (*setter)(struct bench_options *o, const char *text, struct err *e);

struct flag {
	const char *name;
	const char *value; /* what the help calls it; NULL: takes none */
	setter set;
	const char *help;
};

/* The one stream of a bench. */
static struct flow *
stream_of(struct bench_options *o)
{
	return &o->load.workload.streams[0];
}

static int
set_block(struct bench_options *o, const char *text, struct err *e)
{
	struct flow *s = stream_of(o);

	o->has_block = true;
	if (bench_parse_blocks(text, &s->blocks[DIR_READ], e) != 0)
		return -1;
	s->blocks[DIR_WRITE] = s->blocks[DIR_READ];
	return 0;
}

static int
set_read_block(struct bench_options *o, const char *text, struct err *e)
{
	o->has_blocks[DIR_READ] = true;
	return bench_parse_blocks(text, &stream_of(o)->blocks[DIR_READ], e);
}

static int
set_write_block(struct bench_options *o, const char *text, struct err *e)
{
	o->has_blocks[DIR_WRITE] = true;
	return bench_parse_blocks(text, &stream_of(o)->blocks[DIR_WRITE], e);
}

static int
set_align(struct bench_options *o, const char *text, struct err *e)
{
	uint64_t bytes;

	if (parse_size(text, &bytes, e) != 0)
		return -1;
	if (bytes == 0 || bytes % 512 != 0 || bytes > FLOW_BLOCK_MAX)
		return err_set(e, ERR_INVALID,
			"\"%s\" is not a multiple of 512 bytes, at most 16MiB", text);
	o->has_spread = true;
	stream_of(o)->align_bytes = (uint32_t)bytes;
	return 0;
}

static int
set_distribution(struct bench_options *o, const char *text, struct err *e)
{
	o->has_spread = true;
	return bench_parse_distribution(text, stream_of(o), e);
}

/* Shares are percentages; the sign may be left out, as --read has no other unit. */
static int
share(const char *text, double *ret_percent, struct err *e)
{
	uint64_t whole;

	if (parse_uint(text, 0, 100, &whole, NULL) == 0) {
		*ret_percent = (double)whole;
		return 0;
	}
	if (parse_percent(text, ret_percent, NULL) == 0 && *ret_percent <= 100)
		return 0;
	return err_set(e, ERR_INVALID,
		"\"%.40s\" is not a share from 0%% to 100%%; write for example 25%%",
		text);
}

static int
set_read(struct bench_options *o, const char *text, struct err *e)
{
	return share(text, &stream_of(o)->read_percent, e);
}

static int
set_operation(struct bench_options *o, const char *text, struct err *e)
{
	o->has_operation = true;
	return operation_named(text, &stream_of(o)->operation, e);
}

static int
set_access(struct bench_options *o, const char *text, struct err *e)
{
	double *percent = &stream_of(o)->random_percent;

	o->has_access = true;
	if (strcmp(text, "random") == 0)
		*percent = 100;
	else if (strcmp(text, "sequential") == 0)
		*percent = 0;
	else if (strchr("0123456789", text[0]) == NULL || text[0] == '\0')
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is not known; write random, sequential, or a share of "
			"random I/Os such as 80%%",
			text);
	else if (share(text, percent, e) != 0)
		return -1;
	return 0;
}

static int
set_u32(const char *text, uint32_t max, uint32_t *ret_n, struct err *e)
{
	uint64_t n;

	if (parse_uint(text, 1, max, &n, e) != 0)
		return -1;
	*ret_n = (uint32_t)n;
	return 0;
}

static int
set_in_flight(struct bench_options *o, const char *text, struct err *e)
{
	return set_u32(text, WORKLOAD_IN_FLIGHT_MAX, &o->load.workload.in_flight, e);
}

static int
set_workers(struct bench_options *o, const char *text, struct err *e)
{
	return set_u32(text, 256, &o->load.workload.workers, e);
}

static int
set_time(struct bench_options *o, const char *text, struct err *e)
{
	return parse_duration(text, &o->load.measure_ns, e);
}

static int
set_warmup(struct bench_options *o, const char *text, struct err *e)
{
	return parse_duration(text, &o->load.warmup_ns, e);
}

static int
set_rate(struct bench_options *o, const char *text, struct err *e)
{
	uint64_t n;

	/* As --read 100 needs no sign, a plain number is a rate here. */
	if (parse_uint(text, 1, 1000000000, &n, NULL) != 0)
		return parse_rate(text, &o->load.offered_iops, e);
	o->load.offered_iops = (double)n;
	return 0;
}

static int
set_arrivals(struct bench_options *o, const char *text, struct err *e)
{
	o->has_arrivals = true;
	if (strcmp(text, "poisson") == 0)
		o->load.arrivals = ARRIVALS_POISSON;
	else if (strcmp(text, "fixed") == 0)
		o->load.arrivals = ARRIVALS_FIXED;
	else
		return err_set(
			e, ERR_INVALID, "\"%.40s\" is neither poisson nor fixed", text);
	return 0;
}

static int
set_engine(struct bench_options *o, const char *text, struct err *e)
{
	o->fio = strcmp(text, "fio") == 0;
	o->load.engine = o->fio ? &engine_uring : engine_named(text);
	if (o->load.engine == NULL)
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is none of uring, sync, null, fio", text);
	return 0;
}

static int
set_script(struct bench_options *o, const char *text, struct err *e)
{
	(void)e;
	o->load.engine_script = text;
	return 0;
}

static int
set_seed(struct bench_options *o, const char *text, struct err *e)
{
	return parse_uint(text, 0, UINT64_MAX, &o->load.seed, e);
}

static int
set_max_errors(struct bench_options *o, const char *text, struct err *e)
{
	return parse_uint(text, 0, UINT64_MAX, &o->load.max_errors, e);
}

static int
set_compress(struct bench_options *o, const char *text, struct err *e)
{
	return share(text, &o->load.compress_percent, e);
}

static int
set_dedupe(struct bench_options *o, const char *text, struct err *e)
{
	return share(text, &o->load.dedupe_percent, e);
}

static int
set_verify(struct bench_options *o, const char *text, struct err *e)
{
	o->journal = text;
	return text[0] != '\0' ? 0 : err_set(e, ERR_INVALID, "no file is named");
}

static int
set_allow_write(struct bench_options *o, const char *text, struct err *e)
{
	(void)text;
	(void)e;
	o->allow_write = true;
	return 0;
}

static int
set_output(struct bench_options *o, const char *text, struct err *e)
{
	o->json = strcmp(text, "json") == 0;
	if (!o->json && strcmp(text, "table") != 0)
		return err_set(
			e, ERR_INVALID, "\"%.40s\" is neither table nor json", text);
	return 0;
}

/* The workload of a suite, alone in a file. */
static int
set_workload(struct bench_options *o, const char *text, struct err *e)
{
	struct document d;
	int failed = document_read(text, YAML_CORE, &d, e);

	o->file = text;
	if (failed == 0) {
		failed = workload_parse(d.doc, "", &o->load.workload, e);
		if (failed != 0)
			document_place(&d, e);
	}
	document_fini(&d);
	return failed;
}

static const struct flag flags[] = {
	{"access", "KIND", set_access,
		"random, sequential, or the share of random I/Os, as 80% (random)"},
	{"align", "SIZE", set_align,
		"what random offsets are multiples of (the size of the I/O)"},
	{"allow-write", NULL, set_allow_write,
		"the data on TARGET may be lost; needed when anything is written"},
	{"arrivals", "KIND", set_arrivals,
		"poisson or fixed: how the arrivals of --rate are spread (poisson)"},
	{"block", "SIZES", set_block,
		"bytes of one I/O, or several with shares: 4KiB:60%,64KiB:40% (4KiB)"},
	{"compress", "SHARE", set_compress,
		"share of what is written that compresses away, as 50% (0)"},
	{"dedupe", "SHARE", set_dedupe,
		"share of the 4 KiB written that repeat an earlier one, as 20% (0)"},
	{"distribution", "KIND", set_distribution,
		"of random offsets: uniform, zipf:1.1, jesd219, zones:5%/50%,95%/50% "
		"(uniform)"},
	{"engine", "NAME", set_engine,
		"uring, sync (one worker per I/O in flight), null (no device), or fio: "
		"the program, for cross-checking (uring)"},
	{"in-flight", "N", set_in_flight, "most I/Os in flight, over all workers (128)"},
	{"max-errors", "N", set_max_errors, "end when more I/Os than this failed (0)"},
	{"operation", "NAME", set_operation,
		"what does not read: write, write-fua, write-zeroes, trim, flush "
		"(write)"},
	{"output", "FORM", set_output, "-o FORM: table or json (table)"},
	{"rate", "RATE", set_rate,
		"offer so many I/Os, as 5000/s; without it, as many as go through"},
	{"read", "SHARE", set_read, "share of reads, 0 to 100 (100)"},
	{"read-block", "SIZES", set_read_block, "as --block, of reads"},
	{"script", "WORDS", set_script, "delays and errors of the null engine"},
	{"seed", "N", set_seed, "same seed, same offsets and data (random)"},
	{"time", "TIME", set_time, "measured time (5s)"},
	{"verify", "JOURNAL", set_verify,
		"check what is read against this file of what was written"},
	{"warmup", "TIME", set_warmup, "time before that, not counted (0s)"},
	{"workers", "N", set_workers, "threads (1)"},
	{"workload", "FILE", set_workload,
		"which I/Os: a workload as suites have it, JSON or YAML"},
	{"write-block", "SIZES", set_write_block, "as --block, of writes"},
};

/* The options that --workload stands for. */
static const char *const shapes[] = {"access", "align", "block", "distribution",
	"in-flight", "operation", "read", "read-block", "workers", "write-block"};

#define N_FLAGS (sizeof(flags) / sizeof(flags[0]))

/* What getopt_long returns for the first flag; above all characters. */
#define FIRST_FLAG 256

void
bench_help(struct str *out)
{
	str_puts(out, "usage: ssdlab-runner bench TARGET [OPTION]...\n"
		      "Loads a block device or file once and says how it did.\n\n");
	for (size_t i = 0; i < N_FLAGS; i++) {
		const char *value = flags[i].value != NULL ? flags[i].value : "";
		int pad = 18 - (int)strlen(flags[i].name) - (int)strlen(value);

		str_printf(out, "  --%s %s%*s%s\n", flags[i].name, value, pad, "",
			flags[i].help);
	}
}

static void
presets(struct bench_options *o)
{
	memset(o, 0, sizeof(*o));
	o->load.engine = &engine_uring;
	o->load.workload = (struct workload){
		.id = "bench",
		.in_flight = 128,
		.workers = 1,
	};
	workload_plain(&o->load.workload, 100, 100, 4096);
	o->load.measure_ns = 5 * NS_PER_S;
	o->load.arrivals = ARRIVALS_POISSON;
	if (getrandom(&o->load.seed, sizeof(o->load.seed), 0) !=
		(ssize_t)sizeof(o->load.seed))
		o->load.seed = (uint64_t)clock_wall();
	/* Short enough to be typed again. */
	o->load.seed %= 1000000000;
}

/* Rows of getopt_long; its value is the index of the flag. */
static void
fill_rows(struct option rows[N_FLAGS + 2])
{
	memset(rows, 0, (N_FLAGS + 2) * sizeof(*rows));
	for (size_t i = 0; i < N_FLAGS; i++) {
		rows[i].name = flags[i].name;
		rows[i].has_arg = flags[i].value != NULL ? required_argument
							 : no_argument;
		rows[i].val = FIRST_FLAG + (int)i;
	}
	rows[N_FLAGS].name = "help";
	rows[N_FLAGS].val = 'h';
}

/* Options as fio and vdbench call them; the one here, and what else it differs in. */
static const struct {
	const char *other, *own;
} others[] = {
	{"bs", "block"},
	{"blocksize", "block"},
	{"xfersize", "block"},
	{"iodepth", "in-flight"},
	{"qd", "in-flight"},
	{"threads", "in-flight"},
	{"rwmixread", "read"},
	{"rdpct", "read"},
	{"runtime", "time"},
	{"elapsed", "time"},
	{"ioengine", "engine"},
};

static const char *
own_name(const char *other)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(others[i].other, other) == 0)
			return others[i].own;
	return NULL;
}

/*
 * Says what is wrong with an option that getopt_long did not take: c is ':' when its
 * value is missing. optopt is its row or character; 0 when it is a long one not known.
 */
static int
refuse(const char *word, int c, struct err *e)
{
	const char *names[N_FLAGS + 2] = {NULL};
	const char *own;
	char name[40];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	if (optopt >= FIRST_FLAG)
		snprintf(name, sizeof(name), "--%s", flags[optopt - FIRST_FLAG].name);
	else if (optopt != 0 && strncmp(word, "--", 2) != 0)
		snprintf(name, sizeof(name), "-%c", optopt);
	if (c == ':')
		return err_set(
			e, ERR_INVALID, "%s needs a value; try bench --help", name);
	if (optopt >= FIRST_FLAG || strncmp(word, "--help=", 7) == 0)
		return err_set(e, ERR_INVALID, "%s takes no value", name);
	err_set(e, ERR_INVALID, "%s is not an option of bench", name);
	own = own_name(name + strspn(name, "-"));
	if (own != NULL)
		return err_fix(e, "did you mean --%s?", own);
	for (size_t i = 0; i < N_FLAGS; i++)
		names[i] = flags[i].name;
	names[N_FLAGS] = "help";
	return err_suggest(e, name + strspn(name, "-"), names);
}

static int
set_flag(struct bench_options *o, int c, char **argv, struct err *e)
{
	size_t i = 0;

	if (c == 'o')
		return set_output(o, optarg, e) == 0 ? 0 : err_ctx(e, "-o");
	if (c < FIRST_FLAG)
		return refuse(argv[optind - 1], c, e);
	i = (size_t)(c - FIRST_FLAG);
	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
		if (strcmp(shapes[k], flags[i].name) == 0)
			o->shape = shapes[k];
	if (flags[i].set(o, optarg, e) != 0)
		return err_ctx(e, "--%s", flags[i].name);
	return 0;
}

static int
check_operation(const struct bench_options *o, struct err *e)
{
	const struct flow *s = &o->load.workload.streams[0];

	if (o->has_operation && s->read_percent >= 100) {
		err_set(e, ERR_INVALID,
			"--operation says what does not read, and everything reads");
		return err_fix(e, "add --read 0, or another share below 100");
	}
	if (s->operation != OP_FLUSH || s->read_percent > 0 ||
		(!o->has_block && !o->has_spread && !o->has_access))
		return 0;
	err_set(e, ERR_INVALID, "a flush has no size and no place");
	return err_fix(e, "leave --block, --access, --align and --distribution out");
}

/* Looks at what one option alone cannot tell. */
static int
check_stream(struct bench_options *o, struct err *e)
{
	static const char *const names[] = {"--read-block", "--write-block"};
	struct flow *s = stream_of(o);

	for (int d = 0; d < DATA_DIRECTIONS; d++) {
		if (o->has_blocks[d] && o->has_block)
			return err_set(e, ERR_INVALID,
				"--block and %s exclude each other; give --read-block "
				"and --write-block",
				names[d]);
		if (o->has_blocks[d] && !flow_uses_blocks(s, (enum direction)d)) {
			err_set(e, ERR_INVALID,
				"%s is given, and no I/O has this direction", names[d]);
			return err_fix(e, "leave it out, or change --read");
		}
		if (!flow_uses_blocks(s, (enum direction)d))
			s->blocks[d] = s->blocks[DATA_DIRECTIONS - 1 - d];
	}
	if (check_operation(o, e) != 0)
		return -1;
	if (o->has_spread && s->random_percent <= 0) {
		err_set(e, ERR_INVALID,
			"--align and --distribution are about random I/O, and there is "
			"none");
		return err_fix(e, "leave them out, or change --access");
	}
	return flow_check(s, e);
}

/* Which I/Os are done is said by a file or by options. */
static int
check_shape(struct bench_options *o, struct err *e)
{
	if (o->file == NULL)
		return check_stream(o, e);
	if (o->shape == NULL)
		return 0;
	err_set(e, ERR_INVALID, "--workload and --%s exclude each other", o->shape);
	return err_fix(
		e, "leave --%s out: %s says which I/Os are done", o->shape, o->file);
}

static int
check_arrivals(const struct bench_options *o, struct err *e)
{
	if (!o->has_arrivals || o->load.offered_iops > 0)
		return 0;
	err_set(e, ERR_INVALID,
		"--arrivals says how the arrivals of a rate are spread, and there "
		"is no --rate");
	return err_fix(e, "add --rate, for example --rate 5000/s, or leave "
			  "--arrivals out");
}

/* A script is for the null engine, and data are for what writes some. */
static int
check_use(const struct bench_options *o, struct err *e)
{
	const struct load *l = &o->load;
	const unsigned data = 1U << OP_WRITE | 1U << OP_WRITE_FUA;

	if (l->engine_script != NULL && (o->fio || !l->engine->no_device)) {
		err_set(e, ERR_INVALID,
			"--script says how the null engine behaves, and this is %s",
			o->fio ? "fio" : l->engine->name);
		return err_fix(e, "add --engine null, or leave --script out");
	}
	if ((l->compress_percent <= 0 && l->dedupe_percent <= 0) ||
		(workload_operations(&l->workload) & data) != 0)
		return 0;
	err_set(e, ERR_INVALID,
		"--compress and --dedupe are about the data that are written, and "
		"nothing writes any");
	return err_fix(e, "leave them out, or let a share write%s",
		o->file == NULL ? ", for example --read 70" : "");
}

/* What is written would destroy the journal that tells what was written. */
static int
check_journal(const struct bench_options *o, struct err *e)
{
	struct stat target, journal;
	bool same;

	if (o->journal == NULL || stat(o->target, &target) != 0 ||
		stat(o->journal, &journal) != 0)
		return 0;
	same = target.st_dev == journal.st_dev && target.st_ino == journal.st_ino;
	if (S_ISBLK(target.st_mode) && S_ISBLK(journal.st_mode))
		same = target.st_rdev == journal.st_rdev;
	if (!same)
		return 0;
	err_set(e, ERR_INVALID, "--verify: the journal %s is the target itself",
		o->journal);
	return err_fix(e, "name a file that is not on the target, for example "
			  "--verify /var/tmp/drive.journal");
}

int
bench_parse(
	int argc, char **argv, struct bench_options *ret_o, bool *ret_help, struct err *e)
{
	struct option rows[N_FLAGS + 2];
	int c;

	presets(ret_o);
	fill_rows(rows);
	*ret_help = false;
	optind = 0;
	opterr = 0;
	/* One thread so far. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while ((c = getopt_long(argc, argv, ":ho:", rows, NULL)) != -1) {
		if (c == 'h') {
			*ret_help = true;
			return 0;
		}
		if (set_flag(ret_o, c, argv, e) != 0)
			return -1;
	}
	if (argc - optind != 1)
		return err_set(e, ERR_INVALID,
			"name one target, a block device or a file; try bench --help");
	ret_o->target = argv[optind];
	if (check_shape(ret_o, e) != 0 || check_use(ret_o, e) != 0 ||
		check_journal(ret_o, e) != 0)
		return -1;
	return check_arrivals(ret_o, e);
}
