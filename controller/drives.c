#include "controller/drives.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/event.h"
#include "controller/ledger.h"
#include "controller/state.h"
#include "controller/store.h"

static const char *const admin_states[] = {
#define ADMIN_STATE(name, text) [DRIVE_##name] = (text),
#include "controller/drive_tbl.h"
};
static const char *const admin_events[] = {
#define ADMIN_EVENT(name, text) [DRIVE_DO_##name] = (text),
#include "controller/drive_tbl.h"
};
static const struct fsm_edge admin_edges[] = {
#define ADMIN_EDGE(from, event, to) {DRIVE_##from, DRIVE_DO_##event, DRIVE_##to},
#include "controller/drive_tbl.h"
};
static const char *const observed_states[] = {
#define OBSERVED_STATE(name, text) [DRIVE_IS_##name] = (text),
#include "controller/drive_tbl.h"
};
static const char *const observed_events[] = {
#define OBSERVED_EVENT(name, text) [DRIVE_SEE_##name] = (text),
#include "controller/drive_tbl.h"
};
static const struct fsm_edge observed_edges[] = {
#define OBSERVED_EDGE(from, event, to) \
	{DRIVE_IS_##from, DRIVE_SEE_##event, DRIVE_IS_##to},
#include "controller/drive_tbl.h"
};
static const char *const occupancy_states[] = {
#define OCCUPANCY_STATE(name, text) [DRIVE_HAS_##name] = (text),
#include "controller/drive_tbl.h"
};
static const char *const occupancy_events[] = {
#define OCCUPANCY_EVENT(name, text) [DRIVE_TAKE_##name] = (text),
#include "controller/drive_tbl.h"
};
static const struct fsm_edge occupancy_edges[] = {
#define OCCUPANCY_EDGE(from, event, to) \
	{DRIVE_HAS_##from, DRIVE_TAKE_##event, DRIVE_HAS_##to},
#include "controller/drive_tbl.h"
};

const struct fsm drive_admin_fsm = FSM_INIT(admin_states, admin_events, admin_edges);
const struct fsm drive_observed_fsm = FSM_INIT(
	observed_states, observed_events, observed_edges);
const struct fsm drive_occupancy_fsm = FSM_INIT(
	occupancy_states, occupancy_events, occupancy_edges);

static const struct state_variable admin_variable = {
	.object = "drive",
	.letter = 'd',
	.variable = "admin",
	.fsm = &drive_admin_fsm,
	.select = "SELECT admin FROM drive WHERE id = ?1",
	.update = "UPDATE drive SET admin = ?1 WHERE id = ?2",
};
static const struct state_variable observed_variable = {
	.object = "drive",
	.letter = 'd',
	.variable = "observed",
	.fsm = &drive_observed_fsm,
	.select = "SELECT observed FROM drive WHERE id = ?1",
	.update = "UPDATE drive SET observed = ?1 WHERE id = ?2",
};
static const struct state_variable occupancy_variable = {
	.object = "drive",
	.letter = 'd',
	.variable = "occupancy",
	.fsm = &drive_occupancy_fsm,
	.select = "SELECT occupancy FROM drive WHERE id = ?1",
	.update = "UPDATE drive SET occupancy = ?1 WHERE id = ?2",
};

int
drive_admin_change(struct tx *t, int64_t drive, enum drive_admin_event ev,
	const char *why, const char *actor, struct err *e)
{
	struct state_change c = {
		.id = drive, .event = (int)ev, .why = why, .actor = actor};

	if (state_apply(t, &admin_variable, &c, e) != 0)
		return -1;
	tx_notify(t, NOTIFY_SCHED, 0);
	return tx_exec(t, e, "UPDATE drive SET admin_reason = ?1 WHERE id = ?2", "si",
		why, drive);
}

int
drive_occupy(struct tx *t, int64_t drive, enum drive_occupancy_event ev, const char *why,
	const char *actor, struct err *e)
{
	struct state_change c = {
		.id = drive, .event = (int)ev, .why = why, .actor = actor};

	if (state_apply(t, &occupancy_variable, &c, e) != 0)
		return -1;
	if (c.to == DRIVE_HAS_IDLE)
		tx_notify(t, NOTIFY_SCHED, 0);
	return 0;
}

/* What is known of a drive's whereabouts, with the new list of one node taken in. */
struct whereabouts {
	int64_t n;	/* nodes that list it */
	int64_t living; /* of these, nodes that are not lost */
	int64_t node;	/* the one to name: a living one, the latest to list it */
	char *path, *protected;
};

static int
load_whereabouts(struct tx *t, int64_t drive, struct whereabouts *ret_w, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT s.node_id, s.path, s.protected, n.observed <> 'lost'"
		    " FROM sighting s JOIN node n ON n.id = s.node_id"
		    " WHERE s.drive_id = ?1 ORDER BY 4 DESC, s.id DESC",
		    "i", drive) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		if (ret_w->n++ == 0) {
			ret_w->node = cur_int(c, 0);
			ret_w->path = xstrdup(cur_text(c, 1));
			ret_w->protected = xstrdup(cur_text(c, 2));
		}
		ret_w->living += cur_int(c, 3);
	}
	cur_close(c);
	return rc;
}

/*
 * The event that the whereabouts are to a drive. A lost node counts only by the lease of
 * one of its attempts: nothing else of it writes.
 */
static enum drive_observed_event
judge(const struct whereabouts *w, bool held_elsewhere)
{
	if (w->n == 0)
		return DRIVE_SEE_GONE;
	if (w->living > 1 || held_elsewhere)
		return DRIVE_SEE_CLASH;
	return w->protected[0] != '\0' ? DRIVE_SEE_GUARDED : DRIVE_SEE_SEEN;
}

/* Whether an attempt on a node other than this one has the drive. */
static int
is_held_elsewhere(struct tx *t, int64_t drive, int64_t node, struct err *e)
{
	int64_t n;

	if (tx_int(t, &n, e,
		    "SELECT count(*) FROM lease l JOIN attempt a ON a.id = l.attempt_id"
		    " WHERE l.drive_id = ?1 AND l.released_ns IS NULL AND a.node_id <> "
		    "?2",
		    "ii", drive, node) < 0)
		return -1;
	return n > 0;
}

/* Where nobody looks anybody may write, and who uses a drive does. */
static int
note_absence(struct tx *t, const struct state_change *c, struct err *e)
{
	char *why = NULL;
	int rc = 0;

	if (c->from == c->to)
		return 0;
	if (c->to == DRIVE_IS_ABSENT)
		why = xstrdup("it was away: no node listed it");
	else if (c->to == DRIVE_IS_CONFLICT)
		why = xstrdup("it was seen on two nodes at once");
	else if (c->to == DRIVE_IS_PROTECTED)
		why = xasprintf("it was in use: %s", c->why);
	if (why != NULL)
		rc = ledger_unknown(t, c->id, why, e);
	free(why);
	return rc;
}

/* Brings a drive's row up to date with its sightings. */
static int
refresh(struct tx *t, int64_t drive, const char *actor, struct err *e)
{
	struct state_change c = {.id = drive, .why = "", .actor = actor};
	struct whereabouts w = {0};
	int elsewhere = 0;
	int rc = load_whereabouts(t, drive, &w, e);

	if (rc == 0 && w.n > 0)
		rc = elsewhere = is_held_elsewhere(t, drive, w.node, e);
	if (rc < 0)
		goto out;
	c.event = (int)judge(&w, elsewhere != 0);
	c.why = w.n > 0 && c.event == DRIVE_SEE_GUARDED ? w.protected : "";
	rc = state_apply(t, &observed_variable, &c, e);
	if (rc == 0)
		rc = note_absence(t, &c, e);
	if (rc == 0 && w.n > 0)
		rc = tx_exec(t, e,
			"UPDATE drive SET node_id = ?1, path = ?2, protected = ?3"
			" WHERE id = ?4 AND (node_id <> ?1 OR path <> ?2 OR protected <> "
			"?3)",
			"issi", w.node, w.path, w.protected, drive);
	if (rc == 0 && (c.from != c.to || (w.n > 0 && tx_changes(t) > 0)))
		tx_notify(t, NOTIFY_SCHED, 0);
out:
	free(w.path);
	free(w.protected);
	return rc < 0 ? -1 : 0;
}

static int
find_drive(struct tx *t, const struct drive_id *id, int64_t *ret_drive, struct err *e)
{
	return tx_int(t, ret_drive, e,
		"SELECT id FROM drive WHERE serial = ?1 AND model = ?2 AND wwn = ?3"
		" AND capacity_bytes = ?4",
		"sssi", id->serial, id->model, id->wwn, (int64_t)id->capacity_bytes);
}

static int
add_drive(struct tx *t, int64_t node, const struct sighting *s, int64_t *ret_drive,
	struct err *e)
{
	const struct drive_id *id = &s->id;

	if (tx_exec(t, e,
		    "INSERT INTO drive (kind, model, serial, wwn, capacity_bytes,"
		    " logical_block_bytes, firmware, virtual, node_id, path, numa_node,"
		    " observed, first_seen_ns, last_seen_ns)"
		    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'absent', "
		    "?12,"
		    " ?12)",
		    "ssssiisiisii", drive_kind_name(id->kind), id->model, id->serial,
		    id->wwn, (int64_t)id->capacity_bytes,
		    (int64_t)id->logical_block_bytes, id->firmware,
		    (int64_t)id->is_virtual, node, s->path, (int64_t)id->numa_node,
		    tx_wall(t)) != 0)
		return -1;
	*ret_drive = tx_last_id(t);
	return 0;
}

/* Facts that may change while the drive stays the same; a new firmware is on record. */
static int
update_facts(struct tx *t, int64_t drive, const struct drive_id *id, const char *actor,
	struct err *e)
{
	struct transition x = {.object = "drive",
		.id = drive,
		.variable = "firmware",
		.to = id->firmware,
		.why = "",
		.actor = actor};
	char *before = NULL;
	int rc = tx_text(
		t, &before, e, "SELECT firmware FROM drive WHERE id = ?1", "i", drive);

	if (rc == 1 && strcmp(before, id->firmware) != 0) {
		x.from = before;
		rc = event_transition(t, &x, e);
		if (rc == 0)
			rc = ledger_unknown(t, drive, "its firmware was changed", e);
	}
	free(before);
	if (rc < 0)
		return -1;
	return tx_exec(t, e,
		"UPDATE drive SET kind = ?1, logical_block_bytes = ?2, firmware = ?3,"
		" virtual = max(virtual, ?4), numa_node = ?5, last_seen_ns = ?6"
		" WHERE id = ?7",
		"sisiiii", drive_kind_name(id->kind), (int64_t)id->logical_block_bytes,
		id->firmware, (int64_t)id->is_virtual, (int64_t)id->numa_node, tx_wall(t),
		drive);
}

static int
note_sighting(struct tx *t, int64_t node, int64_t drive, const struct sighting *s,
	struct err *e)
{
	return tx_exec(t, e,
		"INSERT INTO sighting (drive_id, node_id, path, protected)"
		" VALUES (?1, ?2, ?3, ?4) ON CONFLICT (node_id, drive_id) DO UPDATE"
		" SET path = excluded.path, protected = excluded.protected",
		"iiss", drive, node, s->path, s->protected);
}

/* The same identity twice on one node: neither path may be written to. */
static int
note_twice(struct tx *t, int64_t node, int64_t drive, const struct sighting *s,
	struct err *e)
{
	char *why = xasprintf("%s%sa second device with this identity is at %s",
		s->protected, s->protected[0] != '\0' ? "; " : "", s->path);
	int rc = tx_exec(t, e,
		"UPDATE sighting SET protected = ?1 WHERE node_id = ?2 AND drive_id = ?3",
		"sii", why, node, drive);

	free(why);
	return rc;
}

static bool
is_among(const int64_t *ids, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* Forgets sightings of drives that are not in the list any more. */
static int
drop_missing(struct tx *t, int64_t node, const int64_t *ids, size_t n, const char *actor,
	struct err *e)
{
	int64_t drive = 0;
	int rc;

	while ((rc = tx_int(t, &drive, e,
			"SELECT drive_id FROM sighting WHERE node_id = ?1 AND drive_id > "
			"?2"
			" ORDER BY drive_id LIMIT 1",
			"ii", node, drive)) == 1) {
		if (is_among(ids, n, drive))
			continue;
		if (tx_exec(t, e,
			    "DELETE FROM sighting WHERE node_id = ?1 AND drive_id = ?2",
			    "ii", node, drive) != 0 ||
			refresh(t, drive, actor, e) != 0)
			return -1;
	}
	return rc;
}

static int
sight_one(struct tx *t, int64_t node, const struct sighting *s, int64_t *ret_drive,
	const char *actor, struct err *e)
{
	int rc = find_drive(t, &s->id, ret_drive, e);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return add_drive(t, node, s, ret_drive, e);
	return update_facts(t, *ret_drive, &s->id, actor, e);
}

int
drives_sighted(
	struct tx *t, int64_t node, const struct sighting *list, size_t n, struct err *e)
{
	int64_t *ids = xcalloc(n + 1, sizeof(*ids));
	char actor[24];
	int rc = 0;

	snprintf(actor, sizeof(actor), "n%" PRId64, node);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = sight_one(t, node, &list[i], &ids[i], actor, e);
		if (rc != 0)
			break;
		if (is_among(ids, i, ids[i]))
			rc = note_twice(t, node, ids[i], &list[i], e);
		else
			rc = note_sighting(t, node, ids[i], &list[i], e);
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = refresh(t, ids[i], actor, e);
	if (rc == 0)
		rc = drop_missing(t, node, ids, n, actor, e);
	free(ids);
	return rc;
}

static const char select_drive[] =
	"SELECT d.model, d.serial, d.wwn, d.firmware, d.kind, "
	"d.capacity_bytes,"
	" d.logical_block_bytes, d.virtual, d.node_id, n.name, d.path, "
	"d.admin,"
	" d.observed, d.protected, d.occupancy, d.labels, d.last_seen_ns,"
	" (SELECT r.id FROM run r WHERE r.drive_id = d.id"
	"  AND r.started_ns IS NOT NULL ORDER BY r.started_ns DESC LIMIT 1),"
	" (SELECT a.run_id FROM lease l JOIN attempt a ON a.id = l.attempt_id"
	"  WHERE l.drive_id = d.id AND l.released_ns IS NULL"
	"  AND a.stop_requested AND a.state IN ('granted', 'running')),"
	" (SELECT a.run_id FROM lease l JOIN attempt a ON a.id = l.attempt_id"
	"  WHERE l.drive_id = d.id AND l.released_ns IS NULL),"
	" d.admin_reason,"
	" CASE WHEN NOT d.virtual AND d.kind IN ('nvme', 'scsi') THEN"
	"  (SELECT h.doc ->> '$.why' FROM health h"
	"   JOIN attempt a ON a.id = h.attempt_id"
	"   JOIN run r ON r.id = a.run_id WHERE r.drive_id = d.id"
	"   ORDER BY h.at_ns DESC, h.id DESC LIMIT 1) END"
	" FROM drive d JOIN node n ON n.id = d.node_id WHERE d.id = ?1";

int
drive_json(struct tx *t, int64_t drive, json_t **ret_doc, struct err *e)
{
	struct cur *c;
	json_t *doc, *node;
	int rc;

	if (tx_query(t, &c, e, select_drive, "i", drive) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc <= 0) {
		cur_close(c);
		return rc < 0 ? -1 : doc_missing('d', drive, e);
	}
	doc = json_object();
	json_put(doc, "schema", json_string("ssdlab/drive/v1"));
	json_put(doc, "id", api_id('d', drive));
	json_put(doc, "model", json_string(cur_text(c, 0)));
	json_put(doc, "serial", json_string(cur_text(c, 1)));
	json_put(doc, "wwn", json_string(cur_text(c, 2)));
	json_put(doc, "firmware", json_string(cur_text(c, 3)));
	json_put(doc, "kind", json_string(cur_text(c, 4)));
	json_put(doc, "capacity_bytes", json_u64((uint64_t)cur_int(c, 5)));
	json_put(doc, "logical_block_bytes", json_integer(cur_int(c, 6)));
	json_put(doc, "virtual", json_boolean(cur_int(c, 7) != 0));
	node = json_object();
	json_put(node, "id", api_id('n', cur_int(c, 8)));
	json_put(node, "name", json_string(cur_text(c, 9)));
	json_put(doc, "node", node);
	json_put(doc, "path", json_string(cur_text(c, 10)));
	json_put(doc, "admin", json_string(cur_text(c, 11)));
	json_put(doc, "admin_reason", json_string(cur_text(c, 20)));
	json_put(doc, "observed", json_string(cur_text(c, 12)));
	json_put(doc, "protected", json_string(cur_text(c, 13)));
	json_put(doc, "occupancy", json_string(cur_text(c, 14)));
	json_put(doc, "health_unread", json_text(cur_text(c, 21)));
	json_put(doc, "labels", doc_stored(cur_text(c, 15)));
	json_put(doc, "last_run",
		cur_null(c, 17) ? json_null() : api_id('r', cur_int(c, 17)));
	json_put(doc, "run", cur_null(c, 19) ? json_null() : api_id('r', cur_int(c, 19)));
	json_put(doc, "stopping",
		cur_null(c, 18) ? json_null() : api_id('r', cur_int(c, 18)));
	json_put(doc, "last_seen", api_time(cur_int(c, 16)));
	cur_close(c);
	*ret_doc = doc;
	return 0;
}
