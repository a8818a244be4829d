/*
 * node - a file or block device as the kernel knows it, and what a device is made of.
 *
 * By device and inode numbers; names only lead there. Reads sysfs and opens what it finds
 * for reading; no state; any thread.
 */
#ifndef COMMON_NODE_H
#define COMMON_NODE_H

#include <stdbool.h>
#include <sys/types.h>

struct node {
	dev_t dev; /* of the file system */
	ino_t ino;
	dev_t rdev; /* of the device, when it is one */
	mode_t mode;
};

/*
 * node_look finds what path (seen from dir_fd, as openat(2)) leads to, links followed,
 * without asking a file server or mounting anything. false when there is nothing.
 */
bool node_look(int dir_fd, const char *path, struct node *ret_n);

/*
 * node_behind_loop finds the file or device behind the loop device with the sysfs
 * directory dir. The kernel's own numbers count: the name in sysfs may no longer lead
 * there. false when nothing is behind it or nobody can tell.
 */
bool node_behind_loop(const char *dir, struct node *ret_n);

/*
 * node_each_lower calls fn for each thing that the block device with the sysfs directory
 * dir shows directly: the file or device behind a loop, what a mapped device or an array
 * is made of, the disk of a partition. fd is open for reading until fn returns; -1 when
 * there is such a thing and it cannot be opened, as a file that was deleted.
 */
void node_each_lower(const char *dir, void (*fn)(void *arg, int fd), void *arg);

#endif
