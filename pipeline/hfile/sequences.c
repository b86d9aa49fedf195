/*
 * sequences.c - see sequences.h
 *
 * A cell is compared with two others: the one of the same place in the row before (its lengths,
 * the first bytes of its row key, family, qualifier and time, often its value) and, inside a row,
 * the cell before (the whole row key, the time).  64 bytes are compared at once to a mask with a
 * bit for each byte that is equal; runs of enough ones are matches, of which the longer is taken,
 * first to last.  Neighbours begin at the same place, so where all lengths are the same all parts
 * lie side by side; else what follows the row key is laid side by side by the keys' ends.  Most
 * cells are short and have keys as long as their neighbours': those two masks tell that too, and
 * whether a cell is of the row before, so no length is compared.
 *
 * Nothing depends on the bytes being cells but the ratio: a match is only what was seen to be
 * equal.
 */
#define ZSTD_STATIC_LINKING_ONLY /* sequences are still among the experimental parts */
#include "sequences.h"

#include <zstd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kv.h"
#include "mem.h"

#define PLACES	    1024 /* cells of a row that are remembered */
#define SPAN	    64	 /* bytes compared at once */
#define CHUNK	    63	 /* of which used: a mask then always has a zero */
#define ZSTD_BLOCK  ZSTD_BLOCKSIZE_MAX
#define ROW_IN_CELL (KV_LENGTHS + 2)

/* Distances and counts in registers: half the time of calls. */
#define INLINE	 static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

/* Where the next sequence goes. */
struct cursor {
	ZSTD_Sequence *next; /* next[-1] can be written to */
	uint64_t anchor;     /* literals begin here */
	uint64_t offset;     /* of next[-1]; 0: it is no match */
};

/* What stays the same for a block. */
struct frame {
	const uint8_t *base, *end;
	size_t tail_bytes;
	unsigned step; /* shortest match, less SEQUENCE_MIN */
};

/*
 * How far back the cells are that one is compared with: up is the one of the same place in the row
 * before, left the cell before in its row; 0: there is none.  Behind byte `head` it is so much
 * more, modulo 2^32.
 */
struct distance {
	uint32_t up, left, more_up, more_left;
	unsigned head;
};

/* The lengths of a cell. */
struct shape {
	uint32_t key_bytes, row_bytes;
	size_t size; /* with its tail */
};

/* Bit i: a[i] == b[i], of SPAN bytes. */
#if defined(__x86_64__)
INLINE uint64_t equal_16(const uint8_t *a, const uint8_t *b)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
	__m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y));
}

INLINE uint64_t equal_span(const uint8_t *a, const uint8_t *b)
{
	return equal_16(a, b) | equal_16(a + 16, b + 16) << 16 | equal_16(a + 32, b + 32) << 32 |
	       equal_16(a + 48, b + 48) << 48;
}

#define AVX2 __attribute__((target("avx2,bmi,bmi2")))

INLINE AVX2 uint64_t equal_32(const uint8_t *a, const uint8_t *b)
{
	__m256i x = _mm256_loadu_si256((const __m256i *)(const void *)a);
	__m256i y = _mm256_loadu_si256((const __m256i *)(const void *)b);
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y));
}

INLINE AVX2 uint64_t equal_span_avx2(const uint8_t *a, const uint8_t *b)
{
	return equal_32(a, b) | equal_32(a + 32, b + 32) << 32;
}
#else
INLINE uint64_t equal_span(const uint8_t *a, const uint8_t *b)
{
	uint64_t m = 0;
	for (int i = 0; i < SPAN; i++)
		m |= (uint64_t)(a[i] == b[i]) << i;
	return m;
}
#endif

/* The same where less than that is left of the block; b is before a. */
static NOINLINE uint64_t equal_end(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
	uint64_t m = 0;
	for (ptrdiff_t i = 0; i < end - a; i++)
		m |= (uint64_t)(a[i] == b[i]) << i;
	return m;
}

/* Bit i: a[i] == b[i]; b is before a, end behind both. */
INLINE uint64_t equal_bytes(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
	return end - a >= SPAN ? equal_span(a, b) : equal_end(a, b, end);
}

INLINE uint64_t low_bits(size_t n)
{
	return ((uint64_t)1 << (n < CHUNK ? n : CHUNK)) - 1;
}

/* Where SEQUENCE_MIN + step ones or more begin. */
INLINE uint64_t run_starts(uint64_t m, unsigned step)
{
	m &= m >> 1;
	m &= m >> 2;
	return m & m >> step;
}

/* The first zero of m at or behind the bit. */
INLINE uint64_t first_zero(uint64_t m, uint64_t bit)
{
	return (m + bit) & ~m;
}

/* Matches of the bytes at `at`; up and left have a bit for each that equals the one so far back. */
INLINE struct cursor put_matches(struct cursor c, const struct frame *f, uint32_t at,
				 struct distance d, uint64_t up, uint64_t left)
{
	/* The last match may go on here, however short. */
	uint64_t same = c.offset == d.up ? up : c.offset == d.left ? left : 0;
	uint64_t stop = first_zero(c.anchor == at ? same : 0, 1);
	unsigned end = (unsigned)__builtin_ctzll(stop);
	c.next[-1].matchLength += end;
	c.anchor += end;
	uint64_t starts = run_starts(up, f->step) | run_starts(left, f->step);
	for (starts &= -stop; starts; starts &= -stop) {
		uint64_t bit = starts & -starts;
		uint64_t u = first_zero(up, bit), l = first_zero(left, bit);
		unsigned i = (unsigned)__builtin_ctzll(bit);
		stop = l > u ? l : u;
		end = (unsigned)__builtin_ctzll(stop);
		bool behind = i > d.head;
		uint32_t up_to = d.up + (behind ? d.more_up : 0);
		uint32_t left_to = d.left + (behind ? d.more_left : 0);
		c.offset = l > u ? left_to : up_to;
		c.next->offset = (uint32_t)c.offset;
		c.next->litLength = at + i - (uint32_t)c.anchor;
		c.next->matchLength = end - i;
		c.next++;
		c.anchor = (uint64_t)at + end;
	}
	return c;
}

/* Matches of n bytes at q. */
INLINE struct cursor put_part(struct cursor c, const struct frame *f, const uint8_t *q, size_t n,
			      struct distance d)
{
	size_t before = (size_t)(q - f->base);
	bool has_up = d.up && d.up <= before, has_left = d.left && d.left <= before;
	for (size_t i = 0; i < n; i += CHUNK) {
		const uint8_t *at = q + i;
		uint64_t used = low_bits(n - i);
		uint64_t up = has_up ? equal_bytes(at, at - d.up, f->end) & used : 0;
		uint64_t left = has_left ? equal_bytes(at, at - d.left, f->end) & used : 0;
		c = put_matches(c, f, (uint32_t)(at - f->base), d, up, left);
	}
	return c;
}

INLINE bool read_shape(const struct frame *f, const uint8_t *p, struct shape *out)
{
	if (f->end - p < ROW_IN_CELL)
		return false;
	uint64_t lengths = get_be64(p);
	out->key_bytes = (uint32_t)(lengths >> 32);
	out->row_bytes = get_be16(p + KV_LENGTHS);
	out->size = KV_LENGTHS + (size_t)out->key_bytes + (uint32_t)lengths + f->tail_bytes;
	return out->size <= (size_t)(f->end - p) && out->row_bytes + KEY_FIXED <= out->key_bytes;
}

/* Whether the cell at q and the one before it are of one row; equal is equal_bytes of them. */
INLINE bool same_row(const uint8_t *q, const struct shape *s, uint32_t back, uint64_t equal)
{
	unsigned head = ROW_IN_CELL + s->row_bytes;
	if (__builtin_expect(head > CHUNK, 0))
		return memcmp(q + KV_LENGTHS, q - back + KV_LENGTHS, 2 + s->row_bytes) == 0;
	uint64_t row = ((uint64_t)1 << head) - (1 << KV_LENGTHS); /* with its length */
	return (equal & row) == row;
}

/* The bytes of a short cell that equal those `back` before, behind head `back + more` before. */
INLINE uint64_t equal_shifted(const struct frame *f, const uint8_t *q, uint32_t back, uint32_t more,
			      unsigned head, uint64_t equal)
{
	const uint8_t *tail = q + head + 1;
	if (back == 0)
		return 0;
	if (more == 0)
		return equal;
	equal &= low_bits(head);
	if (back + more > (size_t)(tail - f->base))
		return equal;
	return equal | equal_bytes(tail, tail - (back + more), f->end) << (head + 1);
}

/*
 * Matches of a long cell, or of one whose key is not as long as the others'; up and left are
 * equal_bytes of it and those.  What follows the row key is compared with what lies as far before
 * the other keys' ends.  (The family's length, between the two, is in no match then.)
 */
static NOINLINE struct cursor put_uneven(struct cursor c, const struct frame *f, const uint8_t *q,
					 const struct shape *s, struct distance d, uint64_t up,
					 uint64_t left)
{
	uint32_t at = (uint32_t)(q - f->base);
	uint32_t more_up = s->key_bytes - get_be32(q - d.up);
	uint32_t more_left = s->key_bytes - get_be32(q - d.left);
	if ((more_up | more_left) == 0)
		return put_part(c, f, q, s->size, d);
	unsigned head = ROW_IN_CELL + s->row_bytes;
	if (s->size > CHUNK) {
		c = put_part(c, f, q, head, d);
		d.up += more_up;
		d.left += more_left;
		return put_part(c, f, q + head, s->size - head, d);
	}
	uint64_t used = low_bits(s->size);
	up = equal_shifted(f, q, d.up, more_up, head, up);
	left = equal_shifted(f, q, d.left, more_left, head, left);
	d = (struct distance){d.up, d.left, more_up, more_left, head};
	return put_matches(c, f, at, d, up & used, left & used);
}

/* Matches of a cell; up and left are equal_bytes of it and those, if there are. */
INLINE struct cursor put_cell(struct cursor c, const struct frame *f, const uint8_t *q,
			      const struct shape *s, struct distance d, uint64_t up, uint64_t left)
{
	const uint64_t key_bytes = 0xf; /* where its length is */
	uint64_t even = d.left ? up & left : up;
	if (__builtin_expect((even & key_bytes) != key_bytes || s->size > CHUNK, 0))
		return put_uneven(c, f, q, s, d, up, left);
	uint64_t used = ((uint64_t)1 << s->size) - 1;
	return put_matches(c, f, (uint32_t)(q - f->base), d, up & used, d.left ? left & used : 0);
}

/* Literals up to at, and the end of a zstd block. */
static struct cursor put_end(struct cursor c, uint32_t at)
{
	*c.next++ = (ZSTD_Sequence){.litLength = at - (uint32_t)c.anchor};
	return (struct cursor){c.next, at, 0};
}

/* The walk over a block. */
struct walk {
	uint32_t *row_before, *row; /* where cells are: of the row before, of this one */
	uint32_t before, now;	    /* how many are known */
	uint32_t back;		    /* bytes of the cell before; 0: none */
	uint32_t block;		    /* where the zstd block begins */
};

/* Read the cell at `at`, and end the zstd block if it has no room for it; false: it cannot be. */
INLINE bool arrive(struct walk *w, const struct frame *f, uint32_t at, struct shape *shape,
		   struct cursor *c)
{
	if (!read_shape(f, f->base + at, shape))
		return false;
	if (__builtin_expect(at + shape->size - w->block > ZSTD_BLOCK, 0)) {
		*c = put_end(*c, at);
		w->block = at;
		return shape->size <= ZSTD_BLOCK;
	}
	return true;
}

/* What the cell at q is compared with; equal: equal_bytes of it and the cell before. */
INLINE struct distance meet(struct walk *w, const struct frame *f, const uint8_t *q,
			    const struct shape *shape, uint64_t equal)
{
	uint32_t at = (uint32_t)(q - f->base);
	struct distance d = {0};
	if (w->back && same_row(q, shape, w->back, equal)) {
		d.up = w->now < w->before ? at - w->row_before[w->now] : w->back;
		d.left = w->back;
	} else {
		uint32_t *swap = w->row_before;
		w->row_before = w->row;
		w->row = swap;
		w->before = w->now;
		w->now = 0;
		d.up = w->back ? at - w->row_before[0] : 0;
	}
	if (w->now < PLACES)
		w->row[w->now++] = at;
	w->back = (uint32_t)shape->size;
	return d;
}

/*
 * The body of the two below: sequences of all cells; returns their end, or NULL: these cannot be.
 * A macro, as what is made for AVX2 is put in line only in functions that are made for it too.
 */
#define FIND(s, f, list, span)                                                                     \
	struct walk w = {.row_before = (s)->before, .row = (s)->now};                              \
	struct cursor c = {list, 0, 0};                                                            \
	struct shape shape;                                                                        \
	for (const uint8_t *q = (f)->base; q < (f)->end; q += shape.size) {                        \
		if (!arrive(&w, f, (uint32_t)(q - (f)->base), &shape, &c))                         \
			return NULL;                                                               \
		bool all = (f)->end - q >= SPAN;                                                   \
		const uint8_t *b = q - w.back;                                                     \
		uint64_t left = all ? span(q, b) : equal_end(q, b, (f)->end);                      \
		struct distance d = meet(&w, f, q, &shape, left);                                  \
		b = q - d.up;                                                                      \
		uint64_t up = all ? span(q, b) : equal_end(q, b, (f)->end);                        \
		if (d.up)                                                                          \
			c = put_cell(c, f, q, &shape, d, up, left);                                \
	}                                                                                          \
	return put_end(c, (uint32_t)((f)->end - (f)->base)).next

static ZSTD_Sequence *find_portable(const struct sequencer *s, const struct frame *f,
				    ZSTD_Sequence *list)
{
	FIND(s, f, list, equal_span);
}

#if defined(__x86_64__)
static AVX2 ZSTD_Sequence *find_avx2(const struct sequencer *s, const struct frame *f,
				     ZSTD_Sequence *list)
{
	FIND(s, f, list, equal_span_avx2);
}
#endif

static ZSTD_Sequence *find(const struct sequencer *s, struct bytes cells, size_t tail_bytes,
			   unsigned min_match, ZSTD_Sequence *list)
{
	const struct frame f = {cells.ptr, cells.ptr + cells.len, tail_bytes,
				min_match - SEQUENCE_MIN};
#if defined(__x86_64__)
	if (!s->portable && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	    __builtin_cpu_supports("bmi2"))
		return find_avx2(s, &f, list);
#endif
	return find_portable(s, &f, list);
}

void sequences_setup(void *zstd)
{
	/* Values that are in range: it cannot fail. */
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_blockDelimiters, ZSTD_sf_explicitBlockDelimiters);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_validateSequences, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_searchForExternalRepcodes, ZSTD_ps_enable);
}

static void make_room(struct sequencer *s, size_t plain_bytes)
{
	/* one before the first; ends of zstd blocks, any two of which have over ZSTD_BLOCK bytes */
	size_t most = plain_bytes / SEQUENCE_MIN + 2 * (plain_bytes / ZSTD_BLOCK) + 4;
	if (!s->before) {
		s->before = mem_alloc(PLACES * sizeof *s->before);
		s->now = mem_alloc(PLACES * sizeof *s->now);
	}
	if (most <= s->cap)
		return;
	mem_free(s->list);
	s->list = mem_calloc(most, sizeof(ZSTD_Sequence));
	s->cap = most;
}

size_t sequences_compress(struct sequencer *s, void *zstd, struct bytes cells, size_t tail_bytes,
			  unsigned min_match, uint8_t *out, size_t room)
{
	if (cells.len == 0 || cells.len > UINT32_MAX / 2)
		return 0;
	make_room(s, cells.len);
	ZSTD_Sequence *list = (ZSTD_Sequence *)s->list + 1;
	ZSTD_Sequence *end = find(s, cells, tail_bytes, min_match, list);
	if (!end)
		return 0;
	size_t n = ZSTD_compressSequences(zstd, out, room, list, (size_t)(end - list), cells.ptr,
					  cells.len);
	if (ZSTD_isError(n))
		return 0;
	if (s->counts) {
		s->made += (uint64_t)(end - list);
		for (; list < end; list++)
			s->literals += list->litLength;
	}
	return n;
}

void sequencer_release(struct sequencer *s)
{
	mem_free(s->list);
	mem_free(s->before);
	mem_free(s->now);
	*s = (struct sequencer){0};
}
