/*
 * hfile_open.c - open an HFile, and read and check the trailer and the load-on-open blocks
 *
 * All numbers in the file are untrusted. The reader compares offsets and sizes with the file's
 * size, and counts with the bytes that contain the items.
 */
#include "reader.h"

#include "mem.h"
#include "trailer.h"

int hfile_reader_unlock(struct hfile *f, struct error *err)
{
	const struct hfile_trailer *t = &f->trailer;

	if (t->key_bytes == 0)
		return RC_OK;
	int rc = hfile_extras_unwrap(f->in.state.extras, bytes_of(t->key, t->key_bytes), f->in.key,
				     err);
	f->in.encrypted = rc == RC_OK;
	return rc ? error_prefix(err, "%s: ", f->source.name) : RC_OK;
}

static int read_trailer(struct hfile *f, struct error *err)
{
	uint8_t tail[HTRAILER_BYTES];
	const struct hfile_source *s = &f->source;
	size_t n = s->bytes < sizeof tail ? (size_t)s->bytes : sizeof tail;
	int rc = s->read(s->self, s->bytes - n, tail, n, err);

	if (rc)
		return rc;
	rc = hfile_trailer_parse(&f->trailer, bytes_of(tail, n), err);
	if (rc)
		return error_prefix(err, "%s: ", f->source.name);
	f->trailer.file_bytes = s->bytes;
	f->in.limit = s->bytes - f->trailer.trailer_bytes;
	f->in.codec = f->trailer.codec;
	rc = hfile_reader_unlock(f, err);
	if (rc)
		return rc;
	if (f->trailer.load_on_open_offset >= f->in.limit)
		return error_set(
			err, RC_DATA,
			"%s: trailer: found load-on-open offset %llu, expected less than %llu",
			f->source.name, (unsigned long long)f->trailer.load_on_open_offset,
			(unsigned long long)f->in.limit);
	return 0;
}

static int read_root(struct hfile *f, struct error *err)
{
	const struct hblock *b = &f->walk;
	const struct hfile_trailer *t = &f->trailer;
	struct bytes rest;

	f->root_place = b->place;
	int rc = hfile_index_root_parse(&f->root, b->payload, t->data_index_count, &rest, err);
	if (rc)
		return rc;
	bool fits = t->index_levels == 1 ? rest.len == 0
					 : rest.len == 0 || rest.len == sizeof f->root_tail;
	if (!fits)
		return error_set(
			err, RC_DATA,
			"found %zu bytes after the %u root index entries, expected none or the "
			"mid-key",
			rest.len, t->data_index_count);
	if (rest.len)
		memcpy(f->root_tail, rest.ptr, rest.len);
	f->root_rest = bytes_of(f->root_tail, rest.len);
	return 0;
}

static bool info_be32(const struct hfile *f, const char *name, uint32_t *out)
{
	struct bytes v;

	if (!hfile_info_find(&f->info, name, &v) || v.len != 4)
		return false;
	*out = get_be32(v.ptr);
	return true;
}

static int read_encoding(struct hfile *f, struct error *err)
{
	static const enum block_encoding all[] = {ENCODING_NONE, ENCODING_PREFIX, ENCODING_DIFF,
						  ENCODING_FAST_DIFF, ENCODING_ROW_INDEX_V1};
	struct bytes v;

	if (!hfile_info_find(&f->info, "DATA_BLOCK_ENCODING", &v))
		return 0;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (bytes_eq(v, bytes_str(encoding_name(all[i])))) {
			f->format.encoding = all[i];
			return 0;
		}
	}
	if (bytes_eq(v, bytes_str("PREFIX_TREE")))
		return error_set(
			err, RC_DATA,
			"found encoding PREFIX_TREE, expected an encoding that HBase 2 can read; "
			"set DATA_BLOCK_ENCODING of the family to FAST_DIFF in HBase 1 and run "
			"`major_compact`");
	char shown[60];
	hfile_kv_show(shown, sizeof shown, v);
	return error_set(
		err, RC_DATA,
		"DATA_BLOCK_ENCODING: found \"%s\", expected NONE, PREFIX, DIFF, FAST_DIFF or "
		"ROW_INDEX_V1",
		shown);
}

static int read_bloom_type(struct hfile *f, struct error *err)
{
	static const enum bloom_type all[] = {BLOOM_ROW, BLOOM_ROWCOL, BLOOM_ROWPREFIX};
	struct bytes v;

	if (!hfile_info_find(&f->info, "BLOOM_FILTER_TYPE", &v))
		return 0;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (bytes_eq(v, bytes_str(bloom_name(all[i]))))
			f->bloom_type = all[i];
	if (f->bloom_type == BLOOM_ROWPREFIX &&
	    (!info_be32(f, "BLOOM_FILTER_PARAM", &f->bloom_prefix) || f->bloom_prefix < 1))
		return error_set(
			err, RC_DATA,
			"BLOOM_FILTER_PARAM: found no prefix length, expected 4 bytes with a "
			"length of at least 1");
	return 0;
}

static int read_info(struct hfile *f, struct error *err)
{
	uint32_t average, version;
	struct bytes v;

	f->info_place = f->walk.place;
	int rc = hfile_info_parse(&f->info, f->walk.payload, err);
	if (rc)
		return rc;
	if (!info_be32(f, "hfile.AVG_KEY_LEN", &average) ||
	    !info_be32(f, "hfile.AVG_VALUE_LEN", &average))
		return error_set(err, RC_DATA,
				 "file info: found no hfile.AVG_KEY_LEN or no hfile.AVG_VALUE_LEN, "
				 "expected both with 4 bytes");
	f->format.tail.tags = hfile_info_find(&f->info, "hfile.MAX_TAGS_LEN", &v);
	f->format.tail.mvcc = info_be32(f, "KEY_VALUE_VERSION", &version) && version == 1;
	f->format.packed_tags = f->format.tail.tags &&
				hfile_info_find(&f->info, "hfile.TAGS_COMPRESSED", &v) &&
				v.len == 1 && *v.ptr;
	rc = read_encoding(f, err);
	return rc ? rc : read_bloom_type(f, err);
}

/* Read the optional blocks after the first three. */
static int read_more(struct hfile *f, struct error *err)
{
	bool deletes = f->walk.type == HBLOCK_DELETE_BLOOM_META;
	struct bloom_reader *b = deletes ? &f->delete_bloom : &f->bloom;

	if (!deletes && f->walk.type != HBLOCK_BLOOM_META)
		return 0;
	if (b->present)
		return error_set(err, RC_DATA, "found a second %s block, expected one",
				 hfile_block_magic(f->walk.type));
	b->present = true;
	b->type = deletes ? BLOOM_ROW : f->bloom_type;
	b->prefix = f->bloom_prefix;
	return hfile_bloom_meta_parse(&b->meta, f->walk.payload, err);
}

static int read_load_on_open(struct hfile *f, struct error *err)
{
	static const enum hblock_type expected[] = {HBLOCK_ROOT, HBLOCK_ROOT, HBLOCK_INFO};
	uint64_t at = f->trailer.load_on_open_offset;
	size_t i = 0;

	for (; i < 3 || at < f->in.limit; i++) {
		int rc = hfile_block_read(&f->in, at, 0, &f->walk, err);

		if (rc)
			return rc;
		if (i < 3 && f->walk.type != expected[i])
			rc = error_set(err, RC_DATA, "found a block of type %s, expected %s",
				       hfile_block_magic(f->walk.type),
				       hfile_block_magic(expected[i]));
		else if (i == 0)
			rc = read_root(f, err);
		else if (i == 1)
			rc = hfile_index_meta_parse(&f->meta, f->walk.payload,
						    f->trailer.meta_index_count, err);
		else
			rc = i == 2 ? read_info(f, err) : read_more(f, err);
		if (rc)
			return error_prefix(err, "%s: block at %llu: ", f->source.name,
					    (unsigned long long)at);
		at += f->walk.place.disk_bytes;
	}
	if (f->bloom.present && f->bloom_type == BLOOM_NONE)
		return error_set(
			err, RC_DATA,
			"%s: found a bloom filter without BLOOM_FILTER_TYPE, expected ROW, "
			"ROWCOL or ROWPREFIX_FIXED_LENGTH in the file info",
			f->source.name);
	return 0;
}

int hfile_open_source(struct hfile **out, const struct hfile_source *source, struct error *err)
{
	return hfile_open_with(out, source, hfile_extras_used(), err);
}

int hfile_open_with(struct hfile **out, const struct hfile_source *source,
		    const struct hfile_extras *extras, struct error *err)
{
	struct hfile *f = mem_try_calloc(1, sizeof *f);

	*out = NULL;
	if (!f) {
		if (source->close)
			source->close(source->self);
		return error_memory(err, sizeof *f, "an open HFile");
	}
	f->source = *source;
	f->in.source = &f->source;
	f->in.state.extras = extras;
	f->chunk_offset = UINT64_MAX;
	int rc = read_trailer(f, err);
	if (rc == RC_OK)
		rc = read_load_on_open(f, err);
	if (rc) {
		hfile_close(f);
		return rc;
	}
	hfile_rewind(f);
	*out = f;
	return 0;
}

void hfile_close(struct hfile *f)
{
	if (!f)
		return;
	if (f->source.close)
		f->source.close(f->source.self);
	hfile_codec_release(&f->in.state);
	explicit_bzero(f->in.key, sizeof f->in.key);
	hfile_index_list_release(&f->root);
	hfile_index_list_release(&f->meta);
	hfile_index_list_release(&f->bloom.meta.chunks);
	hfile_index_list_release(&f->delete_bloom.meta.chunks);
	hfile_info_release(&f->info);
	hfile_block_release(&f->walk);
	hfile_block_release(&f->node);
	hfile_block_release(&f->chunk);
	hfile_block_release(&f->data);
	hfile_block_cells_release(&f->ready);
	buf_release(&f->probe);
	buf_release(&f->decoded);
	buf_release(&f->last);
	mem_free(f);
}

const struct hfile_trailer *hfile_trailer(const struct hfile *f)
{
	return &f->trailer;
}

struct hfile_reads hfile_reads(const struct hfile *f)
{
	const uint64_t *n = f->in.reads;

	return (struct hfile_reads){
		.data = n[HBLOCK_DATA] + n[HBLOCK_ENCODED],
		.index = n[HBLOCK_LEAF] + n[HBLOCK_INTERMEDIATE],
		.bloom = n[HBLOCK_BLOOM],
		.opening = n[HBLOCK_ROOT] + n[HBLOCK_INFO] + n[HBLOCK_BLOOM_META] +
			   n[HBLOCK_DELETE_BLOOM_META],
		.of_data = f->trailer.data_index_count,
	};
}

int hfile_info(const struct hfile *f, size_t i, struct bytes *key, struct bytes *value)
{
	if (i >= f->info.count)
		return RC_END;
	*key = f->info.entry[i].key;
	*value = f->info.entry[i].value;
	return 0;
}

bool hfile_info_get(const struct hfile *f, const char *key, struct bytes *value)
{
	return hfile_info_find(&f->info, key, value);
}

int hfile_root_entry(const struct hfile *f, size_t i, struct hfile_index_entry *out)
{
	if (i >= f->root.count)
		return RC_END;
	*out = (struct hfile_index_entry){.offset = f->root.entry[i].offset,
					  .disk_bytes = f->root.entry[i].disk_bytes,
					  .key = hfile_index_list_key(&f->root, i)};
	return 0;
}

void hfile_bloom(const struct hfile *f, struct hfile_bloom *out)
{
	const struct hbloom_meta *m = &f->bloom.meta;

	*out = (struct hfile_bloom){.present = f->bloom.present};
	if (!f->bloom.present)
		return;
	out->type = f->bloom_type;
	out->hash_count = m->hashes;
	out->chunks = (uint32_t)m->chunks.count;
	out->keys = m->keys;
	out->max_keys = m->max_keys;
	out->bytes = m->bytes;
}
