/*
 * suite_priv - what the two forms of a suite share: suite.c reads and plans ramps of
 * workloads, suite_tests.c tests of rounds.
 */
#ifndef COMMON_SUITE_PRIV_H
#define COMMON_SUITE_PRIV_H

#include "common/suite.h"

/* suite_bad sets ERR_INVALID with a sentence and a pointer; -1. */
int suite_bad(struct err *e, const char *at, const char *text);

/* A fill as a suite asks for it. */
struct suite_fill {
	uint32_t passes, block_bytes, in_flight;
};

/* suite_read_fill reads the object of a fill. ERR_INVALID with pointer. */
int suite_read_fill(
	const json_t *fill, const char *at, struct suite_fill *ret_f, struct err *e);

/* suite_fill_step makes step a fill. */
void suite_fill_step(const struct suite_fill *f, struct step *step);

/* suite_rates_read reads "rates_iops" of the workload o. ERR_INVALID with pointer. */
int suite_rates_read(
	const json_t *o, const char *at, struct suite_rates *ret_r, struct err *e);

/* suite_ramp_read reads "ramp", once the workloads are known. ERR_INVALID with pointer.
 */
int suite_ramp_read(const json_t *doc, struct suite *s, struct err *e);

/* suite_ramp_of makes the ramp of workload i: that of the suite, or its own rates. */
void suite_ramp_of(const struct suite *s, size_t i, struct ramp *ret_r);

/* suite_ramp_ns returns how long all points of r last. */
double suite_ramp_ns(const struct ramp *r);

/* suite_tests_read reads "tests". ERR_INVALID with pointer. */
int suite_tests_read(const json_t *doc, struct suite *s, struct err *e);

/* suite_tests_choose is suite_choose for tests, of which s has all ids. ERR_INVALID when
 * one goes on where one that was not chosen ends. */
int suite_tests_choose(
	struct suite *s, const char (*ids)[WORKLOAD_ID_MAX], size_t n, struct err *e);

/* suite_tests_fit checks the cells of all tests that are possible on the drive, and that
 * there are any. ERR_INVALID with fix. */
int suite_tests_fit(const struct suite *s, uint64_t region_bytes,
	const struct suite_drive *d, struct err *e);

/* suite_check_time refuses a suite whose run would measure longer than SUITE_RUN_MAX_NS.
 * ERR_INVALID with pointer and fix. */
int suite_check_time(const struct suite *s, struct err *e);

/* suite_count makes a whole number of x >= 0: INT64_MAX where that is too small. */
int64_t suite_count(double x);

/* suite_test_is_possible says whether the drive can do test i, and what that goes on
 * from. */
bool suite_test_is_possible(const struct suite *s, size_t i, const struct suite_drive *d);

/* suite_tests_steps counts the steps of all tests; suite_tests_compile writes them and
 * returns the end. */
size_t suite_tests_steps(const struct suite *s);
struct step *suite_tests_compile(
	const struct suite *s, const struct suite_drive *d, struct step *step);

#endif
