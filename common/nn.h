/*
 * nn - the only user of nanomsg: a REQ end for the agent, a raw REP end for the
 * controller.
 *
 * Nothing above depends on more than "a message arrives zero, one or many times". Sockets
 * are not for sharing between threads. nanomsg keeps a thread of its own from the first
 * socket on: after that a process may start others only by posix_spawn.
 *
 * URLs are tcp://HOST:PORT with a name, an IPv4 address or an IPv6 address in brackets.
 */
#ifndef COMMON_NN_H
#define COMMON_NN_H

#include <stddef.h>
#include <stdint.h>

/* The largest message that is sent; the receiving side takes twice as much. */
#define NN_MAX_BYTES (320U << 10)

struct err;
struct nn_req;
struct nn_rep;

/* Where an answer goes; opaque bytes of the transport, copied with the request. */
struct nn_route {
	uint8_t bytes[128];
	size_t len;
};

/*
 * nanomsg's library exports its inner functions, which share our prefix (nn_rep_send is
 * one). Hidden symbols keep either from being taken for the other.
 */
#pragma GCC visibility push(hidden)

/*
 * nn_req_open makes a REQ end for url and returns at once; names are looked up and the
 * connection is made by nn_req_call. ERR_NET, ERR_INVALID.
 */
int nn_req_open(struct nn_req **ret_q, const char *url, struct err *e);

/*
 * nn_req_call sends a request and waits at most wait_ns for its answer: 1 and *ret_msg
 * (owned by the caller; nn_msg_free), 0 when none came (the connection is then made anew,
 * to the next address of the name), -1: ERR_NET, or ERR_LIMIT for more than NN_MAX_BYTES
 * bytes, which are never sent. Looking up a name may take longer than wait_ns.
 */
int nn_req_call(struct nn_req *q, const void *msg, size_t len, int64_t wait_ns,
	uint8_t **ret_msg, size_t *ret_len, struct err *e);

/* nn_req_close closes without waiting. NULL allowed. */
void nn_req_close(struct nn_req *q);

/* nn_rep_open binds url, whose host may be "*" for all addresses. ERR_INVALID, ERR_NET
 * with the address when it is in use. */
int nn_rep_open(struct nn_rep **ret_r, const char *url, struct err *e);

/* nn_rep_fd returns a descriptor that is readable when nn_rep_recv has something.
 * Borrowed until nn_rep_close. */
int nn_rep_fd(const struct nn_rep *r);

/* nn_rep_recv takes a request without waiting: 1 and *ret_msg (owned by the caller;
 * nn_msg_free), 0 for none, -1: ERR_NET. */
int nn_rep_recv(struct nn_rep *r, uint8_t **ret_msg, size_t *ret_len,
	struct nn_route *ret_route, struct err *e);

/* nn_rep_send answers a request, once; an answer that has nowhere to go is dropped (the
 * agent asks again). Never waits. */
void nn_rep_send(
	struct nn_rep *r, const void *msg, size_t len, const struct nn_route *route);

/* nn_rep_close closes without waiting. NULL allowed. */
void nn_rep_close(struct nn_rep *r);

/* nn_msg_free frees a received message. NULL allowed. */
void nn_msg_free(uint8_t *msg);

#pragma GCC visibility pop

#endif
