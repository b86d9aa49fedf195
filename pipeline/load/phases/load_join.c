/*
 * load_join.c - join loads of slices, side by side, into one load (`unite --loads`)
 *
 * The join sorts nothing again, so a region has a file of each load. HBase gives all files of a
 * bulk load the same sequence number and then compares their sizes (StoreFileComparators.SEQ_ID).
 * If two files have the same cell, HBase may return either cell, whatever the order of the input.
 * If rows of such files overlap, the join reads the files in parallel and fails if they share a
 * cell.
 */
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "load_join.h"
#include "load_state.h"
#include "mem.h"
#include "pool.h"

typedef unsigned long long ull;

struct joining {
	const struct job *job;
	const struct load_options *opt;
	const struct load_parts *parts;
	struct progress *progress;
	struct load_result *result;
	struct join_part *part; /* [parts->ndirs], in the order of the input */
	struct staging *staging;
	char *temp; /* a local folder, if the load goes to a remote place */
	struct rejects *rejects;
	struct budget quota;
	struct joined_file *files; /* files of all tables, in manifest order */
	size_t nfiles;
	struct store_range *stores; /* regions and families with several files */
	size_t nstores;
};
/* --- check that the loads belong together --- */

static int read_parts(struct joining *j, struct error *err)
{
	struct arena *a = &j->result->arena;
	size_t n = j->parts->ndirs;

	j->part = arena_alloc(a, (n + 1) * sizeof *j->part);
	for (size_t i = 0; i < n; i++) {
		struct join_part *p = &j->part[i];

		p->dir = j->parts->dirs[i];
		char *path = mem_format("%s/manifest.json", p->dir);
		int rc = manifest_read(&p->m, path, a, err);
		mem_free(path);
		if (rc)
			return rc;
		if (manifest_is_of_topics(&p->m) || p->m.ninputs != 1)
			return error_set(err, RC_DATA,
					 "%s: found %zu inputs%s, expected one file or a slice "
					 "of it",
					 p->dir, p->m.ninputs, p->m.ninputs ? "" : ", from Kafka");
		for (p->place = 0; p->place < i; p->place++)
			if (strcmp(j->part[p->place].m.inputs->path, p->m.inputs->path) == 0)
				break;
	}
	return RC_OK;
}

static int by_place(const void *a, const void *b)
{
	const struct join_part *x = a, *y = b;
	uint64_t first = x->m.inputs->slice.first, other = y->m.inputs->slice.first;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (first > other) - (first < other);
}

static int check_same(const struct joining *j, const struct join_part *p, struct error *err)
{
	const struct manifest *m = &p->m, *first = &j->part[0].m;

	if (memcmp(m->job_digest, j->job->digest, sizeof m->job_digest) != 0 ||
	    m->ntables != j->job->ntables)
		return error_set(err, RC_DATA,
				 "%s: found a load of another job than the current %s; load the "
				 "input again with this job",
				 p->dir, j->job->path);
	for (size_t t = 0; t < m->ntables; t++)
		if (memcmp(m->tables[t].splits_digest, first->tables[t].splits_digest, 16) != 0 ||
		    memcmp(m->tables[t].create_digest, first->tables[t].create_digest, 16) != 0 ||
		    m->tables[t].nregions != first->tables[t].nregions)
			return error_set(err, RC_DATA,
					 "%s and %s have different regions of table %s; load "
					 "both with the same --plan",
					 j->part[0].dir, p->dir, m->tables[t].name);
	return RC_OK;
}

/*
 * Check that `p` begins where `before`, the previous load of the same input, ends. `before` is NULL
 * if `p` is the first load of its input.
 */
static int check_meeting(const struct join_part *before, const struct join_part *p,
			 struct error *err)
{
	const struct manifest_slice *s = &p->m.inputs->slice;
	uint64_t expected = before ? before->m.inputs->slice.end : 0;

	if (before && (!s->given || !before->m.inputs->slice.given))
		return error_set(err, RC_DATA,
				 "%s and %s: found the whole file %s in both, "
				 "expected it once; omit one of them",
				 before->dir, p->dir, p->m.inputs->path);
	if (before && s->size != before->m.inputs->slice.size)
		return error_set(
			err, RC_DATA,
			"%s: found a slice of another file than in %s: %s with %zu bytes, "
			"expected %zu; load all slices of the file again, because the file "
			"changed between the loads",
			p->dir, before->dir, p->m.inputs->path, s->size,
			before->m.inputs->slice.size);
	if (!s->given || (before ? s->first == expected : s->begins))
		return RC_OK;
	return error_set(err, RC_DATA,
			 "%s: the slice of %s begins at byte %llu, expected %llu, where %s; a "
			 "line end in quotes, or a missing or repeated slice, is the cause; load "
			 "the slice again with --slice =%llu-B",
			 p->dir, p->m.inputs->path, (ull)s->first, (ull)expected,
			 before ? "the previous slice ends" : "the file begins", (ull)expected);
}

static int check_parts(struct joining *j, struct error *err)
{
	const struct field *unique = job_unique(j->job);
	int rc = RC_OK;
	size_t n = j->parts->ndirs;

	if (unique && n > 1)
		return error_set(err, RC_CONFIG,
				 "unite: found `unique` of field `%.60s`, expected a job without "
				 "it, because each load compared only its own values; load all "
				 "input with one `saltmill load`",
				 unique->name);
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		const struct join_part *p = &j->part[i];
		bool goes_on = i > 0 && p[-1].place == p->place;
		bool last = i + 1 == n || p[1].place != p->place;

		rc = check_same(j, p, err);
		if (rc == RC_OK)
			rc = check_meeting(goes_on ? p - 1 : NULL, p, err);
		if (rc == RC_OK && last && p->m.inputs->slice.given && !p->m.inputs->slice.ends)
			rc = error_set(err, RC_DATA,
				       "%s: no load has the bytes after %llu of "
				       "%s; load the missing slice",
				       p->dir, (ull)p->m.inputs->slice.end, p->m.inputs->path);
	}
	return rc;
}

/* --- rejects --- */

static int take_rejects(struct joining *j, const struct join_part *p, uint64_t add_lines,
			struct error *err)
{
	struct buf text = {0};
	char *path = mem_format("%s/rejects.jsonl", p->dir);
	int rc = io_read_file(path, &text, err);
	const uint8_t *at = text.ptr, *end = text.ptr + text.len;

	for (uint64_t n = 0; rc == RC_OK && (at < end || n < p->m.rejected); n++) {
		const uint8_t *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

		if (!stop || n == p->m.rejected)
			rc = error_set(err, RC_DATA,
				       "found another number of lines, expected "
				       "%llu",
				       (ull)p->m.rejected);
		else
			rc = rejects_restore(j->rejects, bytes_of(at, (size_t)(stop - at)),
					     p->m.inputs->path, add_lines, err);
		at = stop ? stop + 1 : end;
	}
	if (rc)
		error_prefix(err, "%s: ", path);
	buf_release(&text);
	mem_free(path);
	return rc;
}

static int judge_rejects(struct joining *j, struct error *err)
{
	struct manifest *m = &j->result->manifest;
	uint64_t allowed = event_limit_of(&j->opt->limit, m->read);
	struct buf sentence = {0};

	if (rejects_counted(j->rejects) <= allowed)
		return RC_OK;
	int rc = rejects_nth(j->rejects, allowed, &sentence, err);
	if (rc == RC_OK)
		rc = error_set(err, RC_DATA,
			       "%.*s; saltmill published nothing; to tolerate bad events, add "
			       "--max-rejects N",
			       (int)sentence.len, (const char *)sentence.ptr);
	buf_release(&sentence);
	return rc;
}

static int take_reading(struct joining *j, struct error *err)
{
	struct manifest *m = &j->result->manifest;
	struct arena *a = &j->result->arena;
	uint64_t lines = 0;
	const char *temp = j->temp ? j->temp : staging_path(j->staging);
	int rc = rejects_new(&j->rejects, temp, &j->quota, 1, err);

	if (rc == RC_OK)
		rejects_tolerate(j->rejects, j->job);

	m->inputs = arena_alloc(a, (j->parts->ndirs + 1) * sizeof *m->inputs);
	m->columns = j->part->m.columns; /* the columns of the first input */
	m->ncolumns = j->part->m.ncolumns;
	for (size_t i = 0; rc == RC_OK && i < j->parts->ndirs; i++) {
		const struct join_part *p = &j->part[i];

		lines = i > 0 && p[-1].place == p->place ? lines : 0;
		m->inputs[m->ninputs++] = p->m.inputs[0];
		m->read += p->m.read;
		m->rejected += p->m.rejected;
		m->rejected_lines += p->m.rejected_lines;
		m->filtered_lines += p->m.filtered_lines;
		m->created_ms = p->m.created_ms > m->created_ms ? p->m.created_ms : m->created_ms;
		rc = take_rejects(j, p, lines, err);
		lines += p->m.inputs->slice.lines;
	}
	return rc ? rc : judge_rejects(j, err);
}

/* --- files --- */

static void add_region(struct manifest_region *to, const struct manifest_region *r)
{
	to->start = r->start;
	to->end = r->end;
	to->rows += r->rows;
	to->cells += r->cells;
	to->bytes += r->bytes;
	to->cell_bytes += r->cell_bytes;
	to->predicted_bytes += r->predicted_bytes;
}

static void add_counts(struct manifest_table *to, const struct manifest_table *t)
{
	to->loaded += t->loaded;
	to->filtered += t->filtered;
	to->deduplicated += t->deduplicated;
	to->rows += t->rows;
	to->cells += t->cells;
	to->cells_deduplicated += t->cells_deduplicated;
	to->cells_hidden += t->cells_hidden;
	to->predicted_bytes += t->predicted_bytes;
	for (size_t r = 0; r < t->nregions; r++)
		add_region(&to->regions[r], &t->regions[r]);
}

/* List the files of a region and family from all loads. Files of one load are adjacent. */
static int add_store(struct joining *j, size_t table, size_t region, const char *family,
		     struct manifest_table *to, struct error *err)
{
	struct store_range s = {.table = &j->job->tables[table],
				.region = region,
				.family = family,
				.files = j->files + j->nfiles};

	for (size_t i = 0; i < j->parts->ndirs; i++) {
		const struct manifest_table *t = &j->part[i].m.tables[table];

		for (size_t k = 0; k < t->nfiles; k++) {
			const struct manifest_file *f = &t->files[k];

			if (f->region != region || strcmp(f->family, family) != 0)
				continue;
			j->files[j->nfiles++] = (struct joined_file){&j->part[i], f};
			to->files[to->nfiles++] = *f;
			s.n++;
		}
	}
	if (s.n > j->parts->max_files)
		return error_set(
			err, RC_DATA,
			"table %s: region %zu: found %zu files of family %s, expected at most "
			"%zu (--max-files); HBase blocks writes to a store from "
			"hbase.hstore.blockingStoreFiles (16) on, and refuses more than 32 "
			"files in one bulk load; use map and reduce, which make one file",
			to->name, region, s.n, family, j->parts->max_files);
	if (s.n > 1)
		j->stores[j->nstores++] = s;
	return RC_OK;
}

static int join_table(struct joining *j, size_t table, struct manifest_table *to, struct error *err)
{
	struct arena *a = &j->result->arena;
	const struct manifest_table *first = &j->part[0].m.tables[table];
	size_t nfiles = 0;
	int rc = RC_OK;

	*to = (struct manifest_table){.name = first->name,
				      .dir = first->dir,
				      .families = first->families,
				      .nfamilies = first->nfamilies,
				      .parts = first->parts,
				      .nparts = first->nparts,
				      .index_of = first->index_of,
				      .tuned = first->tuned,
				      .ntuned = first->ntuned,
				      .nregions = first->nregions};
	memcpy(to->splits_digest, first->splits_digest, sizeof to->splits_digest);
	memcpy(to->create_digest, first->create_digest, sizeof to->create_digest);
	to->regions = arena_alloc(a, to->nregions * sizeof *to->regions);
	for (size_t i = 0; i < j->parts->ndirs; i++) {
		add_counts(to, &j->part[i].m.tables[table]);
		nfiles += j->part[i].m.tables[table].nfiles;
	}
	to->files = arena_alloc(a, (nfiles + 1) * sizeof *to->files);
	for (size_t r = 0; rc == RC_OK && r < to->nregions; r++)
		for (size_t f = 0; rc == RC_OK && f < to->nfamilies; f++)
			rc = add_store(j, table, r, to->families[f].name, to, err);
	manifest_compare_sizes(to, to->nregions);
	return rc;
}

static int join_tables(struct joining *j, struct error *err)
{
	struct arena *a = &j->result->arena;
	struct manifest *m = &j->result->manifest;
	size_t nfiles = 0, nstores = 0;
	int rc = RC_OK;

	for (size_t t = 0; t < j->job->ntables; t++) {
		const struct manifest_table *first = &j->part[0].m.tables[t];

		nstores += first->nregions * first->nfamilies;
		for (size_t i = 0; i < j->parts->ndirs; i++)
			nfiles += j->part[i].m.tables[t].nfiles;
	}
	j->files = arena_alloc(a, (nfiles + 1) * sizeof *j->files);
	j->stores = arena_alloc(a, (nstores + 1) * sizeof *j->stores);
	m->tables = arena_alloc(a, j->job->ntables * sizeof *m->tables);
	for (size_t t = 0; rc == RC_OK && t < j->job->ntables; t++) {
		m->ntables = t + 1;
		rc = join_table(j, t, &m->tables[t], err);
	}
	if (rc == RC_OK && j->nfiles != nfiles)
		rc = error_set(
			err, RC_DATA,
			"found a file of an unknown region or family in a manifest, expected "
			"those of its table");
	return rc;
}

static int check_store(void *ctx, unsigned worker, size_t index, struct error *err)
{
	const struct joining *j = ctx;

	(void)worker;
	return load_check_store(&j->stores[index], j->progress, err);
}

/* --- the whole join --- */

static int take_file(void *ctx, unsigned worker, size_t index, struct error *err)
{
	(void)worker;
	const struct joining *j = ctx;
	const struct joined_file *f = &j->files[index];
	int rc = load_take_file(j->staging, f->part->dir, f->file, "load its slice again", err);
	progress_add(j->progress, 1);
	return rc;
}

static int take_script(const struct joining *j, const char *dir, const char *name,
		       const uint8_t digest[16], struct error *err)
{
	struct buf text = {0};
	uint8_t found[16];
	char *from = mem_format("%s/%s/%s", j->part[0].dir, dir, name);
	char *to = mem_format("%s/%s/%s", staging_path(j->staging), dir, name);
	int rc = io_read_file(from, &text, err);

	if (rc == RC_OK)
		rc = storage_write(staging_storage(j->staging), to, buf_bytes(&text), found, err);
	if (rc == RC_OK && memcmp(found, digest, sizeof found) != 0)
		rc = error_set(err, RC_DATA,
			       "%s: found other files than in the load's manifest; "
			       "load the input again",
			       from);
	buf_release(&text);
	mem_free(from);
	mem_free(to);
	return rc;
}

static int make_table(const struct joining *j, const struct manifest_table *t, struct error *err)
{
	char *dir = table_dir(staging_path(j->staging), t->name);
	char *inside = table_dir("", t->name), *hfiles = mem_format("%s/hfiles", dir);
	struct storage *to = staging_storage(j->staging);
	int rc = staging_is_remote(j->staging) ? table_make_dir_at(to, dir, t->name, err)
					       : table_make_dir(dir, t->name, err);

	if (rc == RC_OK)
		rc = storage_make_dirs(to, hfiles, 0, err);
	for (size_t i = 0; rc == RC_OK && i < t->nfamilies; i++) {
		char *family = mem_format("%s/%s", hfiles, t->families[i].name);

		rc = storage_make_dirs(to, family, 0, err);
		mem_free(family);
	}
	if (rc == RC_OK)
		rc = take_script(j, inside + 1, "splits.txt", t->splits_digest, err);
	if (rc == RC_OK)
		rc = take_script(j, inside + 1, "create.rb", t->create_digest, err);
	mem_free(hfiles);
	mem_free(inside);
	mem_free(dir);
	return rc;
}

static int publish(struct joining *j, struct error *err)
{
	struct manifest *m = &j->result->manifest;
	struct load guards = {.job = j->job, .opt = j->opt, .result = j->result};

	if (staging_folder(j->staging))
		m->folder = arena_strdup(&j->result->arena, staging_folder(j->staging));
	m->job_path = j->job->path;
	m->joined = j->parts->ndirs;
	memcpy(m->job_digest, j->job->digest, sizeof m->job_digest);
	const struct reject_reason *reasons = rejects_by_reason(j->rejects, &m->nreasons);
	m->reasons = arena_alloc(&j->result->arena, (m->nreasons + 1) * sizeof *m->reasons);
	for (size_t i = 0; i < m->nreasons; i++)
		m->reasons[i] =
			(struct reject_reason){arena_strdup(&j->result->arena, reasons[i].reason),
					       reasons[i].count};
	int rc = load_check_guards(&guards, j->rejects, err);
	char *path = mem_format("%s/rejects.jsonl", staging_path(j->staging));
	if (rc == RC_OK)
		rc = rejects_write(j->rejects, staging_storage(j->staging), path,
				   m->digests.rejects, err);
	mem_free(path);
	path = mem_format("%s/manifest.json", staging_path(j->staging));
	m->digests.known = true;
	if (rc == RC_OK)
		rc = manifest_write(m, staging_storage(j->staging), path, err);
	mem_free(path);
	if (rc == RC_OK)
		rc = staging_publish(j->staging, err);
	j->result->was_visible = rc == RC_OK || staging_was_visible(j->staging);
	if (rc == RC_OK)
		j->staging = NULL;
	return rc;
}

static int join(struct joining *j, struct error *err)
{
	const struct manifest *m = &j->result->manifest;
	unsigned threads = j->opt->common->threads;
	int rc = join_tables(j, err);

	progress_begin(j->progress, "checking", PROGRESS_FILES, j->nfiles);
	if (rc == RC_OK)
		rc = pool_run(threads, j->nstores, check_store, j, err);
	for (size_t t = 0; rc == RC_OK && t < m->ntables; t++)
		rc = make_table(j, &m->tables[t], err);
	progress_begin(j->progress, "publishing", PROGRESS_FILES, j->nfiles);
	if (rc == RC_OK)
		rc = pool_run(threads, j->nfiles, take_file, j, err);
	progress_begin(j->progress, "publishing", PROGRESS_SECONDS, 0);
	return rc ? rc : publish(j, err);
}

int load_join(const struct job *job, const struct load_options *opt, const struct load_parts *parts,
	      struct progress *progress, struct load_result *result, struct error *err)
{
	struct joining j = {.job = job,
			    .opt = opt,
			    .parts = parts,
			    .progress = progress,
			    .result = result,
			    .quota = {.limit = opt->common->temp_quota_bytes}};

	*result = (struct load_result){0};
	struct error ignored;
	progress_begin(progress, "reading", PROGRESS_SECONDS, 0);
	result->promises = arena_alloc(&result->arena, job->ntables * sizeof *result->promises);
	int rc = read_parts(&j, err);
	if (rc == RC_OK)
		qsort(j.part, parts->ndirs, sizeof *j.part, by_place);
	if (rc == RC_OK)
		rc = check_parts(&j, err);
	if (rc == RC_OK)
		rc = staging_open_at(&j.staging, opt->output_dir, opt->place, NULL,
				     &result->stale_removed, err);
	if (rc == RC_OK && staging_is_remote(j.staging))
		rc = io_make_temp_dir(&j.temp, opt->common->temp_dir, "saltmill-unite", err);
	if (rc == RC_OK)
		rc = take_reading(&j, err);
	if (rc == RC_OK)
		rc = join(&j, err);
	rejects_free(j.rejects);
	if (j.temp)
		io_remove_tree(j.temp, &ignored);
	mem_free(j.temp);
	staging_abort(j.staging);
	return rc;
}
