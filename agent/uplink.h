/*
 * uplink - sends the records of all spools to the controller and frees what it has.
 *
 * One thread, one nanomsg REQ end, one message under way. Live records first, then the
 * backlog, in turn. Works only with a session; asks for a new one when there was no
 * answer twice. A controller that has no room is asked again, nothing is dropped.
 */
#ifndef AGENT_UPLINK_H
#define AGENT_UPLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct identity;
struct inbox;
struct seal_session;
struct uplink;

/* How long an answer may take before the connection is made anew. */
#define UPLINK_ANSWER_NS INT64_C(5000000000)

/*
 * uplink_start starts the thread; id and in are borrowed until uplink_stop. answer_ns:
 * UPLINK_ANSWER_NS. Errors: ERR_INVALID for a controller URL without a host,
 * ERR_INTERNAL.
 */
int uplink_start(struct uplink **ret_u, const struct identity *id, const struct inbox *in,
	int64_t answer_ns, struct err *e);

/* uplink_session gives it the keys to send with from now on. Main loop only. */
void uplink_session(struct uplink *u, const struct seal_session *s);

/*
 * uplink_stream tells of a spool to be sent, or what is new about it: newest, the highest
 * record that is known to be in it, and ended, that its runner is gone. Main loop only.
 */
void uplink_stream(struct uplink *u, uint64_t attempt, uint64_t fence, const char *dir,
	uint64_t newest, bool ended);

/* uplink_drop has it forget a spool. Main loop only. */
void uplink_drop(struct uplink *u, uint64_t attempt);

/* uplink_stop ends the thread, after at most the time that an answer may take, longer
 * only while a name is looked up. NULL allowed. */
void uplink_stop(struct uplink *u);

/* uplink_url makes the URL of the data plane ("tcp://host:7444") from that of the REST
 * interface; size: of ret_url. Pure. ERR_INVALID. */
int uplink_url(const char *controller, uint16_t data_port, char *ret_url, size_t size,
	struct err *e);

#endif
