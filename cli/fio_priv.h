/*
 * fio_priv - what the parts of the fio job converter share: fio_job.c reads sections and
 * makes workloads, fio_option.c has the table of options, fio_value.c reads their values.
 */
#ifndef CLI_FIO_PRIV_H
#define CLI_FIO_PRIV_H

#include "cli/convert.h"

/* Reads, writes and trims have block sizes of their own. */
enum fio_direction { FIO_READ, FIO_WRITE, FIO_TRIM, FIO_DIRECTIONS };

struct fio_option {
	unsigned line;
	const char *name;  /* "bs" */
	const char *value; /* "4k"; "" for an option without one */
	const char *text;  /* "bs=4k" */
};

/* A job, or what [global] sections have said so far; all options with their defaults. */
struct fio_job {
	char name[80];
	unsigned line;
	bool broken;	  /* a value that its load needs could not be read */
	unsigned kb_base; /* 1000 or 1024 */
	bool random, reads, writes, trims;
	double read_percent;   /* of a mix */
	double random_percent; /* of random jobs */
	struct block_mix blocks[FIO_DIRECTIONS];
	uint64_t align_bytes;
	double depth, jobs;
	unsigned depth_line; /* 0: not said */
	bool synchronous;    /* the engine does one I/O at a time */
	double offset_percent, size_percent, increment_percent; /* 0: not said */
	int64_t runtime_ns, ramp_ns;				/* 0: not said */
	unsigned runtime_line;
	double rates[FIO_DIRECTIONS]; /* I/Os per second of each of its numjobs; 0: not
					 said */
	unsigned rate_line;
	enum arrivals arrivals;
	bool stonewall, time_based, direct, norandommap, durable;
	struct flow spread;			 /* spread, theta, zones of it */
	double compress_percent, dedupe_percent; /* negative: not said */
	unsigned data_line;
	char target[128]; /* what filename and directory say, to tell drives apart */
};

struct fio_reader {
	struct conversion *c;
	struct fio_job global;
	struct fio_job *job; /* the one being read, also &global */
};

/* fio_read_option takes one option into r->job, or lists it. */
void fio_read_option(struct fio_reader *r, const struct fio_option *o);

/* fio_left lists an option. */
void fio_left(struct fio_reader *r, const struct fio_option *o, enum left_kind kind,
	const char *why);

/* fio_broken lists an option that the load of its job needs and that cannot be carried;
 * the job is left out. */
void fio_broken(struct fio_reader *r, const struct fio_option *o, const char *why);

/*
 * fio_size reads bytes with fio's suffixes: by its kb_base 1024, 4k, 4kb and 4ki are 4096
 * and 4kib is 4000; by 1000 the other way round. Or a percentage. end: the characters
 * that may follow; *text is moved to them.
 */
bool fio_size(const char **text, unsigned kb_base, const char *end, double *ret_x,
	bool *ret_percent);

/* fio_number reads a number of max digits 18, all of the text but a % at its end. */
bool fio_number(const char *text, double *ret_x);

/* fio_time reads a time in seconds, or with d, h, m, s, ms or us. */
bool fio_time(const char *text, int64_t *ret_ns);

/* fio_blocks reads bs=, "8k,4k"; fio_ranges bsrange=, "4k-16k,8k-8k"; fio_splits
 * bssplit=, "4k/60:64k/40,8k/100". NULL, or why it cannot be carried. */
const char *fio_blocks(struct fio_job *j, const char *text);
const char *fio_ranges(struct fio_job *j, const char *text);
const char *fio_splits(struct fio_job *j, const char *text);

/* fio_zones reads the zones of random_distribution=, "60/10:30/20:10/70". */
const char *fio_zones(struct flow *f, const char *text);

#endif
