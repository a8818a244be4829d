#include "agent/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libnvme.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/news.h"
#include "common/err.h"
#include "common/guard.h"
#include "common/log.h"
#include "common/mbox.h"
#include "common/nvme.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/xalloc.h"

#define STOP_WAIT_S 2
#define PATHS_MAX 4096

/* Paths of what may be a drive, each once. */
struct paths {
	char **items;
	size_t n;
};

void
drive_list_add(struct drive_list *l, const struct drive_id *id, const char *path,
	const char *reasons)
{
	struct seen_drive *d;

	l->items = xrealloc(l->items, l->n + 1, sizeof(*l->items));
	d = &l->items[l->n++];
	memset(d, 0, sizeof(*d));
	d->id = *id;
	drive_key(id, d->key);
	snprintf(d->path, sizeof(d->path), "%s", path);
	d->reasons = xstrdup(reasons);
}

const struct seen_drive *
drive_list_find(const struct drive_list *l, const char *key)
{
	for (size_t i = 0; l != NULL && i < l->n; i++)
		if (strcmp(l->items[i].key, key) == 0)
			return &l->items[i];
	return NULL;
}

static bool
same(const struct seen_drive *a, const struct seen_drive *b)
{
	return strcmp(a->key, b->key) == 0 && strcmp(a->path, b->path) == 0 &&
	       strcmp(a->reasons, b->reasons) == 0 &&
	       strcmp(a->id.firmware, b->id.firmware) == 0 &&
	       drive_same(&a->id, &b->id, NULL) == 0;
}

bool
drive_list_equal(const struct drive_list *a, const struct drive_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!same(&a->items[i], &b->items[i]))
			return false;
	return true;
}

void
drive_list_free(struct drive_list *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->n; i++)
		free(l->items[i].reasons);
	free(l->items);
	free(l);
}

static void
add_path(struct paths *p, const char *path)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->items[i], path) == 0)
			return;
	if (p->n == PATHS_MAX)
		return;
	p->items = xrealloc(p->items, p->n + 1, sizeof(*p->items));
	p->items[p->n++] = xstrdup(path);
}

static void
add_dev(struct paths *p, const char *name)
{
	char path[64];

	if (snprintf(path, sizeof(path), "/dev/%s", name) < (int)sizeof(path))
		add_path(p, path);
}

static void
free_paths(struct paths *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i]);
	free(p->items);
}

static void
add_controllers(struct paths *p, nvme_subsystem_t s)
{
	nvme_ctrl_t c;
	nvme_ns_t n;

	for (c = nvme_subsystem_first_ctrl(s); c != NULL;
		c = nvme_subsystem_next_ctrl(s, c))
		for (n = nvme_ctrl_first_ns(c); n != NULL; n = nvme_ctrl_next_ns(c, n))
			add_dev(p, nvme_ns_get_name(n));
}

/* With multipath a namespace hangs below its subsystem, without it below a controller. */
static void
add_subsystems(struct paths *p, nvme_host_t h)
{
	nvme_subsystem_t s;
	nvme_ns_t n;

	for (s = nvme_first_subsystem(h); s != NULL; s = nvme_next_subsystem(h, s)) {
		for (n = nvme_subsystem_first_ns(s); n != NULL;
			n = nvme_subsystem_next_ns(s, n))
			add_dev(p, nvme_ns_get_name(n));
		add_controllers(p, s);
	}
}

static void
log_errno(const char *event, const char *path, int num)
{
	struct err e = {0};

	err_errno(&e, ERR_IO, num, "%s", path);
	log_failure(LOG_LEVEL_DEBUG, event, &e);
}

static void
add_nvme(struct paths *p)
{
	nvme_root_t r;
	nvme_host_t h;

	if (access("/sys/class/nvme-subsystem", F_OK) != 0)
		return;
	r = nvme_scan(NULL);
	if (r == NULL) {
		log_errno("scan.nvme", "/sys/class/nvme-subsystem", errno);
		return;
	}
	for (h = nvme_first_host(r); h != NULL; h = nvme_next_host(r, h))
		add_subsystems(p, h);
	nvme_free_tree(r);
}

static bool
has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Disks on a bus; drive_identify judges them. What is made of other disks, or of memory,
 * is left out at once. */
static bool
add_disk(void *arg, const char *dir)
{
	static const char *const not_here[] = {"nvme", "loop", "ram", "zram", "dm-", "md",
		"nbd", "sr", "fd", "drbd", "bcache", "rbd", NULL};
	const char *name = sysfs_name(dir);
	char hidden[8];

	for (size_t i = 0; not_here[i] != NULL; i++)
		if (has_prefix(name, not_here[i]))
			return true;
	if (sysfs_read(dir, "hidden", hidden, sizeof(hidden)) && hidden[0] == '1')
		return true;
	add_dev(arg, name);
	return true;
}

/* Virtual drives of one look: loop devices over files of the directory, then the files
 * that have none. */
struct virtual_look {
	struct paths *paths;
	struct paths backed; /* files that a loop device stands for */
	char dir[PATH_MAX];  /* resolved */
};

static bool
add_loop(void *arg, const char *dir)
{
	struct virtual_look *v = arg;
	char backing[PATH_MAX], real[PATH_MAX];
	size_t n = strlen(v->dir);

	if (!has_prefix(sysfs_name(dir), "loop") ||
		!sysfs_read(dir, "loop/backing_file", backing, sizeof(backing)) ||
		realpath(backing, real) == NULL)
		return true;
	if (strncmp(real, v->dir, n) != 0 || real[n] != '/' ||
		strchr(real + n + 1, '/') != NULL)
		return true;
	add_path(&v->backed, real);
	add_dev(v->paths, sysfs_name(dir));
	return true;
}

static bool
is_backed(const struct virtual_look *v, const char *path)
{
	for (size_t i = 0; i < v->backed.n; i++)
		if (strcmp(v->backed.items[i], path) == 0)
			return true;
	return false;
}

/* Names that JSON, logs and people can show; hidden files are nobody's drives. */
static bool
is_plain(const char *name)
{
	for (const char *p = name; *p != '\0'; p++)
		if (*p <= 0x20 || *p >= 0x7f)
			return false;
	return name[0] != '.';
}

static void
add_files(struct virtual_look *v)
{
	DIR *d = opendir(v->dir);
	struct dirent *entry;
	struct stat st;

	if (d == NULL)
		return;
	while ((entry = readdir(d)) != NULL) {
		char *path;

		if (!is_plain(entry->d_name) ||
			fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
			!S_ISREG(st.st_mode))
			continue;
		path = xasprintf("%s/%s", v->dir, entry->d_name);
		if (!is_backed(v, path))
			add_path(v->paths, path);
		free(path);
	}
	closedir(d);
}

static void
add_virtual_dir(struct paths *p, const char *dir)
{
	struct virtual_look v = {.paths = p};

	if (realpath(dir, v.dir) == NULL) {
		log_errno("scan.virtual_dir", dir, errno);
		return;
	}
	sysfs_each("/sys", "block", add_loop, &v);
	add_files(&v);
	free_paths(&v.backed);
}

static void
add_virtual_devices(struct paths *p, const char *list)
{
	char *copy = xstrdup(list);
	char *save = NULL;

	for (char *at = strtok_r(copy, ", ", &save); at != NULL;
		at = strtok_r(NULL, ", ", &save))
		if (has_prefix(at, "/dev/ram") || has_prefix(at, "/dev/zram"))
			add_path(p, at);
		else
			log_debug("scan.virtual_device", "path=%s why=%s", log_q(at),
				log_q("only /dev/ramN and /dev/zramN can be listed"));
	free(copy);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
probe(const struct scan_config *c, const char *path, struct drive_list *l)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	struct drive_id id;
	struct str reasons = {0};
	struct err e = {0};

	if (fd < 0) {
		log_errno("scan.open", path, errno);
		return;
	}
	if (drive_identify(fd, path, &id, &e) != 0) {
		log_debug("scan.skip", "path=%s why=%s", log_q(path), log_q(e.text));
		goto out;
	}
	if (id.is_virtual && !c->allow_virtual)
		goto out;
	if (guard_check(fd, GUARD_BEFORE, c->keep_path, &reasons, &e) != 0)
		str_printf(&reasons, "%s%s", reasons.len > 0 ? "; " : "", e.text);
	drive_list_add(l, &id, path, str_text(&reasons));
out:
	str_fini(&reasons);
	close(fd);
}

static const struct seen_drive *
find_path(const struct drive_list *l, const char *path)
{
	for (size_t i = 0; l != NULL && i < l->n; i++)
		if (strcmp(l->items[i].path, path) == 0)
			return &l->items[i];
	return NULL;
}

static void
add_reason(struct seen_drive *d, const char *other)
{
	char *all = xasprintf("%s%sthe same drive as %s (two paths to it?)", d->reasons,
		d->reasons[0] != '\0' ? "; " : "", other);

	free(d->reasons);
	d->reasons = all;
}

/* Two devices that say they are the same drive: nobody knows what a write to one does. */
static void
mark_twins(struct drive_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		for (size_t j = i + 1; j < l->n; j++)
			if (strcmp(l->items[i].key, l->items[j].key) == 0) {
				add_reason(&l->items[i], l->items[j].path);
				add_reason(&l->items[j], l->items[i].path);
			}
}

void
scan_run(const struct scan_config *c, const struct drive_list *leased,
	struct drive_list **ret_l)
{
	struct drive_list *l = xcalloc(1, sizeof(*l));
	struct paths p = {0};

	add_nvme(&p);
	sysfs_each("/sys", "block", add_disk, &p);
	if (c->allow_virtual && c->virtual_dir[0] != '\0')
		add_virtual_dir(&p, c->virtual_dir);
	if (c->allow_virtual && c->virtual_devices[0] != '\0')
		add_virtual_devices(&p, c->virtual_devices);
	if (p.n > 0)
		qsort(p.items, p.n, sizeof(*p.items), by_text);
	for (size_t i = 0; i < p.n; i++) {
		const struct seen_drive *d = find_path(leased, p.items[i]);

		if (d != NULL)
			drive_list_add(l, &d->id, d->path, d->reasons);
		else
			probe(c, p.items[i], l);
	}
	mark_twins(l);
	free_paths(&p);
	*ret_l = l;
}

struct scan {
	const struct scan_config *c;
	const struct inbox *in;
	struct mbox *requests;
	pthread_t thread;
};

static void *
run(void *arg)
{
	struct scan *s = arg;
	struct drive_list *leased;

	while ((leased = mbox_get(s->requests, -1)) != NULL) {
		struct news *n = news_new(NEWS_DRIVES);

		scan_run(s->c, leased, &n->drives);
		drive_list_free(leased);
		while (!news_take_post(s->in, &n) && !mbox_closed(s->requests))
			poll(NULL, 0, 1000); /* the main loop is far behind */
		news_free(n);
	}
	return NULL;
}

int
scan_start(struct scan **ret_s, const struct scan_config *c, const struct inbox *in,
	struct err *e)
{
	struct scan *s = xcalloc(1, sizeof(*s));

	s->c = c;
	s->in = in;
	s->requests = mbox_new(1);
	if (pthread_create(&s->thread, NULL, run, s) != 0) {
		mbox_free(s->requests);
		free(s);
		return err_set(e, ERR_INTERNAL, "no thread for looking at drives");
	}
	*ret_s = s;
	return 0;
}

bool
scan_take_request(struct scan *s, struct drive_list **leased)
{
	bool taken = mbox_put(s->requests, *leased);

	if (!taken)
		drive_list_free(*leased);
	*leased = NULL;
	return taken;
}

bool
scan_stop(struct scan *s)
{
	struct timespec until;
	struct drive_list *l;

	if (s == NULL)
		return true;
	mbox_close(s->requests);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_WAIT_S;
	if (pthread_timedjoin_np(s->thread, NULL, &until) != 0)
		return false;
	while ((l = mbox_get(s->requests, 0)) != NULL)
		drive_list_free(l);
	mbox_free(s->requests);
	free(s);
	return true;
}
