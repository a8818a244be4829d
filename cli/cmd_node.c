#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/ref.h"
#include "cli/show.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/stdfd.h"
#include "common/str.h"

#define NODES "/api/v1/nodes"

int
cmd_node_ls(struct cli *c, struct err *e)
{
	const struct listing l = {NODES, SHOW_ALL, show_nodes, show_nodes_n,
		"no nodes yet: ssdlab node enroll NAME makes one", NULL};

	return show_list(c, &l, e);
}

int
cmd_node_show(struct cli *c, struct err *e)
{
	struct str path = {0};
	struct ref ref;
	json_t *doc = NULL;
	int rc;

	if (ref_node(c->client, c->args[0], &ref, e) != 0)
		return -1;
	str_printf(&path, NODES "/%s", ref.id);
	rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0)
		show_item(c, doc, show_nodes, show_nodes_n);
	if (rc == 0 && show_for_people(c) && show_text_is(doc, "admin", "active") &&
		json_text_of(doc, "last_seen")[0] == '\0')
		talk("%s has joined but was never heard; on it: systemctl enable --now "
		     "ssdlab-agent",
			json_text_of(doc, "name"));
	if (rc == 0 && show_for_people(c)) {
		const struct listing l = {str_text(&path), SHOW_ALL, show_drives,
			show_drives_n, "its agent has reported no drive", NULL};

		str_reset(&path);
		str_puts(&path, "/api/v1/drives");
		client_query(&path, "node", ref.id);
		show_title(&c->out, "Drives");
		rc = show_list(c, &l, e);
	}
	json_decref(doc);
	str_fini(&path);
	return rc;
}

/* Reads "key:value" into an object. */
static int
read_label(const char *text, json_t **ret_labels, struct err *e)
{
	const char *colon = strchr(text, ':');
	struct str key = {0};

	if (colon == NULL || colon == text) {
		err_set(e, ERR_INVALID, "--label: \"%.60s\" is no label", text);
		return err_fix(e, "write KEY:VALUE, for example rack:4");
	}
	str_add(&key, text, (size_t)(colon - text));
	*ret_labels = json_object();
	json_object_set_new(*ret_labels, str_text(&key), json_string(colon + 1));
	str_fini(&key);
	return 0;
}

/* The token is told once; what cannot be read by anybody is not asked for. */
static int
want_stdout(struct err *e)
{
	if (!stdfd_out_is_closed())
		return 0;
	err_set(e, ERR_IO, "stdout is closed, and the join token would be lost");
	return err_fix(e, "let stdout go to a terminal, a file or a pipe");
}

static int
token_lost(struct err *e)
{
	err_set(e, ERR_IO, "stdout could not be written: the join token is lost");
	return err_fix(e, "enroll the node again; the new token takes the place of the "
			  "lost one");
}

int
cmd_node_enroll(struct cli *c, struct err *e)
{
	json_t *body = json_object();
	json_t *doc = NULL;
	json_t *labels = NULL;
	uint64_t max_runs = 0;
	int rc = -1;

	if (want_stdout(e) != 0)
		goto out;
	json_put(body, "name", json_string(c->args[0]));
	if (c->flags[FLAG_MAX_RUNS] != NULL) {
		if (parse_uint(c->flags[FLAG_MAX_RUNS], 1, 1024, &max_runs, e) != 0) {
			err_ctx(e, "--max-runs");
			goto out;
		}
		json_put(body, "max_runs", json_integer((json_int_t)max_runs));
	}
	if (c->flags[FLAG_LABEL] != NULL) {
		if (read_label(c->flags[FLAG_LABEL], &labels, e) != 0)
			goto out;
		json_put(body, "labels", labels);
	}
	if (c->flags[FLAG_REPLACE] != NULL)
		json_put(body, "replace", json_true());
	if (client_post(c->client, NODES, body, &doc, e) != 0) {
		if (e->class == ERR_STATE)
			err_fix(e, "--replace lets a new agent take it over");
		goto out;
	}
	if (c->out.format == OUT_JSON)
		out_json(&c->out, doc);
	else
		out_line(&c->out, "%s", json_text_of(doc, "join"));
	rc = fflush(c->out.file) == 0 && ferror(c->out.file) == 0 ? 0 : token_lost(e);
	if (rc == 0 && c->out.format != OUT_JSON)
		talk("%s is %s; %s, good for one use until %s", c->args[0],
			json_text_of(doc, "id"),
			isatty(c->out.fd) == 1
				? "on it run `ssdlab-agent join` and paste the line above"
				: "the join token went to standard output, for "
				  "`ssdlab-agent join`",
			json_text_of(doc, "expires"));
out:
	json_decref(doc);
	json_decref(body);
	return rc;
}

static int
act(struct cli *c, const char *verb, json_t *body, struct err *e)
{
	struct str path = {0};
	struct ref ref;
	json_t *doc = NULL;
	int rc = ref_node(c->client, c->args[0], &ref, e);

	if (rc == 0) {
		str_printf(&path, NODES "/%s/%s", ref.id, verb);
		rc = client_post(c->client, str_text(&path), body, &doc, e);
	}
	if (rc == 0 && c->out.format == OUT_JSON)
		out_json(&c->out, doc);
	else if (rc == 0)
		talk("%s (%s) is %s", json_text_of(doc, "name"), ref.id,
			json_text_of(doc, "admin"));
	str_fini(&path);
	json_decref(doc);
	json_decref(body);
	return rc;
}

int
cmd_node_drain(struct cli *c, struct err *e)
{
	json_t *body;

	if (c->flags[FLAG_REASON] == NULL) {
		err_set(e, ERR_INVALID, "a node is drained for a reason");
		return err_fix(e, "--reason 'new firmware'");
	}
	body = json_object();
	json_put(body, "reason", json_string(c->flags[FLAG_REASON]));
	return act(c, "drain", body, e);
}

int
cmd_node_resume(struct cli *c, struct err *e)
{
	return act(c, "resume", json_object(), e);
}
