#include "common/json.h"

#include "common/str.h"
#include "tests/unit/unit.h"

static json_t *
doc_of(const char *text)
{
	struct err e = {0};
	json_t *doc = NULL;

	OK(json_parse(text, strlen(text), &doc, &e));
	return doc;
}

START_TEST(duplicates_depth_and_size_are_limited)
{
	struct err e = {0};
	struct str big = {0};
	json_t *doc;

	FAILS(json_parse("{\"a\":1,\"a\":2}", 13, &doc, &e), ERR_INVALID, "line 1");
	for (int i = 0; i < 100; i++)
		str_puts(&big, "[");
	FAILS(json_parse(big.data, big.len, &doc, &e), ERR_LIMIT, "deeper than 16");
	str_reset(&big);
	while (big.len <= JSON_MAX_BYTES)
		str_puts(&big, "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",");
	FAILS(json_parse(big.data, big.len, &doc, &e), ERR_LIMIT, "at most 1048576");
	FAILS(json_parse("18446744073709551616", 20, &doc, &e), ERR_INVALID,
		"not valid JSON");
	FAILS(json_parse("[1e400]", 7, &doc, &e), ERR_INVALID, "not valid JSON");
	FAILS(json_parse("{} x", 4, &doc, &e), ERR_INVALID, "not valid JSON");
	str_fini(&big);
}
END_TEST

START_TEST(brackets_inside_texts_do_not_count_as_depth)
{
	json_t *doc = doc_of("[\"[[[[[[[[[[[[[[[[[[[[\\\"[[[[\"]");

	ck_assert(json_is_array(doc));
	json_decref(doc);
}
END_TEST

START_TEST(unknown_members_are_named_with_the_nearest_known_one)
{
	static const char *const names[] = {"serial", "model", NULL};
	struct err e = {0};
	json_t *doc = doc_of("{\"serail\":1}");

	FAILS(json_only(doc, "/drives/0", names, &e), ERR_INVALID,
		"unknown member \"serail\"");
	ck_assert_str_eq(e.pointer, "/drives/0/serail");
	ck_assert_str_eq(e.fix, "did you mean \"serial\"?");
	json_decref(doc);
}
END_TEST

START_TEST(missing_and_mistyped_members_say_where)
{
	struct err e = {0};
	json_t *doc = doc_of("{\"n\":\"5\",\"big\":\"18446744073709551615\"}");
	const char *text;
	uint64_t u;
	int64_t n;

	FAILS(json_need_text(doc, "/a", "name", &text, &e), ERR_INVALID,
		"\"name\" is missing");
	ck_assert_str_eq(e.pointer, "/a/name");
	FAILS(json_need_int(doc, "", "n", 1, 9, &n, &e), ERR_INVALID,
		"whole number from 1 to 9");
	ck_assert_str_eq(e.pointer, "/n");
	OK(json_need_u64(doc, "", "big", &u, &e));
	ck_assert_uint_eq(u, UINT64_MAX);
	json_decref(doc);
}
END_TEST

START_TEST(the_canonical_form_sorts_members)
{
	struct str out = {0};
	json_t *doc = doc_of("{\"b\":1,\"a\":{\"d\":2,\"c\":[]}}");

	json_canonical(doc, &out);
	ck_assert_str_eq(str_text(&out), "{\"a\":{\"c\":[],\"d\":2},\"b\":1}");
	str_fini(&out);
	json_decref(doc);
}
END_TEST

START_TEST(null_is_no_way_to_leave_a_member_out)
{
	json_t *doc = doc_of("{\"a\":[0,{\"b\":{\"c\":null}}],\"d\":1}");
	struct err e = {0};

	FAILS(json_no_null(doc, "", &e), ERR_INVALID, "\"c\" must not be null");
	ck_assert_str_eq(e.pointer, "/a/1/b/c");
	ck_assert_str_eq(e.fix, "give it a value, or leave it out");
	json_decref(doc);
	doc = doc_of("{\"a\":[0,{\"b\":{\"c\":\"null\"}}],\"d\":1}");
	err_clear(&e);
	OK(json_no_null(doc, "", &e));
	json_decref(doc);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("json");

	tcase_add_test(tc, duplicates_depth_and_size_are_limited);
	tcase_add_test(tc, brackets_inside_texts_do_not_count_as_depth);
	tcase_add_test(tc, unknown_members_are_named_with_the_nearest_known_one);
	tcase_add_test(tc, missing_and_mistyped_members_say_where);
	tcase_add_test(tc, the_canonical_form_sorts_members);
	tcase_add_test(tc, null_is_no_way_to_leave_a_member_out);
	return unit_run("json", tc);
}
