/*
 * fileinfo.c - encode and decode the protobuf message of the file info block; layout in fileinfo.h
 */
#include "fileinfo.h"

#include "mem.h"

#define FIELD_1 0x0a /* field 1, length-delimited */
#define FIELD_2 0x12

static void put_field(struct buf *b, uint8_t tag, struct bytes v)
{
	buf_fill_byte(b, tag);
	b->len += put_varint(b->ptr + b->len, v.len);
	buf_fill(b, v.ptr, v.len);
}

static size_t field_bytes(size_t len)
{
	uint8_t scratch[10];

	return 1 + put_varint(scratch, len) + len;
}

void hfile_info_put(struct buf *message, const char *name, struct bytes value)
{
	struct bytes key = bytes_str(name);

	assert(message->cap - message->len >= HINFO_ENTRY_BYTES + key.len + value.len);
	buf_fill_byte(message, FIELD_1);
	message->len += put_varint(message->ptr + message->len,
				   field_bytes(key.len) + field_bytes(value.len));
	put_field(message, FIELD_1, key);
	put_field(message, FIELD_2, value);
}

void hfile_info_put_be32(struct buf *message, const char *name, uint32_t v)
{
	uint8_t p[4];

	put_be32(p, v);
	hfile_info_put(message, name, bytes_of(p, sizeof p));
}

void hfile_info_put_be64(struct buf *message, const char *name, uint64_t v)
{
	uint8_t p[8];

	put_be64(p, v);
	hfile_info_put(message, name, bytes_of(p, sizeof p));
}

void hfile_info_put_bool(struct buf *message, const char *name, bool v)
{
	uint8_t p = v ? 0xff : 0;

	hfile_info_put(message, name, bytes_of(&p, 1));
}

void hfile_info_wrap(struct buf *payload, struct bytes message)
{
	buf_fill(payload, "PBUF", 4);
	payload->len += put_varint(payload->ptr + payload->len, message.len);
	buf_fill(payload, message.ptr, message.len);
}

/* Read a length-delimited field with this tag, and advance `*p`. */
static bool take_field(const uint8_t **p, const uint8_t *end, uint8_t tag, struct bytes *out)
{
	uint64_t len;

	if (*p == end || **p != tag)
		return false;
	size_t n = get_varint(*p + 1, end, &len);
	if (n == 0 || len > (uint64_t)(end - *p) - 1 - n)
		return false;
	*out = bytes_of(*p + 1 + n, (size_t)len);
	*p += 1 + n + (size_t)len;
	return true;
}

static bool take_pair(struct bytes pair, struct hinfo_entry *out)
{
	const uint8_t *p = pair.ptr, *end = p + pair.len;

	return take_field(&p, end, FIELD_1, &out->key) &&
	       take_field(&p, end, FIELD_2, &out->value) && p == end;
}

/*
 * HBase 1.x appends 16 zero bytes to the two times of TIMERANGE, because it stores the unused end
 * of a buffer.
 */
static struct bytes without_padding(const struct hinfo_entry *e)
{
	static const uint8_t zeros[16];
	bool padded = bytes_eq(e->key, bytes_str("TIMERANGE")) && e->value.len == 32 &&
		      memcmp(e->value.ptr + 16, zeros, sizeof zeros) == 0;

	return bytes_of(e->value.ptr, padded ? 16 : e->value.len);
}

static int parse_pairs(struct hinfo *h, struct bytes message, struct error *err)
{
	const uint8_t *p = message.ptr, *end = p + message.len;
	size_t cap = 0;

	while (p < end) {
		struct bytes pair;
		struct hinfo_entry found;

		if (!take_field(&p, end, FIELD_1, &pair) || !take_pair(pair, &found))
			return error_set(
				err, RC_DATA,
				"file info: found damaged bytes after entry %zu, expected a name "
				"and a value",
				h->count);
		struct hinfo_entry *e = mem_try_reserve(h->entry, &cap, h->count + 1, sizeof *e);
		if (!e)
			return error_memory(err, (h->count + 1) * sizeof *e, "the file info");
		h->entry = e;
		found.value = without_padding(&found);
		h->entry[h->count++] = found;
	}
	return 0;
}

int hfile_info_parse(struct hinfo *h, struct bytes payload, struct error *err)
{
	if (!buf_try_append(&h->payload, payload.ptr, payload.len))
		return error_memory(err, payload.len, "the file info");
	const uint8_t *p = h->payload.ptr, *end = p + h->payload.len;
	uint64_t len;
	if (payload.len < 5 || memcmp(p, "PBUF", 4) != 0)
		return error_set(err, RC_DATA,
				 "file info: found other bytes at its start, expected PBUF");
	size_t n = get_varint(p + 4, end, &len);
	if (n == 0 || len != (uint64_t)(end - p) - 4 - n)
		return error_set(
			err, RC_DATA,
			"file info: found %zu bytes and another length before them, expected "
			"equal lengths",
			payload.len);
	return parse_pairs(h, bytes_of(p + 4 + n, (size_t)len), err);
}

bool hfile_info_find(const struct hinfo *h, const char *name, struct bytes *value)
{
	/* If several entries have one name, the last entry wins. */
	for (size_t i = h->count; i-- > 0;) {
		if (bytes_eq(h->entry[i].key, bytes_str(name))) {
			*value = h->entry[i].value;
			return true;
		}
	}
	return false;
}

void hfile_info_release(struct hinfo *h)
{
	mem_free(h->entry);
	buf_release(&h->payload);
	*h = (struct hinfo){0};
}
