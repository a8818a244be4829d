/*
 * health - how a drive says it is, by whatever way its kind has.
 *
 * NVMe by its SMART log, SATA and SAS by smartctl when that is installed. Virtual drives
 * have none. That nothing could be read is told with the reason, never left out.
 */
#ifndef RUNNER_HEALTH_H
#define RUNNER_HEALTH_H

#include <jansson.h>
#include <stdatomic.h>

struct drive_id;
struct err;

/* What to ask; all borrowed. */
struct health_place {
	const struct drive_id *drive;
	int fd;			  /* verified */
	const char *block_dir;	  /* in sysfs; NULL: it has none */
	const char *smartctl;	  /* path, or a name that is looked for in PATH */
	const atomic_bool *hurry; /* set: smartctl gets few seconds; NULL: never */
};

/* health_read makes the document of schema/wire.md, "Health". Seconds may pass. New
 * reference. */
json_t *health_read(const struct health_place *p);

/* health_answer asks for it as health_read does, and forgets what is said. ERR_IO with
 * why nothing was. */
int health_answer(const struct health_place *p, struct err *e);

#endif
