/*
 * reconcile - what a node has against what it should have.
 *
 * Both sides compare whole states; there is no log of commands, so a lost message heals
 * in the next round. The handler is api_agents_reconcile (api.h); this is its part that
 * needs no request. Called inside write jobs.
 */
#ifndef CONTROLLER_RECONCILE_H
#define CONTROLLER_RECONCILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct err;
struct report;
struct tx;

/*
 * reconcile_take takes over what a node reports: that it lives, its drives, how far its
 * attempts are, which it does not know any more. Once per report. *ret_fits says whether
 * the node may get new work and its attempts were looked at: false while it is
 * incompatible. ERR_STORE.
 */
int reconcile_take(struct tx *t, int64_t node, const struct report *r, bool *ret_fits,
	struct err *e);

/*
 * reconcile_answer says what the node should have: the document of the answer. *ret_calm
 * when it asks nothing of the node but to go on and waits for none of its words. Changes
 * nothing; may be repeated for one report. ERR_STORE. New reference.
 */
int reconcile_answer(struct tx *t, int64_t node, const struct report *r, json_t **ret_doc,
	bool *ret_calm, struct err *e);

#endif
