#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"

/* What a controller on this machine writes at each of its starts. */
#define CONTROLLER_FILE SSDLAB_STATE_DIR "/ssdlab-controller/client.conf"

/*
 * With sudo the files are for the person behind it: becomes that person for good, so that
 * nothing in a home directory is written with root's rights. *ret_file is the person's
 * cli.conf, owned by the caller.
 */
static int
become_user(char **ret_file, struct err *e)
{
	const char *uid = getenv("SUDO_UID");
	struct passwd pw;
	struct passwd *found = NULL;
	char names[4096];
	int num;

	if (uid == NULL || geteuid() != 0 || strcmp(uid, "0") == 0) {
		*ret_file = config_user_file();
		return 0;
	}
	num = getpwuid_r(
		(uid_t)strtoul(uid, NULL, 10), &pw, names, sizeof(names), &found);
	if (found == NULL)
		return err_errno(e, ERR_NOTFOUND, num != 0 ? num : ENOENT,
			"there is no user %.20s", uid);
	if (initgroups(pw.pw_name, pw.pw_gid) != 0 ||
		setresgid(pw.pw_gid, pw.pw_gid, pw.pw_gid) != 0 ||
		setresuid(pw.pw_uid, pw.pw_uid, pw.pw_uid) != 0)
		return err_errno(e, ERR_FORBIDDEN, errno, "become %s", pw.pw_name);
	*ret_file = xasprintf("%s/.config/ssdlab/cli.conf", pw.pw_dir);
	return 0;
}

/* Makes the directories above a path, for their owner only. */
static int
make_parents(const char *path, struct err *e)
{
	char *dir = xstrdup(path);
	int rc = 0;

	for (char *p = strchr(dir + 1, '/'); p != NULL && rc == 0;
		p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(dir, 0700) != 0 && errno != EEXIST)
			rc = err_errno(e, ERR_IO, errno, "make %s", dir);
		*p = '/';
	}
	free(dir);
	return rc;
}

/* Writes a file that only its owner can read, whole or not at all. */
static int
write_private(const char *path, const char *text, struct err *e)
{
	char *fresh = xasprintf("%s.new", path);
	size_t n = strlen(text);
	int rc = 0;
	int fd;

	unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		rc = err_errno(e, ERR_IO, errno, "make %s", fresh);
	else if (write(fd, text, n) != (ssize_t)n || fsync(fd) != 0 ||
		 rename(fresh, path) != 0)
		rc = err_errno(e, ERR_IO, errno, "write %s", path);
	if (fd >= 0)
		close(fd);
	if (rc != 0)
		unlink(fresh);
	free(fresh);
	return rc;
}

static int
write_files(const char *file, const struct config *cfg, const char *token, struct err *e)
{
	char *token_file = xasprintf(
		"%.*s/token", (int)(strrchr(file, '/') - file), file);
	struct str text = {0};
	int rc;

	/* of the same folder, so that this can be copied elsewhere */
	str_printf(&text, "server = %s\ntoken_file = token\n", cfg->server);
	if (cfg->pin[0] != '\0')
		str_printf(&text, "pin = %s\n", cfg->pin);
	if (cfg->ca_file[0] != '\0')
		str_printf(&text, "ca_file = %s\n", cfg->ca_file);
	rc = make_parents(file, e);
	if (rc == 0)
		rc = write_private(token_file, token, e);
	if (rc == 0)
		rc = write_private(file, str_text(&text), e);
	free(token_file);
	str_fini(&text);
	return rc;
}

/* Reads what the controller left: its address, pin and first token. */
static int
read_controller(
	const char *path, struct config *cfg, char *token, size_t size, struct err *e)
{
	static char name[] = "ssdlab";
	char *option = xasprintf("--config=%s", path);
	char *argv[] = {name, option, NULL};
	int rc = config_load(2, argv, cfg, e);

	if (rc == 0 && cfg->token_file[0] == '\0')
		rc = err_set(e, ERR_INVALID, "%s names no token_file", path);
	if (rc == 0)
		rc = client_read_token(cfg->token_file, token, size, e);
	free(option);
	if (rc == 0)
		return 0;
	if (e->class == ERR_NOTFOUND)
		return err_fix(e, "start ssdlab-controller on this machine first");
	return err_fix(e, "sudo ssdlab setup");
}

int
cmd_setup(struct cli *c, struct err *e)
{
	const char *path = c->args[0] != NULL ? c->args[0] : CONTROLLER_FILE;
	struct config cfg = {0};
	char token[512];
	char *file = NULL;
	int rc = read_controller(path, &cfg, token, sizeof(token), e);

	if (rc == 0)
		rc = become_user(&file, e);
	if (rc == 0 && c->flags[FLAG_YES] == NULL && access(file, F_OK) == 0) {
		rc = err_set(e, ERR_STATE, "%s is there already", file);
		err_fix(e, "add --yes to replace it");
	}
	if (rc == 0)
		rc = write_files(file, &cfg, token, e);
	if (rc == 0)
		talk("%s is for %s; try ssdlab status", file, cfg.server);
	explicit_bzero(token, sizeof(token));
	free(file);
	config_fini(&cfg);
	return rc;
}
