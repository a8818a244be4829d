/*
 * out - where a command writes: data to stdout in the format asked for, talk to stderr.
 *
 * Knows whether a terminal is there, how wide it is and whether it may be coloured; a
 * pipe gets plain text that is never cut.
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;

enum out_format { OUT_TABLE, OUT_WIDE, OUT_JSON, OUT_CSV, OUT_NAME, OUT_YAML };

struct out {
	FILE *file;
	int fd; /* of the terminal, also while file is a buffer for it */
	enum out_format format;
	bool terminal;	/* file is one that can move its cursor */
	bool colour;	/* only on a terminal, and not with NO_COLOR */
	bool utf8;	/* only on a terminal, by the locale */
	int64_t now_ns; /* wall clock when the command started, for "3 min ago" */
};

/* out_init sets all of o for a stream; looks at the environment and the stream. */
void out_init(struct out *o, FILE *file, enum out_format format);

/* out_parse_format reads table, wide, json, csv, name or yaml. ERR_INVALID. */
int out_parse_format(const char *text, enum out_format *ret_format, struct err *e);

/* out_format_name returns the name of a format; NULL after the last. */
const char *out_format_name(enum out_format format);

/* out_width returns the columns of the terminal now; 0 when o is none. */
unsigned out_width(const struct out *o);

/* out_height returns the lines of the terminal now; 0 when o is none. */
unsigned out_height(const struct out *o);

/*
 * out_json writes the document, two blanks an indentation, and a newline; out_json_line
 * writes it on one line. Control characters are escaped.
 */
void out_json(const struct out *o, const json_t *doc);
void out_json_line(const struct out *o, const json_t *doc);

/* out_yaml writes the document, an object that is not empty, as YAML. */
void out_yaml(const struct out *o, const json_t *doc);

/* out_line writes a line for people; the newline is added, control characters become ?.
 */
void out_line(const struct out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* out_bytes writes text as it is, but for control characters on a terminal. */
void out_bytes(const struct out *o, const char *text, size_t len);

/* out_colour returns the escape sequence for a state, and "" without colour. */
const char *out_colour(const struct out *o, const char *state);

/* out_plain ends what out_colour began. */
const char *out_plain(const struct out *o);

/* talk writes a line to stderr; the newline is added, control characters become ?. */
void talk(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* out_can_ask says whether a person is there to answer: stdin and stderr are terminals.
 */
bool out_can_ask(void);

/*
 * out_read_line reads one line of stdin without its newline into buf; false at the end of
 * the input or when the line is longer.
 */
bool out_read_line(char *buf, size_t size);

#endif
