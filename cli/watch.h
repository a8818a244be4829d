/*
 * watch - follows a campaign or a run until it has finished.
 *
 * On a terminal one block that is drawn again and again, elsewhere a line per event. The
 * stream of events says when to look; what is shown and what ends it is always the
 * present document, so an event that was missed does no harm. Survives restarts of the
 * controller: reconnects where it was.
 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <stdint.h>

struct cli;
struct client;
struct err;
struct out;

struct watch_options {
	const struct out *out; /* where to; OUT_JSON: one event a line */
	int64_t timeout_ns;    /* give up after; 0: never */
	const char *timeout;   /* the same as it was written */
};

/* watch_timeout reads --timeout into o. ERR_INVALID. */
int watch_timeout(const struct cli *c, struct watch_options *o, struct err *e);

/*
 * watch_follow follows "c1" or "r1" to its end; *ret_exit_code is as of progress_ended.
 * ERR_TIMEOUT; whatever the controller answers; ERR_NET only before it was reached once.
 */
int watch_follow(struct client *c, const char *id, const struct watch_options *o,
	int *ret_exit_code, struct err *e);

#endif
