/* question_parse.c - parse a condition; each rule of the grammar (question.h) has a function */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "question.h"

#define DEPTH_MOST                                                                                 \
	100 /* levels of parentheses and `not`, limited because recursion uses the stack */
#define CONDITIONS_MOST 10000 /* includes the values of lists */

enum word_kind { WORD_END, WORD_BARE, WORD_QUOTED, WORD_NAME, WORD_SIGN };

/* Signs are unquoted text of one or two bytes: = != < <= > >= ( ) , */
struct word {
	enum word_kind kind;
	struct bytes text; /* NUL-terminated */
	size_t at;
};

struct parser {
	struct question *q;
	struct arena *arena;
	struct error *err;
	size_t next; /* offset of the byte after the word */
	struct word word;
	size_t counted; /* conditions and values of lists */
	int depth;
};

static const char *const keywords[] = {"and", "or",	"not",	"between", "in",
				       "is",  "starts", "with", "null",	   NULL};

int question_fault(const struct question *q, size_t at, struct error *err, const char *fmt, ...)
{
	char text[600];

	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	size_t character = 1; /* counts UTF-8 characters, so it skips continuation bytes */
	for (size_t i = 0; i < at; i++)
		character += (q->text[i] & 0xC0) != 0x80;
	return error_set(err, RC_CONFIG, "%s: character %zu: %s", q->what, character, text);
}

/* --- words --- */

static int fault(struct parser *p, const char *expected)
{
	const struct word *w = &p->word;

	if (w->kind == WORD_END)
		return question_fault(p->q, w->at, p->err, "found the end, expected %s", expected);
	return question_fault(p->q, w->at, p->err, "found `%.60s`, expected %s",
			      (const char *)w->text.ptr, expected);
}

static bool ends_bare(char c)
{
	return c == 0 || strchr(" \t\r\n`'\"(),=!<>", c);
}

static int take_quoted(struct parser *p, const char *s)
{
	struct buf text = {0};
	char quote = *s;
	const char *c = s + 1;

	for (; *c && (*c != quote || c[1] == quote); c++) {
		buf_put(&text, (uint8_t)*c);
		c += *c == quote;
	}
	p->word.kind = quote == '`' ? WORD_NAME : WORD_QUOTED;
	p->word.text.len = text.len;
	buf_put(&text, 0);
	p->word.text.ptr = (uint8_t *)arena_strndup(p->arena, (char *)text.ptr, p->word.text.len);
	buf_release(&text);
	p->next = (size_t)(c + 1 - p->q->text);
	if (*c)
		return RC_OK;
	return question_fault(p->q, p->word.at, p->err,
			      "found no closing %c, expected one (write %c twice inside the text)",
			      quote, quote);
}

static int advance(struct parser *p)
{
	const char *s = p->q->text + p->next;
	size_t n = 0;

	s += strspn(s, " \t\r\n");
	p->word = (struct word){.kind = WORD_END, .at = (size_t)(s - p->q->text)};
	p->next = p->word.at;
	if (!*s)
		return RC_OK;
	if (strchr("`'\"", *s))
		return take_quoted(p, s);
	if (strchr("(),=", *s))
		n = 1;
	else if (strchr("!<>", *s))
		n = s[1] == '=' || (*s == '<' && s[1] == '>') ? 2 : 1;
	p->word.kind = n ? WORD_SIGN : WORD_BARE;
	while (p->word.kind == WORD_BARE && !ends_bare(s[n]))
		n++;
	char *text = arena_alloc(p->arena, n + 1);
	memcpy(text, s, n);
	text[n] = 0;
	p->word.text = bytes_of(text, n);
	p->next += n;
	return RC_OK;
}

static bool is_keyword(const struct parser *p, const char *keyword)
{
	return p->word.kind == WORD_BARE &&
	       strcasecmp((const char *)p->word.text.ptr, keyword) == 0;
}

static bool is_any_keyword(const struct parser *p)
{
	for (size_t i = 0; keywords[i]; i++)
		if (is_keyword(p, keywords[i]))
			return true;
	return false;
}

static bool is_sign(const struct parser *p, const char *sign)
{
	return p->word.kind == WORD_SIGN && strcmp((const char *)p->word.text.ptr, sign) == 0;
}

static int need_keyword(struct parser *p, const char *keyword)
{
	char expected[24];

	snprintf(expected, sizeof expected, "`%s`", keyword);
	return is_keyword(p, keyword) ? advance(p) : fault(p, expected);
}

/* --- signs and words of other languages --- */

/* Return our spelling of an operator of SQL or C, or NULL. */
static const char *our_operator(const struct parser *p)
{
	static const char *const ours[][2] = {
		{"&&", "`and`"},
		{"||", "`or`"},
		{"like", "`starts with`, the only pattern"},
		{"ilike", "`starts with`, the only pattern"},
		{"eq", "`=`"},
		{"ne", "`!=`"},
		{"contains", "`starts with`, the only pattern"},
		{"matches", "`starts with`, the only pattern"},
		{"rlike", "`starts with`, the only pattern"},
		{"regexp", "`starts with`, the only pattern"},
		{"~", "`starts with`, the only pattern"},
		{"startswith", "`starts with`"},
		{"starts_with", "`starts with`"},
		{"limit", "the end; use the option --limit"},
		{"order", "the end, because rows come in the order of the row key"},
	};

	if (p->word.kind != WORD_BARE && p->word.kind != WORD_SIGN)
		return NULL;
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strcasecmp((const char *)p->word.text.ptr, ours[i][0]) == 0)
			return ours[i][1];
	return NULL;
}

/* Set the message for a word that is not in the grammar, with our spelling if there is one. */
static int fault_near(struct parser *p, const char *expected)
{
	const char *ours = our_operator(p);

	return fault(p, ours ? ours : expected);
}

/* --- conditions --- */

static struct question_node *new_node(struct parser *p, enum question_kind kind)
{
	struct question_node *n = arena_alloc(p->arena, sizeof *n);

	*n = (struct question_node){.kind = kind};
	return n;
}

static void add_child(struct parser *p, struct question_node *n, struct question_node *child)
{
	n->of = arena_grow(p->arena, n->of, n->nof, sizeof *n->of);
	n->of[n->nof++] = child;
}

static int count(struct parser *p)
{
	if (p->counted++ < CONDITIONS_MOST)
		return RC_OK;
	return question_fault(p->q, p->word.at, p->err,
			      "found more than %d conditions and values, expected fewer",
			      CONDITIONS_MOST);
}

/* Set the message for a word that is no value. */
static int fault_value(struct parser *p, const struct condition *c)
{
	if (is_sign(p, "="))
		return fault(p, "a value; write `=` once");
	if (c->op == QUESTION_EQ && (is_sign(p, "<") || is_sign(p, ">")))
		return fault(p, is_sign(p, "<") ? "a value; write `<=`" : "a value; write `>=`");
	if (c->op == QUESTION_EQ && is_keyword(p, "null"))
		return fault(p, "a value; write `is null`");
	if (c->op == QUESTION_NE && is_keyword(p, "null"))
		return fault(p, "a value; write `is not null`");
	return fault(p, "a value (in quotes, if it has spaces, signs or is a keyword)");
}

static int take_value(struct parser *p, struct condition *c)
{
	if ((p->word.kind != WORD_BARE && p->word.kind != WORD_QUOTED) || is_any_keyword(p))
		return fault_value(p, c);
	c->values = arena_grow(p->arena, c->values, c->nvalues, sizeof *c->values);
	c->values[c->nvalues++] = (struct question_value){.text = p->word.text,
							  .quoted = p->word.kind == WORD_QUOTED,
							  .at = p->word.at};
	int rc = count(p);
	return rc ? rc : advance(p);
}

static int take_list(struct parser *p, struct condition *c)
{
	int rc = is_sign(p, "(") ? advance(p) : fault(p, "`(` and the values");

	while (rc == RC_OK) {
		rc = take_value(p, c);
		if (rc || is_sign(p, ")"))
			break;
		rc = is_sign(p, ",") ? advance(p) : fault(p, "`,` or `)`");
	}
	return rc ? rc : advance(p);
}

/* Take the words of an operator after the name, with `not` before or inside. */
static int take_worded(struct parser *p, struct condition *c, bool *negated)
{
	int rc = RC_OK;

	if (is_keyword(p, "is")) {
		c->op = QUESTION_IS_NULL;
		rc = advance(p);
		*negated = rc == RC_OK && is_keyword(p, "not");
		if (*negated)
			rc = advance(p);
		return rc ? rc : need_keyword(p, "null");
	}
	*negated = is_keyword(p, "not");
	if (*negated)
		rc = advance(p);
	if (rc == RC_OK && is_keyword(p, "between")) {
		c->op = QUESTION_BETWEEN;
		rc = advance(p);
		rc = rc ? rc : take_value(p, c);
		rc = rc ? rc : need_keyword(p, "and");
		return rc ? rc : take_value(p, c);
	}
	if (rc == RC_OK && is_keyword(p, "in")) {
		c->op = QUESTION_IN;
		rc = advance(p);
		return rc ? rc : take_list(p, c);
	}
	if (rc == RC_OK && is_keyword(p, "starts")) {
		c->op = QUESTION_STARTS;
		rc = advance(p);
		rc = rc ? rc : need_keyword(p, "with");
		return rc ? rc : take_value(p, c);
	}
	if (rc)
		return rc;
	if (strcasecmp(c->name, "where") == 0 || strcasecmp(c->name, "select") == 0)
		return question_fault(p->q, c->at, p->err,
				      "found `%s`, expected only the condition, such as `id = 1`",
				      c->name);
	return fault_near(p, *negated ? "between, in or starts with"
				      : "=, !=, <, <=, >, >=, between, in, starts with or is null");
}

static int take_operator(struct parser *p, struct condition *c, bool *negated)
{
	static const struct {
		const char *sign;
		enum question_op op;
	} signs[] = {{"=", QUESTION_EQ}, {"!=", QUESTION_NE}, {"<>", QUESTION_NE},
		     {"<", QUESTION_LT}, {"<=", QUESTION_LE}, {">", QUESTION_GT},
		     {">=", QUESTION_GE}};
	*negated = false;
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (is_sign(p, signs[i].sign)) {
			c->op = signs[i].op;
			int rc = advance(p);
			return rc ? rc : take_value(p, c);
		}
	return take_worded(p, c, negated);
}

static int take_condition(struct parser *p, struct question_node **out)
{
	struct question *q = p->q;
	struct condition c = {.name = (const char *)p->word.text.ptr, .at = p->word.at};
	bool negated;

	if ((p->word.kind != WORD_BARE && p->word.kind != WORD_NAME) || !*c.name ||
	    is_any_keyword(p))
		return fault_near(
			p,
			is_sign(p, "!")
				? "`not`"
				: "the name of a field or column (in backquotes if it has spaces or signs, or is a keyword)");
	int rc = count(p);
	rc = rc ? rc : advance(p);
	rc = rc ? rc : take_operator(p, &c, &negated);
	if (rc)
		return rc;
	q->conditions = arena_grow(p->arena, q->conditions, q->nconditions, sizeof *q->conditions);
	*out = new_node(p, QUESTION_CONDITION);
	(*out)->condition = q->nconditions;
	q->conditions[q->nconditions++] = c;
	if (!negated)
		return RC_OK;
	struct question_node *not = new_node(p, QUESTION_NOT);
	add_child(p, not, *out);
	*out = not ;
	return RC_OK;
}

/* --- and, or, not --- */

static int take_or(struct parser *p, struct question_node **out);

static int take_one(struct parser *p, struct question_node **out)
{
	bool negated = is_keyword(p, "not");
	struct question_node *inner;

	if (!negated && !is_sign(p, "("))
		return take_condition(p, out);
	if (++p->depth > DEPTH_MOST)
		return question_fault(
			p->q, p->word.at, p->err,
			"found more than %d levels of parentheses and `not`, expected fewer",
			DEPTH_MOST);
	int rc = advance(p);
	if (rc == RC_OK)
		rc = negated ? take_one(p, &inner) : take_or(p, &inner);
	p->depth--;
	if (rc)
		return rc;
	*out = inner;
	if (!negated)
		return is_sign(p, ")") ? advance(p) : fault_near(p, "`and`, `or` or `)`");
	*out = new_node(p, QUESTION_NOT);
	add_child(p, *out, inner);
	return RC_OK;
}

static int take_joined(struct parser *p, enum question_kind kind, const char *keyword,
		       int (*take)(struct parser *p, struct question_node **out),
		       struct question_node **out)
{
	struct question_node *joined = NULL, *next;
	int rc = take(p, out);

	while (rc == RC_OK && is_keyword(p, keyword)) {
		if (!joined) {
			joined = new_node(p, kind);
			add_child(p, joined, *out);
			*out = joined;
		}
		rc = advance(p);
		rc = rc ? rc : take(p, &next);
		if (rc == RC_OK)
			add_child(p, joined, next);
	}
	return rc;
}

static int take_and(struct parser *p, struct question_node **out)
{
	return take_joined(p, QUESTION_AND, "and", take_one, out);
}

static int take_or(struct parser *p, struct question_node **out)
{
	return take_joined(p, QUESTION_OR, "or", take_and, out);
}

int question_parse(struct question *q, const char *what, const char *text, struct arena *a,
		   struct error *err)
{
	struct parser p = {.q = q, .arena = a, .err = err};
	struct question_node *root = NULL;

	*q = (struct question){.what = what, .text = text};
	int rc = advance(&p);
	rc = rc ? rc : take_or(&p, &root);
	q->root = root;
	if (rc == RC_OK && p.word.kind != WORD_END)
		rc = fault_near(&p,
				p.word.kind == WORD_BARE
					? "`and`, `or` or the end; a value with spaces needs quotes"
					: "`and`, `or` or the end");
	return rc;
}
