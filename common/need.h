/*
 * need - members of a run program: times in nanoseconds, and names from a list.
 *
 * Errors are ERR_INVALID with the pointer AT/NAME of the member.
 */
#ifndef COMMON_NEED_H
#define COMMON_NEED_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"

struct err;

/* No time of a program is longer. */
#define NEED_DURATION_MAX_NS (7 * 86400 * NS_PER_S)

/* need_duration reads a decimal string of ns, min to NEED_DURATION_MAX_NS. */
int need_duration(const json_t *o, const char *at, const char *name, int64_t min,
	int64_t *ret_ns, struct err *e);

/* need_name reads a text that is one of the NULL-ended list; its index goes to *ret_i. */
int need_name(const json_t *o, const char *at, const char *name, const char *const list[],
	size_t *ret_i, struct err *e);

#endif
