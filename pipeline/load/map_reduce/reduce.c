/*
 * reduce.c - turn the sorted rows of some regions, from all slices, into HFiles
 *
 * Pieces may arrive in any order. A seq is unique in the whole input, so the files do not depend on
 * the order. After the last piece, reduce checks that it got each piece of each slice exactly once.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "arrivals.h"
#include "publish.h"
#include "load.h"
#include "io.h"
#include "mem.h"
#include "pass.h"
#include "pool.h"
#include "half_reports.h"
#include "cut.h"

/* Regions [first, end) of a table. */
struct wanted_piece {
	size_t first, end;
};

struct reducing {
	const struct job *job;
	const struct reduce_options *opt;
	struct progress *progress;
	struct pass pass;
	struct staging *staging;
	struct maps maps; /* empty if pieces come from standard input */
	/* [nbases], the bytes of all inputs before each input, as maps report them */
	uint64_t *bases;
	size_t nbases; /* 0 if pieces come from standard input */
	int64_t created_ms;
	struct wanted_piece *wanted; /* [ntables] */
	struct arrivals *sources; /* [nsources], one for each map's folder, or for standard input */
	size_t nsources;
	struct cut_table *cuts;	     /* [ntables] */
	struct cut_result **results; /* [ntables][regions of the table] */
};

/* --- the wanted regions --- */

static size_t regions_of(const struct reducing *r, size_t table)
{
	return r->opt->plan->tables[table].splits.count + 1;
}

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

/* --- pieces --- */

static int check_head(const struct reducing *r, const struct piece_head *h, const char *name,
		      struct error *err)
{
	if (memcmp(h->plan, r->opt->plan->identity, sizeof h->plan) != 0)
		return error_set(err, RC_DATA,
				 "%s: found a piece of another plan, job or version of saltmill; "
				 "run map again for this input",
				 name);
	if (h->table >= r->job->ntables || h->region < r->wanted[h->table].first ||
	    h->region >= r->wanted[h->table].end)
		return error_set(
			err, RC_DATA,
			"%s: found a piece of table %u, region %u, expected only regions of "
			"this reduce",
			name, h->table, h->region);
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

/* Convert a seq of such a load back to a seq of a map. */
static uint64_t file_seq(const struct reducing *r, uint64_t seq)
{
	size_t number = 0;

	if (r->nbases == 0)
		return seq;
	while (number + 1 < r->nbases && r->bases[number + 1] <= seq)
		number++;
	return SOURCE_FILE_SEQ(number) + (seq - r->bases[number]);
}

/* The state of one thread that reads pieces. */
struct reduce_taking {
	struct piece_reader reader;
	/* [ntables], the previous piece, with 0 records before the first piece */
	struct piece_head *last;
	/* [ntables], bytes of this map's wanted pieces, all in order; NULL if unknown */
	uint64_t *wanted;
	struct buf stored; /* head and stored bytes */
};

/*
 * Return true if `h` continues the slice of `last`. The pieces of a slice are in order, and so are
 * their records.
 */
static bool goes_on(const struct piece_head *last, const struct piece_head *h)
{
	return last->records > 0 && last->slice == h->slice &&
	       (h->region > last->region ||
		(h->region == last->region && h->number == last->number + 1));
}

/* Pass the records of the piece in `t->stored` to the sorter. */
static int take_records(struct reducing *r, unsigned worker, struct reduce_taking *t,
			const struct piece_head *h, const char *name, struct error *err)
{
	struct sorter *sorter = r->pass.tables[h->table].sorter;
	struct run_builder *b = sorter_builder(sorter, worker);
	struct ordered_record row;
	size_t number = (size_t)(h->slice >> 44);
	uint64_t wanted = t->wanted ? t->wanted[h->table] : 0;
	uint64_t less = number < r->nbases ? SOURCE_FILE_SEQ(number) - r->bases[number] : 0;
	int rc = piece_open(&t->reader, h, t->stored.ptr, t->stored.ptr + PIECE_HEAD_BYTES,
			    row_secondary_bytes(r->pass.plan, h->table), name, err);

	if (rc)
		return rc;
	rc = run_builder_stretch(b, wanted > h->plain ? wanted : h->plain,
				 goes_on(&t->last[h->table], h), err);
	t->last[h->table] = *h;
	while (rc == RC_OK && (rc = piece_next(&t->reader, &row, name, err)) == RC_OK) {
		row.rec.seq -= less;
		rc = run_builder_add_behind(b, &row, err);
		if (rc)
			return rc;
	}
	return rc == RC_END ? RC_OK : rc;
}

/* A range of a file, or standard input. */
struct piece_input {
	int fd;
	const char *name;
	bool stream;
	uint64_t at;
};

/* Read `len` bytes. Set `*end` if the input ended before the first byte. */
static int read_bytes(struct piece_input *in, uint8_t *to, size_t len, bool *end, struct error *err)
{
	size_t got = 0;

	*end = false;
	while (in->stream && got < len) {
		ssize_t n = read(in->fd, to + got, len - got);

		if (n < 0)
			return error_errno(err, "%s", in->name);
		if (n == 0 && got == 0) {
			*end = true;
			return RC_OK;
		}
		if (n == 0)
			return error_set(
				err, RC_IO,
				"%s: found the end within a piece, expected complete pieces; "
				"send the map's output again",
				in->name);
		got += (size_t)n;
	}
	int rc = in->stream ? RC_OK : io_pread(in->fd, to, len, in->at, in->name, err);
	in->at += len;
	return rc;
}

static int take_piece(struct reducing *r, unsigned worker, struct piece_input *in,
		      struct reduce_taking *t, struct arrivals *seen, bool *end, struct error *err)
{
	struct piece_head h;
	bool short_end;

	t->stored.len = 0;
	uint8_t *p = buf_reserve(&t->stored, PIECE_HEAD_BYTES);
	int rc = read_bytes(in, p, PIECE_HEAD_BYTES, end, err);
	if (rc || *end)
		return rc;
	rc = piece_head_read(&h, p, in->name, err);
	if (rc == RC_OK)
		rc = check_head(r, &h, in->name, err);
	if (rc)
		return rc;
	t->stored.len = PIECE_HEAD_BYTES;
	p = buf_reserve(&t->stored, h.stored + RECORD_ROOM_BYTES);
	rc = read_bytes(in, p, h.stored, &short_end, err);
	if (rc == RC_OK && short_end)
		rc = error_set(
			err, RC_IO,
			"%s: found the end within a piece, expected complete pieces; send the "
			"map's output again",
			in->name);
	if (rc == RC_OK)
		rc = take_records(r, worker, t, &h, in->name, err);
	if (rc == RC_OK)
		arrivals_note(seen, &h);
	progress_add(r->progress, PIECE_HEAD_BYTES + h.stored);
	return rc ? rc : stop_check(err);
}

static void taking_release(struct reduce_taking *t)
{
	piece_reader_release(&t->reader);
	mem_free(t->last);
	mem_free(t->wanted);
	buf_release(&t->stored);
}

/* Read the pieces of a region from one map's file. */
static int take_region(struct reducing *r, unsigned worker, size_t source, struct piece_input *in,
		       struct reduce_taking *t, const struct map_region *region, struct error *err)
{
	uint64_t end_at = region->offset + region->bytes;
	struct arrivals *seen = &r->sources[source];
	bool end = false;
	int rc = RC_OK;

	in->at = region->offset;
	while (rc == RC_OK && in->at < end_at) {
		rc = take_piece(r, worker, in, t, seen, &end, err);
		const struct arrival *last = seen->n ? &seen->item[seen->n - 1] : NULL;
		if (rc == RC_OK && (last->region != region->region ||
				    last->slice != map_slice(&r->maps.reports[source])))
			rc = error_set(err, RC_IO,
				       "%s: found other pieces than in the map's "
				       "report; run map again",
				       in->name);
	}
	return rc;
}

static int take_map(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct reducing *r = ctx;
	const struct map_report *m = &r->maps.reports[index];
	struct reduce_taking t = {.last = mem_calloc(r->job->ntables, sizeof *t.last),
				  .wanted = mem_calloc(r->job->ntables, sizeof *t.wanted)};
	char *path = mem_format("%s/runs", m->folder);
	struct piece_input in = {.name = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
	int rc = in.fd < 0 ? error_errno(err, "%s", path) : RC_OK;

	for (size_t i = 0; rc == RC_OK && i < r->job->ntables; i++) {
		t.wanted[i] = map_bytes(&m->tables[i], r->wanted[i].first, r->wanted[i].end);
		for (size_t k = 0; rc == RC_OK && k < m->tables[i].nregions; k++) {
			const struct map_region *region = &m->tables[i].regions[k];

			if (region->region >= r->wanted[i].first &&
			    region->region < r->wanted[i].end)
				rc = take_region(r, worker, index, &in, &t, region, err);
		}
	}
	if (in.fd >= 0)
		close(in.fd);
	taking_release(&t);
	mem_free(path);
	return rc;
}

static int take_stream(struct reducing *r, struct error *err)
{
	struct reduce_taking t = {.last = mem_calloc(r->job->ntables, sizeof *t.last)};
	struct piece_input in = {.name = "standard input", .fd = STDIN_FILENO, .stream = true};
	bool end = false;
	int rc = RC_OK;

	while (rc == RC_OK && !end)
		rc = take_piece(r, 0, &in, &t, &r->sources[0], &end, err);
	taking_release(&t);
	return rc;
}

/* Return the bytes of the wanted pieces in the folders of maps, or 0 for standard input. */
static uint64_t wanted_bytes(const struct reducing *r)
{
	uint64_t n = 0;

	for (size_t m = 0; m < r->maps.n; m++)
		for (size_t t = 0; t < r->job->ntables; t++)
			n += map_bytes(&r->maps.reports[m].tables[t], r->wanted[t].first,
				       r->wanted[t].end);
	return n;
}

static int read_pieces(struct reducing *r, struct error *err)
{
	const struct memory_plan *memory = &r->pass.memory;
	uint64_t held = 3 * PIECE_BYTES * memory->threads;
	bool stream = r->maps.n == 0;

	r->nsources = stream ? 1 : r->maps.n;
	r->sources = mem_calloc(r->nsources, sizeof *r->sources);
	progress_begin(r->progress, "reading", PROGRESS_BYTES, wanted_bytes(r));
	budget_force(&r->pass.budget, held);
	int rc = stream ? take_stream(r, err)
			: pool_run(memory->threads, r->maps.n, take_map, r, err);
	budget_give(&r->pass.budget, held);
	if (rc == RC_OK)
		rc = pass_flush(&r->pass, err);
	return rc ? rc : arrivals_unite(r->sources, r->nsources, err);
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

/* --- the report --- */

static void describe_slices(const struct reducing *r, size_t table, struct reduce_region *out,
			    size_t *at, struct arena *a)
{
	const struct arrivals *all = &r->sources[0];
	size_t end = *at;

	while (end < all->n && all->item[end].table == table &&
	       all->item[end].region == out->region)
		end++;
	out->total.found = r->opt->totals;
	out->slices = arena_alloc(a, (end - *at + 1) * sizeof *out->slices);
	for (; *at < end; ++*at) {
		const struct arrival *p = &all->item[*at];

		if (r->opt->totals) {
			out->total.records += p->records;
			out->total.digest = (int64_t)((uint64_t)out->total.digest + p->mark);
			continue;
		}
		if (p->number == 0)
			out->slices[out->nslices++] = (struct reduce_slice){.slice = p->slice};
		struct reduce_slice *s = &out->slices[out->nslices - 1];
		s->records += p->records;
		s->digest = (int64_t)((uint64_t)s->digest + p->mark);
	}
}

static struct reduce_collision describe_pair(const struct reducing *r,
					     const struct cut_collision *c, struct arena *a)
{
	return (struct reduce_collision){.found = c->found,
					 .row = arena_bytes(a, buf_bytes(&c->row)),
					 .lost = file_seq(r, c->lost),
					 .kept = file_seq(r, c->kept)};
}

static void describe_region(const struct reducing *r, size_t table, struct reduce_region *out,
			    struct arena *a)
{
	const struct cut_result *c = &r->results[table][out->region];

	out->rows = c->rows;
	out->cells = c->cells;
	out->cells_deduplicated = c->cells_deduplicated;
	out->loaded = c->loaded;
	out->deduplicated = c->deduplicated;
	out->collision = describe_pair(r, &c->collision, a);
	out->cells_hidden = c->cells_hidden;
	out->hidden = arena_alloc(a, CUT_EXAMPLES * sizeof *out->hidden);
	for (size_t i = 0; i < CUT_EXAMPLES && c->hidden[i].found; i++)
		out->hidden[out->nhidden++] = describe_pair(r, &c->hidden[i], a);
	out->files = arena_alloc(a, (c->nfiles + 1) * sizeof *out->files);
	for (out->nfiles = 0; out->nfiles < c->nfiles; out->nfiles++)
		manifest_describe_file(&out->files[out->nfiles], a, &r->job->tables[table].schema,
				       c->files[out->nfiles].family, out->region,
				       &c->files[out->nfiles].sum);
}

static void describe(const struct reducing *r, struct reduce_report *out, struct arena *a)
{
	size_t at = 0;

	*out = (struct reduce_report){.program = SALTMILL_VERSION,
				      .created_ms = r->created_ms,
				      .ntables = r->job->ntables};
	memcpy(out->plan, r->opt->plan->identity, sizeof out->plan);
	out->tables = arena_alloc(a, out->ntables * sizeof *out->tables);
	for (size_t t = 0; t < out->ntables; t++) {
		struct reduce_table *table = &out->tables[t];
		const struct wanted_piece *w = &r->wanted[t];

		table->name = arena_strdup(a, r->job->tables[t].schema.name);
		table->nregions = w->end - w->first;
		table->regions = arena_alloc(a, (table->nregions + 1) * sizeof *table->regions);
		for (size_t i = 0; i < table->nregions; i++) {
			table->regions[i].region = w->first + i;
			describe_slices(r, t, &table->regions[i], &at, a);
			describe_region(r, t, &table->regions[i], a);
		}
	}
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
		rc = read_pieces(&r, err);
	if (rc == RC_OK)
		rc = write_files(&r, err);
	if (rc == RC_OK) {
		describe(&r, out, a);
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
