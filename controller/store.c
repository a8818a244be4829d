#include "controller/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/mbox.h"
#include "common/xalloc.h"
#include "controller/store_priv.h"

#define QUEUE_MAX 4096 /* jobs of one kind between store_write and done */
#define OUTCOMES_MAX \
	20000	      /* an outcome holds one job at least, but for changes of health */
#define GROUP_MAX 512 /* jobs in one transaction */
#define TICK_NS NS_PER_S /* the writer's longest sleep */
#define PROBE_NS (2 * NS_PER_S)
#define IDLE_NS (2 * NS_PER_S)

/* WAL sizes in frames of 8 KiB. */
#define WAL_PASSIVE 512
#define WAL_TRUNCATE 128
#define WAL_ALARM 32768

struct job {
	store_fn *fn;
	store_done_fn *done;
	void *arg;
	bool write;
	struct err *sick; /* the store's failure when the job was queued, or NULL */
	struct err e;
	struct job *next;
};

/* What a thread tells the main loop. */
struct outcome {
	struct job *jobs; /* in order */
	struct notes notes;
	bool commit; /* a write was tried: health follows from e */
	struct err e;
};

struct store {
	char *path, *lock_path;
	int lock_fd;
	dev_t device; /* with file: which file was opened */
	ino_t file;
	uint32_t epoch;
	struct loop *loop;
	struct mbox *writes, *reads, *outcomes;
	pthread_t writer_thread, reader_thread;
	bool writer_runs, reader_runs;
	_Atomic int64_t heartbeat;

	/* writer thread */
	struct conn writer;
	int wal_frames;
	int wal_next; /* frames at which the next checkpoint is due */
	bool wal_alarm;
	int64_t last_commit, last_try;
	bool sick;

	/* reader thread */
	struct conn reader;

	/* main loop */
	bool closing;
	size_t n_writes, n_reads;
	struct err health;
	store_notify_fn *notify;
	void *notify_arg;
};

static void
tell(struct store *s, struct outcome *o)
{
	bool ok = mbox_put(s->outcomes, o);

	assert(ok);
	loop_wake(s->loop);
}

/* Runs one job in its transaction; -1 with j->e. */
static int
run_job(struct store *s, struct job *j, struct tx *t)
{
	int rc;

	t->write = j->write;
	t->epoch = s->epoch;
	t->sick = j->sick;
	t->wall = clock_wall();
	t->mono = clock_mono();
	rc = j->fn(t, j->arg, &j->e);
	assert(t->cursors == 0);
	if (rc != 0 && j->e.class == ERR_NONE)
		err_set(&j->e, ERR_INTERNAL, "a store job failed without a reason");
	if (rc == 0)
		err_clear(&j->e);
	return rc;
}

static int
run_in_savepoint(struct store *s, struct job *j, struct outcome *o, struct err *e)
{
	struct notes notes = {0};
	struct tx t = {.conn = &s->writer, .notes = &notes};
	int rc = 0;

	if (conn_do(&s->writer, "SAVEPOINT job", e) != 0)
		return -1;
	if (run_job(s, j, &t) == 0) {
		for (size_t i = 0; i < notes.n; i++)
			notes_add(&o->notes, notes.items[i].what, notes.items[i].id);
	} else if (t.broken || sqlite3_get_autocommit(s->writer.db)) {
		*e = j->e;
		rc = -1;
	} else {
		rc = conn_do(&s->writer, "ROLLBACK TO job", e);
	}
	notes_fini(&notes);
	if (rc != 0)
		return -1;
	return conn_do(&s->writer, "RELEASE job", e);
}

/*
 * Whether the file under our name is still the one that is open: what is written to a
 * file without a name is gone with the process.
 */
static int
check_file(const struct store *s, struct err *e)
{
	struct stat st;

	if (stat(s->path, &st) == 0 && st.st_dev == s->device && st.st_ino == s->file)
		return 0;
	err_set(e, ERR_STORE, "the database file %s was removed or replaced", s->path);
	return err_fix(e,
		"put the same file back under its name; or stop the controller, restore "
		"ssdlab.db from a backup and start it again");
}

static int
remember_file(struct store *s, struct err *e)
{
	struct stat st;

	if (stat(s->path, &st) != 0)
		return err_errno(e, ERR_IO, errno, "database %s", s->path);
	s->device = st.st_dev;
	s->file = st.st_ino;
	return 0;
}

static void
remember_commit(struct store *s, const struct err *e)
{
	s->last_try = clock_mono();
	s->sick = e->class != ERR_NONE;
	if (!s->sick)
		s->last_commit = s->last_try;
}

/* One transaction for all jobs of o: all that succeed become durable, or none. */
static void
run_group(struct store *s, struct outcome *o)
{
	struct job *j = o->jobs;

	o->commit = true;
	if (conn_do(&s->writer, "BEGIN IMMEDIATE", &o->e) != 0)
		goto out;
	while (j != NULL && run_in_savepoint(s, j, o, &o->e) == 0) {
		atomic_store(&s->heartbeat, clock_mono());
		j = j->next;
	}
	if (j == NULL && check_file(s, &o->e) == 0)
		conn_do(&s->writer, "COMMIT", &o->e);
out:
	remember_commit(s, &o->e);
	if (o->e.class == ERR_NONE)
		return;
	if (!sqlite3_get_autocommit(s->writer.db))
		conn_do(&s->writer, "ROLLBACK", NULL);
	notes_fini(&o->notes);
	for (j = o->jobs; j != NULL; j = j->next)
		if (j->e.class == ERR_NONE)
			j->e = o->e;
}

static int
on_wal(void *arg, sqlite3 *db, const char *name, int frames)
{
	struct store *s = arg;

	(void)db;
	(void)name;
	s->wal_frames = frames;
	return SQLITE_OK;
}

static void
checkpoint(struct store *s, int mode)
{
	int left = -1;
	int done = 0;

	/* A reader is not waited for: the next round does what is left. */
	sqlite3_busy_timeout(s->writer.db, 0);
	sqlite3_wal_checkpoint_v2(s->writer.db, NULL, mode, &left, &done);
	sqlite3_busy_timeout(s->writer.db, 5000);
	if (mode == SQLITE_CHECKPOINT_TRUNCATE && left >= 0)
		s->wal_frames = left;
	s->wal_next = left == done ? WAL_PASSIVE : s->wal_frames + WAL_PASSIVE;
	if (s->wal_frames > WAL_ALARM && !s->wal_alarm)
		log_warn("store.wal", "frames=%d done=%d why=%s", left, done,
			log_q("a long read keeps the write-ahead log from being "
			      "emptied"));
	s->wal_alarm = s->wal_frames > WAL_ALARM;
}

/* Writes a row nobody needs, to notice that there is room again. */
static void
probe(struct store *s)
{
	struct outcome *o = xcalloc(1, sizeof(*o));

	o->commit = true;
	if (check_file(s, &o->e) == 0 &&
		conn_do(&s->writer,
			"INSERT INTO meta (key, value) VALUES ('probe', 1)"
			" ON CONFLICT (key) DO UPDATE SET value = value + 1",
			&o->e) != 0 &&
		!sqlite3_get_autocommit(s->writer.db))
		conn_do(&s->writer, "ROLLBACK", NULL);
	remember_commit(s, &o->e);
	if (s->sick)
		free(o);
	else
		tell(s, o);
}

/* Tells when the file is gone, also while nobody writes. */
static void
look_for_file(struct store *s)
{
	struct err e = {0};
	struct outcome *o;

	if (check_file(s, &e) == 0)
		return;
	o = xcalloc(1, sizeof(*o));
	o->commit = true;
	o->e = e;
	remember_commit(s, &e);
	tell(s, o);
}

static void
keep_house(struct store *s, bool idle)
{
	int64_t now = clock_mono();

	if (!s->sick && idle)
		look_for_file(s);
	if (s->sick) {
		if (now - s->last_try >= PROBE_NS)
			probe(s);
		return;
	}
	if (s->wal_frames >= s->wal_next)
		checkpoint(s, SQLITE_CHECKPOINT_PASSIVE);
	else if (idle && s->wal_frames >= WAL_TRUNCATE && now - s->last_commit >= IDLE_NS)
		checkpoint(s, SQLITE_CHECKPOINT_TRUNCATE);
}

static void *
writer_main(void *arg)
{
	struct store *s = arg;
	struct job *j;

	while (j = mbox_get(s->writes, TICK_NS), j != NULL || !mbox_closed(s->writes)) {
		struct outcome *o;
		struct job **end;

		atomic_store(&s->heartbeat, clock_mono());
		if (j == NULL) {
			keep_house(s, true);
			continue;
		}
		o = xcalloc(1, sizeof(*o));
		end = &o->jobs;
		for (size_t n = 1; j != NULL; n++) {
			*end = j;
			end = &j->next;
			j = n < GROUP_MAX ? mbox_get(s->writes, 0) : NULL;
		}
		run_group(s, o);
		tell(s, o);
		keep_house(s, false);
	}
	return NULL;
}

static void *
reader_main(void *arg)
{
	struct store *s = arg;
	struct job *j;

	while ((j = mbox_get(s->reads, -1)) != NULL) {
		struct outcome *o = xcalloc(1, sizeof(*o));
		struct tx t = {.conn = &s->reader};

		o->jobs = j;
		if (conn_do(&s->reader, "BEGIN", &j->e) == 0)
			run_job(s, j, &t);
		if (!sqlite3_get_autocommit(s->reader.db))
			conn_do(&s->reader, "ROLLBACK", NULL);
		tell(s, o);
	}
	return NULL;
}

static void
note_health(struct store *s, const struct err *e)
{
	if (e->class != ERR_NONE && s->health.class == ERR_NONE)
		log_failure(LOG_LEVEL_ERR, "store.failed", e);
	if (e->class == ERR_NONE && s->health.class != ERR_NONE)
		log_info("store.recovered", "file=%s", log_q(s->path));
	s->health = *e;
}

static void
job_free(struct job *j)
{
	free(j->sick);
	free(j);
}

static void
deliver(struct store *s, struct outcome *o)
{
	struct job *j = o->jobs;

	if (o->commit)
		note_health(s, &o->e);
	while (j != NULL) {
		struct job *next = j->next;

		*(j->write ? &s->n_writes : &s->n_reads) -= 1;
		if (j->done != NULL)
			j->done(j->arg, j->e.class != ERR_NONE ? &j->e : NULL);
		job_free(j);
		j = next;
	}
	for (size_t i = 0; i < o->notes.n && !s->closing; i++)
		if (s->notify != NULL)
			s->notify(s->notify_arg, o->notes.items[i].what,
				o->notes.items[i].id);
	notes_fini(&o->notes);
	free(o);
}

static void
on_wake(void *arg)
{
	struct store *s = arg;
	struct outcome *o;

	while ((o = mbox_get(s->outcomes, 0)) != NULL)
		deliver(s, o);
}

static int
take_lock(struct store *s, struct err *e)
{
	s->lock_path = xasprintf("%s.lock", s->path);
	s->lock_fd = open(s->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock_fd < 0)
		return err_errno(e, ERR_IO, errno, "open %s", s->lock_path);
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_errno(e, ERR_IO, errno, "lock %s", s->lock_path);
	err_set(e, ERR_STATE, "%s is in use by another process, which holds %s", s->path,
		s->lock_path);
	return err_fix(e, "stop the other controller first, or give another state_dir");
}

/* Fence tokens of this start must be above all that were ever given. */
static int
raise_epoch(struct store *s, struct err *e)
{
	int64_t epoch;

	if (conn_do(&s->writer,
		    "INSERT INTO meta (key, value) VALUES ('epoch', 1)"
		    " ON CONFLICT (key) DO UPDATE SET value = value + 1",
		    e) != 0 ||
		conn_int(&s->writer, "SELECT value FROM meta WHERE key = 'epoch'", &epoch,
			e) != 0)
		return -1;
	if (epoch < 1 || epoch > INT32_MAX)
		return err_set(e, ERR_STORE, "%s: the epoch %" PRId64 " is out of range",
			s->path, epoch);
	s->epoch = (uint32_t)epoch;
	return 0;
}

static int
start_threads(struct store *s, struct err *e)
{
	int rc;

	atomic_store(&s->heartbeat, clock_mono());
	rc = pthread_create(&s->writer_thread, NULL, writer_main, s);
	if (rc != 0)
		return err_errno(e, ERR_IO, rc, "start the store's writer");
	s->writer_runs = true;
	rc = pthread_create(&s->reader_thread, NULL, reader_main, s);
	if (rc != 0)
		return err_errno(e, ERR_IO, rc, "start the store's reader");
	s->reader_runs = true;
	return 0;
}

int
store_open(struct store **ret_s, const char *path, struct loop *l, struct err *e)
{
	struct store *s = xcalloc(1, sizeof(*s));
	int n;
	const struct migration *rows = store_schema(&n);

	s->path = xstrdup(path);
	s->loop = l;
	s->wal_next = WAL_PASSIVE;
	s->writes = mbox_new(QUEUE_MAX);
	s->reads = mbox_new(QUEUE_MAX);
	s->outcomes = mbox_new(OUTCOMES_MAX);
	if (take_lock(s, e) != 0 || conn_open(&s->writer, s->path, true, e) != 0 ||
		conn_migrate(&s->writer, rows, n, e) != 0 || raise_epoch(s, e) != 0 ||
		conn_open(&s->reader, s->path, false, e) != 0 || remember_file(s, e) != 0)
		goto out;
	sqlite3_wal_hook(s->writer.db, on_wal, s);
	loop_on_wake(l, on_wake, s);
	if (start_threads(s, e) != 0)
		goto out;
	*ret_s = s;
	return 0;
out:
	store_close(s);
	return -1;
}

void
store_drain(struct store *s)
{
	if (s->closing)
		return;
	s->closing = true;
	mbox_close(s->writes);
	mbox_close(s->reads);
	if (s->writer_runs)
		pthread_join(s->writer_thread, NULL);
	if (s->reader_runs)
		pthread_join(s->reader_thread, NULL);
	if (s->writer_runs)
		loop_on_wake(s->loop, NULL, NULL);
	on_wake(s);
}

void
store_close(struct store *s)
{
	if (s == NULL)
		return;
	store_drain(s);
	conn_close(&s->reader);
	if (s->writer_runs)
		checkpoint(s, SQLITE_CHECKPOINT_TRUNCATE);
	conn_close(&s->writer);
	mbox_free(s->outcomes);
	mbox_free(s->reads);
	mbox_free(s->writes);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s->lock_path);
	free(s->path);
	free(s);
}

void
store_on_notify(struct store *s, store_notify_fn *fn, void *arg)
{
	s->notify = fn;
	s->notify_arg = arg;
}

static int
queue(struct store *s, struct job job, struct err *e)
{
	size_t *n = job.write ? &s->n_writes : &s->n_reads;
	struct job *j;

	assert(job.fn != NULL);
	if (s->closing)
		return err_set(e, ERR_BUSY, "the controller is stopping");
	if (*n >= QUEUE_MAX)
		return err_set(e, ERR_BUSY, "the database has %d %s waiting", QUEUE_MAX,
			job.write ? "writes" : "reads");
	j = xcalloc(1, sizeof(*j));
	*j = job;
	if (s->health.class != ERR_NONE) {
		j->sick = xcalloc(1, sizeof(*j->sick));
		*j->sick = s->health;
	}
	if (!mbox_put(job.write ? s->writes : s->reads, j))
		abort(); /* it holds as many as we count */
	*n += 1;
	return 0;
}

int
store_write(struct store *s, store_fn *fn, store_done_fn *done, void *arg, struct err *e)
{
	return queue(
		s, (struct job){.fn = fn, .done = done, .arg = arg, .write = true}, e);
}

int
store_read(struct store *s, store_fn *fn, store_done_fn *done, void *arg, struct err *e)
{
	return queue(s, (struct job){.fn = fn, .done = done, .arg = arg}, e);
}

uint32_t
store_epoch(const struct store *s)
{
	return s->epoch;
}

bool
store_healthy(struct store *s, struct err *ret_e)
{
	if (s->health.class == ERR_NONE)
		return true;
	if (ret_e != NULL)
		*ret_e = s->health;
	return false;
}

int64_t
store_heartbeat(const struct store *s)
{
	return atomic_load(&s->heartbeat);
}
