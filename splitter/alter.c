/*
 * alter.c - the script that changes an existing table to the job's attributes
 *
 * Before a comparison, the functions convert the attributes of the job and of the table to the form
 * of attribute_read. TTL => '86400 SECONDS (1 DAY)' is then 86400. One `alter` has all differences,
 * and the master applies them as one change. Regions reopen in place (2.x). saltmill disables the
 * table only for REGION_REPLICATION, because some 2.x versions cannot change this attribute while
 * regions are open.
 */
#include "attributes.h"
#include "ddl.h"
#include "script.h"

static const char indent[] = "     ";

/* Append the items of `want` that differ, as pieces. It does not change coprocessors. */
static size_t put_changes(struct buf *out, enum attribute_scope scope,
			  const struct attributes *want, const struct described *there,
			  struct arena *a)
{
	size_t n = 0;

	for (size_t i = 0; i < want->count; i++) {
		const struct attribute *it = &want->item[i];
		const struct attribute_def *d = attribute_find(scope, it->key);
		const char *old = attributes_get(&there->items, it->key);

		/* HBase 2.6 lists some attributes in METADATA, for example NORMALIZATION_ENABLED */
		if (!old)
			old = attributes_get(&there->metadata, it->key);
		if (d->kind == KIND_COPROCESSOR || attribute_same(d, it, old, a))
			continue;
		script_pair(out, indent, it, false);
		n++;
	}
	return n;
}

static size_t put_hash_changes(struct buf *out, const char *key, const struct attributes *want,
			       const struct attributes *there, struct arena *a)
{
	struct attributes changed = {
		.item = arena_alloc(a, (want->count + 1) * sizeof *changed.item)};

	for (size_t i = 0; i < want->count; i++) {
		const char *old = attributes_get(there, want->item[i].key);

		if (!old || strcmp(old, want->item[i].value) != 0)
			changed.item[changed.count++] = want->item[i];
	}
	script_hash(out, indent, key, &changed);
	return changed.count;
}

static size_t put_family_changes(struct buf *out, const struct family *f,
				 const struct described *there, struct arena *a)
{
	static const struct described nothing = {0};
	const struct attribute name = {.key = "NAME", .value = f->name, .quoted = true};
	const struct attributes items = family_items(a, f);
	const struct attributes configuration = family_configuration(a, f);
	size_t start = out->len;

	buf_append_str(out, ",\n    {");
	script_pair(out, indent, &name, false);
	size_t n = !there; /* a new family is a change even if all its values are defaults */
	if (!there)
		there = &nothing;
	n += put_changes(out, SCOPE_FAMILY, &items, there, a);
	n += put_hash_changes(out, "CONFIGURATION", &configuration, &there->configuration, a);
	n += put_hash_changes(out, "METADATA", &f->metadata, &there->metadata, a);
	buf_put(out, '}');
	if (n == 0)
		out->len = start;
	return n;
}

static size_t put_table_changes(struct buf *out, const struct table *t,
				const struct described *there, struct arena *a)
{
	size_t start = out->len, n;

	buf_append_str(out, ",\n    {");
	n = put_changes(out, SCOPE_TABLE, &t->attributes, there, a);
	n += put_hash_changes(out, "CONFIGURATION", &t->configuration, &there->configuration, a);
	n += put_hash_changes(out, "METADATA", &t->metadata, &there->metadata, a);
	buf_put(out, '}');
	if (n == 0)
		out->len = start;
	return n;
}

/*
 * Return true if the number of replicas changes. Some 2.x versions cannot change this number while
 * regions are open.
 */
static bool needs_disable(const struct table *t, const struct description *d, struct arena *a)
{
	static const char key[] = "REGION_REPLICATION";

	for (size_t i = 0; i < t->attributes.count; i++)
		if (strcmp(t->attributes.item[i].key, key) == 0)
			return !attribute_same(attribute_find(SCOPE_TABLE, key),
					       &t->attributes.item[i],
					       attributes_get(&d->table.items, key), a);
	return false;
}

static void put_command(struct buf *out, const char *command, const struct table *t)
{
	buf_printf(out, "  %s ", command);
	ruby_quote(out, t->name);
	buf_put(out, '\n');
}

static void put_guarded(struct buf *out, const struct table *t, const struct buf *changes,
			bool disable)
{
	buf_append_str(out, "\nif exists(");
	ruby_quote(out, t->name);
	buf_append_str(out, ")\n");
	if (disable)
		put_command(out, "disable", t);
	if (changes->len) {
		buf_append_str(out, "  alter ");
		ruby_quote(out, t->name);
		buf_append(out, changes->ptr, changes->len);
		buf_put(out, '\n');
	} else {
		buf_append_str(out, "  puts 'The table has all attributes of the job already.'\n");
	}
	if (disable)
		put_command(out, "enable", t);
	buf_append_str(out, "else\n  raise 'There is no such table.'\nend\nexit\n");
}

int ddl_alter(struct buf *out, const struct table *t, const char *name, struct bytes describe,
	      struct error *err)
{
	struct arena a = {0};
	struct description d;
	struct buf changes = {0};

	int rc = description_parse(&d, &a, name, describe, err);
	if (rc == RC_OK) {
		for (size_t i = 0; i < t->nfamilies + t->nothers; i++)
			put_family_changes(&changes, &t->families[i],
					   description_family(&d, t->families[i].name), &a);
		put_table_changes(&changes, t, &d.table, &a);
		script_head(
			out, t, "give the table the attributes of the job",
			"Attributes that the job does not mention stay. A second run changes nothing.");
		put_guarded(out, t, &changes, needs_disable(t, &d, &a));
	}
	buf_release(&changes);
	arena_release(&a);
	return rc;
}
