#include "common/seal.h"

#include "tests/unit/golden.h"
#include "tests/unit/unit.h"

struct side {
	struct seal_pair fixed;
	struct seal_pair once;
};

static void
new_side(struct side *s)
{
	seal_pair_new(&s->fixed);
	seal_pair_new(&s->once);
}

static int
agree(struct seal_session *ret_s, const char *id, bool server, const struct side *own,
	const struct side *peer, struct err *e)
{
	return seal_session_agree(ret_s, (const uint8_t *)id, server, &own->fixed,
		&own->once, peer->fixed.public_key, peer->once.public_key, e);
}

START_TEST(both_sides_agree_on_keys_that_belong_to_one_session)
{
	struct seal_session a, c, other;
	struct side agent, controller;
	struct err e = {0};

	new_side(&agent);
	new_side(&controller);
	OK(agree(&a, "0123456789abcdef", false, &agent, &controller, &e));
	OK(agree(&c, "0123456789abcdef", true, &controller, &agent, &e));
	ck_assert_mem_eq(a.rx, c.tx, SEAL_KEY_BYTES);
	ck_assert_mem_eq(a.tx, c.rx, SEAL_KEY_BYTES);
	ck_assert_mem_ne(a.tx, a.rx, SEAL_KEY_BYTES);
	OK(agree(&other, "0123456789abcdeF", false, &agent, &controller, &e));
	ck_assert_mem_ne(other.tx, a.tx, SEAL_KEY_BYTES);
	/* Neither the static nor the ephemeral pair alone makes the keys. */
	seal_pair_new(&agent.once);
	OK(agree(&other, "0123456789abcdef", false, &agent, &controller, &e));
	ck_assert_mem_ne(other.tx, a.tx, SEAL_KEY_BYTES);
	ck_assert_mem_ne(other.tx, c.rx, SEAL_KEY_BYTES);
}
END_TEST

START_TEST(a_public_key_outside_the_group_is_refused)
{
	struct side agent, controller;
	struct seal_session s;
	struct err e = {0};

	new_side(&agent);
	new_side(&controller);
	memset(controller.once.public_key, 0, SEAL_KEY_BYTES);
	FAILS(agree(&s, "0123456789abcdef", false, &agent, &controller, &e), ERR_INVALID,
		"public key is not usable");
}
END_TEST

START_TEST(sealing_is_the_published_algorithm)
{
	/* draft-irtf-cfrg-xchacha-03, appendix A.3.1. */
	static const char text[] =
		"Ladies and Gentlemen of the class of '99: If I could offer you "
		"only one tip for the future, sunscreen would be it.";
	static const uint8_t head[] = {
		0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7};
	size_t len = sizeof(text) - 1;
	uint8_t want[256], out[256];
	struct seal_session s;

	for (unsigned i = 0; i < SEAL_KEY_BYTES; i++)
		s.rx[i] = s.tx[i] = (uint8_t)(0x80 + i);
	for (unsigned i = 0; i < SEAL_SESSION_BYTES; i++)
		s.id[i] = (uint8_t)(0x40 + i);
	seal_close(&s, 0x5756555453525150, head, sizeof(head), text, len, out);
	SAME(out, len + SEAL_TAG_BYTES, want,
		golden("xchacha20poly1305.hex", want, sizeof(want)));
	memset(want, 0, sizeof(want));
	ck_assert(seal_open(&s, 0x5756555453525150, head, sizeof(head), out,
		len + SEAL_TAG_BYTES, want));
	ck_assert_mem_eq(want, text, len);
}
END_TEST

START_TEST(any_change_is_noticed)
{
	uint8_t out[4 + SEAL_TAG_BYTES], back[4];
	struct seal_session s = {0};
	char head[] = "head";

	seal_close(&s, 5, head, 4, "text", 4, out);
	ck_assert(seal_open(&s, 5, head, 4, out, sizeof(out), back));
	ck_assert(!seal_open(&s, 6, head, 4, out, sizeof(out), back));
	ck_assert(!seal_open(&s, 5, head, 3, out, sizeof(out), back));
	ck_assert(!seal_open(&s, 5, "Head", 4, out, sizeof(out), back));
	for (size_t n = 0; n < sizeof(out); n++)
		ck_assert(!seal_open(&s, 5, head, 4, out, n, back));
	for (size_t bit = 0; bit < 8 * sizeof(out); bit++) {
		out[bit / 8] ^= (uint8_t)(1U << bit % 8);
		ck_assert(!seal_open(&s, 5, head, 4, out, sizeof(out), back));
		out[bit / 8] ^= (uint8_t)(1U << bit % 8);
	}
	s.id[0] ^= 1;
	ck_assert(!seal_open(&s, 5, head, 4, out, sizeof(out), back));
	s.id[0] ^= 1;
	s.rx[0] ^= 1;
	ck_assert(!seal_open(&s, 5, head, 4, out, sizeof(out), back));
}
END_TEST

START_TEST(an_empty_text_can_be_sealed)
{
	struct seal_session s = {0};
	uint8_t out[SEAL_TAG_BYTES], back[1];

	seal_close(&s, 1, "h", 1, NULL, 0, out);
	ck_assert(seal_open(&s, 1, "h", 1, out, sizeof(out), back));
}
END_TEST

START_TEST(tokens_are_43_different_characters_of_base64url)
{
	char a[SEAL_TOKEN_CHARS + 1], b[SEAL_TOKEN_CHARS + 1];
	struct err e = {0};
	uint8_t bytes[32];

	seal_token_new(a);
	seal_token_new(b);
	ck_assert_uint_eq(strlen(a), SEAL_TOKEN_CHARS);
	ck_assert_str_ne(a, b);
	OK(seal_unbase64(a, bytes, sizeof(bytes), &e));
}
END_TEST

START_TEST(hashes_are_blake2b)
{
	char text[2 * SEAL_HASH_BYTES + 1];
	uint8_t hash[SEAL_HASH_BYTES];

	seal_hash("abc", 3, hash);
	seal_hex(hash, sizeof(hash), text);
	ck_assert_str_eq(
		text, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}
END_TEST

START_TEST(base64url_is_exact)
{
	uint8_t data[16], back[16];
	struct err e = {0};
	char text[28];

	for (size_t n = 0; n <= sizeof(data); n++) {
		seal_random(data, sizeof(data));
		seal_base64(data, n, text);
		ck_assert_uint_eq(strlen(text), (n * 4 + 2) / 3);
		OK(seal_unbase64(text, back, n, &e));
		ck_assert_mem_eq(data, back, n);
	}
	FAILS(seal_unbase64("AAAA", back, 2, &e), ERR_INVALID, "want 2 bytes");
	FAILS(seal_unbase64("AAAA", back, 4, &e), ERR_INVALID, "want 4 bytes");
	FAILS(seal_unbase64("AAA=", back, 2, &e), ERR_INVALID, "no padding");
	FAILS(seal_unbase64("AA A", back, 2, &e), ERR_INVALID, "base64url");
	FAILS(seal_unbase64("+/AA", back, 3, &e), ERR_INVALID, "base64url");
	FAILS(seal_unbase64("AAB", back, 2, &e), ERR_INVALID, "base64url");
	FAILS(seal_unbase64("", back, 1, &e), ERR_INVALID, "base64url");
}
END_TEST

START_TEST(wiping_leaves_zeros)
{
	uint8_t secret[9], none[9] = {0};

	seal_random(secret, sizeof(secret));
	seal_wipe(secret, sizeof(secret));
	ck_assert_mem_eq(secret, none, sizeof(none));
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("seal");

	seal_init();
	tcase_add_test(tc, both_sides_agree_on_keys_that_belong_to_one_session);
	tcase_add_test(tc, a_public_key_outside_the_group_is_refused);
	tcase_add_test(tc, sealing_is_the_published_algorithm);
	tcase_add_test(tc, any_change_is_noticed);
	tcase_add_test(tc, an_empty_text_can_be_sealed);
	tcase_add_test(tc, tokens_are_43_different_characters_of_base64url);
	tcase_add_test(tc, hashes_are_blake2b);
	tcase_add_test(tc, base64url_is_exact);
	tcase_add_test(tc, wiping_leaves_zeros);
	return unit_run("seal", tc);
}
