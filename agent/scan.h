/*
 * scan - which drives this node has, and why some may not be touched.
 *
 * Whole NVMe namespaces come from libnvme (this is its only user), other disks from
 * /sys/block, virtual drives from the options that allow them. Only reads. A drive may
 * hang for minutes when it is asked anything, so all asking is done by one thread of its
 * own; the main loop posts what is leased and gets NEWS_DRIVES. Leased drives are told
 * from memory; only libnvme opens them, too, for one Identify command a namespace, which
 * takes CAP_SYS_ADMIN: without it no NVMe drive is found.
 */
#ifndef AGENT_SCAN_H
#define AGENT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/drive.h"

struct err;
struct inbox;
struct scan;

struct seen_drive {
	struct drive_id id;
	char key[96];	/* of drive_key() */
	char path[256]; /* where it was opened, good until the next boot or plug */
	char *reasons;	/* not to touch it, "" when there are none; owned */
};

struct drive_list {
	struct seen_drive *items; /* owned */
	size_t n;
};

/* What is looked at; all texts borrowed for the life of the scan. */
struct scan_config {
	const char *keep_path; /* state directory: its file system is never a target */
	bool allow_virtual;
	const char *virtual_dir;     /* files in it, loop devices over them; or "" */
	const char *virtual_devices; /* "/dev/zram0,/dev/ram1"; or "" */
};

/* drive_list_add appends a copy of a drive; reasons is copied. */
void drive_list_add(struct drive_list *l, const struct drive_id *id, const char *path,
	const char *reasons);

/* drive_list_find returns the drive with this key, or NULL. Borrowed. */
const struct seen_drive *drive_list_find(const struct drive_list *l, const char *key);

/* drive_list_equal says whether two lists tell the same, in the same order. */
bool drive_list_equal(const struct drive_list *a, const struct drive_list *b);

/* drive_list_free frees a list and what is in it. NULL allowed. */
void drive_list_free(struct drive_list *l);

/*
 * scan_run looks once, on the calling thread. leased: drives not to be opened; each is
 * told as it stands there while its path still exists. *ret_l is owned by the caller.
 * What cannot be opened or has no identity is left out; a drive that cannot be checked is
 * told as protected.
 */
void scan_run(const struct scan_config *c, const struct drive_list *leased,
	struct drive_list **ret_l);

/* scan_start starts the thread; c and in are borrowed until scan_stop. ERR_INTERNAL. */
int scan_start(struct scan **ret_s, const struct scan_config *c, const struct inbox *in,
	struct err *e);

/*
 * scan_take_request asks for a look around; *leased is set to NULL. false while an
 * earlier one still waits (the list is then freed). Main loop only.
 */
bool scan_take_request(struct scan *s, struct drive_list **leased);

/*
 * scan_stop ends the thread. false when it hangs on a drive for longer than two seconds:
 * it is left alone then and nothing of it may be freed. NULL allowed (true).
 */
bool scan_stop(struct scan *s);

#endif
