#include "controller/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"

#define BACKLOG 128

bool
address_is_loopback(const char *text)
{
	struct in6_addr six;
	struct in_addr four;

	if (strcmp(text, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, text, &four) == 1)
		return (ntohl(four.s_addr) >> 24) == 127;
	return inet_pton(AF_INET6, text, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static int
open_socket(const struct addrinfo *ai, int *ret_fd)
{
	int on = 1;
	int off = 0;
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) {
		*ret_fd = fd;
		return 0;
	}
	off = errno;
	close(fd);
	errno = off;
	return -1;
}

int
address_listen(const char *text, uint16_t port, int *ret_fd, struct err *e)
{
	struct addrinfo hints = {
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	const char *host = strcmp(text, "localhost") == 0 ? "127.0.0.1" : text;
	struct addrinfo *ai;
	char service[8];
	int rc;

	snprintf(service, sizeof(service), "%u", port);
	rc = getaddrinfo(host, service, &hints, &ai);
	if (rc != 0) {
		err_set(e, ERR_INVALID, "\"%.60s\" is no address to listen on", text);
		return err_fix(e, "write one like 192.0.2.10, :: or 127.0.0.1");
	}
	rc = open_socket(ai, ret_fd);
	freeaddrinfo(ai);
	if (rc == 0)
		return 0;
	rc = errno;
	err_errno(e, ERR_NET, rc, "listen on %s port %u", text, port);
	if (rc == EADDRINUSE)
		err_fix(e, "end the program that listens there, or set another http_port "
			   "in the configuration");
	return -1;
}

uint16_t
address_port(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} sa = {.any.sa_family = AF_UNSPEC};
	socklen_t len = sizeof(sa);

	if (getsockname(fd, &sa.any, &len) != 0)
		return 0;
	return ntohs(sa.any.sa_family == AF_INET6 ? sa.six.sin6_port : sa.four.sin_port);
}

const char *
address_url(bool tls, const char *host, uint16_t port, char *buf, size_t size)
{
	bool six = strchr(host, ':') != NULL;

	snprintf(buf, size, "http%s://%s%s%s:%u", tls ? "s" : "", six ? "[" : "", host,
		six ? "]" : "", port);
	return buf;
}
