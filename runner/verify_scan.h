/*
 * verify_scan - reads all that a journal knows from a drive, and has it judged.
 */
#ifndef RUNNER_VERIFY_SCAN_H
#define RUNNER_VERIFY_SCAN_H

#include <stdbool.h>

#include "runner/verify_report.h"

struct err;
struct journal;

/*
 * verify_scan reads every block that the journal knows, from a descriptor with O_DIRECT
 * or without, and adds what it finds to the report; blocks that it does not know are not
 * read and count as unknown. Nothing may be in flight. go_on is asked before each read.
 * Blocks. Returns 0, or 1 when go_on said no. Errors: ERR_LIMIT without memory.
 */
int verify_scan(const struct journal *j, int fd, bool (*go_on)(void *arg), void *arg,
	struct verify_report *r, struct err *e);

#endif
