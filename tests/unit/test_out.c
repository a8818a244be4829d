#include "cli/out.h"

#include "tests/unit/unit.h"

#define HOSTILE "a\033[31mb\nc\302\233d\177e\303\251"

/* What a function writes into o; static buffer. */
static char *text;
static size_t len;

static void
begin(struct out *o)
{
	free(text);
	o->file = open_memstream(&text, &len);
}

static void
finish(struct out *o)
{
	fclose(o->file);
	o->file = NULL;
}

START_TEST(a_line_passes_no_control_characters)
{
	struct out o = {.format = OUT_TABLE, .fd = -1};

	begin(&o);
	out_line(&o, "name %s", HOSTILE);
	finish(&o);
	ck_assert_str_eq(text, "name a?[31mb?c?d?e\303\251\n");
}
END_TEST

START_TEST(json_escapes_them_and_says_the_same)
{
	struct out o = {.format = OUT_JSON, .fd = -1};
	json_t *doc = json_pack("{s:s}", "name", HOSTILE);
	json_t *again;

	begin(&o);
	out_json_line(&o, doc);
	finish(&o);
	ck_assert_ptr_null(strpbrk(text, "\033\177\233"));
	again = json_loads(text, 0, NULL);
	ck_assert(json_equal(doc, again));
	json_decref(again);
	begin(&o);
	out_json(&o, doc);
	finish(&o);
	again = json_loads(text, 0, NULL);
	ck_assert(json_equal(doc, again));
	json_decref(again);
	json_decref(doc);
}
END_TEST

START_TEST(bytes_are_as_they_are_unless_a_terminal_would_obey_them)
{
	struct out o = {.fd = -1};

	begin(&o);
	out_bytes(&o, "a\033\n\tb", 5);
	finish(&o);
	ck_assert_str_eq(text, "a\033\n\tb");
	o.terminal = true;
	begin(&o);
	out_bytes(&o, "a\033\n\tb", 5);
	finish(&o);
	ck_assert_str_eq(text, "a?\n\tb");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("out");

	tcase_add_test(tc, a_line_passes_no_control_characters);
	tcase_add_test(tc, json_escapes_them_and_says_the_same);
	tcase_add_test(tc, bytes_are_as_they_are_unless_a_terminal_would_obey_them);
	return unit_run("out", tc);
}
