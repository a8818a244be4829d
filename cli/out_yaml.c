/* JSON documents as YAML, for people to go on with. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"

static void value(const struct out *o, const json_t *v, unsigned indent, bool in_list);

static void
blanks(const struct out *o, unsigned n)
{
	while (n-- > 0)
		fputc(' ', o->file);
}

/* A name that is a plain scalar of YAML and no other type. */
static bool
is_plain(const char *name)
{
	return strspn(name, "abcdefghijklmnopqrstuvwxyz_") == strlen(name) &&
	       strlen(name) > 3 && strcmp(name, "true") != 0 &&
	       strcmp(name, "false") != 0 && strcmp(name, "null") != 0;
}

/* The least digits, of 15 or more, that are read back as the same number; others need
 * none. */
static size_t
digits(const json_t *v)
{
	double x = json_real_value(v);
	char text[32];
	int n = 15;

	while (n < 17) {
		snprintf(text, sizeof(text), "%.*g", n, x);
		if (strtod(text, NULL) == x)
			break;
		n++;
	}
	return (size_t)n;
}

/* Texts in quotes are the same in JSON and in YAML. */
static void
scalar(const struct out *o, const json_t *v)
{
	char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT |
					   JSON_REAL_PRECISION(digits(v)));

	fputs(text != NULL ? text : "null", o->file);
	free(text);
}

/* What stands behind a name or a dash: a scalar, or lines below. */
static void
behind(const struct out *o, const json_t *v, unsigned indent)
{
	bool below = json_is_object(v) ? json_object_size(v) > 0 : json_array_size(v) > 0;

	if (below) {
		fputc('\n', o->file);
		value(o, v, indent, false);
	} else {
		fputc(' ', o->file);
		scalar(o, v);
		fputc('\n', o->file);
	}
}

static void
members(const struct out *o, const json_t *v, unsigned indent, bool in_list)
{
	const char *name;
	json_t *item;

	/* The iterator wants an object that is not const, and does not change it. */
	json_object_foreach ((json_t *)(uintptr_t)v, name, item) {
		json_t *key = json_string(name);

		blanks(o, in_list ? 0 : indent);
		in_list = false;
		if (is_plain(name))
			fputs(name, o->file);
		else
			scalar(o, key);
		fputc(':', o->file);
		behind(o, item, indent + 2);
		json_decref(key);
	}
}

/* in_list: a dash stands before it on the line. */
static void
value(const struct out *o, const json_t *v, unsigned indent, bool in_list)
{
	json_t *item;
	size_t i;

	if (json_is_object(v)) {
		members(o, v, indent, in_list);
		return;
	}
	json_array_foreach (v, i, item) {
		blanks(o, indent);
		fputc('-', o->file);
		if (json_is_object(item) && json_object_size(item) > 0) {
			fputc(' ', o->file);
			value(o, item, indent + 2, true);
		} else {
			behind(o, item, indent + 2);
		}
	}
}

void
out_yaml(const struct out *o, const json_t *doc)
{
	value(o, doc, 0, false);
}
