/*
 * salts.c - find the function that gives the first bytes of keys
 *
 * The function may be one that a job computes (job.h), or another usual one, which becomes a
 * comment. Its input is a part of the key, several parts, or all bytes after the salt.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>

#include "hash.h"
#include "infer.h"

#define BUCKETS_MOST  1024
#define EVIDENCE_BITS 24 /* fewest bits of the salts that a function must give */

/* --- functions --- */

static uint64_t of_absolute(int64_t v)
{
	return (uint64_t)(v < 0 ? -v : v);
}

static uint64_t salt_murmur3(struct bytes in, uint32_t n)
{
	return murmur3_32(in, 0) % n;
}

static uint64_t salt_phoenix(struct bytes in, uint32_t n)
{
	return of_absolute((int64_t)java31(in) % (int64_t)n);
}

static uint64_t salt_hbasewd(struct bytes in, uint32_t n)
{
	int32_t h = java31(in);
	int32_t absolute = h == INT32_MIN ? h : abs(h);

	return (uint8_t)(absolute % (int32_t)n);
}

static uint64_t salt_floor(struct bytes in, uint32_t n)
{
	int64_t v = (int64_t)java31(in) % (int64_t)n;

	return (uint64_t)(v < 0 ? v + n : v);
}

/* String.hashCode begins with 0, and Arrays.hashCode with 1, which adds 31 to the power of `len`. */
static int32_t string_hash(struct bytes in)
{
	uint32_t power = 1;

	for (size_t i = 0; i < in.len; i++)
		power *= 31;
	return (int32_t)((uint32_t)java31(in) - power);
}

static uint64_t salt_string(struct bytes in, uint32_t n)
{
	return of_absolute((int64_t)string_hash(in) % (int64_t)n);
}

static uint64_t salt_string_mask(struct bytes in, uint32_t n)
{
	return ((uint32_t)string_hash(in) & INT32_MAX) % n;
}

static uint64_t salt_string_floor(struct bytes in, uint32_t n)
{
	int64_t v = (int64_t)string_hash(in) % (int64_t)n;

	return (uint64_t)(v < 0 ? v + n : v);
}

static uint64_t salt_crc32(struct bytes in, uint32_t n)
{
	return crc32(0, in.ptr, (uInt)in.len) % n;
}

static uint64_t salt_md5_first(struct bytes in, uint32_t n)
{
	uint8_t digest[16];

	md5(in, digest);
	return digest[0] % n;
}

static uint64_t salt_md5_int(struct bytes in, uint32_t n)
{
	uint8_t digest[16];

	md5(in, digest);
	return get_be32(digest) % n;
}

static uint64_t salt_md5_long(struct bytes in, uint32_t n)
{
	uint8_t digest[16];

	md5(in, digest);
	return get_be64(digest) % n;
}

/* The whole digest as a number, as of BigInteger or Python's int(..., 16). */
static uint64_t salt_md5(struct bytes in, uint32_t n)
{
	uint8_t digest[16];
	uint64_t v = 0;

	md5(in, digest);
	for (size_t i = 0; i < 16; i++)
		v = (v << 8 | digest[i]) % n;
	return v;
}

static uint64_t salt_number(struct bytes in, uint32_t n)
{
	uint64_t v = 0;
	bool digits = in.len > 0;

	for (size_t i = 0; i < in.len; i++)
		digits &= in.ptr[i] >= '0' && in.ptr[i] <= '9';
	for (size_t i = 0; i < in.len; i++)
		v = ((digits ? 10 * v : v << 8) + in.ptr[i] - (digits ? '0' : 0)) % n;
	return v;
}

static const struct salt_function {
	uint64_t (*of)(struct bytes in, uint32_t n);
	const char *name;
	int hash; /* enum hash_kind, or -1 if no part of a job computes it */
} functions[] = {
	{salt_murmur3, "murmur3", HASH_MURMUR3},
	{salt_phoenix, "Arrays.hashCode, as OpenTSDB and Phoenix use it", HASH_OPENTSDB},
	{salt_floor, "Math.floorMod of Arrays.hashCode", -1},
	{salt_string, "the absolute value of String.hashCode modulo", -1},
	{salt_string_mask, "String.hashCode & MAX_VALUE", -1},
	{salt_string_floor, "Math.floorMod of String.hashCode", -1},
	{salt_number, "the number itself", -1},
	{salt_crc32, "CRC-32", -1},
	{salt_md5, "the MD5 digest as a number", -1},
	{salt_md5_first, "the first byte of MD5", -1},
	{salt_md5_int, "the first 4 bytes of MD5", -1},
	{salt_md5_long, "the first 8 bytes of MD5", -1},
};
#define NFUNCTIONS (sizeof functions / sizeof *functions)

/* The salts of all keys, and the inputs of a function. */
struct salts {
	const uint64_t *salt;
	const struct bytes *in;
	const bool *first; /* no earlier key has the input; NULL means that all inputs differ */
	size_t n;
	uint64_t most;
};

static bool gives(const struct salts *s, uint64_t (*of)(struct bytes, uint32_t), uint32_t n)
{
	for (size_t k = 0; k < s->n; k++)
		if (of(s->in[k], n) != s->salt[k])
			return false;
	return true;
}

/*
 * Return true if the salts have enough bits to prove a function. Equal inputs prove it only once,
 * and one value of all keys proves nothing.
 */
static bool is_enough(const struct salts *s)
{
	size_t count[BUCKETS_MOST] = {0}, n = 0;
	double bits = 0;

	if (s->most >= BUCKETS_MOST)
		return false;
	for (size_t k = 0; k < s->n; k++)
		if (!s->first || s->first[k]) {
			count[s->salt[k]]++;
			n++;
		}
	for (size_t v = 0; v <= s->most; v++)
		bits += count[v] ? (double)count[v] * log2((double)n / (double)count[v]) : 0;
	return bits >= EVIDENCE_BITS;
}

/* Find the least number of buckets with which the function gives the salts. 0 means none. */
static uint32_t buckets_of(const struct salts *s, uint64_t (*of)(struct bytes, uint32_t),
			   uint32_t most)
{
	if (!is_enough(s))
		return 0;
	for (uint32_t n = (uint32_t)s->most + 1; n <= most; n++)
		if (gives(s, of, n))
			return n;
	return 0;
}

bool guess_whole_salt(const struct bytes *keys, size_t n, struct guess *g)
{
	struct salts s = {.n = n};
	uint64_t *salt = mem_calloc(n, sizeof *salt);
	struct bytes *in = mem_calloc(n, sizeof *in);

	for (size_t k = 0; k < n; k++) {
		salt[k] = keys[k].ptr[0];
		in[k] = bytes_of(keys[k].ptr + 1, keys[k].len - 1);
		s.most = salt[k] > s.most ? salt[k] : s.most;
	}
	s.salt = salt;
	s.in = in;
	g->buckets = buckets_of(&s, salt_phoenix, 256);
	g->hash = HASH_PHOENIX;
	g->what = "Phoenix's hash of the rest of the key";
	if (!g->buckets) {
		g->buckets = buckets_of(&s, salt_hbasewd, 256);
		g->hash = HASH_HBASEWD;
		g->what = "HBaseWD's hash of the rest of the key";
	}
	mem_free(salt);
	mem_free(in);
	return g->buckets > 0;
}

/* --- parts --- */

bool guess_split(const struct guesses *g, struct bytes key, struct bytes *parts)
{
	size_t at = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct guess *p = &g->part[i];
		size_t left = key.len - at;
		bool ends = p->terminator != NO_TERMINATOR;
		const uint8_t *end =
			ends && left ? memchr(key.ptr + at, p->terminator, left) : NULL;

		if (ends ? !end : p->width > left)
			return false;
		size_t len = ends ? (size_t)(end - key.ptr) - at : p->width ? p->width : left;
		parts[i] = bytes_of(key.ptr + at, len);
		at += len + ends;
	}
	return at == key.len;
}

struct derivation {
	struct guesses *g;
	const struct bytes *keys;
	struct bytes *parts; /* of each key, g->n */
	struct bytes *in;    /* of each key */
	bool *first;	     /* no earlier key has the same input */
	size_t n, different; /* keys, and inputs that differ */
	struct arena *arena;
};

/* Set the input to the parts whose bits are set. Bit 0 means all bytes after the first part. */
static void set_input(struct derivation *d, uint32_t mask)
{
	const size_t nparts = d->g->n;

	for (size_t k = 0; k < d->n; k++) {
		const struct bytes *p = d->parts + k * nparts;
		size_t len = 0;

		if (mask == 1) {
			const uint8_t *rest = p[1].ptr;

			d->in[k] = bytes_of(rest, (size_t)(d->keys[k].ptr + d->keys[k].len - rest));
			continue;
		}
		uint8_t *to = arena_alloc(d->arena, d->keys[k].len + 1);
		for (size_t i = 1; i < nparts; i++)
			if (mask >> i & 1) {
				memcpy(to + len, p[i].ptr, p[i].len);
				len += p[i].len;
			}
		d->in[k] = bytes_of(to, len);
	}
}

/* Mark the first key of each input. */
static void mark_inputs(struct derivation *d)
{
	uint32_t *seen = arena_alloc(d->arena, d->n * sizeof *seen);

	d->different = 0;
	for (size_t k = 0; k < d->n; k++) {
		size_t i = 0;

		seen[d->different] = murmur3_32(d->in[k], 0);
		while (seen[i] != seen[d->different])
			i++;
		d->first[k] = i == d->different;
		d->different += d->first[k];
	}
}

static bool has_const(const struct guesses *g, uint32_t mask)
{
	for (size_t i = 1; i < g->n; i++)
		if (mask >> i & 1 && g->part[i].kind == GUESS_CONST)
			return true;
	return false;
}

static void set_of(struct guess *p, const struct guesses *g, uint32_t mask)
{
	p->nof = 0;
	for (size_t i = 1; i < g->n; i++)
		if ((mask == 1 && g->part[i].kind == GUESS_FIELD) || (mask != 1 && mask >> i & 1))
			p->of[p->nof++] = i;
}

/* Return the number of first bytes of all keys that the hash of the input gives. */
static size_t hash_bytes(const struct derivation *d, enum hash_kind hash)
{
	size_t least = 16;

	for (size_t k = 0; k < d->n; k++) {
		uint8_t digest[16] = {0};
		size_t same = 0;

		if (hash == HASH_MD5)
			md5(d->in[k], digest);
		else
			put_be32(digest, murmur3_32(d->in[k], 0));
		while (same < (hash == HASH_MD5 ? 16 : 4) && same < d->keys[k].len &&
		       d->keys[k].ptr[same] == digest[same])
			same++;
		least = same < least ? same : least;
	}
	return least;
}

/*
 * Find how many first parts the hash covers. The hash may end inside an opaque part, which is then
 * cut. Returns 0 if it ends inside another part.
 */
static size_t covered(const struct guesses *g, size_t bytes, uint32_t *left)
{
	size_t at = 0, i = 0;

	for (*left = 0; i < g->n && at < bytes; i++) {
		const struct guess *p = &g->part[i];

		if (p->terminator != NO_TERMINATOR || !p->width)
			return 0;
		at += p->width;
		*left = (uint32_t)(at - bytes);
		if (at > bytes && !p->opaque)
			return 0;
	}
	return i;
}

/* Change the first parts to a hash of `bytes` bytes. The rest of an opaque part stays. */
static bool take_hash(struct derivation *d, enum hash_kind hash, uint32_t mask)
{
	struct guesses *g = d->g;
	size_t bytes = hash_bytes(d, hash);
	uint32_t left;
	size_t n = bytes ? covered(g, bytes, &left) : 0;

	if (n == 0 || bytes * 8 * d->different < EVIDENCE_BITS || (mask & ((2u << (n - 1)) - 1)))
		return false;
	struct guess first = {.kind = GUESS_HASH,
			      .hash = hash,
			      .width = (uint32_t)bytes,
			      .terminator = NO_TERMINATOR,
			      .what = hash == HASH_MD5
					      ? "first bytes of the MD5 digest of these fields"
					      : "murmur3 of these fields",
			      .confidence = 99,
			      .derived = true};
	set_of(&first, g, mask);
	size_t from = left ? n - 1 : n, to = 1;
	if (left)
		g->part[from].width = left;
	if (g->n + to - from > GUESS_PARTS)
		return false;
	memmove(g->part + to, g->part + from, (g->n - from) * sizeof *g->part);
	g->n = g->n - from + to;
	for (size_t i = 0; i < first.nof; i++)
		first.of[i] = first.of[i] - from + to;
	g->part[0] = first;
	return true;
}

/* Read a salt, which is a number, digits or hex digits. */
static bool read_salt(const struct guess *p, struct bytes b, int base, uint64_t *out)
{
	char text[8] = "", *end;

	if (!p->text) {
		*out = guess_number(b.ptr, b.len);
		return b.len <= 2;
	}
	if (b.len == 0 || b.len > 4)
		return false;
	memcpy(text, b.ptr, b.len);
	*out = strtoull(text, &end, base);
	return !*end;
}

/* Name the input of a function. */
static const char *input_of(struct derivation *d, const struct guess *p, uint32_t mask)
{
	struct buf names = {0};

	if (mask == 1)
		return "the rest of the key";
	for (size_t i = 0; i < p->nof; i++)
		buf_printf(&names, "%s%zu",
			   i		? ", "
			   : p->nof > 1 ? "the parts "
					: "part ",
			   p->of[i] + 1);
	const char *of = arena_strndup(d->arena, (const char *)names.ptr, names.len);
	buf_release(&names);
	return of;
}

static const char *what_of(struct derivation *d, const struct guess *p,
			   const struct salt_function *f, uint32_t buckets, uint32_t mask)
{
	return arena_format(d->arena, "salt: %s of %s, modulo %u%s", f->name, input_of(d, p, mask),
			    buckets, f->hash >= 0 && !p->text ? "" : "; a job cannot compute it");
}

/* Return true if the text is the start of the MD5 digest in hex digits. */
static bool is_md5_text(struct bytes text, struct bytes in)
{
	uint8_t digest[16];
	struct buf hex = {0};

	md5(in, digest);
	bytes_hex(&hex, bytes_of(digest, sizeof digest));
	bool is = text.len <= hex.len &&
		  strncasecmp((const char *)text.ptr, (const char *)hex.ptr, text.len) == 0;
	buf_release(&hex);
	return is;
}

/* Recognize hex digits of an MD5 digest. They stay a field, because a hash in a job is binary. */
static bool take_md5_text(struct derivation *d, uint32_t mask)
{
	struct guess *p = &d->g->part[0];
	size_t bits = 0;

	if (!p->text || d->different < 2)
		return false;
	for (size_t k = 0; k < d->n; k++) {
		struct bytes text = d->parts[k * d->g->n];

		if (text.len == 0 || !is_md5_text(text, d->in[k]))
			return false;
		bits += d->first[k] ? 4 * text.len : 0;
	}
	if (bits < EVIDENCE_BITS)
		return false;
	set_of(p, d->g, mask);
	p->what = arena_format(d->arena,
			       "first hex digits of the MD5 digest of %s; a job cannot compute it",
			       input_of(d, p, mask));
	p->stem = "hash";
	p->confidence = 99;
	p->type = FIELD_TEXT;
	p->as = AS_TEXT;
	p->derived = true;
	return true;
}

/* Return the most buckets that a salt of this width can have. */
static uint32_t most_buckets(const struct guess *p, int base)
{
	uint32_t most = 1;

	if (!p->text || !p->width)
		return !p->text && p->width == 1 ? 256 : BUCKETS_MOST;
	for (uint32_t i = 0; i < p->width && most < BUCKETS_MOST; i++)
		most *= (uint32_t)base;
	return most < BUCKETS_MOST ? most : BUCKETS_MOST;
}

static bool take_salt(struct derivation *d, const struct salts *s, int base, uint32_t mask)
{
	struct guess *p = &d->g->part[0];

	for (size_t f = 0; f < NFUNCTIONS; f++) {
		bool known = functions[f].hash >= 0 && !p->text && mask != 1 && p->width <= 2;
		uint32_t n = buckets_of(s, functions[f].of, most_buckets(p, base));

		if (!n)
			continue;
		set_of(p, d->g, mask);
		p->what = what_of(d, p, &functions[f], n, mask);
		p->stem = "salt";
		p->confidence = 99;
		p->derived = true;
		if (!p->text) {
			p->kind = GUESS_SALT;
			p->buckets = n;
			p->drawn = !known;
			p->hash = known ? (enum hash_kind)functions[f].hash : HASH_MURMUR3;
		}
		return true;
	}
	return false;
}

static bool read_salts(struct derivation *d, int base, uint64_t *salt, struct salts *s)
{
	*s = (struct salts){.salt = salt, .in = d->in, .first = d->first, .n = d->n};
	for (size_t k = 0; k < d->n; k++) {
		if (!read_salt(&d->g->part[0], d->parts[k * d->g->n], base, &salt[k]))
			return false;
		s->most = salt[k] > s->most ? salt[k] : s->most;
	}
	return true;
}

static void try_inputs(struct derivation *d, uint64_t *salt)
{
	const size_t others = d->g->n - 1 < 7 ? d->g->n - 1 : 7;

	for (uint32_t mask = 1; mask < 1u << (others + 1); mask++) {
		struct salts s;

		if (mask > 1 && (mask & 1 || has_const(d->g, mask)))
			continue;
		set_input(d, mask);
		mark_inputs(d);
		if (mask != 1 && (take_hash(d, HASH_MD5, mask) || take_hash(d, HASH_MURMUR3, mask)))
			return;
		if (take_md5_text(d, mask))
			return;
		for (int base = 10; base <= 16; base += 6)
			if (read_salts(d, base, salt, &s) && take_salt(d, &s, base, mask))
				return;
	}
}

void guess_derived(struct guesses *g, const struct bytes *keys, size_t n, struct arena *arena)
{
	struct derivation d = {.g = g, .keys = keys, .n = n, .arena = arena};
	const struct guess *p = &g->part[0];
	bool done = (p->kind == GUESS_SALT && !p->drawn) || p->kind == GUESS_CONST;
	bool split = g->n > 1 && !done && n > 1;

	d.parts = mem_calloc(n * g->n + 1, sizeof *d.parts);
	d.in = mem_calloc(n + 1, sizeof *d.in);
	d.first = mem_calloc(n + 1, sizeof *d.first);
	uint64_t *salt = mem_calloc(n + 1, sizeof *salt);
	for (size_t k = 0; split && k < n; k++)
		split = guess_split(g, keys[k], d.parts + k * g->n);
	if (split)
		try_inputs(&d, salt);
	mem_free(d.parts);
	mem_free(d.in);
	mem_free(d.first);
	mem_free(salt);
}
