/*
 * report - what an agent says in one reconcile, read and checked.
 *
 * Pure; trusts no member of the document.
 */
#ifndef CONTROLLER_REPORT_H
#define CONTROLLER_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/seal.h"
#include "controller/drives.h"

struct err;

#define REPORT_DRIVES_MAX 1024
#define REPORT_ATTEMPTS_MAX 4096
#define REPORT_WAIT_S_MAX 25

/* The protocol versions that this controller speaks. */
#define REPORT_PROTOCOL_MIN 1
#define REPORT_PROTOCOL_MAX 1

enum reported_state { REPORTED_STARTING, REPORTED_RUNNING, REPORTED_EXITED };

struct reported_attempt {
	int64_t id;
	uint64_t fence;
	enum reported_state state;
	const char *cannot_stop; /* what goes on although it is told to stop, "" for
				    nothing */
};

/* One that the node was asked for and does not have. */
struct reported_unknown {
	int64_t id;
	uint64_t fence;
};

/* Texts are borrowed from the document. */
struct report {
	const char *boot_id;
	const char *version;
	const char *trouble; /* what keeps the node from taking runs, "" for nothing */
	int64_t protocol_min, protocol_max;
	bool has_session;
	uint8_t session[SEAL_SESSION_BYTES];
	int64_t wait_s;		 /* 0..REPORT_WAIT_S_MAX */
	struct sighting *drives; /* owned */
	size_t n_drives;
	struct reported_attempt *attempts; /* owned, by rising id, each once */
	size_t n_attempts;
	struct reported_unknown *unknown; /* owned */
	size_t n_unknown;
	uint64_t epoch_seen; /* the highest, also of the fences */
	uint64_t fence;	     /* the highest of its drives, 0 for none */
	bool has_clock;	     /* it knows how far its wall clock is from ours */
	int64_t clock_ahead_ns, clock_doubt_ns; /* so far ahead, +- */
};

/*
 * report_parse reads the body of a reconcile. *ret_r is owned (report_fini), also after
 * an error. ERR_INVALID with pointer, ERR_LIMIT.
 */
int report_parse(const json_t *doc, struct report *ret_r, struct err *e);

/* report_fini frees what r owns. */
void report_fini(struct report *r);

/* report_find returns what is reported of an attempt, NULL when it is not listed. */
const struct reported_attempt *report_find(const struct report *r, int64_t attempt);

/*
 * report_disowns says whether the node has read an answer of ours that names this attempt
 * with this token, and does not know it.
 */
bool report_disowns(const struct report *r, int64_t attempt, uint64_t fence);

#endif
