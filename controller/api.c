#include "controller/api.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/seal.h"
#include "common/xalloc.h"
#include "controller/idem.h"
#include "controller/store.h"
#include "controller/throttle.h"
#include "controller/token.h"

#define SEGMENTS_MAX 8
#define TRUSTED 64

/* A call between api_start and done. */
struct pending {
	struct api *api;
	struct api_call *call;
	const struct api_route *route;
	void (*done)(struct api_call *c);
	bool held; /* no job is under way */
	struct pending *next, **prev;
};

struct api {
	struct store *store;
	const struct api_env *env;
	struct session_book *sessions;
	const struct api_route *routes;
	size_t n_routes;
	struct pending *calls;
	struct throttle *throttle;
	/* Hashes of tokens that were good lately: they are let through to be looked up
	 * even when their address is throttled, so that nobody can lock out a neighbour.
	 */
	uint8_t trusted[TRUSTED][SEAL_HASH_BYTES];
	unsigned next_trusted;
};

struct api *
api_new(struct store *s, const struct api_env *env, struct session_book *sessions)
{
	struct api *a = xcalloc(1, sizeof(*a));

	a->store = s;
	a->env = env;
	a->sessions = sessions;
	a->routes = api_routes(&a->n_routes);
	a->throttle = throttle_new();
	return a;
}

void
api_free(struct api *a)
{
	if (a == NULL)
		return;
	assert(a->calls == NULL);
	throttle_free(a->throttle);
	free(a);
}

/* Routing. */

/* What a path is to the pattern of a route. */
enum fit { FIT_NO, FIT_YES, FIT_BAD_ID };

struct match {
	int64_t id;
	const char *key;
	size_t key_len;
	const char *bad; /* the text that should have been an id */
	char letter;
};

static enum fit
fit_segment(const char *want, size_t want_len, const char *got, size_t got_len,
	struct match *m)
{
	char text[32];

	if (want[0] != '{')
		return want_len == got_len && memcmp(want, got, got_len) == 0 ? FIT_YES
									      : FIT_NO;
	if (got_len == 0)
		return FIT_NO;
	if (want_len != 3) { /* {key} */
		m->key = got;
		m->key_len = got_len;
		return FIT_YES;
	}
	snprintf(text, sizeof(text), "%.*s",
		(int)(got_len < sizeof(text) ? got_len : sizeof(text) - 1), got);
	m->bad = got;
	m->letter = want[1];
	if (api_parse_id(text, want[1], "", &m->id, NULL) != 0)
		return FIT_BAD_ID;
	return FIT_YES;
}

static enum fit
fit_path(const char *pattern, const char *path, struct match *m)
{
	enum fit worst = FIT_YES;

	*m = (struct match){.key = ""};
	while (*pattern == '/' && *path == '/') {
		size_t want = strcspn(++pattern, "/");
		size_t got = strcspn(++path, "/");
		enum fit one = fit_segment(pattern, want, path, got, m);

		if (one == FIT_NO)
			return FIT_NO;
		if (one == FIT_BAD_ID)
			worst = FIT_BAD_ID;
		pattern += want;
		path += got;
	}
	return *pattern == '\0' && *path == '\0' ? worst : FIT_NO;
}

static void
allow(struct api_call *c, const char *method)
{
	size_t n = strlen(c->allow);

	if (strstr(c->allow, method) == NULL)
		snprintf(c->allow + n, sizeof(c->allow) - n, "%s%s%s", n > 0 ? ", " : "",
			method, strcmp(method, "GET") == 0 ? ", HEAD" : "");
}

static const struct api_route *
no_route(struct api_call *c, const struct match *bad)
{
	struct err *e = &c->failure;

	if (c->allow[0] != '\0') {
		err_set(e, ERR_METHOD, "%.16s is not offered by %.200s", c->method,
			c->path);
		err_fix(e, "use %s", c->allow);
	} else if (bad->bad != NULL) {
		err_set(e, ERR_NOTFOUND, "\"%.40s\" is no id", bad->bad);
		err_fix(e, "ids here look like %c12", bad->letter);
	} else {
		err_set(e, ERR_NOTFOUND, "there is nothing at %.200s", c->path);
		err_fix(e, "ssdlab api GET /api/v1/openapi.json lists what there is");
	}
	return NULL;
}

/* Finds the route and what the path holds; NULL with c->failure and perhaps c->allow. */
static const struct api_route *
find_route(struct api *a, struct api_call *c)
{
	struct match bad = {0};

	for (size_t i = 0; i < a->n_routes; i++) {
		const struct api_route *r = &a->routes[i];
		struct match m;
		enum fit fit = fit_path(r->path, c->path, &m);

		if (fit == FIT_BAD_ID)
			bad = m;
		if (fit != FIT_YES)
			continue;
		if (strcmp(r->method, c->method) != 0) {
			allow(c, r->method);
			continue;
		}
		if (m.key_len >= sizeof(c->key_text))
			continue;
		c->id = m.id;
		memcpy(c->key_text, m.key, m.key_len);
		c->key_text[m.key_len] = '\0';
		c->key = c->key_text;
		c->allow[0] = '\0';
		return r;
	}
	return no_route(c, &bad);
}

/* Who asks. */

static int
need_role(struct pending *p, struct err *e)
{
	const struct api_route *r = p->route;
	struct api_call *c = p->call;
	enum api_role least = r->role;

	if (least == ROLE_VIEWER && c->env->open_reads)
		least = ROLE_NONE;
	if (least == ROLE_NONE)
		return 0;
	if (c->role == ROLE_NONE) {
		err_set(e, ERR_AUTH, "this request needs a token");
		return err_fix(e,
			"send it as \"Authorization: Bearer TOKEN\"; the first one "
			"is in admin.token in the state directory");
	}
	if (least == ROLE_AGENT) {
		if (c->role == ROLE_AGENT && c->node == c->id)
			return 0;
		return err_set(e, ERR_FORBIDDEN, "only the agent of n%lld may do that",
			(long long)c->id);
	}
	/* An agent has its own routes and no others. */
	if (c->role != ROLE_AGENT && c->role >= least)
		return 0;
	err_set(e, ERR_FORBIDDEN, "the token of %s may not do that", c->actor);
	return err_fix(e, "use a token with the role operator");
}

static int
authenticate(struct tx *t, struct pending *p, struct err *e)
{
	struct api_call *c = p->call;
	struct token_owner owner = {0};
	int rc = 0;

	c->actor = "anonymous";
	c->role = ROLE_NONE;
	c->node = 0;
	if (c->bearer[0] != '\0') {
		rc = token_find(t, c->bearer, &owner, e);
		if (rc < 0)
			return -1;
		if (rc == 0 && p->route->role != ROLE_NONE) {
			err_set(e, ERR_AUTH,
				"this token is not known here, or was revoked");
			return err_fix(e, "check that it belongs to this controller");
		}
	}
	if (rc == 1) {
		snprintf(c->actor_text, sizeof(c->actor_text), "%s", owner.actor);
		c->actor = c->actor_text;
		c->role = owner.role;
		c->node = owner.node;
	}
	return need_role(p, e);
}

/* The answer that a handler starts from. */
static void
clear_answer(struct api_call *c)
{
	json_decref(c->doc);
	c->doc = NULL;
	str_reset(&c->text);
	c->status = 200;
	c->type = "application/json";
	c->location[0] = '\0';
	c->etag[0] = '\0';
	c->link[0] = '\0';
	c->secret = false;
	c->stream = false;
	c->hold = false;
	c->hold_node = 0;
	c->after = NULL;
	free(c->after_data);
	c->after_data = NULL;
}

static bool
keeps_answer(const struct pending *p)
{
	return p->route->write && p->call->idempotency_key[0] != '\0' &&
	       strcmp(p->route->method, "POST") == 0;
}

/* Large documents are written out and freed here, not on the main loop. */
static void
write_out(struct api_call *c)
{
	if (c->doc == NULL)
		return;
	str_reset(&c->text);
	json_write(c->doc, &c->text);
	str_puts(&c->text, "\n");
	json_decref(c->doc);
	c->doc = NULL;
}

/* The store job of a call. */
static int
run_call(struct tx *t, void *arg, struct err *e)
{
	struct pending *p = arg;
	struct api_call *c = p->call;
	int rc;

	clear_answer(c);
	if (authenticate(t, p, e) != 0)
		return -1;
	if (keeps_answer(p)) {
		rc = idem_find(t, c, e);
		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	if (p->route->fn(t, c, e) != 0)
		return -1;
	assert(!c->hold || p->route->write);
	if (!p->route->write)
		write_out(c);
	if (keeps_answer(p) && !c->hold && !c->secret && c->status < 300)
		return idem_keep(t, c, e);
	return 0;
}

static bool
is_trusted(const struct api *a, const char *bearer)
{
	uint8_t hash[SEAL_HASH_BYTES];

	if (bearer[0] == '\0')
		return false;
	seal_hash(bearer, strlen(bearer), hash);
	for (size_t i = 0; i < TRUSTED; i++)
		if (memcmp(a->trusted[i], hash, sizeof(hash)) == 0)
			return true;
	return false;
}

/* Notes how the client proved itself, for the throttle. */
static void
judge_client(struct api *a, const struct pending *p)
{
	const struct api_call *c = p->call;
	enum err_class why = c->failure.class;
	bool guessed = why == ERR_AUTH && c->bearer[0] != '\0';

	/* A join token is checked by its handler. */
	guessed |= why == ERR_FORBIDDEN && p->route->role == ROLE_NONE;
	if (guessed)
		throttle_fail(a->throttle, c->peer, clock_mono());
	else if (c->role != ROLE_NONE && !is_trusted(a, c->bearer))
		seal_hash(c->bearer, strlen(c->bearer),
			a->trusted[a->next_trusted++ % TRUSTED]);
}

static bool
is_throttled(struct api *a, const struct api_route *r, struct api_call *c)
{
	bool proves = c->bearer[0] != '\0' ||
		      (r->role == ROLE_NONE && r->write); /* a join token in the body */

	if (!proves || !throttle_blocks(a->throttle, c->peer, clock_mono()))
		return false;
	if (is_trusted(a, c->bearer))
		return false;
	err_set(&c->failure, ERR_RATE,
		"%s sent %d tokens that are not known within a minute", c->peer,
		THROTTLE_FAILURES);
	err_fix(&c->failure, "wait a minute, and check the token");
	return true;
}

/* The answer. */

static bool
has_tag(const char *list, const char *etag)
{
	if (etag[0] == '\0')
		return false;
	/* A tag has quotes around it, so a part of another tag does not fit. */
	return strcmp(list, "*") == 0 || strstr(list, etag) != NULL;
}

static void
shape_answer(struct api_call *c)
{
	if (c->failure.class != ERR_NONE) {
		char allowed[sizeof(c->allow)];

		memcpy(allowed, c->allow, sizeof(allowed));
		clear_answer(c);
		memcpy(c->allow, allowed, sizeof(allowed));
		c->doc = api_problem(&c->failure, c->path);
		c->status = err_http_status(c->failure.class);
		c->type = "application/problem+json";
	} else if (strcmp(c->method, "GET") == 0 && has_tag(c->if_none_match, c->etag)) {
		json_decref(c->doc);
		c->doc = NULL;
		str_reset(&c->text);
		c->status = 304;
	}
}

static void
unlink_call(struct pending *p)
{
	*p->prev = p->next;
	if (p->next != NULL)
		p->next->prev = p->prev;
	p->call->pending = NULL;
}

/* done may free the call. */
static void
finish(struct pending *p)
{
	struct api_call *c = p->call;

	shape_answer(c);
	unlink_call(p);
	p->done(c);
	free(p);
}

static void
call_done(void *arg, const struct err *e)
{
	struct pending *p = arg;
	struct api_call *c = p->call;

	if (e != NULL)
		c->failure = *e;
	judge_client(p->api, p);
	if (e == NULL && c->after != NULL) {
		c->after(c);
		c->after = NULL;
		c->after_data = NULL;
	}
	if (e == NULL && c->hold && clock_mono() < c->hold_until_mono)
		p->held = true;
	else
		finish(p);
}

static void
submit(struct pending *p)
{
	struct api *a = p->api;
	struct api_call *c = p->call;
	int rc;

	p->held = false;
	if (p->route->write)
		rc = store_write(a->store, run_call, call_done, p, &c->failure);
	else
		rc = store_read(a->store, run_call, call_done, p, &c->failure);
	if (rc != 0)
		finish(p);
}

void
api_start(struct api *a, struct api_call *c, void (*done)(struct api_call *c))
{
	struct pending *p = xcalloc(1, sizeof(*p));
	struct err early = c->failure;

	*p = (struct pending){.api = a, .call = c, .done = done};
	p->next = a->calls;
	p->prev = &a->calls;
	if (p->next != NULL)
		p->next->prev = &p->next;
	a->calls = p;
	c->pending = p;
	c->env = a->env;
	c->sessions = a->sessions;
	/* A body that cannot be read is worth telling only where a request belongs. */
	err_clear(&c->failure);
	p->route = find_route(a, c);
	if (p->route == NULL || is_throttled(a, p->route, c)) {
		finish(p);
		return;
	}
	c->failure = early;
	if (c->failure.class != ERR_NONE)
		finish(p);
	else
		submit(p);
}

bool
api_abandon(struct api *a, struct api_call *c)
{
	struct pending *p = c->pending;

	assert(p != NULL && p->api == a);
	if (!p->held)
		return false;
	unlink_call(p);
	free(p);
	return true;
}

bool
api_holds(const struct api *a, int64_t node)
{
	for (const struct pending *p = a->calls; p != NULL; p = p->next)
		if (p->held && p->call->hold_node == node)
			return true;
	return false;
}

size_t
api_held(const struct api *a, int64_t **ret_nodes)
{
	size_t n = 0;

	for (const struct pending *p = a->calls; p != NULL; p = p->next)
		n += p->held;
	*ret_nodes = xcalloc(n + 1, sizeof(**ret_nodes));
	n = 0;
	for (const struct pending *p = a->calls; p != NULL; p = p->next)
		if (p->held)
			(*ret_nodes)[n++] = p->call->hold_node;
	return n;
}

/* Runs fn over the calls that are held now; fn may end its call. */
static void
for_held(struct api *a, int64_t node,
	bool (*wants)(const struct api_call *c, int64_t node),
	void (*fn)(struct pending *p))
{
	struct pending *next;

	for (struct pending *p = a->calls; p != NULL; p = next) {
		next = p->next;
		if (p->held && wants(p->call, node))
			fn(p);
	}
}

static bool
is_of_node(const struct api_call *c, int64_t node)
{
	return c->hold_node == node;
}

static bool
is_due(const struct api_call *c, int64_t now)
{
	return c->hold_until_mono <= now;
}

static bool
always(const struct api_call *c, int64_t unused)
{
	(void)c;
	(void)unused;
	return true;
}

void
api_notify_node(struct api *a, int64_t node)
{
	for_held(a, node, is_of_node, submit);
}

void
api_tick(struct api *a)
{
	/* The answer tells the time: it is made when it leaves. */
	for_held(a, clock_mono(), is_due, submit);
}

void
api_release(struct api *a)
{
	for_held(a, 0, always, finish);
}
