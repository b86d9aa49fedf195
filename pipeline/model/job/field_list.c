/* field_list.c - the list of fields, which grows with each new name in the job (sections.h) */
#include "sections.h"

struct field *field_add(struct reader *r, const char *name, struct pos pos)
{
	struct job *job = r->job;

	job->fields = arena_grow(&job->arena, job->fields, job->nfields, sizeof *job->fields);
	struct field *f = &job->fields[job->nfields++];
	*f = (struct field){.name = name, .pos = pos, .ncolumns = 1};
	f->columns = arena_alloc(&job->arena, sizeof *f->columns);
	f->columns[0] = name;
	return f;
}

size_t field_use(struct reader *r, const char *name, struct pos pos)
{
	size_t i = 0;

	while (i < r->job->nfields && strcmp(r->job->fields[i].name, name) != 0)
		i++;
	if (i == r->job->nfields)
		field_add(r, name, pos);
	return i;
}

int read_field_use(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc)
		return rc;
	size_t i = field_use(r, name, n->pos);
	memcpy(slot, &i, sizeof i);
	return RC_OK;
}
