#include "controller/doc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/store.h"

#define REASON_MAX 500

json_t *
doc_stored(const char *text)
{
	json_t *doc = json_loadb(text, strlen(text), JSON_DECODE_ANY, NULL);

	return doc != NULL ? doc : json_null();
}

json_t *
doc_int(struct cur *c, int col)
{
	return cur_null(c, col) ? json_null() : json_integer(cur_int(c, col));
}

char *
doc_text(json_t *doc)
{
	struct str out = {0};

	json_canonical(doc, &out);
	json_decref(doc);
	return str_take(&out);
}

void
doc_tag(struct api_call *c)
{
	char *text = doc_text(json_incref(c->doc));

	api_etag(c, "%s", text);
	free(text);
}

int
doc_page(struct tx *t, struct api_call *c, struct cur *ids, int64_t limit, doc_fn *fn,
	struct err *e)
{
	json_t *items = json_array();
	int64_t last = 0;
	int64_t n = 0;
	int rc;

	while ((rc = cur_next(ids, e)) == 1 && n < limit) {
		json_t *doc;

		last = cur_int(ids, 0);
		if (fn(t, last, &doc, e) != 0) {
			rc = -1;
			break;
		}
		json_array_append_new(items, doc);
		n++;
	}
	cur_close(ids);
	if (rc < 0) {
		json_decref(items);
		return -1;
	}
	api_answer_page(c, items, rc == 1 ? last : 0);
	doc_tag(c);
	return 0;
}

int
doc_answer(struct tx *t, struct api_call *c, int64_t id, doc_fn *fn, struct err *e)
{
	if (fn(t, id, &c->doc, e) != 0)
		return -1;
	doc_tag(c);
	return 0;
}

int
doc_need_body(const struct api_call *c, const char *const names[], struct err *e)
{
	if (c->body == NULL)
		return err_set(
			e, ERR_INVALID, "this request needs a body: a JSON object");
	return json_only(c->body, "", names, e);
}

int
doc_need_reason(const struct api_call *c, const char **ret_reason, struct err *e)
{
	if (json_need_text(c->body, "", "reason", ret_reason, e) != 0)
		return err_fix(e, "say why, for the record");
	if ((*ret_reason)[0] != '\0' && strlen(*ret_reason) <= REASON_MAX)
		return 0;
	err_set(e, ERR_INVALID, "a reason has 1 to %d bytes", REASON_MAX);
	err_at(e, "/reason");
	if ((*ret_reason)[0] == '\0')
		return err_fix(e, "say why, for the record");
	return err_fix(e, "shorten it by %zu bytes", strlen(*ret_reason) - REASON_MAX);
}

int
doc_node_ref(struct tx *t, const char *text, int64_t *ret_node, struct err *e)
{
	int rc = tx_int(t, ret_node, e, "SELECT id FROM node WHERE name = ?1", "s", text);

	if (rc == 0 && api_parse_id(text, 'n', "", ret_node, NULL) == 0)
		rc = tx_int(t, ret_node, e, "SELECT id FROM node WHERE id = ?1", "i",
			*ret_node);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	err_set(e, ERR_NOTFOUND, "there is no node %.80s", text);
	return err_fix(e, "ssdlab node ls");
}

int
doc_missing(char letter, int64_t id, struct err *e)
{
	const char *what = letter == 'c' ? "campaign" : letter == 'd' ? "drive" : "run";

	err_set(e, ERR_NOTFOUND, "there is no %s %c%" PRId64, what, letter, id);
	return err_fix(e, "ssdlab %s ls", what);
}

int
doc_exists(struct tx *t, char letter, int64_t id, struct err *e)
{
	int64_t one;
	int rc;

	if (id == 0)
		return 0;
	rc = tx_int(t, &one, e,
		letter == 'c' ? "SELECT 1 FROM campaign WHERE id = ?1"
			      : "SELECT 1 FROM drive WHERE id = ?1",
		"i", id);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	return doc_missing(letter, id, e);
}

int
doc_label(const char *text, char **ret_key, char **ret_value, struct err *e)
{
	const char *colon = strchr(text, ':');

	if (colon == NULL || colon == text) {
		err_set(e, ERR_INVALID, "query parameter label: \"%.80s\" is no label",
			text);
		return err_fix(e, "write KEY:VALUE, for example bench:sr");
	}
	*ret_key = xasprintf("%.*s", (int)(colon - text), text);
	*ret_value = xstrdup(colon + 1);
	return 0;
}

int
doc_time(const char *name, const char *text, int64_t *ret_wall_ns, struct err *e)
{
	struct tm tm = {0}, real;
	const char *end = strptime(text, "%Y-%m-%d", &tm);
	int64_t s;

	if (end != NULL && *end == 'T')
		end = strptime(end, "T%H:%M:%S", &tm);
	if (end != NULL && *end == '.' && end[1 + strspn(end + 1, "0123456789")] == 'Z')
		end += 1 + strspn(end + 1, "0123456789"); /* to the second is enough */
	real = tm; /* timegm takes February 30 for March 2, and says so here */
	s = (int64_t)timegm(&real);
	if (end == NULL || real.tm_mday != tm.tm_mday ||
		(strcmp(end, "Z") != 0 && (*end != '\0' || strlen(text) != 10))) {
		err_set(e, ERR_INVALID, "query parameter %s: \"%.40s\" is not a time",
			name, text);
		return err_fix(e, "write it in UTC: 2026-11-30T12:00:00Z, or 2026-11-30");
	}
	*ret_wall_ns = s * NS_PER_S;
	return 0;
}
