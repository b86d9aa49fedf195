/* ask.c - read questions with `?` */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "ask.h"
#include "design.h"

/* --- words of the text --- */

struct ask_word {
	size_t at, len;
};

/* Find the next word. Quoted texts and bracketed lists are one word. */
static bool next_word(const char *text, size_t *at, struct ask_word *w)
{
	size_t i = *at, depth = 0;
	char quote = 0;

	while (isspace((unsigned char)text[i]))
		i++;
	w->at = i;
	for (; text[i] && (quote || depth || !isspace((unsigned char)text[i])); i++) {
		if (quote)
			quote = text[i] == quote ? 0 : quote;
		else if (text[i] == '\'' || text[i] == '"' || text[i] == '`')
			quote = text[i];
		else if (text[i] == '(')
			depth++;
		else if (text[i] == ')' && depth)
			depth--;
	}
	w->len = i - w->at;
	*at = i;
	return w->len > 0;
}

static bool word_is(const char *text, struct ask_word w, const char *name)
{
	return strlen(name) == w.len && strncasecmp(text + w.at, name, w.len) == 0;
}

static int fault(const char *text, size_t at, struct error *err, const char *problem)
{
	return error_set(err, RC_CONFIG, "--ask \"%s\": character %zu: %s", text, at + 1, problem);
}

bool design_rate(const char *text, double *per_second)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"/s", 1}, {"/min", 60}, {"/h", 3600}, {"/d", 86400}};
	char *end;
	double v = strtod(text, &end);

	if (end == text || !(v > 0) || !isfinite(v))
		return false;
	if (*end == 'k' || *end == 'K' || *end == 'M') {
		v *= *end == 'M' ? 1e6 : 1e3;
		end++;
	}
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].name) == 0) {
			*per_second = v / units[i].seconds;
			return true;
		}
	return false;
}

/* --- clauses after the condition --- */

static int field_named(const struct ask *k, const struct events *e, struct ask_word w,
		       size_t *field, struct error *err)
{
	struct error why;

	if (field_find(e->job, bytes_of(k->text + w.at, w.len), field, &why) == RC_OK)
		return RC_OK;
	return fault(k->text, w.at, err, why.msg);
}

/* Read the clause `latest N [by TIME]`. */
static int read_latest(struct ask *k, const struct events *e, size_t *at, struct error *err)
{
	struct ask_word w;
	char *end;

	if (!next_word(k->text, at, &w) || !isdigit((unsigned char)k->text[w.at]))
		return fault(k->text, w.at, err, "found no number after `latest`, expected one");
	k->latest = strtoull(k->text + w.at, &end, 10);
	if (end != k->text + w.at + w.len || !k->latest)
		return fault(k->text, w.at, err, "expected a number after `latest`, at least 1");
	size_t after = *at;
	if (next_word(k->text, &after, &w) && word_is(k->text, w, "by")) {
		*at = after;
		if (!next_word(k->text, at, &w))
			return fault(k->text, w.at, err, "found no field after `by`");
		int rc = field_named(k, e, w, &k->time, err);
		if (rc)
			return rc;
		if (e->job->fields[k->time].type != FIELD_TIME)
			return fault(k->text, w.at, err, "expected a field of type time");
		return RC_OK;
	}
	for (size_t i = 0; k->time == SIZE_MAX && i < e->job->nfields; i++)
		if (e->job->fields[i].type == FIELD_TIME && !e->column[i].nulls)
			k->time = i;
	return k->time != SIZE_MAX
		       ? RC_OK
		       : fault(k->text, w.at, err,
			       "`latest` needs a field of type time that every event has");
}

static int read_columns(struct ask *k, const struct events *e, size_t *at, struct arena *a,
			struct error *err)
{
	struct ask_word w;

	if (!next_word(k->text, at, &w))
		return fault(k->text, w.at, err, "found no names after `columns`");
	for (size_t i = w.at; i < w.at + w.len; i++) {
		size_t len = strcspn(k->text + i, ", "), field;
		int rc = field_named(k, e, (struct ask_word){i, len}, &field, err);

		if (rc)
			return rc;
		k->columns = arena_grow(a, k->columns, k->ncolumns, sizeof *k->columns);
		k->columns[k->ncolumns++] = e->job->fields[field].name;
		i += len;
	}
	return RC_OK;
}

static int read_seconds(struct ask *k, size_t *at, double *s, struct error *err)
{
	struct ask_word w;
	char text[32];
	uint64_t whole;
	char *end;

	if (!next_word(k->text, at, &w) || w.len >= sizeof text)
		return fault(k->text, w.at, err, "expected a time such as 1d, 10m or 50ms");
	snprintf(text, sizeof text, "%.*s", (int)w.len, k->text + w.at);
	*s = strtod(text, &end);
	if (end != text && strcmp(end, "ms") == 0) {
		*s /= 1000;
		return RC_OK;
	}
	if (!parse_duration_s(text, &whole) || whole == DURATION_FOREVER)
		return fault(k->text, w.at, err, "expected a time such as 1d, 10m or 50ms");
	*s = (double)whole;
	return RC_OK;
}

static bool is_clause(const char *text, struct ask_word w)
{
	return word_is(text, w, "latest") || word_is(text, w, "columns") ||
	       word_is(text, w, "recent") || word_is(text, w, "worst");
}

/* Read the clauses from `at` on. */
static int read_clauses(struct ask *k, const struct events *e, size_t at, struct arena *a,
			struct error *err)
{
	struct ask_word w;
	int rc = RC_OK;

	while (rc == RC_OK && next_word(k->text, &at, &w)) {
		double s;

		if (word_is(k->text, w, "latest")) {
			rc = read_latest(k, e, &at, err);
		} else if (word_is(k->text, w, "columns")) {
			rc = read_columns(k, e, &at, a, err);
		} else if (word_is(k->text, w, "recent")) {
			rc = read_seconds(k, &at, &s, err);
			k->recent = rc == RC_OK ? (uint64_t)(s * 1000) : 0;
		} else if (word_is(k->text, w, "worst")) {
			rc = read_seconds(k, &at, &k->worst_s, err);
		} else {
			rc = fault(k->text, w.at, err,
				   "expected one of latest, columns, recent and worst");
		}
	}
	return rc;
}

/* --- holes --- */

/* Append the condition with each `? + SPAN`, `? - SPAN` and `? x K` as one bare word. */
static void join_holes(const char *text, size_t len, struct buf *out)
{
	char quote = 0;

	for (size_t i = 0; i < len; i++) {
		buf_put(out, (uint8_t)text[i]);
		if (quote || text[i] == '\'' || text[i] == '"' || text[i] == '`') {
			quote = !quote ? text[i] : text[i] == quote ? 0 : quote;
			continue;
		}
		if (text[i] != '?')
			continue;
		size_t sign = i + 1 + strspn(text + i + 1, " \t");
		if (sign >= len || !strchr("+-xX", text[sign]))
			continue;
		size_t span = sign + 1 + strspn(text + sign + 1, " \t");
		if (span >= len || !isdigit((unsigned char)text[span]))
			continue;
		buf_put(out, (uint8_t)text[sign]);
		for (i = span; i < len && isalnum((unsigned char)text[i]); i++)
			buf_put(out, (uint8_t)text[i]);
		i--;
	}
	buf_put(out, 0);
}

static bool read_span(const struct field *f, const char *text, uint64_t *span)
{
	char *end;

	if (f->type == FIELD_TIME) {
		bool good = parse_duration_s(text, span) && *span && *span != DURATION_FOREVER;

		*span *= 1000;
		return good;
	}
	*span = strtoull(text, &end, 10);
	return end != text && !*end && *span;
}

/* Read the text of a `?`. */
static bool read_hole(struct ask_hole *h, const struct condition *c, const struct field *f)
{
	const char *text = (const char *)c->values[h->value].text.ptr + 1;
	bool end = c->op == QUESTION_BETWEEN && h->value == 1;
	char *rest;

	h->kind = end ? HOLE_END : HOLE_VALUE;
	switch (*text) {
	case 0: return true;
	case '+': return end && read_span(f, text + 1, &h->span);
	case '-':
		h->kind = HOLE_LAST;
		return (c->op == QUESTION_GE || c->op == QUESTION_GT) &&
		       read_span(f, text + 1, &h->span);
	case '[':
		h->kind = HOLE_PREFIX;
		h->count = (unsigned)strtoul(text + 1, &rest, 10);
		return c->op == QUESTION_STARTS && h->count && strcmp(rest, "]") == 0;
	case 'x':
	case 'X':
		h->kind = HOLE_SEVERAL;
		h->count = (unsigned)strtoul(text + 1, &rest, 10);
		return c->op == QUESTION_IN && h->count && h->count <= 1000 && !*rest;
	}
	return false;
}

static bool is_text(const struct field *f)
{
	return f->type == FIELD_TEXT;
}

/* Return true if all texts of the field are digits, as of dates that have no type. */
static bool texts_are_digits(const struct event_column *c)
{
	for (size_t i = 0; i < c->ntexts; i++)
		for (size_t k = 0; k < c->texts[i].text.len; k++)
			if (!isdigit(c->texts[i].text.ptr[k]))
				return false;
	return c->ntexts > 0;
}

static int add_equal(struct ask *k, size_t at, size_t field, struct error *err)
{
	for (size_t i = 0; i < k->nequals; i++)
		if (k->equal[i] == field)
			return RC_OK;
	if (k->nequals == ASK_EQUALS_MOST)
		return fault(k->text, at, err, "expected at most 4 fields with `= ?`");
	k->equal[k->nequals++] = field;
	return RC_OK;
}

/* Note which part of a key answers the condition. */
static int place_condition(struct asks *s, struct ask *k, const struct condition *c, size_t field,
			   const struct events *e, struct error *err)
{
	const struct field *f = &e->job->fields[field];

	if (c->op == QUESTION_EQ || c->op == QUESTION_IN)
		return add_equal(k, c->at, field, err);
	if (c->op == QUESTION_STARTS) {
		k->starts = field;
		return is_text(f) ? RC_OK
				  : question_fault(&k->q, c->at, err,
						   "`starts with` needs a text, but %s is a %s",
						   f->name, field_type_name(f->type));
	}
	if (c->op == QUESTION_NE || c->op == QUESTION_IS_NULL)
		return RC_OK;
	if (is_text(f) && texts_are_digits(&e->column[field]))
		return question_fault(
			&k->q, c->at, err,
			"`%s` is text, but all of its values are digits, so its order is not that of "
			"numbers or dates: add --field '%s={type: u64}' or --field '%s={type: time, "
			"format: \"%%Y%%m%%d\"}'",
			f->name, f->name, f->name);
	if (k->range != SIZE_MAX && k->range != field)
		buf_printf(&s->notes,
			   "q%zu has two ranges: the key answers that of `%s`, and `%s` is "
			   "a filter\n",
			   s->n + 1, e->job->fields[k->range].name, f->name);
	else
		k->range = field;
	return RC_OK;
}

static int read_conditions(struct asks *s, struct ask *k, const struct events *e, struct arena *a,
			   struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < k->q.nconditions; i++) {
		const struct condition *c = &k->q.conditions[i];
		size_t field;
		bool holes = false;

		rc = field_find(e->job, bytes_str(c->name), &field, err);
		if (rc)
			return question_fault(&k->q, c->at, err, "%s", err->msg);
		for (size_t v = 0; v < c->nvalues; v++) {
			struct ask_hole h = {.condition = i, .value = v};

			if (c->values[v].quoted || c->values[v].text.ptr[0] != '?')
				continue;
			if (!read_hole(&h, c, &e->job->fields[field]))
				return question_fault(
					&k->q, c->values[v].at, err,
					"found `%s`, expected ?, ? + SPAN, ? - SPAN "
					"(after >=), ? x K (in a list) or ?[L] (after "
					"starts with)",
					c->values[v].text.ptr);
			k->hole = arena_grow(a, k->hole, k->nholes, sizeof *k->hole);
			k->hole[k->nholes++] = h;
			holes = true;
		}
		if (!holes && (c->op == QUESTION_EQ || c->op == QUESTION_IN) &&
		    k->nfixed < ASK_EQUALS_MOST)
			k->fixed[k->nfixed++] = field;
		if (holes)
			rc = place_condition(s, k, c, field, e, err);
		if (rc == RC_OK && holes && e->column[field].nulls == e->n)
			rc = question_fault(&k->q, c->at, err, "`%s` has no values", c->name);
	}
	return rc;
}

static int read_condition(struct asks *s, struct ask *k, size_t len, const struct events *e,
			  struct arena *a, struct error *err)
{
	struct buf joined = {0};

	join_holes(k->text, len, &joined);
	const char *text = arena_strdup(a, (const char *)joined.ptr);
	buf_release(&joined);
	if (!text[strspn(text, " \t\n")])
		return RC_OK;
	int rc = question_parse(&k->q, "--ask", text, a, err);
	return rc ? rc : read_conditions(s, k, e, a, err);
}

int ask_read(struct asks *s, const char *text, const char *rate, const struct events *e,
	     struct arena *a, struct error *err)
{
	struct ask k = {
		.text = text, .rate = 1, .starts = SIZE_MAX, .range = SIZE_MAX, .time = SIZE_MAX};
	size_t at = 0, end = 0;
	struct ask_word w;

	if (s->n == ASKS_MOST)
		return fault(text, 0, err, "expected at most 8 questions");
	if (!text[strspn(text, " \t\n")])
		return error_set(err, RC_CONFIG,
				 "--ask: found an empty question, expected one such as "
				 "\"FIELD = ?\" or \"latest 20\"");
	if (rate && !design_rate(rate, &k.rate))
		return error_set(
			err, RC_CONFIG,
			"the rate of --ask \"%s\": found `%s`, expected one such as 1000/s, "
			"5/min, 20/h or 3/d",
			text, rate);
	while (next_word(text, &at, &w) && !is_clause(text, w))
		end = at;
	int rc = read_condition(s, &k, end, e, a, err);
	if (rc == RC_OK)
		rc = read_clauses(&k, e, end, a, err);
	if (rc == RC_OK && !rate)
		buf_printf(&s->notes, "q%zu has no rate: taken as 1/s\n", s->n + 1);
	if (rc)
		return rc;
	s->ask = arena_grow(a, s->ask, s->n, sizeof *s->ask);
	s->ask[s->n++] = k;
	return RC_OK;
}
