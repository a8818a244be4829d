#include "cli/table.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/str.h"
#include "tests/unit/unit.h"

static void
shout(const json_t *item, struct str *out)
{
	str_printf(out, "%s!", json_string_value(json_object_get(item, "name")));
}

static const struct column columns[] = {
	{"ID", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"NAME", "name", UNIT_TEXT, 0, NULL},
	{"LOUD", "loud", UNIT_TEXT, 0, shout},
	{"SIZE", "size/bytes", UNIT_BYTES, 0, NULL},
	{"NOTE", "note", UNIT_TEXT, 0, NULL},
	{"SECRET", "secret", UNIT_TEXT, COL_WIDE, NULL},
	{"RAW", "raw", UNIT_WHOLE, COL_CSV, NULL},
};

#define ITEMS                                                                            \
	"[{\"id\": \"d1\", \"name\": \"one\", \"size\": {\"bytes\": \"8000000000000\"}," \
	"  \"raw\": -1},"                                                                \
	" {\"id\": \"d12\", \"name\": \"caf\\u00e9, \\\"two\\\"\", \"size\": "           \
	"{\"bytes\": null},"                                                             \
	"  \"secret\": \"x\", \"raw\": 2.5}]"

/* What table_print writes for these items; static buffer. fd is for the width. */
static const char *
printed(enum out_format format, const char *items, int fd)
{
	static char *text;
	struct out o = {.format = format, .fd = fd, .terminal = fd >= 0, .utf8 = true};
	json_t *doc = json_loads(items, 0, NULL);
	size_t len;

	free(text);
	ck_assert_ptr_nonnull(doc);
	o.file = open_memstream(&text, &len);
	table_print(&o, doc, COLUMNS(columns));
	fclose(o.file);
	json_decref(doc);
	return text;
}

START_TEST(columns_are_aligned_and_empty_ones_left_out)
{
	ck_assert_str_eq(printed(OUT_TABLE, ITEMS, -1),
		"ID   NAME         LOUD             SIZE\n"
		"d1   one          one!          8.00 TB\n"
		"d12  caf\xc3\xa9, \"two\"  caf\xc3\xa9, \"two\"!        -\n");
}
END_TEST

START_TEST(a_wide_table_has_all_columns_for_people)
{
	ck_assert_str_eq(printed(OUT_WIDE, ITEMS, -1),
		"ID   NAME         LOUD             SIZE  NOTE  SECRET\n"
		"d1   one          one!          8.00 TB  -     -\n"
		"d12  caf\xc3\xa9, \"two\"  caf\xc3\xa9, \"two\"!        -  -     x\n");
}
END_TEST

START_TEST(an_empty_table_is_its_titles)
{
	ck_assert_str_eq(printed(OUT_TABLE, "[]", -1), "ID  NAME  LOUD  SIZE  NOTE\n");
	ck_assert_str_eq(printed(OUT_NAME, "[]", -1), "");
}
END_TEST

START_TEST(names_are_the_first_column)
{
	ck_assert_str_eq(printed(OUT_NAME, ITEMS, -1), "d1\nd12\n");
}
END_TEST

START_TEST(csv_has_raw_values_and_the_paths_as_its_head)
{
	ck_assert_str_eq(printed(OUT_CSV, ITEMS, -1),
		"id,name,loud,size_bytes,note,secret,raw\r\n"
		"d1,one,one!,8000000000000,,,-1\r\n"
		"d12,\"caf\xc3\xa9, \"\"two\"\"\",\"caf\xc3\xa9, "
		"\"\"two\"\"!\",,,x,2.5\r\n");
}
END_TEST

START_TEST(csv_texts_are_guarded_against_formulas_and_numbers_are_not)
{
	static const struct {
		const char *value;
		int is_text;
		const char *want;
	} rows[] = {
		{"plain", 1, "plain"},
		{"", 1, ""},
		{"=SUM(A1)", 1, "\"'=SUM(A1)\""},
		{"+1", 1, "\"'+1\""},
		{"-1", 1, "\"'-1\""},
		{"@x", 1, "\"'@x\""},
		{"\tx", 1, "\"'\tx\""},
		{"-1.5", 0, "-1.5"},
		{"a,b", 1, "\"a,b\""},
		{"say \"so\"", 1, "\"say \"\"so\"\"\""},
		{"two\nlines", 1, "\"two\nlines\""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out = {0};

		table_csv_cell(rows[i].value, rows[i].is_text, &out);
		ck_assert_str_eq(str_text(&out), rows[i].want);
		str_fini(&out);
	}
}
END_TEST

START_TEST(a_table_is_cut_to_the_terminal_where_it_may_be)
{
	struct winsize w = {.ws_col = 36, .ws_row = 20};
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int fd;
	const char *text;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	fd = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_eq(ioctl(fd, TIOCSWINSZ, &w), 0);
	text = printed(OUT_TABLE, ITEMS, fd);
	ck_assert_str_eq(text, "ID   NAME        LOUD           SIZE\n"
			       "d1   one         one!        8.00 TB\n"
			       "d12  caf\xc3\xa9, \"tw\xe2\x80\xa6  caf\xc3\xa9, "
			       "\"tw\xe2\x80\xa6        -\n");
	close(fd);
	close(master);
}
END_TEST

START_TEST(what_is_cut_late_stands_while_something_else_can_be_cut)
{
	static const struct column late[] = {
		{"ID", "id", UNIT_TEXT, COL_KEEP, NULL},
		{"TITLE", "title", UNIT_TEXT, 0, NULL},
		{"WAITS FOR", "why", UNIT_TEXT, COL_LATE, NULL},
	};
	struct winsize w = {.ws_row = 20};
	struct out o = {.format = OUT_TABLE, .terminal = true};
	json_t *doc = json_loads("[{\"id\": \"r1\", \"title\": \"four corners, short\","
				 " \"why\": \"drive S1 is in use by r7\"}]",
		0, NULL);
	static const struct {
		unsigned short columns;
		const char *text;
	} rows[] = {
		{60, "ID  TITLE                WAITS FOR\n"
		     "r1  four corners, short  drive S1 is in use by r7\n"},
		{40, "ID  TITLE       WAITS FOR\nr1  four corn~  drive S1 is in use by "
		     "r7\n"},
		{32, "ID  TITLE     WAITS FOR\nr1  four co~  drive S1 is in us~\n"},
	};
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	o.fd = open(ptsname(master), O_RDWR | O_NOCTTY);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text;
		size_t len;

		w.ws_col = rows[i].columns;
		ck_assert_int_eq(ioctl(o.fd, TIOCSWINSZ, &w), 0);
		o.file = open_memstream(&text, &len);
		table_print(&o, doc, COLUMNS(late));
		fclose(o.file);
		ck_assert_str_eq(text, rows[i].text);
		free(text);
	}
	json_decref(doc);
	close(o.fd);
	close(master);
}
END_TEST

START_TEST(a_wide_table_that_does_not_fit_loses_wide_columns)
{
	struct winsize w = {.ws_col = 36, .ws_row = 20};
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int fd;
	const char *text;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	fd = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_eq(ioctl(fd, TIOCSWINSZ, &w), 0);
	text = printed(OUT_WIDE, ITEMS, fd);
	ck_assert_str_eq(text, "ID   NAME        LOUD           SIZE\n"
			       "d1   one         one!        8.00 TB\n"
			       "d12  caf\xc3\xa9, \"tw\xe2\x80\xa6  caf\xc3\xa9, "
			       "\"tw\xe2\x80\xa6        -\n");
	close(fd);
	close(master);
}
END_TEST

START_TEST(text_is_cut_between_characters)
{
	struct str out = {0};

	text_cut("caf\xc3\xa9 noir", 5, 1, &out);
	ck_assert_str_eq(str_text(&out), "caf\xc3\xa9\xe2\x80\xa6");
	str_reset(&out);
	text_cut("caf\xc3\xa9 noir", 5, 0, &out);
	ck_assert_str_eq(str_text(&out), "caf\xc3\xa9~");
	str_reset(&out);
	text_cut("caf\xc3\xa9", 4, 0, &out);
	ck_assert_str_eq(str_text(&out), "caf\xc3\xa9");
	str_reset(&out);
	text_cut("caf\xc3\xa9", 1, 0, &out);
	ck_assert_str_eq(str_text(&out), "~");
	str_fini(&out);
}
END_TEST

START_TEST(fields_leave_out_what_is_empty)
{
	struct out o = {.format = OUT_TABLE};
	json_t *doc = json_loads(ITEMS, 0, NULL);
	char *text;
	size_t len;

	o.file = open_memstream(&text, &len);
	table_fields(&o, json_array_get(doc, 0), COLUMNS(columns));
	fclose(o.file);
	ck_assert_str_eq(text, "id      d1\n"
			       "name    one\n"
			       "loud    one!\n"
			       "size    8.00 TB\n");
	free(text);
	json_decref(doc);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("table");

	tcase_add_test(tc, columns_are_aligned_and_empty_ones_left_out);
	tcase_add_test(tc, a_wide_table_has_all_columns_for_people);
	tcase_add_test(tc, an_empty_table_is_its_titles);
	tcase_add_test(tc, names_are_the_first_column);
	tcase_add_test(tc, csv_has_raw_values_and_the_paths_as_its_head);
	tcase_add_test(tc, csv_texts_are_guarded_against_formulas_and_numbers_are_not);
	tcase_add_test(tc, a_table_is_cut_to_the_terminal_where_it_may_be);
	tcase_add_test(tc, what_is_cut_late_stands_while_something_else_can_be_cut);
	tcase_add_test(tc, a_wide_table_that_does_not_fit_loses_wide_columns);
	tcase_add_test(tc, text_is_cut_between_characters);
	tcase_add_test(tc, fields_leave_out_what_is_empty);
	return unit_run("table", tc);
}
