/*
 * document - a file as a person wrote it, YAML or JSON: read, compiled to JSON, and where
 * in the file an error stands. One thread for each.
 */
#ifndef COMMON_DOCUMENT_H
#define COMMON_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "common/str.h"
#include "common/yaml.h"

struct err;

struct document {
	const char *name; /* of the file, "stdin" for "-"; borrowed */
	struct str text;  /* as read */
	json_t *doc;	  /* what it says */
};

/*
 * document_read reads path: strict YAML, or JSON when its name ends in .json or (from
 * stdin) its text starts with '{'. members are those that the YAML may have
 * (yaml_to_json). ret_d is owned (document_fini), also after an error. ERR_NOTFOUND,
 * ERR_IO, ERR_LIMIT, ERR_INVALID with the place.
 */
int document_read(const char *path, const struct yaml_member *members,
	struct document *ret_d, struct err *e);

/*
 * document_text reads path, or stdin for "-", as it is. *ret_text is owned, also after an
 * error. ERR_NOTFOUND, ERR_IO, ERR_LIMIT for more than max_bytes.
 */
int document_text(
	const char *path, size_t max_bytes, struct str *ret_text, struct err *e);

/*
 * document_place puts "FILE:LINE:COLUMN: " before the sentence of an error whose pointer
 * is known in the file, else "FILE: ". Returns -1.
 */
int document_place(const struct document *d, struct err *e);

/* document_fini frees what d owns. */
void document_fini(struct document *d);

#endif
