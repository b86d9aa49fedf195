/* reader.h - the state of an open HFile, shared by hfile_open.c, scan.c and verify_hfile.c */
#ifndef SALTMILL_HFILE_READER_H
#define SALTMILL_HFILE_READER_H

#include "bloom.h"
#include "block_encode.h"
#include "fileinfo.h"
#include "hfile.h"
#include "index.h"
#include "kv.h"

struct hfile {
	char *path;
	uint64_t file_bytes;
	struct hblock_in in;
	struct hfile_trailer trailer;
	struct hindex_list root;
	struct bytes root_rest; /* mid-key metadata, in root_tail */
	uint8_t root_tail[16];
	struct hinfo info;
	struct hblock_place root_place, meta_place, info_place;
	/* from the file info */
	enum block_encoding encoding;
	struct cell_tail tail;
	enum bloom_type bloom_type;
	uint32_t bloom_prefix;
	bool has_bloom, has_delete_bloom;
	struct hbloom_meta bloom;
	/* hfile_next_block; index descent; bloom probes */
	struct hblock walk, node, chunk;
	uint64_t chunk_offset; /* of the chunk that is loaded; UINT64_MAX: none */
	struct buf probe;
	/* cells */
	struct hblock data;
	struct buf decoded;
	struct bytes cells;
	size_t cell_at;	      /* in cells: the next cell */
	uint64_t next_offset; /* of the block to look at when cells are used up */
};

/* Read the data block at offset into f->data and its cells into f->cells. */
int reader_load_data(struct hfile *f, uint64_t offset, uint32_t disk_bytes, struct error *err);
/* Cells of a data block just read; RC_DATA when its type or encoding is not the file's. */
int reader_block_cells(struct hfile *f, const struct hblock *b, struct bytes *cells,
		       struct error *err);
/* The cell at *at of cells, checked; RC_END behind the last. */
int reader_take_cell(struct bytes cells, size_t *at, struct kv *kv, struct kv_key *key,
		     struct error *err);
/* Read an index block below the root; level 1 is just below it. */
int reader_load_node(struct hfile *f, uint32_t level, const struct hindex_entry *e,
		     struct hblock *b, struct hindex_node *node, struct error *err);

#endif
