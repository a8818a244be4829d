#include "runner/purge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/flow.h"
#include "common/json.h"
#include "common/xalloc.h"
#include "runner/chore.h"
#include "runner/others.h"
#include "runner/readback.h"

/* Erased at once, so that a stop waits for no more than that. */
#define DISCARD_BYTES (UINT64_C(256) << 20)
#define ZERO_BYTES (UINT64_C(16) << 20)

/* Zeroes that are written where there is no call for them; aligned for direct I/O. */
#define WRITE_BYTES (1U << 20)
#define WRITE_ALIGN 65536

#define LOOK_NS (20 * NS_PER_MS)
#define SANITIZE_POLL_NS (200 * NS_PER_MS)
/* A drive that does not tell how its sanitize goes for so long is gone. */
#define SANITIZE_SILENCE_NS (300 * NS_PER_S)
/* An overwrite may take this long; an erase that does has hung. */
#define SANITIZE_MAX_NS (12 * 3600 * NS_PER_S)

struct work {
	const struct purge_job *j;
	const struct purge_choice *c;
	bool is_file;
	uint64_t done;	    /* bytes; discard and zero */
	int64_t begun_ns;   /* of a sanitize; 0: not yet */
	int64_t heard_ns;   /* when the drive told last how the sanitize goes */
	uint8_t *zeroes;    /* where they are written one by one; owned */
	atomic_int percent; /* of a sanitize that is done; negative: not known */
	atomic_bool ended;
};

static bool
is_regular(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int
purge_look(const struct purge_job *j, struct purge_choice *ret_c, struct err *e)
{
	struct purge_offer o = {
		.kind = j->drive->kind,
		.is_virtual = j->drive->is_virtual,
		.discards = others_check(j->fd, 1U << OP_TRIM, NULL) == 0,
	};
	struct err why = {0};

	if (o.kind == DRIVE_NVME && nvme_look(j->fd, &o.nvme, &why) != 0)
		snprintf(o.nvme_why, sizeof(o.nvme_why), "%.150s", why.text);
	return purge_choose(&o, ret_c, e);
}

static int
discard(struct work *w, uint64_t bytes)
{
	uint64_t range[2] = {w->done, bytes};

	if (w->is_file)
		return fallocate(
			w->j->fd, OTHERS_TRIM_MODE, (off_t)w->done, (off_t)bytes);
	return ioctl(w->j->fd, BLKDISCARD, range);
}

/* File systems that cannot reserve zeroes take them written. */
static int
write_zeroes(struct work *w, uint64_t bytes)
{
	if (w->zeroes == NULL) {
		w->zeroes = aligned_alloc(WRITE_ALIGN, WRITE_BYTES);
		if (w->zeroes == NULL)
			return -1;
		memset(w->zeroes, 0, WRITE_BYTES);
	}
	for (uint64_t at = 0; at < bytes;) {
		uint64_t left = bytes - at;
		ssize_t n = pwrite(w->j->fd, w->zeroes,
			left < WRITE_BYTES ? left : WRITE_BYTES, (off_t)(w->done + at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += (uint64_t)n;
	}
	return 0;
}

static int
zero(struct work *w, uint64_t bytes)
{
	uint64_t range[2] = {w->done, bytes};

	/* The kernel writes pages of zeroes to a device without a command for them. */
	if (!w->is_file)
		return ioctl(w->j->fd, BLKZEROOUT, range);
	if (fallocate(w->j->fd, OTHERS_ZERO_MODE, (off_t)w->done, (off_t)bytes) == 0)
		return 0;
	return errno == EOPNOTSUPP ? write_zeroes(w, bytes) : -1;
}

/* One piece of the drive, from its first byte to its last. */
static int
erase_piece(struct work *w, struct err *e)
{
	bool zeroes = w->c->method == PURGE_ZERO;
	uint64_t bytes = w->j->drive->capacity_bytes - w->done;
	int rc;

	if (bytes > (zeroes ? ZERO_BYTES : DISCARD_BYTES))
		bytes = zeroes ? ZERO_BYTES : DISCARD_BYTES;
	do
		rc = zeroes ? zero(w, bytes) : discard(w, bytes);
	while (rc != 0 && errno == EINTR);
	if (rc != 0)
		return err_errno(e, ERR_IO, errno, "%s %" PRIu64 " bytes at %" PRIu64,
			purge_method_name(w->c->method), bytes, w->done);
	w->done += bytes;
	if (w->done < w->j->drive->capacity_bytes)
		return 0;
	if (fdatasync(w->j->fd) != 0)
		return err_errno(e, ERR_IO, errno, "flush the drive");
	atomic_store(&w->ended, true);
	return 0;
}

static int
format(struct work *w, struct err *e)
{
	if (nvme_format(w->j->fd, &w->c->nvme, e) != 0)
		return -1;
	atomic_store(&w->ended, true);
	return 0;
}

static int
begin_sanitize(struct work *w, struct err *e)
{
	w->begun_ns = w->heard_ns = clock_mono();
	return nvme_sanitize(w->j->fd, w->c->sanitize, e);
}

static int
sanitize(struct work *w, struct err *e)
{
	enum nvme_sanitize_end end;
	double part;

	if (w->begun_ns == 0)
		return begin_sanitize(w, e);
	if (nvme_sanitize_state(w->j->fd, &end, &part, e) != 0) {
		/* it goes on while a drive is too busy to answer, or is reset */
		if (clock_mono() - w->heard_ns >= SANITIZE_SILENCE_NS)
			return -1;
		err_clear(e);
		return 0;
	}
	w->heard_ns = clock_mono();
	switch (end) {
	case NVME_SANITIZE_DONE:
		atomic_store(&w->ended, true);
		return 0;
	case NVME_SANITIZE_RUNS:
		atomic_store(&w->percent, (int)(part * 100));
		if (clock_mono() - w->begun_ns < SANITIZE_MAX_NS)
			return 0;
		return err_set(e, ERR_IO,
			"the sanitize has not ended in %" PRId64
			" hours, %.0f %% are done",
			SANITIZE_MAX_NS / (3600 * NS_PER_S), part * 100);
	case NVME_SANITIZE_FAILED:
		err_set(e, ERR_IO, "the drive says that its sanitize has failed");
		return err_fix(e, "it does no I/O before it was sanitized again: nvme "
				  "sanitize");
	case NVME_SANITIZE_NONE:
		break;
	}
	return err_set(
		e, ERR_IO, "the drive knows nothing of the sanitize it was told to do");
}

/* What the thread does again and again until w->ended. */
static int
work(void *arg, struct err *e)
{
	struct work *w = arg;

	if (atomic_load(&w->ended))
		return 0;
	switch (w->c->method) {
	case PURGE_SANITIZE:
		return sanitize(w, e);
	case PURGE_FORMAT:
		return format(w, e);
	case PURGE_DISCARD:
	case PURGE_ZERO:
		break;
	}
	return erase_piece(w, e);
}

/* Does it to its end, or until it was told to stop, which *ret_stopped says. */
static int
do_method(const struct purge_job *j, struct work *w, bool *ret_stopped, struct err *e)
{
	const struct timespec pause = {0, LOOK_NS};
	struct chore *k;

	if (chore_start(&k, work, w,
		    w->c->method == PURGE_SANITIZE ? SANITIZE_POLL_NS : 0, e) != 0)
		return -1;
	while (!atomic_load(&w->ended) && !chore_failed(k)) {
		if (!purge_can_stop(w->c->method) && j->on_hold != NULL)
			j->on_hold(
				j->arg, w->c->method, atomic_load(&w->percent) / 100.0);
		*ret_stopped |= !j->tick(j->arg);
		if (*ret_stopped && purge_can_stop(w->c->method))
			break;
		nanosleep(&pause, NULL);
	}
	return chore_stop(k, e);
}

/* Everything; 1 when it was told to stop. */
static int
purge(const struct purge_job *j, struct purge_report *r, struct readback samples[2],
	struct err *e)
{
	struct work w = {
		.j = j, .c = &r->choice, .is_file = is_regular(j->fd), .percent = -1};
	int64_t started_ns;
	bool stopped = false;
	int rc;

	/* Nothing of it can be read while that lasts, which is no fault of the drive. */
	if (r->choice.nvme.sanitize_block || r->choice.nvme.sanitize_crypto)
		if (nvme_check_sanitize(j->fd, e) != 0)
			return -1;
	rc = readback_take(j, &samples[0], e);
	if (rc != 0)
		return rc;
	started_ns = clock_mono();
	rc = do_method(j, &w, &stopped, e);
	r->took_ns = clock_mono() - started_ns;
	if (r->choice.method == PURGE_ZERO)
		r->written_bytes = w.done;
	free(w.zeroes);
	if (rc != 0 || stopped)
		return rc != 0 ? rc : 1;
	rc = readback_take(j, &samples[1], e);
	if (rc != 0)
		return rc;
	r->sampled = true;
	r->block_bytes = samples[1].block_bytes;
	readback_compare(&samples[0], &samples[1], &r->seen);
	return purge_judge(r->choice.method, j->drive->is_virtual, &r->seen, e);
}

void
purge_run(const struct purge_job *j, const struct purge_choice *c,
	struct purge_report *ret_r, struct err *e)
{
	struct readback *samples = xcalloc(2, sizeof(*samples));
	int rc;

	*ret_r = (struct purge_report){.choice = *c};
	rc = purge(j, ret_r, samples, e);
	ret_r->end = rc == 0 ? PURGE_DONE : rc > 0 ? PURGE_STOPPED : PURGE_FAILED;
	free(samples);
}

void
purge_choice_json(const struct purge_choice *c, json_t *o)
{
	json_t *list = json_array();

	json_put(o, "method", json_string(purge_method_name(c->method)));
	for (int m = 0; m < (int)c->method; m++) {
		json_t *item = json_object();

		json_put(item, "method",
			json_string(purge_method_name((enum purge_method)m)));
		json_put(item, "why", json_text(c->why_not[m]));
		json_array_append_new(list, item);
	}
	json_put(o, "passed_over", list);
}

void
purge_report_json(const struct purge_report *r, json_t *o)
{
	static const char *const ends[] = {
		[PURGE_DONE] = "done",
		[PURGE_STOPPED] = "stopped",
		[PURGE_FAILED] = "failed",
	};
	json_t *seen = r->sampled ? json_object() : json_null();

	json_put(o, "state", json_string(ends[r->end]));
	json_put(o, "took_ns", json_u64((uint64_t)r->took_ns));
	json_put(o, "written_bytes", json_u64(r->written_bytes));
	if (r->sampled) {
		json_put(seen, "block_bytes", json_integer(r->block_bytes));
		json_put(seen, "blocks", json_integer(r->seen.blocks));
		json_put(seen, "zero", json_integer(r->seen.zero));
		json_put(seen, "held_data", json_integer(r->seen.held));
		json_put(seen, "unchanged", json_integer(r->seen.unchanged));
	}
	json_put(o, "read_back", seen);
}
