/*
 * log - one line per event on stderr: level, event id, key=value pairs.
 *
 *   info run.start run=r12 drive=d3
 *
 * Under systemd the level becomes the "<n>" prefix of sd-daemon(3). Event ids are stable
 * names ("module.event"); free text goes into values in quotes. Values are the caller's
 * to quote (log_q does). Any thread; a line is one write(2). Keeps errno.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>

struct err;

enum log_level {
	LOG_LEVEL_ERR,	 /* a person must act */
	LOG_LEVEL_WARN,	 /* we coped, and say how */
	LOG_LEVEL_INFO,	 /* a state changed */
	LOG_LEVEL_DEBUG, /* anything */
};

/* log_set_level sets the least important level that is written. Before threads start. */
void log_set_level(enum log_level level);

/* log_set_level_named is log_set_level by "err", "warn", "info" or "debug". ERR_INVALID.
 */
int log_set_level_named(const char *text, struct err *e);

/* log_write writes one event; use the macros. */
void log_write(enum log_level level, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* log_failure writes a failure as event with class, text and fix. */
void log_failure(enum log_level level, const char *event, const struct err *e);

/*
 * log_q quotes text for a value: control characters and quotes are escaped, longer text
 * is cut. Returns one of four buffers of the calling thread, valid until the fourth next
 * call.
 */
const char *log_q(const char *text);

#define log_err(...) log_write(LOG_LEVEL_ERR, __VA_ARGS__)
#define log_warn(...) log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
