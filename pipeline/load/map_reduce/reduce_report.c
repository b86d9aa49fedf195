/* reduce_report.c - describe what a reduce read and wrote */
#include "reducing.h"

#include <string.h>

#include "publish.h"

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

void reducing_describe(const struct reducing *r, struct reduce_report *out, struct arena *a)
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
