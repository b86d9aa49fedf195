/*
 * spans.h - keep the state of a live scan (private to this folder)
 *
 * A stream returns the rows of the whole answer, or of one bucket of a salt, in one order. At the
 * start, spans.c cuts each stream into spans at the region boundaries. Threads fetch the spans in
 * parallel (live_fetch.c), and live_rows.c returns their rows in order.
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
	/* drop the incomplete row, because the server sends the row again or has deleted it */
	bool again;
};

enum span_state { SPAN_IDLE, SPAN_BUSY, SPAN_DONE, SPAN_FAILED };

struct live_span {
	const struct query_range *ranges; /* in rising order */
	size_t nranges;
	/* only the thread that works on the span uses the members below */
	struct hbase_scanner scanner;
	/* row from which a forward scan continues; a reversed scan continues before it */
	struct buf at;
	bool at_end;		     /* a reversed scan starts at the end of the table */
	bool finished;		     /* no more rows */
	bool filtered;		     /* the scanner has a filter */
	struct buf name, start, end; /* name and bounds of the current region */
	struct hbase_place place;
	struct buf last; /* the last row received; more cells of the row may follow */
	bool has_last;
	bool again; /* sets `again` in the next batch */
	uint64_t rows;
	struct hbase_attempts attempt;
	unsigned map_age;
	int64_t asked_ms; /* time of the first call since the last answer */
	bool reported;	  /* true if a warning named the silent region */
	struct live_visit *visits;
	size_t nvisits;
	struct arena arena; /* owns visits */
	/* the lock protects the members below */
	enum span_state state;
	struct fetched *first, **last_fetched;
	size_t nfetched;
	int64_t touched_ms;
	struct error err; /* valid if state is SPAN_FAILED */
};

struct live_stream {
	struct live_span *spans;
	size_t nspans, given; /* `given` is the index of the current span */
	struct fetched *held; /* answers with the row's cells, the current answer first */
	struct bytes rest;    /* unread cells of the current answer */
	struct cell next;
	bool has_next;
	struct cell *cells; /* cells of the current row */
	size_t n, cap, give;
};

struct live_scan {
	struct live_options o;
	struct query q; /* the query, with `ranges` set */
	struct query_range whole;
	struct buf bound; /* memory of `whole` */
	struct hbase_columns *columns;
	size_t ncolumns;
	struct bytes *qualifiers;
	uint32_t versions;
	uint64_t bytes_a_call;
	struct filter page, keys;    /* filters with which the servers do more of the work */
	struct filter *columns_only; /* passes the spans of qualifiers; may be NULL */
	bool limited;
	_Atomic bool unfiltered;
	struct arena arena; /* owns the bytes of ranges */
	/* the lock protects the regions of the latest look-up */
	pthread_mutex_t map_lock;
	struct hbase_regions map;
	unsigned map_age;
	size_t regions; /* number of regions at the start */
	struct query_range *pieces;
	struct live_span *spans;
	size_t nspans;
	struct live_stream *streams;
	struct heap heap; /* heap of streams */
	size_t nstreams;
	size_t ahead;
	bool started, new_row;
	uint64_t rows;
	pthread_t *workers;
	size_t nworkers, nworking; /* `nworking` counts the running threads, under the lock */
	bool unwatched;		   /* copied from the thread that opened the scan (pool.h) */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic bool closing;
	atomic_bool left; /* makes the workers' calls return at once */
};

/* Divide the query's ranges into streams, and these into spans at the regions (spans.c). */
void spans_cut(struct live_scan *s);

/*
 * Return true if servers count the rows up to the limit. Without filters servers cannot, because
 * they also return rows that do not match.
 */
bool spans_limited(const struct live_scan *s);

/* The next request and its region. */
struct span_call {
	struct hbase_region region;
	struct hbase_scan scan;
	struct filter list, ranges;
	struct filter *members[5];
	struct filter_range *items;
};
/*
 * Prepare the next call of a span. Return RC_END at the end of the span. After RC_OK, the caller
 * releases `*out` with span_call_release.
 */
int span_place(struct live_scan *s, struct live_span *p, struct span_call *out);
void span_call_release(struct span_call *c);
/* Go to the next region, because the current region has returned all its rows. */
void span_leave_region(const struct live_scan *s, struct live_span *p);

/* Start and stop the threads that fetch ahead (live_fetch.c). */
int fetch_start(struct live_scan *s, struct error *err);
void fetch_stop(struct live_scan *s);
/*
 * Return the next answer of a span. The caller owns the answer. Set `*out` to NULL at the end of
 * the span.
 */
int fetch_next(struct live_scan *s, struct live_span *p, struct fetched **out, struct error *err);
void fetched_free(struct fetched *f);

/*
 * Assemble the next row of a stream that has cells to return (live_rows.c). Return RC_END if no row
 * remains.
 */
int stream_next_row(struct live_scan *s, struct live_stream *t, struct error *err);
void stream_release(struct live_stream *t);

#endif
