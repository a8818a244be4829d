/*
 * api - the REST API: routes, authentication, problem documents; no HTTP library, no SQL
 * of its own.
 *
 * http.c gives a request to api_start on the main loop; api finds the route in api_tbl.h
 * and runs its handler as a store job; the answer comes back on the main loop through the
 * done function. Handlers live in controller/api_*.c, one file per resource.
 */
#ifndef CONTROLLER_API_H
#define CONTROLLER_API_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/seal.h"
#include "common/str.h"

struct api;
struct session_book;
struct store;
struct tx;

enum api_role { ROLE_NONE, ROLE_VIEWER, ROLE_AGENT, ROLE_OPERATOR };

/* Facts that handlers need; set before the first request, never changed after. */
struct api_env {
	const char *public_url; /* "https://host:7443", what agents are told to dial */
	const char *pin;	/* "sha256//...", "" without TLS */
	uint16_t data_port;
	bool open_reads;       /* GET needs no token */
	int64_t late_ns;       /* of silence, after which a node is not called online */
	struct seal_pair keys; /* the controller's static pair */
};

/* One request and its answer; made by http.c, filled by api and the handler. */
struct api_call {
	/* request; all borrowed from http.c but body */
	const char *method;
	const char *path;     /* decoded, without query */
	const char *bearer;   /* of the Authorization header, or "" */
	const char *if_match; /* header, or "" */
	const char *if_none_match;
	const char *idempotency_key;
	const char *last_event_id;
	const char *accept;
	const char *peer; /* address of the client, for the record */
	/* query parameter by name, or NULL */
	const char *(*query)(const struct api_call *c, const char *name);
	const char *args; /* the whole query, "name=value&...", escaped; or "" */
	void *http;	  /* of http.c */
	json_t *body; /* object, or NULL when the request has none; owned by the call */
	int64_t id;   /* number of the {id} in the path: 12 for r12; 0 when the route has
			 none */
	const char *key;   /* the {key} in the path (suite name, ...), or "" */
	const char *actor; /* name of the token, "n3" for an agent, "anonymous" */
	enum api_role role;
	int64_t node; /* of an agent's token, else 0 */
	const struct api_env *env;
	struct session_book
		*sessions;	 /* main loop only: for after, not for the handler */
	struct pending *pending; /* of api.c while the call is under way */
	char actor_text[80];	 /* what actor and key point to */
	char key_text[128];
	/* answer; each run of the handler starts with it cleared */
	int status;	   /* 200 unless set */
	json_t *doc;	   /* JSON answer, owned by the call (of a READ route: until done,
			      which gets it as text); or */
	struct str text;   /* text answer of the type below */
	const char *type;  /* static; "application/json" unless set */
	char location[64]; /* Location header when not "" */
	char etag[40];	   /* ETag (with its quotes) when not "" */
	char link[300];	   /* Link header when not "" */
	char allow[32];	   /* Allow header when not "" */
	bool secret;	   /* the answer holds one: it is never kept for a repeat */
	bool stream;	   /* go on with events after stream_from (controller/sse.h) */
	int64_t stream_from;
	bool hold; /* long poll of a WRITE route: nothing to say yet; run again when
		      hold_node is notified */
	int64_t hold_node;
	int64_t hold_until_mono; /* after this it is run once more, and answered */
	int64_t came_mono;	 /* of the handler: when it was first run; 0 before */
	/* after, when set by the handler, runs on the main loop once the job is
	 * committed. */
	void (*after)(struct api_call *c);
	void *after_data;   /* a heap block for after, which frees it; freed with free()
			       when the job fails */
	struct err failure; /* class not ERR_NONE: answered as a problem document */
};

/*
 * A handler runs inside a read or write job (as its route says). It fills the answer of
 * c, or returns -1 with e. It may run more than once for one request (long poll): it must
 * overwrite, not append.
 */
typedef int api_fn(struct tx *t, struct api_call *c, struct err *e);

/* The handlers, one per row of api_tbl.h. */
#define ROUTE(method, path, job, role, fn) api_fn fn;
#include "controller/api_tbl.h"
#undef ROUTE

struct api_route {
	const char *method;
	const char *path; /* with {c}, {r}, {n}, {d} for ids, {key} for other texts */
	bool write;
	enum api_role role; /* the least that is needed */
	api_fn *fn;
};

/* api_routes returns the rows of api_tbl.h. */
const struct api_route *api_routes(size_t *ret_n);

/* Helpers for handlers. */

/* api_call_init clears a new call: texts "", no answer. */
void api_call_init(struct api_call *c);

/* api_call_fini frees what the call owns: body and answer. */
void api_call_fini(struct api_call *c);

/*
 * api_page reads limit (1..1000, default 100) and cursor (opaque, from a previous answer)
 * of the query; *ret_after is the last id seen, 0 at the start. ERR_INVALID.
 */
int api_page(struct api_call *c, int64_t *ret_after, int64_t *ret_limit, struct err *e);

/*
 * api_answer_page sets c->doc to {items, next_cursor} and the Link header; last_id is the
 * id of the last item when there is more, else 0. Takes items.
 */
void api_answer_page(struct api_call *c, json_t *items, int64_t last_id);

/* api_only_query refuses query parameters that are not in the NULL-ended list.
 * ERR_INVALID. */
int api_only_query(struct api_call *c, const char *const names[], struct err *e);

/* api_id writes "r12" for ('r', 12) as a new JSON string. */
json_t *api_id(char letter, int64_t id);

/* api_parse_id reads "r12" or "12" for letter 'r'; ERR_INVALID at the pointer at. */
int api_parse_id(
	const char *text, char letter, const char *at, int64_t *ret_id, struct err *e);

/* api_time writes ns since 1970 as RFC 3339, null for 0, as a new JSON value. */
json_t *api_time(int64_t wall_ns);

/* api_etag makes c->etag from the text of version facts (for example "r12 7 done"). */
void api_etag(struct api_call *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * api_match checks If-Match against c->etag (set before): ERR_PRECONDITION when the
 * header is missing, ERR_CHANGED when it differs.
 */
int api_match(const struct api_call *c, struct err *e);

/* The machinery; main loop only. */

/* api_new makes the API over what it borrows for its life. Owned by the caller; api_free.
 */
struct api *api_new(
	struct store *s, const struct api_env *env, struct session_book *sessions);
void api_free(struct api *a);

/*
 * api_start handles c; done(c) is called once, on the main loop, when the answer is in c
 * (also for failures). -1 is never returned: failures are answers.
 */
void api_start(struct api *a, struct api_call *c, void (*done)(struct api_call *c));

/*
 * api_abandon forgets a held call whose client has gone: true, and done will not be
 * called. false when a job of the call is under way; done is then called as usual.
 */
bool api_abandon(struct api *a, struct api_call *c);

/* api_holds says whether a call of this node is held or under way: the node is there. */
bool api_holds(const struct api *a, int64_t node);

/*
 * api_held lists the nodes whose calls are held now: their number and *ret_nodes, owned
 * by the caller (free).
 */
size_t api_held(const struct api *a, int64_t **ret_nodes);

/* api_notify_node re-runs the held calls of a node; api_tick re-runs and answers those
 * whose time is up. */
void api_notify_node(struct api *a, int64_t node);
void api_tick(struct api *a);

/* api_release answers all held calls now (before the controller stops). */
void api_release(struct api *a);

/*
 * api_check_type checks the Content-Type of a request with a body: ERR_MEDIA unless it is
 * application/json in UTF-8.
 */
int api_check_type(const char *type, struct err *e);

/*
 * api_parse_body reads the body of a request, at most JSON_MAX_BYTES. ERR_LIMIT,
 * ERR_INVALID with the pointer "" when it is no JSON object. *ret_doc is the caller's,
 * also after an error; it is left as it was when there is no JSON.
 */
int api_parse_body(const char *text, size_t len, json_t **ret_doc, struct err *e);

/* api_problem writes the problem document (RFC 9457) of a failure. New reference. */
json_t *api_problem(const struct err *e, const char *instance);

#endif
