/*
 * address - addresses to listen on: what they mean, and sockets for them.
 */
#ifndef CONTROLLER_ADDRESS_H
#define CONTROLLER_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* address_is_loopback says whether text ("127.0.0.1", "::1", "localhost") is reached from
 * this machine only. */
bool address_is_loopback(const char *text);

/*
 * address_listen makes a listening TCP socket, non-blocking, on a literal address or
 * "localhost"; "::" takes IPv4 as well. port 0: any free one. ERR_INVALID for text that
 * is no address, ERR_NET with the address when it is in use or not ours.
 */
int address_listen(const char *text, uint16_t port, int *ret_fd, struct err *e);

/* address_port returns the port a socket is bound to, 0 when it is not. */
uint16_t address_port(int fd);

/* address_url writes "https://host:port" with brackets around an IPv6 address. */
const char *address_url(
	bool tls, const char *host, uint16_t port, char *buf, size_t size);

#endif
