/* rewrite.c - merge tables into one load: the inputs, the regions, the manifest */
#include <stdlib.h>
#include <string.h>

#include "ddl.h"
#include "rewrite.h"

static const struct published *newest(const struct rewrite *r)
{
	return &r->opt->tables[r->opt->ntables - 1];
}

/* --- the files of all tables --- */

static int find_family(const struct rewrite *r, struct bytes name, size_t *out, struct error *err)
{
	for (*out = 0; *out < r->nfamilies; (*out)++)
		if (bytes_eq(r->families[*out].name, name))
			return RC_OK;
	return error_set(err, RC_DATA,
			 "found family %.*s, which the newest input lacks; name the input with "
			 "all families last",
			 (int)name.len, (const char *)name.ptr);
}

/* Add the files of a table. They are newer than all files so far. Returns the next age in *rank. */
static int add_table(struct rewrite *r, const struct published *p, uint64_t *rank,
		     struct error *err)
{
	uint64_t first = *rank;

	for (size_t i = 0; i < p->nfiles; i++) {
		struct query_file f = p->files[i];
		int rc = find_family(r, p->families[f.family].name, &f.family, err);

		if (rc)
			return error_prefix(err, "%s: ", f.name);
		f.age_rank += first;
		*rank = f.age_rank + 1 > *rank ? f.age_rank + 1 : *rank;
		r->files[r->nfiles++] = f;
	}
	return RC_OK;
}

static int by_name(const void *a, const void *b)
{
	const struct query_file *x = *(const struct query_file *const *)a;
	const struct query_file *y = *(const struct query_file *const *)b;
	int c = strcmp(x->name, y->name);

	c = c ? c : bytes_cmp(x->rows.start, y->rows.start);
	return c ? c : (x > y) - (x < y);
}

static bool is_same_part(const struct query_file *x, const struct query_file *y)
{
	return strcmp(x->name, y->name) == 0 && x->is_half == y->is_half &&
	       bytes_eq(x->rows.start, y->rows.start) && bytes_eq(x->rows.stop, y->rows.stop);
}

/*
 * Keep the newest mention of a file that several inputs have, as two snapshots of one table. The cells
 * of the older mention lose against the same cells of the newer one.
 */
static void keep_newest_mention(struct rewrite *r, const struct query_file **sorted)
{
	bool *again = mem_calloc(r->nfiles + 1, sizeof *again);
	size_t n = 0;

	for (size_t i = 1; i < r->nfiles; i++)
		again[sorted[i - 1] - r->files] = is_same_part(sorted[i - 1], sorted[i]);
	for (size_t i = 0; i < r->nfiles; i++)
		if (!again[i])
			r->files[n++] = r->files[i];
	r->nfiles = n;
	mem_free(again);
}

static void sort_files(const struct rewrite *r, const struct query_file **sorted)
{
	for (size_t i = 0; i < r->nfiles; i++)
		sorted[i] = &r->files[i];
	qsort(sorted, r->nfiles, sizeof *sorted, by_name);
}

/* List each file once, even if several references select parts of it. */
static void list_inputs(struct rewrite *r)
{
	const struct query_file **sorted = mem_calloc(r->nfiles + 1, sizeof *sorted);

	r->inputs = arena_alloc(r->a, (r->nfiles + 1) * sizeof *r->inputs);
	r->input_of = arena_alloc(r->a, (r->nfiles + 1) * sizeof *r->input_of);
	sort_files(r, sorted);
	keep_newest_mention(r, sorted);
	sort_files(r, sorted);
	for (size_t i = 0; i < r->nfiles; i++) {
		if (i == 0 || strcmp(sorted[i]->name, sorted[i - 1]->name) != 0) {
			memset(&r->inputs[r->ninputs], 0, sizeof *r->inputs);
			r->inputs[r->ninputs++].file = sorted[i];
		}
		struct rewrite_input *in = &r->inputs[r->ninputs - 1];

		in->mentions++;
		in->halves |= sorted[i]->is_half;
		r->input_of[sorted[i] - r->files] = in;
	}
	mem_free(sorted);
}

static int take_tables(struct rewrite *r, struct error *err)
{
	const struct rewrite_options *o = r->opt;
	uint64_t rank = 0;
	size_t n = 0;
	int rc = RC_OK;

	r->families = newest(r)->families;
	r->nfamilies = newest(r)->nfamilies;
	for (size_t i = 0; i < o->ntables; i++)
		n += o->tables[i].nfiles;
	r->files = arena_alloc(r->a, (n + 1) * sizeof *r->files);
	for (size_t i = 0; rc == RC_OK && i < o->ntables; i++)
		rc = add_table(r, &o->tables[i], &rank, err);
	if (rc == RC_OK)
		list_inputs(r);
	return rc;
}

/* --- the table and its regions --- */

/* Describe the settings of the newest file of a family. */
static void keep_settings(struct rewrite *r, size_t family, struct described *out)
{
	size_t i = r->nfiles;

	while (i > 0 && r->files[i - 1].family != family)
		i--;
	if (i == 0)
		return;
	const struct rewrite_input *in = r->input_of[i - 1];
	attributes_add(r->a, &out->items, "COMPRESSION", codec_name(in->codec));
	attributes_add(r->a, &out->items, "DATA_BLOCK_ENCODING", encoding_name(in->encoding));
	if (in->bloom != BLOOM_ROWPREFIX) /* the file does not have the length */
		attributes_add(r->a, &out->items, "BLOOMFILTER", bloom_name(in->bloom));
}

/* Describe a table of HFiles alone. It keeps all versions, as a scan of the HFiles does. */
static const struct description *describe_hfiles(struct rewrite *r)
{
	struct description *d = arena_alloc(r->a, sizeof *d);

	*d = (struct description){0};
	for (size_t i = 0; i < r->nfamilies; i++) {
		struct described f = {.name = (const char *)r->families[i].name.ptr};

		attributes_add(r->a, &f.items, "VERSIONS", "2147483647");
		keep_settings(r, i, &f);
		description_add_family(d, r->a, &f);
	}
	return d;
}

/*
 * HBase has one setting for the framing of ZSTD, so all files have that of the change, or that of the
 * first such input.
 */
static void take_framing(struct rewrite *r)
{
	const struct rewrite_change *c = r->opt->change;
	enum zstd_framing framing = c->framing ? c->to.framing : ZSTD_FRAMING_HBASE;

	for (size_t i = c->framing ? 0 : r->ninputs; i-- > 0;)
		if (r->inputs[i].codec == CODEC_ZSTD)
			framing = r->inputs[i].framing;
	for (size_t i = 0; i < r->table.nfamilies; i++) {
		r->table.families[i].framing = framing;
		r->table.families[i].framing_said = true;
	}
}

static int change_family(struct family *f, const struct rewrite_change *c, struct error *err)
{
	if (c->codec)
		f->codec = c->to.codec;
	if (c->encoding)
		f->encoding = c->to.encoding;
	if (c->bloom)
		f->bloom = c->to.bloom;
	if (c->to.block_bytes)
		f->block_bytes = c->to.block_bytes;
	if (c->to.level == LEVEL_DEFAULT)
		return RC_OK;
	f->level = c->to.level;
	if (f->codec == CODEC_ZSTD || (f->codec == CODEC_GZ && f->level <= 9))
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"--level: found %d for family %s with %s, expected ZSTD, or GZ with 1 to 9",
		f->level, f->name, codec_name(f->codec));
}

static int change_families(struct rewrite *r, struct error *err)
{
	const struct rewrite_change *c = r->opt->change;
	bool found = !c->family, zstd = false;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < r->table.nfamilies; i++) {
		struct family *f = &r->table.families[i];

		if (c->family && strcmp(c->family, f->name) != 0)
			continue;
		found = true;
		if (!r->opt->what_if)
			rc = change_family(f, c, err);
		zstd |= f->codec == CODEC_ZSTD;
	}
	if (!found)
		return error_set(err, RC_CONFIG, "table %s: found no family %s", r->table.name,
				 c->family);
	if (rc == RC_OK && c->framing && !zstd && !r->opt->what_if)
		return error_set(err, RC_CONFIG,
				 "--framing: found no family with ZSTD, expected one; "
				 "add --compression ZSTD");
	return rc;
}

/* Refuse codecs that saltmill only reads, except in families that --what-if leaves out. */
static int check_codecs(const struct rewrite *r, struct error *err)
{
	const char *only = r->opt->what_if ? r->opt->change->family : NULL;

	for (size_t i = 0; i < r->table.nfamilies; i++) {
		const struct family *f = &r->table.families[i];

		if (!codec_is_written(f->codec) && (!only || strcmp(only, f->name) == 0))
			return error_set(
				err, RC_CONFIG,
				"family %s: found COMPRESSION %s, which saltmill reads but does not "
				"write; first enter `saltmill convert INPUT -o DIR --compression "
				"ZSTD`",
				f->name, codec_name(f->codec));
	}
	return RC_OK;
}

/* Take the table and the regions of the newest input, with the settings that change. */
static int choose_table(struct rewrite *r, struct error *err)
{
	const struct published *p = newest(r);
	const char *name = r->opt->table ? r->opt->table : p->table;
	const struct description *d = p->description ? p->description : describe_hfiles(r);
	int rc = RC_OK;

	if (!name)
		return error_set(err, RC_CONFIG,
				 "found no name of a table in the newest input; add --table NAME");
	rc = table_of_description(&r->table, arena_strdup(r->a, name), d, r->a, err);
	if (rc)
		return rc;
	take_framing(r);
	rc = change_families(r, err);
	if (rc == RC_OK)
		rc = check_codecs(r, err);
	if (rc)
		return rc;
	if (r->opt->splits)
		return splits_copy(&r->splits, r->opt->splits, err);
	for (size_t i = 1; rc == RC_OK && i < p->nregions; i++)
		rc = splits_add(&r->splits, p->split_keys[i - 1], err);
	return rc;
}

/* --- the load --- */

static int make_folders(struct rewrite *r, struct error *err)
{
	const char *root = staging_path(r->staging);
	r->dir = table_dir(root, r->table.name);
	r->hfiles = mem_format("%s/hfiles", r->dir);
	int rc = table_make_dir(r->dir, r->table.name, err);

	for (size_t i = 0; rc == RC_OK && i < r->table.nfamilies; i++) {
		char *family = mem_format("%s/%s", r->hfiles, r->table.families[i].name);

		rc = storage_make_dirs(staging_storage(r->staging), family, 0, err);
		mem_free(family);
	}
	return rc;
}

/* Make the table of the manifest, without regions' figures. */
static void begin_table(struct rewrite *r, struct manifest *m)
{
	m->tables = arena_alloc(r->a, sizeof *m->tables);
	m->ntables = 1;
	r->out = m->tables;
	*r->out = (struct manifest_table){.name = r->table.name,
					  .nfamilies = r->table.nfamilies,
					  .nregions = r->splits.count + 1};
	r->out->families = arena_alloc(r->a, (r->table.nfamilies + 1) * sizeof *r->out->families);
	for (size_t i = 0; i < r->table.nfamilies; i++)
		r->out->families[i].name = r->table.families[i].name;
	r->out->regions = arena_alloc(r->a, r->out->nregions * sizeof *r->out->regions);
	r->written = mem_calloc(r->out->nregions * r->nfamilies + 1, sizeof *r->written);
}

/* Describe the written files, and sum up the regions. */
static void end_table(struct rewrite *r)
{
	struct manifest_table *t = r->out;
	size_t all = t->nregions * r->nfamilies;

	t->files = arena_alloc(r->a, (all + 1) * sizeof *t->files);
	for (size_t i = 0; i < all; i++)
		if (r->written[i].cells)
			manifest_describe_file(&t->files[t->nfiles++], r->a, &r->table,
					       rewrite_schema(r, i % r->nfamilies),
					       i / r->nfamilies, &r->written[i]);
	for (size_t i = 0; i < t->nregions; i++) {
		t->regions[i].start = arena_bytes(r->a, t->regions[i].start);
		t->regions[i].end = arena_bytes(r->a, t->regions[i].end);
		t->rows += t->regions[i].rows;
		t->cells += t->regions[i].cells;
		t->predicted_bytes += t->regions[i].predicted_bytes;
	}
	manifest_compare_sizes(t, t->nregions);
}

/* Check that the regions have read all cells of each file. Halves of a file belong to a split region. */
static int check_counts(const struct rewrite *r, struct error *err)
{
	for (size_t i = 0; i < r->ninputs; i++) {
		const struct rewrite_input *in = &r->inputs[i];

		if (in->known || in->halves || in->cells == in->entries * in->mentions)
			continue;
		return error_set(err, RC_DATA,
				 "%s: found %llu cells, expected the %llu of its trailer; saltmill "
				 "published nothing",
				 in->file->name, (unsigned long long)in->cells,
				 (unsigned long long)in->entries);
	}
	return RC_OK;
}

/* Check that rekey has lost no cell between its reading and its writing. */
static int check_rekeyed(const struct rewrite *r, const struct manifest *m, struct error *err)
{
	if (!r->opt->rekey || r->out->filtered == 0)
		return RC_OK;
	return error_set(err, RC_DATA,
			 "found %llu written cells, expected the %llu of the source; saltmill "
			 "published nothing",
			 (unsigned long long)r->out->cells, (unsigned long long)m->read);
}

/*
 * Count each cell of the inputs once: loaded, filtered because the compaction dropped it, or deduplicated
 * because an equal cell was written.
 */
static void count_cells(const struct rewrite *r, struct manifest *m)
{
	m->inputs = arena_alloc(r->a, (r->ninputs + 1) * sizeof *m->inputs);
	for (size_t i = 0; i < r->ninputs; i++) {
		if (r->inputs[i].known)
			continue;
		struct manifest_input *in = &m->inputs[m->ninputs++];

		*in = (struct manifest_input){.path = arena_strdup(r->a, r->inputs[i].file->name),
					      .bytes = r->inputs[i].bytes,
					      .rows = r->inputs[i].cells};
		memcpy(in->digest, r->inputs[i].digest, sizeof in->digest);
		m->read += in->rows;
	}
	r->out->loaded = r->out->cells;
	r->out->deduplicated = r->dropped;
	r->out->filtered = m->read - r->out->cells - r->dropped;
}

static int write_load(struct rewrite *r, struct manifest *m, struct error *err)
{
	struct storage *to = staging_storage(r->staging);
	const struct bytes nothing = {0};
	char *rejects = mem_format("%s/rejects.jsonl", staging_path(r->staging));
	char *path = mem_format("%s/manifest.json", staging_path(r->staging));

	m->job_path = "";
	m->rewritten = r->opt->name;
	m->created_ms = r->created_ms;
	m->digests.known = true;
	end_table(r);
	count_cells(r, m);
	int rc = check_rekeyed(r, m, err);
	if (rc == RC_OK)
		rc = table_write_scripts(r->out, to, r->dir, &r->table, &r->splits, err);
	if (rc == RC_OK)
		rc = storage_write(to, rejects, nothing, m->digests.rejects, err);
	if (rc == RC_OK)
		rc = manifest_write(m, to, path, err);
	mem_free(path);
	mem_free(rejects);
	return rc;
}

static int run(struct rewrite *r, struct rewrite_result *out, struct error *err)
{
	int rc = take_tables(r, err);

	if (rc == RC_OK && r->opt->rekey)
		rekey_mark_known(r);
	if (rc == RC_OK)
		rc = rewrite_read_inputs(r, err);
	if (rc == RC_OK && !r->opt->rekey)
		rc = choose_table(r, err);
	if (rc == RC_OK && r->opt->what_if)
		return rewrite_estimate_families(r, out, err);
	if (rc == RC_OK)
		rc = staging_open(&r->staging, r->opt->output, &out->stale_removed, err);
	if (rc == RC_OK && r->opt->rekey)
		rc = rekey_sort(r, err);
	if (rc == RC_OK)
		rc = make_folders(r, err);
	if (rc)
		return rc;
	begin_table(r, out->manifest);
	rc = r->opt->rekey ? rekey_regions(r, err) : rewrite_regions(r, err);
	crash_at("merge-written");
	if (rc == RC_OK)
		rc = check_counts(r, err);
	if (rc == RC_OK)
		rc = write_load(r, out->manifest, err);
	if (rc == RC_OK)
		rc = staging_publish(r->staging, err);
	if (rc == RC_OK)
		r->staging = NULL;
	return rc;
}

int rewrite_run(struct rewrite_result *out, const struct rewrite_options *o, struct error *err)
{
	*out = (struct rewrite_result){0};
	struct rewrite r = {.opt = o, .a = &out->arena};
	out->manifest = arena_alloc(r.a, sizeof *out->manifest);
	*out->manifest = (struct manifest){0};
	int rc = run(&r, out, err);
	out->old_rows = r.old_rows;
	rekey_release(&r);
	for (size_t i = 0; r.written && i < r.out->nregions * r.nfamilies; i++)
		hfile_summary_release(&r.written[i]);
	mem_free(r.written);
	mem_free(r.hfiles);
	mem_free(r.dir);
	splits_release(&r.splits);
	staging_abort(r.staging);
	return rc;
}
