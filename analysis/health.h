/*
 * health - what two looks at a drive's health say together. Pure.
 *
 * Documents are those that runners write (schema/wire.md, "Health").
 */
#ifndef ANALYSIS_HEALTH_H
#define ANALYSIS_HEALTH_H

#include <jansson.h>

/*
 * health_difference returns after - before for each number, or decimal string, that both
 * have, in objects within them, too: of numbers an integer, else a decimal string; the
 * others are left out, and so are those above 2^62. New reference.
 */
json_t *health_difference(const json_t *before, const json_t *after);

/*
 * health_told returns sentences, an array, on what nobody should miss: critical warnings
 * with what their bits mean, a verdict of the drive against itself, new media errors and
 * the like; those on before come first. before or after may be NULL or null: not looked
 * yet. New reference.
 */
json_t *health_told(const json_t *before, const json_t *after);

#endif
