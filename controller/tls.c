#include "controller/tls.h"

#include <arpa/inet.h>
#include <assert.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/err.h"
#include "common/log.h"
#include "common/seal.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/keyfile.h"

#define DAY_S 86400
#define VALID_DAYS 3650
#define RENEW_DAYS 30

static int
fail(struct err *e, int code, const char *doing)
{
	return err_set(e, ERR_INVALID, "%s: %s", doing, gnutls_strerror(code));
}

static gnutls_datum_t
datum(const char *text)
{
	return (gnutls_datum_t){(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)};
}

static int
pin_of(gnutls_x509_crt_t crt, char ret_pin[64], struct err *e)
{
	gnutls_pubkey_t key;
	gnutls_datum_t der = {0};
	gnutls_datum_t text = {0};
	unsigned char hash[32];
	gnutls_datum_t raw = {hash, sizeof(hash)};
	int code = gnutls_pubkey_init(&key);

	if (code < 0)
		return fail(e, code, "the pin of the certificate");
	code = gnutls_pubkey_import_x509(key, crt, 0);
	if (code >= 0)
		code = gnutls_pubkey_export2(key, GNUTLS_X509_FMT_DER, &der);
	if (code >= 0)
		code = gnutls_hash_fast(GNUTLS_DIG_SHA256, der.data, der.size, hash);
	if (code >= 0)
		code = gnutls_base64_encode2(&raw, &text);
	if (code >= 0)
		snprintf(ret_pin, 64, "sha256//%.*s", (int)text.size, text.data);
	gnutls_free(text.data);
	gnutls_free(der.data);
	gnutls_pubkey_deinit(key);
	return code < 0 ? fail(e, code, "the pin of the certificate") : 0;
}

static int
read_certificate(const char *pem, gnutls_x509_crt_t *ret_crt, struct err *e)
{
	gnutls_datum_t text = datum(pem);
	int code = gnutls_x509_crt_init(ret_crt);

	if (code < 0)
		return fail(e, code, "certificate");
	code = gnutls_x509_crt_import(*ret_crt, &text, GNUTLS_X509_FMT_PEM);
	if (code >= 0)
		return 0;
	gnutls_x509_crt_deinit(*ret_crt);
	return fail(e, code, "not a certificate in PEM");
}

static int
read_key(const char *pem, gnutls_x509_privkey_t *ret_key, struct err *e)
{
	gnutls_datum_t text = datum(pem);
	int code = gnutls_x509_privkey_init(ret_key);

	if (code < 0)
		return fail(e, code, "key");
	code = gnutls_x509_privkey_import2(
		*ret_key, &text, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN);
	if (code >= 0)
		return 0;
	gnutls_x509_privkey_deinit(*ret_key);
	return fail(e, code, "not a key in PEM without a password");
}

int
tls_pin(const char *cert_pem, char ret_pin[64], struct err *e)
{
	gnutls_x509_crt_t crt;
	int rc;

	if (read_certificate(cert_pem, &crt, e) != 0)
		return -1;
	rc = pin_of(crt, ret_pin, e);
	gnutls_x509_crt_deinit(crt);
	return rc;
}

static bool
same_key(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key)
{
	unsigned char a[64];
	unsigned char b[64];
	size_t a_len = sizeof(a);
	size_t b_len = sizeof(b);

	return gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA256, a, &a_len) >= 0 &&
	       gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, b, &b_len) >=
		       0 &&
	       a_len == b_len && memcmp(a, b, a_len) == 0;
}

/* Checks that both texts belong together and fills the pin. */
static int
check_pair(struct tls *t, struct err *e)
{
	gnutls_x509_crt_t crt;
	gnutls_x509_privkey_t key;
	int rc = -1;

	if (read_certificate(t->cert_pem, &crt, e) != 0)
		return -1;
	if (read_key(t->key_pem, &key, e) == 0) {
		if (same_key(crt, key))
			rc = pin_of(crt, t->pin, e);
		else
			err_set(e, ERR_INVALID, "the key is not that of the certificate");
		gnutls_x509_privkey_deinit(key);
	}
	gnutls_x509_crt_deinit(crt);
	return rc;
}

static int
read_file(const char *path, char **ret_text, struct err *e)
{
	struct str text = {0};
	int rc = keyfile_read(path, &text, e);

	if (rc == 0)
		*ret_text = str_take(&text);
	str_fini(&text);
	return rc;
}

static int
load_operators(struct tls *t, const struct tls_config *c, struct err *e)
{
	if (c->cert_file[0] == '\0' || c->key_file[0] == '\0') {
		err_set(e, ERR_INVALID, "tls_cert and tls_key go together");
		return err_fix(e, "set both, or none for a certificate of our own");
	}
	if (read_file(c->cert_file, &t->cert_pem, e) != 0 ||
		read_file(c->key_file, &t->key_pem, e) != 0)
		return -1;
	if (check_pair(t, e) != 0)
		return err_ctx(e, "%s and %s", c->cert_file, c->key_file);
	return 0;
}

/* Our own. */

static int
take_pem(gnutls_datum_t *pem, char **ret_text)
{
	*ret_text = xasprintf("%.*s", (int)pem->size, pem->data);
	gnutls_memset(pem->data, 0, pem->size);
	gnutls_free(pem->data);
	return 0;
}

static int
make_key(char **ret_pem, struct err *e)
{
	gnutls_x509_privkey_t key;
	gnutls_datum_t pem = {0};
	int code = gnutls_x509_privkey_init(&key);

	if (code < 0)
		return fail(e, code, "make a key");
	code = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
		GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	if (code >= 0)
		code = gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem);
	gnutls_x509_privkey_deinit(key);
	if (code < 0)
		return fail(e, code, "make a key");
	return take_pem(&pem, ret_pem);
}

static int
add_name(gnutls_x509_crt_t crt, const char *name)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, name, &four) == 1)
		return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS,
			&four, sizeof(four), GNUTLS_FSAN_APPEND);
	if (inet_pton(AF_INET6, name, &six) == 1)
		return gnutls_x509_crt_set_subject_alt_name(
			crt, GNUTLS_SAN_IPADDRESS, &six, sizeof(six), GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name,
		(unsigned)strlen(name), GNUTLS_FSAN_APPEND);
}

static int
fill_certificate(
	gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const char *const *names)
{
	static const char owner[] = "ssdlab-controller";
	unsigned char serial[16];
	time_t now = time(NULL);
	int code = 0;

	seal_random(serial, sizeof(serial));
	serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40); /* positive, 16 bytes */
	for (; *names != NULL && code >= 0; names++)
		code = add_name(crt, *names);
	if (code >= 0)
		code = gnutls_x509_crt_set_version(crt, 3);
	if (code >= 0)
		code = gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
	/* A day of doubt about the clocks of others. */
	if (code >= 0)
		code = gnutls_x509_crt_set_activation_time(crt, now - DAY_S);
	if (code >= 0)
		code = gnutls_x509_crt_set_expiration_time(
			crt, now + (time_t)VALID_DAYS * DAY_S);
	if (code >= 0)
		code = gnutls_x509_crt_set_dn_by_oid(
			crt, GNUTLS_OID_X520_COMMON_NAME, 0, owner, sizeof(owner) - 1);
	if (code >= 0)
		code = gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (code >= 0)
		code = gnutls_x509_crt_set_key_purpose_oid(
			crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (code >= 0)
		code = gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
	if (code >= 0)
		code = gnutls_x509_crt_set_key(crt, key);
	return code;
}

static int
make_certificate(
	const char *key_pem, const char *const *names, char **ret_pem, struct err *e)
{
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;
	gnutls_datum_t pem = {0};
	int code;

	if (read_key(key_pem, &key, e) != 0)
		return -1;
	code = gnutls_x509_crt_init(&crt);
	if (code >= 0) {
		code = fill_certificate(crt, key, names);
		if (code >= 0)
			code = gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
		if (code >= 0)
			code = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &pem);
		gnutls_x509_crt_deinit(crt);
	}
	gnutls_x509_privkey_deinit(key);
	if (code < 0)
		return fail(e, code, "make a certificate");
	return take_pem(&pem, ret_pem);
}

/* Whether a certificate of ours still serves: this key, these names, long enough. */
static bool
serves(const struct tls *t, const char *const *names)
{
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;
	bool good;

	if (t->cert_pem == NULL || read_certificate(t->cert_pem, &crt, NULL) != 0)
		return false;
	good = gnutls_x509_crt_get_expiration_time(crt) >
	       time(NULL) + (time_t)RENEW_DAYS * DAY_S;
	for (; *names != NULL && good; names++)
		good = gnutls_x509_crt_check_hostname(crt, *names) != 0;
	if (good && read_key(t->key_pem, &key, NULL) == 0) {
		good = same_key(crt, key);
		gnutls_x509_privkey_deinit(key);
	}
	gnutls_x509_crt_deinit(crt);
	return good;
}

static int
load_or_make_key(struct tls *t, const char *path, struct err *e)
{
	struct err why = {0};

	if (read_file(path, &t->key_pem, &why) == 0)
		return 0;
	if (why.class != ERR_NOTFOUND) {
		*e = why;
		return -1;
	}
	if (make_key(&t->key_pem, e) != 0)
		return -1;
	return keyfile_write(path, 0600, t->key_pem, e);
}

static int
load_own(struct tls *t, const struct tls_config *c, struct err *e)
{
	char *key = xasprintf("%s/key.pem", c->dir);
	char *cert = xasprintf("%s/cert.pem", c->dir);
	int rc = -1;

	mkdir(c->dir, 0700);
	if (load_or_make_key(t, key, e) != 0)
		goto out;
	read_file(cert, &t->cert_pem, NULL);
	if (!serves(t, c->names)) {
		free(t->cert_pem);
		t->cert_pem = NULL;
		if (make_certificate(t->key_pem, c->names, &t->cert_pem, e) != 0 ||
			keyfile_write(cert, 0600, t->cert_pem, e) != 0)
			goto out;
		log_info("tls.certificate", "file=%s", log_q(cert));
	}
	rc = check_pair(t, e);
out:
	if (rc != 0)
		err_ctx(e, "%s", key);
	free(cert);
	free(key);
	return rc;
}

int
tls_load(struct tls *ret_t, const struct tls_config *config, struct err *e)
{
	struct tls t = {0};
	int rc;

	if (config->cert_file[0] != '\0' || config->key_file[0] != '\0')
		rc = load_operators(&t, config, e);
	else
		rc = load_own(&t, config, e);
	if (rc != 0) {
		tls_fini(&t);
		return -1;
	}
	*ret_t = t;
	return 0;
}

void
tls_fini(struct tls *t)
{
	if (t->key_pem != NULL)
		gnutls_memset(t->key_pem, 0, strlen(t->key_pem));
	free(t->key_pem);
	free(t->cert_pem);
	*t = (struct tls){0};
}
