/*
 * http - the HTTP server: connections, headers, bodies, TLS. The only user of
 * libmicrohttpd, which is polled in our loop and has no thread of its own.
 *
 * Limits what may come in before anything looks at it: a body of 1 MiB, application/json
 * only, 16 levels, UTF-8. Requests wait suspended while the store works for them. Decides
 * nothing: api does. Main loop only.
 */
#ifndef CONTROLLER_HTTP_H
#define CONTROLLER_HTTP_H

#include <stdint.h>

struct api;
struct err;
struct http;
struct loop;
struct sse;

struct http_config {
	const char *address; /* as in address.h */
	uint16_t port;	     /* 0: any free one */
	const char *key;     /* PEM, or NULL for plain HTTP */
	const char *cert;    /* PEM chain, or NULL */
};

/*
 * http_open listens and serves; it takes the loop's prepare function for itself. What the
 * config points to is borrowed until http_close. ERR_NET when the address is in use,
 * ERR_INVALID for an address, key or certificate that is none.
 */
int http_open(struct http **ret_h, struct loop *l, struct api *a, struct sse *s,
	const struct http_config *config, struct err *e);

/* http_port returns the port that is listened on. */
uint16_t http_port(const struct http *h);

/*
 * http_quiesce takes no more connections and no more requests; what is under way goes on.
 * Then api_release, sse_stop and store_drain bring its ends, and http_close follows.
 */
void http_quiesce(struct http *h);

/*
 * http_close sends what is ready to be sent, at most for half a second, and closes. No
 * call may be under way in api. NULL allowed.
 */
void http_close(struct http *h);

#endif
