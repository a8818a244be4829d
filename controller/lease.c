#include "controller/lease.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "controller/drives.h"
#include "controller/event.h"
#include "controller/ledger.h"
#include "controller/run.h"
#include "controller/store.h"

static int
last_token(struct tx *t, int64_t *ret_fence, struct err *e)
{
	*ret_fence = 0;
	return tx_int(t, ret_fence, e, "SELECT value FROM meta WHERE key = 'fence'", "") <
			       0
		       ? -1
		       : 0;
}

int
lease_raise(struct tx *t, uint64_t fence, struct err *e)
{
	int64_t last;

	if (fence > INT64_MAX)
		return err_set(e, ERR_INVALID, "%" PRIu64 " is no fence token", fence);
	if (last_token(t, &last, e) != 0)
		return -1;
	if ((int64_t)fence <= last)
		return 0;
	return tx_exec(t, e,
		"INSERT INTO meta (key, value) VALUES ('fence', ?1)"
		" ON CONFLICT (key) DO UPDATE SET value = excluded.value",
		"i", (int64_t)fence);
}

int
lease_epoch(struct tx *t, uint64_t *ret_epoch, struct err *e)
{
	int64_t last;

	if (last_token(t, &last, e) != 0)
		return -1;
	*ret_epoch = (uint64_t)last >> 32;
	if (*ret_epoch < tx_epoch(t))
		*ret_epoch = tx_epoch(t);
	return 0;
}

int
lease_token(struct tx *t, uint64_t *ret_fence, struct err *e)
{
	uint64_t first = (uint64_t)tx_epoch(t) << 32 | 1;
	int64_t last;

	if (last_token(t, &last, e) != 0)
		return -1;
	*ret_fence = (uint64_t)last + 1 > first ? (uint64_t)last + 1 : first;
	return lease_raise(t, *ret_fence, e);
}

static int
log_lease(struct tx *t, int64_t lease, bool held, const char *why, const char *actor,
	struct err *e)
{
	struct transition x = {.object = "lease",
		.id = lease,
		.variable = "state",
		.from = held ? "free" : "held",
		.to = held ? "held" : "free",
		.why = why,
		.actor = actor};

	return event_transition(t, &x, e);
}

static int
add_lease(struct tx *t, int64_t drive, int64_t attempt, const char *why,
	const char *actor, struct err *e)
{
	if (tx_exec(t, e,
		    "INSERT INTO lease (drive_id, attempt_id, fence, granted_ns)"
		    " SELECT ?1, id, fence, ?3 FROM attempt WHERE id = ?2",
		    "iii", drive, attempt, tx_wall(t)) != 0)
		return -1;
	return log_lease(t, tx_last_id(t), true, why, actor, e);
}

int
lease_grant(
	struct tx *t, int64_t drive, int64_t attempt, const char *actor, struct err *e)
{
	if (add_lease(t, drive, attempt, "", actor, e) != 0)
		return -1;
	return drive_occupy(t, drive, DRIVE_TAKE_LEASE, "", actor, e);
}

/* The lease of an attempt that is not released: 1, 0 when there is none, -1 on error. */
static int
find_lease(struct tx *t, int64_t attempt, int64_t *ret_lease, int64_t *ret_drive,
	struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT id, drive_id FROM lease"
		    " WHERE attempt_id = ?1 AND released_ns IS NULL",
		    "i", attempt) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		*ret_lease = cur_int(c, 0);
		*ret_drive = cur_int(c, 1);
	}
	cur_close(c);
	return rc;
}

int
lease_release(struct tx *t, int64_t attempt, const char *evidence, const char *actor,
	struct err *e)
{
	int64_t lease, drive;
	int rc = find_lease(t, attempt, &lease, &drive, e);

	assert(evidence[0] != '\0');
	if (rc != 1)
		return rc;
	if (tx_exec(t, e,
		    "UPDATE lease SET released_ns = ?1, released_why = ?2 WHERE id = ?3",
		    "isi", tx_wall(t), evidence, lease) != 0 ||
		log_lease(t, lease, false, evidence, actor, e) != 0)
		return -1;
	return drive_occupy(t, drive, DRIVE_TAKE_RELEASE, evidence, actor, e);
}

/* 1 when an attempt other than this one has a lease of its drive. */
static int
drive_taken(struct tx *t, int64_t attempt, int64_t *ret_drive, struct err *e)
{
	int64_t n = 0;

	*ret_drive = 0;
	if (tx_int(t, ret_drive, e,
		    "SELECT r.drive_id FROM attempt a JOIN run r ON r.id = a.run_id"
		    " WHERE a.id = ?1",
		    "i", attempt) < 0)
		return -1;
	if (tx_int(t, &n, e,
		    "SELECT count(*) FROM lease WHERE drive_id = ?1"
		    " AND released_ns IS NULL",
		    "i", *ret_drive) < 0)
		return -1;
	return n > 0;
}

int
lease_fence(
	struct tx *t, int64_t attempt, const char *why, const char *actor, struct err *e)
{
	int64_t lease;
	int64_t drive = 0;
	int rc = find_lease(t, attempt, &lease, &drive, e);

	if (rc < 0)
		return -1;
	if (rc == 0) {
		rc = drive_taken(t, attempt, &drive, e);
		/* another one has it: its own fence token keeps it safe */
		if (rc != 0)
			return rc < 0 ? -1 : 0;
		if (add_lease(t, drive, attempt, why, actor, e) != 0)
			return -1;
	}
	return drive_occupy(t, drive, DRIVE_TAKE_FENCE, why, actor, e);
}

/* The occupancy of a drive, -1 on error. */
static int
occupancy(struct tx *t, int64_t drive, struct err *e)
{
	char *text = NULL;
	int state;
	int rc = tx_text(
		t, &text, e, "SELECT occupancy FROM drive WHERE id = ?1", "i", drive);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_NOTFOUND, "there is no drive d%" PRId64, drive);
	state = fsm_state(&drive_occupancy_fsm, text);
	free(text);
	return state;
}

int
lease_quarantine(
	struct tx *t, int64_t drive, const char *why, const char *actor, struct err *e)
{
	int state = occupancy(t, drive, e);

	if (state < 0)
		return -1;
	if (state != DRIVE_HAS_IDLE)
		return 0;
	return drive_occupy(t, drive, DRIVE_TAKE_QUARANTINE, why, actor, e);
}

/* Whether a person may release the drive: ERR_STATE with the way to go when not. */
static int
may_release(struct tx *t, int64_t drive, int64_t attempt, struct err *e)
{
	int state = occupancy(t, drive, e);
	int64_t lost = 0;

	if (state < 0)
		return -1;
	if (state == DRIVE_HAS_FENCED || state == DRIVE_HAS_QUARANTINED)
		return 0;
	if (state == DRIVE_HAS_IDLE)
		return err_set(e, ERR_STATE,
			"drive d%" PRId64 " is idle: nothing to release", drive);
	if (tx_int(t, &lost, e,
		    "SELECT n.observed = 'lost' FROM attempt a"
		    " JOIN node n ON n.id = a.node_id WHERE a.id = ?1",
		    "i", attempt) < 0)
		return -1;
	if (lost != 0)
		return 0;
	err_set(e, ERR_STATE, "drive d%" PRId64 " is in use, and its node is not lost",
		drive);
	return err_fix(e, "cancel its run: ssdlab campaign cancel");
}

static int
lose_holder(struct tx *t, int64_t attempt, const char *evidence, const char *actor,
	struct err *e)
{
	int64_t live;

	if (tx_int(t, &live, e,
		    "SELECT state IN ('granted', 'running') FROM attempt WHERE id = ?1",
		    "i", attempt) < 0)
		return -1;
	return live != 0 ? run_lose(t, attempt, evidence, actor, e) : 0;
}

int
lease_release_drive(struct tx *t, int64_t drive, const char *evidence, const char *actor,
	struct err *e)
{
	int64_t attempt = 0;

	if (tx_int(t, &attempt, e,
		    "SELECT attempt_id FROM lease WHERE drive_id = ?1"
		    " AND released_ns IS NULL",
		    "i", drive) < 0 ||
		may_release(t, drive, attempt, e) != 0 ||
		ledger_unknown(t, drive, "a person released it", e) != 0)
		return -1;
	if (attempt == 0) /* quarantined only */
		return drive_occupy(t, drive, DRIVE_TAKE_RELEASE, evidence, actor, e);
	if (lose_holder(t, attempt, evidence, actor, e) != 0)
		return -1;
	return lease_release(t, attempt, evidence, actor, e);
}
