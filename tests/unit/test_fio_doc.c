#include "runner/fio_doc.h"

#include <stdio.h>
#include <unistd.h>

#include "common/str.h"
#include "tests/unit/unit.h"

#define ROUNDS 300
#define VALUES_MAX 2000

static uint64_t seed = 20261130;

static uint64_t
rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* A latency that fio's bins can hold: below 2^34 ns, of any magnitude. */
static uint64_t
any_latency(void)
{
	return rnd() >> (30 + rnd() % 34);
}

/*
 * What fio names the bin of a latency, by its documented rule (stat.c): the value itself
 * below 128, above that the middle of the 64 equal parts of its power of two.
 */
static uint64_t
bin_name(uint64_t ns)
{
	unsigned bits = 0;

	if (ns < 128)
		return ns;
	while (ns >> bits >= 128)
		bits++;
	return (ns >> bits << bits) + (UINT64_C(1) << bits) / 2;
}

/* Appends a direction of a document, with these latencies. */
static void
put_direction(struct str *out, const char *name, const uint64_t *ns, unsigned n)
{
	uint64_t sum = 0, min = n > 0 ? ns[0] : 0, max = 0;
	uint64_t names[VALUES_MAX];
	unsigned counts[VALUES_MAX];
	unsigned bins = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned at = 0;

		sum += ns[i];
		min = ns[i] < min ? ns[i] : min;
		max = ns[i] > max ? ns[i] : max;
		while (at < bins && names[at] != bin_name(ns[i]))
			at++;
		if (at == bins) {
			names[bins] = bin_name(ns[i]);
			counts[bins++] = 0;
		}
		counts[at]++;
	}
	str_printf(out,
		"\"%s\" : { \"io_bytes\" : %u, \"runtime\" : 1001, \"total_ios\" : 7,\n"
		"\"lat_ns\" : { \"min\" : %llu, \"max\" : %llu, \"mean\" : %.6f, "
		"\"N\" : %u, \"bins\" : {",
		name, n * 4096, (unsigned long long)min, (unsigned long long)max,
		n > 0 ? (double)sum / n : 0, n);
	for (unsigned i = 0; i < bins; i++)
		str_printf(out, "%s \"%llu\" : %u", i > 0 ? "," : "",
			(unsigned long long)names[i], counts[i]);
	str_puts(out, "} } }");
}

static void
put_document(struct str *out, const uint64_t *reads, unsigned n_reads,
	const uint64_t *writes, unsigned n_writes)
{
	str_puts(out, "fio: a note { before the document\n{\n"
		      "\"fio version\" : \"fio-3.33\", \"jobs\" : [ {\n"
		      "\"error\" : 0, \"job_runtime\" : 2002, \"usr_cpu\" : 10.0, "
		      "\"sys_cpu\" : 25.0,\n");
	put_direction(out, "read", reads, n_reads);
	str_puts(out, ",\n");
	put_direction(out, "write", writes, n_writes);
	str_puts(out, "} ]\n}\nand one behind\n");
}

static void
same(const struct hist *a, const struct hist *b)
{
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		if (a->count[i] != b->count[i])
			ck_abort_msg("bucket %u: %llu and %llu", i,
				(unsigned long long)a->count[i],
				(unsigned long long)b->count[i]);
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_uint_eq(a->min_ns, b->min_ns);
	ck_assert_uint_eq(a->max_ns, b->max_ns);
	ck_assert_uint_eq(a->sum_ns, b->sum_ns);
}

START_TEST(a_document_is_read_as_what_it_says)
{
	static const uint64_t reads[] = {5, 127, 128, 129, 190, 191, 100000, 100001};
	static struct load_result r;
	static struct hist want;
	struct str doc = {0};
	struct err e = {0};

	put_document(&doc, reads, 8, NULL, 0);
	OK(fio_doc_read(str_text(&doc), doc.len, &r, &e));
	for (unsigned i = 0; i < 8; i++)
		hist_add(&want, reads[i]);
	same(&r.service[DIR_READ], &want);
	ck_assert_uint_eq(r.service[DIR_WRITE].n, 0);
	ck_assert_uint_eq(r.ops[DIR_READ], 8);
	ck_assert_uint_eq(r.bytes[DIR_READ], 8 * 4096);
	ck_assert_int_eq(r.length_ns, 1001000000);
	ck_assert_int_eq(r.cpu_user_ns, 200200000);
	ck_assert_int_eq(r.cpu_system_ns, 500500000);
	ck_assert_str_eq(r.engine, "fio-3.33");
	str_fini(&doc);
}
END_TEST

START_TEST(ours_merged_with_fios_is_the_histogram_of_both)
{
	static uint64_t values[2][VALUES_MAX];
	static struct load_result r;
	static struct hist ours, both;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct str doc = {0};
		struct err e = {0};
		unsigned n[2];

		hist_reset(&ours);
		hist_reset(&both);
		for (int d = 0; d < 2; d++) {
			n[d] = (unsigned)(rnd() % (round < 250 ? 20 : VALUES_MAX));
			for (unsigned i = 0; i < n[d]; i++) {
				values[d][i] = any_latency();
				hist_add(&both, values[d][i]);
			}
		}
		for (unsigned i = 0; i < 100; i++) {
			uint64_t ns = rnd() >> (20 + rnd() % 44);

			hist_add(&ours, ns);
			hist_add(&both, ns);
		}
		put_document(&doc, values[0], n[0], values[1], n[1]);
		OK(fio_doc_read(str_text(&doc), doc.len, &r, &e));
		hist_merge(&ours, &r.service[DIR_READ]);
		hist_merge(&ours, &r.service[DIR_WRITE]);
		same(&ours, &both);
		str_fini(&doc);
	}
}
END_TEST

/* Reads fio's log of each latency: "time, latency, direction, block, offset, priority".
 */
static void
read_log(const char *path, struct hist *h)
{
	FILE *f = fopen(path, "re");
	unsigned long long ns;

	ck_assert_ptr_nonnull(f);
	while (fscanf(f, "%*u, %llu,%*[^\n]", &ns) == 1)
		hist_add(h, ns);
	fclose(f);
}

static void
run_fio(const char *dir, struct str *out)
{
	char line[1024], buf[4096];
	size_t n;
	FILE *p;

	snprintf(line, sizeof(line),
		"cd %s && exec fio --name=x --filename=data --size=4M --bs=4k "
		"--rw=randread --ioengine=psync --thread --number_ios=1500 "
		"--lat_percentiles=1 --clat_percentiles=0 --output-format=json+ "
		"--write_lat_log=x --log_avg_msec=0 --eta=never",
		dir);
	p = popen(line, "re");
	ck_assert_ptr_nonnull(p);
	while ((n = fread(buf, 1, sizeof(buf), p)) > 0)
		str_add(out, buf, n);
	ck_assert_int_eq(pclose(p), 0);
}

/* fio itself tells each of its latencies in a log, and their bins in its document. */
START_TEST(the_bins_of_fio_are_the_buckets_of_its_latencies)
{
	static struct load_result r;
	static struct hist logged, ours, both;
	char dir[] = "/tmp/ssdlab-fio-XXXXXX";
	char path[64], line[128];
	struct hist *read = &r.service[DIR_READ];
	struct str out = {0};
	struct err e = {0};

	if (system("command -v fio >/dev/null") != 0) {
		printf("skipped the part with fio: it is not installed\n");
		return;
	}
	ck_assert_ptr_nonnull(mkdtemp(dir));
	run_fio(dir, &out);
	snprintf(path, sizeof(path), "%s/x_lat.1.log", dir);
	read_log(path, &logged);
	OK(fio_doc_read(str_text(&out), out.len, &r, &e));
	ck_assert_uint_ge(read->n, 1000);
	/* Its mean is kept by steps, in floating point. */
	ck_assert_double_eq_tol((double)read->sum_ns, (double)logged.sum_ns,
		1e-6 * (double)logged.sum_ns);
	read->sum_ns = logged.sum_ns;
	same(read, &logged);
	for (unsigned i = 0; i < 1000; i++)
		hist_add(&ours, any_latency());
	both = ours;
	read_log(path, &both);
	hist_merge(&ours, read);
	same(&ours, &both);
	snprintf(line, sizeof(line), "rm -r %s", dir);
	ck_assert_int_eq(system(line), 0);
	str_fini(&out);
}
END_TEST

/* The document of two reads, with one text in the place of another. */
static int
with(const char *was, const char *is, struct err *e)
{
	static const uint64_t reads[] = {1000, 5000};
	static struct load_result r;
	struct str doc = {0}, changed = {0};
	const char *at;
	int failed;

	put_document(&doc, reads, 2, NULL, 0);
	at = strstr(str_text(&doc), was);
	ck_assert_msg(at != NULL, "no %s in %s", was, str_text(&doc));
	str_add(&changed, doc.data, (size_t)(at - doc.data));
	str_puts(&changed, is);
	str_puts(&changed, at + strlen(was));
	failed = fio_doc_read(str_text(&changed), changed.len, &r, e);
	str_fini(&doc);
	str_fini(&changed);
	return failed;
}

START_TEST(documents_that_cannot_be_are_refused)
{
	struct load_result *r = calloc(1, sizeof(*r));
	struct err e = {0};

	ck_assert_ptr_nonnull(r);
	OK(with("fio-3.33", "fio-3.40", &e));
	FAILS(fio_doc_read("", 0, r, &e), ERR_INVALID, "holds no document");
	FAILS(fio_doc_read("}\n{", 3, r, &e), ERR_INVALID, "holds no document");
	FAILS(fio_doc_read("{\n}", 3, r, &e), ERR_INVALID, "fio version");
	FAILS(fio_doc_read("{\n1}", 4, r, &e), ERR_INVALID, "the output of fio");
	FAILS(with("[ {", "[ 1, {", &e), ERR_INVALID, "2 groups of jobs");
	FAILS(with("\"error\" : 0", "\"error\" : \"no\"", &e), ERR_INVALID, "error");
	ck_assert_str_eq(e.pointer, "/jobs/0/error");
	FAILS(with("\"bins\"", "\"bin\"", &e), ERR_INVALID, "bins");
	ck_assert_str_eq(e.pointer, "/jobs/0/read/lat_ns/bins");
	FAILS(with("\"N\" : 2", "\"N\" : 3", &e), ERR_INVALID, "do not fit");
	FAILS(with("\"N\" : 2", "\"N\" : 1", &e), ERR_INVALID, "whole number");
	FAILS(with("\"min\" : 1000", "\"min\" : 900", &e), ERR_INVALID, "do not fit");
	FAILS(with("\"max\" : 5000", "\"max\" : 5500", &e), ERR_INVALID, "do not fit");
	FAILS(with("\"mean\" : 3000", "\"mean\" : 6000", &e), ERR_INVALID, "do not fit");
	FAILS(with("\"max\" : 5000", "\"max\" : 17179869184", &e), ERR_STATE,
		"bins end at 17 s");
	FAILS(with("\"1004\" : 1", "\"1004\" : -1", &e), ERR_INVALID, "whole number");
	FAILS(with("\"1004\" : 1", "\"x\" : 1", &e), ERR_INVALID, "\"x\" is not");
	ck_assert_str_eq(e.pointer, "/jobs/0/read/lat_ns/x");
	free(r);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("fio_doc");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_document_is_read_as_what_it_says);
	tcase_add_test(tc, ours_merged_with_fios_is_the_histogram_of_both);
	tcase_add_test(tc, the_bins_of_fio_are_the_buckets_of_its_latencies);
	tcase_add_test(tc, documents_that_cannot_be_are_refused);
	return unit_run("fio_doc", tc);
}
