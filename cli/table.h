/*
 * table - items of a REST answer as a table, CSV, names or fields.
 *
 * Columns are data: a title, the path of the member, its unit. The table aligns them,
 * leaves out those with nothing in them unless it is asked to be wide, and, on a terminal
 * only, cuts texts so that a row is a line; where that is not enough a wide table loses
 * what is empty and then the last of its wide columns. CSV is RFC 4180 with raw values
 * and a quote mark before texts that a spreadsheet would take for a formula.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <jansson.h>
#include <stddef.h>

#include "cli/human.h"
#include "cli/out.h"

struct str;

#define COL_WIDE 1U   /* not in a table that is not asked to be wide */
#define COL_KEEP 2U   /* never cut: somebody will copy it */
#define COL_CSV 4U    /* for machines: another column says it to people */
#define COL_LATE 16U  /* cut only when nothing else is left to cut */
#define COL_PEOPLE 8U /* for people: other columns say it to machines */

struct column {
	const char *title; /* "CAPACITY" */
	const char *path;  /* member of the item, "node/name"; in CSV "node_name" */
	enum unit unit;
	unsigned flags;
	/* Appends the cell for people instead of the member's value; or NULL. */
	void (*make)(const json_t *item, struct str *out);
};

#define COLUMNS(a) (a), sizeof(a) / sizeof((a)[0])

/*
 * table_print writes the array items in the format of o; the first column is what -o name
 * prints. With OUT_JSON nothing is written: that is out_json of the whole document.
 */
void table_print(
	const struct out *o, const json_t *items, const struct column *columns, size_t n);

/*
 * table_width returns how wide the table of these columns would be, were no cell of a
 * column that may be cut wider than most.
 */
size_t table_width(const struct out *o, const json_t *items, const struct column *columns,
	size_t n, size_t most);

/* table_fields writes one item as lines of title and value; empty values are left out. */
void table_fields(
	const struct out *o, const json_t *item, const struct column *columns, size_t n);

/* table_csv_cell appends one quoted CSV field; text is guarded against formulas. */
void table_csv_cell(const char *value, int is_text, struct str *out);

/* text_columns returns the terminal columns of UTF-8 text, one for each character. */
size_t text_columns(const char *text);

/* text_cut appends at most width columns of text; what is cut ends with a mark. */
void text_cut(const char *text, size_t width, int utf8, struct str *out);

#endif
