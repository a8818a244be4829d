/*
 * environment - the machines that runs ran on: manifests, stored once under their hash.
 *
 * A manifest is what a runner tells (schema/wire.md, "Environment"). Inside store jobs.
 */
#ifndef CONTROLLER_ENVIRONMENT_H
#define CONTROLLER_ENVIRONMENT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct str;
struct tx;

/* The largest manifest that is kept, canonical, bytes. */
#define ENVIRONMENT_MAX_BYTES 65536

/*
 * environment_note stores the manifest unless it is there, and notes that the attempt ran
 * in it; the first one that an attempt tells stays. Errors: ERR_INVALID for no object,
 * ERR_LIMIT for one that is too large, ERR_STORE, ERR_FULL.
 */
int environment_note(
	struct tx *t, int64_t attempt, const json_t *manifest, struct err *e);

/* environment_json makes the REST document of the environment with that number. */
int environment_json(struct tx *t, int64_t id, json_t **ret_doc, struct err *e);

/* environment_of returns {hash, summary} of the attempt, or null. New reference. */
int environment_of(struct tx *t, int64_t attempt, json_t **ret_doc, struct err *e);

/* environment_summary appends one line: kernel, processor, scheduler, link. */
void environment_summary(const json_t *manifest, struct str *out);

/* Attempts; ids are borrowed. */
struct environment_set {
	const int64_t *ids;
	size_t n;
};

/*
 * environment_differs appends to list an object {what, a, b} for each member in which
 * the manifests of two sets of attempts differ: "environment.kernel.release" with the
 * values of each side, joined with commas; "-" for a member that is not there. Nothing
 * when a side has no manifest at all. ERR_STORE.
 */
int environment_differs(struct tx *t, const struct environment_set *a,
	const struct environment_set *b, json_t *list, struct err *e);

#endif
