/*
 * purge_plan - how a drive is purged: the strongest method that it offers and that
 * reaches nothing but this drive, and why each stronger one is not taken.
 *
 * The strongest first: a sanitize erases all that the drive has ever stored, also what it
 * keeps in reserve; a format the user data of one namespace; a discard says that the data
 * are not wanted; zeroes are written only where there is no flash to bring to its first
 * state. Pure.
 */
#ifndef RUNNER_PURGE_PLAN_H
#define RUNNER_PURGE_PLAN_H

#include <stdbool.h>

#include "common/drive.h"
#include "common/nvme.h"

struct err;

enum purge_method { PURGE_SANITIZE, PURGE_FORMAT, PURGE_DISCARD, PURGE_ZERO };
#define PURGE_METHODS 4

#define PURGE_WHY_MAX 160

/* What is known of a drive that is to be purged. */
struct purge_offer {
	enum drive_kind kind;
	bool is_virtual;
	struct nvme_offer nvme;	      /* valid when nvme_why is "" */
	char nvme_why[PURGE_WHY_MAX]; /* why an NVMe drive did not say what it offers */
	bool discards;
};

struct purge_choice {
	enum purge_method method;
	enum nvme_sanitize sanitize; /* by which action; of PURGE_SANITIZE only */
	struct nvme_offer nvme;	     /* of an NVMe drive */
	char why_not[PURGE_METHODS][PURGE_WHY_MAX]; /* of methods stronger than that; ""
						       of the others */
};

/* purge_method_name returns "sanitize", "format", "discard" or "zero". */
const char *purge_method_name(enum purge_method m);

/*
 * purge_choose chooses for a drive with that offer. ERR_IO when there is no method, with
 * the reason against each; ret_c->why_not has them, too.
 */
int purge_choose(const struct purge_offer *o, struct purge_choice *ret_c, struct err *e);

/*
 * purge_can_stop says whether the method can be ended in the middle; a sanitize and a
 * format go on in the drive whatever its host does.
 */
bool purge_can_stop(enum purge_method m);

/* What a read-back sample of the drive says (runner/readback.h). */
struct purge_seen {
	unsigned blocks;    /* that were read */
	unsigned held;	    /* of these, those that were not all zeroes before */
	unsigned unchanged; /* of the latter, those that read as before */
	unsigned zero;	    /* that are all zeroes now */
};

/*
 * purge_judge says whether what was read back shows a purge. What is left of a sanitize
 * or a format may read as anything but what was there before; zeroes, and the discard of
 * a virtual drive, leave zeroes; a real drive may leave alone what it was told to
 * discard, but not most of it. ERR_IO with the numbers.
 */
int purge_judge(
	enum purge_method m, bool is_virtual, const struct purge_seen *s, struct err *e);

#endif
