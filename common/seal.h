/*
 * seal - all cryptography: keys, sealed messages, hashes of tokens. The only user of
 * libsodium.
 *
 * Sessions: both sides make an ephemeral X25519 pair; the directional keys are
 * BLAKE2b(key = static crypto_kx key, ephemeral crypto_kx key || session id), so they
 * need both static keys (known since enrolment) and forget with the ephemeral ones.
 * Messages: XChaCha20-Poly1305 with the header as associated data and nonce = session id
 * || transport seq.
 */
#ifndef COMMON_SEAL_H
#define COMMON_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY_BYTES 32
#define SEAL_SESSION_BYTES 16
#define SEAL_TAG_BYTES 16
#define SEAL_HASH_BYTES 32
#define SEAL_TOKEN_CHARS 43 /* 32 random bytes in base64url, no padding */

struct err;

struct seal_pair {
	uint8_t public_key[SEAL_KEY_BYTES];
	uint8_t secret_key[SEAL_KEY_BYTES];
};

struct seal_session {
	uint8_t id[SEAL_SESSION_BYTES];
	uint8_t rx[SEAL_KEY_BYTES]; /* key of what we receive */
	uint8_t tx[SEAL_KEY_BYTES]; /* key of what we send */
};

/* seal_init starts the library; once, before anything else here. Dies when it cannot. */
void seal_init(void);

/* seal_pair_new makes a random X25519 key pair. */
void seal_pair_new(struct seal_pair *ret_pair);

/* seal_random fills buf with random bytes. */
void seal_random(void *buf, size_t len);

/*
 * seal_session_agree derives the keys of one side of session id. server: the controller's
 * side. Errors: ERR_INVALID for a public key that is no point of the curve's group.
 */
int seal_session_agree(struct seal_session *ret_s, const uint8_t id[SEAL_SESSION_BYTES],
	bool server, const struct seal_pair *own_static,
	const struct seal_pair *own_ephemeral, const uint8_t peer_static[SEAL_KEY_BYTES],
	const uint8_t peer_ephemeral[SEAL_KEY_BYTES], struct err *e);

/*
 * seal_close encrypts len bytes of text into out (len + SEAL_TAG_BYTES bytes) with s->tx;
 * seq must never repeat within a session. head is authenticated, not encrypted.
 */
void seal_close(const struct seal_session *s, uint64_t seq, const void *head,
	size_t head_len, const void *text, size_t len, uint8_t *out);

/* seal_open is the inverse with s->rx; false when the bytes are not authentic. out: len -
 * TAG. */
bool seal_open(const struct seal_session *s, uint64_t seq, const void *head,
	size_t head_len, const void *sealed, size_t len, uint8_t *out);

/* seal_token_new makes a random bearer or join secret of SEAL_TOKEN_CHARS characters and
 * a NUL. */
void seal_token_new(char ret_token[SEAL_TOKEN_CHARS + 1]);

/* seal_hash is BLAKE2b-256, for tokens (high entropy, no salt needed) and documents. */
void seal_hash(const void *data, size_t len, uint8_t ret_hash[SEAL_HASH_BYTES]);

/* seal_hex writes 2 * len characters and a NUL. */
void seal_hex(const void *data, size_t len, char *ret_text);

/* seal_base64 writes base64url without padding and a NUL; out holds len * 4 / 3 + 4
 * characters. */
void seal_base64(const void *data, size_t len, char *ret_text);

/* seal_unbase64 reads exactly len bytes from base64url text. Errors: ERR_INVALID. */
int seal_unbase64(const char *text, void *ret_data, size_t len, struct err *e);

/* seal_wipe overwrites a secret. */
void seal_wipe(void *p, size_t len);

#endif
