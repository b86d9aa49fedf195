/*
 * index.h - the multi-level index of data blocks (README.md 5)
 *
 *   root      n x (i64 offset | i32 diskBytes | vint keyLength | key) [| mid-key, 16 bytes]
 *   non-root  i32 n | n x i32 relOffset | i32 entriesBytes | n x (i64 offset | i32 diskBytes | key)
 *
 * The writer puts a leaf between data blocks when the leaf reaches the size limit. A single leaf
 * becomes the root. At the end, the writer makes intermediate levels while the root is too large.
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

/* The entries of one index block, or of a level under construction. */
struct hindex_list {
	struct hindex_entry *entry;
	size_t count, cap;
	struct buf keys;
	uint64_t root_bytes, entry_bytes; /* size in a root block, and in others */
};

/* Add an entry. Returns false, with the list unchanged, if memory is short. */
bool hfile_index_list_add(struct hindex_list *l, struct bytes key, uint64_t offset,
			  uint32_t disk_bytes) __attribute__((warn_unused_result));
struct bytes hfile_index_list_key(const struct hindex_list *l, size_t i);
void hfile_index_list_release(struct hindex_list *l);

struct hindex {
	uint64_t max_bytes;
	uint32_t min_entries;
	struct hindex_list leaf, root;
	uint64_t data_blocks, plain_bytes; /* `plain_bytes`: of all index blocks, without headers */
	uint32_t levels;
};

/* Add a data block of the file. hfile_index_key makes `key`. */
int hfile_index_add(struct hindex *x, struct bytes key, const struct hblock_place *place,
		    struct error *err);
/* Return true if the caller must write a leaf now. `closing` means that no data block follows. */
bool hfile_index_leaf_due(const struct hindex *x, bool closing);
/* Write the leaf. `scratch` is the buffer for the leaf's payload. */
int hfile_index_write_leaf(struct hindex *x, struct hblock_out *out, struct buf *scratch,
			   struct hblock_place *place, struct error *err);
/* Write intermediate levels and the root. Set `*root` to the root's offset and size. */
int hfile_index_write_root(struct hindex *x, struct hblock_out *out, struct buf *scratch,
			   struct hblock_place *root, struct error *err);
void hfile_index_release(struct hindex *x);

/*
 * Append the flat key of a block in the index (5.6). The key is greater than `last` and at most
 * `first`. `last` is the flat key of the last cell before the block, empty for the first block.
 * `first` is the block's first key.
 */
int hfile_index_key(struct buf *out, struct bytes last, struct bytes first, struct error *err);

/* A non-root index block from a file. Entry `i` is valid for i < count. */
struct hindex_node {
	uint32_t count, entry_bytes;
	const uint8_t *offsets, *entries;
};
int hfile_index_node_open(struct hindex_node *n, struct bytes payload, struct error *err);
int hfile_index_node_entry(const struct hindex_node *n, uint32_t i, struct hindex_entry *e,
			   struct bytes *key, struct error *err);
/* Parse `count` root entries. Set `*rest` to the bytes after the entries. */
int hfile_index_root_parse(struct hindex_list *l, struct bytes payload, uint32_t count,
			   struct bytes *rest, struct error *err);

/* Parse the meta root, whose keys are names of meta blocks. No bytes may follow the entries. */
int hfile_index_meta_parse(struct hindex_list *l, struct bytes payload, uint32_t count,
			   struct error *err);

#endif
