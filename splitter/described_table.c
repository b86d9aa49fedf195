/* described_table.c - make a table's schema from its description */
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "ddl.h"

static void keep(struct attributes *list, const struct attribute *it, struct arena *a)
{
	list->item = arena_grow(a, list->item, list->count, sizeof *list->item);
	list->item[list->count++] = *it;
}

static bool take_codec(struct family *f, const char *value)
{
	for (f->codec = CODEC_NONE; f->codec < CODECS; f->codec++)
		if (strcmp(codec_name(f->codec), value) == 0)
			return true;
	return false;
}

static bool take_bloom(struct family *f, const char *value)
{
	for (f->bloom = BLOOM_NONE; f->bloom < BLOOM_ROWPREFIX; f->bloom++)
		if (strcmp(bloom_name(f->bloom), value) == 0)
			return true;
	return strcmp(bloom_name(f->bloom), value) == 0;
}

/* Set the member of an attribute in normal form. Returns false if saltmill cannot write the value. */
static bool take_own(struct family *f, const char *key, const char *value)
{
	int32_t number = (int32_t)strtol(value, NULL, 10);

	if (strcmp(key, "VERSIONS") == 0)
		f->versions = number;
	else if (strcmp(key, "MIN_VERSIONS") == 0)
		f->min_versions = number;
	else if (strcmp(key, "TTL") == 0)
		f->ttl_s = number;
	else if (strcmp(key, "BLOCKSIZE") == 0)
		f->block_bytes = (uint32_t)number;
	else if (strcmp(key, "IN_MEMORY") == 0)
		f->in_memory = strcmp(value, "true") == 0;
	else if (strcmp(key, "COMPRESSION") == 0)
		return take_codec(f, value);
	else if (strcmp(key, "DATA_BLOCK_ENCODING") == 0)
		return encoding_named(value, &f->encoding);
	else
		return take_bloom(f, value);
	return true;
}

/* Take an attribute. Attributes that the shell does not know become METADATA. */
static int take_item(enum attribute_scope scope, const struct attribute *it, struct family *f,
		     struct attributes *more, struct attributes *metadata, struct arena *a,
		     struct error *err)
{
	const struct attribute_def *d = attribute_find(scope, it->key);
	struct attribute normal = {.key = it->key, .value = it->value, .quoted = true};

	if (!d) {
		keep(metadata, &normal, a);
		return RC_OK;
	}
	if (d->kind == KIND_REFUSED)
		return RC_OK;
	int rc = attribute_read(d, it->value, a, &normal, err);
	if (rc)
		return rc;
	if (d->kind == KIND_COPROCESSOR)
		normal.key = it->key;
	if (!d->own_field)
		keep(more, &normal, a);
	else if (!take_own(f, d->name, normal.value))
		return error_set(err, RC_CONFIG,
				 "found %s %s, which saltmill cannot write; see `saltmill help "
				 "compression`",
				 d->name, normal.value);
	return RC_OK;
}

static void quote_all(struct attributes *to, const struct attributes *from, struct arena *a)
{
	for (size_t i = 0; i < from->count; i++) {
		struct attribute it = from->item[i];

		it.quoted = true;
		keep(to, &it, a);
	}
}

static int take_family(struct family *f, const struct described *d, struct arena *a,
		       struct error *err)
{
	int rc = RC_OK;

	*f = family_default(d->name);
	for (size_t i = 0; rc == RC_OK && i < d->items.count; i++)
		rc = take_item(SCOPE_FAMILY, &d->items.item[i], f, &f->more, &f->metadata, a, err);
	quote_all(&f->configuration, &d->configuration, a);
	quote_all(&f->metadata, &d->metadata, a);
	return rc ? error_prefix(err, "family %s: ", d->name) : RC_OK;
}

int table_of_description(struct table *t, const char *name, const struct description *d,
			 struct arena *a, struct error *err)
{
	struct pos at;
	int rc = RC_OK;

	*t = (struct table){.name = name};
	t->families = arena_alloc(a, (d->nfamilies + 1) * sizeof *t->families);
	for (size_t i = 0; rc == RC_OK && i < d->nfamilies; i++)
		rc = take_family(&t->families[t->nfamilies++], &d->families[i], a, err);
	for (size_t i = 0; rc == RC_OK && i < d->table.items.count; i++)
		if (strcmp(d->table.items.item[i].key, "IS_META") != 0)
			rc = take_item(SCOPE_TABLE, &d->table.items.item[i], NULL, &t->attributes,
				       &t->metadata, a, err);
	quote_all(&t->configuration, &d->table.configuration, a);
	quote_all(&t->metadata, &d->table.metadata, a);
	if (rc == RC_OK)
		rc = table_check(t, a, &at, err);
	return rc ? error_prefix(err, "table %s: ", name) : RC_OK;
}
