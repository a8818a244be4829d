/* Enrolment: a one-use join token becomes the identity of a node. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/seal.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/node.h"
#include "controller/session.h"
#include "controller/store.h"

#define TEXT_MAX 127

struct enrolment {
	const char *name, *token;
	const char *hostname, *machine_id, *boot_id, *version; /* "" when not given */
	uint8_t public_key[SEAL_KEY_BYTES];
};

static int
optional_text(const json_t *o, const char *name, const char **ret_text, struct err *e)
{
	*ret_text = "";
	if (!json_has(o, name))
		return 0;
	if (json_need_text(o, "", name, ret_text, e) != 0)
		return -1;
	if (strlen(*ret_text) <= TEXT_MAX)
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" is longer than %d bytes", name, TEXT_MAX);
	return err_at(e, "/%s", name);
}

static int
read_enrolment(const struct api_call *c, struct enrolment *x, struct err *e)
{
	static const char *const names[] = {"name", "token", "hostname", "machine_id",
		"boot_id", "version", "protocol", "public_key", NULL};
	const char *key;

	if (doc_need_body(c, names, e) != 0 ||
		json_need_text(c->body, "", "name", &x->name, e) != 0 ||
		json_need_text(c->body, "", "token", &x->token, e) != 0 ||
		json_need_text(c->body, "", "public_key", &key, e) != 0 ||
		optional_text(c->body, "hostname", &x->hostname, e) != 0 ||
		optional_text(c->body, "machine_id", &x->machine_id, e) != 0 ||
		optional_text(c->body, "boot_id", &x->boot_id, e) != 0 ||
		optional_text(c->body, "version", &x->version, e) != 0)
		return -1;
	if (seal_unbase64(key, x->public_key, sizeof(x->public_key), e) != 0)
		return err_at(e, "/public_key");
	return 0;
}

/* The node that this token was minted for. Wrong, used and expired ones look the same. */
static int
find_node(struct tx *t, const struct enrolment *x, int64_t *ret_node, struct err *e)
{
	uint8_t hash[SEAL_HASH_BYTES];
	int rc;

	seal_hash(x->token, strlen(x->token), hash);
	rc = tx_int(t, ret_node, e,
		"SELECT id FROM node WHERE name = ?1 AND join_hash = ?2"
		" AND join_expires_ns > ?3",
		"sbi", x->name, (const void *)hash, sizeof(hash), tx_wall(t));
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	err_set(e, ERR_FORBIDDEN,
		"this join token is not valid for node %.80s: it is wrong, was used, or "
		"is older than an hour",
		x->name);
	return err_fix(e, "ssdlab node enroll %.80s makes a new one", x->name);
}

/* Sessions agreed with the keys of before are worth nothing now. */
static void
drop_sessions(struct api_call *c)
{
	session_drop_node(c->sessions, c->id);
}

int
api_agents_enroll(struct tx *t, struct api_call *c, struct err *e)
{
	char secret[SEAL_TOKEN_CHARS + 1];
	char key[SEAL_KEY_BYTES * 4 / 3 + 4];
	uint8_t hash[SEAL_HASH_BYTES];
	struct enrolment x;
	int64_t node;

	if (read_enrolment(c, &x, e) != 0 || find_node(t, &x, &node, e) != 0)
		return -1;
	seal_token_new(secret);
	seal_hash(secret, strlen(secret), hash);
	/* last_seen_ns: the first report of a new agent may have another lab's past */
	if (tx_exec(t, e,
		    "UPDATE node SET join_hash = NULL, join_expires_ns = NULL,"
		    " secret_hash = ?1, public_key = ?2, hostname = ?3, machine_id = ?4,"
		    " boot_id = ?5, version = ?6, enrolled_ns = ?7, last_seen_ns = NULL"
		    " WHERE id = ?8",
		    "bbssssii", (const void *)hash, sizeof(hash),
		    (const void *)x.public_key, sizeof(x.public_key), x.hostname,
		    x.machine_id, x.boot_id, x.version, tx_wall(t), node) != 0 ||
		node_admin_change(t, node, NODE_DO_ENROLL, "", x.name, e) != 0)
		return -1;
	seal_base64(c->env->keys.public_key, SEAL_KEY_BYTES, key);
	c->doc = json_object();
	json_put(c->doc, "node", json_u64((uint64_t)node));
	json_put(c->doc, "secret", json_string(secret));
	json_put(c->doc, "public_key", json_string(key));
	json_put(c->doc, "data_port", json_integer(c->env->data_port));
	c->secret = true;
	c->id = node;
	c->after = drop_sessions;
	return 0;
}
