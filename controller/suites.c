#include "controller/suites.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/parse.h"
#include "common/seal.h"
#include "common/str.h"
#include "common/suite.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/store.h"

static void
hash_of(const char *text, char ret_hex[2 * SEAL_HASH_BYTES + 1])
{
	uint8_t hash[SEAL_HASH_BYTES];

	seal_hash(text, strlen(text), hash);
	seal_hex(hash, sizeof(hash), ret_hex);
}

/* The stored suite of this name and version: 1 and its hash (owned), 0, or -1. */
static int
stored(struct tx *t, const struct suite *s, int64_t *ret_id, char **ret_hash,
	struct err *e)
{
	int rc = tx_int(t, ret_id, e,
		"SELECT id FROM suite WHERE name = ?1 AND version = ?2", "si", s->name,
		(int64_t)s->version);

	if (rc != 1)
		return rc;
	return tx_text(
		t, ret_hash, e, "SELECT digest FROM suite WHERE id = ?1", "i", *ret_id);
}

static int
add_checked(struct tx *t, const struct suite *s, const char *text, int64_t *ret_id,
	bool *ret_new, struct err *e)
{
	char hex[2 * SEAL_HASH_BYTES + 1];
	char *before = NULL;
	bool same;
	int rc = stored(t, s, ret_id, &before, e);

	hash_of(text, hex);
	same = rc == 1 && strcmp(before, hex) == 0;
	free(before);
	*ret_new = rc == 0;
	if (rc < 0)
		return -1;
	if (rc == 1 && same)
		return 0;
	if (rc == 1) {
		err_set(e, ERR_STATE, "suite %s@%u is there already with other content",
			s->name, (unsigned)s->version);
		err_at(e, "/version");
		return err_fix(e, "a suite never changes: give this one the version %u",
			(unsigned)s->version + 1);
	}
	if (tx_exec(t, e,
		    "INSERT INTO suite (name, version, doc, digest, scaled, created_ns)"
		    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
		    "sissii", s->name, (int64_t)s->version, text, hex, (int64_t)s->scaled,
		    tx_wall(t)) != 0)
		return -1;
	*ret_id = tx_last_id(t);
	return 0;
}

int
suites_add(struct tx *t, const json_t *doc, int64_t *ret_id, bool *ret_new, struct err *e)
{
	struct suite *s = xcalloc(1, sizeof(*s));
	struct str text = {0};
	int rc = suite_parse(doc, s, e);

	if (rc == 0)
		rc = suite_check_new(doc, s, e);
	if (rc == 0) {
		json_canonical(doc, &text);
		rc = add_checked(t, s, str_text(&text), ret_id, ret_new, e);
	}
	str_fini(&text);
	suite_fini(s);
	free(s);
	return rc;
}

static int
not_found(struct tx *t, const char *ref, struct err *e)
{
	char *names = NULL;

	if (tx_text(t, &names, e,
		    "SELECT group_concat(ref, ', ') FROM"
		    " (SELECT name || '@' || version AS ref FROM suite"
		    "  ORDER BY name, version LIMIT 20)",
		    "") < 0)
		return -1;
	err_set(e, ERR_NOTFOUND, "there is no suite %.80s", ref);
	if (names == NULL)
		err_fix(e, "ssdlab api POST /api/v1/suites <FILE adds one");
	else
		err_fix(e, "there are: %s", names);
	free(names);
	return -1;
}

int
suites_check(struct tx *t, const char *ref, struct err *e)
{
	int64_t one;
	int rc;

	if (ref == NULL)
		return 0;
	rc = tx_int(t, &one, e,
		"SELECT 1 FROM suite WHERE name = ?1 OR name || '@' || version = ?1"
		" LIMIT 1",
		"s", ref);
	return rc == 0 ? not_found(t, ref, e) : rc < 0 ? -1 : 0;
}

int
suites_find(struct tx *t, const char *ref, int64_t *ret_id, struct suite *ret_s,
	struct err *e)
{
	char name[SUITE_NAME_MAX];
	uint32_t version;
	char *text = NULL;
	json_t *doc;
	int rc;

	if (suite_parse_ref(ref, name, &version, e) != 0)
		return -1;
	rc = tx_int(t, ret_id, e, "SELECT id FROM suite WHERE name = ?1 AND version = ?2",
		"si", name, (int64_t)version);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return not_found(t, ref, e);
	if (ret_s == NULL)
		return 0;
	if (tx_text(t, &text, e, "SELECT doc FROM suite WHERE id = ?1", "i", *ret_id) < 0)
		return -1;
	doc = doc_stored(text);
	rc = suite_parse(doc, ret_s, e);
	if (rc != 0)
		err_ctx(e, "stored suite %.80s", ref);
	json_decref(doc);
	free(text);
	return rc;
}

/* The least capacity of a drive for a stored suite, a decimal string; null for any. */
static json_t *
minimum_of(const json_t *own)
{
	uint64_t bytes = 0;

	if (parse_size(json_text_of(own, "minimum_capacity"), &bytes, NULL) != 0)
		return json_null();
	return json_u64(bytes);
}

int
suites_json(struct tx *t, int64_t id, bool whole, json_t **ret_doc, struct err *e)
{
	json_t *doc, *own, *ids, *workload;
	struct cur *c;
	size_t i;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT name, version, scaled, created_ns, doc FROM suite WHERE id = "
		    "?1",
		    "i", id) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc <= 0) {
		cur_close(c);
		return rc < 0 ? -1 : err_set(e, ERR_NOTFOUND, "there is no such suite");
	}
	own = doc_stored(cur_text(c, 4));
	ids = json_array();
	json_array_foreach (
		json_object_get(own, json_has(own, "tests") ? "tests" : "workloads"), i,
		workload)
		json_array_append_new(ids, json_string(json_text_of(workload, "id")));
	doc = json_object();
	json_put(doc, "name", json_string(cur_text(c, 0)));
	json_put(doc, "version", json_integer(cur_int(c, 1)));
	json_put(doc, "title",
		json_string(
			json_text_of(own, json_has(own, "title") ? "title" : "name")));
	json_put(doc, "scaled", json_boolean(cur_int(c, 2) != 0));
	json_put(doc, "workloads", ids);
	json_put(doc, "created", api_time(cur_int(c, 3)));
	json_put(doc, "minimum_capacity_bytes", minimum_of(own));
	if (whole)
		json_put(doc, "document", json_incref(own));
	json_decref(own);
	cur_close(c);
	*ret_doc = doc;
	return 0;
}

static void
load_file(struct tx *t, const char *path, struct err *e)
{
	json_t *doc = NULL;
	struct err why = {0};
	int64_t id;
	bool is_new;

	if (json_read_file(path, &doc, &why) == 0 &&
		suites_add(t, doc, &id, &is_new, &why) == 0) {
		if (is_new)
			log_info("suites.added", "file=%s", log_q(path));
	} else if (why.class == ERR_STORE || why.class == ERR_FULL) {
		*e = why;
	} else {
		err_ctx(&why, "%s", path);
		log_failure(LOG_LEVEL_ERR, "suites.refused", &why);
	}
	json_decref(doc);
}

int
suites_load(struct tx *t, void *arg, struct err *e)
{
	const char *dir = arg;
	struct dirent **list;
	struct err why = {0};
	int n = scandir(dir, &list, NULL, alphasort);

	if (n < 0) {
		err_errno(&why, ERR_IO, errno, "read suite directory %s", dir);
		log_failure(LOG_LEVEL_WARN, "suites.no_directory", &why);
		return 0;
	}
	for (int i = 0; i < n; i++) {
		size_t len = strlen(list[i]->d_name);
		char *path = xasprintf("%s/%s", dir, list[i]->d_name);

		if (len > 5 && strcmp(list[i]->d_name + len - 5, ".json") == 0 &&
			e->class == ERR_NONE)
			load_file(t, path, e);
		free(path);
		free(list[i]);
	}
	free(list);
	return e->class == ERR_NONE ? 0 : -1;
}
