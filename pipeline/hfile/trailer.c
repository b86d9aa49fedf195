/* trailer.c - encode and decode the protobuf message of the trailer; layout in trailer.h */
#include "trailer.h"

#include <stdio.h>

#include "kv.h"

#define WIRE_VARINT 0
#define WIRE_BYTES  2

enum {
	FIELD_FILE_INFO = 1,
	FIELD_LOAD_ON_OPEN,
	FIELD_INDEX_BYTES,
	FIELD_TOTAL_BYTES,
	FIELD_DATA_COUNT,
	FIELD_META_COUNT,
	FIELD_ENTRIES,
	FIELD_LEVELS,
	FIELD_FIRST_DATA,
	FIELD_LAST_DATA,
	FIELD_COMPARATOR,
	FIELD_CODEC,
	FIELD_KEY
};

static const char magic[] = "TRABLK\"$";

/* Comparators with the order of README.md 3.4. */
static const char *const comparators[] = {
	HTRAILER_COMPARATOR,
	"org.apache.hadoop.hbase.CellComparator",
	"org.apache.hadoop.hbase.CellComparatorImpl",
	"org.apache.hadoop.hbase.InnerStoreCellComparator",
	"org.apache.hadoop.hbase.KeyValue$KeyComparator",
};

/* The ordinals of codecs in Java's Compression.Algorithm. */
static const uint32_t codec_numbers[] = {
	[CODEC_NONE] = 2, [CODEC_LZO] = 0,   [CODEC_GZ] = 1,   [CODEC_SNAPPY] = 3, [CODEC_LZ4] = 4,
	[CODEC_ZSTD] = 6, [CODEC_BZIP2] = 5, [CODEC_LZMA] = 7, [CODEC_BROTLI] = 8,
};
_Static_assert(sizeof codec_numbers / sizeof *codec_numbers == CODECS, "a number for each codec");

/*
 * The versions that HBase 2 reads. HBase 0.98 and 1.x write version 3.0, and HBase 2.x writes 3.3.
 */
static const struct {
	uint32_t major, least_minor, most_minor, bytes;
} versions[] = {
	{2, 3, 3, 212},
	{3, 0, HTRAILER_MINOR, HTRAILER_BYTES},
};

/* Return the trailer's size in bytes, or 0 if saltmill cannot read the version. */
static uint32_t bytes_of_version(uint32_t major, uint32_t minor)
{
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		if (major == versions[i].major && minor >= versions[i].least_minor &&
		    minor <= versions[i].most_minor)
			return versions[i].bytes;
	return 0;
}

static int set_codec(struct hfile_trailer *t, uint64_t number, struct error *err)
{
	for (size_t i = 0; i < sizeof codec_numbers / sizeof *codec_numbers; i++) {
		if (codec_numbers[i] == number) {
			t->codec = (enum codec)i;
			return 0;
		}
	}
	return error_set(
		err, RC_DATA,
		"compressed with codec %llu, expected one of 0 to 8, which HBase 2 has; run "
		"`major_compact` with another COMPRESSION of the family",
		(unsigned long long)number);
}

static uint8_t *put_number(uint8_t *p, unsigned field, uint64_t v)
{
	*p++ = (uint8_t)(field << 3 | WIRE_VARINT);
	return p + put_varint(p, v);
}

void hfile_trailer_put(const struct hfile_trailer *t, uint8_t out[HTRAILER_BYTES])
{
	uint8_t message[400], *p = message;
	size_t name = strlen(t->comparator);

	p = put_number(p, FIELD_FILE_INFO, t->file_info_offset);
	p = put_number(p, FIELD_LOAD_ON_OPEN, t->load_on_open_offset);
	p = put_number(p, FIELD_INDEX_BYTES, t->uncompressed_index_bytes);
	p = put_number(p, FIELD_TOTAL_BYTES, t->total_uncompressed_bytes);
	p = put_number(p, FIELD_DATA_COUNT, t->data_index_count);
	p = put_number(p, FIELD_META_COUNT, t->meta_index_count);
	p = put_number(p, FIELD_ENTRIES, t->entry_count);
	p = put_number(p, FIELD_LEVELS, t->index_levels);
	p = put_number(p, FIELD_FIRST_DATA, t->first_data_block);
	p = put_number(p, FIELD_LAST_DATA, t->last_data_block);
	*p++ = FIELD_COMPARATOR << 3 | WIRE_BYTES;
	p += put_varint(p, name);
	memcpy(p, t->comparator, name);
	p = put_number(p + name, FIELD_CODEC, codec_numbers[t->codec]);
	size_t n = (size_t)(p - message);
	memset(out, 0, HTRAILER_BYTES);
	memcpy(out, magic, 8);
	size_t at = 8 + put_varint(out + 8, n);
	memcpy(out + at, message, n);
	put_be32(out + HTRAILER_BYTES - 4, (uint32_t)t->minor << 24 | t->major);
}

static int set_number(struct hfile_trailer *t, uint64_t field, uint64_t v, struct error *err)
{
	uint32_t small = v > INT32_MAX ? UINT32_MAX : (uint32_t)v;

	switch (field) {
	case FIELD_FILE_INFO: t->file_info_offset = v; return 0;
	case FIELD_LOAD_ON_OPEN: t->load_on_open_offset = v; return 0;
	case FIELD_INDEX_BYTES: t->uncompressed_index_bytes = v; return 0;
	case FIELD_TOTAL_BYTES: t->total_uncompressed_bytes = v; return 0;
	case FIELD_DATA_COUNT: t->data_index_count = small; return 0;
	case FIELD_META_COUNT: t->meta_index_count = small; return 0;
	case FIELD_ENTRIES: t->entry_count = v; return 0;
	case FIELD_LEVELS: t->index_levels = small; return 0;
	case FIELD_FIRST_DATA: t->first_data_block = v; return 0;
	case FIELD_LAST_DATA: t->last_data_block = v; return 0;
	case FIELD_CODEC: return set_codec(t, v, err);
	default:
		return error_set(err, RC_DATA,
				 "trailer: found unknown field %llu, expected the "
				 "fields of HBase 2",
				 (unsigned long long)field);
	}
}

static int set_comparator(struct hfile_trailer *t, struct bytes name, struct error *err)
{
	for (size_t i = 0; i < sizeof comparators / sizeof *comparators; i++) {
		if (bytes_eq(name, bytes_str(comparators[i]))) {
			snprintf(t->comparator, sizeof t->comparator, "%s", comparators[i]);
			return 0;
		}
	}
	char shown[200];
	hfile_kv_show(shown, sizeof shown, name);
	return error_set(err, RC_DATA,
			 "trailer: found comparator \"%s\", expected a comparator "
			 "of HBase 2",
			 shown);
}

static int set_key(struct hfile_trailer *t, struct bytes key, struct error *err)
{
	if (key.len == 0 || key.len > sizeof t->key)
		return error_set(err, RC_DATA,
				 "trailer: found an encryption key of %zu bytes, expected 1 to %zu",
				 key.len, sizeof t->key);
	memcpy(t->key, key.ptr, key.len);
	t->key_bytes = (uint32_t)key.len;
	return RC_OK;
}

/* Parse the field at `*p`. `*seen` has a bit for each field so far. */
static int parse_field(struct hfile_trailer *t, const uint8_t **p, const uint8_t *end,
		       uint32_t *seen, struct error *err)
{
	uint64_t tag, v;
	size_t n = get_varint(*p, end, &tag);
	size_t m = n ? get_varint(*p + n, end, &v) : 0;

	if (n == 0 || m == 0)
		return error_set(err, RC_DATA,
				 "trailer: found the end of the message within a "
				 "field, expected a whole field");
	*p += n + m;
	uint32_t bit = tag >> 3 < 32 ? 1u << (tag >> 3) : 0;
	if (*seen & bit)
		return error_set(err, RC_DATA, "trailer: found field %llu twice, expected it once",
				 (unsigned long long)tag >> 3);
	*seen |= bit;
	if ((tag & 7) == WIRE_VARINT)
		return set_number(t, tag >> 3, v, err);
	bool key = tag == (FIELD_KEY << 3 | WIRE_BYTES);
	if (!key && tag != (FIELD_COMPARATOR << 3 | WIRE_BYTES))
		return error_set(err, RC_DATA,
				 "trailer: found unknown field tag %llu, expected "
				 "the fields of HBase 2",
				 (unsigned long long)tag);
	if (v > (uint64_t)(end - *p))
		return error_set(err, RC_DATA,
				 "trailer: found the end of the message within the %s, "
				 "expected the whole %s",
				 key ? "encryption key" : "comparator", key ? "key" : "name");
	struct bytes text = bytes_of(*p, (size_t)v);
	*p += v;
	return key ? set_key(t, text, err) : set_comparator(t, text, err);
}

static bool has_magic(struct bytes tail)
{
	return memmem(tail.ptr, tail.len, magic, 8) != NULL;
}

/* Report the kind of a file that does not end like an HFile that saltmill can read. */
static int not_ours(struct bytes tail, struct error *err)
{
	uint32_t word = tail.len >= 4 ? get_be32(tail.ptr + tail.len - 4) : 0;
	uint32_t major = word & 0xffffff, minor = word >> 24;

	/* the last bytes of a truncated file are not a version, and are often zeros */
	bool named = major > 0 && major < 16;
	if (has_magic(tail) && named && bytes_of_version(major, minor) == 0)
		return error_set(err, RC_DATA,
				 "HFile version %u.%u, expected 2.3 or 3.0 to 3.%d, which HBase "
				 "0.98 to 2.6 write; run `major_compact` in one of them",
				 major, minor, HTRAILER_MINOR);
	if (has_magic(tail))
		return error_set(
			err, RC_DATA,
			"found no trailer %u bytes before the end, expected one there; the file "
			"is truncated or has extra bytes at the end",
			bytes_of_version(major, minor) ? bytes_of_version(major, minor)
						       : HTRAILER_BYTES);
	return error_set(
		err, RC_DATA,
		"found no HFile trailer in the last %zu bytes, expected one; the file is not an "
		"HFile, or is truncated",
		tail.len);
}

static int check(const struct hfile_trailer *t, uint32_t seen, struct error *err)
{
	/* HBase writes all of these fields, so a missing number is an error and not zero */
	uint32_t needed = (1u << (FIELD_CODEC + 1)) - (1u << FIELD_FILE_INFO);

	if ((seen & needed) != needed)
		return error_set(err, RC_DATA,
				 "trailer: found only the fields of mask %x, "
				 "expected all fields that HBase writes",
				 seen);
	if (t->index_levels < 1 || t->index_levels > 16)
		return error_set(err, RC_DATA, "trailer: found %u index levels, expected 1 to 16",
				 t->index_levels);
	return 0;
}

int hfile_trailer_parse(struct hfile_trailer *t, struct bytes tail, struct error *err)
{
	uint32_t version = tail.len >= 4 ? get_be32(tail.ptr + tail.len - 4) : 0, seen = 0;
	uint32_t bytes = bytes_of_version(version & 0xffffff, version >> 24);

	if (bytes == 0 || tail.len < bytes || memcmp(tail.ptr + tail.len - bytes, magic, 8) != 0)
		return not_ours(tail, err);
	const uint8_t *start = tail.ptr + tail.len - bytes, *last = tail.ptr + tail.len - 4;
	*t = (struct hfile_trailer){.codec = CODEC_NONE,
				    .major = version & 0xffffff,
				    .minor = version >> 24,
				    .trailer_bytes = bytes};
	uint64_t len;
	size_t n = get_varint(start + 8, last, &len);
	const uint8_t *p = start + 8 + n, *end = p;
	if (n == 0 || len > (uint64_t)(last - p))
		return error_set(err, RC_DATA,
				 "trailer: found a message longer than the "
				 "trailer, expected a message that fits");
	for (end += len; p < end;) {
		int rc = parse_field(t, &p, end, &seen, err);

		if (rc)
			return rc;
	}
	for (; end < last; end++)
		if (*end)
			return error_set(err, RC_DATA,
					 "trailer: found byte %02x in the padding, "
					 "expected only zeros",
					 *end);
	return check(t, seen, err);
}
