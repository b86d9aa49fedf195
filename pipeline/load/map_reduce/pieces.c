/* pieces.c - write and read pieces of sorted rows */
#include "pieces.h"

#include <zstd.h>

#include "mem.h"
#include "hash.h"

#define RECORD_NUMBERS 40 /* maximum bytes of a record's numbers */
#define DIGEST_AT      80 /* position in the head */
#define ZSTD_LEVEL     1
#define FLAG_LAST      1u
#define FLAG_UNORDERED 2u

static const uint8_t magic[8] = {'S', 'M', 'p', 'i', 'e', 'c', 'e', PIECES_FORMAT};

static uint8_t *put_le(uint8_t *p, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++, v >>= 8)
		*p++ = (uint8_t)v;
	return p;
}

static uint64_t take_le(const uint8_t **p, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = bytes; i-- > 0;)
		v = v << 8 | (*p)[i];
	*p += bytes;
	return v;
}

static uint64_t digest_of(const uint8_t *head, const uint8_t *stored, size_t len)
{
	XXH3_state_t x;

	XXH3_64bits_reset(&x);
	XXH3_64bits_update(&x, head, DIGEST_AT);
	XXH3_64bits_update(&x, stored, len);
	return XXH3_64bits_digest(&x);
}

/* --- writing --- */

static void head_write(const struct piece_head *h, uint8_t *p)
{
	memcpy(p, magic, sizeof magic);
	memcpy(p + 8, h->plan, sizeof h->plan);
	p = put_le(p + 24, h->slice, 8);
	p = put_le(p, h->table, 4);
	p = put_le(p, h->region, 4);
	p = put_le(p, h->number, 4);
	p = put_le(p, (h->last ? FLAG_LAST : 0) | (h->unordered ? FLAG_UNORDERED : 0), 2);
	p = put_le(p, h->packing, 2);
	p = put_le(p, h->records, 8);
	p = put_le(p, h->plain, 8);
	p = put_le(p, h->stored, 8);
	put_le(p, h->rows, 8);
}

/* Begin a piece. Both the plain and the compressed form begin with the head. */
static void begin(struct piece_writer *w)
{
	w->plain.len = w->stored.len = 0;
	buf_reserve(&w->plain, PIECE_HEAD_BYTES);
	w->plain.len = PIECE_HEAD_BYTES;
	w->before.len = 0;
	w->head.records = 0;
	w->head.rows = 0;
}

void piece_region(struct piece_writer *w, uint32_t table, uint32_t region, size_t secondary_bytes)
{
	w->head.table = table;
	w->head.region = region;
	w->head.number = 0;
	w->secondary_bytes = secondary_bytes;
	begin(w);
}

bool piece_fits(const struct piece_writer *w, const struct record *r)
{
	size_t most = RECORD_NUMBERS + r->key.len + w->secondary_bytes + r->payload.len;

	return w->head.records == 0 || w->plain.len + most <= PIECE_BYTES;
}

static inline size_t shared_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		uint64_t x, y;

		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y) {
			i += (size_t)__builtin_ctzll(x ^ y) / 8;
			return i < n ? i : n;
		}
	}
	return n;
}

/* Copy 16 bytes at a time. The copy may read and write up to 15 bytes after the end. */
static inline uint8_t *put_short(uint8_t *to, const uint8_t *from, size_t len)
{
	if (__builtin_expect(len > 64, 0))
		memcpy(to, from, len);
	else
		for (size_t i = 0; i < len; i += 16)
			memcpy(to + i, from + i, 16);
	return to + len;
}

/* Hash a row without its seq. `string` is the key and the secondary. */
static uint64_t row_hash(struct bytes string, struct bytes payload)
{
	uint64_t seed = XXH3_64bits(string.ptr, string.len);

	return XXH3_64bits_withSeed(payload.ptr, payload.len, seed);
}

void piece_add(struct piece_writer *w, const struct record *r)
{
	size_t len = r->key.len + w->secondary_bytes, had = w->before.len;

	buf_room(&w->before, len + RECORD_ROOM_BYTES);
	size_t shared = shared_bytes(w->before.ptr, r->key.ptr, had < len ? had : len);
	uint8_t *start = buf_room(&w->plain, RECORD_NUMBERS + RECORD_ROOM_BYTES + len - shared +
						     r->payload.len),
		*p = start;
	p += put_varint(p, shared);
	p += put_varint(p, len - shared);
	p += put_varint(p, r->payload.len);
	p += put_varint(p, r->seq - w->head.slice);
	p = put_short(p, r->key.ptr + shared, len - shared);
	p = put_short(p, r->payload.ptr, r->payload.len);
	w->plain.len += (size_t)(p - start);
	put_short(w->before.ptr + shared, r->key.ptr + shared, len - shared);
	w->before.len = len;
	w->head.records++;
	if (w->head.unordered)
		w->head.rows += row_hash(buf_bytes(&w->before), r->payload);
}

static int pack(struct piece_writer *w, struct error *err)
{
	struct bytes from =
		bytes_of(w->plain.ptr + PIECE_HEAD_BYTES, w->plain.len - PIECE_HEAD_BYTES);
	size_t room = ZSTD_compressBound(from.len);
	uint8_t *p = buf_reserve(&w->stored, PIECE_HEAD_BYTES + room) + PIECE_HEAD_BYTES;

	if (!w->packer)
		w->packer = ZSTD_createCCtx();
	size_t n = w->packer ? ZSTD_compressCCtx(w->packer, p, room, from.ptr, from.len, ZSTD_LEVEL)
			     : 0;
	if (n == 0 || ZSTD_isError(n))
		return error_memory(err, room, "packing sorted rows");
	w->stored.len = PIECE_HEAD_BYTES + n;
	return RC_OK;
}

int piece_end(struct piece_writer *w, bool last, struct bytes *out, uint64_t *mark,
	      struct error *err)
{
	struct piece_head *h = &w->head;
	bool plain = h->packing == PIECE_PLAIN;
	int rc = plain ? RC_OK : pack(w, err);
	struct buf *piece = plain ? &w->plain : &w->stored;

	if (rc)
		return rc;
	h->last = last;
	h->plain = w->plain.len - PIECE_HEAD_BYTES;
	h->stored = piece->len - PIECE_HEAD_BYTES;
	head_write(h, piece->ptr);
	h->digest = digest_of(piece->ptr, piece->ptr + PIECE_HEAD_BYTES, h->stored);
	put_le(piece->ptr + DIGEST_AT, h->digest, 8);
	*out = buf_bytes(piece);
	*mark = piece_mark(h);
	h->number++;
	begin(w);
	return RC_OK;
}

void piece_writer_release(struct piece_writer *w)
{
	ZSTD_freeCCtx(w->packer);
	buf_release(&w->plain);
	buf_release(&w->stored);
	buf_release(&w->before);
	*w = (struct piece_writer){0};
}

/* --- reading --- */

static int damaged(const char *name, const char *what, struct error *err)
{
	return error_set(err, RC_IO, "%s: damaged: %s", name, what);
}

int piece_head_read(struct piece_head *h, const uint8_t bytes[PIECE_HEAD_BYTES], const char *name,
		    struct error *err)
{
	const uint8_t *p = bytes + 24;

	if (memcmp(bytes, magic, sizeof magic) != 0)
		return damaged(name,
			       "found unknown bytes, expected the head of a piece "
			       "(`SMpiece`)",
			       err);
	memcpy(h->plan, bytes + 8, sizeof h->plan);
	h->slice = take_le(&p, 8);
	h->table = (uint32_t)take_le(&p, 4);
	h->region = (uint32_t)take_le(&p, 4);
	h->number = (uint32_t)take_le(&p, 4);
	uint64_t flags = take_le(&p, 2), packing = take_le(&p, 2);
	h->last = flags & FLAG_LAST;
	h->unordered = flags & FLAG_UNORDERED;
	h->records = take_le(&p, 8);
	h->plain = take_le(&p, 8);
	h->stored = take_le(&p, 8);
	h->rows = take_le(&p, 8);
	h->digest = take_le(&p, 8);
	if (flags > (FLAG_LAST | FLAG_UNORDERED) || packing >= PIECE_PACKINGS || h->records == 0 ||
	    h->plain > PIECE_MOST || h->stored > PIECE_MOST ||
	    (packing == PIECE_PLAIN && h->plain != h->stored))
		return damaged(name,
			       "found inconsistent numbers in the head of a piece, "
			       "expected the numbers of one piece",
			       err);
	h->packing = (enum piece_packing)packing;
	return RC_OK;
}

static int unpack(struct piece_reader *r, const uint8_t *stored, const char *name,
		  struct error *err)
{
	const struct piece_head *h = &r->head;

	r->next = stored;
	if (h->packing == PIECE_PLAIN)
		return RC_OK;
	if (ZSTD_getFrameContentSize(stored, h->stored) != h->plain)
		return damaged(name,
			       "found a piece of another length, expected the length in "
			       "the piece's head",
			       err);
	if (!r->unpacker)
		r->unpacker = ZSTD_createDCtx();
	r->plain.len = 0;
	uint8_t *p = buf_reserve(&r->plain, h->plain + RECORD_ROOM_BYTES);
	size_t n =
		r->unpacker ? ZSTD_decompressDCtx(r->unpacker, p, h->plain, stored, h->stored) : 0;
	r->next = p;
	return n == h->plain
		       ? RC_OK
		       : damaged(name,
				 "found damaged data in a piece, expected compressed data; run "
				 "the map again",
				 err);
}

int piece_open(struct piece_reader *r, const struct piece_head *h, const uint8_t *head_bytes,
	       const uint8_t *stored, size_t secondary_bytes, const char *name, struct error *err)
{
	r->head = *h;
	r->secondary_bytes = secondary_bytes;
	r->string.len = 0;
	r->left = h->records;
	if (digest_of(head_bytes, stored, h->stored) != h->digest)
		return damaged(name,
			       "found another digest of a piece, expected the digest in "
			       "the piece's head",
			       err);
	int rc = unpack(r, stored, name, err);
	r->end = r->next + h->plain;
	return rc;
}

/*
 * Read a number of at most 63 bits that ends before `end`. Return NULL if there is no such number.
 */
static __attribute__((noinline)) const uint8_t *take_long(const uint8_t *p, const uint8_t *end,
							  uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned shift = 0; p < end && shift < 63; shift += 7) {
		v |= (uint64_t)(*p & 0x7f) << shift;
		if (*p++ < 0x80) {
			*out = v;
			return p;
		}
	}
	return NULL;
}

static inline const uint8_t *take_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
	if (__builtin_expect(p >= end || *p >= 0x80, 0))
		return take_long(p, end, out);
	*out = *p;
	return p + 1;
}

struct record_numbers {
	uint64_t shared, tail, payload, seq;
};

/* Read a seq. Most seqs have four bytes, which one load reads together. */
static inline const uint8_t *take_seq(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
	uint32_t v;

	if (end - p < 4)
		return take_long(p, end, out);
	memcpy(&v, p, 4);
	if ((v & 0x80808080u) != 0x00808080u)
		return take_long(p, end, out);
	*out = (v & 0x7f) | (v & 0x7f00) >> 1 | (v & 0x7f0000) >> 2 | (v & 0x7f000000) >> 3;
	return p + 4;
}

static inline const uint8_t *take_numbers(const uint8_t *p, const uint8_t *end,
					  struct record_numbers *n)
{
	p = take_varint(p, end, &n->shared);
	p = p ? take_varint(p, end, &n->tail) : NULL;
	p = p ? take_varint(p, end, &n->payload) : NULL;
	return p ? take_seq(p, end, &n->seq) : NULL;
}

static inline bool fits(const struct piece_reader *r, const uint8_t *p,
			const struct record_numbers *n)
{
	uint64_t left = (uint64_t)(r->end - p), least = r->secondary_bytes + 1;

	return n->shared <= r->string.len && n->tail <= left && n->payload <= left - n->tail &&
	       n->shared + n->tail >= least && n->shared + n->tail < least + ROW_KEY_MAX;
}

int piece_next(struct piece_reader *r, struct ordered_record *out, const char *name,
	       struct error *err)
{
	struct record_numbers n;

	if (r->left == 0)
		return r->next == r->end ? RC_END
					 : damaged(name,
						   "found bytes after the last row of a piece, "
						   "expected none",
						   err);
	const uint8_t *p = take_numbers(r->next, r->end, &n);
	if (!p || !fits(r, p, &n))
		return damaged(name, "found a row beyond the end of its piece, expected whole rows",
			       err);
	size_t len = (size_t)(n.shared + n.tail);
	buf_room(&r->string, n.tail + RECORD_ROOM_BYTES);
	put_short(r->string.ptr + n.shared, p, (size_t)n.tail);
	r->string.len = len;
	const uint8_t *payload = p + n.tail;
	out->rec = (struct record){.key = bytes_of(r->string.ptr, len - r->secondary_bytes),
				   .seq = r->head.slice + n.seq,
				   .payload = bytes_of(payload, (size_t)n.payload)};
	out->rec.secondary = out->rec.key.ptr + out->rec.key.len;
	out->shared = (size_t)n.shared;
	out->tail = p;
	r->next = payload + n.payload;
	r->left--;
	return RC_OK;
}

void piece_reader_release(struct piece_reader *r)
{
	ZSTD_freeDCtx(r->unpacker);
	buf_release(&r->plain);
	buf_release(&r->string);
	*r = (struct piece_reader){0};
}
