#include "common/campaign.h"

#include "tests/unit/cases.h"

static int
parse(const json_t *doc, struct err *e)
{
	struct campaign_doc c;
	int rc = campaign_parse(doc, &c, e);

	campaign_fini(&c);
	return rc;
}

START_TEST(each_bad_document_is_refused_with_place_and_cure)
{
	cases_run("campaign", parse);
}
END_TEST

START_TEST(defaults_become_explicit_and_stay_what_they_are)
{
	static const char text[] =
		"{\"ssdlab\":\"campaign/"
		"v1\",\"name\":\"first\",\"suite\":\"four-corners@1\","
		"\"drives\":[{\"serial\":\"S1\",\"capacity\":\"65536KiB\"}]}";
	struct campaign_doc c;
	struct str out = {0};
	struct err e = {0};
	json_t *doc, *again;

	OK(json_parse(text, strlen(text), &doc, &e));
	OK(campaign_parse(doc, &c, &e));
	json_decref(doc);
	ck_assert_uint_eq(c.repeats, 1);
	ck_assert_uint_eq(c.priority, 50);
	ck_assert_uint_eq(c.retries, 1);
	ck_assert_uint_eq(c.max_errors, 50);
	doc = campaign_to_json(&c);
	campaign_fini(&c);
	json_canonical(doc, &out);
	ck_assert_str_eq(str_text(&out),
		"{\"drives\":[{\"capacity\":\"64MiB\",\"serial\":\"S1\"}],\"labels\":{},"
		"\"max_errors\":50,\"name\":\"first\","
		"\"preparation\":\"repeat\",\"priority\":50,\"repeats\":1,\"retries\":1,"
		"\"ssdlab\":\"campaign/v1\","
		"\"suite\":\"four-corners@1\"}");
	OK(campaign_parse(doc, &c, &e));
	again = campaign_to_json(&c);
	ck_assert(json_equal(doc, again));
	campaign_fini(&c);
	json_decref(doc);
	json_decref(again);
	str_fini(&out);
}
END_TEST

START_TEST(everything_that_can_be_said_comes_back)
{
	static const char text[] = "{\"ssdlab\":\"campaign/"
				   "v1\",\"name\":\"all\",\"suite\":\"s@2\",\"drives\":"
				   "[{\"serial\":\"S1\",\"model\":\"M\",\"wwn\":\"eui."
				   "1\"},{\"serial\":\"S1\","
				   "\"model\":\"N\"}],\"repeats\":100,\"priority\":0,"
				   "\"retries\":5,\"max_errors\":0,\"apart\":true,"
				   "\"preparation\":\"reuse\",\"labels\":"
				   "{\"bench\":\"sr\"},\"purpose\":\"text\",\"owner\":"
				   "\"anna\",\"workloads\":"
				   "[\"a\",\"b\"]}";
	struct campaign_doc c;
	struct err e = {0};
	json_t *doc, *again;

	OK(json_parse(text, strlen(text), &doc, &e));
	OK(campaign_parse(doc, &c, &e));
	ck_assert_uint_eq(c.n_drives, 2);
	ck_assert_uint_eq(c.n_workloads, 2);
	ck_assert_str_eq(c.owner, "anna");
	again = campaign_to_json(&c);
	ck_assert(json_equal(doc, again));
	campaign_fini(&c);
	json_decref(doc);
	json_decref(again);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("campaign");

	tcase_add_test(tc, each_bad_document_is_refused_with_place_and_cure);
	tcase_add_test(tc, defaults_become_explicit_and_stay_what_they_are);
	tcase_add_test(tc, everything_that_can_be_said_comes_back);
	return unit_run("campaign", tc);
}
