/*
 * description.c - build and compare table descriptions, and read them from a create-table script
 *
 * A published load contains this script. `apply` creates the table without the shell, and reads the
 * table's description from the script.
 */
#include "ddl.h"

#include "attributes.h"

/* --- building --- */

void attributes_add(struct arena *a, struct attributes *list, const char *key, const char *value)
{
	list->item = arena_grow(a, list->item, list->count, sizeof *list->item);
	list->item[list->count++] = (struct attribute){.key = key, .value = value, .quoted = true};
}

const char *attributes_get(const struct attributes *list, const char *key)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->item[i].key, key) == 0)
			return list->item[i].value;
	return NULL;
}

const struct described *description_family(const struct description *d, const char *name)
{
	for (size_t i = 0; i < d->nfamilies; i++)
		if (strcmp(d->families[i].name, name) == 0)
			return &d->families[i];
	return NULL;
}

void description_add_family(struct description *d, struct arena *a, const struct described *f)
{
	d->families = arena_grow(a, d->families, d->nfamilies, sizeof *d->families);
	d->families[d->nfamilies++] = *f;
}

/* --- comparing --- */

bool attribute_same(const struct attribute_def *d, const struct attribute *want, const char *there,
		    struct arena *a)
{
	struct attribute normal;
	struct error ignored;

	if (!there)
		return d->initial && strcmp(d->initial, want->value) == 0;
	if (attribute_read(d, there, a, &normal, &ignored) != RC_OK)
		return false;
	return strcmp(normal.value, want->value) == 0;
}

/* Return the value of `key`. A cluster's descriptor may have the pair in either list. */
static const char *said(const struct described *have, const char *key)
{
	const struct attributes *lists[] = {&have->items, &have->configuration, &have->metadata};
	const char *value = NULL;

	for (size_t i = 0; i < 3 && !value; i++)
		value = attributes_get(lists[i], key);
	return value;
}

static void differ(struct table_differences *out, struct arena *a,
		   const struct table_difference *one)
{
	out->item = arena_grow(a, out->item, out->count, sizeof *out->item);
	out->item[out->count++] = *one;
}

static void compare(struct table_differences *out, enum attribute_scope scope,
		    const struct described *want, const struct described *have, struct arena *a)
{
	const struct attributes *lists[] = {&want->items, &want->configuration, &want->metadata};

	for (size_t l = 0; l < 3; l++) {
		for (size_t i = 0; i < lists[l]->count; i++) {
			struct attribute it = lists[l]->item[i];
			struct error ignored;
			const struct attribute_def *d = l ? NULL : attribute_find(scope, it.key);
			const char *there = said(have, it.key);

			if (strncmp(it.key, "coprocessor$", 12) == 0)
				continue;
			if (d && attribute_read(d, it.value, a, &it, &ignored) == RC_OK
				    ? attribute_same(d, &it, there, a)
				    : there && strcmp(there, it.value) == 0)
				continue;
			differ(out, a,
			       &(struct table_difference){.family = want->name,
							  .key = it.key,
							  .want = it.value,
							  .have = there,
							  .configuration = l == 1});
		}
	}
}

void description_compare(struct table_differences *out, const struct description *want,
			 const struct description *have, struct arena *a)
{
	*out = (struct table_differences){0};
	for (size_t i = 0; i < want->nfamilies; i++) {
		const struct described *f = description_family(have, want->families[i].name);

		if (f)
			compare(out, SCOPE_FAMILY, &want->families[i], f, a);
		else
			differ(out, a,
			       &(struct table_difference){.family = want->families[i].name});
	}
	compare(out, SCOPE_TABLE, &want->table, &have->table, a);
}

static void set(struct described *d, const struct table_difference *t, struct arena *a)
{
	struct attributes *lists[] = {&d->items, &d->configuration, &d->metadata};

	for (size_t l = 0; l < 3; l++)
		for (size_t i = 0; i < lists[l]->count; i++)
			if (strcmp(lists[l]->item[i].key, t->key) == 0) {
				lists[l]->item[i].value = t->want;
				return;
			}
	attributes_add(a, t->configuration ? &d->configuration : &d->items, t->key, t->want);
}

void description_mend(struct description *d, const struct description *want,
		      const struct table_differences *differences, struct arena *a)
{
	for (size_t i = 0; i < differences->count; i++) {
		const struct table_difference *t = &differences->item[i];

		if (!t->family)
			set(&d->table, t, a);
		else if (!t->key)
			description_add_family(d, a, description_family(want, t->family));
		for (size_t f = 0; t->family && t->key && f < d->nfamilies; f++)
			if (strcmp(d->families[f].name, t->family) == 0)
				set(&d->families[f], t, a);
	}
}
