/* options_of.c - get the writer options of a file from its trailer and file info */
#include "reader.h"

static int64_t stamp(const struct hfile *f, const char *name)
{
	struct bytes v;

	return hfile_info_get(f, name, &v) && v.len == 8 ? (int64_t)get_be64(v.ptr) : 0;
}

void hfile_options_of(const struct hfile *f, struct hfile_options *out)
{
	*out = (struct hfile_options){
		.codec = f->trailer.codec,
		/* hfile_open decompressed the last blocks, and all blocks have the same framing */
		.framing = f->in.state.framing,
		.encoding = f->format.encoding,
		.bloom = f->bloom_type,
		.bloom_prefix = f->bloom_prefix,
		.create_ms = stamp(f, "hfile.CREATE_TIME_TS"),
		.bulkload_ms = stamp(f, "BULKLOAD_TIMESTAMP"),
		.mvcc = f->format.tail.mvcc,
		.tags = f->format.tail.tags,
	};
	hfile_info_get(f, "BULKLOAD_SOURCE_TASK", &out->source_task);
}
