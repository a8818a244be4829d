/*
 * yaml2json - turns the YAML of schema/openapi.yaml into JSON at build time.
 *
 * Reads standard input, writes standard output. Plain scalars are null, booleans and
 * numbers as in YAML's core schema, and texts; anchors, tags, several documents and keys
 * that come twice are errors. Knows nothing of ssdlab.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static yaml_parser_t parser;

static void __attribute__((noreturn)) die(const char *why, yaml_mark_t at)
{
	fprintf(stderr, "yaml2json: line %zu, column %zu: %s\n", at.line + 1,
		at.column + 1, why);
	exit(1);
}

static void
next(yaml_event_t *ret_event)
{
	if (!yaml_parser_parse(&parser, ret_event))
		die(parser.problem != NULL ? parser.problem : "not YAML",
			parser.problem_mark);
}

static json_t *
number(const char *text)
{
	char *end;
	long long n = strtoll(text, &end, 10);
	double x;

	if (text[0] == '\0' || strchr("+-.0123456789", text[0]) == NULL)
		return NULL;
	if (*end == '\0')
		return json_integer(n);
	x = strtod(text, &end);
	return *end == '\0' ? json_real(x) : NULL;
}

static json_t *
scalar(const yaml_event_t *ev)
{
	const char *text = (const char *)ev->data.scalar.value;
	json_t *v = NULL;

	if (ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
		if (strcmp(text, "null") == 0 || strcmp(text, "~") == 0 ||
			text[0] == '\0')
			v = json_null();
		else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
			v = json_boolean(text[0] == 't');
		else
			v = number(text);
	}
	if (v == NULL)
		v = json_string(text);
	if (v == NULL)
		die("not UTF-8", ev->start_mark);
	return v;
}

static json_t *value(yaml_event_t *ev);

static json_t *
mapping(void)
{
	json_t *o = json_object();
	yaml_event_t ev;

	for (next(&ev); ev.type != YAML_MAPPING_END_EVENT; next(&ev)) {
		yaml_event_t inner;
		const char *key;

		if (ev.type != YAML_SCALAR_EVENT)
			die("a key must be a text", ev.start_mark);
		key = (const char *)ev.data.scalar.value;
		if (json_object_get(o, key) != NULL)
			die("this key came before", ev.start_mark);
		next(&inner);
		json_object_set_new(o, key, value(&inner));
		yaml_event_delete(&ev);
	}
	yaml_event_delete(&ev);
	return o;
}

static json_t *
sequence(void)
{
	json_t *list = json_array();
	yaml_event_t ev;

	for (next(&ev); ev.type != YAML_SEQUENCE_END_EVENT; next(&ev))
		json_array_append_new(list, value(&ev));
	yaml_event_delete(&ev);
	return list;
}

/* Takes the event that a value starts with. */
static json_t *
value(yaml_event_t *ev)
{
	yaml_mark_t at = ev->start_mark;
	json_t *v = NULL;

	switch ((int)ev->type) {
	case YAML_SCALAR_EVENT:
		v = scalar(ev);
		break;
	case YAML_MAPPING_START_EVENT:
		v = mapping();
		break;
	case YAML_SEQUENCE_START_EVENT:
		v = sequence();
		break;
	default:
		die("anchors are not understood here", at);
	}
	yaml_event_delete(ev);
	return v;
}

static void
expect(yaml_event_type_t type, const char *what)
{
	yaml_event_t ev;

	next(&ev);
	if (ev.type != type)
		die(what, ev.start_mark);
	yaml_event_delete(&ev);
}

int
main(void)
{
	yaml_event_t ev;
	json_t *doc;
	int rc;

	if (!yaml_parser_initialize(&parser))
		return 1;
	yaml_parser_set_input_file(&parser, stdin);
	expect(YAML_STREAM_START_EVENT, "not YAML");
	expect(YAML_DOCUMENT_START_EVENT, "empty");
	next(&ev);
	doc = value(&ev);
	expect(YAML_DOCUMENT_END_EVENT, "not the end");
	expect(YAML_STREAM_END_EVENT, "more than one document");
	rc = json_dumpf(doc, stdout, JSON_COMPACT);
	json_decref(doc);
	yaml_parser_delete(&parser);
	return rc == 0 && fflush(stdout) == 0 ? 0 : 1;
}
