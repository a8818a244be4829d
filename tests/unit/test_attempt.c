#include "agent/attempt.h"

#include <stdio.h>
#include <unistd.h>

#include "agent/disk.h"
#include "common/json.h"
#include "common/spool.h"
#include "tests/unit/unit.h"

static char runs[64];
static struct attempt *a;

static void
setup(void)
{
	snprintf(runs, sizeof(runs), "/tmp/test_attempt.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(runs));
	a = attempt_new(runs, 15, 12, 4294967301);
}

static void
teardown(void)
{
	char spool[256];

	attempt_spool(a, spool, sizeof(spool));
	ck_assert_int_eq(spool_remove(spool, NULL), 0);
	ck_assert_int_eq(disk_remove_tree(a->dir, NULL), 0);
	ck_assert_int_eq(disk_remove_tree(runs, NULL), 0);
	attempt_free(a);
}

/* The last record of the spool; its number, 0 for an empty one. */
static uint64_t
last_record(enum record_kind *ret_kind, json_t **ret_doc)
{
	struct spool_reader *r;
	struct spool_record rec;
	struct err e = {0};
	uint64_t seq = 0;
	char dir[256];

	*ret_doc = NULL;
	attempt_spool(a, dir, sizeof(dir));
	OK(spool_reader_open(&r, dir, 1, &e));
	while (spool_reader_next_good(r, &rec, &e) == 1) {
		seq = rec.seq;
		*ret_kind = rec.kind;
		json_decref(*ret_doc);
		*ret_doc = NULL;
		OK(json_parse((const char *)rec.payload, rec.len, ret_doc, &e));
	}
	spool_reader_close(r);
	return seq;
}

/* Checks that the spool ends with a RESULT of this state, class and reason. */
static void
want_result(const char *state, const char *class, const char *reason)
{
	enum record_kind kind = 0;
	json_t *doc;

	ck_assert_uint_eq(last_record(&kind, &doc), a->last_seq);
	ck_assert_int_eq(kind, RECORD_RESULT);
	ck_assert_str_eq(json_text_of(doc, "state"), state);
	ck_assert_str_eq(json_text_of(doc, "class"), class);
	ck_assert_str_eq(json_text_of(doc, "reason"), reason);
	json_decref(doc);
}

static void
append(enum record_kind kind, const char *text)
{
	struct err e = {0};
	struct spool *s;
	uint64_t cut;
	char dir[256];

	OK(attempt_save(a, &e));
	attempt_spool(a, dir, sizeof(dir));
	OK(spool_open(&s, dir, &cut, &e));
	OK(spool_append(s, kind, text, strlen(text), NULL, &e));
	OK(spool_sync(s, &e));
	spool_close(s);
}

START_TEST(each_state_takes_just_its_own_events)
{
	static const char *const legal[] = {
		"starting answer -> running",
		"starting refuse -> refused",
		"starting end -> exited",
		"running end -> exited",
		"refused record -> exited",
		"refused forget -> forgotten",
		"exited forget -> forgotten",
		"forgotten recall -> exited",
	};
	static const char *const events[ATTEMPT_EVENTS] = {
		"answer", "refuse", "record", "end", "forget", "recall"};
	size_t n = 0;

	for (int s = 0; s < ATTEMPT_STATES; s++) {
		for (int ev = 0; ev < ATTEMPT_EVENTS; ev++) {
			enum attempt_state to;
			char text[64];
			size_t i = 0;

			if (!attempt_legal(
				    (enum attempt_state)s, (enum attempt_event)ev, &to))
				continue;
			n++;
			snprintf(text, sizeof(text), "%s %s -> %s",
				attempt_state_name((enum attempt_state)s), events[ev],
				attempt_state_name(to));
			while (i < 8 && strcmp(legal[i], text) != 0)
				i++;
			ck_assert_msg(i < 8, "%s is legal", text);
		}
	}
	ck_assert_uint_eq(n, 8);
}
END_TEST

START_TEST(an_event_that_is_not_legal_changes_nothing)
{
	struct err e = {0};

	for (int s = 0; s < ATTEMPT_STATES; s++) {
		for (int ev = 0; ev < ATTEMPT_EVENTS; ev++) {
			enum attempt_state to;

			if (attempt_legal(
				    (enum attempt_state)s, (enum attempt_event)ev, &to))
				continue;
			a->state = (enum attempt_state)s;
			FAILS(attempt_step(a, (enum attempt_event)ev, &e), ERR_STATE,
				"is not legal in state");
			ck_assert_int_eq(a->state, s);
			ck_assert_int_ne(access(a->dir, F_OK), 0);
		}
	}
}
END_TEST

START_TEST(what_is_saved_is_loaded)
{
	struct attempt *b;
	struct err e = {0};

	a->state = ATTEMPT_RUNNING;
	a->pid = 77;
	a->stop_asked = true;
	a->exit_known = true;
	a->exit_code = -1;
	a->exit_signal = 9;
	a->last_seq = UINT64_MAX;
	a->forgotten_ns = 5;
	snprintf(a->drive_key, sizeof(a->drive_key), "S1-12");
	snprintf(a->drive_path, sizeof(a->drive_path), "/dev/loop3");
	snprintf(a->boot_id, sizeof(a->boot_id), "boot");
	snprintf(a->why, sizeof(a->why), "said so");
	OK(attempt_save(a, &e));
	OK(attempt_load(runs, "15", &b, &e));
	ck_assert_uint_eq(b->run, 12);
	ck_assert_uint_eq(b->fence, 4294967301);
	ck_assert_int_eq(b->state, ATTEMPT_RUNNING);
	ck_assert_int_eq(b->pid, 77);
	ck_assert(b->stop_asked && b->exit_known && !b->killed);
	ck_assert_int_eq(b->exit_code, -1);
	ck_assert_int_eq(b->exit_signal, 9);
	ck_assert_uint_eq(b->last_seq, UINT64_MAX);
	ck_assert_int_eq(b->forgotten_ns, 5);
	ck_assert_str_eq(b->drive_key, "S1-12");
	ck_assert_str_eq(b->drive_path, "/dev/loop3");
	ck_assert_str_eq(b->boot_id, "boot");
	ck_assert_str_eq(b->why, "said so");
	attempt_free(b);
}
END_TEST

START_TEST(what_was_never_saved_or_is_damaged_is_told_apart)
{
	struct attempt *b;
	struct err e = {0};
	char path[256];

	FAILS(attempt_load(runs, "15", &b, &e), ERR_NOTFOUND, "agent.json");
	OK(disk_make_dir(a->dir, &e));
	attempt_file(a, "agent.json", path, sizeof(path));
	OK(disk_write(path, "{\"attempt\":", 11, 0600, &e));
	FAILS(attempt_load(runs, "15", &b, &e), ERR_INVALID, "agent.json");
	OK(disk_write(path, "[]", 2, 0600, &e));
	FAILS(attempt_load(runs, "15", &b, &e), ERR_INVALID, "agent.json");
}
END_TEST

START_TEST(a_killed_runner_leaves_a_result_that_names_the_signal)
{
	struct err e = {0};

	append(RECORD_EVENT, "{\"event\":\"note\"}");
	a->state = ATTEMPT_RUNNING;
	a->exit_known = true;
	a->exit_code = -1;
	a->exit_signal = 9;
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	ck_assert_int_eq(a->state, ATTEMPT_EXITED);
	ck_assert_uint_eq(a->last_seq, 2);
	want_result("failed", "infra", "runner was killed by signal 9");
}
END_TEST

START_TEST(a_runner_that_gave_up_is_explained_by_the_end_of_its_log)
{
	struct err e = {0};
	char path[256];

	OK(attempt_save(a, &e));
	attempt_file(a, "runner.log", path, sizeof(path));
	OK(disk_write(path, "first\nerr spool why=\"full\"\n\n", 28, 0600, &e));
	a->state = ATTEMPT_RUNNING;
	a->exit_known = true;
	a->exit_code = 1;
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	want_result("failed", "infra",
		"runner ended with exit code 1 and no result: err spool why=\"full\"");
}
END_TEST

START_TEST(a_result_that_is_there_is_left_as_it_is)
{
	struct err e = {0};

	append(RECORD_RESULT,
		"{\"state\":\"done\",\"class\":null,\"reason\":\"all well\"}");
	a->state = ATTEMPT_RUNNING;
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	ck_assert_uint_eq(a->last_seq, 1);
	want_result("done", "", "all well");
}
END_TEST

/* Damage is for the uplink to tell; it must not keep the drive from being given back. */
START_TEST(an_attempt_with_a_damaged_spool_ends_with_a_result)
{
	struct err e = {0};
	char path[256];
	FILE *f;

	append(RECORD_EVENT, "{\"event\":\"note\"}");
	append(RECORD_EVENT, "{\"event\":\"step.start\"}");
	attempt_spool(a, path, sizeof(path));
	strcat(path, "/00000000000000000001.seg");
	f = fopen(path, "r+");
	ck_assert_ptr_nonnull(f);
	/* A byte in the payload of the first record (schema/wire.md, "Spool"). */
	ck_assert_int_eq(fseek(f, 32 + 24 + 3, SEEK_SET), 0);
	fputc('!', f);
	fclose(f);
	a->state = ATTEMPT_RUNNING;
	a->exit_known = true;
	a->exit_code = -1;
	a->exit_signal = 9;
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	ck_assert_uint_eq(a->last_seq, 3);
	want_result("failed", "infra", "runner was killed by signal 9");
}
END_TEST

/* Overwrites the first 8 KiB of the segment, head and all. */
static void
ruin_spool(void)
{
	static const char rubbish[8192] = "rubbish";
	char path[256];
	FILE *f;

	attempt_spool(a, path, sizeof(path));
	strcat(path, "/00000000000000000001.seg");
	f = fopen(path, "r+");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(rubbish, 1, sizeof(rubbish), f), sizeof(rubbish));
	fclose(f);
}

/* Checks that a reader that wants record `from` is told that what was there is lost. */
static void
want_loss(uint64_t from)
{
	struct spool_reader *r;
	struct spool_record rec;
	struct err e = {0};
	uint64_t first, last;
	char dir[256];

	attempt_spool(a, dir, sizeof(dir));
	OK(spool_reader_open(&r, dir, from, &e));
	ck_assert_int_eq(spool_reader_next(r, &rec, &e), -1);
	ck_assert_int_eq(e.class, ERR_STORE);
	OK(spool_reader_skip(r, &first, &last, NULL));
	ck_assert_uint_eq(first, from);
	ck_assert_uint_eq(last, a->last_seq - 1);
	ck_assert_int_eq(spool_reader_next(r, &rec, NULL), 1);
	ck_assert_uint_eq(rec.seq, a->last_seq);
	ck_assert_int_eq(rec.kind, RECORD_RESULT);
	spool_reader_close(r);
}

/* The controller may have any of the lost numbers: none is given again. */
START_TEST(an_attempt_whose_spool_is_lost_ends_with_a_result_behind_all_it_held)
{
	struct err e = {0};

	append(RECORD_EVENT, "{\"event\":\"note\"}");
	append(RECORD_EVENT, "{\"event\":\"step.start\"}");
	ruin_spool();
	a->state = ATTEMPT_RUNNING;
	a->exit_known = true;
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	ck_assert(a->spool_lost);
	ck_assert_uint_gt(a->last_seq, 3);
	want_result("failed", "infra", "its spool was damaged on the disk of the node");
	want_loss(1);
	want_loss(3);
}
END_TEST

/* Somebody makes room, or so he thinks, while the runner is at work. */
START_TEST(an_attempt_whose_directory_was_deleted_ends_behind_all_it_held)
{
	struct err e = {0};
	char dir[256];

	append(RECORD_EVENT, "{\"event\":\"note\"}");
	a->state = ATTEMPT_RUNNING;
	a->last_seq = 9;
	attempt_spool(a, dir, sizeof(dir));
	OK(spool_remove(dir, &e));
	OK(disk_remove_tree(a->dir, &e));
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	ck_assert_int_eq(a->state, ATTEMPT_EXITED);
	ck_assert_uint_eq(a->last_seq, 10);
	want_result("failed", "infra", "its spool was damaged on the disk of the node");
}
END_TEST

/* The acknowledgement of what was sent last comes when its numbers are given again. */
START_TEST(a_lost_spool_gets_a_result_behind_all_that_the_controller_turns_out_to_have)
{
	struct err e = {0};
	char dir[256];

	append(RECORD_EVENT, "{\"event\":\"note\"}");
	a->state = ATTEMPT_RUNNING;
	a->last_seq = 9;
	ck_assert_int_eq(attempt_outdone(a, 20, &e), 0);
	attempt_spool(a, dir, sizeof(dir));
	OK(spool_remove(dir, &e));
	OK(disk_remove_tree(a->dir, &e));
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	ck_assert_uint_eq(a->last_seq, 10);
	ck_assert_int_eq(attempt_outdone(a, 10, &e), 0);
	ck_assert_int_eq(attempt_outdone(a, 11, &e), 1);
	ck_assert_uint_eq(a->last_seq, 12);
	ck_assert_int_eq(attempt_outdone(a, 11, &e), 0);
	want_result("failed", "infra", "its spool was damaged on the disk of the node");
}
END_TEST

START_TEST(a_spool_that_is_lost_after_the_end_gets_a_result_again)
{
	struct err e = {0};
	uint64_t seq;
	char dir[256];

	append(RECORD_EVENT, "{\"event\":\"note\"}");
	a->state = ATTEMPT_RUNNING;
	a->exit_known = true;
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	seq = a->last_seq;
	OK(attempt_mend(a, &e));
	ck_assert_uint_eq(a->last_seq, seq);
	ck_assert(!a->spool_lost);
	attempt_spool(a, dir, sizeof(dir));
	OK(spool_set_acked(dir, 1, &e));
	ruin_spool();
	OK(attempt_mend(a, &e));
	ck_assert(a->spool_lost);
	ck_assert_uint_gt(a->last_seq, seq);
	want_result("failed", "infra", "its spool was damaged on the disk of the node");
	want_loss(2);
	seq = a->last_seq;
	/* Nothing more to do when the controller had it all. */
	OK(spool_set_acked(dir, seq, &e));
	ruin_spool();
	OK(attempt_mend(a, &e));
	ck_assert_uint_eq(a->last_seq, seq);
}
END_TEST

START_TEST(a_stopped_attempt_is_cancelled_however_its_runner_ended)
{
	struct err e = {0};

	OK(attempt_save(a, &e));
	a->state = ATTEMPT_RUNNING;
	a->stop_asked = true;
	a->killed = true;
	snprintf(a->why, sizeof(a->why), "campaign cancelled");
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	want_result("cancelled", "",
		"campaign cancelled; the runner did not end by itself and was killed");
}
END_TEST

START_TEST(a_reboot_is_told)
{
	struct err e = {0};

	OK(attempt_save(a, &e));
	a->state = ATTEMPT_RUNNING;
	a->rebooted = true;
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	want_result("failed", "infra", "the node was restarted during the run");
}
END_TEST

START_TEST(an_unknown_end_is_told_as_such)
{
	struct err e = {0};

	OK(attempt_save(a, &e));
	a->state = ATTEMPT_RUNNING;
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
	want_result("failed", "infra",
		"runner is gone and left no result; how it ended is not known, the agent "
		"was restarted meanwhile");
}
END_TEST

START_TEST(a_refusal_has_a_spool_and_a_result_of_its_own)
{
	struct attempt *b;
	struct err e = {0};

	OK(attempt_refuse(a, "safety", "/dev/sda: mounted on /", &e));
	ck_assert_int_eq(a->state, ATTEMPT_EXITED);
	want_result("failed", "safety", "/dev/sda: mounted on /");
	OK(attempt_load(runs, "15", &b, &e));
	ck_assert_int_eq(b->state, ATTEMPT_EXITED);
	ck_assert_uint_eq(b->last_seq, 1);
	attempt_free(b);
}
END_TEST

START_TEST(an_attempt_does_not_end_while_somebody_writes_its_spool)
{
	struct err e = {0};
	struct spool *s;
	uint64_t cut;
	char dir[256];

	OK(attempt_save(a, &e));
	attempt_spool(a, dir, sizeof(dir));
	OK(spool_open(&s, dir, &cut, &e));
	a->state = ATTEMPT_RUNNING;
	FAILS(attempt_step(a, ATTEMPT_EV_END, &e), ERR_STATE, "attempt 15");
	ck_assert_int_eq(a->state, ATTEMPT_RUNNING);
	spool_close(s);
	OK(attempt_step(a, ATTEMPT_EV_END, &e));
}
END_TEST

START_TEST(a_step_that_cannot_be_saved_can_be_tried_again)
{
	struct attempt *b;
	struct err e = {0};
	char path[256];

	OK(attempt_save(a, &e));
	attempt_file(a, "agent.json.new", path, sizeof(path));
	OK(disk_make_dir(path, &e)); /* nothing can be written aside now */
	FAILS(attempt_step(a, ATTEMPT_EV_ANSWER, &e), ERR_IO, "attempt 15");
	ck_assert_int_eq(a->state, ATTEMPT_STARTING);
	OK(disk_remove_tree(path, &e));
	OK(attempt_step(a, ATTEMPT_EV_ANSWER, &e));
	OK(attempt_load(runs, "15", &b, &e));
	ck_assert_int_eq(b->state, ATTEMPT_RUNNING);
	attempt_free(b);
}
END_TEST

START_TEST(forgetting_is_dated)
{
	struct err e = {0};

	OK(attempt_refuse(a, "infra", "no such drive", &e));
	OK(attempt_step(a, ATTEMPT_EV_FORGET, &e));
	ck_assert_int_eq(a->state, ATTEMPT_FORGOTTEN);
	ck_assert_int_gt(a->forgotten_ns, 0);
	ck_assert_str_eq(attempt_reported(a->state), "");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("attempt");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_state_takes_just_its_own_events);
	tcase_add_test(tc, an_event_that_is_not_legal_changes_nothing);
	tcase_add_test(tc, what_is_saved_is_loaded);
	tcase_add_test(tc, what_was_never_saved_or_is_damaged_is_told_apart);
	tcase_add_test(tc, a_killed_runner_leaves_a_result_that_names_the_signal);
	tcase_add_test(tc, a_runner_that_gave_up_is_explained_by_the_end_of_its_log);
	tcase_add_test(tc, a_result_that_is_there_is_left_as_it_is);
	tcase_add_test(tc, an_attempt_with_a_damaged_spool_ends_with_a_result);
	tcase_add_test(
		tc, an_attempt_whose_spool_is_lost_ends_with_a_result_behind_all_it_held);
	tcase_add_test(
		tc, an_attempt_whose_directory_was_deleted_ends_behind_all_it_held);
	tcase_add_test(tc,
		a_lost_spool_gets_a_result_behind_all_that_the_controller_turns_out_to_have);
	tcase_add_test(tc, a_spool_that_is_lost_after_the_end_gets_a_result_again);
	tcase_add_test(tc, a_stopped_attempt_is_cancelled_however_its_runner_ended);
	tcase_add_test(tc, a_reboot_is_told);
	tcase_add_test(tc, an_unknown_end_is_told_as_such);
	tcase_add_test(tc, a_refusal_has_a_spool_and_a_result_of_its_own);
	tcase_add_test(tc, an_attempt_does_not_end_while_somebody_writes_its_spool);
	tcase_add_test(tc, a_step_that_cannot_be_saved_can_be_tried_again);
	tcase_add_test(tc, forgetting_is_dated);
	return unit_run("attempt", tc);
}
