/*
 * news - what the agent's other threads tell its main loop.
 *
 * A piece of news is made on one thread, owned by the inbox on its way, and freed by the
 * main loop. Nothing else is shared between threads.
 */
#ifndef AGENT_NEWS_H
#define AGENT_NEWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/seal.h"

struct drive_list;
struct loop;
struct mbox;

enum news_kind {
	NEWS_ANSWER,	   /* link: doc is the controller's answer to a report */
	NEWS_REFUSED,	   /* link: the controller does not understand the last report */
	NEWS_SESSION,	   /* link: session was agreed */
	NEWS_DRIVES,	   /* scan: drives is what is there now */
	NEWS_PROGRESS,	   /* uplink: attempt has last_seq records, acked_seq committed */
	NEWS_BLOCKED,	   /* uplink: attempt is not sent, why says so; "": it is again */
	NEWS_WANT_SESSION, /* uplink: the session does not work */
};

struct news {
	enum news_kind kind;
	json_t *doc;
	int64_t asked_ns; /* monotonic, when the report of doc left */
	int64_t came_ns;  /* monotonic, when doc came */
	int64_t came_wall_ns;
	struct drive_list *drives;
	struct seal_session session;
	uint64_t attempt;
	uint64_t last_seq, acked_seq;
	char why[128];
};

/* Where news go: a mailbox and the loop that reads it, both borrowed. */
struct inbox {
	struct mbox *m;
	struct loop *l;
};

/* news_new makes empty news of a kind; news_free frees it with all it owns. NULL allowed.
 */
struct news *news_new(enum news_kind kind);
void news_free(struct news *n);

/*
 * news_take_post hands *n to the main loop and sets it to NULL. false when the inbox is
 * full or closed; the caller keeps *n then. Any thread.
 */
bool news_take_post(const struct inbox *in, struct news **n);

#endif
