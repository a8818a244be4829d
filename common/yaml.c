#include "common/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "common/xalloc.h"

enum kind { SCALAR, LIST, MAPPING };

/* One value of the text. A mapping's children are key, value, key, value. */
struct node {
	enum kind kind;
	bool plain;		   /* SCALAR: written without quotes or | or > */
	size_t line, column;	   /* of its start, from 1 */
	char *text;		   /* SCALAR */
	struct node *first, *last; /* children of LIST and MAPPING */
	struct node *next;	   /* sibling */
	struct node *older;	   /* all nodes, for freeing */
};

struct reader {
	yaml_parser_t parser;
	struct node *newest;
	size_t n_nodes;
	struct node *open[YAML_DEPTH_MAX]; /* lists and mappings being read */
	size_t depth;
	struct node *root;
	bool ended;
	struct err *e;
};

static int fail(struct err *e, enum err_class class, yaml_mark_t mark, const char *fmt,
	...) __attribute__((format(printf, 4, 5)));

static int
fail(struct err *e, enum err_class class, yaml_mark_t mark, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(e, class, "line %zu, column %zu: %s", mark.line + 1,
		mark.column + 1, text);
}

static struct node *
node_new(struct reader *r, enum kind kind, const yaml_event_t *ev)
{
	struct node *n = xcalloc(1, sizeof(*n));

	n->kind = kind;
	n->line = ev->start_mark.line + 1;
	n->column = ev->start_mark.column + 1;
	n->older = r->newest;
	r->newest = n;
	r->n_nodes++;
	return n;
}

static void
reader_fini(struct reader *r)
{
	struct node *n = r->newest;

	while (n != NULL) {
		struct node *older = n->older;

		free(n->text);
		free(n);
		n = older;
	}
	yaml_parser_delete(&r->parser);
}

/* Puts a new value where the reader stands. */
static int
attach(struct reader *r, struct node *n, const yaml_event_t *ev)
{
	struct node *parent = r->depth > 0 ? r->open[r->depth - 1] : NULL;

	if (r->n_nodes > YAML_VALUES_MAX)
		return fail(r->e, ERR_LIMIT, ev->start_mark, "more than %d values",
			YAML_VALUES_MAX);
	if (parent == NULL)
		r->root = n;
	else if (parent->last == NULL)
		parent->first = n;
	else
		parent->last->next = n;
	if (parent != NULL)
		parent->last = n;
	return 0;
}

/* Refuses a tag and an anchor; both may be NULL. */
static int
no_properties(struct reader *r, const yaml_event_t *ev, const yaml_char_t *tag,
	const yaml_char_t *anchor)
{
	if (tag != NULL) {
		fail(r->e, ERR_INVALID, ev->start_mark,
			"tags (\"%.40s\") are not used here", (const char *)tag);
		return err_fix(r->e, "leave the tag out; types are known by name");
	}
	if (anchor != NULL) {
		fail(r->e, ERR_INVALID, ev->start_mark,
			"anchors (\"&%.40s\") are not used here", (const char *)anchor);
		return err_fix(
			r->e, "leave the anchor out; quote a text that starts with &");
	}
	return 0;
}

static int
take_scalar(struct reader *r, const yaml_event_t *ev)
{
	struct node *n = node_new(r, SCALAR, ev);
	const char *value = (const char *)ev->data.scalar.value;

	n->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (memchr(value, '\0', ev->data.scalar.length) != NULL)
		return fail(
			r->e, ERR_INVALID, ev->start_mark, "a text with a NUL character");
	n->text = xstrdup(value);
	if (no_properties(r, ev, ev->data.scalar.tag, ev->data.scalar.anchor) != 0)
		return -1;
	return attach(r, n, ev);
}

static int
no_alias(struct reader *r, const yaml_event_t *ev)
{
	fail(r->e, ERR_INVALID, ev->start_mark, "aliases (\"*%.40s\") are not used here",
		(const char *)ev->data.alias.anchor);
	return err_fix(r->e, "write the value out; quote a text that starts with *");
}

static int
take_start(struct reader *r, enum kind kind, const yaml_event_t *ev)
{
	struct node *n = node_new(r, kind, ev);
	const yaml_char_t *tag, *anchor;

	tag = kind == LIST ? ev->data.sequence_start.tag : ev->data.mapping_start.tag;
	anchor = kind == LIST ? ev->data.sequence_start.anchor
			      : ev->data.mapping_start.anchor;
	if (no_properties(r, ev, tag, anchor) != 0 || attach(r, n, ev) != 0)
		return -1;
	if (r->depth == YAML_DEPTH_MAX)
		return fail(r->e, ERR_LIMIT, ev->start_mark,
			"nested deeper than %d levels", YAML_DEPTH_MAX);
	r->open[r->depth++] = n;
	return 0;
}

static int
take_document(struct reader *r, const yaml_event_t *ev)
{
	if (ev->data.document_start.version_directive != NULL ||
		ev->data.document_start.tag_directives.start !=
			ev->data.document_start.tag_directives.end)
		return fail(r->e, ERR_INVALID, ev->start_mark,
			"directives (%%) are not used here");
	if (r->root != NULL)
		return fail(r->e, ERR_INVALID, ev->start_mark,
			"a second document; one file is one document");
	return 0;
}

static int
take_event(struct reader *r, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		return take_document(r, ev);
	case YAML_SCALAR_EVENT:
		return take_scalar(r, ev);
	case YAML_ALIAS_EVENT:
		return no_alias(r, ev);
	case YAML_SEQUENCE_START_EVENT:
		return take_start(r, LIST, ev);
	case YAML_MAPPING_START_EVENT:
		return take_start(r, MAPPING, ev);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		r->depth--;
		return 0;
	case YAML_STREAM_END_EVENT:
		r->ended = true;
		return 0;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		return 0;
	}
	return 0;
}

/* Whether a tab is among what the line, counted from 0, begins with. */
static bool
tab_indents(const char *text, size_t len, size_t line)
{
	const char *end = text + len;

	while (line > 0 && (text = memchr(text, '\n', (size_t)(end - text))) != NULL) {
		text++;
		line--;
	}
	while (text != NULL && text < end && *text == ' ')
		text++;
	return text != NULL && text < end && *text == '\t';
}

static int
not_yaml(struct reader *r, const char *text, size_t len)
{
	const yaml_parser_t *p = &r->parser;

	if (tab_indents(text, len, p->problem_mark.line)) {
		fail(r->e, ERR_INVALID, p->problem_mark,
			"a tab indents this line, which YAML does not allow");
		return err_fix(r->e, "indent with blanks");
	}
	return fail(r->e, ERR_INVALID, p->problem_mark, "not valid YAML: %s",
		p->problem != NULL ? p->problem : "unknown error");
}

/* Reads the whole text into nodes; the reader is finished by the caller in any case. */
static int
reader_run(struct reader *r, const char *text, size_t len)
{
	if (!yaml_parser_initialize(&r->parser))
		abort();
	if (len > JSON_MAX_BYTES)
		return err_set(r->e, ERR_LIMIT,
			"the document has %zu bytes; at most %u are read", len,
			JSON_MAX_BYTES);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, len);
	while (!r->ended) {
		yaml_event_t ev;
		int rc;

		if (!yaml_parser_parse(&r->parser, &ev))
			return not_yaml(r, text, len);
		rc = take_event(r, &ev);
		yaml_event_delete(&ev);
		if (rc != 0)
			return -1;
	}
	if (r->root == NULL)
		return err_set(
			r->e, ERR_INVALID, "line 1, column 1: the document is empty");
	return 0;
}

/* From nodes to JSON. */
struct maker {
	struct str path; /* JSON pointer of the value being made */
	struct err *e;
};

static int
refuse(struct maker *m, const struct node *n, const char *want)
{
	const char *path = str_text(&m->path);

	if (path[0] == '\0')
		return err_set(m->e, ERR_INVALID,
			"line %zu, column %zu: the document must be %s", n->line,
			n->column, want);
	err_set(m->e, ERR_INVALID, "line %zu, column %zu: \"%.64s\" must be %s", n->line,
		n->column, path + 1, want);
	return err_at(m->e, "%s", path);
}

static size_t
path_push(struct maker *m, const char *name)
{
	size_t before = m->path.len;

	str_puts(&m->path, "/");
	for (; *name != '\0'; name++) {
		if (*name == '~')
			str_puts(&m->path, "~0");
		else if (*name == '/')
			str_puts(&m->path, "~1");
		else
			str_add(&m->path, name, 1);
	}
	return before;
}

static void
path_pop(struct maker *m, size_t before)
{
	m->path.len = before;
	m->path.data[before] = '\0';
}

static bool
is_digits(const char *text)
{
	return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* YAML 1.2.2, 10.3.2: [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
 */
static bool
is_real(const char *text)
{
	size_t whole, part = 0;

	text += *text == '-' || *text == '+';
	whole = strspn(text, "0123456789");
	text += whole;
	if (*text == '.') {
		part = strspn(++text, "0123456789");
		text += part;
	}
	if (whole + part == 0)
		return false;
	if (*text != 'e' && *text != 'E')
		return *text == '\0';
	text++;
	text += *text == '-' || *text == '+';
	return is_digits(text);
}

static bool
one_of(const char *text, const char *a, const char *b, const char *c)
{
	return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

/* The base of a whole number, 0 when text is none. */
static int
base_of(const char *text)
{
	if (is_digits(text + (*text == '-' || *text == '+')))
		return 10;
	if (text[0] != '0' || text[1] == '\0' || text[2] == '\0')
		return 0;
	if (text[1] == 'o' && text[2 + strspn(text + 2, "01234567")] == '\0')
		return 8;
	if (text[1] == 'x' &&
		text[2 + strspn(text + 2, "0123456789abcdefABCDEF")] == '\0')
		return 16;
	return 0;
}

static int
make_whole(struct maker *m, const struct node *n, int base, json_t **ret)
{
	long long x;

	errno = 0;
	x = strtoll(base == 10 ? n->text : n->text + 2, NULL, base);
	if (errno != 0)
		return refuse(m, n, "a number that fits 64 bits");
	*ret = json_integer(x);
	return 0;
}

/* A plain scalar by the core schema, YAML 1.2.2, 10.3. */
static int
make_core(struct maker *m, const struct node *n, json_t **ret)
{
	const char *t = n->text;

	if (t[0] == '\0' || strcmp(t, "~") == 0 || one_of(t, "null", "Null", "NULL"))
		*ret = json_null();
	else if (one_of(t, "true", "True", "TRUE"))
		*ret = json_true();
	else if (one_of(t, "false", "False", "FALSE"))
		*ret = json_false();
	else if (base_of(t) != 0)
		return make_whole(m, n, base_of(t), ret);
	else if (is_real(t))
		*ret = json_real(strtod(t, NULL));
	else
		*ret = json_string(t);
	return *ret != NULL ? 0 : refuse(m, n, "a number that JSON can carry");
}

static int
make_scalar(struct maker *m, const struct node *n, enum yaml_type type, json_t **ret)
{
	if (n->kind != SCALAR)
		return refuse(m, n,
			type == YAML_TEXT    ? "a text"
			: type == YAML_WHOLE ? "a whole number"
					     : "true or false");
	if (type == YAML_TEXT) {
		if (n->plain && n->text[0] == '\0')
			return refuse(m, n, "a text; it has no value");
		*ret = json_string(n->text);
		return 0;
	}
	if (type == YAML_WHOLE) {
		/* a sign is taken: whose range it breaks knows that range */
		if (!n->plain || !is_digits(n->text + (n->text[0] == '-')))
			return refuse(m, n, "a whole number without quotes or unit");
		return make_whole(m, n, 10, ret);
	}
	if (!n->plain || (strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0))
		return refuse(m, n, "true or false");
	*ret = json_boolean(n->text[0] == 't');
	return 0;
}

static int make(struct maker *m, const struct node *n, const struct yaml_member *as,
	json_t **ret);

/* What stands in a list or mapping of a known type whose items are scalars; NULL in core.
 */
static const struct yaml_member text_item = {"", YAML_TEXT, NULL};

static int
make_list(
	struct maker *m, const struct node *n, const struct yaml_member *as, json_t **ret)
{
	struct yaml_member item = {"", YAML_OBJECT, as != NULL ? as->members : NULL};
	const struct yaml_member *each = as == NULL		    ? NULL
					 : as->type == YAML_OBJECTS ? &item
								    : &text_item;
	json_t *list;
	size_t i = 0;

	if (n->kind != LIST)
		return refuse(m, n, "a list");
	list = json_array();
	for (const struct node *c = n->first; c != NULL; c = c->next, i++) {
		char number[24];
		json_t *value = NULL;
		size_t before;

		snprintf(number, sizeof(number), "%zu", i);
		before = path_push(m, number);
		if (make(m, c, each, &value) != 0) {
			json_decref(list);
			return -1;
		}
		path_pop(m, before);
		json_array_append_new(list, value);
	}
	*ret = list;
	return 0;
}

/* Says that a mapping has no such member and which one was probably meant. */
static int
unknown_member(struct maker *m, const struct node *key, const struct yaml_member *members)
{
	const char *names[33];
	size_t n = 0;

	while (n < 32 && members[n].name != NULL) {
		names[n] = members[n].name;
		n++;
	}
	names[n] = NULL;
	err_set(m->e, ERR_INVALID, "line %zu, column %zu: unknown member \"%.64s\"",
		key->line, key->column, key->text);
	err_suggest(m->e, key->text, names);
	return err_at(m->e, "%s/%.64s", str_text(&m->path), key->text);
}

static const struct yaml_member *
member_named(const struct yaml_member *members, const char *name)
{
	for (; members->name != NULL; members++)
		if (strcmp(members->name, name) == 0)
			return members;
	return NULL;
}

/* Checks one key of a mapping and finds the member it means (NULL in core). */
static int
check_key(struct maker *m, const struct node *key, const struct yaml_member *as,
	const json_t *o, const struct yaml_member **ret_member)
{
	if (key->kind != SCALAR) {
		err_set(m->e, ERR_INVALID,
			"line %zu, column %zu: a key must be a plain text", key->line,
			key->column);
		return err_at(m->e, "%s", str_text(&m->path));
	}
	if (key->plain && strcmp(key->text, "<<") == 0) {
		err_set(m->e, ERR_INVALID,
			"line %zu, column %zu: merge keys (<<) are not used here",
			key->line, key->column);
		return err_fix(m->e, "write the members out");
	}
	if (json_object_get(o, key->text) != NULL) {
		err_set(m->e, ERR_INVALID,
			"line %zu, column %zu: \"%.64s\" is there twice", key->line,
			key->column, key->text);
		return err_at(m->e, "%s/%.64s", str_text(&m->path), key->text);
	}
	if (as == NULL)
		*ret_member = NULL;
	else if (as->type == YAML_TEXT_OF)
		*ret_member = &text_item;
	else if ((*ret_member = member_named(as->members, key->text)) == NULL)
		return unknown_member(m, key, as->members);
	return 0;
}

static int
make_mapping(
	struct maker *m, const struct node *n, const struct yaml_member *as, json_t **ret)
{
	json_t *o;

	if (n->kind != MAPPING)
		return refuse(m, n, "a mapping of names to values");
	o = json_object();
	for (const struct node *key = n->first; key != NULL; key = key->next->next) {
		const struct yaml_member *member = NULL;
		json_t *value = NULL;
		size_t before;

		if (check_key(m, key, as, o, &member) != 0)
			goto out;
		before = path_push(m, key->text);
		if (make(m, key->next, member, &value) != 0)
			goto out;
		path_pop(m, before);
		json_put(o, key->text, value);
	}
	*ret = o;
	return 0;
out:
	json_decref(o);
	return -1;
}

/* Makes the value of n; as is NULL in core mode. */
static int
make(struct maker *m, const struct node *n, const struct yaml_member *as, json_t **ret)
{
	if (as == NULL) {
		if (n->kind == LIST)
			return make_list(m, n, NULL, ret);
		if (n->kind == MAPPING)
			return make_mapping(m, n, NULL, ret);
		if (n->plain)
			return make_core(m, n, ret);
		*ret = json_string(n->text);
		return 0;
	}
	switch (as->type) {
	case YAML_TEXT:
	case YAML_WHOLE:
	case YAML_BOOL:
		return make_scalar(m, n, as->type, ret);
	case YAML_TEXTS:
	case YAML_OBJECTS:
		return make_list(m, n, as, ret);
	case YAML_TEXT_OF:
	case YAML_OBJECT:
		return make_mapping(m, n, as, ret);
	}
	abort();
}

int
yaml_to_json(const char *text, size_t len, const struct yaml_member *mode,
	json_t **ret_doc, struct err *e)
{
	struct yaml_member root = {"", YAML_OBJECT, mode};
	struct reader r = {.e = e};
	struct maker m = {.e = e};
	int rc = reader_run(&r, text, len);

	if (rc == 0 && r.root->kind != MAPPING)
		rc = refuse(&m, r.root, "a mapping of names to values");
	if (rc == 0)
		rc = make(&m, r.root, mode != NULL ? &root : NULL, ret_doc);
	str_fini(&m.path);
	reader_fini(&r);
	return rc;
}

/* Cuts the next token off a JSON pointer and undoes its escapes; false at the end. */
static bool
next_token(const char **pointer, char *token, size_t size)
{
	const char *p = *pointer;
	size_t n = 0;

	if (*p != '/')
		return false;
	for (p++; *p != '\0' && *p != '/' && n + 1 < size; p++) {
		token[n] = *p;
		if (*p == '~' && (p[1] == '0' || p[1] == '1'))
			token[n] = *++p == '0' ? '~' : '/';
		n++;
	}
	token[n] = '\0';
	*pointer = p;
	return true;
}

/* The value that a token means within n, and the node to show for it; NULL: none. */
static const struct node *
step_into(const struct node *n, const char *token, const struct node **ret_shown)
{
	unsigned long i = 0;

	if (n->kind == MAPPING) {
		for (const struct node *k = n->first; k != NULL; k = k->next->next) {
			*ret_shown = k;
			if (k->kind == SCALAR && strcmp(k->text, token) == 0)
				return k->next;
		}
		return NULL;
	}
	if (n->kind != LIST || !is_digits(token))
		return NULL;
	for (const struct node *c = n->first; c != NULL; c = c->next) {
		*ret_shown = c;
		if (i++ == strtoul(token, NULL, 10))
			return c;
	}
	return NULL;
}

int
yaml_find(const char *text, size_t len, const char *pointer, size_t *ret_line,
	size_t *ret_column)
{
	struct reader r = {0};
	int rc = reader_run(&r, text, len);
	const struct node *n = rc == 0 ? r.root : NULL;
	const struct node *shown = n;
	char token[128];

	while (n != NULL && next_token(&pointer, token, sizeof(token))) {
		const struct node *at = n;

		n = step_into(n, token, &at);
		if (n != NULL)
			shown = at;
	}
	if (shown != NULL) {
		*ret_line = shown->line;
		*ret_column = shown->column;
	}
	reader_fini(&r);
	return rc;
}
