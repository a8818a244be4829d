/*
 * fact - what one record says, and what that changes in the tables.
 *
 * Events and points make rows of table point, results end an attempt, gaps and whatever
 * is not understood raise an alarm that people see. Inside write jobs.
 */
#ifndef CONTROLLER_FACT_H
#define CONTROLLER_FACT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/record.h"
#include "common/spool.h"

struct err;
struct tx;

/* Whose records these are. */
struct origin {
	int64_t attempt, run, campaign;
};

struct fact {
	enum record_kind kind;
	uint64_t seq;
	uint32_t point; /* that the record belongs to, 0 for none */
	bool understood;
	char why[160];		 /* why not */
	json_t *doc;		 /* of all kinds but samples; owned */
	struct point_record *pr; /* of a point; owned, its meta is doc */
	uint64_t from, to;	 /* of a gap */
};

/*
 * fact_read reads a record. It does not fail: what is not understood is kept as bytes and
 * told as an alarm. Owned by the caller; fact_fini.
 */
void fact_read(struct fact *ret_f, const struct spool_record *rec);

/* fact_apply changes what f changes; for each record once. ERR_STORE, ERR_FULL. */
int fact_apply(struct tx *t, const struct origin *o, const struct fact *f, struct err *e);

/* fact_fini frees what f owns. */
void fact_fini(struct fact *f);

/*
 * fact_gap reads the bounds of the payload of a gap record with this seq; false when it
 * names no range that begins at or before it.
 */
bool fact_gap(const json_t *doc, uint64_t seq, uint64_t *ret_from, uint64_t *ret_to);

/* fact_counts reads a counter of the record of a point, "ops" or "bytes", of all
 * operations; fact_length_ns its measured time, 0 when not known. */
void fact_counts(const json_t *doc, const char *name, uint64_t ret_n[DIRECTIONS]);
int64_t fact_length_ns(const json_t *doc);

/*
 * fact_alarm adds the event run.alarm: what is a word ("gap", "conflict", "malformed"),
 * text a sentence. ERR_STORE, ERR_FULL.
 */
int fact_alarm(struct tx *t, const struct origin *o, const char *what, uint64_t seq,
	const char *text, struct err *e);

#endif
