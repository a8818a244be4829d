#include "common/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/xalloc.h"

/* Deepest nesting of brackets outside of strings; jansson's own limit is far above ours.
 */
static int
depth_of(const char *text, size_t len)
{
	bool in_string = false;
	int depth = 0;
	int deepest = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '[' || c == '{') {
			if (++depth > deepest)
				deepest = depth;
		} else if (c == ']' || c == '}') {
			depth--;
		}
	}
	return deepest;
}

int
json_parse(const char *text, size_t len, json_t **ret_doc, struct err *e)
{
	return json_parse_max(text, len, JSON_MAX_BYTES, ret_doc, e);
}

int
json_parse_max(
	const char *text, size_t len, size_t max_bytes, json_t **ret_doc, struct err *e)
{
	json_error_t je;
	json_t *doc;

	if (len > max_bytes)
		return err_set(e, ERR_LIMIT,
			"the document has %zu bytes; at most %zu are read", len,
			max_bytes);
	if (depth_of(text, len) > JSON_MAX_DEPTH)
		return err_set(e, ERR_LIMIT,
			"the document is nested deeper than %d levels", JSON_MAX_DEPTH);
	doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
	if (doc == NULL)
		return err_set(e, ERR_INVALID, "line %d, column %d: not valid JSON: %s",
			je.line, je.column, je.text);
	*ret_doc = doc;
	return 0;
}

int
json_read_file(const char *path, json_t **ret_doc, struct err *e)
{
	struct str text = {0};
	char buf[16384];
	ssize_t n;
	int rc = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, errno,
			"open %s", path);
	while ((n = read(fd, buf, sizeof(buf))) > 0 && text.len <= JSON_MAX_BYTES)
		str_add(&text, buf, (size_t)n);
	if (n < 0)
		err_errno(e, ERR_IO, errno, "read %s", path);
	else if (json_parse(str_text(&text), text.len, ret_doc, e) != 0)
		err_ctx(e, "%s", path);
	else
		rc = 0;
	close(fd);
	str_fini(&text);
	return rc;
}

static int
append(const char *buf, size_t len, void *arg)
{
	str_add(arg, buf, len);
	return 0;
}

void
json_write(const json_t *doc, struct str *out)
{
	json_dump_callback(doc, append, out, JSON_COMPACT | JSON_ENCODE_ANY);
}

void
json_canonical(const json_t *doc, struct str *out)
{
	json_dump_callback(
		doc, append, out, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
}

int
json_only(const json_t *o, const char *at, const char *const names[], struct err *e)
{
	const char *name;
	json_t *value;

	if (!json_is_object(o)) {
		err_set(e, ERR_INVALID, "an object is wanted here");
		return err_at(e, "%s", at);
	}
	json_object_foreach ((json_t *)(uintptr_t)o, name, value) {
		size_t i = 0;

		while (names[i] != NULL && strcmp(names[i], name) != 0)
			i++;
		if (names[i] != NULL)
			continue;
		err_set(e, ERR_INVALID, "unknown member \"%.64s\"", name);
		err_suggest(e, name, names);
		return err_at(e, "%s/%.64s", at, name);
	}
	return 0;
}

/* Recursion, as deep as json_parse allows. */
int
json_no_null(const json_t *doc, const char *at, struct err *e)
{
	json_t *any = (json_t *)(uintptr_t)doc;
	const char *name;
	json_t *value;
	char below[256];
	size_t i;

	json_object_foreach (any, name, value) {
		snprintf(below, sizeof(below), "%s/%.64s", at, name);
		if (json_is_null(value)) {
			err_set(e, ERR_INVALID, "\"%.64s\" must not be null", name);
			err_fix(e, "give it a value, or leave it out");
			return err_at(e, "%s", below);
		}
		if (json_no_null(value, below, e) != 0)
			return -1;
	}
	json_array_foreach (any, i, value) {
		snprintf(below, sizeof(below), "%s/%zu", at, i);
		if (json_no_null(value, below, e) != 0)
			return -1;
	}
	return 0;
}

static int
need(const json_t *o, const char *at, const char *name, json_t **ret_value, struct err *e)
{
	*ret_value = json_object_get(o, name);
	if (*ret_value != NULL && !json_is_null(*ret_value))
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" is missing", name);
	err_at(e, "%s/%s", at, name);
	return -1;
}

static int
mistyped(const char *at, const char *name, const char *want, struct err *e)
{
	err_set(e, ERR_INVALID, "\"%s\" must be %s", name, want);
	return err_at(e, "%s/%s", at, name);
}

int
json_need_text(const json_t *o, const char *at, const char *name, const char **ret_text,
	struct err *e)
{
	json_t *v;

	if (need(o, at, name, &v, e) != 0)
		return -1;
	if (!json_is_string(v))
		return mistyped(at, name, "a text in quotes", e);
	*ret_text = json_string_value(v);
	return 0;
}

/* size: the range belongs to the member as much as its name does */
int
json_need_int(const json_t *o, const char *at, const char *name, int64_t min, int64_t max,
	int64_t *ret_n, struct err *e)
{
	char want[96];
	json_t *v;

	if (need(o, at, name, &v, e) != 0)
		return -1;
	snprintf(want, sizeof(want), "a whole number from %lld to %lld", (long long)min,
		(long long)max);
	if (!json_is_integer(v) || json_integer_value(v) < min ||
		json_integer_value(v) > max)
		return mistyped(at, name, want, e);
	*ret_n = json_integer_value(v);
	return 0;
}

int
json_need_bool(
	const json_t *o, const char *at, const char *name, bool *ret_b, struct err *e)
{
	json_t *v;

	if (need(o, at, name, &v, e) != 0)
		return -1;
	if (!json_is_boolean(v))
		return mistyped(at, name, "true or false", e);
	*ret_b = json_is_true(v);
	return 0;
}

int
json_need_real(
	const json_t *o, const char *at, const char *name, double *ret_x, struct err *e)
{
	json_t *v;

	if (need(o, at, name, &v, e) != 0)
		return -1;
	if (!json_is_number(v))
		return mistyped(at, name, "a number", e);
	*ret_x = json_number_value(v);
	return 0;
}

int
json_need_array(const json_t *o, const char *at, const char *name, json_t **ret_array,
	struct err *e)
{
	if (need(o, at, name, ret_array, e) != 0)
		return -1;
	return json_is_array(*ret_array) ? 0 : mistyped(at, name, "a list", e);
}

int
json_need_object(const json_t *o, const char *at, const char *name, json_t **ret_object,
	struct err *e)
{
	if (need(o, at, name, ret_object, e) != 0)
		return -1;
	return json_is_object(*ret_object) ? 0 : mistyped(at, name, "an object", e);
}

int
json_need_u64(
	const json_t *o, const char *at, const char *name, uint64_t *ret_n, struct err *e)
{
	const char *text;

	if (json_need_text(o, at, name, &text, e) != 0)
		return -1;
	if (parse_uint(text, 0, UINT64_MAX, ret_n, e) != 0)
		return err_at(e, "%s/%s", at, name);
	return 0;
}

bool
json_has(const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);

	return v != NULL && !json_is_null(v);
}

json_t *
json_text(const char *text)
{
	json_t *v = json_string(text);
	char *copy;

	if (v != NULL)
		return v;
	copy = xstrdup(text);
	for (char *p = copy; *p != '\0'; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	v = json_string(copy);
	free(copy);
	if (v == NULL)
		abort();
	return v;
}

json_t *
json_finite(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

json_t *
json_u64(uint64_t n)
{
	json_t *v = json_sprintf("%llu", (unsigned long long)n);

	if (v == NULL)
		abort();
	return v;
}

const char *
json_text_of(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));

	return text != NULL ? text : "";
}

void
json_put(json_t *o, const char *name, json_t *value)
{
	if (value == NULL || json_object_set_new_nocheck(o, name, value) != 0)
		abort();
}
