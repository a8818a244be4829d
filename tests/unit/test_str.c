#include "common/str.h"

#include <stdio.h>
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

START_TEST(what_steers_a_terminal_or_turns_a_line_is_not_plain)
{
	static const char *const plain[] = {"", "a b", "M\xc3\xbcller", "\xc2\xa0",
		"\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\xa5", "\xe2\x81\xaa",
		"\xe2\x82\xac", "\xd7\xa9\xd7\x9c", "\xf0\x9f\x98\x80"};
	static const char *const steering[] = {"\n", "\x1f", "\x7f", "\xc2\x80",
		"\xc2\x9b", "\xc2\x9f", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6",
		"\xe2\x81\xa9"};
	char text[16];

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		ck_assert_msg(str_is_plain(plain[i]), "plain %zu", i);
	for (size_t i = 0; i < sizeof(steering) / sizeof(steering[0]); i++) {
		ck_assert_uint_eq(str_steers(steering[i]), strlen(steering[i]));
		snprintf(text, sizeof(text), "ab%sc", steering[i]);
		ck_assert_msg(!str_is_plain(text), "steering %zu", i);
	}
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("str");

	tcase_add_test(tc, a_text_grows_is_emptied_and_is_given_away);
	tcase_add_test(tc, texts_that_differ_in_numbers_alone_are_alike);
	tcase_add_test(tc, what_steers_a_terminal_or_turns_a_line_is_not_plain);
	return unit_run("str", tc);
}
