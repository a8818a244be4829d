/*
 * load_fio - the same load through fio, as a second opinion.
 *
 * fio is a whole load, not an end of the engine: it is told the load on its command line,
 * runs as a process of its own, and tells at its end what runner/fio_doc.h reads. It gets
 * the verified descriptor and no name of the drive: its file is /proc/self/fd/3. As it
 * holds that descriptor, a claim on the drive lasts as long as fio does, whatever becomes
 * of us.
 *
 * What fio does not tell is absent, not estimated: there are no samples, no response
 * times, no backlog, no lateness, no I/Os in flight, and no drain time; those members of
 * the result are 0. written_bytes is without the warm-up. The start is that of the
 * process. A sequential mix of reads and writes is two streams in fio and one in ours.
 */
#ifndef RUNNER_LOAD_FIO_H
#define RUNNER_LOAD_FIO_H

#include "runner/load.h"

struct err;

/*
 * load_fio_run does it with the fio that PATH finds; l->engine and l->on_sample are not
 * used, otherwise as load_run. When on_tick says false, fio is asked to end and its
 * figures so far count. The first failed I/O ends the load.
 *
 * Errors: those of load_check; ERR_INVALID for a load that fio cannot do, by the name of
 * what it lacks; ERR_NOTFOUND without fio; ERR_IO when fio fails, with its last line and
 * its exit code; those of fio_doc_read.
 */
int load_fio_run(const struct load *l, struct load_result *ret_r, struct err *e);

#endif
