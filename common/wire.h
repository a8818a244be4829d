/*
 * wire - the messages between agent and controller over nanomsg (schema/wire.md).
 *
 * A message is a 64-byte little-endian header and a sealed payload. This module turns
 * structs into bytes and back; it neither sends nor stores. Decoders trust no byte. Any
 * thread.
 */
#ifndef COMMON_WIRE_H
#define COMMON_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "common/record.h"
#include "common/seal.h"
#include "common/spool.h"

struct err;

#define WIRE_VERSION_MAJOR 1
#define WIRE_VERSION_MINOR 0
#define WIRE_HEADER_BYTES 64
#define WIRE_MAX_BYTES (320U << 10)  /* a whole message, as the sender asserts */
#define WIRE_RECV_BYTES (512U << 10) /* NN_RCVMAXSIZE of both sides */

enum wire_type {
	WIRE_RECORDS = 1, /* agent to controller: records of one attempt */
	WIRE_PING = 2,	  /* agent to controller: empty */
	WIRE_ACK = 3,	  /* controller to agent: watermarks */
	WIRE_NACK = 4,	  /* controller to agent: why not */
};

enum wire_nack {
	WIRE_NACK_VERSION = 1,
	WIRE_NACK_ATTEMPT = 2, /* attempt not known here */
	WIRE_NACK_FENCE = 3,   /* the token is stale */
	WIRE_NACK_BUSY = 4,   /* not stored (no space, database error): keep, try again */
	WIRE_NACK_FORMAT = 5, /* authentic but not understood */
};

struct wire_header {
	uint8_t major, minor;
	uint8_t type;  /* enum wire_type */
	uint64_t node; /* id of the agent's node */
	uint8_t session[SEAL_SESSION_BYTES];
	uint64_t seq; /* transport sequence: per session and direction, only grows */
	uint32_t payload_bytes; /* of what follows, sealed */
};

/* Records of one attempt, packed for one message. */
struct wire_batch {
	uint64_t attempt;
	uint64_t fence;
	uint32_t n;
	uint8_t *data; /* the payload: head, then n records as in schema/wire.md */
	size_t len;
	size_t cap;
};

/* A cursor over a received batch; borrows its bytes. */
struct wire_cursor {
	const uint8_t *at, *end;
	uint32_t left;
};

struct wire_ack {
	uint64_t attempt;
	uint64_t seq; /* highest contiguous committed */
};

#define WIRE_ACK_MAX 64 /* attempts in one ACK */
#define WIRE_ACK_BYTES (4 + 16 * WIRE_ACK_MAX)
#define WIRE_NACK_BYTES 12

/* wire_header_encode writes the WIRE_HEADER_BYTES bytes of h. */
void wire_header_encode(const struct wire_header *h, uint8_t out[WIRE_HEADER_BYTES]);

/*
 * wire_header_decode reads the header of a message of len bytes; checks magic, length (at
 * most WIRE_RECV_BYTES) and that payload_bytes is what follows and holds a tag, nothing
 * else: version and type are the caller's to judge, after wire_open. ERR_INVALID.
 */
int wire_header_decode(
	struct wire_header *ret_h, const uint8_t *msg, size_t len, struct err *e);

/*
 * wire_seal makes a whole message of header and sealed payload in a new buffer of
 * *ret_len bytes, owned by the caller (free). h->session and h->payload_bytes are set
 * here. h->seq must never repeat in a session. Asserts WIRE_MAX_BYTES.
 */
uint8_t *wire_seal(const struct seal_session *s, struct wire_header *h,
	const void *payload, size_t len, size_t *ret_len);

/*
 * wire_open decrypts the payload of a message, whose header wire_header_decode has read
 * into h, into out (payload_bytes - SEAL_TAG_BYTES bytes). ERR_AUTH when it is not
 * authentic or of another session.
 */
int wire_open(const struct seal_session *s, const struct wire_header *h,
	const uint8_t *msg, uint8_t *out, size_t *ret_len, struct err *e);

/* wire_batch_start empties b for an attempt; memory is kept. Start with {0}. */
void wire_batch_start(struct wire_batch *b, uint64_t attempt, uint64_t fence);

/* wire_batch_add adds a record; -1 without changing b when the message would exceed its
 * limit. An empty batch takes any record of at most RECORD_MAX_BYTES. */
int wire_batch_add(struct wire_batch *b, const struct spool_record *rec);

/* wire_batch_payload returns the payload of a RECORDS message. Borrowed until the next
 * change. */
const uint8_t *wire_batch_payload(struct wire_batch *b, size_t *ret_len);

/* wire_batch_fini frees. */
void wire_batch_fini(struct wire_batch *b);

/* wire_batch_decode reads the head of a RECORDS payload; records follow by
 * wire_cursor_next, which borrows payload. ret_head has no data. ERR_INVALID. */
int wire_batch_decode(struct wire_batch *ret_head, struct wire_cursor *ret_c,
	const uint8_t *payload, size_t len, struct err *e);

/* wire_cursor_next returns 1 and a record, 0 at the end, -1: ERR_INVALID (also wrong
 * CRC). The kind is not 0; it may be one that is not known here. */
int wire_cursor_next(struct wire_cursor *c, struct spool_record *ret_rec, struct err *e);

/* wire_ack_encode writes n <= WIRE_ACK_MAX acks to out (4 + 16 n bytes, asserted);
 * returns the bytes. */
size_t wire_ack_encode(const struct wire_ack *acks, size_t n, uint8_t *out, size_t cap);

/* wire_ack_decode reads at most WIRE_ACK_MAX acks. ERR_INVALID. */
int wire_ack_decode(struct wire_ack *ret_acks, size_t *ret_n, const uint8_t *payload,
	size_t len, struct err *e);

/* wire_nack_encode writes code and attempt (WIRE_NACK_BYTES); wire_nack_decode reads
 * them: ERR_INVALID. A code that is not known here is to be taken as BUSY. */
size_t wire_nack_encode(enum wire_nack code, uint64_t attempt, uint8_t *out, size_t cap);
int wire_nack_decode(enum wire_nack *ret_code, uint64_t *ret_attempt,
	const uint8_t *payload, size_t len, struct err *e);

#endif
