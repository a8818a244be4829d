#include "controller/ledger.h"

#include "controller/fact.h"
#include "controller/run.h"
#include "controller/unfinished.h"
#include "tests/unit/result_rig.h"

static json_t *doc;

static int
summary_job(struct tx *t, void *arg, struct err *e)
{
	return ledger_summary(t, *(int64_t *)arg, &doc, e);
}

static int
run_job(struct tx *t, void *arg, struct err *e)
{
	return ledger_of_run(t, *(int64_t *)arg, &doc, e);
}

static int
row_job(struct tx *t, void *arg, struct err *e)
{
	return ledger_json(t, *(int64_t *)arg, &doc, e);
}

static int
unknown_job(struct tx *t, void *arg, struct err *e)
{
	return ledger_unknown(t, 1, arg, e);
}

/* Ends attempt 1: it has exited and is sealed, or lost. */
static int
seal_job(struct tx *t, void *arg, struct err *e)
{
	(void)arg;
	if (attempt_change(t, 1, ATTEMPT_DO_EXIT, "", "test", e) != 0)
		return -1;
	return attempt_change(t, 1, ATTEMPT_DO_SEAL, "", "test", e);
}

static int
lose_job(struct tx *t, void *arg, struct err *e)
{
	(void)arg;
	return attempt_change(t, 1, ATTEMPT_DO_LOSE, "gone", "test", e);
}

static int
program_job(struct tx *t, void *arg, struct err *e)
{
	return tx_exec(t, e, "UPDATE attempt SET program = ?1 WHERE id = 1", "s", arg);
}

static int
note_job(struct tx *t, void *arg, struct err *e)
{
	(void)arg;
	return unfinished_note(t, 1, e);
}

/* What a job reads about that number. */
static const json_t *
ask(store_fn *fn, int64_t id)
{
	struct err e = {0};

	json_decref(doc);
	doc = NULL;
	OK(rig_read(fn, &id, &e));
	return doc;
}

/* The text of a member "a/b" of the last answer. */
static const char *
text(const char *path)
{
	const char *slash = strchr(path, '/');
	char first[40];

	if (slash == NULL)
		return json_text_of(doc, path);
	snprintf(first, sizeof(first), "%.*s", (int)(slash - path), path);
	return json_text_of(json_object_get(doc, first), slash + 1);
}

static void
send(void)
{
	struct ingest_answer a;
	struct err e = {0};

	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.refused, 0);
}

static void
feed_purge(const char *state)
{
	char event[600];

	snprintf(event, sizeof(event),
		"{\"event\":\"purge.end\",\"at_ns\":\"1700000000000000000\",\"step\":2,"
		"\"method\":\"discard\",\"passed_over\":[{\"method\":\"sanitize\","
		"\"why\":"
		"\"it offers none\"}],\"state\":\"%s\",\"took_ns\":\"2000000000\","
		"\"written_bytes\":\"0\",\"read_back\":{\"block_bytes\":4096,\"blocks\":"
		"256,"
		"\"zero\":250,\"held_data\":9,\"unchanged\":1}}",
		state);
	feed_text(RECORD_EVENT, event);
}

/* A point that wrote, and trimmed. */
static void
feed_written(uint32_t point, const char *workload, const char *load, const char *state,
	const char *written, const char *trimmed)
{
	struct point_record *p = &rig_feed.point;

	memset(p, 0, sizeof(*p));
	p->meta = json_pack("{s:i, s:i, s:s, s:s, s:s, s:s, s:s}", "point", (int)point,
		"step", 3, "workload", workload, "state", state, "started_ns",
		"1700000000000000000", "length_ns", "1000000000", "written_bytes",
		written);
	json_put(p->meta, "load_percent",
		load != NULL ? json_real(strtod(load, NULL)) : json_null());
	if (trimmed != NULL)
		json_put(p->meta, "others",
			json_pack("{s:{s:s}}", "trim", "bytes", trimmed));
	feed_raw(++rig_feed.seq, RECORD_POINT, rig_feed.buf,
		point_encode(p, rig_feed.buf, sizeof(rig_feed.buf)));
	point_record_fini(p);
}

static void
setup(void)
{
	rig_up();
	rig_seed();
	rig_add_running();
	rig_add_run((struct rig_run){2, 1, 1, 2, "running", "running"});
	feed_reset();
	feed_start(1, 101);
}

static void
teardown(void)
{
	json_decref(doc);
	doc = NULL;
	feed_reset();
	rig_down();
}

START_TEST(a_drive_that_nothing_is_known_of_has_an_empty_ledger)
{
	ask(summary_job, 1);
	ck_assert(json_is_null(json_object_get(doc, "purged")));
	ck_assert(json_is_null(json_object_get(doc, "filled")));
	ck_assert(json_is_null(json_object_get(doc, "last_pattern")));
	ck_assert_str_eq(text("written_bytes"), "0");
	ck_assert_uint_eq(json_array_size(ask(run_job, 1)), 0);
}
END_TEST

START_TEST(what_a_run_did_to_its_drive_stands_in_the_ledger)
{
	feed_purge("done");
	feed_written(1, "fill", NULL, "done", "1000", NULL);
	feed_written(2, "4k-random-write", NULL, "done", "300", NULL);
	feed_written(3, "4k-random-write", "50", "stopped", "20", NULL);
	feed_written(4, "4k-random-read", NULL, "done", "0", NULL);
	feed_written(5, "trims", NULL, "done", "0", "4096");
	send();
	rig_is("SELECT group_concat(kind) FROM ledger",
		"purge,fill,workload,workload,workload");
	rig_is("SELECT group_concat(drive_id || '/' || attempt_id || '/' || seq) FROM "
	       "ledger",
		"1/1/1,1/1/2,1/1/3,1/1/4,1/1/6");
	ask(summary_job, 1);
	ck_assert_str_eq(text("written_bytes"), "1320");
	ck_assert_str_eq(text("last_pattern"), "trims");
	ck_assert_str_eq(text("purged/run"), "r1");
	ck_assert_str_eq(text("purged/text"), "purge by discard in 2 s; of 256 sampled "
					      "blocks 250 read as zeroes, 1 as before; "
					      "not by sanitize: it offers none");
	ck_assert_str_eq(text("purged/at"), "2023-11-14T22:13:20.000Z");
	ck_assert_str_eq(text("filled/written_bytes"), "1000");
	ask(row_job, 4);
	ck_assert_str_eq(text("text"), "4k-random-write at 50 % (stopped)");
	ck_assert_str_eq(text("attempt"), "1");
	ask(row_job, 5);
	ck_assert_str_eq(text("detail/trimmed_bytes"), "4096");
	ask(run_job, 1);
	ck_assert_uint_eq(json_array_size(doc), 2);
	ck_assert_str_eq(json_text_of(json_array_get(doc, 0), "kind"), "purge");
	ck_assert_str_eq(json_text_of(json_array_get(doc, 1), "kind"), "fill");
	ask(summary_job, 2);
	ck_assert(json_is_null(json_object_get(doc, "purged")));
}
END_TEST

START_TEST(a_purge_that_was_not_done_is_none)
{
	feed_purge("done");
	feed_written(1, "w", NULL, "done", "10", NULL);
	feed_purge("stopped");
	send();
	ask(summary_job, 1);
	ck_assert_str_eq(text("written_bytes"), "10");
	ck_assert(json_is_null(json_object_get(doc, "last_pattern")));
	ask(row_job, 3);
	ck_assert_msg(strstr(text("text"), " (stopped)") != NULL, "%s", text("text"));
}
END_TEST

START_TEST(records_that_arrive_late_stand_in_their_order)
{
	feed_written(1, "old", NULL, "done", "10", NULL);
	send();
	feed_reset();
	feed_start(2, 102);
	rig_feed.seq = 4;
	feed_written(2, "newest", NULL, "done", "7", NULL);
	send();
	feed_reset();
	feed_start(2, 102);
	feed_purge("done");
	send();
	ask(summary_job, 1);
	ck_assert_str_eq(text("written_bytes"), "7");
	ck_assert_str_eq(text("last_pattern"), "newest");
	ck_assert_str_eq(text("purged/run"), "r2");
}
END_TEST

START_TEST(what_is_written_since_a_purge_is_counted_by_the_order_of_records)
{
	/* so that the numbers of rows are far ahead of those of the records to come */
	for (uint32_t i = 1; i <= 20; i++)
		feed_written(i, "old", NULL, "done", "10", NULL);
	send();
	feed_reset();
	feed_start(2, 102);
	feed_purge("done");
	feed_written(1, "fill", NULL, "done", "1000", NULL);
	feed_written(2, "new", NULL, "done", "7", NULL);
	send();
	ask(summary_job, 1);
	ck_assert_str_eq(text("written_bytes"), "1007");
}
END_TEST

START_TEST(a_pattern_is_not_known_after_what_cannot_be_explained)
{
	static char away[] = "away";
	struct err e = {0};

	feed_written(1, "w", NULL, "done", "10", NULL);
	send();
	ask(summary_job, 1);
	ck_assert_str_eq(text("last_pattern"), "w");
	OK(rig_write(unknown_job, away, &e));
	ask(summary_job, 1);
	ck_assert(json_is_null(json_object_get(doc, "last_pattern")));
}
END_TEST

START_TEST(a_purge_tells_its_time_as_people_read_it)
{
	static const struct {
		const char *took_ns, *text;
	} cases[] = {
		{"4052262396", "by discard in 4.05 s"},
		{"800000", "by discard in 0.0008 s"},
		{"123456789012", "by discard in 123 s"},
		{"1234567890123", "by discard in 21 min"},
		{"12345678901234", "by discard in 3.4 h"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char event[200];

		snprintf(event, sizeof(event),
			"{\"event\":\"purge.end\",\"step\":2,\"method\":\"discard\","
			"\"state\":\"done\",\"took_ns\":\"%s\"}",
			cases[i].took_ns);
		feed_start(1, 101);
		feed_text(RECORD_EVENT, event);
		send();
		ask(row_job, (int64_t)i + 1);
		ck_assert_msg(
			strstr(text("text"), cases[i].text) != NULL, "%s", text("text"));
	}
}
END_TEST

/* A second of a point that wrote and trimmed. */
static void
feed_second(uint32_t point, uint32_t second, uint64_t written, uint64_t trimmed)
{
	struct sample *s = &rig_feed.sample;

	memset(s, 0, sizeof(*s));
	s->point = point;
	s->second = second;
	s->wall_ns = (1700000000 + second) * NS_PER_S;
	s->mono_ns = 1000 * NS_PER_S;
	s->length_ns = NS_PER_S;
	s->ops[DIR_WRITE] = 1;
	s->bytes[DIR_WRITE] = written;
	s->ops[DIR_TRIM] = 1;
	s->bytes[DIR_TRIM] = trimmed;
	hist_add(&s->service[DIR_WRITE], 1000);
	hist_add(&s->service[DIR_TRIM], 1000);
	feed_raw(++rig_feed.seq, RECORD_SAMPLE, rig_feed.buf,
		sample_encode(s, rig_feed.buf, sizeof(rig_feed.buf)));
}

START_TEST(what_a_killed_runner_wrote_is_not_forgotten)
{
	struct err e = {0};

	feed_purge("done");
	feed_start_point(1, "fill", -1);
	feed_second(1, 0, 500, 0);
	feed_written(1, "fill", NULL, "done", "500", NULL);
	feed_start_point(2, "4k-random-write", -1);
	feed_second(2, 0, 4096, 512);
	feed_second(2, 1, 8192, 0);
	send();
	OK(rig_write(seal_job, NULL, &e));
	rig_is("SELECT group_concat(kind) FROM (SELECT kind FROM ledger ORDER BY seq)",
		"purge,fill,unknown");
	ask(summary_job, 1);
	ck_assert_str_eq(text("written_bytes"), "12788");
	ck_assert(json_is_null(json_object_get(doc, "last_pattern")));
	ask(row_job, 3);
	ck_assert_str_eq(text("text"),
		"4k-random-write of r1 began, and there is no record of its end; the "
		"bytes are those of its samples");
	ck_assert_str_eq(text("at"), "2023-11-14T22:13:22.000Z");
	ck_assert_str_eq(text("detail/trimmed_bytes"), "512");
	/* its record comes after all */
	feed_start(1, 101);
	feed_written(2, "4k-random-write", NULL, "stopped", "12300", NULL);
	send();
	rig_is("SELECT group_concat(kind) FROM (SELECT kind FROM ledger ORDER BY seq)",
		"purge,fill,workload");
	ask(summary_job, 1);
	ck_assert_str_eq(text("written_bytes"), "12800");
}
END_TEST

START_TEST(each_beginning_without_an_end_leaves_a_row)
{
	struct err e = {0};

	feed_text(RECORD_EVENT,
		"{\"event\":\"purge.start\",\"at_ns\":"
		"\"1700000000000000000\",\"step\":2,\"method\":\"format\"}");
	feed_start_point(1, "w", -1);
	feed_start_point(2, "x", -1);
	send();
	OK(rig_write(seal_job, NULL, &e));
	rig_is("SELECT group_concat(kind || seq) FROM (SELECT * FROM ledger ORDER BY "
	       "seq)",
		"unknown1,unknown2,unknown3");
	ask(row_job, 1);
	ck_assert_str_eq(text("text"), "the purge by format of r1 began, and there is no "
				       "record of its end");
	feed_start(1, 101);
	feed_purge("done");
	send();
	rig_is("SELECT group_concat(kind || seq) FROM (SELECT * FROM ledger ORDER BY "
	       "seq)",
		"unknown2,unknown3,purge4");
}
END_TEST

START_TEST(a_point_that_only_read_leaves_no_row)
{
	struct err e = {0};

	/* its second step, the one of the points, is made one that reads or writes */
	for (int i = 0; i < 2; i++) {
		json_t *program = NULL, *list;
		char *sql;

		OK(json_read_file(
			TESTS_DATA_DIR "/program/good-unless/input.json", &program, &e));
		list = json_object_get(program, "steps");
		json_array_set(list, 1, json_array_get(list, i == 0 ? 3 : 2));
		sql = json_dumps(program, 0);
		OK(rig_write(program_job, sql, &e));
		free(sql);
		json_decref(program);
		feed_start(1, 101);
		feed_start_point((uint32_t)i + 1, "r", -1);
		send();
		OK(rig_write(note_job, NULL, &e));
		rig_is("SELECT count(*) FROM ledger", i == 0 ? "0" : "2");
	}
}
END_TEST

START_TEST(what_a_lost_attempt_did_is_not_known)
{
	struct err e = {0};

	feed_written(1, "w", NULL, "done", "10", NULL);
	send();
	OK(rig_write(lose_job, NULL, &e));
	ask(summary_job, 1);
	ck_assert(json_is_null(json_object_get(doc, "last_pattern")));
	ask(row_job, 2);
	ck_assert_str_eq(text("text"), "an attempt at r1 was lost");
	ck_assert_str_eq(text("kind"), "unknown");
}
END_TEST

START_TEST(a_record_that_comes_twice_counts_once)
{
	feed_written(1, "w", NULL, "done", "10", NULL);
	send();
	send();
	rig_is("SELECT count(*) FROM ledger", "1");
}
END_TEST

START_TEST(what_cannot_be_explained_stands_behind_the_latest_attempt)
{
	static char away[] = "it was \"away\"";
	struct err e = {0};

	OK(rig_write(unknown_job, away, &e));
	feed_purge("done");
	send();
	rig_is("SELECT group_concat(kind) FROM (SELECT kind FROM ledger ORDER BY "
	       "attempt_id, "
	       "seq)",
		"purge,unknown");
	rig_is("SELECT attempt_id FROM ledger WHERE kind = 'unknown'", "2");
	ask(row_job, 1);
	ck_assert_str_eq(text("kind"), "unknown");
	ck_assert_str_eq(text("text"), "it was \"away\"");
	rig_exec("DELETE FROM ledger");
	rig_exec("DELETE FROM record");
	rig_exec("DELETE FROM attempt");
	OK(rig_write(unknown_job, away, &e));
	rig_is("SELECT attempt_id IS NULL FROM ledger", "1");
	ask(summary_job, 1);
	ck_assert(json_is_null(json_object_get(doc, "last_pattern")));
}
END_TEST

START_TEST(pages_go_by_what_happened_and_not_by_when_it_was_told)
{
	static const char *const texts[] = {
		"it was away", "late", "soon", "first", "nobody knew it"};
	char query_args[40] = "limit=2";
	size_t n = 0;
	json_t *page, *item;
	size_t i;

	/* rows in the order in which they came, and which is the wrong one */
	rig_exec("INSERT INTO ledger(drive_id, attempt_id, seq, kind, at_ns,"
		 " written_bytes, detail) VALUES"
		 " (1, 1, 9223372036854775807, 'unknown', 1, 0, '{\"why\":\"it was "
		 "away\"}'),"
		 " (1, 1, 7, 'workload', 1, 1, '{\"workload\":\"late\"}'),"
		 " (1, 1, 3, 'workload', 1, 1, '{\"workload\":\"first\"}'),"
		 " (1, NULL, 9223372036854775807, 'unknown', 1, 0,"
		 "  '{\"why\":\"nobody knew it\"}'),"
		 " (1, 1, 5, 'workload', 1, 1, '{\"workload\":\"soon\"}')");
	for (;;) {
		page = good(api_drives_ledger, 1, query_args);
		json_array_foreach (json_object_get(page, "items"), i, item) {
			ck_assert_uint_lt(n, 5);
			ck_assert_str_eq(json_text_of(item, "text"), texts[n++]);
		}
		if (!json_has(page, "next_cursor"))
			break;
		snprintf(query_args, sizeof(query_args), "limit=2&cursor=%s",
			json_text_of(page, "next_cursor"));
		json_decref(page);
	}
	json_decref(page);
	ck_assert_uint_eq(n, 5);
	rig_exec("DELETE FROM ledger");
	refused(api_drives_ledger, 1, query_args, ERR_INVALID, "is gone");
}
END_TEST

START_TEST(a_row_that_is_not_there_is_said_so)
{
	struct err e = {0};
	int64_t id = 9;

	ck_assert_int_eq(rig_read(row_job, &id, &e), -1);
	ck_assert_int_eq(e.class, ERR_NOTFOUND);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("ledger");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_drive_that_nothing_is_known_of_has_an_empty_ledger);
	tcase_add_test(tc, what_a_run_did_to_its_drive_stands_in_the_ledger);
	tcase_add_test(tc, a_purge_that_was_not_done_is_none);
	tcase_add_test(tc, records_that_arrive_late_stand_in_their_order);
	tcase_add_test(
		tc, what_is_written_since_a_purge_is_counted_by_the_order_of_records);
	tcase_add_test(tc, a_pattern_is_not_known_after_what_cannot_be_explained);
	tcase_add_test(tc, a_purge_tells_its_time_as_people_read_it);
	tcase_add_test(tc, what_a_killed_runner_wrote_is_not_forgotten);
	tcase_add_test(tc, each_beginning_without_an_end_leaves_a_row);
	tcase_add_test(tc, a_point_that_only_read_leaves_no_row);
	tcase_add_test(tc, what_a_lost_attempt_did_is_not_known);
	tcase_add_test(tc, a_record_that_comes_twice_counts_once);
	tcase_add_test(tc, what_cannot_be_explained_stands_behind_the_latest_attempt);
	tcase_add_test(tc, pages_go_by_what_happened_and_not_by_when_it_was_told);
	tcase_add_test(tc, a_row_that_is_not_there_is_said_so);
	return unit_run("ledger", tc);
}
