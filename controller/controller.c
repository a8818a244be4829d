#include "controller/controller.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/notify.h"
#include "common/seal.h"
#include "common/xalloc.h"
#include "config.h"
#include "controller/api.h"
#include "controller/boot.h"
#include "controller/http.h"
#include "controller/link.h"
#include "controller/liveness.h"
#include "controller/sched.h"
#include "controller/session.h"
#include "controller/sse.h"
#include "controller/store.h"
#include "controller/suites.h"
#include "controller/token.h"

#define SCHED_EVERY_NS (5 * NS_PER_S)
#define API_TICK_NS (NS_PER_S / 2)
#define ROOM_TRY_NS (5 * NS_PER_S)
#define ROOM_LOG_NS (60 * NS_PER_S)
/* A try may copy a large database: what TimeoutStartSec gives it. */
#define ROOM_TIME_NS (900 * NS_PER_S)

struct controller {
	const struct controller_options *options;
	struct boot boot;
	struct loop *loop;
	struct store *store;
	struct session_book *sessions;
	struct api_env env;
	char *public_url; /* env points to it */
	struct api *api;
	struct sse *sse;
	struct http *http;
	struct link *link;
	struct loop_timer *sched_timer, *liveness_timer, *api_timer, *watchdog_timer;
	struct liveness liveness;
	bool liveness_runs;
	bool sched_runs;  /* a pass is queued or under way */
	bool sched_again; /* and something has changed since */
	bool ending;
};

static const struct opt rows[] = {
#define OPT(name, type, preset, min, max, help)                                          \
	{#name, OPT_##type, offsetof(struct controller_options, name), preset, min, max, \
		help},
#include "controller/opt_tbl.h"
#undef OPT
};

const struct opt_set controller_option_set = {
	.program = "ssdlab-controller",
	.summary = "schedules SSD test campaigns over many test servers, keeps and "
		   "compares their results",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
	.default_file = SSDLAB_CONF_DIR "/controller.conf",
};

/* Jobs that the controller itself starts. */

/* The store tells of its own failures; one line per pass would drown them. */
static void
log_job(struct controller *c, const char *event, const struct err *e)
{
	if (e != NULL)
		log_failure(
			store_healthy(c->store, NULL) ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
			event, e);
}

static void schedule(void *arg);

static void
sched_done(void *arg, const struct err *e)
{
	struct controller *c = arg;

	c->sched_runs = false;
	log_job(c, "sched.pass", e);
	if (c->sched_again && !c->ending)
		schedule(c);
}

static void
schedule(void *arg)
{
	struct controller *c = arg;
	struct err e = {0};

	c->sched_again = c->sched_runs;
	if (c->sched_runs)
		return;
	c->sched_runs = store_write(c->store, sched_pass, sched_done, c, &e) == 0;
	if (!c->sched_runs)
		log_job(c, "sched.pass", &e);
}

static int
run_liveness(struct tx *t, void *arg, struct err *e)
{
	struct controller *c = arg;

	return liveness_pass(t, &c->liveness, e);
}

static void
liveness_done(void *arg, const struct err *e)
{
	struct controller *c = arg;

	c->liveness_runs = false;
	free(c->liveness.held);
	c->liveness.held = NULL;
	log_job(c, "liveness.pass", e);
}

static void
look_for_silence(void *arg)
{
	struct controller *c = arg;
	struct err e = {0};

	if (c->liveness_runs)
		return;
	c->liveness.n_held = api_held(c->api, &c->liveness.held);
	c->liveness_runs = true;
	if (store_write(c->store, run_liveness, liveness_done, c, &e) != 0)
		liveness_done(c, &e);
}

static void
on_notify(void *arg, enum notify what, int64_t id)
{
	struct controller *c = arg;

	switch (what) {
	case NOTIFY_EVENTS:
		sse_notify(c->sse);
		break;
	case NOTIFY_NODE:
		api_notify_node(c->api, id);
		break;
	case NOTIFY_SCHED:
		schedule(c);
		break;
	}
}

static void
tick_api(void *arg)
{
	struct controller *c = arg;

	api_tick(c->api);
}

/* Alive is: this loop turns, and the writer has been seen within the same time. */
static void
feed_watchdog(void *arg)
{
	struct controller *c = arg;

	if (clock_mono() - store_heartbeat(c->store) < 2 * notify_watchdog_ns())
		notify_alive();
}

static void
on_signal(void *arg)
{
	struct controller *c = arg;

	c->ending = true;
	loop_stop(c->loop);
}

/* The start. */

struct first {
	struct controller *c;
	store_fn *fn;
	void *arg;
	bool done;
	struct err e;
};

static int
run_first(struct tx *t, void *arg, struct err *e)
{
	struct first *f = arg;

	return f->fn(t, f->arg, e);
}

static void
first_done(void *arg, const struct err *e)
{
	struct first *f = arg;

	f->done = true;
	if (e != NULL)
		f->e = *e;
	loop_stop(f->c->loop);
}

/* Runs a write job before anything else runs, and waits for it. */
static int
do_first(struct controller *c, store_fn *fn, void *arg, struct err *e)
{
	struct first f = {.c = c, .fn = fn, .arg = arg};

	if (store_write(c->store, run_first, first_done, &f, e) != 0)
		return -1;
	while (!f.done)
		if (loop_run(c->loop, e) != 0)
			abort(); /* f is in use by the store */
	if (f.e.class == ERR_NONE)
		return 0;
	*e = f.e;
	return -1;
}

static int
count_tokens(struct tx *t, void *arg, struct err *e)
{
	return token_count(t, arg, e);
}

static int
put_admin_token(struct tx *t, void *arg, struct err *e)
{
	return token_put(t, "admin", "operator", arg, e);
}

/*
 * A first token, when no operator has one: in the file before in the database, so that a
 * start that is cut short leaves none that nobody knows. One that is in the file already
 * is somebody's: it is taken, and never written over.
 */
static int
make_admin_token(struct controller *c, struct err *e)
{
	char token[SEAL_TOKEN_CHARS + 1];
	int64_t n = 0;
	int rc;

	if (do_first(c, count_tokens, &n, e) != 0)
		return -1;
	if (n > 0)
		return 0;
	rc = boot_read_token(&c->boot, token, e);
	if (rc < 0)
		return -1;
	if (rc == 0) {
		seal_token_new(token);
		rc = boot_write_token(&c->boot, token, e);
	} else {
		rc = 0;
	}
	if (rc == 0)
		rc = do_first(c, put_admin_token, token, e);
	seal_wipe(token, sizeof(token));
	if (rc == 0)
		log_info("controller.token", "dir=%s file=admin.token",
			log_q(c->options->state_dir));
	return rc;
}

static int
open_loop(struct controller *c, struct err *e)
{
	static const int ends[] = {SIGTERM, SIGINT};

	/* A client that leaves, or a file that may not grow, is an error of one call. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* Nor does a terminal that closes end what nodes depend on. */
	signal(SIGHUP, SIG_IGN);
	if (loop_new(&c->loop, e) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (loop_signal(c->loop, ends[i], on_signal, c, e) != 0)
			return -1;
	return 0;
}

static int
open_http(struct controller *c, struct err *e)
{
	struct http_config config = {
		.address = c->options->http_address,
		.port = (uint16_t)c->options->http_port,
		.key = c->boot.tls.key_pem,
		.cert = c->boot.tls.cert_pem,
	};

	c->env.pin = c->boot.tls.pin;
	c->env.data_port = (uint16_t)c->options->data_port;
	c->env.open_reads = c->boot.open_reads;
	c->env.late_ns = c->options->late_after;
	c->env.keys = c->boot.keys;
	c->sessions = session_book_new();
	c->api = api_new(c->store, &c->env, c->sessions);
	c->sse = sse_new(c->store, c->loop);
	if (http_open(&c->http, c->loop, c->api, c->sse, &config, e) != 0)
		return -1;
	c->public_url = boot_public_url(&c->boot, http_port(c->http));
	c->env.public_url = c->public_url;
	return 0;
}

static int
open_link(struct controller *c, struct err *e)
{
	struct link_env env = {
		.loop = c->loop,
		.store = c->store,
		.sessions = c->sessions,
		.sse = c->sse,
		.url = c->boot.data_url,
	};

	return link_open(&c->link, &env, e);
}

static void
start_timers(struct controller *c)
{
	int64_t watchdog = notify_watchdog_ns();

	c->liveness.late_ns = c->options->late_after;
	c->liveness.lost_ns = c->options->lost_after;
	c->liveness.started_mono = clock_mono();
	store_on_notify(c->store, on_notify, c);
	c->sched_timer = loop_timer_start(c->loop, 0, SCHED_EVERY_NS, schedule, c);
	c->liveness_timer = loop_timer_start(
		c->loop, LIVENESS_EVERY_NS, LIVENESS_EVERY_NS, look_for_silence, c);
	c->api_timer = loop_timer_start(c->loop, API_TICK_NS, API_TICK_NS, tick_api, c);
	if (watchdog > 0)
		c->watchdog_timer = loop_timer_start(
			c->loop, watchdog, watchdog, feed_watchdog, c);
}

static int
start(struct controller *c, struct err *e)
{
	char *suites = c->options->suite_dir;

	if (boot_prepare(&c->boot, c->options, e) != 0 || open_loop(c, e) != 0 ||
		store_open(&c->store, c->boot.db_path, c->loop, e) != 0 ||
		boot_load_keys(&c->boot, e) != 0 || make_admin_token(c, e) != 0 ||
		do_first(c, suites_load, suites, e) != 0 || open_http(c, e) != 0 ||
		open_link(c, e) != 0 ||
		boot_write_client(&c->boot, http_port(c->http), e) != 0)
		return -1;
	start_timers(c);
	log_info("controller.start",
		"version=%s epoch=%" PRIu32 " address=%s port=%u url=%s data=%s tls=%s",
		PACKAGE_VERSION, store_epoch(c->store), log_q(c->options->http_address),
		http_port(c->http), log_q(c->public_url), log_q(c->boot.data_url),
		c->options->tls ? "yes" : "no");
	notify_status(c->public_url);
	notify_ready();
	return 0;
}

/* In reverse; what is under way in the store ends before what it answers to. */
static void
stop(struct controller *c)
{
	c->ending = true;
	if (c->loop != NULL) {
		loop_timer_stop(c->loop, c->watchdog_timer);
		loop_timer_stop(c->loop, c->api_timer);
		loop_timer_stop(c->loop, c->liveness_timer);
		loop_timer_stop(c->loop, c->sched_timer);
	}
	if (c->http != NULL) {
		http_quiesce(c->http);
		api_release(c->api);
		sse_stop(c->sse);
	}
	link_close(c->link);
	if (c->store != NULL)
		store_drain(c->store);
	http_close(c->http);
	sse_free(c->sse);
	api_free(c->api);
	session_book_free(c->sessions);
	store_close(c->store);
	loop_free(c->loop);
	free(c->public_url);
	seal_wipe(&c->env.keys, sizeof(c->env.keys));
	boot_fini(&c->boot);
}

static int
serve(struct controller *c, struct err *e)
{
	int rc = start(c, e);

	while (rc == 0 && !c->ending)
		rc = loop_run(c->loop, e);
	return rc;
}

static void
on_room_timer(void *arg)
{
	struct controller *c = arg;

	loop_stop(c->loop);
}

/* Lets ROOM_TRY_NS pass: 1, 0 when asked to end meanwhile, or -1. */
static int
wait_for_room(struct err *e)
{
	struct controller c = {0};
	int rc = open_loop(&c, e);

	if (rc == 0) {
		loop_timer_start(c.loop, ROOM_TRY_NS, 0, on_room_timer, &c);
		rc = loop_run(c.loop, e);
	}
	loop_free(c.loop);
	return rc != 0 ? -1 : !c.ending;
}

/* Tells of a start that found no room: systemd each time, the log once a minute. */
static void
tell_of_no_room(const struct controller_options *o, struct err *e, int64_t *told)
{
	int64_t now = clock_mono();
	char *status = xasprintf("waits for room: %s", e->text);

	err_fix(e, "make room on the file system of %s; the start goes on by itself",
		o->state_dir);
	if (*told == 0 || now - *told >= ROOM_LOG_NS) {
		log_failure(LOG_LEVEL_WARN, "controller.wait", e);
		*told = now;
	}
	notify_status(status);
	notify_more_time(ROOM_TIME_NS);
	free(status);
}

int
controller_run(const struct controller_options *o, struct err *e)
{
	int64_t told = 0;
	int again;
	int rc;

	umask(077);
	do {
		struct controller *c = xcalloc(1, sizeof(*c));

		c->options = o;
		c->env.public_url = "";
		rc = serve(c, e);
		again = rc != 0 && e->class == ERR_FULL && !c->ending;
		if (!again)
			notify_stopping();
		stop(c);
		free(c);
		if (again) {
			tell_of_no_room(o, e, &told);
			err_clear(e);
			again = wait_for_room(e);
			rc = again < 0 ? -1 : 0;
		}
	} while (again > 0);
	if (rc == 0)
		log_info("controller.stop", "why=%s", log_q("asked to end"));
	return rc;
}

/* A token for when there is none left. */

struct new_token {
	const char *name, *role, *text;
};

static int
put_token(struct tx *t, void *arg, struct err *e)
{
	const struct new_token *n = arg;

	return token_put(t, n->name, n->role, n->text, e);
}

/* Files that another user makes beside the database would lock its owner out. */
static int
check_database(const char *path, struct err *e)
{
	struct stat st;

	int rc = stat(path, &st);

	if (rc != 0 && errno != ENOENT)
		return err_errno(e, ERR_IO, errno, "database %s", path);
	if (rc != 0 || st.st_size == 0) {
		err_set(e, ERR_NOTFOUND, "there is no database %s%s", path,
			rc == 0 ? ": the file is empty" : "");
		return err_fix(e, "give the state directory with --state-dir");
	}
	if (st.st_uid == geteuid())
		return 0;
	err_set(e, ERR_FORBIDDEN, "database %s is that of user %u", path,
		(unsigned)st.st_uid);
	return err_fix(e,
		"run this as its owner: sudo -u '#%u' ssdlab-controller token ...",
		(unsigned)st.st_uid);
}

int
controller_token(const struct controller_options *o, const char *name, const char *role,
	char ret_token[SEAL_TOKEN_CHARS + 1], struct err *e)
{
	struct new_token n = {name, role, ret_token};
	struct controller *c;
	int rc;

	if (token_check(name, role, e) != 0)
		return -1;
	umask(077);
	c = xcalloc(1, sizeof(*c));
	c->options = c->boot.options = o;
	c->boot.db_path = xasprintf("%s/ssdlab.db", o->state_dir);
	seal_token_new(ret_token);
	rc = check_database(c->boot.db_path, e);
	if (rc == 0)
		rc = loop_new(&c->loop, e);
	if (rc == 0)
		rc = store_open(&c->store, c->boot.db_path, c->loop, e);
	if (rc == 0 && strcmp(name, "admin") == 0)
		rc = boot_write_token(&c->boot, ret_token, e);
	if (rc == 0)
		rc = do_first(c, put_token, &n, e);
	if (rc != 0 && e->class == ERR_FULL) {
		e->fix[0] = '\0';
		err_fix(e, "make room on the file system of %s and try again",
			o->state_dir);
	}
	stop(c);
	free(c);
	return rc;
}
