/* How drives were before and after: compared, told, stored and shown. */
#include "analysis/health.h"

#include "common/json.h"
#include "controller/api.h"
#include "tests/unit/data_rig.h"
#include "tests/unit/result_rig.h"

static json_t *
doc(const char *text)
{
	struct err e = {0};
	json_t *o = NULL;

	OK(json_parse(text, strlen(text), &o, &e));
	return o;
}

/* Wants that of two documents; "" stands for none. */
static void
tells(const char *before, const char *after, const char *difference, const char *told)
{
	json_t *a = before[0] != '\0' ? doc(before) : NULL;
	json_t *b = after[0] != '\0' ? doc(after) : NULL;
	json_t *d = health_difference(a, b);
	json_t *t = health_told(a, b);
	char *text = json_dumps(d, JSON_COMPACT);

	ck_assert_str_eq(text, difference);
	free(text);
	text = json_dumps(t, JSON_COMPACT);
	ck_assert_str_eq(text, told);
	free(text);
	json_decref(a);
	json_decref(b);
	json_decref(d);
	json_decref(t);
}

START_TEST(differences_are_of_numbers_that_both_have)
{
	tells("{\"temperature_c\":40,\"media_errors\":\"3\",\"old\":\"1\",\"passed\":"
	      "true,"
	      "\"attributes\":{\"5 R\":\"1\"},\"big\":\"99999999999999999999\"}",
		"{\"temperature_c\":35,\"media_errors\":\"3\",\"passed\":true,\"sensors_"
		"c\":"
		"[1],"
		"\"attributes\":{\"5 R\":\"4\"},\"big\":\"99999999999999999999\"}",
		"{\"temperature_c\":-5,\"media_errors\":\"0\",\"attributes\":{\"5 "
		"R\":\"3\"}}",
		"[]");
	tells("", "{\"media_errors\":\"3\"}", "{}", "[]");
	tells("{\"media_errors\":\"3\"}", "", "{}", "[]");
	tells("{\"source\":\"none\",\"why\":\"virtual\"}",
		"{\"source\":\"none\",\"why\":\"virtual\"}", "{}", "[]");
}
END_TEST

START_TEST(what_nobody_should_miss_is_a_sentence)
{
	tells("{\"critical_warning\":\"0\",\"media_errors\":\"3\"}",
		"{\"critical_warning\":\"6\",\"media_errors\":\"5\"}",
		"{\"critical_warning\":\"6\",\"media_errors\":\"2\"}",
		"[\"after the run the drive warned (0x06): a temperature is beyond its "
		"limit: the reliability is degraded\",\"2 media errors came while the "
		"run "
		"ran: 3 before, 5 after\"]");
	tells("{\"critical_warning\":\"1\"}", "", "{}",
		"[\"before the run the drive warned (0x01): the spare is below its "
		"threshold\"]");
	tells("{\"passed\":true,\"grown_defects\":\"1\"}",
		"{\"passed\":false,\"grown_defects\":\"2\"}", "{\"grown_defects\":\"1\"}",
		"[\"after the run the drive said that it fails\",\"1 grown defects came "
		"while the run ran: 1 before, 2 after\"]");
}
END_TEST

static void
tell(const char *moment, const char *health)
{
	struct ingest_answer a;
	struct err e = {0};
	char text[512];

	snprintf(text, sizeof(text),
		"{\"event\":\"health\",\"moment\":\"%s\",\"health\":%s}", moment, health);
	feed_start(1, 101);
	feed_text(RECORD_EVENT, text);
	OK(feed_send(1, &a, &e));
}

static const char alarms[] =
	"SELECT group_concat(data ->> 'text', '|') FROM event"
	" WHERE name = 'run.alarm' AND data ->> 'what' IN ('health', 'malformed')";

START_TEST(a_run_has_the_health_of_its_drive)
{
	json_t *o;

	rig_add_running();
	o = good(api_runs_health, 1, "");
	IS(o, "/before", "null");
	IS(o, "/difference", "null");
	json_decref(o);
	tell("before", "{\"critical_warning\":\"1\",\"media_errors\":\"3\"}");
	/* A runner that was started again finds what the first one has done. */
	tell("before", "{\"critical_warning\":\"1\",\"media_errors\":\"4\"}");
	tell("after", "{\"critical_warning\":\"1\",\"media_errors\":\"4\"}");
	tell("after", "{\"critical_warning\":\"1\",\"media_errors\":\"5\"}");
	o = good(api_runs_health, 1, "");
	IS(o, "/before/media_errors", "\"3\"");
	IS(o, "/after/media_errors", "\"5\"");
	IS(o, "/difference/media_errors", "\"2\"");
	IS(o, "/told/2", "\"2 media errors came while the run ran: 3 before, 5 after\"");
	json_decref(o);
	refused(api_runs_health, 9, "", ERR_NOTFOUND, "no run r9");
}
END_TEST

START_TEST(what_nobody_should_miss_is_an_alarm_once)
{
	rig_add_running();
	tell("before", "{\"critical_warning\":\"1\",\"media_errors\":\"3\"}");
	rig_is(alarms, "before the run the drive warned (0x01): the spare is below its "
		       "threshold");
	tell("after", "{\"critical_warning\":\"0\",\"media_errors\":\"4\"}");
	rig_is(alarms, "before the run the drive warned (0x01): the spare is below its "
		       "threshold|1 media errors came while the run ran: 3 before, 4 "
		       "after");
}
END_TEST

START_TEST(a_health_without_a_moment_is_an_alarm_and_holds_nothing_up)
{
	rig_add_running();
	tell("sometimes", "{}");
	tell("before", "7");
	rig_is("SELECT count(*) FROM health", "0");
	rig_is("SELECT count(*) FROM event WHERE name = 'run.alarm'"
	       " AND data ->> 'what' = 'malformed'",
		"2");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("health");

	tcase_add_checked_fixture(tc, data_up, data_down);
	tcase_add_test(tc, differences_are_of_numbers_that_both_have);
	tcase_add_test(tc, what_nobody_should_miss_is_a_sentence);
	tcase_add_test(tc, a_run_has_the_health_of_its_drive);
	tcase_add_test(tc, what_nobody_should_miss_is_an_alarm_once);
	tcase_add_test(tc, a_health_without_a_moment_is_an_alarm_and_holds_nothing_up);
	return unit_run("health", tc);
}
