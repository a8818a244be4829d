#include "common/str.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

START_TEST(texts_that_differ_in_numbers_alone_are_alike)
{
	ck_assert(str_alike("no answer after 84 ms: 1", "no answer after 1203 ms: 2"));
	ck_assert(str_alike("", ""));
	ck_assert(str_alike("7", "12"));
	ck_assert(!str_alike("no answer after 84 ms", "no answer after ms"));
	ck_assert(!str_alike("no answer after 84 ms", "no answer after 84 ms, no route"));
	ck_assert(!str_alike("refused", "reset"));
	ck_assert(!str_alike("", "1"));
}
END_TEST

START_TEST(a_text_grows_is_emptied_and_is_given_away)
{
	struct str s = {0};
	char *text;

	ck_assert_str_eq(str_text(&s), "");
	for (int i = 0; i < 1000; i++)
		str_printf(&s, "%d,", i % 10);
	ck_assert_uint_eq(s.len, 2000);
	str_reset(&s);
	ck_assert_str_eq(str_text(&s), "");
	str_puts(&s, "a");
	str_add(&s, "bcd", 2);
	text = str_take(&s);
	ck_assert_str_eq(text, "abc");
	ck_assert_str_eq(str_text(&s), "");
	free(text);
	str_fini(&s);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("str");

	tcase_add_test(tc, a_text_grows_is_emptied_and_is_given_away);
	tcase_add_test(tc, texts_that_differ_in_numbers_alone_are_alike);
	return unit_run("str", tc);
}
