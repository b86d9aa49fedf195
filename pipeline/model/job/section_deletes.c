/*
 * Deletes are delete markers next to the cells. HBase has four kinds.
 *
 *   {row: true}                 DeleteFamily in every family
 *   {family}                    DeleteFamily, with `versions: one` DeleteFamilyVersion
 *   {family, qualifier}         DeleteColumn, with `versions: one` Delete
 */
#include "sections.h"

#include "cell.h"

struct delete_spec {
	struct cell_spec cell;
	const char *family;
	bool row, one;
};

static const struct choice versions[] = {{"all", false}, {"one", true}};

static int read_versions(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	unsigned one = false;
	int rc = read_choice(r, n, key, &one);

	((struct delete_spec *)slot)->one = one;
	return rc;
}

static const struct key delete_keys[] = {
	{.name = "row",
	 WORDS(BOOL, NULL, "true: delete the whole row, with a marker in every family",
	       "{row: true, when: op = d}"),
	 .read = read_bool,
	 .offset = offsetof(struct delete_spec, row)},
	{.name = "family",
	 WORDS(TEXT, NULL, "delete this family", "family: contact"),
	 .read = read_text,
	 .offset = offsetof(struct delete_spec, family)},
	{.name = "qualifier",
	 WORDS(EITHER, NULL, "delete only this column", "qualifier: {field: book}"),
	 .inner = part_schemas,
	 .read = read_qualifier,
	 .offset = offsetof(struct delete_spec, cell)},
	{.name = "versions",
	 WORDS(CHOICE, "all",
	       "all: delete every version at or before the timestamp; one: only the version "
	       "at the timestamp",
	       "versions: one"),
	 .read = read_versions,
	 CHOICES(versions)},
	{.name = "optional",
	 WORDS(BOOL, "false",
	       "true: a null in the qualifier writes no marker; false: a null makes the event bad",
	       "optional: true"),
	 .read = read_bool,
	 .offset = offsetof(struct delete_spec, cell.optional)},
	{.name = "when",
	 WORDS(QUESTION, NULL, "write the marker only for events that match", "when: op = d"),
	 .read = read_condition,
	 .offset = offsetof(struct delete_spec, cell.when)},
};
const struct schema delete_schema = SCHEMA("a delete", delete_keys);

static void add_marker(struct job_table *t, const struct cell_spec *like, size_t family,
		       enum cell_type type)
{
	struct cell_spec *c = &t->cells[t->ncells++];

	*c = *like;
	c->family = family;
	c->marker = (uint8_t)type;
	c->kind = VALUE_CONST;
	c->constant = bytes_of("", 0);
}

/* Add a marker to every family. */
static void add_row_marker(struct job_table *t, const struct cell_spec *like)
{
	for (size_t f = 0; f < t->schema.nfamilies; f++)
		add_marker(t, like, f, CELL_DELETE_FAMILY);
}

static int read_delete(struct reader *r, const struct node *n, struct job_table *t)
{
	struct delete_spec d = {.cell.pos = n->pos};
	size_t family = 0;
	int rc = read_mapping(r, n, &delete_schema, &d);

	if (rc)
		return rc;
	const struct node *qualifier = node_get(n, "qualifier");
	if (d.row == !!d.family || (d.row && (qualifier || d.one)))
		return fault(r, n->pos,
			     "a delete: expected `row: true` alone, or `family` and, for one "
			     "column, `qualifier`");
	if (d.family)
		rc = read_family_use(r, node_get(n, "family"), &t->schema, &family);
	rc = rc ? rc : check_qualifier(r, n, &d.cell);
	if (rc)
		return rc;
	if (d.row)
		add_row_marker(t, &d.cell);
	else if (qualifier)
		add_marker(t, &d.cell, family, d.one ? CELL_DELETE : CELL_DELETE_COLUMN);
	else
		add_marker(t, &d.cell, family,
			   d.one ? CELL_DELETE_FAMILY_VERSION : CELL_DELETE_FAMILY);
	return RC_OK;
}

/* Make room for `more` cells. */
static void grow(struct reader *r, struct job_table *t, size_t more)
{
	struct cell_spec *cells = arena_alloc(&r->job->arena, (t->ncells + more) * sizeof *cells);

	if (t->ncells)
		memcpy(cells, t->cells, t->ncells * sizeof *cells);
	t->cells = cells;
}

int read_deletes(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct job_table *t = slot;
	int rc = RC_OK;

	if (n->kind != NODE_SEQUENCE || n->count == 0)
		return expected(r, n, key->name,
				"a list like [{row: true, when: op = d}, {family: f, qualifier: "
				"q}]");
	grow(r, t, n->count * t->schema.nfamilies);
	for (size_t i = 0; i < n->count && rc == RC_OK; i++)
		rc = read_delete(r, n->items[i], t);
	return rc;
}

int delete_by_tombstones(struct reader *r, struct job_table *t)
{
	struct cell_spec whole = {.pos = t->schema.pos, .qualifier_constant = true};
	size_t before = r->job->nfields, value = field_use(r, "$value", whole.pos);

	if (value == before) /* the field is new, so accept any bytes */
		r->job->fields[value].type = FIELD_BYTES;
	int rc = make_condition(r, "$value is null", whole.pos, "tombstones", &whole.when);
	grow(r, t, t->schema.nfamilies);
	add_row_marker(t, &whole);
	return rc;
}
