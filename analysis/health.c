#include "analysis/health.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"

#define NUMBER_MAX (UINT64_C(1) << 62)

static bool
number_of(const json_t *v, int64_t *ret_n)
{
	uint64_t n;

	if (json_is_integer(v)) {
		*ret_n = json_integer_value(v);
		return *ret_n <= (int64_t)NUMBER_MAX && *ret_n >= -(int64_t)NUMBER_MAX;
	}
	if (!json_is_string(v) ||
		parse_uint(json_string_value(v), 0, NUMBER_MAX, &n, NULL) != 0)
		return false;
	*ret_n = (int64_t)n;
	return true;
}

json_t *
health_difference(const json_t *before, const json_t *after)
{
	json_t *o = json_object();
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)after, name, v) {
		const json_t *was = json_object_get(before, name);
		int64_t a, b;

		if (json_is_object(v) && json_is_object(was))
			/* NOLINTNEXTLINE(misc-no-recursion): depth 16 at most */
			json_put(o, name, health_difference(was, v));
		else if (number_of(was, &a) && number_of(v, &b))
			json_put(o, name,
				json_is_string(v) || json_is_string(was)
					? json_sprintf("%" PRId64, b - a)
					: json_integer(b - a));
	}
	return o;
}

/* Bits of the critical warning (NVM Express Base 2.0, figure 207). */
static const char *const warnings[] = {"the spare is below its threshold",
	"a temperature is beyond its limit", "the reliability is degraded",
	"the media are read-only", "the backup of volatile memory has failed",
	"the persistent memory region is read-only or unreliable"};

static void
tell_warning(json_t *list, const json_t *doc, const char *when)
{
	struct str text = {0};
	int64_t bits;

	if (!number_of(json_object_get(doc, "critical_warning"), &bits) || bits == 0)
		return;
	str_printf(&text, "%s the run the drive warned (0x%02" PRIx64 ")", when,
		(uint64_t)bits);
	for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++)
		if ((bits >> i & 1) != 0)
			str_printf(&text, ": %s", warnings[i]);
	json_array_append_new(list, json_text(str_text(&text)));
	str_fini(&text);
}

static void
tell_rise(json_t *list, const json_t *before, const json_t *after, const char *name,
	const char *what)
{
	int64_t a, b;

	if (number_of(json_object_get(before, name), &a) &&
		number_of(json_object_get(after, name), &b) && b > a)
		json_array_append_new(list,
			json_sprintf("%" PRId64 " %s came while the run ran: %" PRId64
				     " before, %" PRId64 " after",
				b - a, what, a, b));
}

static void
tell_state(json_t *list, const json_t *doc, const char *when)
{
	if (!json_is_object(doc))
		return;
	tell_warning(list, doc, when);
	if (json_is_false(json_object_get(doc, "passed")))
		json_array_append_new(list,
			json_sprintf("%s the run the drive said that it fails", when));
}

json_t *
health_told(const json_t *before, const json_t *after)
{
	json_t *list = json_array();

	tell_state(list, before, "before");
	tell_state(list, after, "after");
	tell_rise(list, before, after, "media_errors", "media errors");
	tell_rise(list, before, after, "grown_defects", "grown defects");
	tell_rise(list, before, after, "unsafe_shutdowns", "unsafe shutdowns");
	return list;
}
