#include "cli/human.h"
#include "cli/out.h"

#include "common/str.h"
#include "tests/unit/unit.h"

#define NOW INT64_C(1480000000000000000) /* 2016-11-24T15:06:40Z */

static const char *
shown(enum unit u, const char *json)
{
	static struct str out;
	json_t *v = json_loads(json, JSON_DECODE_ANY, NULL);

	str_reset(&out);
	human_value(v, u, NOW, &out);
	json_decref(v);
	return str_text(&out);
}

START_TEST(what_a_server_tells_does_not_drive_the_terminal)
{
	struct str clean = {0};
	struct out o = {0};
	char *text = NULL;
	size_t len = 0;

	human_clean("a\033[2Jb\x7f\xc2\x9b"
		    "31m\n\xc3\xbc",
		"", &clean);
	ck_assert_str_eq(str_text(&clean), "a?[2Jb??31m?\xc3\xbc");
	str_reset(&clean);
	human_clean("a\xe2\x80\xae"
		    "b\n",
		"\n", &clean);
	ck_assert_str_eq(str_text(&clean), "a?b\n");
	str_fini(&clean);
	o.file = open_memstream(&text, &len);
	out_line(&o, "left out: %s", "a\033[2J\r");
	fclose(o.file);
	ck_assert_str_eq(text, "left out: a?[2J?\n");
	free(text);
}
END_TEST

START_TEST(numbers_have_three_digits_and_a_prefix)
{
	ck_assert_str_eq(shown(UNIT_COUNT, "0"), "0");
	ck_assert_str_eq(shown(UNIT_COUNT, "950"), "950");
	ck_assert_str_eq(shown(UNIT_COUNT, "0.5312"), "0.53");
	ck_assert_str_eq(shown(UNIT_COUNT, "12.34"), "12.3");
	ck_assert_str_eq(shown(UNIT_COUNT, "999.4"), "999");
	ck_assert_str_eq(shown(UNIT_COUNT, "999.6"), "1.00 k");
	ck_assert_str_eq(shown(UNIT_COUNT, "1000"), "1.00 k");
	ck_assert_str_eq(shown(UNIT_COUNT, "12345.6"), "12.3 k");
	ck_assert_str_eq(shown(UNIT_COUNT, "642123"), "642 k");
	ck_assert_str_eq(shown(UNIT_COUNT, "999600"), "1.00 M");
	ck_assert_str_eq(shown(UNIT_COUNT, "1254000"), "1.25 M");
	ck_assert_str_eq(shown(UNIT_COUNT, "5e12"), "5000 G");
}
END_TEST

START_TEST(each_unit_is_named)
{
	ck_assert_str_eq(shown(UNIT_BYTES, "\"3840755982336\""), "3.84 TB");
	ck_assert_str_eq(shown(UNIT_BYTES, "268435456"), "268 MB");
	ck_assert_str_eq(shown(UNIT_BYTES, "8000000000000"), "8.00 TB");
	ck_assert_str_eq(shown(UNIT_BYTES, "512"), "512 B");
	ck_assert_str_eq(shown(UNIT_BYTES_PER_S, "3214000000.5"), "3.21 GB/s");
	ck_assert_str_eq(shown(UNIT_NS, "850"), "850 ns");
	ck_assert_str_eq(shown(UNIT_NS, "85321.5"), "85.3 us");
	ck_assert_str_eq(shown(UNIT_NS, "1200000"), "1.20 ms");
	ck_assert_str_eq(shown(UNIT_PERCENT, "40"), "40 %");
	ck_assert_str_eq(shown(UNIT_PERCENT, "93.44"), "93.4 %");
	ck_assert_str_eq(shown(UNIT_WHOLE, "128"), "128");
}
END_TEST

START_TEST(durations_get_coarser_as_they_grow)
{
	ck_assert_str_eq(shown(UNIT_SPAN, "\"45000000000\""), "45 s");
	ck_assert_str_eq(shown(UNIT_SPAN, "\"107000000000\""), "107 s");
	ck_assert_str_eq(shown(UNIT_SPAN, "\"119400000000\""), "119 s");
	ck_assert_str_eq(shown(UNIT_SPAN, "\"119500000000\""), "2 min");
	ck_assert_str_eq(shown(UNIT_SPAN, "\"720000000000\""), "12 min");
	ck_assert_str_eq(shown(UNIT_SPAN, "\"7500000000000\""), "2 h 05 min");
	ck_assert_str_eq(shown(UNIT_SPAN, "\"190800000000000\""), "2 d 05 h");
	ck_assert_str_eq(shown(UNIT_SPAN, "0"), "0 s");
}
END_TEST

START_TEST(times_are_told_by_their_age)
{
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-24T15:06:38.6Z\""), "1 s ago");
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-24T14:53:00Z\""), "14 min ago");
	ck_assert_str_eq(shown(UNIT_INSTANT, "\"2016-11-24T14:53:00.25Z\""),
		"2016-11-24 14:53:00Z (14 min ago)");
	ck_assert_str_eq(shown(UNIT_INSTANT, "\"yesterday\""), "yesterday");
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-23T15:06:40Z\""), "24 h ago");
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-19T15:06:40Z\""), "5 d ago");
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-24T15:06:41Z\""), "0 s ago");
	ck_assert_str_eq(shown(UNIT_TIME, "\"tomorrow\""), "tomorrow");
	ck_assert_str_eq(shown(UNIT_TIME, "null"), "-");
}
END_TEST

START_TEST(what_is_older_never_has_a_smaller_age)
{
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-24T15:04:53Z\""), "107 s ago");
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-24T15:04:41Z\""), "119 s ago");
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-24T15:04:40Z\""), "2 min ago");
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-24T13:26:41Z\""), "100 min ago");
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-24T13:26:40Z\""), "2 h ago");
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-22T15:06:41Z\""), "48 h ago");
	ck_assert_str_eq(shown(UNIT_TIME, "\"2016-11-22T15:06:40Z\""), "2 d ago");
}
END_TEST

START_TEST(what_is_missing_is_a_dash_and_what_is_odd_is_shown_as_it_is)
{
	struct str out = {0};

	human_value(NULL, UNIT_COUNT, NOW, &out);
	ck_assert_str_eq(str_text(&out), "-");
	str_fini(&out);
	ck_assert_str_eq(shown(UNIT_TEXT, "\"\""), "-");
	ck_assert_str_eq(shown(UNIT_YES, "false"), "-");
	ck_assert_str_eq(shown(UNIT_YES, "true"), "yes");
	ck_assert_str_eq(shown(UNIT_COUNT, "\"many\""), "many");
	ck_assert_str_eq(shown(UNIT_TEXTS, "[\"a\", \"b\"]"), "a, b");
	ck_assert_str_eq(
		shown(UNIT_PAIRS, "{\"rack\": \"4\", \"row\": \"b\"}"), "rack:4 row:b");
}
END_TEST

START_TEST(control_characters_cannot_reach_a_terminal)
{
	ck_assert_str_eq(
		shown(UNIT_TEXT, "\"a\\u001b[31mb\\n\\u009bc\\u007f\""), "a?[31mb??c?");
	ck_assert_str_eq(shown(UNIT_TEXT, "\"caf\\u00e9\""), "caf\xc3\xa9");
}
END_TEST

START_TEST(a_path_reaches_into_objects)
{
	json_t *o = json_loads(
		"{\"node\": {\"name\": \"sr-01\"}, \"lat_p99.9_ns\": 1}", 0, NULL);
	double x = 0;

	ck_assert_str_eq(json_string_value(json_at(o, "node/name")), "sr-01");
	ck_assert(json_number(json_at(o, "lat_p99.9_ns"), &x));
	ck_assert_double_eq(x, 1);
	ck_assert_ptr_null(json_at(o, "node/id"));
	ck_assert_ptr_null(json_at(o, "drive/id"));
	ck_assert_ptr_null(json_at(o, "node/name/x"));
	json_decref(o);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("human");

	tcase_add_test(tc, what_a_server_tells_does_not_drive_the_terminal);
	tcase_add_test(tc, numbers_have_three_digits_and_a_prefix);
	tcase_add_test(tc, each_unit_is_named);
	tcase_add_test(tc, durations_get_coarser_as_they_grow);
	tcase_add_test(tc, times_are_told_by_their_age);
	tcase_add_test(tc, what_is_older_never_has_a_smaller_age);
	tcase_add_test(tc, what_is_missing_is_a_dash_and_what_is_odd_is_shown_as_it_is);
	tcase_add_test(tc, control_characters_cannot_reach_a_terminal);
	tcase_add_test(tc, a_path_reaches_into_objects);
	return unit_run("human", tc);
}
