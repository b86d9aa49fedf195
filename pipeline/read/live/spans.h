/*
 * spans.h - the state of a live scan (inside pipeline/read/live only)
 *
 * A stream returns rows in one order: the whole answer, or one bucket of a salt. It is cut into
 * spans at the regions that exist at the start. Threads fetch the spans in parallel (live_fetch.c),
 * and live_rows.c returns them one after the other.
 */
#ifndef SALTMILL_LIVE_SPANS_H
#define SALTMILL_LIVE_SPANS_H

#include <pthread.h>
#include <stdatomic.h>

#include "query.h"
#include "mem.h"

/* An answer of a server that no reader has taken yet. */
struct fetched {
	struct fetched *next;
	struct hbase_batch batch;
	bool again; /* drop the incomplete row: it starts again, or was deleted */
};

enum span_state { SPAN_IDLE, SPAN_BUSY, SPAN_DONE, SPAN_FAILED };

struct live_span {
	const struct query_range *ranges; /* in rising order */
	size_t nranges;
	/* used only by the thread that works on the span */
	struct hbase_scanner scanner;
	struct buf at;		     /* forward: continue from this row; reversed: before it */
	bool at_end;		     /* reversed: start at the end of the table */
	bool finished;		     /* no rows are left */
	bool filtered;		     /* the scanner has a filter */
	struct buf name, start, end; /* of the current region */
	struct hbase_place place;
	struct buf last; /* the last row received; it may continue */
	bool has_last;
	bool again; /* set `again` in the next batch */
	uint64_t rows;
	unsigned attempt, map_age;
	struct live_visit *visits;
	size_t nvisits;
	struct arena arena; /* owns visits */
	/* under the lock */
	enum span_state state;
	struct fetched *first, **last_fetched;
	size_t nfetched;
	int64_t touched_ms;
	struct error err; /* if SPAN_FAILED */
};

struct live_stream {
	struct live_span *spans;
	size_t nspans, given; /* given: index of the span that is read */
	struct fetched *held; /* answers that contain the row's cells, the current one first */
	struct bytes rest;    /* unread cells of the current answer */
	struct cell next;
	bool has_next;
	struct cell *cells; /* of the current row */
	size_t n, cap, give;
};

struct live_scan {
	struct live_options o;
	struct query q; /* with ranges */
	struct query_range whole;
	struct buf bound; /* the bytes of whole */
	struct hbase_columns *columns;
	size_t ncolumns;
	struct bytes *qualifiers;
	uint32_t versions;
	uint64_t bytes_a_call;
	struct filter page, keys; /* filters that let servers do more of the query */
	bool limited;
	_Atomic bool unfiltered;
	struct arena arena; /* owns the bytes of ranges */
	/* the regions of the latest look-up */
	pthread_mutex_t map_lock;
	struct hbase_regions map;
	unsigned map_age;
	size_t regions; /* at the start */
	/* --- */
	struct query_range *pieces;
	struct live_span *spans;
	size_t nspans;
	struct live_stream *streams;
	struct heap heap; /* of streams */
	size_t nstreams;
	size_t ahead;
	bool started, new_row;
	uint64_t rows;
	pthread_t *workers;
	size_t nworkers, nworking; /* nworking: threads that still run; under the lock */
	bool unwatched;		   /* copied from the thread that opened the scan (pool.h) */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic bool closing;
	atomic_bool left; /* the workers' calls return at once */
};

/* spans.c: cut the query's ranges at the regions of the map into streams and spans. */
void spans_cut(struct live_scan *s);

/*
 * Do servers count the rows up to the limit? Not without filters, because then servers also return
 * rows that do not match.
 */
bool spans_limited(const struct live_scan *s);

/* The next request and its region. */
struct span_call {
	struct hbase_region region;
	struct hbase_scan scan;
	struct filter list, ranges;
	struct filter *members[4];
	struct filter_range *items;
};
/*
 * Prepare the next call of a span. RC_END: the span is at its end. After RC_OK the caller calls
 * span_call_release.
 */
int span_place(struct live_scan *s, struct live_span *p, struct span_call *out);
void span_call_release(struct span_call *c);
/* Go to the next region: this one has returned all its rows. */
void span_leave_region(const struct live_scan *s, struct live_span *p);

/* live_fetch.c: start and stop the threads that fetch ahead. */
int fetch_start(struct live_scan *s, struct error *err);
void fetch_stop(struct live_scan *s);
/*
 * Return the next answer of a span; the caller owns it. Sets *out to NULL at the end of the span.
 */
int fetch_next(struct live_scan *s, struct live_span *p, struct fetched **out, struct error *err);
void fetched_free(struct fetched *f);

/* live_rows.c: gather the next row of a stream that has cells to return. RC_END: there is none. */
int stream_next_row(struct live_scan *s, struct live_stream *t, struct error *err);
void stream_release(struct live_stream *t);

#endif
