/* trailer.c - protobuf by hand for the trailer; layout in trailer.h */
#include "trailer.h"

#include <stdio.h>

#include "kv.h"

#define VERSION_MAJOR 3
#define WIRE_VARINT   0
#define WIRE_BYTES    2

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

/* Compression.Algorithm's ordinals. */
static const uint32_t codec_numbers[] = {
	[CODEC_NONE] = 2,   [CODEC_LZO] = 0, [CODEC_GZ] = 1,
	[CODEC_SNAPPY] = 3, [CODEC_LZ4] = 4, [CODEC_ZSTD] = 6,
};
_Static_assert(sizeof codec_numbers / sizeof *codec_numbers == CODECS, "a number for each codec");

static int set_codec(struct hfile_trailer *t, uint64_t number, struct error *err)
{
	for (size_t i = 0; i < sizeof codec_numbers / sizeof *codec_numbers; i++) {
		if (codec_numbers[i] == number && i != CODEC_LZO) {
			t->codec = (enum codec)i;
			return 0;
		}
	}
	return error_set(err, RC_DATA, "compression codec %llu is not supported",
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
		return error_set(err, RC_DATA, "trailer: field %llu is unknown",
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
	return error_set(err, RC_DATA, "trailer: unknown comparator \"%s\"", shown);
}

/* One field at *p; *seen has a bit for each field met. */
static int parse_field(struct hfile_trailer *t, const uint8_t **p, const uint8_t *end,
		       uint32_t *seen, struct error *err)
{
	uint64_t tag, v;
	size_t n = get_varint(*p, end, &tag);
	size_t m = n ? get_varint(*p + n, end, &v) : 0;

	if (n == 0 || m == 0)
		return error_set(err, RC_DATA, "trailer: its message ends within a field");
	*p += n + m;
	uint32_t bit = tag >> 3 < 32 ? 1u << (tag >> 3) : 0;
	if (*seen & bit)
		return error_set(err, RC_DATA, "trailer: field %llu occurs twice",
				 (unsigned long long)tag >> 3);
	*seen |= bit;
	if (tag == (FIELD_KEY << 3 | WIRE_BYTES))
		return error_set(err, RC_DATA, "the file is encrypted");
	if ((tag & 7) == WIRE_VARINT)
		return set_number(t, tag >> 3, v, err);
	if (tag != (FIELD_COMPARATOR << 3 | WIRE_BYTES))
		return error_set(err, RC_DATA, "trailer: field tag %llu is unknown",
				 (unsigned long long)tag);
	if (v > (uint64_t)(end - *p))
		return error_set(err, RC_DATA, "trailer: its message ends within the comparator");
	struct bytes name = bytes_of(*p, (size_t)v);
	*p += v;
	return set_comparator(t, name, err);
}

static bool has_magic(struct bytes tail)
{
	return memmem(tail.ptr, tail.len, magic, 8) != NULL;
}

/* Report what the file is if it does not end like a version 3 HFile. */
static int not_ours(struct bytes tail, struct error *err)
{
	uint32_t version = tail.len >= 4 ? get_be32(tail.ptr + tail.len - 4) & 0xffffff : 0;

	if (has_magic(tail) && (version == 1 || version == 2))
		return error_set(err, RC_DATA,
				 "v%u HFile (trailer version %u): saltmill reads version 3",
				 version, version);
	if (has_magic(tail))
		return error_set(
			err, RC_DATA,
			"the trailer is not %d bytes before the end: the file is cut off or has "
			"extra bytes at the end",
			HTRAILER_BYTES);
	return error_set(err, RC_DATA,
			 "no HFile trailer in the last %zu bytes: not an HFile, or "
			 "truncated",
			 tail.len);
}

static int check(const struct hfile_trailer *t, uint32_t seen, struct error *err)
{
	/* all fields that HBase writes: a missing number is not read as zero */
	uint32_t needed = (1u << (FIELD_CODEC + 1)) - (1u << FIELD_FILE_INFO);

	if ((seen & needed) != needed)
		return error_set(err, RC_DATA, "trailer: fields are missing (found: %x)", seen);
	if (t->index_levels < 1 || t->index_levels > 16)
		return error_set(err, RC_DATA, "trailer: %u index levels", t->index_levels);
	return 0;
}

int hfile_trailer_parse(struct hfile_trailer *t, struct bytes tail, struct error *err)
{
	if (tail.len < HTRAILER_BYTES || memcmp(tail.ptr, magic, 8) != 0)
		return not_ours(tail, err);
	uint32_t version = get_be32(tail.ptr + HTRAILER_BYTES - 4), seen = 0;
	*t = (struct hfile_trailer){.codec = CODEC_NONE,
				    .major = version & 0xffffff,
				    .minor = version >> 24};
	if (t->major != VERSION_MAJOR)
		return error_set(err, RC_DATA,
				 "v%u HFile (trailer version %u): saltmill reads version 3",
				 t->major, t->major);
	uint64_t len;
	const uint8_t *end = tail.ptr + HTRAILER_BYTES - 4;
	size_t n = get_varint(tail.ptr + 8, end, &len);
	const uint8_t *p = tail.ptr + 8 + n;
	if (n == 0 || len > (uint64_t)(end - p))
		return error_set(err, RC_DATA, "trailer: its message does not fit");
	for (end = p + len; p < end;) {
		int rc = parse_field(t, &p, end, &seen, err);

		if (rc)
			return rc;
	}
	for (; end < tail.ptr + HTRAILER_BYTES - 4; end++)
		if (*end)
			return error_set(err, RC_DATA, "trailer: byte %02x in the padding", *end);
	return check(t, seen, err);
}
