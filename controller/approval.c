#include "controller/approval.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/program.h"
#include "common/xalloc.h"
#include "controller/doc.h"
#include "controller/ledger.h"
#include "controller/run.h"
#include "controller/store.h"

static bool
only_reads(const char *program)
{
	struct program p = {0};
	struct err why = {0};
	json_t *doc = doc_stored(program);
	bool yes = program_from_json(doc, &p, &why) == 0 && !program_writes(&p);

	program_fini(&p);
	json_decref(doc);
	return yes;
}

int
approval_covers(struct tx *t, int64_t attempt, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT d.admin, a.program FROM attempt a"
		    " JOIN run r ON r.id = a.run_id JOIN drive d ON d.id = r.drive_id"
		    " WHERE a.id = ?1",
		    "i", attempt) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1 && strcmp(cur_text(c, 0), "readonly") == 0)
		rc = only_reads(cur_text(c, 1));
	else if (rc == 1)
		rc = strcmp(cur_text(c, 0), "destructive") == 0;
	cur_close(c);
	return rc;
}

/* The attempt that may have a process on the drive: 1, 0 when there is none, or -1. */
static int
find_holder(struct tx *t, int64_t drive, int64_t *ret_attempt, int64_t *ret_run,
	struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT a.id, a.run_id FROM lease l JOIN attempt a"
		    " ON a.id = l.attempt_id WHERE l.drive_id = ?1"
		    " AND l.released_ns IS NULL AND a.state IN ('granted', 'running')",
		    "i", drive) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		*ret_attempt = cur_int(c, 0);
		*ret_run = cur_int(c, 1);
	}
	cur_close(c);
	return rc;
}

int
approval_change(struct tx *t, int64_t drive, enum drive_admin_event ev,
	const char *reason, const char *actor, struct err *e)
{
	int64_t attempt, run;
	char *why;
	int rc;

	if (drive_admin_change(t, drive, ev, reason, actor, e) != 0 ||
		ledger_unknown(t, drive, "people changed its approval", e) != 0)
		return -1;
	rc = find_holder(t, drive, &attempt, &run, e);
	if (rc != 1)
		return rc;
	rc = approval_covers(t, attempt, e);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	why = xasprintf("the approval of drive d%" PRId64 " was withdrawn", drive);
	rc = run_cancel(t, run, why, actor, e);
	free(why);
	return rc;
}
