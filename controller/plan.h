/*
 * plan - which waiting runs start now, and all that the others wait for.
 *
 * Higher priority first, then the older run; one run per drive; at most max_runs per
 * node. A run that cannot start does not hold up others behind it. Runs of one group
 * start in one plan or not at all; of a campaign whose runs go apart a node has one at a
 * time. The same input gives the same plan. Pure: no clock, no store, no randomness.
 */
#ifndef CONTROLLER_PLAN_H
#define CONTROLLER_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/drives.h"
#include "controller/node.h"

enum blocker {
#define BLOCKER(name, code) BLOCKER_##name,
#include "controller/plan_tbl.h"
#undef BLOCKER
	BLOCKERS
};

/* All texts are borrowed by the plan. */
struct plan_node {
	int64_t id;
	const char *name;
	const char *reason;  /* of draining, or "" */
	const char *trouble; /* what keeps it from taking runs, or "" */
	enum node_admin admin;
	enum node_observed observed;
	uint32_t max_runs;
	uint32_t running;	   /* leases on it; plan_make adds what it grants */
	struct plan_drive *drives; /* the first of them: of plan_make */
};

struct plan_drive {
	int64_t id;
	int64_t node;
	const char *serial;
	const char *protected; /* why, or "" */
	enum drive_admin admin;
	enum drive_observed observed;
	enum drive_occupancy occupancy; /* plan_make leases what it grants */
	int64_t holder;			/* run that has it, 0 for none */
	int64_t collecting; /* run on it whose last records are still to come, 0 for none
			     */
	int64_t apart;	    /* as plan_run, of its holder */
	struct plan_drive *next; /* of its node, NULL for the last: of plan_make */
};

struct plan_run {
	int64_t id; /* unique, in the order of arrival */
	int64_t drive;
	uint32_t priority;
	bool writes;   /* needs the approval to destroy data */
	bool paused;   /* its campaign is */
	int64_t group; /* starts with all others of this number, or not; 0: alone */
	int64_t apart; /* number of its campaign when its runs go apart, else 0 */
	/* answers of plan_make */
	bool granted;
	uint32_t of_group; /* waiting runs of its group, itself included; 0: alone */
	uint32_t peers;	   /* granted with it, itself included; 0: alone */
	uint32_t blockers; /* bit 1 << enum blocker; 0 exactly when granted */
	/* of plan_make: it is not the first run of its group; how many runs on the next
	 * one is, 0 for the last */
	bool follows;
	size_t next;
};

struct plan {
	struct plan_run *runs; /* waiting ones; any order, sorted by plan_make */
	size_t n_runs;
	struct plan_drive *drives; /* by rising id; every drive of runs */
	size_t n_drives;
	struct plan_node *nodes; /* by rising id; every node of drives */
	size_t n_nodes;
};

/* plan_make decides: fills granted and blockers of every run. */
void plan_make(struct plan *p);

/* plan_blockers writes the blockers of r as a list of {code, text}. New reference. */
json_t *plan_blockers(const struct plan *p, const struct plan_run *r);

/* plan_drive_of and plan_node_of find by id; NULL when not in the plan. */
struct plan_drive *plan_drive_of(const struct plan *p, int64_t id);
struct plan_node *plan_node_of(const struct plan *p, int64_t id);

#endif
