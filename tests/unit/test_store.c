#include "controller/store.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/loop.h"
#include "common/xalloc.h"
#include "controller/store_priv.h"
#include "tests/unit/unit.h"

static char dir[64];
static char path[128];
static struct loop *loop;
static struct store *store;
static unsigned done_count;
static unsigned notified[8];
static int64_t last_node;

static void
set_up(void)
{
	struct err e = {0};

	store = NULL;
	done_count = 0;
	memset(notified, 0, sizeof(notified));
	snprintf(dir, sizeof(dir), "/tmp/test_store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/ssdlab.db", dir);
	OK(loop_new(&loop, &e));
}

static void
tear_down(void)
{
	char *cmd = xasprintf("rm -rf %s", dir);

	store_close(store);
	loop_free(loop);
	ck_assert_int_eq(system(cmd), 0);
	free(cmd);
}

static void
open_store(void)
{
	struct err e = {0};

	OK(store_open(&store, path, loop, &e));
}

struct step {
	const char *sql;
	const char *text; /* bound as the only argument unless NULL */
	bool fail_after;
	enum notify notify;
	int64_t id;
	bool called;
	struct err e; /* the outcome */
};

static int
run_step(struct tx *t, void *arg, struct err *e)
{
	struct step *s = arg;

	if (tx_exec(t, e, s->sql, s->text != NULL ? "s" : "", s->text) != 0)
		return -1;
	if (s->notify != 0)
		tx_notify(t, s->notify, s->id);
	if (s->fail_after)
		return err_set(e, ERR_INVALID, "changed my mind");
	return 0;
}

static void
step_done(void *arg, const struct err *e)
{
	struct step *s = arg;

	ck_assert(!s->called);
	s->called = true;
	if (e != NULL)
		s->e = *e;
	done_count++;
	loop_stop(loop);
}

static void
too_late(void *arg)
{
	(void)arg;
	ck_abort_msg("the store did not answer");
}

static void
wait_done(unsigned n)
{
	struct loop_timer *t = loop_timer_start(loop, 300 * NS_PER_S, 0, too_late, NULL);
	struct err e = {0};

	while (done_count < n)
		OK(loop_run(loop, &e));
	loop_timer_stop(loop, t);
	done_count = 0;
}

static void
write_steps(struct step *steps, unsigned n)
{
	struct err e = {0};

	for (unsigned i = 0; i < n; i++)
		OK(store_write(store, run_step, step_done, &steps[i], &e));
	wait_done(n);
}

struct question {
	const char *sql;
	int rc;
	int64_t n;
	char *text;
	bool healthy;
	struct err e;
};

static int
ask_job(struct tx *t, void *arg, struct err *e)
{
	struct question *q = arg;

	q->healthy = tx_healthy(t, NULL);
	q->rc = tx_int(t, &q->n, e, q->sql, "");
	if (q->rc < 0)
		return -1;
	q->rc = tx_text(t, &q->text, e, q->sql, "");
	return q->rc < 0 ? -1 : 0;
}

static void
ask_done(void *arg, const struct err *e)
{
	struct question *q = arg;

	if (e != NULL)
		q->e = *e;
	done_count++;
	loop_stop(loop);
}

static int64_t
ask(const char *sql)
{
	struct question q = {.sql = sql};
	struct err e = {0};

	OK(store_read(store, ask_job, ask_done, &q, &e));
	wait_done(1);
	ck_assert_msg(q.e.class == ERR_NONE, "%s", q.e.text);
	free(q.text);
	return q.rc == 1 ? q.n : -1;
}

static void
count_notify(void *arg, enum notify what, int64_t id)
{
	(void)arg;
	notified[what]++;
	if (what == NOTIFY_NODE)
		last_node = id;
}

#define ADD_META "INSERT INTO meta (key, value) VALUES (?, 1)"

START_TEST(a_write_is_seen_by_a_read_after_done)
{
	struct step s = {.sql = ADD_META, .text = "a"};

	open_store();
	write_steps(&s, 1);
	ck_assert_str_eq(s.e.text, "");
	ck_assert_int_eq(ask("SELECT count(*) FROM meta WHERE key = 'a'"), 1);
	ck_assert_int_eq(ask("SELECT value FROM meta WHERE key = 'none'"), -1);
}
END_TEST

START_TEST(a_failing_job_undoes_only_itself)
{
	struct step s[5] = {
		{.sql = ADD_META, .text = "a"},
		{.sql = ADD_META, .text = "b", .fail_after = true},
		{.sql = ADD_META, .text = "a"},
		{.sql = "INSERT INTO nowhere VALUES (?)", .text = "x"},
		{.sql = ADD_META, .text = "c"},
	};

	open_store();
	write_steps(s, 5);
	ck_assert_int_eq(s[0].e.class, ERR_NONE);
	ck_assert_int_eq(s[1].e.class, ERR_INVALID);
	ck_assert_int_eq(s[2].e.class, ERR_STATE);
	ck_assert_int_eq(s[3].e.class, ERR_STORE);
	ck_assert_msg(
		strstr(s[3].e.text, "no such table: nowhere") != NULL, "%s", s[3].e.text);
	ck_assert_int_eq(s[4].e.class, ERR_NONE);
	ck_assert_int_eq(ask("SELECT count(*) FROM meta WHERE key IN ('a','b','c')"), 2);
	ck_assert(store_healthy(store, NULL));
}
END_TEST

START_TEST(notifications_of_a_group_are_merged_and_those_of_failed_jobs_are_not_sent)
{
	struct step s[6] = {
		{.sql = ADD_META, .text = "a", .notify = NOTIFY_SCHED},
		{.sql = ADD_META, .text = "b", .notify = NOTIFY_SCHED},
		{.sql = ADD_META, .text = "c", .notify = NOTIFY_NODE, .id = 7},
		{.sql = ADD_META, .text = "d", .notify = NOTIFY_NODE, .id = 7},
		{.sql = ADD_META,
			.text = "e",
			.notify = NOTIFY_EVENTS,
			.fail_after = true},
		{.sql = ADD_META, .text = "f"},
	};

	open_store();
	store_on_notify(store, count_notify, NULL);
	write_steps(s, 6);
	/* The last outcome was delivered, its notifications are sent right after. */
	ask("SELECT NULL");
	ck_assert_uint_ge(notified[NOTIFY_SCHED], 1);
	ck_assert_uint_le(notified[NOTIFY_SCHED], 2);
	ck_assert_uint_ge(notified[NOTIFY_NODE], 1);
	ck_assert_int_eq(last_node, 7);
	ck_assert_uint_eq(notified[NOTIFY_EVENTS], 0);
}
END_TEST

static int
all_types(struct tx *t, void *arg, struct err *e)
{
	struct cur *c;
	struct cur *inner;
	size_t len;

	(void)arg;
	if (tx_exec(t, e, "CREATE TABLE kinds (i, d, s, b, n, z)", "") != 0 ||
		tx_exec(t, e, "INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?)", "idsbns",
			(int64_t)-5, 0.5, "text", "by\0tes", (size_t)6,
			(const char *)NULL) != 0 ||
		tx_query(t, &c, e, "SELECT * FROM kinds WHERE s = ?", "s", "text") != 0)
		return -1;
	ck_assert_int_eq(tx_last_id(t), 1);
	ck_assert_int_eq(tx_changes(t), 1);
	ck_assert_int_eq(cur_next(c, e), 1);
	/* The same statement twice at one time. */
	ck_assert_int_eq(
		tx_query(t, &inner, e, "SELECT * FROM kinds WHERE s = ?", "s", "no"), 0);
	ck_assert_int_eq(cur_next(inner, e), 0);
	cur_close(inner);
	ck_assert_int_eq(cur_int(c, 0), -5);
	ck_assert_double_eq(cur_real(c, 1), 0.5);
	ck_assert_str_eq(cur_text(c, 2), "text");
	ck_assert_int_eq(memcmp(cur_bytes(c, 3, &len), "by\0tes", 6), 0);
	ck_assert_uint_eq(len, 6);
	ck_assert(cur_null(c, 4));
	ck_assert(cur_null(c, 5));
	ck_assert_str_eq(cur_text(c, 5), "");
	ck_assert_int_eq(cur_next(c, e), 0);
	cur_close(c);
	cur_close(NULL);
	ck_assert_uint_eq(tx_epoch(t), 1);
	ck_assert_int_gt(tx_wall(t), tx_mono(t));
	return 0;
}

START_TEST(all_column_types_come_back_as_they_went_in)
{
	struct step s = {0};
	struct err e = {0};

	open_store();
	OK(store_write(store, all_types, step_done, &s, &e));
	wait_done(1);
	ck_assert_str_eq(s.e.text, "");
}
END_TEST

static int
many_statements(struct tx *t, void *arg, struct err *e)
{
	int64_t n = 0;

	(void)arg;
	for (int i = 0; i < 2 * STORE_STATEMENTS; i++) {
		char sql[64];

		snprintf(sql, sizeof(sql), "SELECT ? + %d", i % 300);
		if (tx_int(t, &n, e, sql, "i", (int64_t)i) != 1)
			return -1;
		ck_assert_int_eq(n, i + i % 300);
	}
	return 0;
}

START_TEST(more_statements_than_places_are_no_trouble)
{
	struct step s = {0};
	struct err e = {0};

	open_store();
	OK(store_read(store, many_statements, step_done, &s, &e));
	wait_done(1);
	ck_assert_str_eq(s.e.text, "");
}
END_TEST

START_TEST(a_read_job_that_writes_is_our_bug)
{
	struct step s = {.sql = ADD_META, .text = "a"};
	struct err e = {0};

	open_store();
	OK(store_read(store, run_step, step_done, &s, &e));
	wait_done(1);
}
END_TEST

START_TEST(a_second_opener_is_refused)
{
	struct store *other;
	struct err e = {0};

	open_store();
	FAILS(store_open(&other, path, loop, &e), ERR_STATE, "ssdlab.db.lock");
	store_close(store);
	store = NULL;
	open_store();
}
END_TEST

START_TEST(every_start_has_a_higher_epoch)
{
	open_store();
	ck_assert_uint_eq(store_epoch(store), 1);
	store_close(store);
	open_store();
	ck_assert_uint_eq(store_epoch(store), 2);
}
END_TEST

static void
raw_sql(const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s",
		sqlite3_errmsg(db));
	sqlite3_close(db);
}

static off_t
size_of(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 ? st.st_size : -1;
}

START_TEST(a_newer_database_is_refused_untouched)
{
	struct err e = {0};
	char sql[40];
	int versions;

	store_schema(&versions);
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", versions);
	open_store();
	store_close(store);
	store = NULL;
	raw_sql("PRAGMA user_version = 999");
	FAILS(store_open(&store, path, loop, &e), ERR_STORE, "version 999");
	ck_assert_ptr_nonnull(strstr(e.fix, "newer ssdlab"));
	store = NULL;
	raw_sql(sql);
	open_store();
	ck_assert_uint_eq(store_epoch(store), 2);
}
END_TEST

START_TEST(a_foreign_file_is_refused_untouched)
{
	struct err e = {0};
	FILE *f;

	raw_sql("CREATE TABLE other (a); PRAGMA application_id = 5");
	FAILS(store_open(&store, path, loop, &e), ERR_STORE, "another program");
	ck_assert_int_eq(unlink(path), 0);
	raw_sql("CREATE TABLE other (a)");
	FAILS(store_open(&store, path, loop, &e), ERR_STORE, "another program");
	ck_assert_int_eq(unlink(path), 0);
	f = fopen(path, "w");
	for (int i = 0; i < 1000; i++)
		fputs("Dear diary, today I wrote a file.\n", f);
	fclose(f);
	FAILS(store_open(&store, path, loop, &e), ERR_STORE, "not a database");
	ck_assert_int_eq(size_of(path), 34000);
	store = NULL;
}
END_TEST

START_TEST(a_new_version_comes_after_a_copy_and_all_or_nothing)
{
	struct migration rows[] = {
		{"CREATE TABLE a (x); INSERT INTO a VALUES (1);"},
		{"ALTER TABLE a ADD COLUMN y; UPDATE a SET y = 2;"},
		{"CREATE TABLE b (x); INSERT INTO none VALUES (1);"},
	};
	struct conn c = {0};
	struct err e = {0};
	char *copy = xasprintf("%s.before-2", path);
	int64_t n;

	OK(conn_open(&c, path, true, &e));
	OK(conn_migrate(&c, rows, 1, &e));
	ck_assert_int_eq(size_of(copy), -1);
	OK(conn_migrate(&c, rows, 2, &e));
	ck_assert_int_gt(size_of(copy), 0);
	OK(conn_int(&c, "SELECT y FROM a", &n, &e));
	ck_assert_int_eq(n, 2);
	FAILS(conn_migrate(&c, rows, 3, &e), ERR_STORE, "version 3 of the database");
	OK(conn_int(&c, "PRAGMA user_version", &n, &e));
	ck_assert_int_eq(n, 2);
	OK(conn_int(&c, "SELECT count(*) FROM sqlite_schema", &n, &e));
	ck_assert_int_eq(n, 1);
	conn_close(&c);

	c = (struct conn){0};
	OK(conn_open(&c, copy, false, &e));
	OK(conn_int(&c, "PRAGMA user_version", &n, &e));
	ck_assert_int_eq(n, 1);
	OK(conn_int(&c, "SELECT x FROM a", &n, &e));
	ck_assert_int_eq(n, 1);
	conn_close(&c);
	free(copy);
}
END_TEST

static void
set_file_limit(rlim_t bytes)
{
	struct rlimit r;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &r), 0);
	r.rlim_cur = bytes < r.rlim_max ? bytes : r.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
}

START_TEST(a_full_disk_acknowledges_nothing_and_is_left_behind_by_itself)
{
	struct step good = {.sql = ADD_META, .text = "good"};
	struct step s[3] = {
		{.sql = ADD_META, .text = "x"},
		{.sql = "INSERT INTO meta VALUES (?, zeroblob(3000000))", .text = "big"},
		{.sql = ADD_META, .text = "y"},
	};
	struct question q = {.sql = "SELECT count(*) FROM meta WHERE key = 'x'"};
	struct err e = {0};
	struct err why = {0};
	int64_t start;

	signal(SIGXFSZ, SIG_IGN);
	open_store();
	write_steps(&good, 1);
	set_file_limit(100000);
	write_steps(&s[1], 1);
	ck_assert_int_eq(s[1].e.class, ERR_FULL);
	ck_assert_ptr_nonnull(strstr(s[1].e.fix, "make room"));
	ck_assert(!store_healthy(store, &why));
	ck_assert_int_eq(why.class, ERR_FULL);
	OK(store_read(store, ask_job, ask_done, &q, &e));
	wait_done(1);
	ck_assert(!q.healthy);
	free(q.text);
	ck_assert_int_eq(ask("SELECT count(*) FROM meta WHERE key = 'good'"), 1);

	set_file_limit(RLIM_INFINITY);
	for (start = clock_mono(); !store_healthy(store, NULL);) {
		ck_assert_int_lt(clock_mono() - start, 300 * NS_PER_S);
		ask("SELECT 1");
	}
	s[1].called = false;
	s[1].e = (struct err){0};
	write_steps(s, 3);
	ck_assert_int_eq(s[1].e.class, ERR_NONE);
	ck_assert_int_eq(
		ask("SELECT count(*) FROM meta WHERE key IN ('x','y','big')"), 3);
}
END_TEST

/* Waits, without a write, until the store is as healthy as wanted. */
static void
wait_health(bool healthy)
{
	int64_t start = clock_mono();

	while (store_healthy(store, NULL) != healthy) {
		ck_assert_int_lt(clock_mono() - start, 300 * NS_PER_S);
		ask("SELECT 1");
	}
}

START_TEST(nothing_is_acknowledged_while_the_file_is_not_under_its_name)
{
	char *away = xasprintf("%s.away", path);
	struct step s[2] = {
		{.sql = ADD_META, .text = "x"}, {.sql = ADD_META, .text = "y"}};
	struct err why = {0};

	open_store();
	ck_assert_int_eq(rename(path, away), 0);
	write_steps(&s[0], 1);
	ck_assert_int_eq(s[0].e.class, ERR_STORE);
	ck_assert_ptr_nonnull(strstr(s[0].e.text, "was removed or replaced"));
	ck_assert_ptr_nonnull(strstr(s[0].e.fix, "from a backup"));
	ck_assert(!store_healthy(store, &why));
	ck_assert_ptr_nonnull(strstr(why.fix, "from a backup"));
	ck_assert_int_eq(rename(away, path), 0);
	wait_health(true);
	write_steps(&s[1], 1);
	ck_assert_int_eq(s[1].e.class, ERR_NONE);
	ck_assert_int_eq(ask("SELECT count(*) FROM meta WHERE key = 'x'"), 0);
	ck_assert_int_eq(ask("SELECT count(*) FROM meta WHERE key = 'y'"), 1);
	ck_assert_int_eq(rename(path, away), 0);
	wait_health(false);
	ck_assert_int_eq(rename(away, path), 0);
	wait_health(true);
	free(away);
}
END_TEST

START_TEST(a_group_that_meets_a_full_disk_fails_as_a_whole)
{
	struct step s[3] = {
		{.sql = ADD_META, .text = "x"},
		{.sql = "INSERT INTO meta VALUES (?, zeroblob(30000000))", .text = "big"},
		{.sql = ADD_META, .text = "y"},
	};

	signal(SIGXFSZ, SIG_IGN);
	open_store();
	set_file_limit(1000000);
	write_steps(s, 3);
	set_file_limit(RLIM_INFINITY);
	ck_assert_int_eq(s[1].e.class, ERR_FULL);
	for (int i = 0; i < 3; i++) {
		char sql[80];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM meta WHERE key = '%s'",
			s[i].text);
		ck_assert_int_eq(ask(sql), s[i].e.class == ERR_NONE ? 1 : 0);
	}
}
END_TEST

START_TEST(the_log_is_checkpointed_while_writing)
{
	static struct step s[400];
	char *wal = xasprintf("%s-wal", path);

	open_store();
	for (int i = 0; i < 400; i++) {
		s[i].sql = "INSERT INTO meta VALUES (?, zeroblob(100000))";
		s[i].text = xasprintf("k%d", i);
		write_steps(&s[i], 1);
		ck_assert_str_eq(s[i].e.text, "");
	}
	ck_assert_int_gt(size_of(path), 30000000);
	ck_assert_int_lt(size_of(wal), 12000000);
	store_close(store);
	store = NULL;
	ck_assert_int_eq(size_of(wal), -1);
	for (int i = 0; i < 400; i++)
		free((void *)(uintptr_t)s[i].text);
	free(wal);
}
END_TEST

START_TEST(closing_finishes_what_was_queued)
{
	struct step s[50];
	struct err e = {0};

	open_store();
	for (int i = 0; i < 50; i++) {
		s[i] = (struct step){.sql = "INSERT INTO meta VALUES ('k' || (SELECT "
					    "count(*) FROM meta), ?)",
			.text = "v"};
		OK(store_write(store, run_step, step_done, &s[i], &e));
	}
	store_close(store);
	store = NULL;
	for (int i = 0; i < 50; i++) {
		ck_assert(s[i].called);
		ck_assert_str_eq(s[i].e.text, "");
	}
	done_count = 0;
	open_store();
	ck_assert_int_eq(ask("SELECT count(*) FROM meta WHERE value = 'v'"), 50);
}
END_TEST

START_TEST(a_full_queue_says_busy)
{
	static struct step s[5000];
	struct err e = {0};
	unsigned n = 0;

	open_store();
	while (n < 5000) {
		s[n] = (struct step){
			.sql = "DELETE FROM meta WHERE key = ?", .text = "v"};
		if (store_write(store, run_step, step_done, &s[n], &e) != 0)
			break;
		n++;
	}
	ck_assert_uint_eq(n, 4096);
	ck_assert_int_eq(e.class, ERR_BUSY);
	wait_done(n);
}
END_TEST

int
main(void)
{
	const char *fork_mode = getenv("CK_FORK");
	bool no_fork = fork_mode != NULL && strcmp(fork_mode, "no") == 0;
	TCase *tc = tcase_create("store");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_write_is_seen_by_a_read_after_done);
	tcase_add_test(tc, a_failing_job_undoes_only_itself);
	tcase_add_test(tc,
		notifications_of_a_group_are_merged_and_those_of_failed_jobs_are_not_sent);
	tcase_add_test(tc, all_column_types_come_back_as_they_went_in);
	tcase_add_test(tc, more_statements_than_places_are_no_trouble);
	if (!no_fork) /* it dies, as it should */
		tcase_add_test_raise_signal(
			tc, a_read_job_that_writes_is_our_bug, SIGABRT);
	tcase_add_test(tc, a_second_opener_is_refused);
	tcase_add_test(tc, every_start_has_a_higher_epoch);
	tcase_add_test(tc, a_newer_database_is_refused_untouched);
	tcase_add_test(tc, a_foreign_file_is_refused_untouched);
	tcase_add_test(tc, a_new_version_comes_after_a_copy_and_all_or_nothing);
	tcase_add_test(tc, a_full_disk_acknowledges_nothing_and_is_left_behind_by_itself);
	tcase_add_test(tc, nothing_is_acknowledged_while_the_file_is_not_under_its_name);
	tcase_add_test(tc, a_group_that_meets_a_full_disk_fails_as_a_whole);
	tcase_add_test(tc, the_log_is_checkpointed_while_writing);
	tcase_add_test(tc, closing_finishes_what_was_queued);
	tcase_add_test(tc, a_full_queue_says_busy);
	return unit_run("store", tc);
}
