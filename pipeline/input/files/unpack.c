/*
 * unpack.c - decompress bzip2 and xz with their libraries, and zip with zlib
 *
 * Read a zip archive from its start, because it may come from a pipe. It consists of local headers,
 * each followed by its data (APPNOTE.TXT 4.3.7), and of the central directory, which the reader
 * ignores.
 */
#include "unpack.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>

#include "mem.h"

#define XZ_MEMORY   ((uint64_t)160 << 20) /* xz -9 needs 65 MiB */
#define ROOM_MAX    (1u << 30)
#define HEADER	    30
#define HELD_MAX    (HEADER + 2 * 65535)
#define FLAG_SECRET 1
#define FLAG_BEHIND 8 /* sizes and checksum follow the data */
#define DEFLATED    8

enum phase { ZIP_HEADER, ZIP_STORED, ZIP_DEFLATED, ZIP_BEHIND, ZIP_END };

struct unpacker {
	enum packing packing;
	bool open; /* true inside a stream */
	bz_stream bzip2;
	lzma_stream xz;
	struct zip {
		z_stream z;
		enum phase phase;
		struct buf held; /* the start of a header */
		/* `drop` skips this member; `seen` is true after the single member */
		bool drop, seen;
		bool behind;
		uint64_t left; /* ZIP_STORED */
		uint32_t crc, want_crc;
	} zip;
};

struct unpacker *unpacker_new(enum packing packing)
{
	struct unpacker *u = mem_calloc(1, sizeof *u);

	u->packing = packing;
	if (packing == PACKED_ZIP && inflateInit2(&u->zip.z, -15) != Z_OK) {
		mem_free(u);
		return NULL;
	}
	return u;
}

void unpacker_free(struct unpacker *u)
{
	if (!u)
		return;
	if (u->packing == PACKED_BZIP2 && u->open)
		BZ2_bzDecompressEnd(&u->bzip2);
	if (u->packing == PACKED_XZ)
		lzma_end(&u->xz);
	if (u->packing == PACKED_ZIP)
		inflateEnd(&u->zip.z);
	buf_release(&u->zip.held);
	mem_free(u);
}

static const char *bzip2_step(struct unpacker *u, uint8_t *src, size_t n, size_t *took,
			      uint8_t *dst, size_t cap, size_t *got, bool *whole)
{
	bz_stream *z = &u->bzip2;

	*whole = !u->open;
	if (!u->open && n == 0)
		return NULL;
	if (!u->open) {
		*z = (bz_stream){0};
		if (BZ2_bzDecompressInit(z, 0, 0) != BZ_OK)
			return "cannot set up bzip2";
		u->open = true;
	}
	z->next_in = (char *)src;
	z->avail_in = (unsigned)n;
	z->next_out = (char *)dst;
	z->avail_out = (unsigned)cap;
	int rc = BZ2_bzDecompress(z);
	*took = n - z->avail_in;
	*got = cap - z->avail_out;
	if (rc == BZ_STREAM_END) {
		BZ2_bzDecompressEnd(z);
		u->open = false;
	} else if (rc != BZ_OK) {
		return rc == BZ_DATA_ERROR_MAGIC ? "found bytes that are not a bzip2 stream"
						 : "the checksum does not match the data";
	}
	*whole = !u->open;
	return NULL;
}

static const char *xz_step(struct unpacker *u, const uint8_t *src, size_t n, size_t *took,
			   uint8_t *dst, size_t cap, size_t *got, bool *whole)
{
	lzma_stream *z = &u->xz;

	*whole = !u->open;
	if (!u->open) {
		while (*took < n && src[*took] == 0)
			++*took;
		if (*took == n)
			return NULL;
		if (lzma_stream_decoder(z, XZ_MEMORY, 0) != LZMA_OK)
			return "cannot set up xz";
		u->open = true;
	}
	z->next_in = src + *took;
	z->avail_in = n - *took;
	z->next_out = dst;
	z->avail_out = cap;
	lzma_ret rc = lzma_code(z, LZMA_RUN);
	*took = n - z->avail_in;
	*got = cap - z->avail_out;
	if (rc == LZMA_STREAM_END)
		u->open = false;
	else if (rc == LZMA_MEMLIMIT_ERROR)
		return "found a dictionary of more than 160 MiB, expected at most 160 MiB";
	else if (rc == LZMA_FORMAT_ERROR)
		return "found bytes that are not an xz stream";
	else if (rc != LZMA_OK && rc != LZMA_BUF_ERROR)
		return "found a wrong checksum or structure";
	*whole = !u->open;
	return NULL;
}

/* --- zip --- */

static uint32_t le16(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le32(const uint8_t *p)
{
	return le16(p) | le16(p + 2) << 16;
}

/* Collect `want` bytes in `held`. Return false if the decoder needs more bytes. */
static bool hold(struct zip *z, size_t want, const uint8_t *src, size_t n, size_t *took)
{
	size_t missing = want > z->held.len ? want - z->held.len : 0;
	size_t take = missing < n - *took ? missing : n - *took;

	buf_append(&z->held, src + *took, take);
	*took += take;
	return z->held.len >= want;
}

static bool begins(const struct buf *held, const char *with)
{
	return held->len >= 4 && memcmp(held->ptr, with, 4) == 0;
}

/* Begin the member whose header is in `held`. `len` is the length of the name. */
static const char *begin_member(struct zip *z, const uint8_t *name, size_t len)
{
	const uint8_t *h = z->held.ptr;
	uint32_t flags = le16(h + 6), method = le16(h + 8), packed = le32(h + 18);

	z->behind = flags & FLAG_BEHIND;
	z->want_crc = le32(h + 14);
	z->crc = 0;
	z->left = packed;
	z->drop = (len > 0 && name[len - 1] == '/') ||
		  (len >= 9 && memcmp(name, "__MACOSX/", 9) == 0);
	z->phase = method == DEFLATED ? ZIP_DEFLATED : ZIP_STORED;
	if (len >= 19 && memcmp(name, "[Content_Types].xml", 19) == 0)
		return "found an Excel workbook or another Office document, expected CSV; save "
		       "the sheet as CSV";
	if (flags & FLAG_SECRET)
		return "found an encrypted member, expected a plain member";
	if (method != 0 && method != DEFLATED)
		return "found a member with another compression method, expected deflate";
	if (z->phase == ZIP_STORED && ((z->behind && !z->drop) || packed == UINT32_MAX))
		return "found no size of the member before the data, expected one";
	if (z->seen && !z->drop)
		return "found a second member, expected one; `unzip -p FILE.zip NAME` extracts "
		       "one member";
	z->seen = z->seen || !z->drop;
	if (z->phase == ZIP_DEFLATED && inflateReset(&z->z) != Z_OK)
		return "cannot reset";
	return NULL;
}

static const char *zip_header(struct zip *z, const uint8_t *src, size_t n, size_t *took)
{
	if (!hold(z, 4, src, n, took))
		return NULL;
	if (begins(&z->held, "PK\1\2") || begins(&z->held, "PK\5\6")) {
		z->phase = ZIP_END;
		return z->seen ? NULL : "found no member in the archive";
	}
	if (!begins(&z->held, "PK\3\4"))
		return "found bytes that are not a zip member";
	if (!hold(z, HEADER, src, n, took))
		return NULL;
	size_t name = le16(z->held.ptr + 26), extra = le16(z->held.ptr + 28);
	if (!hold(z, HEADER + name + extra, src, n, took))
		return NULL;
	const char *fault = begin_member(z, z->held.ptr + HEADER, name);
	z->held.len = 0;
	return fault;
}

static const char *end_member(struct zip *z)
{
	z->phase = z->behind ? ZIP_BEHIND : ZIP_HEADER;
	return z->behind || z->crc == z->want_crc ? NULL : "the checksum does not match the data";
}

static void add_crc(struct zip *z, const uint8_t *dst, size_t got)
{
	z->crc = (uint32_t)crc32(z->crc, dst, (unsigned)got);
}

static const char *zip_stored(struct zip *z, const uint8_t *src, size_t n, size_t *took,
			      uint8_t *dst, size_t cap, size_t *got)
{
	size_t most = n - *took < cap ? n - *took : cap;

	*got = z->left < most ? (size_t)z->left : most;
	memcpy(dst, src + *took, *got);
	add_crc(z, dst, *got);
	*took += *got;
	z->left -= *got;
	if (z->drop)
		*got = 0;
	return z->left == 0 ? end_member(z) : NULL;
}

static const char *zip_deflated(struct zip *z, uint8_t *src, size_t n, size_t *took, uint8_t *dst,
				size_t cap, size_t *got)
{
	z->z.next_in = src + *took;
	z->z.avail_in = (uInt)(n - *took);
	z->z.next_out = dst;
	z->z.avail_out = (uInt)cap;
	int rc = inflate(&z->z, Z_NO_FLUSH);
	*took = n - z->z.avail_in;
	*got = cap - z->z.avail_out;
	add_crc(z, dst, *got);
	if (z->drop)
		*got = 0;
	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		return z->z.msg ? z->z.msg : "needs a dictionary";
	return rc == Z_STREAM_END ? end_member(z) : NULL;
}

/*
 * Check the checksum and skip the sizes. The position of the next signature shows whether each size
 * has 4 or 8 bytes.
 */
static const char *zip_behind(struct zip *z, const uint8_t *src, size_t n, size_t *took)
{
	size_t at, size;

	if (!hold(z, 4, src, n, took))
		return NULL;
	at = begins(&z->held, "PK\7\10") ? 8 : 4;
	if (!hold(z, at + 12, src, n, took))
		return NULL;
	size = memcmp(z->held.ptr + at + 8, "PK", 2) == 0 ? 8 : 16;
	if (!hold(z, at + size + 4, src, n, took))
		return NULL;
	if (le32(z->held.ptr + at - 4) != z->crc)
		return "the checksum does not match the data";
	z->held.len -= at + size;
	memmove(z->held.ptr, z->held.ptr + at + size, z->held.len);
	z->phase = ZIP_HEADER;
	return NULL;
}

static const char *zip_step(struct zip *z, uint8_t *src, size_t n, size_t *took, uint8_t *dst,
			    size_t cap, size_t *got, bool *whole)
{
	const char *fault = NULL;

	switch (z->phase) {
	case ZIP_HEADER: fault = zip_header(z, src, n, took); break;
	case ZIP_STORED: fault = zip_stored(z, src, n, took, dst, cap, got); break;
	case ZIP_DEFLATED: fault = zip_deflated(z, src, n, took, dst, cap, got); break;
	case ZIP_BEHIND: fault = zip_behind(z, src, n, took); break;
	case ZIP_END: *took = n; break;
	}
	*whole = z->phase == ZIP_END;
	return fault;
}

const char *unpack(struct unpacker *u, const uint8_t *src, size_t n, size_t *took, uint8_t *dst,
		   size_t cap, size_t *got, bool *whole)
{
	uint8_t *from = (uint8_t *)(uintptr_t)src; /* the libraries only read from `from` */

	*took = *got = 0;
	cap = cap < ROOM_MAX ? cap : ROOM_MAX;
	switch (u->packing) {
	case PACKED_BZIP2: return bzip2_step(u, from, n, took, dst, cap, got, whole);
	case PACKED_XZ: return xz_step(u, src, n, took, dst, cap, got, whole);
	case PACKED_ZIP: break;
	}
	return zip_step(&u->zip, from, n, took, dst, cap, got, whole);
}
