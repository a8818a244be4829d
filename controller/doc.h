/*
 * doc - what the REST documents of the resources have in common.
 *
 * Any thread; no shared json_t.
 */
#ifndef CONTROLLER_DOC_H
#define CONTROLLER_DOC_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct api_call;
struct cur;
struct err;
struct tx;

/* doc_stored reads text that we wrote ourselves; null when it is not JSON. New reference.
 */
json_t *doc_stored(const char *text);

/* doc_int makes a number of a column, or null of NULL. New reference. */
json_t *doc_int(struct cur *c, int col);

/* doc_text writes doc, members sorted, as a string owned by the caller. Takes doc. */
char *doc_text(json_t *doc) __attribute__((warn_unused_result));

/* Reads one object by its number as its REST document. */
typedef int doc_fn(struct tx *t, int64_t id, json_t **ret_doc, struct err *e);

/*
 * doc_page answers a list: the documents of the ids in ids (first column, one row more
 * than limit when there is more), next_cursor, ETag. Closes ids.
 */
int doc_page(struct tx *t, struct api_call *c, struct cur *ids, int64_t limit, doc_fn *fn,
	struct err *e);

/* doc_tag sets the ETag of c->doc, a hash of it: equal answers, equal tags. */
void doc_tag(struct api_call *c);

/* doc_answer answers one object with its ETag. */
int doc_answer(struct tx *t, struct api_call *c, int64_t id, doc_fn *fn, struct err *e);

/*
 * doc_need_body checks that the request has a body with no other members than names
 * (NULL-ended). ERR_INVALID.
 */
int doc_need_body(const struct api_call *c, const char *const names[], struct err *e);

/*
 * doc_need_reason reads the member "reason" of the body: 1 to 500 bytes, for the record.
 * Borrowed from the body. ERR_INVALID.
 */
int doc_need_reason(const struct api_call *c, const char **ret_reason, struct err *e);

/*
 * doc_node_ref reads a node by id ("n3") or name, as query parameters give it: its
 * number. ERR_NOTFOUND.
 */
int doc_node_ref(struct tx *t, const char *text, int64_t *ret_node, struct err *e);

/* doc_missing says that there is no such thing, letter 'c' for a campaign, 'd' for a
 * drive, 'r' for a run, and what lists those that there are: ERR_NOTFOUND. Returns -1. */
int doc_missing(char letter, int64_t id, struct err *e);

/*
 * doc_exists checks that a query names something: letter 'c' for a campaign, 'd' for a
 * drive; id 0 stands for a filter that is not given. ERR_NOTFOUND with a fix.
 */
int doc_exists(struct tx *t, char letter, int64_t id, struct err *e);

/* doc_label splits "key:value" at the first colon; both are owned by the caller (free).
 * ERR_INVALID. */
int doc_label(const char *text, char **ret_key, char **ret_value, struct err *e);

/* doc_time reads an RFC 3339 time in UTC ("2026-11-30T12:00:00Z") or a day. ERR_INVALID.
 */
int doc_time(const char *name, const char *text, int64_t *ret_wall_ns, struct err *e);

#endif
