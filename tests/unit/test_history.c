#include "controller/history.h"

#include <stdio.h>

#include "tests/unit/unit.h"

#define FILL                   \
	{                      \
		1, 131072, 32, \
		{              \
			0, 0   \
		}              \
	}
#define TWICE                  \
	{                      \
		2, 131072, 32, \
		{              \
			0, 0   \
		}              \
	}

#define ENTRIES_MAX 12

/* Entries of run 1, 2, ... */
#define FOUND(r, w)                                   \
	{                                             \
		HISTORY_FOUND, (r), 0, true, {0}, (w) \
	}
#define LEFT(r, w)                                   \
	{                                            \
		HISTORY_LEFT, (r), 0, true, {0}, (w) \
	}
#define PURGE(r)                                       \
	{                                              \
		HISTORY_PURGE, (r), (r), true, {0}, "" \
	}
#define FILLED(r)                                      \
	{                                              \
		HISTORY_FILL, (r), (r), true, FILL, "" \
	}
#define FILLED_TWICE(r)                                 \
	{                                               \
		HISTORY_FILL, (r), (r), true, TWICE, "" \
	}
#define WRITE(r)                                                    \
	{                                                           \
		HISTORY_WRITE, (r), 0, true, {0}, "4k-random-write" \
	}
#define UNKNOWN(text)                                    \
	{                                                \
		HISTORY_UNKNOWN, 0, 0, true, {0}, (text) \
	}

static const struct row {
	const char *what;
	struct history_entry list[ENTRIES_MAX];
	struct history_wanted want;
	bool skip_purge, skip_fill;
	int64_t run;
	const char *why;
} rows[] = {
	{"a drive that nothing is known of", {{0}}, {false, FILL}, false, false, 0,
		"no purge or fill of it is known"},
	{"a suite that prepares nothing", {FOUND(1, "a"), FILLED(1), LEFT(1, "b")},
		{false, {0}}, false, false, 0, ""},
	{"filled, and left so", {FOUND(1, "a"), FILLED(1), LEFT(1, "b")}, {false, FILL},
		false, true, 1, ""},
	{"filled, and read since",
		{FOUND(1, "a"), FILLED(1), LEFT(1, "b"), FOUND(2, "b"), LEFT(2, "b")},
		{false, FILL}, false, true, 2, ""},
	{"filled, and written in the same run",
		{FOUND(1, "a"), FILLED(1), WRITE(1), LEFT(1, "b")}, {false, FILL}, false,
		false, 0, "r1 has written to it since (4k-random-write)"},
	{"filled, and written by a later run",
		{FOUND(1, "a"), FILLED(1), LEFT(1, "b"), FOUND(2, "b"), WRITE(2),
			LEFT(2, "c")},
		{false, FILL}, false, false, 0,
		"r2 has written to it since (4k-random-write)"},
	{"written, and filled anew",
		{FOUND(1, "a"), FILLED(1), WRITE(1), LEFT(1, "b"), FOUND(2, "b"),
			FILLED(2), LEFT(2, "c")},
		{false, FILL}, false, true, 2, ""},
	{"somebody wrote between two runs",
		{FOUND(1, "a"), FILLED(1), LEFT(1, "b"), FOUND(2, "x"), LEFT(2, "x")},
		{false, FILL}, false, false, 0,
		"r2 did not find the drive as r1 left it"},
	{"a run could not tell how it found it",
		{FOUND(1, "a"), FILLED(1), LEFT(1, "b"), FOUND(2, ""), LEFT(2, "b")},
		{false, FILL}, false, false, 0,
		"r2 did not find the drive as r1 left it"},
	{"the last run could not tell how it left it",
		{FOUND(1, "a"), FILLED(1), LEFT(1, "")}, {false, FILL}, false, false, 0,
		"r1 could not tell how it left the drive"},
	{"the run that filled it failed",
		{FOUND(1, "a"), FILLED(1), FOUND(2, "b"), LEFT(2, "b")}, {false, FILL},
		false, false, 0, "r1 has not told how it left the drive"},
	{"the run that filled it is at it", {FOUND(1, "a"), FILLED(1)}, {false, FILL},
		false, false, 0, "r1 has not told how it left the drive"},
	{"a later run is at it", {FOUND(1, "a"), FILLED(1), LEFT(1, "b"), FOUND(2, "b")},
		{false, FILL}, false, false, 0, "r2 has not told how it left the drive"},
	{"it was away", {FOUND(1, "a"), FILLED(1), LEFT(1, "b"), UNKNOWN("it was away")},
		{false, FILL}, false, false, 0, "it was away"},
	{"it was away before the fill",
		{UNKNOWN("it was away"), FOUND(1, "a"), FILLED(1), LEFT(1, "b")},
		{false, FILL}, false, true, 1, ""},
	{"a fill that was stopped",
		{FOUND(1, "a"), {HISTORY_FILL, 1, 1, false, FILL, ""}, LEFT(1, "b")},
		{false, FILL}, false, false, 0, "the fill of r1 was not done to its end"},
	{"one pass of two", {FOUND(1, "a"), FILLED_TWICE(1), LEFT(1, "b")},
		{false, TWICE}, false, false, 0, "it was filled in another way"},
	{"two passes of two",
		{FOUND(1, "a"), FILLED_TWICE(1), FILLED_TWICE(1), LEFT(1, "b")},
		{false, TWICE}, false, true, 1, ""},
	{"two passes, one wanted",
		{FOUND(1, "a"), FILLED_TWICE(1), FILLED_TWICE(1), LEFT(1, "b")},
		{false, FILL}, false, false, 0, "it was filled in another way"},
	{"two fills of one pass are the second one",
		{FOUND(1, "a"), FILLED(1), LEFT(1, "b"), FOUND(2, "b"), FILLED(2),
			LEFT(2, "c")},
		{false, FILL}, false, true, 2, ""},
	{"other data", {FOUND(1, "a"), FILLED(1), LEFT(1, "b")},
		{false, {1, 131072, 32, {50, 0}}}, false, false, 0,
		"it was filled in another way"},
	{"purged and filled", {FOUND(1, "a"), PURGE(1), FILLED(1), LEFT(1, "b")},
		{true, FILL}, true, true, 1, ""},
	{"purged and filled, a fill alone wanted",
		{FOUND(1, "a"), PURGE(1), FILLED(1), LEFT(1, "b")}, {false, FILL}, false,
		false, 0, "it was filled with a purge before"},
	{"filled, a purge before wanted", {FOUND(1, "a"), FILLED(1), LEFT(1, "b")},
		{true, FILL}, false, false, 0, "it was filled without a purge before"},
	{"purged, filled, filled again",
		{FOUND(1, "a"), PURGE(1), FILLED(1), LEFT(1, "b"), FOUND(2, "b"),
			FILLED(2), LEFT(2, "c")},
		{true, FILL}, false, false, 0, "it was filled without a purge before"},
	{"purged only", {FOUND(1, "a"), PURGE(1), LEFT(1, "b")}, {true, {0}}, true, false,
		1, ""},
	{"purged, the fill is missing", {FOUND(1, "a"), PURGE(1), LEFT(1, "b")},
		{true, FILL}, true, false, 1, "it was purged and not filled"},
	{"purged, a fill without purge wanted", {FOUND(1, "a"), PURGE(1), LEFT(1, "b")},
		{false, FILL}, false, false, 0, "it was purged and not filled"},
	{"purged by one run and filled by the next",
		{FOUND(1, "a"), PURGE(1), LEFT(1, "b"), FOUND(2, "b"), FILLED(2),
			LEFT(2, "c")},
		{true, FILL}, true, true, 2, ""},
	{"filled since its purge, a purge wanted",
		{FOUND(1, "a"), PURGE(1), FILLED(1), LEFT(1, "b")}, {true, {0}}, false,
		false, 0, "it was filled since its purge"},
	{"a purge that was stopped",
		{FOUND(1, "a"), {HISTORY_PURGE, 1, 1, false, {0}, ""}, LEFT(1, "b")},
		{true, FILL}, false, false, 0, "the purge of r1 was not done to its end"},
};

START_TEST(only_what_is_told_without_a_hole_is_skipped)
{
	const struct row *r = &rows[_i];
	struct history_verdict v;
	size_t n = 0;

	while (n < ENTRIES_MAX && r->list[n].text != NULL)
		n++;
	history_judge(r->list, n, &r->want, &v);
	ck_assert_msg(v.skip_purge == r->skip_purge, "%s: %d", r->what, v.skip_purge);
	ck_assert_msg(v.skip_fill == r->skip_fill, "%s: %d", r->what, v.skip_fill);
	ck_assert_msg(strcmp(v.why, r->why) == 0, "%s: %s", r->what, v.why);
	ck_assert_msg(v.run == r->run, "%s: r%d", r->what, (int)v.run);
	/* as the last entry left it */
	if (r->run != 0)
		ck_assert_str_eq(v.witness, r->list[n - 1].text);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("history");

	tcase_add_loop_test(tc, only_what_is_told_without_a_hole_is_skipped, 0,
		sizeof(rows) / sizeof(rows[0]));
	return unit_run("history", tc);
}
