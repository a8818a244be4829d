/* import: results of other tools; foreign: what was imported. */
#include <string.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/foreign.h"
#include "cli/ref.h"
#include "cli/show.h"
#include "common/document.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

#define FOREIGN "/api/v1/foreign"

static void
scaled(const json_t *item, struct str *out)
{
	const json_t *v = json_object_get(item, "scaled");

	str_puts(out, json_is_null(v) ? "unknown" : json_is_true(v) ? "yes" : "no");
}

static const struct column results[] = {
	{"ID", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"SUBJECT", "subject", UNIT_TEXT, 0, NULL},
	{"TOOL", "tool", UNIT_TEXT, 0, NULL},
	{"VERSION", "tool_version", UNIT_TEXT, 0, NULL},
	{"SOURCE", "source", UNIT_TEXT, 0, NULL},
	{"SCALED", "scaled", UNIT_TEXT, 0, scaled},
	{"POINTS", "n_points", UNIT_WHOLE, 0, NULL},
	{"IMPORTED", "imported", UNIT_TIME, 0, NULL},
	{"BY", "imported_by", UNIT_TEXT, COL_WIDE, NULL},
};

static const struct column points[] = {
	{"WORKLOAD", "workload", UNIT_TEXT, COL_KEEP, NULL},
	{"POINT", "point", UNIT_TEXT, 0, NULL},
	{"IOPS", "iops", UNIT_COUNT, 0, NULL},
	{"BANDWIDTH", "bytes_per_second", UNIT_BYTES_PER_S, 0, NULL},
	{"MEAN", "lat_mean_ns", UNIT_NS, 0, NULL},
	{"P99", "lat_p99_ns", UNIT_NS, 0, NULL},
	{"P99.9", "lat_p99.9_ns", UNIT_NS, 0, NULL},
	{"IN FLIGHT", "in_flight", UNIT_COUNT, COL_WIDE, NULL},
	{"IOPS X MEAN", "littles_n", UNIT_COUNT, COL_WIDE, NULL},
	{"TRANSACTIONS/S", "transactions_per_second", UNIT_COUNT, COL_WIDE, NULL},
	{"DURATION", "duration_ns", UNIT_SPAN, COL_WIDE, NULL},
	{"MARKS", "marks", UNIT_TEXTS, 0, NULL},
	{"NOTE", "note", UNIT_TEXT, COL_WIDE, NULL},
};

static bool
has_mark(const json_t *point, const char *name)
{
	json_t *mark;
	size_t i;

	json_array_foreach (json_object_get(point, "marks"), i, mark)
		if (strcmp(json_string_value(mark), name) == 0)
			return true;
	return false;
}

/* Says once of a result that its percentiles are others than those it is compared with.
 */
static void
tell_clat(const json_t *doc)
{
	size_t n = 0, i;
	json_t *p;

	json_array_foreach (json_object_get(doc, "points"), i, p)
		n += has_mark(p, "clat");
	if (n > 0)
		talk("%s: %zu of %zu points: %s", json_text_of(doc, "id"), n, i,
			FOREIGN_NO_BINS);
}

/* Says what is doubtful of a result that was taken. */
static void
tell_marks(const json_t *doc)
{
	const char *id = json_text_of(doc, "id");
	json_t *p;
	size_t i;

	json_array_foreach (json_object_get(doc, "points"), i, p) {
		const char *quality = json_text_of(p, "quality");
		bool doubtful = strcmp(quality, "suspect") == 0 ||
				strcmp(quality, "contradictory") == 0;
		json_t *mark;
		size_t k;

		if (doubtful)
			talk("%s: %s %s: %s in the file: %s", id,
				json_text_of(p, "workload"), json_text_of(p, "point"),
				quality, json_text_of(p, "note"));
		json_array_foreach (json_object_get(p, "marks"), k, mark)
			if (strcmp(json_string_value(mark), "littles-law") == 0)
				talk("%s: %s %s: IOPS x latency is %.1f in flight, "
				     "%s%.0f "
				     "were",
					id, json_text_of(p, "workload"),
					json_text_of(p, "point"),
					json_number_value(
						json_object_get(p, "littles_n")),
					json_is_true(json_object_get(p, "saturated"))
						? ""
						: "at most ",
					json_number_value(
						json_object_get(p, "in_flight")));
	}
}

/* Sends the documents and shows what became of them. */
static int
send_all(struct cli *c, const json_t *docs, struct err *e)
{
	json_t *taken = json_array();
	json_t *doc;
	size_t i;
	int rc = 0;

	json_array_foreach ((json_t *)(uintptr_t)docs, i, doc) {
		json_t *answer = NULL;

		rc = client_post(c->client, FOREIGN, doc, &answer, e);
		if (rc != 0) {
			if (json_array_size(docs) > 1)
				err_ctx(e, "%s", json_text_of(doc, "subject"));
			err_ctx(e, "%s", c->args[0]);
			break;
		}
		tell_marks(answer);
		tell_clat(answer);
		json_object_del(answer, "points");
		json_array_append_new(taken, answer);
	}
	if (rc == 0 || json_array_size(taken) > 0) {
		if (c->out.format == OUT_JSON)
			out_json(&c->out, taken);
		else
			table_print(&c->out, taken, COLUMNS(results));
	}
	json_decref(taken);
	return rc;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(path, "-") == 0 ? "stdin" : slash != NULL ? slash + 1 : path;
}

typedef int read_fn(const char *text, size_t len, const struct foreign_origin *o,
	json_t **ret_doc, struct err *e);

static int
import(struct cli *c, read_fn *read, struct err *e)
{
	const char *subject = c->flags[FLAG_SUBJECT];
	struct foreign_origin o = {base_name(c->args[0]), subject != NULL ? subject : ""};
	struct str text = {0};
	json_t *docs = NULL;
	int rc = document_text(c->args[0], FOREIGN_MAX_BYTES, &text, e);

	if (rc == 0) {
		rc = read(str_text(&text), text.len, &o, &docs, e);
		if (rc != 0)
			err_ctx(e, "%s", c->args[0]);
	}
	if (rc == 0 && !json_is_array(docs)) {
		json_t *list = json_array();

		json_array_append_new(list, docs);
		docs = list;
	}
	if (rc == 0)
		rc = send_all(c, docs, e);
	json_decref(docs);
	str_fini(&text);
	return rc;
}

int
cmd_import_fio(struct cli *c, struct err *e)
{
	return import(c, foreign_fio, e);
}

int
cmd_import_vdbench(struct cli *c, struct err *e)
{
	return import(c, foreign_vdbench, e);
}

int
cmd_import_published(struct cli *c, struct err *e)
{
	return import(c, foreign_published, e);
}

int
cmd_foreign_ls(struct cli *c, struct err *e)
{
	const struct listing l = {FOREIGN, SHOW_ALL, COLUMNS(results),
		"no foreign results: ssdlab import takes those of fio and vdbench", NULL};

	return show_list(c, &l, e);
}

int
cmd_foreign_show(struct cli *c, struct err *e)
{
	struct str path = {0};
	struct ref ref;
	json_t *doc = NULL;
	int rc;

	if (show_arg_id(c, 'x', &ref, e) != 0)
		return -1;
	str_printf(&path, FOREIGN "/%s", ref.id);
	rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0 && c->out.format == OUT_CSV) {
		table_print(&c->out, json_object_get(doc, "points"), COLUMNS(points));
	} else if (rc == 0) {
		show_item(c, doc, COLUMNS(results));
		if (show_for_people(c)) {
			show_title(&c->out, "Points");
			table_print(
				&c->out, json_object_get(doc, "points"), COLUMNS(points));
		}
	}
	json_decref(doc);
	str_fini(&path);
	return rc;
}
