/*
 * show - REST answers shown in the format asked for; the columns of each kind of thing.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <jansson.h>
#include <stddef.h>

#include "cli/cmd.h"
#include "cli/table.h"

struct document;
struct err;
struct ref;

#define SHOW_ALL SIZE_MAX

struct listing {
	const char *path;
	size_t limit; /* at most so many items */
	const struct column *columns;
	size_t n_columns;
	const char *empty; /* said on stderr when there is nothing: how it gets there */
	/* Asked instead of that, when there is one: why nothing was found. */
	int (*none)(struct cli *c, struct err *e);
};

/* show_list reads a list and shows it. As client_list. */
int show_list(struct cli *c, const struct listing *l, struct err *e);

/* show_item shows one document: fields, or a row of CSV, or its name, or JSON. */
void show_item(
	struct cli *c, const json_t *doc, const struct column *columns, size_t n_columns);

/*
 * show_arg_id reads the argument of the command as the id of a thing with that letter;
 * ERR_INVALID says what the command takes.
 */
int show_arg_id(const struct cli *c, char letter, struct ref *ret_ref, struct err *e);

/*
 * show_exists asks for the document at path and wants nothing but that it is there. As
 * client_get.
 */
int show_exists(struct cli *c, const char *path, struct err *e);

/*
 * show_for_people says whether text around a table is wanted: not for CSV, JSON, names.
 */
bool show_for_people(const struct cli *c);

/* show_title writes a heading with an empty line before it. */
void show_title(const struct out *o, const char *title);

/*
 * show_flags_pointer says where the reasons of flags are, when one of the rows, each with
 * flags, and the runs or the foreign result that they are from, has any.
 */
void show_flags_pointer(const struct out *o, const json_t *rows);

/* What stands above a table of show_points. */
#define SHOW_POINTS_TITLE \
	"Points (latencies: response of offered loads, service of the maximum)"

/* The columns of lists, used by more than one command; show_..._n is their number. */
extern const struct column show_drives[], show_nodes[], show_runs[], show_points[];
extern const size_t show_drives_n, show_nodes_n, show_runs_n, show_points_n;

/* show_limit reads --limit; 100 without it. ERR_INVALID. */
int show_limit(const struct cli *c, size_t *ret_limit, struct err *e);

/*
 * show_add_latency gives each point of the array the members lat_...: of the response
 * where there is one, else of the service. For show_points.
 */
void show_add_latency(json_t *points);

/*
 * Cells that are made of more than one member, appended to out: what keeps a run
 * from running or what it does; a run's points; a drive's state in one word.
 */
void show_run_what(const json_t *run, struct str *out);
void show_run_points(const json_t *run, struct str *out);
void show_left(const json_t *campaign, struct str *out); /* "about 3 h" */
void show_drive_state(const json_t *drive, struct str *out);

/* show_rate appends an offered rate, "5 k IOPS"; show_load which load of which workload a
 * point or its event is of, "4k-random-read 40 %". */
void show_rate(double iops, struct str *out);
void show_load(const json_t *point, struct str *out);

/*
 * show_figure appends a member of a compared or ranked row in the unit that the row
 * names; show_figure_title what people call its metric.
 */
void show_figure(const json_t *row, const char *name, struct str *out);
void show_figure_title(const json_t *row, struct str *out);

/*
 * show_rows returns the rows in the member list of all groups in one array, each with
 * the members of its group that the NULL-ended inherit names. New reference.
 */
json_t *show_rows(const json_t *groups, const char *list, const char *const inherit[]);

/*
 * show_node_state appends what is observed of a node; of one that was never heard,
 * whether it has joined.
 */
void show_node_state(const json_t *node, struct str *out);

/*
 * show_ledger shows rows of the ledger of a drive below a title; nothing when there are
 * none.
 */
void show_ledger(const struct out *o, const char *title, json_t *rows);

/*
 * show_place says where in the file a document stands wrong that the controller refused
 * with e; other failures are no matter of a file. Returns -1.
 */
int show_place(const struct document *d, struct err *e);

/* show_text_is says whether the member of item is that text. */
bool show_text_is(const json_t *item, const char *name, const char *text);

#endif
