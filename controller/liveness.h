/*
 * liveness - which nodes have gone silent.
 *
 * Silence changes what is known of a node (late, then lost) and of its runs (unknown),
 * nothing else: it never frees a drive and never ends a run. Measured with the monotonic
 * clock; a start of the controller gives all nodes the full time again. A node whose long
 * poll is held is there.
 */
#ifndef CONTROLLER_LIVENESS_H
#define CONTROLLER_LIVENESS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct tx;

#define LIVENESS_EVERY_NS INT64_C(3000000000)
#define LIVENESS_LATE_NS INT64_C(15000000000)
#define LIVENESS_LOST_NS INT64_C(60000000000)

/* What the job needs; filled on the main loop before it is queued. */
struct liveness {
	int64_t late_ns, lost_ns;
	int64_t started_mono; /* of this controller: clock_mono() at its start */
	int64_t *held;	      /* nodes that are there now (api_held); borrowed */
	size_t n_held;
};

/*
 * liveness_pass is the job: looks at every enrolled node. A store_fn; arg is a struct
 * liveness.
 */
int liveness_pass(struct tx *t, void *arg, struct err *e);

/*
 * liveness_tell corrects "observed" of a node's document (node_json) that is read now: a
 * node not heard of for late_ns is "late" there, though the pass that notes it has not
 * run yet, cannot write, or gives all nodes their time after a start. It writes nothing.
 * Silence is told by the monotonic clock, before the first word to this controller by
 * the wall clock.
 */
int liveness_tell(
	struct tx *t, int64_t node, int64_t late_ns, json_t *doc, struct err *e);

#endif
