#include "controller/ledger.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/fact.h"
#include "controller/store.h"

/* Behind all records of an attempt. */
#define SEQ_BEHIND INT64_MAX

#define SELECT_ROW                                                                    \
	"SELECT l.kind, l.at_ns, a.run_id, l.attempt_id, l.written_bytes, l.detail, " \
	"l.seq"                                                                       \
	" FROM ledger l LEFT JOIN attempt a ON a.id = l.attempt_id"

/* A decimal text or a number; 0 for neither. */
static uint64_t
count_of(const json_t *v)
{
	uint64_t n = 0;

	if (json_is_integer(v) && json_integer_value(v) > 0)
		return (uint64_t)json_integer_value(v);
	if (json_is_string(v))
		parse_uint(json_string_value(v), 0, INT64_MAX, &n, NULL);
	return n;
}

/* A row of an attempt. */
struct row {
	uint64_t seq;
	const char *kind;
	int64_t at_ns;
	uint64_t written;
};

/* Takes detail. */
static int
add(struct tx *t, const struct origin *o, const struct row *r, json_t *detail,
	struct err *e)
{
	char *text = doc_text(detail);
	int rc = tx_exec(t, e,
		"INSERT INTO ledger (drive_id, attempt_id, seq, kind, at_ns, "
		"written_bytes,"
		" detail) SELECT drive_id, ?1, ?2, ?3, ?4, ?5, ?6 FROM run WHERE id = ?7",
		"iisiisi", o->attempt, (int64_t)r->seq, r->kind, r->at_ns,
		(int64_t)r->written, text, o->run);

	free(text);
	return rc;
}

/* The members of a record that a row keeps. New reference. */
static json_t *
pick(const json_t *doc, const char *const names[])
{
	json_t *o = json_object();

	for (size_t i = 0; names[i] != NULL; i++) {
		json_t *v = json_object_get(doc, names[i]);

		if (v != NULL)
			json_object_set(o, names[i], v);
	}
	return o;
}

int
ledger_doubt(struct tx *t, const struct origin *o, const struct ledger_place *p,
	json_t *detail, struct err *e)
{
	const struct row r = {p->seq, "unknown", p->at_ns, p->written};

	return add(t, o, &r, detail, e);
}

int
ledger_lost(struct tx *t, const struct origin *o, const char *why, struct err *e)
{
	const struct row r = {SEQ_BEHIND, "unknown", tx_wall(t), 0};
	json_t *detail = json_object();

	json_put(detail, "why", json_text(why));
	return add(t, o, &r, detail, e);
}

/* The end of a point, or of a purge, is known after all. */
static int
drop_doubt(struct tx *t, const struct origin *o, const json_t *doc, bool is_point,
	struct err *e)
{
	const char *name = is_point ? "point" : "step";

	return tx_exec(t, e,
		"DELETE FROM ledger WHERE attempt_id = ?1 AND kind = 'unknown'"
		" AND detail ->> ?2 = ?3 AND (detail ->> 'point' IS NOT NULL) = ?4",
		"isii", o->attempt, name,
		(int64_t)json_integer_value(json_object_get(doc, name)),
		(int64_t)is_point);
}

/* Nobody had the drive between two runners of one attempt. */
static int
note_restart(struct tx *t, const struct origin *o, const struct row *r, struct err *e)
{
	struct row unknown = *r;
	json_t *detail = json_object();

	unknown.kind = "unknown";
	json_put(detail, "why",
		json_sprintf("the runner of r%" PRId64 " was started anew", o->run));
	return add(t, o, &unknown, detail, e);
}

/* How an attempt found its drive; only its first runner found it as it was. */
static int
note_found(struct tx *t, const struct origin *o, const struct row *r, const json_t *doc,
	struct err *e)
{
	if (tx_exec(t, e,
		    "UPDATE attempt SET witness_found = ?1 WHERE id = ?2"
		    " AND witness_found IS NULL",
		    "si", json_text_of(doc, "witness"), o->attempt) != 0)
		return -1;
	return tx_changes(t) > 0 ? 0 : note_restart(t, o, r, e);
}

static int
note_left(struct tx *t, const struct origin *o, const json_t *doc, struct err *e)
{
	return tx_exec(t, e, "UPDATE attempt SET witness_left = ?1 WHERE id = ?2", "si",
		json_text_of(doc, "witness"), o->attempt);
}

/* A step that was not needed, or was. New reference. */
static json_t *
prepare_detail(const json_t *doc)
{
	json_t *o = json_object();

	json_put(o, "what", json_text(json_text_of(doc, "kind")));
	json_put(o, "why", json_text(json_text_of(doc, "text")));
	json_put(o, "passes", json_incref(json_object_get(doc, "passes")));
	return o;
}

int
ledger_event(struct tx *t, const struct origin *o, uint64_t seq, const json_t *doc,
	struct err *e)
{
	static const char *const names[] = {
		"step", "state", "method", "passed_over", "took_ns", "read_back", NULL};

	const char *event = json_text_of(doc, "event");
	struct row r = {
		.seq = seq,
		.at_ns = (int64_t)count_of(json_object_get(doc, "at_ns")),
	};

	if (strcmp(event, "drive.found") == 0)
		return note_found(t, o, &r, doc, e);
	if (strcmp(event, "drive.left") == 0)
		return note_left(t, o, doc, e);
	if (strcmp(event, "run.resumed") == 0)
		return note_restart(t, o, &r, e);
	if (strcmp(event, "prepare.skipped") == 0 ||
		strcmp(event, "prepare.repeated") == 0) {
		r.kind = strcmp(event, "prepare.skipped") == 0 ? "skip" : "repeat";
		return add(t, o, &r, prepare_detail(doc), e);
	}
	if (strcmp(event, "purge.end") != 0)
		return 0;
	if (drop_doubt(t, o, doc, false, e) != 0)
		return -1;
	r.kind = "purge";
	r.written = count_of(json_object_get(doc, "written_bytes"));
	return add(t, o, &r, pick(doc, names), e);
}

int
ledger_point(struct tx *t, const struct origin *o, uint64_t seq, const json_t *doc,
	struct err *e)
{
	static const char *const names[] = {"step", "point", "state", "workload",
		"load_percent", "offered_iops", NULL};
	const json_t *trims = json_object_get(json_object_get(doc, "others"), "trim");
	uint64_t trimmed = count_of(json_object_get(trims, "bytes"));
	bool fill = strcmp(json_text_of(doc, "workload"), "fill") == 0;
	const struct row r = {
		.seq = seq,
		.kind = fill ? "fill" : "workload",
		.at_ns = (int64_t)(count_of(json_object_get(doc, "started_ns")) +
				   count_of(json_object_get(doc, "length_ns"))),
		.written = count_of(json_object_get(doc, "written_bytes")),
	};
	json_t *detail;

	if (drop_doubt(t, o, doc, true, e) != 0)
		return -1;
	if (r.written == 0 && trimmed == 0 && !fill)
		return 0;
	detail = pick(doc, names);
	json_put(detail, "trimmed_bytes", json_u64(trimmed));
	return add(t, o, &r, detail, e);
}

int
ledger_unknown(struct tx *t, int64_t drive, const char *why, struct err *e)
{
	json_t *detail = json_object();
	char *text;
	int rc;

	json_put(detail, "why", json_text(why));
	text = doc_text(detail);
	rc = tx_exec(t, e,
		"INSERT INTO ledger (drive_id, attempt_id, seq, kind, at_ns, "
		"written_bytes,"
		" detail) VALUES (?1, (SELECT max(a.id) FROM attempt a JOIN run r"
		"  ON r.id = a.run_id WHERE r.drive_id = ?1), ?2, 'unknown', ?3, 0, ?4)",
		"iiis", drive, (int64_t)SEQ_BEHIND, tx_wall(t), text);
	free(text);
	return rc;
}

int
ledger_repeat(
	struct tx *t, int64_t attempt, const char *what, const char *why, struct err *e)
{
	json_t *detail = json_object();
	char *text;
	int rc;

	json_put(detail, "what", json_string(what));
	json_put(detail, "why", json_text(why));
	text = doc_text(detail);
	rc = tx_exec(t, e,
		"INSERT INTO ledger (drive_id, attempt_id, seq, kind, at_ns, "
		"written_bytes,"
		" detail) SELECT r.drive_id, a.id, 0, 'repeat', ?1, 0, ?2 FROM attempt a"
		" JOIN run r ON r.id = a.run_id WHERE a.id = ?3",
		"isi", tx_wall(t), text, attempt);
	free(text);
	return rc;
}

/* "4.05 s", "12 min", "2.5 h": as exact as people read it. */
static void
put_took(uint64_t ns, struct str *out)
{
	double s = (double)ns / 1e9;

	if (s < 300)
		str_printf(out, s < 100 ? "%.3g s" : "%.0f s", s);
	else if (s < 7200)
		str_printf(out, "%.0f min", s / 60);
	else
		str_printf(out, "%.1f h", s / 3600);
}

static void
put_method(const json_t *detail, struct str *out)
{
	const json_t *seen = json_object_get(detail, "read_back");

	str_printf(out, "by %s in ", json_text_of(detail, "method"));
	put_took(count_of(json_object_get(detail, "took_ns")), out);
	if (json_is_object(seen))
		str_printf(out,
			"; of %" PRIu64 " sampled blocks %" PRIu64
			" read as zeroes, %" PRIu64 " as before",
			count_of(json_object_get(seen, "blocks")),
			count_of(json_object_get(seen, "zero")),
			count_of(json_object_get(seen, "unchanged")));
}

/* "; not by sanitize: a virtual drive has no such command" */
static void
put_passed_over(const json_t *detail, struct str *out)
{
	const json_t *list = json_object_get(detail, "passed_over");
	json_t *item;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)list, i, item)
		str_printf(out, "; not by %s: %s", json_text_of(item, "method"),
			json_text_of(item, "why"));
}

/* A row as a sentence. */
static void
describe(const char *kind, const json_t *detail, struct str *out)
{
	const char *state = json_text_of(detail, "state");
	const json_t *load = json_object_get(detail, "load_percent");
	const json_t *rate = json_object_get(detail, "offered_iops");

	if (strcmp(kind, "purge") == 0) {
		str_puts(out, "purge ");
		put_method(detail, out);
		put_passed_over(detail, out);
	} else if (strcmp(kind, "fill") == 0) {
		str_puts(out, "fill");
	} else if (strcmp(kind, "workload") == 0) {
		str_puts(out, json_text_of(detail, "workload"));
		if (json_is_number(load))
			str_printf(out, " at %g %%", json_number_value(load));
		else if (json_is_number(rate))
			str_printf(out, " at %.0f IOPS", json_number_value(rate));
	} else if (strcmp(kind, "unknown") == 0) {
		str_puts(out, json_text_of(detail, "why"));
	} else {
		str_printf(out, "%s %s: %s", json_text_of(detail, "what"),
			strcmp(kind, "skip") == 0 ? "skipped" : "repeated",
			json_text_of(detail, "why"));
	}
	if (state[0] != '\0' && strcmp(state, "done") != 0)
		str_printf(out, " (%s)", state);
}

/* The document of the present row of a SELECT_ROW. New reference. */
static json_t *
row_doc(struct cur *c)
{
	json_t *doc = json_object();
	json_t *detail = doc_stored(cur_text(c, 5));
	struct str text = {0};

	describe(cur_text(c, 0), detail, &text);
	json_put(doc, "at", api_time(cur_int(c, 1)));
	json_put(doc, "kind", json_string(cur_text(c, 0)));
	json_put(doc, "run", cur_null(c, 2) ? json_null() : api_id('r', cur_int(c, 2)));
	json_put(doc, "attempt",
		cur_null(c, 3) ? json_null() : json_u64((uint64_t)cur_int(c, 3)));
	json_put(doc, "written_bytes", json_u64((uint64_t)cur_int(c, 4)));
	json_put(doc, "text", json_text(str_text(&text)));
	json_put(doc, "detail", detail);
	str_fini(&text);
	return doc;
}

int
ledger_json(struct tx *t, int64_t row, json_t **ret_doc, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e, SELECT_ROW " WHERE l.id = ?1", "i", row) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1)
		*ret_doc = row_doc(c);
	cur_close(c);
	if (rc == 0)
		return err_set(e, ERR_NOTFOUND, "there is no row %" PRId64, row);
	return rc < 0 ? -1 : 0;
}

/* A place in the order of rows. */
struct place {
	int64_t attempt, seq;
};

/* The latest row of a kind that was done, or null, and its place. New reference; NULL on
 * error. */
static json_t *
latest(struct tx *t, int64_t drive, const char *kind, struct place *ret_p, struct err *e)
{
	json_t *doc = NULL;
	struct cur *c;
	int rc;

	*ret_p = (struct place){0};
	if (tx_query(t, &c, e,
		    SELECT_ROW " WHERE l.drive_id = ?1 AND l.kind = ?2"
			       " AND l.detail ->> 'state' = 'done'"
			       " ORDER BY l.attempt_id DESC, l.seq DESC LIMIT 1",
		    "is", drive, kind) != 0)
		return NULL;
	rc = cur_next(c, e);
	if (rc == 1)
		*ret_p = (struct place){cur_int(c, 3), cur_int(c, 6)};
	if (rc >= 0)
		doc = rc == 1 ? row_doc(c) : json_null();
	cur_close(c);
	return doc;
}

/* What holds the drive now is not known after an unknown row, and after a purge that did
 * not come to its end: nobody can say how far it went. */
static int
put_pattern(struct tx *t, int64_t drive, json_t *doc, struct err *e)
{
	char *text = NULL;
	int rc = tx_text(t, &text, e,
		"SELECT CASE WHEN kind = 'unknown' OR (kind = 'purge'"
		"  AND coalesce(detail ->> 'state', '') <> 'done') THEN ''"
		"  ELSE coalesce(detail ->> 'workload', kind) END FROM ledger"
		" WHERE drive_id = ?1"
		" AND kind IN ('purge', 'fill', 'workload', 'unknown')"
		" ORDER BY attempt_id DESC, seq DESC, id DESC LIMIT 1",
		"i", drive);

	if (rc >= 0)
		json_put(doc, "last_pattern",
			rc == 1 && text[0] != '\0' ? json_text(text) : json_null());
	free(text);
	return rc < 0 ? -1 : 0;
}

int
ledger_summary(struct tx *t, int64_t drive, json_t **ret_doc, struct err *e)
{
	struct place p;
	int64_t written = 0;
	json_t *filled = latest(t, drive, "fill", &p, e);
	json_t *purged = filled != NULL ? latest(t, drive, "purge", &p, e) : NULL;
	json_t *doc;

	if (purged == NULL) {
		json_decref(filled);
		return -1;
	}
	doc = json_object();
	json_put(doc, "filled", filled);
	json_put(doc, "purged", purged);
	if (put_pattern(t, drive, doc, e) != 0 ||
		tx_int(t, &written, e,
			"SELECT sum(written_bytes) FROM ledger WHERE drive_id = ?1"
			" AND (coalesce(attempt_id, 0), seq) > (?2, ?3)",
			"iii", drive, p.attempt, p.seq) < 0) {
		json_decref(doc);
		return -1;
	}
	json_put(doc, "written_bytes", json_u64((uint64_t)written));
	*ret_doc = doc;
	return 0;
}

int
ledger_of_run(struct tx *t, int64_t run, json_t **ret_list, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    SELECT_ROW " WHERE a.run_id = ?1 AND l.kind IN ('purge', 'fill', "
			       "'skip', 'repeat')"
			       " ORDER BY l.attempt_id, l.seq",
		    "i", run) != 0)
		return -1;
	*ret_list = json_array();
	while ((rc = cur_next(c, e)) == 1)
		json_array_append_new(*ret_list, row_doc(c));
	cur_close(c);
	if (rc == 0)
		return 0;
	json_decref(*ret_list);
	return -1;
}
