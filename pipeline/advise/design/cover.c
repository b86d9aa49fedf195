/* cover.c - tables that have only the columns that a question needs */
#include "designs.h"

/* Mark the fields that the question needs. */
static void mark_needed(const struct designer *d, size_t ask, bool *fields)
{
	const struct ask *k = &d->asks->ask[ask];
	const struct job *job = d->e->job;
	struct error ignored;
	size_t f;

	for (size_t i = 0; i < k->ncolumns; i++)
		if (field_find(job, bytes_str(k->columns[i]), &f, &ignored) == RC_OK)
			fields[f] = true;
	for (size_t i = 0; i < k->q.nconditions; i++)
		if (field_find(job, bytes_str(k->q.conditions[i].name), &f, &ignored) == RC_OK)
			fields[f] = true;
	if (k->latest)
		fields[k->time] = true;
}

/* Return true if a part of the key has the whole value of the field. */
static bool key_has(const struct job_table *t, size_t field)
{
	for (size_t i = 0; i < t->nrowkey; i++)
		if (t->rowkey[i].kind == PART_FIELD && t->rowkey[i].field == field &&
		    encodings[t->rowkey[i].as].kind != LAY_DATE)
			return true;
	return false;
}

/* Return the cell with the value of the field, or SIZE_MAX. */
static size_t cell_of(const struct job_table *t, size_t field)
{
	for (size_t i = 0; i < t->ncells; i++)
		if (t->cells[i].kind == VALUE_FIELD && t->cells[i].field == field &&
		    !t->cells[i].marker && t->cells[i].qualifier_constant)
			return i;
	return SIZE_MAX;
}

static size_t smallest_cell(const struct designer *d)
{
	const struct job_table *t = &d->e->job->tables[0];
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < t->ncells; i++)
		if (!t->cells[i].marker && !t->cells[i].optional && !t->cells[i].when &&
		    (best == SIZE_MAX || d->e->cell_mean[i].bytes < d->e->cell_mean[best].bytes))
			best = i;
	return best;
}

/* List the cells, in the order of the fields. Returns their number, or SIZE_MAX if one is missing. */
static size_t list_cells(const struct designer *d, const struct candidate *key, const bool *fields,
			 size_t *cells)
{
	const struct job_table *t = &d->e->job->tables[0];
	size_t n = 0;

	for (size_t f = 0; f < d->e->job->nfields; f++) {
		if (!fields[f] || key_has(&key->table, f))
			continue;
		cells[n] = cell_of(t, f);
		if (cells[n++] == SIZE_MAX)
			return SIZE_MAX;
	}
	if (n == 0) /* a row needs a cell */
		cells[n++] = smallest_cell(d);
	return cells[0] == SIZE_MAX ? SIZE_MAX : n;
}

size_t cover_cells(const struct designer *d, const struct candidate *key, size_t ask, size_t *cells)
{
	const struct job_table *t = &d->e->job->tables[0];

	if (!d->asks->ask[ask].ncolumns || d->e->computed || t->written.cells.n != t->ncells)
		return 0;
	bool *fields = mem_calloc(d->e->job->nfields + 1, sizeof *fields);
	mark_needed(d, ask, fields);
	size_t n = list_cells(d, key, fields, cells);
	mem_free(fields);
	return n == SIZE_MAX || n >= t->ncells ? 0 : n;
}

double cover_row_bytes(const struct designer *d, const struct measured_key *k, size_t ask)
{
	size_t *cells = mem_calloc(d->e->job->nfields + 1, sizeof *cells);
	size_t n = cover_cells(d, k->key, ask, cells);
	double bytes = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cell_mean *m = &d->e->cell_mean[cells[i]];

		bytes += m->bytes + m->count * (k->key_bytes + 1);
	}
	mem_free(cells);
	return bytes;
}

static double read_seconds(const struct designer *d, double seconds, double bytes, double share)
{
	return seconds - bytes * (1 - share) / 65536 * d->load->constants.block_s;
}

double cover_seconds(const struct designer *d, const struct measured_key *k, size_t ask,
		     double row_bytes)
{
	const struct cost *c = &k->cost[ask];

	return read_seconds(d, c->seconds.mean, c->bytes.mean, row_bytes / k->row_bytes);
}

/* Set a figure of the blocks: each range has one, and its bytes the others. */
static double fewer_blocks(double blocks, double ranges, double share)
{
	return ranges + (blocks - ranges) * share;
}

struct cost cover_cost(const struct designer *d, const struct measured_key *k, size_t ask,
		       double row_bytes, struct arena *a)
{
	struct cost c = k->cost[ask];
	double share = row_bytes / k->row_bytes;
	const struct design_figure was = c.bytes, s = c.seconds, b = c.blocks;

	c.bytes = (struct design_figure){was.median * share, was.p99 * share, was.most * share,
					 was.mean * share};
	c.seconds = (struct design_figure){read_seconds(d, s.median, was.median, share),
					   read_seconds(d, s.p99, was.p99, share),
					   read_seconds(d, s.most, was.most, share),
					   read_seconds(d, s.mean, was.mean, share)};
	c.blocks = (struct design_figure){fewer_blocks(b.median, c.ranges.median, share),
					  fewer_blocks(b.p99, c.ranges.p99, share),
					  fewer_blocks(b.most, c.ranges.most, share),
					  fewer_blocks(b.mean, c.ranges.mean, share)};
	c.draws = arena_dup(a, c.draws, c.ndraws * sizeof *c.draws);
	for (size_t i = 0; i < c.ndraws; i++)
		c.draws[i] = fewer_blocks(c.draws[i], c.ranges.median, share);
	return c;
}

/* Return true if all columns of the question are in the table's cells or key. */
static bool has_columns(const struct job *job, const struct job_table *t, const struct ask *k)
{
	struct error ignored;

	for (size_t i = 0; i < k->ncolumns; i++) {
		size_t f;

		if (field_find(job, bytes_str(k->columns[i]), &f, &ignored) == RC_OK &&
		    !key_has(t, f) && cell_of(t, f) == SIZE_MAX)
			return false;
	}
	return true;
}

/* Return true if the fields of question `q` are among those of question `ask`. */
static bool needs_fewer(const struct designer *d, size_t q, size_t ask)
{
	size_t n = d->e->job->nfields;
	bool *has = mem_calloc(2 * n + 1, sizeof *has), *needs = has + n, fewer = true;

	mark_needed(d, ask, has);
	mark_needed(d, q, needs);
	for (size_t f = 0; f < n; f++)
		fewer = fewer && (has[f] || !needs[f]);
	mem_free(has);
	return fewer;
}

bool table_answers(const struct designer *d, const struct combination *c, size_t table, size_t ask)
{
	const struct ask *k = &d->asks->ask[ask];

	if (table == 0 || c->index[table])
		return true;
	if (!c->cover[table])
		return has_columns(d->e->job, &d->keys[c->key[table]].key->table, k);
	return c->cover[table] == ask + 1 ||
	       (k->ncolumns && needs_fewer(d, ask, c->cover[table] - 1));
}
