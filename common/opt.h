/*
 * opt - a program's options: one row each gives field, parser, range, --help and file
 * entry.
 *
 * Order of strength: default, file (/etc/ssdlab/NAME.conf or --config), environment
 * (SSDLAB_UPPER_NAME), command line (--lower-name VALUE or --lower-name=VALUE). Unknown
 * names, values out of range and wrong units are errors that say where (file:line,
 * variable, argument). File syntax: `name = value` per line, `#` starts a comment.
 */
#ifndef COMMON_OPT_H
#define COMMON_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct str;

enum opt_type {
	OPT_UINT,     /* uint64_t field, min..max */
	OPT_SIZE,     /* uint64_t field, bytes, min..max, written with unit */
	OPT_DURATION, /* int64_t field, ns, min..max, written with unit */
	OPT_BOOL,     /* bool field, yes or no */
	OPT_TEXT,     /* char * field, owned by the options struct; "" when unset */
	OPT_PATH,     /* the same; in a file, a path that begins with neither / nor ~ is
			 of the folder of the file */
};

struct opt {
	const char
		*name; /* "http_port": in the file so, on the command line --http-port */
	enum opt_type type;
	size_t offset; /* of the field in the options struct */
	const char *preset;
	uint64_t min, max; /* for numbers, in base units */
	const char *help;  /* one sentence without a period */
};

/*
 * A table row OPT(name, TYPE, preset, min, max, help) in NAME/opt_tbl.h makes a field
 * with OPT_FIELD_TYPE and a struct opt row with OPT_ROW.
 */
#define OPT_FIELD_UINT uint64_t
#define OPT_FIELD_SIZE uint64_t
#define OPT_FIELD_DURATION int64_t
#define OPT_FIELD_BOOL bool
#define OPT_FIELD_TEXT char *
#define OPT_FIELD_PATH char *

struct opt_set {
	const char *program; /* "ssdlab-agent" */
	const char *summary; /* one line for --help */
	const struct opt *rows;
	size_t n_rows;
	/* Read before default_file when it exists and --config is not given; or NULL. */
	const char *site_file;
	/* Read when it exists and --config is not given; or NULL. */
	const char *default_file;
};

/* opt_has says whether an argument is flag itself, such as "--help". */
bool opt_has(int argc, char **argv, const char *flag);

/*
 * opt_load fills the options struct at ret_opts from all sources. argv is read from
 * argv[1]; arguments that are no options are left, in order, in ret_rest (NULL-ended,
 * borrowed from argv, at least argc + 1 places). --help and --version are for the caller
 * to look for first. Errors: ERR_INVALID, ERR_IO, ERR_NOTFOUND (a --config file that does
 * not exist).
 */
int opt_load(const struct opt_set *set, int argc, char **argv, void *ret_opts,
	char **ret_rest, struct err *e);

/* opt_fini frees the texts of an options struct. */
void opt_fini(const struct opt_set *set, void *opts);

/* opt_help appends the --help text: summary, then a line per option with default and
 * range. */
void opt_help(const struct opt_set *set, struct str *out);

#endif
