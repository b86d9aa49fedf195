/* finish.c - the end of an HFile: last block, index, file info, bloom meta, trailer */
#include "fileinfo.h"
#include "kv.h"
#include "trailer.h"
#include "writer.h"

/* Names in the order of their bytes, as HBase's sorted map writes them. */
static void put_bloom_info(const struct hfile_writer *w, struct buf *m)
{
	if (w->opt.bloom == BLOOM_ROWPREFIX)
		hinfo_put_be32(m, "BLOOM_FILTER_PARAM", w->opt.bloom_prefix);
	if (w->opt.bloom != BLOOM_NONE)
		hinfo_put(m, "BLOOM_FILTER_TYPE", bytes_str(bloom_name(w->opt.bloom)));
}

static void put_last_bloom_key(const struct hfile_writer *w, struct buf *m)
{
	struct kv_key last;
	struct buf made = {0};
	if (w->opt.bloom == BLOOM_NONE || !kv_key_parse(writer_last_key(w), &last))
		return;
	hinfo_put(m, "LAST_BLOOM_KEY",
		  hbloom_key(w->opt.bloom, w->opt.bloom_prefix, last.row, last.qualifier, &made));
	buf_release(&made);
}

static void put_info(const struct hfile_writer *w, struct buf *m)
{
	const struct hfile_options *o = &w->opt;
	uint8_t range[16];
	put_be64(range, (uint64_t)w->min_ts);
	put_be64(range + 8, (uint64_t)w->max_ts);
	put_bloom_info(w, m);
	hinfo_put(m, "BULKLOAD_SOURCE_TASK", o->source_task);
	hinfo_put_be64(m, "BULKLOAD_TIMESTAMP", (uint64_t)o->bulkload_ms);
	if (o->encoding != ENCODING_NONE)
		hinfo_put(m, "DATA_BLOCK_ENCODING", bytes_str(encoding_name(o->encoding)));
	hinfo_put_be64(m, "DELETE_FAMILY_COUNT", 0);
	hinfo_put_be64(m, "EARLIEST_PUT_TS", (uint64_t)w->min_ts);
	hinfo_put_bool(m, "EXCLUDE_FROM_MINOR_COMPACTION", false);
	if (o->mvcc)
		hinfo_put_be32(m, "KEY_VALUE_VERSION", 1);
	put_last_bloom_key(w, m);
	hinfo_put_bool(m, "MAJOR_COMPACTION_KEY", true);
	if (o->mvcc)
		hinfo_put_be64(m, "MAX_MEMSTORE_TS_KEY", 0);
	hinfo_put(m, "TIMERANGE", bytes_of(range, sizeof range));
	hinfo_put_be32(m, "hfile.AVG_KEY_LEN", (uint32_t)(w->key_bytes / w->cells));
	hinfo_put_be32(m, "hfile.AVG_VALUE_LEN", (uint32_t)(w->value_bytes / w->cells));
	hinfo_put_be64(m, "hfile.CREATE_TIME_TS", (uint64_t)o->create_ms);
	hinfo_put(m, "hfile.LASTKEY", writer_last_key(w));
	if (o->tags) {
		hinfo_put_be32(m, "hfile.MAX_TAGS_LEN", 0);
		hinfo_put_bool(m, "hfile.TAGS_COMPRESSED", false);
	}
}

static int write_info(struct hfile_writer *w, struct hblock_place *place, struct error *err)
{
	struct buf message = {0};
	put_info(w, &message);
	hblock_begin(&w->scratch->work);
	hinfo_wrap(&w->scratch->work, buf_bytes(&message));
	buf_release(&message);
	return hblock_write(&w->blocks, HBLOCK_INFO, &w->scratch->work, place, err);
}

/* Everything behind the data; root data index, empty meta index and file info come first. */
static int write_tail(struct hfile_writer *w, struct hfile_trailer *t, struct error *err)
{
	struct buf *work = &w->scratch->work;
	struct hblock_place root, meta, info, bloom;
	int rc = hindex_write_root(&w->index, &w->blocks, work, &root, err);
	hblock_begin(work);
	if (rc == 0)
		rc = hblock_write(&w->blocks, HBLOCK_ROOT, work, &meta, err);
	if (rc == 0)
		rc = write_info(w, &info, err);
	if (rc)
		return rc;
	w->total_bytes += 2 * HBLOCK_HEADER + meta.plain_bytes + info.plain_bytes;
	if (w->opt.bloom != BLOOM_NONE) {
		rc = hbloom_write_meta(&w->bloom, &w->blocks, work, &bloom, err);
		if (rc)
			return rc;
		w->total_bytes += HBLOCK_HEADER + bloom.plain_bytes;
	}
	*t = (struct hfile_trailer){
		.file_info_offset = info.offset,
		.load_on_open_offset = root.offset,
		.uncompressed_index_bytes = w->index.plain_bytes,
		.total_uncompressed_bytes = w->total_bytes + HTRAILER_BYTES,
		.entry_count = w->cells,
		.first_data_block = w->first_data,
		.last_data_block = w->last_data,
		.data_index_count = (uint32_t)(w->index.levels == 1 ? w->index.leaf.count
								    : w->index.root.count),
		.index_levels = w->index.levels,
		.codec = (uint32_t)w->opt.codec,
		.major = 3,
		.minor = 3,
		.comparator = HTRAILER_COMPARATOR,
	};
	return 0;
}

static void summarize(const struct hfile_writer *w, struct hfile_summary *sum)
{
	struct bytes last = kv_key_row(writer_last_key(w));
	*sum = (struct hfile_summary){
		.cells = w->cells,
		.rows = w->rows,
		.file_bytes = w->file.offset,
		.cell_bytes = KV_LENGTHS * w->cells + w->key_bytes + w->value_bytes,
		.data_blocks = w->data_blocks,
		.min_ts = w->min_ts,
		.max_ts = w->max_ts,
	};
	buf_append(&sum->first_row, w->first_row.ptr, w->first_row.len);
	buf_append(&sum->last_row, last.ptr, last.len);
	out_digest(&w->file, sum->digest);
}

static int finish(struct hfile_writer *w, struct hfile_summary *sum, struct error *err)
{
	struct hfile_trailer t;
	uint8_t trailer[HTRAILER_BYTES];
	if (w->cells == 0)
		return error_set(err, RC_DATA, "%s: an HFile without cells; bulk load skips those",
				 w->file.path);
	int rc = writer_end_block(w, true, err);
	if (rc == 0)
		rc = write_tail(w, &t, err);
	if (rc)
		return rc;
	htrailer_put(&t, trailer);
	out_write(&w->file, trailer, sizeof trailer);
	summarize(w, sum);
	rc = out_finish_later(&w->file, w->opt.syncer, err);
	if (rc)
		hfile_summary_release(sum);
	return rc;
}

int hfile_finish(struct hfile_writer *w, struct hfile_summary *sum, struct error *err)
{
	*sum = (struct hfile_summary){0};
	int rc = finish(w, sum, err);
	hfile_abort(w); /* frees; after out_finish there is no file to unlink */
	return rc;
}

void hfile_summary_release(struct hfile_summary *s)
{
	buf_release(&s->first_row);
	buf_release(&s->last_row);
}
