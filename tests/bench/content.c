/*
 * How fast the data to be written are made, in GB/s and as a ratio to memcpy of the same
 * size from the first cache in the same run. Best of a few rounds each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "runner/content.h"

#define ROUNDS 9
#define ROUND_BYTES ((size_t)1 << 30)

typedef void (*maker)(struct content *c, uint8_t *to, size_t bytes);

static void
make_content(struct content *c, uint8_t *to, size_t bytes)
{
	content_make(c, to, bytes);
}

static void
make_copy(struct content *c, uint8_t *to, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += CONTENT_UNIT)
		memcpy(to + at, c->base[at / CONTENT_UNIT % CONTENT_BASES], CONTENT_UNIT);
	__asm__ volatile("" : : "r"(to) : "memory");
}

/* Bytes per ns into that many buffers of one size, in turn. */
static double
speed(maker make, struct content *c, uint8_t *buffers, size_t bytes, size_t n)
{
	double best = 0;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t start = clock_mono();
		double rate;

		for (size_t i = 0; i < ROUND_BYTES / bytes; i++)
			make(c, buffers + i % n * bytes, bytes);
		rate = (double)ROUND_BYTES / (double)(clock_mono() - start);
		best = rate > best ? rate : best;
	}
	return best;
}

int
main(void)
{
	static const struct {
		size_t bytes, n;
		double compress, dedupe;
	} cases[] = {{4096, 1, 0, 0}, {4096, 128, 0, 0}, {131072, 32, 0, 0},
		{131072, 512, 0, 0}, {4096, 128, 50, 20}};
	static struct content c;
	uint8_t *buffers = aligned_alloc(4096, (size_t)64 << 20);

	if (buffers == NULL)
		return EXIT_FAILURE;
	memset(buffers, 1, (size_t)64 << 20);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct content_config config = {.seed = 1,
			.compress_percent = cases[i].compress,
			.dedupe_percent = cases[i].dedupe};
		double copied, made;

		content_init(&c, &config);
		copied = speed(make_copy, &c, buffers, cases[i].bytes, cases[i].n);
		made = speed(make_content, &c, buffers, cases[i].bytes, cases[i].n);
		printf("%3zu buffers of %6zu bytes, compress %2.0f%%, dedupe %2.0f%%: "
		       "%5.1f GB/s, %.2f of memcpy (%.1f GB/s), %4.0f ns per 4 KiB\n",
			cases[i].n, cases[i].bytes, cases[i].compress, cases[i].dedupe,
			made, made / copied, copied, 4096 / made);
	}
	free(buffers);
	return EXIT_SUCCESS;
}
