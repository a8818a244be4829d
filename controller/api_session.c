/* An agent agrees the keys of a new session on the data port. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/seal.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/session.h"
#include "controller/store.h"

#define BASE64_CHARS 48 /* 32 bytes, and the NUL */

/* Runs on the main loop once the node is known to be allowed; the only moment at which
 * the keys are outside the book. */
static void
install(struct api_call *c)
{
	struct seal_session *keys = c->after_data;

	if (session_install(c->sessions, c->node, keys, clock_mono()))
		log_info("session.new", "node=n%" PRId64 " valid_s=%d", c->node,
			SESSION_VALID_S);
	seal_wipe(keys, sizeof(*keys));
	free(keys);
	c->after_data = NULL;
}

static int
read_node_key(struct tx *t, int64_t node, uint8_t ret_key[SEAL_KEY_BYTES], struct err *e)
{
	const void *key;
	struct cur *cur;
	size_t len = 0;
	int rc;

	if (tx_query(t, &cur, e, "SELECT public_key FROM node WHERE id = ?", "i", node) !=
		0)
		return -1;
	rc = cur_next(cur, e);
	key = rc == 1 ? cur_bytes(cur, 0, &len) : NULL;
	if (key != NULL && len == SEAL_KEY_BYTES)
		memcpy(ret_key, key, SEAL_KEY_BYTES);
	else if (rc >= 0)
		rc = err_set(e, ERR_STATE, "node n%" PRId64 " has no key: enrol it again",
			node);
	cur_close(cur);
	return rc < 0 ? -1 : 0;
}

static json_t *
base64(const void *data, size_t len)
{
	char text[BASE64_CHARS];

	seal_base64(data, len, text);
	return json_string(text);
}

int
api_agents_session(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"ephemeral", NULL};
	uint8_t id[SEAL_SESSION_BYTES];
	uint8_t node_static[SEAL_KEY_BYTES];
	uint8_t node_ephemeral[SEAL_KEY_BYTES];
	struct seal_session *keys;
	struct seal_pair own;
	const char *text;
	int rc;

	if (json_only(c->body, "", names, e) != 0 ||
		json_need_text(c->body, "", "ephemeral", &text, e) != 0)
		return -1;
	if (seal_unbase64(text, node_ephemeral, sizeof(node_ephemeral), e) != 0)
		return err_at(e, "/ephemeral");
	if (read_node_key(t, c->node, node_static, e) != 0)
		return -1;
	seal_random(id, sizeof(id));
	seal_pair_new(&own);
	keys = xcalloc(1, sizeof(*keys));
	rc = seal_session_agree(
		keys, id, true, &c->env->keys, &own, node_static, node_ephemeral, e);
	seal_wipe(own.secret_key, sizeof(own.secret_key));
	if (rc != 0) {
		free(keys);
		return err_at(e, "/ephemeral");
	}
	c->after = install;
	c->after_data = keys;
	c->doc = json_object();
	json_put(c->doc, "session", base64(id, sizeof(id)));
	json_put(c->doc, "ephemeral", base64(own.public_key, sizeof(own.public_key)));
	json_put(c->doc, "valid_s", json_integer(SESSION_VALID_S));
	return 0;
}
