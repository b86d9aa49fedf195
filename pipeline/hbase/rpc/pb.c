#include "pb.h"

static void put_number(struct buf *b, uint64_t v)
{
	b->len += put_varint(buf_room(b, 10), v);
}

static void put_tag(struct buf *b, unsigned field, enum pb_wire wire)
{
	put_number(b, (uint64_t)field << 3 | wire);
}

void pb_uint(struct buf *b, unsigned field, uint64_t v)
{
	put_tag(b, field, PB_VARINT);
	put_number(b, v);
}

void pb_bytes(struct buf *b, unsigned field, struct bytes v)
{
	put_tag(b, field, PB_BYTES);
	pb_delimited(b, v);
}

void pb_text(struct buf *b, unsigned field, const char *v)
{
	pb_bytes(b, field, bytes_str(v));
}

size_t pb_open(struct buf *b, unsigned field)
{
	put_tag(b, field, PB_BYTES);
	return b->len;
}

void pb_close(struct buf *b, size_t opened)
{
	uint8_t length[10];
	size_t content = b->len - opened, n = put_varint(length, content);
	uint8_t *end = buf_room(b, n);

	memmove(end - content + n, end - content, content);
	memcpy(b->ptr + opened, length, n);
	b->len += n;
}

void pb_delimited(struct buf *b, struct bytes message)
{
	put_number(b, message.len);
	buf_append(b, message.ptr, message.len);
}

static int take_number(struct bytes *rest, uint64_t *v, struct error *err)
{
	size_t n = rest->len ? get_varint(rest->ptr, rest->ptr + rest->len, v) : 0;

	if (n == 0)
		return error_set(
			err, RC_DATA,
			"found a varint without an end, expected an end within 10 bytes and "
			"inside the message");
	*rest = bytes_of(rest->ptr + n, rest->len - n);
	return RC_OK;
}

static int take_bytes(struct bytes *rest, uint64_t n, struct bytes *out, struct error *err)
{
	if (n > rest->len)
		return error_set(err, RC_DATA, "found a field of %llu bytes, expected at most %zu",
				 (unsigned long long)n, rest->len);
	*out = bytes_of(rest->ptr, (size_t)n);
	*rest = bytes_of(rest->ptr + n, rest->len - (size_t)n);
	return RC_OK;
}

int pb_take_delimited(struct bytes *rest, struct bytes *message, struct error *err)
{
	uint64_t n = 0;
	int rc = take_number(rest, &n, err);

	return rc ? rc : take_bytes(rest, n, message, err);
}

int pb_next(struct bytes *rest, struct pb_field *f, struct error *err)
{
	uint64_t tag = 0;
	struct bytes fixed = {0};

	*f = (struct pb_field){0};
	if (rest->len == 0)
		return RC_END;
	int rc = take_number(rest, &tag, err);
	if (rc)
		return rc;
	if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF)
		return error_set(err, RC_DATA, "found field %llu, expected 1 to 536870911",
				 (unsigned long long)(tag >> 3));
	f->number = (unsigned)(tag >> 3);
	f->wire = (enum pb_wire)(tag & 7);
	switch (tag & 7) {
	case PB_VARINT: return take_number(rest, &f->value, err);
	case PB_BYTES: return pb_take_delimited(rest, &f->bytes, err);
	case PB_FIXED64:
		rc = take_bytes(rest, 8, &fixed, err);
		if (rc == RC_OK)
			f->value = __builtin_bswap64(get_be64(fixed.ptr));
		return rc;
	case PB_FIXED32:
		rc = take_bytes(rest, 4, &fixed, err);
		if (rc == RC_OK)
			f->value = __builtin_bswap32(get_be32(fixed.ptr));
		return rc;
	default:
		return error_set(err, RC_DATA,
				 "field %u: found wire type %u, expected 0, 1, 2 or 5", f->number,
				 (unsigned)(tag & 7));
	}
}
