#include "controller/tls.h"

#include <gnutls/gnutls.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/seal.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/keyfile.h"
#include "tests/unit/unit.h"

static char dir[64];
static struct tls_config config;

static void
set_up(void)
{
	seal_init();
	snprintf(dir, sizeof(dir), "/tmp/test_tls.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	config = (struct tls_config){
		.cert_file = "",
		.key_file = "",
		.dir = dir,
		.names = {"lab-host", "localhost", "127.0.0.1", "::1"},
	};
}

static void
tear_down(void)
{
	char *cmd = xasprintf("rm -rf %s", dir);

	ck_assert_int_eq(system(cmd), 0);
	free(cmd);
}

START_TEST(key_and_certificate_are_made_once_for_the_owner_only)
{
	struct tls a;
	struct tls b;
	struct stat st;
	struct err e = {0};
	char *path = xasprintf("%s/key.pem", dir);

	OK(tls_load(&a, &config, &e));
	OK(tls_load(&b, &config, &e));
	ck_assert_str_eq(a.key_pem, b.key_pem);
	ck_assert_str_eq(a.cert_pem, b.cert_pem);
	ck_assert_str_eq(a.pin, b.pin);
	ck_assert_uint_eq(strlen(a.pin), 8 + 44);
	ck_assert_int_eq(strncmp(a.pin, "sha256//", 8), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	tls_fini(&a);
	tls_fini(&b);
	free(path);
}
END_TEST

START_TEST(a_new_name_makes_a_new_certificate_with_the_same_pin)
{
	struct tls a;
	struct tls b;
	struct err e = {0};

	OK(tls_load(&a, &config, &e));
	config.names[4] = "lab.example.net";
	OK(tls_load(&b, &config, &e));
	ck_assert_str_eq(a.key_pem, b.key_pem);
	ck_assert_str_ne(a.cert_pem, b.cert_pem);
	ck_assert_str_eq(a.pin, b.pin);
	tls_fini(&a);
	tls_fini(&b);
}
END_TEST

static char *
write_file(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	struct err e = {0};

	OK(keyfile_write(path, 0600, text, &e));
	return path;
}

START_TEST(the_operators_files_are_used_and_must_belong_together)
{
	struct tls own;
	struct tls other;
	struct tls t;
	struct err e = {0};
	char *own_cert;
	char *own_key;
	char *other_key;
	char *junk = write_file("junk", "no PEM at all\n");
	char *sub = xasprintf("%s/sub", dir);

	OK(tls_load(&own, &config, &e));
	own_cert = xasprintf("%s/cert.pem", dir);
	own_key = xasprintf("%s/key.pem", dir);
	config.dir = sub;
	OK(tls_load(&other, &config, &e));
	other_key = xasprintf("%s/key.pem", sub);

	config.cert_file = own_cert;
	FAILS(tls_load(&t, &config, &e), ERR_INVALID, "go together");
	config.key_file = own_key;
	OK(tls_load(&t, &config, &e));
	ck_assert_str_eq(t.pin, own.pin);
	tls_fini(&t);
	config.key_file = other_key;
	FAILS(tls_load(&t, &config, &e), ERR_INVALID, "not that of the certificate");
	config.key_file = junk;
	FAILS(tls_load(&t, &config, &e), ERR_INVALID, "not a key");
	config.cert_file = junk;
	FAILS(tls_load(&t, &config, &e), ERR_INVALID, "not a certificate");
	config.cert_file = "/nonexistent";
	FAILS(tls_load(&t, &config, &e), ERR_NOTFOUND, "/nonexistent");
	tls_fini(&own);
	tls_fini(&other);
	free(own_cert);
	free(own_key);
	free(other_key);
	free(junk);
	free(sub);
}
END_TEST

START_TEST(a_damaged_key_of_our_own_is_an_error_not_a_new_key)
{
	struct tls t;
	struct err e = {0};
	char *path = write_file("key.pem", "damaged\n");

	FAILS(tls_load(&t, &config, &e), ERR_INVALID, "key.pem");
	free(path);
}
END_TEST

/* Both ends of a handshake in turns, over a socket pair. */
static int
shake(gnutls_session_t server, gnutls_session_t client)
{
	int a = GNUTLS_E_AGAIN;
	int b = GNUTLS_E_AGAIN;

	for (int i = 0; i < 1000 && (a == GNUTLS_E_AGAIN || b == GNUTLS_E_AGAIN); i++) {
		if (b == GNUTLS_E_AGAIN)
			b = gnutls_handshake(client);
		if (a == GNUTLS_E_AGAIN)
			a = gnutls_handshake(server);
	}
	return a != 0 ? a : b;
}

static void
verify_as(const struct tls *t, const char *host, bool good)
{
	gnutls_certificate_credentials_t sc;
	gnutls_certificate_credentials_t cc;
	gnutls_session_t server;
	gnutls_session_t client;
	gnutls_datum_t cert = {
		(unsigned char *)t->cert_pem, (unsigned)strlen(t->cert_pem)};
	gnutls_datum_t key = {(unsigned char *)t->key_pem, (unsigned)strlen(t->key_pem)};
	int fds[2];

	ck_assert_int_eq(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
		0);
	gnutls_certificate_allocate_credentials(&sc);
	gnutls_certificate_allocate_credentials(&cc);
	ck_assert_int_ge(
		gnutls_certificate_set_x509_key_mem(sc, &cert, &key, GNUTLS_X509_FMT_PEM),
		0);
	ck_assert_int_ge(
		gnutls_certificate_set_x509_trust_mem(cc, &cert, GNUTLS_X509_FMT_PEM), 1);
	gnutls_init(&server, GNUTLS_SERVER | GNUTLS_NONBLOCK);
	gnutls_init(&client, GNUTLS_CLIENT | GNUTLS_NONBLOCK);
	gnutls_set_default_priority(server);
	gnutls_set_default_priority(client);
	gnutls_credentials_set(server, GNUTLS_CRD_CERTIFICATE, sc);
	gnutls_credentials_set(client, GNUTLS_CRD_CERTIFICATE, cc);
	gnutls_session_set_verify_cert(client, host, 0);
	gnutls_transport_set_int(server, fds[0]);
	gnutls_transport_set_int(client, fds[1]);
	ck_assert_int_eq(shake(server, client) == 0, good);
	gnutls_deinit(server);
	gnutls_deinit(client);
	gnutls_certificate_free_credentials(sc);
	gnutls_certificate_free_credentials(cc);
	close(fds[0]);
	close(fds[1]);
}

START_TEST(a_client_that_trusts_the_certificate_can_verify_the_server)
{
	struct tls t;
	struct err e = {0};

	OK(tls_load(&t, &config, &e));
	verify_as(&t, "lab-host", true);
	verify_as(&t, "localhost", true);
	verify_as(&t, "127.0.0.1", true);
	verify_as(&t, "::1", true);
	verify_as(&t, "other-host", false);
	tls_fini(&t);
}
END_TEST

START_TEST(the_pin_is_that_of_the_public_key)
{
	/* Made with: openssl ecparam -genkey -name prime256v1; openssl req -x509; the pin
	 * with openssl x509 -pubkey | openssl pkey -pubin -outform DER | sha256sum |
	 * base64. */
	static const char pem[] =
		"-----BEGIN CERTIFICATE-----\n"
		"MIIBeTCCAR+gAwIBAgIUOgfXHvExaOlIkxHoA6cZ9T3wzDwwCgYIKoZIzj0EAwIw\n"
		"EjEQMA4GA1UEAwwHZXhhbXBsZTAeFw0yNjExMzAxMDI2NDhaFw0zNjExMjcxMDI2\n"
		"NDhaMBIxEDAOBgNVBAMMB2V4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC\n"
		"AATaM/G7gN/8eywUt7DdMjSZJFPrMsGwtWV3lLeWxd2kefpS5ZfELPceTUbfn5MN\n"
		"kW+faCs03Zrn7WdlPGWqNHJWo1MwUTAdBgNVHQ4EFgQU4zI78yAp1tvrNSPkKPs3\n"
		"xSSxwP0wHwYDVR0jBBgwFoAU4zI78yAp1tvrNSPkKPs3xSSxwP0wDwYDVR0TAQH/\n"
		"BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAVmtjzbmI0aGsFgbNsaAQ8mREYeSLo\n"
		"rWdPyvWEIVcXYAIhALxocitcrG18r2akJE3tdr0okRYJd4Z6kWuez/NilCXg\n"
		"-----END CERTIFICATE-----\n";
	char pin[64];
	struct err e = {0};

	OK(tls_pin(pem, pin, &e));
	ck_assert_str_eq(pin, "sha256//dQudr15s5fQeo7Djmbk+YW3OPQexubKZNreUrsB8iwI=");
	FAILS(tls_pin("junk", pin, &e), ERR_INVALID, "not a certificate");
}
END_TEST

START_TEST(the_controllers_pair_is_made_once)
{
	struct seal_pair a;
	struct seal_pair b;
	struct err e = {0};
	char *path = xasprintf("%s/seal.key", dir);
	char *junk = write_file("junk", "00");

	OK(keyfile_pair(path, &a, &e));
	OK(keyfile_pair(path, &b, &e));
	ck_assert_int_eq(memcmp(&a, &b, sizeof(a)), 0);
	FAILS(keyfile_pair(junk, &b, &e), ERR_INVALID, "does not hold");
	free(path);
	free(junk);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("tls");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, key_and_certificate_are_made_once_for_the_owner_only);
	tcase_add_test(tc, a_new_name_makes_a_new_certificate_with_the_same_pin);
	tcase_add_test(tc, the_operators_files_are_used_and_must_belong_together);
	tcase_add_test(tc, a_damaged_key_of_our_own_is_an_error_not_a_new_key);
	tcase_add_test(tc, a_client_that_trusts_the_certificate_can_verify_the_server);
	tcase_add_test(tc, the_pin_is_that_of_the_public_key);
	tcase_add_test(tc, the_controllers_pair_is_made_once);
	return unit_run("tls", tc);
}
