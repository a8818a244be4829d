/*
 * purge - erases a whole drive through its verified descriptor, and reads back whether it
 * did.
 *
 * What blocks is done on a thread of its own, so that the caller goes on answering. Which
 * method it is and what counts as purged, purge_plan says. The identity of the drive is
 * the caller's to look at, before and after: a format may change it. One thread.
 */
#ifndef RUNNER_PURGE_H
#define RUNNER_PURGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runner/purge_plan.h"

struct drive_id;
struct err;

struct purge_job {
	int fd; /* for writing; exclusive, verified */
	const struct drive_id *drive;
	uint64_t seed; /* of the places that are read back */
	/* tick is called at least 10 times a second; false: to stop. */
	bool (*tick)(void *arg);
	/* on_hold is called as often while a method runs that cannot be stopped; part of
	 * it is done, 0..1, or negative when nobody knows. NULL: nobody wants to know. */
	void (*on_hold)(void *arg, enum purge_method method, double part);
	void *arg;
};

enum purge_end { PURGE_DONE, PURGE_STOPPED, PURGE_FAILED };

struct purge_report {
	enum purge_end end;
	struct purge_choice choice;
	int64_t took_ns;	/* of the method alone */
	uint64_t written_bytes; /* zeroes that were written, or told to be */
	bool sampled;		/* the next two are known */
	uint32_t block_bytes;
	struct purge_seen seen;
};

/* purge_look asks the drive what it offers and chooses. Changes nothing on it. ERR_IO
 * when there is no method. */
int purge_look(const struct purge_job *j, struct purge_choice *ret_c, struct err *e);

/*
 * purge_run purges by the method chosen. When told to stop it ends soon, with a part of
 * the drive erased; a sanitize or format is waited for, because it cannot be ended. The
 * end is ret_r->end, with e filled for PURGE_FAILED: ERR_IO where the drive is to blame.
 */
void purge_run(const struct purge_job *j, const struct purge_choice *c,
	struct purge_report *ret_r, struct err *e);

/* purge_choice_json sets "method" and "passed_over" of o, purge_report_json the other
 * members of purge.end in schema/wire.md. */
void purge_choice_json(const struct purge_choice *c, json_t *o);
void purge_report_json(const struct purge_report *r, json_t *o);

#endif
