/* What the controller says of itself: version, health, the description of its API. */
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "config.h"
#include "controller/api.h"
#include "controller/report.h"
#include "controller/store.h"

#include "controller/openapi_json.h"

int
api_version(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};
	json_t *protocol;

	(void)t;
	if (api_only_query(c, names, e) != 0)
		return -1;
	protocol = json_array();
	json_array_append_new(protocol, json_integer(REPORT_PROTOCOL_MIN));
	json_array_append_new(protocol, json_integer(REPORT_PROTOCOL_MAX));
	c->doc = json_object();
	json_put(c->doc, "program", json_string("ssdlab-controller"));
	json_put(c->doc, "version", json_string(PACKAGE_VERSION));
	json_put(c->doc, "protocol", protocol);
	return 0;
}

int
api_healthz(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};
	struct err why = {0};

	if (api_only_query(c, names, e) != 0)
		return -1;
	if (tx_healthy(t, &why)) {
		c->doc = json_object();
		json_put(c->doc, "status", json_string("ok"));
		return 0;
	}
	/* The cause, as any write would meet it, under the status that probes expect. */
	c->status = 503;
	c->type = "application/problem+json";
	c->doc = api_problem(&why, c->path);
	json_put(c->doc, "status", json_integer(c->status));
	return 0;
}

int
api_openapi(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};

	(void)t;
	if (api_only_query(c, names, e) != 0)
		return -1;
	str_add(&c->text, openapi_json, sizeof(openapi_json));
	api_etag(c, "openapi %s %zu", PACKAGE_VERSION, sizeof(openapi_json));
	return 0;
}
