#include "common/stdfd.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void
stdfd_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int how = fd == STDOUT_FILENO ? O_RDONLY : O_RDWR;

		/* open takes the lowest number that is free. */
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", how) != fd)
			abort();
	}
}

bool
stdfd_out_is_closed(void)
{
	int how = fcntl(STDOUT_FILENO, F_GETFL);

	return how < 0 || (how & O_ACCMODE) == O_RDONLY;
}
