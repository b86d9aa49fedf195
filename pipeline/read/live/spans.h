/*
 * spans.h - a live scan on its way (inside pipeline/read/live only)
 *
 * A stream is what is given in one order: the whole answer, or one bucket of a salt.  It is cut at
 * the regions that there were at the start into spans, which are fetched side by side
 * (live_fetch.c) and given one behind the other (live_rows.c).
 */
#ifndef SALTMILL_LIVE_SPANS_H
#define SALTMILL_LIVE_SPANS_H

#include <pthread.h>
#include <stdatomic.h>

#include "query.h"
#include "mem.h"

/* An answer of a server that waits to be given. */
struct fetched {
	struct fetched *next;
	struct hbase_batch batch;
	bool again; /* the row that was not at its end begins anew, or is gone */
};

enum span_state { SPAN_IDLE, SPAN_BUSY, SPAN_DONE, SPAN_FAILED };

struct live_span {
	const struct query_range *ranges; /* rising */
	size_t nranges;
	/* of the thread that has it in hand */
	struct hbase_scanner scanner;
	struct buf at;		     /* forward: rows from here on; reversed: before here */
	bool at_end;		     /* reversed: before nothing */
	bool finished;		     /* nothing is left */
	bool filtered;		     /* the scanner has a filter */
	struct buf name, start, end; /* of the region that it is in */
	struct hbase_place place;
	struct buf last; /* row that came last, which may go on */
	bool has_last;
	bool again; /* said with the next batch */
	uint64_t rows;
	unsigned attempt, map_age;
	struct live_visit *visits;
	size_t nvisits;
	struct arena arena; /* of visits */
	/* under the lock */
	enum span_state state;
	struct fetched *first, **last_fetched;
	size_t nfetched;
	int64_t touched_ms;
	struct error err; /* SPAN_FAILED */
};

struct live_stream {
	struct live_span *spans;
	size_t nspans, given; /* given: the span that is given from */
	struct fetched *held; /* that the row's cells lie in, the current one first */
	struct bytes rest;    /* of its cells */
	struct cell next;
	bool has_next;
	struct cell *cells; /* of the row */
	size_t n, cap, give;
};

struct live_scan {
	struct live_options o;
	struct query q; /* with ranges */
	struct query_range whole;
	struct buf bound; /* of it */
	struct hbase_columns *columns;
	size_t ncolumns;
	struct bytes *qualifiers;
	uint32_t versions;
	uint64_t bytes_a_call;
	struct filter page, keys; /* what servers may do of the question besides */
	bool limited;
	_Atomic bool unfiltered;
	struct arena arena; /* of ranges */
	/* regions as last told */
	pthread_mutex_t map_lock;
	struct hbase_regions map;
	unsigned map_age;
	size_t regions; /* at the start */
	/* --- */
	struct query_range *pieces;
	struct live_span *spans;
	size_t nspans;
	struct live_stream *streams, **heap;
	size_t nstreams, nheap;
	size_t ahead;
	bool started, new_row;
	uint64_t rows;
	pthread_t *workers;
	size_t nworkers, nworking; /* nworking: under the lock, those that are not at their end */
	bool unwatched;		   /* as who opened it (pool.h) */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic bool closing;
	atomic_bool left; /* what workers wait for is not waited for any more */
};

/* spans.c: cut the question's ranges at the regions of the map into streams and spans. */
void spans_cut(struct live_scan *s);

/*
 * Do servers count the rows up to the limit?  Not without filters, for then rows come that are not
 * of the answer.
 */
bool spans_limited(const struct live_scan *s);

/* What to ask of which region next. */
struct span_call {
	struct hbase_region region;
	struct hbase_scan scan;
	struct filter list, ranges;
	struct filter *members[4];
	struct filter_range *items;
};
/* RC_END: the span is at its end.  Release what was OK. */
int span_place(struct live_scan *s, struct live_span *p, struct span_call *out);
void span_call_release(struct span_call *c);
/* The region has given all. */
void span_leave_region(const struct live_scan *s, struct live_span *p);

/* live_fetch.c: threads that fetch ahead. */
int fetch_start(struct live_scan *s, struct error *err);
void fetch_stop(struct live_scan *s);
/* The next answer of a span, the caller's; *out NULL: it is at its end. */
int fetch_next(struct live_scan *s, struct live_span *p, struct fetched **out, struct error *err);
void fetched_free(struct fetched *f);

/* live_rows.c: the next row of a stream that has cells of the answer; RC_END: there is none. */
int stream_next_row(struct live_scan *s, struct live_stream *t, struct error *err);
void stream_release(struct live_stream *t);

#endif
