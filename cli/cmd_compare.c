#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/comparison.h"
#include "cli/ref.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

/* A side of the comparison: ids of runs, drives and foreign results as they are,
 * anything else is a serial. */
static int
add_side(struct cli *c, const char *name, const char *text, struct str *path,
	struct err *e)
{
	struct ref ref;

	if (!ref_is_id(text, 'r') && !ref_is_id(text, 'x')) {
		if (ref_drive(c->client, text, &ref, e) != 0)
			return -1;
		text = ref.id;
	}
	client_query(path, name, text);
	return 0;
}

int
cmd_compare(struct cli *c, struct err *e)
{
	struct str path = {0};
	json_t *doc = NULL;
	int rc = -1;

	str_puts(&path, "/api/v1/comparisons");
	if (add_side(c, "a", c->args[0], &path, e) != 0 ||
		add_side(c, "b", c->args[1], &path, e) != 0)
		goto out;
	if (c->flags[FLAG_WORKLOAD] != NULL)
		client_query(&path, "workload", c->flags[FLAG_WORKLOAD]);
	if (c->flags[FLAG_SUITE] != NULL)
		client_query(&path, "suite", c->flags[FLAG_SUITE]);
	if (client_get(c->client, str_text(&path), &doc, e) != 0)
		goto out;
	if (c->out.format == OUT_JSON)
		out_json(&c->out, doc);
	else
		comparison_print(&c->out, doc);
	rc = 0;
out:
	json_decref(doc);
	str_fini(&path);
	return rc;
}
