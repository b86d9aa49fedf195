/*
 * section_map.c - `map` of a field: texts and their replacements
 *
 * The job has them in a mapping, or in a CSV file with one FROM,TO in each line.
 */
#include "sections.h"

#include <csv.h>
#include <stdlib.h>

#include "io.h"

#define LARGEST_MAP (64u << 20)

static void add_pair(struct reader *r, struct transform *t, const char *from, const char *to)
{
	t->map = arena_grow(&r->job->arena, t->map, t->nmap, sizeof *t->map);
	t->map[t->nmap++] = (struct text_pair){from, to};
}

static int by_from(const void *a, const void *b)
{
	const struct text_pair *x = *(const struct text_pair *const *)a;
	const struct text_pair *y = *(const struct text_pair *const *)b;

	return bytes_cmp(bytes_str(x->from), bytes_str(y->from));
}

/* Sort pointers to the pairs, for binary search. Return a text that occurs twice, or NULL. */
static const char *sort_pairs(struct reader *r, struct transform *t)
{
	t->by_from = arena_alloc(&r->job->arena, (t->nmap + 1) * sizeof *t->by_from);
	for (size_t i = 0; i < t->nmap; i++)
		t->by_from[i] = &t->map[i];
	qsort(t->by_from, t->nmap, sizeof *t->by_from, by_from);
	for (size_t i = 1; i < t->nmap; i++)
		if (strcmp(t->by_from[i - 1]->from, t->by_from[i]->from) == 0)
			return t->by_from[i]->from;
	return NULL;
}

static int read_inline(struct reader *r, const struct node *n, const struct key *key,
		       struct transform *t)
{
	for (size_t i = 0; i < n->count; i++) {
		const char *from, *to;
		int rc = read_any_text(r, n->keys[i], key, &from);

		if (rc == RC_OK)
			rc = read_any_text(r, n->items[i], key, &to);
		if (rc)
			return rc;
		add_pair(r, t, from, to);
	}
	return RC_OK;
}

/* The values of the current row of a file, for the callbacks of libcsv. */
struct map_rows {
	struct reader *r;
	struct transform *t;
	const char *value[2];
	size_t values, rows;
	bool bad; /* a row has another number of values, or a value has a NUL */
};

static void take_value(void *text, size_t len, void *rows)
{
	struct map_rows *m = rows;

	if (m->values < 2)
		m->value[m->values] = arena_strndup(&m->r->job->arena, len ? text : "", len);
	m->bad = m->bad || (len && memchr(text, 0, len));
	m->values++;
}

static void take_row(int end, void *rows)
{
	struct map_rows *m = rows;

	(void)end;
	m->bad = m->bad || m->values != 2;
	m->rows += !m->bad;
	if (!m->bad)
		add_pair(m->r, m->t, m->value[0], m->value[1]);
	m->values = 0;
}

static int parse_pairs(struct reader *r, struct pos at, const char *path, struct bytes text,
		       struct transform *t)
{
	struct map_rows m = {.r = r, .t = t};
	struct csv_parser p;

	if (csv_init(&p, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL))
		return error_memory(r->err, sizeof p, "a file of `map`");
	bool whole = csv_parse(&p, text.ptr, text.len, take_value, take_row, &m) == text.len;
	whole = csv_fini(&p, take_value, take_row, &m) == 0 && whole;
	csv_free(&p);
	if (whole && !m.bad && m.rows)
		return RC_OK;
	return fault(r, at, "map: %s: row %zu: found another form, expected FROM,TO as in CSV",
		     path, m.rows + 1);
}

static int read_file(struct reader *r, const struct node *n, const struct key *key,
		     struct transform *t)
{
	struct buf text = {0};
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc)
		return rc;
	const char *path = job_path(r->job, name);
	if (io_read_file_upto(path, LARGEST_MAP, &text, r->err)) {
		error_prefix(r->err, "%s:%u:%u: map: ", r->job->path, n->pos.line, n->pos.column);
		rc = r->err->code = RC_CONFIG;
	}
	struct bytes all = buf_bytes(&text);
	if (all.len >= 3 && memcmp(all.ptr, "\xef\xbb\xbf", 3) == 0)
		all = bytes_of(all.ptr + 3, all.len - 3);
	if (rc == RC_OK)
		rc = parse_pairs(r, n->pos, path, all, t);
	if (rc == RC_OK)
		job_digest_add(r->job, buf_bytes(&text));
	buf_release(&text);
	return rc;
}

int read_map(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct transform *t = transform_of(r, slot);
	bool fine = n->kind == NODE_SCALAR || (n->kind == NODE_MAPPING && n->count > 0);

	if (!fine)
		return expected(r, n, key->name,
				"a mapping of texts, such as {A: 1, B: 2}, or a file of FROM,TO");
	int rc = n->kind == NODE_MAPPING ? read_inline(r, n, key, t) : read_file(r, n, key, t);
	const char *twice = rc == RC_OK ? sort_pairs(r, t) : NULL;
	return twice ? fault(r, n->pos, "map: found `%.60s` twice, expected it once", twice) : rc;
}

void map_codes(struct reader *r, struct field *f)
{
	struct transform *t = transform_of(r, f);
	struct arena *a = &r->job->arena;

	for (size_t i = 0; i < f->codes->n; i++) {
		const struct code *c = &f->codes->by_name[i];

		add_pair(r, t, arena_strndup(a, c->name.ptr, c->name.len),
			 arena_format(a, "%u", c->code));
	}
	sort_pairs(r, t);
	if (f->has_unknown) {
		t->otherwise = OTHERWISE_TEXT;
		t->other = arena_format(a, "%u", f->unknown);
	}
	f->codes = NULL;
	f->has_unknown = false;
}
