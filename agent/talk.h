/*
 * talk - the socket of a runner: ask how it goes, ask it to stop.
 *
 * One JSON object per SOCK_SEQPACKET message, each way. Never waits. Main loop only.
 */
#ifndef AGENT_TALK_H
#define AGENT_TALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct runner_status {
	char state[16];	   /* "starting", "running", "ended"; "" when never told */
	char workload[64]; /* "" between workloads */
	int64_t step, point;
	double load_percent;  /* below 0: an uncontrolled maximum or no point */
	uint64_t last_seq;    /* highest record in its spool */
	char cannot_stop[64]; /* what goes on although it is told to stop, "" for nothing
			       */
};

/*
 * talk_open connects to dir/socket without waiting; *ret_fd is the caller's. Errors:
 * ERR_NOTFOUND when nobody listens, ERR_BUSY when it is slow to accept, ERR_IO.
 */
int talk_open(const char *dir, int *ret_fd, struct err *e);

/* talk_peer returns the process that listens at the other end, 0 when not known. */
pid_t talk_peer(int fd);

/* talk_ask_status asks; the answer comes through talk_read. false when it is gone or
 * takes no more questions now. */
bool talk_ask_status(int fd);

/* talk_stop asks the runner to end; why goes into its RESULT. false as above. */
bool talk_stop(int fd, const char *why);

/*
 * talk_read takes one message: 1 and *ret_s when it was a status, 2 for any other
 * message, 0 for none, -1 when the other end is gone.
 */
int talk_read(int fd, struct runner_status *ret_s);

#endif
