#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/ranking.h"
#include "cli/ref.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

static int
rank_path(struct cli *c, struct str *path, struct err *e)
{
	struct ref campaign;

	str_puts(path, "/api/v1/rankings");
	client_query(path, "metric",
		c->flags[FLAG_METRIC] != NULL ? c->flags[FLAG_METRIC] : "peak_iops");
	if (c->flags[FLAG_WORKLOAD] != NULL)
		client_query(path, "workload", c->flags[FLAG_WORKLOAD]);
	if (c->flags[FLAG_SUITE] != NULL)
		client_query(path, "suite", c->flags[FLAG_SUITE]);
	if (c->flags[FLAG_FOREIGN] != NULL)
		client_query(path, "foreign", "true");
	if (c->flags[FLAG_CAMPAIGN] == NULL)
		return 0;
	if (ref_campaign(c->client, c->flags[FLAG_CAMPAIGN], &campaign, e) != 0)
		return err_ctx(e, "--campaign");
	client_query(path, "campaign", campaign.id);
	return 0;
}

int
cmd_rank(struct cli *c, struct err *e)
{
	struct str path = {0};
	json_t *doc = NULL;
	int rc = rank_path(c, &path, e);

	if (rc == 0)
		rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0 && c->out.format == OUT_JSON)
		out_json(&c->out, doc);
	else if (rc == 0)
		ranking_print(&c->out, doc);
	json_decref(doc);
	str_fini(&path);
	return rc;
}
