#include "controller/environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/seal.h"
#include "common/str.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/store.h"

int
environment_note(struct tx *t, int64_t attempt, const json_t *manifest, struct err *e)
{
	uint8_t hash[SEAL_HASH_BYTES];
	char hex[2 * SEAL_HASH_BYTES + 1];
	struct str text = {0};
	int rc = -1;

	if (!json_is_object(manifest))
		return err_set(e, ERR_INVALID, "an environment without a manifest");
	json_canonical(manifest, &text);
	if (text.len > ENVIRONMENT_MAX_BYTES) {
		err_set(e, ERR_LIMIT, "a manifest of %zu bytes; at most %d are kept",
			text.len, ENVIRONMENT_MAX_BYTES);
		goto out;
	}
	seal_hash(text.data, text.len, hash);
	seal_hex(hash, sizeof(hash), hex);
	rc = tx_exec(t, e,
		"INSERT INTO environment(hash, manifest, first_seen_ns) VALUES (?, ?, ?)"
		" ON CONFLICT(hash) DO NOTHING",
		"ssi", hex, str_text(&text), tx_wall(t));
	if (rc == 0)
		rc = tx_exec(t, e,
			"UPDATE attempt SET environment_id ="
			" (SELECT id FROM environment WHERE hash = ?)"
			" WHERE id = ? AND environment_id IS NULL",
			"si", hex, attempt);
out:
	str_fini(&text);
	return rc;
}

static const char *
text_at(const json_t *manifest, const char *section, const char *name)
{
	return json_text_of(json_object_get(manifest, section), name);
}

/* Appends a text with a comma before it, unless it is empty. */
static void
add_part(struct str *out, const char *before, const char *text)
{
	if (text[0] != '\0')
		str_printf(out, "%s%s%s", out->len > 0 ? ", " : "", before, text);
}

void
environment_summary(const json_t *m, struct str *out)
{
	const json_t *width = json_object_get(json_object_get(m, "link"), "width");
	const char *speed = text_at(m, "link", "speed");

	add_part(out, "Linux ", text_at(m, "kernel", "release"));
	add_part(out, "", text_at(m, "processor", "model"));
	add_part(out, "governor ", text_at(m, "processor", "governor"));
	add_part(out, "scheduler ", text_at(m, "queue", "scheduler"));
	if (speed[0] != '\0' && json_is_integer(width)) {
		add_part(out, "PCIe ", speed);
		str_printf(out, " x%d", (int)json_integer_value(width));
	}
	add_part(out, "in ", text_at(m, "host", "container"));
	add_part(out, "virtual machine of ", text_at(m, "host", "virtual_machine"));
}

/* {hash, summary} from two columns. */
static json_t *
brief(struct cur *c)
{
	json_t *manifest = doc_stored(cur_text(c, 1));
	json_t *o = json_object();
	struct str text = {0};

	environment_summary(manifest, &text);
	json_put(o, "hash", json_string(cur_text(c, 0)));
	json_put(o, "summary", json_text(str_text(&text)));
	str_fini(&text);
	json_decref(manifest);
	return o;
}

int
environment_json(struct tx *t, int64_t id, json_t **ret_doc, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT hash, manifest, first_seen_ns FROM environment"
		    " WHERE id = ?",
		    "i", id) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		*ret_doc = brief(c);
		json_put(*ret_doc, "first_seen", api_time(cur_int(c, 2)));
		json_put(*ret_doc, "manifest", doc_stored(cur_text(c, 1)));
	}
	cur_close(c);
	return rc == 0 ? err_set(e, ERR_NOTFOUND, "there is no such environment")
		       : -(rc < 0);
}

int
environment_of(struct tx *t, int64_t attempt, json_t **ret_doc, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT n.hash, n.manifest FROM attempt a"
		    " JOIN environment n ON n.id = a.environment_id WHERE a.id = ?",
		    "i", attempt) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc >= 0)
		*ret_doc = rc == 1 ? brief(c) : json_null();
	cur_close(c);
	return rc < 0 ? -1 : 0;
}

/* What is compared anyway, as facts of the drive. */
static bool
is_told_elsewhere(const char *path)
{
	static const char *const paths[] = {"environment.drive.model",
		"environment.drive.kind", "environment.drive.firmware",
		"environment.drive.capacity_bytes", NULL};

	for (size_t i = 0; paths[i] != NULL; i++)
		if (strcmp(path, paths[i]) == 0)
			return true;
	return false;
}

/* The object at name, made if it is not there. Borrowed. */
static json_t *
object_at(json_t *o, const char *name)
{
	if (json_object_get(o, name) == NULL)
		json_put(o, name, json_object());
	return json_object_get(o, name);
}

static void
add_value(json_t *all, const char *path, const char *side, const json_t *v)
{
	json_t *values = object_at(object_at(all, path), side);
	char *text;

	if (json_is_string(v)) {
		json_put(values, json_string_value(v), json_true());
		return;
	}
	text = json_is_null(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
	json_put(values, text != NULL ? text : "-", json_true());
	free(text);
}

/* Adds the members of o, an object of an object at most: all[path][side] is the set of
 * their values as text. */
static void
flatten(json_t *all, const char *path, const char *side, const json_t *o)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)o, name, v) {
		struct str longer = {0};

		str_printf(&longer, "%s.%s", path, name);
		if (json_is_object(v)) /* NOLINTNEXTLINE(misc-no-recursion): depth 16 */
			flatten(all, str_text(&longer), side, v);
		else if (!is_told_elsewhere(str_text(&longer)))
			add_value(all, str_text(&longer), side, v);
		str_fini(&longer);
	}
}

/* Adds the manifests of the attempts; their number, or -1. */
static int
add_side(struct tx *t, json_t *all, const char *side, const struct environment_set *s,
	struct err *e)
{
	int found = 0;

	for (size_t i = 0; i < s->n; i++) {
		char *text = NULL;
		int rc = tx_text(t, &text, e,
			"SELECT n.manifest FROM attempt a"
			" JOIN environment n ON n.id = a.environment_id WHERE a.id = ?",
			"i", s->ids[i]);
		json_t *manifest;

		if (rc < 0)
			return -1;
		if (rc == 0)
			continue;
		manifest = doc_stored(text);
		flatten(all, "environment", side, manifest);
		json_decref(manifest);
		free(text);
		found++;
	}
	return found;
}

/* The values of one side, joined; what is not there is "-", as null is. */
static void
join(const json_t *values, struct str *out)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)values, name, v)
		str_printf(out, "%s%s", out->len > 0 ? ", " : "", name);
	if (out->len == 0)
		str_puts(out, "-");
}

static void
add_difference(json_t *list, const char *path, const json_t *sides)
{
	struct str a = {0}, b = {0};

	join(json_object_get(sides, "a"), &a);
	join(json_object_get(sides, "b"), &b);
	if (strcmp(str_text(&a), str_text(&b)) != 0)
		json_array_append_new(list,
			json_pack("{s:s, s:o, s:o}", "what", path, "a",
				json_text(str_text(&a)), "b", json_text(str_text(&b))));
	str_fini(&a);
	str_fini(&b);
}

int
environment_differs(struct tx *t, const struct environment_set *a,
	const struct environment_set *b, json_t *list, struct err *e)
{
	json_t *all = json_object();
	int found_a = add_side(t, all, "a", a, e);
	int found_b = found_a < 0 ? -1 : add_side(t, all, "b", b, e);
	const char *path;
	json_t *sides;

	json_object_foreach (all, path, sides)
		if (found_a > 0 && found_b > 0)
			add_difference(list, path, sides);
	json_decref(all);
	return found_b < 0 ? -1 : 0;
}
