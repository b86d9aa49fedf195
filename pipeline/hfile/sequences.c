/*
 * sequences.c - see sequences.h
 *
 * A cell is compared with two others: the one of the same place in the row before (its lengths,
 * the first bytes of its row key, family, qualifier and time, often its value) and, inside a row,
 * the cell before (the whole row key, the time).  64 bytes are compared at once to a mask with a
 * bit for each byte that is equal; runs of enough ones are matches, of which the longer is taken,
 * first to last.  Neighbours begin at the same place, so where all lengths are the same all parts
 * lie side by side; else what follows the row key is laid side by side by the keys' ends.
 *
 * Nothing depends on the bytes being cells but the ratio: a match is only what was seen to be
 * equal.
 */
#define ZSTD_STATIC_LINKING_ONLY /* sequences are still among the experimental parts */
#include "sequences.h"

#include <zstd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "kv.h"
#include "mem.h"

#define PLACES	    1024 /* cells of a row that are remembered */
#define SPAN	    64	 /* bytes compared at once */
#define CHUNK	    63	 /* of which used: a mask then always has a zero */
#define ZSTD_BLOCK  ZSTD_BLOCKSIZE_MAX
#define ROW_IN_CELL (KV_LENGTHS + 2)

/* Distances and counts in registers: half the time of calls. */
#define INLINE static inline __attribute__((always_inline))

/* Where the next sequence goes. */
struct cursor {
	ZSTD_Sequence *next; /* next[-1] can be written to */
	uint64_t anchor;     /* literals begin here */
	uint64_t offset;     /* of next[-1]; 0: it is no match */
};

/* What stays the same for a block. */
struct frame {
	const uint8_t *base, *end;
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

#ifdef __SSE2__
INLINE uint64_t equal_16(const uint8_t *a, const uint8_t *b)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
	__m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y));
}
#else
INLINE uint64_t equal_16(const uint8_t *a, const uint8_t *b)
{
	uint64_t m = 0;
	for (int i = 0; i < 16; i++)
		m |= (uint64_t)(a[i] == b[i]) << i;
	return m;
}
#endif

/* Bit i: a[i] == b[i]; b is before a, end behind both. */
INLINE uint64_t equal_bytes(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
	if (end - a >= SPAN)
		return equal_16(a, b) | equal_16(a + 16, b + 16) << 16 |
		       equal_16(a + 32, b + 32) << 32 | equal_16(a + 48, b + 48) << 48;
	uint64_t m = 0;
	for (ptrdiff_t i = 0; i < end - a; i++)
		m |= (uint64_t)(a[i] == b[i]) << i;
	return m;
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

/* Matches of the bytes at `at`; up and left have a bit for each that equals the one so far back. */
INLINE struct cursor put_matches(struct cursor c, const struct frame *f, uint32_t at,
				 struct distance d, uint64_t up, uint64_t left)
{
	/* The last match may go on here, however short. */
	uint64_t same = c.offset == d.up ? up : c.offset == d.left ? left : 0;
	unsigned more = (unsigned)__builtin_ctzll(~(c.anchor == at ? same : 0));
	c.next[-1].matchLength += more;
	c.anchor += more;
	uint64_t starts = run_starts(up, f->step) | run_starts(left, f->step);
	starts &= UINT64_MAX << more;
	while (starts) {
		unsigned i = (unsigned)__builtin_ctzll(starts);
		unsigned u = (unsigned)__builtin_ctzll(~(up >> i));
		unsigned l = (unsigned)__builtin_ctzll(~(left >> i));
		unsigned n = l > u ? l : u;
		bool behind = i > d.head;
		uint32_t up_to = d.up + (behind ? d.more_up : 0);
		uint32_t left_to = d.left + (behind ? d.more_left : 0);
		c.offset = l > u ? left_to : up_to;
		c.next->offset = (uint32_t)c.offset;
		c.next->litLength = at + i - (uint32_t)c.anchor;
		c.next->matchLength = n;
		c.next++;
		c.anchor = (uint64_t)at + i + n;
		starts &= UINT64_MAX << (i + n);
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

INLINE bool read_shape(const uint8_t *p, const uint8_t *end, size_t tail_bytes, struct shape *out)
{
	if (end - p < ROW_IN_CELL)
		return false;
	out->key_bytes = get_be32(p);
	out->row_bytes = get_be16(p + KV_LENGTHS);
	out->size = KV_LENGTHS + (size_t)out->key_bytes + get_be32(p + 4) + tail_bytes;
	return out->size <= (size_t)(end - p) && out->row_bytes + KEY_FIXED <= out->key_bytes;
}

/* Whether two cells are of one row; equal is equal_bytes of them. */
INLINE bool same_row(const uint8_t *a, const struct shape *x, const uint8_t *b,
		     const struct shape *y, uint64_t equal)
{
	if (x->row_bytes != y->row_bytes)
		return false;
	if (ROW_IN_CELL + x->row_bytes > CHUNK)
		return memcmp(a + ROW_IN_CELL, b + ROW_IN_CELL, x->row_bytes) == 0;
	uint64_t row = low_bits(x->row_bytes) << ROW_IN_CELL;
	return (equal & row) == row;
}

/* The bytes of a short cell that equal those `back` before, behind head those `back + more` before. */
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
 * Matches of a cell; equal is equal_bytes of it and the one to the left.  What follows the row key
 * is compared with what lies as far before the other keys' ends.  (The family's length, between the
 * two, is in no match then.)
 */
INLINE struct cursor put_cell(struct cursor c, const struct frame *f, const uint8_t *q,
			      const struct shape *s, struct distance d, uint64_t equal)
{
	uint32_t at = (uint32_t)(q - f->base);
	uint32_t more_up = s->key_bytes - get_be32(q - d.up);
	uint32_t more_left = s->key_bytes - get_be32(q - d.left);
	uint64_t used = low_bits(s->size);
	if ((more_up | more_left) == 0 && s->size <= CHUNK)
		return put_matches(c, f, at, d, equal_bytes(q, q - d.up, f->end) & used,
				   d.left ? equal & used : 0);
	if ((more_up | more_left) == 0)
		return put_part(c, f, q, s->size, d);
	unsigned head = ROW_IN_CELL + s->row_bytes;
	if (s->size > CHUNK) {
		c = put_part(c, f, q, head, d);
		d.up += more_up;
		d.left += more_left;
		return put_part(c, f, q + head, s->size - head, d);
	}
	uint64_t up = equal_shifted(f, q, d.up, more_up, head, equal_bytes(q, q - d.up, f->end));
	uint64_t left = equal_shifted(f, q, d.left, more_left, head, equal);
	d = (struct distance){d.up, d.left, more_up, more_left, head};
	return put_matches(c, f, at, d, up & used, left & used);
}

/* Literals up to at, and the end of a zstd block. */
static struct cursor put_end(struct cursor c, uint32_t at)
{
	*c.next++ = (ZSTD_Sequence){.litLength = at - (uint32_t)c.anchor};
	return (struct cursor){c.next, at, 0};
}

/* The walk over a block. */
struct walk {
	struct shape last;    /* the cell before; size 0: none */
	uint32_t before, now; /* cells known of the row before, of this one */
};

/* What the cell at `at` is compared with, and *equal: equal_bytes of it and the cell before. */
INLINE struct distance meet(struct walk *w, struct sequencer *s, const struct frame *f, uint32_t at,
			    const struct shape *shape, uint64_t *equal)
{
	const uint8_t *q = f->base + at;
	uint32_t back = (uint32_t)w->last.size;
	struct distance d = {0};
	*equal = equal_bytes(q, q - back, f->end);
	if (back && same_row(q, shape, q - back, &w->last, *equal)) {
		d.up = w->now < w->before ? at - s->before[w->now] : back;
		d.left = back;
	} else {
		uint32_t *swap = s->before;
		s->before = s->now;
		s->now = swap;
		w->before = w->now;
		w->now = 0;
		d.up = back ? at - s->before[0] : 0;
	}
	if (w->now < PLACES)
		s->now[w->now++] = at;
	w->last = *shape;
	return d;
}

/* Sequences of all cells; returns their end.  NULL: these cannot be. */
static ZSTD_Sequence *find(struct sequencer *s, struct bytes cells, size_t tail_bytes,
			   unsigned min_match, ZSTD_Sequence *list)
{
	const struct frame f = {cells.ptr, cells.ptr + cells.len, min_match - SEQUENCE_MIN};
	struct walk w = {0};
	struct cursor c = {list, 0, 0};
	struct shape shape;
	uint32_t block = 0;
	for (uint32_t at = 0; at < cells.len; at += (uint32_t)shape.size) {
		const uint8_t *q = f.base + at;
		uint64_t equal;
		if (!read_shape(q, f.end, tail_bytes, &shape) || shape.size > ZSTD_BLOCK)
			return NULL;
		if (at + shape.size - block > ZSTD_BLOCK) {
			c = put_end(c, at);
			block = at;
		}
		struct distance d = meet(&w, s, &f, at, &shape, &equal);
		if (at)
			c = put_cell(c, &f, q, &shape, d, equal);
	}
	return put_end(c, (uint32_t)cells.len).next;
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
	s->made += (uint64_t)(end - list);
	for (; list < end; list++)
		s->literals += list->litLength;
	return n;
}

void sequencer_release(struct sequencer *s)
{
	mem_free(s->list);
	mem_free(s->before);
	mem_free(s->now);
	*s = (struct sequencer){0};
}
