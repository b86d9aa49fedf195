/*
 * query.h - what a region server would answer: gets and scans over the HFiles of a table
 *
 *   query_open, query_next*, query_explain, query_close
 *
 * The rules are those of HBase 2.6 (pipeline/read/query/README.md).  Memory is a block a file that is
 * open, and no more are than overlap in their row keys; answers of any size stream.  With a filter
 * or a judge it is a row besides.
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

/* A column family, in the order of names.  {0} but the name: HBase's defaults. */
struct query_family {
	struct bytes name;
	uint32_t versions; /* VERSIONS; 0: 1 */
	uint32_t min_versions;
	int64_t ttl_ms; /* 0: cells live for ever */
	enum keep_deleted keep_deleted;
};

/* A file of a family.  Of equal cells that of the greatest age_rank is seen: the newest load. */
struct query_file {
	/* Give the source of its bytes; called when the file is opened, if it is. */
	int (*open)(const struct query_file *f, struct hfile_source *out, struct error *err);
	const char *name; /* what open needs, and in answers to "why" */
	size_t family;	  /* in the query's families */
	uint64_t age_rank;
	struct bytes first_row, last_row; /* first empty: not known */
	struct progress *progress;	  /* NULL: nobody looks */
};
/* query_file.open of a path; what is read of it is done in its progress. */
int query_open_path(const struct query_file *f, struct hfile_source *out, struct error *err);

/* A column that is asked for; all: the whole family. */
struct query_column {
	size_t family;
	struct bytes qualifier;
	bool all;
};

/* Rows from start to before stop; empty: open. */
struct query_range {
	struct bytes start, stop;
};

/* Who looks at rows besides: gets each that a filter leaves, whole. */
struct query_judge {
	/* By its key alone; false: the row is out. */
	bool (*row_key)(void *ctx, struct bytes row);
	/*
	 * Of cells, which are up to VERSIONS of the family of each column, leave those that are
	 * the answer, in their order; beyond the question's versions they are then cut.
	 */
	int (*cells)(void *ctx, struct cell *cells, size_t *n, struct error *err);
	void *ctx;
};

/* {0}: all rows, the newest version of each column. */
struct query {
	struct bytes start, stop; /* of a reversed scan start is the greatest; empty: open */
	/* Instead of start and stop, rising and apart; NULL: start and stop. */
	const struct query_range *ranges;
	size_t nranges;
	/* Rows in the order of the key behind so many bytes, which all rows of a range share; 0 */
	size_t salt_bytes;
	bool start_exclusive, stop_inclusive;
	bool get; /* start is the row, alone */
	bool reversed;
	bool raw;		/* all that is stored, markers too */
	uint32_t versions;	/* 0: 1 */
	int64_t from_ms, to_ms; /* cells with from_ms <= timestamp < to_ms; both 0: all */
	const struct query_column *columns; /* none: all families */
	size_t ncolumns;
	uint64_t limit;	      /* rows; 0: none */
	uint64_t max_columns; /* of a row, each in its newest version (ColumnPaginationFilter); 0 */
	uint64_t family_limit, family_offset; /* cells of a family in a row; limit 0: none */
	int64_t now_ms;			      /* for TTL */
	struct filter *filter;		      /* opened; NULL: none */
	const struct query_judge *judge;      /* NULL: none */
};

/*
 * Prepare a filter for one scan: it counts and remembers, so close it before it is opened for
 * another scan.  RC_CONFIG: a regular expression or a range is invalid.  Close it in any case.
 */
int filter_open(struct filter *f, struct error *err);
void filter_close(struct filter *f); /* NULL is fine */
/* True if no later row can pass. */
bool filter_all_remaining(const struct filter *f);

struct query_scan;

/* The first row behind all that begin with prefix, appended; nothing: there is none.  False: no
 * memory. */
bool query_prefix_stop(struct buf *out, struct bytes prefix);

/* RC_CONFIG: what HBase refuses too, a raw scan that names columns. */
int query_check(const struct query *q, struct error *err);
/*
 * The rows of start and stop, whatever they include and in whichever order they are, as a range
 * whose bytes are in room; false: no memory.
 */
bool query_bounds(const struct query *q, struct buf *room, struct query_range *out);

/*
 * Start.  All is borrowed until query_close.  RC_CONFIG: as query_check.  No file is
 * read yet.
 */
int query_open(struct query_scan **out, const struct query_family *families, size_t nfamilies,
	       const struct query_file *files, size_t nfiles, const struct query *q,
	       struct error *err);
/* The next cell of the answer, rows in scan order, a row's cells in theirs; or RC_END. */
int query_next(struct query_scan *s, struct cell *out, struct error *err);
/* Is the cell that was given last the first of its row? */
bool query_starts_row(const struct query_scan *s);
/* All that is left, counted alone: as query_next to its end, but quicker. */
int query_count(struct query_scan *s, uint64_t *rows, uint64_t *cells, struct error *err);

/* Why a file was not read, or what of it was. */
struct query_why {
	const char *name;
	const char *spared;	  /* NULL: it was read; else the reason */
	struct hfile_reads reads; /* of_data 0: it was not opened */
};
/* File i of query_open, as far as the scan has come. */
void query_explain(const struct query_scan *s, size_t i, struct query_why *out);
void query_close(struct query_scan *s); /* NULL is fine */

/*
 * --- a table of published loads as a query sees it: its families and all their files
 *
 *   published_open, query_open(p.families, ...), published_release
 */

struct published {
	struct query_family *families; /* in the order of their names */
	size_t nfamilies;
	struct query_file *files;
	size_t nfiles;
	struct arena arena; /* all of it */
};

/*
 * The files of a table in loads, oldest load first: the later one wins, as a later bulk load would.
 * Without loads its families alone.
 * RC_DATA when a folder is no load or holds nothing of the table, RC_CONFIG for a family that is
 * not read as HBase does (NEW_VERSION_BEHAVIOR).
 */
int published_open(struct published *out, const struct table *table, const char *const *dirs,
		   size_t ndirs, struct error *err);
void published_release(struct published *p);

/*
 * --- the questions of query.h asked of a live table: its regions scanned side by side
 *
 *   live_open, live_next*, live_explain, live_close
 *
 * The answer is what query.h gives of files with the same cells; TTL, delete markers and VERSIONS
 * are the servers'.  A row is given whole, as it was at one moment, whatever breaks meanwhile: a
 * scan that a server does not go on with, of a region that moved or was split, is gone on with
 * behind the last whole row.  Memory is up to two answers of a server for each region that is
 * scanned, and a row.
 */

struct live_options {
	struct hbase *hbase;
	const char *table;
	const struct query_family *families; /* as of query_open; of them the names count */
	size_t nfamilies;
	bool more_families;	   /* the table has others, which are left out */
	const struct query *query; /* filter, raw columns, limits of families: not here */
	/*
	 * What each row of the answer passes, so that servers may leave out the others (cluster's
	 * put_filter); the query's judge judges what comes.  NULL: none.
	 */
	const struct filter *filter;
	bool no_values;	  /* only keys are looked at: values need not come */
	unsigned threads; /* 0: 8 */
	uint64_t bytes;	  /* for answers that wait; 0: 32 MiB */
};

struct live_scan;
/*
 * Ask for the table's regions; everything but the options themselves is borrowed until live_close.
 * RC_CONFIG: for what query_open refuses; RC_IO: the cluster does not tell.
 */
int live_open(struct live_scan **out, const struct live_options *o, struct error *err);
/* The next cell of the answer, as query_next.  It stays until the next call. */
int live_next(struct live_scan *s, struct cell *out, struct error *err);
bool live_starts_row(const struct live_scan *s);
void live_close(struct live_scan *s); /* NULL is fine */

/* A region, or what was left of it, and what came from there. */
struct live_visit {
	const char *region; /* its encoded name */
	struct hbase_place place;
	struct bytes start, stop; /* rows; empty: open */
	size_t ranges;		  /* apart from each other, in those */
	uint64_t rows, cells, bytes, calls;
	const char *broken; /* why it was gone on with by another; NULL: it was not */
};
struct live_explained {
	struct live_visit *visits; /* in the order of the answer, salts one behind the other */
	size_t nvisits;
	size_t regions, spans; /* of the table; of the question, a span being rows of one region */
	bool limited, paged,
		no_values; /* done by the servers: limit, max_columns, values left out */
	bool unfiltered;   /* they refused the filters or broke on them: all was judged here */
};
/* Of a scan that is at its end or is left now; borrows from it.  Release with mem_free visits. */
void live_explain(struct live_scan *s, struct live_explained *out);

#endif
