/*
 * lint_watch.c - count the rows of a table
 *
 * The watch compares the order of keys with the order of events in a piece of input (about 1 MB). A
 * key is rising if it is greater than all earlier keys in the piece, and falling if it is less than
 * all of them. In random order, ln(n) of n rows are rising.
 */
#include "counts.h"
#include "pass.h"

#define UNIQUE_GROUPS (1u << 15) /* largest number of groups in all tables (4 MB of memory) */

const struct key_part *lint_wide_part(const struct job_table *t)
{
	for (size_t i = 0; i < t->ncells; i++)
		for (size_t k = 0; k < t->cells[i].nqualifier; k++)
			if (t->cells[i].qualifier[k].kind == PART_FIELD && !t->cells[i].marker)
				return &t->cells[i].qualifier[k];
	return NULL;
}

uint64_t *lint_buckets_new(const struct job_table *t)
{
	const struct key_part *p = &t->rowkey[0];

	if (p->kind != PART_SALT || !p->nof || p->buckets < 2)
		return NULL;
	return mem_calloc(p->buckets, sizeof(uint64_t));
}

static void count_bucket(const struct job_table *t, struct table_count *c, struct bytes key)
{
	uint32_t bucket = 0;

	for (uint32_t i = 0; i < t->rowkey[0].width && i < key.len; i++)
		bucket = bucket << 8 | key.ptr[i];
	if (bucket < t->rowkey[0].buckets)
		c->buckets[bucket]++;
}

struct lint_watch *lint_watch_new(const struct job *job, const struct row_plan *plan,
				  unsigned workers, unsigned every)
{
	struct lint_watch *w = mem_calloc(1, sizeof *w);
	size_t most_cells = 1, most_parts = 1;

	w->job = job;
	w->plan = plan;
	w->nworkers = workers;
	w->every = every;
	w->keys = mem_calloc(job->ntables, sizeof *w->keys);
	w->unique = mem_calloc(job->ntables, sizeof(struct unique *));
	w->splits = mem_calloc(job->ntables, sizeof *w->splits);
	for (size_t t = 0; t < job->ntables; t++) {
		size_t cells = row_max_cells(plan, t);
		struct error ignored; /* the user of the split points reports the error */

		regions_without_data(job, &job->tables[t], &w->splits[t], NULL, &ignored);

		key_table_open(&w->keys[t], job, &job->tables[t]);
		w->unique[t] = unique_new(UNIQUE_GROUPS / job->ntables);
		most_cells = cells > most_cells ? cells : most_cells;
		if (job->tables[t].nrowkey > most_parts)
			most_parts = job->tables[t].nrowkey;
	}
	w->counts = mem_calloc(workers * job->ntables, sizeof *w->counts);
	w->scratch = mem_calloc(workers, sizeof *w->scratch);
	for (size_t i = 0; i < workers * job->ntables; i++) {
		const struct job_table *t = &job->tables[i % job->ntables];
		struct table_count *c = &w->counts[i];

		c->families = mem_calloc(t->schema.nfamilies, sizeof *c->families);
		c->filled = mem_calloc(t->nrowkey, sizeof *c->filled);
		c->part_bytes = mem_calloc(t->nrowkey, sizeof *c->part_bytes);
		c->regions = mem_calloc(w->splits[i % job->ntables].count + 1, sizeof *c->regions);
		if (lint_wide_part(t))
			c->wide = mem_calloc(WIDE_SLOTS, sizeof *c->wide);
		c->buckets = lint_buckets_new(t);
		c->oldest_ms = INT64_MAX;
		c->newest_ms = INT64_MIN;
	}
	for (unsigned i = 0; i < workers; i++) {
		w->scratch[i].cells = mem_calloc(most_cells, sizeof(struct row_cell));
		w->scratch[i].pieces = mem_calloc(most_parts, sizeof(struct key_piece));
	}
	return w;
}

void lint_watch_free(struct lint_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->nworkers * w->job->ntables; i++) {
		buf_release(&w->counts[i].highest);
		buf_release(&w->counts[i].lowest);
		mem_free(w->counts[i].families);
		mem_free(w->counts[i].filled);
		mem_free(w->counts[i].part_bytes);
		mem_free(w->counts[i].regions);
		mem_free(w->counts[i].wide);
		mem_free(w->counts[i].buckets);
	}
	for (unsigned i = 0; i < w->nworkers; i++) {
		mem_free(w->scratch[i].cells);
		mem_free(w->scratch[i].pieces);
	}
	for (size_t t = 0; t < w->job->ntables; t++) {
		key_table_close(&w->keys[t]);
		unique_free(w->unique[t]);
		splits_release(&w->splits[t]);
	}
	mem_free(w->splits);
	mem_free(w->unique);
	mem_free(w->scratch);
	mem_free(w->counts);
	mem_free(w->keys);
	mem_free(w);
}

static void keep(struct buf *b, struct bytes key)
{
	b->len = 0;
	buf_append(b, key.ptr, key.len);
}

static void count_order(struct table_count *c, struct bytes key)
{
	if (c->in_piece++ == 0) {
		keep(&c->highest, key);
		keep(&c->lowest, key);
	} else if (bytes_cmp(key, buf_bytes(&c->highest)) > 0) {
		keep(&c->highest, key);
		c->rising++;
	} else if (bytes_cmp(key, buf_bytes(&c->lowest)) < 0) {
		keep(&c->lowest, key);
		c->falling++;
	}
}

/* Return true if the text fills a padded part, so that the part has no space for a longer value. */
static bool is_full(const struct layout *l, struct bytes part)
{
	return l->exact ||
	       (part.len > 0 && (l->pad_left ? part.ptr[0] : part.ptr[part.len - 1]) != l->pad);
}

static void count_sampled(struct lint_watch *w, unsigned worker, size_t table,
			  struct table_count *c, const struct record *r, size_t n)
{
	const struct key_schema *s = &w->keys[table].schema;
	struct row_cell *cells = w->scratch[worker].cells;
	struct key_piece *pieces = w->scratch[worker].pieces;
	size_t parts = key_split(s, r->key, pieces);
	uint32_t before = UINT32_MAX;

	c->sampled++;
	c->cells += n;
	for (size_t i = 0; i < n; i++) {
		struct family_count *f = &c->families[cells[i].family];

		f->rows += cells[i].family != before;
		f->bytes += cells[i].cell.qualifier.len + cells[i].cell.value.len;
		before = cells[i].family;
	}
	for (size_t i = 0; i < parts; i++) {
		c->filled[i] += is_full(&s->steps[i].layout, pieces[i].bytes);
		c->part_bytes[i] += pieces[i].bytes.len;
	}
}

void lint_watch_row(struct lint_watch *w, unsigned worker, size_t table, const struct record *r)
{
	struct table_count *c = &w->counts[worker * w->job->ntables + table];
	int64_t ts = row_timestamp(w->plan, table, r);

	c->rows++;
	c->regions[splits_region(&w->splits[table], r->key)]++;
	/* choose rows by the event's number, so that the result does not depend on threads */
	bool sampled = (r->seq * UINT64_C(0x9E3779B97F4A7C15) >> 32 & (w->every - 1)) == 0;
	uint64_t hash = unique_hash(r->key, ts);
	bool wanted = unique_wants(w->unique[table], hash);
	struct row_cell *cells = w->scratch[worker].cells;
	size_t n = sampled || wanted ? row_cells(w->plan, table, r, cells) : 0;
	if (sampled)
		count_sampled(w, worker, table, c, r, n);
	if (wanted)
		unique_add(w->unique[table], hash, r->seq, cells, n);
	if (c->wide)
		c->wide[unique_hash(r->key, 0) % WIDE_SLOTS]++;
	if (c->buckets)
		count_bucket(&w->job->tables[table], c, r->key);
	c->key_bytes += r->key.len;
	c->oldest_ms = ts < c->oldest_ms ? ts : c->oldest_ms;
	c->newest_ms = ts > c->newest_ms ? ts : c->newest_ms;
	count_order(c, r->key);
}

void lint_watch_piece_end(struct lint_watch *w, unsigned worker)
{
	for (size_t t = 0; t < w->job->ntables; t++)
		w->counts[worker * w->job->ntables + t].in_piece = 0;
}

void lint_watch_sum(const struct lint_watch *w, size_t table, struct table_count *sum)
{
	const struct job_table *t = &w->job->tables[table];

	for (unsigned i = 0; i < w->nworkers; i++) {
		const struct table_count *c = &w->counts[i * w->job->ntables + table];

		sum->rows += c->rows;
		sum->key_bytes += c->key_bytes;
		sum->rising += c->rising;
		sum->falling += c->falling;
		sum->sampled += c->sampled;
		sum->cells += c->cells;
		sum->oldest_ms = c->oldest_ms < sum->oldest_ms ? c->oldest_ms : sum->oldest_ms;
		sum->newest_ms = c->newest_ms > sum->newest_ms ? c->newest_ms : sum->newest_ms;
		for (size_t f = 0; f < t->schema.nfamilies; f++) {
			sum->families[f].rows += c->families[f].rows;
			sum->families[f].bytes += c->families[f].bytes;
		}
		for (size_t p = 0; p < t->nrowkey; p++) {
			sum->filled[p] += c->filled[p];
			sum->part_bytes[p] += c->part_bytes[p];
		}
		for (size_t r = 0; r <= w->splits[table].count; r++)
			sum->regions[r] += c->regions[r];
		for (size_t k = 0; c->wide && k < WIDE_SLOTS; k++)
			sum->wide[k] += c->wide[k];
		for (uint32_t b = 0; c->buckets && b < t->rowkey[0].buckets; b++)
			sum->buckets[b] += c->buckets[b];
	}
}
