/*
 * spawn - the processes of runners: start one, find it again, signal it, prove its end.
 *
 * A runner is born with an open, locked file (runs/<attempt>/alive, descriptor 3) that it
 * never touches. The lock lives exactly as long as the process, from before its first
 * instruction, whatever happens to the agent: when the lock can be had, no runner of the
 * attempt is left, and none is about to come. Main loop only.
 */
#ifndef AGENT_SPAWN_H
#define AGENT_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

struct attempt;
struct err;

/* A process that is known for sure; starts as PROC_NONE. */
struct proc {
	pid_t pid;
	int pidfd;  /* readable when the process has ended; -1: not known */
	bool child; /* of ours: its exit status is for us */
};

#define PROC_NONE ((struct proc){.pidfd = -1})

/*
 * spawn_check looks whether path can be run. Errors: ERR_NOTFOUND with what to do.
 */
int spawn_check(const char *path, struct err *e);

/*
 * spawn_runner starts the runner of a on its drive_path: own session, stderr appended to
 * runner.log, no descriptor of ours but the lock, no signal blocked. *ret_p is the
 * caller's (spawn_forget). Errors: ERR_STATE when one is alive already, ERR_NOTFOUND,
 * ERR_IO, ERR_FULL.
 */
int spawn_runner(const char *runner_path, const char *state_dir, const struct attempt *a,
	struct proc *ret_p, struct err *e);

/* spawn_alive says whether a process started for a is alive; true also in doubt. */
bool spawn_alive(const struct attempt *a);

/*
 * spawn_find gets hold of the runner of a as process pid (from agent.json or from its
 * socket): only when that process has the lock of a open. false otherwise.
 */
bool spawn_find(const struct attempt *a, pid_t pid, struct proc *ret_p);

/* spawn_signal sends a signal to exactly this process. false when it has ended. */
bool spawn_signal(const struct proc *p, int signo);

/*
 * spawn_reap takes the exit status of an ended process into a, as far as there is one for
 * us, and forgets the process. false when our child has not ended quite yet.
 */
bool spawn_reap(struct proc *p, struct attempt *a);

/* spawn_forget closes what is held of a process; the process goes on. */
void spawn_forget(struct proc *p);

#endif
