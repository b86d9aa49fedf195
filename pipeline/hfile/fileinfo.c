/* fileinfo.c - protobuf by hand for the file info block; layout in fileinfo.h */
#include "fileinfo.h"

#include "mem.h"

#define FIELD_1 0x0a /* field 1, length-delimited */
#define FIELD_2 0x12

static void put_field(struct buf *b, uint8_t tag, struct bytes v)
{
	buf_put(b, tag);
	b->len += put_varint(buf_reserve(b, 10), v.len);
	buf_append(b, v.ptr, v.len);
}

void hinfo_put(struct buf *message, const char *name, struct bytes value)
{
	struct buf pair = {0};
	put_field(&pair, FIELD_1, bytes_str(name));
	put_field(&pair, FIELD_2, value);
	put_field(message, FIELD_1, buf_bytes(&pair));
	buf_release(&pair);
}

void hinfo_put_be32(struct buf *message, const char *name, uint32_t v)
{
	uint8_t p[4];
	put_be32(p, v);
	hinfo_put(message, name, bytes_of(p, sizeof p));
}

void hinfo_put_be64(struct buf *message, const char *name, uint64_t v)
{
	uint8_t p[8];
	put_be64(p, v);
	hinfo_put(message, name, bytes_of(p, sizeof p));
}

void hinfo_put_bool(struct buf *message, const char *name, bool v)
{
	uint8_t p = v ? 0xff : 0;
	hinfo_put(message, name, bytes_of(&p, 1));
}

void hinfo_wrap(struct buf *payload, struct bytes message)
{
	buf_append_str(payload, "PBUF");
	payload->len += put_varint(buf_reserve(payload, 10), message.len);
	buf_append(payload, message.ptr, message.len);
}

/* A length-delimited field with this tag; advances *p. */
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

static bool parse_pairs(struct hinfo *h, struct bytes message)
{
	const uint8_t *p = message.ptr, *end = p + message.len;
	while (p < end) {
		struct bytes pair, key, value;
		if (!take_field(&p, end, FIELD_1, &pair))
			return false;
		const uint8_t *q = pair.ptr, *stop = q + pair.len;
		if (!take_field(&q, stop, FIELD_1, &key) ||
		    !take_field(&q, stop, FIELD_2, &value) || q != stop)
			return false;
		h->entry = mem_realloc(h->entry, (h->count + 1) * sizeof *h->entry);
		h->entry[h->count++] = (struct hinfo_entry){key, value};
	}
	return true;
}

int hinfo_parse(struct hinfo *h, struct bytes payload, struct error *err)
{
	buf_append(&h->payload, payload.ptr, payload.len);
	const uint8_t *p = h->payload.ptr, *end = p + h->payload.len;
	uint64_t len;
	if (payload.len < 5 || memcmp(p, "PBUF", 4) != 0)
		return error_set(err, RC_DATA, "the file info does not begin with PBUF");
	size_t n = get_varint(p + 4, end, &len);
	if (n == 0 || len != (uint64_t)(end - p) - 4 - n ||
	    !parse_pairs(h, bytes_of(p + 4 + n, (size_t)len)))
		return error_set(err, RC_DATA, "the file info's message is damaged");
	return 0;
}

bool hinfo_get(const struct hinfo *h, const char *name, struct bytes *value)
{
	/* Later duplicates win. */
	for (size_t i = h->count; i-- > 0;) {
		if (bytes_eq(h->entry[i].key, bytes_str(name))) {
			*value = h->entry[i].value;
			return true;
		}
	}
	return false;
}

void hinfo_release(struct hinfo *h)
{
	mem_free(h->entry);
	buf_release(&h->payload);
	*h = (struct hinfo){0};
}
