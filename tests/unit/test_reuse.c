#include "controller/reuse.h"

#include "common/program.h"
#include "common/suite.h"
#include "tests/unit/data_rig.h"
#include "tests/unit/model_rig.h"

#define FENCE (UINT64_C(1) << 32)

/* What a runner says of one attempt at S1, from drive.found on. */
static void
begin(uint64_t attempt, const char *found)
{
	char text[200];

	says("b1",
		attempt == 1   ? "1:running"
		: attempt == 2 ? "2:running"
			       : "3:running",
		attempt == 1   ? "1:keep"
		: attempt == 2 ? "2:keep"
			       : "3:keep");
	feed_reset();
	feed_start(attempt, FENCE | attempt);
	snprintf(text, sizeof(text), "{\"event\":\"drive.found\",\"witness\":\"%s\"}",
		found);
	feed_text(RECORD_EVENT, text);
}

static void
wrote(uint32_t step, const char *workload, const char *bytes)
{
	struct point_record *p = &rig_feed.point;

	memset(p, 0, sizeof(*p));
	p->meta = json_pack("{s:i, s:i, s:s, s:s, s:s, s:s, s:s}", "point",
		(int)rig_feed.seq, "step", (int)step, "workload", workload, "state",
		"done", "started_ns", "1700000000000000000", "length_ns", "1000000000",
		"written_bytes", bytes);
	feed_raw(++rig_feed.seq, RECORD_POINT, rig_feed.buf,
		point_encode(p, rig_feed.buf, sizeof(rig_feed.buf)));
	point_record_fini(p);
}

static void
end(uint64_t attempt, const char *left)
{
	struct ingest_answer a;
	struct err e = {0};
	char text[200];

	if (left != NULL) {
		snprintf(text, sizeof(text),
			"{\"event\":\"drive.left\",\"witness\":\"%s\"}", left);
		feed_text(RECORD_EVENT, text);
	}
	feed_result("done");
	OK(feed_send(lab_first, &a, &e));
	ck_assert_uint_eq(a.acked, rig_feed.seq);
	says("b1",
		attempt == 1   ? "1:exited"
		: attempt == 2 ? "2:exited"
			       : "3:exited",
		attempt == 1   ? "1:forget"
		: attempt == 2 ? "2:forget"
			       : "3:forget");
}

/* A campaign of reads that fills first, and its attempt 1 at S1 with a fill. */
static void
fill_once(void)
{
	lab_begin("{'workloads':['reads'],'preparation':'reuse'}");
	begin(1, "w0");
	wrote(2, "fill", "67108864");
	wrote(3, "reads", "0");
	end(1, "w1");
}

static void
submit(const char *preparation)
{
	char extra[100];

	snprintf(extra, sizeof(extra), "{'workloads':['reads'],'preparation':'%s'}",
		preparation);
	lab_submit("S1", extra);
	lab_sched();
}

/* The condition of the fill of an attempt: "12 witness", or NULL. */
static void
condition_is(int64_t attempt, const char *want)
{
	char *sql = xasprintf(
		"SELECT coalesce(program ->> '$.steps[1].unless.run' || ' ' ||"
		" (program ->> '$.steps[1].unless.witness'), 'none')"
		" FROM attempt WHERE id = %" PRId64,
		attempt);

	rig_is(sql, want);
	free(sql);
}

/* Why an attempt fills its drive anew. */
static void
repeated_is(int64_t attempt, const char *want)
{
	char *sql = xasprintf("SELECT coalesce(max(detail ->> 'what' || ': ' ||"
			      " (detail ->> 'why')), 'not said') FROM ledger"
			      " WHERE kind = 'repeat' AND attempt_id = %" PRId64,
		attempt);

	rig_is(sql, want);
	free(sql);
}

START_TEST(a_fill_is_made_conditional_when_the_ledger_proves_it)
{
	fill_once();
	condition_is(1, "none");
	repeated_is(1, "fill: no purge or fill of it is known");
	submit("reuse");
	condition_is(2, "1 w1");
	repeated_is(2, "not said");
	feed_reset();
	lab_down();
}
END_TEST

START_TEST(a_campaign_that_does_not_ask_prepares_as_its_suite_says)
{
	fill_once();
	submit("repeat");
	condition_is(2, "none");
	repeated_is(2, "not said");
	feed_reset();
	lab_down();
}
END_TEST

START_TEST(a_write_since_or_a_hole_in_what_is_told_makes_it_repeat)
{
	static const char *const why[] = {
		"fill: r2 has written to it since (writes)",
		"fill: it was away: no node listed it",
		"fill: records of r2 were lost",
		"fill: r2 did not find the drive as r1 left it",
		"fill: r2 has not told how it left the drive",
		"fill: people changed its approval",
		"fill: the runner of r2 was started anew",
		"fill: the runner of r2 was started anew",
	};

	fill_once();
	lab_submit("S1", "{'workloads':['reads'],'preparation':'reuse'}");
	lab_sched();
	begin(2, _i == 3 ? "w9" : "w1");
	if (_i == 6)
		feed_text(RECORD_EVENT, "{\"event\":\"run.resumed\",\"step\":3}");
	if (_i == 7)
		feed_text(RECORD_EVENT, "{\"event\":\"drive.found\",\"witness\":\"w1\"}");
	if (_i == 0)
		wrote(3, "writes", "4096");
	if (_i == 2) {
		feed_text(
			RECORD_GAP, "{\"from\":\"2\",\"to\":\"2\",\"reason\":\"disk\"}");
	}
	end(2, _i == 4 ? NULL : "w1");
	if (_i == 1)
		lab_reconcile(&(struct lab_agent){lab_first, "b1", "S2", "", NULL});
	says("b1", "", "");
	if (_i == 5)
		lab_approve(1);
	submit("reuse");
	condition_is(3, "none");
	repeated_is(3, why[_i]);
	feed_reset();
	lab_down();
}
END_TEST

START_TEST(an_attempt_that_was_lost_makes_it_repeat)
{
	fill_once();
	lab_submit("S1", "{'workloads':['reads'],'preparation':'reuse'}");
	lab_sched();
	begin(2, "w1");
	/* the node was started anew and knows nothing of it */
	says("b2", "", "");
	rig_is("SELECT state FROM attempt WHERE id = 2", "lost");
	submit("reuse");
	condition_is(3, "none");
	repeated_is(3, "fill: an attempt at r2 was lost");
	feed_reset();
	lab_down();
}
END_TEST

START_TEST(a_plan_says_what_will_be_skipped_or_repeated)
{
	static const char campaign[] =
		"{'ssdlab':'campaign/"
		"v1','name':'t','suite':'small@1','workloads':['reads'],"
		"'preparation':'reuse','drives':[{'serial':'S1'},{'serial':'S2'}]}";
	struct err e = {0};
	json_t *drives;

	fill_once();
	lab_query = "dry_run=plan";
	OK(lab_ask(api_campaigns_post, 0, lab_json(campaign), &e));
	drives = json_object_get(lab_call.doc, "drives");
	ck_assert_str_eq(json_text_of(json_array_get(drives, 0), "preparation"),
		"fill skipped if the drive is found as r1 left it");
	ck_assert_str_eq(json_text_of(json_array_get(drives, 1), "preparation"),
		"fill repeated: no purge or fill of it is known");
	feed_reset();
	lab_down();
}
END_TEST

START_TEST(a_run_tells_what_it_skipped_and_expects_no_points_of_it)
{
	struct ingest_answer a;
	struct err e = {0};
	json_t *list;

	fill_once();
	submit("reuse");
	begin(2, "w1");
	feed_text(RECORD_EVENT, "{\"event\":\"purge.end\",\"state\":\"stopped\","
				"\"method\":\"zero\",\"written_bytes\":\"500\"}");
	wrote(3, "writes", "70");
	feed_text(RECORD_EVENT, "{\"event\":\"prepare.skipped\",\"step\":2,\"kind\":"
				"\"fill\",\"passes\":1,"
				"\"since_run\":\"1\",\"text\":\"r1 left the drive so\"}");
	OK(feed_send(lab_first, &a, &e));
	OK(lab_ask(api_runs_get, 2, NULL, &e));
	list = json_object_get(lab_call.doc, "preparation");
	ck_assert_str_eq(json_text_of(lab_call.doc, "written_bytes"), "570");
	ck_assert_uint_eq(json_array_size(list), 2);
	ck_assert_str_eq(json_text_of(json_array_get(list, 1), "text"),
		"fill skipped: r1 left the drive so");
	ck_assert_int_eq(
		json_integer_value(json_object_get(
			json_object_get(lab_call.doc, "progress"), "points_total")),
		3);
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	ck_assert_int_eq(
		json_integer_value(json_object_get(
			json_object_get(lab_call.doc, "progress"), "points_total")),
		4);
	feed_reset();
	lab_down();
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("reuse");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_fill_is_made_conditional_when_the_ledger_proves_it);
	tcase_add_test(tc, a_campaign_that_does_not_ask_prepares_as_its_suite_says);
	tcase_add_loop_test(
		tc, a_write_since_or_a_hole_in_what_is_told_makes_it_repeat, 0, 8);
	tcase_add_test(tc, an_attempt_that_was_lost_makes_it_repeat);
	tcase_add_test(tc, a_plan_says_what_will_be_skipped_or_repeated);
	tcase_add_test(tc, a_run_tells_what_it_skipped_and_expects_no_points_of_it);
	return unit_run("reuse", tc);
}
