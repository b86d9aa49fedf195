/*
 * prefix.c - find the bits in which keys differ, and pack these bits into words (prefix.h)
 *
 * A word with all varying bits, from first to last, sorts like the keys, because the other bits are
 * equal in all keys. If more than 64 bits vary, different keys may have equal words. The sort of a
 * run compares these words, and the merge compares them in nearly every match.
 *
 * The instruction PEXT packs a word. On Zen 1 and 2, PEXT is slower than portable code, because the
 * processor runs it as microcode. The portable code is the parallel suffix "compress" of Warren,
 * Hacker's Delight, 7-4. A plan computes the moves once.
 */
#include "prefix.h"

#include "mem.h"

void span_release(struct key_span *s)
{
	buf_release(&s->sample);
	*s = (struct key_span){0};
}

void span_start(struct key_span *s, struct bytes key, const uint8_t *secondary,
		size_t secondary_bytes)
{
	s->sample.len = 0;
	buf_append(&s->sample, key.ptr, key.len);
	if (secondary_bytes > 0)
		buf_append(&s->sample, secondary, secondary_bytes);
	s->min_len = s->max_len = key.len;
	s->skip = 0;
	memset(s->mask, 0, sizeof s->mask);
}

void watch_start(struct span_watch *w, const uint8_t *string, size_t key_len,
		 size_t secondary_bytes)
{
	size_t bytes = key_len + secondary_bytes;

	*w = (struct span_watch){.key_len = key_len, .lost = bytes > SPAN_BYTES};
	w->nwords = w->lost ? 0 : (bytes + 7) / 8;
	memcpy(w->first, string, 8 * w->nwords);
}

void span_watched(struct key_span *s, const struct span_watch *w, const uint8_t *string,
		  size_t secondary_bytes)
{
	span_start(s, bytes_of(string, w->key_len), string + w->key_len, secondary_bytes);
	memcpy(s->mask, w->varies,
	       w->key_len + secondary_bytes); /* leave out the bytes after the string */
}

size_t span_string_bytes(const struct key_span *s, size_t secondary_bytes)
{
	return s->min_len == s->max_len ? s->max_len + secondary_bytes : s->max_len;
}

/* Return the mask at byte `pos`. `pos` is in a window that starts at or before the span's window,
 * so `pos` is before the end of the span's window. */
static uint8_t mask_at(const struct key_span *s, size_t pos)
{
	return pos < s->skip ? 0 : s->mask[pos - s->skip];
}

static uint8_t byte_at(struct bytes b, size_t pos)
{
	return pos < b.len ? b.ptr[pos] : 0;
}

void span_between(struct key_span *s, struct bytes first, struct bytes last, size_t min_len,
		  size_t max_len, size_t secondary_bytes)
{
	struct bytes key = bytes_of(first.ptr, first.len - secondary_bytes);

	span_start(s, key, key.ptr + key.len, secondary_bytes);
	s->min_len = min_len;
	s->max_len = max_len;
	if (min_len != max_len) {
		first.len -= secondary_bytes;
		last.len -= secondary_bytes;
	}
	size_t most = first.len > last.len ? first.len : last.len;
	while (s->skip < most && byte_at(first, s->skip) == byte_at(last, s->skip))
		s->skip++;
	memset(s->mask, 0xff, sizeof s->mask);
}

void span_merge(struct key_span *s, const struct key_span *other, size_t secondary_bytes)
{
	if (s->sample.len == 0) {
		struct bytes key = bytes_of(other->sample.ptr, other->sample.len - secondary_bytes);

		span_start(s, key, other->sample.ptr + key.len, secondary_bytes);
		s->min_len = other->min_len;
		s->max_len = other->max_len;
		s->skip = other->skip;
		memcpy(s->mask, other->mask, sizeof s->mask);
		return;
	}
	if (other->min_len < s->min_len)
		s->min_len = other->min_len;
	if (other->max_len > s->max_len)
		s->max_len = other->max_len;
	struct bytes a = buf_bytes(&s->sample), b = buf_bytes(&other->sample);
	if (s->min_len != s->max_len) {
		a.len -= secondary_bytes;
		b.len -= secondary_bytes;
	}
	size_t skip = s->skip < other->skip ? s->skip : other->skip;
	for (size_t i = 0; i < skip; i++)
		if (byte_at(a, i) != byte_at(b, i))
			skip = i;
	uint8_t mask[SPAN_BYTES];
	for (size_t i = 0; i < SPAN_BYTES; i++)
		mask[i] = (uint8_t)(mask_at(s, skip + i) | mask_at(other, skip + i) |
				    (byte_at(a, skip + i) ^ byte_at(b, skip + i)));
	s->skip = skip;
	memcpy(s->mask, mask, sizeof mask);
}

/* Find, for each power of two, the bits that move right by this number (Hacker's Delight 7-4). */
static void compress_moves(uint64_t mask, uint64_t moves[6])
{
	uint64_t left = ~mask << 1;

	for (unsigned i = 0; i < 6; i++) {
		uint64_t odd = left ^ (left << 1);

		odd ^= odd << 2;
		odd ^= odd << 4;
		odd ^= odd << 8;
		odd ^= odd << 16;
		odd ^= odd << 32;
		moves[i] = odd & mask;
		mask = (mask ^ moves[i]) | (moves[i] >> (1u << i));
		left &= ~odd;
	}
}

static inline uint64_t extract_portable(uint64_t word, const struct plan_word *w)
{
	word &= w->mask;
	for (unsigned i = 0; i < 6; i++) {
		uint64_t moving = word & w->moves[i];

		word = (word ^ moving) | (moving >> (1u << i));
	}
	return word;
}

typedef uint64_t extract_bits(uint64_t word, const struct plan_word *w);

/*
 * Append bits to a word. With 64 new bits, the word is still empty, and a shift by 64 would have no
 * defined result.
 */
static inline uint64_t push_bits(uint64_t packed, uint64_t low, unsigned bits)
{
	return bits < 64 ? packed << bits | low : low;
}

static inline __attribute__((always_inline)) uint64_t
pack_fixed_with(const struct key_plan *p, const uint8_t *key, extract_bits *extract)
{
	uint64_t packed = 0;

	for (unsigned i = 0; i < p->nwords; i++) {
		const struct plan_word *w = &p->words[i];

		packed = push_bits(packed, extract(get_be64(key + w->at), w), w->bits);
	}
	return packed;
}

static inline __attribute__((always_inline)) uint64_t
pack_padded_with(const struct key_plan *p, const uint8_t *key, size_t len, extract_bits *extract)
{
	uint64_t packed = 0;

	for (unsigned i = 0; i < p->nwords; i++) {
		const struct plan_word *w = &p->words[i];

		packed = push_bits(packed, extract(padded_word(key, len, w->at), w), w->bits);
	}
	return packed;
}

static inline __attribute__((always_inline)) uint32_t
pack_rest_with(const struct key_plan *p, const uint8_t *key, size_t len, extract_bits *extract)
{
	uint64_t packed = 0;

	for (unsigned i = 0; i < p->nrest; i++) {
		const struct plan_word *w = &p->rest[i];
		uint64_t word = p->fixed ? get_be64(key + w->at) : padded_word(key, len, w->at);

		packed = packed << w->bits | extract(word, w);
	}
	return (uint32_t)packed;
}

static uint64_t pack_fixed_portable(const struct key_plan *p, const uint8_t *key, size_t len)
{
	(void)len;
	return pack_fixed_with(p, key, extract_portable);
}

static uint64_t pack_padded_portable(const struct key_plan *p, const uint8_t *key, size_t len)
{
	return pack_padded_with(p, key, len, extract_portable);
}

static struct packed_key pack_long_portable(const struct key_plan *p, const uint8_t *key,
					    size_t len)
{
	uint64_t word = p->fixed ? pack_fixed_with(p, key, extract_portable)
				 : pack_padded_with(p, key, len, extract_portable);

	return (struct packed_key){word, pack_rest_with(p, key, len, extract_portable)};
}

static void choose_portable(struct key_plan *p)
{
	p->short_pext = false;
	p->pack = p->fixed ? pack_fixed_portable : pack_padded_portable;
	p->pack_long = pack_long_portable;
}

#if defined(__x86_64__)
/* __builtin_ia32_pext_di is _pext_u64 of immintrin.h, which takes 0.3 s to compile. */
__attribute__((target("bmi2"))) static inline uint64_t extract_pext(uint64_t word,
								    const struct plan_word *w)
{
	return __builtin_ia32_pext_di(word, w->mask);
}

__attribute__((target("bmi2"))) static uint64_t pack_fixed_pext(const struct key_plan *p,
								const uint8_t *key, size_t len)
{
	(void)len;
	return pack_fixed_with(p, key, extract_pext);
}

__attribute__((target("bmi2"))) static uint64_t pack_padded_pext(const struct key_plan *p,
								 const uint8_t *key, size_t len)
{
	return pack_padded_with(p, key, len, extract_pext);
}

__attribute__((target("bmi2"))) static struct packed_key
pack_long_pext(const struct key_plan *p, const uint8_t *key, size_t len)
{
	uint64_t word = p->fixed ? pack_fixed_with(p, key, extract_pext)
				 : pack_padded_with(p, key, len, extract_pext);

	return (struct packed_key){word, pack_rest_with(p, key, len, extract_pext)};
}

static void choose_pack(struct key_plan *p)
{
	if (!__builtin_cpu_supports("bmi2") || __builtin_cpu_is("znver1") ||
	    __builtin_cpu_is("znver2")) {
		choose_portable(p);
		return;
	}
	bool is_short = p->fixed && p->nwords <= 3 && p->nrest <= 1;
	p->short_pext = is_short;
	p->pack = is_short ? pack_short_pext : p->fixed ? pack_fixed_pext : pack_padded_pext;
	p->pack_long = is_short ? pack_short_long_pext : pack_long_pext;
}
#else
static void choose_pack(struct key_plan *p)
{
	choose_portable(p);
}
#endif

/* Return the first `room` bits of the mask's 1 bits. */
static uint64_t first_bits(uint64_t mask, unsigned room)
{
	for (unsigned n = (unsigned)__builtin_popcountll(mask); n > room; n--)
		mask &= mask - 1;
	return mask;
}

static void plan_take(struct plan_word *words, unsigned *n, unsigned *bits, size_t at,
		      uint64_t mask)
{
	if (mask == 0)
		return;
	struct plan_word *w = &words[(*n)++];
	*w = (struct plan_word){.at = at,
				.mask = mask,
				.bits = (unsigned)__builtin_popcountll(mask)};
	compress_moves(mask, w->moves);
	*bits += w->bits;
}

void plan_init(struct key_plan *p, const struct key_span *s, size_t secondary_bytes)
{
	size_t string_bytes = span_string_bytes(s, secondary_bytes);

	*p = (struct key_plan){.fixed = s->min_len == s->max_len};
	p->complete = p->whole = p->fixed && s->skip + SPAN_BYTES >= string_bytes;
	for (size_t i = 0; i < SPAN_WORDS && s->skip + 8 * i < string_bytes; i++) {
		uint64_t mask = get_be64(s->mask + 8 * i);
		size_t behind = s->skip + 8 * (i + 1);

		if (behind > string_bytes)
			mask &= UINT64_MAX << (8 * (behind - string_bytes));
		size_t at = s->skip + 8 * i;
		uint64_t now = first_bits(mask, 64 - p->bits);
		uint64_t later = first_bits(mask ^ now, REST_BITS - p->rest_bits);
		p->complete &= now == mask;
		p->whole &= (now | later) == mask;
		plan_take(p->words, &p->nwords, &p->bits, at, now);
		plan_take(p->rest, &p->nrest, &p->rest_bits, at, later);
	}
	choose_pack(p);
}

void plan_init_portable(struct key_plan *p, const struct key_span *s, size_t secondary_bytes)
{
	plan_init(p, s, secondary_bytes);
	choose_portable(p);
}
