#include "cli/health.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/out.h"
#include "common/err.h"
#include "common/json.h"
#include "tests/unit/unit.h"

static char *text;

/* What is printed of a health; until the next call. */
static const char *
printed(const char *health, enum out_format format)
{
	struct out o = {.format = format, .fd = -1};
	struct err e = {0};
	size_t n;
	json_t *doc;

	OK(json_parse(health, strlen(health), &doc, &e));
	free(text);
	o.file = open_memstream(&text, &n);
	health_show(&o, doc);
	fclose(o.file);
	json_decref(doc);
	return text;
}

static void
teardown(void)
{
	free(text);
	text = NULL;
}

static const char drive[] =
	"{\"before\":{\"source\":\"nvme\",\"temperature_c\":40,\"sensors_c\":[41],"
	"\"power_cycles\":\"7\",\"host_read_commands\":\"100\",\"passed\":true},"
	"\"after\":{\"source\":\"nvme\",\"temperature_c\":45,\"sensors_c\":[46],"
	"\"power_cycles\":\"7\",\"host_read_commands\":\"350\",\"passed\":true,"
	"\"attributes\":{\"5 R\":\"1\"}},"
	"\"difference\":{\"temperature_c\":5,\"power_cycles\":\"0\","
	"\"host_read_commands\":\"250\"},"
	"\"told\":[\"it was hot\"]}";

START_TEST(what_has_changed_or_matters_is_a_row)
{
	const char *t = printed(drive, OUT_TABLE);

	ck_assert_msg(strstr(t, "temperature_c       40      45     5") != NULL, "%s", t);
	ck_assert_msg(
		strstr(t, "host_read_commands  100     350    250") != NULL, "%s", t);
	ck_assert_msg(strstr(t, "passed              yes     yes") != NULL, "%s", t);
	ck_assert_ptr_null(strstr(t, "power_cycles"));
	ck_assert_ptr_null(strstr(t, "sensors_c"));
	ck_assert_ptr_nonnull(strstr(t, "\nit was hot\n"));
}
END_TEST

START_TEST(a_wide_table_has_everything)
{
	const char *t = printed(drive, OUT_WIDE);

	ck_assert_ptr_nonnull(strstr(t, "power_cycles"));
	ck_assert_ptr_nonnull(strstr(t, "5 R"));
}
END_TEST

START_TEST(a_drive_without_health_says_why)
{
	ck_assert_ptr_nonnull(
		strstr(printed("{\"before\":{\"source\":\"none\",\"why\":\"virtual\"},"
			       "\"after\":null,\"difference\":null,\"told\":[]}",
			       OUT_TABLE),
			"none: virtual\n"));
	ck_assert_str_eq(printed("{\"before\":null,\"after\":null,\"difference\":null,"
				 "\"told\":[]}",
				 OUT_TABLE),
		"");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("show_health");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, what_has_changed_or_matters_is_a_row);
	tcase_add_test(tc, a_wide_table_has_everything);
	tcase_add_test(tc, a_drive_without_health_says_why);
	return unit_run("show_health", tc);
}
