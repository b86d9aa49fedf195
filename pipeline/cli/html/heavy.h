/* heavy.h - keys of a published table that are alone larger than a region, by its files' indexes */
#ifndef SALTMILL_PAGE_HEAVY_H
#define SALTMILL_PAGE_HEAVY_H

#include "extents.h"

#define HEAVY_ROW SIZE_MAX

/* A row, or rows that share a beginning. */
struct heavy_key {
	size_t part; /* the last that is shared, of the manifest's; HEAVY_ROW: it is a row */
	struct bytes key;
	uint64_t at_least, at_most; /* bytes of files: blocks hold others besides */
};

struct heavy_keys {
	struct heavy_key *item; /* rows, then the longer beginnings; of each the largest first */
	size_t n;
};

/*
 * What is surely more than the target of a region; a salt's bucket: more than twice its share.
 * Nothing without a target.  A beginning is left out where nearly all of it is one that is longer.
 * All in *a.
 */
void heavy_keys_find(struct heavy_keys *h, const struct extents *p, const struct manifest_table *t,
		     struct arena *a);
/* Is it a salt's bucket, which may well fit into a region? */
bool heavy_key_is_bucket(const struct heavy_key *k, const struct manifest_table *t);
/* Append a key as its parts: "userId \\x00\\x2A, day 2013"; a salt only where it stands alone. */
void heavy_key_name(struct buf *out, const struct heavy_key *k, const struct manifest_table *t);

#endif
