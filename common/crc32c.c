#include "common/crc32c.h"

#include "common/le.h"

/*
 * Remainders of the 16 half bytes for the reflected polynomial 0x82f63b78. Half bytes
 * keep the table small enough to be checked by eye; processors without the instruction
 * still reach hundreds of MB/s, far above what a spool carries.
 */
static const uint32_t half[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
	0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17,
	0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};

static uint32_t
by_table(uint32_t crc, const uint8_t *p, size_t len)
{
	for (; len > 0; len--) {
		crc ^= *p++;
		crc = (crc >> 4) ^ half[crc & 15];
		crc = (crc >> 4) ^ half[crc & 15];
	}
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t wide = crc;

	for (; len >= 8; len -= 8, p += 8)
		wide = __builtin_ia32_crc32di(wide, le_get64(p));
	crc = (uint32_t)wide;
	for (; len > 0; len--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return crc;
}

static uint32_t
fastest(uint32_t crc, const uint8_t *p, size_t len)
{
	if (__builtin_cpu_supports("sse4.2"))
		return by_instruction(crc, p, len);
	return by_table(crc, p, len);
}
#else
static uint32_t
fastest(uint32_t crc, const uint8_t *p, size_t len)
{
	return by_table(crc, p, len);
}
#endif

uint32_t
crc32c(uint32_t crc, const void *data, size_t len)
{
	return ~fastest(~crc, data, len);
}
