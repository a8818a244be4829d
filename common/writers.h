/*
 * writers - which other processes can write to a drive or a file, and how.
 *
 * Reads /proc and sysfs; writes nothing. What this process may not read is not seen: run
 * it as root. Any thread.
 */
#ifndef COMMON_WRITERS_H
#define COMMON_WRITERS_H

struct usage;

/*
 * writers_find adds a reason to u for each process but this one that can write to it:
 * through a descriptor, a file registered with io_uring, a shared mapping, or the NVMe or
 * SCSI generic device of the drive. proc is where processes are told, /proc. A ring that
 * is busy is waited for, 2 s for all of them, and is then a reason, too.
 */
void writers_find(struct usage *u, const char *proc);

#endif
