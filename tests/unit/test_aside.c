/* Attempts that are forgotten, and whose numbers come again. */
#include "tests/unit/keeper_rig.h"

/* One that was refused, and that the controller has everything of. */
static void
start_and_forget(void)
{
	drives->n = 0;
	start();
	drives->n = 1;
	keeper_forget(keeper, 15);
	ck_assert_int_eq(attempt()->state, ATTEMPT_FORGOTTEN);
}

/* As a node sees it that joins a controller which counts from 1 again. */
START_TEST(a_number_that_comes_again_with_another_token_is_another_attempt)
{
	const struct ward *w;
	char aside[256], spool[300];
	unsigned n = 0;

	start_and_forget();
	snprintf(aside, sizeof(aside), "%s.100", attempt()->dir);
	program.fence = 4294967297;
	program.run = 1;
	start();
	ck_assert_uint_eq(keeper_running(keeper), 1);
	ck_assert_uint_eq(fence(), 4294967297);
	restart(); /* both are told apart by their directories */
	for (w = keeper_first(keeper); w != NULL; w = w->next, n++) {
		ck_assert_uint_eq(w->a->id, 15);
		if (!w->a->aside) {
			ck_assert_uint_eq(w->a->fence, 4294967297);
			ck_assert_uint_eq(w->a->run, 1);
			ck_assert(spawn_signal(&w->proc, SIGKILL));
			continue;
		}
		ck_assert_uint_eq(w->a->fence, 100);
		ck_assert_int_eq(w->a->state, ATTEMPT_FORGOTTEN);
		ck_assert_str_eq(w->a->dir, aside);
	}
	ck_assert_uint_eq(n, 2);
	/* Its records stay for the retention. */
	snprintf(spool, sizeof(spool), "%s/spool/00000000000000000001.seg", aside);
	keeper_tick(keeper);
	ck_assert_int_eq(access(spool, F_OK), 0);
	env.retention_ns = 0;
	restart();
	keeper_tick(keeper);
	ck_assert_int_ne(access(aside, F_OK), 0);
	ck_assert_uint_eq(attempt()->fence, 4294967297);
}
END_TEST

/* Nobody asks for it any more, so the node may work. */
START_TEST(what_was_set_aside_and_is_damaged_is_no_trouble_and_deleted_in_its_time)
{
	const struct ward *w;
	char path[256], text[200];
	struct err e = {0};

	start_and_forget();
	snprintf(path, sizeof(path), "%s.100/agent.json", attempt()->dir);
	program.fence = 101;
	start();
	OK(disk_write(path, "", 0, 0600, &e));
	for (int i = 0; i < 2; i++) { /* what was made anew is read the second time */
		restart();
		w = keeper_first(keeper);
		ck_assert_ptr_nonnull(w->next);
		w = w->a->aside ? w : w->next;
		ck_assert(w->a->aside);
		ck_assert_uint_eq(w->a->fence, 100);
		ck_assert_int_eq(w->a->state, ATTEMPT_FORGOTTEN);
		keeper_trouble(keeper, text, sizeof(text));
		ck_assert_str_eq(text, "");
	}
	for (w = keeper_first(keeper); w != NULL; w = w->next)
		if (!w->a->aside)
			ck_assert(spawn_signal(&w->proc, SIGKILL));
	env.retention_ns = 0;
	restart();
	keeper_tick(keeper);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_uint_eq(attempt()->fence, 101);
}
END_TEST

/* As a controller asks that was restored from a backup. */
START_TEST(a_forgotten_attempt_is_recalled_and_all_of_it_sent_again)
{
	struct err e = {0};
	char spool[256];

	start_and_forget();
	attempt_spool(attempt(), spool, sizeof(spool));
	OK(spool_set_acked(spool, 1, &e));
	restart();
	ck_assert_uint_eq(keeper_first(keeper)->acked_seq, 1);
	changes = 0;
	keeper_recall(keeper, 15, 99); /* another one of that number */
	ck_assert_int_eq(attempt()->state, ATTEMPT_FORGOTTEN);
	if (_i == 0)
		keeper_recall(keeper, 15, 100);
	else
		start(); /* nothing is done a second time */
	want_result("failed", "infra", "not on this node");
	ck_assert_uint_eq(keeper_first(keeper)->acked_seq, 0);
	ck_assert_uint_eq(spool_acked(spool), 0);
	ck_assert_uint_eq(changes, 1);
	ck_assert_ptr_null(keeper_first(keeper)->next);
	/* Until it is forgotten again, no retention ends. */
	env.retention_ns = 0;
	restart();
	keeper_tick(keeper);
	ck_assert_int_eq(attempt()->state, ATTEMPT_EXITED);
	keeper_forget(keeper, 15);
	ck_assert_int_eq(attempt()->state, ATTEMPT_FORGOTTEN);
}
END_TEST

START_TEST(a_number_that_comes_again_with_a_lower_token_is_refused_for_all_to_see)
{
	const struct ward *w;

	start();
	ck_assert(spawn_signal(&keeper_first(keeper)->proc, SIGKILL));
	await(ATTEMPT_EXITED);
	keeper_forget(keeper, 15);
	program.fence = 99;
	start();
	w = keeper_first(keeper);
	ck_assert(!w->a->aside);
	ck_assert_uint_eq(w->a->fence, 99);
	want_result("failed", "safety", "token");
	ck_assert_uint_eq(fence(), 100);
}
END_TEST

START_TEST(what_somebody_deleted_gives_way_at_once)
{
	char text[256];

	start_and_forget();
	snprintf(text, sizeof(text), "rm -r %s", attempt()->dir);
	ck_assert_int_eq(system(text), 0);
	program.fence = 101;
	start();
	ck_assert_uint_eq(keeper_running(keeper), 1);
	ck_assert_uint_eq(fence(), 101);
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_str_eq(text, "");
}
END_TEST

/* The controller may ask for the other attempt again, or not any more. */
START_TEST(what_cannot_be_set_aside_is_trouble_until_it_can)
{
	char path[256], text[128];
	struct err e = {0};

	start_and_forget();
	snprintf(path, sizeof(path), "%s.100", attempt()->dir);
	OK(disk_write(path, "x", 1, 0600, &e)); /* a file is in its way */
	program.fence = 101;
	start();
	ck_assert_int_eq(attempt()->state, ATTEMPT_FORGOTTEN);
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_msg(strstr(text, "rename") != NULL, "%s", text);
	keeper_tick(keeper);
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_str_ne(text, "");
	ck_assert_int_eq(unlink(path), 0);
	if (_i == 0)
		start();
	else
		keeper_tick(keeper);
	keeper_trouble(keeper, text, sizeof(text));
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(keeper_running(keeper), _i == 0 ? 1 : 0);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("aside");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(
		tc, a_number_that_comes_again_with_another_token_is_another_attempt);
	tcase_add_test(tc,
		what_was_set_aside_and_is_damaged_is_no_trouble_and_deleted_in_its_time);
	tcase_add_loop_test(
		tc, a_forgotten_attempt_is_recalled_and_all_of_it_sent_again, 0, 2);
	tcase_add_test(tc,
		a_number_that_comes_again_with_a_lower_token_is_refused_for_all_to_see);
	tcase_add_test(tc, what_somebody_deleted_gives_way_at_once);
	tcase_add_loop_test(tc, what_cannot_be_set_aside_is_trouble_until_it_can, 0, 2);
	return unit_run("aside", tc);
}
