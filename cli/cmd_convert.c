#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/convert.h"
#include "cli/fio_job.h"
#include "cli/vdbench.h"
#include "common/document.h"
#include "common/err.h"

/* Exit code when the suite is not the load of the file in all. */
#define EXIT_CHANGED 10

static const struct {
	const char *name;
	const char *tool;
	bool (*is)(const char *text, size_t len);
	int (*convert)(struct conversion *c, const char *text, size_t len, struct err *e);
} formats[] = {
	{"vdbench", "vdbench parameter file", vdbench_is, vdbench_convert},
	{"fio", "fio job file", fio_job_is, fio_job_convert},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* The format that is asked for, else the one that the text looks like. */
static int
choose(const struct cli *c, const struct str *text, size_t *ret_i, struct err *e)
{
	const char *asked = c->flags[FLAG_FORMAT];

	for (*ret_i = 0; *ret_i < FORMATS; ++*ret_i)
		if (asked != NULL ? strcmp(asked, formats[*ret_i].name) == 0
				  : formats[*ret_i].is(str_text(text), text->len))
			return 0;
	if (asked != NULL)
		err_set(e, ERR_INVALID, "\"%.40s\" is no format that can be converted",
			asked);
	else
		err_set(e, ERR_INVALID,
			"%s is neither a vdbench parameter file nor a fio job file as "
			"far as one can tell",
			c->args[0]);
	return err_fix(e, "give --format vdbench or --format fio");
}

/* "dir/sql.vdb" names the suite sql. */
static void
name_of(const struct cli *c, char *buf, size_t size)
{
	const char *path = c->args[0];
	const char *base = strrchr(path, '/');
	char *dot;

	if (c->flags[FLAG_NAME] != NULL)
		path = c->flags[FLAG_NAME];
	else if (base != NULL)
		path = base + 1;
	snprintf(buf, size, "%.60s", strcmp(path, "-") == 0 ? "converted" : path);
	dot = strrchr(buf, '.');
	if (dot != NULL && dot != buf && c->flags[FLAG_NAME] == NULL)
		*dot = '\0';
}

static void
print_left(const struct conversion *c, const char *file)
{
	size_t changed = convert_changed(c);

	for (size_t i = 0; i < c->n_left; i++)
		talk("%s:%u: %s: %s%s", file, c->left[i].line, c->left[i].text,
			c->left[i].kind == LEFT_LOAD ? "not carried: " : "",
			c->left[i].why);
	if (changed > 0)
		talk("%s: %zu thing%s not carried, so that the load differs", file,
			changed, changed == 1 ? "" : "s");
}

/* "line 7: ..." becomes "FILE:7: ...". */
static int
place(const char *file, struct err *e)
{
	unsigned line;
	int n = 0;

	if (sscanf(e->text, "line %u: %n", &line, &n) != 1 || n == 0)
		return err_ctx(e, "%s", file);
	memmove(e->text, e->text + n, strlen(e->text + n) + 1);
	return err_ctx(e, "%s:%u", file, line);
}

int
cmd_campaign_convert(struct cli *c, struct err *e)
{
	const char *file = strcmp(c->args[0], "-") == 0 ? "stdin" : c->args[0];
	struct conversion conv;
	struct str text = {0};
	char name[64];
	json_t *doc = NULL;
	size_t i;
	int rc = -1;

	name_of(c, name, sizeof(name));
	if (document_text(c->args[0], CONVERT_MAX_BYTES, &text, e) != 0 ||
		choose(c, &text, &i, e) != 0)
		goto out;
	conversion_init(&conv, formats[i].tool, name);
	rc = formats[i].convert(&conv, str_text(&text), text.len, e);
	if (rc == 0)
		rc = convert_finish(&conv, &doc, e);
	print_left(&conv, file);
	if (rc != 0)
		place(file, e);
	else if (c->out.format == OUT_YAML)
		out_yaml(&c->out, doc);
	else
		out_json(&c->out, doc);
	if (rc == 0 && convert_changed(&conv) > 0)
		c->exit_code = EXIT_CHANGED;
	json_decref(doc);
	conversion_fini(&conv);
out:
	str_fini(&text);
	return rc;
}
