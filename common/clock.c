#include "common/clock.h"

#include <time.h>

static int64_t
now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t
clock_mono(void)
{
	return now(CLOCK_MONOTONIC);
}

int64_t
clock_wall(void)
{
	return now(CLOCK_REALTIME);
}
