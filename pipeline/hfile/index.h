/*
 * index.h - the multi-level index of data blocks (README.md 5)
 *
 *   root      n x (i64 offset | i32 diskBytes | vint keyLength | key) [| mid-key, 16 bytes]
 *   non-root  i32 n | n x i32 relOffset | i32 entriesBytes | n x (i64 offset | i32 diskBytes | key)
 *
 * Leaves are written between data blocks when they reach the size limit; a single leaf becomes
 * the root.  Intermediate levels are made at the end while the root is too large.
 */
#ifndef SALTMILL_HFILE_INDEX_H
#define SALTMILL_HFILE_INDEX_H

#include "block.h"

#define HINDEX_LEVELS_MAX 16

struct hindex_entry {
	uint64_t offset;
	uint32_t disk_bytes;
	size_t key_at, key_bytes; /* in the list's keys */
	uint64_t below;		  /* data blocks up to and including this entry (leaves only) */
};

/* Entries of one index block, or of a level that is being made. */
struct hindex_list {
	struct hindex_entry *entry;
	size_t count, cap;
	struct buf keys;
	uint64_t root_bytes, entry_bytes; /* their size as root entries, and as non-root entries */
};

/* False: no memory; the list is unchanged. */
bool hfile_index_list_add(struct hindex_list *l, struct bytes key, uint64_t offset,
			  uint32_t disk_bytes) __attribute__((warn_unused_result));
struct bytes hfile_index_list_key(const struct hindex_list *l, size_t i);
void hfile_index_list_release(struct hindex_list *l);

struct hindex {
	uint64_t max_bytes;
	uint32_t min_entries;
	struct hindex_list leaf, root;
	uint64_t data_blocks, plain_bytes; /* plain_bytes of all index blocks, without headers */
	uint32_t levels;
};

/* Add a data block that was written; key: see hfile_index_key. */
int hfile_index_add(struct hindex *x, struct bytes key, const struct hblock_place *place,
		    struct error *err);
/* Must a leaf be written now? closing: no data block follows. */
bool hfile_index_leaf_due(const struct hindex *x, bool closing);
/* Write the leaf; scratch holds its payload. */
int hfile_index_write_leaf(struct hindex *x, struct hblock_out *out, struct buf *scratch,
			   struct hblock_place *place, struct error *err);
/* Write intermediate levels and the root; *root is the root's place. */
int hfile_index_write_root(struct hindex *x, struct hblock_out *out, struct buf *scratch,
			   struct hblock_place *root, struct error *err);
void hfile_index_release(struct hindex *x);

/*
 * Append the flat key of a block in the index: above last, the flat key of the last cell before the
 * block (empty for the first block), and at most first, the block's first key (5.6).
 */
int hfile_index_key(struct buf *out, struct bytes last, struct bytes first, struct error *err);

/* A non-root index block being read; entry(i) with i < count. */
struct hindex_node {
	uint32_t count, entry_bytes;
	const uint8_t *offsets, *entries;
};
int hfile_index_node_open(struct hindex_node *n, struct bytes payload, struct error *err);
int hfile_index_node_entry(const struct hindex_node *n, uint32_t i, struct hindex_entry *e,
			   struct bytes *key, struct error *err);
/* Parse count root entries; *rest is what follows them. */
int hfile_index_root_parse(struct hindex_list *l, struct bytes payload, uint32_t count,
			   struct bytes *rest, struct error *err);

/* The same for the meta root, whose keys are names of meta blocks. Nothing may follow it. */
int hfile_index_meta_parse(struct hindex_list *l, struct bytes payload, uint32_t count,
			   struct error *err);

#endif
