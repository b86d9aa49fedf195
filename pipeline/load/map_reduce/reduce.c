/*
 * reduce.c - turn the sorted rows of some regions, from all slices, into HFiles
 *
 * Pieces may arrive in any order. A seq is unique in the whole input, so the files do not depend on
 * the order. After the last piece, reduce checks that it got each piece of each slice exactly once.
 */
#include "reducing.h"

#include <string.h>

#include "io.h"
#include "mem.h"

/* --- the wanted regions --- */

static int choose_regions(struct reducing *r, struct error *err)
{
	const struct reduce_options *o = r->opt;
	size_t all = 0, before = 0;

	r->wanted = mem_calloc(r->job->ntables, sizeof *r->wanted);
	if (!o->parts) {
		r->wanted[o->table] = (struct wanted_piece){o->first, o->end};
		if (o->end > regions_of(r, o->table) || o->first >= o->end)
			return error_set(err, RC_CONFIG,
					 "table %s: found regions that are not in the plan, "
					 "expected 0 to %zu",
					 r->job->tables[o->table].schema.name,
					 regions_of(r, o->table) - 1);
		return RC_OK;
	}
	for (size_t t = 0; t < r->job->ntables; t++)
		all += regions_of(r, t);
	size_t from = all * (o->part - 1) / o->parts, to = all * o->part / o->parts;
	for (size_t t = 0; t < r->job->ntables; t++) {
		size_t n = regions_of(r, t), end = before + n;

		r->wanted[t].first = from < before ? 0 : from < end ? from - before : n;
		r->wanted[t].end = to < before ? 0 : to < end ? to - before : n;
		if (r->wanted[t].first > r->wanted[t].end)
			r->wanted[t].first = r->wanted[t].end;
		before = end;
	}
	return RC_OK;
}

/*
 * Compute the bases, which convert a seq of a map to a seq of one load of all inputs. The seqs of
 * such a load have no gaps between files. Messages then name the same places as such a load.
 */
static void find_bases(struct reducing *r, struct arena *a)
{
	if (r->maps.n == 0)
		return;
	r->nbases = (size_t)r->maps.reports[r->maps.n - 1].number + 1;
	r->bases = arena_alloc(a, (r->nbases + 1) * sizeof *r->bases);
	for (size_t i = 0; i < r->maps.n; i++) {
		const struct map_report *m = &r->maps.reports[i];
		uint64_t *end = &r->bases[m->number + 1];

		*end = m->seqs > *end ? m->seqs : *end;
	}
	for (size_t i = 0; i < r->nbases; i++)
		r->bases[i + 1] += r->bases[i];
}

/* --- writing --- */

static int make_folders(const struct reducing *r, size_t table, struct error *err)
{
	const struct table *schema = &r->job->tables[table].schema;
	char *dir = table_dir(staging_path(r->staging), schema->name);
	int rc = table_make_dir(dir, schema->name, err);

	if (rc == RC_OK)
		rc = io_make_dir(r->cuts[table].hfiles_dir, err);
	for (size_t i = 0; rc == RC_OK && i < schema->nfamilies; i++) {
		char *family =
			mem_format("%s/%s", r->cuts[table].hfiles_dir, schema->families[i].name);

		rc = io_make_dir(family, err);
		mem_free(family);
	}
	mem_free(dir);
	return rc;
}

static int open_tables(struct reducing *r, struct arena *a, struct error *err)
{
	int rc = RC_OK;

	r->cuts = mem_calloc(r->job->ntables, sizeof *r->cuts);
	r->results = mem_calloc(r->job->ntables, sizeof *r->results);
	for (size_t t = 0; rc == RC_OK && t < r->job->ntables; t++) {
		const struct kept_table *kept = &r->opt->plan->tables[t];
		char *dir = table_dir(staging_path(r->staging), r->job->tables[t].schema.name);

		r->cuts[t] = pass_cut_table(&r->pass, t);
		r->cuts[t].created_ms = r->created_ms;
		r->cuts[t].hfiles_dir = mem_format("%s/hfiles", dir);
		if (kept->tuned)
			tuning_apply(&r->cuts[t], kept->tuned, a);
		r->results[t] = mem_calloc(regions_of(r, t), sizeof **r->results);
		mem_free(dir);
		rc = make_folders(r, t, err);
	}
	return rc;
}

static int write_files(struct reducing *r, struct error *err)
{
	size_t n = r->job->ntables;
	uint64_t most = 0;
	struct write_table *tables = mem_calloc(n, sizeof *tables);

	for (size_t t = 0; t < n; t++) {
		uint64_t each = write_memory(&r->cuts[t]);

		most = each > most ? each : most;
		tables[t] = (struct write_table){.cut = &r->cuts[t],
						 .splits = &r->opt->plan->tables[t].splits,
						 .first = r->wanted[t].first,
						 .end = r->wanted[t].end,
						 .results = r->results[t]};
	}
	unsigned threads = memory_writers(&r->pass.memory, most);
	budget_force(&r->pass.budget, most * threads);
	int rc = pass_sort(&r->pass, err);
	if (rc == RC_OK)
		rc = write_regions(tables, n, threads, r->progress, err);
	mem_free(tables);
	return rc;
}

/* --- the whole reduce --- */

static int find_time(struct reducing *r, struct error *err)
{
	const struct reduce_options *o = r->opt;
	bool stream = o->nmaps == 1 && strcmp(o->maps[0], "-") == 0;

	r->created_ms = o->created_ms;
	if (stream && o->created_ms < 0)
		return error_set(
			err, RC_CONFIG,
			"standard input does not contain the newest cell time of all slices; "
			"add --created MS, which `saltmill unite` prints for the maps");
	if (stream)
		return RC_OK;
	if (o->nmaps == 0)
		return error_set(err, RC_CONFIG,
				 "found no maps, expected the folders of all "
				 "maps");
	int rc = maps_read(&r->maps, o->plan, o->maps, o->nmaps, err);
	if (rc == RC_OK && o->created_ms < 0)
		rc = maps_check(&r->maps, 0, err);
	if (rc == RC_OK && o->created_ms < 0)
		rc = maps_created(&r->maps, &r->created_ms, err);
	return rc;
}

static int open_all(struct reducing *r, struct arena *a, struct error *err)
{
	const struct run_options *common = r->opt->common;
	const struct pass_options po = {.job = r->job,
					.run = common,
					.columns = r->opt->plan->columns,
					.ncolumns = r->opt->plan->ncolumns,
					.progress = r->progress};
	bool removed;
	int rc = choose_regions(r, err);

	if (rc == RC_OK)
		rc = find_time(r, err);
	if (rc == RC_OK)
		find_bases(r, a);
	if (rc == RC_OK)
		rc = pass_open(&r->pass, &po, err);
	if (rc == RC_OK)
		rc = staging_open(&r->staging, r->opt->output_dir, &removed, err);
	if (rc == RC_OK)
		rc = pass_prepare(&r->pass,
				  common->temp_dir ? common->temp_dir : staging_path(r->staging),
				  err);
	return rc ? rc : open_tables(r, a, err);
}

static void close_all(struct reducing *r)
{
	for (size_t t = 0; r->cuts && t < r->job->ntables; t++) {
		char *dir = (char *)(uintptr_t)r->cuts[t].hfiles_dir;

		for (size_t i = 0; r->results[t] && i < regions_of(r, t); i++)
			cut_result_release(&r->results[t][i]);
		mem_free(r->results[t]);
		mem_free(dir);
	}
	for (size_t i = 0; r->sources && i < r->nsources; i++)
		mem_free(r->sources[i].item);
	mem_free(r->sources);
	mem_free(r->results);
	mem_free(r->cuts);
	mem_free(r->wanted);
	pass_close(&r->pass);
	maps_release(&r->maps);
	staging_abort(r->staging);
}

int reduce_run(const struct job *job, const struct reduce_options *o, struct progress *progress,
	       struct reduce_report *out, struct arena *a, struct error *err)
{
	struct reducing r = {.job = job, .opt = o, .progress = progress};
	int rc = open_all(&r, a, err);

	if (rc == RC_OK)
		rc = reducing_read(&r, err);
	if (rc == RC_OK)
		rc = write_files(&r, err);
	if (rc == RC_OK) {
		reducing_describe(&r, out, a);
		rc = reduce_report_write(out, staging_path(r.staging), err);
	}
	if (rc == RC_OK && o->hfiles)
		rc = sent_files_send(out, staging_path(r.staging), o->hfiles, o->place, err);
	if (rc == RC_OK)
		rc = staging_publish(r.staging, err);
	if (rc == RC_OK)
		r.staging = NULL;
	close_all(&r);
	return rc;
}
