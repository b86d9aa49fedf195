/*
 * predicate.c - conditions with typed values, evaluated for an event
 *
 * predicate_new sorts lists, so `in` with many values uses a binary search.
 */
#include "field.h"

#include <stdlib.h>

typedef int compare_values(const struct value *a, const struct value *b);

struct test {
	size_t field;
	enum question_op op;
	compare_values *compare;
	const struct value *values; /* the values of IN, sorted */
	size_t nvalues;
};

struct predicate {
	const struct question *question;
	struct test *tests; /* the tests, one for each condition */
};

/* --- order of values --- */

static int compare_unsigned(const struct value *a, const struct value *b)
{
	return (a->u > b->u) - (a->u < b->u);
}

static int compare_signed(const struct value *a, const struct value *b)
{
	int64_t x = (int64_t)a->u, y = (int64_t)b->u;

	return (x > y) - (x < y);
}

static int compare_time(const struct value *a, const struct value *b)
{
	int order = compare_signed(a, b);

	return order ? order : (a->micros > b->micros) - (a->micros < b->micros);
}

static int compare_real(const struct value *a, const struct value *b)
{
	return (a->f > b->f) - (a->f < b->f);
}

static int compare_text(const struct value *a, const struct value *b)
{
	return bytes_cmp(a->text, b->text);
}

static int compare_bytes(const struct value *a, const struct value *b)
{
	return bytes_cmp(a->bytes, b->bytes);
}

static compare_values *comparer(enum field_type t)
{
	switch (t) {
	case FIELD_TEXT:
	case FIELD_BYTES: return compare_text;
	case FIELD_HEX:
	case FIELD_UUID:
	case FIELD_IP: return compare_bytes;
	case FIELD_F64: return compare_real;
	case FIELD_TIME: return compare_time;
	case FIELD_I64:
	case FIELD_DECIMAL: return compare_signed;
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_BOOL:
	case FIELD_CODE: break;
	}
	return compare_unsigned;
}

/* --- compile --- */

struct predicate_compiler {
	const struct job_condition *c;
	const struct field_forms *forms;
	struct arena *arena;
	struct error *err;
};

static bool asks_order(enum question_op op)
{
	return op == QUESTION_LT || op == QUESTION_LE || op == QUESTION_GT || op == QUESTION_GE ||
	       op == QUESTION_BETWEEN;
}

/* Reject comparisons such as `amount > 5` for a text, because 10 is less than 5 as a text. */
int predicate_check(const struct question *q, const struct condition *c, const struct field *f,
		    struct error *err)
{
	if (c->op == QUESTION_STARTS && f->type != FIELD_TEXT && f->type != FIELD_BYTES)
		return question_fault(
			q, c->at, err,
			"found `starts with` for `%.60s` of type %s, expected a field of type text",
			f->name, field_type_name(f->type));
	for (size_t i = 0; f->type == FIELD_TEXT && asks_order(c->op) && i < c->nvalues; i++) {
		const struct question_value *v = &c->values[i];
		const char *text = (const char *)v->text.ptr;

		if (!v->quoted && strspn(text, "+-0123456789.") == v->text.len)
			return question_fault(
				q, v->at, err,
				"found the number %.60s for `%.60s` of type text, expected a type "
				"for the field (`fields: %.60s: {type: i64}`), or quotes to "
				"compare texts",
				text, f->name, f->name);
	}
	return RC_OK;
}

static int in_order(const void *a, const void *b, void *test)
{
	const struct test *t = test;

	return t->compare(a, b);
}

static int compile(const struct predicate_compiler *k, size_t i, struct test *t)
{
	const struct question *q = k->c->question;
	const struct condition *c = &q->conditions[i];
	const struct field_form *form = &k->forms->form[k->c->fields[i]];
	struct value *values = arena_alloc(k->arena, (c->nvalues + 1) * sizeof *values);
	int rc = predicate_check(q, c, form->field, k->err);

	for (size_t n = 0; rc == RC_OK && n < c->nvalues; n++) {
		struct reject why;

		values[n].text = c->values[n].text;
		if (c->op != QUESTION_STARTS && field_read_kept(form, &values[n], k->arena, &why))
			rc = question_fault(q, c->values[n].at, k->err, "%s: %s", form->field->name,
					    why.detail);
	}
	*t = (struct test){.field = k->c->fields[i],
			   .op = c->op,
			   .compare = comparer(form->field->type),
			   .values = values,
			   .nvalues = c->nvalues};
	if (rc == RC_OK && c->op == QUESTION_IN)
		qsort_r(values, c->nvalues, sizeof *values, in_order, t);
	return rc;
}

int predicate_new(const struct predicate **out, const struct job_condition *c,
		  const struct field_forms *forms, struct arena *a, struct error *err)
{
	const struct predicate_compiler k = {c, forms, a, err};
	struct predicate *p = arena_alloc(a, sizeof *p);
	int rc = RC_OK;

	p->question = c->question;
	p->tests = arena_alloc(a, (c->question->nconditions + 1) * sizeof *p->tests);
	for (size_t i = 0; rc == RC_OK && i < c->question->nconditions; i++)
		rc = compile(&k, i, &p->tests[i]);
	*out = p;
	return rc;
}

/* --- evaluate --- */

struct predicate_asker {
	const struct predicate *p;
	const struct value *(*value)(void *ctx, size_t field);
	void *ctx;
	bool failed;
};

static bool is_listed(const struct test *t, const struct value *v)
{
	size_t low = 0, high = t->nvalues;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = t->compare(v, &t->values[middle]);

		if (order == 0)
			return true;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

static bool holds(const struct test *t, const struct value *v)
{
	const struct value *to = t->values;

	switch (t->op) {
	case QUESTION_EQ: return t->compare(v, to) == 0;
	case QUESTION_NE: return t->compare(v, to) != 0;
	case QUESTION_LT: return t->compare(v, to) < 0;
	case QUESTION_LE: return t->compare(v, to) <= 0;
	case QUESTION_GT: return t->compare(v, to) > 0;
	case QUESTION_GE: return t->compare(v, to) >= 0;
	case QUESTION_BETWEEN: return t->compare(v, &to[0]) >= 0 && t->compare(v, &to[1]) <= 0;
	case QUESTION_IN: return is_listed(t, v);
	case QUESTION_STARTS:
		return v->text.len >= to->text.len &&
		       memcmp(v->text.ptr, to->text.ptr, to->text.len) == 0;
	case QUESTION_IS_NULL: break;
	}
	return false;
}

enum answer predicate_test(const struct predicate *p, size_t condition, const struct value *v)
{
	const struct test *t = &p->tests[condition];

	if (t->op == QUESTION_IS_NULL)
		return v->text.ptr ? ANSWER_NO : ANSWER_YES;
	if (!v->text.ptr)
		return ANSWER_UNKNOWN;
	return holds(t, v) ? ANSWER_YES : ANSWER_NO;
}

static enum answer ask(void *ctx, const struct condition *c)
{
	struct predicate_asker *a = ctx;
	size_t condition = (size_t)(c - a->p->question->conditions);
	const struct value *v = a->failed ? NULL : a->value(a->ctx, a->p->tests[condition].field);

	a->failed = !v;
	return v ? predicate_test(a->p, condition, v) : ANSWER_UNKNOWN;
}

enum answer predicate_ask(const struct predicate *p,
			  const struct value *(*value)(void *ctx, size_t field), void *ctx)
{
	struct predicate_asker a = {p, value, ctx, false};
	enum answer answer = question_ask(p->question, ask, &a);

	return a.failed ? ANSWER_UNKNOWN : answer;
}
