#include "runner/room.h"

#include <stdbool.h>
#include <stddef.h>

#include "common/flow.h"
#include "common/workload.h"
#include "runner/draw.h"

/* What all other writes in flight can take. */
struct others {
	uint64_t n;
	uint64_t bytes; /* of the largest */
	bool in_step;	/* all writes are of one size and at multiples of it */
};

/* Random places of one size in a zone. */
struct zone {
	double share; /* of the draws */
	double places;
};

static uint64_t
largest_write(const struct workload *w)
{
	uint64_t most = 0;

	for (size_t i = 0; i < w->n_streams; i++) {
		const struct block_mix *m = &w->streams[i].blocks[DIR_WRITE];

		if (flow_uses(&w->streams[i], DIR_WRITE) &&
			m->list[m->n - 1].bytes > most)
			most = m->list[m->n - 1].bytes;
	}
	return most;
}

static bool
is_in_step(const struct workload *w)
{
	const struct flow *s = &w->streams[0];
	const struct block_mix *m = &s->blocks[DIR_WRITE];

	if (w->n_streams != 1 || m->n != 1 ||
		flow_stride(s, m->list[0].bytes) != m->list[0].bytes)
		return false;
	/* A sequence of reads and writes goes on by the length of either. */
	return s->random_percent >= 100 || !flow_uses(s, DIR_READ) ||
	       block_mix_equal(m, &s->blocks[DIR_READ]);
}

/* The share of the draws that are left when places are taken where they are densest. */
static double
left_of_zones(struct zone zones[], size_t n, double taken)
{
	double left = 0;

	for (size_t k = 0; k < n; k++) {
		size_t hot = 0;
		double here;

		for (size_t i = 1; i < n; i++)
			if (zones[i].share * zones[hot].places >
				zones[hot].share * zones[i].places)
				hot = i;
		here = taken < zones[hot].places ? taken : zones[hot].places;
		taken -= here;
		left += zones[hot].share * (1 - here / zones[hot].places);
		zones[hot].share = 0;
	}
	return left;
}

static double
left_of_size(
	const struct flow *s, uint32_t bytes, const struct others *o, uint64_t length)
{
	uint64_t stride = flow_stride(s, bytes), first;
	uint64_t each = o->in_step ? 1 : (o->bytes + bytes + stride - 1) / stride;
	size_t n = s->n_zones > 0 ? s->n_zones : 1;
	struct zone zones[FLOW_ZONES_MAX];

	for (size_t i = 0; i < n; i++) {
		uint64_t places = span_positions(
			flow_zone_span(s, i, length), bytes, stride, &first);

		zones[i] = (struct zone){
			.share = s->n_zones > 0 ? s->zones[i].share_percent / 100 : 1,
			.places = (double)(places > 0 ? places : 1)};
	}
	return left_of_zones(zones, n, (double)(o->n * each));
}

/* A write inside a piece leaves the rest of it to none, at worst. */
static double
left_of_pieces(const struct flow *s, const struct others *o, uint64_t length, bool inside)
{
	uint64_t piece = flow_piece_bytes(s), first;
	uint64_t n = span_positions(flow_part(s, length), piece, piece, &first);
	uint64_t each = inside ? 1 : (o->bytes + piece - 1) / piece + 1;
	uint64_t taken = o->n * each;

	return taken < n ? 1 - zipf_share(s->theta, n, taken) : 0;
}

static double
left_of_random(
	const struct workload *w, size_t i, const struct others *o, uint64_t length)
{
	const struct flow *s = &w->streams[i];
	const struct block_mix *m = &s->blocks[DIR_WRITE];
	double least = 1;

	if (s->spread == SPREAD_ZIPF)
		return left_of_pieces(
			s, o, length, w->n_streams == 1 && s->random_percent >= 100);
	for (size_t k = 0; k < m->n; k++) {
		double left = left_of_size(s, m->list[k].bytes, o, length);

		if (left < least)
			least = left;
	}
	return least;
}

/* Whether a worker that goes through all its sequential parts meets a free place. */
static bool
has_sequential_room(
	const struct workload *w, size_t i, const struct others *o, uint64_t length)
{
	const struct flow *s = &w->streams[i];
	const struct block_mix *m = &s->blocks[DIR_WRITE];
	uint64_t workers = w->workers > 0 ? w->workers : 1;
	struct span part = flow_part(s, length);
	uint64_t bytes = (part.to - part.from) / workers;
	uint64_t largest = m->list[m->n - 1].bytes;

	/* Sequential parts are the worker's own. */
	if (o->in_step && s->random_percent <= 0)
		return bytes / largest >= (w->in_flight + workers - 1) / workers;
	return bytes > o->n * (o->bytes + (o->in_step ? 0 : largest));
}

double
room_left(const struct workload *w, uint64_t length)
{
	const struct others o = {.n = w->in_flight - 1,
		.bytes = largest_write(w),
		.in_step = is_in_step(w)};
	double least = 1;

	for (size_t i = 0; i < w->n_streams; i++) {
		const struct flow *s = &w->streams[i];
		double left = 1;

		if (!flow_uses(s, DIR_WRITE))
			continue;
		if (s->random_percent > 0)
			left = left_of_random(w, i, &o, length);
		if (s->random_percent < 100 && !has_sequential_room(w, i, &o, length))
			return 0;
		if (left < least)
			least = left;
	}
	return least;
}
