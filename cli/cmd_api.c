#include <config.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/show.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

#define API "/api/v1"

/* -d, or stdin when it is no terminal and the method has a body. */
static int
read_body(const struct cli *c, const char *method, struct str *out, struct err *e)
{
	char buf[16384];
	ssize_t n;

	if (c->flags[FLAG_DATA] != NULL) {
		str_puts(out, c->flags[FLAG_DATA]);
		return 0;
	}
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
		strcmp(method, "DELETE") == 0 || isatty(STDIN_FILENO) == 1)
		return 0;
	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0)
		str_add(out, buf, (size_t)n);
	return n == 0 ? 0 : err_errno(e, ERR_IO, errno, "read stdin");
}

int
cmd_api(struct cli *c, struct err *e)
{
	const char *path = c->args[1];
	struct str full = {0};
	struct str body = {0};
	struct exchange x = {.header = c->flags[FLAG_HEADER]};
	char method[16];
	int rc = -1;

	snprintf(method, sizeof(method), "%s", c->args[0]);
	for (char *p = method; *p != '\0'; p++)
		*p = (char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
	if (strncmp(path, API "/", sizeof(API)) != 0)
		str_puts(&full, API);
	str_printf(&full, "%s%s", path[0] == '/' ? "" : "/", path);
	if (read_body(c, method, &body, e) != 0)
		goto out;
	x.method = method;
	x.path = str_text(&full);
	x.body = body.len > 0 ? str_text(&body) : NULL;
	if (client_exchange(c->client, &x, e) != 0)
		goto out;
	out_bytes(&c->out, str_text(&x.text), x.text.len);
	if (x.text.len > 0 && x.text.data[x.text.len - 1] != '\n')
		fputc('\n', c->out.file);
	rc = x.status < 400 ? 0 : client_problem(&x, e);
out:
	exchange_fini(&x);
	str_fini(&body);
	str_fini(&full);
	return rc;
}

static const struct column versions[] = {
	{"PROGRAM", "program", UNIT_TEXT, 0, NULL},
	{"VERSION", "version", UNIT_TEXT, 0, NULL},
};

/* The own version is told in any case; a controller that is away is no failure. */
int
cmd_version(struct cli *c, struct err *e)
{
	struct err away = {0};
	json_t *list = json_array();
	json_t *doc = NULL;

	(void)e;
	json_array_append_new(list,
		json_pack("{s:s, s:s}", "program", "ssdlab", "version", PACKAGE_VERSION));
	if (client_get(c->client, "/api/v1/version", &doc, &away) == 0)
		json_array_append_new(
			list, json_pack("{s:s, s:s}", "program", "ssdlab-controller",
				      "version", json_text_of(doc, "version")));
	if (c->out.format == OUT_JSON)
		out_json(&c->out, list);
	else
		table_print(&c->out, list, COLUMNS(versions));
	if (away.class != ERR_NONE)
		talk("%s", away.text);
	json_decref(doc);
	json_decref(list);
	return 0;
}
