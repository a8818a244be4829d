/*
 * place - where a worker runs: on the processors of the drive's NUMA node.
 *
 * An interrupt of the drive and its memory are near there; another node adds some 100 ns
 * to each I/O and takes from the link between the nodes. Nothing is done where the drive
 * has no node, or where none of its processors is allowed to this process.
 */
#ifndef RUNNER_PLACE_H
#define RUNNER_PLACE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * place_parse reads a list of processors as the kernel writes it ("0-3,8"). false when it
 * is none or names one above CPU_SETSIZE.
 */
bool place_parse(const char *list, cpu_set_t *ret_set);

/*
 * place_near has the calling thread, and what it starts, run on the processors of a NUMA
 * node that are allowed to it now. dir: of the nodes, NULL for /sys/devices/system/node.
 * Their number, or 0 when nothing was done.
 */
unsigned place_near(int node, const char *dir);

/*
 * place_near_drive does so for the node of the block device that is open as fd. ret_text
 * tells of it, as "; 8 processors of NUMA node 0", or is "".
 */
void place_near_drive(int fd, char *ret_text, size_t size);

#endif
