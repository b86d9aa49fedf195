#include "asked.h"

#include "field.h"

struct asked_reader {
	const struct question *q;
	const struct field_forms *forms;
	const struct job_table *table;
	struct arena *arena;
	struct error *err;
};

static const struct asked *join(struct arena *a, enum asked_kind kind, const struct asked *left,
				const struct asked *right)
{
	struct asked *n = arena_alloc(a, sizeof *n);

	*n = (struct asked){.kind = kind, .left = left, .right = right};
	return n;
}

/* Join trees into a balanced tree, to keep the depth small for any `n`. */
const struct asked *asked_join(struct arena *a, enum asked_kind kind, const struct asked *const *of,
			       size_t n)
{
	if (n == 1)
		return of[0];
	return join(a, kind, asked_join(a, kind, of, n / 2),
		    asked_join(a, kind, of + n / 2, n - n / 2));
}

static struct bytes unescaped(struct arena *a, const char *text)
{
	struct buf b = {0};

	bytes_unescape_utf8(&b, bytes_str(text));
	struct bytes kept =
		bytes_of(arena_strndup(a, b.len ? (const char *)b.ptr : "", b.len), b.len);

	buf_release(&b);
	return kept;
}

static int take_name(struct asked_reader *r, const struct condition *c, struct asked *about)
{
	const struct table *t = &r->table->schema;
	const char *colon = strchr(c->name, ':');
	struct error err;

	if (field_find(r->forms->job, bytes_str(c->name), &about->field, &err) == RC_OK)
		return RC_OK;
	about->is_column = true;
	for (size_t i = 0; colon && i < t->nfamilies; i++)
		if (bytes_eq(bytes_str(t->families[i].name),
			     bytes_of(c->name, (size_t)(colon - c->name)))) {
			about->family = bytes_str(t->families[i].name);
			about->qualifier = unescaped(r->arena, colon + 1);
			return RC_OK;
		}
	if (colon)
		return question_fault(
			r->q, c->at, r->err,
			"found `%.60s`, expected a field of the job, or a column of a "
			"family that table %s has",
			c->name, t->name);
	return question_fault(r->q, c->at, r->err, "%s", err.msg);
}

static int take_value(struct asked_reader *r, const struct asked *about, bool whole,
		      const struct question_value *from, struct value *v)
{
	struct reject why;

	*v = (struct value){.text = from->text};
	if (about->is_column || !whole)
		return RC_OK;
	const struct field_form *form = &r->forms->form[about->field];
	if (field_read_kept(form, v, r->arena, &why))
		return question_fault(r->q, from->at, r->err, "%s: %s", form->field->name,
				      why.detail);
	return RC_OK;
}

/* Return the comparison of a condition with value number `i` of the condition, without `not`. */
static enum filter_op op_of(enum question_op op, size_t i)
{
	switch (op) {
	case QUESTION_NE: return FILTER_NOT_EQUAL;
	case QUESTION_LT: return FILTER_LESS;
	case QUESTION_LE: return FILTER_LESS_OR_EQUAL;
	case QUESTION_GT: return FILTER_GREATER;
	case QUESTION_GE: return FILTER_GREATER_OR_EQUAL;
	case QUESTION_BETWEEN: return i ? FILTER_LESS_OR_EQUAL : FILTER_GREATER_OR_EQUAL;
	case QUESTION_EQ:
	case QUESTION_IN:
	case QUESTION_STARTS:
	case QUESTION_IS_NULL: break;
	}
	return FILTER_EQUAL;
}

static enum filter_op negated(enum filter_op op)
{
	static const enum filter_op of[] = {
		[FILTER_LESS] = FILTER_GREATER_OR_EQUAL, [FILTER_LESS_OR_EQUAL] = FILTER_GREATER,
		[FILTER_EQUAL] = FILTER_NOT_EQUAL,	 [FILTER_NOT_EQUAL] = FILTER_EQUAL,
		[FILTER_GREATER_OR_EQUAL] = FILTER_LESS, [FILTER_GREATER] = FILTER_LESS_OR_EQUAL};

	return of[op];
}

static void take_operator(struct asked *to, enum question_op op, size_t i, bool negate)
{
	to->negate = negate;
	to->op = negate ? negated(op_of(op, i)) : op_of(op, i);
	to->kind = op == QUESTION_STARTS    ? ASKED_STARTS
		   : op == QUESTION_IS_NULL ? ASKED_NULL
					    : ASKED_COMPARE;
}

/* Make one comparison for each value of the condition. */
static int take_values(struct asked_reader *r, const struct condition *c, const struct asked *about,
		       bool negate, const struct asked **out)
{
	size_t n = c->nvalues ? c->nvalues : 1;
	const struct asked **all = arena_alloc(r->arena, n * sizeof *all);

	for (size_t i = 0; i < n; i++) {
		struct asked *one = arena_alloc(r->arena, sizeof *one);

		*one = *about;
		take_operator(one, c->op, i, negate);
		int rc = c->nvalues ? take_value(r, about, c->op != QUESTION_STARTS, &c->values[i],
						 &one->value)
				    : RC_OK;
		if (rc)
			return rc;
		all[i] = one;
	}
	bool both = (c->op == QUESTION_BETWEEN) != negate;
	*out = asked_join(r->arena, both ? ASKED_AND : ASKED_OR, all, n);
	return RC_OK;
}

/*
 * Return true if only a salt or a hash uses the field, and no part of the key and no cell contains
 * it.
 */
static bool only_hashed(const struct job_table *t, size_t field)
{
	bool hashed = false;

	for (size_t i = 0; i < t->nrowkey; i++) {
		const struct key_part *p = &t->rowkey[i];

		if (p->kind == PART_FIELD && p->field == field)
			return false;
		for (size_t k = 0; k < p->nof; k++)
			hashed = hashed || p->of[k] == field;
	}
	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_spec *c = &t->cells[i];

		if (c->kind == VALUE_FIELD && c->field == field)
			return false;
		for (size_t k = 0; k < c->nqualifier; k++)
			if (c->qualifier[k].kind == PART_FIELD && c->qualifier[k].field == field)
				return false;
	}
	return hashed;
}

static int check_hashed(struct asked_reader *r, const struct condition *c, bool negate,
			size_t field)
{
	struct asked one;

	take_operator(&one, c->op, 0, negate);
	if (one.kind == ASKED_NULL || asked_is_compare(&one, FILTER_EQUAL) ||
	    !only_hashed(r->table, field))
		return RC_OK;
	return question_fault(
		r->q, c->at, r->err,
		"table %s stores `%.60s` only hashed, in its row key, found `%s%s`, expected `=` "
		"or `in`. For other conditions, store the field in a cell: {family: %s, qualifier: "
		"%.60s, value: %.60s}",
		r->table->schema.name, c->name, negate ? "not " : "", question_op_text(c->op),
		r->table->schema.families[0].name, c->name, c->name);
}

static int take_condition(struct asked_reader *r, const struct condition *c, bool negate,
			  const struct asked **out)
{
	struct asked about = {0};
	int rc = take_name(r, c, &about);

	if (rc)
		return rc;
	const struct field *f = &r->forms->job->fields[about.field];

	rc = about.is_column ? RC_OK : predicate_check(r->q, c, f, r->err);
	if (rc)
		return rc;
	rc = about.is_column ? RC_OK : check_hashed(r, c, negate, about.field);
	return rc ? rc : take_values(r, c, &about, negate, out);
}

static int take_node(struct asked_reader *r, const struct question_node *n, bool negate,
		     const struct asked **out)
{
	if (n->kind == QUESTION_CONDITION)
		return take_condition(r, &r->q->conditions[n->condition], negate, out);
	if (n->kind == QUESTION_NOT)
		return take_node(r, n->of[0], !negate, out);
	const struct asked **all = arena_alloc(r->arena, (n->nof + 1) * sizeof *all);
	for (size_t i = 0; i < n->nof; i++) {
		int rc = take_node(r, n->of[i], negate, &all[i]);

		if (rc)
			return rc;
	}
	bool both = (n->kind == QUESTION_AND) != negate;
	*out = asked_join(r->arena, both ? ASKED_AND : ASKED_OR, all, n->nof);
	return RC_OK;
}

int asked_read(const struct asked **out, const struct question *q, const struct question_node *node,
	       const struct field_forms *forms, const struct job_table *table, struct arena *a,
	       struct error *err)
{
	struct asked_reader r = {q, forms, table, a, err};

	return take_node(&r, node, false, out);
}

bool asked_of_one_field(const struct asked *q, size_t *field)
{
	if (asked_is_group(q)) {
		size_t other;

		return asked_of_one_field(q->left, field) && asked_of_one_field(q->right, &other) &&
		       *field == other;
	}
	*field = q->field;
	return !q->is_column;
}
