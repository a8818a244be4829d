/*
 * attempt - one try at a run, as the agent knows it: state, transitions, agent.json.
 *
 * What it knows survives kill -9 at any point: agent.json is durable before a state
 * counts. Knows nothing of processes and sockets (spawn, talk) nor of who wants what
 * (keeper). Waits for the disk. Main loop only.
 */
#ifndef AGENT_ATTEMPT_H
#define AGENT_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

enum attempt_state {
#define STATE(name, text, reported) ATTEMPT_##name,
#include "agent/attempt_tbl.h"
#undef STATE
	ATTEMPT_STATES
};

enum attempt_event {
#define EVENT(name, text) ATTEMPT_EV_##name,
#include "agent/attempt_tbl.h"
#undef EVENT
	ATTEMPT_EVENTS
};

/* So often the runner of an attempt that measures in rounds is started again. */
#define ATTEMPT_RESTARTS_MAX 3

struct attempt {
	uint64_t id;	/* number of the attempt */
	uint64_t run;	/* number of the run, 12 for r12 */
	uint64_t fence; /* token */
	enum attempt_state state;
	char *dir;	    /* STATE/runs/<id>, or <id>.<fence> when aside; owned */
	bool aside;	    /* forgotten, and its number belongs to another by now */
	char drive_key[96]; /* of drive_key() */
	char drive_path[256];
	char boot_id[40];     /* of the boot in which it was started */
	pid_t pid;	      /* of the runner, 0 when not known */
	bool stop_asked;      /* somebody wants it to end: its RESULT is then cancelled */
	bool killed;	      /* we sent SIGKILL */
	bool rebooted;	      /* started in another boot than this one; not on disk */
	bool program_lost;    /* its program.json is gone or damaged; not on disk */
	bool spool_lost;      /* the disk damaged the end of its spool; not on disk */
	char why[200];	      /* why it was stopped or refused, "" otherwise */
	char fail_class[16];  /* of a refusal: "safety" or "infra", else "" */
	bool exit_known;      /* how the process ended; only its parent learns that */
	int exit_code;	      /* -1 when a signal ended it */
	int exit_signal;      /* 0 when it exited */
	unsigned restarts;    /* how often its runner was started again */
	uint64_t last_seq;    /* highest record known to be in the spool */
	int64_t forgotten_ns; /* wall clock, for spool_retention; 0 before */
};

/* attempt_new makes one in STARTING; nothing is on disk yet. runs_dir: STATE/runs.
 * Owned by the caller; attempt_free (NULL allowed, leaves the disk alone). */
struct attempt *attempt_new(
	const char *runs_dir, uint64_t id, uint64_t run, uint64_t fence);
void attempt_free(struct attempt *a);

/* attempt_spool writes the path of its spool directory, attempt_file that of a file. */
void attempt_spool(const struct attempt *a, char *ret_path, size_t size);
void attempt_file(const struct attempt *a, const char *name, char *ret_path, size_t size);

/* attempt_save makes its directory and writes agent.json durably. ERR_FULL, ERR_IO. */
int attempt_save(const struct attempt *a, struct err *e);

/*
 * attempt_load reads runs_dir/name/agent.json; *ret_a is owned by the caller. Errors:
 * ERR_NOTFOUND (name is not that of an attempt, or it was never saved: nothing was
 * started), ERR_INVALID, ERR_IO.
 */
int attempt_load(
	const char *runs_dir, const char *name, struct attempt **ret_a, struct err *e);

/*
 * attempt_of_aside makes the attempt of a directory that was set aside from its name
 * alone, as forgotten now: what was in its agent.json matters no more. NULL when the name
 * is no such one. Owned by the caller.
 */
struct attempt *attempt_of_aside(const char *runs_dir, const char *name);

/*
 * attempt_set_aside renames the directory of a forgotten attempt, whose number comes
 * again for another: from another controller, or one with an older database. Its spool
 * stays for the retention. Errors: ERR_IO, ERR_FULL.
 */
int attempt_set_aside(struct attempt *a, struct err *e);

/*
 * attempt_step follows the edge of an event. Errors: ERR_STATE when there is none; those
 * of the action and of attempt_save (a->state is then unchanged, so that the step can be
 * tried again): ERR_STATE while another process has the spool, ERR_FULL, ERR_IO.
 */
int attempt_step(struct attempt *a, enum attempt_event ev, struct err *e);

/*
 * attempt_mend looks whether the spool of an exited attempt still ends with what the
 * controller has not; else a RESULT that says so is appended. Errors: as attempt_step.
 */
int attempt_mend(struct attempt *a, struct err *e);

/*
 * attempt_outdone compares what the controller has of an exited attempt whose spool was
 * lost with what this node knew of it. The acknowledgement of the last records may come
 * after the loss; the controller would then take the RESULT for one of them, and never
 * have an end. A RESULT behind them is appended: 1. 0: no need. Errors: as attempt_step.
 */
int attempt_outdone(struct attempt *a, uint64_t acked, struct err *e);

/*
 * attempt_can_go_on says whether a runner that is gone may be started again: it was ended
 * by a signal, as far as is known, in this boot; nobody wanted it to end; and its spool
 * has all that was seen of it, and no RESULT. 1, 0, or -1: ERR_IO.
 */
int attempt_can_go_on(const struct attempt *a, struct err *e);

/* attempt_refuse sets class and reason and steps to REFUSED and on to EXITED, as far as
 * the disk allows. class: "safety" or "infra". Errors: as attempt_step. */
int attempt_refuse(
	struct attempt *a, const char *fail_class, const char *reason, struct err *e);

/* attempt_legal returns whether an event has an edge from a state, and where it leads. */
bool attempt_legal(
	enum attempt_state from, enum attempt_event ev, enum attempt_state *ret_to);

/* attempt_has_process says whether a runner may be alive in this state. */
bool attempt_has_process(enum attempt_state s);

/* attempt_state_name is the spelling in agent.json; attempt_reported what the controller
 * is told, "" for nothing. */
const char *attempt_state_name(enum attempt_state s);
const char *attempt_reported(enum attempt_state s);

#endif
