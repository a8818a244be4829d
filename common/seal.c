#include "common/seal.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/le.h"

#define NONCE_BYTES crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define BASE64 sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(SEAL_KEY_BYTES == crypto_kx_PUBLICKEYBYTES &&
		       SEAL_KEY_BYTES == crypto_kx_SECRETKEYBYTES &&
		       SEAL_KEY_BYTES == crypto_kx_SESSIONKEYBYTES &&
		       SEAL_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
	"one size of key");
_Static_assert(SEAL_TAG_BYTES == crypto_aead_xchacha20poly1305_ietf_ABYTES, "tag");
_Static_assert(SEAL_SESSION_BYTES + 8 == NONCE_BYTES, "a nonce is session id and seq");

void
seal_init(void)
{
	static const char text[] = "err seal.failed libsodium does not start\n";

	if (sodium_init() >= 0)
		return;
	fwrite(text, 1, sizeof(text) - 1, stderr);
	exit(1); /* NOLINT(concurrency-mt-unsafe): before threads start */
}

void
seal_pair_new(struct seal_pair *ret_pair)
{
	crypto_kx_keypair(ret_pair->public_key, ret_pair->secret_key);
}

void
seal_random(void *buf, size_t len)
{
	randombytes_buf(buf, len);
}

/* exchange makes both directions' keys of one pair of pairs; false for a bad public key.
 */
static bool
exchange(bool server, const struct seal_pair *own, const uint8_t peer[SEAL_KEY_BYTES],
	uint8_t ret_rx[SEAL_KEY_BYTES], uint8_t ret_tx[SEAL_KEY_BYTES])
{
	if (server)
		return crypto_kx_server_session_keys(ret_rx, ret_tx, own->public_key,
			       own->secret_key, peer) == 0;
	return crypto_kx_client_session_keys(
		       ret_rx, ret_tx, own->public_key, own->secret_key, peer) == 0;
}

static void
combine(uint8_t out[SEAL_KEY_BYTES], const uint8_t key[SEAL_KEY_BYTES],
	const uint8_t ephemeral[SEAL_KEY_BYTES], const uint8_t id[SEAL_SESSION_BYTES])
{
	uint8_t text[SEAL_KEY_BYTES + SEAL_SESSION_BYTES];

	memcpy(text, ephemeral, SEAL_KEY_BYTES);
	memcpy(text + SEAL_KEY_BYTES, id, SEAL_SESSION_BYTES);
	crypto_generichash(out, SEAL_KEY_BYTES, text, sizeof(text), key, SEAL_KEY_BYTES);
	sodium_memzero(text, sizeof(text));
}

/* size: the two pairs of both sides are what the keys are made of */
int /* NOLINTNEXTLINE(readability-function-size) */
seal_session_agree(struct seal_session *ret_s, const uint8_t id[SEAL_SESSION_BYTES],
	bool server, const struct seal_pair *own_static,
	const struct seal_pair *own_ephemeral, const uint8_t peer_static[SEAL_KEY_BYTES],
	const uint8_t peer_ephemeral[SEAL_KEY_BYTES], struct err *e)
{
	uint8_t k[4][SEAL_KEY_BYTES];
	int rc = 0;

	if (!exchange(server, own_static, peer_static, k[0], k[1]) ||
		!exchange(server, own_ephemeral, peer_ephemeral, k[2], k[3])) {
		rc = err_set(e, ERR_INVALID, "the peer's public key is not usable");
	} else {
		memcpy(ret_s->id, id, SEAL_SESSION_BYTES);
		combine(ret_s->rx, k[0], k[2], id);
		combine(ret_s->tx, k[1], k[3], id);
	}
	sodium_memzero(k, sizeof(k));
	return rc;
}

static void
make_nonce(uint8_t out[NONCE_BYTES], const struct seal_session *s, uint64_t seq)
{
	memcpy(out, s->id, SEAL_SESSION_BYTES);
	le_put64(out + SEAL_SESSION_BYTES, seq);
}

/* size: the arguments of authenticated encryption with associated data */
void
seal_close(const struct seal_session *s, uint64_t seq, const void *head, size_t head_len,
	const void *text, size_t len, uint8_t *out)
{
	uint8_t nonce[NONCE_BYTES];

	make_nonce(nonce, s, seq);
	crypto_aead_xchacha20poly1305_ietf_encrypt(
		out, NULL, text, len, head, head_len, NULL, nonce, s->tx);
}

/* size: as seal_close */
bool
seal_open(const struct seal_session *s, uint64_t seq, const void *head, size_t head_len,
	const void *sealed, size_t len, uint8_t *out)
{
	uint8_t nonce[NONCE_BYTES];

	if (len < SEAL_TAG_BYTES)
		return false;
	make_nonce(nonce, s, seq);
	return crypto_aead_xchacha20poly1305_ietf_decrypt(
		       out, NULL, NULL, sealed, len, head, head_len, nonce, s->rx) == 0;
}

void
seal_token_new(char ret_token[SEAL_TOKEN_CHARS + 1])
{
	uint8_t secret[32];

	randombytes_buf(secret, sizeof(secret));
	sodium_bin2base64(
		ret_token, SEAL_TOKEN_CHARS + 1, secret, sizeof(secret), BASE64);
	sodium_memzero(secret, sizeof(secret));
}

void
seal_hash(const void *data, size_t len, uint8_t ret_hash[SEAL_HASH_BYTES])
{
	crypto_generichash(ret_hash, SEAL_HASH_BYTES, data, len, NULL, 0);
}

void
seal_hex(const void *data, size_t len, char *ret_text)
{
	sodium_bin2hex(ret_text, 2 * len + 1, data, len);
}

void
seal_base64(const void *data, size_t len, char *ret_text)
{
	sodium_bin2base64(
		ret_text, sodium_base64_encoded_len(len, BASE64), data, len, BASE64);
}

int
seal_unbase64(const char *text, void *ret_data, size_t len, struct err *e)
{
	const char *end = NULL;
	size_t n = 0;

	if (sodium_base642bin(
		    ret_data, len, text, strlen(text), NULL, &n, &end, BASE64) != 0 ||
		n != len || *end != '\0')
		return err_set(
			e, ERR_INVALID, "want %zu bytes in base64url, no padding", len);
	return 0;
}

void
seal_wipe(void *p, size_t len)
{
	sodium_memzero(p, len);
}
