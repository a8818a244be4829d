/*
 * told_rig - what a runner has told: the records in its spool, samples left out.
 *
 * Include it in one file per program.
 */
#ifndef TESTS_UNIT_TOLD_RIG_H
#define TESTS_UNIT_TOLD_RIG_H

#include <jansson.h>

#include "common/json.h"
#include "common/record.h"
#include "common/spool.h"
#include "tests/unit/unit.h"

#define RECORDS_MAX 512

static struct {
	enum record_kind kind;
	uint64_t seq;
	json_t *doc;
} records[RECORDS_MAX];
static int n_records, n_samples;
static uint64_t last_seq;
static bool holes; /* in the sequence */

static inline void
keep_record(const struct spool_record *rec)
{
	static struct point_record p;
	struct err e = {0};
	json_t *doc = NULL;

	holes = holes || rec->seq != last_seq + 1;
	last_seq = rec->seq;
	if (rec->kind == RECORD_SAMPLE) {
		n_samples++;
		return;
	}
	if (rec->kind == RECORD_POINT) {
		OK(point_decode(&p, rec->payload, rec->len, &e));
		doc = p.meta;
	} else {
		OK(json_parse((const char *)rec->payload, rec->len, &doc, &e));
	}
	ck_assert_int_lt(n_records, RECORDS_MAX);
	records[n_records].kind = rec->kind;
	records[n_records].seq = rec->seq;
	records[n_records++].doc = doc;
}

/* told_none begins without a record. */
static inline void
told_none(void)
{
	n_records = n_samples = 0;
	last_seq = 0;
	holes = false;
}

/* told_read adds all that is in a spool. */
static inline void
told_read(const char *dir)
{
	struct spool_reader *reader = NULL;
	struct spool_record rec;
	struct err e = {0};

	OK(spool_reader_open(&reader, dir, 1, &e));
	while (spool_reader_next(reader, &rec, &e) == 1)
		keep_record(&rec);
	spool_reader_close(reader);
	ck_assert_msg(!holes, "there is a hole in the sequence");
}

/* told_remove frees what was read, and removes the spool. */
static inline void
told_remove(const char *dir)
{
	struct err e = {0};

	for (int i = 0; i < n_records; i++)
		json_decref(records[i].doc);
	OK(spool_remove(dir, &e));
}

/* The nth POINT record, from 1. */
static inline json_t *
point(int n)
{
	for (int i = 0; i < n_records; i++)
		if (records[i].kind == RECORD_POINT && --n == 0)
			return records[i].doc;
	return NULL;
}

static inline double
number(const json_t *o, const char *name)
{
	return json_number_value(json_object_get(o, name));
}

#endif
