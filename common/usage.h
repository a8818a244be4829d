/*
 * usage - who uses a block device or a file, by device and inode numbers.
 *
 * One struct usage is filled for the thing in question; each usage_* check then appends
 * the reasons it finds, "; " between them. Reads /proc, sysfs and configfs; writes
 * nothing. What this process may not read is not seen: run it as root. Any thread.
 */
#ifndef COMMON_USAGE_H
#define COMMON_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/sysfs.h"

#define USAGE_DEVS_MAX 260 /* a disk and its partitions */
#define USAGE_NAME_MAX 256

struct err;
struct node;
struct str;

struct usage {
	char name[USAGE_NAME_MAX]; /* for people: /dev/sda or the file's path */
	bool is_file;
	dev_t file_dev; /* file: its file system and inode */
	ino_t file_ino;
	char dir[SYSFS_PATH_MAX];   /* block device: its sysfs directory */
	dev_t devs[USAGE_DEVS_MAX]; /* block device: itself first, then its partitions */
	size_t n_devs;		    /* 0 for a file */
	const struct usage *over; /* borrowed; what shows it, NULL for the drive itself */
	bool has_signature;  /* set by the caller when one was found, here or above */
	struct str *reasons; /* borrowed */
};

/*
 * usage_init fills u for the block device or regular file that is open as fd. over: the
 * device beneath which node_each_lower found it, or NULL; what lies above is then not
 * looked at again and is no user of u. Errors: ERR_IO, ERR_LIMIT for a disk with more
 * partitions than USAGE_DEVS_MAX.
 */
int usage_init(struct usage *u, int fd, const struct usage *over, struct str *reasons,
	struct err *e);

/* usage_add appends one reason, which for a u with an over says that it lies beneath. */
void usage_add(struct usage *u, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* usage_mounts looks into each mount namespace that a process lives in. ERR_IO. */
int usage_mounts(struct usage *u, struct err *e);

/* usage_swaps looks for swap space. ERR_IO. */
int usage_swaps(struct usage *u, struct err *e);

/* usage_holders looks for device mapper, md, bcache and others that sit on the disk or on
 * a partition, as the directory u->dir tells. */
void usage_holders(struct usage *u);

/* usage_loops looks for loop devices over it, or for a loop device over its file. */
void usage_loops(struct usage *u);

/* usage_exports looks for NVMe and SCSI targets of this kernel that offer it; configfs is
 * where they are configured, /sys/kernel/config. */
void usage_exports(struct usage *u, const char *configfs);

/* usage_beneath looks whether the file systems of root, boot or keep_path (or NULL) lie
 * on it, through any number of layers. ERR_IO. */
int usage_beneath(struct usage *u, const char *keep_path, struct err *e);

/* usage_is_node says whether n is it, or a partition of it. */
bool usage_is_node(const struct usage *u, const struct node *n);

/* usage_dev_name writes "/dev/" and the kernel's name of a device, and returns buf. */
const char *usage_dev_name(dev_t dev, char buf[USAGE_NAME_MAX]);

/* usage_unescape undoes the \040 of a path in /proc, in place. */
void usage_unescape(char *text);

#endif
