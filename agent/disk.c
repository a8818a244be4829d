#include "agent/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "common/xalloc.h"

static int
sync_dir(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return err_errno(e, ERR_IO, errno, "open directory %s", path);
	if (fsync(fd) != 0)
		rc = err_errno(e, ERR_IO, errno, "sync directory %s", path);
	close(fd);
	return rc;
}

static int
sync_parent(const char *path, struct err *e)
{
	char *copy = xstrdup(path);
	int rc = sync_dir(dirname(copy), e);

	free(copy);
	return rc;
}

/* Makes these bytes all of the file. */
static int
write_all(int fd, const char *path, const void *data, size_t len, struct err *e)
{
	const char *at = data;
	size_t size = len;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(
				e, ERR_IO, n < 0 ? errno : EIO, "write %s", path);
		at += n;
		len -= (size_t)n;
	}
	if (ftruncate(fd, (off_t)size) != 0)
		return err_errno(e, ERR_IO, errno, "cut %s", path);
	if (fsync(fd) != 0)
		return err_errno(e, ERR_IO, errno, "sync %s", path);
	return 0;
}

int
disk_rename(const char *from, const char *to, struct err *e)
{
	if (rename(from, to) != 0)
		return err_errno(e, ERR_IO, errno, "rename %s to %s", from, to);
	return sync_parent(to, e);
}

int
disk_write(const char *path, const void *data, size_t len, mode_t mode, struct err *e)
{
	char *aside = xasprintf("%s.new", path);
	int rc = -1;
	int fd;

	/* One that is there has room, perhaps all that is left, and keeps it. */
	fd = open(aside, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0) {
		err_errno(e, ERR_IO, errno, "create %s", aside);
		goto out;
	}
	if (fchmod(fd, mode) != 0)
		err_errno(e, ERR_IO, errno, "chmod %s", aside);
	else
		rc = write_all(fd, aside, data, len, e);
	close(fd);
	if (rc == 0)
		rc = disk_rename(aside, path, e);
	if (rc != 0)
		unlink(aside);
out:
	free(aside);
	return rc;
}

int
disk_write_json(const char *path, const json_t *doc, mode_t mode, struct err *e)
{
	struct str text = {0};
	int rc;

	json_write(doc, &text);
	str_puts(&text, "\n");
	rc = disk_write(path, text.data, text.len, mode, e);
	str_fini(&text);
	return rc;
}

int
disk_make_dir(const char *path, struct err *e)
{
	struct stat st;

	if (mkdir(path, 0700) == 0)
		return sync_parent(path, e);
	if (errno != EEXIST)
		return err_errno(e, ERR_IO, errno, "make directory %s", path);
	if (stat(path, &st) != 0)
		return err_errno(e, ERR_IO, errno, "stat %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_STATE, "%s is not a directory", path);
	return 0;
}

int
disk_remove_tree(const char *path, struct err *e)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	int rc = 0;

	if (d == NULL)
		return errno == ENOENT
			       ? 0
			       : err_errno(e, ERR_IO, errno, "open directory %s", path);
	while (rc == 0 && (entry = readdir(d)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(d), entry->d_name, 0) != 0 && errno != ENOENT)
			rc = err_errno(
				e, ERR_IO, errno, "delete %s/%s", path, entry->d_name);
	}
	closedir(d);
	if (rc == 0 && rmdir(path) != 0 && errno != ENOENT)
		rc = err_errno(e, ERR_IO, errno, "delete directory %s", path);
	return rc;
}

static bool
is_printable(char c)
{
	return c >= 0x20 && c < 0x7f;
}

/* Copies the last line with anything printable in it; text has n bytes. */
static void
copy_last_line(const char *text, size_t n, char *ret_line, size_t size)
{
	size_t start, len = 0;

	while (n > 0 && (!is_printable(text[n - 1]) || text[n - 1] == ' '))
		n--;
	for (start = n; start > 0 && text[start - 1] != '\n'; start--)
		;
	for (size_t i = start; i < n && len + 1 < size; i++)
		if (is_printable(text[i]))
			ret_line[len++] = text[i];
	ret_line[len] = '\0';
}

void
disk_last_line(const char *path, char *ret_line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];
	struct stat st;
	ssize_t n = -1;

	ret_line[0] = '\0';
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0) {
		off_t from = st.st_size - (off_t)sizeof(text);

		n = pread(fd, text, sizeof(text), from > 0 ? from : 0);
	}
	close(fd);
	if (n > 0)
		copy_last_line(text, (size_t)n, ret_line, size);
}
