#include "agent/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/disk.h"
#include "agent/scan.h"
#include "common/err.h"
#include "common/parse.h"
#include "common/xalloc.h"

int
fence_judge(uint64_t have, uint64_t token, bool same_attempt, struct err *e)
{
	if (token == 0)
		return err_set(e, ERR_UNSAFE, "a fence token of 0 gives no right");
	if (token > have || (token == have && same_attempt))
		return 0;
	if (token == have)
		err_set(e, ERR_UNSAFE,
			"fence token %" PRIu64 " was already used by another attempt",
			token);
	else
		err_set(e, ERR_UNSAFE,
			"fence token %" PRIu64 " is stale: %" PRIu64
			" was seen for this drive",
			token, have);
	return err_fix(e,
		"was the controller's database restored from a backup, or does a second "
		"controller use this node?");
}

/* Reads at most 31 bytes of a small file; -1 with errno set. */
static ssize_t
read_small(const char *path, char text[32])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int saved;

	if (fd < 0)
		return -1;
	n = read(fd, text, 31);
	saved = errno;
	close(fd);
	errno = saved;
	text[n > 0 ? n : 0] = '\0';
	return n;
}

int
fence_read(const char *dir, const char *drive_key, uint64_t *ret_token, struct err *e)
{
	char *path = xasprintf("%s/%s", dir, drive_key);
	char text[32];
	int rc = 0;

	*ret_token = 0;
	if (read_small(path, text) < 0) {
		if (errno != ENOENT)
			rc = err_errno(e, ERR_IO, errno, "read %s", path);
	} else {
		text[strcspn(text, "\n")] = '\0';
		rc = parse_uint(text, 1, UINT64_MAX, ret_token, e);
		if (rc != 0)
			err_ctx(e, "fence file %s is damaged", path);
	}
	free(path);
	return rc;
}

void
fence_trouble(const char *state_dir, const struct drive_list *drives, char *ret_text,
	size_t size)
{
	char *dir = xasprintf("%s/fence", state_dir);
	struct err e = {0};
	uint64_t token;

	ret_text[0] = '\0';
	for (size_t i = 0; drives != NULL && i < drives->n; i++) {
		if (fence_read(dir, drives->items[i].key, &token, &e) == 0)
			continue;
		snprintf(ret_text, size,
			"no run is started: is the disk of the state directory sound? "
			"see dmesg; %s",
			e.text);
		break;
	}
	free(dir);
}

int
fence_raise(const char *dir, const char *drive_key, uint64_t token, struct err *e)
{
	char *path = xasprintf("%s/%s", dir, drive_key);
	char text[32];
	int n = snprintf(text, sizeof(text), "%" PRIu64 "\n", token);
	int rc = disk_write(path, text, (size_t)n, 0600, e);

	free(path);
	return rc;
}
