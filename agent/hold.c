#include "agent/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool
hold_is_free(const char *path)
{
	struct stat st;
	bool is_free = true;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_EXCL | O_CLOEXEC);

	if (fd < 0)
		return errno != EBUSY;
	/* O_EXCL without O_CREAT means nothing for a file. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		is_free = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
	close(fd);
	return is_free;
}
