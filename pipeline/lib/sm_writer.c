/*
 * sm_writer.c - write an HFile under a temporary name, and rename it
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "io.h"
#include "lib.h"
#include "mem.h"

struct sm_writer {
	struct hfile_writer *file; /* NULL after the end */
	char *path, *folder, *temp;
	struct error err;
	bool broken; /* after RC_IO or RC_MEMORY */
};

static int compression_of(const char *name, enum codec *out, struct error *err)
{
	for (int c = CODEC_NONE; c < CODECS; c++) {
		*out = (enum codec)c;
		if (!name || strcmp(name, codec_name(*out)) == 0)
			return RC_OK;
	}
	return error_set(err, RC_CONFIG,
			 "compression: found `%.40s`, expected NONE, GZ, SNAPPY, LZ4 or ZSTD",
			 name);
}

static int encoding_of(const char *name, enum block_encoding *out, struct error *err)
{
	*out = ENCODING_NONE;
	if (!name || encoding_named(name, out))
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "encoding: found `%.40s`, expected NONE, PREFIX, DIFF, FAST_DIFF or "
			 "ROW_INDEX_V1",
			 name);
}

static int bloom_of(const char *name, enum bloom_type *out, struct error *err)
{
	static const enum bloom_type all[] = {BLOOM_NONE, BLOOM_ROW, BLOOM_ROWCOL, BLOOM_ROWPREFIX};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		*out = all[i];
		if (!name || strcmp(name, bloom_name(*out)) == 0)
			return RC_OK;
	}
	return error_set(err, RC_CONFIG,
			 "bloom: found `%.40s`, expected NONE, ROW, ROWCOL or "
			 "ROWPREFIX_FIXED_LENGTH",
			 name);
}

/* Convert the options. The strings of `out` belong to the caller. */
static int options_of(const struct sm_writer_options *given, struct hfile_options *out,
		      struct error *err)
{
	const uint32_t flags = SM_TAGS | SM_MVCC | SM_ZSTD_HADOOP;
	struct sm_writer_options o = {0};
	int rc = given ? lib_take_struct(&o, sizeof o, given, "sm_writer_options", err) : RC_OK;

	if (rc == RC_OK && o.flags & ~flags)
		rc = error_set(err, RC_CONFIG,
			       "flags: found 0x%x, expected SM_TAGS, SM_MVCC and SM_ZSTD_HADOOP",
			       o.flags);
	if (rc == RC_OK && o.time_ms < 0)
		rc = error_set(err, RC_CONFIG, "time_ms: found %lld, expected 0 or more",
			       (long long)o.time_ms);
	*out = (struct hfile_options){
		.family = bytes_str(o.family ? o.family : ""),
		.level = o.level,
		.framing = o.flags & SM_ZSTD_HADOOP ? ZSTD_FRAMING_HADOOP : ZSTD_FRAMING_HBASE,
		.bloom_prefix = o.bloom_prefix,
		.block_bytes = o.block_bytes,
		.create_ms = o.time_ms,
		.bulkload_ms = o.time_ms,
		.source_task = bytes_str(o.source_task ? o.source_task : ""),
		.mvcc = o.flags & SM_MVCC,
		.tags = o.flags & SM_TAGS,
	};
	if (rc == RC_OK)
		rc = compression_of(o.compression, &out->codec, err);
	if (rc == RC_OK)
		rc = encoding_of(o.encoding, &out->encoding, err);
	return rc ? rc : bloom_of(o.bloom, &out->bloom, err);
}

/* Name the temporary file, which no other writer of this machine uses. */
static bool make_names(struct sm_writer *w, const char *path)
{
	static _Atomic unsigned number;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t before = (size_t)(name - path), room = strlen(path) + 64;

	w->path = mem_try_strdup(path);
	w->folder = mem_try_alloc(before + 2);
	w->temp = mem_try_alloc(room);
	if (!w->path || !w->folder || !w->temp)
		return false;
	snprintf(w->folder, before + 2, "%.*s", (int)before, before ? path : ".");
	if (!before)
		memcpy(w->folder, ".", 2);
	snprintf(w->temp, room, "%.*s_%s.%ld-%u.partial", (int)before, path, name, (long)getpid(),
		 number++);
	return true;
}

static int check_new(const char *path, struct error *err)
{
	if (access(path, F_OK) == 0)
		return error_set(err, RC_IO, "%s: found a file, expected a new name", path);
	return errno == ENOENT ? RC_OK : error_errno(err, "cannot create %s", path);
}

int sm_writer_open(struct sm_writer **out, const char *path,
		   const struct sm_writer_options *options)
{
	struct sm_writer *w = mem_try_calloc(1, sizeof *w);
	struct hfile_options o;

	*out = w;
	if (!w)
		return SM_MEMORY;
	int rc = options_of(options, &o, &w->err);
	if (rc == RC_OK && !make_names(w, path))
		rc = error_memory(&w->err, strlen(path), "a path");
	if (rc == RC_OK)
		rc = check_new(path, &w->err);
	return rc ? rc : hfile_writer_new(&w->file, w->temp, &o, &w->err);
}

static int no_writer(struct sm_writer *w)
{
	if (!w)
		return SM_MEMORY;
	if (w->broken)
		return w->err.code;
	return error_set(&w->err, RC_CONFIG,
			 "found a call after the end of the file, expected only sm_writer_close");
}

static struct cell cell_of(const struct sm_cell *c)
{
	return (struct cell){.row = lib_in(c->row),
			     .family = lib_in(c->family),
			     .qualifier = lib_in(c->qualifier),
			     .ts = c->timestamp,
			     .value = lib_in(c->value),
			     .tags = lib_in(c->tags),
			     .type = (uint8_t)(c->type == 0 ? SM_PUT : c->type)};
}

int sm_writer_add(struct sm_writer *w, const struct sm_cell *cells, size_t count)
{
	if (!w || !w->file || w->broken)
		return no_writer(w);
	for (const struct sm_cell *c = cells; c < cells + count; c++) {
		struct cell one = cell_of(c);
		int rc = RC_OK;

		if (c->type > UINT8_MAX || c->reserved)
			rc = error_set(&w->err, RC_DATA,
				       "found a cell of type %u with %u in the reserved member, "
				       "expected type 4, 8, 10, 12 or 14, and 0",
				       c->type, c->reserved);
		if (rc == RC_OK)
			rc = hfile_add(w->file, &one, &w->err);
		w->broken = rc == RC_IO || rc == RC_MEMORY;
		if (rc)
			return rc;
	}
	return SM_OK;
}

int sm_writer_finish(struct sm_writer *w, struct sm_counts *counts)
{
	struct hfile_summary sum;

	if (!w || !w->file || w->broken)
		return no_writer(w);
	/* an old struct is an error before the file has its name */
	int rc = lib_give_counts(counts, &(struct hfile_summary){0}, &w->err);
	if (rc)
		return rc;
	rc = hfile_finish(w->file, &sum, &w->err);
	w->file = NULL;
	if (rc == RC_OK)
		rc = io_name_file(w->temp, w->path, w->folder, &w->err);
	if (rc == RC_OK)
		lib_give_counts(counts, &sum, &w->err);
	hfile_summary_release(&sum);
	w->broken = rc != RC_OK;
	return rc;
}

const char *sm_writer_error(const struct sm_writer *w)
{
	return w ? w->err.msg : "out of memory";
}

void sm_writer_close(struct sm_writer *w)
{
	if (!w)
		return;
	hfile_abort(w->file);
	mem_free(w->path);
	mem_free(w->folder);
	mem_free(w->temp);
	mem_free(w);
}
