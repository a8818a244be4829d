#include "agent/refused.h"

#include <stdlib.h>

#include "agent/disk.h"
#include "agent/news.h"
#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"

static void
keep(const char *state_dir, const json_t *report, const struct err *why)
{
	char *path = xasprintf("%s/refused-report.json", state_dir);
	struct err e = {0};

	log_err("report.refused", "why=%s kept=%s fix=%s", log_q(why->text), log_q(path),
		log_q("is the controller of the same version? until it takes a report, "
		      "this node starts nothing and hears of no stop"));
	if (disk_write_json(path, report, 0600, &e) != 0)
		log_failure(LOG_LEVEL_WARN, "report.keep", &e);
	free(path);
}

void
refused_drop(const char *state_dir, const struct inbox *in, json_t **report,
	struct err *said, const struct err *why)
{
	struct news *n = news_new(NEWS_REFUSED);

	if (!str_alike(said->text, why->text))
		keep(state_dir, *report, why);
	*said = *why;
	if (news_take_post(in, &n)) {
		json_decref(*report);
		*report = NULL;
	}
	news_free(n);
}
