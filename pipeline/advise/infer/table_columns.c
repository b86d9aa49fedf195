/* table_columns.c - find the columns of sampled rows: fixed names, or qualifiers with a form */
#include <stdlib.h>

#include "ddl.h"
#include "infer.h"

#define NAMES_MOST 16 /* qualifiers that may be fixed names, although they are rare or not text */
#define NAMES_FEW  4  /* so few names are no sign of an open set, although they are rare */

struct cell_list {
	struct guess_cell {
		const struct cell *cell;
		size_t row;
	} * cell;
	size_t n;
};

static int by_column(const void *a, const void *b)
{
	const struct guess_cell *x = a, *y = b;
	int c = bytes_cmp(x->cell->family, y->cell->family);

	if (c == 0)
		c = bytes_cmp(x->cell->qualifier, y->cell->qualifier);
	return c ? c : (x->row > y->row) - (x->row < y->row);
}

static void list_cells(const struct sampled_table *s, struct cell_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nrows; i++)
		n += s->rows[i].ncells;
	l->cell = mem_calloc(n + 1, sizeof *l->cell);
	for (size_t i = 0; i < s->nrows; i++)
		for (size_t c = 0; c < s->rows[i].ncells; c++)
			l->cell[l->n++] = (struct guess_cell){&s->rows[i].cells[c], i};
	qsort(l->cell, l->n, sizeof *l->cell, by_column);
}

static bool same_family(const struct guess_cell *a, const struct guess_cell *b)
{
	return bytes_eq(a->cell->family, b->cell->family);
}

static bool same_column(const struct guess_cell *a, const struct guess_cell *b)
{
	return same_family(a, b) && bytes_eq(a->cell->qualifier, b->cell->qualifier);
}

/* Return the end of the run of cells that are the same as the first one. */
static size_t run_end(const struct cell_list *l, size_t from, size_t end,
		      bool (*same)(const struct guess_cell *, const struct guess_cell *))
{
	size_t to = from + 1;

	while (to < end && same(&l->cell[from], &l->cell[to]))
		to++;
	return to;
}

static struct guess_column *add_column(struct guess_table *t, const struct cell_list *l,
				       size_t from, size_t to)
{
	t->columns = arena_grow(&t->arena, t->columns, t->ncolumns, sizeof *t->columns);
	struct guess_column *c = &t->columns[t->ncolumns++];

	*c = (struct guess_column){.family = l->cell[from].cell->family,
				   .qualifier = l->cell[from].cell->qualifier};
	c->values = arena_alloc(&t->arena, (to - from + 1) * sizeof *c->values);
	for (size_t i = from; i < to; i++) {
		c->values[c->nvalues++] = l->cell[i].cell->value;
		c->rows += i == from || l->cell[i].row != l->cell[i - 1].row;
	}
	guess_values(&c->value, c->values, c->nvalues);
	return c;
}

static bool is_name(struct bytes q)
{
	bool letters = false;

	for (size_t i = 0; i < q.len; i++) {
		if (q.ptr[i] < 0x20 || q.ptr[i] >= 0x7f)
			return false;
		letters |= q.ptr[i] > '9';
	}
	return letters || q.len == 0;
}

/* Phoenix numbers its columns with 2 bytes, from \x80\x0B on. */
static bool is_numbered(struct bytes q)
{
	return q.len == 2 && q.ptr[0] == 0x80;
}

/* Return true if the text has a byte that URLs, paths and addresses have, and names of columns lack. */
static bool is_like_value(struct bytes q)
{
	for (size_t i = 0; i < q.len; i++)
		if (memchr(":/@=?& ,;", q.ptr[i], 9))
			return true;
	return false;
}

/* Facts about the qualifiers of a family. */
struct qualifier_facts {
	size_t cells, different;
	bool rare;   /* few rows have the same ones */
	bool named;  /* nearly all are names */
	bool values; /* most are like values */
	bool binary; /* none is a name */
};

static struct qualifier_facts facts_of(const struct cell_list *l, size_t from, size_t to,
				       size_t different)
{
	struct qualifier_facts f = {.cells = to - from, .different = different};
	size_t names = 0, numbered = 0, values = 0, rows = 0;

	for (size_t i = from; i < to; i++) {
		names += is_name(l->cell[i].cell->qualifier);
		numbered += is_numbered(l->cell[i].cell->qualifier);
		values += is_like_value(l->cell[i].cell->qualifier);
		rows = l->cell[i].row + 1 > rows ? l->cell[i].row + 1 : rows;
	}
	f.rare = f.cells < different * (rows / 8 + 2);
	f.named = 10 * names > 9 * f.cells || 2 * numbered > f.cells;
	f.values = 2 * values > f.cells && names;
	f.binary = names == 0 && 2 * numbered <= f.cells;
	return f;
}

/*
 * Judge whether the qualifiers of a family contain values. Such qualifiers are many, and few rows
 * have the same ones, or they are not names.
 */
static bool is_wide(const struct qualifier_facts *f)
{
	return (f->different > NAMES_MOST && (f->rare || !f->named)) ||
	       (f->different > 2 && (f->binary || (f->rare && f->values)));
}

/* Return why the qualifiers may be an open set, although the job lists them as names, or NULL. */
static const char *doubt_names(const struct qualifier_facts *f)
{
	if (f->different > 2 && f->values)
		return "look like values, such as URLs or addresses";
	return f->different > NAMES_FEW && f->rare ? "are many, and each is in few rows" : NULL;
}

static void add_wide(struct guess_table *t, const struct cell_list *l, size_t from, size_t to,
		     size_t nqualifiers)
{
	struct bytes *q = arena_alloc(&t->arena, (nqualifiers + 1) * sizeof *q);
	struct guess_column *c = add_column(t, l, from, to);
	size_t n = 0, step = nqualifiers / GUESS_KEYS + 1, seen = 0;

	for (size_t i = from; i < to; i = run_end(l, i, to, same_column))
		if (seen++ % step == 0 && l->cell[i].cell->qualifier.len)
			q[n++] = l->cell[i].cell->qualifier;
	c->wide = true;
	guess_keys(&c->qualifiers, q, n, false, &t->arena);
	guess_unite_texts(&c->qualifiers, q, n, false);
}

void guess_columns(struct guess_table *t)
{
	struct cell_list l = {0};

	list_cells(t->sample, &l);
	for (size_t from = 0, to; from < l.n; from = to) {
		size_t n = 0;

		to = run_end(&l, from, l.n, same_family);
		for (size_t i = from; i < to; i = run_end(&l, i, to, same_column))
			n++;
		struct qualifier_facts f = facts_of(&l, from, to, n);
		if (is_wide(&f)) {
			add_wide(t, &l, from, to, n);
			continue;
		}
		for (size_t i = from, end; i < to; i = end) {
			end = run_end(&l, i, to, same_column);
			add_column(t, &l, i, end)->open = i == from ? doubt_names(&f) : NULL;
		}
	}
	mem_free(l.cell);
}

/* --- names of fields --- */

static bool is_taken(const struct guess_table *t, const char *name)
{
	const struct guesses *key = &t->key;

	for (size_t i = 0; i < key->n; i++)
		if (key->part[i].name && strcmp(key->part[i].name, name) == 0)
			return true;
	for (size_t c = 0; c < t->ncolumns; c++) {
		const struct guesses *q = &t->columns[c].qualifiers;

		if (t->columns[c].name && strcmp(t->columns[c].name, name) == 0)
			return true;
		for (size_t i = 0; i < q->n; i++)
			if (q->part[i].name && strcmp(q->part[i].name, name) == 0)
				return true;
	}
	return strcmp(name, "timestamp") == 0;
}

static const char *unique_name(struct guess_table *t, const char *name)
{
	const char *tried = name;

	for (unsigned i = 2; is_taken(t, tried); i++)
		tried = arena_format(&t->arena, "%s%u", name, i);
	return tried;
}

static const char *column_name(struct guess_table *t, const struct guess_column *c)
{
	struct buf text = {0};
	struct bytes q = c->qualifier;

	for (size_t i = 0; !c->wide && i < q.len; i++) {
		bool plain = (q.ptr[i] >= '0' && q.ptr[i] <= '9') || q.ptr[i] == '_' ||
			     (q.ptr[i] >= 'a' && q.ptr[i] <= 'z') ||
			     (q.ptr[i] >= 'A' && q.ptr[i] <= 'Z');

		buf_printf(&text, plain ? "%c" : i ? "_%02x" : "x%02x", q.ptr[i]);
	}
	buf_put(&text, 0);
	const char *name = text.len > 1 && !(*text.ptr >= '0' && *text.ptr <= '9')
				   ? arena_strdup(&t->arena, (const char *)text.ptr)
				   : arena_format(&t->arena, "%.*s_%s", (int)c->family.len,
						  (const char *)c->family.ptr,
						  text.len > 1 ? (const char *)text.ptr : "value");
	buf_release(&text);
	return unique_name(t, name);
}

static void name_parts(struct guess_table *t, struct guesses *g, const char *prefix)
{
	for (size_t i = 0; i < g->n; i++) {
		struct guess *p = &g->part[i];

		if (p->kind == GUESS_FIELD)
			p->name = unique_name(t, arena_format(&t->arena, "%s_%s", prefix, p->stem));
	}
}

void guess_names(struct guess_table *t)
{
	name_parts(t, &t->key, "key");
	for (size_t c = 0; c < t->ncolumns; c++) {
		t->columns[c].name = column_name(t, &t->columns[c]);
		name_parts(t, &t->columns[c].qualifiers, "column");
	}
}
