/* SPDX-License-Identifier: ISC */
/*
 * FIPS 180-4.  Buffering and padding stand here once; only the compression of
 * whole blocks differs: SHA-NI where the processor has it, libsodium otherwise.
 */
#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <sodium.h>

#include "base/sha256.h"

/* ${n} whole blocks at ${p} into ${h}. */
typedef void (*compress_fn)(uint32_t h[8], const uint8_t *p, size_t n);

/*
 * libsodium has no function for blocks, but its state is public: at a block
 * boundary the eight words are all of it.
 */
static void
compress_portable(uint32_t h[8], const uint8_t *p, size_t n)
{
	crypto_hash_sha256_state s = { .count = 0 };

	memcpy(s.state, h, sizeof(s.state));
	(void)crypto_hash_sha256_update(&s, p, 64 * (unsigned long long)n);
	memcpy(h, s.state, sizeof(s.state));
}

#if defined(__x86_64__)

static const uint32_t K[64] __attribute__((aligned(16))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

#define SHA_NI __attribute__((target("sha,sse4.1,ssse3")))

/* Rounds 4i to 4i + 3, with the words ${w} of the message. */
#define ROUNDS(w, i) do {						\
	__m128i wk = _mm_add_epi32(w,					\
	    _mm_load_si128((const __m128i *)(const void *)&K[4 * (i)]));\
	cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);			\
	abef = _mm_sha256rnds2_epu32(abef, cdgh,			\
	    _mm_shuffle_epi32(wk, 0x0e));				\
} while (0)

/* The same, and ${a} becomes the words that follow ${d}. */
#define ROUNDS_EXTEND(a, b, c, d, i) do {				\
	ROUNDS(a, i);							\
	a = _mm_sha256msg2_epu32(_mm_add_epi32(				\
	    _mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4)), d);	\
} while (0)

SHA_NI static inline __m128i
load(const uint8_t *p, __m128i swap)
{
	return _mm_shuffle_epi8(
	    _mm_loadu_si128((const __m128i *)(const void *)p), swap);
}

SHA_NI static void
compress_sha_ni(uint32_t h[8], const uint8_t *p, size_t n)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b,
	    0x0405060700010203);
	__m128i *at = (__m128i *)(void *)h;
	__m128i abef, cdgh, abef0, cdgh0, w0, w1, w2, w3, lo, hi;

	/* The instructions want a b e f and c d g h, highest word first. */
	lo = _mm_shuffle_epi32(_mm_loadu_si128(at), 0xb1);
	hi = _mm_shuffle_epi32(_mm_loadu_si128(at + 1), 0x1b);
	abef = _mm_alignr_epi8(lo, hi, 8);
	cdgh = _mm_blend_epi16(hi, lo, 0xf0);

	for (; n != 0; n--, p += 64) {
		abef0 = abef;
		cdgh0 = cdgh;
		w0 = load(p, swap);
		w1 = load(p + 16, swap);
		w2 = load(p + 32, swap);
		w3 = load(p + 48, swap);
		for (int i = 0; i < 12; i += 4) {
			ROUNDS_EXTEND(w0, w1, w2, w3, i);
			ROUNDS_EXTEND(w1, w2, w3, w0, i + 1);
			ROUNDS_EXTEND(w2, w3, w0, w1, i + 2);
			ROUNDS_EXTEND(w3, w0, w1, w2, i + 3);
		}
		ROUNDS(w0, 12);
		ROUNDS(w1, 13);
		ROUNDS(w2, 14);
		ROUNDS(w3, 15);
		abef = _mm_add_epi32(abef, abef0);
		cdgh = _mm_add_epi32(cdgh, cdgh0);
	}

	lo = _mm_shuffle_epi32(abef, 0x1b);
	hi = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128(at, _mm_blend_epi16(lo, hi, 0xf0));
	_mm_storeu_si128(at + 1, _mm_alignr_epi8(hi, lo, 8));
}

static int
have_sha_ni(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3) &&
	    (c & bit_SSE4_1) && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
	    (b & bit_SHA);
}

#else

#define compress_sha_ni compress_portable

static int
have_sha_ni(void)
{
	return 0;
}

#endif

/* Asking the processor traps in a virtual machine, so the answer is kept. */
static _Atomic(compress_fn) chosen;

static compress_fn
compress(void)
{
	compress_fn f = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (f == NULL) {
		f = have_sha_ni() ? compress_sha_ni : compress_portable;
		atomic_store_explicit(&chosen, f, memory_order_relaxed);
	}
	return f;
}

void
sha256_portable(int on)
{
	atomic_store_explicit(&chosen, on ? compress_portable : NULL,
	    memory_order_relaxed);
}

int
sha256_accelerated(void)
{
	return compress() != compress_portable;
}

void
sha256_init(struct sha256 *s)
{
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(s->h, start, sizeof(s->h));
	s->n = 0;
}

void
sha256_update(struct sha256 *s, const void *p, size_t n)
{
	const uint8_t *at = p;
	size_t have = s->n % 64, k;

	if (n == 0)
		return;
	s->n += n;
	if (have != 0) {
		k = n < 64 - have ? n : 64 - have;
		memcpy(s->block + have, at, k);
		at += k;
		n -= k;
		if (have + k < 64)
			return;
		compress()(s->h, s->block, 1);
	}
	if (n >= 64)
		compress()(s->h, at, n / 64);
	memcpy(s->block, at + n / 64 * 64, n % 64);
}

static void
put_be(uint8_t *to, uint64_t v, size_t n)
{
	while (n-- > 0) {
		to[n] = (uint8_t)v;
		v >>= 8;
	}
}

void
sha256_final(struct sha256 *s, uint8_t out[SHA256_BYTES])
{
	size_t have = s->n % 64;

	/* One bit, zeros, and the length in bits at the end of a block. */
	s->block[have++] = 0x80;
	if (have > 56) {
		memset(s->block + have, 0, 64 - have);
		compress()(s->h, s->block, 1);
		have = 0;
	}
	memset(s->block + have, 0, 56 - have);
	put_be(s->block + 56, s->n * 8, 8);
	compress()(s->h, s->block, 1);
	for (size_t i = 0; i < 8; i++)
		put_be(out + 4 * i, s->h[i], 4);
}

void
sha256_of(struct bytes in, uint8_t out[SHA256_BYTES])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_update(&s, in.p, in.n);
	sha256_final(&s, out);
}

void
digest_init(struct digest *d, const char *label)
{
	sha256_init(&d->s);
	digest_str(d, str_of(label));
}

void
digest_bytes(struct digest *d, struct bytes b)
{
	uint8_t n[4];

	put_be(n, b.n, sizeof(n));
	sha256_update(&d->s, n, sizeof(n));
	sha256_update(&d->s, b.p, b.n);
}

void
digest_str(struct digest *d, struct str s)
{
	digest_bytes(d, bytes_of_str(s));
}

void
digest_u64(struct digest *d, uint64_t v)
{
	uint8_t n[8];

	put_be(n, v, sizeof(n));
	digest_bytes(d, BYTES(n));
}

void
digest_final(struct digest *d, uint8_t out[SHA256_BYTES])
{
	sha256_final(&d->s, out);
}
