/*
 * unit - what every unit test needs: Check with our error object.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

/* OK(call) wants 0 from a call that fills the struct err named e. */
#define OK(call)                                                     \
	do {                                                         \
		err_clear(&e);                                       \
		ck_assert_msg((call) == 0, "%s: %s", #call, e.text); \
	} while (0)

/* FAILS(call, class, part) wants -1, that class, and part within the sentence. */
#define FAILS(call, want, part)                                                       \
	do {                                                                          \
		err_clear(&e);                                                        \
		ck_assert_int_eq((call), -1);                                         \
		ck_assert_str_eq(err_name(e.class), err_name(want));                  \
		ck_assert_msg(                                                        \
			strstr(e.text, (part)) != NULL, "%s: \"%s\"", #call, e.text); \
	} while (0)

/* unit_run runs one test case under the name of its module; exit code for main. */
static inline int
unit_run(const char *name, TCase *tc)
{
	Suite *suite = suite_create(name);
	SRunner *sr;
	int failed;

	suite_add_tcase(suite, tc);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
