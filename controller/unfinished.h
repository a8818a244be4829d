/*
 * unfinished - what an attempt had begun and never told the end of: its runner was
 * killed, its node went away, or the record was lost. Inside write jobs.
 */
#ifndef CONTROLLER_UNFINISHED_H
#define CONTROLLER_UNFINISHED_H

#include <stdint.h>

struct err;
struct tx;

/*
 * unfinished_note adds an unknown row to the ledger for each point and purge of an
 * attempt that has ended which began and has no record of its end, with the bytes that
 * the samples tell of; points that only read are left out. Once for each attempt.
 * ERR_STORE, ERR_FULL.
 */
int unfinished_note(struct tx *t, int64_t attempt, struct err *e);

/* unfinished_lose is unfinished_note for an attempt that is lost: it adds that what came
 * behind its records is not known, either. ERR_STORE, ERR_FULL. */
int unfinished_lose(struct tx *t, int64_t attempt, struct err *e);

#endif
