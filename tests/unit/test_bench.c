#include "runner/bench.h"

#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/str.h"
#include "tests/unit/unit.h"

#define ARGS_MAX 64
#define SHARE "is not a share from 0% to 100%; write for example 25%"

/* Parses a command line written as one text. */
static int
parse(const char *line, struct bench_options *o, struct err *e)
{
	static char copy[512];
	char *argv[ARGS_MAX] = {NULL};
	char *state = NULL;
	bool help = false;
	int argc = 0;

	snprintf(copy, sizeof(copy), "bench %s", line);
	for (char *word = strtok_r(copy, " ", &state); word != NULL;
		word = strtok_r(NULL, " ", &state)) {
		ck_assert_int_lt(argc, ARGS_MAX);
		argv[argc++] = word;
	}
	return bench_parse(argc, argv, o, &help, e);
}

START_TEST(a_target_alone_gets_the_presets)
{
	struct bench_options o;
	struct err e = {0};

	OK(parse("/dev/x", &o, &e));
	ck_assert_str_eq(o.target, "/dev/x");
	ck_assert_double_eq(o.load.workload.streams[0].read_percent, 100);
	ck_assert_double_eq(o.load.workload.streams[0].random_percent, 100);
	ck_assert_uint_eq(workload_block_max(&o.load.workload), 4096);
	ck_assert_uint_eq(o.load.workload.in_flight, 128);
	ck_assert_uint_eq(o.load.workload.workers, 1);
	ck_assert_int_eq(o.load.measure_ns, 5000000000);
	ck_assert_double_eq(o.load.offered_iops, 0);
	ck_assert_ptr_eq(o.load.engine, &engine_uring);
	ck_assert(!o.allow_write && !o.json);
}
END_TEST

START_TEST(every_option_is_read)
{
	struct bench_options o;
	struct err e = {0};

	OK(parse("--block 64KiB --read 70% --access 80% --in-flight 32 --time 2s "
		 "--warmup 500ms --rate 5000/s --arrivals fixed --workers 2 f",
		&o, &e));
	ck_assert_uint_eq(workload_block_max(&o.load.workload), 65536);
	ck_assert_double_eq(o.load.workload.streams[0].read_percent, 70);
	ck_assert_double_eq(o.load.workload.streams[0].random_percent, 80);
	ck_assert_uint_eq(o.load.workload.in_flight, 32);
	ck_assert_int_eq(o.load.measure_ns, 2000000000);
	ck_assert_int_eq(o.load.warmup_ns, 500000000);
	ck_assert_double_eq(o.load.offered_iops, 5000);
	ck_assert_int_eq(o.load.arrivals, ARRIVALS_FIXED);
	ck_assert_uint_eq(o.load.workload.workers, 2);
	OK(parse("f --access sequential --rate 10/s --engine null --script delay=1ms "
		 "--seed 42 --max-errors 3 --allow-write -o json --compress 50% "
		 "--dedupe 20 --verify file --read 0",
		&o, &e));
	ck_assert_double_eq(o.load.workload.streams[0].random_percent, 0);
	ck_assert_double_eq(o.load.offered_iops, 10);
	ck_assert_ptr_eq(o.load.engine, &engine_null);
	ck_assert_str_eq(o.load.engine_script, "delay=1ms");
	ck_assert_uint_eq(o.load.seed, 42);
	ck_assert_uint_eq(o.load.max_errors, 3);
	ck_assert_double_eq(o.load.compress_percent, 50);
	ck_assert_double_eq(o.load.dedupe_percent, 20);
	ck_assert_str_eq(o.journal, "file");
	ck_assert(o.allow_write && o.json);
}
END_TEST

START_TEST(mixes_are_read_and_written_alike)
{
	static struct load_result r;
	const struct flow *s;
	struct bench_options o;
	struct str out = {0};
	struct err e = {0};
	json_t *doc, *stream;

	OK(parse("f --read 70 --read-block 64KiB:40%,4KiB:60% --write-block 16KiB "
		 "--align 4KiB --distribution zones:5%/50%,15%/30%,80%/20%",
		&o, &e));
	s = &o.load.workload.streams[0];
	ck_assert_uint_eq(s->blocks[DIR_READ].n, 2);
	ck_assert_uint_eq(s->blocks[DIR_READ].list[0].bytes, 4096);
	ck_assert_double_eq(s->blocks[DIR_READ].list[1].percent, 40);
	ck_assert_uint_eq(s->blocks[DIR_WRITE].list[0].bytes, 16384);
	ck_assert_uint_eq(s->align_bytes, 4096);
	ck_assert_uint_eq(s->n_zones, 3);
	bench_to_text(&o, &r, &out);
	ck_assert_msg(strstr(str_text(&out),
			      "load      reads 4KiB:60%,64KiB:40%, writes 16KiB, 100% "
			      "random (zones:5%/50%,15%/30%,80%/20%), 70% read, aligned "
			      "to 4KiB, 128 in") != NULL,
		"%s", str_text(&out));
	doc = bench_to_json(&o, &r);
	ck_assert(json_is_null(json_object_get(doc, "block_bytes")));
	ck_assert_double_eq(json_real_value(json_object_get(doc, "read_percent")), 70);
	stream = json_array_get(
		json_object_get(json_object_get(doc, "workload"), "streams"), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(stream, "read_blocks")), 2);
	json_decref(doc);
	OK(parse("f --distribution jesd219", &o, &e));
	ck_assert_double_eq(s->zones[0].share_percent, 50);
	OK(parse("f --distribution zipf:1.1", &o, &e));
	ck_assert_double_eq(s->theta, 1.1);
	OK(parse("f --distribution zipf:1.1 --distribution uniform", &o, &e));
	ck_assert(workload_is_plain(&o.load.workload));
	/* What is read decides alone when nothing is written. */
	OK(parse("f --read-block 64KiB", &o, &e));
	ck_assert(workload_is_plain(&o.load.workload));
	ck_assert_uint_eq(workload_block_max(&o.load.workload), 65536);
	str_fini(&out);
}
END_TEST

START_TEST(operations_are_read_and_shown)
{
	static struct load_result r;
	struct bench_options o;
	struct str out = {0};
	struct err e = {0};
	json_t *doc;

	OK(parse("f --read 60 --operation trim --block 64KiB", &o, &e));
	ck_assert_int_eq(o.load.workload.streams[0].operation, OP_TRIM);
	r.length_ns = NS_PER_S;
	r.ops[DIR_READ] = 600;
	r.ops[DIR_TRIM] = 400;
	r.bytes[DIR_TRIM] = 400 * 65536;
	r.ops[DIR_FLUSH] = 50;
	for (int i = 0; i < 400; i++)
		hist_add(&r.service[DIR_TRIM], 5000);
	bench_to_text(&o, &r, &out);
	r.ops[DIR_FLUSH] = 0;
	ck_assert_ptr_nonnull(
		strstr(str_text(&out), "64KiB, 100% random, 60% read, the rest trim, "));
	ck_assert_ptr_nonnull(
		strstr(str_text(&out), "total                    600 IOPS"));
	ck_assert_ptr_nonnull(strstr(
		str_text(&out), "trims                  400 IOPS         26.2 MB/s"));
	ck_assert_ptr_nonnull(strstr(str_text(&out), "    trims              5.00 us"));
	ck_assert_ptr_nonnull(
		strstr(str_text(&out), "flushes                 50 IOPS            -\n"));
	doc = bench_to_json(&o, &r);
	ck_assert_double_eq(json_real_value(json_object_get(doc, "iops")), 600);
	ck_assert_double_eq(json_real_value(json_object_get(doc, "trim_iops")), 400);
	ck_assert_double_eq(json_real_value(json_object_get(doc, "all_iops")), 1000);
	ck_assert_str_eq(json_string_value(
				 json_object_get(json_object_get(doc, "errors"), "trim")),
		"0");
	json_decref(doc);
	/* What waits for the kernel and not for the drive is told. */
	ck_assert_ptr_null(strstr(str_text(&out), "one after the other"));
	str_reset(&out);
	OK(parse("f --read 60 --operation trim --engine sync", &o, &e));
	bench_to_text(&o, &r, &out);
	ck_assert_ptr_nonnull(
		strstr(str_text(&out), "the kernel does trims one after the other: "));
	str_reset(&out);
	r.ops[DIR_ZERO] = 1;
	OK(parse("f --read 60 --operation write-zeroes", &o, &e));
	bench_to_text(&o, &r, &out);
	ck_assert_ptr_nonnull(
		strstr(str_text(&out), "the kernel does write-zeroes one "));
	str_reset(&out);
	o.load.workload.in_flight = 1;
	bench_to_text(&o, &r, &out);
	ck_assert_ptr_null(strstr(str_text(&out), "one after the other"));
	str_reset(&out);
	OK(parse("f --read 0 --operation flush", &o, &e));
	bench_to_text(&o, &r, &out);
	ck_assert_ptr_nonnull(strstr(
		str_text(&out), "load      0% read, the rest flush, 128 in flight"));
	OK(parse("f --read 0 --operation write-fua", &o, &e));
	ck_assert(!workload_is_plain(&o.load.workload));
	str_fini(&out);
}
END_TEST

START_TEST(mixes_that_cannot_be_are_named)
{
	static const char *const cases[][2] = {
		{"--read 0 --operation erase", "is no operation; write, write-fua"},
		{"--operation trim", "everything reads"},
		{"--read 0 --operation flush --block 8KiB", "no size and no place"},
		{"--read 0 --operation flush --access random", "no size and no place"},
		{"--read 50 --operation flush --write-block 8KiB", "no I/O has this"},
		{"--block 4KiB:60%", "sum to 60%"},
		{"--block 4KiB:60%,64KiB", "sum to 160%"},
		{"--block 4KiB:50%,4KiB:50%", "given twice"},
		{"--block 4KiB:50,64KiB:50", "not a percentage"},
		{"--block 4KiB:50%,", "not a size"},
		{"--block 1000B", "a multiple of 512"},
		{"--align 100B", "--align: \"100B\" is not a multiple of 512"},
		{"--block 4KiB --read-block 8KiB", "exclude each other"},
		{"--write-block 8KiB", "no I/O has this direction"},
		{"--distribution pareto", "write uniform, jesd219, zipf:1.1"},
		{"--distribution zipf:x", "not the exponent"},
		{"--distribution zipf:1.1.1", "not the exponent"},
		{"--distribution zipf:0", "above 0"},
		{"--distribution zones:50%", "a zone is its space and its share"},
		{"--distribution zones:50%/50%", "50% of the space"},
		{"--distribution zones:5%/50,95%/50", "not a percentage"},
		{"--distribution zipf:1 --access sequential", "about random I/O"},
	};
	struct bench_options o;
	struct err e = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[200];

		snprintf(line, sizeof(line), "f %s", cases[i][0]);
		FAILS(parse(line, &o, &e), ERR_INVALID, cases[i][1]);
	}
}
END_TEST

/* Parses a command line after "f --workload FILE " with such a file. */
static int
parse_with(const char *name, const char *text, const char *rest, struct bench_options *o,
	struct err *e)
{
	char dir[] = "/tmp/test_bench.XXXXXX", path[64], line[256];
	FILE *f;
	int failed;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	snprintf(line, sizeof(line), "f --workload %s %s", path, rest);
	failed = parse(line, o, e);
	unlink(path);
	rmdir(dir);
	return failed;
}

#define TWO_STREAMS                                                                 \
	"id: mix\n"                                                                 \
	"in_flight: 32\n"                                                           \
	"workers: 2\n"                                                              \
	"streams:\n"                                                                \
	"- {share: 70%, read: 40%, access: random, align: 4KiB, distribution: "     \
	"jesd219,\n"                                                                \
	"   read_block: {4KiB: 60%, 64KiB: 40%}, write_block: 4KiB}\n"              \
	"- {share: 30%, read: 0%, access: sequential, block: 128KiB, cursors: 4,\n" \
	"   region: {from: 50%, to: 75%}}\n"

START_TEST(a_workload_comes_from_a_file)
{
	const char *plain = "{\"id\": \"a\", \"read\": \"25%\", \"access\": "
			    "\"sequential\", \"block\": \"64KiB\", \"in_flight\": 3}";
	struct bench_options o;
	const struct workload *w = &o.load.workload;
	struct err e = {0};

	OK(parse_with("a.json", plain, "--time 2s --rate 50/s --compress 50", &o, &e));
	ck_assert_str_eq(w->id, "a");
	ck_assert(workload_is_plain(w));
	ck_assert_double_eq(w->streams[0].read_percent, 25);
	ck_assert_uint_eq(workload_block_max(w), 65536);
	ck_assert_uint_eq(w->in_flight, 3);
	ck_assert_uint_eq(w->workers, 1);
	ck_assert_double_eq(o.load.offered_iops, 50);
	ck_assert_double_eq(o.load.compress_percent, 50);
	OK(parse_with("a.yaml", TWO_STREAMS, "--seed 7", &o, &e));
	ck_assert_uint_eq(w->n_streams, 2);
	ck_assert_uint_eq(w->streams[0].n_zones, 3);
	ck_assert_uint_eq(w->streams[1].cursors, 4);
	ck_assert_uint_eq(w->workers, 2);
}
END_TEST

START_TEST(all_streams_of_a_file_are_shown)
{
	static struct load_result r;
	struct bench_options o;
	struct str out = {0};
	struct err e = {0};
	json_t *doc, *w;

	OK(parse_with("a.yaml", TWO_STREAMS, "", &o, &e));
	o.load.length = 1 << 20;
	bench_to_text(&o, &r, &out);
	ck_assert_msg(
		strstr(str_text(&out),
			"\nload      70%: reads 4KiB:60%,64KiB:40%, writes 4KiB, 100% "
			"random (zones:5%/50%,15%/30%,80%/20%), 40% read, aligned to "
			"4KiB\n"
			"          30%: 128KiB, 0% random, 0% read, from 50% to 75%, 4 "
			"cursors\n"
			"          32 in flight, 2 workers, ") != NULL,
		"%s", str_text(&out));
	doc = bench_to_json(&o, &r);
	w = json_object_get(doc, "workload");
	ck_assert_str_eq(json_text_of(w, "id"), "mix");
	ck_assert_uint_eq(json_array_size(json_object_get(w, "streams")), 2);
	json_decref(doc);
	str_fini(&out);
}
END_TEST

START_TEST(a_file_excludes_the_options_that_say_the_same)
{
	static const char *const options[] = {"--access random", "--align 4KiB",
		"--block 4KiB", "--distribution jesd219", "--in-flight 4", "--read 100",
		"--read-block 4KiB", "--workers 1", "--write-block 4KiB"};
	struct bench_options o;
	struct err e = {0};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		char want[80], name[40];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(options[i], " "),
			options[i]);
		snprintf(
			want, sizeof(want), "--workload and %s exclude each other", name);
		FAILS(parse_with("a.yaml", TWO_STREAMS, options[i], &o, &e), ERR_INVALID,
			want);
		ck_assert_msg(strstr(e.fix, name) != NULL, "%s", e.fix);
		err_clear(&e);
	}
}
END_TEST

START_TEST(what_is_wrong_with_a_file_has_its_line)
{
	struct bench_options o;
	struct err e = {0};

	FAILS(parse("f --workload /nonexistent/w.json", &o, &e), ERR_NOTFOUND,
		"--workload: ");
	FAILS(parse("f --workload", &o, &e), ERR_INVALID, "--workload needs a value");
	FAILS(parse_with(
		      "w.json", "{\n \"id\": \"a\",\n \"read\": \"101%\"}", "", &o, &e),
		ERR_INVALID, "w.json:3:2: a share of I/Os is at most 100%");
	FAILS(parse_with("w.yaml", "id: a\nread: 100%\nacces: random\n", "", &o, &e),
		ERR_INVALID, "w.yaml:3:1: unknown member \"acces\"");
	ck_assert_str_eq(e.fix, "did you mean \"access\"?");
	FAILS(parse_with("w.yaml", "id: a\nid: b\n", "", &o, &e), ERR_INVALID,
		"w.yaml:2:1: \"id\" is there twice");
	FAILS(parse_with("w.json", "{", "", &o, &e), ERR_INVALID, "not valid JSON");
}
END_TEST

START_TEST(what_cannot_be_read_is_named)
{
	struct bench_options o;
	struct err e = {0};

	FAILS(parse("", &o, &e), ERR_INVALID, "name one target");
	FAILS(parse("a b", &o, &e), ERR_INVALID, "name one target");
	FAILS(parse("a --nonsense", &o, &e), ERR_INVALID, "--nonsense is not an option");
	ck_assert_ptr_nonnull(strstr(e.fix, "known here: access, align, allow-write"));
	FAILS(parse("a --inflight=8", &o, &e), ERR_INVALID, "--inflight is not an");
	ck_assert_str_eq(e.fix, "did you mean \"in-flight\"?");
	FAILS(parse("a --bs=4k", &o, &e), ERR_INVALID, "--bs is not an option");
	ck_assert_str_eq(e.fix, "did you mean --block?");
	FAILS(parse("a --iodepth 4", &o, &e), ERR_INVALID, "--iodepth is not an option");
	ck_assert_str_eq(e.fix, "did you mean --in-flight?");
	FAILS(parse("a --block 4k", &o, &e), ERR_INVALID,
		"--block: \"4k\" is not a size");
	ck_assert_str_eq(e.fix, "write 4KiB, or 4kB for powers of ten");
	FAILS(parse("a -x 8", &o, &e), ERR_INVALID, "-x is not an option");
	FAILS(parse("a --block", &o, &e), ERR_INVALID, "--block needs a value");
	FAILS(parse("a -o", &o, &e), ERR_INVALID, "-o needs a value");
	FAILS(parse("a --allow-write=yes", &o, &e), ERR_INVALID,
		"--allow-write takes no value");
	FAILS(parse("a --help=yes", &o, &e), ERR_INVALID, "--help takes no value");
	FAILS(parse("a --block 4K", &o, &e), ERR_INVALID, "--block: \"4K\"");
	FAILS(parse("a --block 1GiB", &o, &e), ERR_INVALID, "512B to 16MiB");
	FAILS(parse("a --read 101", &o, &e), ERR_INVALID,
		"--read: \"101\" is not a share from 0% to 100%");
	FAILS(parse("a --read 101%", &o, &e), ERR_INVALID, SHARE);
	FAILS(parse("a --read -1", &o, &e), ERR_INVALID, SHARE);
	FAILS(parse("a --read nan", &o, &e), ERR_INVALID, SHARE);
	FAILS(parse("a --compress nan", &o, &e), ERR_INVALID, SHARE);
	FAILS(parse("a --compress 101", &o, &e), ERR_INVALID, SHARE);
	FAILS(parse("a --dedupe 101%", &o, &e), ERR_INVALID, SHARE);
	FAILS(parse("a --access rand", &o, &e), ERR_INVALID,
		"--access: \"rand\" is not known; write random, sequential, or a share "
		"of "
		"random I/Os such as 80%");
	FAILS(parse("a --access 101%", &o, &e), ERR_INVALID, SHARE);
	FAILS(parse("a --in-flight 0", &o, &e), ERR_INVALID, "--in-flight");
	FAILS(parse("a --engine libaio", &o, &e), ERR_INVALID, "none of uring");
	FAILS(parse("a --arrivals even", &o, &e), ERR_INVALID, "neither poisson");
	FAILS(parse("a -o xml", &o, &e), ERR_INVALID, "-o: \"xml\" is neither table");
	FAILS(parse("a --rate 0/s", &o, &e), ERR_INVALID, "--rate");
	FAILS(parse("a --rate 10k", &o, &e), ERR_INVALID, "for example 5000/s");
	OK(parse("a --rate 5000", &o, &e));
	ck_assert_double_eq(o.load.offered_iops, 5000);
	FAILS(parse("a --arrivals fixed", &o, &e), ERR_INVALID, "there is no --rate");
	ck_assert_ptr_nonnull(strstr(e.fix, "--rate 5000/s"));
}
END_TEST

/* What would be given in vain is not taken. */
START_TEST(an_option_without_use_is_refused)
{
	struct bench_options o;
	struct err e = {0};

	FAILS(parse("a --script delay=1ms", &o, &e), ERR_INVALID,
		"--script says how the null engine behaves, and this is uring");
	ck_assert_str_eq(e.fix, "add --engine null, or leave --script out");
	FAILS(parse("a --script delay=1ms --engine fio", &o, &e), ERR_INVALID,
		"and this is fio");
	FAILS(parse("a --compress 50", &o, &e), ERR_INVALID, "nothing writes any");
	ck_assert_ptr_nonnull(strstr(e.fix, "--read 70"));
	FAILS(parse("a --dedupe 50", &o, &e), ERR_INVALID, "nothing writes any");
	FAILS(parse("a --dedupe 50 --read 0 --operation trim", &o, &e), ERR_INVALID,
		"nothing writes any");
	OK(parse("a --compress 0 --dedupe 0", &o, &e));
	OK(parse("a --compress 50 --read 99 --operation write-fua", &o, &e));
	OK(parse("a --read 50 --operation flush --access sequential", &o, &e));
}
END_TEST

START_TEST(the_target_is_not_its_own_journal)
{
	char dir[] = "/tmp/test_bench.XXXXXX", line[200];
	struct bench_options o;
	struct err e = {0};
	FILE *f;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(line, sizeof(line), "%s/f", dir);
	f = fopen(line, "we");
	ck_assert_ptr_nonnull(f);
	fclose(f);
	snprintf(line, sizeof(line), "%s/f --verify %s/j", dir, dir);
	OK(parse(line, &o, &e));
	snprintf(line, sizeof(line), "%s/f --verify %s/./f", dir, dir);
	FAILS(parse(line, &o, &e), ERR_INVALID, "/./f is the target itself");
	ck_assert_ptr_nonnull(strstr(e.fix, "not on the target"));
	snprintf(line, sizeof(line), "%s/f", dir);
	unlink(line);
	rmdir(dir);
}
END_TEST

START_TEST(the_result_is_a_document_with_all_parameters)
{
	static struct load_result r;
	struct bench_options o;
	struct err e = {0};
	json_t *doc, *service;

	OK(parse("target --engine null --script delay=100us --in-flight 8 --time 100ms "
		 "--rate 20000/s --seed 7",
		&o, &e));
	o.target = "target-\xff"; /* as a file may be called */
	o.load.length = 1 << 20;
	o.load.align_bytes = 512;
	OK(load_run(&o.load, &r, &e));
	doc = bench_to_json(&o, &r);
	service = json_object_get(doc, "service");
	ck_assert_str_eq(json_text_of(doc, "schema"), "ssdlab/bench/v1");
	ck_assert_str_eq(json_text_of(doc, "state"), "done");
	ck_assert_str_eq(json_text_of(doc, "target"), "target-?");
	ck_assert_str_eq(json_text_of(doc, "seed"), "7");
	ck_assert_str_eq(json_text_of(doc, "engine"), "null: delay=100us");
	ck_assert_str_eq(json_text_of(doc, "arrivals"), "poisson");
	ck_assert_double_gt(json_real_value(json_object_get(doc, "iops")), 0);
	ck_assert_double_ge(
		json_real_value(json_object_get(service, "lat_p50_ns")), 100000);
	ck_assert(json_is_null(json_object_get(service, "lat_p99.99_ns")));
	ck_assert(json_is_real(json_object_get(doc, "cpu_user_s")));
	ck_assert(json_is_real(json_object_get(doc, "late_mean_ns")));
	ck_assert_int_ge(json_integer_value(json_object_get(doc, "late_max_ns")),
		(json_int_t)json_real_value(json_object_get(doc, "late_mean_ns")));
	ck_assert(json_is_null(json_object_get(json_object_get(doc, "errors"), "first")));
	json_decref(doc);
}
END_TEST

START_TEST(what_fio_does_not_tell_is_null)
{
	static const char *const absent[] = {"in_flight_mean", "backlog_max", "dropped",
		"late_mean_ns", "late_max_ns", "drain_ns", "missed_ns", "unfinished",
		"unfinished_max_ns", "unfinished_factor"};
	static struct load_result r;
	struct bench_options o;
	struct str out = {0};
	struct err e = {0};
	json_t *doc;

	OK(parse("target --engine fio --rate 100/s", &o, &e));
	ck_assert(o.fio);
	snprintf(r.engine, sizeof(r.engine), "fio-3.33 io_uring");
	doc = bench_to_json(&o, &r);
	ck_assert_str_eq(json_text_of(doc, "engine"), "fio-3.33 io_uring");
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		ck_assert(json_is_null(json_object_get(doc, absent[i])));
	json_decref(doc);
	bench_to_text(&o, &r, &out);
	ck_assert_ptr_null(strstr(str_text(&out), "in flight 0"));
	str_fini(&out);
	OK(parse("target --engine fio --engine sync", &o, &e));
	ck_assert(!o.fio);
	ck_assert_ptr_eq(o.load.engine, &engine_sync);
}
END_TEST

START_TEST(people_read_of_errors_and_of_the_end)
{
	static struct load_result r;
	struct bench_options o;
	struct str out = {0};
	struct err e = {0};

	OK(parse("target --engine null --script error=EIO/10 --time 10s", &o, &e));
	o.load.length = 1 << 20;
	o.load.align_bytes = 512;
	OK(load_run(&o.load, &r, &e));
	bench_to_text(&o, &r, &out);
	ck_assert_ptr_nonnull(strstr(str_text(&out), "media"));
	ck_assert_ptr_nonnull(strstr(str_text(&out), "Input/output error"));
	ck_assert_ptr_nonnull(
		strstr(str_text(&out), "failed: more I/Os failed than are allowed"));
	str_reset(&out);
	bench_help(&out);
	ck_assert_ptr_nonnull(strstr(str_text(&out), "--allow-write"));
	ck_assert_ptr_nonnull(strstr(str_text(&out), "5000/s"));
	str_fini(&out);
}
END_TEST

/* What the table shows of a load that was stopped after so long, all of it this late. */
static const char *
shown(int64_t length_ns, int64_t late_ns, struct str *out)
{
	static struct load_result r;
	struct bench_options o;
	struct err e = {0};

	OK(parse("target --time 10s --rate 100/s", &o, &e));
	memset(&r, 0, sizeof(r));
	r.end = LOAD_STOPPED;
	r.length_ns = length_ns;
	late_add(&r.late, late_ns);
	str_reset(out);
	bench_to_text(&o, &r, out);
	return str_text(out);
}

START_TEST(times_have_three_digits_and_a_unit_that_fits)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "0 ns"},
		{7, "7 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{87849, "87.8 us"},
		{99949, "99.9 us"},
		{99951, "100 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{10600000, "10.6 ms"},
		{9994999999, "9.99 s"},
		{1234000000000, "1234 s"},
	};
	struct str out = {0};
	char want[60];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = shown(NS_PER_S, cases[i].ns, &out);

		snprintf(want, sizeof(want), "generator late: mean %s, max %s\n",
			cases[i].text, cases[i].text);
		ck_assert_msg(strstr(text, want) != NULL, "%s: %s", want, text);
	}
	str_fini(&out);
}
END_TEST

START_TEST(a_load_that_was_stopped_shows_the_time_it_measured)
{
	struct str out = {0};

	ck_assert_ptr_nonnull(
		strstr(shown(1230 * NS_PER_MS, 0, &out), ", 1.23 s measured of 10s\n"));
	ck_assert_ptr_nonnull(strstr(str_text(&out), "ended     stopped\n"));
	ck_assert_ptr_nonnull(strstr(shown(10 * NS_PER_S, 0, &out), ", 10s\n"));
	str_fini(&out);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("bench");

	tcase_add_test(tc, a_target_alone_gets_the_presets);
	tcase_add_test(tc, every_option_is_read);
	tcase_add_test(tc, mixes_are_read_and_written_alike);
	tcase_add_test(tc, operations_are_read_and_shown);
	tcase_add_test(tc, mixes_that_cannot_be_are_named);
	tcase_add_test(tc, a_workload_comes_from_a_file);
	tcase_add_test(tc, all_streams_of_a_file_are_shown);
	tcase_add_test(tc, a_file_excludes_the_options_that_say_the_same);
	tcase_add_test(tc, what_is_wrong_with_a_file_has_its_line);
	tcase_add_test(tc, what_cannot_be_read_is_named);
	tcase_add_test(tc, an_option_without_use_is_refused);
	tcase_add_test(tc, the_target_is_not_its_own_journal);
	tcase_add_test(tc, the_result_is_a_document_with_all_parameters);
	tcase_add_test(tc, what_fio_does_not_tell_is_null);
	tcase_add_test(tc, people_read_of_errors_and_of_the_end);
	tcase_add_test(tc, times_have_three_digits_and_a_unit_that_fits);
	tcase_add_test(tc, a_load_that_was_stopped_shows_the_time_it_measured);
	return unit_run("bench", tc);
}
