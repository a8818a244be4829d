#include "common/sources.h"

#include <dirent.h>
#include <stdio.h>

#include "common/json.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "tests/unit/unit.h"

/* What tests/data/suite says of bad sources is checked with the rest of a suite, in
 * test_suite.c. */

static void
label_is(const json_t *doc, const char *pointer, const char *want)
{
	struct str got = {0};

	sources_label(doc, pointer, &got);
	ck_assert_str_eq(str_text(&got), want);
	str_fini(&got);
}

START_TEST(a_workload_is_called_by_its_id)
{
	json_t *doc = json_pack("{s:[{s:s},{s:s}], s:{s:[]}, s:[{s:s}]}", "workloads",
		"id", "4k-read", "id", "sql", "ramp", "load", "tests", "id", "iops");

	label_is(doc, "/workloads/0", "/workloads/4k-read");
	label_is(doc, "/workloads/1/block/512B", "/workloads/sql/block/512B");
	label_is(doc, "/workloads", "/workloads");
	label_is(doc, "/workloads/2/block", "/workloads/2/block");
	label_is(doc, "/workloads/01/block", "/workloads/01/block");
	label_is(doc, "/tests/0/rounds/cells", "/tests/iops/rounds/cells");
	label_is(doc, "/tests/1", "/tests/1");
	label_is(doc, "/ramp/load", "/ramp/load");
	label_is(doc, "ramp", "ramp");
	label_is(doc, "", "");
	json_decref(doc);
}
END_TEST

/* Whether a pointer among the sources is this one or one to something around it. */
static bool
covered(const json_t *doc, const char *pointer)
{
	json_t *item, *of;
	size_t i, k;

	json_array_foreach (json_object_get(doc, "sources"), i, item)
		json_array_foreach (json_object_get(item, "of"), k, of) {
			size_t n = strlen(json_string_value(of));

			if (strncmp(pointer, json_string_value(of), n) == 0 &&
				(pointer[n] == '/' || pointer[n] == '\0'))
				return true;
		}
	return false;
}

/* Wants a source for each text, number and truth at or below the pointer. */
static void
want_covered(const char *file, const json_t *doc, const json_t *value, const char *at)
{
	const char *name;
	json_t *below;
	size_t i;

	if (!json_is_object(value) && !json_is_array(value))
		ck_assert_msg(
			covered(doc, at), "%s: the source of %s is not told", file, at);
	json_object_foreach ((json_t *)(uintptr_t)value, name, below) {
		char *pointer = xasprintf("%s/%s", at, name);

		/* names are no parameters, and what is tracked is called by one */
		if (strcmp(name, "id") != 0 && strcmp(name, "title") != 0)
			want_covered(file, doc, below, pointer);
		free(pointer);
	}
	json_array_foreach (value, i, below) {
		char *pointer = xasprintf("%s/%zu", at, i);

		want_covered(file, doc, below, pointer);
		free(pointer);
	}
}

static void
check_file(const char *dir, const char *file)
{
	/* what may be left out elsewhere is said in what we ship, with its source */
	static const char *const ramp[] = {"minimum_capacity", "prepare", "data",
		"region", "ramp", "workloads", NULL};
	static const char *const tests[] = {
		"minimum_capacity", "data", "region", "tests", NULL};
	char *path = xasprintf("%s/%s", dir, file);
	struct err e = {0};
	json_t *doc;
	const char *const *parameters;

	OK(json_read_file(path, &doc, &e));
	OK(sources_check(doc, &e));
	parameters = json_has(doc, "tests") ? tests : ramp;
	for (size_t i = 0; parameters[i] != NULL; i++) {
		char *pointer = xasprintf("/%s", parameters[i]);

		ck_assert_msg(json_has(doc, parameters[i]), "%s: no \"%s\"", file,
			parameters[i]);
		want_covered(file, doc, json_object_get(doc, parameters[i]), pointer);
		free(pointer);
	}
	ck_assert_msg(json_has(doc, "tests") ||
			      json_has(json_object_get(doc, "ramp"), "arrivals"),
		"%s: no arrivals", file);
	json_decref(doc);
	free(path);
}

START_TEST(every_shipped_suite_tells_where_each_parameter_comes_from)
{
	char *dir = xasprintf("%s/../../etc/suites", TESTS_DATA_DIR);
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);
	int suites = 0;

	ck_assert_int_ge(n, 0);
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.') {
			check_file(dir, list[i]->d_name);
			suites++;
		}
		free(list[i]);
	}
	free(list);
	free(dir);
	ck_assert_int_ge(suites, 2);
}
END_TEST

START_TEST(a_parameter_without_a_source_is_found)
{
	json_t *doc = json_pack(
		"{s:[{s:[s,s]}]}", "sources", "of", "/ramp/load", "/workloads/1");

	ck_assert(covered(doc, "/ramp/load"));
	ck_assert(covered(doc, "/ramp/load/3"));
	ck_assert(covered(doc, "/workloads/1/block"));
	ck_assert(!covered(doc, "/workloads/10/block"));
	ck_assert(!covered(doc, "/workloads/2/block"));
	ck_assert(!covered(doc, "/ramp"));
	json_decref(doc);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("sources");

	tcase_add_test(tc, a_workload_is_called_by_its_id);
	tcase_add_test(tc, every_shipped_suite_tells_where_each_parameter_comes_from);
	tcase_add_test(tc, a_parameter_without_a_source_is_found);
	return unit_run("sources", tc);
}
