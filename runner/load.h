/*
 * load - one measured load on one drive: workers, pacing, histograms, a sample a second.
 *
 * Closed loop (offered_iops 0): in_flight I/Os are kept outstanding. Open loop: arrivals
 * at the offered rate, at most in_flight outstanding, the rest counted as backlog. All
 * I/O stays inside [offset, offset + length). load_run blocks its caller; the callbacks
 * run on its thread.
 */
#ifndef RUNNER_LOAD_H
#define RUNNER_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/program.h"
#include "common/record.h"
#include "common/workload.h"
#include "runner/engine.h"
#include "runner/late.h"
#include "runner/verify.h"

struct err;

/* Why load_run ended. */
enum load_end { LOAD_DONE, LOAD_STOPPED, LOAD_FAILED };

/* Kinds of failed I/O. */
enum load_fault {
	LOAD_FAULT_MEDIA,   /* EIO, EILSEQ, ENODATA and the like: the drive could not */
	LOAD_FAULT_TIMEOUT, /* ETIMEDOUT */
	LOAD_FAULT_SPACE,   /* ENOSPC */
	LOAD_FAULT_GONE,    /* ENODEV, ENXIO, ESHUTDOWN: the drive went away */
	LOAD_FAULT_SHORT,   /* fewer bytes than asked for */
	LOAD_FAULT_OTHER,
	LOAD_FAULTS
};

struct load {
	int fd; /* verified, O_DIRECT; borrowed */
	const struct engine_ops *engine;
	const char *engine_script; /* null engine only, else NULL */
	struct workload workload;
	uint64_t offset, length; /* the fence, bytes */
	uint32_t align_bytes;	 /* logical block of the drive */
	double offered_iops;	 /* over all workers; 0: closed loop */
	enum arrivals arrivals;
	int64_t warmup_ns, measure_ns;
	uint64_t one_pass; /* not 0: sequential writes of this many bytes, once, no time
			      limit */
	uint64_t seed;	   /* same seed, same offsets and data */
	struct verify *verify; /* checks the data; borrowed, NULL: nobody does */
	double compress_percent, dedupe_percent; /* of what is written, see content.h */
	uint64_t max_errors; /* the load fails when more I/Os than this failed */
	uint32_t point;	     /* number for the samples */
	/* on_sample gets each finished second, in order; borrowed for the call. */
	void (*on_sample)(void *arg, const struct sample *s);
	/* on_tick is called at least 10 times a second; false stops the load. */
	bool (*on_tick)(void *arg);
	void *arg;
};

struct load_result {
	enum load_end end;
	int64_t start_wall_ns;
	int64_t length_ns;		      /* measured time, without warm-up */
	int64_t missed_ns, missed_measure_ns; /* when this process, or the whole host, did
						 not run; what of it was to be measured */
	uint64_t ops[DIRECTIONS];
	uint64_t bytes[DIRECTIONS];
	uint64_t moved_bytes[DIRECTIONS]; /* warm-up and drain included */
	int64_t start_lag_ns;		  /* of the worker that began last */
	uint64_t written_bytes;		  /* zeroes and warm-up included, trims not */
	uint64_t errors[DIRECTIONS];
	uint64_t faults[LOAD_FAULTS]; /* errors by kind, warm-up and drain included */
	int first_error; /* errno of the first failed I/O (EIO for a short one), 0 for
			    none */
	uint64_t first_error_offset;
	const char *reason; /* why it failed, a constant; NULL unless LOAD_FAILED */
	int64_t drain_ns;   /* from the end until the I/Os then in flight were done; they
			       are not counted */
	struct hist unfinished; /* these, and arrivals that waited: until they ended, or
				   had waited when the drain was over */
	uint64_t backlog_max, dropped; /* measured time; backlog_max of several workers is
					  the sum of theirs */
	double in_flight_mean;	       /* time-weighted, measured time */
	struct late late; /* of arrivals, measured time; none in closed loops. A slot
			     counts as free once its completion was seen. */
	int64_t cpu_user_ns, cpu_system_ns; /* of the workers, measured time */
	struct verify_report verify; /* of load.verify; warm-up and drain included */
	char engine[128];	     /* engine's description of itself */
	struct hist service[DIRECTIONS];
	struct hist response[DIRECTIONS]; /* empty in closed loops */
};

/*
 * load_run does it. Returns 0 also when stopped or failed by I/O errors (ret_r->end says
 * so); -1 when it could not start: ERR_INVALID, ERR_IO, ERR_STATE.
 */
int load_run(const struct load *l, struct load_result *ret_r, struct err *e);

/*
 * load_check says whether the load can be run at all: its numbers, that the descriptor
 * permits it, that the region lies on the drive. No I/O. Errors: ERR_INVALID, ERR_IO.
 * load_run begins with it.
 */
int load_check(const struct load *l, struct err *e);

/*
 * load_check_verifiable says whether the load can be verified by a journal that fits it;
 * l->verify is not looked at. To be asked before a journal is made. No I/O. Errors:
 * ERR_INVALID.
 */
int load_check_verifiable(const struct load *l, struct err *e);

/* load_fault_of returns the kind of an errno. */
enum load_fault load_fault_of(int num);

/* load_fault_name returns "media", "timeout", "space", "gone", "short" or "other". */
const char *load_fault_name(enum load_fault f);

#endif
