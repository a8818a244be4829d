#include "cli/ref.h"

#include "tests/unit/unit.h"

START_TEST(an_id_may_be_written_without_its_letter)
{
	struct err e = {0};
	struct ref ref;

	OK(ref_id("r12", 'r', &ref, &e));
	ck_assert_str_eq(ref.id, "r12");
	OK(ref_id("12", 'r', &ref, &e));
	ck_assert_str_eq(ref.id, "r12");
	FAILS(ref_id("d1", 'r', &ref, &e), ERR_INVALID, "\"d1\" is not a run");
	FAILS(ref_id("r0", 'r', &ref, &e), ERR_INVALID, "\"r0\" is not a run");
	FAILS(ref_id("", 'c', &ref, &e), ERR_INVALID, "\"\" is not a campaign");
}
END_TEST

START_TEST(a_command_says_what_it_takes)
{
	struct err e = {0};
	struct ref ref;

	OK(ref_arg("curve", "12", 'r', &ref, &e));
	FAILS(ref_arg("curve", "d1", 'r', &ref, &e), ERR_INVALID,
		"curve takes a run, for example r12");
	ck_assert_str_eq(e.fix, "d1 is a drive; ssdlab run ls --drive d1");
	FAILS(ref_arg("run show", "c1", 'r', &ref, &e), ERR_INVALID,
		"run show takes a run, for example r12");
	ck_assert_str_eq(e.fix, "c1 is a campaign; ssdlab run ls --campaign c1");
	FAILS(ref_arg("campaign show", "first", 'c', &ref, &e), ERR_INVALID,
		"campaign show takes a campaign, for example c12");
	ck_assert_str_eq(e.fix, "ssdlab campaign ls lists them");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("ref");

	tcase_add_test(tc, an_id_may_be_written_without_its_letter);
	tcase_add_test(tc, a_command_says_what_it_takes);
	return unit_run("ref", tc);
}
