/*
 * keyfile - small files that only their owner may read: keys, tokens.
 */
#ifndef CONTROLLER_KEYFILE_H
#define CONTROLLER_KEYFILE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct seal_pair;
struct str;

/*
 * keyfile_write makes or replaces a file of this mode as a whole: it is durable and has
 * its name, or nothing has changed. ERR_IO, ERR_FULL.
 */
int keyfile_write(const char *path, unsigned mode, const char *text, struct err *e);

/* keyfile_keep is keyfile_write for a file that does not hold this text already: a full
 * disk does not matter then. */
int keyfile_keep(const char *path, unsigned mode, const char *text, struct err *e);

/* keyfile_read appends a file of at most 256 KiB. ERR_NOTFOUND, ERR_IO, ERR_LIMIT. */
int keyfile_read(const char *path, struct str *out, struct err *e);

/*
 * keyfile_pair reads the key pair that is stored in a file as hexadecimal text, or makes
 * both at first use. ERR_INVALID for a file that holds none, ERR_IO, ERR_FULL.
 */
int keyfile_pair(const char *path, struct seal_pair *ret_pair, struct err *e);

#endif
