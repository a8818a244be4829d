#include "agent/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/attempt.h"
#include "common/err.h"
#include "common/xalloc.h"
#include "config.h"

#define ALIVE_FD 3 /* of the runner */

/* What systemd told the agent is not for its children. */
static const char *const not_inherited[] = {
	"NOTIFY_SOCKET=", "WATCHDOG_PID=", "WATCHDOG_USEC=", "JOURNAL_STREAM=",
	"INVOCATION_ID=", "SSDLAB_AGENT_VERSION=", NULL};

int
spawn_check(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
		return 0;
	err_set(e, ERR_NOTFOUND, "the runner %s is not there or cannot be executed",
		path);
	return err_fix(e, "install ssdlab-runner, or set runner_path to where it is");
}

static int
open_alive(const struct attempt *a)
{
	char path[4096];

	attempt_file(a, "alive", path, sizeof(path));
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

bool
spawn_alive(const struct attempt *a)
{
	int fd = open_alive(a);
	bool alive;

	if (fd < 0)
		return errno != ENOENT;
	alive = flock(fd, LOCK_EX | LOCK_NB) != 0;
	close(fd);
	return alive;
}

/* Told by the runner, among the versions of what made a result. */
static const char version[] = "SSDLAB_AGENT_VERSION=" PACKAGE_VERSION;

static char **
environment(void)
{
	size_t n = 0, kept = 0;
	char **env;

	while (environ[n] != NULL)
		n++;
	env = xcalloc(n + 2, sizeof(*env));
	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		while (not_inherited[j] != NULL && strncmp(environ[i], not_inherited[j],
							   strlen(not_inherited[j])) != 0)
			j++;
		if (not_inherited[j] == NULL)
			env[kept++] = environ[i];
	}
	env[kept] = (char *)(uintptr_t)version;
	return env;
}

/* Own session, all signals as in a fresh process. */
static int
set_attributes(posix_spawnattr_t *at)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(at, &none);
	posix_spawnattr_setsigdefault(at, &all);
	return posix_spawnattr_setflags(
		at, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int
set_files(posix_spawn_file_actions_t *fa, const char *log_path, int alive_fd)
{
	int rc = posix_spawn_file_actions_addopen(
		fa, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(
			fa, STDERR_FILENO, log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(fa, STDERR_FILENO, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(fa, alive_fd, ALIVE_FD);
	/* A library may have forgotten O_CLOEXEC; nothing of ours goes over. */
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(fa, ALIVE_FD + 1);
	return rc;
}

static int
launch(const char *runner_path, const char *state_dir, const struct attempt *a,
	int alive_fd, pid_t *ret_pid)
{
	char *argv[] = {xstrdup("ssdlab-runner"), xstrdup("run"), xstrdup("--dir"),
		xstrdup(a->dir), xstrdup("--state-dir"), xstrdup(state_dir),
		xstrdup("--drive"), xstrdup(a->drive_path), NULL};
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	char log_path[4096];
	char **env = environment();
	int rc;

	attempt_file(a, "runner.log", log_path, sizeof(log_path));
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	rc = set_attributes(&at);
	if (rc == 0)
		rc = set_files(&fa, log_path, alive_fd);
	if (rc == 0)
		rc = posix_spawn(ret_pid, runner_path, &fa, &at, argv, env);
	posix_spawnattr_destroy(&at);
	posix_spawn_file_actions_destroy(&fa);
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	free(env);
	return rc;
}

int
spawn_runner(const char *runner_path, const char *state_dir, const struct attempt *a,
	struct proc *ret_p, struct err *e)
{
	int fd = open_alive(a);
	pid_t pid;
	int rc;

	*ret_p = PROC_NONE;
	if (fd < 0)
		return err_errno(e, ERR_IO, errno, "make %s/alive", a->dir);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return err_set(e, ERR_STATE, "a runner of this attempt is alive already");
	}
	rc = launch(runner_path, state_dir, a, fd, &pid);
	close(fd);
	if (rc != 0 && spawn_check(runner_path, e) != 0)
		return -1;
	if (rc != 0)
		return err_errno(e, ERR_IO, rc, "start %s", runner_path);
	ret_p->pid = pid;
	ret_p->child = true;
	ret_p->pidfd = pidfd_open(pid, 0); /* close-on-exec by itself */
	return 0;
}

bool
spawn_find(const struct attempt *a, pid_t pid, struct proc *ret_p)
{
	char path[64];
	struct stat have, want;
	int pidfd, fd;

	*ret_p = PROC_NONE;
	if (pid <= 1)
		return false;
	pidfd = pidfd_open(pid, 0);
	fd = open_alive(a);
	/* The look at its files comes after pidfd_open: it is this process then. */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, ALIVE_FD);
	if (pidfd < 0 || fd < 0 || fstat(fd, &want) != 0 || stat(path, &have) != 0 ||
		have.st_dev != want.st_dev || have.st_ino != want.st_ino) {
		if (pidfd >= 0)
			close(pidfd);
		pidfd = -1;
	}
	if (fd >= 0)
		close(fd);
	if (pidfd < 0)
		return false;
	ret_p->pid = pid;
	ret_p->pidfd = pidfd;
	return true;
}

bool
spawn_signal(const struct proc *p, int signo)
{
	if (p->pidfd >= 0)
		return pidfd_send_signal(p->pidfd, signo, NULL, 0) == 0;
	/* Our own child keeps its number until we reap it. */
	return p->child && kill(p->pid, signo) == 0;
}

bool
spawn_reap(struct proc *p, struct attempt *a)
{
	siginfo_t si = {0};

	if (p->child && waitid(P_PID, (id_t)p->pid, &si, WEXITED | WNOHANG) == 0) {
		if (si.si_pid != p->pid)
			return false;
		a->exit_known = true;
		a->exit_code = si.si_code == CLD_EXITED ? si.si_status : -1;
		a->exit_signal = si.si_code == CLD_EXITED ? 0 : si.si_status;
	}
	spawn_forget(p);
	return true;
}

void
spawn_forget(struct proc *p)
{
	if (p->pidfd >= 0)
		close(p->pidfd);
	*p = PROC_NONE;
}
