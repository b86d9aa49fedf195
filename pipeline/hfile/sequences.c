/*
 * sequences.c - make matches for zstd from the structure of cells
 *
 * The search compares each cell with two cells. The cell above is at the same place in the previous
 * row. The cell above often has equal lengths, family, qualifier, time, value and first bytes of
 * the row key. The cell to the left is the previous cell, which in one row has the same row key and
 * time.
 *
 * 64 bytes at a time become a mask with a bit for each equal byte. Long enough runs of ones are
 * matches. If two matches compete, take the longer match. A match at the start of a cell also takes
 * the end of the previous cell, if that end is equal. If all lengths are equal, all parts are at
 * the same distance. Otherwise align the parts after the row key at the ends of the keys. Most
 * cells are short and have keys as long as their neighbours' keys. The two masks show equal lengths
 * and a change of the row, so the search compares no length.
 *
 * The search has compared all bytes of a match. If the bytes are not cells, only the compression
 * ratio is worse.
 */
#define ZSTD_STATIC_LINKING_ONLY /* sequences are an experimental part of libzstd */
#include "sequences.h"

#include <zstd.h>
#include <zstd_errors.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kv.h"
#include "mem.h"

#define SPAN	    64 /* bytes compared at once */
#define CHUNK	    63 /* used bytes of a SPAN, so that a mask always has a zero */
#define ZSTD_BLOCK  ZSTD_BLOCKSIZE_MAX
#define ROW_IN_CELL (KV_LENGTHS + 2)
#define ROW_LENGTH  ((uint64_t)3 << KV_LENGTHS) /* bits of a mask */
#define CELL_MIN    (KV_LENGTHS + KEY_FIXED)

/* Distances and counts stay in registers, which halves the time. */
#define INLINE	 static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

/* The output of sequences. */
struct next_sequence {
	ZSTD_Sequence *next;   /* next[-1] is writable; an offset of 0 means no match */
	const uint8_t *anchor; /* start of the literals */
};

/* Values that do not change within a block. */
struct frame {
	const uint8_t *base, *end;
	size_t tail_bytes;
	unsigned step; /* shortest match minus SEQUENCE_MIN */
};

/*
 * Distances from a cell to the two cells of its comparison. `up` is the distance to the cell at the
 * same place in the previous row, `left` to the previous cell. After byte `head` the distance grows
 * by `more`, modulo 2^32.
 */
struct distance {
	uint32_t up, left, more_up, more_left;
	unsigned head;
};

/* The lengths of a cell. */
struct sequence_shape {
	uint32_t key_bytes, row_bytes;
	size_t size; /* bytes with its tail */
};

/* Return a mask of SPAN bits. Bit i is 1 if a[i] == b[i]. */
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

/* Return the same mask if the block has fewer bytes. `b` is before `a`. */
static NOINLINE uint64_t equal_end(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
	uint64_t m = 0;

	for (ptrdiff_t i = 0; i < end - a; i++)
		m |= (uint64_t)(a[i] == b[i]) << i;
	return m;
}

/* Return a mask. Bit i is 1 if a[i] == b[i]. `b` is before `a`, and `end` is after both. */
INLINE uint64_t equal_bytes(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
	return end - a >= SPAN ? equal_span(a, b) : equal_end(a, b, end);
}

INLINE uint64_t low_bits(size_t n)
{
	return ((uint64_t)1 << (n < CHUNK ? n : CHUNK)) - 1;
}

/* Return the starts of runs of at least SEQUENCE_MIN + step ones. */
INLINE uint64_t run_starts(uint64_t m, unsigned step)
{
	m &= m >> 1;
	m &= m >> 2;
	return m & m >> step;
}

/* Return the first zero of `m` at or after the bit. */
INLINE uint64_t first_zero(uint64_t m, uint64_t bit)
{
	return (m + bit) & ~m;
}

/*
 * Continue the match that ends at `q`, even by few bytes. Returns the first zero after the match.
 */
INLINE uint64_t go_on(struct next_sequence *c, struct distance d, uint64_t up, uint64_t left)
{
	uint32_t offset = c->next[-1].offset;
	uint64_t stop = first_zero(offset == d.up ? up : offset == d.left ? left : 0, 1);
	unsigned end = (unsigned)__builtin_ctzll(stop);

	c->next[-1].matchLength += end;
	c->anchor += end;
	return stop;
}

/* Extend a match that begins at `q` by up to 7 equal literals before the match. */
INLINE void reach_back(ZSTD_Sequence *m, const uint8_t *q, uint32_t literals, const uint8_t *base)
{
	const uint64_t top = (uint64_t)1 << 63;

	if (__builtin_expect((size_t)(q - base) < (size_t)m->offset + 8, 0))
		return;
	uint64_t differ = get_be64(q - 8) ^ get_be64(q - 8 - m->offset);
	uint32_t n = (uint32_t)__builtin_ctzll(differ | top) / 8;
	n = n < literals ? n : literals;
	m->litLength = literals - n;
	m->matchLength += n;
}

/*
 * Put matches of the bytes at `q`. `up` and `left` have a bit for each byte that is equal at the
 * distance.
 */
INLINE struct next_sequence put_matches(struct next_sequence c, const struct frame *f,
					const uint8_t *q, struct distance d, uint64_t up,
					uint64_t left)
{
	uint64_t starts = run_starts(up, f->step) | run_starts(left, f->step);

	if (c.anchor == q)
		starts &= -go_on(&c, d, up, left);
	ZSTD_Sequence *first = c.next;
	bool at_once = starts & 1;
	uint32_t literals = (uint32_t)(q - c.anchor);
	while (starts) {
		uint64_t bit = starts & -starts;
		uint64_t u = first_zero(up, bit), l = first_zero(left, bit);
		uint64_t stop = l > u ? l : u;
		unsigned i = (unsigned)__builtin_ctzll(bit), end = (unsigned)__builtin_ctzll(stop);
		bool behind = i > d.head;
		uint32_t up_to = d.up + (behind ? d.more_up : 0);
		uint32_t left_to = d.left + (behind ? d.more_left : 0);

		c.next->offset = l > u ? left_to : up_to;
		c.next->litLength = (uint32_t)(q + i - c.anchor);
		c.next->matchLength = end - i;
		c.next++;
		c.anchor = q + end;
		starts &= -stop;
	}
	if (at_once)
		reach_back(first, q, literals, f->base);
	return c;
}

/* Put matches of `n` bytes at `q`. */
INLINE struct next_sequence put_part(struct next_sequence c, const struct frame *f,
				     const uint8_t *q, size_t n, struct distance d)
{
	size_t before = (size_t)(q - f->base);
	bool has_up = d.up && d.up <= before, has_left = d.left && d.left <= before;

	for (size_t i = 0; i < n; i += CHUNK) {
		const uint8_t *at = q + i;
		uint64_t used = low_bits(n - i);
		uint64_t up = has_up ? equal_bytes(at, at - d.up, f->end) & used : 0;
		uint64_t left = has_left ? equal_bytes(at, at - d.left, f->end) & used : 0;

		c = put_matches(c, f, at, d, up, left);
	}
	return c;
}

/*
 * Return the length of the cell at `p` with its tail, or 0 if there is no cell. 8 bytes are
 * readable.
 */
INLINE size_t cell_size(const struct frame *f, const uint8_t *p)
{
	uint64_t lengths = get_be64(p);

	return KV_LENGTHS + (size_t)(lengths >> 32) + (uint32_t)lengths + f->tail_bytes;
}

INLINE bool read_shape(const struct frame *f, const uint8_t *p, struct sequence_shape *out)
{
	if (f->end - p < ROW_IN_CELL)
		return false;
	uint64_t lengths = get_be64(p);
	out->key_bytes = (uint32_t)(lengths >> 32);
	out->row_bytes = get_be16(p + KV_LENGTHS);
	out->size = KV_LENGTHS + (size_t)out->key_bytes + (uint32_t)lengths + f->tail_bytes;
	return out->size <= (size_t)(f->end - p) && out->row_bytes + KEY_FIXED <= out->key_bytes;
}

/*
 * Compare a short cell with the bytes at distance `back`, and after byte `head` at distance `back +
 * more`.
 */
INLINE uint64_t equal_shifted(const struct frame *f, const uint8_t *q, uint32_t back, uint32_t more,
			      unsigned head, uint64_t equal)
{
	const uint8_t *tail = q + head + 1;

	if (more == 0)
		return equal;
	equal &= low_bits(head);
	if (back + more > (size_t)(tail - f->base))
		return equal;
	return equal | equal_bytes(tail, tail - (back + more), f->end) << (head + 1);
}

/*
 * Put matches of a long cell, or of a cell whose key has another length. For a short cell, `up` and
 * `left` are results of equal_bytes. The comparison aligns the part after the row key at the ends
 * of the keys. (The family's length, between the two parts, is then in no match.)
 */
INLINE struct next_sequence put_uneven(struct next_sequence c, const struct frame *f,
				       const uint8_t *q, const struct sequence_shape *s,
				       struct distance d, uint64_t up, uint64_t left)
{
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
	return put_matches(c, f, q, d, up & used, left & used);
}

/* Put the literals up to `at`, and the end of a zstd block. */
static struct next_sequence put_end(struct next_sequence c, const uint8_t *at)
{
	*c.next++ = (ZSTD_Sequence){.litLength = (uint32_t)(at - c.anchor)};
	return (struct next_sequence){c.next, at};
}

/* The state of a walk over a block. Its members stay in registers. */
struct sequence_walk {
	struct next_sequence c;
	const uint8_t *q;      /* the cell; NULL means sequences are not possible */
	const uint8_t *before; /* the cell before; NULL means none */
	const uint8_t **above; /* in the list: the cell at the same place in the previous row */
	const uint8_t *block;  /* where the zstd block begins */
	const uint8_t **row;   /* in the list: the first of this row */
	uint64_t row_mask;     /* the bits of the row key and of its length */
	const uint8_t **now;   /* in the list: the end */
	const uint8_t *last;   /* the last address with SPAN bytes in both blocks */
};

/* Add the cell to the list. Returns the cell above, or the previous cell. */
INLINE const uint8_t *meet(struct sequence_walk *w, bool in_row)
{
	if (!in_row) {
		w->above = w->row;
		w->row = w->now;
	}
	*w->now++ = w->q;
	return w->above < w->row ? *w->above++ : w->before;
}

/*
 * Take a cell of this shape into the zstd block, or into the next zstd block if there is no room.
 */
static void enter(struct sequence_walk *w, const struct frame *f, const struct sequence_shape *s)
{
	if ((size_t)(w->q - w->block) + s->size > ZSTD_BLOCK) {
		w->c = put_end(w->c, w->q);
		w->block = w->q;
	}
	size_t bytes = (size_t)(f->end - w->block);
	if (bytes > ZSTD_BLOCK)
		bytes = ZSTD_BLOCK;
	w->last = bytes < SPAN ? NULL : w->block + bytes - SPAN;
	w->row_mask = low_bits(ROW_IN_CELL + s->row_bytes) & ~low_bits(KV_LENGTHS);
}

/* Process a cell of any shape. */
static NOINLINE struct sequence_walk step_any(struct sequence_walk w, const struct frame *f)
{
	const uint8_t *q = w.q;
	struct sequence_shape s;

	if (!read_shape(f, q, &s) || s.size > ZSTD_BLOCK) {
		w.q = NULL;
		return w;
	}
	enter(&w, f, &s);
	bool in_row =
		w.before && memcmp(q + KV_LENGTHS, w.before + KV_LENGTHS, 2 + s.row_bytes) == 0;
	const uint8_t *above = meet(&w, in_row);
	if (above) {
		struct distance d = {.up = (uint32_t)(q - above), .left = (uint32_t)(q - w.before)};
		bool is_short = s.size <= CHUNK;
		uint64_t up = is_short ? equal_bytes(q, above, f->end) : 0;
		uint64_t left = is_short ? equal_bytes(q, w.before, f->end) : 0;

		w.c = put_uneven(w.c, f, q, &s, d, up, left);
	}
	w.before = q;
	w.q += s.size;
	return w;
}

/* Process a short cell whose row key is as long as the previous row key. */
INLINE struct sequence_walk step_short(struct sequence_walk w, const struct frame *f, size_t size,
				       const uint8_t *above, uint64_t up, uint64_t left)
{
	const uint64_t key_bytes = 0xf; /* the bits of the key's length */
	struct distance d = {.up = (uint32_t)(w.q - above), .left = (uint32_t)(w.q - w.before)};

	if (__builtin_expect((up & left & key_bytes) == key_bytes, 1)) {
		uint64_t used = ((uint64_t)1 << size) - 1;

		w.c = put_matches(w.c, f, w.q, d, up & used, left & used);
	} else {
		struct sequence_shape s;

		if (!read_shape(f, w.q, &s)) {
			w.q = NULL;
			return w;
		}
		w.c = put_uneven(w.c, f, w.q, &s, d, up, left);
	}
	w.before = w.q;
	w.q += size;
	return w;
}

/*
 * Make the sequences of all cells. Returns the end of the sequences, or NULL if sequences are not
 * possible. This is a macro, because the compiler inlines AVX2 code only into functions with AVX2
 * as their target.
 */
#define FIND(s, f, list, span)                                                                     \
	struct sequence_walk w = {.c = {list, (f)->base}, .q = (f)->base, .block = (f)->base};     \
	w.above = w.row = w.now = (s)->cells;                                                      \
	while (w.q && w.q < (f)->end) {                                                            \
		size_t size = 0;                                                                   \
		uint64_t left = 0;                                                                 \
		if (w.q <= w.last && (size = cell_size(f, w.q)) <= CHUNK)                          \
			left = span(w.q, w.before);                                                \
		if ((left & ROW_LENGTH) != ROW_LENGTH) {                                           \
			w = step_any(w, f);                                                        \
			continue;                                                                  \
		}                                                                                  \
		const uint8_t *above = meet(&w, (w.row_mask & ~left) == 0);                        \
		w = step_short(w, f, size, above, span(w.q, above), left);                         \
	}                                                                                          \
	return w.q ? put_end(w.c, (f)->end).next : NULL

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

void hfile_sequences_setup(void *zstd)
{
	/* The values are in range, so the call cannot fail. */
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_blockDelimiters, ZSTD_sf_explicitBlockDelimiters);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_validateSequences, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_searchForExternalRepcodes, ZSTD_ps_enable);
}

static bool make_room(struct sequencer *s, size_t plain_bytes)
{
	/*
	 * room before the first sequence, and for the ends of zstd blocks, because two adjacent
	 * zstd blocks have more than ZSTD_BLOCK bytes
	 */
	size_t most = plain_bytes / SEQUENCE_MIN + 2 * (plain_bytes / ZSTD_BLOCK) + 4;

	if (most <= s->cap)
		return true;
	mem_free(s->list);
	mem_free(s->cells);
	s->list = mem_try_calloc(most, sizeof(ZSTD_Sequence));
	s->cells = mem_try_alloc((plain_bytes / CELL_MIN + 1) * sizeof *s->cells);
	s->cap = s->list && s->cells ? most : 0;
	return s->cap;
}

size_t hfile_sequences_compress(struct sequencer *s, void *zstd, struct bytes cells,
				size_t tail_bytes, unsigned min_match, uint8_t *out, size_t room)
{
	if (cells.len == 0 || cells.len > UINT32_MAX / 2)
		return 0;
	if (!make_room(s, cells.len))
		return SEQUENCES_NO_MEMORY;
	ZSTD_Sequence *list = (ZSTD_Sequence *)s->list + 1;
	ZSTD_Sequence *end = find(s, cells, tail_bytes, min_match, list);
	if (!end)
		return 0;
	size_t n = ZSTD_compressSequences(zstd, out, room, list, (size_t)(end - list), cells.ptr,
					  cells.len);
	if (ZSTD_isError(n))
		return ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation ? SEQUENCES_NO_MEMORY
									    : 0;
	if (s->counts) {
		s->made += (uint64_t)(end - list);
		for (; list < end; list++)
			s->literals += list->litLength;
	}
	return n;
}

void hfile_sequences_release(struct sequencer *s)
{
	mem_free(s->list);
	mem_free(s->cells);
	*s = (struct sequencer){0};
}
