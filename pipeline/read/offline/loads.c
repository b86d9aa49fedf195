/* loads.c - published loads without their job; create.rb has the rules of the families */
#include <string.h>

#include "io.h"
#include "offline.h"
#include "publish.h"

#define SCRIPT_MOST ((size_t)64 << 20)

/* Find the table in a manifest. Without a name, the load must have one table. */
static int find_table(const struct manifest *m, const char *dir, const char *name,
		      const struct manifest_table **out, struct error *err)
{
	for (size_t i = 0; i < m->ntables; i++) {
		*out = &m->tables[i];
		if (name ? strcmp((*out)->name, name) == 0 : m->ntables == 1)
			return RC_OK;
	}
	if (name)
		return error_set(err, RC_CONFIG, "%s: found no table %s in the load", dir, name);
	return error_set(err, RC_CONFIG,
			 "%s: found %zu tables in the load, expected one; name one with --table, "
			 "such as `--table %s`",
			 dir, m->ntables, m->ntables ? m->tables[0].name : "NAME");
}

static int read_script(struct offline *o, const char *dir, const struct manifest_table *t,
		       struct error *err)
{
	char *folder = t->dir ? mem_format("%s/%s", dir, t->dir) : table_dir(dir, t->name);
	const char *path = arena_format(o->a, "%s/create.rb", folder);
	struct buf text = {0};
	int rc = io_read_file_upto(path, SCRIPT_MOST, &text, err);

	if (rc == RC_OK)
		rc = description_of_script(&o->description, o->a, path, buf_bytes(&text), err);
	buf_release(&text);
	mem_free(folder);
	return rc;
}

static void take_regions(struct offline *o, const struct manifest_table *t)
{
	struct bytes *keys = arena_alloc(o->a, (t->nregions + 1) * sizeof *keys);

	for (size_t i = 1; i < t->nregions; i++)
		keys[i - 1] = t->regions[i].start;
	offline_describe(o, t->nregions, keys);
}

int offline_open_loads(struct published *out, const char *table, const char *const *dirs,
		       size_t ndirs, struct error *err)
{
	struct offline o = {.out = out, .a = &out->arena, .table = table};
	const char *newest = ndirs ? dirs[ndirs - 1] : "";
	const struct manifest_table *t = NULL;
	struct manifest m;

	*out = (struct published){0};
	int rc = manifest_read(&m, arena_format(o.a, "%s/manifest.json", newest), o.a, err);
	if (rc == RC_OK)
		rc = find_table(&m, newest, table, &t, err);
	if (rc == RC_OK) {
		o.table = t->name;
		rc = read_script(&o, newest, t, err);
	}
	if (rc == RC_OK)
		rc = offline_take_families(&o, err);
	if (rc == RC_OK)
		take_regions(&o, t);
	for (size_t i = 0; rc == RC_OK && i < ndirs; i++)
		rc = published_add_load(out, o.table, dirs[i], i, err);
	if (rc)
		published_release(out);
	return rc;
}
