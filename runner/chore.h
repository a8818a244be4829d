/*
 * chore - does one thing again and again, or once, on a thread of its own, until it fails
 * or is told to end; for what may block, such as making a journal durable.
 */
#ifndef RUNNER_CHORE_H
#define RUNNER_CHORE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct chore;

/*
 * chore_start begins: job is called every period_ns after it has returned, and no more
 * once it has failed (returned -1 with a filled e). Errors: ERR_LIMIT without a thread.
 */
int chore_start(struct chore **ret_k, int (*job)(void *arg, struct err *e), void *arg,
	int64_t period_ns, struct err *e);

/*
 * chore_once does a job once, on a thread of its own, and calls tick at least 10 times a
 * second until it has ended. Errors: those of the job; ERR_LIMIT without a thread, and
 * then it was not done.
 */
int chore_once(int (*job)(void *arg, struct err *e), void *arg, void (*tick)(void *arg),
	void *tick_arg, struct err *e);

/* chore_failed says whether the job has failed. Never blocks. Any thread. */
bool chore_failed(struct chore *k);

/* chore_stop waits for a job that is running, ends the thread and frees it; NULL
 * allowed. Errors: that of the job that failed. */
int chore_stop(struct chore *k, struct err *e);

#endif
