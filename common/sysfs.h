/*
 * sysfs - what the kernel tells about block devices, found by device number.
 *
 * Directories are resolved ("/sys/devices/.../block/sda"), so that their last part is the
 * kernel's name. Reads only; no state; any thread.
 */
#ifndef COMMON_SYSFS_H
#define COMMON_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SYSFS_PATH_MAX 512

/*
 * sysfs_block_dir resolves the directory of a block device, whole disk or partition.
 * false when the kernel has none (any more).
 */
bool sysfs_block_dir(dev_t dev, char ret_dir[SYSFS_PATH_MAX]);

/* sysfs_name returns the last part of a path. Borrowed from dir. */
const char *sysfs_name(const char *dir);

/*
 * sysfs_read reads the file attr below dir as text without white space at its end, at
 * most size - 1 bytes. false, and "" in buf, when it cannot be read.
 */
bool sysfs_read(const char *dir, const char *attr, char *buf, size_t size);

/* sysfs_has says whether the file or directory attr exists below dir. */
bool sysfs_has(const char *dir, const char *attr);

/* sysfs_dev reads the device number of the block device in dir. false when it is gone. */
bool sysfs_dev(const char *dir, dev_t *ret_dev);

/*
 * sysfs_up finds the nearest directory, dir itself or one above it, that has the file
 * attr: the PCI device of a drive, say. false when none has.
 */
bool sysfs_up(const char *dir, const char *attr, char ret_dir[SYSFS_PATH_MAX]);

/*
 * sysfs_numa_node returns the NUMA node of a device, which its bus tells one or more
 * levels above dir; -1 when nothing does.
 */
int sysfs_numa_node(const char *dir);

/*
 * sysfs_each calls fn with the path of each entry of the directory attr below dir (""
 * is dir itself), in no order, until fn returns false. A directory that does not exist
 * has no entries.
 */
void sysfs_each(const char *dir, const char *attr,
	bool (*fn)(void *arg, const char *path), void *arg);

#endif
