#include "runner/witness.h"

#include <stdio.h>
#include <unistd.h>

#include "common/drive.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "runner/purge.h"
#include "tests/unit/unit.h"

#define BYTES (1 << 20)

static char path[] = "/var/tmp/ssdlab-witness-XXXXXX";
static int fd;
static bool goes_on;
static struct drive_id drive = {DRIVE_FILE, "m", "s", "", "", BYTES, 512, -1, true};

static bool
tick(void *arg)
{
	(void)arg;
	return goes_on;
}

static void
setup(void)
{
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, BYTES), 0);
	goes_on = true;
}

static void
teardown(void)
{
	unlink(path);
	close(fd);
}

static int
look(char text[WITNESS_MAX], struct err *e)
{
	const struct purge_job j = {.fd = fd, .drive = &drive, .tick = tick};

	return witness_take(&j, text, e);
}

/* What has changed from one to the other. Static buffer. */
static const char *
differ(const char *before, const char *now)
{
	static struct str out;

	str_reset(&out);
	str_puts(&out, "");
	witness_differ(before, now, &out);
	return str_text(&out);
}

START_TEST(a_file_is_as_it_was_until_somebody_writes_to_it)
{
	char before[WITNESS_MAX], now[WITNESS_MAX];
	struct err e = {0};

	OK(look(before, &e));
	ck_assert_int_eq(strncmp(before, "boot ", 5), 0);
	OK(look(now, &e));
	ck_assert_str_eq(before, now);
	ck_assert_str_eq(differ(before, now), "");
	/* the clock of the file system may stand still for some milliseconds */
	do
		ck_assert_int_eq(pwrite(fd, "x", 1, 0), 1);
	while (look(now, &e) == 0 && strstr(differ(before, now), "file") == NULL);
	ck_assert_str_eq(
		differ(before, now), "its file was changed, its data were changed");
}
END_TEST

START_TEST(a_look_that_was_cut_short_or_failed_says_nothing)
{
	char text[WITNESS_MAX];
	struct err e = {0};

	goes_on = false;
	ck_assert_int_eq(look(text, &e), 1);
	ck_assert_str_eq(text, "");
	goes_on = true;
	ck_assert_int_eq(ftruncate(fd, BYTES / 2), 0);
	FAILS(look(text, &e), ERR_IO, "the drive ends");
	ck_assert_str_eq(text, "");
}
END_TEST

/* A file below the directory, with the fields of a device's counters. */
static void
count(const char *top, const char *dir, int written, int discarded)
{
	char *text = xasprintf(
		"mkdir -p %s/%s && echo '1 2 3 4 5 6 %d 8 9 10 11 12 13 %d 15'"
		" >%s/%s/stat",
		top, dir, written, discarded, top, dir);

	ck_assert_int_eq(system(text), 0);
	free(text);
}

START_TEST(the_paths_of_a_drive_are_added_up)
{
	char top[] = "/tmp/ssdlab-witness-XXXXXX";
	uint64_t written, discarded;
	char *dir, *undo;

	ck_assert_ptr_nonnull(mkdtemp(top));
	undo = xasprintf("rm -rf %s", top);
	count(top, "block/sda", 7, 14);
	dir = xasprintf("%s/block/sda", top);
	ck_assert(witness_counters(dir, &written, &discarded));
	ck_assert_uint_eq(written, 7);
	ck_assert_uint_eq(discarded, 14);
	free(dir);
	/* namespace 1 of subsystem 1 over controllers 1 and 2, each with another one */
	dir = xasprintf("%s/nvme-subsys1/nvme1n1", top);
	count(top, "nvme-subsys1/nvme1n1", 0, 0);
	ck_assert(!witness_counters(dir, &written, &discarded));
	count(top, "nvme-subsys1/nvme1/nvme1c1n1", 100, 1);
	count(top, "nvme-subsys1/nvme1/nvme1c1n2", 5000, 5000);
	count(top, "nvme-subsys1/nvme2/nvme1c2n1", 20, 2);
	count(top, "nvme-subsys1/nvme2/nvme1c2n11", 5000, 5000);
	ck_assert(witness_counters(dir, &written, &discarded));
	ck_assert_uint_eq(written, 120);
	ck_assert_uint_eq(discarded, 3);
	free(dir);
	dir = xasprintf("%s/nothing", top);
	ck_assert(!witness_counters(dir, &written, &discarded));
	free(dir);
	ck_assert_int_eq(system(undo), 0);
	free(undo);
}
END_TEST

START_TEST(what_has_changed_is_said_in_words)
{
	static const char was[] = "boot a attached 3 written 100 discarded 8 sample 0a";
	static const struct {
		const char *now, *want;
	} rows[] = {
		{"boot b attached 3 written 5 discarded 0 sample 0a",
			"its node was started anew"},
		{"boot a attached 4 written 5 discarded 0 sample 0b",
			"it was attached anew"},
		{"boot a attached 3 written 108 discarded 8 sample 0a",
			"8 sectors were written to it"},
		{"boot a attached 3 written 101 discarded 10 sample 0b",
			"1 sectors were written to it, 2 sectors of it were discarded, "
			"its data were changed"},
		{"boot a attached 3 written 100 discarded 8 inode 5 changed 1.5 sample "
		 "0a",
			"it is another file, its file was changed"},
		{"boot a attached 3 written 100 discarded 8 sample 0b",
			"its data were changed"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_str_eq(differ(was, rows[i].now), rows[i].want);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("witness");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_file_is_as_it_was_until_somebody_writes_to_it);
	tcase_add_test(tc, a_look_that_was_cut_short_or_failed_says_nothing);
	tcase_add_test(tc, the_paths_of_a_drive_are_added_up);
	tcase_add_test(tc, what_has_changed_is_said_in_words);
	return unit_run("witness", tc);
}
