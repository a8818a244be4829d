#include "common/loop.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/xalloc.h"

struct source {
	struct source *next;
	int fd; /* -1: deleted, freed after the present round of callbacks */
	loop_fd_fn *fn;
	void *arg;
};

struct loop_timer {
	struct loop_timer *next;
	int64_t due_ns; /* CLOCK_MONOTONIC */
	int64_t every_ns;
	loop_fn *fn;
	void *arg;
	bool dead; /* freed after the present round of callbacks */
};

struct loop_signal_handler {
	struct loop_signal_handler *next;
	int signo;
	loop_fn *fn;
	void *arg;
};

struct loop {
	int epoll_fd;
	int wake_fd;
	int signal_fd; /* -1 until the first loop_signal */
	sigset_t signals;
	struct source *sources;
	struct loop_timer *timers;
	struct loop_signal_handler *handlers;
	loop_fn *on_wake;
	void *on_wake_arg;
	loop_prepare_fn *prepare;
	void *prepare_arg;
	bool stop;
};

static void
drain_wake(void *arg, uint32_t events)
{
	struct loop *l = arg;
	uint64_t n;

	(void)events;
	(void)!read(l->wake_fd, &n, sizeof(n));
	if (l->on_wake != NULL)
		l->on_wake(l->on_wake_arg);
}

int
loop_new(struct loop **ret_l, struct err *e)
{
	struct loop *l = xcalloc(1, sizeof(*l));

	l->signal_fd = -1;
	l->wake_fd = -1;
	sigemptyset(&l->signals);
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0) {
		err_errno(e, ERR_IO, errno, "epoll_create1");
		goto out;
	}
	l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->wake_fd < 0) {
		err_errno(e, ERR_IO, errno, "eventfd");
		goto out;
	}
	if (loop_add_fd(l, l->wake_fd, EPOLLIN, drain_wake, l, e) != 0)
		goto out;
	*ret_l = l;
	return 0;
out:
	loop_free(l);
	return -1;
}

/* Frees what was deleted during callbacks; all of it when everything is set. */
static void
sweep(struct loop *l, bool everything)
{
	for (struct source **p = &l->sources; *p != NULL;) {
		struct source *s = *p;

		if (s->fd >= 0 && !everything) {
			p = &s->next;
			continue;
		}
		*p = s->next;
		free(s);
	}
	for (struct loop_timer **p = &l->timers; *p != NULL;) {
		struct loop_timer *t = *p;

		if (!t->dead && !everything) {
			p = &t->next;
			continue;
		}
		*p = t->next;
		free(t);
	}
}

void
loop_free(struct loop *l)
{
	if (l == NULL)
		return;
	sweep(l, true);
	while (l->handlers != NULL) {
		struct loop_signal_handler *h = l->handlers;

		l->handlers = h->next;
		free(h);
	}
	if (l->signal_fd >= 0)
		close(l->signal_fd);
	if (l->wake_fd >= 0)
		close(l->wake_fd);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	free(l);
}

int
loop_add_fd(
	struct loop *l, int fd, uint32_t events, loop_fd_fn *fn, void *arg, struct err *e)
{
	struct source *s = xcalloc(1, sizeof(*s));
	struct epoll_event ev = {.events = events, .data.ptr = s};

	s->fd = fd;
	s->fn = fn;
	s->arg = arg;
	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) != 0) {
		free(s);
		return err_errno(e, ERR_IO, errno, "watch descriptor %d", fd);
	}
	s->next = l->sources;
	l->sources = s;
	return 0;
}

void
loop_del_fd(struct loop *l, int fd)
{
	for (struct source *s = l->sources; s != NULL; s = s->next) {
		if (s->fd != fd)
			continue;
		epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		s->fd = -1;
		return;
	}
}

struct loop_timer *
loop_timer_start(
	struct loop *l, int64_t after_ns, int64_t every_ns, loop_fn *fn, void *arg)
{
	struct loop_timer *t = xcalloc(1, sizeof(*t));

	t->due_ns = clock_mono() + after_ns;
	t->every_ns = every_ns;
	t->fn = fn;
	t->arg = arg;
	t->next = l->timers;
	l->timers = t;
	return t;
}

void
loop_timer_stop(struct loop *l, struct loop_timer *t)
{
	(void)l;
	if (t != NULL)
		t->dead = true;
}

static void
read_signals(void *arg, uint32_t events)
{
	struct loop *l = arg;
	struct signalfd_siginfo info;

	(void)events;
	while (read(l->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		for (struct loop_signal_handler *h = l->handlers; h != NULL; h = h->next)
			if (h->signo == (int)info.ssi_signo)
				h->fn(h->arg);
}

int
loop_signal(struct loop *l, int signo, loop_fn *fn, void *arg, struct err *e)
{
	struct loop_signal_handler *h;
	int fd;

	sigaddset(&l->signals, signo);
	pthread_sigmask(SIG_BLOCK, &l->signals, NULL);
	fd = signalfd(l->signal_fd, &l->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_errno(e, ERR_IO, errno, "signalfd");
	if (l->signal_fd < 0) {
		l->signal_fd = fd;
		if (loop_add_fd(l, fd, EPOLLIN, read_signals, l, e) != 0)
			return -1;
	}
	h = xcalloc(1, sizeof(*h));
	h->signo = signo;
	h->fn = fn;
	h->arg = arg;
	h->next = l->handlers;
	l->handlers = h;
	return 0;
}

void
loop_on_wake(struct loop *l, loop_fn *fn, void *arg)
{
	l->on_wake = fn;
	l->on_wake_arg = arg;
}

void
loop_wake(struct loop *l)
{
	uint64_t one = 1;
	int saved = errno;

	(void)!write(l->wake_fd, &one, sizeof(one));
	errno = saved;
}

void
loop_set_prepare(struct loop *l, loop_prepare_fn *fn, void *arg)
{
	l->prepare = fn;
	l->prepare_arg = arg;
}

/* Runs the timers that are due; those started by callbacks wait for the next round. */
static void
run_timers(struct loop *l)
{
	int64_t now = clock_mono();

	for (struct loop_timer *t = l->timers; t != NULL && !l->stop; t = t->next) {
		if (t->dead || t->due_ns > now)
			continue;
		if (t->every_ns > 0)
			t->due_ns = now + t->every_ns;
		else
			t->dead = true;
		t->fn(t->arg);
	}
}

/* The time until the next timer in ms, rounded up, -1 without timers. */
static int
next_timer_ms(const struct loop *l)
{
	int64_t least = -1;
	int64_t now = clock_mono();

	for (const struct loop_timer *t = l->timers; t != NULL; t = t->next) {
		int64_t left = t->due_ns > now ? t->due_ns - now : 0;

		if (!t->dead && (least < 0 || left < least))
			least = left;
	}
	if (least > 3600 * NS_PER_S)
		least = 3600 * NS_PER_S;
	return least < 0 ? -1 : (int)((least + NS_PER_MS - 1) / NS_PER_MS);
}

static int
wait_ms(struct loop *l)
{
	int timer = next_timer_ms(l);
	int limit = l->prepare != NULL ? l->prepare(l->prepare_arg) : -1;

	if (timer < 0)
		return limit;
	return limit < 0 || timer < limit ? timer : limit;
}

int
loop_run(struct loop *l, struct err *e)
{
	struct epoll_event evs[64];

	l->stop = false;
	while (!l->stop) {
		int n = epoll_wait(l->epoll_fd, evs, 64, wait_ms(l));

		if (n < 0 && errno != EINTR)
			return err_errno(e, ERR_IO, errno, "epoll_wait");
		for (int i = 0; i < n && !l->stop; i++) {
			struct source *s = evs[i].data.ptr;

			if (s->fd >= 0)
				s->fn(s->arg, evs[i].events);
		}
		if (!l->stop)
			run_timers(l);
		sweep(l, false);
	}
	return 0;
}

void
loop_stop(struct loop *l)
{
	l->stop = true;
}
