#include "agent/fence.h"

#include <stdio.h>
#include <unistd.h>

#include "agent/disk.h"
#include "agent/scan.h"
#include "common/xalloc.h"
#include "tests/unit/unit.h"

static char dir[64];

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/test_fence.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void
teardown(void)
{
	ck_assert_int_eq(disk_remove_tree(dir, NULL), 0);
}

START_TEST(only_higher_tokens_pass)
{
	struct err e = {0};

	OK(fence_judge(0, 1, false, &e));
	OK(fence_judge(4294967301, 4294967302, false, &e));
	OK(fence_judge(UINT64_MAX - 1, UINT64_MAX, false, &e));
	FAILS(fence_judge(8, 7, false, &e), ERR_UNSAFE, "token 7 is stale: 8 was seen");
	FAILS(fence_judge(8, 7, true, &e), ERR_UNSAFE, "is stale");
	FAILS(fence_judge(0, 0, true, &e), ERR_UNSAFE, "of 0");
}
END_TEST

START_TEST(an_equal_token_passes_for_its_own_attempt_alone)
{
	struct err e = {0};

	OK(fence_judge(8, 8, true, &e));
	FAILS(fence_judge(8, 8, false, &e), ERR_UNSAFE,
		"already used by another attempt");
}
END_TEST

START_TEST(the_highest_token_of_each_drive_is_kept)
{
	struct err e = {0};
	uint64_t token;

	OK(fence_read(dir, "S1-aa", &token, &e));
	ck_assert_uint_eq(token, 0);
	OK(fence_raise(dir, "S1-aa", 4294967301, &e));
	OK(fence_raise(dir, "S2-bb", 5, &e));
	OK(fence_raise(dir, "S1-aa", UINT64_MAX, &e));
	OK(fence_read(dir, "S1-aa", &token, &e));
	ck_assert_uint_eq(token, UINT64_MAX);
	OK(fence_read(dir, "S2-bb", &token, &e));
	ck_assert_uint_eq(token, 5);
}
END_TEST

START_TEST(a_damaged_fence_opens_nothing)
{
	static const char *const texts[] = {"", "x", "12x", "0", "-1"};
	struct err e = {0};
	char path[128];
	uint64_t token;

	snprintf(path, sizeof(path), "%s/S1-aa", dir);
	for (size_t i = 0; i < 5; i++) {
		OK(disk_write(path, texts[i], strlen(texts[i]), 0600, &e));
		FAILS(fence_read(dir, "S1-aa", &token, &e), ERR_INVALID, "is damaged");
	}
}
END_TEST

START_TEST(a_damaged_fence_is_trouble)
{
	struct drive_list *drives = xcalloc(1, sizeof(*drives));
	struct drive_id id = {.model = "M", .serial = "S1"};
	struct err e = {0};
	char path[256], text[256];

	drive_list_add(drives, &id, "/dev/a", "");
	snprintf(id.serial, sizeof(id.serial), "S2");
	drive_list_add(drives, &id, "/dev/b", "");
	snprintf(path, sizeof(path), "%s/fence", dir);
	OK(disk_make_dir(path, &e));
	fence_trouble(dir, NULL, text, sizeof(text));
	ck_assert_str_eq(text, "");
	fence_trouble(dir, drives, text, sizeof(text));
	ck_assert_str_eq(text, "");
	snprintf(path, sizeof(path), "%s/fence/%s", dir, drives->items[1].key);
	OK(disk_write(path, "", 0, 0600, &e));
	fence_trouble(dir, drives, text, sizeof(text));
	ck_assert_msg(strstr(text, "no run is started") == text &&
			      strstr(text, path) != NULL &&
			      strstr(text, " is damaged") != NULL,
		"%s", text);
	OK(disk_write(path, "7\n", 2, 0600, &e));
	fence_trouble(dir, drives, text, sizeof(text));
	ck_assert_str_eq(text, "");
	drive_list_free(drives);
	snprintf(path, sizeof(path), "%s/fence", dir);
	OK(disk_remove_tree(path, &e));
}
END_TEST

START_TEST(a_fence_that_cannot_be_written_is_a_failure)
{
	struct err e = {0};
	char path[128];

	snprintf(path, sizeof(path), "%s/S1-aa.new", dir);
	OK(disk_make_dir(path, &e));
	FAILS(fence_raise(dir, "S1-aa", 5, &e), ERR_IO, "S1-aa.new");
	OK(disk_remove_tree(path, &e));
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("fence");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, only_higher_tokens_pass);
	tcase_add_test(tc, an_equal_token_passes_for_its_own_attempt_alone);
	tcase_add_test(tc, the_highest_token_of_each_drive_is_kept);
	tcase_add_test(tc, a_damaged_fence_opens_nothing);
	tcase_add_test(tc, a_damaged_fence_is_trouble);
	tcase_add_test(tc, a_fence_that_cannot_be_written_is_a_failure);
	return unit_run("fence", tc);
}
