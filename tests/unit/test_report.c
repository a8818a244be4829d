#include "controller/report.h"

#include "tests/unit/cases.h"

static int
parse(const json_t *doc, struct err *e)
{
	struct report r;
	int rc = report_parse(doc, &r, e);

	report_fini(&r);
	return rc;
}

START_TEST(each_bad_report_is_refused_with_its_place)
{
	cases_run("report", parse);
}
END_TEST

START_TEST(what_is_not_said_has_a_careful_default)
{
	struct err e = {0};
	struct report r;
	json_t *doc = json_pack("{s:s, s:[], s:[{s:s, s:s, s:s}, {s:s, s:s, s:s}], s:i}",
		"boot_id", "b", "drives", "attempts", "attempt", "9", "fence", "7",
		"state", "exited", "attempt", "5", "fence", "6", "state", "starting",
		"wait_s", 600);

	OK(report_parse(doc, &r, &e));
	ck_assert_int_eq(r.protocol_min, 1);
	ck_assert_int_eq(r.protocol_max, 1);
	ck_assert(!r.has_session);
	ck_assert_int_eq(r.wait_s, REPORT_WAIT_S_MAX);
	ck_assert_uint_eq(r.epoch_seen, 0);
	ck_assert_int_eq(report_find(&r, 9)->state, REPORTED_EXITED);
	ck_assert_uint_eq(report_find(&r, 5)->fence, 6);
	ck_assert_ptr_null(report_find(&r, 6));
	report_fini(&r);
	ck_assert_ptr_null(report_find(&r, 9));
	json_decref(doc);
}
END_TEST

START_TEST(what_the_node_does_not_know_is_told_by_number_and_token)
{
	struct err e = {0};
	struct report r;
	json_t *doc = json_pack("{s:s, s:[], s:[], s:[{s:s, s:s}]}", "boot_id", "b",
		"drives", "attempts", "unknown", "attempt", "9", "fence", "7");

	OK(report_parse(doc, &r, &e));
	ck_assert(report_disowns(&r, 9, 7));
	ck_assert(!report_disowns(&r, 9, 6));
	ck_assert(!report_disowns(&r, 7, 9));
	report_fini(&r);
	json_decref(doc);
}
END_TEST

START_TEST(the_highest_fence_tells_the_epoch_too)
{
	struct err e = {0};
	struct report r;
	json_t *doc = json_pack("{s:s, s:[], s:[], s:s, s:{s:s, s:s}}", "boot_id", "b",
		"drives", "attempts", "epoch_seen", "3", "fences", "S1", "17179869190",
		"S2", "21474836481");

	OK(report_parse(doc, &r, &e));
	ck_assert_uint_eq(r.fence, (UINT64_C(5) << 32) + 1);
	ck_assert_uint_eq(r.epoch_seen, 5);
	report_fini(&r);
	json_decref(doc);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("report");

	tcase_add_test(tc, each_bad_report_is_refused_with_its_place);
	tcase_add_test(tc, what_is_not_said_has_a_careful_default);
	tcase_add_test(tc, what_the_node_does_not_know_is_told_by_number_and_token);
	tcase_add_test(tc, the_highest_fence_tells_the_epoch_too);
	return unit_run("report", tc);
}
