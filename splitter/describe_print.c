/*
 * describe_print.c - print a descriptor as the shell's `describe` does
 *
 * The rules are those of toStringTableAttributes in TableDescriptorBuilder, of toString in
 * ColumnFamilyDescriptorBuilder, and of PrettyPrinter (HBase 2.6). The attributes of a family keep
 * the server's order. A table has sorted attributes.
 */
#include "ddl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

/* Attributes that HBase prints by themselves; all others are in METADATA. */
static const char *const table_keys[] = {"DURABILITY",	 "ERASURE_CODING_POLICY", "IS_META",
					 "MAX_FILESIZE", "MEMSTORE_FLUSHSIZE",	  "PRIORITY",
					 "READONLY",	 "REGION_REPLICATION",	  NULL};
static const char *const family_keys[] = {"BLOCKCACHE",
					  "BLOCKSIZE",
					  "BLOOMFILTER",
					  "COMPRESSION",
					  "DATA_BLOCK_ENCODING",
					  "ENCRYPTION",
					  "ENCRYPTION_KEY",
					  "INDEX_BLOCK_ENCODING",
					  "IN_MEMORY",
					  "IS_MOB",
					  "KEEP_DELETED_CELLS",
					  "MIN_VERSIONS",
					  "MOB_COMPACT_PARTITION_POLICY",
					  "MOB_THRESHOLD",
					  "REPLICATION_SCOPE",
					  "TTL",
					  "VERSIONS",
					  NULL};

struct unit_name {
	const char *name;
	uint64_t size;
};
/* The plural is NAME plus S. */
static const struct unit_name times[] = {{"DAY", 86400},
					 {"HOUR", 3600},
					 {"MINUTE", 60},
					 {"SECOND", 1}};
static const struct unit_name sizes[] = {{"TB", UINT64_C(1) << 40},
					 {"GB", UINT64_C(1) << 30},
					 {"MB", UINT64_C(1) << 20},
					 {"KB", UINT64_C(1) << 10},
					 {"B", 1}};

static bool is_word_of(const char *const *list, const char *key)
{
	while (*list && strcmp(*list, key) != 0)
		list++;
	return *list != NULL;
}

/* Append "90061 SECONDS (1 DAY 1 HOUR 1 MINUTE 1 SECOND)" (PrettyPrinter.humanReadableTTL). */
static void put_time(struct buf *out, uint64_t s)
{
	uint64_t left = s;
	const char *gap = "";

	if (s == TTL_FOREVER) {
		buf_append_str(out, "FOREVER");
		return;
	}
	buf_printf(out, "%" PRIu64 " SECOND%s", s, s == 1 ? "" : "S");
	if (s < 60)
		return;
	buf_append_str(out, " (");
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		uint64_t n = left / times[i].size;

		left -= n * times[i].size;
		if (n == 0)
			continue;
		buf_printf(out, "%s%" PRIu64 " %s%s", gap, n, times[i].name, n == 1 ? "" : "S");
		gap = " ";
	}
	buf_put(out, ')');
}

/* Append "65536 B (64KB)" (PrettyPrinter.humanReadableByte). */
static void put_size(struct buf *out, uint64_t bytes)
{
	uint64_t left = bytes;
	const char *gap = "";

	buf_printf(out, "%" PRIu64 " B", bytes);
	if (bytes < 1024)
		return;
	buf_append_str(out, " (");
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint64_t n = left / sizes[i].size;

		left -= n * sizes[i].size;
		if (n == 0)
			continue;
		buf_printf(out, "%s%" PRIu64 "%s", gap, n, sizes[i].name);
		gap = " ";
	}
	buf_put(out, ')');
}

static bool parse_whole(const char *text, uint64_t *v)
{
	bool digits = *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 19;

	*v = digits ? strtoull(text, NULL, 10) : 0;
	return digits;
}

/* One {...} of the output. `keys` are the attributes with a place of their own. */
struct printed {
	const struct attributes *list;
	const char *const *keys;
	bool raw; /* values are texts, not bytes */
};

static bool is_size(const struct printed *p, const char *key)
{
	if (p->keys == table_keys)
		return !strcmp(key, "MAX_FILESIZE") || !strcmp(key, "MEMSTORE_FLUSHSIZE");
	return strcmp(key, "BLOCKSIZE") == 0;
}

static bool is_plain(const struct printed *p, const char *key)
{
	return is_word_of(p->keys, key) ||
	       (p->keys == table_keys && strncmp(key, "coprocessor$", 12) == 0);
}

static void put_value(struct buf *out, const struct printed *p, const struct attribute *it)
{
	bool time = p->keys != table_keys && strcmp(it->key, "TTL") == 0;
	uint64_t v;

	buf_put(out, '\'');
	if (time && parse_whole(it->value, &v))
		put_time(out, v);
	else if (is_size(p, it->key) && parse_whole(it->value, &v))
		put_size(out, v);
	else if (p->raw)
		buf_append_str(out, it->value);
	else
		bytes_print(out, bytes_str(it->value));
	buf_put(out, '\'');
}

/*
 * Append `KEY => 'value'` for each attribute with a place of its own, or `'key' => 'value'` for
 * each other one. Returns the number of items. A comma precedes the first item if `comma` is true.
 */
static size_t put_items(struct buf *out, const struct printed *p, bool plain, bool comma)
{
	size_t n = 0;

	for (size_t i = 0; i < p->list->count; i++) {
		const struct attribute *it = &p->list->item[i];
		const char *quote = plain ? "" : "'";

		if (is_plain(p, it->key) != plain)
			continue;
		if (strcmp(it->key, "IS_META") == 0 && strcasecmp(it->value, "true") != 0)
			continue;
		buf_printf(out, "%s%s%s%s => ", n || comma ? ", " : "", quote, it->key, quote);
		put_value(out, p, it);
		n++;
	}
	return n;
}

/* Append NAME => {...} with the attributes without a place of their own. */
static void put_others(struct buf *out, const char *name, const struct printed *p, bool comma)
{
	size_t start = out->len;

	buf_printf(out, "%s%s => {", comma ? ", " : "", name);
	if (put_items(out, p, false, false))
		buf_put(out, '}');
	else
		out->len = start;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct attribute *)a)->key, ((const struct attribute *)b)->key);
}

static void put_table(struct buf *out, const struct attributes *items)
{
	struct arena a = {0};
	struct attributes sorted = {0};

	for (size_t i = 0; i < items->count; i++)
		attributes_add(&a, &sorted, items->item[i].key, items->item[i].value);
	if (sorted.count)
		qsort(sorted.item, sorted.count, sizeof *sorted.item, by_key);
	const struct printed p = {&sorted, table_keys, false};
	size_t start = out->len;
	buf_append_str(out, ", {TABLE_ATTRIBUTES => {");
	size_t empty = out->len;
	size_t n = put_items(out, &p, true, false);
	put_others(out, "METADATA", &p, n > 0);
	if (out->len == empty)
		out->len = start;
	else
		buf_append_str(out, "}}");
	arena_release(&a);
}

static void put_family(struct buf *out, const struct described *f)
{
	static const char *const none[] = {NULL};
	const struct printed items = {&f->items, family_keys, false};
	const struct printed configuration = {&f->configuration, none, true};

	buf_printf(out, "{NAME => '%s'", f->name);
	put_items(out, &items, true, true);
	put_others(out, "METADATA", &items, true);
	put_others(out, "CONFIGURATION", &configuration, true);
	buf_append_str(out, "}\n\n");
}

void description_print(struct buf *out, const char *table, const struct description *d)
{
	buf_append_str(out, table);
	put_table(out, &d->table.items);
	buf_append_str(out, "\nCOLUMN FAMILIES DESCRIPTION\n");
	for (size_t i = 0; i < d->nfamilies; i++)
		put_family(out, &d->families[i]);
}
