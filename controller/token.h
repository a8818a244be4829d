/*
 * token - who is asking: bearer tokens of people and secrets of agents.
 *
 * Only hashes are stored; a token is found by its hash, so no comparison depends on the
 * secret. Inside store jobs.
 */
#ifndef CONTROLLER_TOKEN_H
#define CONTROLLER_TOKEN_H

#include <stdint.h>

#include "controller/api.h"

struct err;
struct tx;

struct token_owner {
	enum api_role role;
	char actor[80]; /* name of the token, or "n3" for an agent */
	int64_t node;	/* of an agent, else 0 */
};

/*
 * token_find looks up who holds a bearer token: 1 and *ret_owner, 0 when nobody does (or
 * it was revoked, or its node retired), -1: ERR_STORE.
 */
int token_find(
	struct tx *t, const char *bearer, struct token_owner *ret_owner, struct err *e);

/* token_count returns the number of operators' tokens in *ret_n. ERR_STORE. */
int token_count(struct tx *t, int64_t *ret_n, struct err *e);

/*
 * token_check checks what a token may be called, and its role. Names are 1 to 63 of the
 * characters a-z, 0-9, ".", "_" and "-", and none that the record has for others:
 * "anonymous", "scheduler", ids of nodes. ERR_INVALID.
 */
int token_check(const char *name, const char *role, struct err *e);

/*
 * token_put stores the hash of a token under a name, in place of an older token of that
 * name. role: "viewer" or "operator". ERR_STORE, ERR_FULL; ERR_STATE for a role that does
 * not exist.
 */
int token_put(struct tx *t, const char *name, const char *role, const char *token,
	struct err *e);

#endif
