/*
 * campaign - the life of campaigns.
 *
 * Only campaign_change writes the state, by the rows of campaign_tbl.h. Called inside
 * store jobs.
 */
#ifndef CONTROLLER_CAMPAIGN_H
#define CONTROLLER_CAMPAIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/fsm.h"

struct err;
struct tx;

enum campaign_state {
#define STATE(name, text) CAMPAIGN_##name,
#include "controller/campaign_tbl.h"
	CAMPAIGN_STATES
};

enum campaign_event {
#define EVENT(name, text) CAMPAIGN_DO_##name,
#include "controller/campaign_tbl.h"
	CAMPAIGN_EVENTS
};

extern const struct fsm campaign_fsm;

/* campaign_change applies an event. ERR_STATE when it is not legal now, ERR_NOTFOUND. */
int campaign_change(struct tx *t, int64_t campaign, enum campaign_event ev,
	const char *why, const char *actor, struct err *e);

/*
 * campaign_started moves a queued campaign to running; campaign_settle finishes it when
 * its last run is final: done when all are done, cancelled when one was, else failed.
 * Nothing happens otherwise.
 */
int campaign_started(struct tx *t, int64_t campaign, const char *actor, struct err *e);
int campaign_settle(struct tx *t, int64_t campaign, const char *actor, struct err *e);

/*
 * campaign_cancel cancels each of its runs that is not final. Allowed in every state, any
 * number of times. ERR_NOTFOUND.
 */
int campaign_cancel(struct tx *t, int64_t campaign, const char *actor, struct err *e);

/*
 * campaign_json reads one campaign as its REST document, with its own document when whole
 * is set. ERR_NOTFOUND. New reference.
 */
int campaign_json(
	struct tx *t, int64_t campaign, bool whole, json_t **ret_doc, struct err *e);

#endif
