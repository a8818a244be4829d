#include "cli/progress.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/str.h"
#include "tests/unit/unit.h"

#define SECOND INT64_C(1000000000)

static json_t *
parsed(const char *text)
{
	json_t *doc = json_loads(text, 0, NULL);

	ck_assert_msg(doc != NULL, "%s", text);
	return doc;
}

static json_t *
run_doc(const char *id, const char *state, int done)
{
	json_t *doc = json_pack(
		"{s:s, s:s, s:s, s:{s:s}, s:{s:s}, s:[{s:s}], s:{s:i, s:i}}", "id", id,
		"state", state, "suite", "small@1", "drive", "serial", "S1", "node",
		"name", "sr-01", "blockers", "text", "drive d1 is held by r9", "progress",
		"points_done", done, "points_total", 10);

	ck_assert_ptr_nonnull(doc);
	return doc;
}

static void
update(struct progress *p, const char *state, json_t *runs, int64_t now_ns)
{
	json_t *campaign = state == NULL
				   ? NULL
				   : json_pack("{s:s, s:s, s:s, s:s}", "id", "c1", "name",
					     "first", "suite", "small@1", "state", state);

	progress_update(p, campaign, runs, now_ns);
	json_decref(campaign);
	json_decref(runs);
}

/* Takes an event and returns its line, "(other)" when it is not ours. */
static const char *
line(struct progress *p, const char *name, const char *data, bool want_stale)
{
	static struct str out;
	json_t *doc = parsed(data);
	bool stale;

	str_reset(&out);
	if (!progress_event(p, name, doc, &stale))
		str_puts(&out, "(other)");
	else
		progress_line(p, name, doc, &out);
	ck_assert_int_eq(stale, want_stale);
	json_decref(doc);
	return str_text(&out);
}

static const char *
block(struct progress *p, unsigned rows, int64_t now_ns)
{
	static char *text;
	struct out o = {.format = OUT_WIDE};
	size_t len;

	free(text);
	o.file = open_memstream(&text, &len);
	progress_block(p, &o, rows, now_ns);
	fclose(o.file);
	return text;
}

/* Tells p of a suite whose points take 10 s. */
static void
suite(struct progress *p)
{
	json_t *doc = parsed("{\"document\": {\"prepare\": {\"fill\": {\"passes\": 1}},"
			     " \"ramp\": {\"maximum\": {\"warmup\": \"4s\", \"measure\":"
			     " \"10s\"}, \"point\": {\"warmup\": \"4s\", \"measure\":"
			     " \"4s\"}, \"load\": [\"50%\", \"100%\"]}}}");

	progress_suite(p, doc);
	json_decref(doc);
}

START_TEST(events_become_lines_and_say_what_is_stale)
{
	struct progress *p = progress_new("c1");

	update(p, "running", json_pack("[o]", run_doc("r1", "running", 2)), 0);
	ck_assert_str_eq(
		line(p, "run.state",
			"{\"id\": \"r1\", \"from\": \"leased\", \"to\": \"running\","
			" \"why\": \"\"}",
			true),
		"r1 S1: leased -> running");
	ck_assert_str_eq(
		line(p, "run.point",
			"{\"run\": \"r1\", \"workload\": \"4k\", \"load_percent\": 40,"
			" \"state\": \"done\", \"iops\": 642000, \"lat_p99_ns\": 611000}",
			true),
		"r1 S1: 4k 40 %: 642 k IOPS, service p99 611 us");
	ck_assert_str_eq(
		line(p, "run.point",
			"{\"run\": \"r1\", \"workload\": \"4k\", \"load_percent\": 110,"
			" \"state\": \"done\", \"iops\": 29100, \"offered_iops\": 38100,"
			" \"latency\": \"response\", \"lat_p99_ns\": 503000000,"
			" \"flags\": [\"saturated\"]}",
			true),
		"r1 S1: 4k 110 %: 29.1 k of 38.1 k IOPS offered, response p99 503 ms, "
		"saturated");
	ck_assert_str_eq(
		line(p, "run.point",
			"{\"run\": \"r1\", \"workload\": \"4k\", \"load_percent\": null,"
			" \"state\": \"done\", \"iops\": 27000, \"offered_iops\": null,"
			" \"latency\": \"service\", \"lat_p99_ns\": 503000, \"flags\": "
			"[]}",
			true),
		"r1 S1: 4k maximum: 27.0 k IOPS, service p99 503 us");
	ck_assert_str_eq(
		line(p, "run.point",
			"{\"run\": \"r1\", \"workload\": \"fill\", \"load_percent\": "
			"null,"
			" \"state\": \"done\", \"iops\": 4000, \"bytes_per_second\":"
			" 524000000}",
			true),
		"r1 S1: fill: 524 MB/s");
	ck_assert_str_eq(
		line(p, "run.point",
			"{\"run\": \"r1\", \"workload\": \"4k\", \"load_percent\": null,"
			" \"state\": \"stopped\", \"iops\": null}",
			true),
		"r1 S1: 4k maximum [stopped]");
	ck_assert_str_eq(line(p, "run.step",
				 "{\"run\": \"r1\", \"event\": \"step.start\", \"kind\": "
				 "\"fill\"}",
				 true),
		"r1 S1: step fill");
	ck_assert_str_eq(
		line(p, "run.alarm", "{\"run\": \"r1\", \"text\": \"same seq\"}", true),
		"r1 S1: alarm: same seq");
	ck_assert_str_eq(
		line(p, "campaign.state",
			"{\"id\": \"c1\", \"from\": \"running\", \"to\": \"done\","
			" \"why\": \"all runs ended\"}",
			true),
		"c1: running -> done (all runs ended)");
	ck_assert_str_eq(
		line(p, "run.sample", "{\"run\": \"r1\", \"iops\": 5}", false), "");
	ck_assert_str_eq(line(p, "run.state", "{\"id\": \"r2\"}", false), "(other)");
	ck_assert_str_eq(line(p, "campaign.state", "{\"id\": \"c2\"}", false), "(other)");
	ck_assert_str_eq(line(p, "heartbeat", "{}", false), "(other)");
	progress_free(p);
}
END_TEST

START_TEST(the_block_has_live_figures_a_bar_and_what_is_left)
{
	struct progress *p = progress_new("c1");

	update(p, "running",
		json_pack("[o, o]", run_doc("r2", "pending", 0),
			run_doc("r1", "running", 2)),
		SECOND);
	line(p, "run.sample",
		"{\"run\": \"r1\", \"workload\": \"4k\", \"load_percent\": 50,"
		" \"iops\": 1254000, \"offered_iops\": 1300000, \"latency\":"
		" \"response\", \"lat_p99_ns\": 85300}",
		false);
	suite(p);
	ck_assert_str_eq(block(p, 10, 21 * SECOND),
		"c1 first, small@1, running: 1 pending 1 running\n"
		"RUN  DRIVE  NODE   STATE      IOPS  OFFERED               P99  POINTS   "
		"         ETA  WHAT\n"
		"r1   S1     sr-01  running  1.25 M   1.30 M  85.3 us response  "
		"##........ 2/10  80 s  4k 50 %\n"
		"r2   S1     sr-01  pending       -        -                 -  "
		".......... 0/10     -  drive d1 is held by r9\n");
	progress_free(p);
}
END_TEST

/* The time left of r1 as the block tells it. */
static const char *
eta(struct progress *p, int64_t now_ns)
{
	static char text[16];
	const char *at = strstr(block(p, 10, now_ns), "/10  ");

	ck_assert_ptr_nonnull(at);
	at += strspn(at, "/10 ");
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(at, "s-") + 1, at);
	return text;
}

static void
points_done(struct progress *p, int done, int64_t now_ns)
{
	update(p, "running", json_pack("[o]", run_doc("r1", "running", done)), now_ns);
}

START_TEST(what_is_left_follows_the_plan_and_then_the_points)
{
	struct progress *p = progress_new("c1");

	points_done(p, 1, 100 * SECOND);
	ck_assert_str_eq(eta(p, 100 * SECOND), "-");
	suite(p);
	ck_assert_str_eq(eta(p, 100 * SECOND), "90 s");
	/* The first end sets the clock, whenever that point began. */
	points_done(p, 2, 103 * SECOND);
	ck_assert_str_eq(eta(p, 103 * SECOND), "80 s");
	ck_assert_str_eq(eta(p, 108 * SECOND), "75 s");
	/* One that took 14 s instead of 10 s makes 11 s of it. */
	points_done(p, 3, 117 * SECOND);
	ck_assert_str_eq(eta(p, 117 * SECOND), "77 s");
	ck_assert_str_eq(eta(p, 127 * SECOND), "67 s");
	ck_assert_str_eq(eta(p, 200 * SECOND), "66 s");
	progress_free(p);
}
END_TEST

START_TEST(without_the_suite_the_points_alone_tell)
{
	struct progress *p = progress_new("c1");

	points_done(p, 1, 100 * SECOND);
	points_done(p, 2, 103 * SECOND);
	ck_assert_str_eq(eta(p, 103 * SECOND), "-");
	points_done(p, 3, 107 * SECOND);
	ck_assert_str_eq(eta(p, 107 * SECOND), "28 s");
	progress_free(p);
}
END_TEST

START_TEST(nothing_is_live_while_the_controller_is_away)
{
	struct progress *p = progress_new("c1");
	const char *text;

	update(p, "running", json_pack("[o]", run_doc("r1", "running", 2)), SECOND);
	line(p, "run.sample", "{\"run\": \"r1\", \"workload\": \"4k\", \"iops\": 5000}",
		false);
	progress_stale(p, true);
	text = block(p, 10, SECOND);
	ck_assert_ptr_nonnull(strstr(text, "(stale: the controller is away)"));
	ck_assert_ptr_nonnull(strstr(text, " stale "));
	ck_assert_ptr_null(strstr(text, "5.00 k"));
	progress_stale(p, false);
	text = block(p, 10, SECOND);
	ck_assert_ptr_null(strstr(text, "stale"));
	ck_assert_ptr_nonnull(strstr(text, "5.00 k"));
	progress_free(p);
}
END_TEST

START_TEST(figures_end_with_their_point)
{
	struct progress *p = progress_new("c1");

	update(p, "running", json_pack("[o]", run_doc("r1", "running", 2)), SECOND);
	line(p, "run.sample",
		"{\"run\": \"r1\", \"workload\": \"4k\", \"load_percent\": 50,"
		" \"iops\": 5000}",
		false);
	line(p, "run.step", "{\"run\": \"r1\", \"event\": \"note\"}", true);
	ck_assert_ptr_nonnull(strstr(block(p, 10, SECOND), "5.00 k"));
	line(p, "run.step",
		"{\"run\": \"r1\", \"event\": \"point.start\", \"workload\": \"4k\","
		" \"load_percent\": 60}",
		true);
	ck_assert_ptr_null(strstr(block(p, 10, SECOND), "5.00 k"));
	ck_assert_ptr_nonnull(strstr(block(p, 10, SECOND), "4k 60 %"));
	progress_free(p);
}
END_TEST

/* The block on a terminal of so many columns. */
static const char *
narrow_block(struct progress *p, unsigned short columns)
{
	static char *text;
	struct winsize w = {.ws_col = columns, .ws_row = 20};
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	struct out o = {.format = OUT_WIDE, .terminal = true};
	size_t len;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	o.fd = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_eq(ioctl(o.fd, TIOCSWINSZ, &w), 0);
	free(text);
	o.file = open_memstream(&text, &len);
	progress_block(p, &o, 10, SECOND);
	fclose(o.file);
	close(o.fd);
	close(master);
	return text;
}

START_TEST(a_narrow_terminal_loses_the_bar_before_what_matters)
{
	struct progress *p = progress_new("c1");
	json_t *run = run_doc("r1", "running", 2);
	const char *text;

	json_object_set_new(
		json_object_get(run, "drive"), "serial", json_string("PHLJ1234567890AB"));
	update(p, "running", json_pack("[o, o]", run, run_doc("r2", "pending", 0)),
		SECOND);
	line(p, "run.sample",
		"{\"run\": \"r1\", \"workload\": \"4k-random-read\", \"load_percent\":"
		" 50, \"iops\": 1254000, \"offered_iops\": 1300000, \"latency\":"
		" \"response\", \"lat_p99_ns\": 85300}",
		false);
	text = narrow_block(p, 140);
	ck_assert_ptr_nonnull(strstr(text, "##........ 2/10"));
	text = narrow_block(p, 110);
	ck_assert_ptr_null(strstr(text, "##."));
	ck_assert_ptr_nonnull(strstr(text, "85.3 us response"));
	text = narrow_block(p, 80);
	ck_assert_ptr_nonnull(strstr(text, "PHLJ1234567890AB"));
	ck_assert_ptr_nonnull(strstr(text, "4k-random-read 50 %"));
	ck_assert_ptr_nonnull(strstr(text, "2/10"));
	ck_assert_ptr_null(strstr(text, "sr-01"));
	ck_assert_ptr_null(strstr(text, "STATE"));
	ck_assert_ptr_nonnull(strstr(text, "pending: drive d1"));
	progress_free(p);
}
END_TEST

START_TEST(a_block_that_is_too_high_shows_what_moves)
{
	struct progress *p = progress_new("c1");
	const char *text;

	update(p, "running",
		json_pack("[o, o, o]", run_doc("r1", "done", 10),
			run_doc("r2", "pending", 0), run_doc("r3", "running", 1)),
		0);
	text = block(p, 2, 0);
	ck_assert_ptr_null(strstr(text, "r1 "));
	ck_assert(strstr(text, "r3 ") < strstr(text, "r2 "));
	ck_assert_ptr_nonnull(strstr(text, "and 1 more\n"));
	progress_free(p);
}
END_TEST

static int
end_of(const char *id, const char *campaign, const char *run)
{
	struct progress *p = progress_new(id);
	int code = -1;

	update(p, campaign, json_pack("[o]", run_doc("r1", run, 10)), 0);
	if (!progress_ended(p, &code))
		code = -1;
	progress_free(p);
	return code;
}

START_TEST(the_end_has_its_exit_code)
{
	ck_assert_int_eq(end_of("c1", "running", "running"), -1);
	ck_assert_int_eq(end_of("c1", "running", "failed"), -1);
	ck_assert_int_eq(end_of("c1", "done", "done"), 0);
	ck_assert_int_eq(end_of("c1", "done", "failed"), 10);
	ck_assert_int_eq(end_of("c1", "failed", "lost"), 10);
	ck_assert_int_eq(end_of("c1", "cancelled", "cancelled"), 1);
	ck_assert_int_eq(end_of("r1", NULL, "collecting"), -1);
	ck_assert_int_eq(end_of("r1", NULL, "done"), 0);
	ck_assert_int_eq(end_of("r1", NULL, "failed"), 10);
	ck_assert_int_eq(end_of("r1", NULL, "lost"), 10);
	ck_assert_int_eq(end_of("r1", NULL, "cancelled"), 1);
}
END_TEST

START_TEST(topics_name_each_run_until_they_are_too_many)
{
	struct progress *p = progress_new("c1");
	json_t *runs = json_array();
	struct str out = {0};

	update(p, "running", json_pack("[o]", run_doc("r7", "running", 2)), 0);
	progress_topics(p, &out);
	ck_assert_str_eq(str_text(&out), "campaign:c1,run:r7");
	for (int i = 0; i < 100; i++) {
		char id[24];

		snprintf(id, sizeof(id), "r%d", 100 + i);
		json_array_append_new(runs, run_doc(id, "pending", 0));
	}
	update(p, "running", runs, 0);
	str_reset(&out);
	progress_topics(p, &out);
	ck_assert_str_eq(str_text(&out), "campaign:c1,run");
	progress_free(p);
	p = progress_new("r7");
	update(p, NULL, json_pack("[o]", run_doc("r7", "running", 2)), 0);
	str_reset(&out);
	progress_topics(p, &out);
	ck_assert_str_eq(str_text(&out), "run:r7");
	progress_free(p);
	str_fini(&out);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("progress");

	tcase_add_test(tc, events_become_lines_and_say_what_is_stale);
	tcase_add_test(tc, the_block_has_live_figures_a_bar_and_what_is_left);
	tcase_add_test(tc, what_is_left_follows_the_plan_and_then_the_points);
	tcase_add_test(tc, without_the_suite_the_points_alone_tell);
	tcase_add_test(tc, nothing_is_live_while_the_controller_is_away);
	tcase_add_test(tc, figures_end_with_their_point);
	tcase_add_test(tc, a_narrow_terminal_loses_the_bar_before_what_matters);
	tcase_add_test(tc, a_block_that_is_too_high_shows_what_moves);
	tcase_add_test(tc, the_end_has_its_exit_code);
	tcase_add_test(tc, topics_name_each_run_until_they_are_too_many);
	return unit_run("progress", tc);
}
