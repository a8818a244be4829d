/*
 * ingest - a batch of records becomes rows, exactly once.
 *
 * Delivery is at least once and in any order (live records come before the backlog). A
 * record is stored under (attempt, seq); the same again changes nothing; the same seq
 * with other content is refused, kept aside and told as an alarm. acked_seq of the
 * attempt is the highest seq up to which nothing is missing. Inside write jobs; knows no
 * network.
 */
#ifndef CONTROLLER_INGEST_H
#define CONTROLLER_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire.h"

struct err;
struct tx;

/* The payload of an authentic RECORDS message. */
struct ingest_batch {
	int64_t node; /* whose session it came by */
	const uint8_t *payload;
	size_t len;
	bool repeat; /* the message was handled before: answer, do not store */
};

/* The newest sample of a batch, for the live page. */
struct ingest_live {
	int64_t run;
	uint64_t seq;
	const uint8_t *payload; /* within the batch; NULL: none */
	size_t len;
	char workload[64];
	double load_percent, offered_iops; /* NAN: the uncontrolled maximum, or not known
					    */
};

struct ingest_answer {
	uint64_t attempt;    /* 0 when not even that was readable */
	enum wire_nack nack; /* 0: acknowledge */
	uint64_t acked;	     /* highest contiguous seq, once the job has committed */
	uint32_t stored;     /* new records */
	uint32_t duplicates;
	uint32_t refused; /* kept aside */
	struct ingest_live live;
};

/*
 * ingest_batch stores what is new of a batch and fills the answer, which is to be sent
 * after the commit only. Errors, with which nothing is stored and nothing may be
 * acknowledged: ERR_INVALID for bytes that are no batch (to be answered with
 * WIRE_NACK_FORMAT), ERR_STORE, ERR_FULL.
 */
int ingest_batch(struct tx *t, const struct ingest_batch *b, struct ingest_answer *ret_a,
	struct err *e);

/*
 * ingest_complete says whether the records of an attempt are complete: 1 when its result
 * is stored and nothing before it is missing, 0 when not, -1: ERR_STORE.
 */
int ingest_complete(struct tx *t, int64_t attempt, struct err *e);

#endif
