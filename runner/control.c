#include "runner/control.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "common/xalloc.h"

#define SOCKET_NAME "socket"
#define CLIENTS_MAX 8
#define MESSAGE_MAX 4096

enum { AT_LISTENER, AT_SIGNALS, AT_CLIENTS };

struct control {
	struct pollfd fds[AT_CLIENTS + CLIENTS_MAX]; /* fd -1: place is free */
	char why[256];
	unsigned stops;
	bool cancelled; /* by a message, not by a signal */
};

/* Names the socket through the directory's descriptor, because sun_path is short. */
static int
bind_in(int fd, const char *dir, struct err *e)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (dir_fd < 0)
		return err_errno(e, ERR_IO, errno, "open %s", dir);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/" SOCKET_NAME,
		dir_fd);
	unlinkat(dir_fd, SOCKET_NAME, 0);
	if (bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) != 0 ||
		fchmodat(dir_fd, SOCKET_NAME, 0600, 0) != 0 ||
		listen(fd, CLIENTS_MAX) != 0)
		rc = err_errno(e, ERR_IO, errno, "make the socket in %s", dir);
	close(dir_fd);
	return rc;
}

static int
open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int
control_open(struct control **ret_c, const char *dir, struct err *e)
{
	struct control *c = xcalloc(1, sizeof(*c));

	for (size_t i = 0; i < AT_CLIENTS + CLIENTS_MAX; i++) {
		c->fds[i].fd = -1;
		c->fds[i].events = POLLIN;
	}
	c->fds[AT_SIGNALS].fd = open_signals();
	c->fds[AT_LISTENER].fd = socket(
		AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fds[AT_SIGNALS].fd < 0 || c->fds[AT_LISTENER].fd < 0) {
		err_errno(e, ERR_IO, errno, "make socket and signal descriptors");
		goto out;
	}
	if (bind_in(c->fds[AT_LISTENER].fd, dir, e) != 0)
		goto out;
	*ret_c = c;
	return 0;
out:
	control_close(c);
	return -1;
}

void
control_close(struct control *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < AT_CLIENTS + CLIENTS_MAX; i++)
		if (c->fds[i].fd >= 0)
			close(c->fds[i].fd);
	free(c);
}

const char *
control_stop_reason(const struct control *c)
{
	return c->stops > 0 ? c->why : NULL;
}

bool
control_is_cancelled(const struct control *c)
{
	return c->cancelled;
}

unsigned
control_stops(const struct control *c)
{
	return c->stops;
}

static void
stop(struct control *c, const char *why)
{
	if (c->stops++ == 0)
		snprintf(c->why, sizeof(c->why), "%s", why);
}

static void
read_signals(struct control *c)
{
	struct signalfd_siginfo info;
	char why[64];

	while (read(c->fds[AT_SIGNALS].fd, &info, sizeof(info)) == sizeof(info)) {
		snprintf(why, sizeof(why), "runner was told to end by %s",
			info.ssi_signo == SIGTERM ? "SIGTERM, as at a shutdown"
						  : "SIGINT");
		stop(c, why);
	}
}

static json_t *
status_doc(const struct control_status *s)
{
	json_t *o = json_object();

	json_put(o, "state", json_string(s->state));
	json_put(o, "step", json_integer(s->step));
	json_put(o, "workload",
		s->workload != NULL ? json_string(s->workload) : json_null());
	json_put(o, "point", json_integer(s->point));
	json_put(o, "load_percent",
		isnan(s->load_percent) ? json_null() : json_real(s->load_percent));
	json_put(o, "last_seq", json_u64(s->last_seq));
	json_put(o, "cannot_stop",
		s->cannot_stop != NULL ? json_string(s->cannot_stop) : json_null());
	return o;
}

/* Does what a message asks. Returns the answer, or NULL and an error. */
static json_t *
obey(struct control *c, const json_t *doc, const struct control_status *status,
	struct err *e)
{
	static const char *const names[] = {"do", "why", NULL};
	const char *verb, *why;
	json_t *answer;

	if (json_only(doc, "", names, e) != 0 ||
		json_need_text(doc, "", "do", &verb, e) != 0)
		return NULL;
	if (strcmp(verb, "status") == 0)
		return status_doc(status);
	if (strcmp(verb, "stop") != 0) {
		err_set(e, ERR_INVALID, "\"do\" is \"status\" or \"stop\"");
		return NULL;
	}
	if (json_need_text(doc, "", "why", &why, e) != 0)
		return NULL;
	c->cancelled = true;
	stop(c, why);
	answer = json_object();
	json_put(answer, "ok", json_true());
	return answer;
}

/* Reads one message and answers it; false when the other side is gone. */
static bool
serve(struct control *c, int fd, const struct control_status *status)
{
	char buf[MESSAGE_MAX];
	struct err e = {0};
	struct str text = {0};
	json_t *doc = NULL, *answer = NULL;
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	if (json_parse(buf, (size_t)n, &doc, &e) == 0)
		answer = obey(c, doc, status, &e);
	if (answer == NULL) {
		answer = json_object();
		json_put(answer, "error", json_text(e.text));
	}
	json_write(answer, &text);
	n = send(fd, str_text(&text), text.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	str_fini(&text);
	json_decref(answer);
	json_decref(doc);
	return n >= 0;
}

static void
accept_client(struct control *c)
{
	int fd = accept4(
		c->fds[AT_LISTENER].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	for (size_t i = AT_CLIENTS; fd >= 0 && i < AT_CLIENTS + CLIENTS_MAX; i++) {
		if (c->fds[i].fd >= 0)
			continue;
		c->fds[i].fd = fd;
		c->fds[i].revents = POLLIN; /* its first message may be there already */
		return;
	}
	if (fd >= 0)
		close(fd);
}

void
control_poll(struct control *c, const struct control_status *status, int wait_ms)
{
	if (poll(c->fds, AT_CLIENTS + CLIENTS_MAX, wait_ms) <= 0)
		return;
	if (c->fds[AT_LISTENER].revents != 0)
		accept_client(c);
	for (size_t i = AT_CLIENTS; i < AT_CLIENTS + CLIENTS_MAX; i++) {
		struct pollfd *p = &c->fds[i];

		if (p->fd < 0 || p->revents == 0 || serve(c, p->fd, status))
			continue;
		close(p->fd);
		p->fd = -1;
	}
	/* Last: a message that waits says more than the signal that came with it. */
	if (c->fds[AT_SIGNALS].revents != 0)
		read_signals(c);
}
