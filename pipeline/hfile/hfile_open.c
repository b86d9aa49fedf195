/*
 * hfile_open.c - open an HFile: trailer, then the blocks it loads on open, each checked
 *
 * Nothing in the file is trusted: offsets and sizes are held against the file's size, counts
 * against the bytes that carry them.
 */
#include "reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"
#include "trailer.h"

static int open_file(struct hfile *f, struct error *err)
{
	struct stat st;
	f->in.fd = open(f->path, O_RDONLY | O_CLOEXEC);
	if (f->in.fd < 0 || fstat(f->in.fd, &st) < 0)
		return error_errno(err, "cannot open %s", f->path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, RC_DATA, "%s: not a regular file", f->path);
	f->file_bytes = (uint64_t)st.st_size;
	return 0;
}

static int read_trailer(struct hfile *f, struct error *err)
{
	uint8_t tail[HTRAILER_BYTES];
	size_t n = f->file_bytes < sizeof tail ? (size_t)f->file_bytes : sizeof tail;
	int rc = io_pread(f->in.fd, tail, n, f->file_bytes - n, f->path, err);
	if (rc)
		return rc;
	rc = htrailer_parse(&f->trailer, bytes_of(tail, n), err);
	if (rc)
		return error_prefix(err, "%s: ", f->path);
	f->trailer.file_bytes = f->file_bytes;
	f->in.limit = f->file_bytes - HTRAILER_BYTES;
	f->in.codec = (enum codec)f->trailer.codec;
	if (f->trailer.load_on_open_offset >= f->in.limit)
		return error_set(err, RC_DATA,
				 "%s: trailer: load-on-open offset %llu of %llu bytes", f->path,
				 (unsigned long long)f->trailer.load_on_open_offset,
				 (unsigned long long)f->file_bytes);
	return 0;
}

static int read_root(struct hfile *f, struct error *err)
{
	const struct hblock *b = &f->walk;
	const struct hfile_trailer *t = &f->trailer;
	struct bytes rest;
	f->root_place = b->place;
	int rc = hindex_root_parse(&f->root, b->payload, t->data_index_count, &rest, err);
	if (rc)
		return rc;
	bool fits = t->index_levels == 1 ? rest.len == 0
					 : rest.len == 0 || rest.len == sizeof f->root_tail;
	if (!fits)
		return error_set(err, RC_DATA, "%zu bytes behind the %u root index entries",
				 rest.len, t->data_index_count);
	if (rest.len)
		memcpy(f->root_tail, rest.ptr, rest.len);
	f->root_rest = bytes_of(f->root_tail, rest.len);
	return 0;
}

static bool info_be32(const struct hfile *f, const char *name, uint32_t *out)
{
	struct bytes v;
	if (!hinfo_get(&f->info, name, &v) || v.len != 4)
		return false;
	*out = get_be32(v.ptr);
	return true;
}

static int read_encoding(struct hfile *f, struct error *err)
{
	static const enum block_encoding all[] = {ENCODING_NONE, ENCODING_PREFIX, ENCODING_DIFF,
						  ENCODING_FAST_DIFF, ENCODING_ROW_INDEX_V1};
	struct bytes v;
	if (!hinfo_get(&f->info, "DATA_BLOCK_ENCODING", &v))
		return 0;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (bytes_eq(v, bytes_str(encoding_name(all[i])))) {
			f->encoding = all[i];
			return 0;
		}
	}
	return error_set(err, RC_DATA, "DATA_BLOCK_ENCODING \"%.*s\" is unknown",
			 v.len > 40 ? 40 : (int)v.len, (const char *)v.ptr);
}

static int read_bloom_type(struct hfile *f, struct error *err)
{
	static const enum bloom_type all[] = {BLOOM_ROW, BLOOM_ROWCOL, BLOOM_ROWPREFIX};
	struct bytes v;
	if (!hinfo_get(&f->info, "BLOOM_FILTER_TYPE", &v))
		return 0;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (bytes_eq(v, bytes_str(bloom_name(all[i]))))
			f->bloom_type = all[i];
	if (f->bloom_type == BLOOM_ROWPREFIX &&
	    (!info_be32(f, "BLOOM_FILTER_PARAM", &f->bloom_prefix) || f->bloom_prefix < 1))
		return error_set(err, RC_DATA, "BLOOM_FILTER_PARAM is missing or not a length");
	return 0;
}

static int read_info(struct hfile *f, struct error *err)
{
	uint32_t average, version;
	struct bytes v;
	f->info_place = f->walk.place;
	int rc = hinfo_parse(&f->info, f->walk.payload, err);
	if (rc)
		return rc;
	if (!info_be32(f, "hfile.AVG_KEY_LEN", &average) ||
	    !info_be32(f, "hfile.AVG_VALUE_LEN", &average))
		return error_set(err, RC_DATA,
				 "hfile.AVG_KEY_LEN or hfile.AVG_VALUE_LEN is missing");
	f->tail.tags = hinfo_get(&f->info, "hfile.MAX_TAGS_LEN", &v);
	f->tail.mvcc = info_be32(f, "KEY_VALUE_VERSION", &version) && version == 1;
	if (f->tail.tags && hinfo_get(&f->info, "hfile.TAGS_COMPRESSED", &v) && v.len == 1 &&
	    *v.ptr)
		return error_set(err, RC_DATA, "compressed tags are not supported");
	rc = read_encoding(f, err);
	return rc ? rc : read_bloom_type(f, err);
}

/* The optional blocks behind the first three. */
static int read_more(struct hfile *f, struct error *err)
{
	if (f->walk.type == HBLOCK_DELETE_BLOOM_META)
		f->has_delete_bloom = true;
	if (f->walk.type != HBLOCK_BLOOM_META)
		return 0;
	if (f->has_bloom)
		return error_set(err, RC_DATA, "a second bloom meta block");
	f->has_bloom = true;
	return hbloom_meta_parse(&f->bloom, f->walk.payload, err);
}

static int read_load_on_open(struct hfile *f, struct error *err)
{
	static const enum hblock_type expected[] = {HBLOCK_ROOT, HBLOCK_ROOT, HBLOCK_INFO};
	uint64_t at = f->trailer.load_on_open_offset;
	size_t i = 0;
	for (; i < 3 || at < f->in.limit; i++) {
		int rc = hblock_read(&f->in, at, 0, &f->walk, err);
		if (rc)
			return rc;
		if (i < 3 && f->walk.type != expected[i])
			rc = error_set(err, RC_DATA, "%s where %s is expected",
				       hblock_magic(f->walk.type), hblock_magic(expected[i]));
		else if (i == 0)
			rc = read_root(f, err);
		else if (i == 1)
			f->meta_place = f->walk.place;
		else
			rc = i == 2 ? read_info(f, err) : read_more(f, err);
		if (rc)
			return error_prefix(err, "%s: block at %llu: ", f->path,
					    (unsigned long long)at);
		at += f->walk.place.disk_bytes;
	}
	if (f->has_bloom && f->bloom_type == BLOOM_NONE)
		return error_set(err, RC_DATA, "%s: a bloom filter but no BLOOM_FILTER_TYPE",
				 f->path);
	return 0;
}

int hfile_open(struct hfile **out, const char *path, struct error *err)
{
	struct hfile *f = mem_calloc(1, sizeof *f);
	*out = NULL;
	f->path = mem_strdup(path);
	f->in.path = f->path;
	f->chunk_offset = UINT64_MAX;
	int rc = open_file(f, err);
	if (rc == 0)
		rc = read_trailer(f, err);
	if (rc == 0)
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
	if (f->in.fd >= 0)
		close(f->in.fd);
	hcodec_release(&f->in.state);
	hindex_list_release(&f->root);
	hindex_list_release(&f->bloom.chunks);
	hinfo_release(&f->info);
	hblock_release(&f->walk);
	hblock_release(&f->node);
	hblock_release(&f->chunk);
	hblock_release(&f->data);
	buf_release(&f->probe);
	buf_release(&f->decoded);
	mem_free(f->path);
	mem_free(f);
}

const struct hfile_trailer *hfile_trailer(const struct hfile *f)
{
	return &f->trailer;
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
	return hinfo_get(&f->info, key, value);
}

int hfile_next_block(struct hfile *f, uint64_t *at, struct hfile_block *out, struct error *err)
{
	if (*at >= f->in.limit)
		return RC_END;
	uint64_t offset = *at;
	int rc = hblock_read(&f->in, offset, 0, &f->walk, err);
	/* A block whose header makes sense can be stepped over even if it is damaged. */
	*at += f->walk.place.disk_bytes;
	if (rc)
		return rc;
	*out = (struct hfile_block){.offset = offset,
				    .disk_bytes = f->walk.place.disk_bytes,
				    .plain_bytes = f->walk.place.plain_bytes,
				    .previous = f->walk.previous,
				    .payload = f->walk.payload};
	memcpy(out->type, hblock_magic(f->walk.type), sizeof out->type);
	return 0;
}

int hfile_root_entry(const struct hfile *f, size_t i, struct hfile_index_entry *out)
{
	if (i >= f->root.count)
		return RC_END;
	*out = (struct hfile_index_entry){.offset = f->root.entry[i].offset,
					  .disk_bytes = f->root.entry[i].disk_bytes,
					  .key = hindex_list_key(&f->root, i)};
	return 0;
}

void hfile_bloom(const struct hfile *f, struct hfile_bloom *out)
{
	*out = (struct hfile_bloom){.present = f->has_bloom};
	if (!f->has_bloom)
		return;
	out->type = f->bloom_type;
	out->hash_count = f->bloom.hashes;
	out->chunks = (uint32_t)f->bloom.chunks.count;
	out->keys = f->bloom.keys;
	out->max_keys = f->bloom.max_keys;
	out->bytes = f->bloom.bytes;
}
