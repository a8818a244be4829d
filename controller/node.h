/*
 * node - test servers: their two state variables and their JSON form.
 *
 * Only node_admin_change and node_observe write the state, by the rows of node_tbl.h.
 * Called inside store jobs.
 */
#ifndef CONTROLLER_NODE_H
#define CONTROLLER_NODE_H

#include <jansson.h>
#include <stdint.h>

#include "common/fsm.h"

struct err;
struct tx;

enum node_admin {
#define ADMIN_STATE(name, text) NODE_##name,
#include "controller/node_tbl.h"
	NODE_ADMINS
};

enum node_admin_event {
#define ADMIN_EVENT(name, text) NODE_DO_##name,
#include "controller/node_tbl.h"
	NODE_ADMIN_EVENTS
};

enum node_observed {
#define OBSERVED_STATE(name, text) NODE_IS_##name,
#include "controller/node_tbl.h"
	NODE_OBSERVEDS
};

enum node_observed_event {
#define OBSERVED_EVENT(name, text) NODE_SEE_##name,
#include "controller/node_tbl.h"
	NODE_OBSERVED_EVENTS
};

extern const struct fsm node_admin_fsm;
extern const struct fsm node_observed_fsm;

/*
 * node_admin_change applies an event and notes why as admin_reason. Asks for a scheduling
 * pass. ERR_STATE when the event is not legal now, ERR_NOTFOUND.
 */
int node_admin_change(struct tx *t, int64_t node, enum node_admin_event ev,
	const char *why, const char *actor, struct err *e);

/*
 * node_observe applies an event; nothing is logged when the state stays. Runs on the node
 * become unknown when it is lost and known again when it is seen. Asks for a scheduling
 * pass on a change. ERR_STATE, ERR_NOTFOUND.
 */
int node_observe(struct tx *t, int64_t node, enum node_observed_event ev, const char *why,
	const char *actor, struct err *e);

/* node_json reads one node as its REST document. ERR_NOTFOUND. New reference. */
int node_json(struct tx *t, int64_t node, json_t **ret_doc, struct err *e);

/*
 * node_trouble stores what keeps a node from taking runs, "" for nothing; a change is
 * logged as one of its variable trouble and starts a scheduling pass. Write job.
 */
int node_trouble(struct tx *t, int64_t node, const char *trouble, const char *actor,
	struct err *e);

#endif
