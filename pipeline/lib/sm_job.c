/*
 * sm_job.c - encode and decode the row keys of a job
 *
 * The code of model/ ends the process if memory is short. So each call runs in the handle's pool
 * (mem.h), which returns instead. Then the pool has freed all memory, and the handle is of no use.
 */
#include "lib.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "field.h"
#include "key.h"
#include "mem.h"

struct sm_job {
	struct mem_pool pool;
	struct error err;
	bool broken; /* after a lack of memory, or a failure of sm_job_open */
	/* all memory of these members is in the pool */
	struct job job;
	struct field_forms forms;
	struct key_table keys;
	struct key_values values;
	struct buf key;
	struct arena decoded; /* of the last sm_job_decode */
	struct key_piece *pieces;
	struct sm_field *fields; /* room for each part of the row key */
};

/* A call in the pool. `rc` is its result. */
struct job_call {
	struct sm_job *job;
	const char *path, *table;
	const struct sm_field *given;
	size_t count;
	struct bytes key;
	int rc;
};

static int no_job(struct sm_job *j)
{
	return j ? j->err.code : SM_MEMORY;
}

static int in_pool(struct job_call *c, void (*work)(void *call))
{
	struct sm_job *j = c->job;

	if (mem_pool_run(&j->pool, work, c))
		return c->rc;
	j->broken = true;
	return error_set(&j->err, RC_MEMORY, "out of memory; call sm_job_close");
}

static void open_job(void *call)
{
	struct job_call *c = call;
	struct sm_job *j = c->job;
	const struct job_table *table;

	c->rc = job_load(&j->job, c->path, &j->err);
	if (c->rc == RC_OK)
		c->rc = job_find_table(&j->job, c->table, &table, &j->err);
	if (c->rc == RC_OK)
		c->rc = field_forms_open(&j->forms, &j->job, &j->err);
	if (c->rc)
		return;
	key_table_open(&j->keys, &j->job, table);
	key_values_open(&j->values, &j->job, &j->forms);
	j->pieces = mem_calloc(table->nrowkey + 1, sizeof *j->pieces);
	j->fields = mem_calloc(table->nrowkey + 1, sizeof *j->fields);
}

/*
 * The job's time zones come from glibc, which knows only the zone in TZ (model/job/zone.c). So only
 * one job opens at a time, and a call that ends early gives TZ its value again.
 */
static int open_alone(struct job_call *c)
{
	static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&alone);
	const char *now = getenv("TZ");
	char *zone = now ? mem_try_strdup(now) : NULL;
	int rc = now && !zone ? error_memory(&c->job->err, strlen(now), "a time zone")
			      : in_pool(c, open_job);
	if (rc == RC_MEMORY && zone)
		setenv("TZ", zone, 1);
	else if (rc == RC_MEMORY && !now)
		unsetenv("TZ");
	if (rc == RC_MEMORY)
		tzset();
	mem_free(zone);
	pthread_mutex_unlock(&alone);
	return rc;
}

int sm_job_open(struct sm_job **out, const char *path, const char *table)
{
	struct sm_job *j = *out = mem_try_calloc(1, sizeof *j);

	if (!j)
		return SM_MEMORY;
	struct job_call c = {.job = j, .path = path, .table = table};
	int rc = open_alone(&c);
	j->broken = rc != RC_OK;
	return rc;
}

int sm_job_field(struct sm_job *j, size_t i, const char **name)
{
	if (!j || j->broken)
		return no_job(j);
	const struct key_schema *s = &j->keys.schema;
	for (size_t k = 0; k < s->nsteps; k++) {
		if (s->steps[k].kind != PART_FIELD || i--)
			continue;
		*name = s->steps[k].layout.title;
		return SM_OK;
	}
	return SM_END;
}

static void encode(void *call)
{
	struct job_call *c = call;
	struct sm_job *j = c->job;

	key_values_clear(&j->values);
	j->key.len = 0;
	c->rc = RC_OK;
	for (size_t i = 0; c->rc == RC_OK && i < c->count; i++)
		c->rc = key_values_give(&j->values, bytes_str(c->given[i].name),
					lib_in(c->given[i].text), &j->err);
	if (c->rc == RC_OK)
		c->rc = key_values_build(&j->values, &j->keys, &j->key, &j->err);
}

int sm_job_encode(struct sm_job *j, const struct sm_field *fields, size_t count,
		  struct sm_bytes *key)
{
	if (!j || j->broken)
		return no_job(j);
	struct job_call c = {.job = j, .given = fields, .count = count};
	int rc = in_pool(&c, encode);
	if (rc == RC_OK)
		*key = lib_out(buf_bytes(&j->key));
	return rc;
}

static void decode(void *call)
{
	struct job_call *c = call;
	struct sm_job *j = c->job;
	const struct key_schema *s = &j->keys.schema;
	struct buf text = {0};

	arena_release(&j->decoded);
	c->rc = key_decode(s, &j->forms, c->key, &j->decoded, j->pieces, &j->err);
	for (size_t i = 0; c->rc == RC_OK && i < s->nsteps; i++) {
		if (s->steps[i].kind != PART_FIELD)
			continue;
		text.len = 0;
		key_piece_text(&j->keys, i, &j->pieces[i].value, &text);
		j->fields[c->count++] =
			(struct sm_field){s->steps[i].layout.title,
					  {arena_strndup(&j->decoded, text.ptr, text.len),
					   text.len}};
	}
	buf_release(&text);
}

int sm_job_decode(struct sm_job *j, struct sm_bytes key, const struct sm_field **fields,
		  size_t *count)
{
	if (!j || j->broken)
		return no_job(j);
	struct job_call c = {.job = j, .key = lib_in(key)};
	int rc = in_pool(&c, decode);
	if (rc == RC_OK) {
		*fields = j->fields;
		*count = c.count;
	}
	return rc;
}

const char *sm_job_error(const struct sm_job *j)
{
	return j ? j->err.msg : "out of memory";
}

void sm_job_close(struct sm_job *j)
{
	if (!j)
		return;
	if (j->forms.c_locale)
		freelocale(j->forms.c_locale);
	mem_pool_release(&j->pool);
	mem_free(j);
}
