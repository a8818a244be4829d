#include "common/crc32c.c" /* both ways of computing are private */

#include "tests/unit/unit.h"

static uint32_t
table(const void *data, size_t len)
{
	return ~by_table(~0U, data, len);
}

START_TEST(the_published_vectors_come_out)
{
	/* RFC 3720, appendix B.4, and the customary check value. */
	uint8_t buf[32];

	ck_assert_uint_eq(crc32c(0, "", 0), 0);
	ck_assert_uint_eq(crc32c(0, "123456789", 9), 0xe3069283);
	memset(buf, 0, sizeof(buf));
	ck_assert_uint_eq(crc32c(0, buf, sizeof(buf)), 0x8a9136aa);
	ck_assert_uint_eq(table(buf, sizeof(buf)), 0x8a9136aa);
	memset(buf, 0xff, sizeof(buf));
	ck_assert_uint_eq(crc32c(0, buf, sizeof(buf)), 0x62a8ab43);
	ck_assert_uint_eq(table(buf, sizeof(buf)), 0x62a8ab43);
	for (unsigned i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)i;
	ck_assert_uint_eq(crc32c(0, buf, sizeof(buf)), 0x46dd794e);
	ck_assert_uint_eq(table(buf, sizeof(buf)), 0x46dd794e);
	for (unsigned i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(31 - i);
	ck_assert_uint_eq(crc32c(0, buf, sizeof(buf)), 0x113fdb5c);
	ck_assert_uint_eq(table(buf, sizeof(buf)), 0x113fdb5c);
}
END_TEST

START_TEST(table_and_instruction_agree_at_every_length_and_alignment)
{
	uint8_t buf[96];
	uint32_t x = 1;

	for (unsigned i = 0; i < sizeof(buf); i++) {
		x = x * 1664525 + 1013904223;
		buf[i] = (uint8_t)(x >> 24);
	}
	for (size_t at = 0; at < 8; at++)
		for (size_t len = 0; len + at <= sizeof(buf); len++)
			ck_assert_uint_eq(crc32c(0, buf + at, len), table(buf + at, len));
}
END_TEST

START_TEST(a_checksum_can_be_continued)
{
	static const char text[] = "the quick brown fox jumps over the lazy dog";
	uint32_t whole = crc32c(0, text, sizeof(text));

	for (size_t n = 0; n <= sizeof(text); n++)
		ck_assert_uint_eq(
			crc32c(crc32c(0, text, n), text + n, sizeof(text) - n), whole);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("crc32c");

	tcase_add_test(tc, the_published_vectors_come_out);
	tcase_add_test(tc, table_and_instruction_agree_at_every_length_and_alignment);
	tcase_add_test(tc, a_checksum_can_be_continued);
	return unit_run("crc32c", tc);
}
