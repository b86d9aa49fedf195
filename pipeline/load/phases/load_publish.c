/* load_publish.c - describe the written files, check the counts, and publish the load */
#include <string.h>

#include "run.h"
#include "ddl.h"
#include "load/describe_file.h"
#include "io.h"
#include "key.h"
#include "load_state.h"
#include "pass.h"

static void describe_region(struct load_result *res, const struct load_table *t, size_t region,
			    struct manifest_table *m)
{
	const struct cut_result *r = &t->results[region];
	struct manifest_region *out = &m->regions[region];
	struct bytes none = {0};

	*out = (struct manifest_region){
		.start = region ? arena_bytes(&res->arena, t->splits.keys[region - 1]) : none,
		.end = region < t->splits.count ? arena_bytes(&res->arena, t->splits.keys[region])
						: none,
		.rows = r->rows,
		.cells = r->cells,
	};
	for (size_t i = 0; i < r->nfiles; i++) {
		manifest_describe_file(&m->files[m->nfiles++], &res->arena, &t->job->schema,
				       r->files[i].family, region, &r->files[i].sum);
		out->bytes += r->files[i].sum.file_bytes;
		out->cell_bytes += r->files[i].sum.cell_bytes;
	}
	out->predicted_bytes = (uint64_t)((double)out->cell_bytes * t->disk_per_byte) +
			       r->nfiles * HFILE_TRAILER_BYTES;
	m->predicted_bytes += out->predicted_bytes;
	m->rows += r->rows;
	m->cells += r->cells;
	m->cells_deduplicated += r->cells_deduplicated;
	m->cells_hidden += r->cells_hidden;
	m->loaded += r->loaded;
	m->deduplicated += r->deduplicated;
}

static const char *name_of_part(const struct job *job, const struct key_part *p)
{
	switch (p->kind) {
	case PART_SALT: return "salt";
	case PART_FIELD: return job->fields[p->field].name;
	case PART_CONST: return "constant";
	case PART_HASH: return "hash";
	case PART_KEY: return job->tables[p->table].schema.name;
	}
	return "";
}

static void describe_key(struct arena *a, const struct job *job, const struct job_table *t,
			 struct manifest_table *m)
{
	const struct key_shape shape = key_shape(t);

	m->nparts = shape.nparts;
	m->parts = arena_alloc(a, (m->nparts + 1) * sizeof *m->parts);
	for (size_t i = 0; i < m->nparts; i++) {
		const struct key_part *p = &t->rowkey[i];
		const uint8_t end = (uint8_t)p->terminator;

		m->parts[i] = (struct manifest_part){
			.name = arena_strdup(a, name_of_part(job, p)),
			.bytes = shape.parts[i].width,
			.buckets = p->kind == PART_SALT ? p->buckets : 0,
		};
		if (p->terminator != NO_TERMINATOR)
			m->parts[i].terminator = arena_bytes(a, bytes_of(&end, 1));
	}
}

static void describe_table(struct load_result *res, const struct job *job,
			   const struct load_table *t, uint64_t filtered, struct manifest_table *m)
{
	const struct table *schema = &t->job->schema;

	m->name = arena_strdup(&res->arena, schema->name);
	if (t->job->is_index)
		m->index_of = arena_strdup(&res->arena, job->tables[t->job->index_of].schema.name);
	m->filtered = filtered;
	m->nfamilies = schema->nfamilies;
	m->families = arena_alloc(&res->arena, m->nfamilies * sizeof *m->families);
	for (size_t i = 0; i < m->nfamilies; i++)
		m->families[i].name = arena_strdup(&res->arena, schema->families[i].name);
	describe_key(&res->arena, job, t->job, m);
	m->ntuned = tuning_describe(schema, t->tuned, &res->arena, &m->tuned);
	m->nregions = t->splits.count + 1;
	m->regions = arena_alloc(&res->arena, m->nregions * sizeof *m->regions);
	size_t nfiles = 0;
	for (size_t r = 0; r < m->nregions; r++)
		nfiles += t->results[r].nfiles;
	m->files = arena_alloc(&res->arena, nfiles * sizeof *m->files);
	for (size_t r = 0; r < m->nregions; r++)
		describe_region(res, t, r, m);
}

static void judge_sizes(const struct load_table *t, struct manifest_table *m,
			struct load_promise *p)
{
	manifest_compare_sizes(m, t->wanted);
	p->tolerance = t->job->regions.rule.tolerance;
	p->broken = p->tolerance > 0 && m->largest_over_target > p->tolerance;
}

/* Check that read = loaded + rejected + filtered + deduplicated for every table. */
static int check_law(const struct manifest *m, struct error *err)
{
	for (size_t i = 0; i < m->ntables; i++) {
		const struct manifest_table *t = &m->tables[i];

		if (m->read == t->loaded + m->rejected + t->filtered + t->deduplicated)
			continue;
		return error_set(
			err, RC_ORDER,
			"table %s: found %llu events read, but %llu loaded + %llu rejected + "
			"%llu filtered + %llu deduplicated; this is a bug in saltmill; saltmill "
			"published nothing",
			t->name, (unsigned long long)m->read, (unsigned long long)t->loaded,
			(unsigned long long)m->rejected, (unsigned long long)t->filtered,
			(unsigned long long)t->deduplicated);
	}
	return RC_OK;
}

static void describe_inputs(struct load *l, struct manifest *m)
{
	struct arena *a = &l->result->arena;
	const struct source_file *f = source_files(l->pass.source, &m->ninputs);

	m->inputs = arena_alloc(a, m->ninputs * sizeof *m->inputs);
	for (size_t i = 0; i < m->ninputs; i++) {
		m->inputs[i] = (struct manifest_input){.path = arena_strdup(a, f[i].path),
						       .bytes = f[i].size,
						       .rows = f[i].rows};
		memcpy(m->inputs[i].digest, f[i].digest, sizeof m->inputs[i].digest);
	}
	if (l->opt->input->slice) {
		struct source_part read;

		source_part(l->pass.source, &read);
		bool begins = read.head_read && read.first == read.head;
		m->inputs->slice = (struct manifest_slice){.given = true,
							   .first = read.first,
							   .end = read.end,
							   .lines = read.line_base + read.lines,
							   .begins = begins,
							   .ends = read.last,
							   .size = read.size};
	}
}

/*
 * Describe the schema of the first input. If maps read the inputs, the report of the first map has
 * the schema.
 */
static void describe_schema(struct load *l, struct manifest *m)
{
	struct arena *a = &l->result->arena;

	m->columns = schema_columns(a, l->pass.source, &m->ncolumns);
	if (m->ncolumns > 0 || l->maps.n == 0 || l->maps.reports->number > 0)
		return;
	m->ncolumns = l->maps.reports->ncolumns;
	m->columns = arena_alloc(a, (m->ncolumns + 1) * sizeof *m->columns);
	for (size_t i = 0; i < m->ncolumns; i++) {
		const struct manifest_column *c = &l->maps.reports->columns[i];

		m->columns[i].name = arena_strdup(a, c->name);
		m->columns[i].type = c->type ? arena_strdup(a, c->type) : NULL;
	}
}

/* Describe the columns. If a source has no schema, use the columns of the job. */
static void describe_columns(struct load *l, struct manifest *m)
{
	struct arena *a = &l->result->arena;

	if (l->job->source != SOURCE_CSV) {
		describe_schema(l, m);
		return;
	}
	const char *const *names = source_columns(l->pass.source, &m->ncolumns);
	m->columns = arena_alloc(a, m->ncolumns * sizeof *m->columns);
	for (size_t i = 0; i < m->ncolumns; i++)
		m->columns[i].name = arena_strdup(a, names[i]);
}

static void describe_topic(struct load *l, struct manifest *m)
{
	struct arena *a = &l->result->arena;
	const struct load_kafka *k = l->opt->kafka;
	const struct offset_range *r = source_ranges(l->pass.source, &m->noffsets);

	if (!k)
		return;
	m->cluster = arena_strdup(a, k->cluster);
	m->topic = l->job->kafka.topic ? arena_strdup(a, l->job->kafka.topic) : NULL;
	m->load = k->name ? arena_strdup(a, k->name) : NULL;
	m->previous = k->previous;
	if (m->previous.known)
		m->previous.load = arena_strdup(a, k->previous.load);
	m->offsets = arena_alloc(a, (m->noffsets + 1) * sizeof *m->offsets);
	/*
	 * copy the names, because the client, their owner, closes before the command prints the
	 * result
	 */
	for (size_t i = 0; i < m->noffsets; i++) {
		m->offsets[i] = r[i];
		if (r[i].topic)
			m->offsets[i].topic = i && r[i].topic == r[i - 1].topic
						      ? m->offsets[i - 1].topic
						      : arena_strdup(a, r[i].topic);
	}
}

/*
 * Report to the caller that the load is not visible, because the caller may have recorded the
 * opposite. If the report fails, keep the working folder as proof that the load is not in place.
 */
static void tell_unpublished(struct load *l)
{
	const struct load_kafka *k = l->opt->kafka;
	struct error unsaid;

	if (!k || !k->unpublished || k->unpublished(k->ctx, &unsaid) == RC_OK)
		return;
	staging_leave(l->staging);
	l->staging = NULL;
}

/* Commit the load. Later steps only inform the load's consumers. */
static int make_visible(struct load *l, struct error *err)
{
	const struct load_kafka *k = l->opt->kafka;

	crash_at("described");
	int rc = RC_OK;
	/*
	 * keep the partial folder, because a user has moved DIR if later neither DIR nor this
	 * folder exists
	 */
	if (k && k->before_publish)
		rc = staging_keep(l->staging, err);
	if (rc == RC_OK && k && k->before_publish) {
		char *rejects = mem_format("%s/rejects.jsonl", staging_path(l->staging));

		rc = k->before_publish(k->ctx, rejects, l->result->manifest.rejected, err);
		mem_free(rejects);
	}
	if (rc == RC_OK)
		rc = staging_publish(l->staging, err);
	l->result->was_visible = rc == RC_OK || staging_was_visible(l->staging);
	if (rc == RC_OK)
		l->staging = NULL;
	else if (!l->result->was_visible)
		tell_unpublished(l);
	else if (l->result->was_visible && !strstr(err->msg, "published"))
		error_prefix(err,
			     "%s may be published; check whether it exists: ", l->opt->output_dir);
	return rc;
}

/* Copy the manifest to this machine, before the load is visible. */
static int copy_manifest(const struct load *l, struct error *err)
{
	const char *path = l->opt->halves ? l->opt->halves->manifest : NULL;
	struct storage *here = NULL;
	int rc = path ? storage_open(&here, path, NULL, err) : RC_OK;

	if (rc == RC_OK && path)
		rc = manifest_write(&l->result->manifest, here, storage_path(here), err);
	storage_close(here);
	return rc;
}

/* Report times with more digits than a load keeps. */
static void tell_finer(struct load *l)
{
	const struct finer_times *f = &l->pass.finer;
	struct buf text = {0};

	if (!f->times)
		return;
	buf_printf(&text, "%llu times have " FINER_TIMES "; the first is in ",
		   (unsigned long long)f->times);
	source_place(l->pass.source, f->seq, &text);
	buf_printf(&text, ", field `%s`", l->job->fields[f->field].name);
	l->result->finer_times = arena_strndup(&l->result->arena, text.ptr, text.len);
	buf_release(&text);
}

int load_publish(struct load *l, struct error *err)
{
	struct manifest *m = &l->result->manifest;
	struct arena *a = &l->result->arena;

	m->folder = staging_folder(l->staging) ? arena_strdup(a, staging_folder(l->staging)) : NULL;
	m->job_path = l->job->path;
	memcpy(m->job_digest, l->job->digest, sizeof m->job_digest);
	describe_inputs(l, m);
	describe_columns(l, m);
	describe_topic(l, m);
	size_t nreasons;
	const struct reject_reason *reasons = rejects_by_reason(l->pass.rejects, &nreasons);
	m->reasons = arena_alloc(a, nreasons * sizeof *m->reasons);
	for (m->nreasons = 0; m->nreasons < nreasons; m->nreasons++)
		m->reasons[m->nreasons] =
			(struct reject_reason){arena_strdup(a, reasons[m->nreasons].reason),
					       reasons[m->nreasons].count};
	m->ntables = l->job->ntables;
	m->tables = arena_alloc(a, m->ntables * sizeof *m->tables);
	l->result->promises = arena_alloc(a, m->ntables * sizeof *l->result->promises);
	int rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < m->ntables; i++) {
		describe_table(l->result, l->job, &l->tables[i], l->pass.tables[i].filtered,
			       &m->tables[i]);
		judge_sizes(&l->tables[i], &m->tables[i], &l->result->promises[i]);
		rc = table_write_scripts(&m->tables[i], staging_storage(l->staging),
					 l->tables[i].dir, &l->tables[i].job->schema,
					 &l->tables[i].splits, err);
	}
	if (rc == RC_OK)
		rc = check_law(m, err);
	if (rc == RC_OK)
		rc = load_check_guards(l, l->pass.rejects, err);
	if (rc == RC_OK)
		rc = load_check_duplicates(l, err);
	if (rc == RC_OK)
		load_tell_hidden(l);
	if (rc == RC_OK)
		tell_finer(l);
	char *path = mem_format("%s/rejects.jsonl", staging_path(l->staging));
	if (rc == RC_OK)
		rc = rejects_write(l->pass.rejects, staging_storage(l->staging), path,
				   m->digests.rejects, err);
	mem_free(path);
	path = mem_format("%s/manifest.json", staging_path(l->staging));
	m->digests.known = true;
	if (rc == RC_OK)
		rc = manifest_write(m, staging_storage(l->staging), path, err);
	mem_free(path);
	if (rc == RC_OK)
		rc = copy_manifest(l, err);
	if (rc == RC_OK)
		rc = load_bring_files(l, err);
	return rc ? rc : make_visible(l, err);
}
