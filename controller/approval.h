/*
 * approval - what people allow to be done to a drive, and the end of it.
 *
 * An approval is looked at when a run is granted its drive, again when its node is told
 * what to do, and when it is withdrawn: what it no longer covers is stopped, not waited
 * for. Called inside store jobs.
 */
#ifndef CONTROLLER_APPROVAL_H
#define CONTROLLER_APPROVAL_H

#include <stdint.h>

#include "controller/drives.h"

struct err;
struct tx;

/*
 * approval_change is drive_admin_change (reason: why, noted with the drive); a run that
 * has the drive and does what is not allowed any more is asked to end in the same
 * transaction, as by run_cancel. ERR_STATE, ERR_NOTFOUND.
 */
int approval_change(struct tx *t, int64_t drive, enum drive_admin_event ev,
	const char *reason, const char *actor, struct err *e);

/*
 * approval_covers says whether the drive of an attempt is approved for its program now:
 * 1, 0, or -1. A program that cannot be read is taken for one that writes.
 */
int approval_covers(struct tx *t, int64_t attempt, struct err *e);

#endif
