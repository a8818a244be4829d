/* Statements, cursors and errors of one connection; what jobs call. */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "controller/store.h"
#include "controller/store_priv.h"

struct cur {
	struct tx *t;
	sqlite3_stmt *stmt;
	struct statement *place; /* in the cache; NULL: finalised by cur_close */
	bool row;
};

static bool
is_disk_trouble(int code)
{
	return code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_CORRUPT ||
	       code == SQLITE_NOTADB || code == SQLITE_NOMEM || code == SQLITE_CANTOPEN;
}

/* The error number behind an I/O error: of the last statement, or of the write-ahead log,
 * which a COMMIT does not pass on. */
static int
cause_of(struct conn *c)
{
	sqlite3_file *log = NULL;
	int num = sqlite3_system_errno(c->db);

	if (num != 0)
		return num;
	sqlite3_file_control(c->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, (void *)&log);
	if (log != NULL && log->pMethods != NULL)
		log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &num);
	return num;
}

int
conn_fail(struct conn *c, int code, struct err *e, const char *doing)
{
	const char *text = c->db != NULL ? sqlite3_errmsg(c->db) : sqlite3_errstr(code);
	enum err_class class = ERR_STORE;
	int cause = 0;

	code &= 0xff;
	if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && c->db != NULL)
		cause = cause_of(c);
	if (code == SQLITE_CONSTRAINT)
		class = ERR_STATE;
	/* A quota and a limit of the file size come as I/O errors. */
	if (code == SQLITE_FULL || cause == ENOSPC || cause == EDQUOT || cause == EFBIG)
		class = ERR_FULL;
	err_set(e, class, "%s %s: %s%s%s", doing, c->path, text, cause != 0 ? ": " : "",
		cause != 0 ? strerrordesc_np(cause) : "");
	if (class == ERR_FULL)
		err_fix(e, "make room on the file system of %s; work goes on by itself",
			c->path);
	return -1;
}

static int
tx_fail(struct tx *t, int code, struct err *e, const char *doing)
{
	if (is_disk_trouble(code & 0xff))
		t->broken = true;
	return conn_fail(t->conn, code, e, doing);
}

int
conn_do(struct conn *c, const char *sql, struct err *e)
{
	int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : conn_fail(c, code, e, "database");
}

int
conn_int(struct conn *c, const char *sql, int64_t *ret_n, struct err *e)
{
	sqlite3_stmt *stmt;
	int code = sqlite3_prepare_v2(c->db, sql, -1, &stmt, NULL);

	*ret_n = 0;
	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		*ret_n = sqlite3_column_int64(stmt, 0);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		conn_fail(c, code, e, "read");
	sqlite3_finalize(stmt);
	return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : -1;
}

static uint32_t
hash_of(const char *sql)
{
	uint32_t h = 2166136261U; /* FNV-1a */

	for (; *sql != '\0'; sql++)
		h = (h ^ (unsigned char)*sql) * 16777619U;
	return h;
}

/* The place to use for sql: its own, a free one, or the one unused for longest; NULL when
 * all are busy or its own is. */
static struct statement *
find_place(struct conn *c, const char *sql, uint32_t hash)
{
	struct statement *best = NULL;

	for (size_t i = 0; i < STORE_STATEMENTS; i++) {
		struct statement *p = &c->statements[i];

		if (p->stmt != NULL && c->hash[i] == hash && strcmp(p->sql, sql) == 0)
			return p->busy ? NULL : p;
		if (!p->busy && (best == NULL || p->used < best->used))
			best = p;
	}
	return best;
}

static void
forget(struct statement *p)
{
	sqlite3_finalize(p->stmt);
	free(p->sql);
	*p = (struct statement){0};
}

static int
prepare(struct tx *t, const char *sql, struct cur *c, struct err *e)
{
	struct conn *conn = t->conn;
	uint32_t hash = hash_of(sql);
	struct statement *p = find_place(conn, sql, hash);
	int code;

	*c = (struct cur){.t = t, .place = p};
	if (p == NULL || p->stmt == NULL || conn->hash[p - conn->statements] != hash ||
		strcmp(p->sql, sql) != 0) {
		code = sqlite3_prepare_v3(conn->db, sql, -1,
			p != NULL ? SQLITE_PREPARE_PERSISTENT : 0, &c->stmt, NULL);
		if (code != SQLITE_OK)
			return tx_fail(t, code, e, "prepare on");
		if (p != NULL) {
			forget(p);
			p->stmt = c->stmt;
			p->sql = xstrdup(sql);
			conn->hash[p - conn->statements] = hash;
		}
	}
	if (p != NULL) {
		c->stmt = p->stmt;
		p->busy = true;
		p->used = ++conn->tick;
	}
	assert(t->write || sqlite3_stmt_readonly(c->stmt));
	t->cursors++;
	return 0;
}

static void
end_cursor(struct cur *c)
{
	if (c->place != NULL) {
		sqlite3_reset(c->stmt);
		sqlite3_clear_bindings(c->stmt);
		c->place->busy = false;
	} else {
		sqlite3_finalize(c->stmt);
	}
	c->t->cursors--;
}

static int
bind_bytes(
	sqlite3_stmt *stmt, int i, const void *p, size_t len, sqlite3_destructor_type d)
{
	if (p == NULL)
		return sqlite3_bind_null(stmt, i);
	return sqlite3_bind_blob64(stmt, i, len > 0 ? p : "", len, d);
}

static int
bind_args(struct cur *c, struct err *e, const char *fmt, va_list ap,
	sqlite3_destructor_type d)
{
	sqlite3_stmt *stmt = c->stmt;
	int code = SQLITE_OK;
	int i = 0;

	assert((size_t)sqlite3_bind_parameter_count(stmt) == strlen(fmt));
	for (; *fmt != '\0' && code == SQLITE_OK; fmt++) {
		const void *p;

		i++;
		switch (*fmt) {
		case 'i':
			code = sqlite3_bind_int64(stmt, i, va_arg(ap, int64_t));
			break;
		case 'd':
			code = sqlite3_bind_double(stmt, i, va_arg(ap, double));
			break;
		case 's':
			code = sqlite3_bind_text(
				stmt, i, va_arg(ap, const char *), -1, d);
			break;
		case 'b':
			p = va_arg(ap, const void *);
			code = bind_bytes(stmt, i, p, va_arg(ap, size_t), d);
			break;
		default:
			assert(*fmt == 'n');
			code = sqlite3_bind_null(stmt, i);
		}
	}
	return code == SQLITE_OK ? 0 : tx_fail(c->t, code, e, "bind on");
}

static int
start(struct tx *t, struct cur *c, struct err *e, const char *sql, const char *fmt,
	va_list ap)
{
	if (prepare(t, sql, c, e) != 0)
		return -1;
	if (bind_args(c, e, fmt, ap, SQLITE_TRANSIENT) == 0)
		return 0;
	end_cursor(c);
	return -1;
}

int
tx_exec(struct tx *t, struct err *e, const char *sql, const char *fmt, ...)
{
	struct cur c;
	va_list ap;
	int code;
	int rc;

	assert(t != NULL && t->write);
	if (prepare(t, sql, &c, e) != 0)
		return -1;
	va_start(ap, fmt);
	rc = bind_args(&c, e, fmt, ap, SQLITE_STATIC);
	va_end(ap);
	if (rc == 0) {
		do
			code = sqlite3_step(c.stmt);
		while (code == SQLITE_ROW);
		if (code != SQLITE_DONE)
			rc = tx_fail(t, code, e, "write to");
	}
	end_cursor(&c);
	return rc;
}

int
tx_query(struct tx *t, struct cur **ret_c, struct err *e, const char *sql,
	const char *fmt, ...)
{
	struct cur c;
	va_list ap;
	int rc;

	assert(t != NULL);
	*ret_c = NULL;
	va_start(ap, fmt);
	rc = start(t, &c, e, sql, fmt, ap);
	va_end(ap);
	if (rc != 0)
		return -1;
	*ret_c = xcalloc(1, sizeof(c));
	**ret_c = c;
	return 0;
}

int
cur_next(struct cur *c, struct err *e)
{
	int code;

	assert(c != NULL);
	code = sqlite3_step(c->stmt);
	c->row = code == SQLITE_ROW;
	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : tx_fail(c->t, code, e, "read from");
}

static void
check_column(struct cur *c, int col)
{
	assert(c != NULL && c->row);
	assert(col >= 0 && col < sqlite3_column_count(c->stmt));
}

int64_t
cur_int(struct cur *c, int col)
{
	check_column(c, col);
	return sqlite3_column_int64(c->stmt, col);
}

double
cur_real(struct cur *c, int col)
{
	check_column(c, col);
	return sqlite3_column_double(c->stmt, col);
}

const char *
cur_text(struct cur *c, int col)
{
	const unsigned char *text;

	check_column(c, col);
	text = sqlite3_column_text(c->stmt, col);
	return text != NULL ? (const char *)text : "";
}

const void *
cur_bytes(struct cur *c, int col, size_t *ret_len)
{
	const void *p;

	check_column(c, col);
	p = sqlite3_column_blob(c->stmt, col);
	*ret_len = (size_t)sqlite3_column_bytes(c->stmt, col);
	return p;
}

bool
cur_null(struct cur *c, int col)
{
	check_column(c, col);
	return sqlite3_column_type(c->stmt, col) == SQLITE_NULL;
}

void
cur_close(struct cur *c)
{
	if (c == NULL)
		return;
	end_cursor(c);
	free(c);
}

int
tx_int(struct tx *t, int64_t *ret_n, struct err *e, const char *sql, const char *fmt, ...)
{
	struct cur c;
	va_list ap;
	int rc;

	assert(t != NULL);
	va_start(ap, fmt);
	rc = start(t, &c, e, sql, fmt, ap);
	va_end(ap);
	if (rc != 0)
		return -1;
	rc = cur_next(&c, e);
	if (rc == 1 && cur_null(&c, 0))
		rc = 0;
	if (rc == 1)
		*ret_n = cur_int(&c, 0);
	end_cursor(&c);
	return rc;
}

int
tx_text(struct tx *t, char **ret_text, struct err *e, const char *sql, const char *fmt,
	...)
{
	struct cur c;
	va_list ap;
	int rc;

	assert(t != NULL);
	*ret_text = NULL;
	va_start(ap, fmt);
	rc = start(t, &c, e, sql, fmt, ap);
	va_end(ap);
	if (rc != 0)
		return -1;
	rc = cur_next(&c, e);
	if (rc == 1 && cur_null(&c, 0))
		rc = 0;
	if (rc == 1)
		*ret_text = xstrdup(cur_text(&c, 0));
	end_cursor(&c);
	return rc;
}

int64_t
tx_last_id(struct tx *t)
{
	assert(t->write);
	return sqlite3_last_insert_rowid(t->conn->db);
}

int64_t
tx_changes(struct tx *t)
{
	assert(t->write);
	return sqlite3_changes64(t->conn->db);
}

int64_t
tx_wall(struct tx *t)
{
	return t->wall;
}

int64_t
tx_mono(struct tx *t)
{
	return t->mono;
}

uint32_t
tx_epoch(struct tx *t)
{
	return t->epoch;
}

bool
tx_healthy(struct tx *t, struct err *ret_e)
{
	if (t->sick == NULL)
		return true;
	if (ret_e != NULL)
		*ret_e = *t->sick;
	return false;
}

void
notes_add(struct notes *all, enum notify what, int64_t id)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].what == what && all->items[i].id == id)
			return;
	if (all->n == all->cap) {
		all->cap = all->cap > 0 ? 2 * all->cap : 8;
		all->items = xrealloc(all->items, all->cap, sizeof(*all->items));
	}
	all->items[all->n++] = (struct note){what, id};
}

void
notes_fini(struct notes *all)
{
	free(all->items);
	*all = (struct notes){0};
}

void
tx_notify(struct tx *t, enum notify what, int64_t id)
{
	assert(t->write);
	notes_add(t->notes, what, what == NOTIFY_NODE ? id : 0);
}

void
conn_close(struct conn *c)
{
	for (size_t i = 0; i < STORE_STATEMENTS; i++)
		forget(&c->statements[i]);
	if (c->db != NULL && sqlite3_close(c->db) != SQLITE_OK)
		abort(); /* a statement was left open: our own bug */
	c->db = NULL;
}
