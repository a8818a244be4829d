/*
 * seconds - what the shape of a point is judged by: its samples, boiled down.
 *
 * Kept by the runner, because it sees each second also when the spool has no room for it.
 * 56 bytes a second. One thread.
 */
#ifndef RUNNER_SECONDS_H
#define RUNNER_SECONDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct sample;
struct shape;
struct shape_second;

struct seconds {
	struct shape_second *items; /* owned */
	size_t n, cap;
};

/* seconds_reset forgets all and keeps the memory; seconds_fini frees it. */
void seconds_reset(struct seconds *s);
void seconds_fini(struct seconds *s);

/* seconds_add takes a sample; those of the warm-up are left out. */
void seconds_add(struct seconds *s, const struct sample *sample);

/* seconds_shape judges them; as shape_find. */
void seconds_shape(const struct seconds *s, bool open_loop, double in_flight,
	struct shape *ret_shape);

/* seconds_json makes the member "shape" of a POINT (schema/wire.md). New reference. */
json_t *seconds_json(const struct shape *shape);

#endif
