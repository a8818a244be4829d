#include "runner/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/guard.h"
#include "common/nvme.h"
#include "common/parse.h"
#include "common/program.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/xalloc.h"

/* So often, a second apart, a reason is found before it is believed between steps. */
#define LOOKS 3

struct claim {
	const struct program *program;
	char *path;
	char *state_dir;
	char key[96];
	int lock_fd;
	int fd;
};

static int
take_lock(struct claim *c, struct err *e)
{
	char *dir = xasprintf("%s/lock", c->state_dir);
	char *file = xasprintf("%s/%s", dir, c->key);
	int rc = 0;

	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		rc = err_errno(e, ERR_STATE, errno, "make %s", dir);
	else if ((c->lock_fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600)) < 0)
		rc = err_errno(e, ERR_STATE, errno, "open %s", file);
	else if (flock(c->lock_fd, LOCK_EX | LOCK_NB) != 0)
		rc = err_set(e, ERR_UNSAFE, "another runner holds the drive %s",
			c->program->drive.serial);
	free(file);
	free(dir);
	return rc;
}

/* The token in the file must be ours: a higher one means that the drive was leased again,
 * a lower one or none that the agent has not taken this lease. */
static int
check_fence(const struct claim *c, struct err *e)
{
	char *dir = xasprintf("%s/fence", c->state_dir);
	char text[32];
	uint64_t token = 0;
	int rc = 0;

	if (!sysfs_read(dir, c->key, text, sizeof(text)))
		rc = err_set(e, ERR_UNSAFE,
			"no fence token is known here for the drive %s",
			c->program->drive.serial);
	else if (parse_uint(text, 1, UINT64_MAX, &token, NULL) != 0)
		rc = err_set(e, ERR_UNSAFE, "%s/%s holds no fence token", dir, c->key);
	else if (token != c->program->fence)
		rc = err_set(e, ERR_UNSAFE,
			"the fence token of the drive %s is %" PRIu64
			", this program has %" PRIu64 ": its lease is not the newest",
			c->program->drive.serial, token, c->program->fence);
	free(dir);
	return rc;
}

static int
check_identity(const struct claim *c, int fd, struct drive_id *ret_seen, struct err *e)
{
	if (drive_identify(fd, c->path, ret_seen, e) != 0 ||
		drive_same(&c->program->drive, ret_seen, e) != 0)
		return err_ctx(e, "%s", c->path);
	return 0;
}

/* A runner that was killed may have left one. It is asked for before anything is read:
 * the drive would answer with errors. */
static int
check_sanitize(const struct claim *c, int fd, struct err *e)
{
	if (c->program->drive.kind != DRIVE_NVME || nvme_check_sanitize(fd, e) == 0)
		return 0;
	/* One that is too busy to answer has not failed yet. */
	if (e->class == ERR_IO)
		e->class = ERR_STATE;
	return err_ctx(e, "%s", c->path);
}

/* A check that cannot be made is a reason, too. */
static int
check_use(const struct claim *c, int fd, enum guard_when when, struct err *e)
{
	struct str reasons = {0};
	struct err why = {0};
	int rc = 0;

	if (guard_check(fd, when, c->state_dir, &reasons, &why) != 0)
		rc = err_set(e, ERR_UNSAFE, "nobody can say whether %s is in use: %s",
			c->path, why.text);
	else if (reasons.len > 0)
		rc = err_set(e, ERR_UNSAFE, "%s", str_text(&reasons));
	str_fini(&reasons);
	return rc;
}

/* Looks without claiming: for a drive in use the claim could not say by whom. */
static int
look_first(const struct claim *c, struct err *e)
{
	struct drive_id seen;
	int fd = open(c->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_errno(e,
			errno == ENOENT || errno == ENXIO ? ERR_NOTFOUND : ERR_IO, errno,
			"open %s", c->path);
	rc = check_identity(c, fd, &seen, e);
	if (rc == 0)
		rc = check_sanitize(c, fd, e);
	if (rc == 0)
		rc = check_use(c, fd, GUARD_CLAIM, e);
	close(fd);
	return rc;
}

int
claim_take(struct claim **ret_c, const struct program *p, const char *state_dir,
	const char *path, struct err *e)
{
	struct claim *c = xcalloc(1, sizeof(*c));
	struct drive_id seen;

	c->program = p;
	c->path = xstrdup(path);
	c->state_dir = xstrdup(state_dir);
	c->lock_fd = c->fd = -1;
	drive_key(&p->drive, c->key);
	/* The last two look again, because what was free a moment ago may not be now. */
	if (take_lock(c, e) != 0 || check_fence(c, e) != 0 || look_first(c, e) != 0 ||
		guard_claim(path, program_writes(p) ? CLAIM_TO_WRITE : CLAIM_TO_READ,
			&c->fd, e) != 0 ||
		check_identity(c, c->fd, &seen, e) != 0 ||
		check_use(c, c->fd, GUARD_CLAIM, e) != 0) {
		claim_drop(c);
		return -1;
	}
	*ret_c = c;
	return 0;
}

/* A tool that asks the drive for something has it open for a moment, too: a reason must
 * last. */
static int
check_still_ours(const struct claim *c, struct err *e)
{
	const struct timespec pause = {1, 0};

	for (int i = 1; i < LOOKS; i++) {
		if (check_use(c, c->fd, GUARD_HELD, e) == 0)
			return 0;
		err_clear(e);
		nanosleep(&pause, NULL);
	}
	return check_use(c, c->fd, GUARD_HELD, e);
}

int
claim_verify(const struct claim *c, struct drive_id *ret_seen, struct err *e)
{
	struct drive_id seen;

	if (check_fence(c, e) != 0)
		return -1;
	if (check_identity(c, c->fd, ret_seen != NULL ? ret_seen : &seen, e) != 0 ||
		check_sanitize(c, c->fd, e) != 0)
		return -1;
	return check_still_ours(c, e);
}

int
claim_fd(const struct claim *c)
{
	return c->fd;
}

void
claim_drop(struct claim *c)
{
	if (c == NULL)
		return;
	if (c->fd >= 0)
		close(c->fd);
	if (c->lock_fd >= 0)
		close(c->lock_fd);
	free(c->path);
	free(c->state_dir);
	free(c);
}
