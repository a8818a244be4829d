/*
 * drive - what a drive is: identity by hardware, read by name or through an open
 * descriptor.
 *
 * A kernel name is never an identity. Virtual drives (a file in the configured directory,
 * a loop device over such a file, a listed ram or zram device) get a serial made of their
 * name and a hash of machine id and path, and carry `is_virtual` for ever. Reads sysfs
 * and ioctls, writes nothing. Any thread.
 */
#ifndef COMMON_DRIVE_H
#define COMMON_DRIVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

enum drive_kind {
	DRIVE_NVME,
	DRIVE_SCSI,
	DRIVE_VIRTIO,
	DRIVE_FILE,
	DRIVE_LOOP,
	DRIVE_RAM,
	DRIVE_ZRAM
};

struct drive_id {
	enum drive_kind kind;
	char model[64];
	char serial[64]; /* never empty for a drive that may be a target */
	char wwn[80]; /* WWN, EUI-64 or NGUID as the kernel tells it; "" when it has none
		       */
	char firmware[32]; /* "" when not known; not part of the identity */
	uint64_t capacity_bytes;
	uint32_t logical_block_bytes;
	int numa_node; /* -1 when not known */
	bool is_virtual;
};

/* drive_kind_name returns "nvme", "scsi", "virtio", "file", "loop", "ram" or "zram". */
const char *drive_kind_name(enum drive_kind kind);

/*
 * drive_identify reads the identity of the whole disk or regular file that is open as fd.
 * path is where it was opened, used for files only. Partitions, dm, md and nbd are
 * refused. Errors: ERR_UNSAFE (not a whole disk we drive, no serial), ERR_IO.
 */
int drive_identify(int fd, const char *path, struct drive_id *ret_id, struct err *e);

/* drive_loop_whole says whether a loop device with this offset and size limit (bytes, 0:
 * none) shows a whole file; else its file would be two drives. ERR_UNSAFE. */
int drive_loop_whole(uint64_t offset, uint64_t size_limit, struct err *e);

/*
 * drive_read_hardware reads model, serial, WWN, firmware and NUMA node of the NVMe, SCSI,
 * SATA or virtio disk whose sysfs directory is dir, for example
 * "/sys/devices/.../block/sda"; the sizes are left alone. Errors: ERR_UNSAFE for another
 * kind of device or an empty serial.
 */
int drive_read_hardware(const char *dir, struct drive_id *ret_id, struct err *e);

/*
 * drive_same says whether seen is the drive that was enrolled as want: model, serial,
 * WWN, capacity, block size and kind must all be equal. ERR_UNSAFE naming every
 * difference.
 */
int drive_same(const struct drive_id *want, const struct drive_id *seen, struct err *e);

/* drive_has_health says whether a drive of the kind with that name has a log of its own
 * health: NVMe, SATA and SAS drives do, virtual ones do not. */
bool drive_has_health(const char *kind, bool is_virtual);

/* drive_to_json and drive_from_json: the members of "drive" in schema/program.md. */
json_t *drive_to_json(const struct drive_id *id);
int drive_from_json(
	const json_t *o, const char *at, struct drive_id *ret_id, struct err *e);

/* drive_key writes a name for files about this drive: serial and a hash, [A-Za-z0-9._-]
 * only. */
void drive_key(const struct drive_id *id, char ret_key[96]);

#endif
