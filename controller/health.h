/*
 * health - how drives were before and after the runs on them. Inside store jobs.
 */
#ifndef CONTROLLER_HEALTH_H
#define CONTROLLER_HEALTH_H

#include <jansson.h>
#include <stdint.h>

struct err;
struct tx;

/*
 * health_note stores what an attempt's event "health" tells (schema/wire.md). The first
 * look before and the last one after count: a runner may have been started again.
 * *ret_told lists sentences that people should see at once, empty for none; owned by the
 * caller. Errors: ERR_INVALID for what is no such event, ERR_STORE, ERR_FULL.
 */
int health_note(struct tx *t, int64_t attempt, const json_t *event, json_t **ret_told,
	struct err *e);

/* health_json makes {before, after, difference, told} of an attempt; null for what is not
 * known. ERR_STORE. */
int health_json(struct tx *t, int64_t attempt, json_t **ret_doc, struct err *e);

#endif
