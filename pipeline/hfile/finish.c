/* finish.c - write the end of an HFile (last block, index, file info, bloom meta, trailer) */
#include "fileinfo.h"
#include "kv.h"
#include "trailer.h"
#include "writer.h"

#include <stdio.h>

/* Write the names in the order of their bytes, as HBase's sorted map does. */
static void put_bloom_info(const struct hfile_writer *w, struct buf *m)
{
	if (w->opt.bloom == BLOOM_ROWPREFIX)
		hfile_info_put_be32(m, "BLOOM_FILTER_PARAM", w->opt.bloom_prefix);
	if (w->opt.bloom != BLOOM_NONE)
		hfile_info_put(m, "BLOOM_FILTER_TYPE", bytes_str(bloom_name(w->opt.bloom)));
}

/* If a file has deletes of columns or families, HBase starts the range at 0 (TimeRangeTracker). */
static void put_times(const struct hfile_writer *w, struct buf *m)
{
	uint8_t range[16];

	put_be64(range, w->column_deletes ? 0 : (uint64_t)w->min_ts);
	put_be64(range + 8, (uint64_t)w->max_ts);
	hfile_info_put(m, "TIMERANGE", bytes_of(range, sizeof range));
}

static void put_info(const struct hfile_writer *w, struct bytes last_bloom_key, struct buf *m)
{
	const struct hfile_options *o = &w->opt;

	put_bloom_info(w, m);
	/* with these entries, HBase would ignore the sequence ids of the cells */
	if (!w->long_tails) {
		hfile_info_put(m, "BULKLOAD_SOURCE_TASK", o->source_task);
		hfile_info_put_be64(m, "BULKLOAD_TIMESTAMP", (uint64_t)o->bulkload_ms);
	}
	if (o->encoding != ENCODING_NONE)
		hfile_info_put(m, "DATA_BLOCK_ENCODING", bytes_str(encoding_name(o->encoding)));
	hfile_info_put_be64(m, "DELETE_FAMILY_COUNT", w->family_deletes);
	hfile_info_put_be64(m, "EARLIEST_PUT_TS", (uint64_t)w->earliest_put);
	hfile_info_put_bool(m, "EXCLUDE_FROM_MINOR_COMPACTION", false);
	if (o->mvcc)
		hfile_info_put_be32(m, "KEY_VALUE_VERSION", 1);
	if (o->bloom != BLOOM_NONE)
		hfile_info_put(m, "LAST_BLOOM_KEY", last_bloom_key);
	/* a store file may have delete markers, so HBase's next major compaction must not skip it */
	hfile_info_put_bool(m, "MAJOR_COMPACTION_KEY", !w->long_tails);
	if (o->mvcc)
		hfile_info_put_be64(m, "MAX_MEMSTORE_TS_KEY", w->long_tails ? w->max_mvcc : 0);
	if (w->long_tails && w->has_sequence)
		hfile_info_put_be64(m, "MAX_SEQ_ID_KEY", w->sequence);
	put_times(w, m);
	hfile_info_put_be32(m, "hfile.AVG_KEY_LEN", (uint32_t)(w->key_bytes / w->cells));
	hfile_info_put_be32(m, "hfile.AVG_VALUE_LEN", (uint32_t)(w->value_bytes / w->cells));
	hfile_info_put_be64(m, "hfile.CREATE_TIME_TS", (uint64_t)o->create_ms);
	hfile_info_put(m, "hfile.LASTKEY", hfile_writer_last_key(w));
	if (o->tags) {
		hfile_info_put_be32(m, "hfile.MAX_TAGS_LEN", w->max_tags);
		hfile_info_put_bool(m, "hfile.TAGS_COMPRESSED", false);
	}
}

#define INFO_FIXED 1024 /* the names of all entries, and the values of fixed size */

static int write_info(struct hfile_writer *w, struct hblock_place *place, struct error *err)
{
	struct buf message = {0}, made = {0}, *work = &w->scratch->work;
	struct bytes flat = hfile_writer_last_key(w), key;
	struct cell last = {0};

	hfile_kv_key_parse(flat, &last);
	bool fits = hfile_bloom_key(w->opt.bloom, w->opt.bloom_prefix, last.row, last.qualifier,
				    &made, &key);
	size_t bytes = INFO_FIXED + 2 * flat.len + made.len + w->task.len;
	fits = fits && buf_try_reserve(&message, bytes);
	int rc = fits ? hfile_block_begin(work, bytes + HINFO_ENTRY_BYTES, err)
		      : error_memory(err, bytes, "the file info");
	if (rc == RC_OK) {
		put_info(w, key, &message);
		hfile_info_wrap(work, buf_bytes(&message));
		rc = hfile_block_write(&w->blocks, HBLOCK_INFO, work, place, err);
	}
	buf_release(&made);
	buf_release(&message);
	return rc;
}

/*
 * Write all sections after the data blocks. Root data index, empty meta index and file info come
 * first.
 */
static int write_tail(struct hfile_writer *w, struct hfile_trailer *t, struct error *err)
{
	struct buf *work = &w->scratch->work;
	struct hblock_place root, meta, info, bloom;
	int rc = hfile_index_write_root(&w->index, &w->blocks, work, &root, err);

	if (rc == RC_OK)
		rc = hfile_block_begin(work, 0, err);
	if (rc == RC_OK)
		rc = hfile_block_write(&w->blocks, HBLOCK_ROOT, work, &meta, err);
	if (rc == RC_OK)
		rc = write_info(w, &info, err);
	if (rc)
		return rc;
	w->total_bytes += 2 * HBLOCK_HEADER + meta.plain_bytes + info.plain_bytes;
	if (w->opt.bloom != BLOOM_NONE) {
		rc = hfile_bloom_write_meta(&w->bloom, HBLOCK_BLOOM_META, &w->blocks, work, &bloom,
					    err);
		if (rc)
			return rc;
		w->total_bytes += HBLOCK_HEADER + bloom.plain_bytes;
	}
	if (w->deletes.keys) {
		rc = hfile_bloom_write_meta(&w->deletes, HBLOCK_DELETE_BLOOM_META, &w->blocks, work,
					    &bloom, err);
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
		.codec = w->opt.codec,
		.major = 3,
		.minor = HTRAILER_MINOR,
		.comparator = HTRAILER_COMPARATOR,
	};
	return 0;
}

static int summarize(const struct hfile_writer *w, struct hfile_summary *sum, struct error *err)
{
	struct bytes last = hfile_kv_key_row(hfile_writer_last_key(w));

	*sum = (struct hfile_summary){
		.cells = w->cells,
		.rows = w->rows,
		.file_bytes = w->blocks.offset,
		.cell_bytes = KV_LENGTHS * w->cells + w->key_bytes + w->value_bytes,
		.data_blocks = w->data_blocks,
		.min_ts = w->min_ts,
		.max_ts = w->max_ts,
	};
	if (!buf_try_append(&sum->first_row, w->first_row.ptr, w->first_row.len) ||
	    !buf_try_append(&sum->last_row, last.ptr, last.len))
		return error_memory(err, last.len, "a row key");
	return 0;
}

static int finish(struct hfile_writer *w, struct hfile_summary *sum, struct error *err)
{
	struct hfile_trailer t;
	uint8_t trailer[HTRAILER_BYTES];
	const struct hfile_sink *sink = &w->blocks.sink;

	if (w->cells == 0)
		return error_set(
			err, RC_DATA,
			"%s: found no cells, expected at least one, because a bulk load ignores "
			"empty HFiles",
			sink->name);
	int rc = hfile_writer_end_block(w, true, err);
	if (rc == RC_OK)
		rc = write_tail(w, &t, err);
	if (rc)
		return rc;
	hfile_trailer_put(&t, trailer);
	rc = hfile_block_out_append(&w->blocks, trailer, sizeof trailer, err);
	if (rc == RC_OK)
		rc = summarize(w, sum, err);
	if (rc)
		return rc;
	w->ended = true;
	return sink->finish(sink->self, sum->digest, err);
}

int hfile_finish(struct hfile_writer *w, struct hfile_summary *sum, struct error *err)
{
	*sum = (struct hfile_summary){0};
	int rc = finish(w, sum, err);
	hfile_abort(w);
	if (rc)
		hfile_summary_release(sum);
	return rc;
}

void hfile_summary_name(const struct hfile_summary *s, char name[HFILE_NAME_BYTES])
{
	for (size_t i = 0; i < sizeof s->digest; i++)
		snprintf(name + 2 * i, 3, "%02x", s->digest[i]);
}

void hfile_summary_release(struct hfile_summary *s)
{
	buf_release(&s->first_row);
	buf_release(&s->last_row);
}
