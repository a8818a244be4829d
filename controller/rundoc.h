/*
 * rundoc - a run as its REST document.
 *
 * Called inside store jobs.
 */
#ifndef CONTROLLER_RUNDOC_H
#define CONTROLLER_RUNDOC_H

#include <jansson.h>
#include <stdint.h>

struct err;
struct tx;

/*
 * run_json reads one run with its latest attempt, its blockers and its progress.
 * ERR_NOTFOUND. New reference.
 */
int run_json(struct tx *t, int64_t run, json_t **ret_doc, struct err *e);

#endif
