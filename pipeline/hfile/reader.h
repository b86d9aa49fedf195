/* reader.h - the state of an open HFile, shared by hfile_open.c, scan.c and verify_hfile.c */
#ifndef SALTMILL_HFILE_READER_H
#define SALTMILL_HFILE_READER_H

#include "bloom.h"
#include "block_encode.h"
#include "diff_cells.h"
#include "fileinfo.h"
#include "hfile.h"
#include "index.h"
#include "kv.h"

/* The offset of the previous block is unknown after a seek or damage. */
#define HFILE_NOT_KNOWN (-2)

/* The counts of a walk over all blocks (block_walk.c). */
struct block_sums {
	bool whole;			   /* the walk began at offset 0 and found no damage */
	uint64_t total_bytes, index_bytes; /* as in the trailer */
	uint64_t bloom_bytes, first_data;
	uint64_t blocks[HBLOCK_TYPES];
	int64_t previous[HBLOCK_TYPES]; /* offset of the last block of each type; -1 */
};

struct bloom_reader {
	bool present;
	enum bloom_type type;
	uint32_t prefix;
	struct hbloom_meta meta;
};

struct hfile {
	struct hfile_source source;
	struct hblock_in in;
	struct hfile_trailer trailer;
	struct hindex_list root;
	struct bytes root_rest; /* mid-key metadata, in root_tail */
	uint8_t root_tail[16];
	struct hinfo info;
	struct hindex_list meta; /* meta blocks; their names are the keys */
	struct hblock_place root_place, info_place;
	/* from the file info */
	struct block_format format;
	enum bloom_type bloom_type;
	uint32_t bloom_prefix;
	struct bloom_reader bloom, delete_bloom; /* `delete_bloom` has rows with family deletes */
	/* blocks of hfile_next_block, of the index search and of bloom probes */
	struct hblock walk, node, chunk;
	struct block_sums sums;
	uint64_t chunk_offset; /* offset of the loaded chunk; UINT64_MAX means none */
	struct buf probe;
	/* cells */
	struct hblock data;
	struct buf decoded; /* the plain cells, or the keys of `ready` */
	struct bytes cells;
	size_t cell_at; /* offset of the next cell in `cells` */
	/* the open block instead of `cells`, if `ready.n` is not 0; else only room for a batch */
	struct block_cells ready;
	uint64_t next_offset; /* offset of the block after the open block */
	/*
	 * true if the scan began at the first cell, so its end checks the number of cells; after a
	 * seek, only the order counts
	 */
	bool whole;
	uint64_t seen;
	int64_t previous[HBLOCK_TYPES]; /* offset of the last block of each type; -1,
					   HFILE_NOT_KNOWN */
	struct buf last;		/* flat key of the last cell of the block before */
	struct cell before;		/* the last cell of the caller, in this block */
	bool before_known;
};

/*
 * Return true if the key may be in the filter, if there is no filter, or if the filter's hash is
 * unknown.
 */
int hfile_reader_probe(struct hfile *f, const struct bloom_reader *b, struct bytes row,
		       struct bytes qualifier, bool *out, struct error *err);

struct hfile_number {
	const char *what;
	uint64_t found, expected;
};
/* Compare numbers. Returns RC_DATA with the name of the first number that differs. */
int hfile_check_numbers(const struct hfile *f, const struct hfile_number *n, size_t count,
			struct error *err);

/* Decrypt the key of the trailer, if the file is encrypted (reader_extras.h). */
int hfile_reader_unlock(struct hfile *f, struct error *err);

/* Blocks of two types can form one chain (README.md 2). */
enum hblock_type hfile_reader_chain(enum hblock_type t);

/* Read the data block at `offset` into `f->data` and the block's cells into `f->cells`. */
int hfile_reader_load_data(struct hfile *f, uint64_t offset, uint32_t disk_bytes,
			   struct error *err);
/* Open the next data block if the open block has no more cells. Returns RC_END after the last. */
int hfile_reader_open_next(struct hfile *f, struct error *err);
/* Pass the next `n` cells of `f->ready`. */
int hfile_reader_pass(struct hfile *f, size_t n, struct error *err);
/*
 * Decode the cells of the current data block. Returns RC_DATA if the block has another type or
 * encoding than the file.
 */
int hfile_reader_block_cells(struct hfile *f, const struct hblock *b, struct bytes *cells,
			     struct error *err);
/*
 * Check the cell at offset `*at` of `cells`, and set `*kv` to the cell and its flat key. Returns
 * RC_END after the last cell.
 */
int hfile_reader_take_cell(const struct hfile *f, struct bytes cells, size_t *at, struct kv *kv,
			   struct cell *cell, struct error *err);
/* Read an index block below the root. Level 1 is the level directly below the root. */
int hfile_reader_load_node(struct hfile *f, uint32_t level, const struct hindex_entry *e,
			   struct hblock *b, struct hindex_node *node, struct error *err);

#endif
