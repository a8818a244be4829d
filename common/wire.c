#include "common/wire.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/le.h"
#include "common/xalloc.h"

#define BATCH_HEAD_BYTES 20
#define RECORD_HEAD_BYTES 17
#define BATCH_MAX_BYTES (WIRE_MAX_BYTES - WIRE_HEADER_BYTES - SEAL_TAG_BYTES)

_Static_assert(BATCH_HEAD_BYTES + RECORD_HEAD_BYTES + RECORD_MAX_BYTES <= BATCH_MAX_BYTES,
	"any record fits a message");
_Static_assert(WIRE_MAX_BYTES < WIRE_RECV_BYTES, "what we send is received");

static const uint8_t magic[4] = {'S', 'S', 'D', 'L'};

void
wire_header_encode(const struct wire_header *h, uint8_t out[WIRE_HEADER_BYTES])
{
	memset(out, 0, WIRE_HEADER_BYTES);
	memcpy(out, magic, sizeof(magic));
	out[4] = h->major;
	out[5] = h->minor;
	out[6] = h->type;
	le_put64(out + 8, h->node);
	memcpy(out + 16, h->session, SEAL_SESSION_BYTES);
	le_put64(out + 32, h->seq);
	le_put32(out + 40, h->payload_bytes);
}

int
wire_header_decode(
	struct wire_header *ret_h, const uint8_t *msg, size_t len, struct err *e)
{
	if (len < WIRE_HEADER_BYTES + SEAL_TAG_BYTES || len > WIRE_RECV_BYTES)
		return err_set(e, ERR_INVALID, "%zu bytes are no message", len);
	if (memcmp(msg, magic, sizeof(magic)) != 0)
		return err_set(e, ERR_INVALID, "these bytes are no message of ssdlab");
	ret_h->major = msg[4];
	ret_h->minor = msg[5];
	ret_h->type = msg[6];
	ret_h->node = le_get64(msg + 8);
	memcpy(ret_h->session, msg + 16, SEAL_SESSION_BYTES);
	ret_h->seq = le_get64(msg + 32);
	ret_h->payload_bytes = le_get32(msg + 40);
	if (ret_h->payload_bytes != len - WIRE_HEADER_BYTES)
		return err_set(e, ERR_INVALID,
			"a message says %" PRIu32 " bytes and has %zu",
			ret_h->payload_bytes, len - WIRE_HEADER_BYTES);
	return 0;
}

uint8_t *
wire_seal(const struct seal_session *s, struct wire_header *h, const void *payload,
	size_t len, size_t *ret_len)
{
	uint8_t *msg;

	assert(len <= BATCH_MAX_BYTES);
	memcpy(h->session, s->id, SEAL_SESSION_BYTES);
	h->payload_bytes = (uint32_t)(len + SEAL_TAG_BYTES);
	*ret_len = WIRE_HEADER_BYTES + h->payload_bytes;
	msg = xcalloc(*ret_len, 1);
	wire_header_encode(h, msg);
	seal_close(
		s, h->seq, msg, WIRE_HEADER_BYTES, payload, len, msg + WIRE_HEADER_BYTES);
	return msg;
}

int
wire_open(const struct seal_session *s, const struct wire_header *h, const uint8_t *msg,
	uint8_t *out, size_t *ret_len, struct err *e)
{
	if (memcmp(h->session, s->id, SEAL_SESSION_BYTES) != 0 ||
		!seal_open(s, h->seq, msg, WIRE_HEADER_BYTES, msg + WIRE_HEADER_BYTES,
			h->payload_bytes, out))
		return err_set(e, ERR_AUTH, "a message is not authentic");
	*ret_len = h->payload_bytes - SEAL_TAG_BYTES;
	return 0;
}

void
wire_batch_start(struct wire_batch *b, uint64_t attempt, uint64_t fence)
{
	if (b->data == NULL) {
		b->cap = BATCH_MAX_BYTES;
		b->data = xcalloc(b->cap, 1);
	}
	b->attempt = attempt;
	b->fence = fence;
	b->n = 0;
	b->len = BATCH_HEAD_BYTES;
}

int
wire_batch_add(struct wire_batch *b, const struct spool_record *rec)
{
	uint8_t *at;

	assert(b->data != NULL);
	if (rec->len > RECORD_MAX_BYTES || b->cap - b->len < RECORD_HEAD_BYTES + rec->len)
		return -1;
	at = b->data + b->len;
	le_put64(at, rec->seq);
	at[8] = (uint8_t)rec->kind;
	le_put32(at + 9, rec->crc);
	le_put32(at + 13, (uint32_t)rec->len);
	if (rec->len > 0)
		memcpy(at + RECORD_HEAD_BYTES, rec->payload, rec->len);
	b->len += RECORD_HEAD_BYTES + rec->len;
	b->n++;
	return 0;
}

const uint8_t *
wire_batch_payload(struct wire_batch *b, size_t *ret_len)
{
	assert(b->data != NULL);
	le_put64(b->data, b->attempt);
	le_put64(b->data + 8, b->fence);
	le_put32(b->data + 16, b->n);
	*ret_len = b->len;
	return b->data;
}

void
wire_batch_fini(struct wire_batch *b)
{
	free(b->data);
	*b = (struct wire_batch){0};
}

int
wire_batch_decode(struct wire_batch *ret_head, struct wire_cursor *ret_c,
	const uint8_t *payload, size_t len, struct err *e)
{
	if (len < BATCH_HEAD_BYTES)
		return err_set(e, ERR_INVALID, "records of %zu bytes have no head", len);
	*ret_head = (struct wire_batch){
		.attempt = le_get64(payload),
		.fence = le_get64(payload + 8),
		.n = le_get32(payload + 16),
	};
	if (ret_head->n > (len - BATCH_HEAD_BYTES) / RECORD_HEAD_BYTES)
		return err_set(e, ERR_INVALID, "%" PRIu32 " records do not fit %zu bytes",
			ret_head->n, len);
	ret_c->at = payload + BATCH_HEAD_BYTES;
	ret_c->end = payload + len;
	ret_c->left = ret_head->n;
	return 0;
}

int
wire_cursor_next(struct wire_cursor *c, struct spool_record *ret_rec, struct err *e)
{
	size_t len = (size_t)(c->end - c->at);

	if (c->left == 0 && len == 0)
		return 0;
	if (c->left == 0)
		return err_set(e, ERR_INVALID, "%zu bytes follow the last record", len);
	if (len < RECORD_HEAD_BYTES)
		return err_set(e, ERR_INVALID, "the head of a record is cut off");
	ret_rec->seq = le_get64(c->at);
	ret_rec->kind = (enum record_kind)c->at[8];
	ret_rec->crc = le_get32(c->at + 9);
	ret_rec->len = le_get32(c->at + 13);
	ret_rec->payload = c->at + RECORD_HEAD_BYTES;
	if (ret_rec->seq == 0 || c->at[8] == 0)
		return err_set(e, ERR_INVALID, "a record has no number or no kind");
	if (ret_rec->len > RECORD_MAX_BYTES || ret_rec->len > len - RECORD_HEAD_BYTES)
		return err_set(e, ERR_INVALID, "record %" PRIu64 " cannot have %zu bytes",
			ret_rec->seq, ret_rec->len);
	if (ret_rec->crc !=
		record_crc(ret_rec->kind, ret_rec->seq, ret_rec->payload, ret_rec->len))
		return err_set(e, ERR_INVALID, "record %" PRIu64 " has a wrong checksum",
			ret_rec->seq);
	c->at += RECORD_HEAD_BYTES + ret_rec->len;
	c->left--;
	return 1;
}

size_t
wire_ack_encode(const struct wire_ack *acks, size_t n, uint8_t *out, size_t cap)
{
	assert(n <= WIRE_ACK_MAX && cap >= 4 + 16 * n);
	le_put32(out, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		le_put64(out + 4 + 16 * i, acks[i].attempt);
		le_put64(out + 12 + 16 * i, acks[i].seq);
	}
	return 4 + 16 * n;
}

int
wire_ack_decode(struct wire_ack *ret_acks, size_t *ret_n, const uint8_t *payload,
	size_t len, struct err *e)
{
	uint32_t n = len < 4 ? 0 : le_get32(payload);

	if (len < 4 || n > WIRE_ACK_MAX || len != 4 + 16 * (size_t)n)
		return err_set(e, ERR_INVALID, "an ACK cannot have %zu bytes", len);
	for (size_t i = 0; i < n; i++) {
		ret_acks[i].attempt = le_get64(payload + 4 + 16 * i);
		ret_acks[i].seq = le_get64(payload + 12 + 16 * i);
	}
	*ret_n = n;
	return 0;
}

size_t
wire_nack_encode(enum wire_nack code, uint64_t attempt, uint8_t *out, size_t cap)
{
	assert(cap >= WIRE_NACK_BYTES);
	le_put32(out, (uint32_t)code);
	le_put64(out + 4, attempt);
	return WIRE_NACK_BYTES;
}

int
wire_nack_decode(enum wire_nack *ret_code, uint64_t *ret_attempt, const uint8_t *payload,
	size_t len, struct err *e)
{
	if (len != WIRE_NACK_BYTES || le_get32(payload) == 0)
		return err_set(e, ERR_INVALID, "a NACK cannot have %zu bytes", len);
	*ret_code = (enum wire_nack)le_get32(payload);
	*ret_attempt = le_get64(payload + 4);
	return 0;
}
