/* rekey.c - read all cells of a table, and sort them by the row keys of another job */
#include "rekey.h"

#include <string.h>

#include "pool.h"

#define SEQ_BITS    40	       /* of the number of a cell in its range of rows */
#define CELL_BYTES  20	       /* a cell in a file without its key and value */
#define WRITE_BYTES (1u << 20) /* of a thread that writes files */
#define CELLS_STEP  4096       /* cells between two looks at the stop flag */

/* --- read --- */

/* A range of old rows, on one thread. */
struct rekey_reader {
	struct rewrite *r;
	struct run_builder *to;
	struct key_mapper keys;
	struct source_rows rows, looks; /* `looks` reads the columns that the keys need */
	struct buf row, payload;
	uint64_t seq, cells;
};

static int look_at_family(struct rekey_reader *d, struct source_stream *s, struct error *err)
{
	int rc = RC_OK;

	key_mapper_family(&d->keys);
	while (rc == RC_OK && s->has && bytes_eq(s->cell.row, buf_bytes(&d->row))) {
		key_mapper_look(&d->keys, s->family, &s->cell);
		rc = source_next(s, err);
	}
	return rc;
}

static int find_key(struct rekey_reader *d, struct error *err)
{
	int rc = RC_OK;

	key_mapper_begin(&d->keys);
	for (size_t i = 0; rc == RC_OK && i < d->r->nfamilies; i++)
		if (d->looks.streams[i].in)
			rc = look_at_family(d, &d->looks.streams[i], err);
	return rc ? rc : key_mapper_build(&d->keys, buf_bytes(&d->row), err);
}

static int add_cell(struct rekey_reader *d, size_t family, const struct cell *c, bool first,
		    struct error *err)
{
	const struct bytes row = buf_bytes(&d->row);

	d->payload.len = 0;
	rekeyed_pack(&d->payload, c, family, first ? &row : NULL);
	struct record rec = {.key = buf_bytes(&d->keys.key),
			     .seq = d->seq++,
			     .payload = buf_bytes(&d->payload)};
	rec.secondary = rec.key.ptr;
	int rc = ++d->cells % CELLS_STEP ? RC_OK : stop_check(err);
	return rc ? rc : run_builder_add(d->to, &rec, err);
}

static int take_row(struct rekey_reader *d, struct error *err)
{
	int rc = find_key(d, err);
	bool first = true;

	for (size_t i = 0; rc == RC_OK && i < d->r->nfamilies; i++) {
		struct source_stream *s = &d->rows.streams[i];

		while (rc == RC_OK && s->has && bytes_eq(s->cell.row, buf_bytes(&d->row))) {
			rc = add_cell(d, i, &s->cell, first, err);
			first = false;
			if (rc == RC_OK)
				rc = source_next(s, err);
		}
	}
	d->r->old_rows++;
	if (d->r->opt->progress)
		d->r->opt->progress->events++;
	return rc;
}

static int take_rows(struct rekey_reader *d, struct error *err)
{
	const struct bytes *first;
	int rc = RC_OK;

	while (rc == RC_OK && (first = source_rows_first(&d->rows))) {
		d->row.len = 0;
		buf_append(&d->row, first->ptr, first->len);
		rc = take_row(d, err);
	}
	return rc;
}

/* Read the rows of region number `i` of the source. */
static int read_range(void *ctx, unsigned worker, size_t i, struct error *err)
{
	struct rewrite *r = ctx;
	const struct published *p = &r->opt->tables[r->opt->ntables - 1];
	const struct bytes none = {0};
	const struct query_range rows = {.start = i ? p->split_keys[i - 1] : none,
					 .stop = i + 1 < p->nregions ? p->split_keys[i] : none};
	struct rekey_reader d = {.r = r,
				 .to = sorter_builder(r->rekey->cells, worker),
				 .seq = (uint64_t)i << SEQ_BITS};

	key_mapper_open(&d.keys, &r->rekey->map);
	int rc = source_rows_open(&d.rows, r, &rows, NULL, true, err);
	if (rc == RC_OK)
		rc = source_rows_open(&d.looks, r, &rows, r->rekey->map.families, false, err);
	if (rc == RC_OK)
		rc = take_rows(&d, err);
	source_rows_close(&d.rows);
	source_rows_close(&d.looks);
	key_mapper_close(&d.keys);
	buf_release(&d.row);
	buf_release(&d.payload);
	return rc;
}

/* --- the table and its regions --- */

static int choose_families(struct rewrite *r, struct error *err)
{
	const struct table *to = &r->opt->rekey->to_table->schema;
	size_t n = to->nfamilies + to->nothers;

	r->table = *to;
	r->table.nfamilies = n;
	r->table.nothers = 0;
	r->table.families = arena_dup(r->a, to->families, n * sizeof *to->families);
	for (size_t i = 0; i < r->nfamilies; i++) {
		size_t k = 0;

		while (k < n && !bytes_eq(r->families[i].name, bytes_str(to->families[k].name)))
			k++;
		if (k == n)
			return error_set(
				err, RC_CONFIG,
				"%s: found no family %.*s in table %s, expected all "
				"families of the source; add `%.*s: {other_load: true}` to `families:`",
				r->opt->rekey->to->path, (int)r->families[i].name.len,
				(const char *)r->families[i].name.ptr, to->name,
				(int)r->families[i].name.len,
				(const char *)r->families[i].name.ptr);
	}
	return RC_OK;
}

static uint64_t weigh(const void *ctx, const struct record *rec)
{
	(void)ctx;
	return CELL_BYTES + rec->key.len + rec->payload.len;
}

static void open_sorter(struct rewrite *r)
{
	struct rekey *k = r->rekey;
	const struct rekey_options *o = r->opt->rekey;
	const struct memory_need need = {.limit = o->memory,
					 .threads = r->opt->threads,
					 .tables = 1};

	k->memory = memory_plan_make(&need);
	k->budget.limit = o->memory;
	const struct sorter_options so = {
		.budget = &k->budget,
		.temp_dir = o->temp_dir ? o->temp_dir : staging_path(r->staging),
		.threads = r->opt->threads,
		.weigh = weigh,
		.usual = {.base = CELL_BYTES, .per_key_byte = 1, .payload_below = SIZE_MAX},
		.run_bytes = k->memory.run_bytes,
		.large_bytes = k->memory.large_bytes};
	k->cells = sorter_new(&so);
}

/* Choose the split keys by `regions:` of the new job. A size counts the bytes of the old files. */
static int choose_regions(struct rewrite *r, struct error *err)
{
	const struct rekey_options *o = r->opt->rekey;
	const struct region_rule *rule = &o->to_table->regions.rule;
	const struct key_shape shape = key_shape(o->to_table);
	struct key_weights weights = sorter_weights(r->rekey->cells);
	struct division d = {.shape = &shape, .align_salt = rule->align_salt};
	double bytes = 0;
	int rc = regions_without_data(o->to, o->to_table, &r->splits, NULL, err);

	if (rc != RC_END || weights.total == 0)
		return rc == RC_END ? RC_OK : rc;
	for (size_t i = 0; i < r->ninputs; i++)
		bytes += (double)r->inputs[i].bytes;
	d.regions = region_rule_count(rule, bytes);
	rc = regions_computed(o->to, o->to_table, (uint32_t)d.regions, &r->splits, NULL, err);
	return rc == RC_END ? divide(&weights, &d, &r->splits, err) : rc;
}

int rekey_sort(struct rewrite *r, struct error *err)
{
	const struct published *p = &r->opt->tables[r->opt->ntables - 1];
	struct rekey *k = mem_calloc(1, sizeof *k);

	r->rekey = k;
	open_sorter(r);
	int rc = choose_families(r, err);
	if (rc == RC_OK)
		rc = key_map_open(&k->map, r->opt->rekey, r->families, r->nfamilies, err);
	progress_begin(r->opt->progress, "reading", PROGRESS_ROWS, 0);
	if (rc == RC_OK)
		rc = pool_run(k->memory.threads, p->nregions ? p->nregions : 1, read_range, r, err);
	if (rc == RC_OK)
		rc = sorter_flush(k->cells, err);
	budget_force(&k->budget, r->opt->threads * (uint64_t)WRITE_BYTES * r->nfamilies);
	if (rc == RC_OK)
		rc = sorter_finish(k->cells, err);
	crash_at("rekey-sorted");
	return rc ? rc : choose_regions(r, err);
}

void rekey_release(struct rewrite *r)
{
	if (!r->rekey)
		return;
	sorter_free(r->rekey->cells);
	key_map_close(&r->rekey->map);
	mem_free(r->rekey);
}
