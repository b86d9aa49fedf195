/* wide.c - wide tables: a row for each entity, and columns whose qualifiers begin with a time or id */
#include "keyed.h"

/* Return true if the cells of table 0 can get other qualifiers. */
static bool cells_fit(const struct job_table *t, bool computed)
{
	bool fit = !computed && t->written.cells.n == t->ncells && t->ncells > 0;

	for (size_t i = 0; fit && i < t->ncells; i++)
		fit = t->written.cells.item[i].text[0] == '{' && !t->cells[i].marker &&
		      t->cells[i].nqualifier == 1;
	return fit;
}

size_t entity_counts(const struct events *e, const size_t *fields, size_t n, uint64_t **counts)
{
	uint64_t *hash = mem_alloc((e->n + 1) * sizeof *hash);
	size_t rows = 0;

	for (size_t i = 0; i < e->n; i++) {
		hash[i] = 1;
		for (size_t f = 0; f < n; f++)
			hash[i] = event_hash(hash[i], event_word(&e->column[fields[f]], i));
	}
	words_sort(hash, e->n);
	for (size_t i = 0, end; i < e->n; i = end) {
		for (end = i + 1; end < e->n && hash[end] == hash[i];)
			end++;
		hash[rows++] = end - i;
	}
	words_sort(hash, rows);
	*counts = hash;
	return rows;
}

bool wide_fits(const struct events *e, const size_t *fields, size_t n, double grow)
{
	uint64_t *counts;

	if (!cells_fit(&e->job->tables[0], e->computed) || !n)
		return false;
	/* the mean of many events says enough, and needs no sorting */
	for (size_t f = 0; f < n; f++)
		if (n == 1 && (double)e->n > WIDE_P99 * (double)e->column[fields[f]].distinct)
			return false;
	size_t rows = entity_counts(e, fields, n, &counts);
	double p99 = rows ? (double)counts[(rows - 1) * 99 / 100] : 0;
	double most = rows ? (double)counts[rows - 1] : 0;
	mem_free(counts);
	return most > 1 && p99 * grow <= WIDE_P99 && most * grow <= WIDE_MOST;
}

size_t wide_bytes(const struct events *e, const struct candidate *c, size_t event)
{
	size_t bytes = 0;

	for (size_t i = 0; i < c->nqualifier; i++) {
		const struct key_part *p = &c->qualifier[i];
		size_t width = key_part_bytes(p);
		struct value v;

		if (!width) {
			event_value(&e->column[p->field], event, &v);
			width = v.text.len;
		}
		bytes += width + (p->terminator != NO_TERMINATOR);
	}
	return bytes;
}
