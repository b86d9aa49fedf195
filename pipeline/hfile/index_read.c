/* index_read.c - read index blocks without trusting a length in them; layouts in index.h */
#include "index.h"

#include "kv.h"

int hfile_index_node_open(struct hindex_node *n, struct bytes payload, struct error *err)
{
	*n = (struct hindex_node){0};
	if (payload.len < 8)
		return error_set(err, RC_DATA,
				 "found an index block of %zu bytes, expected at least 8",
				 payload.len);
	n->count = get_be32(payload.ptr);
	uint64_t head = 4 + 4 * ((uint64_t)n->count + 1);
	if (n->count == 0 || head > payload.len)
		return error_set(
			err, RC_DATA,
			"found %u entries in an index block of %zu bytes, expected at least 1 "
			"entry, and the list of offsets inside the block",
			n->count, payload.len);
	n->offsets = payload.ptr + 4;
	n->entry_bytes = get_be32(n->offsets + 4 * (size_t)n->count);
	n->entries = payload.ptr + head;
	if (n->entry_bytes != payload.len - head)
		return error_set(err, RC_DATA,
				 "found %zu bytes of index entries, expected %u as in the block",
				 payload.len - (size_t)head, n->entry_bytes);
	return 0;
}

int hfile_index_node_entry(const struct hindex_node *n, uint32_t i, struct hindex_entry *e,
			   struct bytes *key, struct error *err)
{
	/* The size of all entries follows the last offset, and is the end of the last entry. */
	uint32_t from = get_be32(n->offsets + 4 * (size_t)i);
	uint32_t to = get_be32(n->offsets + 4 * ((size_t)i + 1));

	if (from > to || to > n->entry_bytes || to - from < 12 || (i == 0 && from))
		return error_set(
			err, RC_DATA,
			"found index entry %u at bytes %u to %u, expected at least 12 bytes and "
			"an end of at most %u",
			i, from, to, n->entry_bytes);
	const uint8_t *p = n->entries + from;
	*e = (struct hindex_entry){.offset = get_be64(p), .disk_bytes = get_be32(p + 8)};
	*key = bytes_of(p + 12, to - from - 12);
	struct cell parsed;
	if (!hfile_kv_key_parse(*key, &parsed))
		return error_set(
			err, RC_DATA,
			"index entry %u: found %zu bytes that are not a cell key, expected a cell "
			"key",
			i, key->len);
	return 0;
}

static int parse_root(struct hindex_list *l, struct bytes payload, uint32_t count, bool flat,
		      struct bytes *rest, struct error *err)
{
	const uint8_t *p = payload.ptr, *end = p + payload.len;

	for (uint32_t i = 0; i < count; i++) {
		int64_t key_bytes = 0;
		size_t n = end - p < 12 ? 0 : hfile_kv_vint_get(p + 12, end, &key_bytes);
		struct cell key;
		bool fits = n && key_bytes >= 0 && key_bytes <= end - p - 12 - (int64_t)n;
		struct bytes text = {p + 12 + n, fits ? (size_t)key_bytes : 0};

		if (!fits || (flat && !hfile_kv_key_parse(text, &key)))
			return error_set(
				err, RC_DATA,
				"root index entry %u of %u: found %zu bytes that are not an entry, "
				"expected an offset, a size and a key",
				i, count, (size_t)(end - p));
		if (!hfile_index_list_add(l, text, get_be64(p), get_be32(p + 8)))
			return error_memory(err, payload.len, "the index");
		p += 12 + n + (size_t)key_bytes;
	}
	*rest = bytes_of(p, (size_t)(end - p));
	return 0;
}

int hfile_index_root_parse(struct hindex_list *l, struct bytes payload, uint32_t count,
			   struct bytes *rest, struct error *err)
{
	return parse_root(l, payload, count, true, rest, err);
}

int hfile_index_meta_parse(struct hindex_list *l, struct bytes payload, uint32_t count,
			   struct error *err)
{
	struct bytes rest;
	int rc = parse_root(l, payload, count, false, &rest, err);

	if (rc == RC_OK && rest.len)
		rc = error_set(err, RC_DATA,
			       "found %zu bytes after the %u meta index entries, expected none",
			       rest.len, count);
	return rc;
}
