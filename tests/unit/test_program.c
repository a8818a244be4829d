#include "common/program.h"

#include <dirent.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/str.h"
#include "common/workload.h"
#include "tests/unit/unit.h"

#ifndef DATA_DIR
#define DATA_DIR "tests/data"
#endif

static json_t *
doc_of(const char *text)
{
	struct err e = {0};
	json_t *doc = NULL;

	OK(json_parse(text, strlen(text), &doc, &e));
	return doc;
}

/* Reads a small file; "" when it does not exist. */
static void
slurp(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = 0;

	if (f != NULL) {
		n = fread(buf, 1, size - 1, f);
		fclose(f);
	}
	buf[n] = '\0';
}

/* A case is a folder with input.json and, unless it is valid, error: sentence, pointer
 * and fix, a line each. */
static void
check_case(const char *name)
{
	struct err e = {0};
	struct program p;
	struct str canonical[2] = {{0}, {0}};
	char path[512], want[2048], got[2048];
	json_t *doc, *again;

	snprintf(path, sizeof(path), DATA_DIR "/program/%s/error", name);
	slurp(path, want, sizeof(want));
	snprintf(path, sizeof(path), DATA_DIR "/program/%s/input.json", name);
	OK(json_read_file(path, &doc, &e));
	if (want[0] != '\0') {
		ck_assert_msg(program_from_json(doc, &p, &e) == -1, "%s is taken", name);
		snprintf(got, sizeof(got), "%s\n%s\n%s\n", e.text, e.pointer, e.fix);
		ck_assert_msg(strcmp(got, want) == 0, "%s: got:\n%s", name, got);
		ck_assert_ptr_null(p.steps);
	} else {
		OK(program_from_json(doc, &p, &e));
		again = program_to_json(&p);
		json_canonical(doc, &canonical[0]);
		json_canonical(again, &canonical[1]);
		ck_assert_str_eq(str_text(&canonical[0]), str_text(&canonical[1]));
		json_decref(again);
		program_fini(&p);
	}
	str_fini(&canonical[0]);
	str_fini(&canonical[1]);
	json_decref(doc);
}

START_TEST(each_bad_program_is_refused_with_its_error_and_good_ones_come_back)
{
	DIR *d = opendir(DATA_DIR "/program");
	struct dirent *de;
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while ((de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		check_case(de->d_name);
		n++;
	}
	closedir(d);
	ck_assert_int_ge(n, 20);
}
END_TEST

START_TEST(targets_are_rounded_up_to_tens_and_above_a_thousand_to_hundreds)
{
	ck_assert(program_round_target(10) == 10);
	ck_assert(program_round_target(11) == 20);
	ck_assert(program_round_target(999.2) == 1000);
	ck_assert(program_round_target(1000) == 1000);
	ck_assert(program_round_target(1000.5) == 1100);
	ck_assert(program_round_target(123456) == 123500);
}
END_TEST

START_TEST(the_human_form_of_a_workload_gets_its_defaults)
{
	struct err e = {0};
	struct workload w;
	json_t *doc = doc_of("{\"id\":\"4k-rr\",\"read\":\"100%\",\"access\":\"random\","
			     "\"block\":\"4KiB\",\"in_flight\":128}");

	OK(workload_parse(doc, "/workloads/0", &w, &e));
	ck_assert_str_eq(w.id, "4k-rr");
	ck_assert(workload_is_plain(&w));
	ck_assert(w.streams[0].read_percent == 100);
	ck_assert(w.streams[0].random_percent == 100);
	ck_assert_uint_eq(workload_block_max(&w), 4096);
	ck_assert_uint_eq(w.in_flight, 128);
	ck_assert_uint_eq(w.workers, 1);
	json_decref(doc);
	doc = doc_of("{\"id\":\"mix\",\"read\":\"66.6%\",\"random\":\"80%\","
		     "\"block\":\"16MiB\",\"in_flight\":2,\"workers\":2}");
	OK(workload_parse(doc, "", &w, &e));
	ck_assert(w.streams[0].read_percent == 66.6);
	ck_assert_uint_eq(w.workers, 2);
	json_decref(doc);
}
END_TEST

static const struct {
	const char *doc, *text, *pointer;
} bad_workloads[] = {
	{"{\"id\":\"A\",\"read\":\"1%\"}", "an id has 1 to 63", "/w/id"},
	{"{\"id\":\"-a\",\"read\":\"1%\"}", "an id has 1 to 63", "/w/id"},
	{"{\"id\":\"a\",\"read\":\"101%\"}", "at most 100%", "/w/read"},
	{"{\"id\":\"a\",\"read\":\"1\"}", "not a percentage", "/w/read"},
	{"{\"id\":\"a\",\"read\":\"1%\"}", "\"access\" is missing", "/w/access"},
	{"{\"id\":\"a\",\"read\":\"1%\",\"access\":\"zipf\"}",
		"\"random\" or \"sequential\"", "/w/access"},
	{"{\"id\":\"a\",\"read\":\"1%\",\"access\":\"random\",\"random\":\"5%\"}",
		"not both", "/w/random"},
	{"{\"id\":\"a\",\"read\":\"1%\",\"access\":\"random\",\"block\":\"1000B\"}",
		"multiple of 512", "/w/block"},
	{"{\"id\":\"a\",\"read\":\"1%\",\"access\":\"random\",\"block\":\"32MiB\"}",
		"at most 16MiB", "/w/block"},
	{"{\"id\":\"a\",\"read\":\"1%\",\"access\":\"random\",\"block\":\"4K\"}",
		"not a size", "/w/block"},
	{"{\"id\":\"a\",\"read\":\"1%\",\"access\":\"random\",\"block\":\"4KiB\","
	 "\"in_flight\":0}",
		"from 1 to 4096", "/w/in_flight"},
	{"{\"id\":\"a\",\"read\":\"1%\",\"access\":\"random\",\"block\":\"4KiB\","
	 "\"in_flight\":2,\"workers\":3}",
		"from 1 to 2", "/w/workers"},
	{"{\"id\":\"a\",\"reads\":\"1%\"}", "unknown member \"reads\"", "/w/reads"},
	{"[]", "an object is wanted", "/w"},
};

START_TEST(each_bad_workload_is_refused_with_its_place)
{
	struct err e = {0};
	struct workload w;
	json_t *doc = doc_of(bad_workloads[_i].doc);

	FAILS(workload_parse(doc, "/w", &w, &e), ERR_INVALID, bad_workloads[_i].text);
	ck_assert_str_eq(e.pointer, bad_workloads[_i].pointer);
	json_decref(doc);
}
END_TEST

START_TEST(a_workload_comes_back_from_its_base_form)
{
	struct err e = {0};
	struct workload w = {.id = "oltp-1", .in_flight = 64, .workers = 4};
	struct workload back;
	json_t *o;

	workload_plain(&w, 70.5, 12.25, 8192);
	o = workload_to_json(&w);
	OK(workload_from_json(o, "", &back, &e));
	ck_assert_str_eq(back.id, w.id);
	ck_assert(workload_is_plain(&back));
	ck_assert(workload_read_percent(&back) == 70.5);
	ck_assert(workload_random_percent(&back) == 12.25);
	ck_assert_uint_eq(workload_block_max(&back), 8192);
	ck_assert_uint_eq(back.in_flight, w.in_flight);
	ck_assert_uint_eq(back.workers, w.workers);
	json_object_del(o, "workers");
	FAILS(workload_from_json(o, "", &back, &e), ERR_INVALID,
		"\"workers\" is missing");
	json_decref(o);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("program");

	tcase_add_test(
		tc, each_bad_program_is_refused_with_its_error_and_good_ones_come_back);
	tcase_add_test(
		tc, targets_are_rounded_up_to_tens_and_above_a_thousand_to_hundreds);
	tcase_add_test(tc, the_human_form_of_a_workload_gets_its_defaults);
	tcase_add_loop_test(tc, each_bad_workload_is_refused_with_its_place, 0,
		(int)(sizeof(bad_workloads) / sizeof(bad_workloads[0])));
	tcase_add_test(tc, a_workload_comes_back_from_its_base_form);
	return unit_run("program", tc);
}
