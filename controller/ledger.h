/*
 * ledger - what each drive went through, as far as the lab knows: purged, filled, written
 * to, and whatever cannot be explained.
 *
 * Rows are only added, but for those of what has no record of its end, which that record
 * replaces when it comes late. Those of an attempt come from its records and stand in the
 * order of their numbers, however late they arrive; the others stand behind the latest
 * attempt at the drive. Inside jobs.
 */
#ifndef CONTROLLER_LEDGER_H
#define CONTROLLER_LEDGER_H

#include <jansson.h>
#include <stdint.h>

struct err;
struct origin;
struct tx;

/* ledger_event adds what an event record with that number says of the drive, if
 * anything. doc: the event's. ERR_STORE, ERR_FULL. */
int ledger_event(struct tx *t, const struct origin *o, uint64_t seq, const json_t *doc,
	struct err *e);

/* ledger_point adds what a finished point has written or trimmed, if anything. doc: its
 * JSON. ERR_STORE, ERR_FULL. */
int ledger_point(struct tx *t, const struct origin *o, uint64_t seq, const json_t *doc,
	struct err *e);

/* ledger_unknown adds that something may have happened to a drive that is not known; why
 * is a sentence. ERR_STORE, ERR_FULL. */
int ledger_unknown(struct tx *t, int64_t drive, const char *why, struct err *e);

/* Where a row of an attempt stands, and what it counts. */
struct ledger_place {
	uint64_t seq; /* of a record */
	int64_t at_ns;
	uint64_t written; /* bytes */
};

/* ledger_doubt adds an unknown row to an attempt. Takes detail: "why", a sentence,
 * "step", and the "point" unless it was a purge. ERR_STORE, ERR_FULL. */
int ledger_doubt(struct tx *t, const struct origin *o, const struct ledger_place *p,
	json_t *detail, struct err *e);

/* ledger_lost adds an unknown row behind all records of an attempt. ERR_STORE, ERR_FULL.
 */
int ledger_lost(struct tx *t, const struct origin *o, const char *why, struct err *e);

/* ledger_repeat adds why an attempt prepares its drive anew, before all its records.
 * what: "fill", or "purge and fill". ERR_STORE, ERR_FULL. */
int ledger_repeat(
	struct tx *t, int64_t attempt, const char *what, const char *why, struct err *e);

/* ledger_json reads one row as its REST document. ERR_NOTFOUND. New reference. */
int ledger_json(struct tx *t, int64_t row, json_t **ret_doc, struct err *e);

/*
 * ledger_summary reads what a drive last went through: "purged" and "filled" (the latest
 * of both, or null), "last_pattern" (null after what is not known, and after a purge that
 * did not come to its end), and "written_bytes" since it was purged, or in all.
 * ERR_STORE. New reference.
 */
int ledger_summary(struct tx *t, int64_t drive, json_t **ret_doc, struct err *e);

/* ledger_of_run reads how a run prepared its drive: the rows of purges and fills of all
 * its attempts, and of those that were not needed, or were all the same. ERR_STORE. New
 * reference. */
int ledger_of_run(struct tx *t, int64_t run, json_t **ret_list, struct err *e);

#endif
