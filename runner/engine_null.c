/*
 * No device: completions and failures by script, for tests and for measuring how fast
 * the rest of the runner can go. Data is not touched. Words of a script, with commas:
 *
 *   delay=50us            each I/O takes so long
 *   iops=10000            the device finishes at most so many a second, in order
 *   cliff=1ms@30s         each I/O takes 1 ms once 30 s have passed since the first, or,
 *                         with a size for the time, so many bytes have been moved
 *   throttle=1ms@2s/10s   each I/O takes 1 ms for the first 2 s of every 10 s
 *   stall=20ms@100ms      finishes nothing for 20 ms, 100 ms after the first I/O
 *   pause=20ms@100ms      stops the caller itself for 20 ms, as a busy host would
 *   error=EIO/1000        every 1000th I/O fails so; EIO, ENOSPC, ETIMEDOUT, ENODEV
 *   again=7               every 7th try is answered with EAGAIN
 *   short=1000            every 1000th I/O transfers half
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/parse.h"
#include "common/xalloc.h"
#include "runner/engine.h"

/* Waits shorter than this are spun: sleeping takes longer. */
#define SPIN_NS 60000
/* The longest sleep without a look whether the load is stopped. */
#define LOOK_NS (100 * NS_PER_MS)

struct outage {
	int64_t length_ns; /* 0: none, or over */
	int64_t after_ns;  /* since the first I/O */
};

/* A service time for later, and from when on: by time, or by bytes when they are not 0.
 */
struct cliff {
	int64_t delay_ns; /* 0: none */
	int64_t after_ns;
	uint64_t after_bytes;
};

/* Another service time for the first part of each period. */
struct throttle {
	int64_t delay_ns; /* 0: none */
	int64_t length_ns, period_ns;
};

/* queue is a circle of I/Os in the order of their due times. */
struct engine {
	unsigned depth, first, n;
	struct io **queue;
	int64_t *due_ns;
	int64_t start_ns; /* first submission; 0 before */
	int64_t last_due_ns;
	int64_t delay_ns, gap_ns;
	struct outage stall, pause;
	struct cliff cliff;
	struct throttle throttle;
	uint64_t bytes;
	int error; /* errno */
	uint64_t error_every, again_every, short_every;
	uint64_t count;
	const atomic_bool *stop;
	char text[128];
};

/* Reads the duration before a separator; *ret_rest is what follows it. `form` is what the
 * text should be. */
static int
parse_head(const char *text, char separator, const char *form, int64_t *ret_ns,
	const char **ret_rest, struct err *e)
{
	char head[32];
	const char *at = strchr(text, separator);

	if (at == NULL || (size_t)(at - text) >= sizeof(head))
		return err_set(e, ERR_INVALID, "\"%.40s\" is not %s", text, form);
	snprintf(head, sizeof(head), "%.*s", (int)(at - text), text);
	*ret_rest = at + 1;
	return parse_duration(head, ret_ns, e);
}

static int
parse_outage(const char *text, struct outage *ret_o, struct err *e)
{
	const char *start;

	if (parse_head(text, '@', "LENGTH@START", &ret_o->length_ns, &start, e) != 0)
		return -1;
	return parse_duration(start, &ret_o->after_ns, e);
}

static int
parse_cliff(const char *text, struct cliff *ret_c, struct err *e)
{
	const char *start;

	if (parse_head(text, '@', "DELAY@START", &ret_c->delay_ns, &start, e) != 0)
		return -1;
	if (parse_duration(start, &ret_c->after_ns, NULL) == 0)
		return 0;
	if (parse_size(start, &ret_c->after_bytes, NULL) == 0)
		return 0;
	return err_set(e, ERR_INVALID, "\"%.40s\" is neither a time nor a size", start);
}

static int
parse_throttle(const char *text, struct throttle *ret_t, struct err *e)
{
	static const char form[] = "DELAY@LENGTH/PERIOD";
	const char *span, *period;

	if (parse_head(text, '@', form, &ret_t->delay_ns, &span, e) != 0 ||
		parse_head(span, '/', form, &ret_t->length_ns, &period, e) != 0 ||
		parse_duration(period, &ret_t->period_ns, e) != 0)
		return -1;
	if (ret_t->length_ns < ret_t->period_ns)
		return 0;
	return err_set(
		e, ERR_INVALID, "a spell of %.20s is not shorter than its period", span);
}

static int
parse_error(struct engine *g, const char *text, struct err *e)
{
	static const struct {
		const char *name;
		int num;
	} known[] = {
		{"EIO", EIO},
		{"ENOSPC", ENOSPC},
		{"ETIMEDOUT", ETIMEDOUT},
		{"ENODEV", ENODEV},
	};
	const char *slash = strchr(text, '/');

	for (size_t i = 0; slash != NULL && i < sizeof(known) / sizeof(known[0]); i++) {
		size_t len = strlen(known[i].name);

		if (len == (size_t)(slash - text) &&
			strncmp(text, known[i].name, len) == 0)
			g->error = known[i].num;
	}
	if (g->error == 0)
		return err_set(e, ERR_INVALID, "\"%.40s\" is not ERROR/EVERY", text);
	return parse_uint(slash + 1, 1, UINT64_MAX, &g->error_every, e);
}

static int
parse_word(struct engine *g, const char *word, struct err *e)
{
	uint64_t iops;

	if (strncmp(word, "delay=", 6) == 0)
		return parse_duration(word + 6, &g->delay_ns, e);
	if (strncmp(word, "cliff=", 6) == 0)
		return parse_cliff(word + 6, &g->cliff, e);
	if (strncmp(word, "throttle=", 9) == 0)
		return parse_throttle(word + 9, &g->throttle, e);
	if (strncmp(word, "stall=", 6) == 0)
		return parse_outage(word + 6, &g->stall, e);
	if (strncmp(word, "pause=", 6) == 0)
		return parse_outage(word + 6, &g->pause, e);
	if (strncmp(word, "error=", 6) == 0)
		return parse_error(g, word + 6, e);
	if (strncmp(word, "again=", 6) == 0)
		return parse_uint(word + 6, 2, UINT64_MAX, &g->again_every, e);
	if (strncmp(word, "short=", 6) == 0)
		return parse_uint(word + 6, 1, UINT64_MAX, &g->short_every, e);
	if (strncmp(word, "iops=", 5) != 0)
		return err_set(e, ERR_INVALID, "unknown word \"%.40s\"", word);
	if (parse_uint(word + 5, 1, 1000000000, &iops, e) != 0)
		return -1;
	g->gap_ns = NS_PER_S / (int64_t)iops;
	return 0;
}

static int
parse_script(struct engine *g, const char *script, struct err *e)
{
	char *copy = xstrdup(script);
	char *state = NULL;
	int failed = 0;

	for (char *word = strtok_r(copy, ",", &state); word != NULL && failed == 0;
		word = strtok_r(NULL, ",", &state))
		failed = parse_word(g, word, e);
	free(copy);
	return failed != 0 ? err_ctx(e, "script of the null engine") : 0;
}

static void
null_close(struct engine *g)
{
	if (g == NULL)
		return;
	free(g->queue);
	free(g->due_ns);
	free(g);
}

static int
null_open(struct engine **ret_g, const struct engine_config *c, struct err *e)
{
	struct engine *g = xcalloc(1, sizeof(*g));

	g->depth = c->depth;
	g->stop = c->stop;
	g->queue = xcalloc(c->depth, sizeof(struct io *));
	g->due_ns = xcalloc(c->depth, sizeof(int64_t));
	snprintf(
		g->text, sizeof(g->text), "null: %s", c->script != NULL ? c->script : "");
	if (c->script != NULL && parse_script(g, c->script, e) != 0) {
		null_close(g);
		return -1;
	}
	*ret_g = g;
	return 0;
}

static void
sleep_until(int64_t ns)
{
	struct timespec ts = {ns / NS_PER_S, ns % NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* How long an I/O takes that starts now. */
static int64_t
service(const struct engine *g, int64_t now)
{
	const struct cliff *c = &g->cliff;
	const struct throttle *t = &g->throttle;
	int64_t since = now - g->start_ns;

	if (t->delay_ns != 0 && since % t->period_ns < t->length_ns)
		return t->delay_ns;
	if (c->delay_ns != 0 &&
		(c->after_bytes != 0 ? g->bytes > c->after_bytes : since >= c->after_ns))
		return c->delay_ns;
	return g->delay_ns;
}

/* When an I/O that starts now will be done. */
static int64_t
due(struct engine *g, int64_t now)
{
	int64_t t = now + service(g, now);
	int64_t stall = g->start_ns + g->stall.after_ns;

	if (t < g->last_due_ns + g->gap_ns)
		t = g->last_due_ns + g->gap_ns;
	if (g->stall.length_ns != 0 && t >= stall && t < stall + g->stall.length_ns)
		t = stall + g->stall.length_ns;
	g->last_due_ns = t;
	return t;
}

static bool
each(uint64_t count, uint64_t every)
{
	return every != 0 && count % every == 0;
}

static int32_t
result_of(struct engine *g, const struct io *io)
{
	g->count++;
	if (each(g->count, g->again_every))
		return -EAGAIN;
	if (each(g->count, g->error_every))
		return -g->error;
	if (each(g->count, g->short_every))
		return (int32_t)(io->length / 2);
	return (int32_t)io->length;
}

static int
null_submit(struct engine *g, struct io *const io[], unsigned n)
{
	int64_t now = io[0]->submit_ns;
	unsigned room = g->depth - g->n;
	unsigned taken = n < room ? n : room;

	if (g->start_ns == 0)
		g->start_ns = now;
	for (unsigned i = 0; i < taken; i++) {
		unsigned at = g->first + g->n++;

		if (at >= g->depth)
			at -= g->depth;
		io[i]->result = result_of(g, io[i]);
		g->bytes += io[i]->length;
		g->queue[at] = io[i];
		g->due_ns[at] = due(g, now);
	}
	return (int)taken;
}

/* Waits for the first due time, at most until `until`; returns the time. */
static int64_t
wait_due(struct engine *g, int64_t now, int64_t until)
{
	int64_t t = g->n != 0 && g->due_ns[g->first] < until ? g->due_ns[g->first]
							     : until;

	if (t - now > SPIN_NS)
		sleep_until(t - SPIN_NS / 2);
	do {
		now = clock_mono();
	} while (now < t);
	return now;
}

/* Stops the caller, until the pause is over or the load is stopped. */
static void
pause_caller(struct engine *g, int64_t now)
{
	int64_t end = now + g->pause.length_ns;

	g->pause.length_ns = 0;
	while (now < end && (g->stop == NULL || !atomic_load(g->stop))) {
		sleep_until(end - now < LOOK_NS ? end : now + LOOK_NS);
		now = clock_mono();
	}
}

static int
null_reap(struct engine *g, struct io *ret_io[], unsigned max, int64_t wait_ns)
{
	int64_t now = clock_mono();
	int n = 0;

	if (g->pause.length_ns != 0 && g->start_ns != 0 &&
		now >= g->start_ns + g->pause.after_ns) {
		pause_caller(g, now);
		now = clock_mono();
	}
	if (wait_ns > 0 && (g->n == 0 || g->due_ns[g->first] > now))
		now = wait_due(g, now, now + wait_ns);
	for (; (unsigned)n < max && g->n != 0 && g->due_ns[g->first] <= now; n++) {
		ret_io[n] = g->queue[g->first];
		ret_io[n]->complete_ns = now;
		g->first = g->first + 1 == g->depth ? 0 : g->first + 1;
		g->n--;
	}
	return n;
}

static const char *
null_describe(const struct engine *g)
{
	return g->text;
}

const struct engine_ops engine_null = {
	.name = "null",
	.no_device = true,
	.open = null_open,
	.submit = null_submit,
	.reap = null_reap,
	.describe = null_describe,
	.close = null_close,
};
