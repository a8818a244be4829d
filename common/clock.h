/*
 * clock - the two clocks, in nanoseconds.
 *
 * clock_mono orders and measures; clock_wall only labels. Nothing is ever ordered or
 * timed out by the wall clock. Any thread.
 */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

/* clock_mono returns CLOCK_MONOTONIC in ns. */
int64_t clock_mono(void);

/* clock_wall returns CLOCK_REALTIME in ns since 1970. */
int64_t clock_wall(void);

#endif
