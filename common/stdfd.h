/*
 * stdfd - the standard descriptors, always there.
 *
 * A program that is started with one of them closed would get its number for the next
 * file it opens, a drive or a database, and its messages would be written there.
 */
#ifndef COMMON_STDFD_H
#define COMMON_STDFD_H

/* stdfd_open opens /dev/null for each of 0, 1 and 2 that is closed; ends the program when
 * it cannot. The first call of main. */
void stdfd_open(void);

#endif
