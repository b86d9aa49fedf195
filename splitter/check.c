/*
 * check.c - reject tables that HBase's master rejects, and attributes that the shell silently
 * ignores
 *
 * The checks are those of TableName, ColumnFamilyDescriptorBuilder and the master's
 * TableDescriptorChecker (README.md 2.3 to 2.5). With these checks, HBase accepts all scripts that
 * saltmill writes.
 */
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wctype.h>

#include "attributes.h"
#include "bytes.h"
#include "cell.h"
#include "ddl.h"

static const char fifo_key[] = "hbase.hstore.defaultengine.compactionpolicy.class";
static const char fifo_policy[] =
	"org.apache.hadoop.hbase.regionserver.compactions.FIFOCompactionPolicy";
static const char blocking_key[] = "hbase.hstore.blockingStoreFiles";

/*
 * Return the first character of `name` that is not a letter, a digit or in `extra`. Returns 0 if
 * there is no such character.
 */
static uint32_t odd_character(struct bytes name, const char *extra)
{
	locale_t unicode = (locale_t)0;
	uint32_t code = 0, odd = 0;

	while (name.len && !odd) {
		size_t n = utf8_decode(name, &code);

		name = bytes_of(name.ptr + n, name.len - n);
		if (code >= 0x80 && !unicode)
			unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
		bool good = code < 0x80 ? (code >= '0' && code <= '9') ||
						  (code >= 'A' && code <= 'Z') ||
						  (code >= 'a' && code <= 'z') ||
						  (code && strchr(extra, (int)code))
					: code != 0xFFFD && (!unicode || iswalnum_l(code, unicode));
		if (!good)
			odd = code ? code : 0xFFFD;
	}
	if (unicode)
		freelocale(unicode);
	return odd;
}

static int check_table_name(const char *name, struct error *err)
{
	const char *colon = strchr(name, ':');
	const char *qualifier = colon ? colon + 1 : name;
	struct bytes namespace = bytes_of(name, colon ? (size_t)(colon - name) : 0);
	uint32_t odd;

	if (colon && namespace.len == 0)
		return error_set(
			err, RC_CONFIG,
			"table name \"%.200s\": found an empty namespace, expected NAMESPACE:TABLE "
			"or TABLE",
			name);
	if (*qualifier == '\0')
		return error_set(
			err, RC_CONFIG,
			"table name \"%.200s\": found no name%s, expected at least one character",
			name, colon ? " after the namespace" : "");
	if (*qualifier == '.' || *qualifier == '-')
		return error_set(
			err, RC_CONFIG,
			"table name \"%.200s\": found '%c' at the start, expected a letter, a "
			"digit or _",
			name, *qualifier);
	if ((odd = odd_character(namespace, "_")) != 0)
		return error_set(err, RC_CONFIG,
				 "namespace \"%.*s\": found U+%04" PRIX32
				 ", expected letters, digits and _",
				 namespace.len < 200 ? (int)namespace.len : 200, name, odd);
	if ((odd = odd_character(bytes_str(qualifier), "_.-")) != 0)
		return error_set(err, RC_CONFIG,
				 "table name \"%.200s\": found U+%04" PRIX32
				 ", expected letters, digits, _ . and -",
				 name, odd);
	if (namespace.len == 5 && memcmp(name, "hbase", 5) == 0)
		return error_set(
			err, RC_CONFIG,
			"table name \"%.200s\": found the namespace hbase, which only HBase's "
			"own tables use; choose another one",
			name);
	return RC_OK;
}

static int check_family_name(const char *name, struct error *err)
{
	if (*name == '\0')
		return error_set(err, RC_CONFIG,
				 "found a column family with an empty name, expected at least one "
				 "character");
	if (*name == '.')
		return error_set(
			err, RC_CONFIG,
			"column family \"%.200s\": found a dot at the start, expected another "
			"character",
			name);
	if (strcmp(name, "recovered.edits") == 0)
		return error_set(
			err, RC_CONFIG,
			"column family \"recovered.edits\": HBase stores its files in a folder "
			"of this name; choose another name");
	if (strlen(name) > CELL_FAMILY_MAX)
		return error_set(err, RC_CONFIG,
				 "column family \"%.40s...\" has %zu bytes, expected at most %d",
				 name, strlen(name), CELL_FAMILY_MAX);
	for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
		if (*p < 0x20 || *p == 0x7F)
			return error_set(
				err, RC_CONFIG,
				"column family \"%.200s\": found control character 0x%02X, "
				"expected printable text",
				name, *p);
		if (strchr(":\\/", *p))
			return error_set(
				err, RC_CONFIG,
				"column family \"%.200s\": found '%c', expected a name without : "
				"/ \\",
				name, *p);
	}
	return RC_OK;
}

static int unknown_attribute(enum attribute_scope scope, const char *key, struct error *err)
{
	enum attribute_scope other = scope == SCOPE_FAMILY ? SCOPE_TABLE : SCOPE_FAMILY;
	const struct attribute_def *d = attribute_find(other, key);

	if (d && d->kind != KIND_REFUSED)
		return error_set(err, RC_CONFIG,
				 "found %s, an attribute of the %s, which the shell ignores here; "
				 "expected an attribute of the %s",
				 d->name, other == SCOPE_FAMILY ? "family" : "table",
				 other == SCOPE_FAMILY ? "table" : "family");
	const char *near = attribute_near(scope, key);
	const char *what = scope == SCOPE_FAMILY ? "family" : "table";
	if (near)
		return error_set(err, RC_CONFIG, "unknown %s attribute %.100s; did you mean %s?",
				 what, key, near);
	return error_set(err, RC_CONFIG, "unknown %s attribute %.100s", what, key);
}

/* Check a list of attributes and convert it to the script's form. */
static int check_attributes(enum attribute_scope scope, struct attributes *list, struct arena *a,
			    struct pos *at, struct error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		struct attribute *it = &list->item[i];
		const struct attribute_def *d = attribute_find(scope, it->key);
		const char *key = it->key;

		*at = it->pos;
		if (!d)
			return unknown_attribute(scope, it->key, err);
		if (d->own_field)
			return error_set(err, RC_CONFIG, "found %s twice, expected it once",
					 d->name);
		int rc = attribute_read(d, it->value, a, it, err);
		if (rc)
			return rc;
		if (d->kind == KIND_COPROCESSOR)
			/* keep the key, because several coprocessors have numbered keys */
			it->key = key;
		for (size_t j = 0; j < i; j++)
			if (strcasecmp(list->item[j].key, it->key) == 0)
				return error_set(err, RC_CONFIG, "found %s twice, expected it once",
						 it->key);
	}
	return RC_OK;
}

/* Check CONFIGURATION or METADATA. Any key and any printable text is valid. */
static int check_hash(const char *what, struct attributes *list, struct pos *at, struct error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		struct attribute *it = &list->item[i];

		*at = it->pos;
		it->quoted = true;
		if (*it->key == '\0')
			return error_set(err, RC_CONFIG,
					 "%s: found an empty key, expected at least one character",
					 what);
		for (const char *p = it->key; *p; p++)
			if ((unsigned char)*p <= 0x20 || *p == 0x7F)
				return error_set(err, RC_CONFIG,
						 "%s key \"%.100s\": found byte 0x%02X, expected "
						 "printable text without spaces",
						 what, it->key, (unsigned char)*p);
		for (const char *p = it->value; *p; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7F)
				return error_set(
					err, RC_CONFIG,
					"%s %.100s: found control character 0x%02X, expected "
					"printable text",
					what, it->key, (unsigned char)*p);
		for (size_t j = 0; j < i; j++)
			if (strcmp(list->item[j].key, it->key) == 0)
				return error_set(err, RC_CONFIG,
						 "%s: found %.100s twice, expected it once", what,
						 it->key);
	}
	return RC_OK;
}

static const struct attribute *find_key(const struct attributes *list, const char *key)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->item[i].key, key) == 0)
			return &list->item[i];
	return NULL;
}

/*
 * Parse the whole text as a number from `min` to `max`. Returns -1 if the text is not such a
 * number.
 */
static long number_in(const char *text, long min, long max)
{
	char *end;
	long v = strtol(text, &end, 10);

	return *text && *end == '\0' && v >= min && v <= max ? v : -1;
}

/*
 * Check that a ROWPREFIX_FIXED_LENGTH filter has a prefix length, which is a configuration key of
 * the same family.
 */
static int check_bloom(struct family *f, struct pos *at, struct error *err)
{
	const struct attribute *given = find_key(&f->configuration, BLOOM_PREFIX_KEY);

	if (f->bloom != BLOOM_ROWPREFIX)
		return RC_OK;
	if (given) {
		long n = number_in(given->value, 1, CELL_ROW_MAX);

		*at = given->pos;
		if (n < 0 || (f->bloom_prefix && f->bloom_prefix != (uint32_t)n))
			return error_set(err, RC_CONFIG,
					 "family %s: %s is %.100s, expected %s from 1 to %d",
					 f->name, BLOOM_PREFIX_KEY, given->value,
					 n < 0 ? "a whole number"
					       : "the bloom filter's own prefix length",
					 CELL_ROW_MAX);
		f->bloom_prefix = (uint32_t)n;
	}
	if (f->bloom_prefix < 1 || f->bloom_prefix > CELL_ROW_MAX)
		return error_set(
			err, RC_CONFIG,
			"family %s: bloom filter ROWPREFIX_FIXED_LENGTH has prefix length %" PRIu32
			", expected 1 to %d (the master rejects other values)",
			f->name, f->bloom_prefix, CELL_ROW_MAX);
	return RC_OK;
}

static int check_limits(const struct family *f, struct error *err)
{
	if (f->versions < 1)
		return error_set(err, RC_CONFIG,
				 "family %s: found VERSIONS %" PRId32 ", expected 1 or more",
				 f->name, f->versions);
	if (f->min_versions < 0 || f->min_versions > f->versions)
		return error_set(err, RC_CONFIG,
				 "family %s: found MIN_VERSIONS %" PRId32
				 ", expected 0 to VERSIONS, which is %" PRId32,
				 f->name, f->min_versions, f->versions);
	if (f->ttl_s < 1)
		return error_set(err, RC_CONFIG,
				 "family %s: found TTL %" PRId32
				 " seconds, expected 1 to %d (forever)",
				 f->name, f->ttl_s, TTL_FOREVER);
	if (f->block_bytes < 1024 || f->block_bytes > 16 << 20)
		return error_set(err, RC_CONFIG,
				 "family %s: found BLOCKSIZE %" PRIu32
				 " bytes, expected 1024 to 16777216",
				 f->name, f->block_bytes);
	return RC_OK;
}

/* Check a family as TableDescriptorChecker.checkCompactionPolicy does. */
static int check_fifo(const struct table *t, const struct family *f, struct error *err)
{
	const struct attribute *policy = find_key(&f->configuration, fifo_key);

	if (!policy)
		policy = find_key(&t->configuration, fifo_key);
	if (!policy || strcmp(policy->value, fifo_policy) != 0)
		return RC_OK;
	const struct attribute *files = find_key(&f->configuration, blocking_key);
	if (!files)
		files = find_key(&t->configuration, blocking_key);
	if (f->ttl_s == TTL_FOREVER || f->min_versions > 0)
		return error_set(
			err, RC_CONFIG,
			"family %s: found no TTL, or MIN_VERSIONS above 0; FIFOCompactionPolicy "
			"needs a TTL and MIN_VERSIONS 0",
			f->name);
	if (!files || number_in(files->value, 1000, INT32_MAX) < 0)
		return error_set(err, RC_CONFIG,
				 "family %s: FIFOCompactionPolicy needs %s of 1000 or more",
				 f->name, blocking_key);
	return RC_OK;
}

/*
 * Check that all families use one zstd codec, because a server has one setting for all its tables.
 */
static int check_framing(const struct table *t, const struct family *f, struct error *err)
{
	for (const struct family *g = t->families; f->codec == CODEC_ZSTD && g < f; g++)
		if (g->codec == CODEC_ZSTD && g->framing != f->framing)
			return error_set(
				err, RC_CONFIG,
				"families %s and %s: found different ZSTD framings, expected "
				"one, because a region server has one codec "
				"(hbase.io.compress.zstd.codec)",
				g->name, f->name);
	return RC_OK;
}

static int check_family(const struct table *t, struct family *f, struct arena *a, struct pos *at,
			struct error *err)
{
	int rc;

	*at = f->pos;
	for (const struct family *g = t->families; g < f; g++)
		if (strcmp(g->name, f->name) == 0)
			return error_set(
				err, RC_CONFIG,
				"found column family %s twice, expected it once, because the "
				"shell would use only the last; remove one",
				f->name);
	if ((rc = check_family_name(f->name, err)) != 0 || (rc = check_limits(f, err)) != 0 ||
	    (rc = check_framing(t, f, err)) != 0)
		return rc;
	if ((rc = check_hash("CONFIGURATION", &f->configuration, at, err)) != 0 ||
	    (rc = check_hash("METADATA", &f->metadata, at, err)) != 0 ||
	    (rc = check_attributes(SCOPE_FAMILY, &f->more, a, at, err)) != 0)
		return rc == RC_OK ? rc : error_prefix(err, "family %s: ", f->name);
	*at = f->pos;
	rc = check_bloom(f, at, err);
	return rc ? rc : check_fifo(t, f, err);
}

int table_check(struct table *t, struct arena *a, struct pos *at, struct error *err)
{
	int rc;

	*at = t->pos;
	if ((rc = check_table_name(t->name, err)) != 0)
		return rc;
	if (t->nfamilies == 0)
		return error_set(err, RC_CONFIG,
				 "table %s: found no column family, expected at least one",
				 t->name);
	if ((rc = check_attributes(SCOPE_TABLE, &t->attributes, a, at, err)) != 0 ||
	    (rc = check_hash("CONFIGURATION", &t->configuration, at, err)) != 0 ||
	    (rc = check_hash("METADATA", &t->metadata, at, err)) != 0)
		return rc;
	for (size_t i = 0; rc == RC_OK && i < t->nfamilies + t->nothers; i++)
		rc = check_family(t, &t->families[i], a, at, err);
	return rc;
}
