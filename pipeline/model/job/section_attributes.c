/*
 * Attributes that only the create-table script needs (splitter/README.md 2.3, 2.4), by their HBase
 * names in lower case. table_check checks their values as the master does.
 */
#include <ctype.h>

#include "sections.h"

static struct attribute *add_attribute(struct arena *a, struct attributes *list)
{
	list->item = arena_grow(a, list->item, list->count, sizeof *list->item);
	return &list->item[list->count++];
}

static const char *upper_case(struct arena *a, const char *name)
{
	char *out = arena_strdup(a, name);

	for (char *p = out; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return out;
}

/*
 * Read the coprocessors. The job has one key for all of them, but HBase has one numbered key for
 * each.
 */
static int read_coprocessors(struct reader *r, const struct node *n, struct attributes *list)
{
	const char **items;
	size_t count;
	int rc = read_texts(r, n, "coprocessor", false, &items, &count);

	for (size_t i = 0; rc == RC_OK && i < count; i++) {
		char *key = mem_format("coprocessor$%zu", i + 1);
		struct attribute *a = add_attribute(&r->job->arena, list);

		*a = (struct attribute){arena_strdup(&r->job->arena, key), items[i], true, n->pos};
		mem_free(key);
	}
	return rc;
}

int read_attribute(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *text;
	int rc = read_text(r, n, key, &text);

	if (rc)
		return rc;
	struct attribute *a = add_attribute(&r->job->arena, slot);
	*a = (struct attribute){upper_case(&r->job->arena, key->name), text, true, n->pos};
	return RC_OK;
}

#define ATTRIBUTE(key, sentence, example)                                                          \
	{                                                                                          \
		.name = key, WORDS(ATTRIBUTE, NULL, sentence, example), .read = read_attribute     \
	}

static const struct key table_keys[] = {
	ATTRIBUTE("max_filesize", "store size at which HBase splits a region (MAX_FILESIZE)",
		  "max_filesize: 10G"),
	ATTRIBUTE("memstore_flushsize", "size at which HBase flushes a region (MEMSTORE_FLUSHSIZE)",
		  "memstore_flushsize: 128M"),
	ATTRIBUTE(
		"split_policy", "class that decides when regions split (SPLIT_POLICY)",
		"split_policy: org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy"),
	ATTRIBUTE("flush_policy", "class that decides when HBase flushes stores (FLUSH_POLICY)",
		  "flush_policy: org.apache.hadoop.hbase.regionserver.FlushAllStoresPolicy"),
	ATTRIBUTE("durability", "how writes reach the write-ahead log (DURABILITY)",
		  "durability: SYNC_WAL"),
	ATTRIBUTE("readonly", "whether the table refuses writes (READONLY)", "readonly: false"),
	ATTRIBUTE("compaction_enabled", "whether HBase compacts the table (COMPACTION_ENABLED)",
		  "compaction_enabled: true"),
	ATTRIBUTE("split_enabled", "whether regions may split (SPLIT_ENABLED)",
		  "split_enabled: false"),
	ATTRIBUTE("merge_enabled", "whether regions may merge (MERGE_ENABLED)",
		  "merge_enabled: false"),
	ATTRIBUTE("normalization_enabled",
		  "whether HBase evens out the sizes of regions (NORMALIZATION_ENABLED)",
		  "normalization_enabled: false"),
	ATTRIBUTE("normalizer_target_region_count",
		  "number of regions that the normalizer aims at (NORMALIZER_TARGET_REGION_COUNT)",
		  "normalizer_target_region_count: 16"),
	ATTRIBUTE("normalizer_target_region_size_mb",
		  "region size in MB that the normalizer aims at "
		  "(NORMALIZER_TARGET_REGION_SIZE_MB)",
		  "normalizer_target_region_size_mb: 10240"),
	ATTRIBUTE("region_replication",
		  "copies of each region that serve reads (REGION_REPLICATION)",
		  "region_replication: 2"),
	ATTRIBUTE("region_memstore_replication",
		  "whether the copies get writes at once (REGION_MEMSTORE_REPLICATION)",
		  "region_memstore_replication: true"),
	ATTRIBUTE("priority", "priority of the table when HBase assigns regions (PRIORITY)",
		  "priority: 0"),
	ATTRIBUTE("erasure_coding_policy",
		  "HDFS erasure coding of the table's files (ERASURE_CODING_POLICY)",
		  "erasure_coding_policy: RS-6-3-1024k"),
	ATTRIBUTE("owner", "owner of the table (OWNER)", "owner: etl"),
	ATTRIBUTE("coprocessor", "one coprocessor, or a list (coprocessor$1, ...)",
		  "coprocessor: \"|org.example.Observer|1001|\""),
};
const struct schema attributes_schema = SCHEMA("attributes", table_keys);
#define NTABLE_KEYS (sizeof table_keys / sizeof table_keys[0])

static int unknown_attribute(struct reader *r, const struct node *name)
{
	const char *known[NTABLE_KEYS];

	for (size_t i = 0; i < NTABLE_KEYS; i++)
		known[i] = table_keys[i].name;
	return unknown_name(r, name->pos, "table attribute", name->text, known, NTABLE_KEYS);
}

int read_table_attributes(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	if (n->kind != NODE_MAPPING)
		return expected(r, n, key->name, "a mapping like {max_filesize: 10G}");
	for (size_t i = 0; i < n->count; i++) {
		const struct key item = {.name = n->keys[i]->text};
		size_t k = 0;

		while (k < NTABLE_KEYS && strcmp(table_keys[k].name, item.name) != 0)
			k++;
		if (k == NTABLE_KEYS)
			return unknown_attribute(r, n->keys[i]);
		int rc = strcmp(item.name, "coprocessor") == 0
				 ? read_coprocessors(r, n->items[i], slot)
				 : read_attribute(r, n->items[i], &item, slot);
		if (rc)
			return rc;
	}
	return RC_OK;
}

/* Read CONFIGURATION or METADATA. HBase defines the names and values. All values become text. */
int read_configuration(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const struct key name_key = {.name = key->name};

	if (n->kind != NODE_MAPPING)
		return expected(r, n, key->name, "a mapping like {name: value}");
	for (size_t i = 0; i < n->count; i++) {
		const char *name, *value;
		int rc = read_text(r, n->keys[i], &name_key, &name);

		if (rc == RC_OK)
			rc = read_any_text(r, n->items[i], &name_key, &value);
		if (rc)
			return rc;
		struct attribute *a = add_attribute(&r->job->arena, slot);
		*a = (struct attribute){name, value, true, n->keys[i]->pos};
	}
	return RC_OK;
}
