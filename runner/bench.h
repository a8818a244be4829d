/*
 * bench - the command `ssdlab-runner bench`: one load on one target, by hand.
 *
 * Needs no controller, no agent and no spool. Reading needs nothing but permission to
 * read; writing is refused unless the guard finds nothing that the target could hold and
 * --allow-write says that its data may go.
 */
#ifndef RUNNER_BENCH_H
#define RUNNER_BENCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runner/load.h"

struct str;

struct bench_options {
	const char *target;
	struct load load; /* complete but for the target's fd, size and alignment */
	bool fio;	  /* run by fio instead of load.engine; see runner/load_fio.h */
	const char *journal; /* of --verify, or NULL */
	const char *file;    /* of --workload, or NULL */
	const char *shape;   /* an option that was given and says which I/Os are done,
				without its dashes, or NULL */
	bool allow_write;
	bool has_operation;		  /* --operation was given */
	bool has_arrivals;		  /* --arrivals was given */
	bool has_block;			  /* --block was given */
	bool has_blocks[DATA_DIRECTIONS]; /* --read-block, --write-block */
	bool has_spread;		  /* --align or --distribution was given */
	bool has_access;		  /* --access was given */
	bool json;
};

/*
 * bench_command runs `bench TARGET ...`; argv[0] is "bench". The result goes to stdout,
 * talk to stderr. Returns the exit code.
 */
int bench_command(int argc, char **argv);

/*
 * bench_parse reads the command line into ret_o, which borrows from argv. *ret_help:
 * --help was asked for. Errors: ERR_INVALID, with what was probably meant as the fix.
 */
int bench_parse(int argc, char **argv, struct bench_options *ret_o, bool *ret_help,
	struct err *e);

/* bench_help appends the text of --help. */
void bench_help(struct str *out);

/* bench_to_json makes the result as a document: parameters, metrics, errors. New
 * reference. */
json_t *bench_to_json(const struct bench_options *o, const struct load_result *r);

/* bench_to_text appends the result as people read it. */
void bench_to_text(
	const struct bench_options *o, const struct load_result *r, struct str *out);

#endif
