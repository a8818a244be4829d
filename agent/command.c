#include "agent/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/join.h"
#include "agent/link.h"
#include "common/err.h"
#include "common/log.h"
#include "common/seal.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "config.h"

static void
print_help(void)
{
	struct str out = {0};

	opt_help(&agent_option_set, &out);
	str_puts(&out,
		"\nssdlab-agent [OPTIONS]\n      serve the controller that this node "
		"has joined\n"
		"ssdlab-agent [OPTIONS] join\n      read a join token (made by "
		"`ssdlab node enroll NAME`) from standard input and join\n");
	fputs(str_text(&out), stdout);
	str_fini(&out);
}

static int
run(const struct agent_options *o, char **rest, struct err *e)
{
	if (log_set_level_named(o->log_level, e) != 0)
		return -1;
	seal_init();
	if (rest[0] == NULL)
		return agent_run(o, e);
	if (strcmp(rest[0], "join") == 0 && rest[1] == NULL)
		return join_run(STDIN_FILENO, o->state_dir, o->ca_file, e);
	err_set(e, ERR_INVALID, "\"%.60s\" is no command", rest[0]);
	return err_fix(e, "ssdlab-agent runs the daemon, ssdlab-agent join enrols it");
}

int
command_main(int argc, char **argv)
{
	char **rest = xcalloc((size_t)argc + 1, sizeof(*rest));
	struct agent_options o = {0};
	struct err e = {0};
	int code = EXIT_SUCCESS;

	if (opt_has(argc, argv, "--help")) {
		print_help();
	} else if (opt_has(argc, argv, "--version")) {
		puts("ssdlab-agent " PACKAGE_VERSION);
	} else if (opt_load(&agent_option_set, argc, argv, &o, rest, &e) != 0 ||
		   link_init(&e) != 0) {
		code = err_exit_code(e.class);
	} else {
		if (run(&o, rest, &e) != 0)
			code = err_exit_code(e.class);
		link_fini();
	}
	if (e.class != ERR_NONE)
		log_failure(LOG_LEVEL_ERR, "agent.end", &e);
	opt_fini(&agent_option_set, &o);
	free(rest);
	return code;
}
