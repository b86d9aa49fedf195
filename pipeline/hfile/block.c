/* block.c - write and read HFile blocks; layout in block.h */
#include "block.h"

#include <isa-l/crc.h>
#include <zlib.h>

#include "block_encode.h"

#define CHUNK_BYTES 16384

enum { CHECKSUM_NULL, CHECKSUM_CRC32, CHECKSUM_CRC32C };

static const char magics[HBLOCK_TYPES][9] = {
	[HBLOCK_DATA] = "DATABLK*",	  [HBLOCK_ENCODED] = "DATABLKE",
	[HBLOCK_LEAF] = "IDXLEAF2",	  [HBLOCK_BLOOM] = "BLMFBLK2",
	[HBLOCK_META] = "METABLKc",	  [HBLOCK_INTERMEDIATE] = "IDXINTE2",
	[HBLOCK_ROOT] = "IDXROOT2",	  [HBLOCK_INFO] = "FILEINF2",
	[HBLOCK_BLOOM_META] = "BLMFMET2", [HBLOCK_DELETE_BLOOM_META] = "DFBLMET2",
};

const char *hblock_magic(enum hblock_type t)
{
	return magics[t];
}

/* isa-l takes a pointer that is not const but only reads. */
static uint32_t crc_part(const uint8_t *p, size_t n, uint32_t crc)
{
	union {
		const uint8_t *in;
		uint8_t *out;
	} u = {.in = p};
	return crc32_iscsi(u.out, (int)n, crc);
}

uint32_t hblock_crc32c(const uint8_t *p, size_t n)
{
	return ~crc_part(p, n, 0xffffffff);
}

static size_t chunks_of(size_t data_bytes, size_t chunk_bytes)
{
	return chunk_bytes ? (data_bytes + chunk_bytes - 1) / chunk_bytes : 0;
}

void hblock_out_init(struct hblock_out *o, struct out_file *file, struct hcodec *codec,
		     struct buf *disk)
{
	*o = (struct hblock_out){.file = file, .codec = codec, .disk = disk};
	for (int t = 0; t < HBLOCK_TYPES; t++)
		o->previous[t] = -1;
}

void hblock_begin(struct buf *b)
{
	b->len = 0;
	buf_reserve(b, HBLOCK_HEADER);
	b->len = HBLOCK_HEADER;
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

int hblock_pack(struct hcodec *codec, enum hblock_type type, const struct buf *b, struct buf *disk,
		struct error *err)
{
	struct bytes payload = {b->ptr + HBLOCK_HEADER, b->len - HBLOCK_HEADER};
	if (payload.len > HBLOCK_PLAIN_MAX)
		return error_set(err, RC_LIMIT, "a block of %zu bytes; the limit is %u",
				 payload.len, HBLOCK_PLAIN_MAX);
	if (disk == b)
		return 0;
	hblock_begin(disk);
	if (type == HBLOCK_DATA)
		return hcodec_compress_cells(codec, payload, disk, err);
	return hcodec_compress(codec, payload, disk, err);
}

int hblock_write(struct hblock_out *o, enum hblock_type type, struct buf *b,
		 struct hblock_place *place, struct error *err)
{
	struct buf *disk = o->codec->codec == CODEC_NONE ? b : o->disk;
	size_t plain_bytes = b->len - HBLOCK_HEADER;
	int rc = hblock_pack(o->codec, type, b, disk, err);
	if (rc == 0)
		hblock_put(o, type, disk, plain_bytes, place);
	return rc;
}

void hblock_put(struct hblock_out *o, enum hblock_type type, struct buf *disk, size_t plain_bytes,
		struct hblock_place *place)
{
	*place = (struct hblock_place){.offset = o->file->offset,
				       .plain_bytes = (uint32_t)plain_bytes};
	size_t data_bytes = disk->len;
	put_header(disk->ptr, type, o->previous[type], plain_bytes, data_bytes);
	buf_reserve(disk, 4 * chunks_of(data_bytes, CHUNK_BYTES));
	for (size_t at = 0; at < data_bytes; at += CHUNK_BYTES) {
		size_t n = data_bytes - at < CHUNK_BYTES ? data_bytes - at : CHUNK_BYTES;
		buf_be32(disk, hblock_crc32c(disk->ptr + at, n));
	}
	out_write(o->file, disk->ptr, disk->len);
	place->disk_bytes = (uint32_t)disk->len;
	o->previous[type] = (int64_t)place->offset;
}

static int find_type(const uint8_t *magic)
{
	for (int t = 0; t < HBLOCK_TYPES; t++)
		if (memcmp(magic, magics[t], 8) == 0)
			return t;
	return -1;
}

/* The numbers of a header, as the file has them. */
struct header {
	uint32_t rest_bytes, plain_bytes, chunk_bytes, data_bytes;
	uint8_t checksum;
};

static int check_header(const struct hblock_in *in, uint64_t room, const struct header *h,
			struct error *err)
{
	if (h->rest_bytes > room - HBLOCK_HEADER)
		return error_set(err, RC_DATA, "it claims %u bytes of the %llu there are",
				 h->rest_bytes, (unsigned long long)room - HBLOCK_HEADER);
	if (h->checksum > CHECKSUM_CRC32C)
		return error_set(err, RC_DATA, "checksum type %u is unknown", h->checksum);
	if (h->checksum != CHECKSUM_NULL && (h->chunk_bytes == 0 || h->chunk_bytes > INT32_MAX))
		return error_set(err, RC_DATA, "%u bytes per checksum", h->chunk_bytes);
	uint64_t sums = 4 * (uint64_t)chunks_of(h->data_bytes, h->chunk_bytes);
	if (h->data_bytes < HBLOCK_HEADER || h->data_bytes - HBLOCK_HEADER + sums != h->rest_bytes)
		return error_set(err, RC_DATA, "its sizes disagree: %u, %u with header",
				 h->rest_bytes, h->data_bytes);
	uint32_t stored = h->data_bytes - HBLOCK_HEADER;
	if (in->codec == CODEC_NONE && h->plain_bytes != stored)
		return error_set(err, RC_DATA, "%u bytes stored for %u without compression", stored,
				 h->plain_bytes);
	if (!hblock_growth_fits(h->plain_bytes, stored))
		return error_set(err, RC_DATA, "%u stored bytes claim to be %u", stored,
				 h->plain_bytes);
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
			found = hblock_crc32c(p, n);
		else if (h->checksum == CHECKSUM_CRC32)
			found = (uint32_t)crc32_z(0, p, n);
		if (found != get_be32(sum))
			return error_set(err, RC_DATA,
					 "checksum of chunk %zu (bytes %zu to %zu of the block) "
					 "is %08x, stored is %08x",
					 i, i * h->chunk_bytes, i * h->chunk_bytes + n, found,
					 get_be32(sum));
	}
	return 0;
}

static int read_parts(struct hblock_in *in, uint64_t offset, uint32_t disk_bytes, struct hblock *b,
		      struct header *h, struct error *err)
{
	uint64_t room = offset < in->limit ? in->limit - offset : 0;
	b->disk.len = 0;
	b->place = (struct hblock_place){.offset = offset};
	if (room < HBLOCK_HEADER)
		return error_set(err, RC_DATA, "it begins beyond the last block");
	uint8_t *p = buf_reserve(&b->disk, HBLOCK_HEADER);
	int rc = io_pread(in->fd, p, HBLOCK_HEADER, offset, in->path, err);
	if (rc)
		return rc;
	int type = find_type(p);
	if (type < 0)
		return error_set(err, RC_DATA, "%02x%02x%02x%02x... begins no known block", p[0],
				 p[1], p[2], p[3]);
	*h = (struct header){get_be32(p + 8), get_be32(p + 12), get_be32(p + 25), get_be32(p + 29),
			     p[24]};
	b->type = (enum hblock_type)type;
	b->previous = (int64_t)get_be64(p + 16);
	b->disk.len = HBLOCK_HEADER;
	rc = check_header(in, room, h, err);
	if (rc)
		return rc;
	b->place = (struct hblock_place){offset, HBLOCK_HEADER + h->rest_bytes, h->plain_bytes};
	if (disk_bytes && disk_bytes != b->place.disk_bytes)
		return error_set(err, RC_DATA, "it has %u bytes, the index says %u",
				 b->place.disk_bytes, disk_bytes);
	p = buf_reserve(&b->disk, h->rest_bytes);
	rc = io_pread(in->fd, p, h->rest_bytes, offset + HBLOCK_HEADER, in->path, err);
	if (rc == 0)
		rc = check_sums(b->disk.ptr, h, err);
	return rc;
}

int hblock_read(struct hblock_in *in, uint64_t offset, uint32_t disk_bytes, struct hblock *b,
		struct error *err)
{
	struct header h = {0};
	int rc = read_parts(in, offset, disk_bytes, b, &h, err);
	if (rc == 0) {
		b->payload = bytes_of(b->disk.ptr + HBLOCK_HEADER, h.data_bytes - HBLOCK_HEADER);
		if (in->codec != CODEC_NONE) {
			b->plain.len = 0;
			uint8_t *plain = buf_reserve(&b->plain, h.plain_bytes + (size_t)1);
			rc = hcodec_decompress(&in->state, in->codec, b->payload, plain,
					       h.plain_bytes, err);
			b->payload = bytes_of(plain, h.plain_bytes);
		}
	}
	if (rc)
		return error_prefix(err, "%s: block at %llu: ", in->path,
				    (unsigned long long)offset);
	return 0;
}

void hblock_release(struct hblock *b)
{
	buf_release(&b->disk);
	buf_release(&b->plain);
}
