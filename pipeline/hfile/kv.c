/* kv.c - flat keys and Hadoop's vint; layouts in kv.h */
#include "kv.h"

bool kv_key_parse(struct bytes flat, struct kv_key *out)
{
	if (flat.len < KEY_FIXED)
		return false;
	size_t row_bytes = get_be16(flat.ptr);
	if (row_bytes > ROW_MAX || flat.len < KEY_FIXED + row_bytes)
		return false;
	size_t family_bytes = flat.ptr[2 + row_bytes];
	if (family_bytes > FAMILY_MAX || flat.len < KEY_FIXED + row_bytes + family_bytes)
		return false;
	const uint8_t *family = flat.ptr + 2 + row_bytes + 1;
	size_t qualifier_bytes = flat.len - KEY_FIXED - row_bytes - family_bytes;
	const uint8_t *ts = family + family_bytes + qualifier_bytes;
	*out = (struct kv_key){{flat.ptr + 2, row_bytes},
			       {family, family_bytes},
			       {family + family_bytes, qualifier_bytes},
			       (int64_t)get_be64(ts),
			       ts[8]};
	return true;
}

int kv_key_cmp(const struct kv_key *a, const struct kv_key *b)
{
	int c = bytes_cmp(a->row, b->row);
	if (c == 0)
		c = bytes_cmp(a->family, b->family);
	if (c == 0)
		c = bytes_cmp(a->qualifier, b->qualifier);
	if (c == 0)
		c = (a->ts < b->ts) - (a->ts > b->ts);
	return c ? c : (a->type < b->type) - (a->type > b->type);
}

void kv_key_put(struct buf *b, const struct kv_key *k)
{
	uint8_t head[2], tail[9];
	put_be16(head, (uint16_t)k->row.len);
	put_be64(tail, (uint64_t)k->ts);
	tail[8] = k->type;
	buf_append(b, head, sizeof head);
	buf_append(b, k->row.ptr, k->row.len);
	buf_put(b, (uint8_t)k->family.len);
	buf_append(b, k->family.ptr, k->family.len);
	buf_append(b, k->qualifier.ptr, k->qualifier.len);
	buf_append(b, tail, sizeof tail);
}

struct kv_key kv_key_first(struct bytes row, struct bytes qualifier)
{
	return (struct kv_key){row, {NULL, 0}, qualifier, TS_MAX, TYPE_MAXIMUM};
}

bool kv_parse(const uint8_t *p, const uint8_t *end, struct kv *out)
{
	size_t room = (size_t)(end - p);
	if (room < KV_LENGTHS)
		return false;
	uint32_t key_bytes = get_be32(p), value_bytes = get_be32(p + 4);
	if (key_bytes > INT32_MAX || value_bytes > INT32_MAX)
		return false;
	if ((uint64_t)key_bytes + value_bytes > room - KV_LENGTHS)
		return false;
	struct kv_key key;
	*out = kv_at(p);
	return kv_key_parse(out->key, &key);
}

size_t kv_vint_put(uint8_t *p, int64_t v)
{
	if (v >= -112 && v <= 127) {
		p[0] = (uint8_t)v;
		return 1;
	}
	uint64_t magnitude = (uint64_t)(v < 0 ? ~v : v);
	size_t n = 8 - (size_t)__builtin_clzll(magnitude) / 8;
	p[0] = (uint8_t)((v < 0 ? -120 : -112) - (int)n);
	for (size_t i = 0; i < n; i++)
		p[1 + i] = (uint8_t)(magnitude >> (8 * (n - 1 - i)));
	return 1 + n;
}

size_t kv_vint_get(const uint8_t *p, const uint8_t *end, int64_t *out)
{
	if (p >= end)
		return 0;
	int first = (int8_t)p[0];
	if (first >= -112) {
		*out = first;
		return 1;
	}
	size_t n = (size_t)(first >= -120 ? -112 - first : -120 - first);
	if ((size_t)(end - p) < 1 + n)
		return 0;
	uint64_t magnitude = 0;
	for (size_t i = 0; i < n; i++)
		magnitude = magnitude << 8 | p[1 + i];
	*out = (int64_t)(first >= -120 ? magnitude : ~magnitude);
	return 1 + n;
}
