/*
 * boot - what must be settled before the controller can serve: options that make sense
 * together, the state directory, keys, the certificate, names and addresses.
 *
 * Knows no loop and no database. Before threads start.
 */
#ifndef CONTROLLER_BOOT_H
#define CONTROLLER_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/seal.h"
#include "controller/tls.h"

struct controller_options;
struct err;

struct boot {
	const struct controller_options *options; /* borrowed */
	char *db_path;
	char *data_url; /* what nanomsg binds, "tcp://0.0.0.0:7444" */
	bool open_reads;
	struct seal_pair keys; /* the controller's static pair */
	struct tls tls;	       /* empty texts when TLS is off */
};

/*
 * boot_prepare checks the options and makes the state directory, but no file in it.
 * ERR_INVALID for options, among them plain HTTP on an address that other machines reach;
 * ERR_STORE for a state directory whose database is missing or empty though there are
 * keys; ERR_IO. *ret_b: boot_fini, also after an error.
 */
int boot_prepare(struct boot *ret_b, const struct controller_options *o, struct err *e);

/*
 * boot_load_keys reads or makes the keys and the certificate. The database must be open:
 * its lock keeps others from making them at the same time, and keys without a database
 * are refused. ERR_INVALID for options of TLS; ERR_IO, ERR_FULL, ERR_NOTFOUND for files.
 */
int boot_load_keys(struct boot *b, struct err *e);
void boot_fini(struct boot *b);

/* boot_public_url returns what agents are told to dial; port is the one in use. Owned by
 * the caller. */
char *boot_public_url(const struct boot *b, uint16_t port);

/* boot_read_token reads STATE/admin.token: 1, 0 when there is none, or -1 with
 * ERR_INVALID, ERR_IO, ERR_LIMIT. */
int boot_read_token(
	const struct boot *b, char ret_token[SEAL_TOKEN_CHARS + 1], struct err *e);

/*
 * boot_write_token writes STATE/admin.token, for its owner only; the token stays
 * unprinted. ERR_IO, ERR_FULL.
 */
int boot_write_token(const struct boot *b, const char *token, struct err *e);

/*
 * boot_write_client writes STATE/client.conf, with which the command line client on this
 * machine finds this controller: SSDLAB_CONFIG=STATE/client.conf. ERR_IO, ERR_FULL.
 */
int boot_write_client(const struct boot *b, uint16_t port, struct err *e);

#endif
