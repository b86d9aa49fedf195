/*
 * prefix.h - the bits in which keys differ, packed into one u64 that sorts like the keys
 *
 * A span says which bits vary in a set of records. A plan made from it packs the first 64 of them,
 * and for a sort the next 32. Different packed bits decide; equal ones need a full comparison
 * unless the plan packs all varying bits.
 */
#ifndef SALTMILL_PREFIX_H
#define SALTMILL_PREFIX_H

#include "bytes.h"

enum {
	SPAN_WORDS = 8,
	SPAN_BYTES = 8 * SPAN_WORDS,
	REST_BITS = 32,
	SLACK_BYTES = 64 /* readable after every record: words are loaded whole */
};

/*
 * Records as strings: key and secondary if all keys have one length; else the key alone, padded
 * with zero bytes without end. A key and its zero-padded twin then look equal.
 */
struct key_span {
	struct buf sample;	  /* key and secondary of one record of the set; len 0: empty set */
	size_t min_len, max_len;  /* of the keys */
	size_t skip;		  /* the strings agree in this many first bytes */
	uint8_t mask[SPAN_BYTES]; /* a bit that is 0 here is equal in all strings, from skip on */
};
void span_release(struct key_span *s);
/* Start with one record; the window begins at skip, which must be a common prefix. */
void span_start(struct key_span *s, struct bytes key, const uint8_t *secondary,
		size_t secondary_bytes);
/* The union of two sets. It may say that a bit varies although it does not, which is harmless. */
void span_merge(struct key_span *s, const struct key_span *other, size_t secondary_bytes);
/*
 * The span of records, computed while they are in the cache. Only for strings of at most SPAN_BYTES
 * with keys of one length; other sets are lost and must be scanned.
 */
struct span_watch {
	size_t key_len, nwords;
	uint64_t first[SPAN_WORDS], varies[SPAN_WORDS]; /* as they lie in memory */
	bool lost;
};
/* string: key and secondary, with SLACK_BYTES readable after it, here and below. */
void watch_start(struct span_watch *w, const uint8_t *string, size_t key_len,
		 size_t secondary_bytes);
static inline void watch_key_len(struct span_watch *w, size_t key_len)
{
	w->lost |= key_len != w->key_len;
}
/* n strings, which lie at base + at[i]. */
static inline void watch_strings(struct span_watch *w, const uint8_t *base, const uint32_t *at,
				 size_t n)
{
	for (size_t k = 0; k < w->nwords; k++, base += 8) {
		uint64_t first = w->first[k], varies = w->varies[k];

		for (size_t i = 0; i < n; i++) {
			uint64_t word;

			memcpy(&word, base + at[i], 8);
			varies |= word ^ first;
		}
		w->varies[k] = varies;
	}
}
/*
 * Watch one more string. Its `shared` first bytes are those of a watched string; tail: the others.
 * Reads `shared` bytes before tail. The watch must not be lost.
 */
static inline void watch_tail(struct span_watch *w, const uint8_t *tail, size_t shared)
{
	const uint8_t *from = tail - shared;

	for (size_t k = shared / 8; k < w->nwords; k++) {
		uint64_t word, keep = k == shared / 8 ? UINT64_MAX << 8 * (shared % 8) : UINT64_MAX;

		memcpy(&word, from + 8 * k, 8);
		w->varies[k] |= (word ^ w->first[k]) & keep;
	}
}
/* The span of a watch that is not lost. string: one of its strings. */
void span_watched(struct key_span *s, const struct span_watch *w, const uint8_t *string,
		  size_t secondary_bytes);

/*
 * The span of an ordered set, from its first and last string: everything after their common
 * beginning may vary.
 */
void span_between(struct key_span *s, struct bytes first, struct bytes last, size_t min_len,
		  size_t max_len, size_t secondary_bytes);

/* Length of the strings of a span, without padding. */
size_t span_string_bytes(const struct key_span *s, size_t secondary_bytes);

struct plan_word {
	size_t at;	   /* byte offset in the string */
	uint64_t mask;	   /* big-endian word's bits to take */
	uint64_t moves[6]; /* of the portable bit compression */
	unsigned bits;
};

struct packed_key {
	uint64_t word;
	uint32_t rest; /* the bits after it */
};

struct key_plan;
typedef uint64_t key_pack(const struct key_plan *p, const uint8_t *key, size_t key_len);
typedef struct packed_key key_pack_long(const struct key_plan *p, const uint8_t *key,
					size_t key_len);

struct key_plan {
	struct plan_word words[SPAN_WORDS], rest[SPAN_WORDS];
	unsigned nwords, nrest;
	unsigned bits;		  /* 0..64 */
	unsigned rest_bits;	  /* 0..REST_BITS; 0 while bits < 64 */
	bool fixed;		  /* all keys have one length: strings include the secondary */
	bool complete;		  /* equal packed words mean equal key and secondary */
	bool whole;		  /* equal words and rests do */
	bool short_pext;	  /* pack is pack_short_pext */
	key_pack *pack;		  /* reads up to SLACK_BYTES after the key */
	key_pack_long *pack_long; /* the same */
};
void plan_init(struct key_plan *p, const struct key_span *s, size_t secondary_bytes);
/* plan_init with the portable bit compression; plan_init chooses it if the CPU has no fast PEXT. */
void plan_init_portable(struct key_plan *p, const struct key_span *s, size_t secondary_bytes);

#if defined(__x86_64__)
/* Pack up to three words of a fixed string; absent words have no bits. */
__attribute__((target("bmi2"))) static inline uint64_t
pack_short_pext(const struct key_plan *p, const uint8_t *key, size_t len)
{
	const struct plan_word *w = p->words;

	(void)len;
	uint64_t packed = __builtin_ia32_pext_di(get_be64(key + w[0].at), w[0].mask);
	packed = packed << w[1].bits | __builtin_ia32_pext_di(get_be64(key + w[1].at), w[1].mask);
	return packed << w[2].bits | __builtin_ia32_pext_di(get_be64(key + w[2].at), w[2].mask);
}
#endif

/* The word at byte `at` of a key of key_len bytes, zero-padded. */
static inline uint64_t padded_word(const uint8_t *key, size_t key_len, size_t at)
{
	if (key_len >= at + 8)
		return get_be64(key + at);
	if (key_len <= at)
		return 0;
	return get_be64(key + at) & ~(UINT64_MAX >> (8 * (key_len - at)));
}

#endif
