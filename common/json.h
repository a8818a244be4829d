/*
 * json - jansson with limits on the way in and places in the errors.
 *
 * Every reader takes the JSON pointer `at` of the object it reads from, so that an error
 * names the member ("/drives/2/serial"). Strings returned are borrowed from the document.
 * Unless said otherwise errors are ERR_INVALID with pointer set. Any thread, no shared
 * json_t.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_MAX_BYTES (1U << 20)
#define JSON_MAX_DEPTH 16

struct err;
struct str;

/*
 * json_parse reads one document of at most JSON_MAX_BYTES bytes and JSON_MAX_DEPTH
 * levels, without duplicate members. ERR_LIMIT for size and depth, ERR_INVALID with line
 * and column otherwise. *ret_doc is owned by the caller (json_decref).
 */
int json_parse(const char *text, size_t len, json_t **ret_doc, struct err *e);

/* json_parse_max is json_parse of up to max_bytes, for files that people name. */
int json_parse_max(
	const char *text, size_t len, size_t max_bytes, json_t **ret_doc, struct err *e);

/* json_read_file is json_parse on a file. ERR_NOTFOUND, ERR_IO, or as json_parse. */
int json_read_file(const char *path, json_t **ret_doc, struct err *e);

/* json_write appends the document, compact, members in the order of insertion. */
void json_write(const json_t *doc, struct str *out);

/* json_canonical appends the document, compact, members sorted: what is stored and
 * hashed. */
void json_canonical(const json_t *doc, struct str *out);

/*
 * json_only checks that o is an object with no members but those in the NULL-ended list;
 * an unknown one is an error with the nearest known name as the fix.
 */
int json_only(const json_t *o, const char *at, const char *const names[], struct err *e);

/*
 * json_no_null checks that no member of a document that people write is null, which reads
 * as left out where its schema has no null: `at` is the place of doc, "" for a whole one.
 */
int json_no_null(const json_t *doc, const char *at, struct err *e);

/* The json_need readers want a member; each fails when it is missing or of another type.
 */
int json_need_text(const json_t *o, const char *at, const char *name,
	const char **ret_text, struct err *e);
int json_need_int(const json_t *o, const char *at, const char *name, int64_t min,
	int64_t max, int64_t *ret_n, struct err *e);
int json_need_bool(
	const json_t *o, const char *at, const char *name, bool *ret_b, struct err *e);
int json_need_real(
	const json_t *o, const char *at, const char *name, double *ret_x, struct err *e);
int json_need_array(const json_t *o, const char *at, const char *name, json_t **ret_array,
	struct err *e);
int json_need_object(const json_t *o, const char *at, const char *name,
	json_t **ret_object, struct err *e);
/* json_need_u64 reads a 64-bit counter, which JSON carries as a decimal string. */
int json_need_u64(const json_t *o, const char *at, const char *name, uint64_t *ret_n,
	struct err *e);

/* json_has says whether o has the member and it is not null. */
bool json_has(const json_t *o, const char *name);

/* json_text makes a string of any bytes; those that are no UTF-8 become '?'. New
 * reference.
 */
json_t *json_text(const char *text);

/* json_finite makes a number, or null of what is none. New reference. */
json_t *json_finite(double x);

/* json_u64 makes the decimal string of a 64-bit counter. New reference. */
json_t *json_u64(uint64_t n);

/* json_text_of returns a string member or "" when it is missing or no string; never
 * fails. */
const char *json_text_of(const json_t *o, const char *name);

/* json_put sets a member and takes the reference of value; value must not be NULL. */
void json_put(json_t *o, const char *name, json_t *value);

#endif
