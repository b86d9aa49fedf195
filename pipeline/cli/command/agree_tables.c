#include "agree_tables.h"

#include <stdlib.h>
#include <string.h>

#include "hbase.h"
#include "pass.h"
#include "publish.h"

#define SPLITS_SHOWN 8 /* most split points in a fix */

/* --- split points of loads --- */

/* The region starts of one load. Region 0 has none. */
struct load_regions {
	const char *dir;
	const struct manifest_region *region;
	size_t n;
};

static const struct manifest_table *find_table(const struct manifest *m, const char *name)
{
	for (size_t i = 0; i < m->ntables; i++)
		if (strcmp(m->tables[i].name, name) == 0)
			return &m->tables[i];
	return NULL;
}

static bool same_regions(const struct load_regions *a, const struct load_regions *b)
{
	bool same = a->n == b->n;

	for (size_t i = 1; same && i < a->n; i++)
		same = bytes_eq(a->region[i].start, b->region[i].start);
	return same;
}

static int compare_bytes(const void *x, const void *y)
{
	return bytes_cmp(*(const struct bytes *)x, *(const struct bytes *)y);
}

/* Append the starts of all regions, each once. */
static int unite(struct splits *out, const struct load_regions *loads, size_t n, struct arena *a,
		 struct error *err)
{
	size_t all = 0, count = 0;
	int rc = RC_OK;

	for (size_t i = 0; i < n; i++)
		all += loads[i].n;
	struct bytes *key = arena_alloc(a, (all + 1) * sizeof *key);
	for (size_t i = 0; i < n; i++)
		for (size_t r = 1; r < loads[i].n; r++)
			key[count++] = loads[i].region[r].start;
	qsort(key, count, sizeof *key, compare_bytes);
	for (size_t i = 0; rc == RC_OK && i < count; i++)
		if (i == 0 || !bytes_eq(key[i], key[i - 1]))
			rc = splits_add(out, key[i], err);
	return rc;
}

static void note_differing(const struct load_regions *loads, size_t n, const char *table,
			   size_t regions, const struct listener *say)
{
	for (size_t i = 0; n && i + 1 < n; i++)
		if (!same_regions(&loads[i], &loads[n - 1])) {
			report_to(say,
				  "note: table %s: load %s has other split points than load %s; "
				  "the repair has the split points of all loads, which make %zu "
				  "regions",
				  table, loads[i].dir, loads[n - 1].dir, regions);
			return;
		}
}

int agree_split_points(struct splits *out, const struct load_dirs *dirs, const char *table,
		       const struct listener *say, struct error *err)
{
	struct arena a = {0};
	struct load_regions *loads = arena_alloc(&a, (dirs->n + 1) * sizeof *loads);
	size_t n = 0;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < dirs->n; i++) {
		struct manifest m;

		rc = manifest_read(&m, arena_format(&a, "%s/manifest.json", dirs->path[i]), &a,
				   err);
		const struct manifest_table *t = rc ? NULL : find_table(&m, table);
		if (t)
			loads[n++] = (struct load_regions){dirs->path[i], t->regions, t->nregions};
	}
	if (rc == RC_OK)
		rc = unite(out, loads, n, &a, err);
	if (rc == RC_OK && say)
		note_differing(loads, n, table, out->count + 1, say);
	arena_release(&a);
	return rc;
}

/* --- tables that somebody altered --- */

static void add_change(struct agree_report *out, struct arena *a, const char *table,
		       const char *change, const char *fix)
{
	out->altered = arena_grow(a, out->altered, out->naltered, sizeof *out->altered);
	out->altered[out->naltered++] = (struct agree_change){table, change, fix};
}

/* The attributes of a family that decide which of its cells a reader gets. */
static const struct reader_attribute {
	const char *key, *initial, *effect;
} reader_attributes[] = {
	{"VERSIONS", NULL, "it decides how many versions a compaction keeps"},
	{"MIN_VERSIONS", NULL, "it decides how many expired versions stay"},
	{"TTL", NULL, "it hides older cells"},
	{"KEEP_DELETED_CELLS", "FALSE", "it decides whether deleted cells stay"},
};
#define READER_ATTRIBUTES (sizeof reader_attributes / sizeof *reader_attributes)

static const char *job_value(const struct family *f, const struct reader_attribute *r,
			     struct arena *a)
{
	const char *given = attributes_get(&f->more, r->key);

	if (given || r->initial)
		return given ? given : r->initial;
	int32_t n = strcmp(r->key, "TTL") == 0	      ? f->ttl_s
		    : strcmp(r->key, "VERSIONS") == 0 ? f->versions
						      : f->min_versions;
	return arena_format(a, "%d", n);
}

/* Return the value as users write it. */
static const char *shown(const char *key, const char *value)
{
	int32_t ttl;

	if (!value)
		return "not set";
	return strcmp(key, "TTL") == 0 && ttl_parse(value, &ttl) && ttl == TTL_FOREVER ? "FOREVER"
										       : value;
}

static const char *effect_of(const char *key)
{
	size_t i = 0;

	while (strcmp(reader_attributes[i].key, key) != 0)
		i++;
	return reader_attributes[i].effect;
}

/* Describe the families of the job by the attributes that a reader notices. */
static struct description described_families(const struct job_table *t, struct arena *a)
{
	struct description d = {0};

	for (size_t i = 0; i < t->schema.nfamilies; i++) {
		const struct family *f = &t->schema.families[i];
		struct described one = {.name = f->name};

		for (size_t k = 0; k < READER_ATTRIBUTES; k++)
			attributes_add(a, &one.items, reader_attributes[k].key,
				       job_value(f, &reader_attributes[k], a));
		description_add_family(&d, a, &one);
	}
	return d;
}

static bool job_has(const struct table *t, const char *family)
{
	for (size_t i = 0; i < t->nfamilies + t->nothers; i++)
		if (strcmp(t->families[i].name, family) == 0)
			return true;
	return false;
}

static void find_added(struct agree_report *out, const struct table *t,
		       const struct description *have, struct arena *a)
{
	for (size_t i = 0; i < have->nfamilies; i++) {
		const char *f = have->families[i].name;

		if (!job_has(t, f))
			add_change(out, a, t->name,
				   arena_format(a,
						"has family %s, which the job lacks, so agree does "
						"not compare it",
						f),
				   arena_format(a,
						"add `%s: {other_load: true}` to `families` of the "
						"job, or drop the family in the HBase shell: alter "
						"'%s', {NAME => '%s', METHOD => 'delete'}",
						f, t->name, f));
	}
}

static int refuse_missing(const struct job_table *t, const char *family, struct error *err)
{
	const char *table = t->schema.name;
	size_t i = 0;

	while (strcmp(t->schema.families[i].name, family) != 0)
		i++;
	return error_set(err, RC_CONFIG,
			 "table %s: found no family %s, expected the families of the job; enter in "
			 "the HBase shell: alter '%s', {NAME => '%s', VERSIONS => %d}",
			 table, family, table, family, t->schema.families[i].versions);
}

int agree_find_altered(struct agree_report *out, const struct job_table *t,
		       const struct description *have, bool strict, struct arena *a,
		       struct error *err)
{
	const struct description want = described_families(t, a);
	const char *table = t->schema.name;
	struct table_differences d;

	description_compare(&d, &want, have, a);
	for (size_t i = 0; i < d.count; i++) {
		const struct table_difference *one = &d.item[i];

		if (!one->key)
			return refuse_missing(t, one->family, err);
		const char *value = shown(one->key, one->want);
		const char *change =
			arena_format(a, "%s: %s is %s, expected %s as in the job, because %s",
				     one->family, one->key, shown(one->key, one->have), value,
				     effect_of(one->key));
		const char *fix = arena_format(
			a, "enter in the HBase shell: alter '%s', {NAME => '%s', %s => '%s'}",
			table, one->family, one->key, value);
		if (strict)
			return error_set(err, RC_CONFIG, "table %s: %s; before a repair, %s", table,
					 change, fix);
		add_change(out, a, table, change, fix);
	}
	find_added(out, &t->schema, have, a);
	return RC_OK;
}

static bool begins_region(const struct hbase_regions *live, struct bytes key)
{
	for (size_t i = 0; i < live->count; i++)
		if (bytes_eq(live->item[i].start, key))
			return true;
	return false;
}

void agree_find_merged(struct agree_report *out, const struct job *job, const struct job_table *t,
		       const struct hbase_regions *live, struct arena *a)
{
	struct splits want = {0};
	struct buf fix = {0}, assumed = {0};
	struct error ignored;
	size_t lost = 0,
	       n = regions_without_data(job, t, &want, &assumed, &ignored) ? 0 : want.count;

	buf_append_str(&fix, "enter in the HBase shell:");
	for (size_t i = 0; i < n; i++) {
		if (begins_region(live, want.keys[i]))
			continue;
		if (lost++ >= SPLITS_SHOWN)
			continue;
		buf_printf(&fix, "%s split '%s', \"", lost > 1 ? ";" : "", t->schema.name);
		bytes_escape(&fix, want.keys[i]);
		buf_append_str(&fix, "\"");
	}
	if (lost)
		add_change(out, a, t->schema.name,
			   arena_format(a,
					"lacks %zu of the %zu split points of the job, so HBase "
					"splits files of later loads; `load --hbase` avoids this",
					lost, n),
			   arena_strndup(a, (const char *)fix.ptr, fix.len));
	buf_release(&fix);
	buf_release(&assumed);
	splits_release(&want);
}
