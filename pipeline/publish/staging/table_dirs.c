/* table_dirs.c - the folders of a table's files in a load, a plan, and the result of a reduce */
#include <string.h>

#include "io.h"
#include "mem.h"
#include "publish.h"

char *table_dir(const char *root, const char *name)
{
	char *dir = mem_format("%s/%s", root, name), *colon = strchr(dir + strlen(root), ':');

	if (colon)
		*colon = '/';
	return dir;
}

/*
 * Return true if `name` is a file or folder that a load writes beside or inside the tables'
 * folders.
 */
static bool is_own_name(const char *name)
{
	static const char *const beside[] = {"manifest.json", "rejects.jsonl", "plan.json",
					     "settings.json", "report.json"};
	static const char *const inside[] = {"hfiles", "create.rb", "splits.txt"};
	const char *colon = strchr(name, ':'), *const *own = colon ? inside : beside;
	size_t n = colon ? sizeof inside / sizeof *inside : sizeof beside / sizeof *beside;

	for (size_t i = 0; i < n; i++)
		if (strcmp(colon ? colon + 1 : name, own[i]) == 0)
			return true;
	return false;
}

static int refuse_own_name(const char *name, struct error *err)
{
	if (!is_own_name(name))
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"table %s: the table's folder would replace a file of the load; choose another "
		"table name",
		name);
}

int table_make_dir_at(struct storage *s, const char *dir, const char *name, struct error *err)
{
	int rc = refuse_own_name(name, err);

	return rc ? rc : storage_make_dirs(s, dir, 0, err);
}

int table_make_dir(const char *dir, const char *name, struct error *err)
{
	struct error ignored;
	int rc = refuse_own_name(name, err);

	if (rc)
		return rc;
	if (strchr(name, ':')) {
		char *parent = mem_strdup(dir);

		*strrchr(parent, '/') = 0;
		io_make_dir(parent, &ignored); /* two tables may share a namespace */
		mem_free(parent);
	}
	return io_make_dir(dir, err);
}
