/* Opening the database file: whose it is, its settings, its version. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "controller/store_priv.h"

#include "controller/schema_sql.h"

const struct migration *
store_schema(int *ret_n)
{
	*ret_n = (int)(sizeof(schema_files) / sizeof(schema_files[0]));
	return schema_files;
}

/*
 * The page size must come before the first page; WAL keeps readers and the writer apart;
 * FULL because an acknowledgement lets an agent forget its data.
 */
static const char writer_settings[] = "PRAGMA page_size = 8192;"
				      "PRAGMA journal_mode = WAL;"
				      "PRAGMA synchronous = FULL;"
				      "PRAGMA wal_autocheckpoint = 0;"
				      "PRAGMA journal_size_limit = 67108864;"
				      "PRAGMA foreign_keys = ON;"
				      "PRAGMA cache_size = -8000;"
				      "PRAGMA mmap_size = 0;"
				      "PRAGMA temp_store = MEMORY;"
				      "PRAGMA trusted_schema = OFF;";

static const char reader_settings[] = "PRAGMA query_only = ON;"
				      "PRAGMA wal_autocheckpoint = 0;"
				      "PRAGMA cache_size = -4000;"
				      "PRAGMA mmap_size = 0;"
				      "PRAGMA temp_store = MEMORY;"
				      "PRAGMA trusted_schema = OFF;";

/* Nothing may be written to a file before it is known to be ours. */
static int
check_owner(struct conn *c, struct err *e)
{
	int64_t id;
	int64_t objects;

	if (conn_int(c, "PRAGMA application_id", &id, e) != 0 ||
		conn_int(c, "SELECT count(*) FROM sqlite_schema", &objects, e) != 0)
		return -1;
	if (id == STORE_APPLICATION_ID || (id == 0 && objects == 0))
		return 0;
	err_set(e, ERR_STORE,
		"%s is a database of another program (application id %" PRId64 ")",
		c->path, id);
	return err_fix(e, "give another state_dir, or move the file away");
}

int
conn_open(struct conn *c, const char *path, bool write, struct err *e)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	int code;

	c->path = path;
	flags |= write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
		       : SQLITE_OPEN_READONLY;
	code = sqlite3_open_v2(path, &c->db, flags, NULL);
	if (code != SQLITE_OK)
		return conn_fail(c, code, e, "open");
	sqlite3_extended_result_codes(c->db, 1);
	sqlite3_busy_timeout(c->db, 5000);
	if (!write)
		return conn_do(c, reader_settings, e);
	if (check_owner(c, e) != 0)
		return -1;
	return 0;
}

static int
sync_path(const char *path, int flags, struct err *e)
{
	int fd = open(path, flags | O_CLOEXEC);
	int rc = 0;

	if (fd < 0 || fsync(fd) != 0)
		rc = err_errno(e, ERR_IO, errno, "sync %s", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* The copy gets its name only when it is whole. */
static int
back_up(struct conn *c, int version, struct err *e)
{
	char *name = xasprintf("%s.before-%d", c->path, version);
	char *part = xasprintf("%s.part", name);
	char *dir = xstrdup(c->path);
	char *sql = sqlite3_mprintf("VACUUM INTO %Q", part);
	int rc = -1;

	if (sql == NULL)
		goto out;
	if (unlink(part) != 0 && errno != ENOENT) {
		err_errno(e, ERR_IO, errno, "remove %s", part);
		goto out;
	}
	if (conn_do(c, sql, e) != 0 || sync_path(part, O_RDWR, e) != 0)
		goto out;
	if (rename(part, name) != 0) {
		err_errno(e, ERR_IO, errno, "rename %s", part);
		goto out;
	}
	rc = sync_path(dirname(dir), O_RDONLY | O_DIRECTORY, e);
	if (rc == 0)
		log_info("store.backup", "file=%s", log_q(name));
out:
	if (rc != 0)
		err_ctx(e, "the copy before a new version of the database");
	sqlite3_free(sql);
	free(dir);
	free(part);
	free(name);
	return rc;
}

static int
apply(struct conn *c, const struct migration *m, int version, struct err *e)
{
	char end[160];

	snprintf(end, sizeof(end),
		"PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		STORE_APPLICATION_ID, version);
	if (conn_do(c, "BEGIN IMMEDIATE", e) == 0 && conn_do(c, m->sql, e) == 0 &&
		conn_do(c, end, e) == 0) {
		log_info("store.migrated", "version=%d", version);
		return 0;
	}
	if (!sqlite3_get_autocommit(c->db))
		conn_do(c, "ROLLBACK", NULL);
	return err_ctx(e, "version %d of the database", version);
}

int
conn_migrate(struct conn *c, const struct migration *rows, int n, struct err *e)
{
	int64_t version;

	if (conn_int(c, "PRAGMA user_version", &version, e) != 0)
		return -1;
	if (version > n) {
		err_set(e, ERR_STORE,
			"%s has version %" PRId64
			" of the database; this program knows versions up to %d",
			c->path, version, n);
		return err_fix(e,
			"install the newer ssdlab again, or go back to the copy "
			"made before the change of version");
	}
	if (conn_do(c, writer_settings, e) != 0)
		return -1;
	if (version > 0 && version < n && back_up(c, (int)version + 1, e) != 0)
		return -1;
	for (int v = (int)version; v < n; v++)
		if (apply(c, &rows[v], v + 1, e) != 0)
			return -1;
	return 0;
}
