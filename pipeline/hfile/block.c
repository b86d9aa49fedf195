/* block.c - write and read HFile blocks; layout in block.h */
#include "block.h"

#include <zlib.h>

#include "block_encode.h"
#include "hash.h"

#define CHUNK_BYTES 16384

enum { CHECKSUM_NULL, CHECKSUM_CRC32, CHECKSUM_CRC32C };

static const char magics[HBLOCK_TYPES][9] = {
	[HBLOCK_DATA] = "DATABLK*",	  [HBLOCK_ENCODED] = "DATABLKE",
	[HBLOCK_LEAF] = "IDXLEAF2",	  [HBLOCK_BLOOM] = "BLMFBLK2",
	[HBLOCK_META] = "METABLKc",	  [HBLOCK_INTERMEDIATE] = "IDXINTE2",
	[HBLOCK_ROOT] = "IDXROOT2",	  [HBLOCK_INFO] = "FILEINF2",
	[HBLOCK_BLOOM_META] = "BLMFMET2", [HBLOCK_DELETE_BLOOM_META] = "DFBLMET2",
};

const char *hfile_block_magic(enum hblock_type t)
{
	return magics[t];
}

uint32_t hfile_block_crc32c(const uint8_t *p, size_t n)
{
	return ~crc32c_add(CRC32C_START, p, n);
}

static size_t chunks_of(size_t data_bytes, size_t chunk_bytes)
{
	return chunk_bytes ? (data_bytes + chunk_bytes - 1) / chunk_bytes : 0;
}

void hfile_block_out_init(struct hblock_out *o, const struct hfile_sink *sink, struct hcodec *codec,
			  struct buf *disk)
{
	*o = (struct hblock_out){.sink = *sink, .codec = codec, .disk = disk};
	for (int t = 0; t < HBLOCK_TYPES; t++)
		o->previous[t] = -1;
}

int hfile_block_out_append(struct hblock_out *o, const void *ptr, size_t len, struct error *err)
{
	int rc = o->sink.append(o->sink.self, ptr, len, err);

	o->offset += len;
	return rc;
}

int hfile_block_begin(struct buf *b, size_t payload_bytes, struct error *err)
{
	b->len = 0;
	if (!buf_try_reserve(b, HBLOCK_HEADER + payload_bytes))
		return error_memory(err, HBLOCK_HEADER + payload_bytes, "a block");
	b->len = HBLOCK_HEADER;
	return 0;
}

static void put_header(uint8_t *h, enum hblock_type type, int64_t previous, size_t plain_bytes,
		       size_t data_bytes)
{
	size_t sums = 4 * chunks_of(data_bytes, CHUNK_BYTES);

	memcpy(h, magics[type], 8);
	put_be32(h + 8, (uint32_t)(data_bytes - HBLOCK_HEADER + sums));
	put_be32(h + 12, (uint32_t)plain_bytes);
	put_be64(h + 16, (uint64_t)previous);
	h[24] = CHECKSUM_CRC32C;
	put_be32(h + 25, CHUNK_BYTES);
	put_be32(h + 29, (uint32_t)data_bytes);
}

int hfile_block_pack(struct hcodec *codec, enum hblock_type type, const struct buf *b,
		     struct buf *disk, struct error *err)
{
	struct bytes payload = {b->ptr + HBLOCK_HEADER, b->len - HBLOCK_HEADER};

	if (payload.len > HBLOCK_PLAIN_MAX)
		return error_set(err, RC_LIMIT, "found a block of %zu bytes, expected at most %u",
				 payload.len, HBLOCK_PLAIN_MAX);
	if (disk == b)
		return 0;
	int rc = hfile_block_begin(disk, 0, err);
	if (rc)
		return rc;
	if (type == HBLOCK_DATA)
		return hfile_codec_compress_cells(codec, payload, disk, err);
	return hfile_codec_compress(codec, payload, disk, err);
}

int hfile_block_write(struct hblock_out *o, enum hblock_type type, struct buf *b,
		      struct hblock_place *place, struct error *err)
{
	struct buf *disk = o->codec->codec == CODEC_NONE ? b : o->disk;
	size_t plain_bytes = b->len - HBLOCK_HEADER;
	int rc = hfile_block_pack(o->codec, type, b, disk, err);

	return rc ? rc : hfile_block_put(o, type, disk, plain_bytes, place, err);
}

int hfile_block_put(struct hblock_out *o, enum hblock_type type, struct buf *disk,
		    size_t plain_bytes, struct hblock_place *place, struct error *err)
{
	*place = (struct hblock_place){.offset = o->offset, .plain_bytes = (uint32_t)plain_bytes};
	size_t data_bytes = disk->len, sums = 4 * chunks_of(data_bytes, CHUNK_BYTES);
	if (!buf_try_reserve(disk, sums))
		return error_memory(err, sums, "checksums");
	put_header(disk->ptr, type, o->previous[type], plain_bytes, data_bytes);
	for (size_t at = 0; at < data_bytes; at += CHUNK_BYTES) {
		size_t n = data_bytes - at < CHUNK_BYTES ? data_bytes - at : CHUNK_BYTES;

		buf_fill_be32(disk, hfile_block_crc32c(disk->ptr + at, n));
	}
	place->disk_bytes = (uint32_t)disk->len;
	o->previous[type] = (int64_t)place->offset;
	return hfile_block_out_append(o, disk->ptr, disk->len, err);
}

static int find_type(const uint8_t *magic)
{
	for (int t = 0; t < HBLOCK_TYPES; t++)
		if (memcmp(magic, magics[t], 8) == 0)
			return t;
	return -1;
}

/* The numbers of a block's header, in the order of the file. */
struct header {
	uint32_t rest_bytes, plain_bytes, chunk_bytes, data_bytes;
	uint8_t checksum;
};

static int check_header(const struct hblock_in *in, uint64_t room, const struct header *h,
			struct error *err)
{
	if (h->rest_bytes > room - HBLOCK_HEADER)
		return error_set(err, RC_DATA,
				 "found a size of %u bytes, expected at most the remaining %llu",
				 h->rest_bytes, (unsigned long long)room - HBLOCK_HEADER);
	if (h->checksum > CHECKSUM_CRC32C)
		return error_set(err, RC_DATA, "found checksum type %u, expected 0 to %d",
				 h->checksum, CHECKSUM_CRC32C);
	if (h->checksum != CHECKSUM_NULL && (h->chunk_bytes == 0 || h->chunk_bytes > INT32_MAX))
		return error_set(err, RC_DATA, "found %u bytes for each checksum, expected 1 to %d",
				 h->chunk_bytes, INT32_MAX);
	uint64_t sums = 4 * (uint64_t)chunks_of(h->data_bytes, h->chunk_bytes);
	if (h->data_bytes < HBLOCK_HEADER || h->data_bytes - HBLOCK_HEADER + sums != h->rest_bytes)
		return error_set(
			err, RC_DATA,
			"found a size of %u bytes without header, expected %lld because %u bytes "
			"have checksums",
			h->rest_bytes, (long long)h->data_bytes - HBLOCK_HEADER + (long long)sums,
			h->data_bytes);
	uint32_t stored = h->data_bytes - HBLOCK_HEADER;
	if (in->codec == CODEC_NONE && !in->encrypted && h->plain_bytes != stored)
		return error_set(err, RC_DATA,
				 "found %u stored bytes without compression, expected %u as in "
				 "the header",
				 stored, h->plain_bytes);
	if (!hfile_block_growth_fits(h->plain_bytes, stored))
		return error_set(
			err, RC_DATA,
			"found %u uncompressed bytes in the header, expected at most what %u "
			"stored bytes can contain",
			h->plain_bytes, stored);
	return 0;
}

static int check_sums(const uint8_t *block, const struct header *h, struct error *err)
{
	const uint8_t *sum = block + h->data_bytes;
	size_t chunks = chunks_of(h->data_bytes, h->chunk_bytes);

	for (size_t i = 0; i < chunks; i++, sum += 4) {
		const uint8_t *p = block + i * h->chunk_bytes;
		size_t left = h->data_bytes - i * h->chunk_bytes;
		size_t n = left < h->chunk_bytes ? left : h->chunk_bytes;
		uint32_t found = 0;

		if (h->checksum == CHECKSUM_CRC32C)
			found = hfile_block_crc32c(p, n);
		else if (h->checksum == CHECKSUM_CRC32)
			found = (uint32_t)crc32_z(0, p, n);
		if (found != get_be32(sum))
			return error_set(err, RC_DATA,
					 "checksum of chunk %zu (bytes %zu to %zu of the block): "
					 "found %08x, expected %08x as stored",
					 i, i * h->chunk_bytes, i * h->chunk_bytes + n, found,
					 get_be32(sum));
	}
	return 0;
}

/* Read the bytes `from` to `to` of the block. The caller has read all bytes before `from`. */
static int read_more(const struct hblock_in *in, struct hblock *b, size_t to, struct error *err)
{
	size_t from = b->disk.len;

	if (to <= from)
		return 0;
	if (!buf_try_reserve(&b->disk, to - from + HBLOCK_SLACK))
		return error_memory(err, to - from, "a block");
	int rc = in->source->read(in->source->self, b->place.offset + from, b->disk.ptr + from,
				  to - from, err);
	b->disk.len = rc ? from : to;
	memset(b->disk.ptr + b->disk.len, 0, HBLOCK_SLACK);
	return rc;
}

static int parse_header(struct hblock *b, struct header *h, struct error *err)
{
	const uint8_t *p = b->disk.ptr;
	int type = find_type(p);

	if (type < 0)
		return error_set(err, RC_DATA,
				 "found %02x%02x%02x%02x..., expected the start of a known block",
				 p[0], p[1], p[2], p[3]);
	*h = (struct header){get_be32(p + 8), get_be32(p + 12), get_be32(p + 25), get_be32(p + 29),
			     p[24]};
	b->type = (enum hblock_type)type;
	b->previous = (int64_t)get_be64(p + 16);
	return 0;
}

/* Decrypt the stored payload in place. */
static int decrypt(const struct hblock_in *in, struct hblock *b, struct error *err)
{
	int rc = hfile_extras_decrypt(in->key, b->disk.ptr + HBLOCK_HEADER, b->payload.len,
				      &b->payload, err);

	if (rc == RC_OK && in->codec == CODEC_NONE && b->payload.len != b->place.plain_bytes)
		return error_set(err, RC_DATA,
				 "found %zu decrypted bytes, expected %u as in the header",
				 b->payload.len, b->place.plain_bytes);
	return rc;
}

static int read_parts(struct hblock_in *in, uint64_t offset, uint32_t disk_bytes, struct hblock *b,
		      struct header *h, struct error *err)
{
	uint64_t room = offset < in->limit ? in->limit - offset : 0;

	b->disk.len = 0;
	b->place = (struct hblock_place){.offset = offset};
	if (room < HBLOCK_HEADER)
		return error_set(
			err, RC_DATA,
			"found %llu bytes before the trailer, expected at least %d for a block",
			(unsigned long long)room, HBLOCK_HEADER);
	/* use one read if the size is known, because each read of a remote source is slow */
	bool known = disk_bytes > HBLOCK_HEADER && disk_bytes <= room;
	int rc = read_more(in, b, known ? disk_bytes : HBLOCK_HEADER, err);
	if (rc == RC_OK)
		rc = parse_header(b, h, err);
	if (rc == RC_OK)
		rc = check_header(in, room, h, err);
	if (rc)
		return rc;
	b->place = (struct hblock_place){offset, HBLOCK_HEADER + h->rest_bytes, h->plain_bytes};
	if (disk_bytes && disk_bytes != b->place.disk_bytes)
		return error_set(err, RC_DATA, "found %u bytes, expected %u as in the index",
				 b->place.disk_bytes, disk_bytes);
	rc = read_more(in, b, b->place.disk_bytes, err);
	b->payload = bytes_of(b->disk.ptr + HBLOCK_HEADER, h->data_bytes - HBLOCK_HEADER);
	b->checked = h->checksum != CHECKSUM_NULL;
	if (rc == RC_OK)
		rc = check_sums(b->disk.ptr, h, err);
	return rc == RC_OK && in->encrypted ? decrypt(in, b, err) : rc;
}

int hfile_block_unpack(struct hblock_in *in, struct hblock *b, struct error *err)
{
	const uint32_t plain_bytes = b->place.plain_bytes;

	if (in->codec == CODEC_NONE)
		return 0;
	b->plain.len = 0;
	/* blocks of nearly equal sizes do not move the buffer */
	if (!buf_try_reserve(&b->plain, (plain_bytes | (size_t)4095) + 1 + HBLOCK_SLACK))
		return error_memory(err, plain_bytes, "a block");
	int rc = hfile_codec_decompress(&in->state, in->codec, b->payload, b->plain.ptr,
					plain_bytes, err);
	b->payload = bytes_of(b->plain.ptr, plain_bytes);
	memset(b->plain.ptr + plain_bytes, 0, HBLOCK_SLACK);
	return rc;
}

int hfile_block_read_packed(struct hblock_in *in, uint64_t offset, struct hblock *b,
			    struct error *err)
{
	struct header h = {0};

	return read_parts(in, offset, 0, b, &h, err);
}

int hfile_block_read(struct hblock_in *in, uint64_t offset, uint32_t disk_bytes, struct hblock *b,
		     struct error *err)
{
	struct header h = {0};
	int rc = read_parts(in, offset, disk_bytes, b, &h, err);

	if (rc == RC_OK)
		rc = hfile_block_unpack(in, b, err);
	if (rc)
		return error_prefix(err, "%s: block at %llu: ", in->source->name,
				    (unsigned long long)offset);
	in->reads[b->type]++;
	return 0;
}

void hfile_block_release(struct hblock *b)
{
	buf_release(&b->disk);
	buf_release(&b->plain);
}
