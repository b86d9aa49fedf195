#include "stream.h"

#include <stdlib.h>
#include <string.h>

static int open_one(struct state_view *v, const char *dir, const char *prefix, bool write,
		    struct error *err)
{
	int rc = state_open(&v->states[v->n], dir, write, err);

	if (rc == RC_OK)
		v->prefixes[v->n++] = mem_strdup(prefix);
	return rc;
}

static int open_partition(struct state_view *v, const char *dir, int32_t p, bool write,
			  struct error *err)
{
	char *folder = shared_dir(dir, p), *prefix = mem_format("p%05d/", p);
	int rc = open_one(v, folder, prefix, write, err);

	mem_free(prefix);
	mem_free(folder);
	return rc;
}

int state_view_open(struct state_view *v, const char *dir, int32_t only, bool write,
		    struct error *err)
{
	*v = (struct state_view){.shared.lock_fd = -1};
	int rc = shared_is(dir, &v->is_shared, err);
	if (rc == RC_OK && v->is_shared)
		rc = shared_open(&v->shared, dir, false, err);
	int32_t n = v->is_shared && only == VIEW_ALL ? v->shared.topic.npartitions : 1;
	v->states = mem_calloc((size_t)n + 1, sizeof *v->states);
	v->prefixes = mem_calloc((size_t)n + 1, sizeof *v->prefixes);
	if (rc)
		return rc;
	if (!v->is_shared)
		return open_one(v, dir, "", write, err);
	if (only != VIEW_ALL && only >= v->shared.topic.npartitions)
		return error_set(err, RC_CONFIG,
				 "%s has the partitions 0 to %d, found partition %d", dir,
				 v->shared.topic.npartitions - 1, only);
	for (int32_t p = 0; rc == RC_OK && p < n; p++)
		rc = open_partition(v, dir, only == VIEW_ALL ? p : only, write, err);
	return rc;
}

void state_view_close(struct state_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		state_close(v->states[i]);
		mem_free(v->prefixes[i]);
	}
	mem_free(v->states);
	mem_free(v->prefixes);
	shared_close(&v->shared);
}

/*
 * Order loads by their wall-clock times, because loads of several partitions have no other common
 * order. Loads of the same time keep their order.
 */
static int by_time(const void *a, const void *b)
{
	const struct state_view_load *x = a, *y = b;

	if (x->load->published_ms != y->load->published_ms)
		return x->load->published_ms < y->load->published_ms ? -1 : 1;
	int order = strcmp(x->prefix, y->prefix);
	return order ? order : strcmp(x->load->name, y->load->name);
}

int state_view_loads(const struct state_view *v, struct state_view_load **out, size_t *n,
		     struct error *err)
{
	struct state_view_load *all = NULL;
	size_t cap = 0;
	int rc = RC_OK;

	*n = 0;
	for (size_t i = 0; rc == RC_OK && i < v->n; i++) {
		size_t more;

		rc = state_read_all(v->states[i], err);
		const struct state_load *l = state_loads(v->states[i], &more);
		all = mem_reserve(all, &cap, *n + more, sizeof *all);
		for (size_t j = 0; j < more; j++)
			all[(*n)++] = (struct state_view_load){v->prefixes[i], &l[j]};
	}
	if (v->is_shared && *n)
		qsort(all, *n, sizeof *all, by_time);
	*out = all;
	return rc;
}
