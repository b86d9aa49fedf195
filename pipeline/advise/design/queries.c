/* queries.c - questions as tests: read and write queries.yaml, and compare figures with it */
#include <stdio.h>
#include <stdlib.h>

#include <yaml.h>

#include "design.h"
#include "io.h"

#define WORSE	     1.25 /* a figure may grow by a quarter */
#define FILE_MOST    (1 << 20)
#define ITEMS_MOST   8
#define SERVERS_MOST 10000

struct query_reader {
	struct queries *q;
	const char *path;
	yaml_document_t doc;
	struct error *err;
};

static int refuse(const struct query_reader *r, const yaml_node_t *n, const char *problem)
{
	return error_set(r->err, RC_CONFIG, "%s:%zu:%zu: %s", r->path, n->start_mark.line + 1,
			 n->start_mark.column + 1, problem);
}

static bool scalar_number(const char *text, double *v)
{
	char *end;

	*v = strtod(text, &end);
	return end != text && !*end && *v >= 0;
}

static bool read_plan(const char *text, enum design_plan *plan)
{
	for (size_t i = 0; i < DESIGN_PLANS; i++)
		if (strcmp(design_plans[i], text) == 0) {
			*plan = (enum design_plan)i;
			return true;
		}
	return false;
}

/* Read how the figures were measured. The model measures all questions in the same way. */
static int read_measure(struct query_reader *r, bool servers, const yaml_node_t *value,
			const char *text)
{
	struct queries *q = r->q;
	char *end;
	double n = strtod(text, &end);

	if (servers && !*end && n >= 1 && n <= SERVERS_MOST && n == (unsigned)n &&
	    (!q->servers || q->servers == (unsigned)n))
		q->servers = (unsigned)n;
	else if (servers)
		return refuse(r, value, "expected a number of servers, the same for all questions");
	else if (strcmp(end, "%") == 0 && n > 0 && n < 100 &&
		 (q->sample <= 0 || q->sample == n / 100))
		q->sample = n / 100;
	else
		return refuse(r, value, "expected a share like 5%, the same for all questions");
	return RC_OK;
}

static int read_member(struct query_reader *r, struct query_limit *l, const yaml_node_t *key,
		       const yaml_node_t *value)
{
	if (key->type != YAML_SCALAR_NODE || value->type != YAML_SCALAR_NODE)
		return refuse(r, value, "found a list or mapping, expected one value");
	const char *name = (const char *)key->data.scalar.value;
	const char *text = arena_strdup(&r->q->arena, (const char *)value->data.scalar.value);
	double rate;

	if (strcmp(name, "ask") == 0) {
		l->ask = text;
	} else if (strcmp(name, "rate") == 0) {
		l->rate = text;
		if (!design_rate(text, &rate))
			return refuse(r, value,
				      "expected a rate such as 1000/s, 5/min, 20/h or 3/d");
	} else if (strcmp(name, "table") == 0) {
		l->table = text;
	} else if (strcmp(name, "plan") == 0) {
		if (!read_plan(text, &l->plan))
			return refuse(r, value, "expected one of get, range, index, full");
		l->limited = true;
	} else if (strcmp(name, "servers") == 0 || strcmp(name, "sample") == 0) {
		return read_measure(r, strcmp(name, "servers") == 0, value, text);
	} else {
		double *figure = strcmp(name, "ranges") == 0	   ? &l->ranges
				 : strcmp(name, "blocks_p99") == 0 ? &l->blocks_p99
				 : strcmp(name, "rows_p99") == 0   ? &l->rows_p99
								   : NULL;

		if (!figure)
			return refuse(
				r, key,
				"found an unknown key, expected one of ask, rate, table, plan, "
				"ranges, blocks_p99, rows_p99, servers, sample");
		if (!scalar_number(text, figure))
			return refuse(r, value, "expected a number");
	}
	return RC_OK;
}

static int read_item(struct query_reader *r, yaml_node_t *n)
{
	struct queries *q = r->q;
	struct query_limit l = {.ranges = -1, .blocks_p99 = -1, .rows_p99 = -1};
	int rc = RC_OK;

	if (n->type != YAML_MAPPING_NODE)
		return refuse(r, n, "expected a mapping like {ask: \"owner = ?\", rate: 5/s}");
	for (yaml_node_pair_t *p = n->data.mapping.pairs.start;
	     rc == RC_OK && p < n->data.mapping.pairs.top; p++)
		rc = read_member(r, &l, yaml_document_get_node(&r->doc, p->key),
				 yaml_document_get_node(&r->doc, p->value));
	if (rc)
		return rc;
	if (!l.ask)
		return refuse(r, n, "found no `ask`, expected a question");
	if (q->n == ITEMS_MOST)
		return refuse(r, n, "expected at most 8 questions");
	q->item = arena_grow(&q->arena, q->item, q->n, sizeof *q->item);
	q->item[q->n++] = l;
	return RC_OK;
}

static int read_list(struct query_reader *r)
{
	yaml_node_t *root = yaml_document_get_root_node(&r->doc);
	int rc = RC_OK;

	if (!root)
		return error_set(r->err, RC_CONFIG,
				 "%s:1:1: found an empty file, expected a list of "
				 "questions",
				 r->path);
	if (root->type != YAML_SEQUENCE_NODE)
		return refuse(r, root, "expected a list of questions: - {ask: \"owner = ?\"}");
	for (yaml_node_item_t *i = root->data.sequence.items.start;
	     rc == RC_OK && i < root->data.sequence.items.top; i++)
		rc = read_item(r, yaml_document_get_node(&r->doc, *i));
	if (rc == RC_OK && !r->q->n)
		rc = refuse(r, root, "found no questions, expected at least one");
	return rc;
}

int queries_read(struct queries *q, const char *path, struct error *err)
{
	struct query_reader r = {.q = q, .path = path, .err = err};
	struct buf text = {0};
	yaml_parser_t parser;

	*q = (struct queries){0};
	int rc = io_read_file_upto(path, FILE_MOST, &text, err);
	if (rc)
		return rc;
	if (!yaml_parser_initialize(&parser))
		return error_set(err, RC_MEMORY, "%s: out of memory", path);
	yaml_parser_set_input_string(&parser, text.ptr, text.len);
	if (yaml_parser_load(&parser, &r.doc)) {
		rc = read_list(&r);
		yaml_document_delete(&r.doc);
	} else {
		rc = error_set(err, RC_CONFIG, "%s:%zu:%zu: %s", path, parser.problem_mark.line + 1,
			       parser.problem_mark.column + 1,
			       parser.problem ? parser.problem : "is no YAML");
	}
	yaml_parser_delete(&parser);
	buf_release(&text);
	return rc;
}

void queries_of(struct queries *q, const struct design *g)
{
	*q = (struct queries){.n = g->nanswers};
	q->item = arena_alloc(&q->arena, (q->n + 1) * sizeof *q->item);
	for (size_t i = 0; i < q->n; i++) {
		const struct design_answer *a = &g->answers[i];

		q->item[i] =
			(struct query_limit){.ask = arena_strdup(&q->arena, a->ask),
					     .rate = arena_format(&q->arena, "%.10g/s", a->rate),
					     .table = arena_strdup(&q->arena,
								   g->tables[a->table].name),
					     .plan = a->plan,
					     .limited = true,
					     .ranges = a->ranges.most,
					     .blocks_p99 = a->blocks.p99,
					     .rows_p99 = a->rows.p99};
	}
}

void queries_write(struct buf *out, const struct queries *q)
{
	buf_append_str(
		out,
		"# Questions as tests: saltmill check JOB --queries FILE fails when a question "
		"becomes worse.\n# --update writes new figures.\n");
	for (size_t i = 0; i < q->n; i++) {
		const struct query_limit *l = &q->item[i];

		buf_append_str(out, "- {ask: ");
		text_json(out, bytes_str(l->ask));
		buf_printf(out, ", rate: %s, table: ", l->rate);
		text_json(out, bytes_str(l->table));
		buf_printf(out, ", plan: %s, ranges: %.10g, blocks_p99: %.4g, rows_p99: %.10g",
			   design_plans[l->plan], l->ranges, l->blocks_p99, l->rows_p99);
		if (q->servers && q->servers != DESIGN_SERVERS)
			buf_printf(out, ", servers: %u", q->servers);
		if (q->sample > 0)
			buf_printf(out, ", sample: %.10g%%", 100 * q->sample);
		buf_append_str(out, "}\n");
	}
}

/* Append a sentence if the figure exceeds its limit. */
static size_t judge_figure(struct buf *out, size_t i, const char *name, double found, double limit,
			   double factor)
{
	if (limit < 0 || found <= limit * factor + 1e-9)
		return 0;
	buf_printf(out, "q%zu: %s: found %.4g, expected at most %.4g\n", i + 1, name, found,
		   limit * factor);
	return 1;
}

size_t queries_judge(struct buf *out, const struct queries *q, const struct design *g)
{
	size_t faults = 0;

	for (size_t i = 0; i < q->n && i < g->nanswers; i++) {
		const struct query_limit *l = &q->item[i];
		const struct design_answer *a = &g->answers[i];

		if (l->limited && a->plan > l->plan) {
			buf_printf(out, "q%zu: plan: found %s, expected %s: %s\n", i + 1,
				   design_plans[a->plan], design_plans[l->plan], l->ask);
			faults++;
		}
		faults += judge_figure(out, i, "ranges", a->ranges.most, l->ranges, 1);
		faults += judge_figure(out, i, "blocks (p99)", a->blocks.p99, l->blocks_p99, WORSE);
		faults += judge_figure(out, i, "rows looked at (p99)", a->rows.p99, l->rows_p99,
				       WORSE);
	}
	return faults;
}

void queries_release(struct queries *q)
{
	arena_release(&q->arena);
}
