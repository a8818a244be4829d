#include "common/yaml.h"

#include <dirent.h>
#include <stdio.h>

#include "common/json.h"
#include "common/str.h"
#include "tests/unit/unit.h"

static const struct yaml_member drive[] = {
	{"serial", YAML_TEXT, NULL},
	{"model", YAML_TEXT, NULL},
	{"wwn", YAML_TEXT, NULL},
	{0},
};

static const struct yaml_member campaign[] = {
	{"ssdlab", YAML_TEXT, NULL},
	{"name", YAML_TEXT, NULL},
	{"purpose", YAML_TEXT, NULL},
	{"drives", YAML_OBJECTS, drive},
	{"repeats", YAML_WHOLE, NULL},
	{"paused", YAML_BOOL, NULL},
	{"labels", YAML_TEXT_OF, NULL},
	{"workloads", YAML_TEXTS, NULL},
	{0},
};

/* Compact JSON of a document, or the error's sentence; static buffer. */
static const char *
read_as(const struct yaml_member *mode, const char *text)
{
	static struct str out;
	struct err e = {0};
	json_t *doc;

	str_reset(&out);
	if (yaml_to_json(text, strlen(text), mode, &doc, &e) != 0) {
		str_puts(&out, e.text);
		return str_text(&out);
	}
	json_write(doc, &out);
	json_decref(doc);
	return str_text(&out);
}

START_TEST(scalars_are_texts_unless_the_member_is_known_as_something_else)
{
	ck_assert_str_eq(read_as(campaign, "name: no\npurpose: 1.20\nrepeats: 3\n"
					   "paused: true\n"),
		"{\"name\":\"no\",\"purpose\":\"1.20\",\"repeats\":3,\"paused\":true}");
	/* the range is for the controller to say */
	ck_assert_str_eq(read_as(campaign, "repeats: -1\n"), "{\"repeats\":-1}");
	ck_assert_str_eq(read_as(campaign, "labels: {bench: 1, on: off, \"a b\": ~}\n"),
		"{\"labels\":{\"bench\":\"1\",\"on\":\"off\",\"a b\":\"~\"}}");
	ck_assert_str_eq(read_as(campaign, "workloads:\n- 4k\n- 0x10\ndrives:\n"
					   "- serial: 007\n"),
		"{\"workloads\":[\"4k\",\"0x10\"],\"drives\":[{\"serial\":\"007\"}]}");
}
END_TEST

START_TEST(core_mode_gives_plain_scalars_their_json_types)
{
	ck_assert_str_eq(read_as(YAML_CORE,
				 "a: 1\nb: -7\nc: 1.5\nd: 1e3\ne: true\nf: null\ng: ~\n"),
		"{\"a\":1,\"b\":-7,\"c\":1.5,\"d\":1000.0,\"e\":true,\"f\":null,\"g\":"
		"null}");
	ck_assert_str_eq(
		read_as(YAML_CORE, "a: yes\nb: \"1\"\nc: 0.1.0\nd:\ne: ~x\nf: 0x\n"),
		"{\"a\":\"yes\",\"b\":\"1\",\"c\":\"0.1.0\",\"d\":null,\"e\":\"~x\","
		"\"f\":\"0x\"}");
	ck_assert_str_eq(
		read_as(YAML_CORE, "a: 0x1F\nb: 0o17\nc: [.5, 5., -.5e-0, ., e1]\n"),
		"{\"a\":31,\"b\":15,\"c\":[0.5,5.0,-0.5,\".\",\"e1\"]}");
	ck_assert_str_eq(
		read_as(YAML_CORE, "'200': {$ref: '#/x'}\nt: |\n  two\n  lines\n"),
		"{\"200\":{\"$ref\":\"#/x\"},\"t\":\"two\\nlines\\n\"}");
}
END_TEST

START_TEST(a_pointer_is_found_at_its_key_or_item_or_the_nearest_above)
{
	static const char text[] = "name: x\ndrives:\n  - serial: S1\n  - {serial: S2, "
				   "model: \"a\"}\nlabels:\n  a/b: c\n";
	static const struct {
		const char *pointer;
		size_t line, column;
	} rows[] = {
		{"", 1, 1},
		{"/name", 1, 1},
		{"/drives", 2, 1},
		{"/drives/0", 3, 5},
		{"/drives/1/model", 4, 18},
		{"/drives/1/wwn", 4, 5},
		{"/drives/7/serial", 2, 1},
		{"/drives/x", 2, 1},
		{"/labels/a~1b", 6, 3},
		{"/suite", 1, 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t line, column;

		ck_assert_int_eq(
			yaml_find(text, strlen(text), rows[i].pointer, &line, &column),
			0);
		ck_assert_msg(line == rows[i].line && column == rows[i].column,
			"%s: %zu:%zu", rows[i].pointer, line, column);
	}
}
END_TEST

START_TEST(a_pointer_is_found_in_json_too_and_not_in_rubbish)
{
	static const char json[] =
		"{\n\t\"name\": \"x\",\n\t\"drives\": [{\"serial\": 1}]\n}\n";
	size_t line, column;

	ck_assert_int_eq(
		yaml_find(json, strlen(json), "/drives/0/serial", &line, &column), 0);
	ck_assert_uint_eq(line, 3);
	ck_assert_uint_eq(column, 14);
	ck_assert_int_eq(yaml_find("[", 1, "/x", &line, &column), -1);
}
END_TEST

START_TEST(a_text_beyond_the_limit_is_not_read)
{
	char *text = malloc(JSON_MAX_BYTES + 1);
	struct err e = {0};
	json_t *doc;

	memset(text, '#', JSON_MAX_BYTES + 1);
	FAILS(yaml_to_json(text, JSON_MAX_BYTES + 1, YAML_CORE, &doc, &e), ERR_LIMIT,
		"1048577 bytes");
	free(text);
}
END_TEST

START_TEST(more_values_than_the_limit_are_not_read)
{
	struct str text = {0};
	struct err e = {0};
	json_t *doc;

	str_puts(&text, "a: [0");
	for (int i = 0; i < YAML_VALUES_MAX; i++)
		str_puts(&text, ",0");
	str_puts(&text, "]\n");
	FAILS(yaml_to_json(text.data, text.len, YAML_CORE, &doc, &e), ERR_LIMIT,
		"more than 100000 values");
	str_fini(&text);
}
END_TEST

static void
slurp(const char *dir, const char *name, struct str *out)
{
	char path[512];
	char buf[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/yaml/%s/%s", TESTS_DATA_DIR, dir, name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		str_add(out, buf, n);
	fclose(f);
}

/* The error of one case in the form of its file: sentence, then pointer and fix. */
static void
check_case(const char *name)
{
	struct str text = {0}, want = {0}, got = {0};
	struct err e = {0};
	json_t *doc = NULL;
	bool core = strncmp(name, "core-", 5) == 0;

	slurp(name, "input.yaml", &text);
	slurp(name, "error", &want);
	ck_assert_msg(yaml_to_json(str_text(&text), text.len, core ? YAML_CORE : campaign,
			      &doc, &e) == -1,
		"%s was accepted", name);
	str_printf(&got, "%s\n", e.text);
	if (e.pointer[0] != '\0')
		str_printf(&got, "at %s\n", e.pointer);
	if (e.fix[0] != '\0')
		str_printf(&got, "fix %s\n", e.fix);
	ck_assert_msg(strcmp(str_text(&got), str_text(&want)) == 0, "%s says\n%s", name,
		str_text(&got));
	str_fini(&text);
	str_fini(&want);
	str_fini(&got);
}

START_TEST(each_bad_input_has_its_exact_error)
{
	DIR *d = opendir(TESTS_DATA_DIR "/yaml");
	struct dirent *entry;
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while ((entry = readdir(d)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		check_case(entry->d_name);
		n++;
	}
	closedir(d);
	ck_assert_int_ge(n, 25);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("yaml");

	tcase_add_test(
		tc, scalars_are_texts_unless_the_member_is_known_as_something_else);
	tcase_add_test(tc, core_mode_gives_plain_scalars_their_json_types);
	tcase_add_test(tc, a_pointer_is_found_at_its_key_or_item_or_the_nearest_above);
	tcase_add_test(tc, a_pointer_is_found_in_json_too_and_not_in_rubbish);
	tcase_add_test(tc, a_text_beyond_the_limit_is_not_read);
	tcase_add_test(tc, more_values_than_the_limit_are_not_read);
	tcase_add_test(tc, each_bad_input_has_its_exact_error);
	return unit_run("yaml", tc);
}
