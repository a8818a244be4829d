#include "cli/missing.h"

#include <stdbool.h>
#include <string.h>

#include "cli/human.h"
#include "common/err.h"
#include "common/str.h"

#define LIST_BYTES 300 /* of what there is; the rest is left out */

static bool
holds(const json_t *list, const char *text)
{
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (json_is_string(v) && strcmp(json_string_value(v), text) == 0)
			return true;
	return false;
}

static void
add(json_t *list, json_t *value)
{
	if (json_string_length(value) > 0 && !holds(list, json_string_value(value)))
		json_array_append(list, value);
}

json_t *
missing_collect(const json_t *items, const char *path)
{
	json_t *all = json_array();
	json_t *item, *one;
	size_t i, k;

	json_array_foreach (items, i, item) {
		json_t *value = json_at(item, path);

		add(all, value);
		json_array_foreach (value, k, one)
			add(all, one);
	}
	return all;
}

int
missing_check(const char *kind, const char *wanted, const char *place, const json_t *have,
	struct err *e)
{
	struct str list = {0};
	json_t *v;
	size_t i;

	if (holds(have, wanted))
		return 0;
	json_array_foreach (have, i, v) {
		if (list.len + json_string_length(v) > LIST_BYTES) {
			str_puts(&list, ", ...");
			break;
		}
		str_puts(&list, i == 0 ? "" : ", ");
		str_puts(&list, json_string_value(v));
	}
	err_set(e, ERR_NOTFOUND, "no %s \"%.60s\"%s%s%s", kind, wanted, place,
		list.len == 0		     ? ""
		: json_array_size(have) == 1 ? "; there is "
					     : "; there are ",
		str_text(&list));
	str_fini(&list);
	return -1;
}
