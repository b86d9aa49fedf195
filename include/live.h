/*
 * live.h - the questions of query.h asked of a live table: its regions scanned side by side
 *
 *   live_open, live_next*, live_explain, live_close
 *
 * The answer is what query.h gives of files with the same cells; TTL, delete markers and VERSIONS
 * are the servers'.  A row is given whole, as it was at one moment, whatever breaks meanwhile: a
 * scan that a server does not go on with, of a region that moved or was split, is gone on with
 * behind the last whole row.  Memory is up to two answers of a server for each region that is
 * scanned, and a row.
 */
#ifndef SALTMILL_LIVE_H
#define SALTMILL_LIVE_H

#include "hbase.h"
#include "query.h"

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
