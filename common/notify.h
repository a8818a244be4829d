/*
 * notify - tells systemd that a daemon is ready, alive, and what it is doing. The only
 * user of libsystemd.
 *
 * Without libsystemd, or when the service manager did not ask, nothing happens. Main loop
 * only.
 */
#ifndef COMMON_NOTIFY_H
#define COMMON_NOTIFY_H

#include <stdint.h>

/* notify_ready says that the daemon serves now. */
void notify_ready(void);

/* notify_stopping says that it is about to end. */
void notify_stopping(void);

/* notify_status sets the one line that `systemctl status` shows. */
void notify_status(const char *text);

/*
 * notify_more_time asks for ns from now until notify_ready, though TimeoutStartSec may
 * have passed by then.
 */
void notify_more_time(int64_t ns);

/*
 * notify_watchdog_ns returns how often notify_alive is to be called (half of
 * WatchdogSec), 0 for never.
 */
int64_t notify_watchdog_ns(void);

/* notify_alive says that the main loop makes progress. */
void notify_alive(void);

#endif
