/*
 * golden - frames of schema/wire.md as bytes, read from tests/wire/NAME.hex.
 *
 * A file is hexadecimal bytes, white space and comments from # to the end of the line.
 * It was not written by the code under test.
 */
#ifndef TESTS_UNIT_GOLDEN_H
#define TESTS_UNIT_GOLDEN_H

#include <check.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* golden reads a file of at most cap bytes; returns the number of bytes. */
static inline size_t
golden(const char *name, uint8_t *buf, size_t cap)
{
	char path[512], line[256];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", TESTS_WIRE_DIR, name);
	f = fopen(path, "re");
	ck_assert_msg(f != NULL, "%s cannot be read", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "#\n")] = '\0';
		for (char *at = line; *at != '\0'; at++) {
			unsigned byte;

			if (isspace((unsigned char)*at))
				continue;
			ck_assert_msg(sscanf(at, "%2x", &byte) == 1, "%s: %s", name, at);
			ck_assert_uint_lt(n, cap);
			buf[n++] = (uint8_t)byte;
			at++;
		}
	}
	fclose(f);
	return n;
}

/* SAME wants two stretches of bytes to be equal and names the first that is not. */
#define SAME(a, a_len, b, b_len)                                                  \
	do {                                                                      \
		size_t n_ = (a_len), m_ = (b_len), at_ = 0;                       \
		const uint8_t *a_ = (const uint8_t *)(a);                         \
		const uint8_t *b_ = (const uint8_t *)(b);                         \
		ck_assert_uint_eq(n_, m_);                                        \
		while (at_ < n_ && a_[at_] == b_[at_])                            \
			at_++;                                                    \
		ck_assert_msg(at_ == n_, "%s and %s differ at %zu", #a, #b, at_); \
	} while (0)

#endif
