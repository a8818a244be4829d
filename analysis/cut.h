/*
 * cut - what a point's percentiles leave out: I/Os that had come, but not ended, when it
 * did. Pure.
 */
#ifndef ANALYSIS_CUT_H
#define ANALYSIS_CUT_H

#include "common/record.h"

/*
 * cut_factor returns how many times as high one of the percentiles that are told would be
 * if the unfinished counted too, whichever changes most: 1 when none would rise. Of the
 * response times, in closed loops of the service times, of all operations together, as
 * the unfinished are. NAN when none is told.
 */
double cut_factor(const struct hist service[DIRECTIONS],
	const struct hist response[DIRECTIONS], const struct hist *unfinished);

#endif
