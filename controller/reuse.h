/*
 * reuse - whether the purge and fill at the start of a program are needed, by the ledger
 * of the drive, for campaigns that ask (docs/adr/0020).
 *
 * What the ledger proves is only half of it: the step is skipped when the runner finds
 * the drive as the ledger says. Inside jobs.
 */
#ifndef CONTROLLER_REUSE_H
#define CONTROLLER_REUSE_H

#include <stdint.h>

struct err;
struct program;
struct tx;

/*
 * reuse_apply gives the first purge and fill of p, compiled for that attempt at a drive,
 * a condition under which its runner skips them, or adds to the ledger why they are
 * repeated. ERR_STORE, ERR_FULL.
 */
int reuse_apply(
	struct tx *t, int64_t drive, int64_t attempt, struct program *p, struct err *e);

/*
 * reuse_plan says what reuse_apply would do now, as a sentence for people; "" when p does
 * not prepare the drive. Owned by the caller. ERR_STORE.
 */
int reuse_plan(struct tx *t, int64_t drive, const struct program *p, char **ret_text,
	struct err *e);

#endif
