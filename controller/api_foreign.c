/* The resource /foreign: results that were measured elsewhere. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hist.h"
#include "common/parse.h"
#include "common/record.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/foreign.h"
#include "controller/store.h"

static int
brief(struct tx *t, int64_t id, json_t **ret_doc, struct err *e)
{
	return foreign_json(t, id, false, ret_doc, e);
}

static int
whole(struct tx *t, int64_t id, json_t **ret_doc, struct err *e)
{
	return foreign_json(t, id, true, ret_doc, e);
}

static int
check_tool(const char *tool, struct err *e)
{
	if (tool == NULL)
		return 0;
	for (size_t i = 0; foreign_tools[i] != NULL; i++)
		if (strcmp(foreign_tools[i], tool) == 0)
			return 0;
	err_set(e, ERR_INVALID, "query parameter tool: \"%.40s\" is not known", tool);
	return err_fix(e, "known here: fio, vdbench, published");
}

int
api_foreign_list(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"limit", "cursor", "tool", NULL};
	const char *tool = c->query(c, "tool");
	int64_t after, limit;
	struct cur *ids;

	if (api_only_query(c, names, e) != 0 || check_tool(tool, e) != 0 ||
		api_page(c, &after, &limit, e) != 0 ||
		tx_query(t, &ids, e,
			"SELECT id FROM foreign_result WHERE id > ?1"
			" AND (?2 IS NULL OR tool = ?2) ORDER BY id LIMIT ?3",
			"isi", after, tool, limit + 1) != 0)
		return -1;
	return doc_page(t, c, ids, limit, brief, e);
}

int
api_foreign_get(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};

	if (api_only_query(c, names, e) != 0)
		return -1;
	return doc_answer(t, c, c->id, whole, e);
}

int
api_foreign_histogram(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"point", "op", NULL};
	const char *point = c->query(c, "point");
	const char *op = c->query(c, "op");
	struct hist *h;
	uint64_t n;
	int dir = -1;
	int rc;

	if (api_only_query(c, names, e) != 0)
		return -1;
	if (point == NULL) {
		err_set(e, ERR_INVALID, "query parameter point is missing");
		return err_fix(
			e, "ssdlab foreign show x%" PRId64 " lists the points", c->id);
	}
	if (parse_uint(point, 1, UINT32_MAX, &n, e) != 0)
		return err_ctx(e, "query parameter point");
	for (int d = 0; op != NULL && d < DATA_DIRECTIONS; d++)
		if (strcmp(op, direction_name((enum direction)d)) == 0)
			dir = d;
	if (op != NULL && dir < 0)
		return err_set(e, ERR_INVALID,
			"query parameter op: \"%.40s\" is neither read nor write", op);
	h = xcalloc(1, sizeof(*h));
	rc = foreign_histogram(t, c->id, (int64_t)n, dir, h, e);
	if (rc == 0)
		c->doc = result_histogram(h);
	free(h);
	return rc;
}

int
api_foreign_post(struct tx *t, struct api_call *c, struct err *e)
{
	int64_t id;
	bool is_new;

	if (c->body == NULL) {
		err_set(e, ERR_INVALID, "this request needs a body: a foreign result");
		return err_fix(e, "ssdlab import makes and sends one");
	}
	if (foreign_add(t, c->body, c->actor, &id, &is_new, e) != 0 ||
		foreign_json(t, id, true, &c->doc, e) != 0)
		return -1;
	c->status = is_new ? 201 : 200;
	snprintf(c->location, sizeof(c->location), "/api/v1/foreign/x%" PRId64, id);
	return 0;
}
