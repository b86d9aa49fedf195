#include <strings.h>

#include "sections.h"

#include "bytes.h"

static const struct choice duplicate_rules[] = {{"last", DUPLICATES_LAST},
						{"first", DUPLICATES_FIRST},
						{"error", DUPLICATES_ERROR}};

static bool has_field(const struct job *job, const char *name)
{
	for (size_t i = 0; i < job->nfields; i++)
		if (strcmp(job->fields[i].name, name) == 0)
			return true;
	return false;
}

static int read_timestamp(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct job_table *t = slot;
	uint64_t ms;

	if (n->kind == NODE_SCALAR && n->len && strspn(n->text, "0123456789") == n->len) {
		/* HBase reads INT64_MAX as "now" */
		if (!parse_size(n->text, &ms) || ms >= INT64_MAX)
			return expected(r, n, key->name, "milliseconds below 2^63 - 1");
		t->timestamp_constant = true;
		t->timestamp_ms = (int64_t)ms;
		return RC_OK;
	}
	if (n->kind == NODE_SCALAR && n->text[0] == '-')
		return expected(r, n, key->name,
				"milliseconds since 1970, or a field of type time");
	if (n->kind == NODE_SCALAR && strcasecmp(n->text, "now") == 0 &&
	    !has_field(r->job, n->text))
		return expected(r, n, key->name,
				"a field of type time, or milliseconds since 1970: a load never "
				"uses the clock, so that it can be repeated");
	int rc = read_field_use(r, n, key, &t->timestamp_field);
	if (rc)
		return rc;
	const struct field *f = &r->job->fields[t->timestamp_field];
	if (f->type != FIELD_TIME)
		return fault(
			r, n->pos,
			"timestamp: found `%.60s` of type %s, expected a time field; declare the field under fields: `%.60s: {type: time, unit: s}`",
			f->name, field_type_name(f->type), f->name);
	return RC_OK;
}

static const struct key keys[] = {
	{.name = "name",
	 WORDS(TEXT, NULL, "name of the table, with its namespace unless that is `default`",
	       "name: sales:ratings"),
	 .read = read_text,
	 .offset = offsetof(struct job_table, schema.name),
	 .required = true},
	{.name = "rowkey",
	 WORDS(LIST, NULL, "the parts of the row key, in order",
	       "rowkey: [{salt: 16, of: [userId]}, {field: userId, as: u64}]"),
	 .inner = part_schemas,
	 .read = read_rowkey,
	 .required = true},
	{.name = "timestamp",
	 WORDS(FIELD, NULL,
	       "timestamp of all cells: a field of type time, or milliseconds since 1970",
	       "timestamp: created"),
	 .read = read_timestamp},
	{.name = "when",
	 WORDS(QUESTION, NULL,
	       "load only events that match into this table; saltmill filters the others for it",
	       "when: kind = A"),
	 .read = read_condition,
	 .offset = offsetof(struct job_table, when)},
	{.name = "families",
	 WORDS(NAMED, NULL, "the column families and their attributes",
	       "families: {f: {versions: 1, bloomfilter: ROW}}"),
	 INNER(&family_schema),
	 .read = read_families,
	 .offset = offsetof(struct job_table, schema),
	 .required = true},
	{.name = "cells",
	 WORDS(LIST, NULL, "the cells that an event writes to its row",
	       "cells: [{family: f, qualifier: r, value: rating}]"),
	 INNER(&cell_schema),
	 .read = read_cells},
	{.name = "deletes",
	 WORDS(LIST, NULL, "the delete markers that an event writes to its row",
	       "deletes: [{row: true, when: op = d}]"),
	 INNER(&delete_schema),
	 .read = read_deletes},
	{.name = "duplicates",
	 WORDS(CHOICE, "last",
	       "the event to keep if several have the same row, column and timestamp; "
	       "error: the run ends and publishes nothing",
	       "duplicates: error"),
	 .read = read_choice,
	 .offset = offsetof(struct job_table, duplicates),
	 CHOICES(duplicate_rules)},
	{.name = "max_hfile",
	 WORDS(SIZE, "none",
	       "largest size of an HFile; after that, the family's next row starts a new file",
	       "max_hfile: 4G"),
	 .read = read_size,
	 .offset = offsetof(struct job_table, max_hfile_bytes),
	 .min = 1},
	{.name = "attributes",
	 WORDS(MAPPING, NULL, "attributes of the table, by their HBase names in lower case",
	       "attributes: {max_filesize: 10G}"),
	 INNER(&attributes_schema),
	 .read = read_table_attributes,
	 .offset = offsetof(struct job_table, schema.attributes)},
	{.name = "configuration",
	 WORDS(PROPERTIES, NULL, "CONFIGURATION of the table: names and values as in HBase",
	       "configuration: {hbase.hregion.majorcompaction: 0}"),
	 .read = read_configuration,
	 .offset = offsetof(struct job_table, schema.configuration)},
	{.name = "metadata",
	 WORDS(PROPERTIES, NULL, "METADATA of the table: any names and values",
	       "metadata: {owner: team-a}"),
	 .read = read_configuration,
	 .offset = offsetof(struct job_table, schema.metadata)},
	{.name = "regions",
	 WORDS(MAPPING, "{split: sampled}", "number and boundaries of the regions",
	       "regions: {split: sampled, count: 16}"),
	 INNER(&regions_schema),
	 .read = read_regions},
};
const struct schema table_schema = SCHEMA("a table", keys);

static int read_table(struct reader *r, const struct node *n, struct job_table *t)
{
	regions_default(&t->regions);
	t->schema.pos = n->pos;
	int rc = read_mapping(r, n, &table_schema, t);
	if (rc == RC_OK)
		rc = find_truth(r, t);
	if (rc)
		return rc;
	t->schema.pos = node_get(n, "name")->pos;
	if (t->ncells == 0)
		return fault(r, n->pos, "a table lacks the key `cells` (or `deletes`)");
	if (r->job->kafka.tombstones == TOMBSTONES_DELETE)
		rc = delete_by_tombstones(r, t);
	rc = rc ? rc : check_cells(r, t);
	if (rc)
		return rc;
	keep_written(r, node_get(n, "rowkey"), &t->written.rowkey);
	keep_written(r, node_get(n, "families"), &t->written.families);
	keep_written(r, node_get(n, "cells"), &t->written.cells);
	if (!node_get(n, "timestamp"))
		return fault(r, n->pos,
			     "table `%.60s` lacks the key `timestamp`: cell timestamps never come "
			     "from the "
			     "clock; name a time field or a constant in milliseconds",
			     t->schema.name);
	return RC_OK;
}

static int check_name(struct reader *r, const struct job_table *t)
{
	const char *name = without_default(t->schema.name);

	for (const struct job_table *o = r->job->tables; o < t; o++) {
		if (strcmp(without_default(o->schema.name), name) != 0)
			continue;
		bool alike = strcmp(o->schema.name, t->schema.name) == 0;
		return fault(
			r, t->schema.pos,
			"found table `%.60s` twice, first in line %u%s, expected different names",
			t->schema.name, o->schema.pos.line,
			alike ? "" : " (a name without a namespace belongs to `default`)");
	}
	return RC_OK;
}

int read_tables(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct job *job = slot;

	if (n->kind != NODE_SEQUENCE || n->count == 0)
		return expected(r, n, key->name, "a list: `- name: ratings` and so on");
	job->tables = arena_alloc(&job->arena, n->count * sizeof *job->tables);
	for (size_t i = 0; i < n->count; i++) {
		struct job_table *t = &job->tables[i];
		int rc = read_table(r, n->items[i], t);

		if (rc == RC_OK)
			rc = check_name(r, t);
		if (rc)
			return rc;
		job->ntables++;
	}
	return RC_OK;
}
