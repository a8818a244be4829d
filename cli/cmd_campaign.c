#include <stdlib.h>
#include <string.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/ref.h"
#include "cli/show.h"
#include "cli/watch.h"
#include "common/document.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"

#define CAMPAIGNS "/api/v1/campaigns"
#define READ_TRIES 5 /* of a campaign and its runs, until they tell the same */

static const struct yaml_member drive_members[] = {
	{"serial", YAML_TEXT, NULL},
	{"model", YAML_TEXT, NULL},
	{"wwn", YAML_TEXT, NULL},
	{"capacity", YAML_TEXT, NULL},
	{0},
};

/* schema/campaign.schema.json; whether values are right is for the controller to say. */
static const struct yaml_member campaign_members[] = {
	{"ssdlab", YAML_TEXT, NULL},
	{"name", YAML_TEXT, NULL},
	{"suite", YAML_TEXT, NULL},
	{"drives", YAML_OBJECTS, drive_members},
	{"repeats", YAML_WHOLE, NULL},
	{"priority", YAML_WHOLE, NULL},
	{"retries", YAML_WHOLE, NULL},
	{"max_errors", YAML_WHOLE, NULL},
	{"together", YAML_BOOL, NULL},
	{"apart", YAML_BOOL, NULL},
	{"preparation", YAML_TEXT, NULL},
	{"labels", YAML_TEXT_OF, NULL},
	{"purpose", YAML_TEXT, NULL},
	{"owner", YAML_TEXT, NULL},
	{"workloads", YAML_TEXTS, NULL},
	{0},
};

static void
add_count(const json_t *runs, const char *name, struct str *out)
{
	double n = 0;

	if (json_number(json_object_get(runs, name), &n) && n > 0)
		str_printf(out, ", %.0f %s", n, name);
}

static void
runs_text(const json_t *campaign, struct str *out)
{
	static const char *const names[] = {"running", "collecting", "leased", "pending",
		"failed", "lost", "cancelled"};
	const json_t *runs = json_object_get(campaign, "runs");

	raw_value(json_object_get(runs, "done"), out);
	str_puts(out, "/");
	raw_value(json_object_get(runs, "total"), out);
	str_puts(out, " done");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_count(runs, names[i], out);
}

/* The state in one word; one whose runs are being stopped says so. */
static void
state_text(const json_t *campaign, struct str *out)
{
	str_puts(out, json_is_true(json_object_get(campaign, "cancelling"))
			      ? "cancelling"
			      : json_text_of(campaign, "state"));
}

static const struct column campaigns[] = {
	{"ID", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"NAME", "name", UNIT_TEXT, 0, NULL},
	{"SUITE", "suite", UNIT_TEXT, 0, NULL},
	{"STATE", "state", UNIT_STATE, 0, state_text},
	{"CANCELLING", "cancelling", UNIT_YES, COL_CSV, NULL},
	{"RUNS", "runs/total", UNIT_TEXT, 0, runs_text},
	{"LEFT", "left_ns", UNIT_SPAN, 0, show_left},
	{"DONE", "runs/done", UNIT_WHOLE, COL_CSV, NULL},
	{"FAILED", "runs/failed", UNIT_WHOLE, COL_CSV, NULL},
	{"LOST", "runs/lost", UNIT_WHOLE, COL_CSV, NULL},
	{"PRIORITY", "priority", UNIT_WHOLE, COL_WIDE, NULL},
	{"OWNER", "owner", UNIT_TEXT, 0, NULL},
	{"CREATED", "created", UNIT_TIME, 0, NULL},
	{"FINISHED", "finished", UNIT_TIME, COL_WIDE, NULL},
	{"LABELS", "labels", UNIT_PAIRS, COL_WIDE, NULL},
};

/* Says what was looked for and not found. */
static int
no_campaigns(struct cli *c, struct err *e)
{
	const char *state = c->flags[FLAG_STATE];
	const char *label = c->flags[FLAG_LABEL];

	(void)e;
	talk("no campaigns%s%s%s%s", state != NULL ? " in state " : "",
		state != NULL ? state : "", label != NULL ? " with label " : "",
		label != NULL ? label : "");
	return 0;
}

int
cmd_campaign_ls(struct cli *c, struct err *e)
{
	struct listing l = {NULL, 0, COLUMNS(campaigns),
		"no campaigns: ssdlab campaign submit FILE makes one", NULL};
	struct str path = {0};
	int rc;

	str_puts(&path, CAMPAIGNS);
	if (c->flags[FLAG_STATE] != NULL)
		client_query(&path, "state", c->flags[FLAG_STATE]);
	if (c->flags[FLAG_LABEL] != NULL)
		client_query(&path, "label", c->flags[FLAG_LABEL]);
	l.path = str_text(&path);
	if (c->flags[FLAG_STATE] != NULL || c->flags[FLAG_LABEL] != NULL)
		l.none = no_campaigns;
	rc = show_limit(c, &l.limit, e);
	if (rc == 0)
		rc = show_list(c, &l, e);
	str_fini(&path);
	return rc;
}

/* Runs that start together, by the instant that was agreed. */
static const struct column starts[] = {
	{"START", "at", UNIT_INSTANT, 0, NULL},
	{"RUNS", "runs", UNIT_WHOLE, 0, NULL},
	{"BEGUN", "begun", UNIT_WHOLE, 0, NULL},
	{"APART", "skew_ns", UNIT_NS, 0, NULL},
	{"+-", "doubt_ns", UNIT_NS, 0, NULL},
};

static void
show_starts(const struct out *o, const json_t *list)
{
	if (json_array_size(list) == 0)
		return;
	show_title(o, "Runs that start together: how far apart they began, and how far "
		      "off that may be");
	table_print(o, list, COLUMNS(starts));
}

/* Counts of states as a campaign has them, of the runs in a list. New reference. */
static json_t *
count_runs(const json_t *items, const json_t *names)
{
	json_t *counts = json_object();
	const char *name;
	json_t *run, *value;
	size_t i;

	json_object_foreach ((json_t *)(uintptr_t)names, name, value)
		json_put(counts, name, json_integer(0));
	json_put(counts, "total", json_integer((json_int_t)json_array_size(items)));
	json_array_foreach (items, i, run) {
		const char *state = json_text_of(run, "state");
		json_int_t n = json_integer_value(json_object_get(counts, state));

		json_put(counts, state, json_integer(n + 1));
	}
	return counts;
}

/*
 * Reads a campaign and its runs until both tell the same; should the runs never rest, the
 * counts are those of the list. Both are owned, also after an error.
 */
static int
read_both(
	struct cli *c, const char *id, json_t **ret_doc, json_t **ret_runs, struct err *e)
{
	struct str path = {0};
	struct str list = {0};
	bool agree = false;
	int rc = 0;

	str_printf(&path, CAMPAIGNS "/%s", id);
	str_printf(&list, CAMPAIGNS "/%s/runs", id);
	for (int i = 0; rc == 0 && !agree && i < READ_TRIES; i++) {
		json_t *counts;

		json_decref(*ret_doc);
		json_decref(*ret_runs);
		*ret_doc = *ret_runs = NULL;
		rc = client_get(c->client, str_text(&path), ret_doc, e);
		if (rc == 0)
			rc = client_list(
				c->client, str_text(&list), SHOW_ALL, ret_runs, e);
		if (rc != 0)
			break;
		counts = count_runs(json_object_get(*ret_runs, "items"),
			json_object_get(*ret_doc, "runs"));
		agree = json_equal(counts, json_object_get(*ret_doc, "runs"));
		json_put(*ret_doc, "runs", counts);
	}
	str_fini(&path);
	str_fini(&list);
	return rc;
}

static int
show_people(struct cli *c, const char *id, struct err *e)
{
	json_t *doc = NULL;
	json_t *runs = NULL;
	int rc = read_both(c, id, &doc, &runs, e);

	if (rc == 0) {
		show_item(c, doc, COLUMNS(campaigns));
		show_starts(&c->out, json_object_get(doc, "starts"));
		show_title(&c->out, "Runs");
		table_print(
			&c->out, json_object_get(runs, "items"), show_runs, show_runs_n);
	}
	json_decref(doc);
	json_decref(runs);
	return rc;
}

int
cmd_campaign_show(struct cli *c, struct err *e)
{
	struct str path = {0};
	struct ref ref;
	json_t *doc = NULL;
	int rc;

	if (ref_campaign(c->client, c->args[0], &ref, e) != 0)
		return -1;
	if (show_for_people(c))
		return show_people(c, ref.id, e);
	str_printf(&path, CAMPAIGNS "/%s", ref.id);
	rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0)
		show_item(c, doc, COLUMNS(campaigns));
	json_decref(doc);
	str_fini(&path);
	return rc;
}

static void
erases_text(const json_t *drive, struct str *out)
{
	str_puts(out, json_is_true(json_object_get(drive, "erases")) ? "EVERYTHING"
								     : "nothing");
}

static void
node_name(const json_t *drive, struct str *out)
{
	const char *name = json_text_of(drive, "node_name");

	str_puts(out, name[0] != '\0' ? name : json_text_of(drive, "node"));
}

static void
blockers_text(const json_t *drive, struct str *out)
{
	json_t *b;
	size_t i;

	json_array_foreach (json_object_get(drive, "blockers"), i, b)
		str_printf(out, "%s%s", i > 0 ? "; " : "", json_text_of(b, "text"));
}

static const struct column plan_columns[] = {
	{"DRIVE", "drive", UNIT_TEXT, COL_KEEP, NULL},
	{"NODE", "node", UNIT_TEXT, 0, node_name},
	{"MODEL", "model", UNIT_TEXT, 0, NULL},
	{"SERIAL", "serial", UNIT_TEXT, COL_KEEP, NULL},
	{"ERASES", "erases", UNIT_TEXT, 0, erases_text},
	{"RUNS", "runs", UNIT_WHOLE, 0, NULL},
	{"DURATION", "duration_ns", UNIT_SPAN, 0, NULL},
	{"WRITES AT MOST", "write_bytes", UNIT_BYTES, 0, NULL},
	{"BLOCKED BY", "blocked_by", UNIT_TEXT, 0, blockers_text},
};

/* The serials that lose their data, comma-separated; returns how many. */
static size_t
erased(const json_t *plan, struct str *out)
{
	json_t *drive;
	size_t n = 0;
	size_t i;

	json_array_foreach (json_object_get(plan, "drives"), i, drive) {
		if (!json_is_true(json_object_get(drive, "erases")))
			continue;
		str_printf(
			out, "%s%s", n++ > 0 ? ", " : "", json_text_of(drive, "serial"));
	}
	return n;
}

/* What is skipped or repeated of the preparation, of each drive that the plan says it of.
 */
static void
print_preparation(const struct out *o, const json_t *plan)
{
	const char *before = "\n";
	json_t *drive;
	size_t i;

	json_array_foreach (json_object_get(plan, "drives"), i, drive) {
		const char *text = json_text_of(drive, "preparation");

		if (text[0] == '\0')
			continue;
		fputs(before, o->file);
		out_line(o, "%s: %s", json_text_of(drive, "serial"), text);
		before = "";
	}
}

/*
 * Says what the bound on writes is made of. How fast a drive writes is not known before
 * it was measured, so what it is likely to write is told for each GB/s.
 */
static void
print_writes(const struct out *o, const json_t *plan)
{
	struct str line = {0};
	double fill = 0, ns = 0, rate = 0, rated = 0;

	json_number(json_object_get(plan, "fill_bytes"), &fill);
	json_number(json_object_get(plan, "writing_ns"), &ns);
	json_number(json_object_get(plan, "rate_bytes"), &rated);
	if ((ns <= 0 && rated <= 0) ||
		!json_number(
			json_object_get(plan, "assumed_write_bytes_per_second"), &rate))
		return;
	str_puts(&line, "writes ");
	human_bytes(fill, &line);
	str_puts(&line, " to purge and fill");
	if (rated > 0) {
		str_puts(&line, ", ");
		human_bytes(rated, &line);
		str_puts(&line, " at the rates that the suite says");
	}
	if (ns > 0) {
		str_puts(&line, ", and for at most ");
		human_span((int64_t)ns, &line);
		str_puts(&line, " as fast as a drive can, which nobody knows before: ");
		human_bytes(ns, &line); /* 1 GB/s is a byte a ns */
		str_puts(&line, " for each GB/s; the bound takes ");
		human_bytes(rate, &line);
		str_puts(&line, "/s, more than any drive");
	}
	fputc('\n', o->file);
	out_line(o, "%s", str_text(&line));
	str_fini(&line);
}

/* The plan for people, to any stream. */
static void
print_plan(const struct out *o, const json_t *plan)
{
	struct str line = {0};
	struct str serials = {0};
	size_t drives = json_array_size(json_object_get(plan, "drives"));
	double ns = 0, bytes = 0, runs = 0;
	json_t *warning;
	size_t i;

	json_number(json_object_get(plan, "duration_ns"), &ns);
	json_number(json_object_get(plan, "write_bytes"), &bytes);
	json_number(json_object_get(plan, "runs"), &runs);
	str_printf(&line, "%s: %s on %zu drive%s, %.0f run%s, about ",
		json_text_of(plan, "name"), json_text_of(plan, "suite"), drives,
		drives == 1 ? "" : "s", runs, runs == 1 ? "" : "s");
	human_span((int64_t)ns, &line);
	if (bytes > 0) {
		str_puts(&line, ", writes at most about ");
		human_bytes(bytes, &line);
	} else {
		str_puts(&line, ", writes nothing");
	}
	out_line(o, "%s", str_text(&line));
	fputc('\n', o->file);
	table_print(o, json_object_get(plan, "drives"), COLUMNS(plan_columns));
	print_writes(o, plan);
	print_preparation(o, plan);
	if (erased(plan, &serials) > 0) {
		fputc('\n', o->file);
		out_line(o, "erases everything on: %s", str_text(&serials));
	}
	json_array_foreach (json_object_get(plan, "warnings"), i, warning) {
		fputs(i == 0 ? "\n" : "", o->file);
		out_line(o, "warning: %s", json_string_value(warning));
	}
	str_fini(&serials);
	str_fini(&line);
}

/* Says of a file that is a suite what it is; true if so. */
static bool
is_suite(const struct document *d, struct err *e)
{
	struct err none = {0};
	json_t *doc = NULL;
	bool is = yaml_to_json(str_text(&d->text), d->text.len, YAML_CORE, &doc, &none) ==
			  0 &&
		  strncmp(json_text_of(doc, "ssdlab"), "suite/", 6) == 0;

	json_decref(doc);
	if (!is)
		return false;
	err_clear(e);
	err_set(e, ERR_INVALID, "%s is a suite, no campaign", d->name);
	err_fix(e, "ssdlab suite add FILE takes it; a campaign names a suite and drives");
	return true;
}

/* Reads the file and lets the controller plan it. Both are owned, also after an error. */
static int
plan_file(struct cli *c, struct document *ret_d, json_t **ret_plan, struct err *e)
{
	int rc = document_read(c->args[0], campaign_members, ret_d, e);

	*ret_plan = NULL;
	if (is_suite(ret_d, e))
		return -1;
	if (rc != 0)
		return e->class == ERR_INVALID
			       ? err_fix(e, "man 5 ssdlab-campaign has examples")
			       : -1;
	if (client_post(c->client, CAMPAIGNS "?dry_run=plan", ret_d->doc, ret_plan, e) !=
		0)
		return show_place(ret_d, e);
	return 0;
}

int
cmd_campaign_lint(struct cli *c, struct err *e)
{
	struct document d;
	json_t *plan;
	json_t *warning;
	size_t i;
	int rc = plan_file(c, &d, &plan, e);

	if (rc == 0 && c->out.format == OUT_JSON) {
		out_json(&c->out, plan);
	} else if (rc == 0) {
		json_array_foreach (json_object_get(plan, "warnings"), i, warning)
			talk("%s: warning: %s", d.name, json_string_value(warning));
		out_line(&c->out, "%s: ok", d.name);
	}
	json_decref(plan);
	document_fini(&d);
	return rc;
}

int
cmd_campaign_plan(struct cli *c, struct err *e)
{
	struct document d;
	json_t *plan;
	int rc = plan_file(c, &d, &plan, e);

	if (rc == 0 && c->out.format == OUT_JSON)
		out_json(&c->out, plan);
	else if (rc == 0 && show_for_people(c))
		print_plan(&c->out, plan);
	else if (rc == 0)
		table_print(
			&c->out, json_object_get(plan, "drives"), COLUMNS(plan_columns));
	json_decref(plan);
	document_fini(&d);
	return rc;
}

/* Lets a person confirm what is erased by typing how many drives that is. */
static int
confirm(struct cli *c, const json_t *plan, struct err *e)
{
	struct str serials = {0};
	size_t n = erased(plan, &serials);
	struct out talking;
	char typed[32];
	uint64_t count = 0;
	int rc = 0;

	if (n == 0 || c->flags[FLAG_YES] != NULL)
		goto out;
	if (!out_can_ask()) {
		rc = err_set(e, ERR_INVALID,
			"this erases everything on %zu drive%s (%.300s) and nobody is "
			"there to confirm it",
			n, n == 1 ? "" : "s", str_text(&serials));
		err_fix(e, "add --yes if that is meant");
		goto out;
	}
	out_init(&talking, stderr, OUT_TABLE);
	print_plan(&talking, plan);
	fputs("\ntype the number of drives to erase: ", stderr);
	if (!out_read_line(typed, sizeof(typed)) ||
		parse_uint(typed, 0, UINT32_MAX, &count, NULL) != 0 || count != n)
		rc = err_set(e, ERR_UNSAFE, "not confirmed: %zu drive%s would be erased",
			n, n == 1 ? "" : "s");
out:
	str_fini(&serials);
	return rc;
}

static int
follow_submitted(struct cli *c, const char *id, struct err *e)
{
	struct out talking;
	struct watch_options o = {.out = &talking};

	if (watch_timeout(c, &o, e) != 0)
		return -1;
	out_init(&talking, stderr, OUT_TABLE);
	return watch_follow(c->client, id, &o, &c->exit_code, e);
}

/*
 * Says what became of a campaign that the controller did not answer for. Each start of
 * the program makes a new Idempotency-Key: the same command again is another campaign.
 */
static int
fail_reach(const struct cli *c, bool posted, struct err *e)
{
	if (posted && client_may_have_acted(c->client, e)) {
		err_ctx(e, "not known whether the campaign was taken");
		e->fix[0] = '\0'; /* that of a server that was never reached */
		return err_fix(e,
			"ssdlab campaign ls tells; the same command again makes "
			"a second one if it was");
	}
	if (client_may_pass(e))
		err_ctx(e, "not submitted");
	return -1;
}

int
cmd_campaign_submit(struct cli *c, struct err *e)
{
	struct document d;
	json_t *plan;
	json_t *doc = NULL;
	bool posted = false;
	int rc = plan_file(c, &d, &plan, e);

	if (rc == 0)
		rc = confirm(c, plan, e);
	if (rc == 0) {
		posted = true;
		rc = client_post(c->client, CAMPAIGNS, d.doc, &doc, e);
		if (rc != 0)
			show_place(&d, e);
	}
	if (rc != 0)
		fail_reach(c, posted, e);
	if (rc == 0 && c->out.format == OUT_JSON)
		out_json(&c->out, doc);
	else if (rc == 0)
		out_line(&c->out, "%s", json_text_of(doc, "id"));
	fflush(c->out.file);
	if (rc == 0 && c->flags[FLAG_WATCH] != NULL)
		rc = follow_submitted(c, json_text_of(doc, "id"), e);
	else if (rc == 0)
		talk("submitted; ssdlab campaign watch %s follows it",
			json_text_of(doc, "id"));
	json_decref(doc);
	json_decref(plan);
	document_fini(&d);
	return rc;
}

int
cmd_campaign_watch(struct cli *c, struct err *e)
{
	struct watch_options o = {.out = &c->out};
	struct ref ref;

	if (ref_campaign(c->client, c->args[0], &ref, e) != 0 ||
		watch_timeout(c, &o, e) != 0)
		return -1;
	return watch_follow(c->client, ref.id, &o, &c->exit_code, e);
}

/* Nothing is left to cancel of a campaign that had ended, whoever asks. */
static int
ended_before(const json_t *campaign, struct err *e)
{
	const char *id = json_text_of(campaign, "id");

	err_set(e, ERR_CHANGED, "nothing was cancelled: %s had ended before and is %s",
		id, json_text_of(campaign, "state"));
	return err_fix(e, "ssdlab campaign show %s", id);
}

/* Tells of the runs that do not end soon, as a sanitize takes hours; a controller that
 * does not answer this has taken the cancel all the same. */
static void
tell_held(struct cli *c, const char *campaign)
{
	struct str path = {0};
	struct err e = {0};
	json_t *doc = NULL, *run;
	size_t i;

	str_printf(&path, "/api/v1/runs?state=running&campaign=%s", campaign);
	if (client_list(c->client, str_text(&path), SIZE_MAX, &doc, &e) == 0)
		json_array_foreach (json_object_get(doc, "items"), i, run) {
			const json_t *list = json_object_get(run, "blockers");

			if (json_array_size(list) > 0)
				talk("%s %s", json_text_of(run, "id"),
					json_text_of(json_array_get(list, 0), "text"));
		}
	json_decref(doc);
	str_fini(&path);
}

static void
tell_cancel(struct cli *c, const json_t *campaign)
{
	const char *id = json_text_of(campaign, "id");

	if (!json_is_true(json_object_get(campaign, "cancelling"))) {
		talk("%s is %s", id, json_text_of(campaign, "state"));
		return;
	}
	talk("%s is being cancelled: its running runs are being stopped; ssdlab campaign "
	     "watch %s waits for that",
		id, id);
	tell_held(c, id);
}

/*
 * Cancels the campaign at path; *doc, as it was before, is replaced by what it is then.
 * One that was cancelled before is as it was wanted.
 */
static int
cancel(struct cli *c, const char *path, json_t **doc, struct err *e)
{
	struct str verb = {0};
	json_t *after = NULL;
	int rc;

	if (show_text_is(*doc, "state", "cancelled"))
		return 0;
	if (show_text_is(*doc, "state", "done") || show_text_is(*doc, "state", "failed"))
		return ended_before(*doc, e);
	str_printf(&verb, "%s/cancel", path);
	rc = client_post(c->client, str_text(&verb), NULL, &after, e);
	str_fini(&verb);
	if (rc != 0)
		return -1;
	json_decref(*doc);
	*doc = after;
	/* its last run was faster */
	return show_text_is(after, "state", "done") ? ended_before(after, e) : 0;
}

int
cmd_campaign_cancel(struct cli *c, struct err *e)
{
	struct str path = {0};
	struct ref ref;
	json_t *doc = NULL;
	int rc;

	if (ref_campaign(c->client, c->args[0], &ref, e) != 0)
		return -1;
	str_printf(&path, CAMPAIGNS "/%s", ref.id);
	rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0)
		rc = cancel(c, str_text(&path), &doc, e);
	if (rc == 0 && c->out.format == OUT_JSON)
		out_json(&c->out, doc);
	else if (rc == 0)
		tell_cancel(c, doc);
	json_decref(doc);
	str_fini(&path);
	return rc;
}
