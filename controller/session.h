/*
 * session - who may send data now: the book of agreed sessions, in memory only.
 *
 * A session is agreed over REST (api_session.c) and lives until it expires, is replaced
 * or the controller ends; agents then agree a new one. A node has at most two: the newest
 * and the one before, so that messages under way at a change of keys still open. Each
 * session guards against replay with a window over the transport sequence. Knows no
 * network and no database. Main loop only.
 */
#ifndef CONTROLLER_SESSION_H
#define CONTROLLER_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/seal.h"

struct session_book;

#define SESSION_VALID_S 43200 /* how long a session lives */
#define SESSION_WINDOW 1024   /* transport sequences remembered */
#define SESSION_PER_NODE 2

struct session {
	struct seal_session keys;
	int64_t node;
	int64_t expires_mono;		    /* ns, CLOCK_MONOTONIC */
	uint64_t tx_seq;		    /* last one that we sent; only grows */
	uint64_t rx_seq;		    /* highest one received, 0 for none */
	uint64_t seen[SESSION_WINDOW / 64]; /* bit seq % SESSION_WINDOW: received, for the
					       window that ends at rx_seq */
	uint64_t installed;		    /* order of arrival in the book */
};

/* What a transport sequence is to a session. */
enum session_seq {
	SESSION_FRESH,	/* the first time */
	SESSION_REPEAT, /* received before: nanomsg resends, so answer but do not act */
	SESSION_STALE,	/* before the window, or 0: no answer */
};

/* session_book_new makes an empty book. Owned by the caller; session_book_free. */
struct session_book *session_book_new(void);

/* session_book_free wipes all keys. NULL allowed. */
void session_book_free(struct session_book *b);

/*
 * session_install adds a session for node until now_mono + SESSION_VALID_S; the oldest of
 * a third one's node goes, and so does everything expired. keys are copied. Twice the
 * same id replaces nothing and is false (a copied request).
 */
bool session_install(struct session_book *b, int64_t node,
	const struct seal_session *keys, int64_t now_mono);

/* session_find returns the live session with this id, or NULL. Borrowed until the next
 * install. */
struct session *session_find(
	struct session_book *b, const uint8_t id[SEAL_SESSION_BYTES], int64_t now_mono);

/* session_known says whether id is a live session of that node. */
bool session_known(struct session_book *b, int64_t node,
	const uint8_t id[SEAL_SESSION_BYTES], int64_t now_mono);

/* session_drop_node forgets all sessions of a node (retired, enrolled anew). */
void session_drop_node(struct session_book *b, int64_t node);

/* session_count returns the number of sessions in the book, expired ones included. */
size_t session_count(const struct session_book *b);

/* session_accept notes seq of an authentic message and says what it is. */
enum session_seq session_accept(struct session *s, uint64_t seq);

#endif
