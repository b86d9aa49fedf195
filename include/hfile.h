/*
 * hfile.h - write and read HFile v3 (hfile/README.md)
 *
 *   hfile_writer_new, hfile_add*, hfile_finish (or hfile_abort)
 *   hfile_open, hfile_info / hfile_next_block / hfile_next_cell, hfile_close
 *
 * One family a file.  Same cells and options give the same bytes: no clock, no chance.  Bytes come
 * from a source and go to a sink; files are one kind of both.  A failed allocation is RC_MEMORY.
 */
#ifndef SALTMILL_HFILE_H
#define SALTMILL_HFILE_H

#include "cell.h"
#include "error.h"
#include "run.h"
#include "table.h"

/* Where the bytes of an HFile come from. */
struct hfile_source {
	const char *name; /* in messages; good until close */
	uint64_t bytes;	  /* of the whole */
	/* Fill `to` with len bytes from offset on; no more than there are is asked for. */
	int (*read)(void *self, uint64_t offset, void *to, size_t len, struct error *err);
	void (*close)(void *self); /* releases self; NULL: nothing to do */
	void *self;
};
/* A regular file. */
int hfile_file_source(struct hfile_source *out, const char *path, struct error *err);
/*
 * What is read of it counts as done in p (run.h), each byte once, and by close all of it.
 * RC_MEMORY: it is closed.
 */
int hfile_source_watch(struct hfile_source *s, struct progress *p, struct error *err);

/* Where they go.  Exactly one of finish and abort is called, last, and releases self. */
struct hfile_sink {
	const char *name; /* in messages; good until then */
	int (*append)(void *self, const void *ptr, size_t len, struct error *err);
	/* Make it last.  digest: XXH3-128 of all bytes, or left as it is (zeros). */
	int (*finish)(void *self, uint8_t digest[16], struct error *err);
	void (*abort)(void *self);
	void *self;
};

/*
 * What the writers of one thread share, open together or one after another: compression contexts
 * and buffers, whose first touch costs more than their use.  It must outlive them.
 */
struct hfile_scratch;
struct hfile_scratch *hfile_scratch_new(void);	  /* NULL: no memory; then go without */
void hfile_scratch_free(struct hfile_scratch *s); /* NULL is fine */

/* {0}: a file without compression, encoding and bloom filter. */
struct hfile_options {
	struct bytes family; /* empty: of the first cell */
	enum codec codec;
	int level;	    /* 0: ZSTD 3, GZ 6 */
	uint32_t hash_log;  /* ZSTD: log2 of the hash table's entries; 0: of the level */
	uint32_t min_match; /* ZSTD: of ready-made sequences, 4 to 8; 0: zstd looks for matches */
	enum zstd_framing framing;
	enum block_encoding encoding;
	enum bloom_type bloom;
	uint32_t bloom_prefix;	    /* for BLOOM_ROWPREFIX */
	uint32_t block_bytes;	    /* 0: 65536 */
	uint32_t index_block_bytes; /* 0: 131072 (hfile.index.block.max.size) */
	uint32_t bloom_block_bytes; /* 0: 131072 (io.storefile.bloom.block.size) */
	uint32_t index_min_entries; /* 0: 16 (hfile.index.block.min.entries) */
	int64_t create_ms;	    /* hfile.CREATE_TIME_TS */
	int64_t bulkload_ms;	    /* BULKLOAD_TIMESTAMP */
	struct bytes source_task;   /* BULKLOAD_SOURCE_TASK */
	/* Columns in order, for hfile_add_values; at most 65535; copied. */
	const struct bytes *qualifiers;
	size_t nqualifiers;
	bool mvcc; /* store a zero mvcc a cell, as HFileOutputFormat2 does */
	bool tags; /* store each cell's tags, as HFileOutputFormat2 does; else no cell may have any
		    */
	struct hfile_scratch *scratch; /* NULL: the writer has its own */
	/* Who helps to compress, NULL: nobody; the bytes are the same.  What that takes is taken
	 * from the budget (NULL: no limit) or not used.  Both outlive the scratch. */
	struct helpers *helpers;
	struct budget *budget;
	/* hfile_writer_new, the file at a path: */
	size_t file_buffer_bytes; /* 0: 256 KiB */
	bool temporary;		  /* it need not be on disk when it is finished */
	struct syncer *syncer; /* syncs it when it is finished (io.h); NULL: hfile_finish waits */
};

/* Of each file, whatever is in it; and with index root, file info and bloom meta, about. */
#define HFILE_TRAILER_BYTES 4096
#define HFILE_FIXED_BYTES   (HFILE_TRAILER_BYTES + 1024)

/* What was written; release with hfile_summary_release. */
struct hfile_summary {
	uint64_t cells, rows;
	uint64_t file_bytes;
	uint64_t cell_bytes; /* uncompressed KeyValues, without tags and mvcc */
	uint64_t data_blocks;
	struct buf first_row, last_row; /* row keys */
	int64_t min_ts, max_ts;
	uint8_t digest[16]; /* XXH3-128 of the file's bytes; zeros if the sink does not know */
};
void hfile_summary_release(struct hfile_summary *s);

struct hfile_writer;

/* Create the file at path, which must not exist.  opt is copied.  On failure *out is NULL. */
int hfile_writer_new(struct hfile_writer **out, const char *path, const struct hfile_options *opt,
		     struct error *err);
/* The same to a sink, which is taken over: aborted when this fails. */
int hfile_writer_new_to(struct hfile_writer **out, const struct hfile_sink *sink,
			const struct hfile_options *opt, struct error *err);
/*
 * Add the next cell; its bytes are copied.  RC_ORDER if it sorts before the one before it,
 * RC_LIMIT if a part is too long for the format, RC_DATA if it is of another family (none: of the
 * file's).  Its mvcc is not stored: a server gives the cells of a file the number of its loading.
 * Write errors may show only in hfile_finish.  After RC_MEMORY and RC_IO only hfile_abort is left.
 */
int hfile_add(struct hfile_writer *w, const struct cell *c, struct error *err);
/*
 * The same for several cells of one row, the first one's, which is compared with the row before
 * only once.
 */
int hfile_add_row(struct hfile_writer *w, const struct cell *cells, size_t count,
		  struct error *err);
/*
 * The same for values of known columns, all of one time: the quickest way.  CELL_ROOM_BYTES from
 * row.ptr on may be read.
 */
int hfile_add_values(struct hfile_writer *w, struct bytes row, int64_t ts,
		     const struct cell_value *values, size_t count, struct error *err);
/* Bytes on disk if it were finished about now, as far as blocks are written. */
uint64_t hfile_bytes_so_far(const struct hfile_writer *w);
/*
 * Whether hfile_bytes_so_far is bytes or more when all blocks that are full are written, as they
 * are first if need be: the same answer with and without helpers.
 */
int hfile_reached(struct hfile_writer *w, uint64_t bytes, bool *reached, struct error *err);
/*
 * Write index, file info, bloom filter, trailer; finish the sink; fill *sum.  Frees w whatever the
 * result.
 */
int hfile_finish(struct hfile_writer *w, struct hfile_summary *sum, struct error *err);
/* Abort the sink (of a path: unlink the file) and free w.  NULL is fine. */
void hfile_abort(struct hfile_writer *w);

/* ZSTD settings that were found by trying. */
struct hfile_tuning {
	int level;
	uint32_t hash_log, min_match;
	uint64_t plain_bytes, stored_bytes; /* the blocks tried, before and after */
};
/* A file opened for reading.  One thread at a time. */
struct hfile;

/*
 * Try settings on the data blocks of a file that was written without compression, and take the
 * best for the aim.  No clock is asked: time is estimated from sizes, so that every machine
 * chooses the same.
 */
int hfile_tune(struct hfile *f, enum codec_aim aim, unsigned threads, struct hfile_tuning *out,
	       struct error *err);

struct hfile_trailer {
	uint64_t file_info_offset, load_on_open_offset, uncompressed_index_bytes,
		total_uncompressed_bytes, entry_count, first_data_block, last_data_block,
		file_bytes;
	uint32_t data_index_count, meta_index_count, index_levels, major, minor;
	enum codec codec;
	char comparator[160];
};

/*
 * Open: trailer, root index, file info, bloom meta, each block's checksums verified.  RC_DATA with
 * path and offset when something is not as the format says.  Both framings of ZSTD are recognised.
 */
int hfile_open(struct hfile **out, const char *path, struct error *err);
/* The same of a source, which is taken over: closed by hfile_close, or when this fails. */
int hfile_open_source(struct hfile **out, const struct hfile_source *source, struct error *err);
void hfile_close(struct hfile *f);
const struct hfile_trailer *hfile_trailer(const struct hfile *f);
/*
 * What another file is to be written with so that HBase reads it as this one: codec, framing,
 * encoding, bloom filter, tags, mvcc, times, task.  A file does not tell its level, block_bytes and
 * family: they are as zeros leave them.
 */
void hfile_options_of(const struct hfile *f, struct hfile_options *out);

/* File info entry i (in stored order) or RC_END. */
int hfile_info(const struct hfile *f, size_t i, struct bytes *key, struct bytes *value);
/* File info by name; false when absent. */
bool hfile_info_get(const struct hfile *f, const char *key, struct bytes *value);

struct hfile_block {
	uint64_t offset;
	char type[9];	      /* magic, NUL-terminated: "DATABLK*" */
	uint32_t disk_bytes;  /* whole block: header, payload, checksums */
	uint32_t plain_bytes; /* payload, decompressed */
	int64_t previous;     /* prevBlockOffset */
	struct bytes payload; /* decompressed; valid until the next call */
};
/*
 * Walk all blocks from offset 0 (*at = 0) to the trailer; checksums verified, payload
 * decompressed.  Advances *at, also over a damaged block if its header is sound (else *at stays);
 * RC_END behind the last block.  A walk that met no damage has then seen that each block stands
 * in its section and links back to the one of its type, and that what the trailer says of them is
 * so: else RC_DATA.
 */
int hfile_next_block(struct hfile *f, uint64_t *at, struct hfile_block *out, struct error *err);

/*
 * Walk all cells in file order; *out is valid until the next call.  Start with hfile_rewind.  A
 * walk from the first cell to RC_END has seen the cells that the trailer counts, in order, in
 * blocks that follow each other without a gap and link back to the one before: else RC_DATA or
 * RC_ORDER.
 */
void hfile_rewind(struct hfile *f);
int hfile_next_cell(struct hfile *f, struct cell *out, struct error *err);
/* How a cell stands to the one before it in the file. */
enum hfile_step { HFILE_NEW_ROW, HFILE_NEW_COLUMN, HFILE_SAME_COLUMN };
#define HFILE_BATCH 256
struct hfile_batch {
	struct cell cells[HFILE_BATCH];
	uint8_t step[HFILE_BATCH]; /* enum hfile_step, but of the first, which may be anything */
	size_t n;
	bool plain; /* they are Puts without tags */
};
/*
 * The same of many cells, all of one block: of at least one, or as hfile_next_cell.  They are valid
 * until the next call.
 */
int hfile_next_batch(struct hfile *f, struct hfile_batch *b, struct error *err);
/* Position at the first cell that is not before key (cell_first: the first of a row, a column). */
int hfile_seek(struct hfile *f, const struct cell *key, struct error *err);
/* The greatest row with a cell before key, into row; RC_END when there is none. */
int hfile_row_before(struct hfile *f, const struct cell *key, struct buf *row, struct error *err);
/* Blocks read so far. */
struct hfile_reads {
	uint64_t data, index, bloom;
	uint64_t opening; /* that stand together at the file's end */
	uint64_t of_data; /* data blocks that the file has */
};
struct hfile_reads hfile_reads(const struct hfile *f);
/* hfile_next_cell as an iterator, from where f stands; it does not close f. */
struct cell_iter hfile_cells(struct hfile *f);

struct hfile_index_entry {
	uint64_t offset;
	uint32_t disk_bytes;
	struct bytes key; /* flat key */
};
/* Root index entry i or RC_END. */
int hfile_root_entry(const struct hfile *f, size_t i, struct hfile_index_entry *out);

struct hfile_bloom {
	bool present;
	enum bloom_type type;
	uint32_t hash_count, chunks;
	uint64_t keys, max_keys, bytes;
};
void hfile_bloom(const struct hfile *f, struct hfile_bloom *out);
/* May the bloom filter's key be in the file?  True when there is no bloom. */
int hfile_may_contain(struct hfile *f, struct bytes row, struct bytes qualifier, bool *out,
		      struct error *err);
/* The same for a delete of the row's family, by the filter that files with such may have. */
int hfile_may_delete(struct hfile *f, struct bytes row, bool *out, struct error *err);

/*
 * Prove a whole file: every checksum, block chain, index against blocks, cell order, counts
 * against trailer, first/last key, averages, time range, every bloom key found.  Fills *sum as
 * the writer would.
 */
int hfile_verify(const char *path, struct hfile_summary *sum, struct error *err);
/* The same of an open file; the digest is left zero. */
int hfile_verify_open(struct hfile *f, struct hfile_summary *sum, struct error *err);

#endif
