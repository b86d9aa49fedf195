/* sm_reader.c - read an HFile from a path or from memory */
#include "lib.h"

#include <stdio.h>

#include "mem.h"

struct memory_source {
	const uint8_t *ptr;
};

static int memory_read(void *self, uint64_t offset, void *to, size_t len, struct error *err)
{
	const struct memory_source *m = self;

	(void)err;
	memcpy(to, m->ptr + offset, len);
	return RC_OK;
}

/* Create the handle, and take the keys and dictionaries of the caller. */
static int begin(struct sm_reader **out, const struct sm_reader_options *given)
{
	struct sm_reader *r = *out = mem_try_calloc(1, sizeof *r);
	struct sm_reader_options o = {0};
	char name[40];

	if (!r)
		return SM_MEMORY;
	if (!given)
		return SM_OK;
	int rc = lib_take_struct(&o, sizeof o, given, "sm_reader_options", &r->err);
	if (rc == RC_OK && !(r->extras = hfile_extras_new()))
		rc = error_memory(&r->err, 1, "keys");
	if (rc == RC_OK && o.master_keys.len)
		rc = hfile_extras_add_keys(r->extras, "master_keys", lib_in(o.master_keys),
					   &r->err);
	for (size_t i = 0; rc == RC_OK && i < o.dictionary_count; i++) {
		snprintf(name, sizeof name, "dictionaries[%zu]", i);
		rc = hfile_extras_add_dictionary(r->extras, name, lib_in(o.dictionaries[i]),
						 &r->err);
	}
	return rc;
}

int sm_reader_open_with(struct sm_reader **out, const char *path,
			const struct sm_reader_options *options)
{
	struct hfile_source source;
	int rc = begin(out, options);
	struct sm_reader *r = *out;

	if (rc == RC_OK)
		rc = hfile_file_source(&source, path, &r->err);
	return rc ? rc : hfile_open_with(&r->file, &source, r->extras, &r->err);
}

int sm_reader_open(struct sm_reader **out, const char *path)
{
	return sm_reader_open_with(out, path, NULL);
}

int sm_reader_open_memory_with(struct sm_reader **out, const void *ptr, size_t len,
			       const struct sm_reader_options *options)
{
	int rc = begin(out, options);
	struct sm_reader *r = *out;
	struct memory_source *m = rc == RC_OK ? mem_try_alloc(sizeof *m) : NULL;

	if (rc)
		return rc;
	if (!m)
		return error_memory(&r->err, sizeof *m, "a file in memory");
	*m = (struct memory_source){ptr};
	const struct hfile_source source = {"memory", len, memory_read, mem_free, m};
	return hfile_open_with(&r->file, &source, r->extras, &r->err);
}

int sm_reader_open_memory(struct sm_reader **out, const void *ptr, size_t len)
{
	return sm_reader_open_memory_with(out, ptr, len, NULL);
}

static int no_reader(struct sm_reader *r)
{
	if (!r)
		return SM_MEMORY;
	return error_set(&r->err, RC_CONFIG,
			 "found a call without an open file, expected only sm_reader_close");
}

static struct sm_cell cell_to(const struct cell *c)
{
	return (struct sm_cell){.row = lib_out(c->row),
				.family = lib_out(c->family),
				.qualifier = lib_out(c->qualifier),
				.value = lib_out(c->value),
				.tags = lib_out(c->tags),
				.timestamp = c->ts,
				.mvcc = c->mvcc,
				.type = c->type};
}

/* Return true if the range ends before this row. */
static bool is_past(const struct sm_reader *r, struct bytes row)
{
	return r->stop.len && bytes_cmp(row, buf_bytes(&r->stop)) >= 0;
}

int sm_reader_next(struct sm_reader *r, struct sm_cell *cell)
{
	struct cell c;

	if (!r || !r->file)
		return no_reader(r);
	if (!r->ended)
		r->ended = hfile_next_cell(r->file, &c, &r->err);
	if (!r->ended && is_past(r, c.row))
		r->ended = SM_END;
	if (!r->ended)
		*cell = cell_to(&c);
	return r->ended;
}

int lib_next_batch(struct sm_reader *r, size_t *count)
{
	struct hfile_batch *b = &r->batch;
	size_t n = 0;

	if (!r->ended)
		r->ended = hfile_next_batch(r->file, b, &r->err);
	if (r->ended)
		return r->ended;
	for (; n < b->n && !is_past(r, b->cells[n].row); n++)
		r->cells[n] = cell_to(&b->cells[n]);
	if (n < b->n)
		r->ended = SM_END;
	*count = n;
	return n ? SM_OK : SM_END;
}

int sm_reader_next_cells(struct sm_reader *r, const struct sm_cell **cells, size_t *count)
{
	if (!r || !r->file)
		return no_reader(r);
	*cells = r->cells;
	return lib_next_batch(r, count);
}

static int seek(struct sm_reader *r, struct bytes row, struct bytes family, struct bytes qualifier)
{
	const struct cell key = cell_first(row, family, qualifier);

	r->ended = SM_OK;
	if (row.len == 0)
		hfile_rewind(r->file);
	else
		r->ended = hfile_seek(r->file, &key, &r->err);
	return r->ended;
}

int sm_reader_range(struct sm_reader *r, struct sm_bytes start, struct sm_bytes stop)
{
	if (!r || !r->file)
		return no_reader(r);
	r->stop.len = 0;
	if (!buf_try_append(&r->stop, stop.ptr, stop.len))
		return r->ended = error_memory(&r->err, stop.len, "a row key");
	return seek(r, lib_in(start), (struct bytes){0}, (struct bytes){0});
}

int sm_reader_seek(struct sm_reader *r, struct sm_bytes row, struct sm_bytes family,
		   struct sm_bytes qualifier)
{
	if (!r || !r->file)
		return no_reader(r);
	return seek(r, lib_in(row), lib_in(family), lib_in(qualifier));
}

int sm_reader_may_contain(struct sm_reader *r, struct sm_bytes row, struct sm_bytes qualifier,
			  int *may)
{
	bool found = true;

	if (!r || !r->file)
		return no_reader(r);
	int rc = hfile_may_contain(r->file, lib_in(row), lib_in(qualifier), &found, &r->err);
	*may = found;
	return rc;
}

/* Return the row of a flat key: its length in 2 bytes, its bytes, the rest of the key. */
static struct bytes row_of(struct bytes flat)
{
	size_t n = flat.len < 2 ? 0 : get_be16(flat.ptr);

	return n && n <= flat.len - 2 ? bytes_of(flat.ptr + 2, n) : (struct bytes){0};
}

int sm_reader_info(struct sm_reader *r, struct sm_info *info)
{
	struct hfile_options o;
	struct hfile_bloom bloom;
	struct hfile_index_entry first = {0};
	struct bytes last = {0};

	if (!r || !r->file)
		return no_reader(r);
	const struct hfile_trailer *t = hfile_trailer(r->file);
	hfile_options_of(r->file, &o);
	hfile_bloom(r->file, &bloom);
	hfile_root_entry(r->file, 0, &first);
	hfile_info_get(r->file, "hfile.LASTKEY", &last);
	const struct sm_info ours = {
		.compression = codec_name(t->codec),
		.encoding = encoding_name(o.encoding),
		.bloom = bloom_name(o.bloom),
		.first_row = lib_out(row_of(first.key)),
		.last_row = lib_out(row_of(last)),
		.cells = t->entry_count,
		.data_blocks = t->data_index_count,
		.file_bytes = t->file_bytes,
		.bloom_keys = bloom.keys,
		.time_ms = o.create_ms,
		.major = t->major,
		.minor = t->minor,
		.index_levels = t->index_levels,
		.flags = (o.tags ? SM_TAGS : 0u) | (o.mvcc ? SM_MVCC : 0u) |
			 (o.framing == ZSTD_FRAMING_HADOOP ? SM_ZSTD_HADOOP : 0u),
	};
	return lib_give_struct(info, &ours, sizeof ours, "sm_info", &r->err);
}

int sm_reader_meta(struct sm_reader *r, size_t i, struct sm_bytes *key, struct sm_bytes *value)
{
	struct bytes k = {0}, v = {0};

	if (!r || !r->file)
		return no_reader(r);
	int rc = hfile_info(r->file, i, &k, &v);
	*key = lib_out(k);
	*value = lib_out(v);
	return rc;
}

int sm_reader_reads(struct sm_reader *r, struct sm_reads *reads)
{
	if (!r || !r->file)
		return no_reader(r);
	const struct hfile_reads n = hfile_reads(r->file);
	const struct sm_reads ours = {.data = n.data, .index = n.index, .bloom = n.bloom};
	return lib_give_struct(reads, &ours, sizeof ours, "sm_reads", &r->err);
}

int sm_reader_verify(struct sm_reader *r, struct sm_counts *counts)
{
	struct hfile_summary sum = {0};

	if (!r || !r->file)
		return no_reader(r);
	int rc = hfile_verify_open(r->file, &sum, &r->err);
	if (rc == RC_OK)
		rc = lib_give_counts(counts, &sum, &r->err);
	hfile_summary_release(&sum);
	hfile_rewind(r->file);
	r->ended = SM_OK;
	return rc;
}

const char *sm_reader_error(const struct sm_reader *r)
{
	return r ? r->err.msg : "out of memory";
}

void sm_reader_close(struct sm_reader *r)
{
	if (!r)
		return;
	hfile_close(r->file);
	hfile_extras_free(r->extras);
	buf_release(&r->stop);
	mem_free(r);
}
