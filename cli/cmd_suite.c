#include <stdlib.h>
#include <string.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/show.h"
#include "cli/suite_parts.h"
#include "common/document.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/sources.h"
#include "common/str.h"
#include "common/suite.h"
#include "common/xalloc.h"

static void
full_name(const json_t *suite, struct str *out)
{
	str_printf(out, "%s@", json_text_of(suite, "name"));
	raw_value(json_object_get(suite, "version"), out);
}

/* How many; their ids would fill lines. */
static void
workload_count(const json_t *suite, struct str *out)
{
	str_printf(out, "%zu", json_array_size(json_object_get(suite, "workloads")));
}

/* In binary units where the suite means those: "1GiB", but "1.00 TB". */
static void
smallest(const json_t *suite, struct str *out)
{
	double bytes;
	char size[40];

	if (!json_number(json_object_get(suite, "minimum_capacity_bytes"), &bytes))
		return;
	if ((uint64_t)bytes % (1024 * 1024) == 0)
		str_puts(out, format_size((uint64_t)bytes, size, sizeof(size)));
	else
		human_bytes(bytes, out);
}

static const struct column suites[] = {
	{"SUITE", "suite", UNIT_TEXT, COL_KEEP, full_name},
	{"TITLE", "title", UNIT_TEXT, 0, NULL},
	{"SCALED", "scaled", UNIT_YES, 0, NULL},
	{"SMALLEST DRIVE", "minimum_capacity_bytes", UNIT_BYTES, 0, smallest},
	{"WORKLOADS", "workloads", UNIT_WHOLE, COL_PEOPLE, workload_count},
	{"WORKLOAD IDS", "workloads", UNIT_TEXTS, COL_WIDE, NULL},
	{"CREATED", "created", UNIT_TIME, COL_WIDE, NULL},
};

static void
access_of(const json_t *w, struct str *out)
{
	if (json_has(w, "random"))
		str_printf(out, "%s random", json_text_of(w, "random"));
	else
		str_puts(out, json_text_of(w, "access"));
}

/* What does not read. */
static void
operation_of(const json_t *w, struct str *out)
{
	if (strcmp(json_text_of(w, "read"), "100%") == 0)
		str_puts(out, "-");
	else
		str_puts(out, json_has(w, "operation") ? json_text_of(w, "operation")
						       : "write");
}

/* The smallest of the sizes that is above *bytes, which becomes its own; or NULL. */
static const char *
next_size(const json_t *blocks, uint64_t *bytes)
{
	const char *size, *next = NULL;
	uint64_t n, least = UINT64_MAX;
	json_t *share;

	json_object_foreach ((json_t *)(uintptr_t)blocks, size, share)
		if (parse_size(size, &n, NULL) == 0 && n > *bytes && n < least) {
			least = n;
			next = size;
		}
	*bytes = least;
	return next;
}

/* One size, or sizes with their shares, which a stored suite has in the order of letters.
 */
static void
put_blocks(const json_t *blocks, struct str *out)
{
	const char *size, *gap = "";
	uint64_t bytes = 0;

	if (json_is_string(blocks))
		str_puts(out, json_string_value(blocks));
	while ((size = next_size(blocks, &bytes)) != NULL) {
		str_printf(out, "%s%s %s", gap, size, json_text_of(blocks, size));
		gap = ", ";
	}
}

static void
block_of(const json_t *w, struct str *out)
{
	bool reads = json_has(w, "read_block"), writes = json_has(w, "write_block");

	put_blocks(json_object_get(w, "block"), out);
	if (reads) {
		str_puts(out, "reads ");
		put_blocks(json_object_get(w, "read_block"), out);
	}
	if (writes) {
		str_puts(out, reads ? "; writes " : "writes ");
		put_blocks(json_object_get(w, "write_block"), out);
	}
}

static void
region_of(const json_t *w, struct str *out)
{
	const json_t *region = json_object_get(w, "region");

	if (region == NULL)
		str_puts(out, "all");
	else
		str_printf(out, "%s to %s", json_text_of(region, "from"),
			json_text_of(region, "to"));
}

static void
distribution_of(const json_t *w, struct str *out)
{
	const json_t *d = json_object_get(w, "distribution");
	const json_t *zones = json_object_get(d, "zones");
	const json_t *zone;
	size_t i;

	if (d == NULL)
		str_puts(out, "uniform");
	else if (json_is_string(d))
		str_puts(out, json_string_value(d));
	else if (json_has(d, "zipf"))
		str_printf(out, "zipf %g", json_number_value(json_object_get(d, "zipf")));
	json_array_foreach (zones, i, zone)
		str_printf(out, "%s%s in %s",
			i > 0 ? ", " : "zones: ", json_text_of(zone, "share"),
			json_text_of(zone, "space"));
}

/* A row for each stream. */
static const struct column workloads[] = {
	{"WORKLOAD", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"SHARE", "share", UNIT_TEXT, 0, NULL},
	{"READ", "read", UNIT_TEXT, 0, NULL},
	{"ELSE", "operation", UNIT_TEXT, 0, operation_of},
	{"ACCESS", "access", UNIT_TEXT, 0, access_of},
	{"BLOCK", "block", UNIT_TEXT, 0, block_of},
	{"DISTRIBUTION", "distribution", UNIT_TEXT, 0, distribution_of},
	{"REGION", "region", UNIT_TEXT, 0, region_of},
	{"IN FLIGHT", "in_flight", UNIT_WHOLE, 0, NULL},
	{"IOPS OFFERED", "rates_iops", UNIT_TEXTS, 0, NULL},
	{"ALIGN", "align", UNIT_TEXT, COL_WIDE, NULL},
	{"CURSORS", "cursors", UNIT_WHOLE, COL_WIDE, NULL},
	{"WORKERS", "workers", UNIT_WHOLE, COL_WIDE, NULL},
};

/* The workloads with a row for each stream, which has the members of its workload, too.
 * New reference. */
static json_t *
rows_of(const json_t *list)
{
	json_t *rows = json_array();
	json_t *w, *stream;
	size_t i, k;

	json_array_foreach (list, i, w) {
		const json_t *streams = json_object_get(w, "streams");

		if (streams == NULL)
			json_array_append(rows, w);
		json_array_foreach (streams, k, stream) {
			json_t *row = json_copy(w);

			json_object_update(row, stream);
			json_array_append_new(rows, row);
		}
	}
	return rows;
}

/* A row for each parameter whose source is told. */
static const struct column parameters[] = {
	{"PARAMETER", "parameter", UNIT_TEXT, COL_KEEP, NULL},
	{"STATUS", "status", UNIT_TEXT, COL_KEEP, NULL},
	{"SOURCE", "source", UNIT_TEXT, COL_KEEP, NULL},
};

/* Whether a parameter, as people read it, is one of the workload with that id. */
static bool
is_of_workload(const char *parameter, const char *id)
{
	static const char before[] = "/workloads/";
	size_t n = strlen(id);

	if (strncmp(parameter, before, sizeof(before) - 1) != 0)
		return false;
	parameter += sizeof(before) - 1;
	return strncmp(parameter, id, n) == 0 &&
	       (parameter[n] == '/' || parameter[n] == '\0');
}

/* Moves the parameters of that workload behind all others. */
static void
put_last(json_t *rows, const char *id)
{
	size_t n = json_array_size(rows);

	for (size_t i = 0; n-- > 0;) {
		json_t *row = json_array_get(rows, i);

		if (is_of_workload(json_text_of(row, "parameter"), id)) {
			json_array_append(rows, row);
			json_array_remove(rows, i);
		} else {
			i++;
		}
	}
}

/* The rows of the parameters of a suite document, in the order of its workloads. New
 * reference. */
static json_t *
parameters_of(const json_t *doc)
{
	json_t *rows = json_array();
	json_t *item, *pointer, *w;
	size_t i, k;

	json_array_foreach (json_object_get(doc, "sources"), i, item)
		json_array_foreach (json_object_get(item, "of"), k, pointer) {
			const char *text = json_string_value(pointer);
			json_t *row = json_copy(item);
			struct str label = {0};

			sources_label(doc, text != NULL ? text : "", &label);
			json_put(row, "parameter", json_string(str_text(&label)));
			json_array_append_new(rows, row);
			str_fini(&label);
		}
	json_array_foreach (json_object_get(doc, "workloads"), i, w)
		put_last(rows, json_text_of(w, "id"));
	return rows;
}

static void
fill_of(const json_t *test, struct str *out)
{
	const json_t *fill = json_object_get(test, "fill");

	if (fill == NULL)
		return;
	raw_value(json_object_get(fill, "passes"), out);
	str_printf(out, " x %s", json_text_of(fill, "block"));
}

static void
tracking_of(const json_t *test, struct str *out)
{
	json_t *t;
	size_t i;

	json_array_foreach (json_at(test, "rounds/tracking"), i, t)
		str_printf(out, "%s%s of %s", i > 0 ? ", " : "",
			json_text_of(t, "metric"), json_text_of(t, "cell"));
}

/* Where the workers and I/Os in flight of all cells come from. */
static void
choice_of(const json_t *test, struct str *out)
{
	const json_t *choice = json_at(test, "rounds/choose");

	if (choice == NULL)
		return;
	str_printf(out, "%s of %s", json_text_of(choice, "pick"),
		json_text_of(choice, "from"));
	if (json_has(choice, "mean_below"))
		str_printf(out, ", mean below %s", json_text_of(choice, "mean_below"));
}

static const struct column tests[] = {
	{"TEST", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"TITLE", "title", UNIT_TEXT, 0, NULL},
	{"PURGE", "purge", UNIT_YES, 0, NULL},
	{"FILL", "fill", UNIT_TEXT, 0, fill_of},
	{"GOES ON", "continues", UNIT_YES, 0, NULL},
	{"CELLS", "cells", UNIT_WHOLE, 0, NULL},
	{"TRACKED", "tracked", UNIT_TEXT, 0, tracking_of},
	{"DEMAND CHOSEN", "choose", UNIT_TEXT, 0, choice_of},
	{"WINDOW", "rounds/window", UNIT_WHOLE, COL_WIDE, NULL},
	{"RANGE", "rounds/range", UNIT_TEXT, COL_WIDE, NULL},
	{"SLOPE", "rounds/slope", UNIT_TEXT, COL_WIDE, NULL},
	{"ROUNDS AT MOST", "rounds/max_rounds", UNIT_WHOLE, 0, NULL},
	{"CAPACITIES AT MOST", "rounds/stop_capacities", UNIT_WHOLE, 0, NULL},
};

static const struct column cells[] = {
	{"CELL", "cell", UNIT_TEXT, COL_KEEP, NULL},
	{"SHARE", "share", UNIT_TEXT, 0, NULL},
	{"READ", "read", UNIT_TEXT, 0, NULL},
	{"ELSE", "operation", UNIT_TEXT, 0, operation_of},
	{"ACCESS", "access", UNIT_TEXT, 0, access_of},
	{"BLOCK", "block", UNIT_TEXT, 0, block_of},
	{"DISTRIBUTION", "distribution", UNIT_TEXT, 0, distribution_of},
	{"REGION", "region", UNIT_TEXT, 0, region_of},
	{"IN FLIGHT", "in_flight", UNIT_WHOLE, 0, NULL},
	{"WARMUP", "warmup", UNIT_TEXT, 0, NULL},
	{"MEASURED", "measure", UNIT_TEXT, 0, NULL},
	{"PAUSE", "pause", UNIT_TEXT, 0, NULL},
	{"HEALTH POLLED", "poll_health", UNIT_TEXT, 0, NULL},
	{"ALIGN", "align", UNIT_TEXT, COL_WIDE, NULL},
	{"CURSORS", "cursors", UNIT_WHOLE, COL_WIDE, NULL},
	{"WORKERS", "workers", UNIT_WHOLE, COL_WIDE, NULL},
};

/* Adds the cells of a test with a row for each stream, and what holds for all
 * cells where it says nothing else. */
static void
add_cells(json_t *rows, const json_t *test)
{
	static const char *const usual[] = {
		"warmup", "measure", "pause", "poll_health", "in_flight", "workers"};
	const json_t *rounds = json_object_get(test, "rounds");
	json_t *cell, *row;
	size_t i, k;

	json_array_foreach (json_object_get(rounds, "cells"), i, cell) {
		json_t *one = json_pack("[O]", json_object_get(cell, "workload"));
		json_t *streams = rows_of(one);

		json_array_foreach (streams, k, row) {
			json_t *copy = json_copy(row);

			json_put(copy, "cell",
				json_sprintf("%s/%s", json_text_of(test, "id"),
					json_text_of(row, "id")));
			for (size_t t = 0; t < sizeof(usual) / sizeof(usual[0]); t++)
				if (!json_has(copy, usual[t]))
					json_object_set(copy, usual[t],
						json_object_get(json_has(cell, usual[t])
									? cell
									: rounds,
							usual[t]));
			json_array_append_new(rows, copy);
		}
		json_decref(streams);
		json_decref(one);
	}
}

static void
show_tests(const struct out *o, const json_t *list)
{
	json_t *rows = json_array();
	json_t *all = json_array();
	json_t *test;
	size_t i;

	json_array_foreach (list, i, test) {
		json_t *row = json_copy(test);

		json_put(row, "cells",
			json_integer((json_int_t)json_array_size(
				json_at(test, "rounds/cells"))));
		json_array_append_new(rows, row);
		add_cells(all, test);
	}
	show_title(o, "Tests");
	table_print(o, rows, COLUMNS(tests));
	show_title(o, "Cells of each round");
	table_print(o, all, COLUMNS(cells));
	json_decref(rows);
	json_decref(all);
}

/* What is done to the drive before it is measured. */
static void
preparation_of(const json_t *item, struct str *out)
{
	const json_t *doc = json_object_get(item, "document");
	const json_t *prepare = json_object_get(doc, "prepare");
	bool purge = json_is_true(json_object_get(prepare, "purge"));
	bool fill = json_has(prepare, "fill");

	if (json_has(doc, "tests"))
		str_puts(out, "that of each test");
	else if (purge && fill)
		str_puts(out, "purge and fill");
	else
		str_puts(out, purge ? "purge" : fill ? "fill" : "none");
}

static const struct column suite[] = {
	{"SUITE", "suite", UNIT_TEXT, COL_KEEP, full_name},
	{"TITLE", "title", UNIT_TEXT, 0, NULL},
	{"NOTES", "document/notes", UNIT_TEXT, 0, NULL},
	{"SCALED", "scaled", UNIT_YES, 0, NULL},
	{"CREATED", "created", UNIT_TIME, 0, NULL},
	{"SMALLEST DRIVE", "document/minimum_capacity", UNIT_TEXT, 0, NULL},
	{"PREPARATION", "preparation", UNIT_TEXT, 0, preparation_of},
	{"PURGE", "document/prepare/purge", UNIT_YES, 0, NULL},
	{"FILL PASSES", "document/prepare/fill/passes", UNIT_WHOLE, 0, NULL},
	{"FILL BLOCK", "document/prepare/fill/block", UNIT_TEXT, 0, NULL},
	{"COMPRESS", "document/data/compress", UNIT_TEXT, 0, NULL},
	{"DEDUPE", "document/data/dedupe", UNIT_TEXT, 0, NULL},
	{"REGION", "document/region", UNIT_TEXT, 0, NULL},
	{"MAXIMUM, WARMUP", "document/ramp/maximum/warmup", UNIT_TEXT, 0, NULL},
	{"MAXIMUM, MEASURED", "document/ramp/maximum/measure", UNIT_TEXT, 0, NULL},
	{"POINT, WARMUP", "document/ramp/point/warmup", UNIT_TEXT, 0, NULL},
	{"POINT, MEASURED", "document/ramp/point/measure", UNIT_TEXT, 0, NULL},
	{"ARRIVALS", "document/ramp/arrivals", UNIT_TEXT, 0, NULL},
	{"LOAD", "document/ramp/load", UNIT_TEXTS, 0, NULL},
};

int
cmd_suite_ls(struct cli *c, struct err *e)
{
	const struct listing l = {"/api/v1/suites", SHOW_ALL, COLUMNS(suites),
		"no suites: the controller loads them from its suite_dir at its start",
		NULL};

	return show_list(c, &l, e);
}

static void
show_lists(const struct out *o, const json_t *doc)
{
	json_t *rows = rows_of(json_object_get(doc, "workloads"));

	if (json_has(doc, "tests")) {
		show_tests(o, json_object_get(doc, "tests"));
	} else {
		show_title(o, "Workloads");
		table_print(o, rows, COLUMNS(workloads));
	}
	json_decref(rows);
	suite_parts_show(o, doc);
	rows = parameters_of(doc);
	if (json_array_size(rows) > 0) {
		show_title(o, "Where the parameters come from");
		table_print(o, rows, COLUMNS(parameters));
	}
	json_decref(rows);
}

int
cmd_suite_show(struct cli *c, struct err *e)
{
	struct str path = {0};
	json_t *doc = NULL;
	int rc;

	str_puts(&path, "/api/v1/suites");
	client_segment(&path, c->args[0]);
	rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0)
		show_item(c, doc, COLUMNS(suite));
	if (rc == 0 && show_for_people(c))
		show_lists(&c->out, json_object_get(doc, "document"));
	json_decref(doc);
	str_fini(&path);
	return rc;
}

int
cmd_suite_add(struct cli *c, struct err *e)
{
	struct document d;
	json_t *doc = NULL;
	int rc = document_read(c->args[0], YAML_CORE, &d, e);

	if (rc == 0) {
		rc = client_post(c->client, "/api/v1/suites", d.doc, &doc, e);
		if (rc != 0)
			show_place(&d, e);
	}
	if (rc == 0 && c->out.format == OUT_JSON) {
		out_json(&c->out, doc);
	} else if (rc == 0) {
		struct str name = {0};

		full_name(doc, &name);
		out_line(&c->out, "%s", str_text(&name));
		str_fini(&name);
	}
	json_decref(doc);
	document_fini(&d);
	return rc;
}

int
cmd_suite_lint(struct cli *c, struct err *e)
{
	struct suite *s = xcalloc(1, sizeof(*s));
	struct document d;
	int rc = document_read(c->args[0], YAML_CORE, &d, e);

	/* as the controller does when it is added */
	if (rc == 0 &&
		(suite_parse(d.doc, s, e) != 0 || suite_check_new(d.doc, s, e) != 0))
		rc = document_place(&d, e);
	if (rc == 0 && c->out.format == OUT_JSON)
		out_json(&c->out, d.doc);
	else if (rc == 0)
		out_line(&c->out, "%s: ok: %s@%u", d.name, s->name, (unsigned)s->version);
	suite_fini(s);
	free(s);
	document_fini(&d);
	return rc;
}
