#include <stdlib.h>
#include <string.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/show.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/xalloc.h"

#define WAITING_MAX 20 /* runs listed with all that holds them */
#define FAILED_DAYS 7  /* runs made that long ago are looked at */
#define RECENT_NS (24 * 3600 * NS_PER_S)

static const struct column attention_columns[] = {
	{"WHAT", "what", UNIT_TEXT, COL_KEEP, NULL},
	{"WHERE", "where", UNIT_TEXT, 0, NULL},
	{"STATE", "state", UNIT_STATE, COL_KEEP, NULL},
	{"WHY", "why", UNIT_TEXT, COL_LATE, NULL},
	{"HELP", "help", UNIT_TEXT, COL_KEEP, NULL},
};

static const struct column running_columns[] = {
	{"RUN", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"CAMPAIGN", "campaign", UNIT_TEXT, COL_KEEP, NULL},
	{"NAME", "campaign_name", UNIT_TEXT, 0, NULL},
	{"NODE", "node/name", UNIT_TEXT, 0, NULL},
	{"SERIAL", "drive/serial", UNIT_TEXT, COL_KEEP, NULL},
	{"STATE", "state", UNIT_STATE, 0, NULL},
	{"POINTS", "progress/points_done", UNIT_TEXT, COL_KEEP, show_run_points},
	{"STARTED", "started", UNIT_TIME, 0, NULL},
	{"WHAT", "what", UNIT_TEXT, 0, show_run_what},
};

static const struct column campaign_columns[] = {
	{"CAMPAIGN", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"NAME", "name", UNIT_TEXT, 0, NULL},
	{"STATE", "state", UNIT_STATE, 0, NULL},
	{"LEFT", "left_ns", UNIT_SPAN, COL_KEEP, show_left},
};

/* Something that wants a person. Takes why. */
static void
add_attention(json_t *list, const json_t *what, const char *where, const char *state,
	json_t *why, const char *help)
{
	json_t *row = json_object();

	json_object_set(row, "what", json_object_get(what, "id"));
	json_put(row, "where", json_string(where));
	json_put(row, "state", json_string(state));
	json_put(row, "why", why);
	json_put(row, "help", json_string(help));
	json_array_append_new(list, row);
}

/* A node that does not do its part: why, and what to do. */
static void
look_at_absent(json_t *attention, const json_t *node, int64_t now_ns)
{
	const char *name = json_text_of(node, "name");
	bool heard = json_text_of(node, "last_seen")[0] != '\0';
	struct str why = {0};
	struct str state = {0};
	struct str help = {0};

	show_node_state(node, &state);
	str_printf(&help, "on %s: systemctl %s ssdlab-agent", name,
		heard ? "status" : "enable --now");
	if (show_text_is(node, "observed", "incompatible")) {
		/* It says what to do. */
		str_puts(&why, json_text_of(node, "trouble"));
		str_reset(&help);
		str_printf(&help, "ssdlab node show %s", name);
	} else if (heard) {
		str_puts(&why, "its agent was last heard ");
		human_ago(json_text_of(node, "last_seen"), now_ns, &why);
	} else {
		str_puts(&why, "has joined but was never heard");
	}
	add_attention(attention, node, name, str_text(&state),
		json_string(str_text(&why)), str_text(&help));
	str_fini(&state);
	str_fini(&help);
	str_fini(&why);
}

/* What keeps a node from taking runs, in its own words: they say what to do. */
static void
look_at_trouble(json_t *attention, const json_t *node)
{
	const char *name = json_text_of(node, "name");
	const char *trouble = json_text_of(node, "trouble");
	struct str help = {0};

	if (trouble[0] == '\0' || show_text_is(node, "observed", "incompatible"))
		return;
	str_printf(&help, "ssdlab node show %s", name);
	add_attention(
		attention, node, name, "trouble", json_string(trouble), str_text(&help));
	str_fini(&help);
}

static void
look_at_nodes(json_t *status, int64_t now_ns)
{
	json_t *attention = json_object_get(status, "attention");
	json_t *node;
	size_t i;

	json_array_foreach (json_object_get(status, "nodes"), i, node) {
		look_at_trouble(attention, node);
		if (!show_text_is(node, "observed", "online") &&
			!show_text_is(node, "admin", "pending") &&
			!show_text_is(node, "admin", "retired"))
			look_at_absent(attention, node, now_ns);
	}
}

/* A drive that people approved and that cannot be used, or one that is fenced. */
static void
look_at_drive(json_t *attention, const json_t *drive)
{
	struct str state = {0};
	struct str where = {0};
	struct str help = {0};
	bool approved = show_text_is(drive, "admin", "destructive") ||
			show_text_is(drive, "admin", "readonly");

	show_drive_state(drive, &state);
	str_printf(&where, "%s, serial %s",
		json_text_of(json_object_get(drive, "node"), "name"),
		json_text_of(drive, "serial"));
	if (strcmp(str_text(&state), "fenced") == 0)
		str_printf(&help, "ssdlab drive release %s", json_text_of(drive, "id"));
	else
		str_printf(&help, "ssdlab drive show %s", json_text_of(drive, "id"));
	if (show_text_is(drive, "occupancy", "fenced") ||
		show_text_is(drive, "occupancy", "quarantined") ||
		show_text_is(drive, "observed", "conflict") ||
		(approved && !show_text_is(drive, "observed", "present")))
		add_attention(attention, drive, str_text(&where), str_text(&state),
			json_string(json_text_of(drive, "protected")), str_text(&help));
	str_fini(&state);
	str_fini(&where);
	str_fini(&help);
}

/* A drive whose health cannot be read: runs go on, and know less. */
static void
look_at_health(json_t *attention, const json_t *drive)
{
	const char *why = json_text_of(drive, "health_unread");
	struct str where = {0};
	struct str help = {0};

	if (why[0] == '\0' || !show_text_is(drive, "observed", "present"))
		return;
	str_printf(&where, "%s, serial %s",
		json_text_of(json_object_get(drive, "node"), "name"),
		json_text_of(drive, "serial"));
	str_printf(&help, "ssdlab drive show %s", json_text_of(drive, "id"));
	add_attention(attention, drive, str_text(&where), "health unread",
		json_string(why), str_text(&help));
	str_fini(&where);
	str_fini(&help);
}

static void
look_at_run(json_t *attention, const json_t *run, int64_t now_ns)
{
	struct str why = {0};
	struct str where = {0};
	struct str help = {0};
	int64_t finished_ns;

	if (human_parse_time(json_text_of(run, "finished"), &finished_ns) &&
		now_ns - finished_ns > RECENT_NS)
		return;
	show_run_what(run, &why);
	str_printf(&where, "%s, serial %s",
		json_text_of(json_object_get(run, "node"), "name"),
		json_text_of(json_object_get(run, "drive"), "serial"));
	str_printf(&help, "ssdlab run show %s", json_text_of(run, "id"));
	add_attention(attention, run, str_text(&where), json_text_of(run, "state"),
		json_string(str_text(&why)), str_text(&help));
	str_fini(&why);
	str_fini(&where);
	str_fini(&help);
}

/* Reads a list and puts its items into the status under name. */
static int
read_into(struct cli *c, const char *path, const char *state, const char *since,
	json_t *items, struct err *e)
{
	struct str full = {0};
	json_t *doc = NULL;
	int rc;

	str_puts(&full, path);
	if (state != NULL)
		client_query(&full, "state", state);
	if (since != NULL)
		client_query(&full, "since", since);
	rc = client_list(c->client, str_text(&full), SIZE_MAX, &doc, e);
	if (rc == 0)
		json_array_extend(items, json_object_get(doc, "items"));
	json_decref(doc);
	str_fini(&full);
	return rc;
}

/* Version and health; a controller that cannot store still has a status. */
static int
read_controller(struct cli *c, json_t *controller, struct err *e)
{
	struct err health = {0};
	json_t *doc = NULL;

	if (client_get(c->client, "/api/v1/version", &doc, e) != 0)
		return -1;
	json_object_update(controller, doc);
	json_decref(doc);
	doc = NULL;
	json_put(controller, "server", json_string(c->config.server));
	if (client_get(c->client, "/api/v1/healthz", &doc, &health) == 0)
		json_object_set(controller, "health", json_object_get(doc, "status"));
	else
		json_put(controller, "health", json_string(health.text));
	json_decref(doc);
	return 0;
}

static json_t *
new_list(json_t *o, const char *name)
{
	json_t *list = json_array();

	json_put(o, name, list);
	return list;
}

/* In the order in which the scheduler takes them: priority, then age. */
static int
compare_waiting(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a;
	const json_t *y = *(json_t *const *)b;
	double xp = 0, yp = 0;
	long long xn = strtoll(json_text_of(x, "id") + 1, NULL, 10);
	long long yn = strtoll(json_text_of(y, "id") + 1, NULL, 10);

	json_number(json_object_get(x, "priority"), &xp);
	json_number(json_object_get(y, "priority"), &yp);
	if (xp != yp)
		return xp > yp ? -1 : 1;
	return (xn > yn) - (xn < yn);
}

static json_t *
waiting_order(const json_t *runs)
{
	size_t n = json_array_size(runs);
	json_t **order = xcalloc(n + 1, sizeof(json_t *));
	json_t *sorted = json_array();

	for (size_t i = 0; i < n; i++)
		order[i] = json_array_get(runs, i);
	qsort(order, n, sizeof(json_t *), compare_waiting);
	for (size_t i = 0; i < n; i++)
		json_array_append(sorted, order[i]);
	free(order);
	return sorted;
}

static int
read_lists(struct cli *c, json_t *status, struct err *e)
{
	json_t *running = new_list(status, "running");
	json_t *drives = new_list(status, "drives");
	json_t *attention = new_list(status, "attention");
	json_t *campaigns = new_list(status, "campaigns");
	json_t *ended = json_array();
	char since[40];
	json_t *item;
	size_t i;
	int rc = -1;

	format_time(c->out.now_ns - FAILED_DAYS * RECENT_NS, since, sizeof(since));
	if (read_into(c, "/api/v1/nodes", NULL, NULL, new_list(status, "nodes"), e) !=
			0 ||
		read_into(c, "/api/v1/drives", NULL, NULL, drives, e) != 0 ||
		read_into(c, "/api/v1/campaigns", "running", NULL, campaigns, e) != 0 ||
		read_into(c, "/api/v1/campaigns", "queued", NULL, campaigns, e) != 0 ||
		read_into(c, "/api/v1/runs", "running", NULL, running, e) != 0 ||
		read_into(c, "/api/v1/runs", "collecting", NULL, running, e) != 0 ||
		read_into(c, "/api/v1/runs", "leased", NULL, running, e) != 0 ||
		read_into(c, "/api/v1/runs", "pending", NULL, new_list(status, "waiting"),
			e) != 0 ||
		read_into(c, "/api/v1/runs", "failed", since, ended, e) != 0 ||
		read_into(c, "/api/v1/runs", "lost", since, ended, e) != 0)
		goto out;
	look_at_nodes(status, c->out.now_ns);
	json_array_foreach (drives, i, item) {
		look_at_drive(attention, item);
		look_at_health(attention, item);
	}
	json_array_foreach (ended, i, item)
		look_at_run(attention, item, c->out.now_ns);
	json_put(status, "waiting", waiting_order(json_object_get(status, "waiting")));
	rc = 0;
out:
	json_decref(ended);
	return rc;
}

static const struct column waiting_columns[] = {
	{"RUN", "id", UNIT_TEXT, COL_KEEP, NULL},
	{"CAMPAIGN", "campaign", UNIT_TEXT, COL_KEEP, NULL},
	{"NAME", "campaign_name", UNIT_TEXT, 0, NULL},
	{"SERIAL", "drive/serial", UNIT_TEXT, COL_KEEP, NULL},
	{"WAITS FOR", "blockers", UNIT_TEXT, COL_LATE, show_run_what},
};

static void
print_waiting(const struct out *o, const json_t *runs)
{
	size_t n = json_array_size(runs);
	json_t *first = json_array();

	for (size_t i = 0; i < n && i < WAITING_MAX; i++)
		json_array_append(first, json_array_get(runs, i));
	table_print(o, first, COLUMNS(waiting_columns));
	if (n > WAITING_MAX)
		out_line(o, "and %zu more: ssdlab run ls --state pending",
			n - WAITING_MAX);
	json_decref(first);
}

/* How many drives still wait to be approved; one that was protected waits for nothing. */
static size_t
unapproved(const json_t *drives)
{
	json_t *drive;
	size_t i;
	size_t n = 0;

	json_array_foreach (drives, i, drive)
		n += show_text_is(drive, "admin", "unapproved") &&
		     show_text_is(drive, "observed", "present") &&
		     json_text_of(drive, "admin_reason")[0] == '\0';
	return n;
}

static void
print_status(struct cli *c, const json_t *status)
{
	const struct out *o = &c->out;
	const json_t *controller = json_object_get(status, "controller");
	const json_t *nodes = json_object_get(status, "nodes");
	const json_t *campaigns = json_object_get(status, "campaigns");
	const json_t *running = json_object_get(status, "running");
	const json_t *waiting = json_object_get(status, "waiting");
	const json_t *attention = json_object_get(status, "attention");
	size_t new_drives = unapproved(json_object_get(status, "drives"));

	out_line(o, "%s  ssdlab %s  health: %s", json_text_of(controller, "server"),
		json_text_of(controller, "version"), json_text_of(controller, "health"));
	out_line(o, "nodes %zu, drives %zu, running %zu, waiting %zu",
		json_array_size(nodes),
		json_array_size(json_object_get(status, "drives")),
		json_array_size(running), json_array_size(waiting));
	if (json_array_size(nodes) > 0) {
		show_title(o, "Nodes");
		table_print(o, nodes, show_nodes, show_nodes_n);
	}
	if (json_array_size(campaigns) > 0) {
		show_title(o,
			"Campaigns (time left by what their suites say; nothing that "
			"fails is foreseen)");
		table_print(o, campaigns, COLUMNS(campaign_columns));
	}
	if (json_array_size(running) > 0) {
		show_title(o, "Running");
		table_print(o, running, COLUMNS(running_columns));
	}
	if (json_array_size(waiting) > 0) {
		show_title(o, "Waiting");
		print_waiting(o, waiting);
	}
	if (json_array_size(attention) > 0) {
		show_title(o, "Needs a person");
		table_print(o, attention, COLUMNS(attention_columns));
	}
	fflush(o->file);
	if (json_array_size(nodes) == 0)
		talk("no nodes yet: ssdlab node enroll NAME makes one");
	if (new_drives > 0)
		talk("drives not approved yet: %zu; ssdlab drive ls", new_drives);
}

int
cmd_status(struct cli *c, struct err *e)
{
	json_t *status = json_object();
	json_t *controller = json_object();
	int rc;

	json_put(status, "controller", controller);
	rc = read_controller(c, controller, e);
	if (rc == 0)
		rc = read_lists(c, status, e);
	if (rc == 0 && c->out.format == OUT_JSON)
		out_json(&c->out, status);
	else if (rc == 0 && show_for_people(c))
		print_status(c, status);
	else if (rc == 0)
		table_print(&c->out, json_object_get(status, "attention"),
			COLUMNS(attention_columns));
	json_decref(status);
	return rc;
}
