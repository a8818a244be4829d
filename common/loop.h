/*
 * loop - one thread's event loop: epoll, timers, signals, wake-ups from other threads.
 *
 * Callbacks run on the thread that called loop_run and must not wait. All functions but
 * loop_wake belong to that thread.
 */
#ifndef COMMON_LOOP_H
#define COMMON_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct loop;
struct loop_timer;

/* Called when fd is ready; events are those of epoll(7). */
typedef void loop_fd_fn(void *arg, uint32_t events);
typedef void loop_fn(void *arg);
/* Called before each wait; returns the longest wait in ms, -1 for no limit. */
typedef int loop_prepare_fn(void *arg);

/* loop_new makes a loop. Errors: ERR_IO. Owned by the caller; loop_free. */
int loop_new(struct loop **ret_l, struct err *e);

/* loop_free closes the loop's own descriptors and timers, not those added. NULL allowed.
 */
void loop_free(struct loop *l);

/* loop_add_fd watches fd (borrowed) until loop_del_fd. events as in epoll(7),
 * level-triggered. */
int loop_add_fd(struct loop *l, int fd, uint32_t events, loop_fd_fn *fn, void *arg,
	struct err *e);

/* loop_del_fd stops watching fd; call it before close(fd). Allowed inside callbacks. */
void loop_del_fd(struct loop *l, int fd);

/*
 * loop_timer_start calls fn after after_ns and then every every_ns (0: once). The timer
 * is owned by the loop until loop_timer_stop or, for a single shot, until fn was called.
 */
struct loop_timer *loop_timer_start(
	struct loop *l, int64_t after_ns, int64_t every_ns, loop_fn *fn, void *arg);

/* loop_timer_stop forgets a timer that has not ended by itself. NULL allowed. */
void loop_timer_stop(struct loop *l, struct loop_timer *t);

/*
 * loop_signal delivers a signal number to fn on the loop. Blocks it for the thread: call
 * it before other threads start.
 */
int loop_signal(struct loop *l, int signo, loop_fn *fn, void *arg, struct err *e);

/* loop_on_wake sets what loop_wake triggers; several wakes may become one call. */
void loop_on_wake(struct loop *l, loop_fn *fn, void *arg);

/* loop_wake wakes the loop from any thread or from a callback. Never waits. */
void loop_wake(struct loop *l);

/* loop_set_prepare sets the one function that runs before each wait. */
void loop_set_prepare(struct loop *l, loop_prepare_fn *fn, void *arg);

/* loop_run runs until loop_stop. Errors: ERR_IO when epoll itself fails. */
int loop_run(struct loop *l, struct err *e);

/* loop_stop makes loop_run return after the present callback. */
void loop_stop(struct loop *l);

#endif
