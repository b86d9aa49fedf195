/* order_regions.c - the regions of a table that together have all row keys */
#include <stdlib.h>

#include "offline.h"

static int by_start(const void *a, const void *b)
{
	const struct disk_region *x = &((const struct offline_region *)a)->info;
	const struct disk_region *y = &((const struct offline_region *)b)->info;
	int c = bytes_cmp(x->start, y->start);

	return c ? c : (x->id > y->id) - (x->id < y->id);
}

static bool ends_after(const struct disk_region *r, struct bytes row)
{
	return !r->end.len || bytes_cmp(r->end, row) > 0;
}

/*
 * Mark regions that were split or merged. Their folders exist until the master removes them. The
 * regions that replace them have larger ids and overlap them.
 */
static void mark_replaced(struct offline *o)
{
	for (size_t i = 0; i < o->nregions; i++) {
		struct offline_region *x = &o->regions[i];

		for (size_t k = i + 1; k < o->nregions; k++) {
			struct offline_region *y = &o->regions[k];

			if (!ends_after(&x->info, y->info.start))
				break;
			x->replaced |= x->info.id < y->info.id;
			y->replaced |= y->info.id < x->info.id;
		}
	}
}

static int complain(const struct offline *o, const char *what, struct bytes start, struct bytes end,
		    struct error *err)
{
	struct buf text = {0};

	buf_append_str(&text, "from \"");
	bytes_escape(&text, start);
	buf_append_str(&text, "\" to \"");
	bytes_escape(&text, end);
	buf_append_str(&text, "\"");
	int rc = error_set(err, RC_DATA,
			   "table %s: found %s for the row keys %.*s, expected one region for each "
			   "row key; repair the table with HBCK2, or use a snapshot",
			   o->table, what, (int)(text.len < 200 ? text.len : 200),
			   (const char *)text.ptr);
	buf_release(&text);
	return rc;
}

/* Check that each region begins where the previous region ends. */
static int check_chain(const struct offline *o, struct error *err)
{
	struct bytes end = {0};
	bool open = false; /* the previous region has no end */

	for (size_t i = 0; i < o->nregions; i++) {
		const struct disk_region *r = &o->regions[i].info;
		int c = open ? 1 : bytes_cmp(end, r->start);

		if (c)
			return c < 0 ? complain(o, "no region", end, r->start, err)
				     : complain(o, "several regions", r->start, r->end, err);
		end = r->end;
		open = end.len == 0;
	}
	return open ? RC_OK : complain(o, "no region", end, (struct bytes){0}, err);
}

int offline_order_regions(struct offline *o, struct error *err)
{
	size_t kept = 0;

	if (o->nregions)
		qsort(o->regions, o->nregions, sizeof *o->regions, by_start);
	mark_replaced(o);
	for (size_t i = 0; i < o->nregions; i++)
		if (!o->regions[i].replaced)
			o->regions[kept++] = o->regions[i];
	o->nregions = kept;
	return check_chain(o, err);
}
