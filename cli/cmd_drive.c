#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/missing.h"
#include "cli/ref.h"
#include "cli/show.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/xalloc.h"

#define DRIVES "/api/v1/drives"
#define LEDGER_ROWS 20 /* of the ledger that are shown with a drive */
#define LOOK_MS 250    /* between looks at a drive whose run is being stopped */
/* A runner that does not end by itself is killed after 30 s by its agent. */
#define WITHDRAW_TIMEOUT "60s"

/* Nothing was found: there is no such model, or not on that node. */
static int
no_such_model(struct cli *c, struct err *e)
{
	json_t *doc, *have;
	int rc;

	if (client_list(c->client, DRIVES, SIZE_MAX, &doc, e) != 0)
		return -1;
	have = missing_collect(json_object_get(doc, "items"), "model");
	rc = missing_check("drive of model", c->flags[FLAG_MODEL], "", have, e);
	if (rc == 0)
		talk("no drive of model \"%s\" on node %s", c->flags[FLAG_MODEL],
			c->flags[FLAG_NODE]);
	json_decref(have);
	json_decref(doc);
	return rc;
}

int
cmd_drive_ls(struct cli *c, struct err *e)
{
	struct str path = {0};
	struct listing l = {NULL, SHOW_ALL, show_drives, show_drives_n,
		"no drives: agents report them once they run; ssdlab node ls", NULL};
	struct ref node;
	int rc = 0;

	str_puts(&path, DRIVES);
	if (c->flags[FLAG_NODE] != NULL) {
		rc = ref_node(c->client, c->flags[FLAG_NODE], &node, e);
		if (rc == 0)
			client_query(&path, "node", node.id);
	}
	if (c->flags[FLAG_MODEL] != NULL)
		client_query(&path, "model", c->flags[FLAG_MODEL]);
	l.path = str_text(&path);
	if (c->flags[FLAG_MODEL] != NULL)
		l.none = no_such_model;
	if (rc == 0)
		rc = show_list(c, &l, e);
	str_fini(&path);
	return rc;
}

/* Reads the drive that the first argument means. *ret_doc is owned. */
static int
get_drive(struct cli *c, json_t **ret_doc, struct err *e)
{
	struct str path = {0};
	struct ref ref;
	int rc = ref_drive(c->client, c->args[0], &ref, e);

	if (rc == 0) {
		str_printf(&path, DRIVES "/%s", ref.id);
		rc = client_get(c->client, str_text(&path), ret_doc, e);
	}
	str_fini(&path);
	return rc;
}

/* The latest rows of the ledger of a drive. */
static int
show_history(struct cli *c, const json_t *drive, struct err *e)
{
	struct str path = {0};
	json_t *doc;
	int rc;

	str_printf(&path, DRIVES "/%s/ledger?limit=%d", json_text_of(drive, "id"),
		LEDGER_ROWS);
	rc = client_get(c->client, str_text(&path), &doc, e);
	str_fini(&path);
	if (rc != 0)
		return -1;
	show_ledger(&c->out, "Ledger, the newest first", json_object_get(doc, "items"));
	if (json_has(doc, "next_cursor"))
		out_line(&c->out,
			"and older ones: ssdlab api GET /api/v1/drives/%s/ledger",
			json_text_of(drive, "id"));
	json_decref(doc);
	return 0;
}

/* Written since something: what the ledger begins with where there was no purge. */
static void
since_purge(const json_t *drive, struct str *out)
{
	double bytes;

	if (json_is_object(json_at(drive, "ledger/purged")) &&
		json_number(json_at(drive, "ledger/written_bytes"), &bytes))
		human_bytes(bytes, out);
}

static void
since_seen(const json_t *drive, struct str *out)
{
	double bytes;

	if (!json_is_object(json_at(drive, "ledger/purged")) &&
		json_number(json_at(drive, "ledger/written_bytes"), &bytes))
		human_bytes(bytes, out);
}

static const struct column ledger[] = {
	{"PURGED", "ledger/purged/at", UNIT_TIME, 0, NULL},
	{"PURGED BY", "ledger/purged/text", UNIT_TEXT, 0, NULL},
	{"FILLED", "ledger/filled/at", UNIT_TIME, 0, NULL},
	{"WRITTEN SINCE PURGE", "ledger/written_bytes", UNIT_BYTES, 0, since_purge},
	{"WRITTEN SINCE FIRST SEEN", "first_seen_written", UNIT_BYTES, COL_PEOPLE,
		since_seen},
	{"LAST PATTERN", "ledger/last_pattern", UNIT_TEXT, 0, NULL},
};

int
cmd_drive_show(struct cli *c, struct err *e)
{
	const size_t n = sizeof(ledger) / sizeof(ledger[0]);
	struct column *columns;
	json_t *doc;
	int rc = 0;

	if (get_drive(c, &doc, e) != 0)
		return -1;
	columns = xcalloc(show_drives_n + n, sizeof(*columns));
	memcpy(columns, show_drives, show_drives_n * sizeof(*columns));
	memcpy(columns + show_drives_n, ledger, sizeof(ledger));
	show_item(c, doc, columns, show_drives_n + n);
	free(columns);
	if (show_for_people(c))
		rc = show_history(c, doc, e);
	json_decref(doc);
	return rc;
}

/* "d1: SAMSUNG MZWLJ3T8, serial S1, 3.84 TB, on sr-01 (/dev/nvme0n1)" */
static void
describe(const json_t *drive, struct str *out)
{
	double bytes = 0;

	json_number(json_object_get(drive, "capacity_bytes"), &bytes);
	str_printf(out, "%s: %s, serial %s, ", json_text_of(drive, "id"),
		json_text_of(drive, "model"), json_text_of(drive, "serial"));
	human_bytes(bytes, out);
	str_printf(out, ", on %s (%s)",
		json_text_of(json_object_get(drive, "node"), "name"),
		json_text_of(drive, "path"));
}

/* Where the serial can be read: not where to copy it from, as typing it is to prove that
 * the drive was looked at. A virtual drive has no other place. */
static int
fix_serial(const json_t *drive, struct err *e)
{
	const char *node = json_text_of(json_object_get(drive, "node"), "name");
	const char *path = json_text_of(drive, "path");

	if (json_is_true(json_object_get(drive, "virtual")))
		return err_fix(e, "ssdlab drive show %s tells the serial it was given",
			json_text_of(drive, "id"));
	return err_fix(e, "read it off the drive's label, or on %.60s: %s %.60s", node,
		show_text_is(drive, "kind", "nvme") ? "nvme id-ctrl" : "smartctl -i",
		path);
}

/*
 * The serial as a person typed it: asked for on a terminal, else --serial or a line of
 * stdin. It must be the drive's: the controller compares too, but here nobody has to
 * wait.
 */
static int
typed_serial(struct cli *c, const json_t *drive, const char *what, char *buf, size_t size,
	struct err *e)
{
	const char *serial = json_text_of(drive, "serial");
	struct str text = {0};

	if (c->flags[FLAG_SERIAL] != NULL) {
		snprintf(buf, size, "%s", c->flags[FLAG_SERIAL]);
	} else {
		if (out_can_ask()) {
			describe(drive, &text);
			talk("%s", str_text(&text));
			talk("%s", what);
			fputs("type its serial: ", stderr);
			str_fini(&text);
		}
		if (!out_read_line(buf, size)) {
			buf[0] = '\0';
			fputs(out_can_ask() ? "\n" : "", stderr);
		}
	}
	if (strcmp(buf, serial) == 0)
		return 0;
	if (buf[0] == '\0') {
		err_set(e, ERR_INVALID, "nobody typed the serial of %s",
			json_text_of(drive, "id"));
		return err_fix(e, "--serial SERIAL, or the serial on stdin");
	}
	err_set(e, ERR_UNSAFE, "\"%.60s\" is not the serial of %s", buf,
		json_text_of(drive, "id"));
	return fix_serial(drive, e);
}

/* How a drive is after a verb, and the run that has to end for it. */
static void
say_state(const json_t *drive)
{
	const char *stopping = json_text_of(drive, "stopping");
	struct str state = {0};

	if (show_text_is(drive, "admin", "unapproved") && stopping[0] != '\0') {
		str_puts(&state, ": approval withdrawn");
	} else {
		str_puts(&state, " is ");
		show_drive_state(drive, &state);
	}
	if (stopping[0] != '\0')
		str_printf(&state, "; %s is being stopped", stopping);
	talk("%s (serial %s)%s", json_text_of(drive, "id"), json_text_of(drive, "serial"),
		str_text(&state));
	str_fini(&state);
}

/* How long a verb waits for the word of a node. */
struct patience {
	int64_t ns;
	const char *text;
};

static int
read_patience(const struct cli *c, struct patience *ret_p, struct err *e)
{
	ret_p->text = c->flags[FLAG_TIMEOUT] != NULL ? c->flags[FLAG_TIMEOUT]
						     : WITHDRAW_TIMEOUT;
	if (parse_duration(ret_p->text, &ret_p->ns, e) != 0)
		return err_ctx(e, "--timeout");
	client_limit(c->client, ret_p->ns);
	return 0;
}

/* Nobody has said that the run of a drive has ended; why: what went wrong last, or "". */
static int
fail_withdraw(
	const json_t *drive, const struct patience *p, const char *why, struct err *e)
{
	const char *node = json_text_of(json_object_get(drive, "node"), "name");

	err_set(e, ERR_TIMEOUT,
		"%s may still be written to: node %.60s has not said within %s that %s "
		"has ended%s%.200s",
		json_text_of(drive, "id"), node, p->text, json_text_of(drive, "stopping"),
		why[0] != '\0' ? "; " : "", why);
	return err_fix(e,
		"look at the node (ssdlab node show %.60s); it stops the run when it is "
		"back, and ssdlab drive show tells; or power it off",
		node);
}

/*
 * A controller that said it could not store it has withdrawn nothing. One that was not
 * reached, or did not answer, may yet have got the request.
 */
static int
fail_reach(const char *drive, struct err *e)
{
	if (e->class == ERR_NET || e->class == ERR_TIMEOUT)
		err_ctx(e,
			"drive %.60s may still be written to; whether its approval was "
			"withdrawn is not known (ssdlab drive show %.60s tells)",
			drive, drive);
	else if (client_may_pass(e))
		err_ctx(e, "drive %.60s may still be written to, its approval stands",
			drive);
	return -1;
}

/* Somebody gave the drive another approval while the end of its run was waited for. */
static int
fail_approved(const json_t *drive, struct err *e)
{
	const char *id = json_text_of(drive, "id");
	const char *run = json_text_of(drive, "run");

	if (show_text_is(drive, "admin", "destructive") ||
		show_text_is(drive, "admin", "readonly"))
		err_set(e, ERR_CHANGED, "%s was approved again meanwhile; %.40s %s", id,
			run[0] != '\0' ? run : "campaigns",
			run[0] != '\0' ? "uses it" : "may use it");
	else
		err_set(e, ERR_CHANGED, "%s was changed meanwhile and is %.40s now", id,
			json_text_of(drive, "admin"));
	return err_fix(e,
		"agree with who did that (ssdlab drive show %s), then give the command "
		"again",
		id);
}

/*
 * Only a drive that no run has, or whose runs all end by themselves, is free; and only
 * while its approval is still the one that was asked for.
 */
static int
judge_withdraw(const json_t *drive, const char *admin, struct err *e)
{
	const char *id = json_text_of(drive, "id");

	if (!show_text_is(drive, "occupancy", "fenced"))
		return show_text_is(drive, "admin", admin) ? 0 : fail_approved(drive, e);
	err_set(e, ERR_STATE,
		"%s is fenced and may still be written to: nothing proves that its run "
		"has ended",
		id);
	return err_fix(e,
		"see to it that nothing on its node uses it, then: ssdlab drive release "
		"%s",
		id);
}

/*
 * Waits for the word of the node that the run which has to end uses the drive no more:
 * until then an approval that was withdrawn may still be used. A controller that is away
 * meanwhile is waited for. *drive, as the verb left it, is replaced by what it is then.
 */
static int
wait_withdrawn(struct cli *c, json_t **drive, const struct patience *p, struct err *e)
{
	int64_t until_ns = clock_mono() + p->ns;
	struct err why = {0};
	struct str path = {0}, admin = {0};
	int rc = 0;

	str_puts(&admin, json_text_of(*drive, "admin"));
	str_printf(&path, DRIVES "/%s", json_text_of(*drive, "id"));
	while (rc == 0 && !json_is_null(json_object_get(*drive, "stopping"))) {
		int64_t left_ns = until_ns - clock_mono();
		json_t *now = NULL;

		if (left_ns <= 0) {
			rc = fail_withdraw(*drive, p, why.text, e);
			break;
		}
		poll(NULL, 0, LOOK_MS);
		client_limit(c->client, left_ns);
		err_clear(&why);
		if (client_get(c->client, str_text(&path), &now, &why) == 0) {
			json_decref(*drive);
			*drive = now;
		} else if (!client_may_pass(&why)) {
			*e = why;
			rc = err_ctx(e, "%s may still be written to",
				json_text_of(*drive, "id"));
		}
	}
	if (rc == 0)
		rc = judge_withdraw(*drive, str_text(&admin), e);
	str_fini(&path);
	str_fini(&admin);
	return rc;
}

/* POSTs to a verb of the drive; *ret_doc is the drive after it, owned. Takes body. */
static int
post(struct cli *c, const json_t *drive, const char *verb, json_t *body, json_t **ret_doc,
	struct err *e)
{
	struct str path = {0};
	int rc;

	str_printf(&path, DRIVES "/%s/%s", json_text_of(drive, "id"), verb);
	rc = client_post(c->client, str_text(&path), body, ret_doc, e);
	str_fini(&path);
	json_decref(body);
	return rc;
}

/* Says how the drive is. Takes drive. */
static void
tell(const struct cli *c, json_t *drive)
{
	if (c->out.format == OUT_JSON)
		out_json(&c->out, drive);
	else
		say_state(drive);
	json_decref(drive);
}

/* POSTs to a verb of the drive and says how the drive is then. Takes body. */
static int
act(struct cli *c, const json_t *drive, const char *verb, json_t *body, struct err *e)
{
	json_t *doc;

	if (post(c, drive, verb, body, &doc, e) != 0)
		return -1;
	tell(c, doc);
	return 0;
}

/*
 * The same for a verb that withdraws what runs may do: waits for the end of a run that
 * has to end for it. Takes body.
 */
static int
withdraw(struct cli *c, const json_t *drive, const char *verb, json_t *body,
	const struct patience *p, struct err *e)
{
	json_t *doc;
	int rc;

	if (post(c, drive, verb, body, &doc, e) != 0)
		return fail_reach(json_text_of(drive, "id"), e);
	if (!json_is_null(json_object_get(doc, "stopping")))
		say_state(doc);
	rc = wait_withdrawn(c, &doc, p, e);
	if (rc == 0)
		tell(c, doc);
	else
		json_decref(doc);
	return rc;
}

/* Approves what a person typed the serial of. Takes drive. */
static int
approve(struct cli *c, json_t *drive, const char *mode, const struct patience *p,
	struct err *e)
{
	bool erases = strcmp(mode, "destructive") == 0;
	char serial[128];
	json_t *body;
	int rc = typed_serial(c, drive,
		erases ? "Campaigns will be able to ERASE EVERYTHING on it."
		       : "Campaigns will be able to read it.",
		serial, sizeof(serial), e);

	if (rc == 0) {
		body = json_object();
		json_put(body, "serial", json_string(serial));
		json_put(body, "mode", json_string(mode));
		rc = erases ? act(c, drive, "approve", body, e)
			    : withdraw(c, drive, "approve", body, p, e);
	}
	json_decref(drive);
	return rc;
}

int
cmd_drive_approve(struct cli *c, struct err *e)
{
	const char *mode = c->flags[FLAG_MODE] != NULL ? c->flags[FLAG_MODE]
						       : "destructive";
	struct patience p = {0};
	json_t *drive;

	if (strcmp(mode, "destructive") != 0 && strcmp(mode, "readonly") != 0) {
		err_set(e, ERR_INVALID, "--mode: \"%.40s\" is no mode", mode);
		return err_fix(e, "destructive or readonly");
	}
	if (read_patience(c, &p, e) != 0 || get_drive(c, &drive, e) != 0)
		return -1;
	return approve(c, drive, mode, &p, e);
}

static int
need_reason(const struct cli *c, const char *example, json_t **ret_body, struct err *e)
{
	if (c->flags[FLAG_REASON] == NULL) {
		err_set(e, ERR_INVALID, "the record wants a reason");
		return err_fix(e, "--reason '%s'", example);
	}
	*ret_body = json_object();
	json_put(*ret_body, "reason", json_string(c->flags[FLAG_REASON]));
	return 0;
}

int
cmd_drive_protect(struct cli *c, struct err *e)
{
	struct patience p;
	json_t *drive;
	json_t *body = NULL;
	int rc;

	if (read_patience(c, &p, e) != 0 ||
		need_reason(c, "goes back to its owner", &body, e) != 0)
		return -1;
	if (get_drive(c, &drive, e) != 0) {
		json_decref(body);
		return fail_reach(c->args[0], e);
	}
	rc = withdraw(c, drive, "protect", body, &p, e);
	json_decref(drive);
	return rc;
}

int
cmd_drive_release(struct cli *c, struct err *e)
{
	char serial[128];
	json_t *drive;
	json_t *body = NULL;
	int rc;

	if (need_reason(c, "node was power cycled, no runner is left", &body, e) != 0)
		return -1;
	rc = get_drive(c, &drive, e);
	if (rc != 0) {
		json_decref(body);
		return -1;
	}
	rc = typed_serial(c, drive,
		"Release it only when you know that no runner on its node uses it any "
		"more.",
		serial, sizeof(serial), e);
	if (rc == 0) {
		json_put(body, "serial", json_string(serial));
		rc = act(c, drive, "release", body, e);
	} else {
		json_decref(body);
	}
	json_decref(drive);
	return rc;
}
