#include "controller/idem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/seal.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/store.h"

#define KEY_MAX 200
#define KEEP_NS (24 * 3600 * NS_PER_S)

/* Two people may choose the same key. */
static char *
full_key(const struct api_call *c)
{
	return xasprintf("%s %s", c->actor, c->idempotency_key);
}

static void
hash_request(const struct api_call *c, uint8_t hash[SEAL_HASH_BYTES])
{
	struct str text = {0};

	str_printf(&text, "%s %s?%s\n", c->method, c->path, c->args);
	if (c->body != NULL)
		json_canonical(c->body, &text);
	seal_hash(text.data, text.len, hash);
	str_fini(&text);
}

static int
fill_answer(struct api_call *c, struct cur *row, struct err *e)
{
	json_error_t je;
	const char *doc = cur_text(row, 3);

	c->status = (int)cur_int(row, 1);
	snprintf(c->location, sizeof(c->location), "%s", cur_text(row, 2));
	if (doc[0] == '\0')
		return 1;
	c->doc = json_loads(doc, JSON_DECODE_ANY, &je);
	if (c->doc == NULL)
		return err_set(e, ERR_STORE, "a stored answer is damaged: %s", je.text);
	return 1;
}

int
idem_find(struct tx *t, struct api_call *c, struct err *e)
{
	uint8_t hash[SEAL_HASH_BYTES];
	const void *known;
	struct cur *row;
	size_t len;
	char *key;
	int rc;

	if (strlen(c->idempotency_key) > KEY_MAX)
		return err_set(e, ERR_INVALID,
			"the Idempotency-Key has more than %d characters", KEY_MAX);
	key = full_key(c);
	rc = tx_query(t, &row, e,
		"SELECT body_hash, status, location, doc FROM idempotency"
		" WHERE key = ? AND created_ns > ?",
		"si", key, tx_wall(t) - KEEP_NS);
	free(key);
	if (rc != 0)
		return -1;
	rc = cur_next(row, e);
	if (rc == 1) {
		hash_request(c, hash);
		known = cur_bytes(row, 0, &len);
		if (len == sizeof(hash) && memcmp(known, hash, len) == 0) {
			rc = fill_answer(c, row, e);
		} else {
			rc = err_set(e, ERR_STATE,
				"this Idempotency-Key came before with another request");
			err_fix(e, "use a new key for each new request");
		}
	}
	cur_close(row);
	return rc;
}

int
idem_keep(struct tx *t, const struct api_call *c, struct err *e)
{
	uint8_t hash[SEAL_HASH_BYTES];
	struct str doc = {0};
	char *key = full_key(c);
	int rc;

	hash_request(c, hash);
	if (c->doc != NULL)
		json_write(c->doc, &doc);
	rc = tx_exec(t, e, "DELETE FROM idempotency WHERE created_ns <= ?", "i",
		tx_wall(t) - KEEP_NS);
	if (rc == 0)
		rc = tx_exec(t, e,
			"INSERT INTO idempotency (key, body_hash, status, location, doc,"
			" created_ns) VALUES (?, ?, ?, ?, ?, ?)",
			"sbissi", key, hash, sizeof(hash), (int64_t)c->status,
			c->location, str_text(&doc), tx_wall(t));
	str_fini(&doc);
	free(key);
	return rc;
}
