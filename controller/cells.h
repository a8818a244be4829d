/*
 * cells - the figures of the cells of tests in rounds, computed once and stored.
 *
 * They are those of the rounds that count: of the window that was judged last, or of all
 * rounds that are not void where nothing was judged. Rankings, comparisons and the page
 * of a run read the rows of table test_cell. Inside write jobs.
 */
#ifndef CONTROLLER_CELLS_H
#define CONTROLLER_CELLS_H

#include <stdint.h>

struct err;
struct tx;

/*
 * cells_settle computes and stores the cells of the tests of an attempt whose last record
 * (steady) has a seq above from and at most to. All records up to `to` are stored, or are
 * lost. Again for the same test replaces what is stored. A test has at most
 * ROUNDS_POINTS_MAX points (common/rounds.h). ERR_STORE, ERR_FULL.
 */
int cells_settle(
	struct tx *t, int64_t attempt, uint64_t from, uint64_t to, struct err *e);

#endif
