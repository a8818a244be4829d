/*
 * fio_job - a fio job file as a suite.
 *
 * Each job becomes a workload. The behaviour is that of fio 3.33 (its HOWTO, and what the
 * program does). Pure.
 */
#ifndef CLI_FIO_JOB_H
#define CLI_FIO_JOB_H

#include <stdbool.h>
#include <stddef.h>

struct conversion;
struct err;

/*
 * fio_job_convert converts a text into the suite of c, which is ready for convert_finish
 * then. ERR_INVALID, "line 7: ...", for what is no job file, and for include; ERR_LIMIT.
 */
int fio_job_convert(struct conversion *c, const char *text, size_t len, struct err *e);

/* fio_job_is says whether a text looks like a fio job file. */
bool fio_job_is(const char *text, size_t len);

#endif
