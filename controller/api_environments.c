/* What a run ran on, by its hash, and how its drive was before and after. */
#include "common/err.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/environment.h"
#include "controller/health.h"
#include "controller/result.h"
#include "controller/store.h"

int
api_environments_get(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};
	int64_t id;
	int rc;

	if (api_only_query(c, names, e) != 0)
		return -1;
	rc = tx_int(t, &id, e, "SELECT id FROM environment WHERE hash = ?", "s", c->key);
	if (rc == 1)
		return doc_answer(t, c, id, environment_json, e);
	if (rc == 0) {
		err_set(e, ERR_NOTFOUND, "there is no environment %.64s", c->key);
		err_fix(e, "ssdlab run show RUN -o json has the hash of a run");
	}
	return -1;
}

int
api_runs_health(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};
	int64_t attempt;

	if (api_only_query(c, names, e) != 0 ||
		result_attempt(t, c->id, &attempt, e) != 0)
		return -1;
	return health_json(t, attempt, &c->doc, e);
}
