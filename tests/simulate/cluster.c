/*
 * cluster.c - simulates an HBase cluster in place of the connections to a cluster (hbase/rpc/rpc.h)
 *
 * The cluster has a master, two region servers and one table. A bulk load moves its files into the
 * token's folder, and then into the region's folder. A server may do a bulk load late, half,
 * without an answer, or with a wrong answer. Regions split and move, and servers restart.
 */
#include <stdio.h>
#include <string.h>

#include "cluster.h"

/* --- the table --- */

void cluster_make_region(const char *start, const char *end)
{
	struct cluster *c = W->cluster;
	char path[200];

	if (c->nregions == REGIONS)
		sim_violate("too many regions");
	struct region *r = &c->region[c->nregions++];
	*r = (struct region){.server = 1 + (int)sim_below(2)};
	snprintf(r->start, sizeof r->start, "%s", start);
	snprintf(r->end, sizeof r->end, "%s", end);
	snprintf(r->encoded, sizeof r->encoded, "%032llx", (unsigned long long)++c->made);
	snprintf(r->name, sizeof r->name, "t,%s,%llu.%032llx.", start, (unsigned long long)c->made,
		 (unsigned long long)c->made);
	snprintf(path, sizeof path, DATA "/%s/f", r->encoded);
	hdfs_make(path, true);
}

void cluster_begin(int regions)
{
	(void)regions;
	W->cluster = sim_new(sizeof *W->cluster);
}

struct region *cluster_region(struct bytes name)
{
	for (size_t i = 0; i < W->cluster->nregions; i++) {
		struct region *r = &W->cluster->region[i];

		if (bytes_eq(name, bytes_str(r->name)))
			return r;
	}
	return NULL;
}

/* A file that comes into a region stays in the table. */
static bool take_in(const char *path, const char *encoded)
{
	struct cluster *c = W->cluster;
	struct hdfs_node *n = hdfs_find(path);
	char to[200];

	if (!n)
		return false;
	snprintf(to, sizeof to, DATA "/%s/f/%llu_SeqId_1_", encoded, (unsigned long long)++c->made);
	if (c->nloaded == LOADED)
		sim_violate("too many files");
	c->loaded[c->nloaded].data = n->data;
	c->loaded[c->nloaded].size = n->size;
	c->loaded[c->nloaded++].path = n->path;
	if (n->damaged)
		sim_violate("%s comes into the table, and HDFS damaged it", path);
	sim_say("  into the table: %s", path);
	return hdfs_rename(path, to);
}

static bool stage(const char *path, const char *token)
{
	char to[700];

	snprintf(to, sizeof to, "%s/f", token);
	hdfs_make(to, true);
	snprintf(to, sizeof to, "%s/f%s", token, strrchr(path, '/'));
	sim_say("  staged: %s", to);
	return hdfs_rename(path, to);
}

static bool all_there(const struct late_call *l)
{
	for (int i = 0; i < l->n; i++)
		if (!hdfs_find(l->path[i]))
			return false;
	return hdfs_find(l->token);
}

bool cluster_do(const struct late_call *l)
{
	if (!all_there(l))
		return false;
	for (int i = 0; i < l->n; i++)
		take_in(l->path[i], l->region);
	return true;
}

void cluster_do_half(const struct late_call *l, bool first_in)
{
	if (!all_there(l))
		return;
	if (first_in)
		take_in(l->path[0], l->region);
	for (int i = first_in; i < (first_in ? l->n : 1); i++)
		stage(l->path[i], l->token);
}

static bool is_open(const char *encoded)
{
	for (size_t i = 0; i < W->cluster->nregions; i++) {
		const struct region *r = &W->cluster->region[i];

		if (strcmp(r->encoded, encoded) == 0)
			return !r->parent && r->opens <= W->now;
	}
	return false;
}

void cluster_due(void)
{
	for (int i = 0; i < LATE; i++) {
		struct late_call *l = &W->cluster->late[i];

		if (!l->there || l->at > W->now)
			continue;
		l->there = false;
		sim_note("a late call is done", (uint64_t)i, 0);
		if (is_open(l->region))
			cluster_do(l);
	}
}

void cluster_settle(void)
{
	for (int i = 0; i < LATE; i++)
		if (W->cluster->late[i].there && W->cluster->late[i].at > W->now + 20 * SIM_S)
			W->cluster->late[i].at = W->now + (int64_t)sim_below(20) * SIM_S;
}

void cluster_each(void (*see)(void *ctx, const char *path, const uint8_t *data, size_t size),
		  void *ctx)
{
	for (size_t i = 0; i < W->cluster->nloaded; i++)
		see(ctx, W->cluster->loaded[i].path, W->cluster->loaded[i].data,
		    W->cluster->loaded[i].size);
}

/* Move the files of a region to the archive, as a compaction or the end of a split does. */
static void compact(const struct region *r)
{
	char top[200], to[400];
	size_t n = (size_t)snprintf(top, sizeof top, DATA "/%s/f/", r->encoded);

	for (struct hdfs_node *f = hdfs_first(); f; f = f->next)
		if (strncmp(f->path, top, n) == 0) {
			snprintf(to, sizeof to, ARCHIVE "/%s/f", r->encoded);
			hdfs_make(to, true);
			snprintf(to, sizeof to, ARCHIVE "/%s/f/%s", r->encoded, f->path + n);
			f->path = sim_text(to);
		}
	sim_note("compacted", 0, 0);
}

void cluster_stir(void)
{
	struct cluster *c = W->cluster;

	cluster_due();
	if (!c->nregions)
		return;
	struct region *r = &c->region[sim_below(c->nregions)];
	uint64_t what = sim_below(5);
	sim_note("stir", what, 0);
	if (what == 0 && !r->parent && c->nregions + 2 < REGIONS) {
		char middle[40];

		snprintf(middle, sizeof middle, "%d-%d", (int)sim_below(4), (int)sim_below(60));
		if (strcmp(middle, r->start) <= 0 || (*r->end && strcmp(middle, r->end) >= 0))
			return;
		size_t before = c->nregions;
		cluster_make_region(r->start, middle);
		cluster_make_region(middle, r->end);
		r->parent = true;
		compact(r);
		c->region[before].opens = c->region[before + 1].opens =
			W->now + (int64_t)sim_below(3000) * SIM_MS;
	} else if (what == 1) {
		r->server = 3 - r->server;
		r->opens = W->now + (int64_t)sim_below(2000) * SIM_MS;
	} else if (what == 2) {
		c->down_until[sim_below(SERVERS)] = W->now + (int64_t)sim_below(20000) * SIM_MS;
	} else if (what == 3 && !r->parent) {
		compact(r);
	}
}
