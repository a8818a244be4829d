/*
 * tls - the controller's key and certificate. The only user of GnuTLS of our own.
 *
 * The operator's, or a self-signed pair made at first start. Agents and clients trust the
 * pin of the key, so a certificate may be renewed as long as the key stays.
 */
#ifndef CONTROLLER_TLS_H
#define CONTROLLER_TLS_H

#include <stddef.h>

struct err;

#define TLS_NAMES_MAX 8

struct tls_config {
	const char *cert_file; /* the operator's PEM files, or both "" for our own */
	const char *key_file;
	const char *dir; /* of our own: key.pem and cert.pem, made when missing */
	/* What our certificate is for: host names and addresses as text, NULL-ended. */
	const char *names[TLS_NAMES_MAX + 1];
};

struct tls {
	char *key_pem;	/* owned; wiped by tls_fini */
	char *cert_pem; /* owned; may hold a chain, the server's first */
	char pin[64];	/* "sha256//" and base64 of SHA-256 of the SubjectPublicKeyInfo */
};

/*
 * tls_load reads or makes key and certificate. Our certificate is made anew, with the
 * same key, when it ends within 30 days or lacks one of the names. ERR_INVALID for files
 * that are not a key and its certificate, ERR_NOTFOUND, ERR_IO, ERR_FULL. *ret_t:
 * tls_fini.
 */
int tls_load(struct tls *ret_t, const struct tls_config *config, struct err *e);
void tls_fini(struct tls *t);

/* tls_pin computes the pin of the first certificate in PEM text. ERR_INVALID. */
int tls_pin(const char *cert_pem, char ret_pin[64], struct err *e);

#endif
