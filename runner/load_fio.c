#include "runner/load_fio.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "runner/fio_doc.h"

#define DRIVE_FD 3 /* of fio */
#define ARGS_MAX 48

/* How often the caller is asked whether to go on. */
#define TICK_MS 50

/* fio, asked to end, gets so long for its last I/Os and its report. */
#define END_IN_NS (30 * NS_PER_S)

/* fio's exit code after a signal. */
#define STOPPED_CODE 128

/* More of what fio prints is not kept. */
#define OUTPUT_MAX (1U << 20)

struct args {
	char *argv[ARGS_MAX + 1];
	unsigned n;
};

struct child {
	pid_t pid;
	int fd[2];	   /* its stdout and stderr; -1 once closed */
	struct str out[2]; /* what came from there */
	int status;	   /* of waitpid */
};

static bool
is_whole(double x)
{
	return x == floor(x);
}

/* I/Os per second that one job offers in one direction. */
static double
rate_of(const struct load *l, int d)
{
	double reads = workload_read_percent(&l->workload);
	double share = d == DIR_READ ? reads : 100 - reads;

	return l->offered_iops * share / 100 / workload_workers(&l->workload);
}

static int
lacks(struct err *e, const char *what)
{
	err_set(e, ERR_INVALID, "fio cannot do this load: %s", what);
	return err_fix(
		e, "change that, or use --engine uring, which this is the check of");
}

/* How the I/Os are spread over directions, the region and workers. */
static int
check_shares(const struct load *l, struct err *e)
{
	const struct flow *w = &l->workload.streams[0];
	unsigned jobs = workload_workers(&l->workload);

	if (!is_whole(w->read_percent) || !is_whole(w->random_percent))
		return lacks(e, "its shares (--read, --access) are whole percents");
	if (l->workload.in_flight % jobs != 0)
		return lacks(e, "all its workers have the same --in-flight, and this "
				"one cannot be divided by --workers");
	if (jobs > 1 && w->random_percent > 0 && w->random_percent < 100)
		return lacks(e, "several workers with a share of random I/Os (--access)");
	if (!is_whole(rate_of(l, DIR_READ)) || !is_whole(rate_of(l, DIR_WRITE)))
		return lacks(e, "its --rate is a whole number for the reads and the "
				"writes of each worker");
	return 0;
}

static int
check_fio(const struct load *l, struct err *e)
{
	if (l->one_pass != 0)
		return lacks(e, "one pass of writes has no time");
	if (l->engine_script != NULL)
		return lacks(e, "a script is for the null engine");
	if (l->max_errors != 0)
		return lacks(e, "it ends with the first error, and --max-errors is "
				"not 0");
	if (l->compress_percent > 0 || l->dedupe_percent > 0)
		return lacks(e, "the data that it writes has no --compress and no "
				"--dedupe as ours");
	if ((workload_operations(&l->workload) & ~(1U << OP_WRITE)) != 0)
		return lacks(e, "what does not read writes (--operation write)");
	if (!workload_is_plain(&l->workload))
		return lacks(e, "its load is one stream, whose blocks have one size "
				"(--block) and go anywhere (no --align, no "
				"--distribution)");
	if (l->seed > INT64_MAX)
		return lacks(e, "its --seed is below 2^63");
	if (l->measure_ns < NS_PER_MS)
		return lacks(e, "it measures for 1 ms at least (--time)");
	return check_shares(l, e);
}

static void add(struct args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void
add(struct args *a, const char *fmt, ...)
{
	va_list ap;

	assert(a->n < ARGS_MAX);
	va_start(ap, fmt);
	if (vasprintf(&a->argv[a->n], fmt, ap) < 0)
		abort();
	va_end(ap);
	a->n++;
}

static void
add_pattern(struct args *a, const struct load *l)
{
	static const char *const names[2][3] = {
		{"read", "write", "rw"}, {"randread", "randwrite", "randrw"}};
	const struct flow *w = &l->workload.streams[0];
	uint32_t block = workload_block_max(&l->workload);
	int kind = w->read_percent >= 100 ? 0 : w->read_percent <= 0 ? 1 : 2;
	uint64_t blocks = l->length / block;

	add(a, "--rw=%s", names[w->random_percent > 0][kind]);
	if (kind == 0)
		add(a, "--readonly");
	if (kind == 2)
		add(a, "--rwmixread=%.0f", w->read_percent);
	if (w->random_percent > 0 && w->random_percent < 100)
		add(a, "--percentage_random=%.0f", w->random_percent);
	add(a, "--bs=%" PRIu32, block);
	add(a, "--offset=%" PRIu64, l->offset);
	if (w->random_percent <= 0 && workload_workers(&l->workload) > 1) {
		/* Each worker has its own part, as in runner/pattern.h. */
		blocks /= workload_workers(&l->workload);
		add(a, "--offset_increment=%" PRIu64, blocks * block);
	}
	add(a, "--size=%" PRIu64, blocks * block);
	/* Any block may come again before all others came, and data never. */
	add(a, "--norandommap");
	add(a, "--refill_buffers");
	add(a, "--randrepeat=0");
	add(a, "--randseed=%" PRIu64, l->seed);
}

static void
add_pace(struct args *a, const struct load *l)
{
	add(a, "--time_based");
	add(a, "--runtime=%" PRId64 "us", l->measure_ns / 1000);
	add(a, "--ramp_time=%" PRId64 "us", l->warmup_ns / 1000);
	add(a, "--numjobs=%u", workload_workers(&l->workload));
	add(a, "--iodepth=%u", l->workload.in_flight / workload_workers(&l->workload));
	if (l->offered_iops <= 0)
		return;
	/* One rate for both would be offered to each of them. */
	add(a, "--rate_iops=%.0f,%.0f", rate_of(l, DIR_READ), rate_of(l, DIR_WRITE));
	add(a, "--rate_process=%s",
		l->arrivals == ARRIVALS_POISSON ? "poisson" : "linear");
}

static void
make_args(struct args *a, const struct load *l)
{
	add(a, "fio");
	add(a, "--name=ssdlab");
	add(a, "--filename=/proc/self/fd/%d", DRIVE_FD);
	add(a, "--ioengine=io_uring");
	add(a, "--direct=1");
	add(a, "--thread");
	add_pattern(a, l);
	add_pace(a, l);
	/* Nothing but the I/O of the load is done to the drive. */
	add(a, "--allow_file_create=0");
	add(a, "--fallocate=none");
	add(a, "--invalidate=0");
	add(a, "--exitall_on_error=1");
	add(a, "--group_reporting");
	add(a, "--lat_percentiles=1");
	add(a, "--clat_percentiles=0");
	add(a, "--eta=never");
	add(a, "--output-format=json+");
	assert(a->argv[a->n] == NULL);
}

static void
free_args(struct args *a)
{
	for (unsigned i = 0; i < a->n; i++)
		free(a->argv[i]);
}

static int
set_files(posix_spawn_file_actions_t *fa, const int out[2], int drive)
{
	int rc = posix_spawn_file_actions_addopen(
		fa, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	for (int i = 0; i < 2 && rc == 0; i++)
		rc = posix_spawn_file_actions_adddup2(fa, out[i], STDOUT_FILENO + i);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(fa, drive, DRIVE_FD);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(fa, DRIVE_FD + 1);
	return rc;
}

/* A group of its own: an interrupt typed at the terminal comes to us alone. */
static int
launch(const struct args *a, const int out[2], int drive, pid_t *ret_pid)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setsigdefault(&at, &all);
	posix_spawnattr_setpgroup(&at, 0);
	rc = posix_spawnattr_setflags(&at,
		POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (rc == 0)
		rc = set_files(&fa, out, drive);
	if (rc == 0)
		rc = posix_spawnp(ret_pid, "fio", &fa, &at, a->argv, environ);
	posix_spawnattr_destroy(&at);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

static int
fail_absent(struct err *e)
{
	err_set(e, ERR_NOTFOUND, "the program fio is not installed here");
	return err_fix(e, "install it, for example with \"apt-get install fio\"");
}

static int
start(struct child *c, const struct load *l, struct err *e)
{
	struct args a = {.n = 0};
	int pipes[2][2] = {{-1, -1}, {-1, -1}};
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++)
		rc = pipe2(pipes[i], O_CLOEXEC) == 0 ? 0 : errno;
	if (rc == 0) {
		const int out[2] = {pipes[0][1], pipes[1][1]};

		make_args(&a, l);
		rc = launch(&a, out, l->fd, &c->pid);
		free_args(&a);
	}
	for (int i = 0; i < 2; i++) {
		if (pipes[i][1] >= 0)
			close(pipes[i][1]);
		c->fd[i] = pipes[i][0];
	}
	if (rc == ENOENT)
		return fail_absent(e);
	return rc == 0 ? 0 : err_errno(e, ERR_IO, rc, "start fio");
}

/* Takes what is there, or notes the end; blocks when nothing is. */
static void
take(struct child *c, int i)
{
	char buf[4096];
	ssize_t n = read(c->fd[i], buf, sizeof(buf));

	if (n > 0 && c->out[i].len + (size_t)n <= OUTPUT_MAX)
		str_add(&c->out[i], buf, (size_t)n);
	if (n > 0 || (n < 0 && errno == EINTR))
		return;
	close(c->fd[i]);
	c->fd[i] = -1;
}

/* Reads what fio prints until it ends it; false after one tick without the end. */
static bool
listen_for_a_tick(struct child *c)
{
	struct pollfd p[2] = {{c->fd[0], POLLIN, 0}, {c->fd[1], POLLIN, 0}};

	if (c->fd[0] < 0 && c->fd[1] < 0)
		return true;
	if (poll(p, 2, TICK_MS) > 0)
		for (int i = 0; i < 2; i++)
			if (p[i].revents != 0)
				take(c, i);
	return false;
}

/* Waits for the end of fio; true when it was stopped. */
static bool
supervise(struct child *c, const struct load *l)
{
	bool stopped = false;
	int64_t kill_at = INT64_MAX;

	while (!listen_for_a_tick(c)) {
		if (!stopped && l->on_tick != NULL && !l->on_tick(l->arg)) {
			stopped = true;
			kill(c->pid, SIGINT);
			kill_at = clock_mono() + END_IN_NS;
		}
		if (clock_mono() > kill_at) {
			kill(c->pid, SIGKILL);
			kill_at = INT64_MAX;
		}
	}
	while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
		;
	return stopped;
}

/* The last line with something in it, of what fio said as an error, or else at all. */
static void
last_line(const struct child *c, char *buf, size_t size)
{
	const struct str *s = c->out[1].len != 0 ? &c->out[1] : &c->out[0];
	const char *text = str_text(s);
	size_t end = s->len;
	size_t from;

	while (end > 0 && strchr("\n ", text[end - 1]) != NULL)
		end--;
	for (from = end; from > 0 && text[from - 1] != '\n';)
		from--;
	snprintf(buf, size, "%.*s", (int)(end - from), text + from);
}

static int
say_failed(const struct child *c, struct err *e)
{
	char line[200];

	last_line(c, line, sizeof(line));
	if (WIFSIGNALED(c->status))
		return err_set(e, ERR_IO, "fio was ended by signal %d: %s",
			WTERMSIG(c->status), line);
	/* Where exec fails in the child only, it says so as a shell does. */
	if (WEXITSTATUS(c->status) == 127)
		return fail_absent(e);
	return err_set(e, ERR_IO, "fio ended with exit code %d: %s",
		WEXITSTATUS(c->status), line);
}

/*
 * Reads one line of fio's about a failed I/O: "fio: io_u error on file F: why: write
 * offset=N, buflen=N". false when it is about something else.
 */
static bool
read_fault(const char *line, size_t len, int *ret_dir, uint64_t *ret_offset)
{
	static const char begin[] = "fio: io_u error";
	char copy[512];
	const char *at;

	snprintf(copy, sizeof(copy), "%.*s", (int)(len < 511 ? len : 511), line);
	if (strncmp(copy, begin, sizeof(begin) - 1) != 0)
		return false;
	at = strstr(copy, " offset=");
	if (at == NULL)
		return false;
	*ret_offset = strtoull(at + strlen(" offset="), NULL, 10);
	*ret_dir = strstr(copy, ": write offset=") != NULL ? DIR_WRITE : DIR_READ;
	return true;
}

/* Counts the I/Os that fio says have failed. */
static uint64_t
read_faults(const struct child *c, struct load_result *r)
{
	const char *line = str_text(&c->out[1]);
	uint64_t n = 0;

	while (*line != '\0') {
		size_t len = strcspn(line, "\n");
		uint64_t offset;
		int d;

		if (read_fault(line, len, &d, &offset)) {
			if (n++ == 0)
				r->first_error_offset = offset;
			r->errors[d]++;
		}
		line += len + (line[len] == '\n');
	}
	return n;
}

/* Whether fio ended in a way that its report tells all about. */
static bool
has_reported(const struct child *c, bool stopped, uint64_t faults)
{
	int code = WEXITSTATUS(c->status);

	if (!WIFEXITED(c->status))
		return false;
	return code == 0 || faults != 0 || (stopped && code == STOPPED_CODE);
}

/* Makes the result of what fio said. */
static int
conclude(const struct child *c, bool stopped, struct load_result *r, struct err *e)
{
	uint64_t faults = read_faults(c, r);
	size_t used;

	r->end = stopped ? LOAD_STOPPED : LOAD_DONE;
	snprintf(r->engine, sizeof(r->engine), "fio");
	/* Stopped before it could begin: it has measured nothing. */
	if (stopped && WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGINT)
		return 0;
	if (!has_reported(c, stopped, faults))
		return say_failed(c, e);
	if (fio_doc_read(str_text(&c->out[0]), c->out[0].len, r, e) != 0)
		return -1;
	used = strlen(r->engine);
	snprintf(r->engine + used, sizeof(r->engine) - used, " io_uring");
	r->written_bytes = r->bytes[DIR_WRITE];
	if (r->first_error != 0) {
		r->end = LOAD_FAILED;
		r->reason = "more I/Os failed than are allowed";
		r->faults[load_fault_of(r->first_error)] += faults;
	}
	return 0;
}

int
load_fio_run(const struct load *l, struct load_result *ret_r, struct err *e)
{
	struct child c = {.fd = {-1, -1}};
	bool stopped;
	int failed = -1;

	memset(ret_r, 0, sizeof(*ret_r));
	if (load_check(l, e) != 0 || check_fio(l, e) != 0)
		return -1;
	ret_r->start_wall_ns = clock_wall();
	if (start(&c, l, e) == 0) {
		stopped = supervise(&c, l);
		failed = conclude(&c, stopped, ret_r, e);
	}
	for (int i = 0; i < 2; i++) {
		if (c.fd[i] >= 0)
			close(c.fd[i]);
		str_fini(&c.out[i]);
	}
	return failed;
}
