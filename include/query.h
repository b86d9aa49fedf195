/*
 * query.h - gets and scans with HBase's rules, over the HFiles of a table or over a live table
 *
 *   query_open, query_next*, query_explain, query_close               HFiles
 *   published_open, query_open(p.families, ...), published_release    HFiles of published loads
 *   live_open, live_next*, live_explain, live_close                   a live table
 *
 * The rules are those of HBase 2.6 (pipeline/read/query/README.md). Memory is one block for each
 * open file, and only files whose row keys overlap are open, so answers of any size stream. With a
 * filter or a judge, one row is in memory besides.
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

/* A column family, in the order of names. {0} except the name: HBase's defaults. */
struct query_family {
	struct bytes name;
	uint32_t versions; /* VERSIONS; 0: 1 */
	uint32_t min_versions;
	int64_t ttl_ms; /* 0: cells do not expire */
	enum keep_deleted keep_deleted;
};

/*
 * A file of a family. Among equal cells, the one with the greatest age_rank wins: the newest load.
 */
struct query_file {
	/* Return the source of its bytes; called only if the file is opened. */
	int (*open)(const struct query_file *f, struct hfile_source *out, struct error *err);
	const char *name; /* for open, and for query_explain */
	size_t family;	  /* index in the query's families */
	uint64_t age_rank;
	struct bytes first_row, last_row; /* first empty: unknown */
	struct progress *progress;	  /* NULL: not counted */
};
/* The query_file.open of a path; read bytes count in its progress. */
int query_open_path(const struct query_file *f, struct hfile_source *out, struct error *err);

/* A column to read; all: the whole family. */
struct query_column {
	size_t family;
	struct bytes qualifier;
	bool all;
};

/* Rows from start to before stop; empty: open. */
struct query_range {
	struct bytes start, stop;
};

/* A condition besides the filter: it gets each row that the filter passes, whole. */
struct query_judge {
	/* Decide by the row key alone; false: skip the row. */
	bool (*row_key)(void *ctx, struct bytes row);
	/*
	 * Keep the cells of the answer, in their order. The input is up to VERSIONS of the family
	 * for each column. Afterwards the query's versions limit is applied.
	 */
	int (*cells)(void *ctx, struct cell *cells, size_t *n, struct error *err);
	void *ctx;
};

/* {0}: all rows, the newest version of each column. */
struct query {
	struct bytes start, stop; /* in a reversed scan start is the greatest; empty: open */
	/* Replaces start and stop: rising, without overlap; NULL: use start and stop. */
	const struct query_range *ranges;
	size_t nranges;
	/*
	 * Return rows in the order of the key after this many bytes, which all rows of a range
	 * share; 0: in key order
	 */
	size_t salt_bytes;
	bool start_exclusive, stop_inclusive;
	bool get; /* read only the row start */
	bool reversed;
	bool raw;		/* everything stored, including delete markers */
	uint32_t versions;	/* 0: 1 */
	int64_t from_ms, to_ms; /* cells with from_ms <= timestamp < to_ms; both 0: all */
	const struct query_column *columns; /* none: all families */
	size_t ncolumns;
	uint64_t limit; /* rows; 0: no limit */
	/* of a row, each in its newest version (ColumnPaginationFilter); 0: no limit */
	uint64_t max_columns;
	uint64_t family_limit, family_offset; /* cells of a family in a row; limit 0: no limit */
	int64_t now_ms;			      /* for TTL */
	struct filter *filter;		      /* after filter_open; NULL: none */
	const struct query_judge *judge;      /* NULL: none */
};

/*
 * Prepare a filter for one scan. It has counters and other state, so close it before you open it
 * for another scan. RC_CONFIG: a regular expression or a range is invalid. Call filter_close in any
 * case.
 */
int filter_open(struct filter *f, struct error *err);
void filter_close(struct filter *f); /* NULL is fine */
/* True if no later row can pass. */
bool filter_all_remaining(const struct filter *f);

struct query_scan;

/* Does row a come before row b in a salted scan? Rows are in the order of the key after the salt. */
bool query_row_before(const struct query *q, struct bytes a, struct bytes b);
/* Do both ranges have the same salt? All rows of a range have one salt. */
bool query_same_salt(const struct query *q, const struct query_range *a,
		     const struct query_range *b);

/*
 * Append the first row after all rows that begin with prefix; nothing if there is none. False: no
 * memory.
 */
bool query_prefix_stop(struct buf *out, struct bytes prefix);

/* RC_CONFIG: HBase would reject the query too: a raw scan that names columns. */
int query_check(const struct query *q, struct error *err);
/*
 * Convert start and stop, whatever they include and in either order, to a range; its bytes are in
 * room. False: no memory.
 */
bool query_bounds(const struct query *q, struct buf *room, struct query_range *out);

/*
 * Start a scan. Everything is borrowed until query_close. RC_CONFIG: as query_check. No file is
 * read yet.
 */
int query_open(struct query_scan **out, const struct query_family *families, size_t nfamilies,
	       const struct query_file *files, size_t nfiles, const struct query *q,
	       struct error *err);
/* Get the next cell: rows in scan order, cells in the order of the row. RC_END after the last. */
int query_next(struct query_scan *s, struct cell *out, struct error *err);
/* True if the last returned cell is the first of its row. */
bool query_starts_row(const struct query_scan *s);
/* Count the remaining rows and cells. The same as query_next until RC_END, but faster. */
int query_count(struct query_scan *s, uint64_t *rows, uint64_t *cells, struct error *err);

/* Why a file was not read, or what was read of it. */
struct query_why {
	const char *name;
	const char *spared;	  /* the reason why it was not read; NULL: it was read */
	struct hfile_reads reads; /* of_data 0: it was not opened */
};
/* Explain file i of query_open, for the scan so far. */
void query_explain(const struct query_scan *s, size_t i, struct query_why *out);
void query_close(struct query_scan *s); /* NULL is fine */

/* --- published: a table in published loads, as families and files of a query --- */

struct published {
	struct query_family *families; /* in the order of their names */
	size_t nfamilies;
	struct query_file *files;
	size_t nfiles;
	struct arena arena; /* contains all the data */
};

/*
 * Find the files of a table in loads, oldest load first; a later load wins, as a later bulk load
 * would. Without loads it gives only the families. RC_DATA: a folder is not a load, or does not
 * contain the table. RC_CONFIG: the rules of a family are not supported (NEW_VERSION_BEHAVIOR).
 */
int published_open(struct published *out, const struct table *table, const char *const *dirs,
		   size_t ndirs, struct error *err);
void published_release(struct published *p);

/*
 * --- live: a query on a live table, with its regions scanned in parallel ---
 *
 * The answer equals the answer of query_open over files with the same cells. The servers apply TTL,
 * delete markers and VERSIONS. A row is returned whole, as it was at one moment, even if scans
 * break: if a server cannot continue a scan, or its region moved or was split, a new scan continues
 * after the last whole row. Memory is up to two answers of a server for each scanned region, and
 * one row.
 */

struct live_options {
	struct hbase *hbase;
	const char *table;
	const struct query_family *families; /* as for query_open; only their names are used */
	size_t nfamilies;
	bool more_families; /* the table has other families, which are left out */
	/* its filter, raw columns and family limits are not supported here */
	const struct query *query;
	/*
	 * A filter that every row of the answer passes, so that servers can leave out other rows
	 * (put_filter in hbase/rpc/encode.h). The query's judge checks the rows that come. NULL:
	 * none.
	 */
	const struct filter *filter;
	bool no_values;	  /* only keys are needed: servers may leave out values */
	unsigned threads; /* 0: 8 */
	uint64_t bytes;	  /* limit for waiting answers; 0: 32 MiB */
};

struct live_scan;
/*
 * Read the table's regions and start. Everything except the options struct is borrowed until
 * live_close. RC_CONFIG: as query_open; RC_IO: the cluster does not answer.
 */
int live_open(struct live_scan **out, const struct live_options *o, struct error *err);
/* Get the next cell, as query_next; valid until the next call. */
int live_next(struct live_scan *s, struct cell *out, struct error *err);
bool live_starts_row(const struct live_scan *s);
void live_close(struct live_scan *s); /* NULL is fine */

/* A scanned region, or the rest of one, and what it returned. */
struct live_visit {
	const char *region; /* encoded name */
	struct hbase_place place;
	struct bytes start, stop; /* rows; empty: open */
	size_t ranges;		  /* number of separate key ranges between them */
	uint64_t rows, cells, bytes, calls;
	const char *broken; /* why another scan continued it; NULL: it ended normally */
};
struct live_explained {
	struct live_visit *visits; /* in the order of the answer, one salt after the other */
	size_t nvisits;
	/* regions of the table; spans of the query: key ranges within one region */
	size_t regions, spans;
	bool limited, paged,
		no_values; /* done by the servers: limit, max_columns, values left out */
	/* servers rejected the filters or failed on them: all filtering was done here */
	bool unfiltered;
};
/*
 * Explain a scan that has ended or is given up; it borrows from the scan. Release visits with
 * mem_free.
 */
void live_explain(struct live_scan *s, struct live_explained *out);

#endif
