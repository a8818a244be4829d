/*
 * manifest - the machine that a run runs on, as far as figures may depend on it.
 *
 * Only what stays as it is: no load, no temperature, no serial number, so that runs in
 * the same environment have the same document, byte by byte once it is canonical. A
 * member that cannot be read is null. Reads files of /proc, /sys and /etc only. Any
 * thread.
 */
#ifndef RUNNER_MANIFEST_H
#define RUNNER_MANIFEST_H

#include <jansson.h>

struct drive_id;

/* Where to look; all borrowed for the call. */
struct manifest_place {
	const char *root;      /* before every path, "" for this machine */
	const char *block_dir; /* of the drive in sysfs, with root; NULL: it has none */
	const struct drive_id *drive;
	const json_t *format; /* of the namespace, as smart_format tells; NULL: none */
	const char *agent;    /* version of the agent that started us, NULL: none did */
	const char *liburing; /* version */
};

/* manifest_make makes the document of schema/wire.md, "Environment". New reference. */
json_t *manifest_make(const struct manifest_place *p);

#endif
