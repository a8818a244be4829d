#include "controller/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/seal.h"
#include "common/str.h"
#include "common/xalloc.h"

#define FILE_MAX (256U * 1024)

static int
write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t n = write(fd, text, left);

		if (n < 0)
			return -1;
		text += n;
		left -= (size_t)n;
	}
	return fsync(fd);
}

static int
sync_folder(const char *path)
{
	char *copy = xstrdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fsync(fd);

	if (fd >= 0)
		close(fd);
	free(copy);
	return rc;
}

int
keyfile_write(const char *path, unsigned mode, const char *text, struct err *e)
{
	char *part = xasprintf("%s.part-XXXXXX", path);
	int fd = mkostemp(part, O_CLOEXEC);
	int rc = -1;

	if (fd < 0)
		err_errno(e, ERR_IO, errno, "make %s", part);
	else if (fchmod(fd, mode) != 0 || write_all(fd, text) != 0)
		err_errno(e, ERR_IO, errno, "write %s", part);
	else if (rename(part, path) != 0 || sync_folder(path) != 0)
		err_errno(e, ERR_IO, errno, "rename %s", part);
	else
		rc = 0;
	if (fd >= 0)
		close(fd);
	if (rc != 0 && fd >= 0)
		unlink(part);
	free(part);
	return rc;
}

int
keyfile_keep(const char *path, unsigned mode, const char *text, struct err *e)
{
	struct str now = {0};
	struct err why = {0};
	bool same = keyfile_read(path, &now, &why) == 0 &&
		    strcmp(str_text(&now), text) == 0;

	str_fini(&now);
	return same ? 0 : keyfile_write(path, mode, text, e);
}

int
keyfile_read(const char *path, struct str *out, struct err *e)
{
	char buf[4096];
	ssize_t n = 0;
	size_t all = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, errno,
			"open %s", path);
	while (all <= FILE_MAX && (n = read(fd, buf, sizeof(buf))) > 0) {
		str_add(out, buf, (size_t)n);
		all += (size_t)n;
	}
	close(fd);
	seal_wipe(buf, sizeof(buf));
	if (n < 0)
		return err_errno(e, ERR_IO, errno, "read %s", path);
	if (all > FILE_MAX)
		return err_set(e, ERR_LIMIT, "%s is larger than 256 KiB", path);
	return 0;
}

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
unhex(const char *text, uint8_t *out, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = digit(text[2 * i]);
		int low = high < 0 ? -1 : digit(text[2 * i + 1]);

		if (low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* The text of a pair: the public and the secret key, a line each. */
#define LINE (2 * SEAL_KEY_BYTES + 1)

static int
make_pair(const char *path, struct seal_pair *ret_pair, struct err *e)
{
	char text[2 * LINE + 1];
	int rc;

	seal_pair_new(ret_pair);
	seal_hex(ret_pair->public_key, SEAL_KEY_BYTES, text);
	text[LINE - 1] = '\n';
	seal_hex(ret_pair->secret_key, SEAL_KEY_BYTES, text + LINE);
	text[2 * LINE - 1] = '\n';
	text[2 * LINE] = '\0';
	rc = keyfile_write(path, 0600, text, e);
	seal_wipe(text, sizeof(text));
	return rc;
}

int
keyfile_pair(const char *path, struct seal_pair *ret_pair, struct err *e)
{
	struct str text = {0};
	struct err why = {0};
	int rc = -1;

	if (keyfile_read(path, &text, &why) != 0) {
		if (why.class == ERR_NOTFOUND)
			return make_pair(path, ret_pair, e);
		*e = why;
	} else if (text.len < 2 * LINE ||
		   !unhex(text.data, ret_pair->public_key, SEAL_KEY_BYTES) ||
		   !unhex(text.data + LINE, ret_pair->secret_key, SEAL_KEY_BYTES)) {
		err_set(e, ERR_INVALID, "%s does not hold the controller's keys", path);
		err_fix(e,
			"put back the file of your backup; without it all nodes must be "
			"enrolled anew");
	} else {
		rc = 0;
	}
	if (text.data != NULL)
		seal_wipe(text.data, text.len);
	str_fini(&text);
	return rc;
}
