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
	uint64_t below;		  /* data blocks up to and with this entry (leaves only) */
};

/* Entries of one index block or of a level in the making. */
struct hindex_list {
	struct hindex_entry *entry;
	size_t count, cap;
	struct buf keys;
	uint64_t root_bytes, entry_bytes; /* as root entries; as non-root entries */
};

/* False: no memory, the list is as it was. */
bool hfile_index_list_add(struct hindex_list *l, struct bytes key, uint64_t offset,
			  uint32_t disk_bytes) __attribute__((warn_unused_result));
struct bytes hfile_index_list_key(const struct hindex_list *l, size_t i);
void hfile_index_list_release(struct hindex_list *l);

struct hindex {
	uint64_t max_bytes;
	uint32_t min_entries;
	struct hindex_list leaf, root;
	uint64_t data_blocks, plain_bytes; /* plain_bytes of all index blocks, header excluded */
	uint32_t levels;
};

/* A data block was written; key: see hfile_index_key. */
int hfile_index_add(struct hindex *x, struct bytes key, const struct hblock_place *place,
		    struct error *err);
/* Is a leaf to be written now?  closing: no data block will follow. */
bool hfile_index_leaf_due(const struct hindex *x, bool closing);
/* Write the leaf; scratch holds its payload. */
int hfile_index_write_leaf(struct hindex *x, struct hblock_out *out, struct buf *scratch,
			   struct hblock_place *place, struct error *err);
/* Write intermediate levels and the root; *root is where it is. */
int hfile_index_write_root(struct hindex *x, struct hblock_out *out, struct buf *scratch,
			   struct hblock_place *root, struct error *err);
void hfile_index_release(struct hindex *x);

/*
 * Append the flat key that the index has for a block: more than last, the flat key of the last
 * cell before it (empty for the first block), and at most first, the block's own first (5.6).
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
/* Parse count root entries; *rest is what is behind them. */
int hfile_index_root_parse(struct hindex_list *l, struct bytes payload, uint32_t count,
			   struct bytes *rest, struct error *err);

/* The same of the meta root, whose keys are names of meta blocks and which is nothing more. */
int hfile_index_meta_parse(struct hindex_list *l, struct bytes payload, uint32_t count,
			   struct error *err);

#endif
