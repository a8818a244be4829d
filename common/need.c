#include "common/need.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"

int
need_duration(const json_t *o, const char *at, const char *name, int64_t min,
	int64_t *ret_ns, struct err *e)
{
	uint64_t ns;

	if (json_need_u64(o, at, name, &ns, e) != 0)
		return -1;
	if (ns >= (uint64_t)min && ns <= NEED_DURATION_MAX_NS) {
		*ret_ns = (int64_t)ns;
		return 0;
	}
	err_set(e, ERR_INVALID,
		"%" PRIu64 " ns is not a time from %" PRId64 " to %" PRId64, ns, min,
		(int64_t)NEED_DURATION_MAX_NS);
	return err_at(e, "%s/%s", at, name);
}

int
need_name(const json_t *o, const char *at, const char *name, const char *const list[],
	size_t *ret_i, struct err *e)
{
	const char *text;
	char known[128] = "";

	if (json_need_text(o, at, name, &text, e) != 0)
		return -1;
	for (size_t i = 0; list[i] != NULL; i++) {
		if (strcmp(list[i], text) != 0)
			continue;
		*ret_i = i;
		return 0;
	}
	err_set(e, ERR_INVALID, "\"%s\" cannot be \"%.40s\"", name, text);
	for (size_t i = 0; list[i] != NULL; i++) {
		size_t n = strlen(known);

		snprintf(
			known + n, sizeof(known) - n, "%s%s", n > 0 ? ", " : "", list[i]);
	}
	err_fix(e, "known here: %s", known);
	return err_at(e, "%s/%s", at, name);
}
