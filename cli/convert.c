#include "cli/convert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/xalloc.h"

#define TEXT_SHOWN 160

void
convert_id(char ret_id[WORKLOAD_ID_MAX], const char *text)
{
	size_t n = 0;

	for (const char *p = text; *p != '\0' && n + 1 < WORKLOAD_ID_MAX; p++) {
		char ch = *p;

		if (ch >= 'A' && ch <= 'Z')
			ch = (char)(ch - 'A' + 'a');
		if ((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9'))
			ret_id[n++] = ch;
		else if (n > 0 && ret_id[n - 1] != '-')
			ret_id[n++] = '-';
	}
	while (n > 0 && ret_id[n - 1] == '-')
		n--;
	ret_id[n] = '\0';
	if (n == 0)
		snprintf(ret_id, WORKLOAD_ID_MAX, "workload");
}

const char *
convert_plain(char *buf, size_t size, const char *text)
{
	size_t n = 0;

	for (const char *p = text; *p != '\0' && n + 1 < size; p++)
		buf[n++] = *p >= ' ' && *p < 0x7f ? *p : '?';
	buf[n] = '\0';
	return buf;
}

int
convert_check_text(const char *text, size_t len, struct err *e)
{
	unsigned line = 1;

	if (len > CONVERT_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "the file has more than %u bytes",
			CONVERT_MAX_BYTES);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			line++;
		if (text[i] == '\0')
			return err_set(e, ERR_INVALID,
				"line %u: a NUL character: this is no text file", line);
	}
	return 0;
}

void
conversion_init(struct conversion *c, const char *tool, const char *name)
{
	memset(c, 0, sizeof(*c));
	c->tool = tool;
	c->suite = xcalloc(1, sizeof(*c->suite));
	c->origins = xcalloc(SUITE_WORKLOADS_MAX, sizeof(*c->origins));
	convert_id(c->suite->name, name);
	c->suite->version = 1;
	c->suite->region_percent = 100;
	snprintf(c->suite->title, sizeof(c->suite->title), "Converted from a %s", tool);
}

void
conversion_fini(struct conversion *c)
{
	for (size_t i = 0; i < c->n_left; i++) {
		free(c->left[i].text);
		free(c->left[i].why);
	}
	free(c->left);
	free(c->origins);
	free(c->suite);
	memset(c, 0, sizeof(*c));
}

void
convert_left(struct conversion *c, unsigned line, enum left_kind kind, const char *text,
	const char *why, ...)
{
	char shown[TEXT_SHOWN];
	char reason[400];
	struct left *l;
	va_list ap;

	va_start(ap, why);
	vsnprintf(reason, sizeof(reason), why, ap);
	va_end(ap);
	if ((c->n_left & (c->n_left - 1)) == 0)
		c->left = xrealloc(
			c->left, c->n_left == 0 ? 1 : c->n_left * 2, sizeof(*c->left));
	l = &c->left[c->n_left++];
	l->line = line;
	l->kind = kind;
	convert_plain(shown, sizeof(shown), text);
	if (strlen(text) >= sizeof(shown))
		memcpy(shown + sizeof(shown) - 4, "...", 4);
	l->text = xstrdup(shown);
	l->why = xstrdup(reason);
}

void
convert_note(struct conversion *c, const char *text)
{
	size_t n = strlen(c->notes);

	snprintf(c->notes + n, sizeof(c->notes) - n, "%s%s", n > 0 ? " " : "", text);
}

static bool
taken(const struct suite *s, const char *id)
{
	/* the points of a fill are stored under that name */
	if (strcmp(id, "fill") == 0)
		return true;
	for (size_t i = 0; i < s->n_workloads; i++)
		if (strcmp(s->workloads[i].id, id) == 0)
			return true;
	return false;
}

static void
unlike_others(const struct suite *s, const char *text, char ret_id[WORKLOAD_ID_MAX])
{
	char base[WORKLOAD_ID_MAX];

	convert_id(base, text);
	snprintf(ret_id, WORKLOAD_ID_MAX, "%s", base);
	for (unsigned n = 2; taken(s, ret_id); n++)
		snprintf(ret_id, WORKLOAD_ID_MAX, "%.50s-%u", base, n);
}

bool
convert_add(struct conversion *c, const struct workload *w, const char *id, unsigned line,
	const char *origin)
{
	struct suite *s = c->suite;
	struct err e = {0};

	if (s->n_workloads == SUITE_WORKLOADS_MAX) {
		convert_left(c, line, LEFT_LOAD, id,
			"left out: a suite has at most %d workloads; convert the rest of "
			"the file by itself",
			SUITE_WORKLOADS_MAX);
		return false;
	}
	if (workload_check(w, &e) != 0) {
		convert_left(c, line, LEFT_LOAD, id, "left out: %s", e.text);
		return false;
	}
	s->workloads[s->n_workloads] = *w;
	unlike_others(s, id, s->workloads[s->n_workloads].id);
	convert_plain(
		c->origins[s->n_workloads], sizeof(c->origins[s->n_workloads]), origin);
	s->n_workloads++;
	return true;
}

size_t
convert_changed(const struct conversion *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_left; i++)
		n += c->left[i].kind == LEFT_LOAD;
	return n;
}

/* By line; what is of one line stays as it was listed. */
static void
sort_left(struct conversion *c)
{
	for (size_t width = 1; width < c->n_left; width *= 2) {
		struct left *sorted = xcalloc(c->n_left, sizeof(*sorted));

		for (size_t from = 0; from < c->n_left; from += 2 * width) {
			size_t mid = from + width < c->n_left ? from + width : c->n_left;
			size_t end = mid + width < c->n_left ? mid + width : c->n_left;
			size_t a = from, b = mid;

			for (size_t k = from; k < end; k++)
				sorted[k] = b == end || (a < mid &&
								c->left[a].line <=
									c->left[b].line)
						    ? c->left[a++]
						    : c->left[b++];
		}
		free(c->left);
		c->left = sorted;
	}
}

static void
add_source(json_t *list, json_t *of, const char *source)
{
	json_array_append_new(list, json_pack("{s:o, s:s, s:s}", "of", of, "status",
					    "own", "source", source));
}

/* Workloads that follow each other and come from the same lines share an entry. */
static json_t *
sources(const struct conversion *c)
{
	json_t *list = json_array();
	json_t *of = json_array();

	if (c->ramp_origin[0] != '\0')
		add_source(list, json_pack("[s]", "/ramp"), c->ramp_origin);
	for (size_t i = 0; i < c->suite->n_workloads; i++) {
		json_array_append_new(of, json_sprintf("/workloads/%zu", i));
		if (i + 1 < c->suite->n_workloads &&
			strcmp(c->origins[i], c->origins[i + 1]) == 0)
			continue;
		add_source(list, of, c->origins[i]);
		of = json_array();
	}
	json_decref(of);
	return list;
}

int
convert_finish(struct conversion *c, json_t **ret_doc, struct err *e)
{
	struct suite *again;
	json_t *doc, *body;
	int rc;

	sort_left(c);
	*ret_doc = NULL;
	if (c->suite->n_workloads == 0)
		return err_set(e, ERR_INVALID,
			"there is no workload in it that a suite can have");
	if (c->suite->fill_passes == 0)
		convert_note(c, "There is no preparation: the drive is neither filled "
				"nor preconditioned before it.");
	doc = json_pack("{s:s, s:s, s:i, s:s}", "ssdlab", "suite/v1", "name",
		c->suite->name, "version", (int)c->suite->version, "title",
		c->suite->title);
	if (c->notes[0] != '\0')
		json_put(doc, "notes", json_string(c->notes));
	body = convert_suite_json(c->suite);
	json_object_update(doc, body);
	json_decref(body);
	json_put(doc, "sources", sources(c));
	again = xcalloc(1, sizeof(*again));
	rc = suite_parse(doc, again, e);
	suite_fini(again);
	free(again);
	if (rc != 0) {
		json_decref(doc);
		return err_ctx(e, "the suite made of it");
	}
	*ret_doc = doc;
	return 0;
}
