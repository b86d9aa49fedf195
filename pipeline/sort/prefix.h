/*
 * prefix.h - the bits in which keys differ, packed into one u64 that sorts like the keys
 *
 * A span has the bits that vary in a set of records. A plan depends on a span. The plan packs the
 * first 64 varying bits, and for a sort also the next 32. If the packed bits of two keys differ,
 * these bits decide the order. If the packed bits are equal, the sort needs a full comparison,
 * unless the plan packs all varying bits.
 */
#ifndef SALTMILL_PREFIX_H
#define SALTMILL_PREFIX_H

#include "bytes.h"

enum {
	SPAN_WORDS = 8,
	SPAN_BYTES = 8 * SPAN_WORDS,
	REST_BITS = 32,
	SLACK_BYTES = 64 /* readable bytes after every record, because saltmill loads whole words */
};

/*
 * The varying bits of a set of records. If all keys have one length, a record's string is its key
 * and secondary. Otherwise the string is the key alone, followed by any number of zero bytes. Then
 * two keys that differ only in trailing zero bytes look equal.
 */
struct key_span {
	/* key and secondary of one record of the set; a length of 0 means that the set is empty */
	struct buf sample;
	size_t min_len, max_len;  /* key lengths in bytes */
	size_t skip;		  /* the strings have the same first `skip` bytes */
	uint8_t mask[SPAN_BYTES]; /* bits from byte `skip` on; a bit of 0 means that the bit is
				     equal in all strings */
};
void span_release(struct key_span *s);
/* Start a span with one record. s->skip is the length of a common prefix of the set. */
void span_start(struct key_span *s, struct bytes key, const uint8_t *secondary,
		size_t secondary_bytes);
/*
 * Add the records of another set. The result may contain a bit that does not vary, which only costs
 * time.
 */
void span_merge(struct key_span *s, const struct key_span *other, size_t secondary_bytes);
/*
 * Computes the span of records while they are in the CPU cache. The strings must have at most
 * SPAN_BYTES, and all keys must have one length. Otherwise `lost` is true, and the caller must scan
 * the records.
 */
struct span_watch {
	size_t key_len, nwords;
	uint64_t first[SPAN_WORDS], varies[SPAN_WORDS]; /* words in the CPU's byte order */
	bool lost;
};
/* Watch a string. A string is key and secondary, with SLACK_BYTES readable after it. */
void watch_start(struct span_watch *w, const uint8_t *string, size_t key_len,
		 size_t secondary_bytes);
static inline void watch_key_len(struct span_watch *w, size_t key_len)
{
	w->lost |= key_len != w->key_len;
}
/* Watch `n` strings, which are at `base` + at[i]. */
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
 * Watch one more string. The first `shared` bytes of the string equal those of a watched string,
 * and `tail` has the other bytes. The function reads `shared` bytes before `tail`. w->lost must be
 * false.
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
/* Set *s to the span of the watched strings. `string` is one of these strings. w->lost must be
 * false. */
void span_watched(struct key_span *s, const struct span_watch *w, const uint8_t *string,
		  size_t secondary_bytes);

/*
 * Set *s to the span of an ordered set with this first and this last string. All bits after their
 * common prefix may vary.
 */
void span_between(struct key_span *s, struct bytes first, struct bytes last, size_t min_len,
		  size_t max_len, size_t secondary_bytes);

/* Return the length of the strings of a span, without padding. */
size_t span_string_bytes(const struct key_span *s, size_t secondary_bytes);

struct plan_word {
	size_t at;	   /* byte offset in the string */
	uint64_t mask;	   /* bits to take from the big-endian word */
	uint64_t moves[6]; /* steps of the portable bit compression */
	unsigned bits;
};

struct packed_key {
	uint64_t word;
	uint32_t rest; /* the varying bits that follow the bits in `word` */
};

struct key_plan;
typedef uint64_t key_pack(const struct key_plan *p, const uint8_t *key, size_t key_len);
typedef struct packed_key key_pack_long(const struct key_plan *p, const uint8_t *key,
					size_t key_len);

struct key_plan {
	struct plan_word words[SPAN_WORDS], rest[SPAN_WORDS];
	unsigned nwords, nrest;
	unsigned bits;	    /* number of packed bits in the word, 0 to 64 */
	unsigned rest_bits; /* number of bits in the rest, 0 to REST_BITS; 0 if `bits` is less than
			       64 */
	bool fixed;	    /* all keys have one length, so strings include the secondary */
	bool complete;	    /* equal packed words mean equal key and secondary */
	bool whole;	    /* equal words and rests mean equal key and secondary */
	/* `pack` is pack_short_pext, and `pack_long` is pack_short_long_pext */
	bool short_pext;
	key_pack *pack;		  /* may read up to SLACK_BYTES after the key */
	key_pack_long *pack_long; /* may also read up to SLACK_BYTES after the key */
};
void plan_init(struct key_plan *p, const struct key_span *s, size_t secondary_bytes);
/* Make a plan as plan_init does, but with portable code only. plan_init also uses portable code if
 * the CPU has no fast PEXT. */
void plan_init_portable(struct key_plan *p, const struct key_span *s, size_t secondary_bytes);

#if defined(__x86_64__)
/* Pack up to three words of a string of fixed length. Unused words have no bits. */
__attribute__((target("bmi2"))) static inline uint64_t
pack_short_pext(const struct key_plan *p, const uint8_t *key, size_t len)
{
	const struct plan_word *w = p->words;

	(void)len;
	uint64_t packed = __builtin_ia32_pext_di(get_be64(key + w[0].at), w[0].mask);
	packed = packed << w[1].bits | __builtin_ia32_pext_di(get_be64(key + w[1].at), w[1].mask);
	return packed << w[2].bits | __builtin_ia32_pext_di(get_be64(key + w[2].at), w[2].mask);
}

/* Pack a string as pack_short_pext does, and one more word. */
__attribute__((target("bmi2"))) static inline struct packed_key
pack_short_long_pext(const struct key_plan *p, const uint8_t *key, size_t len)
{
	uint64_t rest = __builtin_ia32_pext_di(get_be64(key + p->rest[0].at), p->rest[0].mask);

	return (struct packed_key){pack_short_pext(p, key, len), (uint32_t)rest};
}
#endif

/* Return the 8 bytes at byte `at` of a key, with zeros after the `key_len` bytes of the key. */
static inline uint64_t padded_word(const uint8_t *key, size_t key_len, size_t at)
{
	if (key_len >= at + 8)
		return get_be64(key + at);
	if (key_len <= at)
		return 0;
	return get_be64(key + at) & ~(UINT64_MAX >> (8 * (key_len - at)));
}

#endif
