/*
 * suites - the suites that the lab knows: named, versioned, immutable.
 *
 * Called inside store jobs.
 */
#ifndef CONTROLLER_SUITES_H
#define CONTROLLER_SUITES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct err;
struct suite;
struct tx;

/*
 * suites_add stores a suite document under its name and version. *ret_new is false when
 * the very same is there already. ERR_STATE when that name and version has other content,
 * ERR_INVALID with pointer for a document that is no suite.
 */
int suites_add(
	struct tx *t, const json_t *doc, int64_t *ret_id, bool *ret_new, struct err *e);

/*
 * suites_find looks up "four-corners@1": ERR_NOTFOUND with the names of those there are.
 * *ret_s is filled unless NULL.
 */
int suites_find(struct tx *t, const char *ref, int64_t *ret_id, struct suite *ret_s,
	struct err *e);

/*
 * suites_check checks that a suite is stored: "name@version", or "name" of any version;
 * NULL stands for a filter that is not given. ERR_NOTFOUND with the names of those there
 * are.
 */
int suites_check(struct tx *t, const char *ref, struct err *e);

/* suites_json reads one suite as its REST document, with its own when whole is set. */
int suites_json(struct tx *t, int64_t id, bool whole, json_t **ret_doc, struct err *e);

/*
 * suites_load is the job that adds each *.json of a directory, at the start of the
 * controller. A file that is no suite, or differs from what is stored, is logged and left
 * out. A store_fn; arg is the path of the directory.
 */
int suites_load(struct tx *t, void *arg, struct err *e);

#endif
