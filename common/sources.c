#include "common/sources.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"

#define AT_MAX 80
#define TOKEN_MAX 64

/* The members of a suite that hold its parameters. */
static const char *const roots[] = {"minimum_capacity", "prepare", "data", "region",
	"ramp", "workloads", "tests", NULL};

/* The next part of a pointer, without its slash; false at its end, and for one that no
 * suite can have. No name in a suite has a "/" or "~", so that nothing is escaped. */
static bool
next_token(const char **pos, char ret_token[TOKEN_MAX])
{
	size_t n;

	if (**pos != '/')
		return false;
	n = strcspn(*pos + 1, "/");
	if (n >= TOKEN_MAX)
		return false;
	memcpy(ret_token, *pos + 1, n);
	ret_token[n] = '\0';
	*pos += 1 + n;
	return true;
}

static json_t *
below(const json_t *value, const char *token)
{
	uint64_t i;

	if (!json_is_array(value))
		return json_object_get(value, token);
	if (token[0] == '0' && token[1] != '\0')
		return NULL;
	if (parse_uint(token, 0, UINT32_MAX, &i, NULL) != 0)
		return NULL;
	return json_array_get(value, (size_t)i);
}

static const json_t *
find(const json_t *doc, const char *pointer)
{
	char token[TOKEN_MAX];

	while (doc != NULL && *pointer != '\0')
		doc = next_token(&pointer, token) ? below(doc, token) : NULL;
	return doc;
}

static bool
listed(const char *const list[], const char *name)
{
	for (size_t i = 0; list[i] != NULL; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static bool
is_line(const char *text)
{
	return text[0] != '\0' && strlen(text) <= SOURCE_TEXT_MAX && str_is_plain(text);
}

/* The texts of an entry, in place `at`. */
static int
check_texts(const json_t *item, const char *at, struct err *e)
{
	static const char *const statuses[] = {
		"published", "derived", "approximation", "standard", "own", NULL};
	const char *status, *source;

	if (json_need_text(item, at, "status", &status, e) != 0)
		return err_suggest(e, "", statuses);
	if (!listed(statuses, status)) {
		err_set(e, ERR_INVALID, "a status cannot be \"%.40s\"", status);
		err_suggest(e, status, statuses);
		return err_at(e, "%s/status", at);
	}
	if (json_need_text(item, at, "source", &source, e) != 0)
		return -1;
	if (is_line(source))
		return 0;
	err_set(e, ERR_INVALID, "a source is one line of 1 to %d bytes", SOURCE_TEXT_MAX);
	return err_at(e, "%s/source", at);
}

/* One pointer, in place `at`; those that were there before are members of seen. */
static int
check_pointer(const json_t *doc, const json_t *value, json_t *seen, const char *at,
	struct err *e)
{
	const char *pointer = json_is_string(value) ? json_string_value(value) : "";
	const char *pos = pointer;
	char root[TOKEN_MAX];

	if (!next_token(&pos, root)) {
		err_set(e, ERR_INVALID, "a JSON pointer to a parameter is wanted here");
		err_fix(e, "write for example \"/ramp/load\" or \"/workloads/0/block\"");
		return err_at(e, "%s", at);
	}
	if (!listed(roots, root)) {
		err_set(e, ERR_INVALID, "\"%.80s\" is no parameter of the suite",
			pointer);
		err_suggest(e, root, roots);
		return err_at(e, "%s", at);
	}
	if (find(doc, pointer) == NULL) {
		err_set(e, ERR_INVALID, "the suite has nothing at \"%.80s\"", pointer);
		return err_at(e, "%s", at);
	}
	if (json_has(seen, pointer)) {
		err_set(e, ERR_INVALID, "the source of \"%.80s\" is told twice", pointer);
		return err_at(e, "%s", at);
	}
	json_put(seen, pointer, json_true());
	return 0;
}

static int
check_item(const json_t *doc, const json_t *item, json_t *seen, const char *at,
	struct err *e)
{
	static const char *const names[] = {"of", "status", "source", NULL};
	json_t *list, *value;
	size_t i;

	if (json_only(item, at, names, e) != 0 ||
		json_need_array(item, at, "of", &list, e) != 0 ||
		check_texts(item, at, e) != 0)
		return -1;
	if (json_array_size(list) == 0) {
		err_set(e, ERR_INVALID, "a source is that of one parameter or more");
		return err_at(e, "%s/of", at);
	}
	json_array_foreach (list, i, value) {
		char place[AT_MAX];

		snprintf(place, sizeof(place), "%s/of/%zu", at, i);
		if (check_pointer(doc, value, seen, place, e) != 0)
			return -1;
	}
	return 0;
}

int
sources_check(const json_t *doc, struct err *e)
{
	json_t *list, *item;
	json_t *seen;
	size_t i;
	int rc = 0;

	if (!json_has(doc, "sources"))
		return 0;
	if (json_need_array(doc, "", "sources", &list, e) != 0)
		return -1;
	seen = json_object();
	json_array_foreach (list, i, item) {
		char at[AT_MAX / 2];

		snprintf(at, sizeof(at), "/sources/%zu", i);
		rc = check_item(doc, item, seen, at, e);
		if (rc != 0)
			break;
	}
	json_decref(seen);
	return rc;
}

void
sources_label(const json_t *doc, const char *pointer, struct str *out)
{
	const char *pos = pointer;
	char root[TOKEN_MAX], number[TOKEN_MAX];
	const char *id = "";

	if (next_token(&pos, root) &&
		(strcmp(root, "workloads") == 0 || strcmp(root, "tests") == 0) &&
		next_token(&pos, number))
		id = json_text_of(below(json_object_get(doc, root), number), "id");
	if (id[0] == '\0')
		str_puts(out, pointer);
	else
		str_printf(out, "/%s/%s%s", root, id, pos);
}
