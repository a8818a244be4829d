/*
 * outbox - the records of an attempt on their way into the spool.
 *
 * Takes every record at once and never waits for space: while the spool is full, records
 * stay in memory, in order, and go out once there is room. That memory is bounded: old
 * samples of one point are merged into 10 s, then given up, which a GAP record tells.
 * Events, points, gaps and the result are never given up. One thread.
 */
#ifndef RUNNER_OUTBOX_H
#define RUNNER_OUTBOX_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/record.h"

struct err;
struct outbox;

/* Samples that wait in memory, and their bytes, before old ones are merged. */
#define OUTBOX_SAMPLES_MAX 360
#define OUTBOX_BYTES_MAX (16U << 20)
/* Seconds that one merged sample covers. */
#define OUTBOX_MERGE_S 10

/*
 * outbox_open opens the spool in dir for writing. Errors: as spool_open, ERR_STATE when
 * another process is writing it. Owned by the caller; outbox_close.
 */
int outbox_open(struct outbox **ret_o, const char *dir, struct err *e);

/* outbox_count_samples counts SAMPLE records that an earlier runner has left in the
 * spool, for the RESULT. */
void outbox_count_samples(struct outbox *o, uint64_t n);

/* outbox_close drops what is still in memory and closes the spool. NULL allowed. */
void outbox_close(struct outbox *o);

/* outbox_event adds an EVENT of that name ("step.start"); at_ns is set here. Takes the
 * reference of doc. */
void outbox_event(struct outbox *o, const char *name, json_t *doc);

/* outbox_sample adds a SAMPLE. */
void outbox_sample(struct outbox *o, const struct sample *s);

/* outbox_point adds a POINT. */
void outbox_point(struct outbox *o, const struct point_record *p);

/* outbox_result adds the RESULT; samples and last_seq are set here, when it is written.
 * Takes the reference of doc. Nothing may be added afterwards. */
void outbox_result(struct outbox *o, json_t *doc);

/* outbox_sync writes what waits, as far as there is room, and makes everything written
 * durable. Waits for the disk of the spool. */
void outbox_sync(struct outbox *o);

/* outbox_tick does outbox_sync when a second has passed since the last time. Call it some
 * times a second. */
void outbox_tick(struct outbox *o);

/* outbox_is_settled says whether everything added is durable in the spool. */
bool outbox_is_settled(const struct outbox *o);

/* outbox_give_up_samples replaces the samples that wait by GAP records with that reason,
 * so that the rest can use the space the spool keeps for it. */
void outbox_give_up_samples(struct outbox *o, const char *reason);

/* outbox_last returns the sequence number of the last record in the spool, 0 for none. */
uint64_t outbox_last(const struct outbox *o);

/* outbox_waiting returns the number of records that wait in memory. */
size_t outbox_waiting(const struct outbox *o);

#endif
