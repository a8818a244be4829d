/*
 * fuzz_convert - what the fuzz targets of both converters promise: a suite that
 * suite_parse takes, with a list whose lines are in the file, or an error that says
 * where.
 */
#ifndef TESTS_FUZZ_FUZZ_CONVERT_H
#define TESTS_FUZZ_FUZZ_CONVERT_H

#include <string.h>

#include "cli/convert.h"
#include "common/err.h"
#include "tests/fuzz/fuzz.h"

typedef int convert_fn(struct conversion *c, const char *text, size_t len, struct err *e);

/* fuzz_convert gives the bytes to a converter. */
static inline int
fuzz_convert(convert_fn *convert, const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct conversion c;
	struct err e = {0};
	json_t *doc = NULL;
	unsigned lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	conversion_init(&c, "file", "fuzzed");
	if (convert(&c, text, size, &e) != 0) {
		MUST(e.class == ERR_INVALID || e.class == ERR_LIMIT);
		MUST(size > CONVERT_MAX_BYTES || strncmp(e.text, "line ", 5) == 0);
	} else if (convert_finish(&c, &doc, &e) != 0) {
		MUST(c.suite->n_workloads == 0 && e.class == ERR_INVALID);
	} else {
		MUST(json_array_size(json_object_get(doc, "workloads")) ==
			c.suite->n_workloads);
	}
	for (size_t i = 0; i < c.n_left; i++)
		MUST(c.left[i].line >= 1 && c.left[i].line <= lines);
	json_decref(doc);
	conversion_fini(&c);
	return 0;
}

#endif
