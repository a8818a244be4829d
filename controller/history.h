/*
 * history - whether what a drive went through proves that it need not be prepared again.
 *
 * Only what is told without a hole proves anything: from the purge or fill on, each run
 * must have found the drive as the one before has left it, and none may have written.
 * Pure.
 */
#ifndef CONTROLLER_HISTORY_H
#define CONTROLLER_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/program.h"

/* How a drive is filled. */
struct history_fill {
	uint32_t passes, block_bytes, in_flight;
	struct data_shares data;
};

enum history_kind {
	HISTORY_FOUND, /* an attempt took the drive; text: its witness, "" for none */
	HISTORY_PURGE,
	HISTORY_FILL,	/* one pass */
	HISTORY_WRITE,	/* text: the workload */
	HISTORY_LEFT,	/* the attempt let go of it; text: its witness, "" for none */
	HISTORY_UNKNOWN /* text: what may have happened */
};

/* One thing that happened, the oldest first. Texts are borrowed. */
struct history_entry {
	enum history_kind kind;
	int64_t run;
	uint64_t step;		  /* purge, fill: attempt and number of the step */
	bool done;		  /* purge, fill: to its end */
	struct history_fill fill; /* fill */
	const char *text;
};

/* What a run begins with. */
struct history_wanted {
	bool purge;
	struct history_fill fill; /* passes 0: none */
};

struct history_verdict {
	bool skip_purge, skip_fill; /* both false: all is repeated */
	int64_t run;		    /* that left the drive so, when any is skipped */
	const char *witness;	    /* as it left it; borrowed from the entry */
	char why[300];		    /* it is repeated; "" when all is skipped */
};

/* history_judge judges n entries against what is wanted. A wish for nothing skips
 * nothing. */
void history_judge(const struct history_entry *list, size_t n,
	const struct history_wanted *w, struct history_verdict *ret_v);

#endif
