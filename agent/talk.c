#include "agent/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"

#define MESSAGE_MAX 8192

/* A state directory may be deeper than sun_path is long: the name goes by way of a
 * descriptor. */
static int
connect_in(int fd, int dir_fd)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/socket", dir_fd);
	return connect(fd, (const struct sockaddr *)&to, sizeof(to));
}

int
talk_open(const char *dir, int *ret_fd, struct err *e)
{
	int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc = -1;

	if (dir_fd < 0 || fd < 0) {
		err_errno(e, ERR_IO, errno, "open %s", dir);
	} else if (connect_in(fd, dir_fd) == 0) {
		*ret_fd = fd;
		fd = -1;
		rc = 0;
	} else {
		enum err_class class = ERR_IO;

		if (errno == ENOENT || errno == ECONNREFUSED)
			class = ERR_NOTFOUND;
		else if (errno == EAGAIN)
			class = ERR_BUSY;
		err_errno(e, class, errno, "connect to %s/socket", dir);
	}
	if (dir_fd >= 0)
		close(dir_fd);
	if (fd >= 0)
		close(fd);
	return rc;
}

pid_t
talk_peer(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0)
		return 0;
	return peer.pid;
}

static bool
send_text(int fd, const char *text, size_t n)
{
	return send(fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n;
}

bool
talk_ask_status(int fd)
{
	static const char ask[] = "{\"do\":\"status\"}";

	return send_text(fd, ask, sizeof(ask) - 1);
}

bool
talk_stop(int fd, const char *why)
{
	json_t *o = json_object();
	struct str out = {0};
	bool sent;

	json_put(o, "do", json_string("stop"));
	json_put(o, "why", json_text(why));
	json_write(o, &out);
	sent = send_text(fd, out.data, out.len);
	str_fini(&out);
	json_decref(o);
	return sent;
}

/* A counter as a number or, as everywhere else, as a decimal string. */
static uint64_t
counter(const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);
	uint64_t n = 0;

	if (json_is_string(v) &&
		parse_uint(json_string_value(v), 0, UINT64_MAX, &n, NULL) == 0)
		return n;
	return json_is_integer(v) && json_integer_value(v) > 0
		       ? (uint64_t)json_integer_value(v)
		       : 0;
}

/* Reads a status message of n bytes; false when it is none. */
static bool
parse_status(const char *text, size_t n, struct runner_status *ret_s)
{
	json_t *doc = NULL;
	const json_t *load;
	bool is_status;

	if (json_parse(text, n, &doc, NULL) != 0)
		return false;
	is_status = json_is_string(json_object_get(doc, "state"));
	if (is_status) {
		memset(ret_s, 0, sizeof(*ret_s));
		snprintf(ret_s->state, sizeof(ret_s->state), "%s",
			json_text_of(doc, "state"));
		snprintf(ret_s->workload, sizeof(ret_s->workload), "%s",
			json_text_of(doc, "workload"));
		ret_s->step = (int64_t)counter(doc, "step");
		ret_s->point = (int64_t)counter(doc, "point");
		ret_s->last_seq = counter(doc, "last_seq");
		load = json_object_get(doc, "load_percent");
		snprintf(ret_s->cannot_stop, sizeof(ret_s->cannot_stop), "%s",
			json_text_of(doc, "cannot_stop"));
		ret_s->load_percent = json_is_number(load) ? json_number_value(load) : -1;
	}
	json_decref(doc);
	return is_status;
}

int
talk_read(int fd, struct runner_status *ret_s)
{
	char text[MESSAGE_MAX];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	return parse_status(text, (size_t)n, ret_s) ? 1 : 2;
}
