/* Runs that start together: drives, instant, clocks, and how far apart they began. */
#include "common/json.h"
#include "controller/api.h"
#include "tests/unit/data_rig.h"
#include "tests/unit/model_rig.h"

/* The states of all runs in their order. */
#define STATES                                 \
	"SELECT group_concat(state, ' ') FROM" \
	" (SELECT state FROM run ORDER BY id)"

/* r1 runs on the first drive; r2 and r3 are to start together on both. */
static void
set_up(void)
{
	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	lab_submit("S1 S2", "{'together':true}");
	lab_sched();
}

static void
tear_down(void)
{
	feed_reset();
	lab_down();
}

static void
first_run_ends(void)
{
	says("b1", "1:exited", "1:keep");
	records_come(1, DONE);
	says("b1", "1:exited", "1:forget");
	lab_sched();
}

START_TEST(drives_are_given_to_all_or_to_none)
{
	rig_is(STATES, "running pending pending");
	rig_is("SELECT blockers ->> '$[0].code' FROM run WHERE id = 2", "drive.leased");
	rig_is("SELECT blockers ->> '$[0].code' FROM run WHERE id = 3",
		"campaign.together");
	first_run_ends();
	rig_is(STATES, "done leased leased");
}
END_TEST

START_TEST(a_group_that_no_node_has_room_for_waits)
{
	rig_exec("UPDATE node SET max_runs = 1");
	first_run_ends();
	rig_is(STATES, "done pending pending");
	rig_is("SELECT blockers ->> '$[0].code' FROM run WHERE id = 2",
		"campaign.together");
	rig_exec("UPDATE node SET max_runs = 2");
	lab_sched();
	rig_is(STATES, "done leased leased");
}
END_TEST

START_TEST(one_instant_is_agreed_in_the_clock_of_each_node)
{
	rig_exec("UPDATE node SET clock_ahead_ns = -5000, clock_doubt_ns = 300");
	first_run_ends();
	rig_is("SELECT count(DISTINCT start_ns) FROM attempt WHERE start_ns IS NOT NULL",
		"1");
	rig_is("SELECT count(*) FROM attempt WHERE start_doubt_ns = 300", "2");
	/* 10 s ahead */
	rig_is("SELECT (start_ns - granted_ns) / 1000000000 FROM attempt WHERE id = 3",
		"10");
	rig_is("SELECT (program ->> '$.start.at_ns') - start_ns FROM attempt WHERE id = "
	       "3",
		"-5000");
	rig_is("SELECT (program ->> '$.start.lab_ns') - start_ns FROM attempt WHERE id = "
	       "2",
		"0");
	/* a run of its own has none */
	rig_is("SELECT program -> '$.start' IS NULL FROM attempt WHERE id = 1", "1");
}
END_TEST

START_TEST(without_a_known_clock_the_doubt_is_not_known)
{
	first_run_ends();
	rig_is("SELECT count(*) FROM attempt WHERE start_ns > 0"
	       " AND start_doubt_ns IS NULL",
		"2");
	rig_is("SELECT (program ->> '$.start.at_ns') - start_ns FROM attempt WHERE id = "
	       "2",
		"0");
}
END_TEST

START_TEST(a_run_that_is_tried_again_goes_alone)
{
	first_run_ends();
	says("b1", "2:running 3:running", "2:keep 3:keep");
	says("b1", "2:exited 3:running", "2:keep 3:keep");
	records_come(2, FAILED("infra"));
	lab_sched();
	rig_is(STATES, "done leased running");
	rig_is("SELECT start_ns IS NULL FROM attempt WHERE id = 4", "1");
}
END_TEST

static void
begins(int64_t attempt, int64_t lag_ns)
{
	struct ingest_answer a;
	struct err e = {0};
	char text[120];

	feed_reset();
	feed_start((uint64_t)attempt, UINT64_C(1) << 32 | (uint64_t)attempt);
	snprintf(text, sizeof(text),
		"{\"event\":\"start\",\"at_ns\":\"7\",\"lab_ns\":\"7\",\"lag_ns\":"
		"%" PRId64 "}",
		lag_ns);
	feed_text(RECORD_EVENT, text);
	OK(feed_send(lab_first, &a, &e));
}

/* A member of the first start of the campaign, as text. Static buffer. */
static const char *
start_member(const char *name)
{
	static char *text;
	struct err e = {0};

	OK(lab_ask(api_campaigns_get, 2, NULL, &e));
	free(text);
	text = json_dumps(
		json_object_get(
			json_array_get(json_object_get(lab_call.doc, "starts"), 0), name),
		JSON_ENCODE_ANY);
	return text;
}

START_TEST(how_far_apart_they_began_is_told)
{
	struct err e = {0};

	rig_exec("UPDATE node SET clock_ahead_ns = 0, clock_doubt_ns = 300");
	first_run_ends();
	ck_assert_str_eq(start_member("runs"), "2");
	ck_assert_str_eq(start_member("begun"), "0");
	ck_assert_str_eq(start_member("skew_ns"), "null");
	begins(2, 250);
	ck_assert_str_eq(start_member("begun"), "1");
	ck_assert_str_eq(start_member("skew_ns"), "null");
	begins(3, 90);
	ck_assert_str_eq(start_member("skew_ns"), "160");
	/* one clock timed both */
	ck_assert_str_eq(start_member("doubt_ns"), "0");
	OK(lab_ask(api_runs_get, 2, NULL, &e));
	ck_assert_int_eq(json_integer_value(json_object_get(
				 json_object_get(json_object_get(lab_call.doc, "attempt"),
					 "start"),
				 "lag_ns")),
		250);
}
END_TEST

START_TEST(the_doubts_of_two_nodes_add_up)
{
	rig_exec("UPDATE node SET clock_ahead_ns = 0, clock_doubt_ns = 300");
	first_run_ends();
	lab_node("sr-02");
	rig_exec("UPDATE attempt SET node_id = 2, start_doubt_ns = 40 WHERE id = 3");
	ck_assert_str_eq(start_member("doubt_ns"), "340");
	rig_exec("UPDATE attempt SET start_doubt_ns = NULL WHERE id = 3");
	ck_assert_str_eq(start_member("doubt_ns"), "null");
}
END_TEST

/* What the clock of the node is from the controller's comes with each report. */
START_TEST(a_node_tells_its_clock_and_is_told_ours)
{
	struct lab_agent a = {lab_first, "b1", "S1 S2", "1:running", NULL};
	json_t *report = lab_report(&a);
	struct err e = {0};
	const json_t *clock;
	uint64_t ns;

	json_put(report, "clock",
		lab_json("{'node_ns':'1000','lab_ns':'1600','doubt_ns':'20'}"));
	OK(lab_ask(api_agents_reconcile, lab_first, report, &e));
	rig_is("SELECT clock_ahead_ns || ' ' || clock_doubt_ns FROM node", "-600 20");
	clock = json_object_get(lab_call.doc, "clock");
	ck_assert_str_eq(json_text_of(clock, "held_ns"), "0");
	OK(json_need_u64(clock, "", "answered_ns", &ns, &e));
	ck_assert_uint_lt((uint64_t)clock_wall() - ns, 60 * NS_PER_S);
	/* the same call, answered later: what it was held for is told */
	OK(lab_again(api_agents_reconcile, &e));
	OK(json_need_u64(json_object_get(lab_call.doc, "clock"), "", "held_ns", &ns, &e));
	ck_assert_uint_gt(ns, 0);
	/* a report without it changes nothing */
	says("b1", "1:running", "1:keep");
	rig_is("SELECT clock_ahead_ns FROM node", "-600");
	/* but a boot may have set the clock */
	a.boot = "b2";
	OK(lab_ask(api_agents_reconcile, lab_first, lab_report(&a), &e));
	rig_is("SELECT count(*) FROM node WHERE clock_ahead_ns IS NULL", "1");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("together");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, drives_are_given_to_all_or_to_none);
	tcase_add_test(tc, a_group_that_no_node_has_room_for_waits);
	tcase_add_test(tc, one_instant_is_agreed_in_the_clock_of_each_node);
	tcase_add_test(tc, without_a_known_clock_the_doubt_is_not_known);
	tcase_add_test(tc, a_run_that_is_tried_again_goes_alone);
	tcase_add_test(tc, how_far_apart_they_began_is_told);
	tcase_add_test(tc, the_doubts_of_two_nodes_add_up);
	tcase_add_test(tc, a_node_tells_its_clock_and_is_told_ours);
	return unit_run("together", tc);
}
