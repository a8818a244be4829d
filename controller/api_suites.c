/* The resource /suites. */
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/store.h"
#include "controller/suites.h"

static int
brief(struct tx *t, int64_t id, json_t **ret_doc, struct err *e)
{
	return suites_json(t, id, false, ret_doc, e);
}

static int
whole(struct tx *t, int64_t id, json_t **ret_doc, struct err *e)
{
	return suites_json(t, id, true, ret_doc, e);
}

int
api_suites_list(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"limit", "cursor", NULL};
	int64_t after, limit;
	struct cur *ids;

	if (api_only_query(c, names, e) != 0 || api_page(c, &after, &limit, e) != 0 ||
		tx_query(t, &ids, e,
			"SELECT id FROM suite WHERE id > ?1 ORDER BY id LIMIT ?2", "ii",
			after, limit + 1) != 0)
		return -1;
	return doc_page(t, c, ids, limit, brief, e);
}

int
api_suites_get(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};
	int64_t id;

	if (api_only_query(c, names, e) != 0 || suites_find(t, c->key, &id, NULL, e) != 0)
		return -1;
	return doc_answer(t, c, id, whole, e);
}

int
api_suites_post(struct tx *t, struct api_call *c, struct err *e)
{
	int64_t id;
	bool is_new;

	if (c->body == NULL)
		return err_set(
			e, ERR_INVALID, "this request needs a body: a suite document");
	if (suites_add(t, c->body, &id, &is_new, e) != 0 ||
		suites_json(t, id, true, &c->doc, e) != 0)
		return -1;
	c->status = is_new ? 201 : 200;
	snprintf(c->location, sizeof(c->location), "/api/v1/suites/%.40s@%lld",
		json_text_of(c->doc, "name"),
		(long long)json_integer_value(json_object_get(c->doc, "version")));
	return 0;
}
