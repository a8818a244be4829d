/*
 * serve_rig - a server on loopback that has a fixed answer for each request it knows and
 * hangs up on the rest, and the client of it. Include it in one file per program.
 */
#ifndef TESTS_UNIT_SERVE_RIG_H
#define TESTS_UNIT_SERVE_RIG_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/config.h"
#include "tests/unit/unit.h"

struct serve_row {
	const char *request; /* "GET /x": how its first line begins; NULL ends the rows */
	const char *answer;  /* JSON */
};

/* A socket that listens on loopback; the option that names it goes to server. */
static inline int
serve_listen(const char *scheme, char *server, size_t size)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, len), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	snprintf(server, size, "--server=%s://127.0.0.1:%d", scheme, ntohs(a.sin_port));
	return fd;
}

/* A client of the server that the option names; client_free, config_fini. */
static inline struct client *
serve_client(char *server, struct config *cfg)
{
	static char name[] = "ssdlab";
	static char no_token[] = "--token-file=";
	char *argv[] = {name, server, no_token, NULL};
	struct err e = {0};

	OK(config_load(3, argv, cfg, &e));
	return client_new(cfg);
}

static inline void
serve_one(int peer, const struct serve_row *rows)
{
	char buf[4096];
	ssize_t n = read(peer, buf, sizeof(buf) - 1);

	buf[n > 0 ? n : 0] = '\0';
	for (; rows->request != NULL; rows++) {
		if (strncmp(buf, rows->request, strlen(rows->request)) != 0)
			continue;
		dprintf(peer,
			"HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n"
			"Content-Type: application/json\r\nConnection: close\r\n\r\n%s",
			strlen(rows->answer), rows->answer);
		return;
	}
}

/* Serves fd in a process of its own; serve_stop. */
static inline pid_t
serve_start(int fd, const struct serve_row *rows)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int peer = accept(fd, NULL, NULL);

		serve_one(peer, rows);
		close(peer);
	}
}

/* Ends the server and closes fd. */
static inline void
serve_stop(pid_t child, int fd)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fd);
}

#endif
