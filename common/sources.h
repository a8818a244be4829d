/*
 * sources - how sure the parameters of a suite are, and where they come from.
 *
 * A suite's member "sources" gives JSON pointers to its parameters a status and a source.
 * A pointer to an object or list holds for all that is below it, unless a longer pointer
 * says something else. Works on documents; pure.
 */
#ifndef COMMON_SOURCES_H
#define COMMON_SOURCES_H

#include <jansson.h>

struct err;
struct str;

#define SOURCE_TEXT_MAX 255 /* bytes of "source", one line */

/*
 * sources_check reads "sources" of a suite document, which may be missing. Each pointer
 * must name something below the parameters of the suite, and once. ERR_INVALID with
 * pointer.
 */
int sources_check(const json_t *doc, struct err *e);

/*
 * sources_label appends a pointer as people read it: with the id of a workload or test
 * in place of its number. One that leads nowhere is appended as it is.
 */
void sources_label(const json_t *doc, const char *pointer, struct str *out);

#endif
