/* The resource /drives: which may be written to, and by whose word. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "controller/api.h"
#include "controller/approval.h"
#include "controller/doc.h"
#include "controller/drives.h"
#include "controller/lease.h"
#include "controller/ledger.h"
#include "controller/store.h"

int
api_drives_list(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {
		"limit", "cursor", "node", "serial", "model", NULL};
	const char *node = c->query(c, "node");
	int64_t after, limit;
	int64_t node_id = 0;
	struct cur *ids;

	if (api_only_query(c, names, e) != 0 || api_page(c, &after, &limit, e) != 0 ||
		(node != NULL && doc_node_ref(t, node, &node_id, e) != 0) ||
		tx_query(t, &ids, e,
			"SELECT id FROM drive WHERE id > ?1 AND (?2 = 0 OR node_id = ?2)"
			" AND (?3 IS NULL OR serial = ?3) AND (?4 IS NULL OR model = ?4)"
			" ORDER BY id LIMIT ?5",
			"iissi", after, node_id, c->query(c, "serial"),
			c->query(c, "model"), limit + 1) != 0)
		return -1;
	return doc_page(t, c, ids, limit, drive_json, e);
}

static int
drive_with_ledger(struct tx *t, int64_t drive, json_t **ret_doc, struct err *e)
{
	json_t *summary;

	if (drive_json(t, drive, ret_doc, e) != 0)
		return -1;
	if (ledger_summary(t, drive, &summary, e) != 0) {
		json_decref(*ret_doc);
		return -1;
	}
	json_put(*ret_doc, "ledger", summary);
	return 0;
}

int
api_drives_get(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};

	if (api_only_query(c, names, e) != 0)
		return -1;
	return doc_answer(t, c, c->id, drive_with_ledger, e);
}

/*
 * The rows behind that of the cursor, in the order of what happened: of attempts, and of
 * records within them, however late they arrived. What outside of attempts stands behind
 * one comes after all its records.
 */
static const char select_ledger[] =
	"SELECT id FROM ledger WHERE drive_id = ?1 AND (?2 = 0 OR"
	" (coalesce(attempt_id, 0), seq, id) < (SELECT coalesce(attempt_id, 0), seq, id"
	"  FROM ledger WHERE id = ?2))"
	" ORDER BY attempt_id DESC, seq DESC, id DESC LIMIT ?3";

/* A row may go when what it doubts is told after all. */
static int
check_cursor(struct tx *t, int64_t drive, int64_t row, struct err *e)
{
	int64_t one;
	int rc = row == 0
			 ? 1
			 : tx_int(t, &one, e,
				   "SELECT 1 FROM ledger WHERE id = ?1 AND drive_id = ?2",
				   "ii", row, drive);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	err_set(e, ERR_INVALID,
		"query parameter cursor: the row that it stands at is gone");
	return err_fix(e, "begin again, without a cursor");
}

int
api_drives_ledger(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"limit", "cursor", NULL};
	int64_t after, limit;
	struct cur *ids;

	if (api_only_query(c, names, e) != 0 || api_page(c, &after, &limit, e) != 0 ||
		doc_exists(t, 'd', c->id, e) != 0 ||
		check_cursor(t, c->id, after, e) != 0 ||
		tx_query(t, &ids, e, select_ledger, "iii", c->id, after, limit + 1) != 0)
		return -1;
	return doc_page(t, c, ids, limit, ledger_json, e);
}

/* The serial that a person typed must be the drive's: the last look before data is lost.
 */
static int
check_typed(struct tx *t, const struct api_call *c, struct err *e)
{
	const char *typed;
	int64_t same;
	int rc;

	if (json_need_text(c->body, "", "serial", &typed, e) != 0)
		return err_fix(e, "type the serial from the label of the drive");
	rc = tx_int(t, &same, e, "SELECT serial = ?1 FROM drive WHERE id = ?2", "si",
		typed, c->id);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return doc_missing('d', c->id, e);
	if (same != 0)
		return 0;
	err_set(e, ERR_UNSAFE, "the serial typed is not that of drive d%" PRId64, c->id);
	err_at(e, "/serial");
	return err_fix(e, "compare with the label: ssdlab drive show d%" PRId64, c->id);
}

/* Whether signatures and partition tables are all that stands against a drive: the
 * sentences of common/guard.c, with "; " between them. */
static bool
only_carries(const char *reasons)
{
	while (*reasons != '\0') {
		const char *end = strstr(reasons, "; ");
		const char *carries = strstr(reasons, " carries ");

		if (strncmp(reasons, "beneath it, ", 12) == 0 || carries == NULL ||
			(end != NULL && carries > end))
			return false;
		if (end == NULL)
			return true;
		reasons = end + 2;
	}
	return false;
}

/* How a drive that is in use or holds data becomes free. */
static void
fix_protected(const char *reasons, const char *path, struct err *e)
{
	if (only_carries(reasons))
		err_fix(e,
			"\"wipefs -a %.100s\" on its node removes that and destroys what "
			"is on the drive; wait until the drive is seen without it",
			path);
	else
		err_fix(e, "free the drive on its node, and wait until it is seen "
			   "without what protects it");
}

/* What no approval may override. */
static int
check_approvable(struct tx *t, int64_t drive, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT observed, protected, path FROM drive WHERE id = ?1", "i",
		    drive) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1 && strcmp(cur_text(c, 0), "protected") == 0) {
		rc = err_set(e, ERR_UNSAFE, "drive d%" PRId64 " is protected: %.300s",
			drive, cur_text(c, 1));
		fix_protected(cur_text(c, 1), cur_text(c, 2), e);
	} else if (rc == 1 && strcmp(cur_text(c, 0), "conflict") == 0) {
		rc = err_set(e, ERR_UNSAFE,
			"drive d%" PRId64 " is seen on two nodes at once", drive);
		err_fix(e, "let only one node list it: its identity must be unique");
	}
	cur_close(c);
	return rc < 0 ? -1 : 0;
}

int
api_drives_approve(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"serial", "mode", NULL};
	enum drive_admin_event ev = DRIVE_DO_ALLOW_WRITE;
	const char *mode;

	if (doc_need_body(c, names, e) != 0)
		return -1;
	if (json_need_text(c->body, "", "mode", &mode, e) != 0)
		return err_fix(e, "give \"destructive\" or \"readonly\"");
	if (strcmp(mode, "readonly") == 0) {
		ev = DRIVE_DO_ALLOW_READ;
	} else if (strcmp(mode, "destructive") != 0) {
		err_set(e, ERR_INVALID,
			"\"mode\" must be \"destructive\" or \"readonly\"");
		return err_at(e, "/mode");
	}
	if (check_typed(t, c, e) != 0 || check_approvable(t, c->id, e) != 0 ||
		approval_change(t, c->id, ev, "", c->actor, e) != 0)
		return -1;
	return doc_answer(t, c, c->id, drive_json, e);
}

int
api_drives_protect(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"reason", NULL};
	const char *reason;

	if (doc_need_body(c, names, e) != 0 || doc_need_reason(c, &reason, e) != 0 ||
		approval_change(t, c->id, DRIVE_DO_PROTECT, reason, c->actor, e) != 0)
		return -1;
	return doc_answer(t, c, c->id, drive_json, e);
}

int
api_drives_release(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"serial", "reason", NULL};
	const char *reason;

	if (doc_need_body(c, names, e) != 0 || doc_need_reason(c, &reason, e) != 0 ||
		check_typed(t, c, e) != 0 ||
		lease_release_drive(t, c->id, reason, c->actor, e) != 0)
		return -1;
	return doc_answer(t, c, c->id, drive_json, e);
}
