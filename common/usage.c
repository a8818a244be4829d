#include "common/usage.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/err.h"
#include "common/node.h"
#include "common/str.h"

#define NAMESPACES_MAX 1024
#define LAYERS_MAX 16

void
usage_add(struct usage *u, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	va_end(ap);
	str_printf(u->reasons, "%s%s%s", u->reasons->len > 0 ? "; " : "",
		u->over != NULL ? "beneath it, " : "", text);
}

/* Says whether dev is one of the devices that show this one. */
static bool
is_above(const struct usage *u, dev_t dev)
{
	for (const struct usage *o = u->over; o != NULL; o = o->over)
		if (o->devs[0] == dev)
			return true;
	return false;
}

static bool
has_dev(const struct usage *u, dev_t dev)
{
	for (size_t i = 0; i < u->n_devs; i++)
		if (u->devs[i] == dev)
			return true;
	return false;
}

bool
usage_is_node(const struct usage *u, const struct node *n)
{
	if (u->is_file)
		return n->dev == u->file_dev && n->ino == u->file_ino;
	return S_ISBLK(n->mode) && has_dev(u, n->rdev);
}

const char *
usage_dev_name(dev_t dev, char buf[USAGE_NAME_MAX])
{
	char dir[SYSFS_PATH_MAX];

	if (sysfs_block_dir(dev, dir))
		snprintf(buf, USAGE_NAME_MAX, "/dev/%.200s", sysfs_name(dir));
	else
		snprintf(buf, USAGE_NAME_MAX, "device %u:%u", major(dev), minor(dev));
	return buf;
}

static bool
add_partition(void *arg, const char *path)
{
	struct usage *u = arg;
	dev_t dev;

	if (!sysfs_has(path, "partition") || !sysfs_dev(path, &dev) || is_above(u, dev))
		return true;
	if (u->n_devs < USAGE_DEVS_MAX)
		u->devs[u->n_devs] = dev;
	return u->n_devs++ < USAGE_DEVS_MAX;
}

int
usage_init(struct usage *u, int fd, const struct usage *over, struct str *reasons,
	struct err *e)
{
	char link[64];
	struct stat st;
	ssize_t n;

	memset(u, 0, sizeof(*u));
	u->reasons = reasons;
	u->over = over;
	if (fstat(fd, &st) != 0)
		return err_errno(e, ERR_IO, errno, "look at the drive");
	if (S_ISREG(st.st_mode)) {
		u->is_file = true;
		u->file_dev = st.st_dev;
		u->file_ino = st.st_ino;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, u->name, sizeof(u->name) - 1);
		u->name[n > 0 ? n : 0] = '\0';
		return 0;
	}
	if (!S_ISBLK(st.st_mode) || !sysfs_block_dir(st.st_rdev, u->dir))
		return err_set(
			e, ERR_IO, "the drive is gone: the kernel no longer lists it");
	usage_dev_name(st.st_rdev, u->name);
	u->devs[u->n_devs++] = st.st_rdev;
	sysfs_each(u->dir, "", add_partition, u);
	if (u->n_devs > USAGE_DEVS_MAX)
		return err_set(e, ERR_LIMIT, "%s has more than %d partitions", u->name,
			USAGE_DEVS_MAX - 1);
	return 0;
}

void
usage_unescape(char *text)
{
	char *to = text;

	for (const char *p = text; *p != '\0';) {
		unsigned c;

		if (p[0] == '\\' && sscanf(p + 1, "%3o", &c) == 1 && strlen(p) >= 4) {
			*to++ = (char)c;
			p += 4;
		} else {
			*to++ = *p++;
		}
	}
	*to = '\0';
}

struct mount {
	dev_t dev; /* of the block device, also where the file system hides its own */
	char point[PATH_MAX];
};

/* Reads one line of mountinfo (proc(5)). btrfs and others have numbers of their own, so
 * that the source must tell the device. */
static bool
parse_mount(const char *line, struct mount *ret_m)
{
	char source[PATH_MAX] = "";
	const char *tail = strstr(line, " - ");
	struct node n;
	unsigned maj, min;

	if (tail == NULL ||
		sscanf(line, "%*d %*d %u:%u %*s %4095s", &maj, &min, ret_m->point) != 3)
		return false;
	usage_unescape(ret_m->point);
	ret_m->dev = makedev(maj, min);
	if (maj == 0 && sscanf(tail, " - %*s %4095s", source) == 1 &&
		strncmp(source, "/dev/", 5) == 0) {
		usage_unescape(source);
		if (node_look(AT_FDCWD, source, &n) && S_ISBLK(n.mode))
			ret_m->dev = n.rdev;
	}
	return true;
}

/* Calls fn for each mount that process pid sees ("self" is a pid, too). false when there
 * is nothing to read. */
static bool
each_mount(const char *pid, void (*fn)(void *arg, const char *pid, const struct mount *m),
	void *arg)
{
	char path[64];
	char *line = NULL;
	size_t cap = 0;
	struct mount m;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/mountinfo", pid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	while (getline(&line, &cap, f) > 0)
		if (parse_mount(line, &m))
			fn(arg, pid, &m);
	free(line);
	fclose(f);
	return true;
}

struct mount_search {
	struct usage *u;
	ino_t namespaces[NAMESPACES_MAX]; /* those already read */
	size_t n_namespaces;
	bool told[USAGE_DEVS_MAX]; /* one mount per device is enough to know */
};

static void
tell_mount(void *arg, const char *pid, const struct mount *m)
{
	struct mount_search *s = arg;
	char name[USAGE_NAME_MAX];
	char where[64] = "";

	for (size_t i = 0; i < s->u->n_devs; i++) {
		if (s->u->devs[i] != m->dev || s->told[i])
			continue;
		s->told[i] = true;
		if (strcmp(pid, "self") != 0)
			snprintf(where, sizeof(where), " (mount namespace of pid %.20s)",
				pid);
		usage_add(s->u, "%s is mounted on %s%s", usage_dev_name(m->dev, name),
			m->point, where);
	}
}

/* Remembers the mount namespace of a process; false when it was known or cannot be read.
 */
static bool
new_namespace(struct mount_search *s, const char *pid)
{
	char path[64];
	struct node n;

	snprintf(path, sizeof(path), "/proc/%.20s/ns/mnt", pid);
	if (s->n_namespaces == NAMESPACES_MAX || !node_look(AT_FDCWD, path, &n))
		return false;
	for (size_t i = 0; i < s->n_namespaces; i++)
		if (s->namespaces[i] == n.ino)
			return false;
	s->namespaces[s->n_namespaces++] = n.ino;
	return true;
}

static bool
search_process(void *arg, const char *path)
{
	struct mount_search *s = arg;
	const char *pid = sysfs_name(path);

	/* A process that ends meanwhile says nothing: another of its namespace will. */
	if (isdigit((unsigned char)pid[0]) && new_namespace(s, pid) &&
		!each_mount(pid, tell_mount, s))
		s->n_namespaces--;
	return true;
}

int
usage_mounts(struct usage *u, struct err *e)
{
	struct mount_search s = {.u = u};

	if (u->is_file)
		return 0;
	new_namespace(&s, "self");
	if (!each_mount("self", tell_mount, &s))
		return err_set(e, ERR_IO, "/proc/self/mountinfo cannot be read");
	search_process(&s, "/proc/1");
	sysfs_each("/proc", "", search_process, &s);
	if (s.n_namespaces == NAMESPACES_MAX)
		usage_add(u, "there are more than %d mount namespaces to look into",
			NAMESPACES_MAX);
	return 0;
}

int
usage_swaps(struct usage *u, struct err *e)
{
	char line[PATH_MAX + 128];
	char path[PATH_MAX];
	char name[USAGE_NAME_MAX];
	struct node n;
	FILE *f = fopen("/proc/swaps", "re");

	if (f == NULL)
		return errno == ENOENT ? 0
				       : err_errno(e, ERR_IO, errno, "open /proc/swaps");
	while (fgets(line, sizeof(line), f) != NULL) {
		if (line[0] != '/' || sscanf(line, "%4095s", path) != 1)
			continue;
		usage_unescape(path);
		if (node_look(AT_FDCWD, path, &n) && usage_is_node(u, &n))
			usage_add(u, "%s is swap space",
				u->is_file ? u->name : usage_dev_name(n.rdev, name));
	}
	fclose(f);
	return 0;
}

struct holder_search {
	struct usage *u;
	const char *held; /* sysfs directory of what is held */
};

static bool
tell_holder(void *arg, const char *path)
{
	struct holder_search *s = arg;
	const char *held = sysfs_name(s->held);
	const char *holder = sysfs_name(path);
	char name[128];
	char kind[32];
	dev_t dev;

	if (sysfs_dev(path, &dev) && is_above(s->u, dev))
		return true;
	if (sysfs_read(path, "dm/name", name, sizeof(name))) {
		sysfs_read(path, "dm/uuid", kind, sizeof(kind));
		kind[strcspn(kind, "-")] = '\0';
		usage_add(s->u, "/dev/%s is held by %s, device mapper \"%s\"%s%s%s", held,
			holder, name, kind[0] != '\0' ? " (" : "", kind,
			kind[0] != '\0' ? ")" : "");
	} else if (sysfs_has(path, "md")) {
		usage_add(s->u, "/dev/%s is a member of the array %s", held, holder);
	} else {
		usage_add(s->u, "/dev/%s is held by %s", held, holder);
	}
	return true;
}

static bool
search_partition_holders(void *arg, const char *path)
{
	struct holder_search s = {arg, path};
	dev_t dev;

	/* One that was looked at already shows what lies above. */
	if (sysfs_has(path, "partition") &&
		!(sysfs_dev(path, &dev) && is_above(s.u, dev)))
		sysfs_each(path, "holders", tell_holder, &s);
	return true;
}

void
usage_holders(struct usage *u)
{
	struct holder_search s = {u, u->dir};

	if (u->is_file)
		return;
	sysfs_each(u->dir, "holders", tell_holder, &s);
	sysfs_each(u->dir, "", search_partition_holders, u);
}

struct loop_search {
	struct usage *u;
	bool own_known; /* the target is a loop device, and own is behind it */
	struct node own;
};

static bool
tell_loop(void *arg, const char *path)
{
	struct loop_search *s = arg;
	const char *name = sysfs_name(path);
	struct node n;
	dev_t dev;

	if (strncmp(name, "loop", 4) != 0 || !sysfs_dev(path, &dev) ||
		has_dev(s->u, dev) || is_above(s->u, dev) || !node_behind_loop(path, &n))
		return true;
	if (usage_is_node(s->u, &n))
		usage_add(s->u, "the loop device /dev/%s is over %s", name, s->u->name);
	else if (s->own_known && n.dev == s->own.dev && n.ino == s->own.ino)
		usage_add(s->u, "the loop device /dev/%s is over the same file as %s",
			name, s->u->name);
	return true;
}

void
usage_loops(struct usage *u)
{
	struct loop_search s = {.u = u};

	s.own_known = !u->is_file && sysfs_has(u->dir, "loop") &&
		      node_behind_loop(u->dir, &s.own);
	sysfs_each("/sys/block", "", tell_loop, &s);
}

/* Targets stand two levels below a directory of configfs, each with a file that names
 * what it offers. */
struct export_search {
	struct usage *u;
	const char *middle; /* directory between the levels, or "" */
	const char *file;
};

static bool
tell_export(void *arg, const char *path)
{
	struct export_search *s = arg;
	char offered[PATH_MAX];
	struct node n;

	if (sysfs_read(path, s->file, offered, sizeof(offered)) &&
		node_look(AT_FDCWD, offered, &n) && usage_is_node(s->u, &n))
		usage_add(s->u, "%s is exported by %s", s->u->name, path);
	return true;
}

static bool
search_exports(void *arg, const char *path)
{
	struct export_search *s = arg;

	sysfs_each(path, s->middle, tell_export, s);
	return true;
}

void
usage_exports(struct usage *u, const char *configfs)
{
	struct export_search nvme = {u, "namespaces", "device_path"};
	struct export_search scsi = {u, "", "udev_path"};

	sysfs_each(configfs, "nvmet/subsystems", search_exports, &nvme);
	sysfs_each(configfs, "target/core", search_exports, &scsi);
}

static bool lies_on(const struct usage *u, dev_t dev, int layers);

struct walk {
	const struct usage *u;
	int layers;
	bool found;
};

static bool
walk_slave(void *arg, const char *path)
{
	struct walk *w = arg;
	dev_t dev;

	w->found = sysfs_dev(path, &dev) && lies_on(w->u, dev, w->layers);
	return !w->found;
}

/* Says whether dev is the target or is made of it: a partition, a slave of a mapped
 * device or array, the file system of a loop's file. */
static bool
lies_on(const struct usage *u, dev_t dev, int layers)
{
	struct walk w = {u, layers - 1, false};
	char dir[SYSFS_PATH_MAX];
	struct node n;
	dev_t below;

	if (has_dev(u, dev))
		return true;
	if (layers == 0 || !sysfs_block_dir(dev, dir))
		return false;
	if (sysfs_has(dir, "loop/backing_file") && node_behind_loop(dir, &n) &&
		lies_on(u, S_ISBLK(n.mode) ? n.rdev : n.dev, w.layers))
		return true;
	sysfs_each(dir, "slaves", walk_slave, &w);
	if (w.found || !sysfs_has(dir, "partition"))
		return w.found;
	*strrchr(dir, '/') = '\0';
	return sysfs_dev(dir, &below) && lies_on(u, below, w.layers);
}

struct point_search {
	const char *path; /* resolved */
	size_t longest;
	dev_t dev; /* of the mount with the longest point that leads to path */
};

static void
match_point(void *arg, const char *pid, const struct mount *m)
{
	struct point_search *s = arg;
	size_t n = strlen(m->point);

	(void)pid;
	if (n == 1)
		n = 0; /* the root leads everywhere */
	if (strncmp(s->path, m->point, n) != 0 ||
		(s->path[n] != '/' && s->path[n] != '\0') || n < s->longest)
		return;
	s->longest = n;
	s->dev = m->dev;
}

int
usage_beneath(struct usage *u, const char *keep_path, struct err *e)
{
	const char *const paths[] = {"/", "/boot", "/boot/efi", keep_path};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && !u->is_file; i++) {
		char real[PATH_MAX];
		struct point_search s = {.path = real};

		if (paths[i] == NULL || realpath(paths[i], real) == NULL)
			continue;
		if (!each_mount("self", match_point, &s))
			return err_set(e, ERR_IO, "/proc/self/mountinfo cannot be read");
		if (!lies_on(u, s.dev, LAYERS_MAX))
			continue;
		usage_add(u, "%s lies beneath %s", u->name, paths[i]);
		break;
	}
	return 0;
}
