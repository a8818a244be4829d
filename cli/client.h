/*
 * client - the REST API over HTTP(S); the only user of libcurl here.
 *
 * The controller is known by the pin of its key or by a CA, and is given the token. What
 * it refuses becomes a struct err with the class of its problem document. Nothing is
 * redirected; plain http is for loopback. One thread.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/str.h"

struct client;
struct config;
struct err;
struct stream;

/*
 * client_new makes a client for the controller of cfg, which is borrowed for its life.
 * Nothing is read or sent yet. Owned by the caller; client_free.
 */
struct client *client_new(const struct config *cfg);

/* client_free ends the connection. NULL allowed. */
void client_free(struct client *c);

/*
 * client_read_token reads the token in a file into token, of size bytes. ERR_NOTFOUND,
 * ERR_IO, ERR_AUTH when there is none in it. Warns on stderr when others can read it.
 */
int client_read_token(const char *path, char *token, size_t size, struct err *e);

/*
 * client_limit has each later exchange end with ERR_TIMEOUT after ns, if that is less
 * than the 60 s that it may take anyway.
 */
void client_limit(struct client *c, int64_t ns);

/*
 * client_may_pass says whether e is a failure that time may heal: the controller is away,
 * stopping, busy or out of room.
 */
bool client_may_pass(const struct err *e);

/*
 * client_may_have_acted says whether the controller may have done what the last exchange,
 * which failed with e, asked for: the request went out, at least in part, and nobody
 * answered for it.
 */
bool client_may_have_acted(const struct client *c, const struct err *e);

/* One request and its answer. */
struct exchange {
	const char *method;
	const char *path;   /* "/api/v1/runs?state=done" */
	const char *body;   /* or NULL; sent as application/json */
	const char *header; /* one more header line, or NULL */
	bool once;	    /* POST that is repeated safely: carries an Idempotency-Key */
	long status;	    /* answer */
	struct str text;    /* answer, at most 64 MiB; owned (exchange_fini) */
	char type[64];	    /* Content-Type of the answer, or "" */
	char retry_after[8]; /* seconds, or "" */
};

/*
 * client_exchange sends one request and reads its answer, whatever its status. ERR_NET,
 * ERR_TIMEOUT (60 s), ERR_LIMIT; of the token file ERR_IO, ERR_NOTFOUND, ERR_AUTH;
 * ERR_FORBIDDEN for plain http to another machine.
 */
int client_exchange(struct client *c, struct exchange *x, struct err *e);

/* exchange_fini frees the answer. */
void exchange_fini(struct exchange *x);

/*
 * client_get reads one document; client_post sends one (body may be NULL) with an
 * Idempotency-Key and repeats it when the connection breaks. *ret_doc is owned by the
 * caller; ret_doc may be NULL for client_post. Errors: as client_exchange, and the class
 * of the problem document.
 */
int client_get(struct client *c, const char *path, json_t **ret_doc, struct err *e);
int client_post(struct client *c, const char *path, const json_t *body, json_t **ret_doc,
	struct err *e);

/*
 * client_list reads the pages of a list until it has limit items or all; the answer has
 * all items and the next_cursor of the last page. path may have a query. As client_get.
 */
int client_list(struct client *c, const char *path, size_t limit, json_t **ret_doc,
	struct err *e);

/* client_query appends name=value to a path, encoded, after ? or &. */
void client_query(struct str *path, const char *name, const char *value);

/* client_segment appends one segment of a path, encoded. */
void client_segment(struct str *path, const char *text);

/*
 * client_problem turns an answer that is no success into e: class, sentence, pointer and
 * fix of a problem document, or what the status says. Returns -1.
 */
int client_problem(const struct exchange *x, struct err *e);

/* Where the bytes of a stream go, during stream_step. */
struct stream_sink {
	void (*take)(const char *data, size_t len, void *arg);
	void *arg;
};

/*
 * stream_open starts to read server-sent events into sink. last_id is "" at first. Owned
 * by the caller; stream_free. ERR_INTERNAL.
 */
int stream_open(struct client *c, const char *path, const char *last_id,
	struct stream_sink sink, struct stream **ret_s, struct err *e);

/*
 * stream_step waits at most wait_ms for bytes. 1: still open, 0: the other side ended it,
 * -1: it could not be opened or broke; ERR_NET, or the class of a problem document.
 */
int stream_step(struct stream *s, int wait_ms, struct err *e);

/* stream_is_open says whether the answer has begun. */
bool stream_is_open(const struct stream *s);

/* stream_free closes it. NULL allowed. */
void stream_free(struct stream *s);

#endif
