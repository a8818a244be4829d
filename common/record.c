#include "common/record.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "common/crc32c.h"
#include "common/err.h"
#include "common/json.h"
#include "common/le.h"
#include "common/str.h"

/* Bytes before the histograms, as in schema/wire.md; a later minor version may add more.
 */
#define SAMPLE_FIXED_BYTES 112
#define POINT_HEAD_BYTES 4

/* Bits of the operations other than reads and writes, and the counters of each. */
#define OTHER(dir) (1U << ((dir)-DATA_DIRECTIONS))
#define OTHERS_ALL (OTHER(DIRECTIONS) - 1)
#define COUNTERS_BYTES 24

#define HISTS_MAX (2 * DIRECTIONS * HIST_ENCODED_MAX)
#define SAMPLE_MAX \
	(SAMPLE_FIXED_BYTES + (DIRECTIONS - DATA_DIRECTIONS) * COUNTERS_BYTES + HISTS_MAX)
#define POINT_META_MAX (RECORD_MAX_BYTES - POINT_HEAD_BYTES - HISTS_MAX)

_Static_assert(SAMPLE_MAX <= RECORD_MAX_BYTES, "a record holds any sample");
_Static_assert(POINT_META_MAX >= 12U << 10, "a record holds the facts of a point");

static const char *const names[DIRECTIONS] = {
	[DIR_READ] = "read",
	[DIR_WRITE] = "write",
	[DIR_TRIM] = "trim",
	[DIR_ZERO] = "write_zeroes",
	[DIR_FLUSH] = "flush",
};

const char *
direction_name(enum direction dir)
{
	assert((unsigned)dir < DIRECTIONS);
	return names[dir];
}

/* The histograms of reads and writes. */
static size_t
put_hists(const struct hist service[DIRECTIONS], const struct hist response[DIRECTIONS],
	uint8_t *buf, size_t cap)
{
	size_t n = 0;

	for (int d = 0; d < DATA_DIRECTIONS; d++)
		n += hist_encode(&service[d], buf + n, cap - n);
	for (int d = 0; d < DATA_DIRECTIONS; d++)
		n += hist_encode(&response[d], buf + n, cap - n);
	return n;
}

/* The histograms of another operation. */
static size_t
put_pair(
	const struct hist *service, const struct hist *response, uint8_t *buf, size_t cap)
{
	size_t n = hist_encode(service, buf, cap);

	return n + hist_encode(response, buf + n, cap - n);
}

/* What is left to read of a record. */
struct reader {
	const uint8_t *p;
	size_t len;
};

static int
get_hist(struct hist *h, struct reader *r, const char *kind, int d, struct err *e)
{
	size_t used = 0;

	if (hist_decode(h, r->p, r->len, &used, e) != 0)
		return err_ctx(e, "%s times of operation %s", kind, names[d]);
	r->p += used;
	r->len -= used;
	return 0;
}

/* get_hists reads the four histograms of reads and writes. */
static int
get_hists(struct hist service[DIRECTIONS], struct hist response[DIRECTIONS],
	struct reader *r, struct err *e)
{
	for (int d = 0; d < DATA_DIRECTIONS; d++)
		if (get_hist(&service[d], r, "service", d, e) != 0)
			return -1;
	for (int d = 0; d < DATA_DIRECTIONS; d++)
		if (get_hist(&response[d], r, "response", d, e) != 0)
			return -1;
	return 0;
}

static int
get_pair(struct hist *service, struct hist *response, struct reader *r, int d,
	struct err *e)
{
	return get_hist(service, r, "service", d, e) != 0 ||
			       get_hist(response, r, "response", d, e) != 0
		       ? -1
		       : 0;
}

static int
get_end(const struct reader *r, struct err *e)
{
	if (r->len == 0)
		return 0;
	return err_set(e, ERR_INVALID, "%zu bytes follow the histograms", r->len);
}

static bool
has_other(const struct sample *s, int d)
{
	return s->ops[d] != 0 || s->bytes[d] != 0 || s->errors[d] != 0 ||
	       s->service[d].n != 0 || s->response[d].n != 0;
}

/* Writes the operations other than reads and writes that occurred, and their mask. */
static size_t
put_others(const struct sample *s, uint8_t *buf, size_t cap, unsigned *ret_mask)
{
	size_t n = 0;

	*ret_mask = 0;
	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++) {
		if (!has_other(s, d))
			continue;
		*ret_mask |= OTHER(d);
		le_put64(buf + n, s->ops[d]);
		le_put64(buf + n + 8, s->bytes[d]);
		le_put64(buf + n + 16, s->errors[d]);
		n += COUNTERS_BYTES;
		n += put_pair(&s->service[d], &s->response[d], buf + n, cap - n);
	}
	return n;
}

static int
get_counters(struct sample *s, struct reader *r, int d, struct err *e)
{
	if (r->len < COUNTERS_BYTES)
		return err_set(e, ERR_INVALID, "a sample ends before its operation %s",
			names[d]);
	s->ops[d] = le_get64(r->p);
	s->bytes[d] = le_get64(r->p + 8);
	s->errors[d] = le_get64(r->p + 16);
	r->p += COUNTERS_BYTES;
	r->len -= COUNTERS_BYTES;
	if (s->ops[d] > SAMPLE_COUNT_MAX || s->bytes[d] > SAMPLE_COUNT_MAX ||
		s->errors[d] > SAMPLE_COUNT_MAX || (d == DIR_FLUSH && s->bytes[d] != 0))
		return err_set(e, ERR_INVALID,
			"a sample has impossible counters of operation %s", names[d]);
	return 0;
}

static int
get_others(struct sample *s, unsigned mask, struct reader *r, struct err *e)
{
	if ((mask & ~OTHERS_ALL) != 0)
		return err_set(e, ERR_INVALID,
			"a sample has operations that are not known here: 0x%x", mask);
	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++) {
		if ((mask & OTHER(d)) == 0) {
			s->ops[d] = s->bytes[d] = s->errors[d] = 0;
			hist_reset(&s->service[d]);
			hist_reset(&s->response[d]);
		} else if (get_counters(s, r, d, e) != 0 ||
			   get_pair(&s->service[d], &s->response[d], r, d, e) != 0) {
			return -1;
		}
	}
	return get_end(r, e);
}

size_t
sample_encode(const struct sample *s, uint8_t *buf, size_t cap)
{
	unsigned mask;
	size_t n = SAMPLE_FIXED_BYTES;

	assert(cap >= RECORD_MAX_BYTES);
	assert(s->point > 0 && s->length_ns > 0);
	memset(buf, 0, SAMPLE_FIXED_BYTES);
	le_put16(buf, SAMPLE_FIXED_BYTES);
	le_put32(buf + 4, s->point);
	le_put32(buf + 8, s->second);
	le_put32(buf + 12, s->flags);
	le_put32(buf + 16, s->in_flight);
	le_put64(buf + 24, (uint64_t)s->wall_ns);
	le_put64(buf + 32, (uint64_t)s->mono_ns);
	le_put64(buf + 40, (uint64_t)s->length_ns);
	le_put64(buf + 48, s->backlog);
	le_put64(buf + 56, s->dropped);
	for (int d = 0; d < DATA_DIRECTIONS; d++) {
		le_put64(buf + 64 + 8 * d, s->ops[d]);
		le_put64(buf + 80 + 8 * d, s->bytes[d]);
		le_put64(buf + 96 + 8 * d, s->errors[d]);
	}
	n += put_hists(s->service, s->response, buf + n, cap - n);
	n += put_others(s, buf + n, cap - n, &mask);
	le_put16(buf + 2, (uint16_t)mask);
	return n;
}

int
sample_decode(struct sample *ret_s, const uint8_t *buf, size_t len, struct err *e)
{
	struct reader r;
	size_t fixed;

	if (len < SAMPLE_FIXED_BYTES)
		return err_set(e, ERR_INVALID, "a sample of %zu bytes is too short", len);
	fixed = le_get16(buf);
	if (fixed < SAMPLE_FIXED_BYTES || fixed > len)
		return err_set(
			e, ERR_INVALID, "a sample cannot have %zu fixed bytes", fixed);
	ret_s->point = le_get32(buf + 4);
	ret_s->second = le_get32(buf + 8);
	ret_s->flags = le_get32(buf + 12);
	ret_s->in_flight = le_get32(buf + 16);
	ret_s->wall_ns = (int64_t)le_get64(buf + 24);
	ret_s->mono_ns = (int64_t)le_get64(buf + 32);
	ret_s->length_ns = (int64_t)le_get64(buf + 40);
	ret_s->backlog = le_get64(buf + 48);
	ret_s->dropped = le_get64(buf + 56);
	for (int d = 0; d < DATA_DIRECTIONS; d++) {
		ret_s->ops[d] = le_get64(buf + 64 + 8 * d);
		ret_s->bytes[d] = le_get64(buf + 80 + 8 * d);
		ret_s->errors[d] = le_get64(buf + 96 + 8 * d);
	}
	for (size_t at = 24; at < SAMPLE_FIXED_BYTES; at += 8)
		if (le_get64(buf + at) > SAMPLE_COUNT_MAX)
			return err_set(e, ERR_INVALID,
				"a sample has %" PRIu64 " at byte %zu",
				le_get64(buf + at), at);
	if (ret_s->point == 0)
		return err_set(e, ERR_INVALID, "a sample has no point");
	if (ret_s->length_ns == 0 || ret_s->length_ns > SAMPLE_LENGTH_MAX)
		return err_set(e, ERR_INVALID, "a sample is %" PRId64 " ns long",
			ret_s->length_ns);
	r = (struct reader){buf + fixed, len - fixed};
	if (get_hists(ret_s->service, ret_s->response, &r, e) != 0)
		return -1;
	return get_others(ret_s, le_get16(buf + 2), &r, e);
}

void
sample_reset(struct sample *s)
{
	memset(s, 0, offsetof(struct sample, service));
	for (int d = 0; d < DIRECTIONS; d++) {
		if (s->service[d].n != 0)
			hist_reset(&s->service[d]);
		if (s->response[d].n != 0)
			hist_reset(&s->response[d]);
	}
}

uint32_t
sample_point(const uint8_t *buf, size_t len)
{
	if (len < SAMPLE_FIXED_BYTES || le_get16(buf) < SAMPLE_FIXED_BYTES ||
		le_get16(buf) > len)
		return 0;
	return le_get32(buf + 4);
}

void
sample_merge(struct sample *a, const struct sample *b)
{
	assert(a->point == b->point);
	a->flags |= b->flags | SAMPLE_MERGED;
	a->in_flight = b->in_flight;
	a->backlog = b->backlog;
	a->length_ns += b->length_ns;
	a->dropped += b->dropped;
	for (int d = 0; d < DIRECTIONS; d++) {
		a->ops[d] += b->ops[d];
		a->bytes[d] += b->bytes[d];
		a->errors[d] += b->errors[d];
		hist_merge(&a->service[d], &b->service[d]);
		hist_merge(&a->response[d], &b->response[d]);
	}
}

/* Whether the facts of a point say that it has the histograms of an operation. */
static bool
names_other(const json_t *meta, int d)
{
	return json_object_get(json_object_get(meta, "others"), names[d]) != NULL;
}

size_t
point_encode(const struct point_record *p, uint8_t *buf, size_t cap)
{
	struct str meta = {0};
	size_t n = 0;

	assert(cap >= RECORD_MAX_BYTES);
	if (!json_is_object(p->meta))
		return 0;
	json_write(p->meta, &meta);
	if (meta.len <= POINT_META_MAX) {
		le_put32(buf, (uint32_t)meta.len);
		memcpy(buf + POINT_HEAD_BYTES, meta.data, meta.len);
		n = POINT_HEAD_BYTES + meta.len;
		n += put_hists(p->service, p->response, buf + n, cap - n);
		for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++) {
			bool named = names_other(p->meta, d);

			assert(named || p->service[d].n + p->response[d].n == 0);
			if (named)
				n += put_pair(&p->service[d], &p->response[d], buf + n,
					cap - n);
		}
	}
	str_fini(&meta);
	return n;
}

/* "others" has nothing but operations that are known here: each has histograms. */
static int
check_others(const json_t *meta, struct err *e)
{
	const json_t *others = json_object_get(meta, "others");
	size_t known = 0;

	if (others == NULL)
		return 0;
	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++)
		known += names_other(meta, d);
	if (json_is_object(others) && json_object_size(others) == known)
		return 0;
	return err_set(e, ERR_INVALID, "a point has operations that are not known here");
}

static int
get_point(struct point_record *p, const uint8_t *buf, size_t len, struct err *e)
{
	struct reader r = {buf, len};

	if (!json_is_object(p->meta))
		return err_set(e, ERR_INVALID, "the facts of a point are no object");
	if (check_others(p->meta, e) != 0 ||
		get_hists(p->service, p->response, &r, e) != 0)
		return -1;
	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++) {
		if (!names_other(p->meta, d)) {
			hist_reset(&p->service[d]);
			hist_reset(&p->response[d]);
		} else if (get_pair(&p->service[d], &p->response[d], &r, d, e) != 0) {
			return -1;
		}
	}
	return get_end(&r, e);
}

int
point_decode(struct point_record *ret_p, const uint8_t *buf, size_t len, struct err *e)
{
	size_t meta;

	ret_p->meta = NULL;
	if (len < POINT_HEAD_BYTES)
		return err_set(e, ERR_INVALID, "a point of %zu bytes is too short", len);
	meta = le_get32(buf);
	if (meta > len - POINT_HEAD_BYTES)
		return err_set(e, ERR_INVALID, "the facts of a point end too early");
	if (json_parse((const char *)buf + POINT_HEAD_BYTES, meta, &ret_p->meta, e) != 0)
		return err_ctx(e, "facts of a point");
	if (get_point(ret_p, buf + POINT_HEAD_BYTES + meta, len - POINT_HEAD_BYTES - meta,
		    e) == 0)
		return 0;
	point_record_fini(ret_p);
	return -1;
}

void
point_record_fini(struct point_record *p)
{
	json_decref(p->meta);
	p->meta = NULL;
}

uint32_t
record_crc(enum record_kind kind, uint64_t seq, const uint8_t *payload, size_t len)
{
	uint8_t head[9];

	head[0] = (uint8_t)kind;
	le_put64(head + 1, seq);
	return crc32c(crc32c(0, head, sizeof(head)), payload, len);
}
