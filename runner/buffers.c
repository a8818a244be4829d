#include "runner/buffers.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common/err.h"

#define PAGE ((size_t)4096)
#define HUGE_PAGE ((size_t)2 << 20)

static size_t
round_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

int
buffers_map(struct buffers *ret_b, unsigned n, uint32_t bytes, struct err *e)
{
	size_t each = round_up(bytes, PAGE);
	size_t all = round_up(each * n, HUGE_PAGE);
	void *p = mmap(
		NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(ret_b, 0, sizeof(*ret_b));
	if (p == MAP_FAILED)
		return err_errno(
			e, ERR_LIMIT, errno, "%zu bytes of memory for buffers", all);
	madvise(p, all, MADV_HUGEPAGE);
	/* Touched now: no page fault shall meet an I/O. */
	memset(p, 0, each * n);
	*ret_b = (struct buffers){p, all, each};
	return 0;
}

void
buffers_unmap(struct buffers *b)
{
	if (b->data != NULL)
		munmap(b->data, b->mapped_bytes);
	memset(b, 0, sizeof(*b));
}
