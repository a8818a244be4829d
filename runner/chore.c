#include "runner/chore.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/xalloc.h"

#define ONCE_TICK_NS (20 * NS_PER_MS)

struct chore {
	int (*job)(void *arg, struct err *e);
	void *arg;
	int64_t period_ns;
	pthread_t thread;
	pthread_mutex_t lock; /* of stop */
	pthread_cond_t changed;
	bool stop;
	atomic_bool failed;
	struct err err; /* of the job; for after the thread */
};

/* Waits for the next turn; false when told to stop. */
static bool
wait_turn(struct chore *k)
{
	int64_t at = clock_mono() + k->period_ns;
	struct timespec ts = {at / NS_PER_S, at % NS_PER_S};
	bool go;
	int rc = 0;

	pthread_mutex_lock(&k->lock);
	while (!k->stop && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&k->changed, &k->lock, &ts);
	go = !k->stop;
	pthread_mutex_unlock(&k->lock);
	return go;
}

static void *
keep(void *arg)
{
	struct chore *k = arg;

	while (wait_turn(k))
		if (k->job(k->arg, &k->err) != 0) {
			atomic_store(&k->failed, true);
			break;
		}
	return NULL;
}

static void
release(struct chore *k)
{
	pthread_cond_destroy(&k->changed);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

/* Signals are for the caller's thread. */
static int
start_thread(struct chore *k)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&k->thread, NULL, keep, k);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

int
chore_start(struct chore **ret_k, int (*job)(void *arg, struct err *e), void *arg,
	int64_t period_ns, struct err *e)
{
	struct chore *k = xcalloc(1, sizeof(*k));
	pthread_condattr_t attr;
	int failed;

	k->job = job;
	k->arg = arg;
	k->period_ns = period_ns;
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->changed, &attr);
	pthread_condattr_destroy(&attr);
	failed = start_thread(k);
	if (failed != 0) {
		release(k);
		return err_errno(e, ERR_LIMIT, failed, "start a thread");
	}
	*ret_k = k;
	return 0;
}

bool
chore_failed(struct chore *k)
{
	return atomic_load(&k->failed);
}

/* Sets e to what the job said. */
static int
pass_on(const struct err *said, struct err *e)
{
	int failed = err_set(e, said->class, "%s", said->text);

	return said->fix[0] != '\0' ? err_fix(e, "%s", said->fix) : failed;
}

int
chore_stop(struct chore *k, struct err *e)
{
	int failed = 0;

	if (k == NULL)
		return 0;
	pthread_mutex_lock(&k->lock);
	k->stop = true;
	pthread_cond_signal(&k->changed);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->thread, NULL);
	if (atomic_load(&k->failed))
		failed = pass_on(&k->err, e);
	release(k);
	return failed;
}

struct once {
	int (*job)(void *arg, struct err *e);
	void *arg;
	int rc;
	struct err err;
	atomic_bool done;
};

static int
do_once(void *arg, struct err *e)
{
	struct once *o = arg;

	(void)e;
	if (atomic_load(&o->done))
		return 0;
	o->rc = o->job(o->arg, &o->err);
	atomic_store(&o->done, true);
	return 0;
}

int
chore_once(int (*job)(void *arg, struct err *e), void *arg, void (*tick)(void *arg),
	void *tick_arg, struct err *e)
{
	const struct timespec pause = {0, ONCE_TICK_NS};
	struct once o = {.job = job, .arg = arg};
	struct chore *k;

	if (chore_start(&k, do_once, &o, ONCE_TICK_NS, e) != 0)
		return -1;
	while (!atomic_load(&o.done)) {
		tick(tick_arg);
		nanosleep(&pause, NULL);
	}
	chore_stop(k, NULL);
	return o.rc == 0 ? 0 : pass_on(&o.err, e);
}
