#include "controller/health.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/health.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "controller/doc.h"
#include "controller/store.h"

/* The document of one moment; null when it is not known. */
static int
load(struct tx *t, int64_t attempt, const char *moment, json_t **ret_doc, struct err *e)
{
	char *text = NULL;
	int rc = tx_text(t, &text, e,
		"SELECT doc FROM health WHERE attempt_id = ? AND moment = ?", "is",
		attempt, moment);

	if (rc < 0)
		return -1;
	*ret_doc = rc == 1 ? doc_stored(text) : json_null();
	free(text);
	return 0;
}

int
health_json(struct tx *t, int64_t attempt, json_t **ret_doc, struct err *e)
{
	json_t *before, *after;
	json_t *o;

	if (load(t, attempt, "before", &before, e) != 0)
		return -1;
	if (load(t, attempt, "after", &after, e) != 0) {
		json_decref(before);
		return -1;
	}
	o = json_object();
	json_put(o, "difference",
		json_is_object(before) && json_is_object(after)
			? health_difference(before, after)
			: json_null());
	json_put(o, "told", health_told(before, after));
	json_put(o, "before", before);
	json_put(o, "after", after);
	*ret_doc = o;
	return 0;
}

/* What is told of this look and was not of the one before it. */
static int
news_of(struct tx *t, int64_t attempt, const char *moment, json_t **ret_told,
	struct err *e)
{
	json_t *doc, *old, *all;

	if (health_json(t, attempt, &doc, e) != 0)
		return -1;
	old = health_told(json_object_get(doc, "before"), NULL);
	all = json_object_get(doc, "told");
	*ret_told = json_array();
	if (strcmp(moment, "before") == 0)
		json_array_extend(*ret_told, old);
	for (size_t i = json_array_size(old); i < json_array_size(all); i++)
		json_array_append(*ret_told, json_array_get(all, i));
	json_decref(old);
	json_decref(doc);
	return 0;
}

int
health_note(struct tx *t, int64_t attempt, const json_t *event, json_t **ret_told,
	struct err *e)
{
	const char *moment = json_text_of(event, "moment");
	const json_t *doc = json_object_get(event, "health");
	struct str text = {0};
	int rc;

	if (!json_is_object(doc) ||
		(strcmp(moment, "before") != 0 && strcmp(moment, "after") != 0))
		return err_set(e, ERR_INVALID, "a health without its moment or document");
	json_canonical(doc, &text);
	rc = tx_exec(t, e,
		"INSERT INTO health(attempt_id, moment, at_ns, doc) VALUES (?, ?, ?, ?)"
		" ON CONFLICT(attempt_id, moment) DO UPDATE SET doc = excluded.doc,"
		" at_ns = excluded.at_ns WHERE moment = 'after'",
		"isis", attempt, moment, tx_wall(t), str_text(&text));
	str_fini(&text);
	if (rc != 0)
		return -1;
	if (tx_changes(t) > 0)
		return news_of(t, attempt, moment, ret_told, e);
	*ret_told = json_array();
	return 0;
}
