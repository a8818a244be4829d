/*
 * le - little-endian numbers in byte buffers, for every format of schema/wire.md.
 *
 * The caller has checked the bounds. No alignment is needed. Any thread.
 */
#ifndef COMMON_LE_H
#define COMMON_LE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* le_put16, le_put32 and le_put64 write n to 2, 4 or 8 bytes. */
static inline void
le_put16(uint8_t *p, uint16_t n)
{
	n = htole16(n);
	memcpy(p, &n, sizeof(n));
}

static inline void
le_put32(uint8_t *p, uint32_t n)
{
	n = htole32(n);
	memcpy(p, &n, sizeof(n));
}

static inline void
le_put64(uint8_t *p, uint64_t n)
{
	n = htole64(n);
	memcpy(p, &n, sizeof(n));
}

/* le_get16, le_get32 and le_get64 read 2, 4 or 8 bytes. */
static inline uint16_t
le_get16(const uint8_t *p)
{
	uint16_t n;

	memcpy(&n, p, sizeof(n));
	return le16toh(n);
}

static inline uint32_t
le_get32(const uint8_t *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	return le32toh(n);
}

static inline uint64_t
le_get64(const uint8_t *p)
{
	uint64_t n;

	memcpy(&n, p, sizeof(n));
	return le64toh(n);
}

#endif
