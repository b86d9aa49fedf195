/* heavy.h - finds keys of a published table that are larger than a whole region */
#ifndef SALTMILL_PAGE_HEAVY_H
#define SALTMILL_PAGE_HEAVY_H

#include "extents.h"

#define HEAVY_ROW SIZE_MAX

/* A row, or all rows with the same prefix. */
struct heavy_key {
	size_t part; /* index of the last shared key part; HEAVY_ROW for one row */
	struct bytes key;
	uint64_t at_least, at_most; /* bytes in files; a block may also contain other keys */
};

struct heavy_keys {
	/* rows first, then prefixes from long to short; each group by size, largest first */
	struct heavy_key *item;
	size_t n;
};

/*
 * Finds keys that certainly exceed the target size of a region, and salt buckets with more than
 * twice their equal share. Finds nothing if the table has no target. Leaves out a prefix if one
 * longer key has nearly all bytes of the prefix. Allocates in *a.
 */
void heavy_keys_find(struct heavy_keys *h, const struct extents *p, const struct manifest_table *t,
		     struct arena *a);
/* Returns true if `k` is a salt bucket. A bucket may still fit into a region. */
bool heavy_key_is_bucket(const struct heavy_key *k, const struct manifest_table *t);
/*
 * Appends a key by its parts, such as "userId \\x00\\x2A, day 2013". Prints the salt only if the
 * key has no other part.
 */
void heavy_key_name(struct buf *out, const struct heavy_key *k, const struct manifest_table *t);

#endif
