#include "runner/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/crc32c.h"
#include "common/err.h"
#include "common/le.h"
#include "common/parse.h"
#include "common/xalloc.h"
#include "runner/busfault.h"

/*
 * The file begins with two heads, in pages of their own. A head is written where the
 * older one is, so that there is a whole one whenever the writing ends; the one that is
 * whole and has the higher turn counts. The number of writes follows at WRITES_AT, the
 * words at WORDS_AT, in the host's byte order.
 *
 * A head, little-endian: 0 magic, 8 version, 10 state, 12 block_bytes, 16 offset, 24
 * length, 32 seed, 40 turn, 48 boot id (text), 88 name of the drive (text), 184 checksum
 * of number and words when closed, 188 checksum of the bytes before.
 */
#define HEADS 2
#define HEAD_STEP ((size_t)4096)
#define WRITES_AT (HEADS * HEAD_STEP)
#define WORDS_AT (WRITES_AT + 4096)
#define BOOT_AT 48
#define BOOT_BYTES 40
#define DRIVE_AT 88
#define WORDS_CRC_AT (DRIVE_AT + JOURNAL_DRIVE_MAX)
#define HEAD_CHECKED (WORDS_CRC_AT + 4)
#define HEAD_BYTES (HEAD_CHECKED + 4)
#define FORMAT 3
#define BEGUN_ONE (1U << JOURNAL_GENERATION_BITS)
#define STOPS_ONE (1U << JOURNAL_STOPS_AT)

static_assert(JOURNAL_BEGUN_MAX + (JOURNAL_STOPS_MAX + 1) * JOURNAL_LOST <
		      JOURNAL_GENERATIONS / 2,
	"what may come later is told from what came before");

struct journal {
	struct journal_config c; /* as in the file */
	uint64_t blocks;
	uint64_t turn; /* of its head */
	_Atomic uint32_t *words;
	_Atomic uint64_t *writes; /* number of the last write begun */
	int fd;
	uint8_t *map;
	size_t map_bytes;
	char *cut; /* what is said when the map cannot be read any more */
	bool read_only;
};

enum state { STATE_OPEN = 1, STATE_CLOSED = 2 };

static const char magic[8] = {'s', 's', 'd', 'l', 'j', 'r', 'n', 'l'};

/* The id of this boot; empty where there is none, which equals no other. */
static void
read_boot(char boot[BOOT_BYTES])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, boot, BOOT_BYTES - 1) : -1;

	memset(boot + (n > 0 ? n : 0), 0, BOOT_BYTES - (size_t)(n > 0 ? n : 0));
	if (fd >= 0)
		close(fd);
}

static uint64_t
blocks_of(const struct journal_config *c)
{
	return c->length / c->block_bytes;
}

/* The checksum of the words and of the number of writes; takes seconds for large drives.
 */
static uint32_t
words_crc(const struct journal *j)
{
	return crc32c(0, j->map + WRITES_AT, j->map_bytes - WRITES_AT);
}

static void
encode_head(const struct journal *j, enum state state, uint8_t head[HEAD_BYTES])
{
	char boot[BOOT_BYTES];

	read_boot(boot);
	memset(head, 0, HEAD_BYTES);
	memcpy(head, magic, sizeof(magic));
	le_put16(head + 8, FORMAT);
	le_put16(head + 10, (uint16_t)state);
	le_put32(head + 12, j->c.block_bytes);
	le_put64(head + 16, j->c.offset);
	le_put64(head + 24, j->c.length);
	le_put64(head + 32, j->c.seed);
	le_put64(head + 40, j->turn);
	memcpy(head + BOOT_AT, boot, BOOT_BYTES);
	memcpy(head + DRIVE_AT, j->c.drive, strlen(j->c.drive));
	if (state == STATE_CLOSED)
		le_put32(head + WORDS_CRC_AT, words_crc(j));
	le_put32(head + HEAD_CHECKED, crc32c(0, head, HEAD_CHECKED));
}

/* Writes a head in the place of the older one, and makes all durable. */
static int
put_head(struct journal *j, enum state state, struct err *e)
{
	uint8_t head[HEAD_BYTES];

	j->turn++;
	encode_head(j, state, head);
	memcpy(j->map + j->turn % HEADS * HEAD_STEP, head, sizeof(head));
	return journal_sync(j, e);
}

static int
damaged(const char *why, struct err *e)
{
	err_set(e, ERR_STORE, "the journal %s", why);
	return err_fix(e, "begin a new journal; what the drive holds cannot be checked "
			  "with this one");
}

static bool
is_head(const uint8_t *p)
{
	return memcmp(p, magic, sizeof(magic)) == 0 && le_get16(p + 8) == FORMAT &&
	       le_get32(p + HEAD_CHECKED) == crc32c(0, p, HEAD_CHECKED);
}

/* The head that counts; NULL when there is none. */
static const uint8_t *
newest_head(const uint8_t heads[HEADS * HEAD_STEP])
{
	const uint8_t *found = NULL;

	for (size_t i = 0; i < HEADS; i++) {
		const uint8_t *p = heads + i * HEAD_STEP;

		if (is_head(p) &&
			(found == NULL || le_get64(p + 40) > le_get64(found + 40)))
			found = p;
	}
	return found;
}

/* Why there is no head. */
static int
no_head(const uint8_t heads[HEADS * HEAD_STEP], struct err *e)
{
	for (size_t i = 0; i < HEADS; i++) {
		const uint8_t *p = heads + i * HEAD_STEP;

		if (memcmp(p, magic, sizeof(magic)) != 0)
			continue;
		if (le_get16(p + 8) == FORMAT)
			return damaged(
				"is damaged: the checksum of its head is wrong", e);
		err_set(e, ERR_STORE, "the journal has format %u, known is %d",
			le_get16(p + 8), FORMAT);
		return err_fix(e, "use the ssdlab version that wrote it");
	}
	return err_set(e, ERR_INVALID, "this is no journal of ssdlab-runner");
}

static int
decode_head(struct journal *j, const uint8_t *head, struct err *e)
{
	struct journal_config *c = &j->c;

	c->block_bytes = le_get32(head + 12);
	c->offset = le_get64(head + 16);
	c->length = le_get64(head + 24);
	c->seed = le_get64(head + 32);
	j->turn = le_get64(head + 40);
	memcpy(c->drive, head + DRIVE_AT, JOURNAL_DRIVE_MAX);
	if (c->drive[JOURNAL_DRIVE_MAX - 1] != '\0' || c->block_bytes == 0 ||
		blocks_of(c) == 0 || blocks_of(c) > JOURNAL_BLOCKS_MAX)
		return damaged("is damaged: its head makes no sense", e);
	return 0;
}

static int
map(struct journal *j, struct err *e)
{
	int how = j->read_only ? MAP_PRIVATE : MAP_SHARED;
	void *p;

	j->blocks = blocks_of(&j->c);
	j->map_bytes = WORDS_AT + j->blocks * sizeof(uint32_t);
	p = mmap(
		NULL, j->map_bytes, PROT_READ | PROT_WRITE, how | MAP_POPULATE, j->fd, 0);
	if (p == MAP_FAILED)
		return err_errno(e, ERR_LIMIT, errno, "map %zu bytes of the journal",
			j->map_bytes);
	j->map = p;
	busfault_watch(j->map, j->map_bytes, j->cut, err_exit_code(ERR_STORE));
	j->words = (void *)(j->map + WORDS_AT);
	j->writes = (void *)(j->map + WRITES_AT);
	return 0;
}

/* What was left in flight is begun; more may have been begun when the host stopped, each
 * time anew. */
static void
recover(struct journal *j, bool host_stopped)
{
	for (uint64_t i = 0; i < j->blocks; i++) {
		uint32_t word = journal_word(j, i) & ~JOURNAL_BUSY;

		if (host_stopped && journal_stops(word) < JOURNAL_STOPS_MAX)
			word += STOPS_ONE;
		if (word != journal_word(j, i))
			atomic_store_explicit(&j->words[i], word, memory_order_relaxed);
	}
	if (host_stopped)
		atomic_fetch_add(j->writes, UINT64_C(1) << 32);
}

/* Reads head and words of the open file. */
static int
load(struct journal *j, bool *ret_closed, struct err *e)
{
	uint8_t heads[HEADS * HEAD_STEP];
	const uint8_t *head;
	char boot[BOOT_BYTES];
	struct stat st;

	if (fstat(j->fd, &st) != 0)
		return err_errno(e, ERR_IO, errno, "look at the journal");
	if (S_ISREG(st.st_mode) && pread(j->fd, heads, sizeof(heads), 0) < 0)
		return err_errno(e, ERR_IO, errno, "read the journal");
	if (!S_ISREG(st.st_mode) || (size_t)st.st_size < WORDS_AT)
		return err_set(e, ERR_INVALID, "this is no journal of ssdlab-runner");
	head = newest_head(heads);
	if (head == NULL)
		return no_head(heads, e);
	if (decode_head(j, head, e) != 0)
		return -1;
	if ((uint64_t)st.st_size != WORDS_AT + blocks_of(&j->c) * sizeof(uint32_t))
		return damaged("is damaged: it has been cut", e);
	if (map(j, e) != 0)
		return -1;
	*ret_closed = le_get16(head + 10) == STATE_CLOSED;
	if (*ret_closed) {
		if (le_get32(head + WORDS_CRC_AT) != words_crc(j))
			return damaged(
				"is damaged: the checksum of its words is wrong", e);
		return 0;
	}
	read_boot(boot);
	recover(j, boot[0] == '\0' || memcmp(boot, head + BOOT_AT, BOOT_BYTES) != 0);
	return 0;
}

static int
take_lock(const struct journal *j, struct err *e)
{
	if (flock(j->fd, (j->read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_errno(e, ERR_IO, errno, "lock the journal");
	err_set(e, ERR_STATE, "another process is using this journal");
	return err_fix(e, "wait for it to end");
}

static int
sync_parent(const char *path, struct err *e)
{
	char *copy = xstrdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int failed = fd < 0 || fsync(fd) != 0;

	if (failed)
		err_errno(e, ERR_IO, errno, "sync the folder of the journal");
	if (fd >= 0)
		close(fd);
	free(copy);
	return failed ? -1 : 0;
}

/* Fills a new file that has no name yet but a passing one, then names it. */
static int
fill(struct journal *j, const char *passing, const char *path, struct err *e)
{
	int failed = posix_fallocate(
		j->fd, 0, (off_t)(WORDS_AT + blocks_of(&j->c) * sizeof(uint32_t)));

	if (failed != 0)
		return err_errno(e, ERR_IO, failed, "reserve space for the journal");
	if (take_lock(j, e) != 0 || map(j, e) != 0 || put_head(j, STATE_OPEN, e) != 0)
		return -1;
	if (link(passing, path) != 0)
		return err_errno(e, ERR_IO, errno, "name the journal");
	return sync_parent(path, e);
}

static int
make(struct journal *j, const char *path, const struct journal_config *c, struct err *e)
{
	char *passing = xasprintf("%s.XXXXXX", path);
	int failed;

	j->c = *c;
	j->fd = mkostemp(passing, O_CLOEXEC);
	if (j->fd < 0) {
		failed = err_errno(e, ERR_IO, errno, "make the journal");
	} else {
		failed = fill(j, passing, path, e);
		unlink(passing);
	}
	free(passing);
	return failed;
}

int
journal_is_of(const struct journal *j, const char *drive, struct err *e)
{
	if (strcmp(j->c.drive, drive) == 0)
		return 0;
	err_set(e, ERR_INVALID, "the journal is of drive %s, and this is drive %s",
		j->c.drive, drive);
	return err_fix(e, "name the drive it was made for, or begin a new journal");
}

static int
check_same(const struct journal *j, const struct journal_config *want, struct err *e)
{
	const struct journal_config *is = &j->c;
	char was[40], now[40];

	if (journal_is_of(j, want->drive, e) != 0)
		return -1;
	if (is->offset != want->offset || is->length != want->length)
		return err_set(e, ERR_INVALID,
			"the journal is of bytes %" PRIu64 " to %" PRIu64
			" of a drive, and the load goes to %" PRIu64 " to %" PRIu64,
			is->offset, is->offset + is->length, want->offset,
			want->offset + want->length);
	if (want->block_bytes % is->block_bytes == 0)
		return 0;
	err_set(e, ERR_INVALID, "the journal knows blocks of %s, and the load writes %s",
		format_size(is->block_bytes, was, sizeof(was)),
		format_size(want->block_bytes, now, sizeof(now)));
	return err_fix(e, "use whole blocks of the journal, or begin a new one");
}

static int
check_config(const struct journal_config *c, struct err *e)
{
	assert(c->drive[0] != '\0' && memchr(c->drive, '\0', sizeof(c->drive)) != NULL);
	assert(c->block_bytes != 0 && c->length % c->block_bytes == 0);
	if (blocks_of(c) <= JOURNAL_BLOCKS_MAX)
		return 0;
	err_set(e, ERR_LIMIT, "%" PRIu64 " blocks are more than a journal can have",
		blocks_of(c));
	return err_fix(e, "use larger blocks");
}

/* Opens or makes the file; NULL c: reads an existing one. */
static int
open_file(struct journal *j, const char *path, const struct journal_config *c,
	struct err *e)
{
	bool closed;

	/* O_NONBLOCK: a FIFO would be waited for. */
	j->fd = open(path, (j->read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
	if (j->fd < 0 && errno == ENOENT && c != NULL)
		return make(j, path, c, e);
	if (j->fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, errno,
			"open the journal");
	if (take_lock(j, e) != 0 || load(j, &closed, e) != 0)
		return -1;
	if (c != NULL && (check_same(j, c, e) != 0 || put_head(j, STATE_OPEN, e) != 0))
		return -1;
	/* Not before the head tells that the checksum holds no more. What an engine that
	 * failed has kept is in flight in a closed journal, too. */
	if (closed)
		recover(j, false);
	return 0;
}

static void
release(struct journal *j)
{
	if (j->map != NULL) {
		busfault_forget(j->map);
		munmap(j->map, j->map_bytes);
	}
	if (j->fd >= 0)
		close(j->fd);
	free(j->cut);
	free(j);
}

static int
open_any(struct journal **ret_j, const char *path, const struct journal_config *c,
	struct err *e)
{
	struct journal *j = xcalloc(1, sizeof(*j));

	j->fd = -1;
	j->read_only = c == NULL;
	j->cut = xasprintf("ssdlab-runner: %s: the journal was cut while it was in use, "
			   "or its disk cannot be read\n"
			   "  begin a new journal; what the drive holds cannot be "
			   "checked with this one\n",
		path);
	if (open_file(j, path, c, e) != 0) {
		release(j);
		return err_ctx(e, "%s", path);
	}
	*ret_j = j;
	return 0;
}

int
journal_open(struct journal **ret_j, const char *path, const struct journal_config *c,
	struct err *e)
{
	return check_config(c, e) != 0 ? -1 : open_any(ret_j, path, c, e);
}

int
journal_read(struct journal **ret_j, const char *path, struct err *e)
{
	return open_any(ret_j, path, NULL, e);
}

/* What nobody can open any more, or not as a journal, keeps nothing. */
static int
check_kept(const struct journal *j, struct err *e)
{
	struct stat st;

	if (fstat(j->fd, &st) != 0)
		return err_errno(e, ERR_IO, errno, "look at the journal");
	if (st.st_nlink == 0)
		return damaged("was deleted while it was in use", e);
	if ((uint64_t)st.st_size < j->map_bytes)
		return damaged("was cut while it was in use", e);
	return 0;
}

int
journal_sync(struct journal *j, struct err *e)
{
	if (check_kept(j, e) != 0)
		return -1;
	if (msync(j->map, j->map_bytes, MS_SYNC) != 0)
		return err_errno(e, ERR_IO, errno, "sync the journal");
	return 0;
}

int
journal_close(struct journal *j, struct err *e)
{
	int failed = 0;

	if (j == NULL)
		return 0;
	/* The words first: a head that says closed must not come before them. */
	if (!j->read_only)
		failed = journal_sync(j, e) != 0 || put_head(j, STATE_CLOSED, e) != 0;
	release(j);
	return failed ? -1 : 0;
}

const struct journal_config *
journal_config(const struct journal *j)
{
	return &j->c;
}

uint64_t
journal_blocks(const struct journal *j)
{
	return j->blocks;
}

uint64_t
journal_block_of(const struct journal *j, uint64_t offset)
{
	return (offset - j->c.offset) / j->c.block_bytes;
}

uint32_t
journal_word(const struct journal *j, uint64_t block)
{
	return atomic_load_explicit(&j->words[block], memory_order_acquire);
}

uint64_t
journal_next_write(struct journal *j)
{
	return 1 + atomic_fetch_add_explicit(j->writes, 1, memory_order_relaxed);
}

uint32_t
journal_begin(struct journal *j, uint64_t block)
{
	uint32_t word = journal_word(j, block);

	do {
		if ((word & JOURNAL_BUSY) != 0 ||
			journal_begun(word) == JOURNAL_BEGUN_MAX)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(&j->words[block], &word,
		(word + BEGUN_ONE) | JOURNAL_BUSY, memory_order_acq_rel,
		memory_order_acquire));
	return journal_later(journal_acked(word), journal_ahead(word) + 1);
}

void
journal_end(struct journal *j, uint64_t block, bool acknowledged)
{
	uint32_t word = journal_word(j, block);

	assert((word & JOURNAL_BUSY) != 0);
	word = acknowledged ? journal_later(journal_acked(word), journal_ahead(word))
			    : word & ~JOURNAL_BUSY;
	atomic_store_explicit(&j->words[block], word, memory_order_release);
}

void
journal_undo(struct journal *j, uint64_t block)
{
	uint32_t word = journal_word(j, block);

	assert((word & JOURNAL_BUSY) != 0);
	atomic_store_explicit(&j->words[block], (word - BEGUN_ONE) & ~JOURNAL_BUSY,
		memory_order_release);
}
