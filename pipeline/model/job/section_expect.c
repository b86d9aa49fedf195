/*
 * section_expect.c - `expect` of a field: rules for its values
 *
 * A rule becomes a condition in the language of `where`, so both compare values in the same way. A
 * null keeps every rule except `not_null`.
 */
#include "sections.h"

#include <stdlib.h>

#include "pattern.h"

static struct expectation *add(struct reader *r, const struct expectation *rule)
{
	struct job *job = r->job;

	job->expects = arena_grow(&job->arena, job->expects, job->nexpects, sizeof *job->expects);
	job->expects[job->nexpects] = *rule;
	return &job->expects[job->nexpects++];
}

/* Append `text` between two quotes, with each inner quote doubled. */
static void put_quoted(struct buf *to, char quote, const char *text)
{
	buf_put(to, (uint8_t)quote);
	for (const char *c = text; *c; c++) {
		if (*c == quote)
			buf_put(to, (uint8_t)quote);
		buf_put(to, (uint8_t)*c);
	}
	buf_put(to, (uint8_t)quote);
}

/*
 * Append a value. A number stays without quotes, because the job may compare quoted texts by size,
 * but not a text with a number.
 */
static void put_value(struct buf *to, const char *text)
{
	if (strchr("+-.0123456789", text[0]) && !strpbrk(text, " \t\r\n`'\"(),=!<>"))
		buf_append_str(to, text);
	else
		put_quoted(to, '\'', text);
}

/* Make the condition "`name` operator ('value', ...)". */
static int add_condition(struct reader *r, const struct node *n, const struct expectation *rule,
			 const char *operator, const char * const * values, size_t nvalues)
{
	struct job *job = r->job;
	bool list = strcmp(operator, "in") == 0;
	struct buf text = {0};

	put_quoted(&text, '`', job->fields[rule->field].name);
	buf_printf(&text, " %s %s", operator, list ? "(" : "");
	for (size_t i = 0; i < nvalues; i++) {
		buf_append_str(&text, i ? ", " : "");
		put_value(&text, values[i]);
	}
	buf_append_str(&text, list ? ")" : "");
	buf_put(&text, 0);
	const char *kept = arena_strdup(&job->arena, (const char *)text.ptr);
	buf_release(&text);
	const char *what = arena_format(&job->arena, "expect: %s", kept);
	return make_condition(r, kept, n->pos, what, &add(r, rule)->when);
}

static int read_not_null(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const struct field *f = slot;
	const struct expectation rule = {.field = (size_t)(f - r->job->fields),
					 .reason = "expect_not_null",
					 .expected = "a value"};
	bool wanted;
	int rc = read_bool(r, n, key, &wanted);

	return rc || !wanted ? rc : add_condition(r, n, &rule, "is not null", NULL, 0);
}

static int read_bound(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const struct field *f = slot;
	struct expectation rule = {.field = (size_t)(f - r->job->fields)};
	bool least = strcmp(key->name, "min") == 0;
	const char *text;
	int rc = read_text(r, n, key, &text);

	if (rc)
		return rc;
	rule.reason = least ? "expect_min" : "expect_max";
	rule.expected = arena_format(&r->job->arena, "at %s %s", least ? "least" : "most", text);
	return add_condition(r, n, &rule, least ? ">=" : "<=", &text, 1);
}

static int read_in(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const struct field *f = slot;
	struct expectation rule = {.field = (size_t)(f - r->job->fields), .reason = "expect_in"};
	const char **values;
	size_t count;
	int rc = read_names(r, n, key, &values, &count);
	struct buf list = {0};

	if (rc)
		return rc;
	for (size_t i = 0; i < count; i++)
		buf_printf(&list, "%s%s", i ? ", " : "one of ", values[i]);
	buf_put(&list, 0);
	rule.expected = arena_strdup(&r->job->arena, (const char *)list.ptr);
	buf_release(&list);
	return add_condition(r, n, &rule, "in", values, count);
}

static int read_matches(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const struct field *f = slot;
	struct expectation rule = {.field = (size_t)(f - r->job->fields),
				   .reason = "expect_matches"};
	struct pattern *match;
	const char *text;
	int rc = read_text(r, n, key, &text);

	if (rc)
		return rc;
	if (pattern_new(&match, &r->job->arena, text, r->err))
		return error_prefix(r->err, "%s:%u:%u: matches: ", r->job->path, n->pos.line,
				    n->pos.column);
	rule.match = match;
	rule.expected = arena_format(&r->job->arena, "a match of `%s`", text);
	add(r, &rule);
	return RC_OK;
}

static int read_unique(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const struct field *f = slot;
	const struct expectation rule = {.field = (size_t)(f - r->job->fields),
					 .reason = "expect_unique",
					 .expected = "a value that no earlier row has",
					 .unique = true};
	bool wanted;
	int rc = read_bool(r, n, key, &wanted);

	if (rc == RC_OK && wanted && r->job->source == SOURCE_KAFKA)
		return fault(r, n->pos,
			     "unique: found a kafka source, expected files, because messages have "
			     "no order across partitions");
	if (rc == RC_OK && wanted)
		add(r, &rule);
	return rc;
}

static int read_share(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct field *f = slot;
	const char *text;
	char *end;
	int rc = read_text(r, n, key, &text);

	if (rc)
		return rc;
	f->has_share = true;
	f->max_share = strtod(text, &end) / 100;
	if (text[0] < '0' || text[0] > '9' || strcmp(end, "%") != 0 || f->max_share > 1)
		return expected(r, n, key->name, "a share of the events, such as 0.1%");
	return RC_OK;
}

const struct field *job_tolerates(const struct job *job, const char *reason, const char *field)
{
	if (!field || strncmp(reason, "expect_", 7) != 0)
		return NULL;
	for (size_t i = 0; i < job->nfields; i++)
		if (job->fields[i].has_share && strcmp(job->fields[i].name, field) == 0)
			return &job->fields[i];
	return NULL;
}

void order_expectations(struct job *job)
{
	struct expectation *last = arena_alloc(&job->arena, (job->nexpects + 1) * sizeof *last);
	size_t kept = 0, n = 0;

	for (size_t i = 0; i < job->nexpects; i++) {
		if (job->expects[i].unique)
			last[n++] = job->expects[i];
		else
			job->expects[kept++] = job->expects[i];
	}
	for (size_t i = 0; i < n; i++)
		job->expects[kept + i] = last[i];
}

const struct field *job_unique(const struct job *job)
{
	for (size_t i = 0; i < job->nexpects; i++)
		if (job->expects[i].unique)
			return &job->fields[job->expects[i].field];
	return NULL;
}

static const struct key keys[] = {
	{.name = "not_null",
	 WORDS(BOOL, "false", "reject an event whose value is null", "not_null: true"),
	 .read = read_not_null},
	{.name = "min",
	 WORDS(TEXT, NULL, "reject an event whose value is smaller", "min: 0"),
	 .read = read_bound},
	{.name = "max",
	 WORDS(TEXT, NULL, "reject an event whose value is larger", "max: 100"),
	 .read = read_bound},
	{.name = "in",
	 WORDS(TEXTS, NULL, "reject an event whose value is not in the list", "in: [EUR, USD]"),
	 .read = read_in},
	{.name = "matches",
	 WORDS(TEXT, NULL,
	       "reject an event if the text contains no match of this regular expression (PCRE2)",
	       "matches: '^[A-Z]{2}$'"),
	 .read = read_matches},
	{.name = "unique",
	 WORDS(BOOL, "false",
	       "reject an event whose value an earlier event has; one thread then reads the input",
	       "unique: true"),
	 .read = read_unique},
	{.name = "max_share",
	 WORDS(TEXT, NULL,
	       "the share of all events that may break these rules; with more, saltmill "
	       "publishes nothing; without it, --max-rejects counts them",
	       "max_share: 0.1%"),
	 .read = read_share},
};
const struct schema expect_schema = SCHEMA("expect", keys);

int read_expect(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	(void)key;
	return read_mapping(r, n, &expect_schema, slot);
}
