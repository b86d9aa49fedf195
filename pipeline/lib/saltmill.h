/*
 * saltmill.h - libsaltmill: write and read HFiles of HBase, build and decode row keys of a job
 *
 * This header needs nothing but the C standard library. saltmill(3) explains the library and has two
 * programs.
 *
 *   sm_writer_open, sm_writer_add*, sm_writer_finish, sm_writer_close
 *   sm_reader_open, sm_reader_range or sm_reader_seek, sm_reader_next*, sm_reader_close
 *   sm_job_open, sm_job_encode*, sm_job_decode*, sm_job_close
 *
 * Results. A function that can fail returns SM_OK, SM_END or a negative code. The handle has the
 * sentence of its last failure. The library prints nothing, ends no process, sets no signal handler
 * and changes no locale.
 *
 * Handles. An open function sets its handle also if it fails, so that the sentence can be read; the
 * caller closes this handle, too. Only if there is no memory for the handle is it NULL, which all
 * functions accept: they return SM_MEMORY, and the sentence is "out of memory".
 *
 * Threads. Different threads may use different handles at once. Only one thread at a time may use a
 * handle. If the job file names a time zone, sm_job_open changes TZ in the environment for a moment.
 * So open such jobs before other threads use the environment or local times.
 *
 * Memory. Bytes that the caller passes are borrowed until the function returns, unless its comment
 * says more. Bytes that a function returns belong to the handle, until the next call with the handle.
 *
 * Versions. Programs for libsaltmill.so.1 work with each later libsaltmill.so.1. A struct with the
 * member `size` can grow at its end: set `size` to sizeof of the struct, and all other members that
 * you do not need to zero. The other structs never change.
 */
#ifndef SALTMILL_H
#define SALTMILL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SM_API __attribute__((visibility("default")))
#else
#define SM_API
#endif

/* Return the version of the library, such as "0.1.0". */
SM_API const char *sm_version(void);

/* --- results and cells --- */

enum {
	SM_OK = 0,
	SM_END = 1,	/* there are no more cells */
	SM_IO = -1,	/* the system failed, or the new file exists already */
	SM_MEMORY = -2, /* an allocation failed */
	SM_DATA = -3,	/* a damaged file, a cell that the format cannot have, or an invalid key */
	SM_ORDER = -4,	/* cells are out of order */
	SM_LIMIT = -5,	/* a size exceeds a limit of the format */
	SM_CONFIG = -6	/* an option, the job file or the order of the calls is wrong */
};

struct sm_bytes {
	const void *ptr; /* may be NULL if `len` is 0 */
	size_t len;
};

/* KeyValue.Type of HBase. Delete markers have no value. */
enum {
	SM_PUT = 4,
	SM_DELETE = 8,		       /* deletes the version with exactly this timestamp */
	SM_DELETE_FAMILY_VERSION = 10, /* deletes the versions of all columns with this timestamp */
	SM_DELETE_COLUMN = 12,	       /* deletes the column's versions up to this timestamp */
	SM_DELETE_FAMILY = 14	       /* deletes all columns' versions up to this timestamp */
};

/*
 * Cells have the order of HBase's CellComparator: row, family and qualifier as unsigned bytes, then
 * timestamp and type from high to low.
 */
struct sm_cell {
	struct sm_bytes row;	/* 1 to 32,767 bytes */
	struct sm_bytes family; /* 1 to 127 bytes; empty for a writer means the file's family */
	struct sm_bytes qualifier;
	struct sm_bytes value;
	struct sm_bytes tags; /* each tag: length of type and value (2 bytes), type (1), value */
	int64_t timestamp;    /* milliseconds, from 0 on */
	uint64_t mvcc;	      /* sequence id, which a writer ignores */
	uint32_t type;	      /* SM_PUT and so on; 0 for a writer means SM_PUT */
	uint32_t reserved;    /* 0 */
};

/* Counts of a whole file. Set `size` before the call. */
struct sm_counts {
	size_t size;
	uint64_t cells, rows, data_blocks, file_bytes;
	uint64_t cell_bytes; /* of the uncompressed KeyValues, without tags and mvcc */
	int64_t min_timestamp, max_timestamp;
};

/* --- write an HFile --- */

enum {
	SM_TAGS = 1,	   /* cells can have tags */
	SM_MVCC = 2,	   /* store an mvcc of 0 in each cell, as HFileOutputFormat2 does */
	SM_ZSTD_HADOOP = 4 /* frame ZSTD blocks for Hadoop's native codec, not for HBase's */
};

struct sm_writer_options {
	size_t size;
	/* names of HBase; NULL means NONE */
	const char *compression; /* NONE, GZ, SNAPPY, LZ4 or ZSTD */
	const char *encoding;	 /* NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1 */
	const char *bloom;	 /* NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH */
	const char *family;	 /* NULL means the family of the first cell */
	const char *source_task; /* BULKLOAD_SOURCE_TASK of the file info; NULL means empty */
	/* hfile.CREATE_TIME_TS and BULKLOAD_TIMESTAMP, in ms. The library reads no clock. */
	int64_t time_ms;
	uint32_t block_bytes;  /* size of a data block before compression; 0 means 65,536 */
	uint32_t bloom_prefix; /* bytes of the row, for ROWPREFIX_FIXED_LENGTH */
	int32_t level;	       /* of ZSTD and GZ; 0 means 3 for ZSTD and 6 for GZ */
	uint32_t flags;	       /* SM_TAGS and so on */
};

struct sm_writer;

/*
 * Begin a new file. Until sm_writer_finish, its bytes are in a temporary file in the same folder,
 * whose name begins with "_", so that HBase ignores it. Returns SM_IO if `path` exists. `options`
 * may be NULL.
 */
SM_API int sm_writer_open(struct sm_writer **out, const char *path,
			  const struct sm_writer_options *options);
/*
 * Append cells in order. Returns SM_ORDER, with both cells in the sentence, if a cell sorts before
 * the previous cell. Then, and after SM_DATA or SM_LIMIT, the file has the cells before this one, and
 * the caller may continue. After SM_IO or SM_MEMORY, only sm_writer_close is left.
 */
SM_API int sm_writer_add(struct sm_writer *w, const struct sm_cell *cells, size_t count);
/*
 * Write the end of the file, sync it, and give it its name. Never replaces a file. `counts` may be
 * NULL. If the function fails, there is no file. Returns SM_DATA if there are no cells.
 */
SM_API int sm_writer_finish(struct sm_writer *w, struct sm_counts *counts);
/* Return the sentence of the last failure, or "". */
SM_API const char *sm_writer_error(const struct sm_writer *w);
/* Free the handle. Without sm_writer_finish, also remove the temporary file. */
SM_API void sm_writer_close(struct sm_writer *w);

/* --- read an HFile --- */

struct sm_reader;

struct sm_info {
	size_t size;
	const char *compression, *encoding, *bloom; /* names as in sm_writer_options */
	struct sm_bytes first_row, last_row;
	uint64_t cells;
	uint64_t data_blocks; /* in the root of the index; all if index_levels is 1 */
	uint64_t file_bytes, bloom_keys;
	int64_t time_ms;       /* hfile.CREATE_TIME_TS, or 0 */
	uint32_t major, minor; /* version of the format */
	uint32_t index_levels;
	uint32_t flags; /* SM_TAGS and so on */
};

/* Counts of the blocks that a handle has read. */
struct sm_reads {
	size_t size;
	uint64_t data, index, bloom;
};

/* What some files need besides their own bytes. The open functions copy it. */
struct sm_reader_options {
	size_t size;
	/* for encrypted files: master keys of the cluster, 32 hex digits on each line */
	struct sm_bytes master_keys;
	/* for ZSTD with a dictionary: contents of files of hbase.io.compress.zstd.dictionary */
	const struct sm_bytes *dictionaries;
	size_t dictionary_count;
};

/* Open a file, version 2 or 3, and check its end. Start at the first cell. */
SM_API int sm_reader_open(struct sm_reader **out, const char *path);
/* Open the bytes of a file, which the handle borrows until sm_reader_close. */
SM_API int sm_reader_open_memory(struct sm_reader **out, const void *ptr, size_t len);
/*
 * Open a file or bytes with keys and dictionaries. `options` may be NULL. Returns SM_CONFIG if a key
 * or a dictionary is invalid, or if the file is encrypted and no key fits. No sentence contains a
 * key. If a dictionary is missing, the first function that reads a block with it returns SM_CONFIG.
 */
SM_API int sm_reader_open_with(struct sm_reader **out, const char *path,
			       const struct sm_reader_options *options);
SM_API int sm_reader_open_memory_with(struct sm_reader **out, const void *ptr, size_t len,
				      const struct sm_reader_options *options);
/*
 * Read the next cell. Checks checksums, links of blocks, order and, after a walk over the whole file,
 * the number of cells. Returns SM_END after the last cell. A failure stays until the next
 * sm_reader_range, sm_reader_seek or sm_reader_verify.
 */
SM_API int sm_reader_next(struct sm_reader *r, struct sm_cell *cell);
/* Read the next cells, at least one. The list belongs to the handle. */
SM_API int sm_reader_next_cells(struct sm_reader *r, const struct sm_cell **cells, size_t *count);
/*
 * Go to the first cell of a row that is not before `start`, and end before row `stop`. Empty means
 * the first row, and no end.
 */
SM_API int sm_reader_range(struct sm_reader *r, struct sm_bytes start, struct sm_bytes stop);
/*
 * Go to the first cell that is not before this row and column. The end of sm_reader_range remains.
 * Row, family and qualifier may be empty.
 */
SM_API int sm_reader_seek(struct sm_reader *r, struct sm_bytes row, struct sm_bytes family,
			  struct sm_bytes qualifier);
/*
 * Ask the Bloom filter. `*may` is 0 if the file has no cell of the row, or of the row and qualifier
 * with a filter ROWCOL. In a file without a filter, `*may` is 1.
 */
SM_API int sm_reader_may_contain(struct sm_reader *r, struct sm_bytes row,
				 struct sm_bytes qualifier, int *may);
/* Describe the file. */
SM_API int sm_reader_info(struct sm_reader *r, struct sm_info *info);
/* Get entry `i` of the file info. Returns SM_END if there are fewer entries. */
SM_API int sm_reader_meta(struct sm_reader *r, size_t i, struct sm_bytes *key,
			  struct sm_bytes *value);
/* Get the counts of the blocks read so far. */
SM_API int sm_reader_reads(struct sm_reader *r, struct sm_reads *reads);
/*
 * Verify the whole file: checksums, index, order, counts, averages, time range, and that the Bloom
 * filter has every key. `counts` may be NULL. Then go to the first cell.
 */
SM_API int sm_reader_verify(struct sm_reader *r, struct sm_counts *counts);
SM_API const char *sm_reader_error(const struct sm_reader *r);
SM_API void sm_reader_close(struct sm_reader *r);

/* The structs of Arrow's C stream interface, as arrow.apache.org defines them. */
struct ArrowArrayStream;
/*
 * Turn a reader into a stream of record batches of at most `rows` cells, 0 for 65,536. The columns
 * are row, family, qualifier (binary), timestamp (ms, UTC), type (uint8) and value (binary); with
 * SM_TAGS in the file also tags. A batch owns its memory. The stream owns the reader, and its release
 * closes the reader. Call sm_reader_range before. If the function fails, the caller keeps the reader.
 */
SM_API int sm_reader_to_arrow(struct sm_reader *r, struct ArrowArrayStream *out, size_t rows);

/* --- row keys of a job --- */

struct sm_job;

struct sm_field {
	const char *name;
	struct sm_bytes text;
};

/*
 * Open a job file for the row keys of one table. `table` may be NULL if the job has one table. The
 * library runs no code that a job names.
 */
SM_API int sm_job_open(struct sm_job **out, const char *path, const char *table);
/* Get the name of field `i` of the row key. Returns SM_END if the row key has fewer fields. */
SM_API int sm_job_field(struct sm_job *j, size_t i, const char **name);
/*
 * Build a row key of the fields' texts, in the form of the source. The fields can be in any order.
 * Salts and hashes follow from the fields. After SM_MEMORY, only sm_job_close is left.
 */
SM_API int sm_job_encode(struct sm_job *j, const struct sm_field *fields, size_t count,
			 struct sm_bytes *key);
/*
 * Decode a row key into its fields, in the order of the row key. Times are ISO 8601 in UTC. A NUL
 * follows each text. Returns SM_DATA if the key has another form, or a wrong salt or hash.
 */
SM_API int sm_job_decode(struct sm_job *j, struct sm_bytes key, const struct sm_field **fields,
			 size_t *count);
SM_API const char *sm_job_error(const struct sm_job *j);
SM_API void sm_job_close(struct sm_job *j);

#ifdef __cplusplus
}
#endif

#endif
