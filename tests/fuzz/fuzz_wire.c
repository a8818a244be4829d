/*
 * The first byte chooses the decoder. R is RECORDS with all checksums made right first,
 * so that the bytes behind them are reached. What is accepted must be what the encoder
 * writes.
 */
#include <string.h>

#include "common/le.h"
#include "common/wire.h"
#include "tests/fuzz/fuzz.h"

#define HEAD 20
#define RECORD_HEAD 17

static void
try_header(const uint8_t *data, size_t size)
{
	static uint8_t text[WIRE_RECV_BYTES];
	struct seal_session s = {0};
	uint8_t again[WIRE_HEADER_BYTES];
	struct wire_header h;
	size_t n;

	if (wire_header_decode(&h, data, size, NULL) != 0)
		return;
	MUST(h.payload_bytes >= SEAL_TAG_BYTES);
	MUST(h.payload_bytes + WIRE_HEADER_BYTES == size);
	wire_header_encode(&h, again);
	MUST(memcmp(again, data, 7) == 0 && memcmp(again + 8, data + 8, 36) == 0);
	memcpy(s.id, h.session, sizeof(s.id));
	MUST(wire_open(&s, &h, data, text, &n, NULL) != 0);
}

static void
try_records(const uint8_t *data, size_t size)
{
	struct wire_batch head, again = {0};
	struct spool_record rec;
	struct wire_cursor c;
	const uint8_t *payload;
	bool fits = true;
	size_t n;
	int rc;

	if (wire_batch_decode(&head, &c, data, size, NULL) != 0)
		return;
	wire_batch_start(&again, head.attempt, head.fence);
	while ((rc = wire_cursor_next(&c, &rec, NULL)) == 1) {
		MUST(rec.seq > 0 && rec.kind != 0 && rec.len <= RECORD_MAX_BYTES);
		fits = fits && wire_batch_add(&again, &rec) == 0;
	}
	payload = wire_batch_payload(&again, &n);
	if (rc == 0 && fits)
		MUST(n == size && memcmp(payload, data, n) == 0);
	wire_batch_fini(&again);
}

static void
try_mended_records(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);
	size_t at = HEAD;

	MUST(copy != NULL);
	memcpy(copy, data, size);
	while (at < size && size - at >= RECORD_HEAD) {
		uint8_t *rec = copy + at;
		size_t len = le_get32(rec + 13);

		if (len > size - at - RECORD_HEAD)
			break;
		le_put32(rec + 9, record_crc((enum record_kind)rec[8], le_get64(rec),
					  rec + RECORD_HEAD, len));
		at += RECORD_HEAD + len;
	}
	try_records(copy, size);
	free(copy);
}

static void
try_answers(const uint8_t *data, size_t size)
{
	struct wire_ack acks[WIRE_ACK_MAX];
	uint8_t again[WIRE_ACK_BYTES];
	enum wire_nack code;
	uint64_t attempt;
	size_t n;

	if (wire_ack_decode(acks, &n, data, size, NULL) == 0) {
		MUST(n <= WIRE_ACK_MAX);
		MUST(wire_ack_encode(acks, n, again, sizeof(again)) == size);
		MUST(memcmp(again, data, size) == 0);
	}
	if (wire_nack_decode(&code, &attempt, data, size, NULL) == 0) {
		MUST(wire_nack_encode(code, attempt, again, sizeof(again)) == size);
		MUST(memcmp(again, data, size) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	seal_init();
	switch (data[0]) {
	case 'h':
		try_header(data + 1, size - 1);
		break;
	case 'r':
		try_records(data + 1, size - 1);
		break;
	case 'R':
		try_mended_records(data + 1, size - 1);
		break;
	default:
		try_answers(data + 1, size - 1);
		break;
	}
	return 0;
}
