/*
 * log_rig - what a test makes the program log, caught in a file and counted.
 */
#ifndef TESTS_UNIT_LOG_RIG_H
#define TESTS_UNIT_LOG_RIG_H

#include <stdio.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static FILE *log_rig_file;

/* log_catch has stderr go to a file for the rest of the test's process. */
static inline void
log_catch(void)
{
	log_rig_file = tmpfile();
	ck_assert_ptr_nonnull(log_rig_file);
	ck_assert_int_eq(dup2(fileno(log_rig_file), STDERR_FILENO), STDERR_FILENO);
}

/* log_caught returns how many lines with this event were caught. */
static inline size_t
log_caught(const char *event)
{
	char line[4096], want[80];
	size_t n = 0;

	snprintf(want, sizeof(want), " %s ", event);
	rewind(log_rig_file);
	while (fgets(line, sizeof(line), log_rig_file) != NULL)
		n += strstr(line, want) != NULL;
	return n;
}

#endif
