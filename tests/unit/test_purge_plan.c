#include "runner/purge_plan.h"

#include <stdio.h>

#include "tests/unit/unit.h"

/* What each method is passed over for; NULL where it is not. The first NULL is chosen. */
struct row {
	const char *what;
	struct purge_offer offer;
	const char *why[PURGE_METHODS];
};

#define ALONE .nsid = 1, .others_known = true
#define ALL .formats = true, .sanitize_block = true, .sanitize_crypto = true

static const char virtual[] = "a virtual drive has no such command";
static const char not_nvme[] = "it is sent to NVMe drives only, this one is scsi";
static const char no_sanitize[] =
	"the drive offers no sanitize by block erase or by a new key";
static const char two[] = "a sanitize would erase 2 other namespaces, too";
static const char hidden[] = "a sanitize might erase other namespaces, which only "
			     "another controller of the drive "
			     "could list";
static const char no_discard[] = "the drive knows no discard";
static const char no_answer[] = "NVMe Identify: the drive answers with status 0x2";

static const struct row rows[] = {
	{"everything, alone", {DRIVE_NVME, false, {ALONE, ALL}, "", true}, {NULL}},
	{"sanitize by a new key only",
		{DRIVE_NVME, false, {ALONE, .formats = true, .sanitize_crypto = true}, "",
			true},
		{NULL}},
	{"format only", {DRIVE_NVME, false, {ALONE, .formats = true}, "", true},
		{no_sanitize, NULL}},
	{"format only, of all namespaces, of which there is one",
		{DRIVE_NVME, false, {ALONE, .formats = true, .format_reaches_all = true},
			"", true},
		{no_sanitize, NULL}},
	{"other namespaces, a format keeps to its own",
		{DRIVE_NVME, false, {ALONE, ALL, .others = 2}, "", true}, {two, NULL}},
	{"other namespaces, a format reaches them",
		{DRIVE_NVME, false, {ALONE, ALL, .others = 1, .format_reaches_all = true},
			"", true},
		{"a sanitize would erase 1 other namespace, too",
			"a format would erase 1 other namespace, too", NULL}},
	{"other controllers that may have namespaces",
		{DRIVE_NVME, false, {ALL, .nsid = 1}, "", true}, {hidden, NULL}},
	{"other controllers, a format reaches what they have",
		{DRIVE_NVME, false, {ALL, .nsid = 1, .format_reaches_all = true}, "",
			true},
		{hidden,
			"a format might erase other namespaces, which only another "
			"controller "
			"of the drive could list",
			NULL}},
	{"an NVMe drive that does not answer",
		{DRIVE_NVME, false, {0},
			"NVMe Identify: the drive answers with status 0x2", true},
		{no_answer, no_answer, NULL}},
	{"what an earlier answer said does not count without one",
		{DRIVE_NVME, false, {ALONE, ALL},
			"NVMe Identify: the drive answers with status 0x2", true},
		{no_answer, no_answer, NULL}},
	{"a SATA drive", {DRIVE_SCSI, false, {0}, "", true}, {not_nvme, not_nvme, NULL}},
	{"a real drive without anything", {DRIVE_NVME, false, {ALONE}, "", false},
		{no_sanitize, "the drive offers no format", no_discard,
			"zeroes would fill a real drive, not purge it"}},
	{"a file", {DRIVE_FILE, true, {0}, "", true}, {virtual, virtual, NULL}},
	{"a loop device without discard", {DRIVE_LOOP, true, {0}, "", false},
		{virtual, virtual, no_discard, NULL}},
};

START_TEST(the_strongest_method_that_reaches_nothing_else_is_taken)
{
	const struct row *r = &rows[_i];
	struct purge_choice c;
	struct err e = {0};
	int m = 0;
	int rc = purge_choose(&r->offer, &c, &e);

	for (; m < PURGE_METHODS && r->why[m] != NULL; m++)
		ck_assert_msg(strcmp(c.why_not[m], r->why[m]) == 0, "%s: %s", r->what,
			c.why_not[m]);
	ck_assert_msg((rc == 0) == (m < PURGE_METHODS), "%s: %s", r->what, e.text);
	if (rc == 0) {
		ck_assert_msg((int)c.method == m, "%s: %s", r->what,
			purge_method_name(c.method));
		for (; m < PURGE_METHODS; m++)
			ck_assert_str_eq(c.why_not[m], "");
		ck_assert_int_eq(c.sanitize, r->offer.nvme.sanitize_block
						     ? NVME_SANITIZE_BLOCK
						     : NVME_SANITIZE_CRYPTO);
	} else {
		ck_assert_int_eq(e.class, ERR_LIMIT);
		ck_assert_msg(strstr(e.text, "nothing purges this drive") != NULL, "%s",
			e.text);
		for (m = 0; m < PURGE_METHODS; m++)
			ck_assert_msg(strstr(e.text, r->why[m]) != NULL, "%s", e.text);
		ck_assert(e.fix[0] != '\0');
	}
}
END_TEST

START_TEST(what_reads_back_shows_whether_it_was_purged)
{
	static const struct {
		enum purge_method m;
		bool is_virtual;
		struct purge_seen s; /* blocks, held, unchanged, zero */
		const char *error;
	} seen[] = {
		{PURGE_ZERO, true, {256, 256, 0, 256}, NULL},
		{PURGE_ZERO, true, {256, 0, 0, 255},
			"zero 1 of 256 sampled blocks are not"},
		{PURGE_DISCARD, true, {256, 9, 0, 256}, NULL},
		{PURGE_DISCARD, true, {256, 9, 1, 255},
			"1 of 256 sampled blocks are not"},
		/* an answer that is neither zeroes nor what was there */
		{PURGE_DISCARD, false, {256, 100, 0, 0}, NULL},
		{PURGE_DISCARD, false, {256, 100, 50, 156}, NULL},
		{PURGE_DISCARD, false, {256, 100, 51, 156},
			"of 100 sampled blocks with data 51 read as before"},
		{PURGE_FORMAT, false, {256, 256, 0, 0}, NULL},
		{PURGE_FORMAT, false, {256, 0, 0, 256}, NULL},
		{PURGE_FORMAT, false, {256, 256, 1, 255},
			"purge by format has not purged"},
		{PURGE_SANITIZE, false, {256, 256, 1, 255},
			"purge by sanitize has not purged"},
	};

	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		struct err e = {0};

		if (seen[i].error == NULL)
			OK(purge_judge(seen[i].m, seen[i].is_virtual, &seen[i].s, &e));
		else
			FAILS(purge_judge(seen[i].m, seen[i].is_virtual, &seen[i].s, &e),
				ERR_IO, seen[i].error);
	}
}
END_TEST

START_TEST(only_the_host_s_own_work_can_be_stopped)
{
	ck_assert(!purge_can_stop(PURGE_SANITIZE));
	ck_assert(!purge_can_stop(PURGE_FORMAT));
	ck_assert(purge_can_stop(PURGE_DISCARD));
	ck_assert(purge_can_stop(PURGE_ZERO));
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("purge_plan");

	tcase_add_loop_test(tc, the_strongest_method_that_reaches_nothing_else_is_taken,
		0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, what_reads_back_shows_whether_it_was_purged);
	tcase_add_test(tc, only_the_host_s_own_work_can_be_stopped);
	return unit_run("purge_plan", tc);
}
