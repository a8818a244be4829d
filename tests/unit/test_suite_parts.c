#include "cli/suite_parts.h"

#include <stdio.h>

#include "cli/out.h"
#include "common/json.h"
#include "common/xalloc.h"
#include "tests/unit/unit.h"

/* What is shown of a shipped suite; static buffer. */
static const char *
shown(const char *file)
{
	char *path = xasprintf("%s/../../etc/suites/%s", TESTS_DATA_DIR, file);
	static char text[8192];
	struct out o = {.format = OUT_TABLE, .fd = -1, .utf8 = true};
	struct err e = {0};
	json_t *doc;

	OK(json_read_file(path, &doc, &e));
	o.file = fmemopen(text, sizeof(text), "we");
	suite_parts_show(&o, doc);
	fclose(o.file);
	json_decref(doc);
	free(path);
	return text;
}

static void
says(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

START_TEST(a_ramp_is_told_by_workloads_with_its_preparation)
{
	const char *text = shown("four-corners-1.json");

	says(text, "PART                  POINTS  MEASURES FOR  OVERWRITES ALL  WRITES "
		   "FOR\n");
	says(text, "preparation                1           0 s  1 x                    0 "
		   "s\n");
	/* a maximum and 12 loads of 90 s */
	says(text, "4k-random-read            13        20 min  -                      0 "
		   "s\n");
	/* 10 to 90 %, then four times all that there is */
	says(text, "4k-random-write           13        20 min  -                   13 "
		   "min\n");
	says(text, "in all                    53    1 h 18 min  1 x                 26 "
		   "min\n");
	says(text, "ssdlab campaign plan tells both of a drive.");
}
END_TEST

START_TEST(tests_are_told_with_what_each_overwrites)
{
	const char *text = shown("targeted-1.json");

	/* what goes on from another test overwrites nothing */
	says(text,
		"idle                  26        25 min  2 x                 25 min\n");
	says(text,
		"idle-recovery          4    1 h 15 min  -                    4 min\n");
	/* also a test that needs a drive with a log of its health */
	says(text,
		"health-polling         5         5 min  2 x                    0 s\n");
	says(text,
		"in all                65    3 h 04 min  12 x            1 h 11 min\n");
}
END_TEST

START_TEST(a_form_of_suite_that_is_not_known_here_is_not_guessed_at)
{
	struct out o = {.format = OUT_TABLE, .fd = -1, .utf8 = true};
	char text[64] = "";
	json_t *doc = json_pack("{s:s}", "ssdlab", "suite/v9");

	o.file = fmemopen(text, sizeof(text), "we");
	suite_parts_show(&o, doc);
	fclose(o.file);
	ck_assert_str_eq(text, "");
	json_decref(doc);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("suite_parts");

	tcase_add_test(tc, a_ramp_is_told_by_workloads_with_its_preparation);
	tcase_add_test(tc, tests_are_told_with_what_each_overwrites);
	tcase_add_test(tc, a_form_of_suite_that_is_not_known_here_is_not_guessed_at);
	return unit_run("suite_parts", tc);
}
