/* bloom.c - write and read bloom filters (README.md 6) */
#include "bloom.h"

#include <math.h>

#include "hash.h"
#include "kv.h"
#include "mem.h"

#define MAX_FOLD     7
#define ERROR_RATE   0.01f
#define META_VERSION 3
#define FIRST_KEYS   4096
#define META_FIXED   40
#define HASH_JENKINS 0 /* org.apache.hadoop.hbase.util.Hash */
#define HASH_MURMUR  1
#define HASH_MURMUR3 2
#define HASHES_MAX   64
#define ROWCOL_ORDER "org.apache.hadoop.hbase.CellComparatorImpl"

static struct hbloom_hash hash_key(struct bytes key)
{
	uint32_t h1 = hfile_bloom_murmur2(key, 0);

	return (struct hbloom_hash){h1, hfile_bloom_murmur2(key, h1)};
}

void hfile_bloom_sizes(enum bloom_type type, uint32_t chunk_bytes, uint32_t *hashes,
		       uint32_t *max_keys)
{
	/* HBase converts the error rate to float, which changes the last digits of `max_keys`. */
	float rate = ERROR_RATE;
	double bits = 8.0 * chunk_bytes, ln2 = log(2);

	if (type == BLOOM_ROWCOL)
		rate = (float)(1 - sqrt(1 - (double)rate));
	double error = (double)rate, ideal = floor(bits * ln2 * ln2 / -log(error));
	double k = ceil(ln2 * floor(bits / ideal));
	*hashes = (uint32_t)k;
	*max_keys = (uint32_t)floor(-bits / k * log(1 - exp(log(error) / k)));
}

bool hfile_bloom_key(enum bloom_type type, uint32_t prefix, struct bytes row,
		     struct bytes qualifier, struct buf *store, struct bytes *key)
{
	if (type == BLOOM_ROWPREFIX && row.len > prefix)
		row.len = prefix;
	*key = row;
	if (type != BLOOM_ROWCOL)
		return true;
	struct cell k = cell_first(row, (struct bytes){NULL, 0}, qualifier);
	store->len = 0;
	if (!hfile_kv_key_append(store, &k))
		return false;
	*key = buf_bytes(store);
	return true;
}

void hfile_bloom_init(struct hbloom *b, enum bloom_type type, uint32_t prefix, uint32_t block_bytes,
		      struct hbloom_hash *pending, size_t cap)
{
	uint32_t unit = 1u << MAX_FOLD;

	*b = (struct hbloom){.type = type, .prefix = prefix, .pending = pending, .cap = cap};
	b->kernel = hfile_bloom_kernel_choose();
	b->chunk_bytes = (block_bytes + unit - 1) / unit * unit;
	hfile_bloom_sizes(type, b->chunk_bytes, &b->hashes, &b->max_keys);
}

static void hash_lanes(struct hbloom *b)
{
	struct hbloom_hash *to = b->pending + b->npending - b->nlanes;

	if (b->nlanes == HBLOOM_LANES)
		b->kernel->hash(&b->lanes, b->lane_bytes, to);
	for (size_t i = 0; i < b->nlanes % HBLOOM_LANES; i++)
		to[i] = hash_key(bytes_of(b->lanes.key[i], b->lane_bytes));
	b->nlanes = 0;
}

static __attribute__((noinline)) bool grow(struct hbloom *b)
{
	size_t need = b->cap ? b->cap + 1 : FIRST_KEYS;
	struct hbloom_hash *p = mem_try_enlarge(b->pending, &b->cap, need, sizeof *p);

	if (p)
		b->pending = p;
	return p != NULL;
}

/* Prepare the lanes for keys of another length. Hash keys that are too long one by one. */
static __attribute__((noinline)) void change_lanes(struct hbloom *b, struct bytes key)
{
	hash_lanes(b);
	b->lane_bytes = key.len;
	if (key.len > HBLOOM_LANE_BYTES)
		b->pending[b->npending++] = hash_key(key);
}

bool hfile_bloom_add(struct hbloom *b, struct bytes row, struct bytes qualifier)
{
	struct bytes key;

	if (!hfile_bloom_key(b->type, b->prefix, row, qualifier, &b->made, &key))
		return false;
	if (b->npending == b->cap && !grow(b))
		return false;
	if (b->in_chunk == 0 && !hfile_index_list_add(&b->chunks, key, 0, 0))
		return false;
	b->keys++;
	if (++b->in_chunk == b->max_keys)
		b->in_chunk = 0;
	if (key.len != b->lane_bytes || key.len > HBLOOM_LANE_BYTES)
		change_lanes(b, key);
	if (key.len > HBLOOM_LANE_BYTES)
		return true;
	/*
	 * Hash full lanes when the next key comes, because a read of bytes soon after their write
	 * stalls.
	 */
	if (b->nlanes == HBLOOM_LANES)
		hash_lanes(b);
	copy_short(b->lanes.key[b->nlanes++], key.ptr, key.len);
	b->npending++;
	return true;
}

size_t hfile_bloom_due(const struct hbloom *b, size_t before, bool closing)
{
	size_t keys = b->npending - before * b->max_keys;

	return (keys + (closing ? b->max_keys - 1 : 0)) / b->max_keys;
}

int hfile_bloom_write_chunk(struct hbloom *b, struct hblock_out *out, struct buf *scratch,
			    struct hblock_place *place, struct error *err)
{
	size_t keys = b->npending < b->max_keys ? b->npending : b->max_keys;
	uint64_t bytes = b->chunk_bytes, max_keys = b->max_keys;

	while (bytes % 2 == 0 && max_keys > 2 * keys) {
		bytes /= 2;
		max_keys /= 2;
	}
	int rc = hfile_block_begin(scratch, bytes, err);
	if (rc)
		return rc;
	memset(scratch->ptr + scratch->len, 0, bytes);
	hash_lanes(b);
	b->kernel->set(scratch->ptr + scratch->len, 8 * bytes, b->hashes, b->pending, keys);
	scratch->len += bytes;
	rc = hfile_block_write(out, HBLOCK_BLOOM, scratch, place, err);
	b->npending -= keys;
	memmove(b->pending, b->pending + keys, b->npending * sizeof *b->pending);
	struct hindex_entry *e = &b->chunks.entry[b->written++];
	e->offset = place->offset;
	e->disk_bytes = place->disk_bytes;
	b->bytes += bytes;
	b->max_total += max_keys;
	return rc;
}

/*
 * i32 version | i64 bytes | i32 hashes | i32 hash type | i64 keys | i64 max keys | i32 chunks
 * | vint, comparator | chunks x (i64 offset | i32 diskBytes | vint, first key)
 */
int hfile_bloom_write_meta(struct hbloom *b, enum hblock_type type, struct hblock_out *out,
			   struct buf *scratch, struct hblock_place *place, struct error *err)
{
	const char *order = b->type == BLOOM_ROWCOL ? ROWCOL_ORDER : "";
	size_t bytes = META_FIXED + 1 + strlen(order) + b->chunks.root_bytes;
	int rc = hfile_block_begin(scratch, bytes, err);

	if (rc)
		return rc;
	buf_fill_be32(scratch, META_VERSION);
	buf_fill_be64(scratch, b->bytes);
	buf_fill_be32(scratch, b->hashes);
	buf_fill_be32(scratch, HASH_MURMUR);
	buf_fill_be64(scratch, b->keys);
	buf_fill_be64(scratch, b->max_total);
	buf_fill_be32(scratch, (uint32_t)b->chunks.count);
	buf_fill_byte(scratch, (uint8_t)strlen(order));
	buf_fill(scratch, order, strlen(order));
	for (size_t i = 0; i < b->chunks.count; i++) {
		struct bytes key = hfile_index_list_key(&b->chunks, i);

		buf_fill_be64(scratch, b->chunks.entry[i].offset);
		buf_fill_be32(scratch, b->chunks.entry[i].disk_bytes);
		scratch->len += hfile_kv_vint_put(scratch->ptr + scratch->len, (int64_t)key.len);
		buf_fill(scratch, key.ptr, key.len);
	}
	return hfile_block_write(out, type, scratch, place, err);
}

void hfile_bloom_release(struct hbloom *b)
{
	buf_release(&b->made);
	hfile_index_list_release(&b->chunks);
}

/* Read a vint length and that many bytes, and advance `*p`. */
static bool take_string(const uint8_t **p, const uint8_t *end, struct bytes *out)
{
	int64_t len;
	size_t n = hfile_kv_vint_get(*p, end, &len);

	if (n == 0 || len < 0 || len > end - *p - (int64_t)n)
		return false;
	*out = bytes_of(*p + n, (size_t)len);
	*p += n + (size_t)len;
	return true;
}

static int parse_chunks(struct hbloom_meta *m, uint32_t count, const uint8_t *p, const uint8_t *end,
			struct error *err)
{
	struct bytes text;
	bool fits = take_string(&p, end, &text); /* skip the comparator, which the type implies */

	for (uint32_t i = 0; fits && i < count; i++) {
		const uint8_t *place = p;

		fits = end - p >= 12;
		p += fits ? 12 : 0;
		if (!fits || !take_string(&p, end, &text))
			break;
		if (!hfile_index_list_add(&m->chunks, text, get_be64(place), get_be32(place + 8)))
			return error_memory(err, text.len, "a bloom filter");
	}
	if (!fits || p != end || m->chunks.count != count)
		return error_set(err, RC_DATA,
				 "found a damaged list after %zu bloom chunks, expected %u chunks",
				 m->chunks.count, count);
	return 0;
}

int hfile_bloom_meta_parse(struct hbloom_meta *m, struct bytes payload, struct error *err)
{
	const uint8_t *p = payload.ptr;

	if (payload.len < META_FIXED)
		return error_set(err, RC_DATA,
				 "found %zu bytes of bloom meta, expected at least %d", payload.len,
				 META_FIXED);
	uint32_t version = get_be32(p);
	if (version != META_VERSION)
		return error_set(err, RC_DATA, "found bloom version %u, expected 3", version);
	m->hash = get_be32(p + 16);
	m->bytes = get_be64(p + 4);
	m->hashes = get_be32(p + 12);
	m->keys = get_be64(p + 20);
	m->max_keys = get_be64(p + 28);
	if (m->hashes == 0 || m->hashes > HASHES_MAX)
		return error_set(err, RC_DATA,
				 "found a bloom filter of %u hashes, expected 1 to %d", m->hashes,
				 HASHES_MAX);
	return parse_chunks(m, get_be32(p + 36), p + META_FIXED, p + payload.len, err);
}

bool hfile_bloom_hash_known(uint32_t hash)
{
	return hash <= HASH_MURMUR3;
}

static uint32_t hash_by(uint32_t hash, struct bytes key, uint32_t seed)
{
	switch (hash) {
	case HASH_JENKINS: return hfile_bloom_jenkins(key, seed);
	case HASH_MURMUR3: return murmur3_32(key, seed);
	default: return hfile_bloom_murmur2(key, seed);
	}
}

bool hfile_bloom_chunk_has(const struct hbloom_meta *m, struct bytes chunk, struct bytes key)
{
	uint32_t h1 = hash_by(m->hash, key, 0), h2 = hash_by(m->hash, key, h1);

	for (uint32_t i = 0; i < m->hashes; i++) {
		uint64_t bit = hfile_bloom_bit(h1, h2, i, 8 * (uint64_t)chunk.len);

		if (!(chunk.ptr[bit >> 3] & 1u << (bit & 7)))
			return false;
	}
	return true;
}
