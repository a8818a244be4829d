#include "cli/human.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/str.h"

bool
human_is_number(enum unit u)
{
	return u == UNIT_WHOLE || u == UNIT_COUNT || u == UNIT_BYTES ||
	       u == UNIT_BYTES_PER_S || u == UNIT_NS || u == UNIT_SPAN ||
	       u == UNIT_PERCENT;
}

/* Three significant digits; whole numbers below 1000 as they are. */
static void
three_digits(double x, struct str *out)
{
	double size = fabs(x);

	if ((x == floor(x) && size < 1000) || size >= 99.95)
		str_printf(out, "%.0f", x);
	else
		str_printf(out, size >= 9.995 ? "%.1f" : "%.2f", x);
}

/* The number in the largest of the units (each 1000 times the one before) that suits. */
static void
scaled(double x, const char *const units[], size_t n, struct str *out)
{
	size_t i = 0;

	while (i + 1 < n && fabs(x) >= 999.5) {
		x /= 1000;
		i++;
	}
	if (i > 0 && x == floor(x) && fabs(x) < 100)
		str_printf(out, fabs(x) < 10 ? "%.2f" : "%.1f", x);
	else
		three_digits(x, out);
	str_puts(out, units[i]);
}

#define SCALED(x, out, ...)                                                  \
	do {                                                                 \
		static const char *const units[] = {__VA_ARGS__};            \
		scaled((x), units, sizeof(units) / sizeof(units[0]), (out)); \
	} while (0)

void
human_count(double n, struct str *out)
{
	SCALED(n, out, "", " k", " M", " G");
}

void
human_bytes(double bytes, struct str *out)
{
	SCALED(bytes, out, " B", " kB", " MB", " GB", " TB", " PB", " EB");
}

void
human_latency(double ns, struct str *out)
{
	SCALED(ns, out, " ns", " us", " ms", " s");
}

/* Spans and ages are in seconds below two minutes. */
#define IN_SECONDS 120

/* The nearest number of whole seconds; 0 for what is still to come. */
static long long
seconds(int64_t ns)
{
	return ns > 0 ? (long long)((ns + NS_PER_S / 2) / NS_PER_S) : 0;
}

void
human_span(int64_t ns, struct str *out)
{
	long long s = seconds(ns);

	if (s < IN_SECONDS)
		str_printf(out, "%lld s", s);
	else if (s < 3600)
		str_printf(out, "%lld min", (s + 30) / 60);
	else if (s < 2 * 86400)
		str_printf(out, "%lld h %02lld min", s / 3600, s % 3600 / 60);
	else
		str_printf(out, "%lld d %02lld h", s / 86400, s % 86400 / 3600);
}

void
human_percent(double percent, struct str *out)
{
	if (percent == floor(percent))
		str_printf(out, "%.0f %%", percent);
	else
		str_printf(out, "%.1f %%", percent);
}

bool
human_parse_time(const char *time, int64_t *ret_ns)
{
	struct tm tm = {0};
	const char *end = strptime(time, "%Y-%m-%dT%H:%M:%S", &tm);
	double part = 0;
	char *zone;

	if (end == NULL)
		return false;
	if (*end == '.') {
		part = strtod(end, &zone);
		end = zone;
	}
	if (strcmp(end, "Z") != 0)
		return false;
	*ret_ns = (int64_t)timegm(&tm) * NS_PER_S + (int64_t)(part * (double)NS_PER_S);
	return true;
}

void
human_ago(const char *time, int64_t now_ns, struct str *out)
{
	int64_t then_ns;
	long long s;

	if (!human_parse_time(time, &then_ns)) {
		str_puts(out, time);
		return;
	}
	s = seconds(now_ns - then_ns);
	if (s < IN_SECONDS)
		str_printf(out, "%lld s ago", s);
	else if (s < 100 * 60)
		str_printf(out, "%lld min ago", (s + 30) / 60);
	else if (s < 48 * 3600)
		str_printf(out, "%lld h ago", (s + 1800) / 3600);
	else
		str_printf(out, "%lld d ago", (s + 43200) / 86400);
}

void
human_instant(const char *time, int64_t now_ns, struct str *out)
{
	int64_t ns;

	if (human_parse_time(time, &ns)) {
		/* without parts of a second, and a blank between day and time */
		str_printf(out, "%.10s %.8sZ (", time, time + 11);
		human_ago(time, now_ns, out);
		str_puts(out, ")");
	} else {
		str_puts(out, time);
	}
}

void
human_clean(const char *text, const char *keep, struct str *out)
{
	while (*text != '\0') {
		size_t n = str_steers(text);

		if (n == 0 || strchr(keep, *text) != NULL) {
			str_add(out, text, 1);
			text++;
		} else {
			str_puts(out, "?");
			text += n;
		}
	}
}

static void
join(const json_t *value, struct str *out)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_array(value)) {
		json_array_foreach (value, i, item) {
			str_puts(out, i > 0 ? ", " : "");
			raw_value(item, out);
		}
		return;
	}
	json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
		str_printf(out, "%s%s:", out->len > 0 ? " " : "", key);
		raw_value(item, out);
	}
}

static void
human_number(double x, enum unit u, struct str *out)
{
	switch (u) {
	case UNIT_COUNT:
		human_count(x, out);
		break;
	case UNIT_BYTES:
		human_bytes(x, out);
		break;
	case UNIT_BYTES_PER_S:
		human_bytes(x, out);
		str_puts(out, "/s");
		break;
	case UNIT_NS:
		human_latency(x, out);
		break;
	case UNIT_SPAN:
		human_span((int64_t)x, out);
		break;
	case UNIT_PERCENT:
		human_percent(x, out);
		break;
	case UNIT_WHOLE:
		str_printf(out, "%.0f", x);
		break;
	case UNIT_TEXT:
	case UNIT_STATE:
	case UNIT_TIME:
	case UNIT_INSTANT:
	case UNIT_YES:
	case UNIT_TEXTS:
	case UNIT_PAIRS:
		abort();
	}
}

void
human_value(const json_t *value, enum unit u, int64_t now_ns, struct str *out)
{
	struct str text = {0};
	double x;

	if (human_is_number(u) && json_number(value, &x))
		human_number(x, u, &text);
	else if (u == UNIT_TIME && json_is_string(value))
		human_ago(json_string_value(value), now_ns, &text);
	else if (u == UNIT_INSTANT && json_is_string(value))
		human_instant(json_string_value(value), now_ns, &text);
	else if (u == UNIT_YES && json_is_boolean(value))
		str_puts(&text, json_is_true(value) ? "yes" : "");
	else
		raw_value(value, &text);
	human_clean(text.len > 0 ? str_text(&text) : "-", "", out);
	str_fini(&text);
}

void
raw_value(const json_t *value, struct str *out)
{
	if (value == NULL)
		return;
	switch (json_typeof(value)) {
	case JSON_NULL:
		break;
	case JSON_STRING:
		str_puts(out, json_string_value(value));
		break;
	case JSON_INTEGER:
		str_printf(out, "%lld", (long long)json_integer_value(value));
		break;
	case JSON_REAL:
		str_printf(out, "%.15g", json_real_value(value));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		str_puts(out, json_is_true(value) ? "true" : "false");
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		join(value, out);
		break;
	}
}

json_t *
json_at(const json_t *o, const char *path)
{
	char name[64];

	while (o != NULL) {
		size_t n = strcspn(path, "/");

		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		o = json_object_get(o, name);
		if (path[n] == '\0')
			return (json_t *)(uintptr_t)o;
		path += n + 1;
	}
	return NULL;
}

bool
json_number(const json_t *value, double *ret_x)
{
	const char *text = json_string_value(value);
	char *end;

	if (json_is_number(value)) {
		*ret_x = json_number_value(value);
		return true;
	}
	if (text == NULL || *text == '\0')
		return false;
	*ret_x = strtod(text, &end);
	return *end == '\0';
}
