/*
 * yaml - strict YAML to JSON; the only user of libyaml.
 *
 * Read is one document that is a mapping, of at most JSON_MAX_BYTES bytes. Refused with
 * line and column: tags, anchors, aliases, directives, merge keys, keys that are no
 * scalars, duplicate keys, a second document, more than YAML_DEPTH_MAX levels or
 * YAML_VALUES_MAX values. Any thread.
 */
#ifndef COMMON_YAML_H
#define COMMON_YAML_H

#include <jansson.h>
#include <stddef.h>

struct err;

#define YAML_DEPTH_MAX 48
#define YAML_VALUES_MAX 100000

enum yaml_type {
	YAML_TEXT,    /* any scalar, as written: `no` and `1.20` stay texts */
	YAML_WHOLE,   /* a whole decimal number without quotes */
	YAML_BOOL,    /* true or false without quotes */
	YAML_TEXTS,   /* a list of texts */
	YAML_TEXT_OF, /* a mapping of any names to texts */
	YAML_OBJECT,  /* a mapping with the members below */
	YAML_OBJECTS, /* a list of such mappings */
};

/* A member that a mapping may have; a list of them ends with a row without a name. */
struct yaml_member {
	const char *name;
	enum yaml_type type;
	const struct yaml_member *members; /* of YAML_OBJECT and YAML_OBJECTS, else NULL
					    */
};

/* The mode without a list of members: any name, plain scalars get YAML 1.2 core types. */
#define YAML_CORE ((const struct yaml_member *)NULL)

/*
 * yaml_to_json reads a document whose root has the members of mode, or is of any shape
 * for YAML_CORE. *ret_doc is owned by the caller (json_decref). ERR_LIMIT for size,
 * depth and values, otherwise ERR_INVALID; the sentence starts with "line L,
 * column C: ", pointer and fix are set where there is one.
 */
int yaml_to_json(const char *text, size_t len, const struct yaml_member *mode,
	json_t **ret_doc, struct err *e);

/*
 * yaml_find tells where the JSON pointer stands in the text: line and column (from 1) of
 * the key of a member or of the item of a list, or of the nearest one above it that is
 * there. JSON documents will do as well. -1 when the text cannot be read.
 */
int yaml_find(const char *text, size_t len, const char *pointer, size_t *ret_line,
	size_t *ret_column);

#endif
