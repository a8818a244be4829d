/*
 * fuzz - what the fuzz targets share.
 *
 * A target is one file with LLVMFuzzerTestOneInput. It is linked with libFuzzer
 * (--enable-fuzz, make fuzz) and, for every check, with replay.c, which gives it the
 * files of its corpus. It never lets an input pass that breaks a promise of the header
 * under test: MUST aborts.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                                            \
	do {                                                                       \
		if (!(condition)) {                                                \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, \
				#condition);                                       \
			abort();                                                   \
		}                                                                  \
	} while (0)

/* LLVMFuzzerTestOneInput is given any bytes, borrowed for the call; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
