/*
 * stdfd - the standard descriptors, always there.
 *
 * A program that is started with one of them closed would get its number for the next
 * file it opens, a drive or a database, and its messages would be written there.
 */
#ifndef COMMON_STDFD_H
#define COMMON_STDFD_H

#include <stdbool.h>

/*
 * stdfd_open opens /dev/null for each of 0, 1 and 2 that is closed; ends the program when
 * it cannot. It takes nothing that is written to 1: what a command answers is not lost
 * without an error. What is written to 2 is. The first call of main.
 */
void stdfd_open(void);

/* stdfd_out_is_closed says whether 1 was closed, or cannot be written for another
 * reason that is known before. */
bool stdfd_out_is_closed(void);

#endif
