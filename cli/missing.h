/*
 * missing - for a filter that matches nothing: what was looked for, and what there is.
 *
 * Pure; the caller reads the documents.
 */
#ifndef CLI_MISSING_H
#define CLI_MISSING_H

#include <jansson.h>

struct err;

/*
 * missing_collect returns the texts at path (json_at) of all items, and those of lists
 * there, each once, in the order of the items. Owned by the caller.
 */
json_t *missing_collect(const json_t *items, const char *path);

/*
 * missing_check returns 0 when wanted is one of the array have. Else ERR_NOTFOUND: `no
 * workload "4k" in r1; there are 4k-random-read, 64k-sequential-write` for the kind
 * "workload" and the place " in r1".
 */
int missing_check(const char *kind, const char *wanted, const char *place,
	const json_t *have, struct err *e);

#endif
