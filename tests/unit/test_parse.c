#include "common/parse.h"

#include "tests/unit/unit.h"

START_TEST(sizes_know_binary_and_decimal_units)
{
	struct err e = {0};
	uint64_t n;

	OK(parse_size("4KiB", &n, &e));
	ck_assert_uint_eq(n, 4096);
	OK(parse_size("1.5TB", &n, &e));
	ck_assert_uint_eq(n, 1500000000000);
	OK(parse_size("512B", &n, &e));
	ck_assert_uint_eq(n, 512);
}
END_TEST

START_TEST(sizes_without_or_with_wrong_units_are_refused)
{
	struct err e = {0};
	uint64_t n;

	FAILS(parse_size("4096", &n, &e), ERR_INVALID, "write a number and a unit");
	FAILS(parse_size("4K", &n, &e), ERR_INVALID, "\"4K\" is not a size");
	ck_assert_str_eq(e.fix, "write 4KiB, or 4kB for powers of ten");
	FAILS(parse_size("4k", &n, &e), ERR_INVALID, "\"4k\" is not a size");
	ck_assert_str_eq(e.fix, "write 4KiB, or 4kB for powers of ten");
	FAILS(parse_size("1.5t", &n, &e), ERR_INVALID, "is not a size");
	ck_assert_str_eq(e.fix, "write 1.5TiB, or 1.5TB for powers of ten");
	FAILS(parse_size("4", &n, &e), ERR_INVALID, "is not a size");
	ck_assert_str_eq(e.fix, "");
	FAILS(parse_size("-4KiB", &n, &e), ERR_INVALID, "is not a size");
	FAILS(parse_size(" 4KiB", &n, &e), ERR_INVALID, "is not a size");
	FAILS(parse_size("0.3B", &n, &e), ERR_INVALID, "whole number of bytes");
	FAILS(parse_size("9999999TB", &n, &e), ERR_INVALID, "below 1 EB");
	FAILS(parse_size("1e3B", &n, &e), ERR_INVALID, "is not a size");
	FAILS(parse_size("", &n, &e), ERR_INVALID, "is not a size");
}
END_TEST

START_TEST(durations_are_in_nanoseconds)
{
	struct err e = {0};
	int64_t ns;

	OK(parse_duration("90s", &ns, &e));
	ck_assert_int_eq(ns, 90000000000);
	OK(parse_duration("0.5ms", &ns, &e));
	ck_assert_int_eq(ns, 500000);
	FAILS(parse_duration("90", &ns, &e), ERR_INVALID, "write a number and a unit");
	FAILS(parse_duration("4000d", &ns, &e), ERR_INVALID, "longer than 10 years");
}
END_TEST

START_TEST(whole_numbers_keep_their_range)
{
	struct err e = {0};
	uint64_t n;

	OK(parse_uint("18446744073709551615", 0, UINT64_MAX, &n, &e));
	ck_assert_uint_eq(n, UINT64_MAX);
	FAILS(parse_uint("18446744073709551616", 0, UINT64_MAX, &n, &e), ERR_INVALID,
		"from 0");
	FAILS(parse_uint("0", 1, 9, &n, &e), ERR_INVALID, "from 1 to 9");
	FAILS(parse_uint("7x", 1, 9, &n, &e), ERR_INVALID, "\"7x\"");
	FAILS(parse_uint("", 0, 9, &n, &e), ERR_INVALID, "\"\"");
}
END_TEST

START_TEST(percentages_and_rates_need_their_sign)
{
	struct err e = {0};
	double x;

	OK(parse_percent("12.5%", &x, &e));
	ck_assert_double_eq(x, 12.5);
	FAILS(parse_percent("25", &x, &e), ERR_INVALID, "write for example 25%");
	OK(parse_rate("5000/s", &x, &e));
	ck_assert_double_eq(x, 5000);
	FAILS(parse_rate("5000", &x, &e), ERR_INVALID, "for example 5000/s");
	FAILS(parse_rate("0/s", &x, &e), ERR_INVALID, "is not a rate");
}
END_TEST

START_TEST(what_is_formatted_can_be_parsed)
{
	static const int64_t times[] = {1, 1500, 1000000, 90000000000, 86400000000000};
	struct err e = {0};
	char buf[40];
	int64_t ns;
	uint64_t n;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		OK(parse_duration(format_duration(times[i], buf, sizeof(buf)), &ns, &e));
		ck_assert_int_eq(ns, times[i]);
	}
	OK(parse_size(format_size(196608, buf, sizeof(buf)), &n, &e));
	ck_assert_str_eq(buf, "192KiB");
	ck_assert_uint_eq(n, 196608);
	ck_assert_str_eq(format_time(1480000000123456789, buf, sizeof(buf)),
		"2016-11-24T15:06:40.123Z");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("parse");

	tcase_add_test(tc, sizes_know_binary_and_decimal_units);
	tcase_add_test(tc, sizes_without_or_with_wrong_units_are_refused);
	tcase_add_test(tc, durations_are_in_nanoseconds);
	tcase_add_test(tc, whole_numbers_keep_their_range);
	tcase_add_test(tc, percentages_and_rates_need_their_sign);
	tcase_add_test(tc, what_is_formatted_can_be_parsed);
	return unit_run("parse", tc);
}
