/*
 * link - the agents' records come in over nanomsg, and acknowledgements go back.
 *
 * Bytes that do not open under a session's key get no answer and reach no parser; they
 * are counted. What is authentic becomes a write job; its answer leaves after the commit.
 * At most LINK_JOBS messages are in flight: with that many, nothing more is read, and
 * spools grow on the agents instead of memory here. Main loop only.
 */
#ifndef CONTROLLER_LINK_H
#define CONTROLLER_LINK_H

#include <stdint.h>

struct err;
struct link;
struct loop;
struct session_book;
struct sse;
struct store;

#define LINK_JOBS 64

/* What link works with; all borrowed for its life. */
struct link_env {
	struct loop *loop;
	struct store *store;
	struct session_book *sessions;
	struct sse *sse;   /* NULL: nobody watches */
	const char *url;   /* "tcp://0.0.0.0:7444" */
	unsigned jobs_max; /* 0: LINK_JOBS */
};

/* Since the start. */
struct link_counts {
	uint64_t messages;
	uint64_t refused; /* no answer: not a message, no session, not authentic */
	uint64_t repeats; /* authentic, handled before */
	uint64_t acks;	  /* answers of each kind */
	uint64_t nacks;
	uint64_t records;    /* stored */
	uint64_t duplicates; /* records that were stored already */
};

/* link_open binds url and starts to listen. Errors: ERR_NET, ERR_IO. link_close. */
int link_open(struct link **ret_k, const struct link_env *env, struct err *e);

/*
 * link_close stops listening. Jobs that are in flight end by themselves, without an
 * answer; the store must outlive them (store_close waits for them). NULL allowed.
 */
void link_close(struct link *k);

/* link_counts returns the counters. Borrowed. */
const struct link_counts *link_counts(const struct link *k);

#endif
