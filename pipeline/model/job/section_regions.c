/*
 * Split points of the regions. At most one of the keys `count`, `size` and `servers` gives the
 * number of regions.
 */
#include "sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_REGIONS 1000000

static const struct choice kinds[] = {{"sampled", SPLIT_SAMPLED}, {"key", SPLIT_KEY},
				      {"uniform", SPLIT_UNIFORM}, {"hex", SPLIT_HEX},
				      {"decimal", SPLIT_DECIMAL}, {"file", SPLIT_FILE},
				      {"none", SPLIT_NONE}};

/* Read a decimal number. strtod alone also accepts "nan", "0x1p3" and the locale's comma. */
static int read_ratio(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	char what[80], *end = NULL;
	double v = -1;

	if (n->kind == NODE_SCALAR && n->len && n->len < 32 &&
	    strspn(n->text, "0123456789.") == n->len)
		v = strtod(n->text, &end);
	if (!end || *end || !(v >= (double)key->min) || !(v <= (double)key->max)) {
		snprintf(what, sizeof what, "a number from %llu to %llu like 1.1",
			 (unsigned long long)key->min, (unsigned long long)key->max);
		return expected(r, n, key->name, what);
	}
	memcpy(slot, &v, sizeof v);
	return RC_OK;
}

static int read_align(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	if (n->kind != NODE_SCALAR || strcmp(n->text, "salt") != 0)
		return expected(r, n, key->name, "`salt`");
	*(bool *)slot = true;
	return RC_OK;
}

static const struct key spread_keys[] = {
	{.name = "from",
	 WORDS(TEXT, NULL, "the smallest value, in the form of the source", "from: 1"),
	 .read = read_text,
	 .offset = offsetof(struct spread_field, from),
	 .required = true},
	{.name = "to",
	 WORDS(TEXT, NULL, "the largest value", "to: 1000000"),
	 .read = read_text,
	 .offset = offsetof(struct spread_field, to),
	 .required = true},
};
const struct schema spread_schema = SCHEMA("a spread", spread_keys);

static int read_spread(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct regions *g = slot;
	int rc = n->kind == NODE_MAPPING ? RC_OK
					 : expected(r, n, key->name, "a mapping of field names");

	if (rc)
		return rc;
	g->spreads = arena_alloc(&r->job->arena, (n->count + 1) * sizeof *g->spreads);
	for (size_t i = 0; i < n->count && rc == RC_OK; i++) {
		struct spread_field *s = &g->spreads[g->nspreads++];

		*s = (struct spread_field){.pos = n->keys[i]->pos, .name = n->keys[i]->text};
		rc = read_mapping(r, n->items[i], &spread_schema, s);
	}
	return rc;
}

/* Find the fields of `spread` among the parts of the row key. */
static int find_spreads(struct reader *r, struct job_table *t)
{
	for (size_t i = 0; i < t->regions.nspreads; i++) {
		struct spread_field *s = &t->regions.spreads[i];
		size_t k = 0;

		while (k < t->nrowkey &&
		       (t->rowkey[k].kind != PART_FIELD ||
			strcmp(r->job->fields[t->rowkey[k].field].name, s->name) != 0))
			k++;
		if (k == t->nrowkey)
			return fault(r, s->pos, "spread: found `%.60s`, expected a field of rowkey",
				     s->name);
		s->field = t->rowkey[k].field;
	}
	return RC_OK;
}

static int read_histogram(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc == RC_OK)
		*(const char **)slot = job_path(r->job, name);
	return rc;
}

static int read_file(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc == RC_OK)
		((struct regions *)slot)->file = job_path(r->job, name);
	return rc;
}

static const struct key keys[] = {
	{.name = "split",
	 WORDS(CHOICE, "sampled",
	       "source of the split points: the events, the parts of the row key, an HBase "
	       "algorithm (UniformSplit, HexStringSplit, DecimalStringSplit), a file, or none",
	       "split: uniform"),
	 .read = read_choice,
	 .offset = offsetof(struct regions, split),
	 CHOICES(kinds)},
	{.name = "count",
	 WORDS(NUMBER, NULL, "number of regions", "count: 16"),
	 .read = read_number,
	 .offset = offsetof(struct regions, rule.count),
	 .min = 1,
	 .max = MAX_REGIONS},
	{.name = "size",
	 WORDS(SIZE, NULL, "size of a region on disk; 10G if no key gives the number of regions",
	       "size: 10G"),
	 .read = read_size,
	 .offset = offsetof(struct regions, rule.size_bytes),
	 .min = 1},
	{.name = "servers",
	 WORDS(NUMBER, NULL, "number of region servers to make regions for", "servers: 8"),
	 .read = read_number,
	 .offset = offsetof(struct regions, rule.servers),
	 .min = 1,
	 .max = MAX_REGIONS},
	{.name = "per_server",
	 WORDS(NUMBER, "10", "with `servers`: number of regions on each server", "per_server: 4"),
	 .read = read_number,
	 .offset = offsetof(struct regions, rule.per_server),
	 .min = 1,
	 .max = MAX_REGIONS},
	{.name = "min",
	 WORDS(NUMBER, "1", "minimum number of regions", "min: 8"),
	 .read = read_number,
	 .offset = offsetof(struct regions, rule.min),
	 .min = 1,
	 .max = MAX_REGIONS},
	{.name = "max",
	 WORDS(NUMBER, "none", "maximum number of regions", "max: 1000"),
	 .read = read_number,
	 .offset = offsetof(struct regions, rule.max),
	 .min = 1,
	 .max = MAX_REGIONS},
	{.name = "headroom",
	 WORDS(RATIO, "0", "room for growth: 0.5 makes enough regions for half as much data again",
	       "headroom: 0.5"),
	 .read = read_ratio,
	 .offset = offsetof(struct regions, rule.headroom),
	 .min = 0,
	 .max = 100},
	{.name = "tolerance",
	 WORDS(RATIO, NULL,
	       "warn and exit with status 3 if the largest region exceeds its target by "
	       "this factor; `drift` uses the same limit",
	       "tolerance: 1.5"),
	 .read = read_ratio,
	 .offset = offsetof(struct regions, rule.tolerance),
	 .min = 1,
	 .max = 1000},
	{.name = "align",
	 WORDS(CHOICE, NULL, "start a region at each bucket of the salt", "align: salt"),
	 .read = read_align,
	 .offset = offsetof(struct regions, rule.align_salt)},
	{.name = "file",
	 WORDS(TEXT, NULL,
	       "with `split: file`: a file with one split point per line, in the notation "
	       "of HBase's shell",
	       "file: splits.txt"),
	 .read = read_file},
	{.name = "spread",
	 WORDS(NAMED, NULL,
	       "with `split: key`: fields of the row key whose values lie evenly between "
	       "two values",
	       "spread: {userId: {from: 1, to: 1000000}}"),
	 INNER(&spread_schema),
	 .read = read_spread},
	{.name = "histogram",
	 WORDS(TEXT, NULL,
	       "with `split: key`: a CSV file of shares; its header is `prefix,share` for "
	       "beginnings of the row key, or `FIELD,share` for values of a field",
	       "histogram: countries.csv"),
	 .read = read_histogram,
	 .offset = offsetof(struct regions, histogram)},
	{.name = "first",
	 WORDS(TEXT, "HBase's", "for an algorithm: the first key", "first: \"00000000\""),
	 .read = read_text,
	 .offset = offsetof(struct regions, first)},
	{.name = "last",
	 WORDS(TEXT, "HBase's", "for an algorithm: the last key", "last: \"7FFFFFFF\""),
	 .read = read_text,
	 .offset = offsetof(struct regions, last)},
};
const struct schema regions_schema = SCHEMA("regions", keys);

/* The kinds of split for which a key has an effect, as bits by enum split_kind. */
#define COMPUTED (1u << SPLIT_UNIFORM | 1u << SPLIT_HEX | 1u << SPLIT_DECIMAL)
#define PLANNED	 (1u << SPLIT_SAMPLED | 1u << SPLIT_KEY | COMPUTED)

static const struct {
	const char *key;
	unsigned splits;
} meanings[] = {
	{"count", PLANNED},
	{"size", PLANNED},
	{"servers", PLANNED},
	{"per_server", PLANNED},
	{"min", PLANNED},
	{"max", PLANNED},
	{"headroom", PLANNED},
	{"tolerance", ~0u},
	{"align", 1u << SPLIT_SAMPLED},
	{"file", 1u << SPLIT_FILE},
	{"first", COMPUTED},
	{"last", COMPUTED},
	{"spread", 1u << SPLIT_KEY},
	{"histogram", 1u << SPLIT_KEY},
};

/* Refuse `size: 10`, whose author means 10G. */
static int check_size(struct reader *r, const struct node *size)
{
	if (!size || strspn(size->text, "0123456789") != size->len || size->len > 3)
		return RC_OK;
	return fault(r, size->pos, "size: found %s bytes, expected a unit; write `size: %sG`",
		     size->text, size->text);
}

static int check_amount(struct reader *r, const struct node *n, const struct region_rule *g)
{
	const struct node *size = node_get(n, "size"), *servers = node_get(n, "servers");

	if (g->count && (size || servers))
		return fault(r, (size ? size : servers)->pos,
			     "regions: found `count` and `%s`, expected one of them",
			     size ? "size" : "servers");
	if (size && servers)
		return fault(r, servers->pos,
			     "regions: found `size` and `servers`, expected one of them");
	if (g->per_server && !servers)
		return fault(r, node_get(n, "per_server")->pos,
			     "per_server: found without `servers`, expected `servers: n` too");
	if (g->max && g->min > g->max)
		return fault(r, node_get(n, "min")->pos, "min: found %u, expected at most max (%u)",
			     g->min, g->max);
	if (g->count && (g->count < g->min || (g->max && g->count > g->max)))
		return fault(r, node_get(n, "count")->pos,
			     "count: found %u, expected a number within min and max", g->count);
	return RC_OK;
}

static int check_regions(struct reader *r, const struct node *n, const struct regions *g)
{
	for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
		const struct node *item = node_get(n, meanings[i].key);

		if (item && !(meanings[i].splits & 1u << g->split))
			return fault(r, item->pos, "%s: has no effect with split: %s",
				     meanings[i].key, kinds[g->split].name);
	}
	if (g->split == SPLIT_FILE && !g->file)
		return fault(r, n->pos,
			     "regions lacks the key `file`, expected the file of split points");
	int rc = check_size(r, node_get(n, "size"));
	return rc ? rc : check_amount(r, n, &g->rule);
}

void regions_default(struct regions *g)
{
	*g = (struct regions){.split = SPLIT_SAMPLED};
}

int read_regions(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct job_table *t = slot;
	struct regions *g = &t->regions;

	(void)key;
	*g = (struct regions){.pos = n->pos, .split = SPLIT_SAMPLED};
	uint64_t count;
	if (n->kind == NODE_SCALAR && parse_size(n->text, &count))
		return fault(r, n->pos,
			     "regions: found `%.60s`, expected a mapping; write "
			     "`regions: {split: sampled, %s: %.60s}`",
			     n->text, strspn(n->text, "0123456789") == n->len ? "count" : "size",
			     n->text);
	int rc = read_mapping(r, n, &regions_schema, g);
	if (rc == RC_OK)
		rc = check_regions(r, n, g);
	if (rc == RC_OK)
		rc = find_spreads(r, t);
	if (rc == RC_OK && g->rule.align_salt && t->rowkey[0].kind != PART_SALT)
		rc = fault(r, node_get(n, "align")->pos,
			   "align: found salt, expected a salt as the first part of rowkey");
	return rc;
}
