/*
 * packed.c - pack sorted records for another sorter
 *
 * The records form blocks as in a run. Each block begins with a record that shares no bytes with
 * the record before, so a reader finds the borders of blocks without an index.
 */
#include "parts.h"

_Static_assert((int)SLACK_BYTES == PACKED_ROOM_BYTES, "a run has the same bytes after its records");
_Static_assert((unsigned)LARGE_BYTES_LEAST == LARGE_PAYLOAD_BYTES, "no smaller payload is large");

struct run_codec packed_codec(uint64_t seq_base, size_t seq_bytes, size_t string_max,
			      size_t secondary_bytes, bool fixed)
{
	struct run_codec c = {.seq_base = seq_base,
			      .seq_bytes = seq_bytes,
			      .secondary_bytes = secondary_bytes,
			      .string_max = string_max,
			      .fixed = fixed};

	for (size_t i = 0; i < seq_bytes; i++)
		c.seq_mask = c.seq_mask << 8 | 0xff;
	c.seq_last = seq_base > UINT64_MAX - c.seq_mask ? UINT64_MAX : seq_base + c.seq_mask;
	return c;
}

struct run_codec sorter_codec(const struct sorter *s, uint64_t seq_base)
{
	const size_t secondary_bytes = s->opt.secondary_bytes;
	struct key_span lengths = {0};
	struct run_codec c;
	uint64_t last = seq_base;

	for (size_t i = 0; i < s->nruns; i++) {
		const struct run *r = s->runs[i];

		if (i == 0 || r->span.min_len < lengths.min_len)
			lengths.min_len = r->span.min_len;
		if (r->span.max_len > lengths.max_len)
			lengths.max_len = r->span.max_len;
		last = r->codec.seq_last > last ? r->codec.seq_last : last;
	}
	run_codec_init(&c, &lengths, secondary_bytes, seq_base, last);
	return c;
}

void packed_begin(struct packed_writer *w)
{
	w->block_end = w->last.len = 0;
	buf_room(&w->last, w->codec.string_max + SLACK_BYTES);
}

void packed_put(struct packed_writer *w, const struct record *r)
{
	const struct run_codec *c = &w->codec;
	struct bytes string = bytes_of(r->key.ptr, r->key.len + c->secondary_bytes);
	size_t most = string.len + r->payload.len + PACKED_ROOM_BYTES, shared = 0;
	uint8_t *p = buf_room(&w->bytes, most + SLACK_BYTES);

	if (w->bytes.len + most > w->block_end)
		w->block_end = w->bytes.len + BLOCK_BYTES;
	else
		shared = shared_bytes(buf_bytes(&w->last), string);
	const uint8_t *from = string.ptr + shared;
	size_t tail = string.len - shared;
	p = packed_write_header(c, shared, tail, r->payload.len + 1, r->seq, p);
	copy_with_slack(p, from, tail);
	copy_with_slack(p + tail, r->payload.ptr, r->payload.len);
	w->bytes.len = (size_t)(p - w->bytes.ptr) + tail + r->payload.len;
	copy_with_slack(w->last.ptr + shared, from, tail);
	w->last.len = string.len;
}

void packed_writer_release(struct packed_writer *w)
{
	buf_release(&w->bytes);
	buf_release(&w->last);
	*w = (struct packed_writer){0};
}
