/* The resource /nodes: the test servers, and the tokens they join with. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/campaign.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/seal.h"
#include "common/str.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/event.h"
#include "controller/liveness.h"
#include "controller/node.h"
#include "controller/store.h"

#define JOIN_VALID_NS (3600 * NS_PER_S)
#define MAX_RUNS_USUAL 4
#define MAX_RUNS_LIMIT 1024

/* The document of an answer holds for the instant that it is read at. */
static int
tell(struct tx *t, const struct api_call *c, json_t *doc, struct err *e)
{
	int64_t node;

	if (api_parse_id(json_text_of(doc, "id"), 'n', "id", &node, e) != 0)
		return -1;
	return liveness_tell(t, node, c->env->late_ns, doc, e);
}

/* One node as it is now. */
static int
answer(struct tx *t, struct api_call *c, struct err *e)
{
	if (doc_answer(t, c, c->id, node_json, e) != 0 || tell(t, c, c->doc, e) != 0)
		return -1;
	doc_tag(c);
	return 0;
}

int
api_nodes_list(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"limit", "cursor", NULL};
	int64_t after, limit;
	struct cur *ids;
	json_t *node;
	size_t i;

	if (api_only_query(c, names, e) != 0 || api_page(c, &after, &limit, e) != 0 ||
		tx_query(t, &ids, e,
			"SELECT id FROM node WHERE id > ?1 ORDER BY id LIMIT ?2", "ii",
			after, limit + 1) != 0 ||
		doc_page(t, c, ids, limit, node_json, e) != 0)
		return -1;
	json_array_foreach (json_object_get(c->doc, "items"), i, node)
		if (tell(t, c, node, e) != 0)
			return -1;
	doc_tag(c);
	return 0;
}

int
api_nodes_get(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};

	if (api_only_query(c, names, e) != 0)
		return -1;
	return answer(t, c, e);
}

/* What POST /nodes asks for. */
struct wanted {
	const char *name;
	int64_t max_runs; /* 0: not given */
	json_t *labels;	  /* borrowed; NULL: not given */
	bool replace;	  /* the agent of a node that has one */
};

static int
read_wanted(const struct api_call *c, struct wanted *w, struct err *e)
{
	static const char *const names[] = {
		"name", "max_runs", "labels", "replace", NULL};
	size_t n;

	memset(w, 0, sizeof(*w));
	if (doc_need_body(c, names, e) != 0 ||
		json_need_text(c->body, "", "name", &w->name, e) != 0)
		return -1;
	n = strspn(w->name, "abcdefghijklmnopqrstuvwxyz0123456789.-");
	if (n == 0 || n > 63 || w->name[n] != '\0' || w->name[0] == '.' ||
		w->name[0] == '-') {
		err_set(e, ERR_INVALID,
			"the name of a node has 1 to 63 of the characters a-z, 0-9, . "
			"and -, "
			"and starts with a letter or a digit");
		return err_at(e, "/name");
	}
	if (json_has(c->body, "max_runs") &&
		json_need_int(
			c->body, "", "max_runs", 1, MAX_RUNS_LIMIT, &w->max_runs, e) != 0)
		return -1;
	if (json_has(c->body, "replace")) {
		if (!json_is_boolean(json_object_get(c->body, "replace"))) {
			err_set(e, ERR_INVALID, "\"replace\" is true or false");
			return err_at(e, "/replace");
		}
		w->replace = json_is_true(json_object_get(c->body, "replace"));
	}
	if (!json_has(c->body, "labels"))
		return 0;
	w->labels = json_object_get(c->body, "labels");
	return campaign_labels_check(w->labels, "/labels", e);
}

static int
add_node(struct tx *t, const char *name, const char *actor, int64_t *ret_node,
	struct err *e)
{
	struct transition x = {.object = "node",
		.variable = "admin",
		.from = "",
		.to = "pending",
		.why = "",
		.actor = actor};

	if (tx_exec(t, e,
		    "INSERT INTO node (name, admin, max_runs, created_ns)"
		    " VALUES (?1, 'pending', ?2, ?3)",
		    "sii", name, (int64_t)MAX_RUNS_USUAL, tx_wall(t)) != 0)
		return -1;
	x.id = *ret_node = tx_last_id(t);
	return event_transition(t, &x, e);
}

static int
set_wanted(struct tx *t, int64_t node, const struct wanted *w, struct err *e)
{
	char *labels;
	int rc;

	if (w->max_runs != 0) {
		if (tx_exec(t, e, "UPDATE node SET max_runs = ?1 WHERE id = ?2", "ii",
			    w->max_runs, node) != 0)
			return -1;
		tx_notify(t, NOTIFY_SCHED, 0);
	}
	if (w->labels == NULL)
		return 0;
	labels = doc_text(json_incref(w->labels));
	rc = tx_exec(
		t, e, "UPDATE node SET labels = ?1 WHERE id = ?2", "si", labels, node);
	free(labels);
	return rc;
}

/* The one line that a person carries to the node. */
static json_t *
join_line(const struct api_env *env, const char *name, const char *token)
{
	struct str line = {0};
	json_t *v;

	str_printf(&line, "%s/join?name=%s&token=%s", env->public_url, name, token);
	if (env->pin[0] != '\0')
		str_printf(&line, "&pin=%s", env->pin);
	v = json_string(str_text(&line));
	str_fini(&line);
	return v;
}

/* Finds the node or makes it. One with an agent is asked for by mistake, or on purpose.
 */
static int
want_node(struct tx *t, const struct wanted *w, const char *actor, int64_t *ret_node,
	struct err *e)
{
	char *observed = NULL;
	int64_t has_agent;
	int rc = tx_int(
		t, ret_node, e, "SELECT id FROM node WHERE name = ?1", "s", w->name);

	if (rc == 0)
		return add_node(t, w->name, actor, ret_node, e);
	if (rc < 0 || w->replace)
		return rc < 0 ? -1 : 0;
	if (tx_int(t, &has_agent, e,
		    "SELECT admin IN ('active', 'draining') FROM node WHERE id = ?1", "i",
		    *ret_node) < 0)
		return -1;
	if (has_agent == 0)
		return 0;
	if (tx_text(t, &observed, e, "SELECT observed FROM node WHERE id = ?1", "i",
		    *ret_node) < 0)
		return -1;
	err_set(e, ERR_STATE,
		"%s exists and is %s; a new token shuts its present agent out", w->name,
		observed);
	free(observed);
	return err_fix(e, "ssdlab node enroll %s --replace", w->name);
}

/* Makes a node, or a new join token for one that is there: it then enrols anew. */
int
api_nodes_post(struct tx *t, struct api_call *c, struct err *e)
{
	char token[SEAL_TOKEN_CHARS + 1];
	uint8_t hash[SEAL_HASH_BYTES];
	int64_t expires = tx_wall(t) + JOIN_VALID_NS;
	struct wanted w;
	int64_t node;

	if (read_wanted(c, &w, e) != 0 || want_node(t, &w, c->actor, &node, e) != 0 ||
		set_wanted(t, node, &w, e) != 0)
		return -1;
	seal_token_new(token);
	seal_hash(token, strlen(token), hash);
	if (tx_exec(t, e,
		    "UPDATE node SET join_hash = ?1, join_expires_ns = ?2 WHERE id = ?3"
		    " AND admin <> 'retired'",
		    "bii", (const void *)hash, sizeof(hash), expires, node) != 0)
		return -1;
	if (tx_changes(t) == 0)
		return err_set(e, ERR_STATE, "node %s is retired", w.name);
	/* A repeat makes another token, which is as good, and voids this one. */
	c->secret = true;
	c->status = 201;
	snprintf(c->location, sizeof(c->location), "/api/v1/nodes/n%" PRId64, node);
	c->doc = json_object();
	json_put(c->doc, "id", api_id('n', node));
	json_put(c->doc, "name", json_string(w.name));
	json_put(c->doc, "join", join_line(c->env, w.name, token));
	json_put(c->doc, "expires", api_time(expires));
	return 0;
}

int
api_nodes_drain(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"reason", NULL};
	const char *reason;

	if (doc_need_body(c, names, e) != 0 || doc_need_reason(c, &reason, e) != 0 ||
		node_admin_change(t, c->id, NODE_DO_DRAIN, reason, c->actor, e) != 0)
		return -1;
	return answer(t, c, e);
}

int
api_nodes_resume(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};

	if ((c->body != NULL && json_only(c->body, "", names, e) != 0) ||
		node_admin_change(t, c->id, NODE_DO_RESUME, "", c->actor, e) != 0)
		return -1;
	return answer(t, c, e);
}
