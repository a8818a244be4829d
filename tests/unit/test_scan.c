#include "agent/scan.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/news.h"
#include "common/loop.h"
#include "common/mbox.h"
#include "tests/unit/top_rig.h"

static char drives_dir[80];
static struct scan_config config;
static struct drive_list *seen;

static void
make_file(const char *name, off_t size)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", drives_dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, size), 0);
	close(fd);
}

static void
setup(void)
{
	char path[256];

	top_make("/tmp");
	snprintf(drives_dir, sizeof(drives_dir), "%s/drives", top);
	ck_assert_int_eq(mkdir(drives_dir, 0700), 0);
	make_file("b", 64 << 20);
	make_file("a", 64 << 20);
	make_file(".hidden", 64 << 20);
	make_file("with blank", 64 << 20);
	make_file("empty", 0);
	snprintf(path, sizeof(path), "%s/link", drives_dir);
	ck_assert_int_eq(symlink("a", path), 0);
	config = (struct scan_config){.keep_path = top,
		.allow_virtual = true,
		.virtual_dir = drives_dir,
		.virtual_devices = ""};
}

static void
teardown(void)
{
	drive_list_free(seen);
	top_remove();
}

/* The drive at a file of the directory, or NULL. */
static const struct seen_drive *
at(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", drives_dir, name);
	for (size_t i = 0; i < seen->n; i++)
		if (strcmp(seen->items[i].path, path) == 0)
			return &seen->items[i];
	return NULL;
}

START_TEST(files_of_the_directory_are_drives_and_nothing_else_in_it_is)
{
	scan_run(&config, NULL, &seen);
	ck_assert_ptr_nonnull(at("a"));
	ck_assert_ptr_nonnull(at("b"));
	ck_assert(at("a")->id.is_virtual);
	ck_assert_int_eq(at("a")->id.kind, DRIVE_FILE);
	ck_assert_uint_eq(at("a")->id.capacity_bytes, 64 << 20);
	ck_assert_str_ne(at("a")->id.serial, at("b")->id.serial);
	ck_assert_ptr_null(at(".hidden"));
	ck_assert_ptr_null(at("with blank"));
	ck_assert_ptr_null(at("empty"));
	ck_assert_ptr_null(at("link"));
	ck_assert_ptr_eq(drive_list_find(seen, at("a")->key), at("a"));
}
END_TEST

START_TEST(virtual_drives_must_be_allowed)
{
	config.allow_virtual = false;
	scan_run(&config, NULL, &seen);
	ck_assert_ptr_null(at("a"));
	for (size_t i = 0; i < seen->n; i++)
		ck_assert(!seen->items[i].id.is_virtual);
}
END_TEST

START_TEST(two_looks_at_the_same_tell_the_same)
{
	struct drive_list *again;

	scan_run(&config, NULL, &seen);
	scan_run(&config, NULL, &again);
	ck_assert(drive_list_equal(seen, again));
	again->items[0].reasons[0] = '\0';
	snprintf(again->items[0].path, sizeof(again->items[0].path), "/elsewhere");
	ck_assert(!drive_list_equal(seen, again));
	drive_list_free(again);
}
END_TEST

START_TEST(a_leased_drive_is_told_from_memory)
{
	struct drive_list *leased = calloc(1, sizeof(*leased));
	struct drive_id id = {.kind = DRIVE_FILE, .serial = "remembered"};
	char path[256];

	snprintf(path, sizeof(path), "%s/a", drives_dir);
	drive_list_add(leased, &id, path, "");
	scan_run(&config, leased, &seen);
	ck_assert_str_eq(at("a")->id.serial, "remembered");
	ck_assert_int_eq(unlink(path), 0);
	drive_list_free(seen);
	scan_run(&config, leased, &seen);
	ck_assert_ptr_null(at("a"));
	drive_list_free(leased);
}
END_TEST

START_TEST(the_thread_looks_when_asked_and_ends_when_told)
{
	struct inbox in = {.m = mbox_new(10)};
	struct drive_list *leased = calloc(1, sizeof(*leased));
	struct err e = {0};
	struct scan *scan;
	struct news *n;

	OK(loop_new(&in.l, &e));
	OK(scan_start(&scan, &config, &in, &e));
	ck_assert(scan_take_request(scan, &leased));
	ck_assert_ptr_null(leased);
	n = mbox_get(in.m, -1);
	ck_assert_int_eq(n->kind, NEWS_DRIVES);
	seen = n->drives;
	n->drives = NULL;
	ck_assert_ptr_nonnull(at("b"));
	news_free(n);
	ck_assert(scan_stop(scan));
	mbox_free(in.m);
	loop_free(in.l);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("scan");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, files_of_the_directory_are_drives_and_nothing_else_in_it_is);
	tcase_add_test(tc, virtual_drives_must_be_allowed);
	tcase_add_test(tc, two_looks_at_the_same_tell_the_same);
	tcase_add_test(tc, a_leased_drive_is_told_from_memory);
	tcase_add_test(tc, the_thread_looks_when_asked_and_ends_when_told);
	return unit_run("scan", tc);
}
