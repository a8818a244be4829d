/* What nodes say about attempts, drives and themselves, and what follows from it. */
#include "controller/liveness.h"
#include "tests/unit/model_rig.h"

START_TEST(what_an_agent_does_not_know_when_asked_is_lost_and_its_drive_fenced)
{
	struct err e = {0};

	lab_begin("{'repeats':2}");
	says("b1", "1:running", "1:keep");
	says("b1", "", "1:keep");
	lab_run_is(1, "running");
	says("b1", "1:running", "1:keep");
	says("b1", "", "1:keep");
	lab_run_is(1, "running");
	says("b1", "", "");
	lab_run_is(1, "lost");
	rig_is("SELECT state FROM attempt", "lost");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "fenced");
	lab_sched();
	lab_run_is(2, "pending");
	rig_is("SELECT blockers ->> '$[0].code' FROM run WHERE id = 2", "drive.fenced");
	FAILS(lab_ask(api_drives_release, 1, lab_json("{'serial':'S2','reason':'x'}"),
		      &e),
		ERR_UNSAFE, "not that of drive d1");
	OK(lab_ask(api_drives_release, 1,
		lab_json("{'serial':'S1','reason':'no runner is left, I looked'}"), &e));
	rig_is("SELECT released_why FROM lease", "no runner is left, I looked");
	lab_sched();
	lab_run_is(2, "leased");
	/* the fence token of the second is larger, so the first can never come back */
	rig_is("SELECT max(fence) = (SELECT fence FROM attempt WHERE id = 2) FROM "
	       "attempt",
		"1");
	lab_down();
}
END_TEST

/* The answers to the first of them are lost on their way. */
START_TEST(a_report_that_is_sent_again_and_again_loses_nothing)
{
	struct lab_agent a = {0};
	struct err e = {0};

	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	a = (struct lab_agent){lab_first, "b1", "S1 S2", "", NULL};
	for (int i = 0; i < 5; i++) {
		OK(lab_ask(api_agents_reconcile, lab_first, lab_report(&a), &e));
		lab_run_is(1, "running");
	}
	lab_note(lab_first);
	says("b1", "1:running", "1:keep"); /* it had forgotten it, and recalls it */
	lab_run_is(1, "running");
	says("b1", "1:exited", "1:keep");
	says("b1", "", "1:keep");
	says("b1", "", "");
	lab_run_is(1, "lost");
	lab_down();
}
END_TEST

START_TEST(a_word_about_another_token_loses_nothing)
{
	struct lab_agent a = {0};
	struct err e = {0};
	json_t *report;

	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	a = (struct lab_agent){lab_first, "b1", "S1 S2", "", NULL};
	report = lab_report(&a);
	json_put(report, "unknown", lab_json("[{'attempt':'1','fence':'1'}]"));
	OK(lab_ask(api_agents_reconcile, lab_first, report, &e));
	lab_run_is(1, "running");
	lab_down();
}
END_TEST

START_TEST(a_lost_attempt_that_turns_up_is_stopped_and_its_end_frees_the_drive)
{
	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	says("b1", "", "1:keep");
	says("b1", "", "");
	says("b1", "1:running", "1:stop");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "fenced");
	says("b1", "1:exited", "1:forget");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	lab_run_is(1, "lost");
	rig_is("SELECT state FROM campaign", "failed");
	lab_down();
}
END_TEST

START_TEST(a_released_drive_is_fenced_again_when_its_runner_turns_up)
{
	struct err e = {0};

	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	says("b1", "", "1:keep");
	says("b1", "", "");
	OK(lab_ask(api_drives_release, 1, lab_json("{'serial':'S1','reason':'x'}"), &e));
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	says("b1", "1:running", "1:stop");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "fenced");
	says("b1", "1:exited", "1:forget");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	rig_is("SELECT count(*) FROM lease WHERE released_ns IS NULL", "0");
	lab_down();
}
END_TEST

START_TEST(a_new_boot_id_proves_that_no_runner_is_left)
{
	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	says("b2", "", "1:keep");
	lab_run_is(1, "running");
	says("b2", "", "");
	lab_run_is(1, "lost");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	rig_is("SELECT released_why FROM lease",
		"the node has a new boot id: no process of before is left");
	lab_down();
}
END_TEST

START_TEST(a_new_boot_id_frees_what_was_fenced_before)
{
	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	says("b1", "", "1:keep");
	says("b1", "", "");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "fenced");
	says("b1", "", "");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "fenced");
	says("b2", "", "");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	lab_down();
}
END_TEST

START_TEST(a_start_that_was_not_taken_is_told_again_also_after_a_boot)
{
	lab_begin("{}");
	says("b1", "", "1:start");
	says("b1", "", "1:start");
	says("b2", "", "1:start");
	lab_run_is(1, "leased");
	says("b2", "1:running", "1:keep");
	says("b2", "1:exited", "1:keep");
	rig_is("SELECT count(*) FROM attempt", "1");
	lab_down();
}
END_TEST

/* A database from a backup has as under way what its node has forgotten. */
START_TEST(what_a_node_does_not_list_is_asked_for_once_and_taken_when_it_is_there)
{
	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	says("b2", "", "1:keep");
	says("b2", "1:exited", "1:keep");
	lab_run_is(1, "collecting");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	records_come(1, DONE);
	lab_run_is(1, "done");
	says("b2", "1:exited", "1:forget");
	lab_down();
}
END_TEST

START_TEST(records_that_are_gone_lose_the_run_but_not_the_drive)
{
	lab_begin("{}");
	says("b1", "1:exited", "1:keep");
	says("b1", "", "1:keep");
	says("b1", "", "");
	lab_run_is(1, "lost");
	rig_is("SELECT reason FROM run", "its node does not have its records any more");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	lab_down();
}
END_TEST

START_TEST(a_run_waits_for_records_of_a_lost_node_until_a_person_gives_it_up)
{
	struct err e = {0};

	lab_begin("{}");
	says("b1", "1:exited", "1:keep");
	OK(lab_ask(api_campaigns_get, 1, NULL, &e));
	ck_assert(json_is_false(json_object_get(lab_call.doc, "cancelling")));
	OK(lab_ask(api_campaigns_cancel, 1, NULL, &e));
	ck_assert(json_is_true(json_object_get(lab_call.doc, "cancelling")));
	lab_run_is(1, "collecting");
	rig_exec("UPDATE node SET observed = 'lost'");
	OK(lab_ask(api_campaigns_cancel, 1, NULL, &e));
	ck_assert(json_is_false(json_object_get(lab_call.doc, "cancelling")));
	lab_run_is(1, "lost");
	rig_is("SELECT reason FROM run", "cancelled by tester; its node is lost and has "
					 "not sent all of its records");
	rig_is("SELECT state FROM campaign", "failed");
	rig_exec("UPDATE run SET state = 'collecting', unknown = 1");
	lab_submit("S1", "{}");
	lab_sched();
	rig_is("SELECT blockers ->> '$[0].code' FROM run WHERE id = 2", "node.lost");
	rig_exec("UPDATE run SET state = 'lost' WHERE id = 1");
	OK(lab_ask(api_campaigns_cancel, 2, NULL, &e));
	/* the node comes back after all */
	says("b1", "1:exited", "1:forget");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	lab_down();
}
END_TEST

START_TEST(an_attempt_with_another_fence_is_nobodys)
{
	struct err e = {0};
	json_t *report;

	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	report = lab_report(
		&(struct lab_agent){lab_first, "b1", "S1 S2", "1:running", NULL});
	json_put(json_array_get(json_object_get(report, "attempts"), 0), "fence",
		json_string("1"));
	OK(lab_ask(api_agents_reconcile, lab_first, report, &e));
	ck_assert_msg(strstr(lab_doc(), "\"do\":\"stop\"") != NULL, "%s", lab_doc());
	says("b1", "99:running", "99:stop 1:keep");
	lab_run_is(1, "running");
	says("b1", "99:exited", "99:forget");
	lab_run_is(1, "lost");
	lab_down();
}
END_TEST

START_TEST(an_attempt_of_another_node_is_not_taken_from_it)
{
	int64_t other;

	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	other = lab_node("sr-02");
	ck_assert_str_eq(
		lab_reconcile(&(struct lab_agent){other, "b1", "", "1:exited", NULL}),
		"1:forget");
	lab_run_is(1, "running");
	lab_down();
}
END_TEST

START_TEST(a_drive_on_two_nodes_is_in_conflict_until_one_lets_go)
{
	struct lab_agent b = {0, "b", "S2", "", NULL};

	lab_begin("{}");
	b.node = lab_node("sr-02");
	lab_reconcile(&b);
	rig_is("SELECT observed FROM drive WHERE id = 2", "conflict");
	lab_submit("S1", "{}");
	says("b1", "", "1:start");
	rig_is("SELECT observed FROM drive WHERE id = 2", "conflict");
	ck_assert_str_eq(
		lab_reconcile(&(struct lab_agent){lab_first, "b1", "S1", "", NULL}),
		"1:start");
	rig_is("SELECT observed || node_id FROM drive WHERE id = 2", "present2");
	rig_is("SELECT observed || node_id FROM drive WHERE id = 1", "present1");
	/* a silent node does not keep the conflict up, its return brings it back */
	says("b1", "", "1:start");
	rig_is("SELECT observed FROM drive WHERE id = 2", "conflict");
	rig_exec("UPDATE node SET observed = 'lost' WHERE id = 1");
	lab_reconcile(&b);
	rig_is("SELECT observed || node_id FROM drive WHERE id = 2", "present2");
	says("b1", "", "1:start");
	rig_is("SELECT observed FROM drive WHERE id = 2", "conflict");
	lab_down();
}
END_TEST

START_TEST(a_drive_may_move_from_a_lost_node_but_not_with_its_lease)
{
	struct lab_agent b = {0, "b", "S1 S2", "", NULL};

	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	rig_exec("UPDATE node SET observed = 'lost' WHERE id = 1");
	b.node = lab_node("sr-02");
	lab_reconcile(&b);
	rig_is("SELECT observed || node_id FROM drive WHERE id = 2", "present2");
	rig_is("SELECT observed FROM drive WHERE id = 1", "conflict");
	/* the node comes back without them: its lease is judged by its own word */
	ck_assert_str_eq(
		lab_reconcile(&(struct lab_agent){1, "b9", "", "", NULL}), "1:keep");
	ck_assert_str_eq(lab_reconcile(&(struct lab_agent){1, "b9", "", "", NULL}), "");
	lab_reconcile(&b);
	rig_is("SELECT observed || node_id || occupancy FROM drive WHERE id = 1",
		"present2idle");
	lab_down();
}
END_TEST

START_TEST(drives_come_go_and_are_protected_as_their_node_tells)
{
	lab_begin("{}");
	lab_reconcile(&(struct lab_agent){lab_first, "b1", "S1", "", NULL});
	rig_is("SELECT observed FROM drive WHERE id = 2", "absent");
	lab_reconcile(&(struct lab_agent){lab_first, "b1", "S1 S2", "", "mounted on /"});
	rig_is("SELECT observed || protected FROM drive WHERE id = 2",
		"protectedmounted on /");
	lab_reconcile(&(struct lab_agent){lab_first, "b1", "S1 S2", "", NULL});
	rig_is("SELECT observed || protected FROM drive WHERE id = 2", "present");
	lab_reconcile(&(struct lab_agent){lab_first, "b1", "S1 S2 S2", "", NULL});
	rig_is("SELECT observed || protected FROM drive WHERE id = 2",
		"protecteda second device with this identity is at /dev/S2");
	rig_is("SELECT group_concat(detail ->> 'why', '; ') FROM ledger WHERE drive_id = "
	       "2"
	       " AND kind = 'unknown'",
		"people changed its approval; it was away: no node listed it; it was in "
		"use: "
		"mounted on /; it was in use: a second device with this identity is at "
		"/dev/S2");
	lab_down();
}
END_TEST

/* A report of an agent with a session, which may be held. */
static void
poll_with(const char *attempts)
{
	struct err e = {0};
	struct seal_session keys = {.id = {7}};
	char id[32];
	json_t *report = lab_told(
		&(struct lab_agent){lab_first, "b1", "S1 S2", attempts, NULL});

	session_install(lab_sessions, lab_first, &keys, clock_mono());
	seal_base64(keys.id, sizeof(keys.id), id);
	json_put(report, "session", json_string(id));
	OK(lab_ask(api_agents_reconcile, lab_first, report, &e));
	lab_note(lab_first);
}

START_TEST(a_node_whose_word_is_waited_for_is_not_held)
{
	struct err e = {0};

	lab_begin("{}");
	poll_with("");
	ck_assert(!lab_call.hold); /* it is to start attempt 1 */
	OK(lab_ask(api_drives_protect, 1, lab_json("{'reason':'goes back'}"), &e));
	poll_with("");
	ck_assert(!lab_call.hold);
	lab_run_is(1, "leased");
	poll_with("");
	ck_assert(lab_call.hold);
	lab_run_is(1, "cancelled");
	lab_down();
}
END_TEST

START_TEST(a_poll_with_nothing_new_is_held_and_takes_its_report_once)
{
	struct err e = {0};
	int64_t until;

	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	ck_assert(!lab_call.hold); /* the session is not known: that is news */
	ck_assert(json_is_false(json_object_get(lab_call.doc, "session_known")));
	poll_with("1:running");
	ck_assert(json_is_true(json_object_get(lab_call.doc, "session_known")));
	ck_assert(lab_call.hold);
	ck_assert_int_eq(lab_call.hold_node, lab_first);
	until = lab_call.hold_until_mono;
	ck_assert_int_gt(until, clock_mono() + 20 * NS_PER_S);
	/* meanwhile: a newer report of the end, then the held one is looked at again */
	rig_exec("UPDATE attempt SET state = 'exited'");
	rig_exec("UPDATE run SET state = 'collecting'");
	rig_exec("DELETE FROM sighting");
	OK(lab_again(api_agents_reconcile, &e));
	ck_assert_int_eq(lab_call.hold_until_mono, until);
	lab_run_is(1, "collecting");
	rig_is("SELECT count(*) FROM sighting", "0");
	lab_down();
}
END_TEST

static struct liveness quick = {.late_ns = 15, .lost_ns = 60};

static void
liveness_after(int64_t silent_ns)
{
	struct err e = {0};
	char *sql = xasprintf(
		"UPDATE node SET seen_mono_ns = %" PRId64, clock_mono() - silent_ns);

	rig_exec(sql);
	free(sql);
	OK(rig_write(liveness_pass, &quick, &e));
}

START_TEST(silence_makes_a_node_late_then_lost_and_frees_nothing)
{
	lab_begin("{}");
	quick = (struct liveness){.late_ns = 15 * NS_PER_S, .lost_ns = 60 * NS_PER_S};
	says("b1", "1:running", "1:keep");
	liveness_after(0);
	rig_is("SELECT observed FROM node", "online");
	liveness_after(16 * NS_PER_S);
	rig_is("SELECT observed FROM node", "late");
	rig_is("SELECT unknown FROM run", "0");
	liveness_after(61 * NS_PER_S);
	rig_is("SELECT observed FROM node", "lost");
	rig_is("SELECT state || unknown FROM run", "running1");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "leased");
	liveness_after(100000 * NS_PER_S);
	rig_is("SELECT state || unknown FROM run", "running1");
	says("b1", "1:running", "1:keep");
	rig_is("SELECT observed FROM node", "online");
	rig_is("SELECT state || unknown FROM run", "running0");
	rig_is("SELECT group_concat(to_state, ' ') FROM transition WHERE object = 'node'"
	       " AND variable = 'observed'",
		"online late lost online");
	lab_down();
}
END_TEST

START_TEST(a_new_controller_gives_all_nodes_their_full_time)
{
	lab_begin("{}");
	quick = (struct liveness){.late_ns = 15 * NS_PER_S,
		.lost_ns = 60 * NS_PER_S,
		.started_mono = clock_mono()};
	liveness_after(1000 * NS_PER_S);
	rig_is("SELECT observed FROM node", "online");
	/* what an earlier epoch noted may be the clock of another boot */
	quick.started_mono = clock_mono() - 16 * NS_PER_S;
	rig_exec("UPDATE node SET seen_epoch = 0");
	liveness_after(-1000 * NS_PER_S);
	rig_is("SELECT observed FROM node", "late");
	lab_down();
}
END_TEST

START_TEST(a_node_whose_poll_is_held_is_there)
{
	lab_begin("{}");
	quick = (struct liveness){.late_ns = 15 * NS_PER_S,
		.lost_ns = 60 * NS_PER_S,
		.held = &lab_first,
		.n_held = 1};
	liveness_after(20 * NS_PER_S);
	rig_is("SELECT observed FROM node", "online");
	quick.n_held = 0;
	liveness_after(14 * NS_PER_S);
	rig_is("SELECT observed FROM node", "online");
	lab_down();
}
END_TEST

/* What the two answers say of the only node, which was heard of that long ago. */
static void
told_after(int64_t silent_ns, int64_t wall_ns, const char *want)
{
	struct err e = {0};
	char *sql = xasprintf("UPDATE node SET seen_mono_ns = %" PRId64
			      ", last_seen_ns = %" PRId64,
		clock_mono() - silent_ns, clock_wall() - wall_ns);

	rig_exec(sql);
	free(sql);
	OK(lab_ask(api_nodes_get, lab_first, NULL, &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "observed"), want);
	OK(lab_ask(api_nodes_list, 0, NULL, &e));
	ck_assert_str_eq(
		json_text_of(json_array_get(json_object_get(lab_call.doc, "items"), 0),
			"observed"),
		want);
}

START_TEST(a_node_not_heard_of_is_not_called_online_whether_a_pass_has_run_or_not)
{
	char tag[sizeof(lab_call.etag)];
	struct err e = {0};

	lab_begin("{}");
	lab_env.late_ns = 15 * NS_PER_S;
	says("b1", "1:running", "1:keep");
	told_after(14 * NS_PER_S, 42 * NS_PER_S, "online");
	OK(lab_ask(api_nodes_get, lab_first, NULL, &e));
	memcpy(tag, lab_call.etag, sizeof(tag));
	rig_exec("UPDATE node SET seen_mono_ns = seen_mono_ns - 28000000000");
	OK(lab_ask(api_nodes_get, lab_first, NULL, &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "observed"), "late");
	ck_assert_str_ne(lab_call.etag, tag);
	told_after(42 * NS_PER_S, 42 * NS_PER_S, "late");
	/* a step of the wall clock is no silence */
	told_after(1 * NS_PER_S, 1000 * NS_PER_S, "online");
	/* after a start nothing is known of the monotonic clock of before */
	rig_exec("UPDATE node SET seen_epoch = 0");
	told_after(0, 42 * NS_PER_S, "late");
	told_after(1000 * NS_PER_S, 3 * NS_PER_S, "online");
	/* nothing was noted: that is for the pass */
	rig_is("SELECT observed FROM node", "online");
	rig_exec("UPDATE node SET observed = 'lost'");
	told_after(0, 0, "lost");
	lab_down();
}
END_TEST

START_TEST(a_held_node_is_noted_so_often_that_it_is_never_told_late)
{
	lab_begin("{}");
	for (int64_t late_s = 5; late_s <= 60; late_s++) {
		int64_t silent_ns = 0;

		quick = (struct liveness){.late_ns = late_s * NS_PER_S,
			.lost_ns = 2 * late_s * NS_PER_S,
			.held = &lab_first,
			.n_held = 1};
		/* passes at their distance until one notes it */
		for (bool noted = false; !noted;) {
			char *seen;

			silent_ns += LIVENESS_EVERY_NS;
			ck_assert_int_lt(silent_ns, quick.late_ns);
			rig_exec("UPDATE node SET last_seen_ns = 1");
			liveness_after(silent_ns);
			seen = rig_text("SELECT last_seen_ns > 1 FROM node");
			noted = strcmp(seen, "1") == 0;
			free(seen);
		}
	}
	lab_down();
}
END_TEST

START_TEST(a_leased_drive_of_a_lost_node_is_released_by_a_person_only)
{
	struct err e = {0};

	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	FAILS(lab_ask(api_drives_release, 1, lab_json("{'serial':'S1','reason':'x'}"),
		      &e),
		ERR_STATE, "its node is not lost");
	FAILS(lab_ask(api_drives_release, 2, lab_json("{'serial':'S2','reason':'x'}"),
		      &e),
		ERR_STATE, "is idle");
	rig_exec("UPDATE node SET observed = 'lost'");
	OK(lab_ask(api_drives_release, 1,
		lab_json("{'serial':'S1','reason':'the server burned down'}"), &e));
	lab_run_is(1, "lost");
	rig_is("SELECT reason FROM run", "the server burned down");
	rig_is("SELECT occupancy FROM drive WHERE id = 1", "idle");
	lab_down();
}
END_TEST

static json_t *
report_of_epoch(const char *epoch)
{
	json_t *report = lab_report(
		&(struct lab_agent){lab_first, "b1", "S1 S2", "1:running", NULL});

	json_put(report, "epoch_seen", json_string(epoch));
	return report;
}

START_TEST(a_node_that_has_seen_a_later_epoch_gets_nothing_new_until_a_restart)
{
	struct err e = {0};

	lab_begin("{}");
	OK(lab_ask(api_agents_reconcile, lab_first, report_of_epoch("7"), &e));
	rig_is("SELECT observed FROM node", "incompatible");
	ck_assert_msg(strstr(lab_doc(), "\"do\":\"keep\"") != NULL, "%s", lab_doc());
	lab_run_is(1, "leased");
	rig_is("SELECT why LIKE '%restart the controller%' FROM transition"
	       " WHERE to_state = 'incompatible'",
		"1");
	rig_is("SELECT trouble LIKE 'it has seen a later epoch, 7, than this '"
	       " || 'controller''s, 1; was the database restored?%' FROM node",
		"1");
	/* the next start counts on from there */
	rig_is("SELECT value FROM meta WHERE key = 'epoch'", "7");
	FAILS(lab_ask(api_agents_reconcile, lab_first, report_of_epoch("4294967296"), &e),
		ERR_INVALID, "no controller has had");
	OK(lab_ask(api_agents_reconcile, lab_first, report_of_epoch("1"), &e));
	rig_is("SELECT observed || trouble FROM node", "online");
	lab_run_is(1, "running");
	lab_down();
}
END_TEST

START_TEST(a_node_that_was_enrolled_here_may_have_another_past)
{
	struct err e = {0};
	json_t *report;

	lab_up();
	lab_suite();
	lab_first = lab_node("sr-01");
	report = lab_report(&(struct lab_agent){lab_first, "b1", "S1", "", NULL});
	json_put(report, "epoch_seen", json_string("7"));
	json_put(report, "fences", json_pack("{s:s}", "S1", "30064771077"));
	OK(lab_ask(api_agents_reconcile, lab_first, report, &e));
	rig_is("SELECT observed FROM node", "online");
	lab_approve(1);
	lab_submit("S1", "{}");
	lab_sched();
	rig_is("SELECT fence FROM attempt", "30064771078");
	lab_down();
}
END_TEST

START_TEST(an_agent_of_another_protocol_keeps_what_it_has)
{
	struct err e = {0};
	json_t *report;

	lab_begin("{}");
	says("b1", "1:running", "1:keep");
	report = lab_report(
		&(struct lab_agent){lab_first, "b1", "S1 S2", "1:exited", NULL});
	json_put(report, "protocol", json_pack("[i,i]", 2, 3));
	OK(lab_ask(api_agents_reconcile, lab_first, report, &e));
	rig_is("SELECT observed FROM node", "incompatible");
	rig_is("SELECT trouble LIKE '%upgrade the older one' FROM node", "1");
	ck_assert_msg(strstr(lab_doc(), "\"do\":\"keep\"") != NULL, "%s", lab_doc());
	lab_run_is(1, "running");
	lab_down();
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("nodes");

	tcase_set_timeout(tc, 60);
	tcase_add_test(
		tc, what_an_agent_does_not_know_when_asked_is_lost_and_its_drive_fenced);
	tcase_add_test(tc, a_report_that_is_sent_again_and_again_loses_nothing);
	tcase_add_test(tc, a_word_about_another_token_loses_nothing);
	tcase_add_test(
		tc, a_lost_attempt_that_turns_up_is_stopped_and_its_end_frees_the_drive);
	tcase_add_test(tc, a_released_drive_is_fenced_again_when_its_runner_turns_up);
	tcase_add_test(tc, a_new_boot_id_proves_that_no_runner_is_left);
	tcase_add_test(tc, a_new_boot_id_frees_what_was_fenced_before);
	tcase_add_test(tc, a_start_that_was_not_taken_is_told_again_also_after_a_boot);
	tcase_add_test(tc,
		what_a_node_does_not_list_is_asked_for_once_and_taken_when_it_is_there);
	tcase_add_test(tc, records_that_are_gone_lose_the_run_but_not_the_drive);
	tcase_add_test(
		tc, a_run_waits_for_records_of_a_lost_node_until_a_person_gives_it_up);
	tcase_add_test(tc, an_attempt_with_another_fence_is_nobodys);
	tcase_add_test(tc, an_attempt_of_another_node_is_not_taken_from_it);
	tcase_add_test(tc, a_drive_on_two_nodes_is_in_conflict_until_one_lets_go);
	tcase_add_test(tc, a_drive_may_move_from_a_lost_node_but_not_with_its_lease);
	tcase_add_test(tc, drives_come_go_and_are_protected_as_their_node_tells);
	tcase_add_test(tc, a_node_whose_word_is_waited_for_is_not_held);
	tcase_add_test(tc, a_poll_with_nothing_new_is_held_and_takes_its_report_once);
	tcase_add_test(tc, silence_makes_a_node_late_then_lost_and_frees_nothing);
	tcase_add_test(tc, a_new_controller_gives_all_nodes_their_full_time);
	tcase_add_test(tc, a_node_whose_poll_is_held_is_there);
	tcase_add_test(tc,
		a_node_not_heard_of_is_not_called_online_whether_a_pass_has_run_or_not);
	tcase_add_test(tc, a_held_node_is_noted_so_often_that_it_is_never_told_late);
	tcase_add_test(tc, a_leased_drive_of_a_lost_node_is_released_by_a_person_only);
	tcase_add_test(
		tc, a_node_that_has_seen_a_later_epoch_gets_nothing_new_until_a_restart);
	tcase_add_test(tc, a_node_that_was_enrolled_here_may_have_another_past);
	tcase_add_test(tc, an_agent_of_another_protocol_keeps_what_it_has);
	return unit_run("nodes", tc);
}
