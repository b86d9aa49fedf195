/*
 * hfile.h - write HFiles v3, read v2 and v3 (hfile/README.md)
 *
 *   hfile_writer_new, hfile_add*, hfile_finish (or hfile_abort)
 *   hfile_open, hfile_info / hfile_next_block / hfile_next_cell, hfile_close
 *
 * A file has one family. The same cells and options give the same bytes, because the writer uses no
 * clock and no random numbers. The reader reads from a source, and the writer writes to a sink. A
 * source or a sink can be a file. All functions return RC_MEMORY if an allocation fails.
 */
#ifndef SALTMILL_HFILE_H
#define SALTMILL_HFILE_H

#include "cell.h"
#include "error.h"
#include "run.h"
#include "table.h"

/* A source of the bytes of an HFile. */
struct hfile_source {
	const char *name; /* for messages; valid until close */
	uint64_t bytes;	  /* size of the whole file */
	/* Fill `to` with `len` bytes from `offset` on. The range is always within the file. */
	int (*read)(void *self, uint64_t offset, void *to, size_t len, struct error *err);
	/* releases `self`; NULL means that there is nothing to release */
	void (*close)(void *self);
	void *self;
};
/* Open a regular file as a source. */
int hfile_file_source(struct hfile_source *out, const char *path, struct error *err);
/*
 * Count the source's bytes in `p` (run.h). Each byte counts at its first read. Bytes outside of all
 * reads count at the close of the source. If the function returns RC_MEMORY, it has closed the
 * source.
 */
int hfile_source_watch(struct hfile_source *s, struct progress *p, struct error *err);

/*
 * A sink for the bytes of an HFile. The last call is either `finish` or `abort`. Both calls release
 * `self`.
 */
struct hfile_sink {
	const char *name; /* for messages; valid until finish or abort */
	int (*append)(void *self, const void *ptr, size_t len, struct error *err);
	/* Make the file permanent. `digest` receives XXH3-128 of all bytes, or stays zeros. */
	int (*finish)(void *self, uint8_t digest[16], struct error *err);
	void (*abort)(void *self);
	void *self;
};

/*
 * Compression contexts and buffers that the writers of one thread share, because their first use
 * costs more than later uses. Writers may be open together or one after another. The scratch must
 * outlive all its writers.
 */
struct hfile_scratch;
/* Create a scratch. Returns NULL if memory is short. Writers also work without a scratch. */
struct hfile_scratch *hfile_scratch_new(void);
void hfile_scratch_free(struct hfile_scratch *s); /* NULL is fine */

/* Options of a writer. {0} means no compression, no encoding and no bloom filter. */
struct hfile_options {
	struct bytes family; /* family of the file; empty means the first cell's family */
	enum codec codec;
	int level; /* compression level; 0 means ZSTD 3, GZ 6; ZSTD: LEVEL_HUFFMAN or above */
	/* ZSTD: log2 of the hash table's entries; 0 means that the level decides */
	uint32_t hash_log;
	/* ZSTD: shortest match of our own match finder, 4 to 8; 0 means that zstd finds matches */
	uint32_t min_match;
	enum zstd_framing framing;
	enum block_encoding encoding;
	enum bloom_type bloom;
	uint32_t bloom_prefix;	    /* for BLOOM_ROWPREFIX */
	uint32_t block_bytes;	    /* size of a data block before compression; 0 means 65536 */
	uint32_t index_block_bytes; /* size of an index block; 0 means 131072
				       (hfile.index.block.max.size) */
	uint32_t bloom_block_bytes; /* size of a bloom chunk; 0 means 131072
				       (io.storefile.bloom.block.size) */
	uint32_t index_min_entries; /* least entries of an index block; 0 means 16
				       (hfile.index.block.min.entries) */
	int64_t create_ms;	    /* hfile.CREATE_TIME_TS */
	int64_t bulkload_ms;	    /* BULKLOAD_TIMESTAMP */
	struct bytes source_task;   /* BULKLOAD_SOURCE_TASK */
	/* Columns in order, for hfile_add_values, at most 65535. The function copies the bytes. */
	const struct bytes *qualifiers;
	size_t nqualifiers;
	bool mvcc; /* store mvcc 0 in each cell, as HFileOutputFormat2 does */
	/*
	 * with `mvcc`: store each cell's mvcc, and the sequence ids of a store file instead of the
	 * marks of a bulk load, as HBase's compaction does (hfile_set_sequence)
	 */
	bool keep_mvcc;
	/* store each cell's tags, as HFileOutputFormat2 does; if false, no cell may have tags */
	bool tags;
	struct hfile_scratch
		*scratch; /* shared memory of writers; NULL means that the writer creates its own */
	/*
	 * Threads that help to compress; NULL means no help. Helpers do not change the file's
	 * bytes. Their memory comes from the budget (NULL means no limit). If the budget has no
	 * more memory, they do not help. `helpers` and `budget` must outlive the scratch.
	 */
	struct helpers *helpers;
	struct budget *budget;
	/* only for hfile_writer_new: */
	size_t file_buffer_bytes; /* size of the write buffer; 0 means 256 KiB */
	bool temporary;		  /* true if the finished file needs no sync */
	/* syncs the finished file (io.h); if NULL, hfile_finish syncs the file */
	struct syncer *syncer;
};

/*
 * Bytes of a file without its blocks. HFILE_TRAILER_BYTES is the trailer alone. HFILE_FIXED_BYTES
 * is the approximate sum of trailer, root index, file info and bloom meta.
 */
#define HFILE_TRAILER_BYTES 4096
#define HFILE_FIXED_BYTES   (HFILE_TRAILER_BYTES + 1024)

/* A summary of a written file. Release it with hfile_summary_release. */
struct hfile_summary {
	uint64_t cells, rows;
	uint64_t file_bytes;
	uint64_t cell_bytes; /* bytes of the uncompressed KeyValues, without tags and mvcc */
	uint64_t data_blocks;
	struct buf first_row, last_row; /* row keys */
	int64_t min_ts, max_ts;
	/* XXH3-128 of the file's bytes; zeros if the sink does not compute it */
	uint8_t digest[16];
};
void hfile_summary_release(struct hfile_summary *s);
#define HFILE_NAME_BYTES 33 /* with the final zero */
/* Set `name` to the digest in hex, which names the file in a load. */
void hfile_summary_name(const struct hfile_summary *s, char name[HFILE_NAME_BYTES]);

struct hfile_writer;

/* Create a writer for a new file at `path`. `opt` is copied. On failure *out is NULL. */
int hfile_writer_new(struct hfile_writer **out, const char *path, const struct hfile_options *opt,
		     struct error *err);
/* Create a writer for a sink. The writer owns the sink. If this call fails, it aborts the sink. */
int hfile_writer_new_to(struct hfile_writer **out, const struct hfile_sink *sink,
			const struct hfile_options *opt, struct error *err);
/*
 * Add a copy of the next cell. Returns RC_ORDER if the cell sorts before the previous cell. Returns
 * RC_LIMIT if a part of the cell is too long for the format. Returns RC_DATA if the cell has
 * another family than the file. An empty family means the file's family. Without `keep_mvcc`, the writer
 * does not store the cell's mvcc, because a server gives all cells of a file the sequence id of the
 * bulk load.
 * Only hfile_finish reports some write errors. After RC_MEMORY or RC_IO, call only hfile_abort.
 */
int hfile_add(struct hfile_writer *w, const struct cell *c, struct error *err);
/*
 * Add several cells of one row, as hfile_add adds one cell. The function compares only the row key
 * of the first cell with the previous row.
 */
int hfile_add_row(struct hfile_writer *w, const struct cell *cells, size_t count,
		  struct error *err);
/*
 * Add values of known columns, all with one timestamp. hfile_add_values is the fastest of the three
 * functions. The function may read CELL_ROOM_BYTES after the row.
 */
int hfile_add_values(struct hfile_writer *w, struct bytes row, int64_t ts,
		     const struct cell_value *values, size_t count, struct error *err);
/*
 * Set MAX_SEQ_ID_KEY, with `keep_mvcc`: the greatest sequence id of the store files whose cells the file
 * has. Without the call, the file has no such entry.
 */
void hfile_set_sequence(struct hfile_writer *w, uint64_t id);
/* Return the file's approximate size in bytes. The size does not include cells of unfinished
 * blocks. */
uint64_t hfile_bytes_so_far(const struct hfile_writer *w);
/*
 * Test whether hfile_bytes_so_far is at least `bytes` after the write of all full blocks. The
 * function first writes full blocks if needed, so the answer is the same with and without helpers.
 */
int hfile_reached(struct hfile_writer *w, uint64_t bytes, bool *reached, struct error *err);
/*
 * Write index, file info, bloom filter and trailer, finish the sink and fill *sum. The function
 * frees `w` whatever the result.
 */
int hfile_finish(struct hfile_writer *w, struct hfile_summary *sum, struct error *err);
/* Abort the sink, which removes a file, and free `w`. NULL is fine. */
void hfile_abort(struct hfile_writer *w);

/* The choice that hfile_tune has to make. */
struct hfile_tune_request {
	enum codec_aim aim;
	bool encoding; /* also choose the encoding; the file has no encoding */
	bool block;    /* also choose the block size */
};
/* ZSTD settings that hfile_tune found. */
struct hfile_tuning {
	int level;
	uint32_t hash_log, min_match;
	bool chosen; /* the request has `encoding`, and so `encoding` is valid */
	enum block_encoding encoding;
	uint32_t block_bytes; /* 0 means the block size of the file */
	/* total size of the sampled blocks, before and after compression */
	uint64_t plain_bytes, stored_bytes;
	/* size with ZSTD 3 and without encoding; 0 means no trial */
	uint64_t usual_bytes;
};
/* A file opened for reading. Only one thread at a time may use it. */
struct hfile;

/*
 * Try settings on the data blocks of an uncompressed file, and choose the best settings for the
 * aim. An estimate of the time uses sizes instead of a clock, so all machines choose the same
 * settings.
 */
int hfile_tune(struct hfile *f, const struct hfile_tune_request *request, unsigned threads,
	       struct hfile_tuning *out, struct error *err);
/* Return the settings for a table without cells. Level 0 means that there is nothing to choose. */
struct hfile_tuning hfile_tune_blind(const struct hfile_tune_request *request);

struct hfile_trailer {
	uint64_t file_info_offset, load_on_open_offset, uncompressed_index_bytes,
		total_uncompressed_bytes, entry_count, first_data_block, last_data_block,
		file_bytes;
	uint32_t data_index_count, meta_index_count, index_levels, major, minor, trailer_bytes;
	enum codec codec;
	char comparator[160];
	uint32_t key_bytes; /* 0 means that the file is not encrypted */
	uint8_t key[256];   /* the file's key, which a master key encrypts (WrappedKey of HBase) */
};

/*
 * Master keys of encrypted files, and ZSTD dictionaries. After the last hfile_extras_add_*, several
 * threads may use the extras.
 */
struct hfile_extras;
struct hfile_extras *hfile_extras_new(void); /* NULL if memory is short */
void hfile_extras_free(struct hfile_extras *x);
/*
 * Add the keys of a text: 32 hex digits on each line; lines that begin with # are comments. `name`
 * is for messages. Returns RC_CONFIG, with the line but without its text, if the text is invalid.
 */
int hfile_extras_add_keys(struct hfile_extras *x, const char *name, struct bytes text,
			  struct error *err);
/* Add a dictionary of HBase's hbase.io.compress.zstd.dictionary. Returns RC_CONFIG if it is none. */
int hfile_extras_add_dictionary(struct hfile_extras *x, const char *name, struct bytes content,
				struct error *err);
/*
 * Use the extras for all files that hfile_open and hfile_open_source open from now on. The caller
 * keeps them until the process ends, and calls this function before other threads open files.
 */
void hfile_extras_use(const struct hfile_extras *x);

/*
 * Open a file. The call reads trailer, root index, file info and bloom meta, and verifies their
 * checksums. The reader recognises both framings of ZSTD. Returns RC_DATA, with path and offset, if
 * the file violates the format. Returns RC_CONFIG if the file is encrypted, and no master key fits.
 */
int hfile_open(struct hfile **out, const char *path, struct error *err);
/*
 * Open a source, as hfile_open opens a file. hfile_close closes the source. If this call fails, it
 * also closes the source.
 */
int hfile_open_source(struct hfile **out, const struct hfile_source *source, struct error *err);
/* Open a source with other extras than those of the process. NULL means none. */
int hfile_open_with(struct hfile **out, const struct hfile_source *source,
		    const struct hfile_extras *extras, struct error *err);
void hfile_close(struct hfile *f);
const struct hfile_trailer *hfile_trailer(const struct hfile *f);
/*
 * Get the options to write a similar file: codec, framing, encoding, bloom filter, tags, mvcc,
 * times and task. `level` and `block_bytes` stay zero, because a file does not record them.
 * `family` stays zero, too.
 */
void hfile_options_of(const struct hfile *f, struct hfile_options *out);

/* Get file info entry `i`, in stored order. Returns RC_END if the file has fewer entries. */
int hfile_info(const struct hfile *f, size_t i, struct bytes *key, struct bytes *value);
/* Get file info by name. Returns false if there is no such entry. */
bool hfile_info_get(const struct hfile *f, const char *key, struct bytes *value);

struct hfile_block {
	uint64_t offset;
	char type[9];	      /* magic such as "DATABLK*", NUL-terminated */
	uint32_t disk_bytes;  /* size of the whole block with header, payload and checksums */
	uint32_t plain_bytes; /* size of the decompressed payload */
	int64_t previous;     /* prevBlockOffset of the header */
	struct bytes payload; /* decompressed; valid until the next call */
};
/*
 * Read the next block, verify its checksums and decompress its payload. Start with *at = 0. *at
 * advances, even past a damaged block if its header is valid. Returns RC_END after the last block.
 * Returns RC_DATA if a block is damaged, is outside its section, or does not link to the previous
 * block of its type. Returns RC_DATA also if the trailer's block counts are wrong.
 */
int hfile_next_block(struct hfile *f, uint64_t *at, struct hfile_block *out, struct error *err);

/*
 * Read the next cell in file order. Start with hfile_rewind. *out is valid until the next call.
 * Returns RC_END after the last cell. Returns RC_ORDER if cells are out of order. Returns RC_DATA
 * if the number of cells differs from the trailer's number. Returns RC_DATA also if blocks are not
 * adjacent or do not link to the previous block.
 */
void hfile_rewind(struct hfile *f);
int hfile_next_cell(struct hfile *f, struct cell *out, struct error *err);
/* How a cell differs from the previous cell in the file. */
enum hfile_step { HFILE_NEW_ROW, HFILE_NEW_COLUMN, HFILE_SAME_COLUMN };
#define HFILE_BATCH 256
struct hfile_batch {
	const struct cell *cells;
	const uint8_t *step; /* enum hfile_step; the first entry is undefined */
	size_t n;
	bool plain; /* all cells are Puts without tags */
};
/*
 * Read the next cells of one block, at least one and up to HFILE_BATCH, as hfile_next_cell reads
 * one cell. Cells and steps are the file's, and valid until the next call.
 */
int hfile_next_batch(struct hfile *f, struct hfile_batch *b, struct error *err);
/*
 * Go to the first cell that is not before `key`. With a key from cell_first, this is the first cell
 * of a row or column.
 */
int hfile_seek(struct hfile *f, const struct cell *key, struct error *err);
/*
 * Find the greatest row that has a cell before `key`, and copy its row key to `row`. Returns RC_END
 * if there is no such row.
 */
int hfile_row_before(struct hfile *f, const struct cell *key, struct buf *row, struct error *err);
/* Counts of the blocks so far. */
struct hfile_reads {
	uint64_t data, index, bloom;
	uint64_t opening; /* bytes of the load-on-open section at the file's end */
	uint64_t of_data; /* number of data blocks in the file */
};
struct hfile_reads hfile_reads(const struct hfile *f);

struct hfile_index_entry {
	uint64_t offset;
	uint32_t disk_bytes;
	struct bytes key; /* flat key */
};
/* Get root index entry `i`. Returns RC_END if the index has fewer entries. */
int hfile_root_entry(const struct hfile *f, size_t i, struct hfile_index_entry *out);

struct hfile_bloom {
	bool present;
	enum bloom_type type;
	uint32_t hash_count, chunks;
	uint64_t keys, max_keys, bytes;
};
void hfile_bloom(const struct hfile *f, struct hfile_bloom *out);
/*
 * Test the bloom filter. If *out is false, the file does not contain the key. In a file without a
 * filter, *out is true.
 */
int hfile_may_contain(struct hfile *f, struct bytes row, struct bytes qualifier, bool *out,
		      struct error *err);
/*
 * Test the bloom filter for a delete marker of the row's family. Files with such markers may have a
 * separate filter for them.
 */
int hfile_may_delete(struct hfile *f, struct bytes row, bool *out, struct error *err);

/* A range of a damaged file that hfile_salvage could not read. */
struct hfile_loss {
	uint64_t offset, bytes; /* may include intact blocks of the index */
	/* row keys of the nearest cells that were read; empty means that there is none */
	struct bytes before, after;
	bool no_cells;	 /* the blocks on both sides prove that the range has no cells */
	const char *why; /* the first fault */
};
struct hfile_salvaged {
	struct hfile_summary sum; /* of the new file */
	uint64_t expected; /* cells of the damaged file by its trailer; UINT64_MAX: unknown */
	uint64_t ranges;   /* lost ranges that may have cells */
};
/*
 * Write the cells of all intact data blocks of a damaged file to the new file `to`. Only checksums
 * prove that a block is intact. The trailer, the file info and the index may be missing: the blocks
 * then decide codec and encoding. `lost` gets each range that was lost, in the order of the file; it
 * is valid during the call. Returns RC_DATA if no data block is intact. Release out->sum whatever
 * the result.
 */
int hfile_salvage(const char *from, const char *to,
		  void (*lost)(void *ctx, const struct hfile_loss *l), void *ctx,
		  struct hfile_salvaged *out, struct error *err);

/*
 * Verify a whole file. The checks cover all checksums, the block chain, the index, the cell order,
 * and the trailer's counts. The checks also cover first and last key, averages and time range. The
 * bloom filter must find every key. *sum has the members that the writer fills.
 */
int hfile_verify(const char *path, struct hfile_summary *sum, struct error *err);
/* Verify an open file, as hfile_verify does for a path. The digest stays zero. */
int hfile_verify_open(struct hfile *f, struct hfile_summary *sum, struct error *err);

#endif
