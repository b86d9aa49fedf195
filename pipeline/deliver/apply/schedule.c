#include "schedule.h"

#include <stdlib.h>

#define CALLS_A_SERVER 2

struct placed {
	struct hand_file *file;
	size_t region;
};

static int by_region(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return (x->file > y->file) - (x->file < y->file);
}

static bool same_server(const struct hbase_region *a, const struct hbase_region *b)
{
	return a->place.port == b->place.port && strcmp(a->place.host, b->place.host) == 0;
}

/* Numbers each server by the first group whose region is on that server. */
static void count_servers(struct schedule *s)
{
	s->at_server = mem_calloc(s->ngroups + 1, sizeof *s->at_server);
	s->calls = mem_calloc(s->ngroups + 1, sizeof *s->calls);
	for (size_t i = 0; i < s->ngroups; i++) {
		size_t k = 0;

		while (!same_server(s->groups[k].region, s->groups[i].region))
			k++;
		s->at_server[i] = k;
	}
}

void schedule_make(struct schedule *s, struct handover *h, const struct hbase_regions *r)
{
	struct placed *p = mem_calloc(h->nfiles + 1, sizeof *p);
	size_t n = 0;

	*s = (struct schedule){.ctx = h};
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->free, NULL);
	for (size_t i = 0; i < h->nfiles; i++) {
		if (h->files[i].state != HAND_READY || h->files[i].later ||
		    !handover_region(r, &h->files[i], &p[n].region))
			continue;
		p[n++].file = &h->files[i];
	}
	if (n)
		qsort(p, n, sizeof *p, by_region);
	s->groups = mem_calloc(n + 1, sizeof *s->groups);
	s->ready = mem_calloc(n + 1, sizeof(struct hand_file *));
	for (size_t i = 0; i < n; i++) {
		s->ready[i] = p[i].file;
		if (i == 0 || p[i].region != p[i - 1].region)
			s->groups[s->ngroups++] = (struct group){.region = &r->item[p[i].region],
								 .files = &s->ready[i]};
		s->groups[s->ngroups - 1].n++;
	}
	mem_free(p);
	count_servers(s);
}

void schedule_release(struct schedule *s)
{
	if (!s->ctx)
		return;
	mem_free(s->groups);
	mem_free(s->ready);
	mem_free(s->at_server);
	mem_free(s->calls);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->free);
	*s = (struct schedule){0};
}

struct group *schedule_take(struct schedule *s)
{
	struct group *out = NULL;

	pthread_mutex_lock(&s->lock);
	while (!out) {
		for (size_t i = 0; i < s->ngroups && !out; i++)
			if (!s->groups[i].taken && s->calls[s->at_server[i]] < CALLS_A_SERVER)
				out = &s->groups[i];
		if (!out)
			pthread_cond_wait(&s->free, &s->lock);
	}
	out->taken = true;
	s->calls[s->at_server[out - s->groups]]++;
	pthread_mutex_unlock(&s->lock);
	return out;
}

void schedule_give(struct schedule *s, struct group *g)
{
	pthread_mutex_lock(&s->lock);
	s->calls[s->at_server[g - s->groups]]--;
	pthread_cond_broadcast(&s->free);
	pthread_mutex_unlock(&s->lock);
}
