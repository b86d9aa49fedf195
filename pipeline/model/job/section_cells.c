#include "cell.h"
#include "sections.h"

#include <stdlib.h>

int read_family_use(struct reader *r, const struct node *n, const struct table *t, size_t *index)
{
	const struct key key = {.name = "family"};
	const char *name, *known[64];
	size_t nknown = t->nfamilies < 64 ? t->nfamilies : 64;
	int rc = read_text(r, n, &key, &name);

	if (rc)
		return rc;
	for (*index = 0; *index < t->nfamilies; ++*index)
		if (strcmp(t->families[*index].name, name) == 0)
			return RC_OK;
	for (size_t i = t->nfamilies; i < t->nfamilies + t->nothers; i++)
		if (strcmp(t->families[i].name, name) == 0)
			return fault(
				r, n->pos,
				"family: found `%.60s`, which has `other_load: true`, expected a "
				"family that this job fills; remove `other_load`",
				name);
	for (size_t i = 0; i < nknown; i++)
		known[i] = t->families[i].name;
	return unknown_name(r, n->pos, "family", name, known, nknown);
}

/*
 * Join constant parts into one, as readers of struct cell_spec and the check for equal cells
 * expect.
 */
static void join_constants(struct arena *a, struct cell_spec *c)
{
	struct bytes all = {NULL, 0};
	size_t len = 0;

	c->qualifier_constant = true;
	for (size_t i = 0; i < c->nqualifier; i++) {
		c->qualifier_constant &= c->qualifier[i].kind == PART_CONST;
		len += c->qualifier[i].constant.len;
	}
	if (!c->qualifier_constant || c->nqualifier < 2)
		return;
	uint8_t *out = arena_alloc(a, len);
	all = bytes_of(out, len);
	for (size_t i = 0; i < c->nqualifier; i++) {
		memcpy(out, c->qualifier[i].constant.ptr, c->qualifier[i].constant.len);
		out += c->qualifier[i].constant.len;
	}
	c->qualifier[0].constant = all;
	c->nqualifier = 1;
}

int read_qualifier(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct cell_spec *c = slot;
	struct bytes text;
	int rc;

	if (n->kind == NODE_SEQUENCE)
		return read_parts(r, n, key->name, false, &c->qualifier, &c->nqualifier);
	c->qualifier = arena_alloc(&r->job->arena, sizeof *c->qualifier);
	if (n->kind == NODE_MAPPING) {
		c->nqualifier = 1;
		return read_part(r, n, false, c->qualifier);
	}
	rc = read_escaped(r, n, key, &text);
	if (rc || text.len == 0)
		return rc;
	*c->qualifier = (struct key_part){.kind = PART_CONST,
					  .pos = n->pos,
					  .constant = text,
					  .terminator = NO_TERMINATOR};
	c->nqualifier = 1;
	return RC_OK;
}

static const struct key value_field_keys[] = {
	{.name = "field",
	 WORDS(FIELD, NULL, "the field that gives the value", "{field: movieId, as: text}"),
	 .read = read_field_use,
	 .offset = offsetof(struct cell_spec, field)},
	{.name = "as",
	 WORDS(ENCODING, "text", "how the value becomes bytes", "as: u32"),
	 .read = read_encoding,
	 .offset = offsetof(struct cell_spec, as)},
	{.name = "const",
	 WORDS(ESCAPED, NULL, "a constant value", "{const: open}"),
	 .read = read_escaped,
	 .offset = offsetof(struct cell_spec, constant)},
	{.name = "hex",
	 WORDS(HEX, NULL, "a constant value in hex digits", "{hex: 01}"),
	 .read = read_hex,
	 .offset = offsetof(struct cell_spec, constant)},
	{.name = "key_of",
	 WORDS(TABLE, NULL, "the event's row key in a table above this one", "{key_of: visits}"),
	 .read = read_table_use,
	 .offset = offsetof(struct cell_spec, table)},
};
static const struct schema value_schema = SCHEMA("value", value_field_keys);

static int read_value(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct cell_spec *c = slot;

	c->as = AS_TEXT;
	if (n->kind == NODE_SCALAR) /* value: rating */
		return read_field_use(r, n, key, &c->field);
	int rc = read_mapping(r, n, &value_schema, c);
	if (rc)
		return rc;
	const struct node *field = node_get(n, "field"), *as = node_get(n, "as");
	const struct node *text = node_get(n, "const"), *hex = node_get(n, "hex");
	const struct node *key_of = node_get(n, "key_of");
	if (!!field + !!text + !!hex + !!key_of != 1)
		return fault(
			r, n->pos,
			"value: found no such key or several, expected one of `field`, `const`, `hex` and `key_of`");
	if (as && !field)
		return fault(r, as->pos, "as: found with a constant, expected it with `field`");
	c->kind = field ? VALUE_FIELD : key_of ? VALUE_KEY : VALUE_CONST;
	return field ? encoding_check(r, as ? as->pos : n->pos, c->field, c->as) : RC_OK;
}

static const struct choice ttl_units[] = {
	{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};

static int read_ttl_unit(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	unsigned ms = 0;
	int rc = read_choice(r, n, key, &ms);

	*(int64_t *)slot = ms;
	return rc;
}

static const struct key ttl_field_keys[] = {
	{.name = "field",
	 WORDS(FIELD, NULL, "the field with the cell's TTL, of type u32, u64 or i64; null: no TTL",
	       "{field: keep, unit: d}"),
	 .read = read_field_use,
	 .offset = offsetof(struct cell_spec, ttl_field),
	 .required = true},
	{.name = "unit",
	 WORDS(CHOICE, NULL, "the unit of the field", "unit: d"),
	 .read = read_ttl_unit,
	 .offset = offsetof(struct cell_spec, ttl_unit_ms),
	 CHOICES(ttl_units),
	 .required = true},
};
static const struct schema ttl_schema = SCHEMA("a cell's ttl", ttl_field_keys);

static int read_cell_ttl(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct cell_spec *c = slot;
	uint64_t s;

	if (n->kind == NODE_SCALAR && parse_duration_s(n->text, &s) && s > 0 &&
	    s < (uint64_t)TTL_FOREVER) {
		c->ttl_ms = (int64_t)s * 1000;
		return RC_OK;
	}
	if (n->kind != NODE_MAPPING)
		return expected(r, n, key->name,
				"a time like 90s, 24h or 30d below 2147483647 seconds, or a field "
				"like {field: keep, unit: d}");
	int rc = read_mapping(r, n, &ttl_schema, c);
	if (rc)
		return rc;
	const struct field *f = &r->job->fields[c->ttl_field];
	if (f->type == FIELD_U32 || f->type == FIELD_U64 || f->type == FIELD_I64)
		return RC_OK;
	return fault(r, n->pos,
		     "ttl: found `%.60s` of type %s, expected a whole number; declare the field "
		     "under fields: `%.60s: {type: u32}`",
		     f->name, field_type_name(f->type), f->name);
}

static int skip_family(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	(void)r, (void)n, (void)key, (void)slot; /* read_cell has the table and reads the value */
	return RC_OK;
}

static const struct key cell_keys[] = {
	{.name = "family",
	 WORDS(TEXT, NULL, "the column family", "family: f"),
	 .read = skip_family,
	 .required = true},
	{.name = "qualifier",
	 WORDS(EITHER, "\"\"", "the column: a text, one key part, or a list of parts",
	       "qualifier: {field: created, as: reversed_millis}"),
	 .inner = part_schemas,
	 .read = read_qualifier},
	{.name = "value",
	 WORDS(EITHER, NULL, "the name of a field, for its value as text; or a mapping",
	       "value: rating"),
	 INNER(&value_schema),
	 .read = read_value,
	 .required = true},
	{.name = "optional",
	 WORDS(BOOL, "false",
	       "true: a null value writes no cell; false: a null value makes the event bad",
	       "optional: true"),
	 .read = read_bool,
	 .offset = offsetof(struct cell_spec, optional)},
	{.name = "ttl",
	 WORDS(EITHER, NULL,
	       "the cell's own TTL, from its timestamp on; the family's `ttl` still applies",
	       "ttl: 30d"),
	 INNER(&ttl_schema),
	 .read = read_cell_ttl},
	{.name = "visibility",
	 WORDS(TEXT, NULL,
	       "the visibility labels that a reader needs, by their names in `labels`, else by their "
	       "numbers in `hbase:labels`; & and, | or, ! not, from left to right",
	       "visibility: \"secret & !(old | draft)\""),
	 .read = read_visibility,
	 .offset = offsetof(struct cell_spec, visibility)},
	{.name = "acl",
	 WORDS(TEXT, NULL,
	       "the cell's access list: users, or groups with @, and their rights R, W, X, C, A",
	       "acl: \"alice:RW, @staff:R\""),
	 .read = read_acl,
	 .offset = offsetof(struct cell_spec, acl)},
	{.name = "when",
	 WORDS(QUESTION, NULL, "write the cell only for events that match", "when: kind = A"),
	 .read = read_condition,
	 .offset = offsetof(struct cell_spec, when)},
};
const struct schema cell_schema = SCHEMA("a cell", cell_keys);

static struct bytes constant_qualifier(const struct cell_spec *c)
{
	return c->nqualifier ? c->qualifier[0].constant : bytes_of("", 0);
}

/* Sort by family, constant qualifier and kind, then by order in the file. */
static int by_place(const void *a, const void *b)
{
	const struct cell_spec *x = *(const struct cell_spec *const *)a;
	const struct cell_spec *y = *(const struct cell_spec *const *)b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	int order = bytes_cmp(constant_qualifier(x), constant_qualifier(y));
	order = order ? order : (x->marker > y->marker) - (x->marker < y->marker);
	return order ? order : (x > y) - (x < y);
}

static int check_twins(struct reader *r, const struct job_table *t)
{
	const struct cell_spec **order = mem_alloc(t->ncells * sizeof *order);
	const struct cell_spec *twin = NULL, *of = NULL;
	size_t n = 0;

	for (size_t i = 0; i < t->ncells; i++)
		if (t->cells[i].qualifier_constant)
			order[n++] = &t->cells[i];
	if (n)
		qsort(order, n, sizeof *order, by_place);
	for (size_t i = 1; i < n; i++)
		if (order[i]->family == order[i - 1]->family &&
		    order[i]->marker == order[i - 1]->marker &&
		    bytes_eq(constant_qualifier(order[i]), constant_qualifier(order[i - 1])) &&
		    !(order[i]->when && order[i - 1]->when) && (!twin || order[i] < twin)) {
			twin = order[i];
			of = order[i - 1];
		}
	mem_free(order);
	if (!twin)
		return RC_OK;
	return fault(r, twin->pos,
		     "the cell of line %u has the same family and qualifier, expected another "
		     "qualifier, or `when` in both, because one overwrites the other",
		     of->pos.line);
}

int check_qualifier(struct reader *r, const struct node *n, struct cell_spec *c)
{
	join_constants(&r->job->arena, c);
	if (constant_qualifier(c).len > QUALIFIER_MAX)
		return fault(r, node_get(n, "qualifier")->pos,
			     "a qualifier has %zu bytes, expected at most %d",
			     constant_qualifier(c).len, QUALIFIER_MAX);
	return RC_OK;
}

static int read_cell(struct reader *r, const struct node *n, struct job_table *t,
		     struct cell_spec *c)
{
	c->pos = n->pos;
	if (n->kind != NODE_MAPPING)
		return expected(r, n, "a cell",
				"a mapping like {family: f, qualifier: q, value: rating}");
	int rc = read_mapping(r, n, &cell_schema, c);
	if (rc == RC_OK)
		rc = read_family_use(r, node_get(n, "family"), &t->schema, &c->family);
	if (rc)
		return rc;
	return check_qualifier(r, n, c);
}

static int refer_to(struct reader *r, struct job_table *t, size_t table, struct pos at)
{
	if (t->is_index && t->index_of != table)
		return fault(
			r, at,
			"key_of: found table `%.60s`, and `%.60s` before, expected only one, because an index has one main table",
			r->job->tables[table].schema.name, r->job->tables[t->index_of].schema.name);
	t->is_index = true;
	t->index_of = table;
	return RC_OK;
}

/* Find the table whose row keys the cells contain. */
int find_truth(struct reader *r, struct job_table *t)
{
	int rc = RC_OK;

	for (size_t i = 0; i < t->ncells && rc == RC_OK; i++) {
		const struct cell_spec *c = &t->cells[i];
		const struct key_part *last = c->qualifier + c->nqualifier - (c->nqualifier > 0);

		if (c->nqualifier && last->kind == PART_KEY)
			rc = refer_to(r, t, last->table, last->pos);
		if (rc == RC_OK && c->kind == VALUE_KEY)
			rc = refer_to(r, t, c->table, c->pos);
	}
	return rc;
}

static int check_families_used(struct reader *r, const struct job_table *t)
{
	for (size_t f = 0; f < t->schema.nfamilies; f++) {
		size_t i = 0;

		while (i < t->ncells && t->cells[i].family != f)
			i++;
		if (i == t->ncells)
			return fault(
				r, t->schema.families[f].pos,
				"family `%.60s` has no cell, expected one under `cells` (an empty "
				"family still needs a store in each region); if another load "
				"fills the family, write `other_load: true` for it",
				t->schema.families[f].name);
	}
	return RC_OK;
}

int read_cells(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct job_table *t = slot;

	if (n->kind != NODE_SEQUENCE || n->count == 0)
		return expected(r, n, key->name,
				"a list like [{family: f, qualifier: q, value: rating}]");
	t->cells = arena_alloc(&r->job->arena, n->count * sizeof *t->cells);
	for (size_t i = 0; i < n->count; i++) {
		int rc = read_cell(r, n->items[i], t, &t->cells[i]);

		if (rc)
			return rc;
		t->ncells++;
	}
	return RC_OK;
}

/*
 * HBase adds the TTL to the timestamp in 64 bits, so a cell with a sum above 2^63 - 1 would be
 * expired.
 */
static int check_ttls(struct reader *r, const struct job_table *t)
{
	for (size_t i = 0; t->timestamp_constant && i < t->ncells; i++)
		if (cell_has_ttl(&t->cells[i]) && t->timestamp_ms > INT64_MAX - CELL_TTL_MAX_MS)
			return fault(r, t->cells[i].pos,
				     "ttl: found the timestamp %lld, expected one of at most %lld "
				     "for cells with a TTL",
				     (long long)t->timestamp_ms,
				     (long long)(INT64_MAX - CELL_TTL_MAX_MS));
	return RC_OK;
}

int check_cells(struct reader *r, struct job_table *t)
{
	int rc = check_twins(r, t);

	rc = rc ? rc : check_ttls(r, t);
	return rc ? rc : check_families_used(r, t);
}
