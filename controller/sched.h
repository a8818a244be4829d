/*
 * sched - the scheduling pass: loads what waits, asks plan, grants leases.
 *
 * Called inside write jobs, after anything that may let a run start (NOTIFY_SCHED).
 */
#ifndef CONTROLLER_SCHED_H
#define CONTROLLER_SCHED_H

#include <stdint.h>

#include "controller/plan.h"

struct err;
struct suite;
struct tx;

/* The world as plan wants it, with the texts that it borrows. */
struct sched_world {
	struct plan plan;
	char **texts; /* owned */
	size_t n_texts;
	int64_t *unreadable; /* waiting runs that the plan is without; owned */
	size_t n_unreadable;
};

/*
 * sched_load reads all drives and nodes and the waiting runs into *ret_w, with room for
 * spare more runs. Runs whose stored documents this version cannot read are listed apart.
 * ERR_STORE. *ret_w is owned (sched_fini), also after an error.
 */
int sched_load(struct tx *t, size_t spare, struct sched_world *ret_w, struct err *e);
void sched_fini(struct sched_world *w);

/*
 * sched_suite reads the suite of a campaign, cut down to the workloads or tests that it
 * chose; *ret_s is owned (suite_fini).
 * ERR_STORE; what campaign_parse, suite_parse and suite_choose say when they cannot read
 * what is stored any more.
 */
int sched_suite(struct tx *t, int64_t campaign, struct suite *ret_s, struct err *e);

/*
 * sched_pass is the job: every run that may start is granted its drive with a new attempt
 * and its compiled program; the blockers of the others are noted. One that no program can
 * be made for fails, and stops no other. Tells the nodes concerned. A store_fn; arg is
 * not used.
 */
int sched_pass(struct tx *t, void *arg, struct err *e);

#endif
