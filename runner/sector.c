#include "runner/sector.h"

#include <string.h>

#include "common/crc32c.h"
#include "common/le.h"
#include "runner/rng.h"

/*
 * A sector, little-endian: 0 magic, 4 generation, 8 offset on the drive, 16 seed, 24
 * number of the write, 32 sectors of the write before this one, 34 sectors of the write,
 * 36 data, 508 CRC-32C of the bytes before. The first 36 are hidden (mask_head).
 */
#define MAGIC 0x56647373U /* "ssdV" */

/* Hides a head, or shows it again. */
static void
mask_head(const uint8_t *data, const uint8_t *from, uint8_t *to)
{
	uint64_t state = le_get64(data);
	int at = 0;

	for (; at + 8 <= SECTOR_HEAD_BYTES; at += 8)
		le_put64(to + at, le_get64(from + at) ^ rng_mix(&state));
	le_put32(to + at, le_get32(from + at) ^ (uint32_t)rng_mix(&state));
}

void
sector_stamp(uint8_t *p, const struct sector *s)
{
	uint8_t head[SECTOR_HEAD_BYTES];

	le_put32(head, MAGIC);
	le_put32(head + 4, s->generation);
	le_put64(head + 8, s->offset);
	le_put64(head + 16, s->seed);
	le_put64(head + 24, s->number);
	le_put16(head + 32, s->index);
	le_put16(head + 34, s->count);
	mask_head(p + SECTOR_HEAD_BYTES, head, p);
	le_put32(p + SECTOR_CRC_AT, crc32c(0, p, SECTOR_CRC_AT));
}

struct sector
sector_read(const uint8_t *p, uint64_t offset, uint64_t seed)
{
	uint8_t head[SECTOR_HEAD_BYTES];
	struct sector s;

	mask_head(p + SECTOR_HEAD_BYTES, p, head);
	s = (struct sector){
		.generation = le_get32(head + 4),
		.offset = le_get64(head + 8),
		.seed = le_get64(head + 16),
		.number = le_get64(head + 24),
		.index = le_get16(head + 32),
		.count = le_get16(head + 34),
		.ours = le_get32(head) == MAGIC,
	};
	s.alike = (unsigned)s.ours + (s.offset == offset) + (s.seed == seed);
	return s;
}

bool
sector_is_sound(const uint8_t *p)
{
	return le_get32(p + SECTOR_CRC_AT) == crc32c(0, p, SECTOR_CRC_AT);
}

/*
 * The CRC of a difference does not depend on the rest (it is linear): each bit has one,
 * those of a byte combine by exclusive or, and those of the byte before follow by a zero
 * more. These are the ones of the last byte under the checksum.
 */
static void
last_byte_sums(uint32_t bits[8])
{
	static const uint8_t zero = 0;
	uint32_t none = crc32c(0, &zero, 1);

	for (unsigned b = 0; b < 8; b++) {
		uint8_t one = (uint8_t)(1U << b);

		bits[b] = crc32c(0, &one, 1) ^ none;
	}
}

static void
go_back_a_byte(uint32_t bits[8])
{
	static const uint8_t zero = 0;
	uint32_t none = crc32c(0, &zero, 1);

	for (unsigned b = 0; b < 8; b++)
		bits[b] = crc32c(bits[b], &zero, 1) ^ none;
}

/* The change of a byte with these sums that makes the wanted one; 0 when none does. */
static uint8_t
find_change(const uint32_t bits[8], uint32_t want)
{
	uint32_t sums[256] = {0};

	for (unsigned flip = 1; flip < 256; flip++) {
		sums[flip] = sums[flip & (flip - 1)] ^ bits[__builtin_ctz(flip)];
		if (sums[flip] == want)
			return (uint8_t)flip;
	}
	return 0;
}

static uint32_t
difference(const uint8_t *p)
{
	return crc32c(0, p, SECTOR_CRC_AT) ^ le_get32(p + SECTOR_CRC_AT);
}

int
sector_flip(const uint8_t *p, uint8_t *ret_flip)
{
	uint32_t want = difference(p), bits[8];

	last_byte_sums(bits);
	for (int at = SECTOR_CRC_AT - 1; at >= 0; at--) {
		*ret_flip = find_change(bits, want);
		if (*ret_flip != 0)
			return at;
		go_back_a_byte(bits);
	}
	for (int at = 0; at < 4; at++) {
		*ret_flip = (uint8_t)(want >> (8 * at));
		if (want == (uint32_t)*ret_flip << (8 * at))
			return SECTOR_CRC_AT + at;
	}
	return -1;
}

void
sector_sums_init(struct sector_sums *sums)
{
	uint32_t bits[8];

	last_byte_sums(bits);
	for (int at = SECTOR_CRC_AT - 1; at >= SECTOR_HEAD_BYTES; at--) {
		if (at < SECTOR_HEAD_BYTES + SECTOR_KEY_BYTES)
			memcpy(sums->key[at - SECTOR_HEAD_BYTES], bits, sizeof(bits));
		go_back_a_byte(bits);
	}
}

bool
sector_key_is_flipped(
	const struct sector_sums *sums, const uint8_t *p, uint64_t offset, uint64_t seed)
{
	uint32_t want = difference(p);

	for (unsigned i = 0; i < SECTOR_KEY_BYTES; i++) {
		uint8_t mended[SECTOR_HEAD_BYTES + SECTOR_KEY_BYTES];
		uint8_t flip = find_change(sums->key[i], want);

		if (flip == 0)
			continue;
		memcpy(mended, p, sizeof(mended));
		mended[SECTOR_HEAD_BYTES + i] ^= flip;
		return sector_read(mended, offset, seed).alike == 3;
	}
	return false;
}
