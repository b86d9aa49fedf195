/*
 * load_unite.c - publish a load from the results of maps and reduces
 *
 * In the reading phase, the reports of the maps replace the events. unite reads the inputs once, to
 * prove that they have not changed since the maps. With `--inputs`, it adds up the digests of the
 * maps instead.
 *
 * In the writing phase, unite links or copies the files of the reduces, and checks their digests.
 * After the check of all limits, unite moves the files that reduces sent to the storage. It moves
 * them back if the load fails.
 *
 * All other steps are the code of a usual load, so the result is the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "io.h"
#include "load_state.h"
#include "unite_checks.h"
#include "mem.h"
#include "pool.h"
#include "half_reports.h"

#define COPY_BYTES ((size_t)1 << 20)
/* --- reading: the reports of the maps --- */

static struct source_part part_of(const struct map_report *m)
{
	struct source_part p = {.number = m->number,
				.size = m->size,
				.head = m->head,
				.head_lines = m->head_lines,
				.from = m->from,
				.to = m->to,
				.first = m->first,
				.end = m->end,
				.lines = m->lines,
				.seqs = m->seqs,
				.line_base = m->line_base,
				.rows = m->read,
				.path = m->path,
				.head_read = m->head_read,
				.whole = m->whole,
				.last = m->last,
				.summed = m->summed};

	memcpy(p.digest, m->digest, sizeof p.digest);
	memcpy(p.sum, m->sum, sizeof p.sum);
	memcpy(p.before, m->before, sizeof p.before);
	memcpy(p.after, m->after, sizeof p.after);
	return p;
}

static int take_lines(struct load *l, const struct map_report *m, struct bytes text,
		      const char *file, uint64_t add_lines, struct error *err)
{
	const uint8_t *p = text.ptr, *end = text.ptr + text.len;
	int rc = RC_OK;
	uint64_t n = 0;

	for (; rc == RC_OK && p < end; n++) {
		const uint8_t *line_end = memchr(p, '\n', (size_t)(end - p));
		struct bytes line = bytes_of(p, (size_t)((line_end ? line_end : end) - p));

		rc = rejects_restore(l->pass.rejects, line, file, add_lines, err);
		p += line.len + 1;
	}
	if (rc == RC_OK && n != m->rejected)
		rc = error_set(err, RC_DATA, "found %llu lines, expected %llu",
			       (unsigned long long)n, (unsigned long long)m->rejected);
	return rc;
}

/*
 * Copy the rejects of a map. `lines` is the number of line ends before the mapped part of the file.
 */
static int take_rejects(struct load *l, const struct map_report *m, uint64_t lines,
			struct error *err)
{
	size_t n;
	struct buf text = {0};

	if (m->rejected == 0)
		return RC_OK;
	const char *file = source_files(l->pass.source, &n)[m->number].path;
	char *path = mem_format("%s/rejects.jsonl", m->folder);
	int rc = io_read_file(path, &text, err);
	if (rc == RC_OK) {
		rc = take_lines(l, m, buf_bytes(&text), file, lines - m->line_base, err);
		if (rc)
			error_prefix(err, "%s: ", path);
	}
	buf_release(&text);
	mem_free(path);
	return rc;
}

static int add_map(struct load *l, const struct map_report *m, uint64_t *lines, struct error *err)
{
	struct pass *p = &l->pass;

	if (m->first == m->head)
		*lines = m->head_lines;
	p->events += m->read;
	p->blank_lines += m->blank_lines;
	p->rejected_lines += m->rejected_lines;
	p->filtered_lines += m->filtered_lines;
	finer_times_add(&p->finer,
			(struct finer_times){m->finer_times, m->finer_seq, m->finer_field});
	if (m->newest_ms > p->newest_ms)
		p->newest_ms = m->newest_ms;
	for (size_t t = 0; t < l->job->ntables; t++)
		p->tables[t].filtered += m->tables[t].filtered;
	int rc = take_rejects(l, m, *lines, err);
	*lines += m->lines;
	return rc;
}

static int prove_inputs(struct load *l, struct error *err)
{
	size_t n = l->maps.n;
	struct source_part *parts = mem_alloc((n + 1) * sizeof *parts);

	for (size_t i = 0; i < n; i++)
		parts[i] = part_of(&l->maps.reports[i]);
	int rc = source_take_parts(l->pass.source, parts, n, l->progress, err);
	mem_free(parts);
	return rc;
}

int load_take_maps(struct load *l, struct error *err)
{
	const struct load_halves *h = l->opt->halves;
	uint64_t lines = 0;
	size_t nfiles;

	source_files(l->pass.source, &nfiles);
	int rc = maps_read(&l->maps, l->opt->plan, h->maps, h->nmaps, err);
	if (rc == RC_OK)
		rc = maps_check(&l->maps, nfiles, err);
	if (rc == RC_OK)
		rc = prove_inputs(l, err);
	for (size_t i = 0; rc == RC_OK && i < l->maps.n; i++)
		rc = add_map(l, &l->maps.reports[i], &lines, err);
	l->pass.rejected = rejects_count(l->pass.rejects);
	load_note_reading(l);
	return rc ? rc : pass_judge(&l->pass, err);
}

/* --- writing: the files of the reduces --- */

/* A file of a reduce, and its destination. */
struct reduced_file {
	const char *folder;
	const struct manifest_file *file;
	size_t table, region;
};

struct taking {
	struct load *l;
	bool **seen; /* [ntables][regions] */
};

static int copy_bytes(int fd, struct out_file *o, const char *from, struct error *err)
{
	uint8_t *piece = mem_alloc(COPY_BYTES);
	ssize_t n = 1;
	int rc = RC_OK;

	while (rc == RC_OK && n > 0) {
		n = read(fd, piece, COPY_BYTES);
		if (n < 0 && errno != EINTR)
			rc = error_errno(err, "%s", from);
		if (n > 0)
			out_write(o, piece, (size_t)n);
		if (n < 0)
			n = 1;
		if (rc == RC_OK)
			rc = stop_check(err);
	}
	mem_free(piece);
	return rc;
}

static int copy(const char *from, const char *to, struct error *err)
{
	struct out_file o;
	int fd = open(from, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, "%s", from);
	int rc = out_open(&o, to, COPY_BYTES, err);
	if (rc == RC_OK) {
		rc = copy_bytes(fd, &o, from, err);
		if (rc == RC_OK)
			rc = out_finish(&o, err);
		else
			out_abort(&o);
	}
	close(fd);
	return rc;
}

/* Link the file, or copy it if linking fails. If the staging folder is remote, upload the file. */
static int bring(struct staging *s, const char *from, const char *to, struct error *err)
{
	if (staging_is_remote(s))
		return storage_put(staging_storage(s), from, to, 0, NULL, NULL, err);
	if (link(from, to) == 0)
		return RC_OK;
	return errno == ENOENT || errno == EEXIST
		       ? error_errno(err, "cannot link %s to %s", from, to)
		       : copy(from, to, err);
}

int load_take_file(struct staging *s, const char *folder, const struct manifest_file *f,
		   const char *again, struct error *err)
{
	uint8_t digest[16];
	uint64_t size;
	char *from = mem_format("%s/%s", folder, f->path);
	char *to = mem_format("%s/%s", staging_path(s), f->path);
	int rc = bring(s, from, to, err);

	/* the storage has already compared the digest of an uploaded file */
	if (rc == RC_OK)
		rc = io_digest_file(staging_is_remote(s) ? from : to, digest, &size, err);
	if (rc == RC_OK && (size != f->bytes || memcmp(digest, f->digest, sizeof digest) != 0))
		rc = error_set(
			err, RC_DATA,
			"%s: found another digest, expected the digest of the report, because "
			"the file changed; %s",
			from, again);
	mem_free(from);
	mem_free(to);
	return rc ? rc : stop_check(err);
}

static int take_file(void *ctx, unsigned worker, size_t index, struct error *err)
{
	(void)worker;
	const struct load *l = ctx;
	const struct reduced_file *f = &l->reduced[index];
	const char *sent = l->opt->halves->hfiles;
	progress_add(l->progress, 1);
	if (sent) {
		struct staging *s = l->staging;
		char *to = mem_format("%s/%s", staging_path(s), f->file->path);
		int rc = sent_files_take(staging_storage(s), sent, f->table, f->region, f->file, to,
					 err);

		mem_free(to);
		return rc ? rc : stop_check(err);
	}
	return load_take_file(l->staging, f->folder, f->file, "reduce the file's region again",
			      err);
}

static int check_reduce(const struct load *l, const struct reduce_report *r, const char *folder,
			struct error *err)
{
	if (strcmp(r->program, SALTMILL_VERSION) != 0 ||
	    memcmp(r->plan, l->opt->plan->identity, sizeof r->plan) != 0 ||
	    r->ntables != l->job->ntables)
		return error_set(err, RC_DATA,
				 "%s: found a reduce of another plan, job or version of "
				 "saltmill; run reduce again",
				 folder);
	if (r->created_ms != l->result->manifest.created_ms)
		return error_set(
			err, RC_DATA,
			"%s: found the time %lld in its files, expected %lld as in all maps; "
			"reduce again with all maps",
			folder, (long long)r->created_ms,
			(long long)l->result->manifest.created_ms);
	return RC_OK;
}

static int family_of(const struct table *schema, const char *name, size_t *family,
		     const char *folder, struct error *err)
{
	for (*family = 0; *family < schema->nfamilies; ++*family)
		if (strcmp(schema->families[*family].name, name) == 0)
			return RC_OK;
	return error_set(
		err, RC_DATA,
		"%s: found a file of family %s, which table %s lacks; run the reduce with the "
		"same job again",
		folder, name, schema->name);
}

static void keep(struct buf *to, struct bytes from)
{
	buf_append(to, from.ptr, from.len);
}

/* Return true if the path is the usual path of this file in a load. */
static bool path_is_ours(const struct table *schema, const struct manifest_file *f)
{
	struct buf name = {0};
	char *dir = table_dir("", schema->name);

	bytes_hex(&name, bytes_of(f->digest, sizeof f->digest));
	char *path = mem_format("%s/hfiles/%s/%.*s", dir + 1, f->family, (int)name.len,
				(const char *)name.ptr);
	bool same = strcmp(path, f->path) == 0;
	mem_free(path);
	mem_free(dir);
	buf_release(&name);
	return same;
}

static int take_summary(const struct table *schema, const struct manifest_file *f,
			struct cut_file *c, const char *folder, struct error *err)
{
	struct buf hex = {0};
	int rc = family_of(schema, f->family, &c->family, folder, err);

	bytes_hex(&hex, bytes_of(f->digest, sizeof f->digest));
	memcpy(c->name, hex.ptr, sizeof c->name - 1);
	buf_release(&hex);
	c->sum.rows = f->rows;
	c->sum.cells = f->cells;
	c->sum.file_bytes = f->bytes;
	c->sum.cell_bytes = f->cell_bytes;
	c->sum.min_ts = f->min_ts;
	c->sum.max_ts = f->max_ts;
	keep(&c->sum.first_row, f->first_row);
	keep(&c->sum.last_row, f->last_row);
	memcpy(c->sum.digest, f->digest, sizeof c->sum.digest);
	if (rc == RC_OK && !path_is_ours(schema, f))
		rc = error_set(err, RC_DATA, "%s: found a file with an unexpected path: %s", folder,
			       f->path);
	return rc;
}

static void take_pair(struct cut_collision *to, const struct reduce_collision *from, bool found)
{
	to->found = found;
	keep(&to->row, from->row);
	to->lost = from->lost;
	to->kept = from->kept;
}

static int take_region(struct taking *t, size_t table, const struct reduce_region *r,
		       const char *folder, struct error *err)
{
	struct load *l = t->l;
	struct load_table *lt = &l->tables[table];
	struct cut_result *out = &lt->results[r->region];
	int rc = RC_OK;

	out->rows = r->rows;
	out->cells = r->cells;
	out->cells_deduplicated = r->cells_deduplicated;
	out->loaded = r->loaded;
	out->deduplicated = r->deduplicated;
	take_pair(&out->collision, &r->collision, r->collision.found);
	out->cells_hidden = r->cells_hidden;
	for (size_t i = 0; i < CUT_EXAMPLES && i < r->nhidden; i++)
		take_pair(&out->hidden[i], &r->hidden[i], true);
	out->files = mem_calloc(r->nfiles + 1, sizeof *out->files);
	for (size_t i = 0; rc == RC_OK && i < r->nfiles; i++) {
		rc = take_summary(&lt->job->schema, &r->files[i], &out->files[out->nfiles++],
				  folder, err);
		l->reduced = mem_grow(l->reduced, l->nreduced, sizeof *l->reduced);
		l->reduced[l->nreduced++] =
			(struct reduced_file){folder, &r->files[i], table, r->region};
	}
	l->progress->cells += out->cells;
	return rc;
}

static int take_reduce(struct taking *t, const char *folder, struct error *err)
{
	struct load *l = t->l;
	struct reduce_report r;
	int rc = reduce_report_read(&r, folder, &l->result->arena, err);

	if (rc == RC_OK)
		rc = check_reduce(l, &r, folder, err);
	for (size_t i = 0; rc == RC_OK && i < l->job->ntables; i++)
		for (size_t k = 0; rc == RC_OK && k < r.tables[i].nregions; k++) {
			const struct reduce_region *region = &r.tables[i].regions[k];
			const char *name = l->job->tables[i].schema.name;

			if (region->region > l->tables[i].splits.count)
				return error_set(
					err, RC_DATA,
					"%s: found region %zu of table %s, which the plan lacks; "
					"run the reduce with the same plan again",
					folder, region->region, name);
			if (t->seen[i][region->region])
				return error_set(
					err, RC_DATA,
					"%s: found region %zu of table %s, which another reduce "
					"also has; remove one of the two from the command",
					folder, region->region, name);
			t->seen[i][region->region] = true;
			rc = unite_check_region(l, i, region, folder, err);
			if (rc == RC_OK)
				rc = take_region(t, i, region, folder, err);
		}
	return rc;
}

int load_take_reduces(struct load *l, struct error *err)
{
	const struct load_halves *h = l->opt->halves;
	struct taking t = {.l = l};
	int rc = RC_OK;

	t.seen = mem_calloc(l->job->ntables, sizeof *t.seen);
	for (size_t i = 0; i < l->job->ntables; i++)
		t.seen[i] = mem_calloc(l->tables[i].splits.count + 1, sizeof **t.seen);
	rc = unite_find_totals(l, err);
	for (size_t i = 0; rc == RC_OK && i < h->nreduces; i++)
		rc = take_reduce(&t, h->reduces[i], err);
	if (rc == RC_OK)
		rc = unite_check_seen(l, t.seen, err);
	for (size_t i = 0; i < l->job->ntables; i++)
		mem_free(t.seen[i]);
	mem_free(t.seen);
	return rc;
}

/* Remove files that other attempts of reduces sent to the folders of the load in S3. */
static int remove_strays(struct load *l, struct error *err)
{
	struct storage *to = staging_storage(l->staging);
	const char **paths = mem_alloc((l->nreduced + 1) * sizeof *paths);
	int rc = RC_OK;

	for (size_t i = 0; i < l->nreduced; i++)
		paths[i] = l->reduced[i].file->path;
	for (size_t t = 0; t < l->job->ntables; t++) {
		const struct table *schema = &l->job->tables[t].schema;
		char *dir = table_dir("", schema->name);

		for (size_t f = 0; rc == RC_OK && f < schema->nfamilies; f++) {
			char *folder =
				mem_format("%s/hfiles/%s", dir + 1, schema->families[f].name);

			rc = sent_files_sweep(to, staging_path(l->staging), folder, paths,
					      l->nreduced, err);
			mem_free(folder);
		}
		mem_free(dir);
	}
	mem_free(paths);
	return rc;
}

int load_bring_files(struct load *l, struct error *err)
{
	l->brings = true;
	progress_begin(l->progress, "publishing", PROGRESS_FILES, l->nreduced);
	int rc = pool_run(l->threads, l->nreduced, take_file, l, err);
	if (rc == RC_OK && l->opt->halves && l->opt->halves->hfiles && staging_folder(l->staging))
		rc = remove_strays(l, err);
	progress_begin(l->progress, "publishing", PROGRESS_SECONDS, 0);
	return rc;
}

static int give_reduce_back(const struct load *l, const char *reduce, struct storage *s,
			    const char *folder, struct error *err)
{
	struct arena arena = {0};
	struct reduce_report r;
	struct error ignored;
	/* a reduce without a readable report did not move files */
	bool known = reduce_report_read(&r, reduce, &arena, &ignored) == RC_OK &&
		     r.ntables == l->job->ntables;
	int rc = RC_OK;

	for (size_t t = 0; known && t < r.ntables; t++)
		for (size_t k = 0; k < r.tables[t].nregions; k++) {
			const struct reduce_region *region = &r.tables[t].regions[k];

			for (size_t i = 0; rc == RC_OK && i < region->nfiles; i++)
				if (path_is_ours(&l->job->tables[t].schema, &region->files[i]))
					rc = sent_files_give_back(s, l->opt->halves->hfiles, t,
								  region->region, &region->files[i],
								  folder, err);
		}
	arena_release(&arena);
	return rc;
}

int load_give_back(void *ctx, struct storage *s, const char *folder, struct error *err)
{
	const struct load *l = ctx;
	const struct load_halves *h = l->opt->halves;
	int rc = RC_OK;

	if (l->staging && !l->brings)
		return RC_OK;
	for (size_t i = 0; rc == RC_OK && i < h->nreduces; i++)
		rc = give_reduce_back(l, h->reduces[i], s, folder, err);
	return rc;
}
