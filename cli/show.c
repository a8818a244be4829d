#include "cli/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client.h"
#include "cli/ref.h"
#include "common/document.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"

/* So many runs with flags are named. */
#define FLAGGED_NAMES 8

bool
show_for_people(const struct cli *c)
{
	return c->out.format == OUT_TABLE || c->out.format == OUT_WIDE;
}

int
show_list(struct cli *c, const struct listing *l, struct err *e)
{
	json_t *doc;
	const json_t *items;
	int rc = 0;

	if (client_list(c->client, l->path, l->limit, &doc, e) != 0)
		return -1;
	items = json_object_get(doc, "items");
	if (c->out.format == OUT_JSON)
		out_json(&c->out, doc);
	else if (json_array_size(items) > 0 || c->out.format == OUT_CSV)
		table_print(&c->out, items, l->columns, l->n_columns);
	else if (l->none == NULL && l->empty[0] != '\0')
		talk("%s", l->empty);
	if (json_array_size(items) == 0 && l->none != NULL)
		rc = l->none(c, e);
	if (show_for_people(c) && json_has(doc, "next_cursor"))
		talk("the newest %zu; --limit N shows more", json_array_size(items));
	json_decref(doc);
	return rc;
}

int
show_arg_id(const struct cli *c, char letter, struct ref *ret_ref, struct err *e)
{
	struct str command = {0};
	int rc;

	str_printf(&command, "%s%s%s", c->cmd->noun, c->cmd->verb[0] != '\0' ? " " : "",
		c->cmd->verb);
	rc = ref_arg(str_text(&command), c->args[0], letter, ret_ref, e);
	str_fini(&command);
	return rc;
}

int
show_exists(struct cli *c, const char *path, struct err *e)
{
	json_t *doc = NULL;
	int rc = client_get(c->client, path, &doc, e);

	json_decref(doc);
	return rc;
}

void
show_item(
	struct cli *c, const json_t *doc, const struct column *columns, size_t n_columns)
{
	json_t *items;

	if (c->out.format == OUT_JSON) {
		out_json(&c->out, doc);
		return;
	}
	if (show_for_people(c)) {
		table_fields(&c->out, doc, columns, n_columns);
		return;
	}
	items = json_array();
	json_array_append(items, (json_t *)(uintptr_t)doc);
	table_print(&c->out, items, columns, n_columns);
	json_decref(items);
}

void
show_title(const struct out *o, const char *title)
{
	fputc('\n', o->file);
	out_line(o, "%s", title);
}

/* Adds text to a list of texts, once. */
static void
add_once(json_t *list, const json_t *text)
{
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (json_equal(v, text))
			return;
	if (json_is_string(text))
		json_array_append(list, (json_t *)(uintptr_t)text);
}

void
show_flags_pointer(const struct out *o, const json_t *rows)
{
	json_t *runs = json_array();
	json_t *foreign = json_array();
	struct str names = {0};
	json_t *row, *run;
	const json_t *v;
	size_t i, j;

	json_array_foreach (rows, i, row) {
		if (json_array_size(json_object_get(row, "flags")) == 0)
			continue;
		json_array_foreach (json_object_get(row, "runs"), j, run)
			add_once(runs, run);
		v = json_object_get(row, "foreign");
		add_once(foreign, json_is_object(v) ? json_object_get(v, "id") : v);
	}
	json_array_foreach (runs, i, run)
		if (i < FLAGGED_NAMES)
			str_printf(&names, "%s%s", i > 0 ? ", " : "",
				json_string_value(run));
	if (i > FLAGGED_NAMES)
		str_printf(&names, " and %zu more", i - FLAGGED_NAMES);
	if (i == 1)
		out_line(o, "why there are flags: ssdlab run show %s", str_text(&names));
	else if (i > 1)
		out_line(o, "why there are flags: ssdlab run show RUN (%s)",
			str_text(&names));
	json_array_foreach (foreign, i, run)
		out_line(o, "what the marks are about: ssdlab foreign show %s",
			json_string_value(run));
	json_decref(foreign);
	json_decref(runs);
	str_fini(&names);
}

static const struct column ledger_rows[] = {
	{"AT", "at", UNIT_INSTANT, 0, NULL},
	{"RUN", "run", UNIT_TEXT, COL_KEEP, NULL},
	{"KIND", "kind", UNIT_TEXT, 0, NULL},
	{"WRITTEN", "written_bytes", UNIT_BYTES, 0, NULL},
	{"WHAT", "text", UNIT_TEXT, COL_KEEP, NULL},
};

void
show_ledger(const struct out *o, const char *title, json_t *rows)
{
	if (json_array_size(rows) == 0)
		return;
	show_title(o, title);
	table_print(o, rows, ledger_rows, sizeof(ledger_rows) / sizeof(ledger_rows[0]));
}

bool
show_text_is(const json_t *item, const char *name, const char *text)
{
	return strcmp(json_text_of(item, name), text) == 0;
}

/* The most pressing of a drive's three variables, in one word. */
void
show_drive_state(const json_t *d, struct str *out)
{
	const char *occupancy = json_text_of(d, "occupancy");
	bool held = strcmp(occupancy, "fenced") == 0 ||
		    strcmp(occupancy, "quarantined") == 0;
	bool present = show_text_is(d, "observed", "present");

	if (held || (present && strcmp(occupancy, "idle") != 0))
		str_puts(out, occupancy);
	else if (!present)
		str_puts(out, json_text_of(d, "observed"));
	else if (show_text_is(d, "admin", "destructive"))
		str_puts(out, "ready");
	else
		str_puts(out, json_text_of(d, "admin"));
}

static void
blockers(const json_t *run, struct str *out)
{
	json_t *b;
	size_t i;

	json_array_foreach (json_object_get(run, "blockers"), i, b)
		str_printf(out, "%s%s", i > 0 ? "; " : "", json_text_of(b, "text"));
}

void
show_run_what(const json_t *run, struct str *out)
{
	const json_t *progress = json_object_get(run, "progress");
	double load;

	if (show_text_is(run, "state", "pending") ||
		json_array_size(json_object_get(run, "blockers")) > 0) {
		blockers(run, out);
		return;
	}
	if (!show_text_is(run, "state", "running")) {
		if (json_text_of(run, "fail_class")[0] != '\0')
			str_printf(out, "%s: ", json_text_of(run, "fail_class"));
		str_puts(out, json_text_of(run, "reason"));
		return;
	}
	if (json_is_true(json_object_get(run, "unknown")))
		str_puts(out, "agent is silent; last seen at ");
	if (json_number(json_object_get(progress, "fill_passes"), &load) && load > 1) {
		str_puts(out, "fill ");
		raw_value(json_object_get(progress, "fill_pass"), out);
		str_printf(out, " of %.0f", load);
	} else if (json_text_of(progress, "workload")[0] != '\0')
		str_puts(out, json_text_of(progress, "workload"));
	else
		str_puts(out, json_text_of(json_object_get(run, "attempt"), "step"));
	if (json_number(json_object_get(progress, "load_percent"), &load)) {
		str_puts(out, " ");
		human_percent(load, out);
	} else if (json_number(json_object_get(progress, "offered_iops"), &load)) {
		str_puts(out, " ");
		show_rate(load, out);
	}
}

void
show_rate(double iops, struct str *out)
{
	human_count(iops, out);
	str_puts(out, " IOPS");
}

/* "about 3 h", of tests in rounds "at most about 3 h". */
void
show_left(const json_t *item, struct str *out)
{
	double ns;

	if (!json_number(json_object_get(item, "left_ns"), &ns))
		return;
	str_puts(out, json_is_true(json_object_get(item, "left_at_most"))
			      ? "at most about "
			      : "about ");
	human_span((int64_t)ns, out);
}

void
show_run_points(const json_t *run, struct str *out)
{
	double done, total;

	if (json_number(json_at(run, "progress/points_done"), &done) &&
		json_number(json_at(run, "progress/points_total"), &total) && total > 0)
		str_printf(out, "%.0f/%.0f", done, total);
}

int
show_limit(const struct cli *c, size_t *ret_limit, struct err *e)
{
	uint64_t n = 100;

	if (c->flags[FLAG_LIMIT] != NULL &&
		parse_uint(c->flags[FLAG_LIMIT], 1, UINT32_MAX, &n, e) != 0)
		return err_ctx(e, "--limit");
	*ret_limit = (size_t)n;
	return 0;
}

void
show_add_latency(json_t *points)
{
	json_t *point, *value;
	const char *name;
	size_t i;

	json_array_foreach (points, i, point) {
		double ns;
		bool response = json_number(json_at(point, "response/lat_mean_ns"), &ns);

		json_object_foreach (
			json_object_get(point, response ? "response" : "service"), name,
			value)
			if (strncmp(name, "lat_", 4) == 0)
				json_object_set(point, name, value);
	}
}

void
show_load(const json_t *point, struct str *out)
{
	double x;

	str_puts(out, json_text_of(point, "workload"));
	if (json_number(json_object_get(point, "load_percent"), &x)) {
		str_puts(out, " ");
		human_percent(x, out);
	} else if (json_number(json_object_get(point, "offered_iops"), &x)) {
		str_puts(out, " ");
		show_rate(x, out);
	} else if (!show_text_is(point, "workload", "fill")) {
		str_puts(out, " maximum");
	}
}

static void
load_of(const json_t *point, struct str *out)
{
	double x;

	if (json_number(json_object_get(point, "load_percent"), &x))
		human_percent(x, out);
	else if (json_number(json_object_get(point, "offered_iops"), &x))
		str_puts(out, "rate"); /* which one is the next column */
	else
		str_puts(out, show_text_is(point, "workload", "fill") ? "" : "max");
}

void
show_figure(const json_t *row, const char *name, struct str *out)
{
	double x;

	if (!json_number(json_object_get(row, name), &x))
		return;
	if (show_text_is(row, "unit", "ns")) {
		human_latency(x, out);
	} else if (show_text_is(row, "unit", "B/s")) {
		human_bytes(x, out);
		str_puts(out, "/s");
	} else {
		human_count(x, out);
	}
}

void
show_figure_title(const json_t *row, struct str *out)
{
	const char *text = json_text_of(row, "title");

	str_puts(out, text[0] != '\0' ? text : json_text_of(row, "metric"));
}

json_t *
show_rows(const json_t *groups, const char *list, const char *const inherit[])
{
	json_t *all = json_array();
	json_t *group, *row;
	size_t i, j;

	json_array_foreach (groups, i, group) {
		json_array_foreach (json_object_get(group, list), j, row) {
			for (size_t k = 0; inherit[k] != NULL; k++)
				json_object_set(row, inherit[k],
					json_object_get(group, inherit[k]));
			json_array_append(all, row);
		}
	}
	return all;
}

void
show_node_state(const json_t *node, struct str *out)
{
	if (json_text_of(node, "last_seen")[0] != '\0' ||
		show_text_is(node, "observed", "online"))
		str_puts(out, json_text_of(node, "observed"));
	else
		str_puts(out, show_text_is(node, "admin", "pending") ? "not joined"
								     : "never heard");
}

static void
node_runs(const json_t *node, struct str *out)
{
	raw_value(json_object_get(node, "running"), out);
	if (json_has(node, "max_runs")) {
		str_puts(out, " of ");
		raw_value(json_object_get(node, "max_runs"), out);
	}
}

const struct column show_nodes[] = {
	{"ID", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"NAME", "name", UNIT_TEXT, COL_KEEP, NULL},
	{"ADMIN", "admin", UNIT_STATE, 0, NULL},
	{"OBSERVED", "observed", UNIT_STATE, 0, show_node_state},
	{"RUNNING", "running", UNIT_WHOLE, 0, node_runs},
	{"MAX RUNS", "max_runs", UNIT_WHOLE, COL_CSV, NULL},
	{"DRIVES", "drives", UNIT_WHOLE, 0, NULL},
	{"SEEN", "last_seen", UNIT_TIME, 0, NULL},
	{"HOST", "hostname", UNIT_TEXT, COL_WIDE, NULL},
	{"VERSION", "version", UNIT_TEXT, COL_WIDE, NULL},
	{"ENROLLED", "enrolled", UNIT_TIME, COL_WIDE, NULL},
	{"CLOCK AHEAD", "clock_ahead_ns", UNIT_NS, COL_WIDE, NULL},
	{"CLOCK +-", "clock_doubt_ns", UNIT_NS, COL_WIDE, NULL},
	{"LABELS", "labels", UNIT_PAIRS, COL_WIDE, NULL},
	{"NOTE", "admin_reason", UNIT_TEXT, 0, NULL},
	{"TROUBLE", "trouble", UNIT_TEXT, 0, NULL},
};
const size_t show_nodes_n = sizeof(show_nodes) / sizeof(show_nodes[0]);

const struct column show_drives[] = {
	{"ID", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"NODE", "node/name", UNIT_TEXT, 0, NULL},
	{"SERIAL", "serial", UNIT_TEXT, COL_KEEP, NULL},
	{"MODEL", "model", UNIT_TEXT, 0, NULL},
	{"FIRMWARE", "firmware", UNIT_TEXT, 0, NULL},
	{"CAPACITY", "capacity_bytes", UNIT_BYTES, 0, NULL},
	{"STATE", "state", UNIT_STATE, 0, show_drive_state},
	{"ADMIN", "admin", UNIT_STATE, COL_WIDE, NULL},
	{"OBSERVED", "observed", UNIT_STATE, COL_WIDE, NULL},
	{"OCCUPANCY", "occupancy", UNIT_STATE, COL_WIDE, NULL},
	{"KIND", "kind", UNIT_TEXT, COL_WIDE, NULL},
	{"PATH", "path", UNIT_TEXT, COL_WIDE, NULL},
	{"BLOCK", "logical_block_bytes", UNIT_WHOLE, COL_WIDE, NULL},
	{"WWN", "wwn", UNIT_TEXT, COL_WIDE, NULL},
	{"VIRTUAL", "virtual", UNIT_YES, COL_WIDE, NULL},
	{"LAST RUN", "last_run", UNIT_TEXT, 0, NULL},
	{"SEEN", "last_seen", UNIT_TIME, COL_WIDE, NULL},
	{"LABELS", "labels", UNIT_PAIRS, COL_WIDE, NULL},
	{"PROTECTED BY", "protected", UNIT_TEXT, 0, NULL},
	{"HEALTH UNREAD", "health_unread", UNIT_TEXT, COL_WIDE, NULL},
};
const size_t show_drives_n = sizeof(show_drives) / sizeof(show_drives[0]);

/* The state in one word; a run that is being stopped says so. */
static void
run_state(const json_t *run, struct str *out)
{
	bool asked = json_is_true(json_object_get(run, "cancel_requested"));

	if (asked && json_text_of(run, "finished")[0] == '\0')
		str_puts(out, "cancelling");
	else
		str_puts(out, json_text_of(run, "state"));
}

const struct column show_runs[] = {
	{"ID", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"CAMPAIGN", "campaign", UNIT_TEXT, COL_KEEP, NULL},
	{"NAME", "campaign_name", UNIT_TEXT, COL_WIDE, NULL},
	{"SUITE", "suite", UNIT_TEXT, 0, NULL},
	{"NODE", "node/name", UNIT_TEXT, 0, NULL},
	{"DRIVE", "drive/id", UNIT_TEXT, COL_WIDE, NULL},
	{"MODEL", "drive/model", UNIT_TEXT, COL_WIDE, NULL},
	{"SERIAL", "drive/serial", UNIT_TEXT, COL_KEEP, NULL},
	{"FIRMWARE", "drive/firmware", UNIT_TEXT, COL_WIDE, NULL},
	{"REPEAT", "repeat", UNIT_WHOLE, COL_WIDE, NULL},
	{"STATE", "state", UNIT_STATE, 0, run_state},
	{"CLASS", "fail_class", UNIT_TEXT, COL_WIDE, NULL},
	{"POINTS", "progress/points_done", UNIT_TEXT, 0, show_run_points},
	{"ATTEMPT", "attempt/number", UNIT_WHOLE, COL_WIDE, NULL},
	{"PRIORITY", "priority", UNIT_WHOLE, COL_WIDE, NULL},
	{"CREATED", "created", UNIT_TIME, 0, NULL},
	{"STARTED", "started", UNIT_TIME, COL_WIDE, NULL},
	{"FINISHED", "finished", UNIT_TIME, COL_WIDE, NULL},
	{"WHAT", "what", UNIT_TEXT, COL_LATE, show_run_what},
	{"VIRTUAL", "virtual", UNIT_YES, COL_CSV, NULL},
	{"SCALED", "scaled", UNIT_YES, COL_CSV, NULL},
};
const size_t show_runs_n = sizeof(show_runs) / sizeof(show_runs[0]);

const struct column show_points[] = {
	{"WORKLOAD", "workload", UNIT_TEXT, COL_KEEP, NULL},
	{"POINT", "point", UNIT_WHOLE, 0, NULL},
	{"LOAD", "load_percent", UNIT_PERCENT, 0, load_of},
	{"OFFERED", "offered_iops", UNIT_COUNT, 0, NULL},
	{"IOPS", "iops", UNIT_COUNT, 0, NULL}, /* of reads and writes */
	{"TRIMS", "trim_iops", UNIT_COUNT, 0, NULL},
	{"ZEROES", "write_zeroes_iops", UNIT_COUNT, 0, NULL},
	{"FLUSHES", "flush_iops", UNIT_COUNT, 0, NULL},
	{"BANDWIDTH", "bytes_per_second", UNIT_BYTES_PER_S, 0, NULL},
	{"MEAN", "lat_mean_ns", UNIT_NS, 0, NULL},
	{"P50", "lat_p50_ns", UNIT_NS, COL_WIDE, NULL},
	{"P99", "lat_p99_ns", UNIT_NS, 0, NULL},
	{"P99.9", "lat_p99.9_ns", UNIT_NS, 0, NULL},
	{"P99.99", "lat_p99.99_ns", UNIT_NS, COL_WIDE, NULL},
	{"MAX", "lat_max_ns", UNIT_NS, COL_WIDE, NULL},
	{"SERVICE P99", "service/lat_p99_ns", UNIT_NS, COL_WIDE, NULL},
	{"TRIM P99", "service/trim/lat_p99_ns", UNIT_NS, COL_WIDE, NULL},
	{"ZEROES P99", "service/write_zeroes/lat_p99_ns", UNIT_NS, COL_WIDE, NULL},
	{"FLUSH P99", "service/flush/lat_p99_ns", UNIT_NS, COL_WIDE, NULL},
	{"LITTLE'S N", "littles_n", UNIT_COUNT, COL_WIDE, NULL},
	{"BACKLOG", "backlog_max", UNIT_COUNT, COL_WIDE, NULL},
	{"LATE", "late_mean_ns", UNIT_NS, COL_WIDE, NULL},
	{"COMPRESS", "compress_percent", UNIT_PERCENT, COL_WIDE, NULL},
	{"DEDUPE", "dedupe_percent", UNIT_PERCENT, COL_WIDE, NULL},
	{"ERRORS", "errors", UNIT_WHOLE, COL_WIDE, NULL},
	{"STATE", "state", UNIT_STATE, 0, NULL},
	{"FLAGS", "flags", UNIT_TEXTS, 0, NULL},
	{"VIRTUAL", "virtual", UNIT_YES, COL_CSV, NULL},
	{"SCALED", "scaled", UNIT_YES, COL_CSV, NULL},
};
const size_t show_points_n = sizeof(show_points) / sizeof(show_points[0]);

int
show_place(const struct document *d, struct err *e)
{
	if (client_may_pass(e) || e->class == ERR_AUTH || e->class == ERR_FORBIDDEN)
		return -1;
	return document_place(d, e);
}
