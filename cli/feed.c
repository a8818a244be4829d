#include "cli/feed.h"

#include <stdio.h>
#include <string.h>

static void
dispatch(struct feed *s, feed_fn *on, void *arg)
{
	if (s->data.len > 0) {
		s->data.data[--s->data.len] = '\0'; /* the last newline is none */
		on(s->event.len > 0 ? str_text(&s->event) : "message", s->last_id,
			str_text(&s->data), arg);
	}
	str_reset(&s->data);
	str_reset(&s->event);
}

static void
take_field(struct feed *s, const char *name, size_t n, const char *value)
{
	if (n == 4 && strncmp(name, "data", 4) == 0) {
		str_puts(&s->data, value);
		str_puts(&s->data, "\n");
	} else if (n == 5 && strncmp(name, "event", 5) == 0) {
		str_reset(&s->event);
		str_puts(&s->event, value);
	} else if (n == 2 && strncmp(name, "id", 2) == 0) {
		snprintf(s->last_id, sizeof(s->last_id), "%s", value);
	}
}

static void
take_line(struct feed *s, feed_fn *on, void *arg)
{
	const char *line = str_text(&s->line);
	size_t n = strcspn(line, ":");
	const char *value;

	if (line[0] == '\0') {
		dispatch(s, on, arg);
		return;
	}
	value = line[n] == ':' ? line + n + 1 : "";
	if (n > 0 && s->data.len < FEED_LINE_MAX)
		take_field(s, line, n, *value == ' ' ? value + 1 : value);
	str_reset(&s->line);
}

void
feed_take(struct feed *s, const char *bytes, size_t n, feed_fn *on, void *arg)
{
	for (size_t i = 0; i < n; i++) {
		bool end = bytes[i] == '\r' || (bytes[i] == '\n' && !s->after_cr);

		if (end)
			take_line(s, on, arg);
		else if (bytes[i] != '\n' && bytes[i] != '\0' &&
			 s->line.len < FEED_LINE_MAX)
			str_add(&s->line, &bytes[i], 1);
		s->after_cr = bytes[i] == '\r';
	}
}

void
feed_restart(struct feed *s)
{
	str_reset(&s->line);
	str_reset(&s->data);
	str_reset(&s->event);
	s->after_cr = false;
}

void
feed_fini(struct feed *s)
{
	str_fini(&s->line);
	str_fini(&s->data);
	str_fini(&s->event);
}
