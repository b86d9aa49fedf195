/*
 * Transforms change the text of a field's columns before the parser of the field's type. The keys
 * are `from` (with texts between the columns), `match`, `substring`, `case` and `map`.
 */
#include "sections.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "pattern.h"

/* --- from --- */

/* Columns and the texts around them, while the reader goes through the list. */
struct pieces {
	struct reader *r;
	struct field *f;
	struct buf glue; /* the text before the next column */
	bool texts;
};

/*
 * Return true if the text has only spaces and punctuation, such as " ". No column's name, path or
 * $name has only such characters. For "T", the function returns false, because a letter may be a
 * column's name.
 */
static bool is_implied(const char *text)
{
	for (const char *p = text; *p; p++)
		if ((signed char)*p < 0 || isalnum((unsigned char)*p) || strchr("#$_[]", *p))
			return false;
	return *text;
}

static void end_glue(struct pieces *p)
{
	struct arena *a = &p->r->job->arena;

	p->f->glue[p->f->ncolumns] =
		arena_strndup(a, p->glue.ptr ? (const char *)p->glue.ptr : "", p->glue.len);
	p->glue.len = 0;
}

static void add_column(struct pieces *p, const char *name)
{
	end_glue(p);
	p->f->columns[p->f->ncolumns++] = name;
}

static void add_text(struct pieces *p, const char *text)
{
	p->texts = true;
	buf_append_str(&p->glue, text);
}

static int read_constant(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *text;
	int rc = read_any_text(r, n, key, &text);

	if (rc == RC_OK)
		add_text(slot, text);
	return rc;
}

static int read_column(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc == RC_OK)
		add_column(slot, name);
	return rc;
}

static const struct key piece_keys[] = {{.name = "text",
					 WORDS(TEXT, NULL, "a text between columns", "{text: T}"),
					 .read = read_constant},
					{.name = "column",
					 WORDS(TEXT, NULL, "a column whose name looks like a text",
					       "{column: \"-\"}"),
					 .read = read_column}};
const struct schema piece_schema = SCHEMA("from", piece_keys);

static int read_piece(struct pieces *p, const struct node *n, const struct key *key, bool alone)
{
	if (n->kind == NODE_MAPPING) {
		int rc = read_mapping(p->r, n, &piece_schema, p);

		if (rc == RC_OK && n->count != 1)
			rc = fault(p->r, n->pos, "from: expected one of {text: X} and {column: X}");
		return rc;
	}
	if (alone || n->kind != NODE_SCALAR || !is_implied(n->text))
		return read_column(p->r, n, key, p);
	p->f->implied[p->f->nimplied++] = n->text;
	add_text(p, n->text);
	return RC_OK;
}

static int read_pieces(struct pieces *p, const struct node *n, const struct key *key)
{
	bool list = n->kind == NODE_SEQUENCE;
	size_t many = list ? n->count : 1;
	int rc = RC_OK;

	for (size_t i = 0; i < many && rc == RC_OK; i++)
		rc = read_piece(p, list ? n->items[i] : n, key, many == 1);
	if (rc == RC_OK && p->f->ncolumns == 0)
		rc = fault(p->r, n->pos, "from: found %s, expected column names",
			   many ? "no column" : "an empty list");
	end_glue(p);
	return rc;
}

int read_from(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct field *f = slot;
	struct pieces p = {.r = r, .f = f};
	size_t many = n->kind == NODE_SEQUENCE ? n->count : 1;

	f->ncolumns = 0;
	f->columns = arena_alloc(&r->job->arena, (many + 1) * sizeof *f->columns);
	f->glue = arena_alloc(&r->job->arena, (many + 1) * sizeof *f->glue);
	f->implied = arena_alloc(&r->job->arena, (many + 1) * sizeof *f->implied);
	int rc = read_pieces(&p, n, key);
	for (size_t i = 1; i < f->ncolumns && !p.texts; i++)
		f->glue[i] = " ";
	buf_release(&p.glue);
	return rc;
}

int read_first(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct field *f = slot;

	f->first = true;
	return read_names(r, n, key, &f->columns, &f->ncolumns);
}

int read_join(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct field *f = slot;
	const char *join;
	int rc = read_any_text(r, n, key, &join);

	for (size_t i = 0; i <= f->ncolumns && rc == RC_OK && f->glue; i++) {
		bool between = i > 0 && i < f->ncolumns;

		if (strcmp(f->glue[i], between ? " " : "") != 0)
			rc = fault(r, n->pos,
				   "found `join` and a text in `from`, expected one of them");
		else if (between)
			f->glue[i] = join;
	}
	return rc;
}

/* --- changes of the text --- */

struct transform *transform_of(struct reader *r, struct field *f)
{
	if (!f->transform)
		f->transform = arena_alloc(&r->job->arena, sizeof *f->transform);
	return (struct transform *)(uintptr_t)f->transform;
}

int read_match(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct transform *t = transform_of(r, slot);
	struct pattern *match = NULL;
	int rc = read_text(r, n, key, &t->match_text);

	if (rc)
		return rc;
	if (pattern_new(&match, &r->job->arena, t->match_text, r->err))
		return error_prefix(r->err, "%s:%u:%u: match: ", r->job->path, n->pos.line,
				    n->pos.column);
	t->match = match;
	if (pattern_groups(match) > 1)
		return fault(
			r, n->pos,
			"match: found %zu groups, expected at most one, which gives the value; write other groups as (?:...)",
			pattern_groups(match));
	return RC_OK;
}

static bool whole_number(const struct node *n, int64_t *out)
{
	char *end;

	if (n->kind != NODE_SCALAR || !n->len || n->len > 10 || isspace((unsigned char)*n->text))
		return false;
	*out = strtoll(n->text, &end, 10);
	return *end == 0 && *out >= -INT32_MAX && *out <= INT32_MAX;
}

/* Accepts [from] or [from, length]. */
int read_substring(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct transform *t = transform_of(r, slot);
	int64_t from = 0, length = UINT32_MAX;
	bool fine = n->kind == NODE_SEQUENCE && (n->count == 1 || n->count == 2) &&
		    whole_number(n->items[0], &from) && from != 0;

	if (fine && n->count == 2)
		fine = whole_number(n->items[1], &length) && length > 0;
	if (!fine)
		return expected(
			r, n, key->name,
			"[from, length], or [from] for the rest; from is 1 for the first character, -1 for the last");
	t->from = (int32_t)from;
	t->length = (uint32_t)length;
	return RC_OK;
}

int read_case(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	return read_choice(r, n, key, &transform_of(r, slot)->letters);
}

static const struct key keep_keys[] = {
	{.name = "keep",
	 WORDS(BOOL, NULL, "true: keep an unlisted text", "otherwise: {keep: true}"),
	 .read = read_bool,
	 .required = true}};
const struct schema keep_schema = SCHEMA("otherwise", keep_keys);

/* Accepts a text, or {keep: true}. */
int read_otherwise(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct transform *t = transform_of(r, slot);
	bool keep;

	if (!t->map)
		return fault(r, n->pos, "found `otherwise` without `map`, expected both");
	if (n->kind != NODE_MAPPING) {
		t->otherwise = OTHERWISE_TEXT;
		return read_any_text(r, n, key, &t->other);
	}
	int rc = read_mapping(r, n, &keep_schema, &keep);
	if (rc == RC_OK && keep)
		t->otherwise = OTHERWISE_KEEP;
	return rc;
}
