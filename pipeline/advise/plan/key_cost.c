/* key_cost.c - the bytes that the row key of a table costs */
#include <math.h>

#include "planning.h"

static size_t common_prefix(struct bytes a, struct bytes b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n])
		n++;
	return n;
}

/* Set the mean length of the keys, and the mean of the bytes after the common prefix. */
static void measure_keys(struct sketch *s, double *mean, double *fresh)
{
	struct sketch_view v;
	double rows = 0, sum = 0, after = 0;

	sketch_view_open(&v, s);
	for (size_t i = 0; i < v.count; i++) {
		struct bytes key = v.points[i].key;
		size_t same = i ? common_prefix(v.points[i - 1].key, key) : 0;

		rows += v.points[i].rows;
		sum += v.points[i].rows * (double)key.len;
		after += v.points[i].rows * (double)(key.len - same);
	}
	*mean = rows > 0 ? sum / rows : 0;
	*fresh = rows > 0 ? after / rows : 0;
	sketch_view_close(&v);
}

/* Return the cells of a row, if each event has all cells that the job lists. */
static double put_cells(const struct job_table *t, double rows_per_event)
{
	double n = 0;

	for (size_t i = 0; i < t->ncells; i++)
		n += !t->cells[i].marker;
	return rows_per_event > 0 ? n / rows_per_event : n;
}

void key_cost_of(struct key_cost *c, const struct job_table *t, const struct table_sample *s,
		 const struct plan *p, double rows)
{
	double fresh;

	*c = (struct key_cost){.asked = true,
			       .rows = rows,
			       .cells = put_cells(t, s->rows_per_event)};
	measure_keys(sample_sketch(s->sample), &c->key_bytes, &fresh);
	c->row_bytes = p->rows > 0 ? p->bytes / p->rows : 0;
	c->stored = rows * c->cells * c->key_bytes;
	c->share = c->row_bytes > 0 ? c->cells * c->key_bytes / c->row_bytes : 0;
	c->share = c->share < 1 ? c->share : 1;
	c->encoded = rows * fresh;
	c->disk = rows * c->row_bytes * s->disk_per_byte;
	c->region_bytes = t->regions.rule.size_bytes ? t->regions.rule.size_bytes : REGION_BYTES;
	c->regions = (uint64_t)fmax(1, ceil(c->disk / (double)c->region_bytes));
}
