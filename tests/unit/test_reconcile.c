#include "agent/reconcile.h"

#include "agent/scan.h"
#include "common/json.h"
#include "common/str.h"
#include "tests/unit/unit.h"

static struct seen_drive seen[2];
static struct drive_list drives = {.items = seen};
static uint64_t fences[2];
static struct attempt_view attempts[4];
static struct view v;

static struct answer answer;

/* A node with one drive, and attempts 11 to 14 in the states starting, running, exited
 * and forgotten. */
static void
setup(void)
{
	static char clear[] = "", mounted[] = "mounted on /home";
	static const enum attempt_state states[] = {
		ATTEMPT_STARTING, ATTEMPT_RUNNING, ATTEMPT_EXITED, ATTEMPT_FORGOTTEN};

	memset(seen, 0, sizeof(seen));
	seen[0] = (struct seen_drive){.id = {.kind = DRIVE_LOOP,
					      .model = "M",
					      .serial = "S1",
					      .capacity_bytes = 1 << 20,
					      .logical_block_bytes = 512,
					      .numa_node = -1,
					      .is_virtual = true},
		.path = "/dev/loop3",
		.reasons = clear};
	seen[1] = seen[0];
	snprintf(seen[1].id.serial, sizeof(seen[1].id.serial), "S2");
	seen[1].reasons = mounted;
	drives.n = 2;
	fences[0] = 7;
	fences[1] = 0;
	for (size_t i = 0; i < 4; i++)
		attempts[i] = (struct attempt_view){.id = 11 + i,
			.fence = 100 + i,
			.state = states[i],
			.last_seq = 9,
			.acked_seq = 8,
			.workload = "4k",
			.cannot_stop = i == 1 ? "purge by format" : "",
			.blocked = ""};
	v = (struct view){.boot_id = "b",
		.version = "1",
		.wait_s = 25,
		.epoch_seen = 3,
		.trouble = "no room",
		.clock_doubt_ns = -1,
		.drives = &drives,
		.fences = fences,
		.attempts = attempts,
		.n_attempts = 4};
	memset(&answer, 0, sizeof(answer));
}

static void
teardown(void)
{
	answer_fini(&answer);
}

static int
compare(const char *text, struct err *e)
{
	json_t *doc;
	int rc;

	ck_assert_int_eq(json_parse(text, strlen(text), &doc, e), 0);
	rc = reconcile_compare(&v, doc, &answer, e);
	json_decref(doc);
	return rc;
}

#define ANSWER(attempts) \
	"{\"epoch\":\"3\",\"session_known\":true,\"attempts\":[" attempts "]}"

START_TEST(a_report_tells_all_that_is_known)
{
	json_t *doc = reconcile_report(&v);
	struct str text = {0};

	json_write(doc, &text);
	ck_assert_str_eq(str_text(&text),
		"{\"boot_id\":\"b\",\"version\":\"1\",\"protocol\":[1,1],\"session\":"
		"null,"
		"\"wait_s\":25,\"drives\":["
		"{\"id\":{\"kind\":\"loop\",\"model\":\"M\",\"serial\":\"S1\",\"wwn\":"
		"\"\","
		"\"firmware\":\"\",\"capacity_bytes\":\"1048576\",\"logical_block_"
		"bytes\":512,"
		"\"numa_node\":-1,\"virtual\":true},\"path\":\"/dev/loop3\","
		"\"protected\":\"\"},"
		"{\"id\":{\"kind\":\"loop\",\"model\":\"M\",\"serial\":\"S2\",\"wwn\":"
		"\"\","
		"\"firmware\":\"\",\"capacity_bytes\":\"1048576\",\"logical_block_"
		"bytes\":512,"
		"\"numa_node\":-1,\"virtual\":true},\"path\":\"/dev/loop3\","
		"\"protected\":\"mounted on /home\"}],"
		"\"fences\":{\"S1\":\"7\"},\"epoch_seen\":\"3\",\"trouble\":\"no "
		"room\",\"clock\":null,\"attempts\":["
		"{\"attempt\":\"11\",\"fence\":\"100\",\"state\":\"starting\","
		"\"last_seq\":\"9\",\"acked_seq\":\"8\","
		"\"status\":{\"step\":0,\"workload\":\"4k\",\"point\":0}},"
		"{\"attempt\":\"12\",\"fence\":\"101\",\"state\":\"running\","
		"\"last_seq\":\"9\",\"acked_seq\":\"8\","
		"\"status\":{\"step\":0,\"workload\":\"4k\",\"point\":0,"
		"\"cannot_stop\":\"purge by format\"}},"
		"{\"attempt\":\"13\",\"fence\":\"102\",\"state\":\"exited\","
		"\"last_seq\":\"9\",\"acked_seq\":\"8\","
		"\"status\":{\"step\":0,\"workload\":\"4k\",\"point\":0}}]}");
	str_fini(&text);
	json_decref(doc);
}
END_TEST

START_TEST(a_clock_is_told_and_is_no_news)
{
	json_t *before = reconcile_report(&v);
	json_t *doc, *clock;

	v.clock_ns = 1700000000000000005;
	v.lab_clock_ns = 1700000000000000000;
	v.clock_doubt_ns = 2;
	doc = reconcile_report(&v);
	clock = json_object_get(doc, "clock");
	ck_assert_str_eq(json_text_of(clock, "node_ns"), "1700000000000000005");
	ck_assert_str_eq(json_text_of(clock, "lab_ns"), "1700000000000000000");
	ck_assert_str_eq(json_text_of(clock, "doubt_ns"), "2");
	ck_assert(reconcile_same(before, doc));
	json_decref(before);
	json_decref(doc);
}
END_TEST

START_TEST(an_answer_may_tell_the_clock_of_the_controller)
{
	struct err e = {0};

	OK(compare(ANSWER(""), &e));
	ck_assert_uint_eq(answer.answered_ns, 0);
	answer_fini(&answer);
	OK(compare("{\"epoch\":\"3\",\"session_known\":true,\"attempts\":[],"
		   "\"clock\":{\"answered_ns\":\"17\",\"held_ns\":\"4\"}}",
		&e));
	ck_assert_uint_eq(answer.answered_ns, 17);
	ck_assert_uint_eq(answer.held_ns, 4);
	answer_fini(&answer);
	FAILS(compare("{\"epoch\":\"3\",\"session_known\":true,\"attempts\":[],"
		      "\"clock\":{\"answered_ns\":\"17\"}}",
		      &e),
		ERR_INVALID, "held_ns");
}
END_TEST

/* The namespaces of one SSD have its serial in common. */
START_TEST(the_highest_token_of_a_serial_is_told)
{
	json_t *doc;

	snprintf(seen[1].id.serial, sizeof(seen[1].id.serial), "S1");
	for (uint64_t other = 0; other < 10; other += 5) {
		fences[1] = other;
		doc = reconcile_report(&v);
		ck_assert_str_eq(json_text_of(json_object_get(doc, "fences"), "S1"), "7");
		json_decref(doc);
	}
	fences[1] = 8;
	doc = reconcile_report(&v);
	ck_assert_str_eq(json_text_of(json_object_get(doc, "fences"), "S1"), "8");
	json_decref(doc);
}
END_TEST

START_TEST(progress_alone_is_no_news_but_a_state_or_a_drive_is)
{
	json_t *before = reconcile_report(&v), *after;

	attempts[1].last_seq = 50;
	attempts[1].acked_seq = 49;
	attempts[1].point = 3;
	v.wait_s = 5;
	after = reconcile_report(&v);
	ck_assert(reconcile_same(before, after));
	json_decref(after);

	attempts[0].state = ATTEMPT_RUNNING;
	after = reconcile_report(&v);
	ck_assert(!reconcile_same(before, after));
	json_decref(after);
	attempts[0].state = ATTEMPT_STARTING;

	drives.n = 1;
	after = reconcile_report(&v);
	ck_assert(!reconcile_same(before, after));
	json_decref(after);
	drives.n = 2;

	v.session = "abc";
	after = reconcile_report(&v);
	ck_assert(!reconcile_same(before, after));
	json_decref(after);
	json_decref(before);
}
END_TEST

START_TEST(an_attempt_that_is_not_here_is_started)
{
	struct err e = {0};

	OK(compare(ANSWER("{\"attempt\":\"20\",\"do\":\"start\",\"fence\":\"200\","
			  "\"drive_path\":\"/dev/loop3\",\"program\":{\"run\":\"5\"}}"),
		&e));
	ck_assert_uint_eq(answer.n, 1);
	ck_assert_int_eq(answer.actions[0].kind, ACTION_START);
	ck_assert_uint_eq(answer.actions[0].attempt, 20);
	ck_assert_uint_eq(answer.actions[0].fence, 200);
	ck_assert_str_eq(json_text_of(answer.actions[0].program, "run"), "5");
}
END_TEST

/* Of what is forgotten the keeper tells by the token whether it is the same. */
START_TEST(an_attempt_that_is_here_and_not_forgotten_is_not_started_again)
{
	struct err e = {0};

	OK(compare(ANSWER("{\"attempt\":\"11\",\"do\":\"start\",\"fence\":\"1\","
			  "\"program\":{}},"
			  "{\"attempt\":\"12\",\"do\":\"start\",\"fence\":\"1\","
			  "\"program\":{}},"
			  "{\"attempt\":\"13\",\"do\":\"start\",\"fence\":\"1\","
			  "\"program\":{}},"
			  "{\"attempt\":\"14\",\"do\":\"start\",\"fence\":\"1\","
			  "\"program\":{}}"),
		&e));
	ck_assert_uint_eq(answer.n, 1);
	ck_assert_int_eq(answer.actions[0].kind, ACTION_START);
	ck_assert_uint_eq(answer.actions[0].attempt, 14);
	ck_assert_uint_eq(answer.actions[0].fence, 1);
}
END_TEST

START_TEST(only_what_may_have_a_process_is_stopped)
{
	struct err e = {0};

	OK(compare(ANSWER("{\"attempt\":\"11\",\"do\":\"stop\",\"why\":\"cancelled\"},"
			  "{\"attempt\":\"12\",\"do\":\"stop\"},"
			  "{\"attempt\":\"13\",\"do\":\"stop\"},"
			  "{\"attempt\":\"14\",\"do\":\"stop\"},"
			  "{\"attempt\":\"99\",\"do\":\"stop\"}"),
		&e));
	ck_assert_uint_eq(answer.n, 2);
	ck_assert_int_eq(answer.actions[0].kind, ACTION_STOP);
	ck_assert_uint_eq(answer.actions[0].attempt, 11);
	ck_assert_str_eq(answer.actions[0].why, "cancelled");
	ck_assert_uint_eq(answer.actions[1].attempt, 12);
	ck_assert_str_eq(answer.actions[1].why, "");
}
END_TEST

START_TEST(only_what_has_ended_is_forgotten)
{
	struct err e = {0};

	OK(compare(ANSWER("{\"attempt\":\"11\",\"do\":\"forget\"},"
			  "{\"attempt\":\"12\",\"do\":\"forget\"},"
			  "{\"attempt\":\"13\",\"do\":\"forget\"},"
			  "{\"attempt\":\"14\",\"do\":\"forget\"},"
			  "{\"attempt\":\"99\",\"do\":\"forget\"}"),
		&e));
	ck_assert_uint_eq(answer.n, 1);
	ck_assert_int_eq(answer.actions[0].kind, ACTION_FORGET);
	ck_assert_uint_eq(answer.actions[0].attempt, 13);
}
END_TEST

START_TEST(keep_is_told_and_silence_asks_for_nothing)
{
	struct err e = {0};

	OK(compare(ANSWER("{\"attempt\":\"12\",\"do\":\"keep\",\"why\":\"\"}"), &e));
	ck_assert_uint_eq(answer.n, 1);
	ck_assert_int_eq(answer.actions[0].kind, ACTION_KEEP);
	ck_assert_uint_eq(answer.actions[0].attempt, 12);
	ck_assert(answer.session_known);
}
END_TEST

START_TEST(what_is_forgotten_and_to_be_kept_is_recalled_by_number_and_token)
{
	struct err e = {0};

	OK(compare(ANSWER("{\"attempt\":\"14\",\"do\":\"keep\",\"fence\":\"103\"},"
			  "{\"attempt\":\"99\",\"do\":\"keep\",\"fence\":\"103\"}"),
		&e));
	ck_assert_uint_eq(answer.n, 1);
	ck_assert_int_eq(answer.actions[0].kind, ACTION_RECALL);
	ck_assert_uint_eq(answer.actions[0].attempt, 14);
	ck_assert_uint_eq(answer.actions[0].fence, 103);
	answer_fini(&answer);
	OK(compare(ANSWER("{\"attempt\":\"14\",\"do\":\"keep\",\"fence\":\"104\"}"), &e));
	ck_assert_uint_eq(answer.n, 0);
}
END_TEST

/* Only so the controller knows that its question was read. */
START_TEST(what_is_to_be_kept_and_was_never_here_is_told_in_the_next_report)
{
	json_t *before = reconcile_report(&v), *after, *list, *first;
	struct err e = {0};

	OK(compare(ANSWER("{\"attempt\":\"12\",\"do\":\"keep\",\"fence\":\"101\"},"
			  "{\"attempt\":\"14\",\"do\":\"keep\",\"fence\":\"104\"}"),
		&e));
	v.unknown = answer.unknown;
	after = reconcile_report(&v);
	ck_assert(!json_has(before, "unknown"));
	ck_assert(!reconcile_same(before, after));
	list = json_object_get(after, "unknown");
	first = json_array_get(list, 0);
	ck_assert_uint_eq(json_array_size(list), 1);
	ck_assert_str_eq(json_text_of(first, "attempt"), "14");
	ck_assert_str_eq(json_text_of(first, "fence"), "104");
	json_decref(before);
	json_decref(after);
}
END_TEST

START_TEST(an_older_controller_starts_nothing_but_may_stop)
{
	struct err e = {0};

	v.epoch_seen = 4;
	OK(compare(
		ANSWER("{\"attempt\":\"20\",\"do\":\"start\",\"fence\":\"2\",\"program\":"
		       "{}},{\"attempt\":\"12\",\"do\":\"stop\"}"),
		&e));
	ck_assert(answer.epoch_back);
	ck_assert_uint_eq(answer.n, 1);
	ck_assert_int_eq(answer.actions[0].kind, ACTION_STOP);
}
END_TEST

START_TEST(an_answer_that_was_long_on_its_way_starts_nothing_but_may_stop)
{
	static const char both[] = ANSWER(
		"{\"attempt\":\"20\",\"do\":\"start\",\"fence\":\"2\",\"program\":{}},"
		"{\"attempt\":\"12\",\"do\":\"stop\"}");
	struct err e = {0};

	v.answer_age_ns = RECONCILE_FRESH_NS + 1;
	OK(compare(both, &e));
	ck_assert_uint_eq(answer.n, 1);
	ck_assert_int_eq(answer.actions[0].kind, ACTION_STOP);
	ck_assert_uint_eq(answer.late, 20);
	answer_fini(&answer);
	v.answer_age_ns = RECONCILE_FRESH_NS;
	OK(compare(both, &e));
	ck_assert_uint_eq(answer.late, 0);
	ck_assert_uint_eq(answer.n, 2);
}
END_TEST

START_TEST(answers_that_are_not_understood_do_nothing_at_all)
{
	static const struct {
		const char *text, *pointer;
	} cases[] = {
		{"{}", "/epoch"},
		{"{\"epoch\":\"3\",\"session_known\":true}", "/attempts"},
		{"{\"epoch\":3,\"session_known\":true,\"attempts\":[]}", "/epoch"},
		{ANSWER("7"), "/attempts/0"},
		{ANSWER("{\"attempt\":\"13\",\"do\":\"forget\"},{\"attempt\":\"x\"}"),
			"/attempts/1/attempt"},
		{ANSWER("{\"attempt\":\"12\",\"do\":\"explode\"}"), "/attempts/0/do"},
		{ANSWER("{\"attempt\":\"20\",\"do\":\"start\",\"fence\":\"1\"}"),
			"/attempts/0/program"},
		{ANSWER("{\"attempt\":\"20\",\"do\":\"start\",\"program\":{}}"),
			"/attempts/0/fence"},
		{ANSWER("{\"attempt\":\"12\",\"do\":\"stop\"},"
			"{\"attempt\":\"12\",\"do\":\"stop\"}"),
			"/attempts/1/attempt"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};

		ck_assert_int_eq(compare(cases[i].text, &e), -1);
		ck_assert_str_eq(err_name(e.class), "invalid");
		ck_assert_msg(strncmp(e.pointer, cases[i].pointer,
				      strlen(cases[i].pointer)) == 0,
			"case %zu: %s", i, e.pointer);
		ck_assert_uint_eq(answer.n, 0);
	}
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("reconcile");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_report_tells_all_that_is_known);
	tcase_add_test(tc, a_clock_is_told_and_is_no_news);
	tcase_add_test(tc, an_answer_may_tell_the_clock_of_the_controller);
	tcase_add_test(tc, the_highest_token_of_a_serial_is_told);
	tcase_add_test(tc, progress_alone_is_no_news_but_a_state_or_a_drive_is);
	tcase_add_test(tc, an_attempt_that_is_not_here_is_started);
	tcase_add_test(
		tc, an_attempt_that_is_here_and_not_forgotten_is_not_started_again);
	tcase_add_test(tc, only_what_may_have_a_process_is_stopped);
	tcase_add_test(tc, only_what_has_ended_is_forgotten);
	tcase_add_test(tc, keep_is_told_and_silence_asks_for_nothing);
	tcase_add_test(
		tc, what_is_forgotten_and_to_be_kept_is_recalled_by_number_and_token);
	tcase_add_test(
		tc, what_is_to_be_kept_and_was_never_here_is_told_in_the_next_report);
	tcase_add_test(tc, an_older_controller_starts_nothing_but_may_stop);
	tcase_add_test(
		tc, an_answer_that_was_long_on_its_way_starts_nothing_but_may_stop);
	tcase_add_test(tc, answers_that_are_not_understood_do_nothing_at_all);
	return unit_run("reconcile", tc);
}
