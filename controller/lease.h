/*
 * lease - who may write to which drive: at most one attempt a drive, ever.
 *
 * A lease has no end of its own. It is released by evidence that nothing writes any more
 * and by nothing else; where evidence is missing the drive is fenced. A partial UNIQUE
 * index makes two leases of one drive impossible whatever the code above does. The fence
 * token grows with each grant of the lab and is stored before anybody is told. Called
 * inside write jobs.
 */
#ifndef CONTROLLER_LEASE_H
#define CONTROLLER_LEASE_H

#include <stdint.h>

struct err;
struct tx;

/* lease_token makes the next fence token: epoch << 32 | counter, larger than any before.
 */
int lease_token(struct tx *t, uint64_t *ret_fence, struct err *e);

/*
 * lease_raise makes later tokens larger than fence, which an agent has seen: its drives
 * refuse smaller ones.
 */
int lease_raise(struct tx *t, uint64_t fence, struct err *e);

/* lease_epoch returns the epoch of the largest token, or this start's when that is
 * higher.
 */
int lease_epoch(struct tx *t, uint64_t *ret_epoch, struct err *e);

/* lease_grant gives an idle drive to an attempt. ERR_STATE when it is not idle. */
int lease_grant(
	struct tx *t, int64_t drive, int64_t attempt, const char *actor, struct err *e);

/*
 * lease_release ends the lease of an attempt; evidence says why nothing writes to the
 * drive any more, and is never empty. Nothing happens when it was released before.
 */
int lease_release(struct tx *t, int64_t attempt, const char *evidence, const char *actor,
	struct err *e);

/*
 * lease_fence closes the drive of an attempt to everybody until there is evidence. Takes
 * the lease again when it had been released and the drive is free.
 */
int lease_fence(
	struct tx *t, int64_t attempt, const char *why, const char *actor, struct err *e);

/* lease_quarantine keeps further runs from a drive that failed, if it is idle. */
int lease_quarantine(
	struct tx *t, int64_t drive, const char *why, const char *actor, struct err *e);

/*
 * lease_release_drive is lease_release by a person, for a drive that is fenced,
 * quarantined, or leased on a node that is lost; an attempt that held it is lost.
 * ERR_STATE otherwise.
 */
int lease_release_drive(struct tx *t, int64_t drive, const char *evidence,
	const char *actor, struct err *e);

#endif
