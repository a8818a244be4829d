/* The resource /campaigns but for submission (submit.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "controller/api.h"
#include "controller/campaign.h"
#include "controller/doc.h"
#include "controller/rundoc.h"
#include "controller/store.h"
#include "controller/submit.h"

static int
brief(struct tx *t, int64_t id, json_t **ret_doc, struct err *e)
{
	return campaign_json(t, id, false, ret_doc, e);
}

static int
whole(struct tx *t, int64_t id, json_t **ret_doc, struct err *e)
{
	return campaign_json(t, id, true, ret_doc, e);
}

/* A state in a query must be one that there is. */
static int
check_state(const char *state, struct err *e)
{
	if (state == NULL || fsm_state(&campaign_fsm, state) >= 0)
		return 0;
	err_set(e, ERR_INVALID, "query parameter state: campaigns are never \"%.40s\"",
		state);
	return err_fix(e, "queued, running, paused, done, failed or cancelled");
}

int
api_campaigns_list(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {
		"limit", "cursor", "state", "label", "name", NULL};
	const char *state = c->query(c, "state");
	const char *label = c->query(c, "label");
	char *key = NULL;
	char *value = NULL;
	int64_t after, limit;
	struct cur *ids;
	int rc;

	if (api_only_query(c, names, e) != 0 || api_page(c, &after, &limit, e) != 0 ||
		check_state(state, e) != 0 ||
		(label != NULL && doc_label(label, &key, &value, e) != 0))
		return -1;
	rc = tx_query(t, &ids, e,
		"SELECT c.id FROM campaign c WHERE (?1 = 0 OR c.id < ?1)"
		" AND (?2 IS NULL OR c.state = ?2)"
		" AND (?3 IS NULL OR EXISTS (SELECT 1 FROM json_each(c.labels) l"
		"  WHERE l.key = ?3 AND l.value = ?4))"
		" AND (?5 IS NULL OR c.name = ?5)"
		" ORDER BY c.id DESC LIMIT ?6",
		"issssi", after, state, key, value, c->query(c, "name"), limit + 1);
	free(key);
	free(value);
	return rc != 0 ? -1 : doc_page(t, c, ids, limit, brief, e);
}

int
api_campaigns_get(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};

	if (api_only_query(c, names, e) != 0)
		return -1;
	return doc_answer(t, c, c->id, whole, e);
}

int
api_campaigns_post(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"dry_run", NULL};
	const char *dry_run = c->query(c, "dry_run");
	int64_t campaign;

	if (api_only_query(c, names, e) != 0)
		return -1;
	if (dry_run != NULL && strcmp(dry_run, "plan") != 0) {
		err_set(e, ERR_INVALID,
			"query parameter dry_run: \"%.40s\" is no kind of it", dry_run);
		return err_fix(e, "dry_run=plan");
	}
	if (c->body == NULL)
		return err_set(
			e, ERR_INVALID, "this request needs a body: a campaign document");
	if (dry_run != NULL)
		return submit_plan(t, c->body, &c->doc, e);
	if (submit_campaign(t, c->body, c->actor, &campaign, e) != 0)
		return -1;
	c->status = 201;
	snprintf(c->location, sizeof(c->location), "/api/v1/campaigns/c%lld",
		(long long)campaign);
	return doc_answer(t, c, campaign, whole, e);
}

int
api_campaigns_runs(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"limit", "cursor", NULL};
	int64_t after, limit, exists;
	struct cur *ids;

	if (api_only_query(c, names, e) != 0 || api_page(c, &after, &limit, e) != 0 ||
		tx_int(t, &exists, e, "SELECT count(*) FROM campaign WHERE id = ?1", "i",
			c->id) < 0)
		return -1;
	if (exists == 0)
		return doc_missing('c', c->id, e);
	if (tx_query(t, &ids, e,
		    "SELECT id FROM run WHERE campaign_id = ?1 AND id > ?2 ORDER BY id"
		    " LIMIT ?3",
		    "iii", c->id, after, limit + 1) != 0)
		return -1;
	return doc_page(t, c, ids, limit, run_json, e);
}

int
api_campaigns_cancel(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};

	if ((c->body != NULL && json_only(c->body, "", names, e) != 0) ||
		campaign_cancel(t, c->id, c->actor, e) != 0)
		return -1;
	return doc_answer(t, c, c->id, whole, e);
}
