#include "controller/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/seal.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "config.h"
#include "controller/controller.h"

static void
print_help(void)
{
	struct str out = {0};

	opt_help(&controller_option_set, &out);
	str_puts(&out, "\nssdlab-controller [options] token NAME [viewer|operator]\n"
		       "  prints a new token (of an operator) and ends; an older one of "
		       "that name\n"
		       "  is no good any more. Only while no controller uses the state "
		       "directory.\n");
	fputs(str_text(&out), stdout);
	str_fini(&out);
}

/* "token NAME [ROLE]": the token is all that goes to stdout. */
static int
make_token(const struct controller_options *o, char **args, struct err *e)
{
	char token[SEAL_TOKEN_CHARS + 1];
	const char *role = "operator";

	if (args[0] == NULL || (args[1] != NULL && args[2] != NULL)) {
		err_set(e, ERR_INVALID, "token needs a name, and at most a role");
		return err_fix(e, "ssdlab-controller token NAME [viewer|operator]");
	}
	if (args[1] != NULL)
		role = args[1];
	if (controller_token(o, args[0], role, token, e) != 0)
		return -1;
	puts(token);
	seal_wipe(token, sizeof(token));
	return 0;
}

static int
run(const struct controller_options *o, char **rest, struct err *e)
{
	if (rest[0] != NULL && strcmp(rest[0], "token") != 0) {
		err_set(e, ERR_INVALID, "\"%.60s\" is no option", rest[0]);
		return err_fix(e, "ssdlab-controller --help lists the options");
	}
	if (log_set_level_named(o->log_level, e) != 0)
		return -1;
	seal_init();
	if (rest[0] != NULL)
		return make_token(o, rest + 1, e);
	return controller_run(o, e);
}

int
command_main(int argc, char **argv)
{
	char **rest = xcalloc((size_t)argc + 1, sizeof(*rest));
	struct controller_options o = {0};
	struct err e = {0};
	int code = EXIT_SUCCESS;

	if (opt_has(argc, argv, "--help")) {
		print_help();
	} else if (opt_has(argc, argv, "--version")) {
		puts("ssdlab-controller " PACKAGE_VERSION);
	} else if (opt_load(&controller_option_set, argc, argv, &o, rest, &e) != 0 ||
		   run(&o, rest, &e) != 0) {
		code = err_exit_code(e.class);
		log_failure(LOG_LEVEL_ERR, "controller.end", &e);
	}
	opt_fini(&controller_option_set, &o);
	free(rest);
	return code;
}
