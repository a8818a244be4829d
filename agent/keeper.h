/*
 * keeper - keeps the attempts of this node: starts their runners, finds them again, stops
 * them, records how they ended, and forgets them when the controller has everything.
 *
 * A runner that measures in rounds and was ended by a signal is started again for the
 * same attempt, a few times: it goes on with the next round. Carries out what reconcile
 * decided; every duty may be given twice. Never gives a drive to a runner without its
 * fence raised on disk, and never calls an attempt exited without proof that its process
 * is gone. Main loop only.
 */
#ifndef AGENT_KEEPER_H
#define AGENT_KEEPER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/attempt.h"
#include "agent/spawn.h"
#include "agent/talk.h"
#include "common/drive.h"

struct drive_list;
struct err;
struct keeper;
struct loop;

/* An attempt and what is known of it only while the agent runs. */
struct ward {
	struct ward *next;
	struct keeper *k;
	struct attempt *a;     /* owned */
	struct drive_id drive; /* without a serial when the program was lost */
	bool has_rounds;       /* its program measures in rounds: it can go on */
	bool wanted;	       /* the controller has said so in this life of the agent */
	bool recalled;	       /* it is asked for again, and could not be taken up yet */
	bool gives_way;	       /* its number is another's, and it is not set aside yet */
	struct proc proc;
	int sock; /* to the runner, -1 when not connected */
	struct runner_status status;
	int64_t status_mono; /* when that came */
	uint64_t acked_seq;  /* committed by the controller */
	char blocked[128];   /* why its records are not sent, "" when they are */
	int64_t stop_mono;   /* since when it is made to end, 0: not */
	int64_t hold_mono;   /* since when it is waited for instead, 0: not */
	int rung;	     /* of the ladder of stopping that was reached */
	bool stop_told;	     /* the runner took our stop */
	int64_t gone_mono;   /* when its process was first seen to be gone, 0: not */
	int64_t retry_mono;  /* no step is tried before */
	char said[128];	     /* last trouble that was logged */
	unsigned tries;	     /* in a row that found its spool in use */
	char stuck[128]; /* why its end cannot be recorded, "" when it can or has been */
};

/* What the keeper works with and whom it tells; all borrowed for its life. */
struct keeper_env {
	struct loop *loop;
	const char *state_dir;
	const char *runner_path;
	const char *boot_id;
	uint64_t max_runs;
	int64_t retention_ns;
	uint64_t spool_limit; /* bytes of forgotten spools that may stay */
	void *arg;
	/* The attempt looks different to the controller; its spool is to be sent. */
	void (*changed)(void *arg, const struct ward *w);
	/* Its spool is not to be read any more; or, when `changed` follows, from its
	 * start. */
	void (*dropped)(void *arg, uint64_t attempt);
};

/* keeper_new makes one without attempts. Owned by the caller; keeper_free. */
struct keeper *keeper_new(const struct keeper_env *env);

/* keeper_free lets go of everything; runners go on. NULL allowed. */
void keeper_free(struct keeper *k);

/*
 * keeper_load finds the attempts of earlier lives of the agent in STATE/runs and their
 * runners. Starts nothing: an attempt that was saved and whose runner was never spawned
 * is deleted, so that the next report does not have it; keeper_start takes it up when the
 * controller asks again. A damaged agent.json is made anew from the run program, and the
 * attempt taken for one that ran; without that either, it is trouble and left alone.
 * One that was set aside needs none: its name says enough.
 * Errors: ERR_IO.
 */
int keeper_load(struct keeper *k, struct err *e);

/*
 * keeper_start starts an attempt with its run program on the drive that the program
 * names, wherever that is now; one that is known already is left as it is, but one that
 * is forgotten is recalled, or with another token set aside. What may not or cannot start
 * becomes an exited attempt whose RESULT says why. Nothing happens while max_runs runners
 * are at work or the disk is full: the controller asks again.
 */
void keeper_start(struct keeper *k, uint64_t attempt, uint64_t fence,
	const json_t *program, const struct drive_list *drives);

/*
 * keeper_late notes that the start of an attempt came in an answer that was age_ns on its
 * way, too long to be carried out. The first time is in order: that answer was held until
 * there was something to start. From the second in a row on it is logged, once a minute.
 */
void keeper_late(struct keeper *k, uint64_t attempt, int64_t age_ns);

/*
 * keeper_keep notes that the controller still wants an attempt: only then may its runner
 * be started again when it was killed. What was wanted before this agent was there may
 * have been taken back meanwhile, and the drive given to somebody.
 */
void keeper_keep(struct keeper *k, uint64_t attempt);

/*
 * keeper_stop has an attempt end: by its socket, after 10 s by SIGTERM, after 30 s by
 * SIGKILL. One whose runner says that something goes on which nothing stops, as a
 * sanitize, is waited for instead, for a day at most. Not known or ended already:
 * nothing.
 */
void keeper_stop(struct keeper *k, uint64_t attempt, const char *why);

/* keeper_forget stops reporting an ended attempt; its spool stays for the retention. */
void keeper_forget(struct keeper *k, uint64_t attempt);

/*
 * keeper_recall takes a forgotten attempt for an ended one again, and has all its records
 * sent: the controller was restored from a backup. Not forgotten, or with another token:
 * nothing.
 */
void keeper_recall(struct keeper *k, uint64_t attempt, uint64_t fence);

/* keeper_progress notes watermarks of the uplink. */
void keeper_progress(
	struct keeper *k, uint64_t attempt, uint64_t last_seq, uint64_t acked_seq);

/* keeper_blocked notes why records of an attempt are not sent. */
void keeper_blocked(struct keeper *k, uint64_t attempt, const char *why);

/* keeper_tick does what is due; call it once a second. */
void keeper_tick(struct keeper *k);

/* keeper_first returns the list of attempts, in order of id. Borrowed, until the next
 * call that changes it. */
const struct ward *keeper_first(const struct keeper *k);

/* keeper_leased lists the drives that runners hold, but for those whose run program was
 * lost: they have no identity. Owned by the caller. */
struct drive_list *keeper_leased(const struct keeper *k);

/* keeper_trouble tells of a spool that the disk damaged, until the controller has what is
 * left of it, of an attempt of which nothing could be read when it was loaded, and of an
 * attempt whose end cannot be recorded, until it is; "" when there is none. size: of
 * ret_text, at least 1. */
void keeper_trouble(const struct keeper *k, char *ret_text, size_t size);

/* keeper_running returns the number of attempts that may have a process. */
size_t keeper_running(const struct keeper *k);

#endif
