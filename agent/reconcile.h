/*
 * reconcile - what is said to the controller, and what its answer asks to be done.
 *
 * Both sides compare whole states, so nothing here remembers a conversation: a report is
 * made from what is, an answer is compared with what is, and a duty that is done already
 * gives no action. Pure: no I/O, no clock.
 */
#ifndef AGENT_RECONCILE_H
#define AGENT_RECONCILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/attempt.h"
#include "common/clock.h"

struct err;
struct drive_list;

/* The longest time that the controller may hold a report, seconds. */
#define RECONCILE_WAIT_MAX_S 25

/*
 * A start is taken only from an answer that was asked for so recently, nanoseconds. One
 * that lay in a socket or a mailbox for longer may have been withdrawn meanwhile, and is
 * asked for again. Long enough for a busy controller, short enough to wait for by a
 * person who withdraws.
 */
#define RECONCILE_FRESH_NS (5 * NS_PER_S)

/* What is told of an attempt. Borrows its texts. */
struct attempt_view {
	uint64_t id, fence;
	enum attempt_state state;
	uint64_t last_seq, acked_seq;
	int64_t step, point;	 /* of the runner's last status */
	const char *workload;	 /* "" for none */
	const char *cannot_stop; /* what goes on although it is told to stop, "" for
				    nothing */
	const char *blocked;	 /* why its records are not sent, "" when they are */
};

/* What the agent is, as far as the controller is concerned. All borrowed. */
struct view {
	const char *boot_id;
	const char *version;
	const char *session; /* base64, or NULL without one */
	int64_t wait_s;
	uint64_t epoch_seen;   /* highest epoch of the controller ever seen, 0 for none */
	int64_t answer_age_ns; /* since the report that is answered left */
	const char *trouble;   /* what keeps the node from taking runs, "" for nothing */
	/* This node's wall clock, what the controller's shows then, and the doubt (+-) of
	 * that; doubt -1 while it is not known. */
	int64_t clock_ns, lab_clock_ns, clock_doubt_ns;
	const struct drive_list *drives;
	const uint64_t *fences; /* highest token per drive of drives, 0 for none */
	const struct attempt_view *attempts;
	size_t n_attempts;
	const json_t *unknown; /* of the last answer, or NULL */
};

enum action_kind { ACTION_START, ACTION_KEEP, ACTION_STOP, ACTION_FORGET, ACTION_RECALL };

/* Something to do. Owned by its list. */
struct action {
	enum action_kind kind;
	uint64_t attempt;
	uint64_t fence;	 /* start, recall */
	json_t *program; /* start */
	char why[200];	 /* stop */
};

struct answer {
	uint64_t epoch;
	bool session_known;
	uint64_t late;	 /* attempt that is not started for the answer's age; 0: none */
	bool epoch_back; /* it is lower than one seen before: nothing is started */
	/* When the controller answered, by its wall clock, and how long it held the
	 * report; 0 and 0 when it does not say. */
	uint64_t answered_ns, held_ns;
	/* What the controller wants to be kept and we do not know, as it is reported;
	 * NULL for none. Owned. */
	json_t *unknown;
	struct action *actions; /* in the order of the answer; owned */
	size_t n;
};

/*
 * reconcile_report makes the report. Attempts in a state that is not told are left out.
 * New reference.
 */
json_t *reconcile_report(const struct view *v);

/*
 * reconcile_same says whether two reports tell the same but for watermarks and progress
 * (last_seq, acked_seq, status), wait_s and the clock, which alone are no reason to
 * interrupt a poll.
 */
bool reconcile_same(const json_t *a, const json_t *b);

/*
 * reconcile_compare reads an answer and yields what is to be done to get there from v.
 * What the controller does not name is left as it is. An attempt that is unknown here is
 * neither stopped nor forgotten; a forgotten one that is to be kept is recalled, and one
 * that was never known is told in the next report; one that is known here and not
 * forgotten is not started, nor is any from an answer that is too old. *ret_a is the
 * caller's (answer_fini) when it succeeds. Errors: ERR_INVALID with pointer.
 */
int reconcile_compare(
	const struct view *v, const json_t *doc, struct answer *ret_a, struct err *e);

/* answer_fini frees what a owns. */
void answer_fini(struct answer *a);

#endif
