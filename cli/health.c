#include "cli/health.h"

#include <string.h>

#include "cli/out.h"
#include "cli/show.h"
#include "cli/table.h"
#include "common/json.h"
#include "common/str.h"

static bool
is_always_shown(const char *name)
{
	static const char *const names[] = {"critical_warning", "passed", "temperature_c",
		"percentage_used", "available_spare_percent", "media_errors",
		"grown_defects", NULL};

	for (size_t i = 0; names[i] != NULL; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Whether a difference, a number or a decimal text, is one. */
static bool
differs(const json_t *by)
{
	return json_is_string(by) ? strcmp(json_string_value(by), "0") != 0
				  : json_integer_value(by) != 0;
}

/* One row for a number, rows for those in an object; lists and words are left out. */
static void
add_rows(json_t *rows, const json_t *before, const json_t *after, const json_t *change,
	bool all)
{
	const json_t *have = json_is_object(after) ? after : before;
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)have, name, v) {
		json_t *was = json_object_get(before, name);
		json_t *is = json_object_get(after, name);
		json_t *by = json_object_get(change, name);
		json_t *row;

		if (json_is_object(v)) {
			/* NOLINTNEXTLINE(misc-no-recursion): depth 16 at most */
			add_rows(rows, was, is, by, all);
			continue;
		}
		if (json_is_array(v) || strcmp(name, "source") == 0 ||
			strcmp(name, "version") == 0)
			continue;
		if (!all && !is_always_shown(name) && !differs(by))
			continue;
		row = json_object();
		json_put(row, "name", json_string(name));
		json_put(row, "before", was != NULL ? json_incref(was) : json_null());
		json_put(row, "after", is != NULL ? json_incref(is) : json_null());
		json_put(row, "difference", by != NULL ? json_incref(by) : json_null());
		json_array_append_new(rows, row);
	}
}

/* A value as the runner wrote it: a number, a decimal text, or yes or no. */
static void
put_value(const json_t *row, const char *name, struct str *out)
{
	const json_t *v = json_object_get(row, name);

	if (json_is_string(v))
		str_puts(out, json_string_value(v));
	else if (json_is_integer(v))
		str_printf(out, "%lld", (long long)json_integer_value(v));
	else if (json_is_boolean(v))
		str_puts(out, json_is_true(v) ? "yes" : "no");
}

static void
put_before(const json_t *row, struct str *out)
{
	put_value(row, "before", out);
}

static void
put_after(const json_t *row, struct str *out)
{
	put_value(row, "after", out);
}

static void
put_difference(const json_t *row, struct str *out)
{
	if (differs(json_object_get(row, "difference")))
		put_value(row, "difference", out);
}

void
health_show(const struct out *o, const json_t *health)
{
	static const struct column columns[] = {
		{"HEALTH", "name", UNIT_TEXT, COL_KEEP, NULL},
		{"BEFORE", "before", UNIT_TEXT, 0, put_before},
		{"AFTER", "after", UNIT_TEXT, 0, put_after},
		{"DIFFERENCE", "difference", UNIT_TEXT, 0, put_difference},
	};
	const json_t *before = json_object_get(health, "before");
	const json_t *after = json_object_get(health, "after");
	const json_t *last = json_is_object(after) ? after : before;
	json_t *rows = json_array();
	json_t *v;
	size_t i;

	if (strcmp(json_text_of(last, "source"), "none") == 0) {
		show_title(o, "Health of the drive");
		out_line(o, "none: %s", json_text_of(last, "why"));
	} else if (json_is_object(last)) {
		add_rows(rows, before, after, json_object_get(health, "difference"),
			o->format == OUT_WIDE);
		show_title(o, "Health of the drive");
		table_print(o, rows, COLUMNS(columns));
	}
	json_array_foreach (json_object_get(health, "told"), i, v)
		out_line(o, "%s", json_string_value(v));
	json_decref(rows);
}
