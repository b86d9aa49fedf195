/* pieces.c - write and read pieces of sorted rows */
#include "pieces.h"

#include <zstd.h>

#include "mem.h"
#include "hash.h"

#define DIGEST_AT      88 /* position in the head */
#define ZSTD_LEVEL     1
#define FLAG_LAST      1u
#define FLAG_UNORDERED 2u
#define FLAG_FIXED     4u
#define FLAG_LARGE     8u
#define FLAGS	       15u
#define SEQ_BYTES_MOST 8

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
	p = put_le(p,
		   (h->last ? FLAG_LAST : 0) | (h->unordered ? FLAG_UNORDERED : 0) |
			   (h->fixed ? FLAG_FIXED : 0) | (h->large ? FLAG_LARGE : 0),
		   2);
	p = put_le(p, h->packing, 2);
	p = put_le(p, h->records, 8);
	p = put_le(p, h->plain, 8);
	p = put_le(p, h->stored, 8);
	p = put_le(p, h->rows, 8);
	p = put_le(p, h->string_max, 4);
	put_le(p, h->seq_bytes, 4);
}

/* Begin a piece. Both the plain and the compressed form begin with the head. */
static void begin(struct piece_writer *w)
{
	w->rows.bytes.len = w->stored.len = 0;
	buf_reserve(&w->rows.bytes, PIECE_HEAD_BYTES);
	w->rows.bytes.len = PIECE_HEAD_BYTES;
	packed_begin(&w->rows);
	w->head.records = 0;
	w->head.rows = 0;
	w->head.large = false;
}

void piece_region(struct piece_writer *w, uint32_t table, uint32_t region,
		  const struct run_codec *codec)
{
	w->head.table = table;
	w->head.region = region;
	w->head.number = 0;
	w->head.fixed = codec->fixed;
	w->head.string_max = (uint32_t)codec->string_max;
	w->head.seq_bytes = (uint32_t)codec->seq_bytes;
	w->rows.codec = *codec;
	begin(w);
}

bool piece_fits(const struct piece_writer *w, const struct record *r)
{
	size_t most =
		PACKED_ROOM_BYTES + r->key.len + w->rows.codec.secondary_bytes + r->payload.len;

	return w->head.records == 0 || w->rows.bytes.len + most <= PIECE_BYTES;
}

/* Hash a row without its seq. `string` is the key and the secondary. */
static uint64_t row_hash(struct bytes string, struct bytes payload)
{
	uint64_t seed = XXH3_64bits(string.ptr, string.len);

	return XXH3_64bits_withSeed(payload.ptr, payload.len, seed);
}

void piece_add(struct piece_writer *w, const struct record *r)
{
	packed_put(&w->rows, r);
	w->head.records++;
	w->head.large |= r->payload.len >= LARGE_PAYLOAD_BYTES;
	if (w->head.unordered)
		w->head.rows += row_hash(buf_bytes(&w->rows.last), r->payload);
}

static int pack(struct piece_writer *w, struct error *err)
{
	const struct buf *plain = &w->rows.bytes;
	struct bytes from = bytes_of(plain->ptr + PIECE_HEAD_BYTES, plain->len - PIECE_HEAD_BYTES);
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
	struct buf *piece = plain ? &w->rows.bytes : &w->stored;

	if (rc)
		return rc;
	h->last = last;
	h->plain = w->rows.bytes.len - PIECE_HEAD_BYTES;
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
	packed_writer_release(&w->rows);
	buf_release(&w->stored);
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
	h->string_max = (uint32_t)take_le(&p, 4);
	h->seq_bytes = (uint32_t)take_le(&p, 4);
	h->digest = take_le(&p, 8);
	h->fixed = flags & FLAG_FIXED;
	h->large = flags & FLAG_LARGE;
	if (flags > FLAGS || h->seq_bytes > SEQ_BYTES_MOST || packing >= PIECE_PACKINGS ||
	    h->records == 0 || h->plain > PIECE_MOST || h->stored > PIECE_MOST ||
	    (packing == PIECE_PLAIN && h->plain != h->stored))
		return damaged(name,
			       "found inconsistent numbers in the head of a piece, "
			       "expected the numbers of one piece",
			       err);
	h->packing = (enum piece_packing)packing;
	return RC_OK;
}

/* Return the records' bytes in *out. */
static int unpack(struct piece_reader *r, const struct piece_head *h, const uint8_t *stored,
		  struct bytes *out, const char *name, struct error *err)
{
	*out = bytes_of(stored, h->stored);
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
	uint8_t *p = buf_reserve(&r->plain, h->plain + PACKED_ROOM_BYTES);
	size_t n =
		r->unpacker ? ZSTD_decompressDCtx(r->unpacker, p, h->plain, stored, h->stored) : 0;
	*out = bytes_of(p, h->plain);
	return n == h->plain
		       ? RC_OK
		       : damaged(name,
				 "found damaged data in a piece, expected compressed data; run "
				 "the map again",
				 err);
}

int piece_open(struct piece_reader *r, const struct piece_head *h, const uint8_t *head_bytes,
	       const uint8_t *stored, size_t secondary_bytes, struct packed_records *out,
	       const char *name, struct error *err)
{
	if (digest_of(head_bytes, stored, h->stored) != h->digest)
		return damaged(name,
			       "found another digest of a piece, expected the digest in "
			       "the piece's head",
			       err);
	if (h->string_max <= secondary_bytes || h->string_max > ROW_KEY_MAX + secondary_bytes)
		return damaged(name,
			       "found another length of keys in the head of a piece, "
			       "expected the length of row keys",
			       err);
	out->codec = packed_codec(h->slice, h->seq_bytes, h->string_max, secondary_bytes, h->fixed);
	out->records = h->records;
	out->large = h->large;
	out->name = name;
	return unpack(r, h, stored, &out->bytes, name, err);
}

void piece_reader_release(struct piece_reader *r)
{
	ZSTD_freeDCtx(r->unpacker);
	buf_release(&r->plain);
	*r = (struct piece_reader){0};
}
