/*
 * drives - the drives of the lab: who may write to them, who does, where they are.
 *
 * Only the drive_*_change functions write the three state variables, by the rows of
 * drive_tbl.h. Where a drive is comes from sightings: which node lists it at present.
 * Called inside store jobs.
 */
#ifndef CONTROLLER_DRIVES_H
#define CONTROLLER_DRIVES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/drive.h"
#include "common/fsm.h"

struct err;
struct tx;

enum drive_admin {
#define ADMIN_STATE(name, text) DRIVE_##name,
#include "controller/drive_tbl.h"
	DRIVE_ADMINS
};

enum drive_admin_event {
#define ADMIN_EVENT(name, text) DRIVE_DO_##name,
#include "controller/drive_tbl.h"
	DRIVE_ADMIN_EVENTS
};

enum drive_observed {
#define OBSERVED_STATE(name, text) DRIVE_IS_##name,
#include "controller/drive_tbl.h"
	DRIVE_OBSERVEDS
};

enum drive_observed_event {
#define OBSERVED_EVENT(name, text) DRIVE_SEE_##name,
#include "controller/drive_tbl.h"
	DRIVE_OBSERVED_EVENTS
};

enum drive_occupancy {
#define OCCUPANCY_STATE(name, text) DRIVE_HAS_##name,
#include "controller/drive_tbl.h"
	DRIVE_OCCUPANCIES
};

enum drive_occupancy_event {
#define OCCUPANCY_EVENT(name, text) DRIVE_TAKE_##name,
#include "controller/drive_tbl.h"
	DRIVE_OCCUPANCY_EVENTS
};

extern const struct fsm drive_admin_fsm;
extern const struct fsm drive_observed_fsm;
extern const struct fsm drive_occupancy_fsm;

/* One drive as a node lists it. */
struct sighting {
	struct drive_id id;
	const char *path; /* "/dev/nvme0n1"; borrowed */
	const char
		*protected; /* why it must not be written to, "" when clear; borrowed */
};

/*
 * drive_admin_change applies what people decide and notes why as admin_reason.
 * drive_occupy is for lease.c alone. Both ask for a scheduling pass. ERR_STATE when the
 * event is not legal now, ERR_NOTFOUND.
 */
int drive_admin_change(struct tx *t, int64_t drive, enum drive_admin_event ev,
	const char *why, const char *actor, struct err *e);
int drive_occupy(struct tx *t, int64_t drive, enum drive_occupancy_event ev,
	const char *why, const char *actor, struct err *e);

/*
 * drives_sighted takes over the whole list of drives that a node reports: new ones are
 * stored (unapproved), missing ones become absent, one that another living node lists as
 * well is in conflict until only one does. An identity that is twice in the list is
 * protected. ERR_STORE.
 */
int drives_sighted(
	struct tx *t, int64_t node, const struct sighting *list, size_t n, struct err *e);

/* drive_json reads one drive as its REST document. ERR_NOTFOUND. New reference. */
int drive_json(struct tx *t, int64_t drive, json_t **ret_doc, struct err *e);

#endif
