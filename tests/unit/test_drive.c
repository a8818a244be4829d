#include "common/drive.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/top_rig.h"

static const struct drive_id one = {DRIVE_NVME, "ACME Fast 1", "S4-0001", "eui.0025385b",
	"2B2Q", 960197124096, 4096, 1, false};

/* Makes disk/device/subsystem point to a directory with the name of the bus. */
static void
put_bus(const char *disk, const char *bus)
{
	char link[256], target[256], file[128];

	snprintf(file, sizeof(file), "bus/%s/uevent", bus);
	top_put_text(file, "");
	snprintf(file, sizeof(file), "%s/device/uevent", disk);
	top_put_text(file, "");
	snprintf(link, sizeof(link), "%s/%s/device/subsystem", top, disk);
	snprintf(target, sizeof(target), "%s/bus/%s", top, bus);
	ck_assert_int_eq(symlink(target, link), 0);
}

static int
read_disk(const char *disk, struct drive_id *id, struct err *e)
{
	char dir[256];

	memset(id, 0, sizeof(*id));
	snprintf(dir, sizeof(dir), "%s/%s", top, disk);
	return drive_read_hardware(dir, id, e);
}

static void
setup(void)
{
	top_make("/tmp");
}

START_TEST(a_drive_comes_back_from_json)
{
	struct err e = {0};
	struct drive_id back;
	json_t *o = drive_to_json(&one);

	OK(drive_from_json(o, "", &back, &e));
	OK(drive_same(&one, &back, &e));
	ck_assert_str_eq(back.firmware, "2B2Q");
	ck_assert_int_eq(back.numa_node, 1);
	ck_assert(!back.is_virtual);
	json_decref(o);
}
END_TEST

START_TEST(every_difference_is_named)
{
	struct err e = {0};
	struct drive_id other = one;

	snprintf(other.firmware, sizeof(other.firmware), "new");
	other.numa_node = 0;
	OK(drive_same(&one, &other, &e));
	snprintf(other.serial, sizeof(other.serial), "S4-0002");
	other.capacity_bytes = 7;
	FAILS(drive_same(&one, &other, &e), ERR_UNSAFE,
		"another drive than S4-0001: its serial is \"S4-0002\", not \"S4-0001\", "
		"capacity is 7, not 960197124096");
	other = one;
	other.kind = DRIVE_FILE;
	other.logical_block_bytes = 512;
	other.wwn[0] = '\0';
	snprintf(other.model, sizeof(other.model), "x");
	FAILS(drive_same(&one, &other, &e), ERR_UNSAFE,
		"kind is \"file\", not \"nvme\", model is \"x\", not \"ACME Fast 1\", "
		"WWN "
		"is \"\", not \"eui.0025385b\", logical block size is 512, not 4096");
}
END_TEST

START_TEST(the_key_is_a_safe_file_name_and_tells_drives_apart)
{
	struct drive_id a = one, b = one;
	char key[2][96];

	snprintf(a.serial, sizeof(a.serial), "../x y/Z");
	snprintf(b.serial, sizeof(b.serial), ".._x_y_Z");
	drive_key(&a, key[0]);
	drive_key(&b, key[1]);
	ck_assert_int_eq(strncmp(key[0], ".._x_y_Z-", 9), 0);
	ck_assert_uint_eq(strlen(key[0]), 8 + 1 + 16);
	ck_assert_str_ne(key[0], key[1]);
	b = a;
	b.capacity_bytes = 1;
	drive_key(&b, key[1]);
	ck_assert_str_eq(key[0], key[1]);
}
END_TEST

START_TEST(an_nvme_namespace_is_read_from_sysfs)
{
	struct err e = {0};
	struct drive_id id;

	put_bus("pci/nvme0n1", "nvme");
	top_put_text("pci/numa_node", "1\n");
	top_put_text("pci/nvme0n1/wwid", "eui.0025385b01\n");
	top_put_text("pci/nvme0n1/device/model", "ACME Fast 1      \n");
	top_put_text("pci/nvme0n1/device/serial", "  S4-0001   \n");
	top_put_text("pci/nvme0n1/device/firmware_rev", "2B2Q\n");
	OK(read_disk("pci/nvme0n1", &id, &e));
	ck_assert_int_eq(id.kind, DRIVE_NVME);
	ck_assert_str_eq(id.model, "ACME Fast 1");
	ck_assert_str_eq(id.serial, "S4-0001");
	ck_assert_str_eq(id.wwn, "eui.0025385b01");
	ck_assert_str_eq(id.firmware, "2B2Q");
	ck_assert_int_eq(id.numa_node, 1);
}
END_TEST

START_TEST(a_sata_disk_is_read_from_sysfs)
{
	struct err e = {0};
	struct drive_id id;

	put_bus("sda", "scsi");
	top_put_text("sda/device/vendor", "ATA     \n");
	top_put_text("sda/device/model", "ACME  SATA 2\n");
	top_put_text("sda/device/rev", "1.0\n");
	top_put_text("sda/device/wwid", "naa.5002538e\n");
	top_put("sda/device/vpd_pg80", "\0\x80\0\x08  SN\x01 77", 12);
	OK(read_disk("sda", &id, &e));
	ck_assert_int_eq(id.kind, DRIVE_SCSI);
	ck_assert_str_eq(id.model, "ACME SATA 2");
	ck_assert_str_eq(id.serial, "SN 77");
	ck_assert_str_eq(id.wwn, "naa.5002538e");
	top_put_text("sda/device/vendor", "SEAGATE\n");
	OK(read_disk("sda", &id, &e));
	ck_assert_str_eq(id.model, "SEAGATE ACME SATA 2");
}
END_TEST

START_TEST(disks_without_a_serial_and_unknown_ones_are_refused)
{
	struct err e = {0};
	struct drive_id id;

	put_bus("vda", "virtio");
	top_put_text("vda/serial", "\n");
	FAILS(read_disk("vda", &id, &e), ERR_UNSAFE, "/dev/vda has no serial number");
	top_put_text("vda/serial", "disk-7");
	OK(read_disk("vda", &id, &e));
	ck_assert_str_eq(id.serial, "disk-7");
	put_bus("mmcblk0", "mmc");
	FAILS(read_disk("mmcblk0", &id, &e), ERR_UNSAFE, "not an NVMe, SCSI, SATA");
	FAILS(read_disk("dm-0", &id, &e), ERR_UNSAFE, "/dev/dm-0 is not");
}
END_TEST

START_TEST(a_file_is_a_virtual_drive_named_by_its_path)
{
	struct err e = {0};
	struct drive_id id, again;
	char path[256];
	int fd;

	top_put_text("disk one.img", "");
	snprintf(path, sizeof(path), "%s/disk one.img", top);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	FAILS(drive_identify(fd, path, &id, &e), ERR_UNSAFE, "size of 0 bytes");
	ck_assert_int_eq(ftruncate(fd, (1 << 20) + 100), 0);
	OK(drive_identify(fd, path, &id, &e));
	ck_assert_int_eq(id.kind, DRIVE_FILE);
	ck_assert(id.is_virtual);
	ck_assert_uint_eq(id.capacity_bytes, 1 << 20);
	ck_assert_str_eq(id.model, "ssdlab virtual file");
	ck_assert_int_eq(strncmp(id.serial, "disk_one.img-", 13), 0);
	ck_assert_uint_eq(strlen(id.serial), 13 + 8);
	OK(drive_identify(fd, path, &again, &e));
	OK(drive_same(&id, &again, &e));
	close(fd);
}
END_TEST

/* What is approved is the data, not the name that it has now. */
START_TEST(another_file_under_the_same_name_is_another_drive)
{
	struct err e = {0};
	struct drive_id id, other;
	char path[256], aside[256];
	int fd;

	snprintf(path, sizeof(path), "%s/disk", top);
	snprintf(aside, sizeof(aside), "%s/aside", top);
	top_put_text("disk", "");
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(ftruncate(fd, 1 << 20), 0);
	OK(drive_identify(fd, path, &id, &e));
	close(fd);
	ck_assert_int_eq(rename(path, aside), 0);
	top_put_text("disk", "");
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(ftruncate(fd, 1 << 20), 0);
	OK(drive_identify(fd, path, &other, &e));
	close(fd);
	ck_assert_str_ne(id.serial, other.serial);
	FAILS(drive_same(&id, &other, &e), ERR_UNSAFE, "its serial");
	err_clear(&e);
	/* The file itself is known again when its name is. */
	ck_assert_int_eq(rename(aside, path), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	OK(drive_identify(fd, path, &other, &e));
	OK(drive_same(&id, &other, &e));
	close(fd);
}
END_TEST

START_TEST(a_loop_device_over_a_part_of_a_file_is_refused)
{
	struct err e = {0};

	OK(drive_loop_whole(0, 0, &e));
	FAILS(drive_loop_whole(4096, 0, &e), ERR_UNSAFE, "part of a file is no drive");
	FAILS(drive_loop_whole(0, 1 << 20, &e), ERR_UNSAFE, "part of a file is no drive");
}
END_TEST

START_TEST(a_file_with_two_names_or_another_file_is_refused)
{
	struct err e = {0};
	struct drive_id id;
	char a[256], b[256];
	int fd;

	top_put_text("a", "0123456789abcdef");
	top_put_text("b", "0123456789abcdef");
	snprintf(a, sizeof(a), "%s/a", top);
	snprintf(b, sizeof(b), "%s/b", top);
	fd = open(a, O_RDONLY | O_CLOEXEC);
	FAILS(drive_identify(fd, b, &id, &e), ERR_UNSAFE, "not the file that was opened");
	ck_assert_int_eq(unlink(b), 0);
	FAILS(drive_identify(fd, b, &id, &e), ERR_IO, "No such file");
	ck_assert_int_eq(link(a, b), 0);
	FAILS(drive_identify(fd, a, &id, &e), ERR_UNSAFE, "has 2 names");
	close(fd);
	fd = open(top, O_RDONLY | O_CLOEXEC);
	FAILS(drive_identify(fd, top, &id, &e), ERR_UNSAFE, "neither a block device");
	close(fd);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("drive");

	tcase_add_checked_fixture(tc, setup, top_remove);
	tcase_add_test(tc, a_drive_comes_back_from_json);
	tcase_add_test(tc, every_difference_is_named);
	tcase_add_test(tc, the_key_is_a_safe_file_name_and_tells_drives_apart);
	tcase_add_test(tc, an_nvme_namespace_is_read_from_sysfs);
	tcase_add_test(tc, a_sata_disk_is_read_from_sysfs);
	tcase_add_test(tc, disks_without_a_serial_and_unknown_ones_are_refused);
	tcase_add_test(tc, a_file_is_a_virtual_drive_named_by_its_path);
	tcase_add_test(tc, another_file_under_the_same_name_is_another_drive);
	tcase_add_test(tc, a_loop_device_over_a_part_of_a_file_is_refused);
	tcase_add_test(tc, a_file_with_two_names_or_another_file_is_refused);
	return unit_run("drive", tc);
}
