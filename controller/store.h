/*
 * store - the database: one writer thread, one reader thread, jobs. The only user of
 * sqlite3.
 *
 * Work is given as a job: a function that runs on the writer (or reader) thread inside a
 * transaction, and a function that is told the outcome on the main loop. Writes of many
 * jobs are committed together (group commit, synchronous=FULL); each has its own
 * savepoint, so that a failing job undoes only itself. done is called after the commit is
 * durable, or with the error. A job function knows no HTTP and no network; it reads and
 * writes rows and decides nothing that a pure module could decide.
 */
#ifndef CONTROLLER_STORE_H
#define CONTROLLER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct loop;
struct store;
struct tx;
struct cur;

/* What a committed job asks the main loop to do. */
enum notify {
	NOTIFY_EVENTS = 1, /* new rows in event: SSE subscribers read them */
	NOTIFY_NODE = 2,  /* the desired state of a node changed: wake its long poll; id =
			     node */
	NOTIFY_SCHED = 4, /* run a scheduling pass */
};

/* A job: 0 to keep what it did, -1 with e to undo it. Runs once, on a thread of the
 * store. */
typedef int store_fn(struct tx *t, void *arg, struct err *e);
/* The outcome, on the main loop: e is NULL when the job succeeded (a write: is durable).
 */
typedef void store_done_fn(void *arg, const struct err *e);
typedef void store_notify_fn(void *arg, enum notify what, int64_t id);

/*
 * store_open opens or makes the database file, refuses a newer or foreign one (ERR_STORE
 * says which version), backs up and migrates an older one, raises the controller epoch,
 * and starts both threads. Only one process may have it open (ERR_STATE names the lock).
 * done functions run on loop l.
 */
int store_open(struct store **ret_s, const char *path, struct loop *l, struct err *e);

/*
 * store_drain finishes the jobs that are queued, stops the threads and calls the done
 * functions that are due; from then on every job is refused with ERR_BUSY.
 */
void store_drain(struct store *s);

/* store_close drains, checkpoints, closes and frees. NULL allowed. */
void store_close(struct store *s);

/* store_on_notify sets who is told, on the main loop, after commits. */
void store_on_notify(struct store *s, store_notify_fn *fn, void *arg);

/*
 * store_write and store_read queue a job; main loop only. -1 with ERR_BUSY when the queue
 * is full; then neither function is called. arg is the caller's, untouched between the
 * call and done. done may be NULL. done functions run in the order of commits, before the
 * notifications of their commit.
 */
int store_write(
	struct store *s, store_fn *fn, store_done_fn *done, void *arg, struct err *e);
int store_read(
	struct store *s, store_fn *fn, store_done_fn *done, void *arg, struct err *e);

/* store_epoch returns the epoch of this start: fence tokens are epoch << 32 | counter. */
uint32_t store_epoch(const struct store *s);

/* store_healthy says whether the last commit succeeded and the file is still there under
 * its name; when not, ret_e (if given) says why. Main loop only; a job asks tx_healthy.
 */
bool store_healthy(struct store *s, struct err *ret_e);

/* store_heartbeat returns clock_mono() of the writer's last sign of life; for the
 * watchdog. */
int64_t store_heartbeat(const struct store *s);

/*
 * Inside a job. fmt has a letter per argument: i int64_t, s text (NULL is NULL), d
 * double, b bytes (const void *, size_t; NULL is NULL), n a NULL without argument.
 * Statements are cached by the text of sql. Errors: ERR_STORE, ERR_FULL; ERR_STATE for a
 * broken UNIQUE or CHECK rule.
 */
int tx_exec(struct tx *t, struct err *e, const char *sql, const char *fmt, ...);

/* tx_query starts a query; rows by cur_next; cur_close must follow (NULL allowed). */
int tx_query(struct tx *t, struct cur **ret_c, struct err *e, const char *sql,
	const char *fmt, ...);

/* cur_next returns 1 for a row, 0 at the end, -1 for ERR_STORE. */
int cur_next(struct cur *c, struct err *e);

/* Columns of the present row, from 0. Text and bytes are borrowed until the next
 * cur_next. */
int64_t cur_int(struct cur *c, int col);
double cur_real(struct cur *c, int col);
const char *cur_text(struct cur *c, int col); /* "" for NULL */
const void *cur_bytes(struct cur *c, int col, size_t *ret_len);
bool cur_null(struct cur *c, int col);
void cur_close(struct cur *c);

/*
 * tx_int runs a query for one integer: 1 and *ret_n, 0 when there is no row or it is
 * NULL, -1 on error.
 */
int tx_int(struct tx *t, int64_t *ret_n, struct err *e, const char *sql, const char *fmt,
	...);

/* tx_text is tx_int for one text, which the caller then owns. */
int tx_text(struct tx *t, char **ret_text, struct err *e, const char *sql,
	const char *fmt, ...);

/* tx_last_id returns the row id of the last INSERT; tx_changes the rows of the last
 * change. */
int64_t tx_last_id(struct tx *t);
int64_t tx_changes(struct tx *t);

/* tx_wall and tx_mono return the clocks, read once when the job started. */
int64_t tx_wall(struct tx *t);
int64_t tx_mono(struct tx *t);

/* tx_epoch returns the controller epoch. */
uint32_t tx_epoch(struct tx *t);

/* tx_healthy is store_healthy as it was when the job was queued. */
bool tx_healthy(struct tx *t, struct err *ret_e);

/* tx_notify asks for a notification after the commit; repeated ones are merged.
 * Write jobs only. */
void tx_notify(struct tx *t, enum notify what, int64_t id);

#endif
