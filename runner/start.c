#include "runner/start.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <time.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "common/program.h"
#include "runner/outbox.h"

#define TICK_NS (50 * NS_PER_MS)

static void
sleep_until(int64_t mono_ns)
{
	const struct timespec t = {
		.tv_sec = mono_ns / NS_PER_S, .tv_nsec = mono_ns % NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static void
tell(const struct program_start *s, int64_t lag_ns, struct outbox *o)
{
	json_t *doc = json_object();

	json_put(doc, "lab_ns", json_u64(s->lab_ns));
	json_put(doc, "lag_ns", json_integer(lag_ns));
	outbox_event(o, "start", doc);
	log_info("run.together", "lag_us=%" PRId64, lag_ns / 1000);
}

void
start_wait(const struct program_start *s, struct outbox *o,
	const char *(*tick)(void *arg), void *arg)
{
	int64_t now = clock_mono();
	int64_t due = now + ((int64_t)s->at_ns - clock_wall());

	if (s->at_ns == 0)
		return;
	while (now < due && due - now <= START_WAIT_MAX_NS) {
		if (tick(arg) != NULL)
			return;
		sleep_until(due - now > TICK_NS ? now + TICK_NS : due);
		now = clock_mono();
	}
	tell(s, now - due, o);
}
