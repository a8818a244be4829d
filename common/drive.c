#include "common/drive.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "common/sysfs.h"

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* Direct I/O to a file aligns to this when the kernel does not say what it needs. */
#define FILE_BLOCK_BYTES 4096

#define BLOCK_MIN 512
#define BLOCK_MAX (64 << 10)

static const char *const kind_names[] = {
	[DRIVE_NVME] = "nvme",
	[DRIVE_SCSI] = "scsi",
	[DRIVE_VIRTIO] = "virtio",
	[DRIVE_FILE] = "file",
	[DRIVE_LOOP] = "loop",
	[DRIVE_RAM] = "ram",
	[DRIVE_ZRAM] = "zram",
};

#define KINDS (sizeof(kind_names) / sizeof(kind_names[0]))

const char *
drive_kind_name(enum drive_kind kind)
{
	return kind_names[kind];
}

bool
drive_has_health(const char *kind, bool is_virtual)
{
	return !is_virtual && (strcmp(kind, kind_names[DRIVE_NVME]) == 0 ||
				      strcmp(kind, kind_names[DRIVE_SCSI]) == 0);
}

/* FNV-1a, 64 bit (Fowler, Noll, Vo), over a text and its NUL; h continues an earlier one.
 */
static uint64_t
hash(uint64_t h, const char *text)
{
	for (const char *p = text;; p++) {
		h = (h ^ (uint8_t)*p) * FNV_PRIME;
		if (*p == '\0')
			return h;
	}
}

/* Copies what hardware said: one blank for each run of blanks, none at the ends, no bytes
 * that a terminal or JSON would stumble over. */
static void
tidy(char *to, size_t size, const char *from)
{
	size_t n = 0;

	for (; *from != '\0' && n + 1 < size; from++) {
		char c = *from > 0x20 && *from < 0x7f ? *from : ' ';

		if (c != ' ' || (n > 0 && to[n - 1] != ' '))
			to[n++] = c;
	}
	while (n > 0 && to[n - 1] == ' ')
		n--;
	to[n] = '\0';
}

static bool
is_plain(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

/* Replaces every byte that is no letter, digit, point, line or dash. */
static void
flatten(char *text)
{
	for (; *text != '\0'; text++)
		if (!is_plain(*text))
			*text = '_';
}

void
drive_key(const struct drive_id *id, char ret_key[96])
{
	uint64_t h = hash(FNV_OFFSET, drive_kind_name(id->kind));

	h = hash(hash(hash(h, id->model), id->serial), id->wwn);
	snprintf(ret_key, 96, "%s-%016" PRIx64, id->serial, h);
	flatten(ret_key);
}

static void
read_tidy(const char *dir, const char *attr, char *to, size_t size)
{
	char raw[256];

	sysfs_read(dir, attr, raw, sizeof(raw));
	tidy(to, size, raw);
}

/* Unit serial number page 0x80 of SPC-4: a header of 4 bytes, then the text. */
static void
read_vpd_serial(const char *dir, char *to, size_t size)
{
	char raw[260] = "";

	if (sysfs_read(dir, "device/vpd_pg80", raw, sizeof(raw)) && raw[1] == (char)0x80)
		tidy(to, size, raw + 4);
}

static void
read_scsi(const char *dir, struct drive_id *id)
{
	char vendor[32];
	char model[64];

	id->kind = DRIVE_SCSI;
	read_tidy(dir, "device/vendor", vendor, sizeof(vendor));
	read_tidy(dir, "device/model", model, sizeof(model));
	/* libata says "ATA" for every vendor; the model then holds the vendor's name. */
	if (strcmp(vendor, "ATA") == 0 || vendor[0] == '\0')
		snprintf(id->model, sizeof(id->model), "%.63s", model);
	else
		snprintf(id->model, sizeof(id->model), "%.20s %.40s", vendor, model);
	read_vpd_serial(dir, id->serial, sizeof(id->serial));
	read_tidy(dir, "device/wwid", id->wwn, sizeof(id->wwn));
	read_tidy(dir, "device/rev", id->firmware, sizeof(id->firmware));
}

static void
read_nvme(const char *dir, struct drive_id *id)
{
	id->kind = DRIVE_NVME;
	read_tidy(dir, "device/model", id->model, sizeof(id->model));
	read_tidy(dir, "device/serial", id->serial, sizeof(id->serial));
	read_tidy(dir, "wwid", id->wwn, sizeof(id->wwn));
	read_tidy(dir, "device/firmware_rev", id->firmware, sizeof(id->firmware));
}

static void
read_virtio(const char *dir, struct drive_id *id)
{
	id->kind = DRIVE_VIRTIO;
	snprintf(id->model, sizeof(id->model), "virtio disk");
	read_tidy(dir, "serial", id->serial, sizeof(id->serial));
}

/* The bus that a disk hangs on: the last part of its device's subsystem. */
static void
read_bus(const char *dir, char *bus, size_t size)
{
	char link[PATH_MAX];
	char real[PATH_MAX];

	bus[0] = '\0';
	snprintf(link, sizeof(link), "%s/device/subsystem", dir);
	if (realpath(link, real) != NULL)
		snprintf(bus, size, "%s", sysfs_name(real));
}

int
drive_read_hardware(const char *dir, struct drive_id *ret_id, struct err *e)
{
	const char *name = sysfs_name(dir);
	char bus[32];

	read_bus(dir, bus, sizeof(bus));
	if (strcmp(bus, "nvme") == 0 || strcmp(bus, "nvme-subsystem") == 0)
		read_nvme(dir, ret_id);
	else if (strcmp(bus, "scsi") == 0)
		read_scsi(dir, ret_id);
	else if (strcmp(bus, "virtio") == 0)
		read_virtio(dir, ret_id);
	else
		return err_set(e, ERR_UNSAFE,
			"/dev/%s is not an NVMe, SCSI, SATA or virtio drive", name);
	if (ret_id->serial[0] == '\0') {
		err_set(e, ERR_UNSAFE, "/dev/%s has no serial number", name);
		return err_fix(e,
			"a drive is known by its serial; give a virtual disk one "
			"in its VM's settings");
	}
	ret_id->numa_node = sysfs_numa_node(dir);
	return 0;
}

static void
machine_id(char *text, size_t size)
{
	struct utsname host;

	if (sysfs_read("/etc", "machine-id", text, size) && text[0] != '\0')
		return;
	uname(&host);
	snprintf(text, size, "%s", host.nodename);
}

/*
 * Model and serial of what no hardware names; path is absolute. inode: of the file, so
 * that other data under the same name is another drive; 0 for a device without one.
 */
static void
name_virtual(struct drive_id *id, enum drive_kind kind, const char *path, uint64_t inode)
{
	char base[40], number[24];
	char machine[80];
	uint64_t h;

	machine_id(machine, sizeof(machine));
	h = hash(hash(FNV_OFFSET, machine), path);
	if (inode != 0) {
		snprintf(number, sizeof(number), "%" PRIu64, inode);
		h = hash(h, number);
	}
	snprintf(base, sizeof(base), "%.39s", sysfs_name(path));
	flatten(base);
	id->kind = kind;
	id->is_virtual = true;
	snprintf(id->model, sizeof(id->model), "ssdlab virtual %s", kind_names[kind]);
	snprintf(id->serial, sizeof(id->serial), "%s-%08" PRIx32, base,
		(uint32_t)(h ^ (h >> 32)));
}

/* The absolute name of the file that is open as fd; it must have just this one. */
static int
file_name(const char *path, const struct stat *st, char ret_path[PATH_MAX], struct err *e)
{
	struct stat named;

	if (st->st_nlink != 1)
		return err_set(e, ERR_UNSAFE,
			"%s has %ju names; a file with hard links is no drive", path,
			(uintmax_t)st->st_nlink);
	if (realpath(path, ret_path) == NULL || stat(ret_path, &named) != 0)
		return err_errno(e, ERR_IO, errno, "find %s", path);
	if (named.st_dev != st->st_dev || named.st_ino != st->st_ino)
		return err_set(e, ERR_UNSAFE, "%s is not the file that was opened", path);
	return 0;
}

static uint32_t
file_block_bytes(int fd)
{
#ifdef STATX_DIOALIGN
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &sx) == 0 &&
		(sx.stx_mask & STATX_DIOALIGN) != 0 && sx.stx_dio_offset_align >= 512)
		return sx.stx_dio_offset_align;
#else
	(void)fd;
#endif
	return FILE_BLOCK_BYTES;
}

static int
identify_file(int fd, const char *path, const struct stat *st, struct drive_id *id,
	struct err *e)
{
	char real[PATH_MAX];
	uint64_t block = file_block_bytes(fd);

	if (file_name(path, st, real, e) != 0)
		return -1;
	name_virtual(id, DRIVE_FILE, real, st->st_ino);
	id->logical_block_bytes = (uint32_t)block;
	id->capacity_bytes = (uint64_t)st->st_size / block * block;
	return 0;
}

int
drive_loop_whole(uint64_t offset, uint64_t size_limit, struct err *e)
{
	if (offset == 0 && size_limit == 0)
		return 0;
	return err_set(e, ERR_UNSAFE,
		"a loop device over a part of a file is no drive (offset %" PRIu64
		", size limit %" PRIu64 ")",
		offset, size_limit);
}

/* A loop device is named by the file behind it, which must be there under that name. */
static int
identify_loop(int fd, const char *dir, struct drive_id *id, struct err *e)
{
	const char *name = sysfs_name(dir);
	struct loop_info64 info = {0};
	char path[PATH_MAX];
	struct stat st;

	if (ioctl(fd, LOOP_GET_STATUS64, &info) != 0)
		return err_set(e, ERR_UNSAFE, "/dev/%s has no file behind it", name);
	if (!sysfs_read(dir, "loop/backing_file", path, sizeof(path)) ||
		stat(path, &st) != 0 || st.st_ino != info.lo_inode ||
		st.st_dev != (dev_t)info.lo_device)
		return err_set(e, ERR_UNSAFE,
			"the file behind /dev/%s was deleted, renamed or replaced", name);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_UNSAFE,
			"/dev/%s is a loop over %.200s, which is not a regular file",
			name, path);
	if (drive_loop_whole(info.lo_offset, info.lo_sizelimit, e) != 0)
		return err_ctx(e, "/dev/%s", name);
	name_virtual(id, DRIVE_LOOP, path, st.st_ino);
	return 0;
}

static bool
is_numbered(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 && isdigit((unsigned char)name[n]);
}

static int
identify_block(int fd, const struct stat *st, struct drive_id *id, struct err *e)
{
	char dir[SYSFS_PATH_MAX];
	char path[64];
	const char *name;
	int block;
	int rc = 0;

	if (!sysfs_block_dir(st->st_rdev, dir))
		return err_set(
			e, ERR_IO, "the drive is gone: the kernel no longer lists it");
	name = sysfs_name(dir);
	snprintf(path, sizeof(path), "/dev/%.50s", name);
	if (sysfs_has(dir, "partition"))
		return err_set(
			e, ERR_UNSAFE, "%s is a partition, not a whole drive", path);
	if (is_numbered(name, "loop"))
		rc = identify_loop(fd, dir, id, e);
	else if (is_numbered(name, "zram"))
		name_virtual(id, DRIVE_ZRAM, path, 0);
	else if (is_numbered(name, "ram"))
		name_virtual(id, DRIVE_RAM, path, 0);
	else
		rc = drive_read_hardware(dir, id, e);
	if (rc != 0)
		return -1;
	if (ioctl(fd, BLKGETSIZE64, &id->capacity_bytes) != 0 ||
		ioctl(fd, BLKSSZGET, &block) != 0)
		return err_errno(e, ERR_IO, errno, "read the size of %s", path);
	id->logical_block_bytes = (uint32_t)block;
	return 0;
}

int
drive_identify(int fd, const char *path, struct drive_id *ret_id, struct err *e)
{
	struct stat st;
	int rc;

	memset(ret_id, 0, sizeof(*ret_id));
	ret_id->numa_node = -1;
	if (fstat(fd, &st) != 0)
		return err_errno(e, ERR_IO, errno, "look at %s", path);
	if (S_ISREG(st.st_mode))
		rc = identify_file(fd, path, &st, ret_id, e);
	else if (S_ISBLK(st.st_mode))
		rc = identify_block(fd, &st, ret_id, e);
	else
		rc = err_set(e, ERR_UNSAFE,
			"%s is neither a block device nor a regular file", path);
	if (rc == 0 && ret_id->capacity_bytes == 0)
		rc = err_set(e, ERR_UNSAFE, "%s has a size of 0 bytes", path);
	return rc;
}

static void
differ(struct str *s, const char *what, const char *want, const char *seen)
{
	if (strcmp(want, seen) != 0)
		str_printf(s, "%s%s is \"%s\", not \"%s\"", s->len > 0 ? ", " : "", what,
			seen, want);
}

static void
differ_number(struct str *s, const char *what, uint64_t want, uint64_t seen)
{
	if (want != seen)
		str_printf(s, "%s%s is %" PRIu64 ", not %" PRIu64, s->len > 0 ? ", " : "",
			what, seen, want);
}

int
drive_same(const struct drive_id *want, const struct drive_id *seen, struct err *e)
{
	struct str s = {0};
	int rc = 0;

	differ(&s, "kind", drive_kind_name(want->kind), drive_kind_name(seen->kind));
	differ(&s, "model", want->model, seen->model);
	differ(&s, "serial", want->serial, seen->serial);
	differ(&s, "WWN", want->wwn, seen->wwn);
	differ_number(&s, "capacity", want->capacity_bytes, seen->capacity_bytes);
	differ_number(&s, "logical block size", want->logical_block_bytes,
		seen->logical_block_bytes);
	if (s.len > 0)
		rc = err_set(e, ERR_UNSAFE, "this is another drive than %s: its %s",
			want->serial, str_text(&s));
	str_fini(&s);
	return rc;
}

json_t *
drive_to_json(const struct drive_id *id)
{
	json_t *o = json_object();

	json_put(o, "kind", json_string(drive_kind_name(id->kind)));
	json_put(o, "model", json_string(id->model));
	json_put(o, "serial", json_string(id->serial));
	json_put(o, "wwn", json_string(id->wwn));
	json_put(o, "firmware", json_string(id->firmware));
	json_put(o, "capacity_bytes", json_u64(id->capacity_bytes));
	json_put(o, "logical_block_bytes", json_integer(id->logical_block_bytes));
	json_put(o, "numa_node", json_integer(id->numa_node));
	json_put(o, "virtual", json_boolean(id->is_virtual));
	return o;
}

/* The text members, where they go, and whether they may be empty. */
static const struct text_member {
	const char *name;
	size_t offset;
	size_t size;
	bool may_be_empty;
} text_members[] = {
	{"model", offsetof(struct drive_id, model), sizeof(((struct drive_id *)0)->model),
		false},
	{"serial", offsetof(struct drive_id, serial),
		sizeof(((struct drive_id *)0)->serial), false},
	{"wwn", offsetof(struct drive_id, wwn), sizeof(((struct drive_id *)0)->wwn),
		true},
	{"firmware", offsetof(struct drive_id, firmware),
		sizeof(((struct drive_id *)0)->firmware), true},
};

static int
read_texts(const json_t *o, const char *at, struct drive_id *id, struct err *e)
{
	for (size_t i = 0; i < sizeof(text_members) / sizeof(text_members[0]); i++) {
		const struct text_member *m = &text_members[i];
		const char *text;

		if (json_need_text(o, at, m->name, &text, e) != 0)
			return -1;
		if (strlen(text) >= m->size || (text[0] == '\0' && !m->may_be_empty)) {
			err_set(e, ERR_INVALID, "\"%s\" has %d to %zu characters",
				m->name, m->may_be_empty ? 0 : 1, m->size - 1);
			return err_at(e, "%s/%s", at, m->name);
		}
		snprintf((char *)id + m->offset, m->size, "%s", text);
	}
	return 0;
}

static int
read_kind(const json_t *o, const char *at, struct drive_id *id, struct err *e)
{
	const char *text;

	if (json_need_text(o, at, "kind", &text, e) != 0)
		return -1;
	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(kind_names[i], text) != 0)
			continue;
		id->kind = (enum drive_kind)i;
		return 0;
	}
	err_set(e, ERR_INVALID, "\"%.40s\" is no kind of drive", text);
	err_fix(e, "known here: nvme, scsi, virtio, file, loop, ram, zram");
	return err_at(e, "%s/kind", at);
}

int
drive_from_json(const json_t *o, const char *at, struct drive_id *ret_id, struct err *e)
{
	static const char *const names[] = {"kind", "model", "serial", "wwn", "firmware",
		"capacity_bytes", "logical_block_bytes", "numa_node", "virtual", NULL};
	int64_t block, node;

	memset(ret_id, 0, sizeof(*ret_id));
	if (json_only(o, at, names, e) != 0 || read_kind(o, at, ret_id, e) != 0 ||
		read_texts(o, at, ret_id, e) != 0 ||
		json_need_u64(o, at, "capacity_bytes", &ret_id->capacity_bytes, e) != 0 ||
		json_need_int(o, at, "logical_block_bytes", BLOCK_MIN, BLOCK_MAX, &block,
			e) != 0 ||
		json_need_int(o, at, "numa_node", -1, INT16_MAX, &node, e) != 0 ||
		json_need_bool(o, at, "virtual", &ret_id->is_virtual, e) != 0)
		return -1;
	if ((block & (block - 1)) != 0 || ret_id->capacity_bytes < (uint64_t)block) {
		err_set(e, ERR_INVALID,
			"a logical block is a power of two bytes, and a drive has one or "
			"more");
		return err_at(e, "%s/logical_block_bytes", at);
	}
	ret_id->logical_block_bytes = (uint32_t)block;
	ret_id->numa_node = (int)node;
	return 0;
}
