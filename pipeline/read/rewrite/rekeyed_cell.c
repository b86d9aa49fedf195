/*
 * rekeyed_cell.c - a cell as the payload of a record
 *
 *   flags (1 byte) | varint family | type (1 byte) | timestamp (8 bytes)
 *   | varint length, old row (if FIRST) | varint length, qualifier | varint length, tags | value
 *
 * The key of the record is the new row key. Its seq keeps the order of the cells of an old row.
 */
#include "rekey.h"

#define FIRST 1u

static void put_number(struct buf *out, uint64_t n)
{
	out->len += put_varint(buf_room(out, 10), n);
}

static void put_bytes(struct buf *out, struct bytes b)
{
	put_number(out, b.len);
	buf_append(out, b.ptr, b.len);
}

void rekeyed_pack(struct buf *out, const struct cell *c, size_t family, const struct bytes *old_row)
{
	buf_put(out, old_row ? FIRST : 0);
	put_number(out, family);
	buf_put(out, c->type);
	buf_be64(out, (uint64_t)c->ts);
	if (old_row)
		put_bytes(out, *old_row);
	put_bytes(out, c->qualifier);
	put_bytes(out, c->tags);
	buf_append(out, c->value.ptr, c->value.len);
}

/* The unread rest of a payload. */
struct unpacking {
	const uint8_t *at, *end;
};

static uint64_t take_number(struct unpacking *u)
{
	uint64_t n = 0;

	u->at += get_varint(u->at, u->end, &n);
	return n;
}

static struct bytes take_bytes(struct unpacking *u)
{
	size_t n = (size_t)take_number(u);
	struct bytes b = bytes_of(u->at, n);

	u->at += n;
	return b;
}

struct rekeyed_cell rekeyed_unpack(const struct rewrite *r, const struct record *rec)
{
	struct unpacking u = {rec->payload.ptr, rec->payload.ptr + rec->payload.len};
	struct rekeyed_cell out = {.first = *u.at++ & FIRST,
				   .cell = {.row = rec->key},
				   .seq = rec->seq};
	struct cell *c = &out.cell;

	out.family = (size_t)take_number(&u);
	c->family = r->families[out.family].name;
	c->type = *u.at++;
	c->ts = (int64_t)get_be64(u.at);
	u.at += 8;
	if (out.first)
		out.old_row = take_bytes(&u);
	c->qualifier = take_bytes(&u);
	c->tags = take_bytes(&u);
	c->value = bytes_of(u.at, (size_t)(u.end - u.at));
	return out;
}
