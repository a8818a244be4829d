#include "runner/sector.h"

#include "runner/content.h"
#include "tests/unit/unit.h"

static const struct sector want = {.generation = 7,
	.offset = UINT64_C(1) << 40,
	.seed = 77,
	.number = 12345678901,
	.index = 3,
	.count = 32768};

static uint8_t sector[SECTOR_BYTES];

static void
setup(void)
{
	content_fill(sector, sizeof(sector), 5);
	sector_stamp(sector, &want);
}

START_TEST(what_is_stamped_is_read)
{
	struct sector s = sector_read(sector, want.offset, want.seed);

	ck_assert(sector_is_sound(sector));
	ck_assert_uint_eq(s.alike, 3);
	ck_assert(s.ours);
	ck_assert_uint_eq(s.generation, want.generation);
	ck_assert_uint_eq(s.offset, want.offset);
	ck_assert_uint_eq(s.seed, want.seed);
	ck_assert_uint_eq(s.number, want.number);
	ck_assert_uint_eq(s.index, want.index);
	ck_assert_uint_eq(s.count, want.count);
	ck_assert_uint_eq(sector_read(sector, want.offset + 512, want.seed).alike, 2);
	ck_assert_uint_eq(sector_read(sector, want.offset, 78).alike, 2);
}
END_TEST

START_TEST(each_byte_that_alone_has_changed_is_named)
{
	struct sector_sums sums;

	sector_sums_init(&sums);
	for (int at = 0; at < SECTOR_BYTES; at++) {
		uint8_t bits = (uint8_t)(1 + at % 255), flip;
		bool key = at >= SECTOR_HEAD_BYTES &&
			   at < SECTOR_HEAD_BYTES + SECTOR_KEY_BYTES;

		sector[at] ^= bits;
		ck_assert(!sector_is_sound(sector));
		ck_assert_int_eq(sector_flip(sector, &flip), at);
		ck_assert_uint_eq(flip, bits);
		ck_assert(sector_key_is_flipped(&sums, sector, want.offset, want.seed) ==
			  key);
		/* Without its key the head tells nothing, with it all but what was hit.
		 */
		ck_assert_uint_ge(
			sector_read(sector, want.offset, want.seed).alike, key ? 0 : 2);
		sector[at] ^= bits;
	}
}
END_TEST

START_TEST(what_is_of_no_write_has_no_flipped_key)
{
	struct sector_sums sums;
	uint8_t flip;

	sector_sums_init(&sums);
	ck_assert(!sector_key_is_flipped(&sums, sector, want.offset, want.seed));
	sector[SECTOR_HEAD_BYTES] ^= 1;
	ck_assert(sector_key_is_flipped(&sums, sector, want.offset, want.seed));
	/* A sector of another place, hit in the same way, is not ours here. */
	ck_assert(!sector_key_is_flipped(&sums, sector, want.offset + 512, want.seed));
	for (uint64_t seed = 100; seed < 200; seed++) {
		content_fill(sector, sizeof(sector), seed);
		ck_assert(!sector_key_is_flipped(&sums, sector, want.offset, want.seed));
		ck_assert_int_eq(sector_flip(sector, &flip), -1);
	}
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("sector");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, what_is_stamped_is_read);
	tcase_add_test(tc, each_byte_that_alone_has_changed_is_named);
	tcase_add_test(tc, what_is_of_no_write_has_no_flipped_key);
	return unit_run("sector", tc);
}
