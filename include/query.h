/*
 * query.h - gets and scans with HBase's rules, over the HFiles of a table or on a live table
 *
 *   query_open, query_next*, query_explain, query_close               HFiles
 *   compaction_open, compaction_next*, compaction_close               all cells of a family
 *   published_open, query_open(p.families, ...), published_release    HFiles of published loads
 *   offline_open, query_open(p.families, ...), published_release      store files of HBase
 *   live_open, live_next*, live_explain, live_close                   a live table
 *   diff_run                                                          two of these
 *   rewrite_run                                                       several as one load
 *   cells_sum                                                         a sum of the cells of one
 *
 * The rules are those of HBase 2.6 (pipeline/read/query/README.md). Answers of any size are
 * possible, because the query streams cells. The scan needs memory for one block of each open file,
 * and only files with overlapping row keys are open at once. With a filter or a judge, the scan
 * also holds one row.
 */
#ifndef SALTMILL_QUERY_H
#define SALTMILL_QUERY_H

#include "cell.h"
#include "filter.h"
#include "hfile.h"
#include "job.h"
#include "mem.h"
#include "hbase.h"

enum keep_deleted { KEEP_DELETED_FALSE, KEEP_DELETED_TRUE, KEEP_DELETED_TTL };

/*
 * A column family. A query has its families in the order of their names. In other members, 0 means
 * HBase's default.
 */
struct query_family {
	struct bytes name;
	uint32_t versions; /* VERSIONS; 0 means 1 */
	uint32_t min_versions;
	int64_t ttl_ms; /* TTL of the cells; 0 means that cells do not expire */
	enum keep_deleted keep_deleted;
};

/* The rows from `start` up to, but without, `stop`. Empty means unbounded. */
struct query_range {
	struct bytes start, stop;
};

/* The content of a MOB reference: a cell whose value HBase has moved to a MOB file. */
struct mob_reference {
	struct bytes table; /* the table that owns the MOB file: "ns:table" */
	struct bytes family, file;
	uint32_t bytes; /* size of the value */
};
/* The MOB files of an HBase. */
struct query_mobs {
	/* Set the source of a MOB file. The arena outlives the source. */
	int (*open)(const struct query_mobs *m, const struct mob_reference *r, struct arena *a,
		    struct hfile_source *out, struct error *err);
};

/*
 * A file of a family. If files have equal cells, the cell of the file with the greatest `age_rank`
 * (the newest load) wins.
 */
struct query_file {
	/*
	 * Return the source of the file's bytes. The scan calls this function only if it opens the
	 * file.
	 */
	int (*open)(const struct query_file *f, struct hfile_source *out, struct error *err);
	const char *name; /* name of the file, for `open` and for query_explain */
	size_t family;	  /* index in the query's families */
	uint64_t age_rank;
	struct bytes first_row, last_row; /* first_row empty means unknown */
	struct query_range rows; /* rows of the file that belong to the table; {0} means all */
	/* the scan leaves out other rows; if false, they are an error */
	bool is_half;
	/*
	 * A region server wrote or loaded the file. Sequence ids decide between equal cells of files
	 * with the same `age_rank` (README.md 1). `newer` is added to the file's sequence id.
	 */
	bool of_server;
	unsigned newer;
	const void *place; /* for `open` */
	/* has the values of MOB references; NULL means that a reference is an error */
	const struct query_mobs *mobs;
	const uint8_t *digest;	   /* XXH3-128 of the file, as the manifest has it; or NULL */
	struct progress *progress; /* NULL means no counting */
};
/*
 * Open a file by its path, as a function for query_file.open. f->progress counts the bytes that the
 * reader reads.
 */
int query_open_path(const struct query_file *f, struct hfile_source *out, struct error *err);

/* A column to read. If `all` is true, the scan reads the whole family. */
struct query_column {
	size_t family;
	struct bytes qualifier;
	bool all;
};

/* A condition in addition to the filter. The judge gets each whole row that passes the filter. */
struct query_judge {
	/* Decide by the row key alone. Returns false to skip the row. */
	bool (*row_key)(void *ctx, struct bytes row);
	/*
	 * Remove the cells that are not in the answer, and keep the order. The input has up to
	 * VERSIONS versions of each column. The scan applies the query's limit of versions after
	 * this call.
	 */
	int (*cells)(void *ctx, struct cell *cells, size_t *n, struct error *err);
	void *ctx;
};

/* A get or a scan. {0} means all rows, with the newest version of each column. */
struct query {
	/* empty means unbounded; in a reversed scan `start` is the greatest row */
	struct bytes start, stop;
	/*
	 * Ranges that replace `start` and `stop`, rising and without overlap. NULL means that
	 * `start` and `stop` apply.
	 */
	const struct query_range *ranges;
	size_t nranges;
	/*
	 * Number of first key bytes (the salt) that the order of rows ignores. All rows of a range
	 * have the same salt. 0 means key order.
	 */
	size_t salt_bytes;
	bool start_exclusive, stop_inclusive;
	bool get; /* read only the row `start` */
	bool reversed;
	bool raw;		/* return all stored cells, including delete markers */
	uint32_t versions;	/* most versions of a column; 0 means 1 */
	int64_t from_ms, to_ms; /* cells with from_ms <= timestamp < to_ms; both 0 means all */
	const struct query_column *columns; /* no columns means all families */
	size_t ncolumns;
	/*
	 * Read only the columns of this family whose qualifiers are in these ranges, which are in
	 * rising order and without overlap. Without spans, `columns` decides. The whole family must
	 * be in `columns`. Raw scans do not support spans.
	 */
	size_t span_family;
	const struct query_range *spans;
	size_t nspans;
	uint64_t limit; /* the most rows; 0 means no limit */
	/*
	 * the most columns of a row, each in its newest version (ColumnPaginationFilter); 0 means
	 * no limit
	 */
	uint64_t max_columns;
	/* cells of a family in a row; family_limit 0 means no limit */
	uint64_t family_limit, family_offset;
	int64_t now_ms; /* current time, for TTL */
	/* a filter prepared by filter_open; NULL means no filter */
	struct filter *filter;
	const struct query_judge *judge; /* condition on whole rows; NULL means no condition */
};

/*
 * Prepare a filter for one scan. A filter has counters and other state. Close the filter before you
 * open it for another scan. Returns RC_CONFIG if a regular expression or a range is invalid. Call
 * filter_close in any case.
 */
int filter_open(struct filter *f, struct error *err);
void filter_close(struct filter *f); /* NULL is fine */
/* Return true if no later row can pass. */
bool filter_all_remaining(const struct filter *f);

struct query_scan;

/*
 * Return true if row `a` comes before row `b` in a salted scan. Rows are in the order of the key
 * after the salt.
 */
bool query_row_before(const struct query *q, struct bytes a, struct bytes b);
/* Return true if both ranges have the same salt. All rows of a range have one salt. */
bool query_same_salt(const struct query *q, const struct query_range *a,
		     const struct query_range *b);

/*
 * Append the first row key after all row keys that begin with `prefix`. If there is no such key,
 * append nothing. Returns false if memory is short.
 */
bool query_prefix_stop(struct buf *out, struct bytes prefix);

/*
 * Limit a query to the rows that follow `row`, a row of its answer. If `included` is true, the
 * range includes that row. The new ranges are in the arena. `row` is borrowed. The query must not
 * be a get.
 */
void query_continue(struct query *q, struct bytes row, bool included, struct arena *a);

/* Check a query. Returns RC_CONFIG for a raw scan with columns, which HBase rejects. */
int query_check(const struct query *q, struct error *err);
/*
 * Convert `start` and `stop` to a range. The two keys may be inclusive or exclusive and in either
 * order. The range's bytes are in `room`. Returns false if memory is short.
 */
bool query_bounds(const struct query *q, struct buf *room, struct query_range *out);

/*
 * Start a scan, without reading a file. The query borrows all arguments until query_close. Returns
 * RC_CONFIG as query_check does.
 */
int query_open(struct query_scan **out, const struct query_family *families, size_t nfamilies,
	       const struct query_file *files, size_t nfiles, const struct query *q,
	       struct error *err);
/*
 * Get the next cell, in the order of the scan and of the row. Returns RC_END after the last cell.
 */
int query_next(struct query_scan *s, struct cell *out, struct error *err);
/* Return true if the last returned cell is the first of its row. */
bool query_starts_row(const struct query_scan *s);
/* Count the remaining rows and cells. This count is faster than calling query_next until RC_END. */
int query_count(struct query_scan *s, uint64_t *rows, uint64_t *cells, struct error *err);

/* The reason why the query skipped a file, or the blocks that it read. */
struct query_why {
	const char *name;
	/* the reason why the query skipped the file; NULL if it read the file */
	const char *spared;
	struct hfile_reads reads; /* of_data is 0 for a file that stayed closed */
};
/* Explain the reads of file `i` of query_open so far. */
void query_explain(const struct query_scan *s, size_t i, struct query_why *out);
void query_close(struct query_scan *s); /* NULL is fine */

/* --- compaction: the stored cells of one family, from several files in one order --- */

struct compaction_options {
	struct query_range rows;
	/* return all cells; if false, drop the cells that a major compaction of HBase drops */
	bool keep_all;
	int64_t now_ms; /* current time, for TTL */
	/* least EARLIEST_PUT_TS of the files; INT64_MIN if a file has none */
	int64_t earliest_put;
};
struct compaction;
/*
 * Start a compaction, without reading a file. The files are those of the family. The compaction
 * borrows all arguments except the options struct until compaction_close.
 */
int compaction_open(struct compaction **out, const struct query_family *family,
		    const struct query_file *files, size_t nfiles,
		    const struct compaction_options *o, struct error *err);
/*
 * Get the next cell. Equal cells of several files come one after the other, the newest first. The
 * cell is valid until the next call. Returns RC_END after the last cell.
 */
int compaction_next(struct compaction *c, struct cell *out, struct error *err);
/*
 * Return the greatest sequence id of the files that the compaction has read, or -1. The mvcc of a cell
 * is its sequence id, also in files whose cells all have that of the file.
 */
int64_t compaction_sequence(const struct compaction *c);
/* Return the number of cells that the compaction has read from file `i` of compaction_open. */
uint64_t compaction_cells(const struct compaction *c, size_t i);
void compaction_close(struct compaction *c); /* NULL is fine */

/* --- published: a table in published loads, as families and files of a query --- */

struct published {
	struct query_family *families; /* the families, in the order of their names */
	size_t nfamilies;
	struct query_file *files;
	size_t nfiles;
	struct storage *storage; /* of offline_open; else NULL */
	/* of offline_open and offline_open_loads: name and descriptor of the table, or NULL */
	const char *table;
	const struct description *description;
	/* their regions, or 0; and the split keys between the regions */
	size_t nregions;
	const struct bytes *split_keys; /* nregions - 1 keys */
	struct arena arena;		/* contains all the data */
};

/*
 * Find the files of a table in published loads. `dirs` lists the oldest load first. Cells of a
 * later load win, as with a later bulk load. Without loads, *out has only the families. Returns
 * RC_DATA if a folder is not a load, or does not contain the table. Returns RC_CONFIG if it does
 * not support the rules of a family (NEW_VERSION_BEHAVIOR).
 */
int published_open(struct published *out, const struct table *table, const char *const *dirs,
		   size_t ndirs, struct error *err);
/* Set the families of `out` to those of a job's table, as published_open does. */
int published_families(struct published *out, const struct table *table, bool of_files,
		       struct error *err);
/*
 * Append the files of table `name` in the load `dir`. `rank` is the age_rank of the files. The
 * families of `p` must have all families of the table.
 */
int published_add_load(struct published *p, const char *name, const char *dir, uint64_t rank,
		       struct error *err);
void published_release(struct published *p);

/*
 * --- offline: a table in HBase's own folders, without a region server ---
 *
 * The cells are those of the store files. Cells that no server has flushed are missing.
 */

enum offline_kind {
	OFFLINE_TABLE,	  /* the table's folder ROOT/data/NAMESPACE/TABLE */
	OFFLINE_SNAPSHOT, /* ROOT/.hbase-snapshot/NAME */
	/*
	 * a folder of HFiles, or of families with HFiles, as for a bulk load. The families keep all
	 * versions.
	 */
	OFFLINE_HFILES
};
struct offline_place {
	enum offline_kind kind;
	const char *uri; /* URI of storage.h; NULL means no place */
	const struct storage_options *storage;
};
/*
 * Find the store files of a table or a snapshot, with the families of its descriptor. Returns
 * RC_DATA if a file or a region is missing or damaged. Returns RC_CONFIG if the rules of a family
 * are not supported (NEW_VERSION_BEHAVIOR). A query opens MOB files when it returns their values.
 */
int offline_open(struct published *out, const struct offline_place *place, struct error *err);
/*
 * Find the files of a table in published loads as published_open does, but without a job. The
 * families are those of the newest load's create.rb. `table` may be NULL if the loads have one
 * table. Returns RC_CONFIG if they have several.
 */
int offline_open_loads(struct published *out, const char *table, const char *const *dirs,
		       size_t ndirs, struct error *err);
/*
 * Keep only the families of `table`. The listener gets a sentence for each other family. Families of
 * OFFLINE_HFILES get the rules of `table`. Returns RC_CONFIG if a family of `table` is missing.
 */
int offline_restrict(struct published *p, enum offline_kind kind, const struct table *table,
		     const struct listener *listener, struct error *err);
struct verify_result;
/*
 * Verify each store file and each MOB file that they list once with hfile_verify_open. A problem is
 * a finding, as in verify_load.
 * `progress` may be NULL.
 */
int offline_verify(struct verify_result *out, const struct published *p, unsigned threads,
		   struct progress *progress, struct error *err);

/*
 * --- live: a query on a live table, with its regions scanned in parallel ---
 *
 * The answer is the same as that of query_open over files with the same cells. The servers apply
 * TTL, delete markers and VERSIONS. A returned row is whole and has the state of one moment. If a
 * server cannot continue a scan, or if its region moves or splits, a new scan continues after the
 * last whole row. Memory is up to two answers of a server for each scanned region, and one row.
 */

struct live_options {
	struct hbase *hbase;
	const char *table;
	/* as for query_open; the query uses only their names */
	const struct query_family *families;
	size_t nfamilies;
	bool more_families; /* the table has other families, which the scan leaves out */
	/* servers do not support filter, raw columns and family limits of this query */
	const struct query *query;
	/*
	 * A filter that all rows of the answer pass. Servers use the filter to leave out other rows
	 * (put_filter in hbase/rpc/encode.h). The query's judge checks the rows that the servers
	 * return. NULL means no filter.
	 */
	const struct filter *filter;
	bool no_values; /* the caller needs only keys, so servers may omit values */
	/* receives a sentence if a region does not answer, from any thread */
	struct listener listener;
	unsigned threads; /* most regions to scan at once; 0 means 8 */
	uint64_t bytes;	  /* limit for waiting answers; 0 means 32 MiB */
};

struct live_scan;
/*
 * Read the table's regions and start. The query borrows all data except the options struct until
 * live_close. Returns RC_CONFIG as query_open does, and RC_IO if the cluster does not answer.
 */
int live_open(struct live_scan **out, const struct live_options *o, struct error *err);
/* Get the next cell, as query_next does. The cell is valid until the next call. */
int live_next(struct live_scan *s, struct cell *out, struct error *err);
bool live_starts_row(const struct live_scan *s);
void live_close(struct live_scan *s); /* NULL is fine */

/* A scanned region, or the rest of one, and counts of its answer. */
struct live_visit {
	const char *region; /* encoded name */
	struct hbase_place place;
	struct bytes start, stop; /* row keys; empty means unbounded */
	size_t ranges;		  /* number of separate key ranges between `start` and `stop` */
	uint64_t rows, cells, bytes, calls;
	/* the reason why another scan continued this one; NULL if it ended normally */
	const char *broken;
};
struct live_explained {
	/* in the order of the answer; all regions of one salt are adjacent */
	struct live_visit *visits;
	size_t nvisits;
	/*
	 * number of regions of the table; number of the query's spans, which are key ranges within
	 * one region
	 */
	size_t regions, spans;
	bool limited, paged,
		no_values; /* the servers applied the limit or max_columns, or left out values */
	/*
	 * the servers rejected the filters or failed with them, so this process did all filtering
	 */
	bool unfiltered;
};
/*
 * Explain a scan that has ended or must stop. *out borrows from the scan. Release visits with
 * mem_free.
 */
void live_explain(struct live_scan *s, struct live_explained *out);

/* --- diff: compare the cells of two tables (pipeline/read/diff) --- */

/* A table to compare: files, or a live table. */
struct diff_side {
	const struct published *files; /* of a live table, only the names of its families */
	struct hbase *hbase;	       /* NULL means files */
	const char *table;	       /* name of the live table */
};

/* The first two are cells whose row, column, timestamp and type only one side has. */
enum diff_kind { DIFF_ONLY_A, DIFF_ONLY_B, DIFF_VALUE, DIFF_TAGS };
struct differing_cell {
	enum diff_kind kind;
	struct cell a, b; /* the side without the cell has {0} */
};

struct diff_options {
	/* `raw`, `versions`, `now_ms` and the time range apply to both sides, and start and stop */
	const struct query *query;
	size_t shown; /* most cells of `first` */
	unsigned threads;
	struct progress *progress; /* may be NULL */
	struct listener listener;  /* as in struct live_options */
};

struct diff_result {
	uint64_t rows[2], cells[2]; /* of A and B */
	uint64_t differing_rows, count[DIFF_TAGS + 1];
	struct differing_cell *first; /* the first differing cells, in the order of the table */
	size_t nfirst;
	struct arena arena; /* has the bytes of `first` */
};

/*
 * Compare all cells of two tables, in one pass over each. Both sides must have the same order, which
 * is that of a scan. Values are compared, and tags too if no side is live. The result is the same
 * for every number of threads. Memory is a block for each open file and thread, and `shown` cells
 * for each of 4 * threads key ranges. Release *out with arena_release in any case.
 */
int diff_run(struct diff_result *out, const struct diff_side side[2], const struct diff_options *o,
	     struct error *err);

/* --- rewrite: write the cells of tables as one load (pipeline/read/rewrite) --- */

struct splits;
struct manifest;

/* Settings that the families of a load have instead of those of the newest table. */
struct rewrite_change {
	const char *family;		      /* the changed family; NULL means all */
	bool codec, encoding, bloom, framing; /* the valid members of `to` */
	/* `block_bytes` 0 means no change; LEVEL_DEFAULT means the codec's default level */
	struct family to;
};

/*
 * The load has the row keys of another job. The key of a row is built from the fields of its old key and
 * from the newest values of its columns. Cells keep column, timestamp, type, value and tags.
 */
struct rekey_options {
	const struct job *from, *to;
	/* the job's tables; the families and regions of the load are those of `to_table` */
	const struct job_table *from_table, *to_table;
	/* an earlier state of the table, whose files rekey leaves out; NULL means none */
	const struct published *before;
	bool join_rows;	      /* several old rows may become one row; if false, they are an error */
	uint64_t memory;      /* bytes, for sorting */
	const char *temp_dir; /* NULL means the partial folder of the load */
};

struct rewrite_options {
	const char *name; /* "merge", "convert" or "rekey", for the manifest */
	/* the tables, the oldest first; the cells of a later table win over equal cells */
	const struct published *tables;
	size_t ntables;
	const char *output; /* a new folder of this machine; NULL with `what_if` */
	const char *table;  /* name of the load's table; NULL means that of the newest table */
	const struct splits *splits; /* NULL means the regions of the newest table */
	const struct rewrite_change *change;
	const struct rekey_options *rekey; /* NULL means that rows keep their keys */
	bool what_if;  /* write no load; measure settings that `change` leaves open */
	bool keep_all; /* as in struct compaction_options */
	/* write store files with the cells' sequence ids, instead of files for a bulk load */
	bool keep_sequence;
	int64_t now_ms;
	unsigned threads;
	struct progress *progress; /* may be NULL */
};
/*
 * Settings, and the file of a sample with these settings. Times are processor time of saltmill's own
 * reader, with the file in memory.
 */
struct rewrite_trial {
	enum codec codec;
	enum block_encoding encoding;
	uint32_t block_bytes;
	int level;
	bool current; /* the settings of the table */
	uint64_t bytes;
	uint64_t get_ns; /* all cells of a row, with a block that is not in memory yet */
	double scan_ns;	 /* for each cell of a scan of the whole file */
};
struct rewrite_estimate {
	const char *family;
	uint64_t cells; /* of all files */
	uint64_t sample_cells, sample_bytes;
	struct rewrite_trial *trials; /* the smallest file first; empty without cells */
	size_t ntrials;
};
struct rewrite_result {
	struct rewrite_estimate *estimates; /* of each family, with `what_if` */
	size_t nestimates;
	struct manifest *manifest; /* of the load; `filtered` is the number of dropped cells */
	bool stale_removed;	   /* removed the partial folder of a dead run */
	uint64_t old_rows;	   /* rows of the source, with `rekey` */
	struct arena arena;	   /* has the manifest */
};
/*
 * Publish a load with the cells of all tables. Each region has one file for each family with cells.
 * The bytes do not depend on `threads`. Memory is a block for each open file, and with `rekey` also
 * rekey->memory. `rekey` needs one table and `keep_all`. Returns RC_DATA if an
 * input is damaged or has a family that the newest table lacks. Returns RC_CONFIG if no table has a
 * name, if an attribute has no form in a script, or if the change or the new row key does not fit the
 * table. Release *out with arena_release in any case.
 */
int rewrite_run(struct rewrite_result *out, const struct rewrite_options *o, struct error *err);

/* The cells that a scan of all versions returns. */
struct cells_sum {
	uint64_t rows, cells;
	uint8_t digest
		[16]; /* sum of the hashes of all cells, which does not depend on their order */
};
struct cells_sum_options {
	const struct published *table;
	const struct rekey_options *keys; /* hash the new row key of each row; NULL means its own */
	int64_t now_ms;			  /* current time, for TTL */
	unsigned threads;
	struct progress *progress; /* may be NULL */
};
/*
 * Sum the cells of a table, in one pass and without room on disk. Two tables with equal sums have equal
 * cells. Returns RC_END if the new row keys need values of columns.
 */
int cells_sum(struct cells_sum *out, const struct cells_sum_options *o, struct error *err);

#endif
