#include "agent/host.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "common/sysfs.h"

/* Below the first a spool cannot grow by much; above the second it can again. */
#define ROOM_LEAST (512U << 10)
#define ROOM_ENOUGH (2U << 20)

void
host_name(char *ret_text, size_t size)
{
	struct utsname u;

	ret_text[0] = '\0';
	if (uname(&u) == 0)
		snprintf(ret_text, size, "%s", u.nodename);
}

void
host_machine_id(char *ret_text, size_t size)
{
	sysfs_read("/etc", "machine-id", ret_text, size);
}

void
host_boot_id(char *ret_text, size_t size)
{
	sysfs_read("/proc/sys/kernel/random", "boot_id", ret_text, size);
}

void
host_trouble(const char *dir, const char *was, char *ret_text, size_t size)
{
	uint64_t wanted = was[0] != '\0' ? ROOM_ENOUGH : ROOM_LEAST;
	struct statvfs fs;

	ret_text[0] = '\0';
	if (statvfs(dir, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < wanted)
		snprintf(ret_text, size,
			"until there is room no run is started, and those that run keep "
			"their records in memory: make room on the file system of %s",
			dir);
}
