/*
 * witness - what tells whether somebody else has changed a drive between two looks.
 *
 * A line of words and numbers: the boot of the host, how often the device was attached,
 * what the kernel has counted as written and discarded, when the file behind it was
 * changed, and the checksum of a sample of its blocks. Two equal ones mean that nothing
 * was written to the drive through this kernel, and that the sample is as it was.
 */
#ifndef RUNNER_WITNESS_H
#define RUNNER_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/program.h"

struct err;
struct purge_job;
struct str;

/* witness_take looks at the drive of j; its seed is not used, for all looks take the same
 * blocks. 1 when j->tick said stop. ERR_IO. */
int witness_take(const struct purge_job *j, char ret_text[WITNESS_MAX], struct err *e);

/*
 * witness_counters reads how many sectors the kernel has counted as written to the block
 * device in dir (of sysfs), and as discarded. One device for several paths of an NVMe
 * drive counts nothing itself on kernels before 6.8: its paths are added up. false when
 * there are no counters.
 */
bool witness_counters(const char *dir, uint64_t *ret_written, uint64_t *ret_discarded);

/* witness_differ appends to out what has changed from one to the other, as a part of a
 * sentence: "8 sectors were written to it". Pure. */
void witness_differ(const char *before, const char *now, struct str *out);

#endif
