#include "common/writers.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/node.h"
#include "common/usage.h"

/* Character devices that pass commands to a drive, past its block device. */
#define CHARS_MAX 4

/* The kernel may hold the lock of a ring while we ask, and then tells nothing of it. All
 * rings together are waited for so long. */
#define RING_WAIT_NS (2 * NS_PER_S)
#define RING_PAUSE_NS 1000000

/* Says whether fd of the process in dir was opened for writing (proc(5), fdinfo). */
static bool
is_writer(const char *dir, const char *fd)
{
	char path[64];
	char text[256];
	const char *flags;

	snprintf(path, sizeof(path), "fdinfo/%.20s", fd);
	if (!sysfs_read(dir, path, text, sizeof(text)))
		return false;
	flags = strstr(text, "flags:");
	return flags != NULL && (strtoul(flags + 6, NULL, 8) & O_ACCMODE) != O_RDONLY;
}

struct writer_search {
	struct usage *u;
	dev_t chars[CHARS_MAX];
	size_t n_chars;
	const char *process; /* "/proc/123" */
	bool told;	     /* one way per process is enough to know */
	int64_t ring_end; /* no busy ring is waited for any longer; 0: not waited yet */
};

static bool
add_char(void *arg, const char *path)
{
	struct writer_search *s = arg;

	if (s->n_chars < CHARS_MAX && sysfs_dev(path, &s->chars[s->n_chars]))
		s->n_chars++;
	return true;
}

/* /dev/ng0n1 stands beside /dev/nvme0n1, /dev/sg0 and /dev/bsg/ below the SCSI device. */
static void
find_chars(struct writer_search *s)
{
	const char *dir = s->u->dir;
	const char *name = sysfs_name(dir);
	char path[SYSFS_PATH_MAX];

	if (s->u->is_file)
		return;
	if (strncmp(name, "nvme", 4) == 0) {
		snprintf(
			path, sizeof(path), "%.*sng%s", (int)(name - dir), dir, name + 4);
		add_char(s, path);
	}
	sysfs_each(dir, "device/scsi_generic", add_char, s);
	sysfs_each(dir, "device/bsg", add_char, s);
}

static bool
is_char(const struct writer_search *s, const struct node *n)
{
	for (size_t i = 0; i < s->n_chars && S_ISCHR(n->mode); i++)
		if (s->chars[i] == n->rdev)
			return true;
	return false;
}

static void
tell_user(struct writer_search *s, const char *way)
{
	char comm[64];

	sysfs_read(s->process, "comm", comm, sizeof(comm));
	usage_add(s->u, "%s is %s in process %s (%s)", s->u->name, way,
		sysfs_name(s->process), comm);
	s->told = true;
}

/* A path in the fdinfo of a process of another mount namespace is one of that. */
static bool
look_from(const struct writer_search *s, const char *path, struct node *ret_n)
{
	char there[2 * PATH_MAX];
	struct stat ours, theirs;

	snprintf(there, sizeof(there), "%s/ns/mnt", s->process);
	if (stat("/proc/self/ns/mnt", &ours) != 0 || stat(there, &theirs) != 0 ||
		(ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino))
		return node_look(AT_FDCWD, path, ret_n);
	snprintf(there, sizeof(there), "%s/root%s", s->process, path);
	return node_look(AT_FDCWD, there, ret_n);
}

/* Says whether a ring's path leads to the target. A deleted one leads nowhere, and older
 * kernels tell the last part only: then names must do. */
static bool
is_registered(const struct writer_search *s, char *path)
{
	const struct usage *u = s->u;
	char *deleted = strstr(path, " (deleted)");
	char name[USAGE_NAME_MAX];
	const char *last;
	struct node n;

	if (path[0] == '/' && look_from(s, path, &n))
		return usage_is_node(u, &n) || is_char(s, &n);
	if (deleted != NULL)
		*deleted = '\0';
	last = sysfs_name(path);
	if (u->is_file)
		return strcmp(last, sysfs_name(u->name)) == 0;
	for (size_t i = 0; i < u->n_devs; i++)
		if (strcmp(last, sysfs_name(usage_dev_name(u->devs[i], name))) == 0)
			return true;
	return false;
}

/*
 * Whether the kernel tells nothing at all of a ring whose lock it did not get. Before
 * Linux 6.16 it leaves the files out alone; later it leaves empty places out, too.
 */
static bool
tells_all_or_nothing(void)
{
	unsigned major, minor;
	struct utsname u;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 16));
}

/* Looks through the files of a ring, as fdinfo tells them: "UserFiles:", their number,
 * then "    0: /dev/sda" for each. Returns whether the kernel has told them. */
static bool
search_ring(struct writer_search *s, const char *fdinfo)
{
	char path[PATH_MAX];
	char *line = NULL;
	size_t cap = 0;
	unsigned want = 0, seen = 0;
	bool inside = false, told = false;
	FILE *f = fopen(fdinfo, "re");

	if (f == NULL)
		return true;
	while (!s->told && getline(&line, &cap, f) > 0) {
		if (sscanf(line, "UserFiles: %u", &want) == 1) {
			inside = told = true;
		} else if (inside && sscanf(line, " %*u: %4095s", path) == 1) {
			seen++;
			usage_unescape(path);
			if (is_registered(s, path))
				tell_user(s, "registered with io_uring");
		} else {
			inside = false;
		}
	}
	free(line);
	fclose(f);
	return told && (want == 0 || seen > 0 || tells_all_or_nothing());
}

/* One that nobody can look into may be a way to write. */
static void
search_ring_patiently(struct writer_search *s, const char *fdinfo)
{
	const struct timespec pause = {0, RING_PAUSE_NS};

	while (!search_ring(s, fdinfo)) {
		int64_t now = clock_mono();

		if (s->ring_end == 0)
			s->ring_end = now + RING_WAIT_NS;
		if (now >= s->ring_end) {
			tell_user(s,
				"perhaps registered with io_uring, whose ring is too "
				"busy to be looked into,");
			return;
		}
		nanosleep(&pause, NULL);
	}
}

static bool
is_ring(const char *path)
{
	char link[64];
	ssize_t n = readlink(path, link, sizeof(link) - 1);

	link[n > 0 ? n : 0] = '\0';
	return strcmp(link, "anon_inode:[io_uring]") == 0;
}

static bool
tell_writer(void *arg, const char *path)
{
	struct writer_search *s = arg;
	char fdinfo[PATH_MAX];
	struct node n = {0};

	if (!node_look(AT_FDCWD, path, &n))
		n = (struct node){0};
	if (usage_is_node(s->u, &n) && is_writer(s->process, sysfs_name(path)))
		tell_user(s, "open for writing");
	else if (is_char(s, &n)) /* root can write through one opened for reading */
		tell_user(s, "open for commands (NVMe or SCSI generic)");
	else if ((n.mode & S_IFMT) == 0 && is_ring(path)) {
		snprintf(fdinfo, sizeof(fdinfo), "%s/fdinfo/%s", s->process,
			sysfs_name(path));
		search_ring_patiently(s, fdinfo);
	}
	return !s->told;
}

/* A shared mapping can write as long as it lives, its descriptor closed or not. */
static void
search_maps(struct writer_search *s)
{
	unsigned long from, to, inode;
	char path[PATH_MAX];
	char perms[8];
	char *line = NULL;
	size_t cap = 0;
	struct stat link;
	struct node n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/maps", s->process);
	f = fopen(path, "re");
	while (f != NULL && !s->told && getline(&line, &cap, f) > 0) {
		if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &from, &to, perms, &inode) !=
				4 ||
			strlen(perms) != 4 || perms[3] != 's' || inode == 0)
			continue;
		snprintf(
			path, sizeof(path), "%s/map_files/%lx-%lx", s->process, from, to);
		/* The mode is that of the open, and mprotect(2) can use all of it. */
		if (lstat(path, &link) == 0 && (link.st_mode & S_IWUSR) != 0 &&
			node_look(AT_FDCWD, path, &n) && usage_is_node(s->u, &n))
			tell_user(s, "mapped for writing");
	}
	free(line);
	if (f != NULL)
		fclose(f);
}

static bool
search_writers(void *arg, const char *path)
{
	struct writer_search *s = arg;
	const char *pid = sysfs_name(path);

	if (!isdigit((unsigned char)pid[0]) || strtol(pid, NULL, 10) == (long)getpid())
		return true;
	s->process = path;
	s->told = false;
	sysfs_each(path, "fd", tell_writer, s);
	if (!s->told)
		search_maps(s);
	return true;
}

void
writers_find(struct usage *u, const char *proc)
{
	struct writer_search s = {.u = u};

	find_chars(&s);
	sysfs_each(proc, "", search_writers, &s);
}
