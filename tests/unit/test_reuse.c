#include "controller/reuse.h"

#include "common/program.h"
#include "common/suite.h"
#include "controller/doc.h"
#include "controller/history.h"
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
	says("b2", "", "2:keep");
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

#define STEPS 4 /* identify, purge, and two fills */
#define TRIALS 400

/* What happened to a drive: as rows, and as what all of them together say. */
struct story {
	struct history_entry list[64];
	char texts[64][40];
	size_t n;
	bool rows;
};

static uint64_t story_random = 1;

static unsigned
pick(unsigned n)
{
	story_random = story_random * UINT64_C(6364136223846793005) + 1;
	return (unsigned)(story_random >> 33) % n;
}

static struct history_entry *
happens(struct story *s, enum history_kind kind, int64_t run, const char *text)
{
	struct history_entry *x = &s->list[s->n];

	ck_assert_uint_lt(s->n, 64);
	snprintf(s->texts[s->n], sizeof(s->texts[0]), "%s", text);
	*x = (struct history_entry){.kind = kind, .run = run, .text = s->texts[s->n++]};
	return x;
}

/* A program that purges, when asked, and fills; passes of the fills are given. */
static void
story_program(struct program *p, struct step steps[STEPS], bool purge, uint32_t first,
	uint32_t second)
{
	memset(p, 0, sizeof(*p));
	memset(steps, 0, STEPS * sizeof(*steps));
	p->run = p->attempt = p->fence = 1;
	p->max_errors = 50;
	p->drive = (struct drive_id){
		DRIVE_FILE, "m", "s", "", "", 4 << 20, 512, -1, true};
	p->region_length = 1 << 20;
	p->steps = steps;
	steps[p->n_steps++].kind = STEP_IDENTIFY;
	if (purge)
		steps[p->n_steps++].kind = STEP_PURGE;
	for (int i = 0; i < (second > 0 ? 2 : 1); i++) {
		struct step *s = &steps[p->n_steps++];

		s->kind = STEP_FILL;
		s->passes = i == 0 ? first : second;
		workload_plain(&s->workload, 0, 0, 131072);
		snprintf(s->workload.id, sizeof(s->workload.id), "fill");
		s->workload.in_flight = 4;
		s->workload.workers = 1;
	}
}

/* A row of the ledger of an attempt, of any kind. */
static int
story_row(struct tx *t, struct story *s, int64_t attempt, const uint32_t passes[2],
	struct err *e)
{
	static const char *const kinds[] = {
		"fill", "fill", "purge", "workload", "unknown"};
	unsigned kind = pick(5), step = kind < 2 ? 3 + pick(2) : 2;
	bool done = pick(5) > 0;
	struct history_entry *x;
	char detail[120];

	x = happens(s,
		kind < 2    ? HISTORY_FILL
		: kind == 2 ? HISTORY_PURGE
		: kind == 3 ? HISTORY_WRITE
			    : HISTORY_UNKNOWN,
		attempt,
		kind == 3   ? "writes"
		: kind == 4 ? "who knows"
			    : "");
	x->done = done;
	x->step = (uint64_t)attempt << 16 | step;
	if (kind < 2)
		x->fill = (struct history_fill){passes[step - 3], 131072, 4, {0, 0}};
	s->rows = true;
	snprintf(detail, sizeof(detail),
		"{\"state\":\"%s\",\"step\":%u,\"workload\":\"writes\",\"why\":\"who "
		"knows\"}",
		done ? "done" : "stopped", step);
	return tx_exec(t, e,
		"INSERT INTO ledger(drive_id, attempt_id, seq, kind, at_ns,"
		" written_bytes, detail) VALUES (1, ?, ?, ?, 1, 0, ?)",
		"iiss", attempt, (int64_t)s->n, kinds[kind], detail);
}

static int
story_attempt(struct tx *t, struct story *s, int64_t id, struct err *e)
{
	static char left[32];
	uint32_t passes[2] = {1 + pick(2), 1};
	bool lost = pick(20) == 0, tells = pick(20) > 0;
	unsigned rows = pick(2) == 0 ? 1 + pick(3) : 0;
	struct step steps[STEPS];
	struct program p;
	char found[32], text[64], *program;
	int rc;

	snprintf(found, sizeof(found), "%s", id > 1 && pick(20) > 0 ? left : "w");
	snprintf(left, sizeof(left), "w%" PRId64, id);
	story_program(&p, steps, true, passes[0], passes[1]);
	program = doc_text(program_to_json(&p));
	rc = tx_exec(t, e,
		     "INSERT INTO run(id, campaign_id, suite_id, drive_id, repeat,"
		     " priority, state, retries_left, scaled, virtual, created_ns)"
		     " VALUES (?1, 1, 1, 1, ?1, 50, 'done', 0, 0, 0, 1)",
		     "i", id) != 0 ||
			     tx_exec(t, e,
				     "INSERT INTO attempt(id, run_id, number, node_id,"
				     " fence, program, state, granted_ns, witness_found,"
				     " witness_left) VALUES (?1, ?1, 1, 1, ?1, ?2, ?3, 1,"
				     " ?4, ?5)",
				     "issss", id, program, lost ? "lost" : "sealed",
				     found, tells ? left : NULL) != 0 ||
			     tx_exec(t, e,
				     "INSERT INTO lease(drive_id, attempt_id, fence,"
				     " granted_ns, released_ns) VALUES (1, ?1, ?1, 1, 1)",
				     "i", id) != 0
		     ? -1
		     : 0;
	free(program);
	happens(s, HISTORY_FOUND, id, found);
	for (; rc == 0 && rows > 0; rows--)
		rc = story_row(t, s, id, passes, e);
	if (tells)
		happens(s, HISTORY_LEFT, id, left);
	snprintf(text, sizeof(text), "an attempt at r%" PRId64 " was lost", id);
	if (lost)
		happens(s, HISTORY_UNKNOWN, id, text);
	return rc;
}

/* What a plan says of that verdict. */
static void
story_text(const struct history_verdict *v, bool purge, struct str *out)
{
	bool both = purge && v->skip_purge == v->skip_fill;

	str_puts(out, "");
	if (v->skip_purge || v->skip_fill)
		str_printf(out,
			"%s skipped if the drive is found as r%" PRId64 " left it",
			both	       ? "purge and fill"
			: v->skip_fill ? "fill"
				       : "purge",
			v->run);
	if ((purge && !v->skip_purge) || !v->skip_fill)
		str_printf(out, "%s%s repeated: %s", out->len > 0 ? "; " : "",
			both		? "purge and fill"
			: !v->skip_fill ? "fill"
					: "purge",
			v->why);
}

static int
tell_story(struct tx *t, void *arg, struct err *e)
{
	static struct story s;
	unsigned *skipped = arg;
	bool purge = pick(2) == 0;
	uint32_t passes = 1 + pick(2);
	int64_t n = 1 + pick(8);
	struct history_verdict v;
	struct step steps[STEPS];
	struct program p;
	struct str want = {0};
	char *text = NULL;
	int rc = 0;

	memset(&s, 0, sizeof(s));
	for (int64_t id = 1; rc == 0 && id <= n; id++)
		rc = story_attempt(t, &s, id, e);
	story_program(&p, steps, purge, passes, 0);
	history_judge(s.list, s.n,
		&(struct history_wanted){purge, {passes, 131072, 4, {0, 0}}}, &v);
	story_text(&v, purge, &want);
	if (rc == 0)
		rc = reuse_plan(t, 1, &p, &text, e);
	/* where no row tells of the drive, none is looked for */
	if (rc == 0 && s.rows)
		ck_assert_str_eq(text, str_text(&want));
	*skipped += v.skip_purge || v.skip_fill;
	free(text);
	str_fini(&want);
	return rc == 0 && tx_exec(t, e, "DELETE FROM ledger", "") == 0 &&
			       tx_exec(t, e, "DELETE FROM lease", "") == 0 &&
			       tx_exec(t, e, "DELETE FROM attempt", "") == 0 &&
			       tx_exec(t, e, "DELETE FROM run", "") == 0
		       ? 0
		       : -1;
}

START_TEST(what_is_read_of_the_past_says_the_same_as_all_of_it)
{
	unsigned skipped = 0;
	struct err e = {0};

	rig_up();
	rig_seed();
	for (int i = 0; i < TRIALS; i++)
		ck_assert_msg(rig_write(tell_story, &skipped, &e) == 0, "%s", e.text);
	ck_assert_uint_gt(skipped, TRIALS / 20);
	rig_down();
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
	tcase_add_test(tc, what_is_read_of_the_past_says_the_same_as_all_of_it);
	tcase_add_test(tc, a_run_tells_what_it_skipped_and_expects_no_points_of_it);
	return unit_run("reuse", tc);
}
