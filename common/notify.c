#include "common/notify.h"

#include "config.h"

#ifdef HAVE_SYSTEMD

#include <systemd/sd-daemon.h>

void
notify_ready(void)
{
	sd_notify(0, "READY=1");
}

void
notify_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

void
notify_status(const char *text)
{
	sd_notifyf(0, "STATUS=%s", text);
}

void
notify_more_time(int64_t ns)
{
	sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%lld", (long long)ns / 1000);
}

int64_t
notify_watchdog_ns(void)
{
	uint64_t us = 0;

	if (sd_watchdog_enabled(0, &us) <= 0)
		return 0;
	return (int64_t)us * 1000 / 2;
}

void
notify_alive(void)
{
	sd_notify(0, "WATCHDOG=1");
}

#else

void
notify_ready(void)
{
}

void
notify_stopping(void)
{
}

void
notify_status(const char *text)
{
	(void)text;
}

void
notify_more_time(int64_t ns)
{
	(void)ns;
}

int64_t
notify_watchdog_ns(void)
{
	return 0;
}

void
notify_alive(void)
{
}

#endif
