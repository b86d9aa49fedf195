#include "kept.h"

#include "clock.h"

#define FRESH_MS 60000

struct kept_live_table {
	struct kept_live_table *next;
	char *name;
	int64_t asked_ms;
	struct hbase_regions regions;
};

struct apply_kept *apply_kept_new(void)
{
	struct apply_kept *k = mem_calloc(1, sizeof *k);

	pthread_mutex_init(&k->lock, NULL);
	return k;
}

void apply_kept_free(struct apply_kept *k)
{
	if (!k)
		return;
	kept_drop(k);
	pthread_mutex_destroy(&k->lock);
	mem_free(k);
}

static void drop_table(struct kept_live_table **at)
{
	struct kept_live_table *t = *at;

	*at = t->next;
	hbase_regions_release(&t->regions);
	mem_free(t->name);
	mem_free(t);
}

static void close_storage(struct apply_kept *k)
{
	storage_close(k->storage);
	k->storage = NULL;
	mem_free(k->uri);
	k->uri = NULL;
	k->place_ms = 0;
}

void kept_drop(struct apply_kept *k)
{
	while (k->tables)
		drop_table(&k->tables);
	close_storage(k);
	hbase_status_release(&k->status);
	k->status_ms = 0;
	hbase_close(k->hbase);
	k->hbase = NULL;
}

int kept_open(struct apply_kept *k, const struct apply_options *opt, struct error *err)
{
	struct hbase_failure why;

	if (k->hbase && hbase_is_same(k->hbase))
		return RC_OK;
	kept_drop(k);
	return hbase_open(&k->hbase, opt->servers, opt->user, &why, err);
}

bool kept_fresh(int64_t then_ms)
{
	return then_ms && clock_ms() - then_ms < FRESH_MS;
}

int kept_storage(struct apply_kept *k, const char *uri, const struct storage_options *opt,
		 struct error *err)
{
	if (k->storage && strcmp(k->uri, uri) == 0)
		return RC_OK;
	close_storage(k);
	int rc = storage_open(&k->storage, uri, opt, err);
	if (rc == RC_OK)
		k->uri = mem_strdup(uri);
	return rc;
}

/* --- regions --- */

static struct bytes copy_bytes(struct arena *a, struct bytes b)
{
	uint8_t *p = arena_alloc(a, b.len + 1);

	if (b.len)
		memcpy(p, b.ptr, b.len);
	return bytes_of(p, b.len);
}

static void copy_regions(struct hbase_regions *out, const struct hbase_regions *in)
{
	*out = (struct hbase_regions){.count = in->count};
	out->item = mem_calloc(in->count + 1, sizeof *out->item);
	for (size_t i = 0; i < in->count; i++) {
		const struct hbase_region *r = &in->item[i];

		out->item[i] = (struct hbase_region){.start = copy_bytes(&out->arena, r->start),
						     .end = copy_bytes(&out->arena, r->end),
						     .name = copy_bytes(&out->arena, r->name),
						     .place = r->place};
	}
	out->nparents = in->nparents;
	out->parents = arena_alloc(&out->arena, (in->nparents + 1) * sizeof *out->parents);
	for (size_t i = 0; i < in->nparents; i++)
		out->parents[i] = copy_bytes(&out->arena, in->parents[i]);
}

static struct kept_live_table **find(struct apply_kept *k, const char *table)
{
	struct kept_live_table **at = &k->tables;

	while (*at && strcmp((*at)->name, table) != 0)
		at = &(*at)->next;
	return at;
}

/* Returns true if each region has a server. apply does not keep other lists, because such lists
 * soon change. */
static bool all_served(const struct hbase_regions *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (!r->item[i].place.host[0])
			return false;
	return true;
}

static void keep(struct apply_kept *k, const char *table, const struct hbase_regions *r,
		 int64_t asked_ms)
{
	struct kept_live_table *t = mem_calloc(1, sizeof *t);

	t->name = mem_strdup(table);
	t->asked_ms = asked_ms;
	copy_regions(&t->regions, r);
	pthread_mutex_lock(&k->lock);
	struct kept_live_table **at = find(k, table);
	if (*at)
		drop_table(at);
	t->next = k->tables;
	k->tables = t;
	pthread_mutex_unlock(&k->lock);
}

int kept_regions(struct apply_kept *k, const char *table, struct hbase_regions *out,
		 struct hbase_failure *why, struct error *err)
{
	pthread_mutex_lock(&k->lock);
	const struct kept_live_table *t = *find(k, table);
	bool known = t && kept_fresh(t->asked_ms);
	if (known)
		copy_regions(out, &t->regions);
	pthread_mutex_unlock(&k->lock);
	if (known)
		return RC_OK;
	int64_t asked_ms = clock_ms();
	int rc = hbase_regions(k->hbase, table, out, why, err);
	if (rc == RC_OK && all_served(out))
		keep(k, table, out, asked_ms);
	return rc;
}

void kept_moved(struct apply_kept *k, const char *table)
{
	pthread_mutex_lock(&k->lock);
	struct kept_live_table **at = find(k, table);
	if (*at)
		drop_table(at);
	pthread_mutex_unlock(&k->lock);
}
