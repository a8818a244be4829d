/*
 * reading - what the node says of a drive at one moment, for comparing two of them.
 *
 * Read before and after each point: what the block layer has counted, the PCIe link and
 * its errors, the clocks, and what an NVMe drive says of heat. Found by the device number
 * of the verified descriptor, never by a name. What cannot be read is not known, and
 * raises no flag. One thread.
 */
#ifndef RUNNER_READING_H
#define RUNNER_READING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runner/smart.h"

/* Where to look; all borrowed. */
struct reading_place {
	const char *block_dir; /* of the drive in sysfs; NULL: it has none */
	bool is_nvme;	       /* ask it for its heat */
	int fd;		       /* verified; used for that only */
};

/* Kinds of errors of PCIe Advanced Error Reporting. */
enum reading_aer { AER_CORRECTABLE, AER_NONFATAL, AER_FATAL, AER_KINDS };

struct reading {
	bool has_stat; /* Documentation/admin-guide/iostats.rst of Linux */
	uint64_t read_bytes, written_bytes;
	uint64_t busy_ms, queue_ms; /* with any in flight; times those in flight */
	double gts, max_gts;	    /* of the PCIe link, 16.0; 0: not known */
	unsigned width, max_width;  /* lanes; 0: not known */
	bool has_aer;
	uint64_t aer[AER_KINDS];
	int64_t wall_less_mono_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	bool has_heat;
	struct smart_heat heat;
};

/* What we moved ourselves in between, warm-up and drain included. */
struct reading_own {
	uint64_t read_bytes, written_bytes;
	uint64_t failed_bytes; /* at most so many more, of I/Os that failed */
};

/* reading_take reads everything; one command to an NVMe drive, microseconds else. */
void reading_take(const struct reading_place *p, struct reading *ret_r);

/*
 * reading_json makes the member "readings" of a POINT (schema/wire.md) of two of them.
 * New reference.
 */
json_t *reading_json(const struct reading *before, const struct reading *after,
	const struct reading_own *own);

#endif
