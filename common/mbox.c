#include "common/mbox.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"
#include "common/xalloc.h"

struct mbox {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a message came, or the mailbox was closed */
	void **ring;		/* limit places; messages are at head .. head + len - 1 */
	size_t limit, head, len;
	bool closed;
};

struct mbox *
mbox_new(size_t limit)
{
	struct mbox *m = xcalloc(1, sizeof(*m));
	pthread_condattr_t attr;

	assert(limit > 0 && limit <= 1000000);
	m->ring = xcalloc(limit, sizeof(m->ring[0]));
	m->limit = limit;
	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->changed, &attr);
	pthread_condattr_destroy(&attr);
	return m;
}

void
mbox_free(struct mbox *m)
{
	if (m == NULL)
		return;
	assert(m->len == 0);
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->lock);
	free(m->ring);
	free(m);
}

bool
mbox_put(struct mbox *m, void *msg)
{
	bool taken;

	assert(msg != NULL);
	pthread_mutex_lock(&m->lock);
	taken = !m->closed && m->len < m->limit;
	if (taken) {
		m->ring[(m->head + m->len) % m->limit] = msg;
		m->len++;
		pthread_cond_signal(&m->changed);
	}
	pthread_mutex_unlock(&m->lock);
	return taken;
}

/* Waits for a change until the deadline (CLOCK_MONOTONIC ns, -1: for ever); false at its
 * end. */
static bool
wait_until(struct mbox *m, int64_t deadline)
{
	struct timespec ts = {
		.tv_sec = deadline / NS_PER_S,
		.tv_nsec = deadline % NS_PER_S,
	};

	if (deadline < 0)
		return pthread_cond_wait(&m->changed, &m->lock) == 0;
	return pthread_cond_timedwait(&m->changed, &m->lock, &ts) == 0;
}

void *
mbox_get(struct mbox *m, int64_t wait_ns)
{
	int64_t deadline = wait_ns > 0 ? clock_mono() + wait_ns : wait_ns;
	void *msg = NULL;

	pthread_mutex_lock(&m->lock);
	while (m->len == 0 && !m->closed && wait_ns != 0)
		if (!wait_until(m, deadline))
			break;
	if (m->len > 0) {
		msg = m->ring[m->head];
		m->head = (m->head + 1) % m->limit;
		m->len--;
	}
	pthread_mutex_unlock(&m->lock);
	return msg;
}

void
mbox_close(struct mbox *m)
{
	pthread_mutex_lock(&m->lock);
	m->closed = true;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
}

size_t
mbox_len(struct mbox *m)
{
	size_t n;

	pthread_mutex_lock(&m->lock);
	n = m->len;
	pthread_mutex_unlock(&m->lock);
	return n;
}

bool
mbox_closed(struct mbox *m)
{
	bool closed;

	pthread_mutex_lock(&m->lock);
	closed = m->closed;
	pthread_mutex_unlock(&m->lock);
	return closed;
}
