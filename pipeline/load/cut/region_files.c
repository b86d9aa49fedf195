/*
 * region_files.c - write the HFiles of a region
 *
 * The writer gives a file a hidden name, and then renames it to the digest of its bytes. HBase
 * accepts this name of 32 hex digits. The name depends only on the content, so different files of
 * two loads never share a name.
 */
#include "region_files.h"

#include <stdio.h>
#include <unistd.h>

#include "mem.h"

/*
 * Find the qualifiers of each family. row_columns returns cells in file order, so the qualifiers of
 * a family are one range of all qualifiers.
 */
static void know_columns(struct region_files *f)
{
	const struct cut_table *t = f->table;
	size_t most = row_max_cells(t->plan, t->index);
	struct row_cell *cells = mem_calloc(most + 1, sizeof *cells);

	f->qualifiers = mem_calloc(most + 1, sizeof *f->qualifiers);
	f->owners = mem_calloc(most + 1, sizeof *f->owners);
	size_t n = row_columns(t->plan, t->index, cells);
	for (size_t i = 0; i < n; i++) {
		struct family_file *file = &f->families[cells[i].family];

		file->first = file->end ? file->first : i;
		file->end = i + 1;
		f->qualifiers[i] = cells[i].cell.qualifier;
		f->owners[i] = file;
	}
	f->only = n && f->owners[0] == f->owners[n - 1] ? f->owners[0] : NULL;
	mem_free(cells);
}

void region_files_init(struct region_files *f, const struct cut_table *t, size_t region,
		       struct hfile_scratch *scratch, struct cut_result *result)
{
	*f = (struct region_files){.table = t,
				   .region = region,
				   .scratch = scratch,
				   .result = result};
	f->families = mem_calloc(t->table->schema.nfamilies, sizeof *f->families);
	f->limit = t->table->max_hfile_bytes;
	if (row_constant_columns(t->plan, t->index) && t->table->ncells <= UINT16_MAX)
		know_columns(f);
}

bool region_files_known(const struct region_files *f)
{
	return f->owners;
}

/* --- files on remote storage --- */

static int sink_append(void *self, const void *ptr, size_t len, struct error *err)
{
	return storage_add(self, ptr, len, err);
}

static int sink_finish(void *self, uint8_t digest[16], struct error *err)
{
	return storage_end(self, digest, err);
}

static void sink_abort(void *self)
{
	storage_abort(self);
}

/* Return true if the writer first writes a file on this machine. */
static bool goes_by_copy(const struct cut_table *t)
{
	return t->to && t->local_dir;
}

static int writer_new(struct family_file *file, struct storage *to, bool local,
		      const struct hfile_options *opt, struct error *err)
{
	struct storage_file *out;

	if (!to || local)
		return hfile_writer_new(&file->writer, file->path, opt, err);
	int rc = storage_begin(to, &out, file->path, 0, err);
	if (rc)
		return rc;
	struct hfile_sink sink = {file->path, sink_append, sink_finish, sink_abort, out};
	return hfile_writer_new_to(&file->writer, &sink, opt, err);
}

/* Upload a finished local file under its name. */
static int send_file(struct storage *to, const char *from, const char *name, struct error *err)
{
	int rc = storage_put(to, from, name, 0, NULL, NULL, err);

	if (unlink(from) < 0 && rc == RC_OK)
		rc = error_errno(err, "cannot remove %s", from);
	return rc;
}

/*
 * Give a finished file its name. In a second attempt, a file of the first attempt may already
 * exist.
 */
static int name_file(struct storage *to, const char *from, const char *name, uint64_t bytes,
		     struct error *err)
{
	struct storage_info there;

	if (!to)
		return rename(from, name) < 0
			       ? error_errno(err, "cannot rename %s to %s", from, name)
			       : RC_OK;
	int rc = storage_stat(to, name, &there, err);
	if (rc)
		return rc;
	if (there.kind == STORAGE_FILE && there.bytes == bytes)
		/* the name is the digest, so the bytes are the same */
		return storage_remove(to, from, err);
	return storage_move(to, from, name, err);
}

static bool has_tags(const struct job_table *t, size_t family)
{
	bool any = false;

	for (size_t i = 0; i < t->ncells; i++)
		any |= t->cells[i].family == family && cell_has_tags(&t->cells[i]);
	return any;
}

static int file_open(struct region_files *f, size_t family, struct error *err)
{
	const struct cut_table *t = f->table;
	const struct family *fam = &t->table->schema.families[family];
	struct family_file *file = &f->families[family];
	struct hfile_options opt = {
		.family = bytes_str(fam->name),
		.codec = fam->codec,
		.level = fam->level,
		.hash_log = fam->hash_log,
		.min_match = fam->min_match,
		.framing = fam->framing,
		.encoding = fam->encoding,
		.bloom = fam->bloom,
		.bloom_prefix = fam->bloom_prefix,
		.block_bytes = fam->block_bytes,
		.qualifiers = f->qualifiers ? f->qualifiers + file->first : NULL,
		.nqualifiers = file->end - file->first,
		.tags = has_tags(t->table, family),
		.create_ms = t->created_ms,
		.bulkload_ms = t->created_ms,
		.source_task = bytes_str("saltmill"),
		.scratch = f->scratch,
		.file_buffer_bytes = t->file_buffer_bytes,
		.temporary = t->temporary,
		.helpers = t->helpers,
		.syncer = t->syncer,
		.budget = t->budget,
	};

	file->path = t->local_dir ? mem_format("%s/.hfile-%zu-%zu-%zu-%u", t->local_dir, t->index,
					       family, f->region, file->part)
				  : mem_format("%s/%s/.region-%zu-%u", t->hfiles_dir, fam->name,
					       f->region, file->part);
	return writer_new(file, t->to, goes_by_copy(t), &opt, err);
}

static int file_finish(struct region_files *f, size_t family, struct error *err)
{
	struct family_file *file = &f->families[family];
	struct cut_result *r = f->result;

	r->files = mem_grow(r->files, r->nfiles, sizeof *r->files);
	struct cut_file *done = &r->files[r->nfiles];
	*done = (struct cut_file){.family = family};
	int rc = hfile_finish(file->writer, &done->sum, err);
	file->writer = NULL;
	if (rc) {
		hfile_summary_release(&done->sum);
		return rc;
	}
	r->nfiles++;
	r->cells += done->sum.cells;
	hfile_summary_name(&done->sum, done->name);
	char *name = mem_format("%s/%s/%s", f->table->hfiles_dir,
				f->table->table->schema.families[family].name, done->name);
	rc = goes_by_copy(f->table)
		     ? send_file(f->table->to, file->path, name, err)
		     : name_file(f->table->to, file->path, name, done->sum.file_bytes, err);
	mem_free(name);
	mem_free(file->path);
	file->path = NULL;
	file->part++;
	return rc;
}

int region_files_add(struct region_files *f, const struct row_cell *c, struct error *err)
{
	struct family_file *file = &f->families[c->family];
	int rc = file->writer ? RC_OK : file_open(f, c->family, err);

	return rc ? rc : hfile_add(file->writer, &c->cell, err);
}

/*
 * Return the number of leading values that belong to `file`, and renumber their columns within it.
 */
static inline size_t take_own(const struct family_file *file, struct cell_value *values,
			      size_t count)
{
	size_t n = 0;

	for (; n < count && values[n].column < file->end; n++)
		values[n].column = (uint16_t)(values[n].column - file->first);
	return n;
}

int region_files_share_values(struct region_files *f, struct bytes row, int64_t ts,
			      struct cell_value *values, size_t count, struct error *err)
{
	for (size_t n; count; values += n, count -= n) {
		struct family_file *file = f->owners[values->column];

		n = take_own(file, values, count);
		int rc = file->writer ? RC_OK : file_open(f, (size_t)(file - f->families), err);
		if (rc == RC_OK)
			rc = hfile_add_values(file->writer, row, ts, values, n, err);
		if (rc)
			return rc;
	}
	return RC_OK;
}

int region_files_roll(struct region_files *f, struct error *err)
{
	for (size_t i = 0; i < f->table->table->schema.nfamilies; i++) {
		struct hfile_writer *w = f->families[i].writer;
		bool reached = false;
		int rc = w ? hfile_reached(w, f->limit, &reached, err) : RC_OK;

		if (rc == RC_OK && reached)
			rc = file_finish(f, i, err);
		if (rc)
			return rc;
	}
	return RC_OK;
}

int region_files_finish(struct region_files *f, struct error *err)
{
	for (size_t i = 0; i < f->table->table->schema.nfamilies; i++) {
		if (!f->families[i].writer)
			continue;
		int rc = file_finish(f, i, err);
		if (rc)
			return rc;
	}
	return RC_OK;
}

void region_files_release(struct region_files *f)
{
	for (size_t i = 0; f->families && i < f->table->table->schema.nfamilies; i++) {
		hfile_abort(f->families[i].writer);
		mem_free(f->families[i].path);
	}
	mem_free(f->families);
	mem_free(f->qualifiers);
	mem_free(f->owners);
	f->families = NULL;
}
