/*
 * mbox - a bounded mailbox of pointers between threads; holds the only mutex of the
 * project.
 *
 * First in, first out, any number of senders and receivers. What travels is owned by the
 * mailbox from mbox_put to mbox_get.
 */
#ifndef COMMON_MBOX_H
#define COMMON_MBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mbox;

/* mbox_new makes a mailbox for at most limit messages (1..1e6). */
struct mbox *mbox_new(size_t limit);

/* mbox_free frees an empty mailbox. NULL allowed. */
void mbox_free(struct mbox *m);

/* mbox_put adds a message; false when the mailbox is full or closed (the caller keeps
 * it). */
bool mbox_put(struct mbox *m, void *msg);

/*
 * mbox_get takes the oldest message, waiting at most wait_ns (0: not at all, -1: for
 * ever). NULL when none came, or when the mailbox is closed and empty.
 */
void *mbox_get(struct mbox *m, int64_t wait_ns);

/* mbox_close refuses further messages and wakes all waiters; what is inside can be taken.
 */
void mbox_close(struct mbox *m);

/* mbox_len returns the number of waiting messages, a moment ago. */
size_t mbox_len(struct mbox *m);

/* mbox_closed says whether mbox_close was called. */
bool mbox_closed(struct mbox *m);

#endif
