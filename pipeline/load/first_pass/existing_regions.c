#include "pass.h"

#include "io.h"
#include "live_regions.h"

void existing_regions_add(struct existing_regions *l, const char *spec)
{
	l->specs = mem_grow(l->specs, l->nspecs, sizeof *l->specs);
	l->specs[l->nspecs++] = spec;
}

static size_t table_index(const struct job *job, const char *name, size_t len)
{
	size_t i = 0;

	while (i < job->ntables && (strlen(job->tables[i].schema.name) != len ||
				    memcmp(job->tables[i].schema.name, name, len) != 0))
		i++;
	return i;
}

/*
 * Find the table to which the regions belong. Set `*out` to the table's index, or to `job->ntables`
 * if the table is unknown.
 */
static int choose_table(const struct job *job, const char *file, size_t named,
			const struct existing *e, size_t *out, struct error *err)
{
	size_t printed = e->table ? table_index(job, e->table, strlen(e->table)) : job->ntables;

	*out = named < job->ntables ? named
	       : e->table	    ? printed
	       : job->ntables == 1  ? 0
				    : job->ntables;
	if (e->table && (printed == job->ntables || printed != *out))
		return error_set(err, RC_CONFIG,
				 "%s: found the regions of table %s, expected those of %s", file,
				 e->table,
				 *out < job->ntables ? job->tables[*out].schema.name
						     : "a table of the job");
	if (*out == job->ntables)
		return error_set(err, RC_CONFIG,
				 "found several tables in %s, expected the name "
				 "of a table; write --existing TABLE=%s",
				 job->path, file);
	return RC_OK;
}

static int read_one(struct existing_regions *l, const struct job *job, const char *spec,
		    struct error *err)
{
	const char *equals = strchr(spec, '='), *file = spec;
	size_t named = equals ? table_index(job, spec, (size_t)(equals - spec)) : job->ntables,
	       t = 0;
	struct buf text = {0};
	struct existing e = {0};

	if (named < job->ntables)
		file = equals + 1;
	int rc = io_read_file(file, &text, err);
	if (rc == RC_OK)
		rc = existing_parse(&e, file, buf_bytes(&text), err);
	if (rc == RC_OK)
		rc = choose_table(job, file, named, &e, &t, err);
	if (rc == RC_OK && l->given[t])
		rc = error_set(err, RC_CONFIG,
			       "found --existing twice for table %s, expected "
			       "it once",
			       job->tables[t].schema.name);
	if (rc == RC_OK) {
		l->tables[t] = e;
		l->given[t] = true;
	} else {
		existing_release(&e);
	}
	buf_release(&text);
	return rc;
}

int existing_regions_read(struct existing_regions *l, struct job *job, struct error *err)
{
	int rc = RC_OK;

	l->ntables = job->ntables;
	l->tables = mem_calloc(job->ntables, sizeof *l->tables);
	l->given = mem_calloc(job->ntables, sizeof *l->given);
	l->requests = mem_calloc(job->ntables, sizeof *l->requests);
	for (size_t i = 0; rc == RC_OK && i < l->nspecs; i++)
		rc = read_one(l, job, l->specs[i], err);
	if (rc == RC_OK && l->servers && l->nspecs)
		rc = error_set(err, RC_CONFIG,
			       "found both --existing and --hbase, expected one source of the "
			       "regions; remove one option");
	return rc || !l->servers ? rc : live_regions_read(l, job, err);
}

const struct existing *existing_regions_table(const struct existing_regions *l, size_t table)
{
	return l && l->given && l->given[table] ? &l->tables[table] : NULL;
}

void existing_regions_release(struct existing_regions *l)
{
	for (size_t i = 0; i < l->ntables; i++)
		existing_release(&l->tables[i]);
	for (size_t t = 0; t < l->ntables && l->requests; t++)
		mem_free(l->requests[t]);
	mem_free(l->requests);
	mem_free(l->tables);
	mem_free(l->given);
	mem_free(l->specs);
	*l = (struct existing_regions){0};
}
