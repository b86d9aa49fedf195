/*
 * limits.c - does each stage of conf/ratings.yaml with the fastest known method (limits.h)
 *
 * The sort is the fastest known one for such keys. The bits in which the keys differ, in order,
 * make one 64-bit number. The sort takes numbers with an index, and eleven bits at a time from the
 * last. It compares only the few rows that agree in all these bits by the remaining bits.
 */
#include "limits.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "hash.h"
#include "mem.h"
#include "pipeline/hfile/bloom.h"

enum { PIECE = 1 << 20, LINE_MAX_BYTES = 256, BLOCK = 65536, DIGIT = 11 };

/* --- read, parse, encode --- */

static struct limit_row *new_row(struct limit_rows *r)
{
	if (r->count == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 4096;
		r->row = mem_realloc(r->row, r->cap * sizeof *r->row);
	}
	return &r->row[r->count++];
}

static const uint8_t *number(const uint8_t *p, uint64_t *out)
{
	uint64_t n = 0;

	for (; (uint8_t)(*p - '0') < 10; p++)
		n = n * 10 + (uint64_t)(*p - '0');
	*out = n;
	return p + 1; /* the position after the separator */
}

/* Parses user,movie,rating,seconds\n. Returns the start of the next line. */
static const uint8_t *one_row(const uint8_t *p, struct limit_rows out[LIMIT_SALTS])
{
	uint64_t user, movie, seconds;
	uint8_t user_be[8];

	p = number(p, &user);
	put_be64(user_be, user);
	const uint8_t *movie_at = p;
	p = number(p, &movie);
	const uint8_t *rating_at = p;
	while (*p != ',')
		p++;
	size_t movie_len = (size_t)(rating_at - 1 - movie_at), rating_len = (size_t)(p - rating_at);
	p = number(p + 1, &seconds);
	uint8_t salt = (uint8_t)(murmur3_32(bytes_of(user_be, 8), 0) % LIMIT_SALTS);
	struct limit_row *r = new_row(&out[salt]);
	r->key[0] = salt;
	memcpy(r->key + 1, user_be, 8);
	put_be64(r->key + 9, (uint64_t)INT64_MAX - seconds * 1000);
	put_be32(r->key + 17, (uint32_t)movie);
	r->lengths = (uint8_t)(movie_len << 4 | rating_len);
	memcpy(r->text, movie_at, movie_len);
	memcpy(r->text + movie_len, rating_at, rating_len);
	return p;
}

int limit_encode(const char *path, struct limit_rows out[LIMIT_SALTS])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *buf = mem_alloc(PIECE + LINE_MAX_BYTES);
	size_t have = 0;
	ssize_t n = fd < 0 ? -1 : 0;
	bool header = true;

	while (fd >= 0 && (n = read(fd, buf + have, PIECE + LINE_MAX_BYTES - have)) > 0) {
		have += (size_t)n;
		const uint8_t *p = buf, *last = memrchr(buf, '\n', have);
		if (header && last)
			p = (const uint8_t *)memchr(buf, '\n', have) + 1;
		header = false;
		while (last && p <= last)
			p = one_row(p, out);
		have -= (size_t)(p - buf);
		memmove(buf, p, have);
	}
	if (fd >= 0)
		close(fd);
	mem_free(buf);
	return n < 0 || have ? -1 : 0;
}

void limit_rows_release(struct limit_rows rows[LIMIT_SALTS])
{
	for (int i = 0; i < LIMIT_SALTS; i++) {
		mem_free(rows[i].row);
		rows[i] = (struct limit_rows){0};
	}
}

/* --- sort --- */

struct entry {
	uint64_t bits;
	uint32_t index;
};

/* Packs the bits of x that mask selects, as PEXT does, step by step. */
static uint64_t gather_bits(uint64_t x, uint64_t mask)
{
#if defined(__x86_64__) && defined(__GNUC__)
	if (__builtin_cpu_supports("bmi2")) {
		uint64_t out;

		__asm__("pextq %2, %1, %0" : "=r"(out) : "r"(x), "r"(mask));
		return out;
	}
#endif
	uint64_t out = 0;
	for (uint64_t bit = 1; mask; mask &= mask - 1, bit <<= 1)
		out |= x & mask & (0 - mask) ? bit : 0;
	return out;
}

/* Returns the key after its salt, as three words in its order. */
static inline void key_words(const struct limit_row *r, uint64_t w[3])
{
	w[0] = get_be64(r->key + 1);
	w[1] = get_be64(r->key + 9);
	w[2] = (uint64_t)get_be32(r->key + 17) << 32;
}

static unsigned make_entries(const struct limit_rows *rows, struct entry *e)
{
	uint64_t first[3], w[3], mask[3] = {0};

	key_words(&rows->row[0], first);
	for (size_t i = 0; i < rows->count; i++) {
		key_words(&rows->row[i], w);
		for (int k = 0; k < 3; k++)
			mask[k] |= w[k] ^ first[k];
	}
	unsigned used = 0, take[3];
	for (int k = 0; k < 3; k++) {
		unsigned n = (unsigned)__builtin_popcountll(mask[k]);

		take[k] = n < 64 - used ? n : 64 - used;
		for (; n > take[k]; n--)
			mask[k] &= mask[k] - 1; /* the lowest bits do not fit */
		used += take[k];
	}
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t bits = 0;

		key_words(&rows->row[i], w);
		for (int k = 0; k < 3; k++)
			if (take[k])
				bits = (take[k] < 64 ? bits << take[k] : 0) |
				       gather_bits(w[k], mask[k]);
		e[i] = (struct entry){bits, (uint32_t)i};
	}
	return used;
}

/* Make one stable pass over DIGIT bits. */
static void pass(const struct entry *from, struct entry *to, size_t n, unsigned shift)
{
	size_t at[1 << DIGIT] = {0}, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i].bits >> shift & ((1 << DIGIT) - 1)]++;
	for (size_t d = 0; d < 1 << DIGIT; d++) {
		size_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i].bits >> shift & ((1 << DIGIT) - 1)]++] = from[i];
}

/* Sorts neighbours that agree in the bits by their whole keys. */
static void repair(const struct limit_rows *rows, struct entry *e)
{
	for (size_t i = 1; i < rows->count; i++) {
		struct entry x = e[i];
		size_t k = i;

		while (k > 0 && e[k - 1].bits == x.bits &&
		       memcmp(rows->row[e[k - 1].index].key, rows->row[x.index].key, LIMIT_KEY) >
			       0) {
			e[k] = e[k - 1];
			k--;
		}
		if (k < i)
			e[k] = x;
	}
}

void limit_sort(const struct limit_rows *rows, struct limit_row *sorted)
{
	if (rows->count == 0)
		return;
	struct entry *a = mem_alloc(rows->count * sizeof *a),
		     *b = mem_alloc(rows->count * sizeof *b);
	unsigned bits = make_entries(rows, a);
	for (unsigned shift = 0; shift < bits; shift += DIGIT) {
		pass(a, b, rows->count, shift);
		struct entry *t = a;
		a = b;
		b = t;
	}
	repair(rows, a);
	for (size_t i = 0; i < rows->count; i++) {
		if (i + 16 < rows->count)
			__builtin_prefetch(&rows->row[a[i + 16].index]);
		sorted[i] = rows->row[a[i].index];
	}
	mem_free(a);
	mem_free(b);
}

/* --- expand --- */

/* lengths 8 | row length 2 | row 21 | family length, "f" | qualifier | ts 8 | Put | value */
enum { AT_ROW = 10, AT_QUALIFIER = 33, AT_TS = 34, AT_VALUE = 43, CELL_MAX = 64 };

static uint8_t *put_cell(uint8_t *to, const uint8_t *template, const struct limit_row *r,
			 const uint8_t *value, size_t len)
{
	uint8_t text[16];

	memcpy(to, template, AT_VALUE);
	put_be32(to + 4, (uint32_t)len);
	memcpy(to + AT_ROW, r->key, LIMIT_KEY);
	put_be64(to + AT_TS, (uint64_t)INT64_MAX - get_be64(r->key + 9));
	memcpy(text, value,
	       /* a copy of fixed length is one move; the next field overwrites the extra bytes */
	       LIMIT_TEXT);
	memcpy(to + AT_VALUE, text, LIMIT_TEXT);
	return to + AT_VALUE + len;
}

uint64_t limit_expand(const struct limit_row *rows, size_t count)
{
	uint8_t movie[AT_VALUE] = {[3] = 35, [9] = LIMIT_KEY, [31] = 1, 'f', 'm', [42] = 4},
		rating[AT_VALUE];

	memcpy(rating, movie, sizeof movie);
	rating[AT_QUALIFIER] = 'r';
	uint8_t *block = mem_alloc(BLOCK + 2 * CELL_MAX), *p = block;
	uint64_t bytes = 0;
	for (size_t i = 0; i < count; i++) {
		uint8_t text[2 * LIMIT_TEXT] = {0};

		memcpy(text, rows[i].text, LIMIT_TEXT);
		p = put_cell(p, movie, &rows[i], text, rows[i].lengths >> 4);
		p = put_cell(p, rating, &rows[i], text + (rows[i].lengths >> 4),
			     rows[i].lengths & 15);
		if (p - block < BLOCK)
			continue;
		bytes += (uint64_t)(p - block);
		p = block;
	}
	bytes += (uint64_t)(p - block);
	/* the compiler would remove unused blocks */
	__asm__ volatile("" : : "r"(block) : "memory");
	mem_free(block);
	return bytes;
}

/* --- bloom --- */

static inline uint32_t mix(uint32_t h, uint32_t k)
{
	k *= 0x5bd1e995u;
	k ^= k >> 24;
	return h * 0x5bd1e995u ^ k * 0x5bd1e995u;
}

/* MurmurHash2 of 21 bytes whose last is below 0x80 or extended as Java does. */
static inline uint32_t murmur2_key(const uint8_t *p, uint32_t seed)
{
	uint32_t h = seed ^ LIMIT_KEY, w[5];

	memcpy(w, p, sizeof w);
	for (int i = 0; i < 5; i++)
		h = mix(h, w[i]);
	h ^= p[20] | (p[20] & 0x80 ? 0xffffff00u : 0u);
	h *= 0x5bd1e995u;
	h ^= h >> 13;
	h *= 0x5bd1e995u;
	return h ^ h >> 15;
}

size_t limit_bloom(const struct limit_row *rows, size_t count)
{
	const uint32_t bytes = 131072, mask = 8 * bytes - 1;
	uint32_t hashes, keys;

	hfile_bloom_sizes(BLOOM_ROW, bytes, &hashes, &keys);
	uint8_t *bits = mem_calloc(1, bytes);
	size_t chunks = 0;
	for (size_t i = 0; i < count; i++) {
		if (i % keys == 0) {
			memset(bits, 0, bytes);
			chunks++;
		}
		uint32_t h1 = murmur2_key(rows[i].key, 0), h2 = murmur2_key(rows[i].key, h1);
		for (uint32_t k = 0; k < hashes; k++, h1 += h2) {
			uint32_t bit = (h1 >> 31 ? 0 - h1 : h1) & mask;

			bits[bit >> 3] |= (uint8_t)(1u << (bit & 7));
		}
	}
	__asm__ volatile("" : : "r"(bits) : "memory");
	mem_free(bits);
	return chunks;
}
