/*
 * The converters of vdbench parameter files and fio job files, over folders of cases: a
 * case has input, and suite.json or error, and left when something was not carried: what
 * the command prints of them. Adding a case needs no C.
 */
#include "cli/convert.h"
#include "cli/fio_job.h"
#include "cli/out.h"
#include "cli/vdbench.h"
#include "cli/vdbench_scan.h"
#include "common/yaml.h"
#include "tests/unit/cases.h"

typedef int convert_fn(struct conversion *c, const char *text, size_t len, struct err *e);

struct converter {
	const char *dir, *tool;
	convert_fn *convert;
	bool (*is)(const char *text, size_t len);
};

static const struct converter converters[] = {
	{"vdbench", "vdbench parameter file", vdbench_convert, vdbench_is},
	{"fio", "fio job file", fio_job_convert, fio_job_is},
};

static void
left_lines(const struct conversion *c, struct str *out)
{
	for (size_t i = 0; i < c->n_left; i++)
		str_printf(out, "%u: %s: %s%s\n", c->left[i].line, c->left[i].text,
			c->left[i].kind == LEFT_LOAD ? "not carried: " : "",
			c->left[i].why);
}

static void
check_suite(const char *dir, const char *name, const json_t *doc, struct str *want)
{
	struct err e = {0};
	json_t *expected = NULL;
	char *got = json_dumps(doc, JSON_INDENT(2));

	ck_assert_msg(
		want->len > 0, "%s/%s has no suite.json for:\n%.8000s", dir, name, got);
	OK(json_parse(str_text(want), want->len, &expected, &e));
	ck_assert_msg(json_equal(doc, expected), "%s/%s gives:\n%.8000s", dir, name, got);
	json_decref(expected);
	free(got);
}

static void
check_case(const struct converter *v, const char *name)
{
	struct str text = {0}, want = {0}, got = {0};
	struct conversion c;
	struct err e = {0};
	json_t *doc = NULL;
	unsigned line;
	int n = 0;

	conversion_init(&c, v->tool, "converted");
	case_read(v->dir, name, "input", &text);
	if (v->convert(&c, str_text(&text), text.len, &e) == 0)
		convert_finish(&c, &doc, &e);
	case_read(v->dir, name, "suite.json", &want);
	if (e.class == ERR_NONE)
		check_suite(v->dir, name, doc, &want);
	else
		ck_assert_msg(want.len == 0, "%s/%s says: %s", v->dir, name, e.text);
	case_read(v->dir, name, "left", &want);
	left_lines(&c, &got);
	ck_assert_msg(strcmp(str_text(&got), str_text(&want)) == 0, "%s/%s leaves:\n%s",
		v->dir, name, str_text(&got));
	/* "line 7: ..." is printed as "FILE:7: ..." */
	if (sscanf(e.text, "line %u: %n", &line, &n) == 1 && n > 0)
		memmove(e.text, e.text + 5, strlen(e.text + 5) + 1);
	case_read(v->dir, name, "error", &want);
	str_reset(&got);
	if (e.class != ERR_NONE)
		str_printf(&got, "%s\n", e.text);
	ck_assert_msg(strcmp(str_text(&got), str_text(&want)) == 0, "%s/%s says:\n%s",
		v->dir, name, str_text(&got));
	json_decref(doc);
	conversion_fini(&c);
	str_fini(&text);
	str_fini(&want);
	str_fini(&got);
}

static void
check_cases(const struct converter *v)
{
	char *path = xasprintf("%s/%s", TESTS_DATA_DIR, v->dir);
	struct dirent **list;
	int n = scandir(path, &list, NULL, alphasort);
	int cases = 0;

	ck_assert_msg(n >= 0, "%s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.') {
			check_case(v, list[i]->d_name);
			cases++;
		}
		free(list[i]);
	}
	free(list);
	free(path);
	ck_assert_int_gt(cases, 20);
}

START_TEST(each_vdbench_file_becomes_its_suite_and_its_list)
{
	check_cases(&converters[0]);
}
END_TEST

START_TEST(each_fio_file_becomes_its_suite_and_its_list)
{
	check_cases(&converters[1]);
}
END_TEST

START_TEST(a_format_is_told_by_its_content)
{
	static const struct {
		const char *text;
		bool vdbench, fio;
	} rows[] = {
		{"* c\nsd=sd1,lun=x\n", true, false},
		{"compratio=2\n  rd=a\n", true, false},
		{"rd=", false, false},
		{"; c\n[global]\nrw=read\n", false, true},
		{"# c\n\n  [job] # c\n", false, true},
		{"rw=read\n[job]\n", false, false},
		{"", false, false},
		{"ssdlab: campaign/v1\n", false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = strlen(rows[i].text);

		ck_assert_msg(vdbench_is(rows[i].text, n) == rows[i].vdbench, "%s",
			rows[i].text);
		ck_assert_msg(
			fio_job_is(rows[i].text, n) == rows[i].fio, "%s", rows[i].text);
	}
}
END_TEST

START_TEST(what_is_no_text_or_too_long_is_refused)
{
	static char large[CONVERT_MAX_BYTES + 1];
	struct conversion c;
	struct err e = {0};

	memset(large, '\n', sizeof(large));
	for (size_t i = 0; i < 2; i++) {
		conversion_init(&c, converters[i].tool, "x");
		FAILS(converters[i].convert(&c, large, sizeof(large), &e), ERR_LIMIT,
			"more than 262144 bytes");
		FAILS(converters[i].convert(&c, "\n[a]\0]\n", 7, &e), ERR_INVALID,
			"line 2: a NUL character");
		conversion_fini(&c);
	}
}
END_TEST

/* A file of many definitions that all run with each other on all drives. */
static void
add_definitions(struct str *text, unsigned drives, unsigned workloads, unsigned runs)
{
	str_reset(text);
	for (unsigned i = 0; i < drives; i++)
		str_printf(text, "sd=s%u,threads=%u\n", i, i % 7 + 1);
	for (unsigned i = 0; i < workloads; i++)
		str_printf(text, "wd=w%u,sd=s*\n", i);
	for (unsigned i = 0; i < runs; i++)
		str_printf(
			text, "rd=r%u,wd=w*,ior=max,fort=(1-999,1),forr=(0-99,1)\n", i);
}

START_TEST(files_with_many_definitions_end_in_time)
{
	struct str text = {0};
	struct conversion c;
	struct err e = {0};
	json_t *doc;

	add_definitions(&text, 1024, 1024, 1024);
	conversion_init(&c, "vdbench parameter file", "x");
	OK(vdbench_convert(&c, str_text(&text), text.len, &e));
	FAILS(convert_finish(&c, &doc, &e), ERR_INVALID, "no workload");
	conversion_fini(&c);
	add_definitions(&text, 1025, 1, 1);
	conversion_init(&c, "vdbench parameter file", "x");
	FAILS(vdbench_convert(&c, str_text(&text), text.len, &e), ERR_LIMIT,
		"line 1025: there are more than 1024 storage definitions");
	add_definitions(&text, 1, 1025, 1);
	FAILS(vdbench_convert(&c, str_text(&text), text.len, &e), ERR_LIMIT,
		"line 1026: there are more than 1024 workload definitions");
	add_definitions(&text, 1, 1, 1025);
	FAILS(vdbench_convert(&c, str_text(&text), text.len, &e), ERR_LIMIT,
		"line 1027: there are more than 1024 run definitions");
	conversion_fini(&c);
	str_fini(&text);
}
END_TEST

static const char *
numbers(const char *value, bool minutes, char *buf, size_t size)
{
	static struct vdbench_number n[VDBENCH_VALUES_MAX];
	struct vdbench_param p = {.value = value};
	const char *why;
	size_t count = vdbench_numbers(&p, minutes, n, &why);
	size_t len = 0;

	buf[0] = '\0';
	if (count == 0)
		return why;
	for (size_t i = 0; i < count && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%g%s", i > 0 ? " " : "",
			n[i].x, n[i].percent ? "%" : "");
	return buf;
}

START_TEST(numbers_are_those_of_vdbench)
{
	static const struct {
		const char *value, *want;
		bool minutes;
	} rows[] = {
		{"8", "8", false},
		{"1.5k", "1536", false},
		{"64KB", "65536", false},
		{"1m", "1.04858e+06", false},
		{"2m", "120", true},
		{"1h", "3600", true},
		{"25%", "25%", false},
		{"(1,2,3)", "1 2 3", false},
		{"(10-50,10)", "10 20 30 40 50", false},
		{"(1,10-30,10,99)", "1 10 20 30 99", false},
		{"(1-20,d)", "1 2 4 8 16", false},
		{"(64k-8k,d)", "65536 32768 16384 8192", false},
		{"(10%-30%,10%)", "10% 20% 30%", false},
		{"(5-3,1)", "5", false},
		{"(1,,2)", "1 2", false},
		{"", "it has no number", false},
		{"()", "it has no number", false},
		{"1x", "it has no number", false},
		{"1kk", "it has no number", false},
		{"1.2.3", "it has no number", false},
		{"-5", "it has no number", false},
		{"(1-5)",
			"a range wants a step behind it: (10-50,10), or d to double: "
			"(1-64,d)",
			false},
		{"(1-5,0)", "a range cannot have the step 0", false},
		{"(0-8,d)", "a range cannot have the step 0", false},
		{"(1-9999,1)", "it has more than 1024 values", false},
		{"(1,a)", "it holds something that is no number", false},
		{"$x", "its value is a variable, which is not in the file", false},
	};
	char buf[400];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_str_eq(
			numbers(rows[i].value, rows[i].minutes, buf, sizeof(buf)),
			rows[i].want);
}
END_TEST

static void
join(const char *name, void *arg)
{
	struct str *all = arg;

	str_printf(all, "%s ", name);
}

START_TEST(names_are_those_of_vdbench)
{
	static const struct {
		const char *value, *want, *why;
	} rows[] = {
		{"sd1", "sd1 ", NULL},
		{"sd*", "sd* ", NULL},
		{"(a,b)", "a b ", NULL},
		{"(sd1-sd3,x)", "sd1 sd2 sd3 x ", NULL},
		{"(sd8-sd10)", "sd8 sd9 sd10 ", NULL},
		{"(sd3-sd1)", "",
			"a range of names rises, and there are at most 1024 of them"},
		{"(sd1-sd2000)", "",
			"a range of names rises, and there are at most 1024 of them"},
		{"(a1-b2)", "", "a range of names is written as in sd1-sd4"},
		{"(a-b)", "", "a range of names is written as in sd1-sd4"},
		{"", "", "a name has 1 to 63 bytes"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vdbench_param p = {.value = rows[i].value};
		struct str all = {0};
		const char *why = vdbench_names(&p, join, &all);

		ck_assert_str_eq(str_text(&all), rows[i].want);
		if (rows[i].why == NULL)
			ck_assert_ptr_null(why);
		else
			ck_assert_str_eq(why, rows[i].why);
		str_fini(&all);
	}
}
END_TEST

/* Shipped suites come back the same through the writer, but for name, title and sources.
 */
START_TEST(a_suite_that_is_written_is_the_one_that_was_read)
{
	static const char *const files[] = {"storagereview-2021-1.json", "jesd219-1.json",
		"four-corners-demo-1.json"};
	static const char *const head[] = {
		"ssdlab", "name", "title", "version", "scaled", "minimum_capacity"};
	struct suite *a = xcalloc(1, sizeof(*a)), *b = xcalloc(1, sizeof(*b));
	struct err e = {0};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = xasprintf(
			"%s/../../etc/suites/%s", TESTS_DATA_DIR, files[i]);
		json_t *doc, *again;

		OK(json_read_file(path, &doc, &e));
		OK(suite_parse(doc, a, &e));
		again = convert_suite_json(a);
		for (size_t k = 0; k < sizeof(head) / sizeof(head[0]); k++)
			if (json_has(doc, head[k]))
				json_object_set(
					again, head[k], json_object_get(doc, head[k]));
		OK(suite_parse(again, b, &e));
		ck_assert_msg(memcmp(a, b, sizeof(*a)) == 0, "%s", files[i]);
		json_decref(again);
		json_decref(doc);
		free(path);
	}
	suite_fini(a);
	suite_fini(b);
	free(a);
	free(b);
}
END_TEST

START_TEST(yaml_says_what_json_says)
{
	struct err e = {0};
	struct out o;
	json_t *doc, *again = NULL;
	char *buf = NULL;
	size_t len;
	FILE *f = open_memstream(&buf, &len);

	OK(json_read_file(TESTS_DATA_DIR "/vdbench/skew/suite.json", &doc, &e));
	json_put(doc, "odd name",
		json_pack("{s:[], s:{}, s:n, s:b, s:[s,[i]]}", "empty", "none", "null",
			"true", 1, "list", "a: \"b\"\n- c", -1));
	out_init(&o, stdout, OUT_YAML);
	o.file = f;
	out_yaml(&o, doc);
	fclose(f);
	OK(yaml_to_json(buf, len, YAML_CORE, &again, &e));
	ck_assert_msg(json_equal(doc, again), "%s", buf);
	json_decref(again);
	json_decref(doc);
	free(buf);
}
END_TEST

START_TEST(a_number_in_yaml_has_no_more_digits_than_it_needs)
{
	static const double numbers[] = {1.1, 0.1 + 0.2, 100, 2.5e-7, 1.0 / 3};
	json_t *list = json_array();
	json_t *doc = json_pack("{s:o}", "list", list);
	json_t *again = NULL;
	struct err e = {0};
	struct out o;
	char *buf = NULL;
	size_t len;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_array_append_new(list, json_real(numbers[i]));
	out_init(&o, stdout, OUT_YAML);
	o.file = open_memstream(&buf, &len);
	out_yaml(&o, doc);
	fclose(o.file);
	ck_assert_str_eq(buf, "list:\n  - 1.1\n  - 0.30000000000000004\n  - 100.0\n  - "
			      "2.5e-7\n  - 0.3333333333333333\n");
	OK(yaml_to_json(buf, len, YAML_CORE, &again, &e));
	ck_assert_msg(json_equal(doc, again), "%s", buf);
	json_decref(again);
	json_decref(doc);
	free(buf);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("convert");

	tcase_add_test(tc, each_vdbench_file_becomes_its_suite_and_its_list);
	tcase_add_test(tc, each_fio_file_becomes_its_suite_and_its_list);
	tcase_add_test(tc, a_format_is_told_by_its_content);
	tcase_add_test(tc, what_is_no_text_or_too_long_is_refused);
	tcase_add_test(tc, files_with_many_definitions_end_in_time);
	tcase_add_test(tc, numbers_are_those_of_vdbench);
	tcase_add_test(tc, names_are_those_of_vdbench);
	tcase_add_test(tc, a_suite_that_is_written_is_the_one_that_was_read);
	tcase_add_test(tc, yaml_says_what_json_says);
	tcase_add_test(tc, a_number_in_yaml_has_no_more_digits_than_it_needs);
	return unit_run("convert", tc);
}
