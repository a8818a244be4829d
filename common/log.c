#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"

static enum log_level threshold = LOG_LEVEL_INFO;
static bool to_journal; /* stderr is the journal's, which wants priorities */

static const struct {
	const char *name;
	int priority; /* of syslog(3), as sd-daemon(3) wants it in front of a line */
} levels[] = {
	[LOG_LEVEL_ERR] = {"err", 3},
	[LOG_LEVEL_WARN] = {"warn", 4},
	[LOG_LEVEL_INFO] = {"info", 6},
	[LOG_LEVEL_DEBUG] = {"debug", 7},
};

void
log_set_level(enum log_level level)
{
	threshold = level;
	to_journal = getenv("JOURNAL_STREAM") != NULL;
}

int
log_set_level_named(const char *text, struct err *e)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (strcmp(text, levels[i].name) != 0)
			continue;
		log_set_level((enum log_level)i);
		return 0;
	}
	return err_set(e, ERR_INVALID,
		"log_level: \"%.40s\" is none of err, warn, info and debug", text);
}

void
log_write(enum log_level level, const char *event, const char *fmt, ...)
{
	int saved = errno;
	char line[2048];
	size_t n = 0;
	va_list ap;
	int len;

	if (level > threshold)
		return;
	if (to_journal)
		n = (size_t)snprintf(line, 8, "<%d>", levels[level].priority);
	n += (size_t)snprintf(
		line + n, sizeof(line) - n, "%s %s ", levels[level].name, event);
	va_start(ap, fmt);
	len = vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	if (len > 0)
		n += (size_t)len;
	if (n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	(void)!write(STDERR_FILENO, line, n);
	errno = saved;
}

void
log_failure(enum log_level level, const char *event, const struct err *e)
{
	if (e->fix[0] != '\0')
		log_write(level, event, "class=%s why=%s fix=%s", err_name(e->class),
			log_q(e->text), log_q(e->fix));
	else
		log_write(level, event, "class=%s why=%s", err_name(e->class),
			log_q(e->text));
}

const char *
log_q(const char *text)
{
	static _Thread_local char bufs[4][600];
	static _Thread_local unsigned next;
	char *buf = bufs[next++ % 4];
	size_t n = 0;

	buf[n++] = '"';
	for (const char *p = text; *p != '\0' && n < sizeof(bufs[0]) - 6; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < 0x20 || c == 0x7f)
			n += (size_t)snprintf(buf + n, 5, "\\x%02x", c);
		else if (c == '"' || c == '\\')
			n += (size_t)snprintf(buf + n, 3, "\\%c", c);
		else
			buf[n++] = (char)c;
	}
	buf[n++] = '"';
	buf[n] = '\0';
	return buf;
}
