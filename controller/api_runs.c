/* The resource /runs: the history of the lab, and what goes on now. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/run.h"
#include "controller/rundoc.h"
#include "controller/store.h"
#include "controller/suites.h"

/* The query of /runs; NULL and 0 mean that a filter is not given. */
struct filter {
	int64_t after, limit;
	int64_t campaign, drive, node;
	const char *state, *serial, *model, *firmware, *suite, *workload;
	char *key, *value; /* of the label; owned */
	int64_t since_ns, until_ns;
};

static int
read_id(struct api_call *c, const char *name, char letter, int64_t *ret_id, struct err *e)
{
	const char *text = c->query(c, name);

	if (text == NULL || api_parse_id(text, letter, "", ret_id, e) == 0)
		return 0;
	return err_ctx(e, "query parameter %s", name);
}

static int
read_state(struct api_call *c, const char **ret_state, struct err *e)
{
	*ret_state = c->query(c, "state");
	if (*ret_state == NULL || fsm_state(&run_fsm, *ret_state) >= 0)
		return 0;
	err_set(e, ERR_INVALID, "query parameter state: runs are never \"%.40s\"",
		*ret_state);
	return err_fix(e,
		"pending, leased, running, collecting, done, failed, cancelled or lost");
}

static int
read_times(struct api_call *c, struct filter *f, struct err *e)
{
	const char *since = c->query(c, "since");
	const char *until = c->query(c, "until");

	if (since != NULL && doc_time("since", since, &f->since_ns, e) != 0)
		return -1;
	f->until_ns = INT64_MAX;
	if (until != NULL && doc_time("until", until, &f->until_ns, e) != 0)
		return -1;
	return 0;
}

static int
read_filter(struct tx *t, struct api_call *c, struct filter *f, struct err *e)
{
	static const char *const names[] = {"limit", "cursor", "campaign", "state",
		"drive", "serial", "model", "firmware", "node", "suite", "workload",
		"label", "since", "until", NULL};
	const char *node = c->query(c, "node");
	const char *label = c->query(c, "label");

	memset(f, 0, sizeof(*f));
	if (api_only_query(c, names, e) != 0 ||
		api_page(c, &f->after, &f->limit, e) != 0 ||
		read_id(c, "campaign", 'c', &f->campaign, e) != 0 ||
		read_id(c, "drive", 'd', &f->drive, e) != 0 ||
		read_state(c, &f->state, e) != 0 || read_times(c, f, e) != 0)
		return -1;
	if (node != NULL && doc_node_ref(t, node, &f->node, e) != 0)
		return -1;
	f->serial = c->query(c, "serial");
	f->model = c->query(c, "model");
	f->firmware = c->query(c, "firmware");
	f->suite = c->query(c, "suite");
	if (doc_exists(t, 'c', f->campaign, e) != 0 ||
		doc_exists(t, 'd', f->drive, e) != 0 || suites_check(t, f->suite, e) != 0)
		return -1;
	f->workload = c->query(c, "workload");
	return label == NULL ? 0 : doc_label(label, &f->key, &f->value, e);
}

int
api_runs_list(struct tx *t, struct api_call *c, struct err *e)
{
	struct filter f;
	struct cur *ids;
	int rc;

	if (read_filter(t, c, &f, e) != 0)
		return -1;
	rc = tx_query(t, &ids, e,
		"SELECT r.id FROM run r JOIN drive d ON d.id = r.drive_id"
		" JOIN suite s ON s.id = r.suite_id WHERE (?1 = 0 OR r.id < ?1)"
		" AND (?2 = 0 OR r.campaign_id = ?2) AND (?3 = 0 OR r.drive_id = ?3)"
		" AND (?4 = 0 OR coalesce((SELECT a.node_id FROM attempt a"
		"  WHERE a.run_id = r.id ORDER BY a.number DESC LIMIT 1), d.node_id) = "
		"?4)"
		" AND (?5 IS NULL OR r.state = ?5) AND (?6 IS NULL OR d.serial = ?6)"
		" AND (?7 IS NULL OR d.model = ?7)"
		" AND (?8 IS NULL OR (CASE r.firmware WHEN '' THEN d.firmware"
		"  ELSE r.firmware END) = ?8)"
		" AND (?9 IS NULL OR s.name = ?9 OR s.name || '@' || s.version = ?9)"
		" AND (?10 IS NULL OR EXISTS (SELECT 1 FROM attempt a"
		"  JOIN point p ON p.attempt_id = a.id"
		"  WHERE a.run_id = r.id AND p.workload = ?10))"
		" AND (?11 IS NULL OR EXISTS (SELECT 1 FROM campaign c,"
		"  json_each(c.labels) l WHERE c.id = r.campaign_id AND l.key = ?11"
		"  AND l.value = ?12))"
		" AND r.created_ns >= ?13 AND r.created_ns < ?14"
		" ORDER BY r.id DESC LIMIT ?15",
		"iiiissssssssiii", f.after, f.campaign, f.drive, f.node, f.state,
		f.serial, f.model, f.firmware, f.suite, f.workload, f.key, f.value,
		f.since_ns, f.until_ns, f.limit + 1);
	free(f.key);
	free(f.value);
	return rc != 0 ? -1 : doc_page(t, c, ids, f.limit, run_json, e);
}

int
api_runs_get(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};

	if (api_only_query(c, names, e) != 0)
		return -1;
	return doc_answer(t, c, c->id, run_json, e);
}
