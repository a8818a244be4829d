/*
 * fio_doc - what fio's JSON+ says of one group of jobs, in our terms.
 *
 * Of fio's three latencies lat is our service time. lat runs from when the I/O is ready
 * to be handed over until its completion was seen, as ours does; clat begins only when
 * the call that hands it to the kernel has returned, which for io_uring leaves out much
 * of what the kernel does, and slat is that rest (lat = slat + clat). Waiting for the
 * turn of an offered rate is in none of them, so fio has no response time.
 *
 * fio names a bin by the middle of its range, which lies in the bucket of common/hist
 * with the same range. Pure; trusts no byte.
 */
#ifndef RUNNER_FIO_DOC_H
#define RUNNER_FIO_DOC_H

#include <stddef.h>

#include "runner/load.h"

struct err;

/*
 * fio_doc_read reads fio's output, which may have lines of text before and behind the
 * document, and sets of *ret_r: ops, bytes, service, length_ns (fio tells whole ms), cpu
 * times, first_error, and engine (fio's version). Counts, extremes and bins are exact;
 * the sum is fio's mean, which has 6 decimals, times the count. The rest is left alone.
 *
 * Errors: ERR_INVALID when there is no document, or none with bins of lat (json+ and
 * lat_percentiles), or one that contradicts itself; ERR_LIMIT as json_parse; ERR_STATE
 * when an I/O took longer than the 17 s up to which fio's bins tell times apart.
 */
int fio_doc_read(const char *text, size_t len, struct load_result *ret_r, struct err *e);

#endif
