/*
 * human - values as people read them in tables, and as machines read them in CSV.
 *
 * Three digits and an SI prefix for people ("1.25 M", "85.3 us", "2 h 05 min"); the value
 * as it stands in the REST document for machines. Pure.
 */
#ifndef CLI_HUMAN_H
#define CLI_HUMAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str;

/* What a member of a REST document means, and so how it is shown. */
enum unit {
	UNIT_TEXT,
	UNIT_STATE,	  /* a text that may call for attention */
	UNIT_WHOLE,	  /* a small number, shown as it is */
	UNIT_COUNT,	  /* I/Os or I/Os per second: 1.25 M */
	UNIT_BYTES,	  /* 8.00 TB */
	UNIT_BYTES_PER_S, /* 3.21 GB/s */
	UNIT_NS,	  /* a latency: 85.3 us */
	UNIT_SPAN,	  /* a duration in ns: 2 h 05 min */
	UNIT_PERCENT,
	UNIT_TIME,    /* RFC 3339, shown as 3 min ago */
	UNIT_INSTANT, /* the same, shown with the time in UTC */
	UNIT_YES,     /* a boolean: yes, or nothing */
	UNIT_TEXTS,   /* a list of texts */
	UNIT_PAIRS,   /* an object of texts: k:v k:v */
};

/* human_is_number says whether values of the unit are aligned to the right. */
bool human_is_number(enum unit u);

/* The human_ functions below append their argument as people read it. */
void human_count(double n, struct str *out);
void human_bytes(double bytes, struct str *out);
void human_latency(double ns, struct str *out);
void human_span(int64_t ns, struct str *out);
void human_percent(double percent, struct str *out);

/* human_ago appends how long before now_ns (wall clock) an RFC 3339 time was. */
void human_ago(const char *time, int64_t now_ns, struct str *out);

/* human_instant appends an RFC 3339 time in UTC and how long before now_ns it was:
 * "2026-11-30 10:00:00Z (13 min ago)". */
void human_instant(const char *time, int64_t now_ns, struct str *out);

/* human_parse_time reads RFC 3339 in UTC; false when it is none. */
bool human_parse_time(const char *time, int64_t *ret_ns);

/*
 * human_clean appends text with its control characters, and those that turn the direction
 * of text (see str_steers), as '?'; the characters of keep stay.
 */
void human_clean(const char *text, const char *keep, struct str *out);

/*
 * human_value appends a member of a REST document for people; "-" when it is NULL or
 * null. now_ns is the wall clock. Control characters become '?'.
 */
void human_value(const json_t *value, enum unit u, int64_t now_ns, struct str *out);

/* raw_value appends the member as it is; nothing when it is NULL or null. */
void raw_value(const json_t *value, struct str *out);

/* json_at follows a path of members ("node/name"); NULL when there is none. Borrowed. */
json_t *json_at(const json_t *o, const char *path);

/* json_number reads a number or a decimal string; false when value is neither. */
bool json_number(const json_t *value, double *ret_x);

#endif
