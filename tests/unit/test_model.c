/* The life of runs, from submission to the end, in a real store. */
#include "tests/unit/model_rig.h"

START_TEST(a_run_goes_from_submission_to_done)
{
	lab_begin("{}");
	lab_run_is(1, "leased");
	rig_is("SELECT state FROM campaign", "running");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "leased");
	rig_is("SELECT fence = (1 << 32 | 1) AND fence = (SELECT fence FROM lease)"
	       " FROM attempt",
		"1");
	says("b1", "", "1:start");
	says("b1", "1:starting", "1:keep");
	lab_run_is(1, "running");
	says("b1", "1:running", "1:keep");
	says("b1", "1:exited", "1:keep");
	lab_run_is(1, "collecting");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	rig_is("SELECT released_why FROM lease",
		"its node reports that its runner has ended");
	records_come(1, DONE);
	lab_run_is(1, "done");
	rig_is("SELECT state FROM campaign", "done");
	rig_is("SELECT state FROM attempt", "sealed");
	says("b1", "1:exited", "1:forget");
	says("b1", "", "");
	rig_is("SELECT group_concat(from_state || '>' || to_state, ' ') FROM transition"
	       " WHERE object = 'run'",
		">pending pending>leased leased>running running>collecting "
		"collecting>done");
	rig_is("SELECT count(*) FROM run WHERE started_ns IS NULL OR finished_ns IS NULL",
		"0");
	lab_down();
}
END_TEST

START_TEST(the_program_is_complete_and_told_once)
{
	struct lab_agent a;
	json_t *duty, *program;

	lab_begin("{'workloads':['reads'],'max_errors':7}");
	a = (struct lab_agent){lab_first, "b1", "S1 S2", "", NULL};
	lab_reconcile(&a);
	duty = json_array_get(json_object_get(lab_call.doc, "attempts"), 0);
	program = json_object_get(duty, "program");
	ck_assert_str_eq(json_text_of(duty, "drive_path"), "/dev/S1");
	ck_assert_str_eq(json_text_of(program, "ssdlab"), "program/v1");
	ck_assert_str_eq(json_text_of(program, "attempt"), "1");
	ck_assert_str_eq(json_text_of(program, "fence"), "4294967297");
	ck_assert_str_eq(json_text_of(json_object_get(program, "drive"), "serial"), "S1");
	ck_assert_uint_eq(json_array_size(json_object_get(program, "steps")), 3);
	ck_assert_int_eq(json_integer_value(json_object_get(program, "max_errors")), 7);
	ck_assert_str_eq(json_text_of(lab_call.doc, "epoch"), "1");
	lab_down();
}
END_TEST

START_TEST(the_records_may_come_before_the_end_is_reported)
{
	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	records_come(1, DONE);
	lab_run_is(1, "running");
	says("b1", "1:exited", "1:forget");
	lab_run_is(1, "done");
	lab_down();
}
END_TEST

START_TEST(a_run_is_not_done_while_a_record_is_missing)
{
	struct err e = {0};
	int64_t attempt = 1;

	lab_begin("{}");
	says("b1", "1:exited", "1:keep");
	lab_run_is(1, "collecting");
	rig_exec("UPDATE attempt SET result = '" DONE "', result_seq = 9, acked_seq = 8");
	OK(rig_write(collected_job, &attempt, &e));
	lab_run_is(1, "collecting");
	records_come(1, DONE);
	lab_run_is(1, "done");
	OK(rig_write(collected_job, &attempt, &e));
	lab_run_is(1, "done");
	lab_down();
}
END_TEST

START_TEST(a_refused_start_ends_the_attempt)
{
	lab_begin("{'retries':0}");
	says("b1", "1:exited", "1:keep");
	records_come(1, FAILED("safety"));
	lab_run_is(1, "failed");
	rig_is("SELECT fail_class || ': ' || reason FROM run", "safety: it broke");
	rig_is("SELECT state FROM campaign", "failed");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	lab_down();
}
END_TEST

START_TEST(only_failures_outside_of_the_drive_are_tried_again_and_not_for_ever)
{
	lab_begin("{'retries':2}");
	for (int64_t i = 1; i <= 3; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%" PRId64 ":running", i);
		says("b1", text, i == 1 ? "1:keep" : i == 2 ? "2:keep" : "3:keep");
		snprintf(text, sizeof(text), "%" PRId64 ":exited", i);
		says("b1", text, i == 1 ? "1:keep" : i == 2 ? "2:keep" : "3:keep");
		records_come(i, FAILED("infra"));
		lab_run_is(1, i < 3 ? "pending" : "failed");
		lab_sched();
	}
	rig_is("SELECT group_concat(number || ':' || (fence - (1 << 32)), ' ') FROM "
	       "attempt",
		"1:1 2:2 3:3");
	rig_is("SELECT retries_left FROM run", "0");
	lab_submit("S2", "{'retries':5}");
	lab_sched();
	says("b1", "4:exited", "4:keep");
	records_come(4, FAILED("recipe"));
	lab_run_is(2, "failed");
	lab_down();
}
END_TEST

START_TEST(a_drive_that_failed_waits_for_a_person)
{
	struct err e = {0};

	lab_begin("{'repeats':2}");
	says("b1", "1:exited", "1:keep");
	/* free, but only its last run's records can say that it is well */
	lab_sched();
	lab_run_is(2, "pending");
	rig_is("SELECT blockers ->> '$[0].code' FROM run WHERE id = 2",
		"drive.collecting");
	records_come(1, FAILED("drive"));
	lab_sched();
	lab_run_is(2, "pending");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "quarantined");
	rig_is("SELECT blockers ->> '$[0].code' FROM run WHERE id = 2",
		"drive.quarantined");
	OK(lab_ask(api_drives_release, 1,
		lab_json("{'serial':'S1','reason':'it was the cable'}"), &e));
	lab_sched();
	lab_run_is(2, "leased");
	lab_down();
}
END_TEST

START_TEST(a_run_that_no_program_can_be_made_for_fails_and_stops_no_other)
{
	lab_begin("{'repeats':2}");
	lab_submit("S2", "{}");
	lab_submit("S2", "{'priority':60}");
	/* as if a later version had other rules */
	rig_exec("UPDATE campaign SET doc = '{}' WHERE id = 1");
	rig_exec("UPDATE campaign SET doc = replace(doc, '50', '500') WHERE id = 2");
	lab_sched();
	lab_run_is(1, "leased");
	lab_run_is(2, "failed"); /* though its drive is in use */
	lab_run_is(3, "failed");
	lab_run_is(4, "leased");
	rig_is("SELECT fail_class FROM run WHERE id = 2", "recipe");
	rig_is("SELECT reason LIKE 'the stored documents of campaign c1: %' FROM run"
	       " WHERE id = 2",
		"1");
	rig_is("SELECT state FROM campaign WHERE id = 2", "failed");
	lab_submit("S1", "{}");
	says("b1", "1:exited 2:running", "1:keep 2:keep");
	records_come(1, DONE);
	rig_exec("UPDATE drive SET kind = 'drum' WHERE id = 1");
	lab_sched();
	lab_run_is(5, "failed");
	rig_is("SELECT fail_class FROM run WHERE id = 5", "recipe");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	rig_is("SELECT count(*) FROM attempt", "2");
	lab_down();
}
END_TEST

START_TEST(a_result_that_nobody_understands_is_a_failure)
{
	lab_begin("{'retries':0}");
	says("b1", "1:exited", "1:keep");
	records_come(1, "[1]");
	lab_run_is(1, "failed");
	rig_is("SELECT fail_class FROM run", "infra");
	lab_down();
}
END_TEST

static void
cancel(void)
{
	struct err e = {0};

	OK(lab_ask(api_campaigns_cancel, 1, NULL, &e));
}

START_TEST(cancelling_ends_a_waiting_run_at_once)
{
	lab_begin("{'repeats':2}");
	rig_exec("UPDATE run SET state = 'pending' WHERE id = 1");
	cancel();
	lab_run_is(1, "cancelled");
	lab_run_is(2, "cancelled");
	rig_is("SELECT state FROM campaign", "cancelled");
	rig_is("SELECT reason FROM run WHERE id = 1", "cancelled by tester");
	cancel();
	ck_assert_str_eq(json_text_of(lab_call.doc, "state"), "cancelled");
	rig_is("SELECT count(*) FROM transition WHERE object = 'campaign'"
	       " AND to_state = 'cancelled'",
		"1");
	lab_down();
}
END_TEST

START_TEST(cancelling_takes_a_lease_back_only_when_the_node_never_saw_it)
{
	lab_begin("{}");
	cancel();
	cancel();
	lab_run_is(1, "leased");
	rig_is("SELECT state FROM campaign", "running");
	says("b1", "", "1:keep");
	lab_run_is(1, "leased");
	says("b1", "", "");
	lab_run_is(1, "cancelled");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	rig_is("SELECT state FROM attempt", "sealed");
	rig_is("SELECT state FROM campaign", "cancelled");
	lab_down();
}
END_TEST

/* A report of attempt 1 with what its runner says. */
static void
says_cannot_stop(const char *state, const char *text)
{
	struct lab_agent a = {lab_first, "b1", "S1 S2", state, NULL};
	struct err e = {0};
	json_t *report = lab_report(&a);

	json_put(json_array_get(json_object_get(report, "attempts"), 0), "status",
		json_pack("{s:s}", "cannot_stop", text));
	OK(lab_ask(api_agents_reconcile, lab_first, report, &e));
}

START_TEST(what_cannot_be_stopped_is_known_until_its_runner_has_ended)
{
	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	says_cannot_stop("1:running", "purge by sanitize, 34 % done");
	rig_is("SELECT cannot_stop FROM attempt", "purge by sanitize, 34 % done");
	cancel();
	says_cannot_stop("1:running", "purge by sanitize, 35 % done");
	rig_is("SELECT cannot_stop FROM attempt", "purge by sanitize, 35 % done");
	lab_run_is(1, "running");
	says_cannot_stop("1:exited", "purge by sanitize, 35 % done");
	rig_is("SELECT cannot_stop FROM attempt", "");
	lab_down();
}
END_TEST

START_TEST(cancelling_stops_what_runs_and_waits_for_its_records)
{
	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	cancel();
	says("b1", "1:running", "1:stop");
	ck_assert(!lab_call.hold);
	cancel();
	says("b1", "1:running", "1:stop");
	says("b1", "1:exited", "1:keep");
	lab_run_is(1, "collecting");
	cancel();
	lab_run_is(1, "collecting");
	records_come(1, "{\"state\":\"cancelled\",\"reason\":\"stopped\"}");
	lab_run_is(1, "cancelled");
	cancel();
	says("b1", "1:exited", "1:forget");
	lab_down();
}
END_TEST

static void
protect(void)
{
	struct err e = {0};

	OK(lab_ask(api_drives_protect, 1, lab_json("{'reason':'goes back'}"), &e));
}

static void
allow(const char *mode)
{
	struct err e = {0};

	OK(lab_ask(api_drives_approve, 1,
		json_pack("{s:s, s:s}", "serial", "S1", "mode", mode), &e));
}

START_TEST(a_grant_whose_drive_is_protected_is_never_started)
{
	lab_begin("{'repeats':2,'retries':2}");
	protect();
	ck_assert_str_eq(json_text_of(lab_call.doc, "admin"), "unapproved");
	ck_assert_str_eq(json_text_of(lab_call.doc, "stopping"), "r1");
	ck_assert_str_eq(json_text_of(lab_call.doc, "run"), "r1");
	says("b1", "", "1:keep");
	allow("destructive");
	says("b1", "", "");
	lab_run_is(1, "cancelled");
	rig_is("SELECT reason FROM run WHERE id = 1",
		"the approval of drive d1 was withdrawn before its node had started it");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	lab_run_is(2, "pending");
	lab_down();
}
END_TEST

START_TEST(what_runs_on_a_drive_that_is_protected_is_stopped)
{
	static const char why[] = "the approval of drive d1 was withdrawn";
	json_t *first;

	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	protect();
	protect();
	ck_assert_str_eq(json_text_of(lab_call.doc, "stopping"), "r1");
	says("b1", "1:running", "1:stop");
	first = json_array_get(json_object_get(lab_call.doc, "attempts"), 0);
	ck_assert_str_eq(json_text_of(first, "why"), why);
	rig_is("SELECT cancel_requested || reason FROM run",
		"1the approval of drive d1 was withdrawn");
	says("b1", "1:exited", "1:keep");
	records_come(1, "{\"state\":\"cancelled\",\"reason\":\"stopped\"}");
	lab_run_is(1, "cancelled");
	lab_down();
}
END_TEST

START_TEST(readonly_stops_only_a_run_that_writes)
{
	lab_begin("{}");
	allow("destructive");
	ck_assert(json_is_null(json_object_get(lab_call.doc, "stopping")));
	says("b1", "1:running", "1:keep");
	rig_exec("UPDATE attempt SET program = json_set(program,"
		 " '$.steps', json_array(json_extract(program, '$.steps[0]')))");
	allow("readonly");
	ck_assert(json_is_null(json_object_get(lab_call.doc, "stopping")));
	says("b1", "1:running", "1:keep");
	rig_exec("UPDATE attempt SET program = '{}'");
	allow("readonly");
	ck_assert_str_eq(json_text_of(lab_call.doc, "stopping"), "r1");
	says("b1", "1:running", "1:stop");
	lab_down();
}
END_TEST

/* Whatever way the drive lost its approval. */
START_TEST(no_program_is_told_for_a_drive_that_is_not_approved_for_it)
{
	lab_begin("{}");
	rig_exec("UPDATE drive SET admin = 'readonly' WHERE id = 1");
	says("b1", "", "");
	rig_exec("UPDATE drive SET admin = 'unapproved' WHERE id = 1");
	says("b1", "", "");
	says("b1", "1:running", "1:stop");
	says("b1", "1:exited", "1:keep");
	rig_exec("UPDATE drive SET admin = 'destructive' WHERE id = 1");
	lab_down();
}
END_TEST

START_TEST(a_run_that_ended_before_its_cancel_keeps_its_result_but_no_retry)
{
	lab_begin("{'retries':5}");
	says("b1", "1:exited", "1:keep");
	cancel();
	records_come(1, FAILED("infra"));
	lab_run_is(1, "failed");
	lab_submit("S2", "{}");
	lab_sched();
	says("b1", "2:running", "2:keep");
	cancel();
	says("b1", "2:exited", "2:keep");
	records_come(2, DONE);
	lab_run_is(2, "done");
	lab_down();
}
END_TEST

static int
two_leases(struct tx *t, void *arg, struct err *e)
{
	(void)arg;
	return tx_exec(t, e,
		"INSERT INTO lease (drive_id, attempt_id, fence, granted_ns)"
		" SELECT drive_id, attempt_id, fence, 0 FROM lease",
		"");
}

START_TEST(the_store_itself_refuses_a_second_lease)
{
	struct err e = {0};

	lab_begin("{}");
	FAILS(rig_write(two_leases, NULL, &e), ERR_STATE, "");
	rig_is("SELECT count(*) FROM lease", "1");
	lab_down();
}
END_TEST

START_TEST(priorities_and_limits_decide_and_blockers_are_told)
{
	struct err e = {0};

	lab_begin("{}");
	lab_submit("S1", "{'priority':10}");
	lab_submit("S1 S2", "{'priority':90}");
	OK(lab_ask(api_nodes_post, 0,
		lab_json("{'name':'sr-01','max_runs':1,'replace':true}"), &e));
	lab_sched();
	rig_is("SELECT blockers ->> '$[0].text' FROM run WHERE id = 2",
		"drive d1 is held by r1");
	rig_is("SELECT blockers ->> '$[1].text' FROM run WHERE id = 2",
		"node sr-01 has 1 of at most 1 runs");
	rig_is("SELECT blockers ->> '$[0].code' FROM run WHERE id = 4", "node.full");
	says("b1", "1:exited", "1:keep");
	records_come(1, DONE);
	lab_sched();
	lab_run_is(2, "pending");
	lab_run_is(3, "leased");
	lab_run_is(4, "pending");
	rig_is("SELECT blockers FROM run WHERE id = 3", "[]");
	OK(lab_ask(api_nodes_drain, 1, lab_json("{'reason':'fans'}"), &e));
	lab_sched();
	rig_is("SELECT group_concat(b.value ->> 'code', ' ') FROM run, "
	       "json_each(blockers) b"
	       " WHERE run.id = 4",
		"node.draining node.full");
	lab_down();
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("model");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_run_goes_from_submission_to_done);
	tcase_add_test(tc, the_program_is_complete_and_told_once);
	tcase_add_test(tc, the_records_may_come_before_the_end_is_reported);
	tcase_add_test(tc, a_run_is_not_done_while_a_record_is_missing);
	tcase_add_test(tc, a_refused_start_ends_the_attempt);
	tcase_add_test(
		tc, only_failures_outside_of_the_drive_are_tried_again_and_not_for_ever);
	tcase_add_test(tc, a_drive_that_failed_waits_for_a_person);
	tcase_add_test(
		tc, a_run_that_no_program_can_be_made_for_fails_and_stops_no_other);
	tcase_add_test(tc, a_result_that_nobody_understands_is_a_failure);
	tcase_add_test(tc, cancelling_ends_a_waiting_run_at_once);
	tcase_add_test(tc, cancelling_takes_a_lease_back_only_when_the_node_never_saw_it);
	tcase_add_test(tc, what_cannot_be_stopped_is_known_until_its_runner_has_ended);
	tcase_add_test(tc, cancelling_stops_what_runs_and_waits_for_its_records);
	tcase_add_test(tc, a_grant_whose_drive_is_protected_is_never_started);
	tcase_add_test(tc, what_runs_on_a_drive_that_is_protected_is_stopped);
	tcase_add_test(tc, readonly_stops_only_a_run_that_writes);
	tcase_add_test(tc, no_program_is_told_for_a_drive_that_is_not_approved_for_it);
	tcase_add_test(
		tc, a_run_that_ended_before_its_cancel_keeps_its_result_but_no_retry);
	tcase_add_test(tc, the_store_itself_refuses_a_second_lease);
	tcase_add_test(tc, priorities_and_limits_decide_and_blockers_are_told);
	return unit_run("model", tc);
}
