/*
 * The first byte chooses the mode: C is core types, anything else is a list of members.
 * What is accepted is an object whose members have their types and a place in the text.
 */
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/yaml.h"
#include "tests/fuzz/fuzz.h"

static const struct yaml_member item[] = {
	{"serial", YAML_TEXT, NULL},
	{0},
};

static const struct yaml_member members[] = {
	{"name", YAML_TEXT, NULL},
	{"repeats", YAML_WHOLE, NULL},
	{"paused", YAML_BOOL, NULL},
	{"workloads", YAML_TEXTS, NULL},
	{"labels", YAML_TEXT_OF, NULL},
	{"drives", YAML_OBJECTS, item},
	{0},
};

static void
check_types(const json_t *doc)
{
	static const json_type types[] = {JSON_STRING, JSON_INTEGER, JSON_TRUE,
		JSON_ARRAY, JSON_OBJECT, JSON_ARRAY};

	for (size_t i = 0; members[i].name != NULL; i++) {
		const json_t *v = json_object_get(doc, members[i].name);

		MUST(v == NULL || json_typeof(v) == types[i] ||
			(types[i] == JSON_TRUE && json_is_false(v)));
	}
}

static void
check_places(json_t *doc, const char *text, size_t len)
{
	const char *name;
	json_t *value;

	json_object_foreach (doc, name, value) {
		size_t line = 0, column = 0;
		struct str pointer = {0};

		str_puts(&pointer, "/");
		for (const char *p = name; *p != '\0'; p++)
			str_puts(&pointer, *p == '~'   ? "~0"
					   : *p == '/' ? "~1"
						       : (char[]){*p, '\0'});
		MUST(yaml_find(text, len, str_text(&pointer), &line, &column) == 0);
		MUST(line > 0 && column > 0);
		str_fini(&pointer);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct yaml_member *mode = members;
	struct err e = {0};
	json_t *doc = NULL;
	const char *text;

	if (size < 1 || size > 65536)
		return 0;
	if (data[0] == 'C')
		mode = YAML_CORE;
	text = (const char *)data + 1;
	if (yaml_to_json(text, size - 1, mode, &doc, &e) != 0) {
		MUST(doc == NULL);
		MUST(e.class == ERR_INVALID || e.class == ERR_LIMIT);
		MUST(strncmp(e.text, "line ", 5) == 0);
		return 0;
	}
	MUST(e.class == ERR_NONE && json_is_object(doc));
	if (mode != YAML_CORE)
		check_types(doc);
	if (json_object_size(doc) < 50)
		check_places(doc, text, size - 1);
	json_decref(doc);
	return 0;
}
