/*
 * record_bytes.h - write and read records as bytes, in a buffer and in a run
 *
 * In a builder's buffer, each record is complete, so a sort entry can point to a record:
 *
 *   seq low half u32 | key bytes u16 | [seq high half u32] | payload bytes varint | key |
 *   secondary | payload
 *
 * A buffer stores the high half only if records may have different high halves. A reader reads a
 * run in order. In a run, key and secondary are one string, and a record stores only the difference
 * from the previous string (front coding, Witten, Moffat, Bell, Managing Gigabytes, 4.1):
 *
 *   shared varint | [tail bytes varint] | payload bytes + 1 varint | seq | tail | payload
 *
 * The string is the first `shared` bytes of the previous string, then the tail. In the first record
 * of a block, `shared` is 0. A record has the tail's length only if the strings of the run differ
 * in length. A record stores seq minus the least seq of the run, in as few bytes as the largest
 * difference needs. Numbers are little-endian and not aligned.
 *
 * The sorter stores a large payload outside the runs (large_values.h), and the record has a
 * reference of LARGE_REF_BYTES instead. Such a record has the highest bit of key bytes set in a
 * buffer, and payload bytes + 1 of 0 in a run.
 */
#ifndef SALTMILL_RECORD_BYTES_H
#define SALTMILL_RECORD_BYTES_H

#include "prefix.h"
#include "sorter.h"

enum {
	LARGE_REF_BYTES = 24,
	LARGE_BIT = 0x80,
	/* the most bytes that a record in a run needs in addition to its bytes in a buffer */
	PACKED_EXTRA_BYTES = 3,
	MERGED_BYTES = 64 /* saltmill builds strings up to this length word by word */
};

struct record_item {
	struct record
		rec; /* rec.new_key compares this record with the previous record of the run */
	bool large;  /* the payload is a reference of LARGE_REF_BYTES to the real payload */
};

static inline int record_compare(const struct record *a, const struct record *b,
				 size_t secondary_bytes)
{
	int c = bytes_cmp(a->key, b->key);

	if (c == 0 && secondary_bytes > 0)
		c = memcmp(a->secondary, b->secondary, secondary_bytes);
	return c ? c : (a->seq > b->seq) - (a->seq < b->seq);
}

/*
 * Copy in pieces of 16 bytes. The function reads and writes up to 15 bytes after the end. Larger
 * pieces would touch more cache lines.
 */
static inline void copy_with_slack(uint8_t *to, const uint8_t *from, size_t len)
{
	if (len > 256) {
		memcpy(to, from, len);
		return;
	}
	for (size_t i = 0; i < len; i += 16)
		memcpy(to + i, from + i, 16);
}

static inline size_t varint_bytes(uint64_t v)
{
	size_t n = 1;

	for (; v >= 0x80; v >>= 7)
		n++;
	return n;
}

/* Read a varint of at most 9 bytes, also from damaged data. Returns the address of the byte after
 * the varint. */
static inline const uint8_t *read_varint(const uint8_t *p, uint64_t *out)
{
	uint64_t v = *p++;

	if (__builtin_expect(v >= 0x80, 0)) {
		v &= 0x7f;
		for (unsigned shift = 7; shift < 63; shift += 7) {
			v |= (uint64_t)(*p & 0x7f) << shift;
			if (*p++ < 0x80)
				break;
		}
	}
	*out = v;
	return p;
}

/* ---- complete records, in a builder's buffer ---- */

struct record_codec {
	uint64_t seq_base; /* high half of all seqs; 0 if each record stores its high half */
	size_t high_bytes; /* bytes of the high half in each record, 0 or 4 */
	size_t secondary_bytes;
};

static inline size_t record_bytes(const struct record_codec *c, const struct record *r)
{
	return 6 + c->high_bytes + varint_bytes(r->payload.len) + r->key.len + c->secondary_bytes +
	       r->payload.len;
}

/* Write the header at `p`. Returns the address for the key. Secondary and payload follow the key.
 */
static inline uint8_t *record_write_header(const struct record_codec *c, const struct record *r,
					   bool large, uint8_t *p)
{
	uint32_t seq = (uint32_t)r->seq, high = (uint32_t)(r->seq >> 32);
	uint16_t key_len = (uint16_t)r->key.len;

	memcpy(p, &seq, 4);
	memcpy(p + 4, &key_len, 2);
	p[5] |= large ? LARGE_BIT : 0;
	p += 6;
	if (c->high_bytes) {
		memcpy(p, &high, 4);
		p += 4;
	}
	return p + put_varint(p, r->payload.len);
}

/* Read the record at `p`. Returns the address of the next record. */
static inline const uint8_t *record_read(const struct record_codec *c, const uint8_t *p,
					 struct record *r)
{
	uint32_t seq, high = 0;
	uint16_t key_len;
	uint64_t payload;

	memcpy(&seq, p, 4);
	memcpy(&key_len, p + 4, 2);
	if (__builtin_expect(c->high_bytes > 0, 0))
		memcpy(&high, p + 6, 4);
	p = read_varint(p + 6 + c->high_bytes, &payload);
	r->seq = c->seq_base + ((uint64_t)high << 32 | seq);
	r->key = bytes_of(p, key_len & 0x7fff);
	r->secondary = p + r->key.len;
	r->payload = bytes_of(r->secondary + c->secondary_bytes, payload);
	return r->payload.ptr + payload;
}

/* Return true if the sorter stores the payload of the record at `p` separately. */
static inline bool record_is_aside(const uint8_t *p)
{
	return (p[5] & LARGE_BIT) != 0;
}

/* ---- packed records, in a run ---- */

static inline void run_codec_init(struct run_codec *c, const struct key_span *s,
				  size_t secondary_bytes, uint64_t seq_base, uint64_t seq_last)
{
	*c = (struct run_codec){.seq_base = seq_base,
				.seq_last = seq_last,
				.secondary_bytes = secondary_bytes,
				.string_max = s->max_len + secondary_bytes,
				.fixed = s->min_len == s->max_len};
	for (; c->seq_bytes < 8 && (seq_last - seq_base) & ~c->seq_mask; c->seq_bytes++)
		c->seq_mask = c->seq_mask << 8 | 0xff;
}

static inline uint64_t differing_bits(const uint8_t *a, const uint8_t *b)
{
	uint64_t x, y;

	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	return x ^ y;
}

/* Count the equal bytes at the start of two strings. The function reads up to 23 bytes after the
 * shorter string. */
static inline size_t shared_bytes(struct bytes a, struct bytes b)
{
	size_t n = a.len < b.len ? a.len : b.len;

	for (size_t i = 0; i < n; i += 24) {
		/* Compare three words at once, which saves branches. */
		uint64_t first = differing_bits(a.ptr + i, b.ptr + i);
		uint64_t second = differing_bits(a.ptr + i + 8, b.ptr + i + 8);
		uint64_t third = differing_bits(a.ptr + i + 16, b.ptr + i + 16);
		uint64_t bits = first ? first : second ? second : third;
		size_t at = first ? i : second ? i + 8 : i + 16;

		if (bits) {
			at += (size_t)__builtin_ctzll(bits) / 8;
			return at < n ? at : n;
		}
	}
	return n;
}

static inline size_t packed_header_bytes(const struct run_codec *c, size_t shared, size_t tail,
					 size_t payload_code)
{
	size_t fixed = (c->fixed ? 2 : 3) + c->seq_bytes;

	if (__builtin_expect((shared | tail | payload_code) < 0x80, 1))
		return fixed;
	return fixed + varint_bytes(shared) + (c->fixed ? 1 : varint_bytes(tail)) +
	       varint_bytes(payload_code) - 3;
}

/*
 * Write the header at `p`. Returns the address for the tail. The function may overwrite up to 8
 * bytes from this address on.
 */
static inline uint8_t *packed_write_header(const struct run_codec *c, size_t shared, size_t tail,
					   size_t payload_code, uint64_t seq, uint8_t *p)
{
	p += put_varint(p, shared);
	if (!c->fixed)
		p += put_varint(p, tail);
	p += put_varint(p, payload_code);
	seq -= c->seq_base;
	memcpy(p, &seq, 8);
	return p + c->seq_bytes;
}

typedef uint64_t codec_word __attribute__((vector_size(16)));

/* A mask of MERGED_BYTES bytes FF, then MERGED_BYTES bytes 00. */
extern const uint8_t codec_mask[2 * MERGED_BYTES];

/*
 * Build a string from the previous string and a tail. The function stores whole words, because a
 * load directly after partial stores would wait. `shared` bytes before the tail must be readable.
 */
static inline void merge_string(uint8_t *to, const uint8_t *before, size_t shared,
				const uint8_t *tail, size_t bytes)
{
	if (__builtin_expect(bytes > MERGED_BYTES, 0)) {
		memcpy(to, before, shared);
		memcpy(to + shared, tail, bytes - shared);
		return;
	}
	const uint8_t *from = tail - shared, *mask = codec_mask + MERGED_BYTES - shared;
	for (size_t i = 0; i < bytes; i += sizeof(codec_word)) {
		codec_word old, new, keep;
		memcpy(&old, before + i, sizeof old);
		memcpy(&new, from + i, sizeof new);
		memcpy(&keep, mask + i, sizeof keep);
		new = (old & keep) | (new & ~keep);
		memcpy(to + i, &new, sizeof new);
	}
}

struct packed_head {
	uint64_t shared, tail, payload; /* lengths in bytes */
	uint64_t seq;
	bool large;
};

/*
 * Read the header at `p`. Returns the start of the tail. Returns NULL if the record does not fit
 * between `p` and `end`, or if its string is longer than c->string_max. The function reads at most
 * SLACK_BYTES after `end`.
 */
static inline const uint8_t *packed_read_header(const struct run_codec *c, const uint8_t *p,
						const uint8_t *end, struct packed_head *h)
{
	uint64_t seq;

	p = read_varint(p, &h->shared);
	h->tail = c->string_max - h->shared;
	if (!c->fixed)
		p = read_varint(p, &h->tail);
	p = read_varint(p, &h->payload);
	memcpy(&seq, p, 8);
	p += c->seq_bytes;
	h->seq = c->seq_base + (seq & c->seq_mask);
	h->large = h->payload == 0;
	h->payload = h->payload ? h->payload - 1 : LARGE_REF_BYTES;
	/*
	 * Lengths are below 2^63. The first two tests bound the tail, so the sum does not overflow.
	 */
	if (h->shared > c->string_max || h->tail > c->string_max - h->shared ||
	    h->shared + h->tail < c->secondary_bytes ||
	    h->tail + h->payload > (uint64_t)(end - p) || p > end)
		return NULL;
	return p;
}

/* Unpack the string and the record of a header. Returns the start of the next record. */
static inline const uint8_t *packed_take(const struct run_codec *c, const struct packed_head *h,
					 const uint8_t *tail, const uint8_t *before,
					 size_t before_bytes, uint8_t *string,
					 struct record_item *out)
{
	size_t bytes = h->shared + h->tail, key_len = bytes - c->secondary_bytes;

	merge_string(string, before, h->shared, tail, bytes);
	out->large = h->large;
	out->rec.key = bytes_of(string, key_len);
	out->rec.secondary = string + key_len;
	out->rec.seq = h->seq;
	out->rec.payload = bytes_of(tail + h->tail, h->payload);
	/* At the start of a block, `shared` is 0, so new_key stays false, which means unknown. */
	out->rec.new_key = (h->shared > 0) & ((h->shared < key_len) | (bytes != before_bytes));
	return tail + h->tail + h->payload;
}

/* Read a record as packed_read does, but without the fast path. */
const uint8_t *packed_read_any(const struct run_codec *c, const uint8_t *p, const uint8_t *end,
			       const uint8_t *before, size_t before_bytes, uint8_t *string,
			       struct record_item *out);

/*
 * Read the header at `p` if all its lengths are below 128, and the payload is in the run. Else
 * *long_bits becomes 128 or more. The function checks no bounds. Returns the start of the tail.
 */
static inline const uint8_t *packed_read_short(const struct run_codec *c, const uint8_t *p,
					       struct packed_head *h, uint64_t *long_bits)
{
	uint64_t code = p[1], seq;
	const uint8_t *tail = p + 2;

	h->shared = *long_bits = p[0];
	h->tail = c->string_max - h->shared;
	if (!c->fixed) {
		h->tail = code;
		*long_bits |= code;
		code = *tail++;
	}
	h->payload = code - 1;
	*long_bits |= code | h->payload; /* a code of 0 (a large payload) sets all bits */
	memcpy(&seq, tail, 8);
	h->seq = c->seq_base + (seq & c->seq_mask);
	h->large = false;
	return tail + c->seq_bytes;
}

/* Return true if the record of a short header does not fit before `end`, or in a string. */
static inline bool packed_exceeds(const struct run_codec *c, const struct packed_head *h,
				  const uint8_t *tail, const uint8_t *end)
{
	return h->shared + h->tail - c->secondary_bytes > c->string_max - c->secondary_bytes ||
	       (int64_t)(h->tail + h->payload) > end - tail;
}

/* Read a header as packed_read_header does, but most headers faster. */
static inline const uint8_t *packed_read_head(const struct run_codec *c, const uint8_t *p,
					      const uint8_t *end, struct packed_head *h)
{
	uint64_t long_bits;
	const uint8_t *tail = packed_read_short(c, p, h, &long_bits);

	if (__builtin_expect(long_bits >= 0x80 || packed_exceeds(c, h, tail, end), 0))
		return packed_read_header(c, p, end, h);
	return tail;
}

/*
 * Unpack the record at `p` into *out, and its string into `string`, which has string_max bytes and
 * SLACK_BYTES after them. `before` is the previous string, with `before_bytes` bytes, or 0 bytes if
 * this record is the first in memory. Returns the start of the next record. Returns NULL as
 * packed_read_header does, or if the record contradicts the previous one.
 *
 * The fast path needs lengths below 128 and a payload that is in the run.
 */
static inline const uint8_t *packed_read(const struct run_codec *c, const uint8_t *p,
					 const uint8_t *end, const uint8_t *before,
					 size_t before_bytes, uint8_t *string,
					 struct record_item *out)
{
	struct packed_head h;
	uint64_t long_bits;
	const uint8_t *tail = packed_read_short(c, p, &h, &long_bits);

	if (__builtin_expect(long_bits >= 0x80 || h.shared > before_bytes ||
				     packed_exceeds(c, &h, tail, end),
			     0)) {
		/* Copy both, so that the compiler can keep the caller's codec and item in
		 * registers. */
		struct run_codec codec = *c;
		struct record_item it = {0};
		p = packed_read_any(&codec, p, end, before, before_bytes, string, &it);
		*out = it;
		return p;
	}
	return packed_take(c, &h, tail, before, before_bytes, string, out);
}

#endif
