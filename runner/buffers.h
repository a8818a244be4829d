/*
 * buffers - the memory of a worker's I/Os: present, page-aligned, on huge pages if it
 * can.
 */
#ifndef RUNNER_BUFFERS_H
#define RUNNER_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

struct err;

struct buffers {
	void *data; /* owned; NULL: none */
	size_t mapped_bytes;
	size_t each_bytes; /* from one buffer to the next */
};

/* buffers_map maps n buffers of at least `bytes` each. Errors: ERR_LIMIT. */
int buffers_map(struct buffers *ret_b, unsigned n, uint32_t bytes, struct err *e);

/* buffers_unmap frees them; a struct of zeros is allowed. */
void buffers_unmap(struct buffers *b);

#endif
