#include "common/sysfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

bool
sysfs_block_dir(dev_t dev, char ret_dir[SYSFS_PATH_MAX])
{
	char link[64];
	char real[PATH_MAX];

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	if (realpath(link, real) == NULL || strlen(real) >= SYSFS_PATH_MAX)
		return false;
	memcpy(ret_dir, real, strlen(real) + 1);
	return true;
}

const char *
sysfs_name(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	return slash != NULL ? slash + 1 : dir;
}

bool
sysfs_read(const char *dir, const char *attr, char *buf, size_t size)
{
	char path[PATH_MAX];
	ssize_t n = -1;
	int fd;

	buf[0] = '\0';
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, attr) >= sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, buf, size - 1);
		close(fd);
	}
	if (n < 0)
		return false;
	while (n > 0 && strchr(" \t\n", buf[n - 1]) != NULL)
		n--;
	buf[n] = '\0';
	return true;
}

bool
sysfs_has(const char *dir, const char *attr)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof(path), "%s/%s", dir, attr) < sizeof(path) &&
	       access(path, F_OK) == 0;
}

bool
sysfs_dev(const char *dir, dev_t *ret_dev)
{
	char text[32];
	unsigned maj, min;

	if (!sysfs_read(dir, "dev", text, sizeof(text)) ||
		sscanf(text, "%u:%u", &maj, &min) != 2)
		return false;
	*ret_dev = makedev(maj, min);
	return true;
}

void
sysfs_each(const char *dir, const char *attr, bool (*fn)(void *arg, const char *path),
	void *arg)
{
	char path[PATH_MAX];
	char entry[PATH_MAX];
	struct dirent *de;
	bool more = true;
	DIR *d;

	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", dir,
		    attr[0] != '\0' ? "/" : "", attr) >= sizeof(path))
		return;
	d = opendir(path);
	while (d != NULL && more && (de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(entry, sizeof(entry), "%s/%s", path, de->d_name) <
			sizeof(entry))
			more = fn(arg, entry);
	}
	if (d != NULL)
		closedir(d);
}

bool
sysfs_up(const char *dir, const char *attr, char ret_dir[SYSFS_PATH_MAX])
{
	char *slash;

	snprintf(ret_dir, SYSFS_PATH_MAX, "%s", dir);
	while (!sysfs_has(ret_dir, attr)) {
		slash = strrchr(ret_dir, '/');
		if (slash == NULL || slash == ret_dir)
			return false;
		*slash = '\0';
	}
	return true;
}

int
sysfs_numa_node(const char *dir)
{
	char up[SYSFS_PATH_MAX];
	char text[16];

	return sysfs_up(dir, "numa_node", up) &&
			       sysfs_read(up, "numa_node", text, sizeof(text))
		       ? atoi(text)
		       : -1;
}
