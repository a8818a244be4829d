#include "runner/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/sysfs.h"

#define NODES_DIR "/sys/devices/system/node"
#define LIST_MAX 4096

bool
place_parse(const char *list, cpu_set_t *ret_set)
{
	CPU_ZERO(ret_set);
	for (;;) {
		char *end;
		unsigned long first = strtoul(list, &end, 10);
		unsigned long last = first;

		if (end == list)
			return false;
		if (*end == '-') {
			list = end + 1;
			last = strtoul(list, &end, 10);
			if (end == list)
				return false;
		}
		if (last < first || last >= CPU_SETSIZE)
			return false;
		for (unsigned long i = first; i <= last; i++)
			CPU_SET(i, ret_set);
		if (*end == '\0')
			return true;
		if (*end != ',')
			return false;
		list = end + 1;
	}
}

unsigned
place_near(int node, const char *dir)
{
	char attr[32], list[LIST_MAX];
	cpu_set_t near, allowed;

	snprintf(attr, sizeof(attr), "node%d/cpulist", node);
	if (node < 0 ||
		!sysfs_read(dir != NULL ? dir : NODES_DIR, attr, list, LIST_MAX) ||
		!place_parse(list, &near) ||
		sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 0;
	CPU_AND(&near, &near, &allowed);
	if (CPU_COUNT(&near) == 0 || sched_setaffinity(0, sizeof(near), &near) != 0)
		return 0;
	return (unsigned)CPU_COUNT(&near);
}

void
place_near_drive(int fd, char *ret_text, size_t size)
{
	char dir[SYSFS_PATH_MAX];
	struct stat st;
	unsigned n;
	int node;

	ret_text[0] = '\0';
	if (fstat(fd, &st) != 0 || !S_ISBLK(st.st_mode) ||
		!sysfs_block_dir(st.st_rdev, dir))
		return;
	node = sysfs_numa_node(dir);
	n = place_near(node, NULL);
	if (n > 0)
		snprintf(ret_text, size, "; %u processors of NUMA node %d", n, node);
}
