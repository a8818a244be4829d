/*
 * smartctl - what SATA and SAS drives say of their health, by the program of that name.
 *
 * It gets the verified descriptor as its descriptor 3 and opens that, so that no name is
 * looked up; it only reads, and is ended when it does not answer in time. Blocks until
 * then. What it prints is not trusted.
 */
#ifndef RUNNER_SMARTCTL_H
#define RUNNER_SMARTCTL_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>

struct err;

/*
 * smartctl_read asks the drive open as fd; program is a path, or a name that is looked
 * for in PATH. ata: a SATA drive, else SCSI. It has 30 s, and 3 s from when it is seen
 * that hurry is set (NULL: never). Errors: ERR_NOTFOUND when the program is not
 * installed, ERR_IO with what it said, ERR_INVALID for what is not its JSON.
 */
int smartctl_read(const char *program, int fd, bool ata, const atomic_bool *hurry,
	json_t **ret_doc, struct err *e);

/*
 * smartctl_pick takes the members of schema/wire.md, "Health", out of what `smartctl -j`
 * prints; those that are not there are left out. Pure. New reference.
 */
json_t *smartctl_pick(const json_t *printed);

#endif
