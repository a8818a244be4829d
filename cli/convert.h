/*
 * convert - what the converters of other tools' workload files share: the suite that
 * grows, and the list of what is not carried over.
 *
 * A converter takes over nothing that names a file, a device, a host or a command, and
 * drops nothing silently: what it does not carry is listed with its line and why. Pure;
 * trusts no byte of the file.
 */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/sources.h"
#include "common/suite.h"

struct err;

#define CONVERT_MAX_BYTES (256U << 10)

/* What it means that something is not carried. */
enum left_kind {
	LEFT_LOAD,  /* the load of the suite is another one for it */
	LEFT_ASIDE, /* where, by what, with which report: the load is the same */
};

struct left {
	unsigned line; /* from 1 */
	enum left_kind kind;
	char *text; /* what stands there, "stopcurve=5"; owned */
	char *why;  /* why it is not carried; owned */
};

struct conversion {
	const char *tool;    /* "vdbench parameter file"; borrowed, constant */
	struct suite *suite; /* owned; fill, region, data, ramp and workloads are for the
				converter to set */
	/* where each workload and the ramp come from, for "sources" */
	char (*origins)[SOURCE_TEXT_MAX + 1]; /* SUITE_WORKLOADS_MAX of them; owned */
	char ramp_origin[SOURCE_TEXT_MAX + 1];
	char notes[512];   /* what to know of the whole suite */
	struct left *left; /* owned, as are its texts */
	size_t n_left;
};

/*
 * conversion_init begins a suite with this name, of which every character that a suite's
 * name cannot have becomes "-". conversion_fini frees what it holds.
 */
void conversion_init(struct conversion *c, const char *tool, const char *name);
void conversion_fini(struct conversion *c);

/* convert_left lists something that is not carried; text is cut where it is long. */
void convert_left(struct conversion *c, unsigned line, enum left_kind kind,
	const char *text, const char *why, ...) __attribute__((format(printf, 5, 6)));

/* convert_note appends a sentence to the notes. */
void convert_note(struct conversion *c, const char *text);

/*
 * convert_add appends the workload w under an id made of `id`, which is made unlike all
 * others. One that a suite cannot have is listed instead, as `id`, with its line. Returns
 * whether it was taken.
 */
bool convert_add(struct conversion *c, const struct workload *w, const char *id,
	unsigned line, const char *origin);

/*
 * convert_finish makes the suite's document in its human form, in *ret_doc (new
 * reference), and puts the list of what was left in the order of lines. Where there is no
 * fill its notes say so. ERR_INVALID when the file has no workload for a suite.
 */
int convert_finish(struct conversion *c, json_t **ret_doc, struct err *e);

/* convert_changed counts what is LEFT_LOAD. */
size_t convert_changed(const struct conversion *c);

/* convert_id makes an id of any text: [a-z0-9-], not empty. */
void convert_id(char ret_id[WORKLOAD_ID_MAX], const char *text);

/* convert_plain copies text, at most size - 1 bytes of it, with ? for what is no
 * printable ASCII. Returns buf. */
const char *convert_plain(char *buf, size_t size, const char *text);

/* convert_check_text refuses what is no text or too long. ERR_INVALID, ERR_LIMIT. */
int convert_check_text(const char *text, size_t len, struct err *e);

/* convert_suite_json writes s as people write suites; without name, title, notes and
 * sources. New reference. */
json_t *convert_suite_json(const struct suite *s);

#endif
