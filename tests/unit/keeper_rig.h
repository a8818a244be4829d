/*
 * keeper_rig - a keeper of attempts in a directory of its own, with a runner that only
 * lives; what the tests of the keeper share. Include it in one file per program.
 */
#ifndef TESTS_UNIT_KEEPER_RIG_H
#define TESTS_UNIT_KEEPER_RIG_H

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/disk.h"
#include "agent/fence.h"
#include "agent/keeper.h"
#include "agent/scan.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/loop.h"
#include "common/program.h"
#include "common/spool.h"
#include "tests/unit/unit.h"

/*
 * A process that stands for a runner: it lives until it is told otherwise and writes no
 * spool, so that all of RESULT is the keeper's.
 */
static const char script[] = "#!/bin/sh\nexec sleep 60\n";

static char top[64], runner[128];
static struct loop *loop;
static struct keeper_env env;
static struct keeper *keeper;
static struct drive_list *drives;
static struct program program;
static unsigned changes, drops;

static inline void
on_changed(void *arg, const struct ward *w)
{
	(void)arg;
	(void)w;
	changes++;
}

static inline void
on_dropped(void *arg, uint64_t attempt)
{
	(void)arg;
	ck_assert_uint_eq(attempt, 15);
	drops++;
}

static inline void
make_dir(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	ck_assert_int_eq(disk_make_dir(path, NULL), 0);
}

static inline void
setup(void)
{
	static struct step step = {.kind = STEP_IDENTIFY};
	struct err e = {0};

	changes = drops = 0;
	snprintf(top, sizeof(top), "/tmp/test_keeper.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	make_dir("runs");
	make_dir("fence");
	make_dir("lock");
	snprintf(runner, sizeof(runner), "%s/runner", top);
	OK(disk_write(runner, script, strlen(script), 0700, &e));
	OK(loop_new(&loop, &e));
	env = (struct keeper_env){.loop = loop,
		.state_dir = top,
		.runner_path = runner,
		.boot_id = "boot-1",
		.max_runs = 2,
		.retention_ns = 3600 * NS_PER_S,
		.spool_limit = 1 << 20,
		.changed = on_changed,
		.dropped = on_dropped};
	keeper = keeper_new(&env);
	program = (struct program){.run = 12,
		.attempt = 15,
		.fence = 100,
		.seed = 1,
		.drive = {.kind = DRIVE_LOOP,
			.model = "M",
			.serial = "S1",
			.capacity_bytes = 64 << 20,
			.logical_block_bytes = 512,
			.numa_node = -1,
			.is_virtual = true},
		.region_length = 16 << 20,
		.steps = &step,
		.n_steps = 1};
	drives = calloc(1, sizeof(*drives));
	drive_list_add(drives, &program.drive, "/dev/ssdlab-none", "");
}

/* Ends the process of an attempt that is still there, and waits until it is gone. */
static inline void
teardown(void)
{
	char command[128];

	for (const struct ward *w = keeper_first(keeper); w != NULL; w = w->next)
		if (w->proc.pidfd >= 0)
			spawn_signal(&w->proc, SIGKILL);
	keeper_free(keeper);
	loop_free(loop);
	drive_list_free(drives);
	snprintf(command, sizeof(command), "rm -r %s", top);
	ck_assert_int_eq(system(command), 0);
}

static inline void
start(void)
{
	json_t *doc = program_to_json(&program);

	keeper_start(keeper, program.attempt, program.fence, doc, drives);
	json_decref(doc);
}

/* The token that is stored for the drive. */
static inline uint64_t
fence(void)
{
	char dir[128];
	uint64_t token = 0;

	snprintf(dir, sizeof(dir), "%s/fence", top);
	ck_assert_int_eq(fence_read(dir, drives->items[0].key, &token, NULL), 0);
	return token;
}

static inline const struct attempt *
attempt(void)
{
	const struct ward *w = keeper_first(keeper);

	ck_assert_ptr_nonnull(w);
	return w->a;
}

static inline void
on_poll(void *arg)
{
	if (attempt()->state == *(enum attempt_state *)arg)
		loop_stop(loop);
}

static inline void
on_deadline(void *arg)
{
	(void)arg;
	ck_abort_msg("state %s for too long", attempt_state_name(attempt()->state));
}

/* Runs the loop until the first attempt has come to a state. */
static inline void
await(enum attempt_state s)
{
	struct loop_timer *poll = loop_timer_start(loop, 0, 5 * NS_PER_MS, on_poll, &s);
	struct loop_timer *deadline = loop_timer_start(
		loop, 10 * NS_PER_S, 0, on_deadline, NULL);
	struct err e = {0};

	OK(loop_run(loop, &e));
	loop_timer_stop(loop, poll);
	loop_timer_stop(loop, deadline);
}

/* The reason in the RESULT of the attempt. */
static inline void
want_result(const char *state, const char *class, const char *part)
{
	struct spool_reader *r;
	struct spool_record rec;
	struct err e = {0};
	json_t *doc;
	char dir[256];

	ck_assert_int_eq(attempt()->state, ATTEMPT_EXITED);
	attempt_spool(attempt(), dir, sizeof(dir));
	OK(spool_reader_open(&r, dir, 1, &e));
	ck_assert_int_eq(spool_reader_next(r, &rec, &e), 1);
	ck_assert_int_eq(rec.kind, RECORD_RESULT);
	OK(json_parse((const char *)rec.payload, rec.len, &doc, &e));
	ck_assert_str_eq(json_text_of(doc, "state"), state);
	ck_assert_str_eq(json_text_of(doc, "class"), class);
	ck_assert_msg(strstr(json_text_of(doc, "reason"), part) != NULL, "%s",
		json_text_of(doc, "reason"));
	json_decref(doc);
	spool_reader_close(r);
}

static inline void
restart(void)
{
	struct err e = {0};

	keeper_free(keeper);
	keeper = keeper_new(&env);
	OK(keeper_load(keeper, &e));
}

/* Listens in the place of a runner. */
static inline int
listen_in(const char *dir)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/socket", dir);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	return fd;
}

#endif
