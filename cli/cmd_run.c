#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/facts.h"
#include "cli/health.h"
#include "cli/missing.h"
#include "cli/ref.h"
#include "cli/rounds.h"
#include "cli/show.h"
#include "cli/watch.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"

#define RUNS "/api/v1/runs"

#define TIME_CHARS 40 /* of "2026-11-30T10:00:00Z", with a part of a second */

/* A day "2026-11-30" that there is, as the instant at which it begins, UTC. */
static bool
begin_of_day(const char *text, char buf[TIME_CHARS])
{
	char again[TIME_CHARS];
	int64_t ns;

	if (strlen(text) != 10)
		return false;
	snprintf(buf, TIME_CHARS, "%sT00:00:00Z", text);
	/* strptime takes the 31st of February for a day in March */
	return human_parse_time(buf, &ns) &&
	       strncmp(format_time(ns, again, sizeof(again)), text, 10) == 0;
}

/* Times may be written as how long ago, "2d", or as a day; the text is in buf or text. */
static const char *
resolve_time(const struct cli *c, const char *text, char buf[TIME_CHARS])
{
	int64_t ns;

	if (human_parse_time(text, &ns))
		return text;
	if (begin_of_day(text, buf))
		return buf;
	if (parse_duration(text, &ns, NULL) == 0)
		return format_time(c->out.now_ns - ns, buf, TIME_CHARS);
	return NULL;
}

static int
add_time(struct cli *c, enum flag flag, const char *name, struct str *path, struct err *e)
{
	char buf[TIME_CHARS];
	const char *time;

	if (c->flags[flag] == NULL)
		return 0;
	time = resolve_time(c, c->flags[flag], buf);
	if (time == NULL) {
		err_set(e, ERR_INVALID, "--%s: \"%.40s\" is no time", name,
			c->flags[flag]);
		return err_fix(e,
			"write 2d for two days ago, 2026-11-30 for its begin in "
			"UTC, or 2026-11-30T10:00:00Z");
	}
	client_query(path, name, time);
	return 0;
}

static int
add_ids(struct cli *c, struct str *path, struct err *e)
{
	struct ref ref;

	if (c->flags[FLAG_CAMPAIGN] != NULL) {
		if (ref_campaign(c->client, c->flags[FLAG_CAMPAIGN], &ref, e) != 0)
			return err_ctx(e, "--campaign");
		client_query(path, "campaign", ref.id);
	}
	if (c->flags[FLAG_DRIVE] != NULL) {
		if (ref_drive(c->client, c->flags[FLAG_DRIVE], &ref, e) != 0)
			return err_ctx(e, "--drive");
		client_query(path, "drive", ref.id);
	}
	if (c->flags[FLAG_NODE] != NULL) {
		if (ref_node(c->client, c->flags[FLAG_NODE], &ref, e) != 0)
			return err_ctx(e, "--node");
		client_query(path, "node", ref.id);
	}
	return 0;
}

/* Whether the thing that ref or else the option names is there at all. */
static int
check_thing(struct cli *c, enum flag flag, const char *list, const struct ref *ref,
	struct err *e)
{
	struct str path = {0};
	int rc = 0;

	if (c->flags[flag] == NULL)
		return 0;
	str_printf(&path, "/api/v1/%s", list);
	client_segment(&path, ref != NULL ? ref->id : c->flags[flag]);
	rc = show_exists(c, str_text(&path), e);
	str_fini(&path);
	return rc;
}

static int
check_things(struct cli *c, struct err *e)
{
	struct ref ref = {0};

	if (c->flags[FLAG_CAMPAIGN] != NULL &&
		(ref_campaign(c->client, c->flags[FLAG_CAMPAIGN], &ref, e) != 0 ||
			check_thing(c, FLAG_CAMPAIGN, "campaigns", &ref, e) != 0))
		return -1;
	if (c->flags[FLAG_DRIVE] != NULL &&
		(ref_drive(c->client, c->flags[FLAG_DRIVE], &ref, e) != 0 ||
			check_thing(c, FLAG_DRIVE, "drives", &ref, e) != 0))
		return -1;
	if (c->flags[FLAG_NODE] != NULL &&
		(ref_node(c->client, c->flags[FLAG_NODE], &ref, e) != 0 ||
			check_thing(c, FLAG_NODE, "nodes", &ref, e) != 0))
		return -1;
	return check_thing(c, FLAG_SUITE, "suites", NULL, e);
}

/* Whether a text that was looked for stands in a list at all. */
static int
check_text(struct cli *c, enum flag flag, const char *kind, const char *list,
	const char *member, struct err *e)
{
	struct str path = {0};
	json_t *doc, *have;
	int rc;

	if (c->flags[flag] == NULL)
		return 0;
	str_printf(&path, "/api/v1/%s", list);
	rc = client_list(c->client, str_text(&path), SIZE_MAX, &doc, e);
	str_fini(&path);
	if (rc != 0)
		return -1;
	have = missing_collect(json_object_get(doc, "items"), member);
	rc = missing_check(kind, c->flags[flag], "", have, e);
	json_decref(have);
	json_decref(doc);
	return rc;
}

static int
check_texts(struct cli *c, struct err *e)
{
	static const struct {
		enum flag flag;
		const char *kind, *list, *member;
	} texts[] = {
		{FLAG_SERIAL, "drive with serial", "drives", "serial"},
		{FLAG_MODEL, "drive of model", "drives", "model"},
		{FLAG_FIRMWARE, "drive with firmware", "drives", "firmware"},
		{FLAG_WORKLOAD, "workload", "suites", "workloads"},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (check_text(c, texts[i].flag, texts[i].kind, texts[i].list,
			    texts[i].member, e) != 0)
			return -1;
	return 0;
}

/* Says why no run was found: something named is not there, or no run is like that. */
static int
no_runs(struct cli *c, struct err *e)
{
	static const struct {
		enum flag flag;
		const char *name;
	} looked[] = {
		{FLAG_CAMPAIGN, "of campaign"},
		{FLAG_STATE, "in state"},
		{FLAG_DRIVE, "on drive"},
		{FLAG_SERIAL, "on serial"},
		{FLAG_MODEL, "on model"},
		{FLAG_FIRMWARE, "with firmware"},
		{FLAG_NODE, "on node"},
		{FLAG_SUITE, "of suite"},
		{FLAG_WORKLOAD, "with workload"},
		{FLAG_LABEL, "with label"},
		{FLAG_SINCE, "since"},
		{FLAG_UNTIL, "until"},
	};
	struct str text = {0};

	if (check_things(c, e) != 0 || check_texts(c, e) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(looked) / sizeof(looked[0]); i++) {
		const char *value = c->flags[looked[i].flag];
		char buf[TIME_CHARS];

		if (value == NULL)
			continue;
		if (looked[i].flag == FLAG_SINCE || looked[i].flag == FLAG_UNTIL)
			value = resolve_time(c, value, buf);
		str_printf(&text, "%s %s %s", text.len > 0 ? "," : "", looked[i].name,
			value);
	}
	if (text.len > 0)
		talk("no runs%s", str_text(&text));
	else
		talk("no runs yet: ssdlab campaign submit FILE makes some");
	str_fini(&text);
	return 0;
}

int
cmd_run_ls(struct cli *c, struct err *e)
{
	static const struct {
		enum flag flag;
		const char *name;
	} texts[] = {
		{FLAG_STATE, "state"},
		{FLAG_SERIAL, "serial"},
		{FLAG_MODEL, "model"},
		{FLAG_FIRMWARE, "firmware"},
		{FLAG_SUITE, "suite"},
		{FLAG_WORKLOAD, "workload"},
		{FLAG_LABEL, "label"},
	};
	struct listing l = {NULL, 0, show_runs, show_runs_n, "", no_runs};
	struct str path = {0};
	int rc = -1;

	str_puts(&path, RUNS);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (c->flags[texts[i].flag] != NULL)
			client_query(&path, texts[i].name, c->flags[texts[i].flag]);
	if (add_ids(c, &path, e) == 0 &&
		add_time(c, FLAG_SINCE, "since", &path, e) == 0 &&
		add_time(c, FLAG_UNTIL, "until", &path, e) == 0 &&
		show_limit(c, &l.limit, e) == 0) {
		l.path = str_text(&path);
		rc = show_list(c, &l, e);
	}
	str_fini(&path);
	return rc;
}

/* The first digits of its hash, which tell two apart, and what it is in short. */
static void
environment_of(const json_t *run, struct str *out)
{
	const json_t *o = json_object_get(run, "environment");

	if (json_is_object(o))
		str_printf(out, "%.12s: %s", json_text_of(o, "hash"),
			json_text_of(o, "summary"));
}

/* How long a run that has ended took. */
static void
took(const json_t *run, struct str *out)
{
	int64_t from_ns, to_ns;

	if (human_parse_time(json_text_of(run, "started"), &from_ns) &&
		human_parse_time(json_text_of(run, "finished"), &to_ns))
		human_span(to_ns - from_ns, out);
}

static const struct column details[] = {
	{"RUN", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"CAMPAIGN", "campaign", UNIT_TEXT, 0, NULL},
	{"NAME", "campaign_name", UNIT_TEXT, 0, NULL},
	{"SUITE", "suite", UNIT_TEXT, 0, NULL},
	{"REPEAT", "repeat", UNIT_WHOLE, 0, NULL},
	{"DRIVE", "drive/id", UNIT_TEXT, 0, NULL},
	{"MODEL", "drive/model", UNIT_TEXT, 0, NULL},
	{"SERIAL", "drive/serial", UNIT_TEXT, 0, NULL},
	{"FIRMWARE", "drive/firmware", UNIT_TEXT, 0, NULL},
	{"NODE", "node/name", UNIT_TEXT, 0, NULL},
	{"STATE", "state", UNIT_STATE, 0, NULL},
	{"WHAT", "what", UNIT_TEXT, 0, show_run_what},
	{"POINTS", "progress/points_done", UNIT_TEXT, 0, show_run_points},
	{"ATTEMPT", "attempt/number", UNIT_WHOLE, 0, NULL},
	{"SAMPLES", "attempt/samples", UNIT_WHOLE, 0, NULL},
	{"START LAG", "attempt/start/lag_ns", UNIT_NS, 0, NULL},
	{"CLOCK +-", "attempt/start/doubt_ns", UNIT_NS, 0, NULL},
	{"CREATED", "created", UNIT_TIME, 0, NULL},
	{"STARTED", "started", UNIT_TIME, 0, NULL},
	{"FINISHED", "finished", UNIT_TIME, 0, NULL},
	{"TOOK", "took", UNIT_SPAN, COL_PEOPLE, took},
	{"VIRTUAL", "virtual", UNIT_YES, 0, NULL},
	{"SCALED", "scaled", UNIT_YES, 0, NULL},
	{"ENVIRONMENT", "environment/hash", UNIT_TEXT, 0, environment_of},
};

/* Says why a run has no point of a workload: which ones it has points of. */
static int
no_points(struct cli *c, const char *run, struct err *e)
{
	struct str path = {0};
	struct str place = {0};
	json_t *doc = NULL;
	json_t *have;
	int rc;

	str_printf(&path, RUNS "/%s/points", run);
	str_printf(&place, " in %s", run);
	rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0) {
		have = missing_collect(json_object_get(doc, "items"), "workload");
		rc = missing_check(
			"workload", c->flags[FLAG_WORKLOAD], str_text(&place), have, e);
		json_decref(have);
	}
	json_decref(doc);
	str_fini(&place);
	str_fini(&path);
	return rc;
}

/* What the curves of a run say. */
static int
show_curves(struct cli *c, const char *run, struct err *e)
{
	struct str path = {0};
	json_t *doc = NULL;
	int rc;

	str_puts(&path, "/api/v1/curves");
	client_query(&path, "run", run);
	if (c->flags[FLAG_WORKLOAD] != NULL)
		client_query(&path, "workload", c->flags[FLAG_WORKLOAD]);
	rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0) {
		facts_summary(&c->out, doc);
	} else if (e->class == ERR_NOTFOUND) {
		/* Only a fill, say: it has points and no curve. */
		err_clear(e);
		rc = 0;
	}
	json_decref(doc);
	str_fini(&path);
	return rc;
}

/* Why points have flags: a sentence for each. */
static void
show_reasons(struct cli *c, const json_t *points)
{
	static const struct column columns[] = {
		{"POINT", "point", UNIT_WHOLE, COL_KEEP, NULL},
		{"FLAG", "flag", UNIT_TEXT, COL_KEEP, NULL},
		{"WHY", "text", UNIT_TEXT, COL_KEEP, NULL},
	};
	static const char *const inherit[] = {"point", NULL};
	json_t *rows = show_rows(points, "reasons", inherit);

	if (json_array_size(rows) > 0) {
		show_title(&c->out, "Flags");
		table_print(&c->out, rows, COLUMNS(columns));
	}
	json_decref(rows);
}

/*
 * The tests of a run that were measured in rounds. Their points are many: they are left
 * out of the list, and shown for one cell when it is asked for.
 */
static int
show_rounds(struct cli *c, const char *run, json_t *points, struct err *e)
{
	json_t *items = json_object_get(points, "items");
	struct str path = {0};
	json_t *doc = NULL;
	int rc;

	str_printf(&path, RUNS "/%s/rounds", run);
	rc = client_get(c->client, str_text(&path), &doc, e);
	str_fini(&path);
	if (rc != 0)
		return -1;
	rounds_show(&c->out, json_object_get(doc, "items"));
	if (json_array_size(json_object_get(doc, "items")) > 0)
		for (size_t i = json_array_size(items); i-- > 0;)
			if (json_has(json_array_get(items, i), "round"))
				json_array_remove(items, i);
	json_decref(doc);
	return 0;
}

/* Whether any point is one of a workload along a ramp. */
static bool
has_curves(const json_t *points)
{
	json_t *p;
	size_t i;

	json_array_foreach (json_object_get(points, "items"), i, p)
		if (!json_has(p, "round") && !show_text_is(p, "workload", "fill"))
			return true;
	return false;
}

/* Everything that was measured: tests, curves, points. */
static int
show_results(struct cli *c, const char *run, json_t *points, struct err *e)
{
	json_t *items = json_object_get(points, "items");

	if (c->flags[FLAG_WORKLOAD] == NULL && show_rounds(c, run, points, e) != 0)
		return -1;
	if (has_curves(points) && show_curves(c, run, e) != 0)
		return -1;
	if (json_array_size(items) == 0)
		return c->flags[FLAG_WORKLOAD] != NULL ? no_points(c, run, e) : 0;
	show_title(&c->out, SHOW_POINTS_TITLE);
	show_add_latency(items);
	table_print(&c->out, items, show_points, show_points_n);
	show_reasons(c, items);
	return 0;
}

/* How the drive of a run was. */
static int
show_health(struct cli *c, const char *run, struct err *e)
{
	struct str path = {0};
	json_t *doc = NULL;
	int rc;

	str_printf(&path, RUNS "/%s/health", run);
	rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0)
		health_show(&c->out, doc);
	json_decref(doc);
	str_fini(&path);
	return rc;
}

int
cmd_run_show(struct cli *c, struct err *e)
{
	struct str path = {0};
	struct ref ref;
	json_t *doc = NULL;
	json_t *points = NULL;
	int rc;

	if (show_arg_id(c, 'r', &ref, e) != 0)
		return -1;
	str_printf(&path, RUNS "/%s", ref.id);
	rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0)
		show_item(c, doc, COLUMNS(details));
	if (rc == 0 && show_for_people(c)) {
		show_ledger(&c->out, "Preparation", json_object_get(doc, "preparation"));
		str_puts(&path, "/points");
		if (c->flags[FLAG_WORKLOAD] != NULL)
			client_query(&path, "workload", c->flags[FLAG_WORKLOAD]);
		rc = client_get(c->client, str_text(&path), &points, e);
	}
	if (rc == 0 && points != NULL)
		rc = show_results(c, ref.id, points, e);
	if (rc == 0 && show_for_people(c))
		rc = show_health(c, ref.id, e);
	json_decref(points);
	json_decref(doc);
	str_fini(&path);
	return rc;
}

int
cmd_run_watch(struct cli *c, struct err *e)
{
	struct watch_options o = {.out = &c->out};
	struct ref ref;

	if (show_arg_id(c, 'r', &ref, e) != 0 || watch_timeout(c, &o, e) != 0)
		return -1;
	return watch_follow(c->client, ref.id, &o, &c->exit_code, e);
}
