/*
 * control - how a runner is asked and told to stop: a socket in its directory, and
 * signals.
 *
 * The socket DIR/socket (SOCK_SEQPACKET) answers one JSON object per message:
 * {"do": "status"} and {"do": "stop", "why": text}. SIGTERM and SIGINT stop, too, but
 * they say nothing of what the lab wants: a server that shuts down sends them. Nothing
 * here waits unless it is asked to. One thread, the one that started it.
 */
#ifndef RUNNER_CONTROL_H
#define RUNNER_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

struct control;
struct err;

/* What {"do": "status"} is answered with. */
struct control_status {
	const char *state; /* "starting", "running" or "ended" */
	uint32_t step;	   /* from 1, 0 before the first */
	const char *workload;
	uint32_t point;	     /* from 1, 0 before the first */
	double load_percent; /* NAN for none */
	uint64_t last_seq;
	const char
		*cannot_stop; /* what goes on although it is told to stop; NULL: nothing
			       */
};

/*
 * control_open makes the socket in dir, replacing one that is left from before, and takes
 * over SIGTERM and SIGINT: call it before other threads start. Errors: ERR_IO. Owned by
 * the caller; control_close.
 */
int control_open(struct control **ret_c, const char *dir, struct err *e);

/* control_close closes all connections; the socket's name stays. NULL allowed. */
void control_close(struct control *c);

/* control_poll answers what was asked; waits at most wait_ms for the first question. */
void control_poll(struct control *c, const struct control_status *status, int wait_ms);

/* control_stop_reason returns why the run is to end, NULL while it is not. The first
 * reason stays. Borrowed. */
const char *control_stop_reason(const struct control *c);

/* control_is_cancelled says whether it was told to end over the socket, not by signals
 * alone. */
bool control_is_cancelled(const struct control *c);

/* control_stops returns how often it was told to end. */
unsigned control_stops(const struct control *c);

#endif
