/* What handlers share: pages, ids, times, tags, problem documents. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/seal.h"
#include "common/str.h"
#include "controller/api.h"

static const char *
no_query(const struct api_call *c, const char *name)
{
	(void)c;
	(void)name;
	return NULL;
}

void
api_call_init(struct api_call *c)
{
	*c = (struct api_call){
		.method = "GET",
		.path = "",
		.bearer = "",
		.if_match = "",
		.if_none_match = "",
		.idempotency_key = "",
		.last_event_id = "",
		.accept = "",
		.peer = "",
		.query = no_query,
		.args = "",
		.key = "",
		.actor = "anonymous",
		.status = 200,
		.type = "application/json",
	};
}

void
api_call_fini(struct api_call *c)
{
	json_decref(c->body);
	json_decref(c->doc);
	str_fini(&c->text);
	free(c->after_data);
	c->body = NULL;
	c->doc = NULL;
	c->after_data = NULL;
}

/* A cursor is the id of the last item with a letter in front, so that nobody counts on
 * it. */
#define CURSOR_LETTER 'p'

int
api_page(struct api_call *c, int64_t *ret_after, int64_t *ret_limit, struct err *e)
{
	const char *limit = c->query(c, "limit");
	const char *cursor = c->query(c, "cursor");
	uint64_t n = 100;
	uint64_t after = 0;

	if (limit != NULL && parse_uint(limit, 1, 1000, &n, e) != 0)
		return err_ctx(e, "query parameter limit");
	if (cursor != NULL &&
		(cursor[0] != CURSOR_LETTER ||
			parse_uint(cursor + 1, 1, INT64_MAX, &after, NULL) != 0)) {
		err_set(e, ERR_INVALID, "query parameter cursor: \"%.40s\" is no cursor",
			cursor);
		return err_fix(e, "use next_cursor of the page before, unchanged");
	}
	*ret_limit = (int64_t)n;
	*ret_after = (int64_t)after;
	return 0;
}

/* Appends the query without the cursor that led here, then the new one. */
static void
next_link(const struct api_call *c, const char *cursor, struct str *out)
{
	const char *p = c->args;

	str_printf(out, "<%s?", c->path);
	while (*p != '\0') {
		size_t n = strcspn(p, "&");

		if (strncmp(p, "cursor=", 7) != 0) {
			str_add(out, p, n);
			str_puts(out, "&");
		}
		p += n + (p[n] == '&');
	}
	str_printf(out, "cursor=%s>; rel=\"next\"", cursor);
}

void
api_answer_page(struct api_call *c, json_t *items, int64_t last_id)
{
	struct str link = {0};
	char cursor[24] = "";

	if (last_id != 0)
		snprintf(cursor, sizeof(cursor), "%c%" PRId64, CURSOR_LETTER, last_id);
	json_decref(c->doc);
	c->doc = json_object();
	json_put(c->doc, "items", items);
	json_put(c->doc, "next_cursor", last_id != 0 ? json_string(cursor) : json_null());
	c->link[0] = '\0';
	if (last_id != 0)
		next_link(c, cursor, &link);
	/* A link that does not fit is left out; next_cursor says the same. */
	if (link.len > 0 && link.len < sizeof(c->link))
		memcpy(c->link, link.data, link.len + 1);
	str_fini(&link);
}

int
api_only_query(struct api_call *c, const char *const names[], struct err *e)
{
	json_t *seen = json_object();
	const char *p = c->args;
	int rc;

	while (*p != '\0') {
		size_t n = strcspn(p, "&");
		size_t name = strcspn(p, "=&");
		char text[65];

		snprintf(text, sizeof(text), "%.*s", (int)(name < 64 ? name : 64), p);
		json_put(seen, text, json_null());
		p += n + (p[n] == '&');
	}
	rc = json_only(seen, "", names, NULL);
	if (rc != 0) {
		struct err why = {0};

		json_only(seen, "", names, &why);
		err_set(e, ERR_INVALID, "unknown query parameter \"%s\"",
			why.pointer + (why.pointer[0] == '/'));
		err_fix(e, "%s", why.fix);
	}
	json_decref(seen);
	return rc;
}

json_t *
api_id(char letter, int64_t id)
{
	json_t *v = json_sprintf("%c%" PRId64, letter, id);

	if (v == NULL)
		abort();
	return v;
}

int
api_parse_id(
	const char *text, char letter, const char *at, int64_t *ret_id, struct err *e)
{
	uint64_t n;

	if (parse_uint(text[0] == letter ? text + 1 : text, 1, INT64_MAX, &n, NULL) !=
		0) {
		err_set(e, ERR_INVALID, "\"%.40s\" is no id; ids here look like %c12",
			text, letter);
		return err_at(e, "%s", at);
	}
	*ret_id = (int64_t)n;
	return 0;
}

json_t *
api_time(int64_t wall_ns)
{
	char buf[40];
	json_t *v;

	if (wall_ns == 0)
		return json_null();
	v = json_string(format_time(wall_ns, buf, sizeof(buf)));
	if (v == NULL)
		abort();
	return v;
}

void
api_etag(struct api_call *c, const char *fmt, ...)
{
	uint8_t hash[SEAL_HASH_BYTES];
	char hex[25];
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	seal_hash(text, (size_t)n, hash);
	free(text);
	seal_hex(hash, 12, hex);
	snprintf(c->etag, sizeof(c->etag), "\"%s\"", hex);
}

int
api_match(const struct api_call *c, struct err *e)
{
	if (c->if_match[0] == '\0') {
		err_set(e, ERR_PRECONDITION, "this request needs an If-Match header");
		return err_fix(e, "GET %s first and send its ETag as If-Match", c->path);
	}
	if (strcmp(c->if_match, "*") == 0 || strcmp(c->if_match, c->etag) == 0)
		return 0;
	err_set(e, ERR_CHANGED, "%s is not what it was when you read it", c->path);
	return err_fix(e, "GET %s again and repeat the change if it still fits", c->path);
}

static bool
is_json(const char *type)
{
	size_t n = strlen("application/json");

	if (strncasecmp(type, "application/json", n) != 0)
		return false;
	return type[n] == '\0' || type[n] == ';' || type[n] == ' ';
}

/* RFC 9110, 8.3.1: charset=utf-8 or charset="utf-8" in any case; none at all is UTF-8. */
static bool
names_utf8(const char *type)
{
	const char *p = strcasestr(type, "charset=");
	size_t n = strlen("utf-8");

	if (p == NULL)
		return true;
	p += strlen("charset=");
	p += *p == '"';
	return strncasecmp(p, "utf-8", n) == 0 && strchr("\"; \t", p[n]) != NULL;
}

int
api_check_type(const char *type, struct err *e)
{
	if (!is_json(type))
		err_set(e, ERR_MEDIA, "the body is not application/json");
	else if (!names_utf8(type))
		err_set(e, ERR_MEDIA, "the body is not in UTF-8, as JSON must be");
	else
		return 0;
	return err_fix(e, "send JSON in UTF-8 with \"Content-Type: application/json\"");
}

/* A body that cannot be read is at fault as a whole. */
int
api_parse_body(const char *text, size_t len, json_t **ret_doc, struct err *e)
{
	if (json_parse(text, len, ret_doc, e) != 0) {
		err_at(e, "%s", "");
		return err_fix(e,
			e->class == ERR_LIMIT
				? "no document here needs that: look for brackets that "
				  "are not closed"
				: "write JSON as in RFC 8259: names and texts in double "
				  "quotes, each name once, no comment, no comma at the "
				  "end");
	}
	if (json_is_object(*ret_doc))
		return 0;
	err_set(e, ERR_INVALID, "the body is not a JSON object");
	err_at(e, "%s", "");
	return err_fix(e, "send the members in braces: {\"name\": ...}");
}

/* Texts of failures may quote bytes of a request and be cut within a character. */
json_t *
api_problem(const struct err *e, const char *instance)
{
	json_t *doc = json_object();
	json_t *errors;
	json_t *one;

	json_put(doc, "type", json_sprintf("/problems/%s", err_name(e->class)));
	json_put(doc, "title", json_string(err_title(e->class)));
	json_put(doc, "status", json_integer(err_http_status(e->class)));
	json_put(doc, "detail", json_text(e->text));
	json_put(doc, "instance", json_text(instance));
	if (!e->placed && e->fix[0] == '\0')
		return doc;
	errors = json_array();
	one = json_object();
	if (e->placed)
		json_put(one, "pointer", json_text(e->pointer));
	json_put(one, "detail", json_text(e->text));
	if (e->fix[0] != '\0')
		json_put(one, "fix", json_text(e->fix));
	json_array_append_new(errors, one);
	json_put(doc, "errors", errors);
	return doc;
}
