/* kv.c - flat keys and Hadoop's vint; layouts in kv.h */
#include "kv.h"

#include <stdio.h>

bool hfile_kv_key_parse(struct bytes flat, struct cell *out)
{
	if (flat.len < KEY_FIXED)
		return false;
	size_t row_bytes = get_be16(flat.ptr);
	if (row_bytes > CELL_ROW_MAX || flat.len < KEY_FIXED + row_bytes)
		return false;
	size_t family_bytes = flat.ptr[2 + row_bytes];
	if (family_bytes > CELL_FAMILY_MAX || flat.len < KEY_FIXED + row_bytes + family_bytes)
		return false;
	const uint8_t *family = flat.ptr + 2 + row_bytes + 1;
	size_t qualifier_bytes = flat.len - KEY_FIXED - row_bytes - family_bytes;
	const uint8_t *ts = family + family_bytes + qualifier_bytes;
	*out = (struct cell){.row = {flat.ptr + 2, row_bytes},
			     .family = {family, family_bytes},
			     .qualifier = {family + family_bytes, qualifier_bytes},
			     .ts = (int64_t)get_be64(ts),
			     .type = ts[8]};
	return true;
}

size_t hfile_kv_key_bytes(const struct cell *k)
{
	return KEY_FIXED + k->row.len + k->family.len + k->qualifier.len;
}

static uint8_t *put_part(uint8_t *p, struct bytes v)
{
	if (v.len)
		memcpy(p, v.ptr, v.len);
	return p + v.len;
}

uint8_t *hfile_kv_key_put(uint8_t *p, const struct cell *k)
{
	put_be16(p, (uint16_t)k->row.len);
	p = put_part(p + 2, k->row);
	*p = (uint8_t)k->family.len;
	p = put_part(p + 1, k->family);
	p = put_part(p, k->qualifier);
	put_be64(p, (uint64_t)k->ts);
	p[8] = k->type;
	return p + 9;
}

bool hfile_kv_key_append(struct buf *b, const struct cell *k)
{
	size_t bytes = hfile_kv_key_bytes(k);

	if (!buf_try_reserve(b, bytes))
		return false;
	hfile_kv_key_put(b->ptr + b->len, k);
	b->len += bytes;
	return true;
}

bool hfile_kv_parse(const uint8_t *p, const uint8_t *end, struct kv *out)
{
	size_t room = (size_t)(end - p);

	if (room < KV_LENGTHS)
		return false;
	uint32_t key_bytes = get_be32(p), value_bytes = get_be32(p + 4);
	if ((uint64_t)key_bytes + value_bytes > room - KV_LENGTHS)
		return false;
	struct cell key;
	*out = hfile_kv_at(p);
	return hfile_kv_key_parse(out->key, &key);
}

bool hfile_kv_tags_fit(struct bytes tags)
{
	for (size_t i = 0; i < tags.len; i += 2 + get_be16(tags.ptr + i)) {
		size_t room = tags.len - i;

		if (room < 3 || get_be16(tags.ptr + i) < 1 || get_be16(tags.ptr + i) > room - 2)
			return false;
	}
	return true;
}

size_t hfile_kv_tail(const uint8_t *p, const uint8_t *end, struct cell_tail tail,
		     struct bytes *tags, uint64_t *mvcc)
{
	size_t n = 0, room = (size_t)(end - p);

	*tags = (struct bytes){NULL, 0};
	*mvcc = 0;
	if (tail.tags) {
		if (room < 2 || get_be16(p) > KV_TAGS_MAX || room - 2 < get_be16(p))
			return SIZE_MAX;
		*tags = bytes_of(p + 2, get_be16(p));
		n = 2 + tags->len;
		if (!hfile_kv_tags_fit(*tags))
			return SIZE_MAX;
	}
	if (tail.mvcc) {
		int64_t v;
		size_t m = hfile_kv_vint_get(p + n, end, &v);

		if (m == 0 || v < 0)
			return SIZE_MAX;
		*mvcc = (uint64_t)v;
		n += m;
	}
	return n;
}

size_t hfile_kv_vint_put(uint8_t *p, int64_t v)
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

size_t hfile_kv_vint_get(const uint8_t *p, const uint8_t *end, int64_t *out)
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

void hfile_kv_show(char *out, size_t room, struct bytes v)
{
	size_t n = 0;

	for (size_t i = 0; i < v.len && n + 8 < room; i++) {
		bool plain = v.ptr[i] >= 0x20 && v.ptr[i] < 0x7f && v.ptr[i] != '\\';

		n += (size_t)snprintf(out + n, room - n, plain ? "%c" : "\\x%02X", v.ptr[i]);
	}
	out[n] = 0;
}
