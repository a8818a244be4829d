#include "controller/token.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/seal.h"
#include "controller/store.h"

#define BEARER_MAX 128 /* characters; ours have SEAL_TOKEN_CHARS */

static int
find_person(struct tx *t, const uint8_t *hash, struct token_owner *o, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT name, role FROM token WHERE hash = ? AND revoked_ns IS NULL",
		    "b", hash, (size_t)SEAL_HASH_BYTES) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		snprintf(o->actor, sizeof(o->actor), "%s", cur_text(c, 0));
		o->role = strcmp(cur_text(c, 1), "operator") == 0 ? ROLE_OPERATOR
								  : ROLE_VIEWER;
	}
	cur_close(c);
	return rc;
}

static int
find_agent(struct tx *t, const uint8_t *hash, struct token_owner *o, struct err *e)
{
	int rc = tx_int(t, &o->node, e,
		"SELECT id FROM node WHERE secret_hash = ? AND admin != 'retired'", "b",
		hash, (size_t)SEAL_HASH_BYTES);

	if (rc == 1) {
		snprintf(o->actor, sizeof(o->actor), "n%" PRId64, o->node);
		o->role = ROLE_AGENT;
	}
	return rc;
}

int
token_find(struct tx *t, const char *bearer, struct token_owner *ret_owner, struct err *e)
{
	uint8_t hash[SEAL_HASH_BYTES];
	size_t len = strnlen(bearer, BEARER_MAX + 1);
	int rc;

	*ret_owner = (struct token_owner){0};
	if (len == 0 || len > BEARER_MAX)
		return 0;
	seal_hash(bearer, len, hash);
	rc = find_person(t, hash, ret_owner, e);
	if (rc == 0)
		rc = find_agent(t, hash, ret_owner, e);
	return rc;
}

int
token_count(struct tx *t, int64_t *ret_n, struct err *e)
{
	int rc = tx_int(t, ret_n, e,
		"SELECT count(*) FROM token WHERE role = 'operator' AND revoked_ns IS "
		"NULL",
		"");

	return rc < 0 ? -1 : 0;
}

/* Whether the record would take the name for somebody else. */
static bool
is_taken(const char *name)
{
	size_t digits = strspn(name + 1, "0123456789");

	return strcmp(name, "anonymous") == 0 || strcmp(name, "scheduler") == 0 ||
	       (name[0] == 'n' && digits > 0 && name[1 + digits] == '\0');
}

int
token_check(const char *name, const char *role, struct err *e)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-");

	if (n == 0 || n > 63 || name[n] != '\0')
		return err_set(e, ERR_INVALID,
			"the name of a token has 1 to 63 of the characters a-z, 0-9, ., "
			"_ and -");
	if (is_taken(name))
		return err_set(e, ERR_INVALID,
			"a token cannot be called %s: the record has others of this name",
			name);
	if (strcmp(role, "viewer") == 0 || strcmp(role, "operator") == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		"the role \"%.40s\" is neither viewer nor operator", role);
}

int
token_put(struct tx *t, const char *name, const char *role, const char *token,
	struct err *e)
{
	uint8_t hash[SEAL_HASH_BYTES];

	seal_hash(token, strlen(token), hash);
	return tx_exec(t, e,
		"INSERT INTO token (name, hash, role, created_ns) VALUES (?, ?, ?, ?)"
		" ON CONFLICT (name) DO UPDATE SET hash = excluded.hash,"
		" role = excluded.role, created_ns = excluded.created_ns,"
		" revoked_ns = NULL",
		"sbsi", name, hash, sizeof(hash), role, tx_wall(t));
}
