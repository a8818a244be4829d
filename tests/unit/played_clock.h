/*
 * played_clock - time that passes as fast as it is used.
 *
 * Each thread has a clock of its own that goes on by 100 ns whenever it is read, and by
 * as much as the thread sleeps. So a load on the null engine does the same in each run,
 * however busy the machine is. Linked in place of the real ones by --wrap of clock_mono
 * and clock_nanosleep. Include it in one file per program.
 */
#ifndef TESTS_UNIT_PLAYED_CLOCK_H
#define TESTS_UNIT_PLAYED_CLOCK_H

#include <assert.h>
#include <stdint.h>
#include <time.h>

#include "common/clock.h"

static _Thread_local int64_t played_ns = NS_PER_S;
int64_t __wrap_clock_mono(void);
int __wrap_clock_nanosleep(
	clockid_t id, int flags, const struct timespec *until, struct timespec *ret_left);

int64_t
__wrap_clock_mono(void)
{
	return played_ns += 100;
}

int
__wrap_clock_nanosleep(
	clockid_t id, int flags, const struct timespec *until, struct timespec *ret_left)
{
	int64_t ns = until->tv_sec * NS_PER_S + until->tv_nsec;

	(void)ret_left;
	assert(id == CLOCK_MONOTONIC && flags == TIMER_ABSTIME);
	if (ns > played_ns)
		played_ns = ns;
	return 0;
}

#endif
