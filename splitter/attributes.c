/*
 * attributes.c - the table of attributes, and the normal form of each value
 *
 * For an attribute in the wrong place or with a misspelt quoted key, the shell only prints a line
 * and creates the table without it. saltmill checks a job with this table and rejects such
 * attributes. With one normal form of each value, `alter` can compare a job with the output of
 * `describe`.
 */
#include "attributes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ddl.h"
#include "splits.h"
#include "bytes.h"

#define MIB (INT64_C(1) << 20)

static const char *const codecs[] = {"NONE", "GZ",    "SNAPPY", "LZ4",	  "ZSTD",
				     "LZO",  "BZIP2", "LZMA",	"BROTLI", NULL};
static const char *const encodings[] = {"NONE",	     "PREFIX",	     "DIFF",
					"FAST_DIFF", "ROW_INDEX_V1", NULL};
static const char *const blooms[] = {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH", NULL};
static const char *const memory_compactions[] = {"NONE", "BASIC", "EAGER", "ADAPTIVE", NULL};
static const char *const deleted_cells[] = {"FALSE", "TRUE", "TTL", NULL};
static const char *const durabilities[] = {"USE_DEFAULT", "SKIP_WAL",  "ASYNC_WAL",
					   "SYNC_WAL",	  "FSYNC_WAL", NULL};
static const char *const storage_policies[] = {"HOT",	   "WARM",	 "COLD",
					       "ALL_SSD",  "ONE_SSD",	 "LAZY_PERSIST",
					       "PROVIDED", "ALL_NVDIMM", NULL};
static const char *const mob_partitions[] = {"DAILY", "WEEKLY", "MONTHLY", NULL};

static const char from_regions[] = "split keys come from the job's `regions:`";

static const struct attribute_def family_defs[] = {
	{"VERSIONS", KIND_INT, "1", 1, INT32_MAX, NULL, true},
	{"MIN_VERSIONS", KIND_INT, "0", 0, INT32_MAX, NULL, true},
	{"TTL", KIND_TTL, "2147483647", 1, INT32_MAX, NULL, true},
	{"BLOOMFILTER", KIND_WORD, "ROW", 0, 0, blooms, true},
	{"COMPRESSION", KIND_WORD, "NONE", 0, 0, codecs, true},
	{"DATA_BLOCK_ENCODING", KIND_WORD, "NONE", 0, 0, encodings, true},
	{"BLOCKSIZE", KIND_BYTES, "65536", 1024, 16 * MIB, NULL, true},
	{"IN_MEMORY", KIND_BOOL, "false", 0, 0, NULL, true},
	{"COMPRESSION_COMPACT", KIND_WORD, NULL, 0, 0, codecs, false},
	{"COMPRESSION_COMPACT_MAJOR", KIND_WORD, NULL, 0, 0, codecs, false},
	{"COMPRESSION_COMPACT_MINOR", KIND_WORD, NULL, 0, 0, codecs, false},
	{"BLOCKCACHE", KIND_BOOL, "true", 0, 0, NULL, false},
	{"IN_MEMORY_COMPACTION", KIND_WORD, NULL, 0, 0, memory_compactions, false},
	{"CACHE_DATA_ON_WRITE", KIND_BOOL, "false", 0, 0, NULL, false},
	{"CACHE_INDEX_ON_WRITE", KIND_BOOL, "false", 0, 0, NULL, false},
	{"CACHE_BLOOMS_ON_WRITE", KIND_BOOL, "false", 0, 0, NULL, false},
	{"EVICT_BLOCKS_ON_CLOSE", KIND_BOOL, "false", 0, 0, NULL, false},
	{"PREFETCH_BLOCKS_ON_OPEN", KIND_BOOL, "false", 0, 0, NULL, false},
	{"COMPRESS_TAGS", KIND_BOOL, "true", 0, 0, NULL, false},
	{"NEW_VERSION_BEHAVIOR", KIND_BOOL, "false", 0, 0, NULL, false},
	{"KEEP_DELETED_CELLS", KIND_WORD, "FALSE", 0, 0, deleted_cells, false},
	{"REPLICATION_SCOPE", KIND_INT, "0", 0, 1, NULL, false},
	{"DFS_REPLICATION", KIND_INT, "0", 0, INT16_MAX, NULL, false},
	{"STORAGE_POLICY", KIND_WORD, NULL, 0, 0, storage_policies, false},
	{"ENCRYPTION", KIND_TEXT, NULL, 0, 0, NULL, false},
	{"ENCRYPTION_KEY", KIND_TEXT, NULL, 0, 0, NULL, false},
	{"IS_MOB", KIND_BOOL, "false", 0, 0, NULL, false},
	{"MOB_THRESHOLD", KIND_BYTES, "102400", 0, INT64_MAX, NULL, false},
	{"MOB_COMPACT_PARTITION_POLICY", KIND_WORD, "DAILY", 0, 0, mob_partitions, false},
	{"NAME", KIND_REFUSED, "the family's name is its key in `families:`", 0, 0, NULL, false},
	{"INDEX_BLOCK_ENCODING", KIND_REFUSED,
	 "the shell has no setter for this attribute and ignores it", 0, 0, NULL, false},
};

static const struct attribute_def table_defs[] = {
	{"MAX_FILESIZE", KIND_BYTES, NULL, 2 * MIB, INT64_MAX, NULL, false},
	{"MEMSTORE_FLUSHSIZE", KIND_BYTES, NULL, MIB, INT64_MAX, NULL, false},
	{"SPLIT_POLICY", KIND_CLASS, NULL, 0, 0, NULL, false},
	{"FLUSH_POLICY", KIND_CLASS, NULL, 0, 0, NULL, false},
	{"DURABILITY", KIND_WORD, "USE_DEFAULT", 0, 0, durabilities, false},
	{"READONLY", KIND_BOOL, "false", 0, 0, NULL, false},
	{"COMPACTION_ENABLED", KIND_BOOL, "true", 0, 0, NULL, false},
	{"SPLIT_ENABLED", KIND_BOOL, "true", 0, 0, NULL, false},
	{"MERGE_ENABLED", KIND_BOOL, "true", 0, 0, NULL, false},
	{"NORMALIZATION_ENABLED", KIND_BOOL, NULL, 0, 0, NULL, false},
	{"NORMALIZER_TARGET_REGION_COUNT", KIND_INT, NULL, 1, INT32_MAX, NULL, false},
	{"NORMALIZER_TARGET_REGION_SIZE_MB", KIND_INT, NULL, 1, INT64_MAX / MIB, NULL, false},
	{"REGION_REPLICATION", KIND_INT, "1", 1, INT32_MAX, NULL, false},
	{"REGION_MEMSTORE_REPLICATION", KIND_BOOL, "true", 0, 0, NULL, false},
	{"PRIORITY", KIND_INT, "0", INT32_MIN, INT32_MAX, NULL, false},
	{"ERASURE_CODING_POLICY", KIND_TEXT, NULL, 0, 0, NULL, false},
	{"OWNER", KIND_TEXT, NULL, 0, 0, NULL, false},
	{"COPROCESSOR", KIND_COPROCESSOR, NULL, 0, 0, NULL, false},
	{"NAME", KIND_REFUSED, "a Hash with NAME is a column family to the shell", 0, 0, NULL,
	 false},
	{"METHOD", KIND_REFUSED, "`create` ignores or refuses this attribute", 0, 0, NULL, false},
	{"SPLITS", KIND_REFUSED, from_regions, 0, 0, NULL, false},
	{"SPLITS_FILE", KIND_REFUSED, from_regions, 0, 0, NULL, false},
	{"NUMREGIONS", KIND_REFUSED, from_regions, 0, 0, NULL, false},
	{"SPLITALGO", KIND_REFUSED, from_regions, 0, 0, NULL, false},
};

#define COUNT(a) (sizeof a / sizeof((a)[0]))

static const struct attribute_def *scope_defs(enum attribute_scope scope, size_t *count)
{
	*count = scope == SCOPE_FAMILY ? COUNT(family_defs) : COUNT(table_defs);
	return scope == SCOPE_FAMILY ? family_defs : table_defs;
}

const struct attribute_def *attribute_find(enum attribute_scope scope, const char *key)
{
	size_t count, len = strcspn(key, "$"); /* coprocessor$1 */
	const struct attribute_def *d = scope_defs(scope, &count);

	for (size_t i = 0; i < count; i++) {
		bool numbered = d[i].kind == KIND_COPROCESSOR && len == strlen(d[i].name);

		if (strncasecmp(d[i].name, key, len) == 0 && strlen(d[i].name) == len &&
		    (key[len] == '\0' || numbered))
			return &d[i];
	}
	return NULL;
}

const char *attribute_near(enum attribute_scope scope, const char *key)
{
	const char *known[COUNT(family_defs) + COUNT(table_defs)];
	size_t count, n = 0;
	const struct attribute_def *d = scope_defs(scope, &count);

	for (size_t i = 0; i < count; i++)
		if (d[i].kind != KIND_REFUSED)
			known[n++] = d[i].name;
	return near_miss(key, known, n);
}

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit time_units[] = {{"DAYS", 86400}, {"DAY", 86400},  {"HOURS", 3600},
					 {"HOUR", 3600},  {"MINUTES", 60}, {"MINUTE", 60},
					 {"SECONDS", 1},  {"SECOND", 1}};
static const struct unit byte_units[] = {
	{"TB", UINT64_C(1) << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}};

/*
 * Parse a text such as "1 DAY 2 HOURS" at *text, and move *text past it. Each unit must be smaller
 * than the previous unit, and spaces are optional. A number without a unit has the factor 1.
 * Returns false if there is no number, if a unit is unknown, or if the sum needs more than 64 bits.
 */
static bool parse_terms(const char **text, const struct unit *units, size_t nunits, uint64_t *sum)
{
	const char *p = *text;
	uint64_t below = UINT64_MAX;

	*sum = 0;
	for (p += strspn(p, " "); *p >= '0' && *p <= '9'; p += strspn(p, " ")) {
		uint64_t v = 0;

		for (; *p >= '0' && *p <= '9'; p++)
			if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
			    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
				return false;
		p += strspn(p, " ");
		size_t i = 0;
		while (i < nunits && strncasecmp(p, units[i].name, strlen(units[i].name)) != 0)
			i++;
		bool bare = i == nunits && below == UINT64_MAX;
		if (i == nunits && !bare)
			return false;
		uint64_t factor = bare ? 1 : units[i].factor;
		if (factor >= below || __builtin_mul_overflow(v, factor, &v) ||
		    __builtin_add_overflow(*sum, v, sum))
			return false;
		below = factor;
		p += bare ? 0 : strlen(units[i].name);
	}
	*text = p;
	return below != UINT64_MAX;
}

/*
 * Parse terms as parse_terms does, or text of `describe` such as "65536 B (64KB)". The two numbers
 * in that text must be equal.
 */
static bool parse_sum(const char *text, const struct unit *units, size_t nunits, uint64_t *sum)
{
	uint64_t again;

	if (!parse_terms(&text, units, nunits, sum))
		return false;
	if (*text == '(') {
		text++;
		if (!parse_terms(&text, units, nunits, &again) || again != *sum || *text++ != ')')
			return false;
	}
	return *text == '\0';
}

bool ttl_parse(const char *text, int32_t *ttl_s)
{
	uint64_t sum;

	if (strcasecmp(text, "FOREVER") == 0)
		sum = TTL_FOREVER;
	else if (!parse_sum(text, time_units, COUNT(time_units), &sum) || sum == 0 ||
		 sum > TTL_FOREVER)
		return false;
	*ttl_s = (int32_t)sum;
	return true;
}

static bool parse_bytes(const char *text, int64_t *v)
{
	uint64_t sum;

	if (!parse_size(text, &sum) && !parse_sum(text, byte_units, COUNT(byte_units), &sum))
		return false;
	*v = sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
	return sum <= INT64_MAX;
}

static bool parse_int(const char *text, int64_t *v)
{
	bool minus = *text == '-';
	uint64_t sum;

	/* check digits, because parse_size alone accepts 3K as a number of versions */
	if (strspn(text + minus, "0123456789") != strlen(text + minus) ||
	    !parse_size(text + minus, &sum) || sum > INT64_MAX)
		return false;
	*v = minus ? -(int64_t)sum : (int64_t)sum;
	return true;
}

static char *arena_number(struct arena *a, int64_t v)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRId64, v);
	return arena_strdup(a, digits);
}

static int read_number(const struct attribute_def *d, const char *text, struct arena *a,
		       struct attribute *out, struct error *err)
{
	int64_t v = 0;
	int32_t ttl_s = 0;
	bool good = d->kind == KIND_INT	    ? parse_int(text, &v)
		    : d->kind == KIND_BYTES ? parse_bytes(text, &v)
					    : ttl_parse(text, &ttl_s);

	if (d->kind == KIND_TTL)
		v = ttl_s;
	if (!good || v < d->min || v > d->max) {
		const char *what = d->kind == KIND_BYTES ? " bytes"
				   : d->kind == KIND_TTL ? " seconds"
							 : "";

		if (d->max == INT64_MAX)
			return error_set(err, RC_CONFIG,
					 "%s: found %.100s, expected a whole number of at "
					 "least %" PRId64 "%s",
					 d->name, text, d->min, what);
		return error_set(err, RC_CONFIG,
				 "%s: found %.100s, expected a whole number from %" PRId64
				 " to %" PRId64 "%s",
				 d->name, text, d->min, d->max, what);
	}
	out->value = arena_number(a, v);
	out->quoted = false;
	return RC_OK;
}

static int read_word(const struct attribute_def *d, const char *text, struct attribute *out,
		     struct error *err)
{
	size_t n = 0;
	char list[200] = "";

	for (; d->words[n]; n++) {
		if (strcasecmp(d->words[n], text) == 0) {
			out->value = d->words[n];
			return RC_OK;
		}
		strcat(strcat(list, n ? ", " : ""), d->words[n]);
	}
	const char *near = near_miss(text, d->words, n);
	if (near)
		return error_set(err, RC_CONFIG,
				 "%s: found %.100s, expected one of %s; did you mean %s?", d->name,
				 text, list, near);
	return error_set(err, RC_CONFIG, "%s: found %.100s, expected one of %s", d->name, text,
			 list);
}

/*
 * Read a class name, and put HBase's package before a name without a package. The master loads a
 * class by its full name.
 */
static int read_class(const struct attribute_def *d, const char *text, struct arena *a,
		      struct attribute *out, struct error *err)
{
	static const char package[] = "org.apache.hadoop.hbase.regionserver.";
	static const char *const known[] = {
		"ConstantSizeRegionSplitPolicy",
		"DisabledRegionSplitPolicy",
		"SteppingSplitPolicy",
		"IncreasingToUpperBoundRegionSplitPolicy",
		"BusyRegionSplitPolicy",
		"KeyPrefixRegionSplitPolicy",
		"DelimitedKeyPrefixRegionSplitPolicy",
		"FlushAllStoresPolicy",
		"FlushAllLargeStoresPolicy",
		"FlushNonSloppyStoresFirstPolicy",
	};
	const char *last = strrchr(text, '.');
	const char *name = last ? last + 1 : text;
	bool ours = !last || strncmp(text, package, sizeof package - 1) == 0;

	out->value = text;
	if (!ours)
		return RC_OK;
	for (size_t i = 0; i < COUNT(known); i++) {
		if (strcmp(name, known[i]) != 0)
			continue;
		char *full = arena_alloc(a, sizeof package + strlen(name));
		out->value = strcat(strcpy(full, package), name);
		return RC_OK;
	}
	const char *near = near_miss(name, known, COUNT(known));
	if (near)
		return error_set(err, RC_CONFIG,
				 "%s: found %.200s, expected a class name; did you mean %s%s?",
				 d->name, text, package, near);
	return last ? RC_OK
		    : error_set(err, RC_CONFIG,
				"%s: found %.200s, expected a class name with its package", d->name,
				text);
}

static int read_bool(const struct attribute_def *d, const char *text, struct attribute *out,
		     struct error *err)
{
	bool yes = strcasecmp(text, "true") == 0;

	/* Java's Boolean.valueOf reads any word except `true` as false */
	if (!yes && strcasecmp(text, "false") != 0)
		return error_set(err, RC_CONFIG, "%s: found %.100s, expected true or false",
				 d->name, text);
	out->value = yes ? "true" : "false";
	out->quoted = false;
	return RC_OK;
}

static int read_text(const struct attribute_def *d, const char *text, struct error *err)
{
	if (*text == '\0')
		return error_set(err, RC_CONFIG, "%s: found an empty text, expected a value",
				 d->name);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7F)
			return error_set(
				err, RC_CONFIG,
				"%s: found control character 0x%02X, expected printable text",
				d->name, (unsigned char)*p);
	return RC_OK;
}

int attribute_read(const struct attribute_def *d, const char *text, struct arena *a,
		   struct attribute *out, struct error *err)
{
	out->key = d->name;
	out->value = text;
	out->quoted = true;
	int rc = read_text(d, text, err);
	if (rc)
		return rc;
	switch (d->kind) {
	case KIND_BOOL: return read_bool(d, text, out, err);
	case KIND_INT:
	case KIND_BYTES:
	case KIND_TTL: return read_number(d, text, a, out, err);
	case KIND_WORD: return read_word(d, text, out, err);
	case KIND_CLASS: return read_class(d, text, a, out, err);
	case KIND_COPROCESSOR: {
		const char *bar = strchr(text, '|');
		if (!bar || bar[1] == '|' || bar[1] == '\0')
			return error_set(err, RC_CONFIG,
					 "%s: found %.200s, expected path|class|priority|arguments",
					 d->name, text);
		return RC_OK;
	}
	case KIND_REFUSED:
		return error_set(err, RC_CONFIG, "%s is not an attribute: %s", d->name, d->initial);
	case KIND_TEXT: break;
	}
	return RC_OK;
}

/* Return true if only the data will decide the attribute. */
static bool is_open(const struct family *f, const char *key)
{
	return (f->encoding_free && strcmp(key, "DATA_BLOCK_ENCODING") == 0) ||
	       (f->block_free && strcmp(key, "BLOCKSIZE") == 0);
}

struct attributes family_items(struct arena *a, const struct family *f)
{
	const char *yes_no[] = {"false", "true"};
	const struct attribute own[] = {
		{.key = "VERSIONS", .value = arena_number(a, f->versions)},
		{.key = "MIN_VERSIONS", .value = arena_number(a, f->min_versions)},
		{.key = "TTL", .value = arena_number(a, f->ttl_s)},
		{.key = "BLOOMFILTER", .value = bloom_name(f->bloom), .quoted = true},
		{.key = "COMPRESSION", .value = codec_name(f->codec), .quoted = true},
		{.key = "DATA_BLOCK_ENCODING", .value = encoding_name(f->encoding), .quoted = true},
		{.key = "BLOCKSIZE", .value = arena_number(a, f->block_bytes)},
		{.key = "IN_MEMORY", .value = yes_no[f->in_memory]},
	};
	struct attributes all = {.count = 0};

	all.item = arena_alloc(a, (COUNT(own) + f->more.count) * sizeof *all.item);
	for (size_t i = 0; i < COUNT(own); i++)
		if (!is_open(f, own[i].key))
			all.item[all.count++] = own[i];
	if (f->more.count)
		memcpy(all.item + all.count, f->more.item, f->more.count * sizeof *all.item);
	all.count += f->more.count;
	return all;
}

struct attributes family_configuration(struct arena *a, const struct family *f)
{
	struct attributes all = {.count = 0};

	all.item = arena_alloc(a, (f->configuration.count + 1) * sizeof *all.item);
	if (f->bloom == BLOOM_ROWPREFIX)
		all.item[all.count++] =
			(struct attribute){.key = BLOOM_PREFIX_KEY,
					   .value = arena_number(a, f->bloom_prefix),
					   .quoted = true};
	for (size_t i = 0; i < f->configuration.count; i++)
		if (all.count == 0 || strcmp(f->configuration.item[i].key, BLOOM_PREFIX_KEY) != 0)
			all.item[all.count++] = f->configuration.item[i];
	return all;
}

uint64_t table_max_filesize(const struct table *t)
{
	for (size_t i = 0; i < t->attributes.count; i++)
		if (!strcmp(t->attributes.item[i].key, "MAX_FILESIZE"))
			return strtoull(t->attributes.item[i].value, NULL, 10);
	return REGION_BYTES;
}
