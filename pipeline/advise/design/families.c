/* families.c - settings of the families that follow from the questions */
#include <math.h>
#include <stdio.h>

#include "explain_designs.h"

#define SMALL_READ  8192.0
#define LARGE_READ  1048576.0
#define SMALL_BLOCK (16u << 10)
#define USUAL_BLOCK (64u << 10)
#define LARGE_BLOCK (128u << 10)
#define NO_QUESTION SIZE_MAX
#define FLUSH_BYTES (128.0 * (1 << 20)) /* hbase.hregion.memstore.flush.size */
#define FEW_FILES   0.5			/* a filter helps if fewer files have the rows */
#define FAR_BYTES   4			/* families differ by this factor in bytes */

/* Return true if the question gets single rows of the table. An index gets rows of table 0. */
static bool gets_rows(const struct designer *d, const struct combination *c, size_t q, size_t t)
{
	size_t by = c->answered_by[q];

	return by == t ? d->keys[c->key[t]].cost[q].plan == DESIGN_GET : t == 0 && c->index[by];
}

/* --- Bloom filter and block size --- */

/* The prefix that a question of a table fixes. */
struct fixed_prefix {
	size_t ask;
	uint32_t bytes;
	double files; /* share of the flushed files of a region that have rows of a prefix */
};

/* Return the share of the files that have a row of the question's prefix, at most 1. */
static double files_with(const struct designer *d, const struct measured_key *k,
			 const struct ask *ask)
{
	double entities = 1, flush = FLUSH_BYTES / (k->row_bytes > 0 ? k->row_bytes : 1);

	for (size_t i = 0; i < ask->nequals; i++)
		entities = fmax(entities, (double)d->e->column[ask->equal[i]].distinct);
	entities *= d->load->grow_time ? 1 : fmax(1, d->load->faster);
	/* a region that is not flushed twice has one file */
	if (d->load->rows < 2 * flush * (double)k->regions)
		return 1;
	return fmin(1, flush * (double)k->regions / entities);
}

/* Find the shortest prefix of constant length that the ranges of the table's questions have. */
static struct fixed_prefix prefix_of(const struct designer *d, const struct combination *c,
				     size_t t)
{
	const struct measured_key *k = &d->keys[c->key[t]];
	struct fixed_prefix p = {.files = 1};

	for (size_t q = 0; q < d->asks->n; q++) {
		const struct cost *cost = &k->cost[q];

		if (c->answered_by[q] != t || cost->plan != DESIGN_RANGE || !cost->fixed ||
		    (p.bytes && cost->fixed >= p.bytes))
			continue;
		p = (struct fixed_prefix){q, cost->fixed, files_with(d, k, &d->asks->ask[q])};
	}
	return p;
}

/* Choose the Bloom filter of a table, and set the reason. */
static void advise_bloom(const struct designer *d, const struct combination *c, size_t t,
			 struct design_table *out, struct arena *a)
{
	const struct fixed_prefix p = prefix_of(d, c, t);
	size_t get = NO_QUESTION;
	bool columns = true, read = false;

	for (size_t q = 0; q < d->asks->n; q++) {
		read = read || c->answered_by[q] == t;
		if (!gets_rows(d, c, q, t))
			continue;
		get = q;
		columns = columns && d->asks->ask[q].ncolumns;
	}
	out->bloom = get == NO_QUESTION ? BLOOM_NONE : columns ? BLOOM_ROWCOL : BLOOM_ROW;
	if (get != NO_QUESTION) {
		out->advice = arena_format(a, "q%zu gets single %s", get + 1,
					   columns ? "columns" : "rows");
	} else if (p.bytes && p.files < FEW_FILES) {
		out->bloom = BLOOM_ROWPREFIX;
		out->bloom_prefix = p.bytes;
		out->advice = arena_format(a,
					   "q%zu fixes the first %u bytes, and at most %.2g %% of "
					   "the files of 128 MB have rows of a prefix",
					   p.ask + 1, p.bytes, 100 * p.files);
	} else {
		out->advice = read ? "its questions read ranges, which no Bloom filter helps"
				   : "no question reads it";
	}
}

void families_advise(const struct designer *d, const struct combination *c, const struct design *g,
		     size_t t, struct arena *a)
{
	struct design_table *out = &g->tables[t];
	size_t heavy = NO_QUESTION;
	char bytes[16];

	advise_bloom(d, c, t, out, a);
	out->block_bytes = USUAL_BLOCK;
	for (size_t q = 0; q < g->nanswers; q++)
		if (g->answers[q].table == t &&
		    (heavy == NO_QUESTION || g->answers[q].servers > g->answers[heavy].servers))
			heavy = q;
	if (heavy == NO_QUESTION)
		return;
	double read = g->answers[heavy].bytes.median;
	out->block_bytes = read < SMALL_READ   ? SMALL_BLOCK
			   : read > LARGE_READ ? LARGE_BLOCK
					       : USUAL_BLOCK;
	out->advice = arena_format(a, "%s; q%zu reads %s", out->advice, heavy + 1,
				   format_bytes(bytes, (uint64_t)read));
}

/* --- TTL, versions and families --- */

/* Return true if the cells of the job have this time as their timestamps. */
static bool is_timestamp(const struct designer *d, size_t field)
{
	const struct job_table *t = &d->e->job->tables[0];

	return !t->timestamp_constant && t->timestamp_field == field;
}

double families_window(const struct designer *d)
{
	uint64_t most = 0;

	for (size_t q = 0; q < d->asks->n; q++) {
		const struct ask *k = &d->asks->ask[q];
		uint64_t span = 0;

		for (size_t h = 0; h < k->nholes; h++)
			if (k->hole[h].kind == HOLE_LAST)
				span = k->hole[h].span;
		if (!span || k->range == SIZE_MAX || !is_timestamp(d, k->range))
			return 0;
		most = span > most ? span : most;
	}
	return (double)most / 1000;
}

static void note_window(const struct designer *d, struct buf *out)
{
	double window = families_window(d), kept = d->load->rows / d->load->writes;

	if (window <= 0 || d->load->writes <= 0 || kept <= window)
		return;
	buf_printf(out,
		   window < 2 * 86400 ? "no question reads events older than %.3g hours"
				      : "no question reads events older than %.3g days",
		   window / (window < 2 * 86400 ? 3600 : 86400));
	buf_printf(out, ": `ttl: %.0fs` keeps %.2g %% of the rows, if nobody needs the others\n",
		   ceil(window), 100 * window / kept);
}

static bool same_equals(const struct ask *a, const struct ask *b)
{
	bool same = a->nequals == b->nequals;

	for (size_t i = 0; same && i < a->nequals; i++) {
		bool found = false;

		for (size_t k = 0; k < b->nequals; k++)
			found = found || a->equal[i] == b->equal[k];
		same = found;
	}
	return same;
}

/* Note that versions suffice, if all questions want the newest events of the same entity. */
static void note_versions(const struct designer *d, struct buf *out)
{
	const struct ask *first = &d->asks->ask[0];
	uint64_t most = 0, kept = 0, *counts;

	for (size_t q = 0; q < d->asks->n; q++) {
		const struct ask *k = &d->asks->ask[q];

		if (!k->latest || !k->nequals || k->nfixed || !is_timestamp(d, k->time) ||
		    k->range != SIZE_MAX || k->starts != SIZE_MAX || !same_equals(first, k))
			return;
		most = k->latest > most ? k->latest : most;
	}
	size_t rows = entity_counts(d->e, first->equal, first->nequals, &counts);
	for (size_t i = 0; i < rows; i++)
		kept += counts[i] < most ? counts[i] : most;
	mem_free(counts);
	if (most && kept < d->e->n / 2) {
		buf_printf(
			out,
			"all questions want at most the latest %llu events: a row for each %s, with "
			"`versions: %llu`, keeps %llu of %zu events, and loses the older ones\n",
			(unsigned long long)most, d->e->job->fields[first->equal[0]].name,
			(unsigned long long)most, (unsigned long long)kept, d->e->n);
	}
}

/* Return the mean bytes of an event's cells with the question's columns; 0 if one is missing. */
static double column_bytes(const struct designer *d, const struct ask *k)
{
	const struct job_table *t = &d->e->job->tables[0];
	double bytes = 0;

	for (size_t i = 0; i < k->ncolumns; i++) {
		bool found = false;

		for (size_t c = 0; c < t->ncells; c++)
			if (t->cells[c].kind == VALUE_FIELD && t->cells[c].family == 0 &&
			    strcmp(d->e->job->fields[t->cells[c].field].name, k->columns[i]) == 0) {
				bytes += d->e->cell_mean[c].bytes;
				found = true;
			}
		if (!found)
			return 0;
	}
	return bytes;
}

static bool disjoint(const struct ask *a, const struct ask *b)
{
	for (size_t i = 0; i < a->ncolumns; i++)
		for (size_t k = 0; k < b->ncolumns; k++)
			if (strcmp(a->columns[i], b->columns[k]) == 0)
				return false;
	return true;
}

/* Note two questions whose columns should be in families of their own. */
static void note_families(const struct designer *d, struct buf *out)
{
	for (size_t q = 0; q < d->asks->n; q++)
		if (!d->asks->ask[q].ncolumns)
			return;
	for (size_t q = 0; q < d->asks->n; q++)
		for (size_t o = 0; o < d->asks->n; o++) {
			double few = column_bytes(d, &d->asks->ask[q]);
			double many = column_bytes(d, &d->asks->ask[o]);

			if (few <= 0 || many <= FAR_BYTES * few ||
			    !disjoint(&d->asks->ask[q], &d->asks->ask[o]))
				continue;
			buf_printf(out,
				   "the columns of q%zu (%.0f bytes an event) and q%zu (%.0f) are "
				   "disjoint: in two families, q%zu does not read the columns of "
				   "q%zu\n",
				   q + 1, few, o + 1, many, q + 1, o + 1);
			return;
		}
}

void families_note(const struct designer *d, struct buf *out)
{
	note_window(d, out);
	note_versions(d, out);
	note_families(d, out);
}
