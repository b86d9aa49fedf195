/* table_names.c - names of tables in the job file (sections.h) */
#include "sections.h"

/* Remove HBase's default namespace, because `t` is the same as `default:t`. */
const char *without_default(const char *name)
{
	static const char prefix[] = "default:";

	return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

int read_table_use(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc)
		return rc;
	for (size_t i = 0; i < r->job->ntables; i++)
		if (strcmp(without_default(r->job->tables[i].schema.name), without_default(name)) ==
		    0) {
			memcpy(slot, &i, sizeof i);
			return RC_OK;
		}
	return fault(r, n->pos,
		     "%s: found `%.60s`, expected a table listed above this one, because load "
		     "publishes that table first",
		     key->name, name);
}
