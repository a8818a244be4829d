/*
 * submit - a campaign document becomes a campaign, or a plan of one.
 *
 * Called inside store jobs: on any error nothing is stored.
 */
#ifndef CONTROLLER_SUBMIT_H
#define CONTROLLER_SUBMIT_H

#include <jansson.h>
#include <stdint.h>

struct err;
struct tx;

/*
 * submit_campaign checks the document against the lab and stores it with its runs; the
 * scheduler is told. Errors with pointer and fix: ERR_INVALID; ERR_NOTFOUND for a suite
 * or a drive that does not exist; ERR_UNSAFE for a drive that may not be written to.
 */
int submit_campaign(struct tx *t, const json_t *doc, const char *actor,
	int64_t *ret_campaign, struct err *e);

/*
 * submit_plan says what submitting the document now would do: per drive the time, the
 * most bytes written, whether it erases, what it would wait for. What submit_campaign
 * refuses is refused here with the same errors. New reference.
 */
int submit_plan(struct tx *t, const json_t *doc, json_t **ret_plan, struct err *e);

#endif
