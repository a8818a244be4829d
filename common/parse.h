/*
 * parse - numbers with units, as people and documents write them, and back.
 *
 * The whole text must be used; signs, blanks and missing units are errors that name the
 * accepted form. Sizes are binary (KiB) or decimal (kB) as written; nothing is guessed.
 */
#ifndef COMMON_PARSE_H
#define COMMON_PARSE_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* parse_uint reads a decimal number in min..max. ERR_INVALID otherwise. */
int parse_uint(
	const char *text, uint64_t min, uint64_t max, uint64_t *ret_n, struct err *e);

/*
 * parse_size reads bytes: a whole or decimal number and B, kB, MB, GB, TB, KiB, MiB, GiB
 * or TiB. The result must be a whole number of bytes. ERR_INVALID otherwise.
 */
int parse_size(const char *text, uint64_t *ret_bytes, struct err *e);

/* parse_duration reads a number and ns, us, ms, s, m, h or d; ns, at most 10 years. */
int parse_duration(const char *text, int64_t *ret_ns, struct err *e);

/* parse_percent reads a number and %, 0% to 1000%; the result is in percent. */
int parse_percent(const char *text, double *ret_percent, struct err *e);

/* parse_rate reads I/Os per second, written as 5000/s. */
int parse_rate(const char *text, double *ret_per_s, struct err *e);

/* format_size writes bytes in the largest binary unit that divides them, for example
 * 64KiB. */
const char *format_size(uint64_t bytes, char *buf, size_t size);

/* format_duration writes ns in the largest unit that divides them, for example 90s. */
const char *format_duration(int64_t ns, char *buf, size_t size);

/* format_time writes a wall clock time (ns since 1970) as RFC 3339 UTC with milliseconds.
 */
const char *format_time(int64_t wall_ns, char *buf, size_t size);

#endif
