/* rekey_known.c - find the files that an earlier state of the table has, too */
#include <stdlib.h>
#include <string.h>

#include "rewrite.h"

/* Return the name that a region server gave the file, without the parts of a link or a reference. */
static struct bytes id_of(const char *name)
{
	const char *id = name + strlen(name);

	while (id > name && id[-1] != '/' && id[-1] != '-')
		id--;
	return bytes_of(id, strcspn(id, "."));
}

static int by_id(const void *a, const void *b)
{
	return bytes_cmp(*(const struct bytes *)a, *(const struct bytes *)b);
}

void rekey_mark_known(struct rewrite *r)
{
	const struct published *before = r->opt->rekey->before;
	size_t n = before ? before->nfiles : 0;
	struct bytes *ids = mem_calloc(n + 1, sizeof *ids);

	for (size_t i = 0; i < n; i++)
		ids[i] = id_of(before->files[i].name);
	qsort(ids, n, sizeof *ids, by_id);
	for (size_t i = 0; i < r->ninputs; i++) {
		const struct bytes id = id_of(r->inputs[i].file->name);

		r->inputs[i].known = bsearch(&id, ids, n, sizeof *ids, by_id) != NULL;
	}
	mem_free(ids);
}
