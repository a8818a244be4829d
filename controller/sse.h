/*
 * sse - the stream of events (GET /api/v1/events), as text/event-stream.
 *
 * Events come from the table event, by read jobs: a client that joins with Last-Event-ID
 * gets what it missed, and one that reads slowly is read for later, so nothing piles up
 * in memory and nothing is left out. Samples are live only and have no id. Knows no HTTP:
 * http.c moves the bytes. Main loop only, but for the handler.
 */
#ifndef CONTROLLER_SSE_H
#define CONTROLLER_SSE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
struct sse;
struct sse_client;
struct store;

#define SSE_CLIENTS_MAX 200
#define SSE_TOPICS_MAX 64
#define SSE_BUFFER_MAX (1U << 20) /* bytes; a client with more waiting is cut off */

/* Called when a client that had nothing to read has something, or has ended. */
typedef void sse_wake_fn(void *arg);

/* sse_new makes the stream over what it borrows. Owned by the caller; sse_free. */
struct sse *sse_new(struct store *s, struct loop *l);

/* sse_free frees it when all clients have left and its jobs are done. NULL allowed. */
void sse_free(struct sse *s);

/*
 * sse_join adds a client that wants events after from. topics: a list with commas of
 * topics ("run:r2") and kinds of topics ("run"); NULL or "" for all. NULL when there are
 * SSE_CLIENTS_MAX already. wake is never called from within sse_join or sse_read.
 */
struct sse_client *sse_join(
	struct sse *s, const char *topics, int64_t from, sse_wake_fn *wake, void *arg);

/* sse_leave forgets a client. NULL allowed. */
void sse_leave(struct sse_client *c);

/* sse_read moves up to max bytes for the client to buf; 0 when there is nothing now. */
size_t sse_read(struct sse_client *c, char *buf, size_t max);

/* sse_ended says that nothing more will come once sse_read returned 0. */
bool sse_ended(const struct sse_client *c);

/* sse_notify reads new rows for those who wait for them; for NOTIFY_EVENTS. */
void sse_notify(struct sse *s);

/* sse_wants says whether a client would get live events of this topic ("run:r2"). */
bool sse_wants(const struct sse *s, const char *topic);

/*
 * sse_sample sends a live event that is stored nowhere, for example "run.sample" of topic
 * "run:r2", to the clients that want it. Takes data, an object.
 */
void sse_sample(struct sse *s, const char *name, const char *topic, json_t *data);

/* sse_stop ends all clients' streams and starts no more jobs. */
void sse_stop(struct sse *s);

#endif
