#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stdfd.h"
#include "config.h"
#include "runner/bench.h"
#include "runner/console.h"
#include "runner/run.h"
#include "runner/verify_cmd.h"

struct command {
	const char *name;
	int (*run)(
		int argc, char **argv); /* argv[0] is the name; returns the exit code */
	const char *help;
};

static const struct command commands[] = {
	{"bench", bench_command, "load a block device or file once, by hand"},
	{"verify", verify_command,
		"read what bench --verify has written, and say what is wrong"},
	{"run", run_command, "execute a run program; the agent starts this"},
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void
usage(FILE *to)
{
	fputs("usage: ssdlab-runner COMMAND ...\n", to);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].help);
}

int
main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	stdfd_open();
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return console_end(commands[i].run(argc - 1, argv + 1));
	if (strcmp(name, "--version") == 0) {
		puts("ssdlab-runner " PACKAGE_VERSION);
		return console_end(EXIT_SUCCESS);
	}
	if (strcmp(name, "--help") == 0) {
		usage(stdout);
		return console_end(EXIT_SUCCESS);
	}
	usage(stderr);
	return 2;
}
