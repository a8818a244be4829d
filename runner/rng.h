/*
 * rng - xoshiro256++ (Blackman and Vigna, 2019): fast, seeded, the same on every machine.
 *
 * Not for secrets. Plain data, one thread.
 */
#ifndef RUNNER_RNG_H
#define RUNNER_RNG_H

#include <math.h>
#include <stdint.h>

/* For the upper half of products of 64-bit numbers. */
__extension__ typedef unsigned __int128 rng_wide;

struct rng {
	uint64_t s[4];
};

/* rng_mix is one step of splitmix64: it spreads a seed and advances *seed. */
static inline uint64_t
rng_mix(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* rng_init starts the sequence of a seed. stream separates users of one seed. */
static inline void
rng_init(struct rng *r, uint64_t seed, uint64_t stream)
{
	uint64_t x = seed;
	uint64_t mixed = rng_mix(&x) ^ stream;

	for (int i = 0; i < 4; i++)
		r->s[i] = rng_mix(&mixed);
}

/* rng_next returns 64 random bits. */
static inline uint64_t
rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t sum = s[0] + s[3];
	uint64_t result = ((sum << 23) | (sum >> 41)) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return result;
}

/* rng_below returns a number in 0..n-1; the bias is below n / 2^64. */
static inline uint64_t
rng_below(struct rng *r, uint64_t n)
{
	return (uint64_t)(((rng_wide)rng_next(r) * n) >> 64);
}

/* rng_threshold returns what 32 random bits are below in so many percent of draws. */
static inline uint64_t
rng_threshold(double percent)
{
	return (uint64_t)llround(percent / 100 * 0x1p32);
}

/* rng_exponential returns a draw from the exponential distribution of mean 1. */
static inline double
rng_exponential(struct rng *r)
{
	return -log((double)((rng_next(r) >> 11) + 1) * 0x1p-53);
}

#endif
