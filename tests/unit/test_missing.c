#include "cli/missing.h"

#include "tests/unit/unit.h"

#define ITEMS                                                 \
	"[{\"model\": \"A\", \"workloads\": [\"x\", \"y\"]}," \
	" {\"model\": \"B\", \"workloads\": [\"y\", \"z\"]}," \
	" {\"model\": \"A\"}, {\"model\": \"\"}, {}]"

static json_t *
collected(const char *path)
{
	json_t *items = json_loads(ITEMS, 0, NULL);
	json_t *have = missing_collect(items, path);

	json_decref(items);
	return have;
}

START_TEST(what_there_is_stands_there_once)
{
	json_t *models = collected("model");
	json_t *workloads = collected("workloads");

	ck_assert_int_eq((int)json_array_size(models), 2);
	ck_assert_int_eq((int)json_array_size(workloads), 3);
	ck_assert_str_eq(json_string_value(json_array_get(workloads, 2)), "z");
	json_decref(models);
	json_decref(workloads);
}
END_TEST

START_TEST(what_is_missing_is_told_beside_what_there_is)
{
	json_t *workloads = collected("workloads");
	json_t *none = collected("serial");
	json_t *one = json_pack("[s]", "x");
	struct err e = {0};

	OK(missing_check("workload", "y", " in r1", workloads, &e));
	FAILS(missing_check("workload", "4k", " in r1", workloads, &e), ERR_NOTFOUND,
		"no workload \"4k\" in r1; there are x, y, z");
	FAILS(missing_check("drive of model", "M", "", none, &e), ERR_NOTFOUND,
		"no drive of model \"M\"");
	FAILS(missing_check("suite", "M", "", one, &e), ERR_NOTFOUND,
		"no suite \"M\"; there is x");
	json_decref(workloads);
	json_decref(none);
	json_decref(one);
}
END_TEST

START_TEST(a_long_list_is_cut)
{
	json_t *many = json_array();
	struct err e = {0};

	for (int i = 0; i < 100; i++)
		json_array_append_new(many, json_sprintf("workload-%d", i));
	FAILS(missing_check("workload", "x", "", many, &e), ERR_NOTFOUND, ", ...");
	json_decref(many);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("missing");

	tcase_add_test(tc, what_there_is_stands_there_once);
	tcase_add_test(tc, what_is_missing_is_told_beside_what_there_is);
	tcase_add_test(tc, a_long_list_is_cut);
	return unit_run("missing", tc);
}
