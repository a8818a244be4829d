/*
 * idem - a POST that was repeated gets the answer it had, and nothing is done twice.
 *
 * The key of the client is bound to who sent it and to what was asked. Answers are kept
 * for a day, in the transaction that did the work. Inside write jobs.
 */
#ifndef CONTROLLER_IDEM_H
#define CONTROLLER_IDEM_H

struct api_call;
struct err;
struct tx;

/*
 * idem_find looks for the answer to an earlier request with the key of c: 1 and the
 * answer in c, 0 when there is none. Errors: ERR_STATE when the key came with another
 * request, ERR_INVALID for a key that is too long, ERR_STORE.
 */
int idem_find(struct tx *t, struct api_call *c, struct err *e);

/* idem_keep stores the answer in c under its key. ERR_STORE, ERR_FULL. */
int idem_keep(struct tx *t, const struct api_call *c, struct err *e);

#endif
