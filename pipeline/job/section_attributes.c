/*
 * Attributes that only the create-table script needs (splitter/README.md 2.3, 2.4), by their HBase
 * names in lower case.  Their values are table_check's affair, which knows what the master takes.
 */
#include <ctype.h>

#include "sections.h"

static const char *const table_names[] = {
	"max_filesize",
	"memstore_flushsize",
	"split_policy",
	"flush_policy",
	"durability",
	"readonly",
	"compaction_enabled",
	"split_enabled",
	"merge_enabled",
	"normalization_enabled",
	"normalizer_target_region_count",
	"normalizer_target_region_size_mb",
	"region_replication",
	"region_memstore_replication",
	"priority",
	"erasure_coding_policy",
	"owner",
	"coprocessor",
};
#define NTABLE_NAMES (sizeof(table_names) / sizeof(table_names[0]))

static struct attribute *add_attribute(struct arena *a, struct attributes *list)
{
	size_t n = list->count;
	if ((n & (n - 1)) == 0) {
		struct attribute *grown = arena_alloc(a, (n ? 2 * n : 1) * sizeof(*grown));
		if (n)
			memcpy(grown, list->item, n * sizeof(*grown));
		list->item = grown;
	}
	return &list->item[list->count++];
}

static const char *upper_case(struct arena *a, const char *name)
{
	char *out = arena_strdup(a, name);
	for (char *p = out; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return out;
}

/* Several coprocessors are one key here and numbered keys in HBase. */
static int read_coprocessors(struct reader *r, const struct node *n, struct attributes *list)
{
	const char **items;
	size_t count;
	int rc = read_texts(r, n, "coprocessor", false, &items, &count);
	for (size_t i = 0; !rc && i < count; i++) {
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

int read_table_attributes(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	if (n->kind != NODE_MAPPING)
		return expected(r, n, key->name, "a mapping like {max_filesize: 10G}");
	for (size_t i = 0; i < n->count; i++) {
		const struct key item = {.name = n->keys[i]->text};
		size_t k = 0;
		while (k < NTABLE_NAMES && strcmp(table_names[k], item.name) != 0)
			k++;
		if (k == NTABLE_NAMES)
			return unknown_name(r, n->keys[i]->pos, "table attribute", item.name,
					    table_names, NTABLE_NAMES);
		int rc = strcmp(item.name, "coprocessor") == 0
				 ? read_coprocessors(r, n->items[i], slot)
				 : read_attribute(r, n->items[i], &item, slot);
		if (rc)
			return rc;
	}
	return RC_OK;
}

/* CONFIGURATION, METADATA: names and values are HBase's own; all become text. */
int read_configuration(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const struct key name_key = {.name = key->name};
	if (n->kind != NODE_MAPPING)
		return expected(r, n, key->name, "a mapping like {name: value}");
	for (size_t i = 0; i < n->count; i++) {
		const char *name, *value;
		int rc = read_text(r, n->keys[i], &name_key, &name);
		if (!rc)
			rc = read_any_text(r, n->items[i], &name_key, &value);
		if (rc)
			return rc;
		struct attribute *a = add_attribute(&r->job->arena, slot);
		*a = (struct attribute){name, value, true, n->keys[i]->pos};
	}
	return RC_OK;
}
