/*
 * hold - whether anything still has a drive claimed.
 *
 * The kernel closes what an io_uring had open only some time after its process is gone,
 * when the last I/O has ended. Until then the claim of a runner stands, and the drive is
 * not free, whatever the process table says.
 */
#ifndef AGENT_HOLD_H
#define AGENT_HOLD_H

#include <stdbool.h>

/*
 * hold_is_free tries the claim that a runner takes (an exclusive open of a device, the
 * lock of a file) and lets go of it again, without opening for writing. True also for a
 * path that cannot be opened: then there is nothing to hold.
 */
bool hold_is_free(const char *path);

#endif
