/*
 * room - whether the writes in flight of a load leave each other a place.
 *
 * Where data are verified, no block is in two writes in flight at once: a write whose
 * place is taken is given another. That must be there, and must be found soon, wherever
 * the others are. Pure.
 */
#ifndef RUNNER_ROOM_H
#define RUNNER_ROOM_H

#include <stdint.h>

struct workload;

/* A load with less room than this is refused: a draw in a hundred finds a place. */
#define ROOM_MIN 0.01

/*
 * room_left returns the least share, 0..1, of the draws of a place that find one where no
 * other write is, over all streams and block sizes of writes, with as many in flight as
 * the workload has and the others where most draws fall. 0 also when a sequential part
 * has no place that none of them can take. The workload fits a region of this length.
 */
double room_left(const struct workload *w, uint64_t length);

#endif
