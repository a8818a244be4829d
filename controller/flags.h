/*
 * flags - what to know about a point or a test before believing its figures, from its
 * record.
 *
 * The rules are those of analysis/sanity.h. Any thread; no shared json_t.
 */
#ifndef CONTROLLER_FLAGS_H
#define CONTROLLER_FLAGS_H

#include <jansson.h>
#include <stdint.h>

/*
 * flags_of_point returns the flags (enum sanity_flag) of a point: meta is its record's
 * document, iops and littles_n its figures, NAN where not known.
 */
unsigned flags_of_point(const json_t *meta, double iops, double littles_n);

/*
 * flags_reasons lists [{flag, text}] for the same: each flag with a sentence that says
 * why, with the numbers. New reference.
 */
json_t *flags_reasons(const json_t *meta, double iops, double littles_n);

/* flags_of_test and flags_test_reasons are the same for a test in rounds, whose flags all
 * of its cells have: end is the document of its record steady. */
unsigned flags_of_test(const json_t *end);
json_t *flags_test_reasons(const json_t *end);

/* flags_json lists the names of flags. New reference. */
json_t *flags_json(unsigned flags);

/* flags_errors returns how many I/Os of a point failed. */
uint64_t flags_errors(const json_t *meta);

#endif
