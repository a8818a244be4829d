/*
 * cmd - the command line: nouns, verbs, their options and help from one table.
 *
 * Reads the arguments, makes what a handler needs, runs it, reports its failure. Handlers
 * live in cli/cmd_*.c, one file per noun.
 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/config.h"
#include "cli/out.h"

struct client;
struct err;
struct str;

enum flag {
#define FLAG(name, text, letter, value, help) FLAG_##name,
#include "cli/flag_tbl.h"
#undef FLAG
	FLAGS
};

#define CMD_ARGS_MAX 2

/* Everything a handler works with. */
struct cli {
	const struct cmd *cmd;
	const char *args[CMD_ARGS_MAX + 1]; /* NULL-ended, borrowed from argv */
	const char *flags[FLAGS]; /* value, "" for one without; NULL when not given */
	struct config config;
	struct client *client;
	struct out out; /* stdout */
	int exit_code;	/* of a handler that returns 0 */
};

/* A handler does its command and returns 0, or -1 with e. */
typedef int cmd_fn(struct cli *c, struct err *e);

struct cmd {
	const char *noun;
	const char *verb;  /* "" for a noun that is a command */
	const char *usage; /* names of its arguments */
	int min_args, max_args;
	uint64_t flags;	  /* bits 1 << FLAG_... */
	unsigned outputs; /* bits 1 << enum out_format */
	cmd_fn *run;
	const char *help;
};

/* The handlers, one for each row of the table. */
#define CMD(noun, verb, usage, min, max, flags, outputs, handler, help) cmd_fn handler;
#include "cli/cmd_tbl.h"
#undef CMD

/* cmd_main is the program: runs the command of argv and returns the exit code. */
int cmd_main(int argc, char **argv);

/* What the arguments say, before anything is done about it. */
struct cmd_line {
	const struct cmd *cmd; /* NULL: help is asked for */
	const char *noun;      /* of the help, or NULL */
	bool help;
	const char *args[CMD_ARGS_MAX + 1];
	const char *flags[FLAGS];
	enum out_format format;
	char **options; /* "--server=URL" ..., for config_load; owned, as are its texts */
	int n_options;
};

/*
 * cmd_parse reads the arguments. ret_l is owned (cmd_line_fini), also after an error.
 * ERR_INVALID with what was probably meant.
 */
int cmd_parse(int argc, char **argv, struct cmd_line *ret_l, struct err *e);

/* cmd_line_fini frees what l owns. */
void cmd_line_fini(struct cmd_line *l);

/* cmd_help appends the help of everything, of a noun, or of a command. */
void cmd_help(const struct cmd *cmd, const char *noun, struct str *out);

#endif
