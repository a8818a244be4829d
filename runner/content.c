#include "runner/content.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runner/rng.h"

#define SECTOR 512

/*
 * What a compressor spends per sector on the part that goes away, bytes: zstd 1.5 at its
 * default level needs about so many for the key and for the match (measured by
 * tests/unit/test_content.c).
 */
#define OVERHEAD 4

#define ONE (UINT64_C(1) << 32)

typedef uint64_t lanes __attribute__((vector_size(32), aligned(8), may_alias));

static inline __attribute__((always_inline)) void
combine_lanes(uint8_t *to, const uint8_t *base, uint64_t key, size_t bytes)
{
	const lanes keys = {key, key, key, key};
	size_t at = 0;

	for (; at + sizeof(lanes) <= bytes; at += sizeof(lanes)) {
		lanes x;

		memcpy(&x, base + at, sizeof(x));
		x ^= keys;
		memcpy(to + at, &x, sizeof(x));
	}
	for (; at < bytes; at++)
		to[at] = base[at] ^ ((const uint8_t *)&keys)[at % 8];
}

static void
combine_plain(uint8_t *to, const uint8_t *base, uint64_t key, size_t bytes)
{
	combine_lanes(to, base, key, bytes);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
combine_wide(uint8_t *to, const uint8_t *base, uint64_t key, size_t bytes)
{
	combine_lanes(to, base, key, bytes);
}
#endif

void
content_fill(void *buf, size_t bytes, uint64_t seed)
{
	struct rng r;
	char *p = buf;

	rng_init(&r, seed, UINT64_C(0x64617461));
	for (; bytes >= 8; bytes -= 8, p += 8) {
		uint64_t x = rng_next(&r);

		memcpy(p, &x, 8);
	}
	for (; bytes > 0; bytes--)
		*p++ = (char)rng_next(&r);
}

/* Bytes of a sector that are random. */
static size_t
random_bytes(double compress_percent)
{
	long n = lround(SECTOR * (1 - compress_percent / 100));

	if (n == SECTOR)
		return SECTOR;
	return n > OVERHEAD ? (size_t)n - OVERHEAD : 0;
}

void
content_init(struct content *c, const struct content_config *config)
{
	size_t random = random_bytes(config->compress_percent);
	uint64_t x = config->seed;

	assert(config->compress_percent >= 0 && config->compress_percent <= 100);
	assert(config->dedupe_percent >= 0 && config->dedupe_percent <= 100);
	memset(c, 0, sizeof(*c));
	content_fill(c->base, sizeof(c->base), config->seed);
	for (size_t i = 0; i < CONTENT_BASES; i++)
		for (size_t at = 0; at < CONTENT_UNIT; at += SECTOR)
			memset(c->base[i] + at + random, 0, SECTOR - random);
	c->combine = combine_plain;
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		c->combine = combine_wide;
#endif
	c->next = (uint64_t)config->share << 48 | rng_mix(&x) >> 20;
	c->repeat_by = (uint64_t)llround(config->dedupe_percent / 100 * (double)ONE);
}

/* Whether the next unit repeats one: as often as asked for, evenly spread. */
static bool
repeats(struct content *c)
{
	if (c->repeat_by == 0)
		return false;
	c->owed += c->repeat_by;
	if (c->owed < ONE || c->n_recent == 0)
		return false;
	c->owed -= ONE;
	return true;
}

static uint64_t
next_key(struct content *c)
{
	uint64_t x = c->rounds++;
	uint64_t key;

	if (repeats(c))
		return c->recent[rng_mix(&x) % c->n_recent];
	x = c->next++;
	key = rng_mix(&x); /* different for different numbers */
	if (c->repeat_by != 0) {
		c->recent[c->at_recent++ % CONTENT_RECENT] = key;
		if (c->n_recent < CONTENT_RECENT)
			c->n_recent++;
	}
	return key;
}

void
content_make(struct content *c, void *buf, size_t bytes)
{
	uint8_t *to = buf;

	while (bytes > 0) {
		size_t n = bytes < CONTENT_UNIT ? bytes : CONTENT_UNIT;
		uint64_t key = next_key(c);

		c->combine(to, c->base[key % CONTENT_BASES], key, n);
		to += n;
		bytes -= n;
	}
}
