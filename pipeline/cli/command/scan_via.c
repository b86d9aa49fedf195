/*
 * scan_via.c - implements `saltmill scan --via INDEX`, which queries an index table and prints the
 * rows that its cells name
 *
 * The scan reads whole rows of the index in order. It reads the named rows in batches, sorted by
 * key, and prints them in the order of the index. If several cells of an index row name the same
 * row, the scan prints that row once. If a row has other values now, its entry is stale (entry.h).
 * The scan counts stale entries, and prints them only with --raw. Memory holds the names in a row
 * of the index, and a batch of rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "by_field.h"
#include "mem.h"
#include "scan_desk.h"
#include "cli/reports.h"

#define BATCH 256 /* rows in a batch */

struct name {
	struct bytes key;
	size_t place;			/* position in the order of the index */
	uint64_t index_row;		/* number of the index row that contains the name */
	struct bytes entry;		/* key of the index row */
	struct bytes family, qualifier; /* column of the index cell that contains the name */
	bool given;			/* an earlier page printed the row */
};

struct index_row {
	struct bytes key;
	struct cell *cells;
	size_t ncells;
};

/* Rows to read, sorted by key. Each name occurs once. */
struct index_batch {
	struct index_row row[BATCH];
	size_t n;
};

struct via {
	struct scan_desk index, rows;
	struct scan_rows scan; /* the query on the index */
	struct key_piece *pieces;
	struct scan_printer printer;
	struct name *names; /* all names in some rows of the index */
	size_t n;
	uint64_t index_rows;
	struct buf entry;			      /* key of the current row of the index */
	struct buf next, next_family, next_qualifier; /* first name after the page, and its cell */
	bool has_next;
	struct scan_page end; /* the name that reached --limit; end_arena owns its bytes */
	struct arena end_arena;
	struct index_batch found; /* rows to print, with their query */
	struct index_batch now;	  /* query for all columns of these rows, for --columns */
	struct entry_check check;
	bool checks, apart; /* check for stale entries; the check needs the query `now` */
	uint64_t stale;
	struct arena arena; /* memory of the names and the rows */
};

/* Returns true if an earlier page printed the name in this cell of the current index row. */
static bool is_given_before(const struct via *v, const struct cell *c)
{
	const struct scan_page *p = &v->index.page;

	if (!p->family.len || !bytes_eq(buf_bytes(&v->entry), p->row))
		return false;
	int order = bytes_cmp(c->family, p->family);
	return order < 0 || (order == 0 && bytes_cmp(c->qualifier, p->qualifier) <= 0);
}

static void add_name(struct via *v, struct bytes key, const struct cell *c)
{
	v->names = mem_grow(v->names, v->n, sizeof *v->names);
	const struct name *last = v->n ? &v->names[v->n - 1] : NULL;
	bool same = last && last->index_row == v->index_rows;
	v->names[v->n] = (struct name){.key = arena_bytes(&v->arena, key),
				       .place = v->n,
				       .index_row = v->index_rows,
				       .entry = same ? last->entry
						     : arena_bytes(&v->arena, buf_bytes(&v->entry)),
				       .family = arena_bytes(&v->arena, c->family),
				       .qualifier = arena_bytes(&v->arena, c->qualifier),
				       .given = is_given_before(v, c)};
	v->n++;
}

static int by_name(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->index_row != y->index_row)
		return x->index_row < y->index_row ? -1 : 1;
	int order = bytes_cmp(x->key, y->key);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int by_place(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

/* Removes repeated names in a row of the index, and names that an earlier page printed. */
static void drop_repeated(struct via *v)
{
	size_t n = 0, kept = 0;

	if (v->n == 0)
		return;
	qsort(v->names, v->n, sizeof *v->names, by_name);
	for (size_t i = 0; i < v->n; i++)
		if (n == 0 || v->names[n - 1].index_row != v->names[i].index_row ||
		    !bytes_eq(v->names[n - 1].key, v->names[i].key))
			v->names[n++] = v->names[i];
	qsort(v->names, n, sizeof *v->names, by_place);
	for (size_t i = 0; i < n; i++)
		if (!v->names[i].given)
			v->names[kept++] = v->names[i];
	v->n = kept;
}

static void copy(struct buf *to, struct bytes b)
{
	to->len = 0;
	buf_append(to, b.ptr, b.len);
}

/* Reads the names in the next rows of the index. Sets `n` to 0 after the last row. */
static int read_names(struct via *v, struct error *err)
{
	struct cell c;
	struct bytes key;
	int rc;

	arena_release(&v->arena);
	v->n = 0;
	if (v->has_next)
		add_name(v, buf_bytes(&v->next),
			 &(struct cell){.family = buf_bytes(&v->next_family),
					.qualifier = buf_bytes(&v->next_qualifier)});
	v->has_next = false;
	while ((rc = scan_rows_next(&v->scan, &c, err)) == RC_OK) {
		if (scan_rows_start(&v->scan)) {
			v->index_rows++;
			copy(&v->entry, c.row);
		}
		if (!stored_reference(&v->index.stored, &c, v->pieces, &key) || key.len == 0)
			continue;
		v->has_next = v->n >= BATCH && v->names[v->n - 1].index_row != v->index_rows;
		if (v->has_next) {
			copy(&v->next, key);
			copy(&v->next_family, c.family);
			copy(&v->next_qualifier, c.qualifier);
			break;
		}
		add_name(v, key, &c);
	}
	drop_repeated(v);
	return rc < 0 ? rc : RC_OK;
}

static int by_key(const void *a, const void *b)
{
	return bytes_cmp(((const struct index_row *)a)->key, ((const struct index_row *)b)->key);
}

static void list_rows(struct index_batch *b, const struct name *names, size_t n)
{
	b->n = 0;
	for (size_t i = 0; i < n; i++)
		b->row[i] = (struct index_row){.key = names[i].key};
	qsort(b->row, n, sizeof *b->row, by_key);
	for (size_t i = 0; i < n; i++)
		if (b->n == 0 || !bytes_eq(b->row[b->n - 1].key, b->row[i].key))
			b->row[b->n++] = b->row[i];
}

static struct index_row *find_row(struct index_batch *b, struct bytes key)
{
	const struct index_row wanted = {.key = key};

	return bsearch(&wanted, b->row, b->n, sizeof *b->row, by_key);
}

/* Adds the range of each row to the query, from its key to the key with a 0 byte added. */
static void ask_for_rows(struct via *v, const struct index_batch *b, struct query *q)
{
	struct query_range *ranges = arena_alloc(&v->arena, b->n * sizeof *ranges);

	for (size_t i = 0; i < b->n; i++) {
		struct bytes key = b->row[i].key;
		/* arena_bytes put a NUL after the key */
		struct query_range r = {key, bytes_of(key.ptr, key.len + 1)};

		if (q->nranges > 0 && bytes_eq(ranges[q->nranges - 1].stop, r.start))
			ranges[q->nranges - 1].stop = r.stop;
		else
			ranges[q->nranges++] = r;
	}
	q->ranges = ranges;
}

static void put_cell(struct via *v, struct index_row *r, const struct cell *c)
{
	r->cells = arena_grow(&v->arena, r->cells, r->ncells, sizeof *r->cells);
	struct cell *to = &r->cells[r->ncells++];
	*to = *c;
	to->row = r->key;
	to->family = arena_bytes(&v->arena, c->family);
	to->qualifier = arena_bytes(&v->arena, c->qualifier);
	to->value = arena_bytes(&v->arena, c->value);
	to->tags = (struct bytes){0};
}

static int fetch_rows(struct via *v, struct index_batch *b, struct query q, struct error *err)
{
	struct scan_rows rows;
	struct cell c;

	ask_for_rows(v, b, &q);
	int rc = scan_rows_open(&rows, &v->rows, &q, err);
	while (rc == RC_OK && (rc = scan_rows_next(&rows, &c, err)) == RC_OK) {
		struct index_row *r = find_row(b, c.row);

		if (r)
			put_cell(v, r, &c);
	}
	scan_rows_close(&rows);
	return rc < 0 ? rc : RC_OK;
}

static int fetch_batch(struct via *v, const struct name *names, size_t n, struct error *err)
{
	struct query now = {.now_ms = v->rows.q.now_ms,
			    .from_ms = v->rows.q.from_ms,
			    .to_ms = v->rows.q.to_ms,
			    .columns = v->check.columns,
			    .ncolumns = v->check.ncolumns};

	list_rows(&v->found, names, n);
	int rc = fetch_rows(v, &v->found, v->rows.q, err);
	if (rc || !v->apart)
		return rc;
	list_rows(&v->now, names, n);
	return fetch_rows(v, &v->now, now, err);
}

static bool enough(const struct via *v)
{
	uint64_t limit = v->rows.args->q.limit;

	return limit > 0 && v->printer.rows == limit;
}

static void note_end(struct via *v, const struct name *name)
{
	v->end.row = arena_bytes(&v->end_arena, name->entry);
	v->end.family = arena_bytes(&v->end_arena, name->family);
	v->end.qualifier = arena_bytes(&v->end_arena, name->qualifier);
}

/* Returns true if the row still has the values of the index entry. */
static bool is_given(struct via *v, const struct name *name)
{
	const struct index_row *r = find_row(v->apart ? &v->now : &v->found, name->key);

	if (!v->checks)
		return true;
	return r && r->ncells &&
	       entry_check_row(&v->check, name->entry, r->key, r->cells, r->ncells);
}

static int print_rows(struct via *v, const struct name *names, size_t n, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; i < n && rc == RC_OK && !enough(v); i++) {
		const struct index_row *r = find_row(&v->found, names[i].key);

		if (!is_given(v, &names[i])) {
			v->stale++;
			continue;
		}
		for (size_t k = 0; r && k < r->ncells && rc == RC_OK; k++)
			rc = scan_print_cell(&v->printer, &r->cells[k], k == 0, err);
		if (rc == RC_OK && enough(v))
			note_end(v, &names[i]);
	}
	return rc;
}

static int follow_names(struct via *v, struct error *err)
{
	int rc = RC_OK;

	for (size_t at = 0; at < v->n && rc == RC_OK && !enough(v); at += BATCH) {
		size_t n = v->n - at < BATCH ? v->n - at : BATCH;

		rc = fetch_batch(v, v->names + at, n, err);
		if (rc == RC_OK)
			rc = print_rows(v, v->names + at, n, err);
	}
	return rc;
}

/* Finds the columns that a check of an entry needs. */
static void open_check(struct via *v)
{
	const struct query *q = &v->rows.q;
	const struct published *p = &v->rows.loads;
	bool whole = q->ncolumns == 0 && !q->max_columns;

	entry_check_open(&v->check, &v->index.stored, &v->rows.stored, p->families, p->nfamilies);
	v->apart = !whole;
	v->checks = !q->raw;
}

static void say_stale(const struct via *v)
{
	char count[28];

	if (v->stale)
		fprintf(stderr,
			"saltmill scan: skipped %s stale %s of %s: their rows are missing or have "
			"other values now\n",
			format_count(count, v->stale), v->stale == 1 ? "entry" : "entries",
			v->index.table->schema.name);
}

static int answer(struct via *v, struct error *err)
{
	open_check(v);
	v->pieces = mem_calloc(v->index.stored.max_pieces + 1, sizeof *v->pieces);
	scan_print_start(&v->printer, &v->rows);
	int rc = scan_rows_open(&v->scan, &v->index, &v->index.q, err);
	do {
		if (rc == RC_OK)
			rc = read_names(v, err);
		if (rc == RC_OK)
			rc = follow_names(v, err);
	} while (rc == RC_OK && v->has_next && !enough(v));
	rc = scan_print_end(&v->printer, rc, err);
	if (rc == RC_OK)
		say_stale(v);
	if (rc == RC_OK && v->end.row.len && !v->rows.args->quiet)
		scan_page_print(&v->index, &v->end);
	entry_check_release(&v->check);
	scan_rows_close(&v->scan);
	buf_release(&v->next);
	buf_release(&v->next_family);
	buf_release(&v->next_qualifier);
	buf_release(&v->printer.row);
	arena_release(&v->end_arena);
	buf_release(&v->entry);
	mem_free(v->names);
	mem_free(v->pieces);
	arena_release(&v->arena);
	return rc;
}

/* Opens the index and the table that its cells name. */
static int open_both(struct via *v, const struct scan_place *place, struct error *err)
{
	const struct scan_arguments *a = v->index.args;
	int rc = scan_desk_open(&v->index, place, a->via, SCAN_ROWS, err);

	if (rc)
		return rc;
	const struct job_table *t = v->index.table;
	if (!t->is_index)
		return error_set(
			err, RC_CONFIG,
			"--via: found table %s, expected an index, whose cells are row keys "
			"of another table (`key_of`)",
			t->schema.name);
	const char *to = v->index.job.tables[t->index_of].schema.name;
	rc = scan_desk_open(&v->rows, place, a->table ? a->table : to, SCAN_CELLS, err);
	if (rc == RC_OK && strcmp(v->rows.table->schema.name, to) != 0)
		rc = error_set(err, RC_CONFIG,
			       "--via: table %s is an index of %s, expected --table %s or none",
			       t->schema.name, to, to);
	return rc;
}

int scan_answer_via(const struct scan_arguments *a, const struct scan_place *place,
		    struct error *err)
{
	struct via *v = mem_calloc(1, sizeof *v);

	v->index.args = v->rows.args = a;
	int rc = open_both(v, place, err);
	if (rc == RC_OK)
		rc = answer(v, err);
	scan_desk_close(&v->rows);
	scan_desk_close(&v->index);
	mem_free(v);
	return rc;
}
