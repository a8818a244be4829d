#include "tests/unit/keeper_rig.h"

#include <dirent.h>
#include <sys/stat.h>

#include "agent/fence.h"
#include "tests/unit/log_rig.h"

START_TEST(a_start_raises_the_fence_and_gives_one_process_just_what_it_needs)
{
	const struct ward *w;
	char path[64];
	DIR *d;
	int fds = 0;

	start();
	w = keeper_first(keeper);
	ck_assert_int_eq(w->a->state, ATTEMPT_STARTING);
	ck_assert_uint_eq(fence(), 100);
	ck_assert_int_gt(w->proc.pid, 0);
	ck_assert_int_eq(w->a->pid, w->proc.pid);
	ck_assert(spawn_alive(w->a));
	/* Standard descriptors and the lock, whatever is open here. */
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)w->proc.pid);
	d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while (readdir(d) != NULL)
		fds++;
	closedir(d);
	ck_assert_int_le(fds, 2 + 4 + 1); /* a shell may have its script open */
	ck_assert_int_eq(getsid(w->proc.pid), w->proc.pid);

	start(); /* twice is once */
	ck_assert_ptr_null(w->next);
	ck_assert_int_eq(w->a->pid, w->proc.pid);
	ck_assert_uint_eq(keeper_running(keeper), 1);
}
END_TEST

START_TEST(a_killed_runner_is_noticed_and_recorded)
{
	start();
	ck_assert(spawn_signal(&keeper_first(keeper)->proc, SIGKILL));
	await(ATTEMPT_EXITED);
	want_result("failed", "infra", "runner was killed by signal 9");
	ck_assert(!spawn_alive(attempt()));
	ck_assert_uint_eq(keeper_running(keeper), 0);
}
END_TEST

START_TEST(a_runner_outlives_its_keeper_and_is_found_again)
{
	const struct ward *w;
	pid_t pid;

	start();
	pid = attempt()->pid;
	restart();
	w = keeper_first(keeper);
	ck_assert_ptr_nonnull(w);
	ck_assert_int_eq(w->a->state, ATTEMPT_STARTING);
	ck_assert_int_eq(w->proc.pid, pid);
	ck_assert_str_eq(w->drive.serial, "S1");
	start();
	ck_assert_int_eq(w->a->pid, pid);
	ck_assert(spawn_signal(&w->proc, SIGKILL));
	await(ATTEMPT_EXITED);
	/* Its parent is gone from the book, so nobody was told how it ended. */
	want_result("failed", "infra", "the agent was restarted meanwhile");
}
END_TEST

/* A drive without an identity would spoil the whole report. */
static void
restart_without_program(const char *damage)
{
	struct drive_list *leased;
	struct err e = {0};
	char path[256];

	start();
	attempt_file(attempt(), "program.json", path, sizeof(path));
	if (damage != NULL)
		OK(disk_write(path, damage, strlen(damage), 0600, &e));
	else
		ck_assert_int_eq(unlink(path), 0);
	restart();
	leased = keeper_leased(keeper);
	ck_assert_uint_eq(leased->n, 0);
	drive_list_free(leased);
	ck_assert_int_eq(attempt()->state, ATTEMPT_STARTING);
	ck_assert_uint_eq(keeper_running(keeper), 1);
	ck_assert(spawn_signal(&keeper_first(keeper)->proc, SIGKILL));
	await(ATTEMPT_EXITED);
	want_result("failed", "infra", "the run program was lost on the node");
}

START_TEST(a_lost_or_damaged_program_spoils_no_report_and_the_end_is_found)
{
	restart_without_program(_i == 0 ? NULL : "{\"ssdlab\":");
}
END_TEST

/* As a disk leaves it that lost the last write. */
static void
damage(const char *name)
{
	struct err e = {0};
	char path[256];

	attempt_file(attempt(), name, path, sizeof(path));
	OK(disk_write(path, "", 0, 0600, &e));
}

START_TEST(a_run_whose_agent_json_is_damaged_is_minded_to_its_end)
{
	struct drive_list *leased;
	const struct ward *w;
	char text[200];
	pid_t pid;

	start();
	pid = attempt()->pid;
	damage("agent.json");
	restart();
	w = keeper_first(keeper);
	ck_assert_int_eq(attempt()->state, ATTEMPT_RUNNING);
	ck_assert_uint_eq(attempt()->run, 12);
	ck_assert_uint_eq(attempt()->fence, 100);
	ck_assert_str_eq(w->drive.serial, "S1");
	ck_assert_uint_eq(keeper_running(keeper), 1);
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_str_eq(text, "");
	/* Where its drive is, is known: no scan opens it, and its end waits for it. */
	leased = keeper_leased(keeper);
	ck_assert_uint_eq(leased->n, 1);
	ck_assert_str_eq(leased->items[0].path, "/dev/ssdlab-none");
	drive_list_free(leased);
	/* Its end is seen by its lock. */
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	while (spawn_alive(attempt()))
		usleep(1000);
	keeper_tick(keeper);
	want_result("failed", "infra", "the agent was restarted meanwhile");
	damage("agent.json");
	restart();
	want_result("failed", "infra", "the agent was restarted meanwhile");
	ck_assert_uint_eq(attempt()->last_seq, 1);
}
END_TEST

START_TEST(an_attempt_of_which_nothing_can_be_read_is_told_as_trouble)
{
	char path[256], text[400];

	start();
	snprintf(path, sizeof(path), "%s", attempt()->dir);
	damage("agent.json");
	damage("program.json");
	ck_assert(spawn_signal(&keeper_first(keeper)->proc, SIGKILL));
	restart();
	ck_assert_ptr_null(keeper_first(keeper));
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_msg(strstr(text, "/runs/15/agent.json") != NULL, "%s", text);
	ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_spool_that_was_lost_is_mended_and_told_until_it_is_forgotten)
{
	static const char rubbish[8192] = "rubbish";
	struct err e = {0};
	char path[256], text[200];

	start();
	ck_assert(spawn_signal(&keeper_first(keeper)->proc, SIGKILL));
	await(ATTEMPT_EXITED);
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_str_eq(text, "");
	attempt_spool(attempt(), path, sizeof(path));
	strcat(path, "/00000000000000000001.seg");
	OK(disk_write(path, rubbish, sizeof(rubbish), 0600, &e));
	restart();
	ck_assert_uint_gt(attempt()->last_seq, 1);
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_msg(
		strstr(text, "spool of attempt 15 was damaged") != NULL, "%s", text);
	keeper_forget(keeper, 15);
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_str_eq(text, "");
}
END_TEST

/* All that is durable before the process is there, with its fence raised. */
static void
cut_short(bool stop_asked)
{
	struct err e = {0};
	char path[256];
	json_t *doc = program_to_json(&program);
	struct attempt *a;

	snprintf(path, sizeof(path), "%s/runs", top);
	a = attempt_new(path, 15, 12, 100);
	drive_key(&program.drive, a->drive_key);
	snprintf(a->drive_path, sizeof(a->drive_path), "/dev/ssdlab-none");
	snprintf(a->boot_id, sizeof(a->boot_id), "boot-1");
	a->stop_asked = stop_asked;
	OK(attempt_save(a, &e));
	attempt_file(a, "program.json", path, sizeof(path));
	OK(disk_write_json(path, doc, 0600, &e));
	snprintf(path, sizeof(path), "%s/fence", top);
	OK(fence_raise(path, a->drive_key, 100, &e));
	attempt_free(a);
	json_decref(doc);
}

/* What was wanted then may be wanted no more: its drive may be somebody's by now. */
START_TEST(a_start_that_was_cut_short_is_taken_up_only_when_it_is_asked_for_again)
{
	char dir[128];

	cut_short(false);
	restart();
	ck_assert_ptr_null(keeper_first(keeper));
	ck_assert_uint_eq(keeper_running(keeper), 0);
	snprintf(dir, sizeof(dir), "%s/runs/15", top);
	ck_assert_int_ne(access(dir, F_OK), 0);
	restart();
	keeper_tick(keeper);
	ck_assert_ptr_null(keeper_first(keeper));
	start();
	ck_assert_int_gt(attempt()->pid, 0);
	ck_assert(spawn_alive(attempt()));
	ck_assert_uint_eq(fence(), 100);
}
END_TEST

/* A stop came for a start that was cut short. */
START_TEST(an_end_that_cannot_be_recorded_is_told_until_it_is)
{
	struct err e = {0};
	char path[256], text[200];

	cut_short(true);
	snprintf(path, sizeof(path), "%s/runs/15/spool", top);
	OK(disk_write(path, "", 0, 0600, &e));
	restart();
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_msg(strstr(text, "cannot be recorded: attempt 15") != NULL, "%s", text);
	ck_assert_int_eq(unlink(path), 0);
	restart();
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(attempt()->pid, 0);
	want_result("cancelled", "", "");
}
END_TEST

/* Killed between the birth of the runner and the second agent.json. */
START_TEST(a_runner_whose_number_was_not_saved_is_not_dropped)
{
	struct err e = {0};
	struct attempt copy;
	pid_t pid;

	start();
	pid = attempt()->pid;
	copy = *attempt();
	copy.pid = 0;
	OK(attempt_save(&copy, &e));
	restart();
	ck_assert_int_eq(attempt()->state, ATTEMPT_STARTING);
	ck_assert(spawn_alive(attempt()));
	ck_assert_uint_eq(keeper_running(keeper), 1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	while (spawn_alive(attempt()))
		usleep(1000);
	keeper_tick(keeper);
	want_result("failed", "infra", "the agent was restarted meanwhile");
}
END_TEST

START_TEST(after_a_reboot_nothing_is_taken_up)
{
	start();
	spawn_signal(&keeper_first(keeper)->proc, SIGKILL);
	/* Until the kernel has let go of the lock. */
	while (spawn_alive(attempt()))
		usleep(1000);
	env.boot_id = "boot-2";
	restart();
	await(ATTEMPT_EXITED);
	want_result("failed", "infra", "the node was restarted during the run");
}
END_TEST

START_TEST(a_stale_token_starts_nothing)
{
	struct err e = {0};
	char dir[128];

	snprintf(dir, sizeof(dir), "%s/fence", top);
	OK(fence_raise(dir, drives->items[0].key, 101, &e));
	start();
	want_result("failed", "safety", "fence token 100 is stale: 101 was seen");
	ck_assert_int_eq(attempt()->pid, 0);
	ck_assert_uint_eq(fence(), 101);
	ck_assert_uint_gt(changes, 0);
}
END_TEST

START_TEST(a_token_of_another_attempt_starts_nothing)
{
	struct err e = {0};
	char dir[128];
	const struct ward *w;

	start();
	spawn_signal(&keeper_first(keeper)->proc, SIGKILL);
	await(ATTEMPT_EXITED);
	program.attempt = 16;
	start();
	w = keeper_first(keeper)->next;
	ck_assert_ptr_nonnull(w);
	ck_assert_int_eq(w->a->state, ATTEMPT_EXITED);
	ck_assert_str_eq(w->a->fail_class, "safety");
	ck_assert_msg(strstr(w->a->why, "another attempt") != NULL, "%s", w->a->why);
	snprintf(dir, sizeof(dir), "%s/fence", top);
	OK(fence_raise(dir, drives->items[0].key, 100, &e));
}
END_TEST

START_TEST(a_drive_is_held_by_one_runner_at_a_time)
{
	const struct ward *w;

	start();
	program.attempt = 16;
	program.fence = 101;
	start();
	w = keeper_first(keeper)->next;
	ck_assert_ptr_nonnull(w);
	ck_assert_int_eq(w->a->state, ATTEMPT_EXITED);
	ck_assert_msg(
		strstr(w->a->why, "still held by attempt 15") != NULL, "%s", w->a->why);
	ck_assert_uint_eq(fence(), 100);
}
END_TEST

START_TEST(a_drive_that_is_gone_other_or_protected_is_not_given)
{
	drives->n = 0;
	start();
	want_result("failed", "infra", "drive M S1 is not on this node");
	drives->n = 1;
}
END_TEST

START_TEST(a_protected_drive_is_refused_with_the_reason)
{
	drive_list_free(drives);
	drives = calloc(1, sizeof(*drives));
	drive_list_add(drives, &program.drive, "/dev/ssdlab-none", "mounted on /home");
	start();
	want_result("failed", "safety", "/dev/ssdlab-none: mounted on /home");
	ck_assert_uint_eq(fence(), 0);
}
END_TEST

START_TEST(a_drive_of_another_size_is_another_drive)
{
	program.drive.capacity_bytes *= 2;
	start();
	want_result("failed", "safety", "capacity");
}
END_TEST

START_TEST(a_program_that_is_not_understood_is_refused)
{
	json_t *doc = json_pack("{s:s}", "ssdlab", "program/v9");

	keeper_start(keeper, 15, 100, doc, drives);
	json_decref(doc);
	want_result("failed", "infra", "the run program is not understood");
}
END_TEST

START_TEST(a_runner_that_is_missing_is_a_failure_of_the_infrastructure)
{
	ck_assert_int_eq(unlink(runner), 0);
	start();
	want_result("failed", "infra", "is not there or cannot be executed");
}
END_TEST

START_TEST(a_start_that_is_always_late_is_told_once)
{
	log_catch();
	keeper_late(keeper, 15, 20 * NS_PER_S); /* the answer was held for it */
	ck_assert_uint_eq(log_caught("attempt.later"), 0);
	for (int i = 0; i < 3; i++)
		keeper_late(keeper, 15, 6 * NS_PER_S);
	ck_assert_uint_eq(log_caught("attempt.later"), 1);
}
END_TEST

START_TEST(no_more_runs_than_allowed)
{
	keeper_free(keeper);
	env.max_runs = 0;
	keeper = keeper_new(&env);
	start();
	ck_assert_ptr_null(keeper_first(keeper));
}
END_TEST

START_TEST(a_stop_before_the_runner_listens_waits_for_it)
{
	start();
	keeper_stop(keeper, 15, "campaign cancelled");
	keeper_stop(keeper, 15, "again");
	ck_assert(attempt()->stop_asked);
	ck_assert_str_eq(attempt()->why, "campaign cancelled");
	spawn_signal(&keeper_first(keeper)->proc, SIGTERM);
	await(ATTEMPT_EXITED);
	want_result("cancelled", "", "campaign cancelled");
	keeper_stop(keeper, 15, "late");
	keeper_stop(keeper, 99, "unknown");
}
END_TEST

START_TEST(a_runner_that_answers_is_running_and_is_told_to_stop)
{
	static const char status[] =
		"{\"state\":\"running\",\"step\":2,\"workload\":\"4k\",\"point\":3,"
		"\"load_percent\":null,\"last_seq\":\"77\"}";
	char text[200];
	int fd, client;
	ssize_t n;

	start();
	fd = listen_in(attempt()->dir);
	keeper_tick(keeper);
	client = accept(fd, NULL, NULL);
	n = recv(client, text, sizeof(text), 0);
	ck_assert_int_eq(n, 15);
	ck_assert_int_eq(memcmp(text, "{\"do\":\"status\"}", 15), 0);
	ck_assert_int_eq(send(client, status, sizeof(status) - 1, 0), sizeof(status) - 1);
	await(ATTEMPT_RUNNING);
	ck_assert_uint_eq(attempt()->last_seq, 77);
	ck_assert_int_eq(keeper_first(keeper)->status.point, 3);
	ck_assert_str_eq(keeper_first(keeper)->status.workload, "4k");
	keeper_stop(keeper, 15, "say \"when\"");
	do {
		n = recv(client, text, sizeof(text) - 1, 0);
		ck_assert_int_gt(n, 0);
		text[n] = '\0';
	} while (strstr(text, "status") != NULL);
	ck_assert_str_eq(text, "{\"do\":\"stop\",\"why\":\"say \\\"when\\\"\"}");
	close(client);
	close(fd);
}
END_TEST

START_TEST(what_the_controller_has_is_forgotten_and_deleted_later)
{
	char path[256];

	drives->n = 0;
	start();
	drives->n = 1;
	snprintf(path, sizeof(path), "%s", attempt()->dir);
	keeper_forget(keeper, 15);
	ck_assert_int_eq(attempt()->state, ATTEMPT_FORGOTTEN);
	ck_assert_uint_eq(drops, 1);
	keeper_forget(keeper, 15);
	ck_assert_uint_eq(drops, 1);
	keeper_tick(keeper);
	ck_assert_int_eq(access(path, F_OK), 0);
	env.retention_ns = 0;
	restart();
	ck_assert_int_eq(attempt()->state, ATTEMPT_FORGOTTEN);
	keeper_tick(keeper);
	ck_assert_ptr_null(keeper_first(keeper));
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_running_attempt_is_not_forgotten)
{
	start();
	keeper_forget(keeper, 15);
	ck_assert_int_eq(attempt()->state, ATTEMPT_STARTING);
	ck_assert_uint_eq(drops, 0);
}
END_TEST

START_TEST(space_for_forgotten_spools_is_limited)
{
	drives->n = 0;
	start();
	drives->n = 1;
	keeper_forget(keeper, 15);
	env.spool_limit = 0;
	restart();
	keeper_tick(keeper);
	ck_assert_ptr_null(keeper_first(keeper));
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("keeper");

	signal(SIGPIPE, SIG_IGN);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(
		tc, a_start_raises_the_fence_and_gives_one_process_just_what_it_needs);
	tcase_add_test(tc, a_killed_runner_is_noticed_and_recorded);
	tcase_add_test(tc, a_runner_outlives_its_keeper_and_is_found_again);
	tcase_add_loop_test(tc,
		a_lost_or_damaged_program_spoils_no_report_and_the_end_is_found, 0, 2);
	tcase_add_test(tc, a_run_whose_agent_json_is_damaged_is_minded_to_its_end);
	tcase_add_test(tc, an_attempt_of_which_nothing_can_be_read_is_told_as_trouble);
	tcase_add_test(
		tc, a_spool_that_was_lost_is_mended_and_told_until_it_is_forgotten);
	tcase_add_test(tc,
		a_start_that_was_cut_short_is_taken_up_only_when_it_is_asked_for_again);
	tcase_add_test(tc, an_end_that_cannot_be_recorded_is_told_until_it_is);
	tcase_add_test(tc, a_start_that_is_always_late_is_told_once);
	tcase_add_test(tc, a_runner_whose_number_was_not_saved_is_not_dropped);
	tcase_add_test(tc, after_a_reboot_nothing_is_taken_up);
	tcase_add_test(tc, a_stale_token_starts_nothing);
	tcase_add_test(tc, a_token_of_another_attempt_starts_nothing);
	tcase_add_test(tc, a_drive_is_held_by_one_runner_at_a_time);
	tcase_add_test(tc, a_drive_that_is_gone_other_or_protected_is_not_given);
	tcase_add_test(tc, a_protected_drive_is_refused_with_the_reason);
	tcase_add_test(tc, a_drive_of_another_size_is_another_drive);
	tcase_add_test(tc, a_program_that_is_not_understood_is_refused);
	tcase_add_test(tc, a_runner_that_is_missing_is_a_failure_of_the_infrastructure);
	tcase_add_test(tc, no_more_runs_than_allowed);
	tcase_add_test(tc, a_stop_before_the_runner_listens_waits_for_it);
	tcase_add_test(tc, a_runner_that_answers_is_running_and_is_told_to_stop);
	tcase_add_test(tc, what_the_controller_has_is_forgotten_and_deleted_later);
	tcase_add_test(tc, a_running_attempt_is_not_forgotten);
	tcase_add_test(tc, space_for_forgotten_spools_is_limited);
	return unit_run("keeper", tc);
}
