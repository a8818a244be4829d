/*
 * store_priv - what the files of the store share: connections, transactions, the schema.
 *
 * Only controller/store*.c and their test include it. A connection belongs to one thread.
 */
#ifndef CONTROLLER_STORE_PRIV_H
#define CONTROLLER_STORE_PRIV_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "controller/store.h"

#define STORE_STATEMENTS 256 /* prepared statements kept per connection */

/* "sslb", so that file(1) and we know the file as ours. */
#define STORE_APPLICATION_ID 0x73736c62

struct statement {
	sqlite3_stmt *stmt; /* NULL: the place is free */
	char *sql;
	uint64_t used; /* tick of the last use; the oldest makes room */
	bool busy;     /* between tx_query and cur_close */
};

/* One connection and its prepared statements. */
struct conn {
	sqlite3 *db;
	const char *path; /* borrowed, for messages */
	uint32_t hash[STORE_STATEMENTS];
	struct statement statements[STORE_STATEMENTS];
	uint64_t tick;
};

struct note {
	enum notify what;
	int64_t id;
};

struct notes {
	struct note *items;
	size_t n, cap;
};

struct tx {
	struct conn *conn;
	bool write;
	int64_t wall, mono;
	uint32_t epoch;
	unsigned cursors;	/* open now */
	bool broken;		/* the disk failed or is full: the whole group must go */
	const struct err *sick; /* the store's failure when the job was queued, or NULL */
	struct notes *notes;	/* of this job; NULL in a read job */
};

/* One version of the schema: the SQL that leads to it from the version before. */
struct migration {
	const char *sql;
};

/*
 * conn_open opens the database file and sets it up for its role: the writer makes it when
 * it does not exist, the reader can only read. ERR_STORE, ERR_FULL. conn_close.
 */
int conn_open(struct conn *c, const char *path, bool write, struct err *e);
void conn_close(struct conn *c);

/* conn_fail records what SQLite says about a failed call. Returns -1. */
int conn_fail(struct conn *c, int code, struct err *e, const char *doing);

/* conn_do runs SQL without arguments or rows. ERR_STORE, ERR_FULL, ERR_STATE. */
int conn_do(struct conn *c, const char *sql, struct err *e);

/* conn_int reads one integer, 0 when there is none. */
int conn_int(struct conn *c, const char *sql, int64_t *ret_n, struct err *e);

/*
 * conn_migrate brings the file to version n of the schema, each version in a transaction
 * of its own, after a copy to PATH.before-VERSION when there is data. Foreign and newer
 * files are refused untouched. ERR_STORE, ERR_FULL.
 */
int conn_migrate(struct conn *c, const struct migration *rows, int n, struct err *e);

/* store_schema returns the versions of the schema that this program knows. */
const struct migration *store_schema(int *ret_n);

/* notes_add adds a notification unless it is there already. */
void notes_add(struct notes *all, enum notify what, int64_t id);
void notes_fini(struct notes *all);

#endif
