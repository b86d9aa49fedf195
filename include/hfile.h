/*
 * hfile.h - write and read HFile v3 (hfile/README.md)
 *
 *   hfile_writer_new, hfile_add*, hfile_finish (or hfile_abort)
 *   hfile_open, hfile_info / hfile_next_block / hfile_next_cell, hfile_close
 *
 * A file has one family. The same cells and options give the same bytes: no clock, no random
 * numbers. Bytes come from a source and go to a sink; a file can be either. A failed allocation is
 * RC_MEMORY.
 */
#ifndef SALTMILL_HFILE_H
#define SALTMILL_HFILE_H

#include "cell.h"
#include "error.h"
#include "run.h"
#include "table.h"

/* A source: where the bytes of an HFile come from. */
struct hfile_source {
	const char *name; /* for messages; valid until close */
	uint64_t bytes;	  /* size of the whole file */
	/* Fill `to` with len bytes from offset on; the range is always within the file. */
	int (*read)(void *self, uint64_t offset, void *to, size_t len, struct error *err);
	void (*close)(void *self); /* releases self; NULL: nothing to do */
	void *self;
};
/* Open a regular file as a source. */
int hfile_file_source(struct hfile_source *out, const char *path, struct error *err);
/*
 * Count the source's bytes in p (run.h): each byte when it is first read, the rest at close.
 * RC_MEMORY: the source is closed.
 */
int hfile_source_watch(struct hfile_source *s, struct progress *p, struct error *err);

/*
 * A sink: where the bytes go. The last call is exactly one of finish and abort, which releases
 * self.
 */
struct hfile_sink {
	const char *name; /* for messages; valid until then */
	int (*append)(void *self, const void *ptr, size_t len, struct error *err);
	/* Make the file permanent. digest: XXH3-128 of all bytes, or unchanged (zeros). */
	int (*finish)(void *self, uint8_t digest[16], struct error *err);
	void (*abort)(void *self);
	void *self;
};

/*
 * Compression contexts and buffers that the writers of one thread share, because their first use
 * costs more than later ones. Writers may be open together or one after another. It must outlive
 * them.
 */
struct hfile_scratch;
struct hfile_scratch *hfile_scratch_new(void);	  /* NULL: no memory; work without it */
void hfile_scratch_free(struct hfile_scratch *s); /* NULL is fine */

/* Options of a writer. {0}: no compression, no encoding, no bloom filter. */
struct hfile_options {
	struct bytes family; /* empty: the first cell's */
	enum codec codec;
	int level;	   /* 0: ZSTD 3, GZ 6 */
	uint32_t hash_log; /* ZSTD: log2 of the hash table's entries; 0: from the level */
	/* ZSTD: for sequences made here, 4 to 8; 0: zstd finds matches itself */
	uint32_t min_match;
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
	bool mvcc; /* store an mvcc of zero in each cell, as HFileOutputFormat2 does */
	/* store each cell's tags, as HFileOutputFormat2 does; if false, tags are not allowed */
	bool tags;
	struct hfile_scratch *scratch; /* NULL: the writer has its own */
	/*
	 * Threads that help to compress; NULL: none. The bytes are the same. Their memory is taken
	 * from the budget (NULL: no limit); without it there is no help. Both outlive the scratch.
	 */
	struct helpers *helpers;
	struct budget *budget;
	/* only for hfile_writer_new: */
	size_t file_buffer_bytes; /* 0: 256 KiB */
	bool temporary;		  /* the finished file need not be on disk */
	struct syncer *syncer;	  /* syncs the finished file (io.h); NULL: hfile_finish waits */
};

/*
 * Bytes of every file: the trailer alone; and about so many with root index, file info and bloom
 * meta.
 */
#define HFILE_TRAILER_BYTES 4096
#define HFILE_FIXED_BYTES   (HFILE_TRAILER_BYTES + 1024)

/* A summary of what was written; release with hfile_summary_release. */
struct hfile_summary {
	uint64_t cells, rows;
	uint64_t file_bytes;
	uint64_t cell_bytes; /* uncompressed KeyValues, without tags and mvcc */
	uint64_t data_blocks;
	struct buf first_row, last_row; /* row keys */
	int64_t min_ts, max_ts;
	/* XXH3-128 of the file's bytes; zeros if the sink does not compute it */
	uint8_t digest[16];
};
void hfile_summary_release(struct hfile_summary *s);

struct hfile_writer;

/* Create the file at path, which must not exist. opt is copied. On failure *out is NULL. */
int hfile_writer_new(struct hfile_writer **out, const char *path, const struct hfile_options *opt,
		     struct error *err);
/* The same for a sink, which the writer takes over: it is aborted if this call fails. */
int hfile_writer_new_to(struct hfile_writer **out, const struct hfile_sink *sink,
			const struct hfile_options *opt, struct error *err);
/*
 * Add the next cell; its bytes are copied. RC_ORDER: it sorts before the previous cell. RC_LIMIT: a
 * part is too long for the format. RC_DATA: it has another family; empty means the file's. Its mvcc
 * is not stored: a server gives the cells of a file the sequence id of the bulk load. Write errors
 * may appear only in hfile_finish. After RC_MEMORY or RC_IO only hfile_abort is allowed.
 */
int hfile_add(struct hfile_writer *w, const struct cell *c, struct error *err);
/*
 * The same for several cells of one row. The row key of the first cell is compared once with the
 * previous row.
 */
int hfile_add_row(struct hfile_writer *w, const struct cell *cells, size_t count,
		  struct error *err);
/*
 * The same for values of known columns, all with one timestamp; this is the fastest way.
 * CELL_ROOM_BYTES from row.ptr on may be read.
 */
int hfile_add_values(struct hfile_writer *w, struct bytes row, int64_t ts,
		     const struct cell_value *values, size_t count, struct error *err);
/* Return about the file's size if it were finished now, as far as blocks are written. */
uint64_t hfile_bytes_so_far(const struct hfile_writer *w);
/*
 * Tell whether hfile_bytes_so_far is at least bytes once all full blocks are written; they are
 * written first if needed. The answer is the same with and without helpers.
 */
int hfile_reached(struct hfile_writer *w, uint64_t bytes, bool *reached, struct error *err);
/*
 * Write index, file info, bloom filter, trailer; finish the sink; fill *sum.  Frees w whatever the
 * result.
 */
int hfile_finish(struct hfile_writer *w, struct hfile_summary *sum, struct error *err);
/* Abort the sink (for a path: unlink the file) and free w. NULL is fine. */
void hfile_abort(struct hfile_writer *w);

/* ZSTD settings that hfile_tune found. */
struct hfile_tuning {
	int level;
	uint32_t hash_log, min_match;
	uint64_t plain_bytes, stored_bytes; /* size of the tried blocks, before and after */
};
/* A file opened for reading. One thread at a time. */
struct hfile;

/*
 * Try settings on the data blocks of an uncompressed file and choose the best for the aim. Time is
 * estimated from sizes without a clock, so every machine chooses the same.
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
 * Open a file: read trailer, root index, file info and bloom meta, and verify the checksum of each
 * block. RC_DATA, with path and offset: the format is violated. Both framings of ZSTD are
 * recognised.
 */
int hfile_open(struct hfile **out, const char *path, struct error *err);
/* The same for a source, which is taken over: hfile_close closes it, or this call if it fails. */
int hfile_open_source(struct hfile **out, const struct hfile_source *source, struct error *err);
void hfile_close(struct hfile *f);
const struct hfile_trailer *hfile_trailer(const struct hfile *f);
/*
 * Get the options with which another file reads the same in HBase: codec, framing, encoding, bloom
 * filter, tags, mvcc, times, task. A file does not record its level, block_bytes and family; they
 * stay zero.
 */
void hfile_options_of(const struct hfile *f, struct hfile_options *out);

/* Get file info entry i, in stored order, or RC_END. */
int hfile_info(const struct hfile *f, size_t i, struct bytes *key, struct bytes *value);
/* Get file info by name; false: it is absent. */
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
 * Walk all blocks from offset 0 (*at = 0) to the trailer, with checksums verified and payload
 * decompressed. *at advances, also past a damaged block if its header is valid (otherwise it
 * stays). RC_END after the last block. A walk without damage has checked that each block is in its
 * section and links to the previous block of its type, and that the trailer's numbers about blocks
 * are right; otherwise RC_DATA.
 */
int hfile_next_block(struct hfile *f, uint64_t *at, struct hfile_block *out, struct error *err);

/*
 * Walk all cells in file order; *out is valid until the next call. Start with hfile_rewind. A walk
 * from the first cell to RC_END has checked that the cells match the trailer's count and are in
 * order, and that blocks are adjacent and link to the previous one; otherwise RC_DATA or RC_ORDER.
 */
void hfile_rewind(struct hfile *f);
int hfile_next_cell(struct hfile *f, struct cell *out, struct error *err);
/* How a cell differs from the previous cell in the file. */
enum hfile_step { HFILE_NEW_ROW, HFILE_NEW_COLUMN, HFILE_SAME_COLUMN };
#define HFILE_BATCH 256
struct hfile_batch {
	struct cell cells[HFILE_BATCH];
	uint8_t step[HFILE_BATCH]; /* enum hfile_step; the first entry is undefined */
	size_t n;
	bool plain; /* all are Puts without tags */
};
/*
 * The same for many cells of one block: at least one, or the result of hfile_next_cell. They are
 * valid until the next call.
 */
int hfile_next_batch(struct hfile *f, struct hfile_batch *b, struct error *err);
/* Go to the first cell that is not before key (cell_first: the first of a row or column). */
int hfile_seek(struct hfile *f, const struct cell *key, struct error *err);
/* Find the greatest row with a cell before key, into row; RC_END: there is none. */
int hfile_row_before(struct hfile *f, const struct cell *key, struct buf *row, struct error *err);
/* The blocks that were read so far. */
struct hfile_reads {
	uint64_t data, index, bloom;
	uint64_t opening; /* the load-on-open blocks, together at the file's end */
	uint64_t of_data; /* data blocks in the file */
};
struct hfile_reads hfile_reads(const struct hfile *f);

struct hfile_index_entry {
	uint64_t offset;
	uint32_t disk_bytes;
	struct bytes key; /* flat key */
};
/* Get root index entry i or RC_END. */
int hfile_root_entry(const struct hfile *f, size_t i, struct hfile_index_entry *out);

struct hfile_bloom {
	bool present;
	enum bloom_type type;
	uint32_t hash_count, chunks;
	uint64_t keys, max_keys, bytes;
};
void hfile_bloom(const struct hfile *f, struct hfile_bloom *out);
/*
 * Test the bloom filter: *out false means the key is not in the file. True if there is no filter.
 */
int hfile_may_contain(struct hfile *f, struct bytes row, struct bytes qualifier, bool *out,
		      struct error *err);
/*
 * The same for a delete of the row's family, by the filter that files with such deletes may have.
 */
int hfile_may_delete(struct hfile *f, struct bytes row, bool *out, struct error *err);

/*
 * Verify a whole file: every checksum, the block chain, index against blocks, cell order, counts
 * against trailer, first and last key, averages, time range, every bloom key found. Fills *sum as
 * the writer would.
 */
int hfile_verify(const char *path, struct hfile_summary *sum, struct error *err);
/* The same for an open file; the digest stays zero. */
int hfile_verify_open(struct hfile *f, struct hfile_summary *sum, struct error *err);

#endif
