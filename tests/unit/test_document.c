#include "common/document.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/json.h"
#include "tests/unit/unit.h"

static const struct yaml_member drives[] = {{"serial", YAML_TEXT, NULL}, {0}};
static const struct yaml_member members[] = {
	{"ssdlab", YAML_TEXT, NULL},
	{"name", YAML_TEXT, NULL},
	{"suite", YAML_TEXT, NULL},
	{"drives", YAML_OBJECTS, drives},
	{"repeats", YAML_WHOLE, NULL},
	{"labels", YAML_TEXT_OF, NULL},
	{0},
};

static char dir[] = "/tmp/test-document-XXXXXX";
static char path[64];

/* Writes a file of that name and returns its path. */
static const char *
file(const char *name, const char *text)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	return path;
}

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/test-document-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void
teardown(void)
{
	unlink(path);
	rmdir(dir);
}

START_TEST(yaml_is_compiled_to_the_document_that_is_sent)
{
	struct document d;
	struct err e = {0};
	struct str out = {0};

	OK(document_read(
		file("c.yaml", "ssdlab: campaign/v1\nname: 12\nsuite: a@1\n"
			       "drives:\n- serial: 0012\nrepeats: 3\nlabels: {a: no}\n"),
		members, &d, &e));
	json_write(d.doc, &out);
	ck_assert_str_eq(str_text(&out),
		"{\"ssdlab\":\"campaign/v1\",\"name\":\"12\",\"suite\":\"a@1\","
		"\"drives\":[{\"serial\":\"0012\"}],\"repeats\":3,\"labels\":{\"a\":"
		"\"no\"}}");
	str_fini(&out);
	document_fini(&d);
}
END_TEST

START_TEST(yaml_without_members_may_be_of_any_shape)
{
	struct document d;
	struct err e = {0};
	struct str out = {0};

	OK(document_read(file("w.yaml", "id: 4k\nread: 70%\nzones:\n- {space: 5%}\n"
					"in_flight: 8\n"),
		YAML_CORE, &d, &e));
	json_write(d.doc, &out);
	ck_assert_str_eq(str_text(&out),
		"{\"id\":\"4k\",\"read\":\"70%\",\"zones\":[{\"space\":\"5%\"}],"
		"\"in_flight\":8}");
	str_fini(&out);
	document_fini(&d);
}
END_TEST

START_TEST(json_is_sent_as_it_is_even_when_it_is_wrong)
{
	struct document d;
	struct err e = {0};
	struct str out = {0};

	OK(document_read(file("c.json", "{\"repaets\": \"x\"}"), members, &d, &e));
	json_write(d.doc, &out);
	ck_assert_str_eq(str_text(&out), "{\"repaets\":\"x\"}");
	str_fini(&out);
	document_fini(&d);
}
END_TEST

START_TEST(errors_name_file_line_and_column)
{
	struct document d;
	struct err e = {0};
	char want[128];

	FAILS(document_read(file("c.yaml", "name: x\nname: y\n"), members, &d, &e),
		ERR_INVALID, ":2:1: \"name\" is there twice");
	snprintf(want, sizeof(want), "%s:2:1: ", path);
	ck_assert_int_eq(strncmp(e.text, want, strlen(want)), 0);
	document_fini(&d);
	FAILS(document_read(file("c.json", "{\n  x}"), members, &d, &e), ERR_INVALID,
		"c.json:2:3: not valid JSON");
	document_fini(&d);
	FAILS(document_read("/nonexistent/c.yaml", members, &d, &e), ERR_NOTFOUND,
		"/nonexistent");
	document_fini(&d);
}
END_TEST

/* Without a writer, opening a FIFO would wait for one. */
START_TEST(what_is_no_file_is_not_waited_for)
{
	struct document d;
	struct err e = {0};

	snprintf(path, sizeof(path), "%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	FAILS(document_read(path, members, &d, &e), ERR_INVALID,
		"fifo is not a regular file");
	ck_assert_str_eq(e.fix, "name a file, or - to read stdin");
	document_fini(&d);
	FAILS(document_read(dir, members, &d, &e), ERR_INVALID, "is not a regular file");
	document_fini(&d);
	FAILS(document_read("/dev/zero", members, &d, &e), ERR_INVALID,
		"/dev/zero is not a regular file");
	document_fini(&d);
}
END_TEST

START_TEST(a_pointer_of_the_controller_is_found_in_the_file)
{
	struct document d;
	struct err e = {0};

	OK(document_read(
		file("c.yaml", "name: x\ndrives:\n  - serial: S1\n  - serial: S2\n"),
		members, &d, &e));
	err_set(&e, ERR_UNSAFE, "drive S2 is mounted");
	err_at(&e, "/drives/1");
	document_place(&d, &e);
	ck_assert_ptr_nonnull(strstr(e.text, "c.yaml:4:5: drive S2 is mounted"));
	err_clear(&e);
	err_set(&e, ERR_NET, "cannot be reached");
	document_place(&d, &e);
	ck_assert_ptr_nonnull(strstr(e.text, "c.yaml: cannot be reached"));
	err_clear(&e);
	err_set(&e, ERR_INVALID, "drive S1 is already in the list at /drives/0");
	err_at(&e, "/drives/1");
	document_place(&d, &e);
	ck_assert_msg(strstr(e.text, "drive S1 is already in the list in line 3") != NULL,
		"%s", e.text);
	document_fini(&d);
}
END_TEST

START_TEST(a_file_that_is_too_large_is_not_read_whole)
{
	struct document d;
	struct err e = {0};

	file("c.yaml", "");
	ck_assert_int_eq(truncate(path, INT64_C(1) << 30), 0);
	FAILS(document_read(path, members, &d, &e), ERR_LIMIT, "more than 1048576 bytes");
	document_fini(&d);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("document");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, yaml_is_compiled_to_the_document_that_is_sent);
	tcase_add_test(tc, yaml_without_members_may_be_of_any_shape);
	tcase_add_test(tc, json_is_sent_as_it_is_even_when_it_is_wrong);
	tcase_add_test(tc, errors_name_file_line_and_column);
	tcase_add_test(tc, a_pointer_of_the_controller_is_found_in_the_file);
	tcase_add_test(tc, a_file_that_is_too_large_is_not_read_whole);
	tcase_add_test(tc, what_is_no_file_is_not_waited_for);
	return unit_run("document", tc);
}
