/*
 * feed - server-sent events out of bytes, as the HTML standard says (9.2.6). Pure.
 */
#ifndef CLI_FEED_H
#define CLI_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"

#define FEED_LINE_MAX (1U << 20) /* bytes; what is longer is dropped */

/* The state of a reader; starts as {0}, ends with feed_fini. */
struct feed {
	struct str line;
	struct str data;
	struct str event;
	char last_id[32]; /* of the last event that had one: what to reconnect with */
	bool after_cr;
};

/* What one event says; borrowed for the call. */
typedef void feed_fn(const char *event, const char *id, const char *data, void *arg);

/* feed_take reads n more bytes and calls on for each event that is complete with them. */
void feed_take(struct feed *s, const char *bytes, size_t n, feed_fn *on, void *arg);

/* feed_restart forgets a half-read event, as after a lost connection; last_id stays. */
void feed_restart(struct feed *s);

/* feed_fini frees what s owns. */
void feed_fini(struct feed *s);

#endif
