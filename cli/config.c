#include "cli/config.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"

#define SITE_FILE SSDLAB_CONF_DIR "/cli.conf"

static const struct opt rows[] = {
#define OPT(name, type, preset, min, max, help) \
	{#name, OPT_##type, offsetof(struct config, name), preset, min, max, help},
#include "cli/config_tbl.h"
#undef OPT
};

static struct opt_set
options(const char *user_file)
{
	return (struct opt_set){
		.program = "ssdlab",
		.summary = "client of the ssdlab controller",
		.rows = rows,
		.n_rows = sizeof(rows) / sizeof(rows[0]),
		.site_file = SITE_FILE,
		.default_file = user_file,
	};
}

static const char *
home(void)
{
	const char *dir = getenv("HOME");

	return dir != NULL ? dir : "";
}

char *
config_user_file(void)
{
	const char *dir = getenv("XDG_CONFIG_HOME");

	if (dir != NULL && dir[0] == '/')
		return xasprintf("%s/ssdlab/cli.conf", dir);
	return xasprintf("%s/.config/ssdlab/cli.conf", home());
}

bool
config_has(const char *name, size_t n)
{
	char text[32];

	if (n >= sizeof(text))
		return false;
	for (size_t i = 0; i < n; i++)
		text[i] = (char)(name[i] == '-' ? '_' : name[i]);
	text[n] = '\0';
	if (strcmp(text, "config") == 0)
		return true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, text) == 0)
			return true;
	return false;
}

/* Paths may start with "~/", as people write them in files that no shell reads. */
static void
expand_home(char **path)
{
	char *full;

	if (strncmp(*path, "~/", 2) != 0)
		return;
	full = xasprintf("%s/%s", home(), *path + 2);
	free(*path);
	*path = full;
}

static int
check(const struct config *c, struct err *e)
{
	if (strncmp(c->server, "https://", 8) != 0 &&
		strncmp(c->server, "http://", 7) != 0) {
		err_set(e, ERR_INVALID, "server: \"%.80s\" is not a URL", c->server);
		return err_fix(e, "write for example https://lab.example.net:7443");
	}
	if (c->pin[0] != '\0' && strncmp(c->pin, "sha256//", 8) != 0) {
		err_set(e, ERR_INVALID, "pin: \"%.80s\" does not start with sha256//",
			c->pin);
		return err_fix(e, "take it from the join token or the controller's log");
	}
	return 0;
}

/* The arguments after argv[0], with --config from the environment in front of them. */
static char **
with_file(int argc, char **argv, char **ret_file)
{
	const char *path = getenv("SSDLAB_CONFIG");
	char **args = xcalloc((size_t)argc + 2, sizeof(*args));
	int n = 0;

	*ret_file = NULL;
	args[n++] = argv[0];
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--config=", 9) == 0)
			path = NULL;
		args[n++] = argv[i];
	}
	if (path != NULL && path[0] != '\0')
		args[n] = *ret_file = xasprintf("--config=%s", path);
	return args;
}

int
config_load(int argc, char **argv, struct config *ret_c, struct err *e)
{
	char *user_file = config_user_file();
	struct opt_set set = options(user_file);
	char **rest = xcalloc((size_t)argc + 2, sizeof(*rest));
	char *file;
	char **args = with_file(argc, argv, &file);
	int rc = opt_load(&set, argc + (file != NULL), args, ret_c, rest, e);
	size_t n;

	free(user_file);
	free(rest);
	free(args);
	free(file);
	if (rc != 0)
		return -1;
	expand_home(&ret_c->token_file);
	expand_home(&ret_c->ca_file);
	n = strlen(ret_c->server);
	while (n > 0 && ret_c->server[n - 1] == '/')
		ret_c->server[--n] = '\0';
	return check(ret_c, e);
}

void
config_fini(struct config *c)
{
	struct opt_set set = options(NULL);

	opt_fini(&set, c);
}

void
config_help(struct str *out)
{
	str_puts(out,
		"Options for the controller, also `name = value` in "
		"~/.config/ssdlab/cli.conf and\n" SITE_FILE
		", and SSDLAB_NAME in the environment:\n"
		"      --config               read this file instead of those two\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s", rows[i].name);
		for (char *p = name; *p != '\0'; p++)
			*p = (char)(*p == '_' ? '-' : *p);
		str_printf(out, "      --%-20s %s\n", name, rows[i].help);
	}
}
