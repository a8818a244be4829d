/*
 * store_rig - a real store in a folder of its own, and jobs run one at a time: for tests
 * of what works inside jobs. Include it in one file per program.
 */
#ifndef TESTS_UNIT_STORE_RIG_H
#define TESTS_UNIT_STORE_RIG_H

#include <stdio.h>

#include "common/clock.h"
#include "common/loop.h"
#include "common/xalloc.h"
#include "controller/store.h"
#include "tests/unit/unit.h"

static char rig_dir[64];
static struct loop *rig_loop;
static struct store *rig_store;
static unsigned rig_notes[8]; /* notifications by kind */
static int64_t rig_node;      /* of the last NOTIFY_NODE */

static void
rig_count(void *arg, enum notify what, int64_t id)
{
	(void)arg;
	rig_notes[what]++;
	if (what == NOTIFY_NODE)
		rig_node = id;
}

static inline void
rig_up(void)
{
	char path[128];
	struct err e = {0};

	snprintf(rig_dir, sizeof(rig_dir), "/tmp/ssdlab_test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig_dir));
	snprintf(path, sizeof(path), "%s/ssdlab.db", rig_dir);
	OK(loop_new(&rig_loop, &e));
	OK(store_open(&rig_store, path, rig_loop, &e));
	store_on_notify(rig_store, rig_count, NULL);
	memset(rig_notes, 0, sizeof(rig_notes));
}

static inline void
rig_down(void)
{
	char *cmd = xasprintf("rm -rf %s", rig_dir);

	store_close(rig_store);
	loop_free(rig_loop);
	ck_assert_int_eq(system(cmd), 0);
	free(cmd);
	rig_store = NULL;
	rig_loop = NULL;
}

/* How long anything is waited for: longer than it takes under valgrind, where Check does
 * not limit the time, on a busy machine. */
#define RIG_PATIENCE_NS (300 * NS_PER_S)

static void
rig_too_late(void *arg)
{
	(void)arg;
	ck_abort_msg("waited for nothing");
}

/* rig_until runs the loop until *flag; something must stop the loop then. */
static inline void
rig_until(const bool *flag)
{
	struct loop_timer *t = loop_timer_start(
		rig_loop, RIG_PATIENCE_NS, 0, rig_too_late, NULL);
	struct err e = {0};

	while (!*flag)
		OK(loop_run(rig_loop, &e));
	loop_timer_stop(rig_loop, t);
}

struct rig_job {
	store_fn *fn;
	void *arg;
	bool done;
	struct err e;
};

static int
rig_run(struct tx *t, void *arg, struct err *e)
{
	struct rig_job *j = arg;

	return j->fn(t, j->arg, e);
}

static void
rig_done(void *arg, const struct err *e)
{
	struct rig_job *j = arg;

	j->done = true;
	if (e != NULL)
		j->e = *e;
	loop_stop(rig_loop);
}

/* rig_write runs fn as a write job; 0, or -1 with e. rig_read likewise. */
static inline int
rig_write(store_fn *fn, void *arg, struct err *ret_e)
{
	struct rig_job j = {.fn = fn, .arg = arg};
	struct err e = {0};

	OK(store_write(rig_store, rig_run, rig_done, &j, &e));
	rig_until(&j.done);
	*ret_e = j.e;
	return j.e.class == ERR_NONE ? 0 : -1;
}

static inline int
rig_read(store_fn *fn, void *arg, struct err *ret_e)
{
	struct rig_job j = {.fn = fn, .arg = arg};
	struct err e = {0};

	OK(store_read(rig_store, rig_run, rig_done, &j, &e));
	rig_until(&j.done);
	*ret_e = j.e;
	return j.e.class == ERR_NONE ? 0 : -1;
}

static int
rig_exec_job(struct tx *t, void *arg, struct err *e)
{
	return tx_exec(t, e, arg, "");
}

/* rig_exec runs one SQL statement. */
static inline void
rig_exec(const char *sql)
{
	struct err e = {0};

	OK(rig_write(rig_exec_job, (void *)(uintptr_t)sql, &e));
}

struct rig_question {
	const char *sql;
	char *text;
};

static int
rig_text_job(struct tx *t, void *arg, struct err *e)
{
	struct rig_question *q = arg;

	return tx_text(t, &q->text, e, q->sql, "") < 0 ? -1 : 0;
}

/* rig_text returns the one value of a query as text, or NULL; owned by the caller. */
static inline char *
rig_text(const char *sql)
{
	struct rig_question q = {.sql = sql};
	struct err e = {0};

	OK(rig_read(rig_text_job, &q, &e));
	return q.text;
}

/* rig_is wants that value of a query. */
static inline void
rig_is(const char *sql, const char *want)
{
	char *got = rig_text(sql);

	ck_assert_msg(got != NULL && strcmp(got, want) == 0, "%s: %s, not %s", sql,
		got != NULL ? got : "(null)", want);
	free(got);
}

#endif
