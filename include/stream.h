/*
 * stream.h - `saltmill stream`: one complete, published load after the other, without end
 */
#ifndef SALTMILL_STREAM_H
#define SALTMILL_STREAM_H

#include <pthread.h>

#include "ingest.h"
#include "meter.h"

/* The lag of each topic, by one thread for others; lock is PTHREAD_MUTEX_INITIALIZER at first. */
struct topic_lags {
	pthread_mutex_t lock;
	struct topic_lag {
		char *topic;
		uint64_t lag;
	} * item;
	size_t n;
};
void topic_lags_release(struct topic_lags *l);

/* What can be seen from outside; any thread reads. */
struct stream_gauges {
	struct topic_lags *by_topic; /* of lag; NULL: nobody looks */
	_Atomic uint64_t lag;	     /* offsets behind the end of the topic, at the last look */
	_Atomic uint64_t loads, events, rejected; /* published since the start */
	_Atomic int64_t published_ms;		  /* wall clock of the last publication; 0: none */
	_Atomic uint64_t parked;  /* partitions of a shared topic that wait for somebody */
	_Atomic uint64_t missing; /* topics that were loaded and are not there, or kept from us */
	_Atomic int looked;	  /* the topic was looked at: the others are set */
	_Atomic int loading;	  /* a cut is being loaded */
	_Atomic uint64_t cut;	  /* offsets of the open cut, be it loaded or be it not due yet */
	_Atomic int64_t
		cut_since_ms; /* monotonic clock, its first event was seen; 0: it is empty */
};

struct stream_options {
	const struct load_options
		*load; /* output_dir: the parent of the loads; NULL: in the state */
	const char *state_dir;
	struct kafka_log log;
	struct stream_gauges *gauges;
	/* Called behind each publication; name: as `saltmill loads` lists it. */
	void (*published)(void *ctx, const char *name, const char *dir,
			  const struct load_result *result);
	/*
	 * Called when a sequence of loads becomes this process's (again), and when it is not any
	 * more, but for its end: the folder of its state, the prefix of its loads' names.  NULL:
	 * nobody asks.
	 */
	void (*holds)(void *ctx, const char *state_dir, const char *prefix, bool held);
	/* No load may be made now: it stays uncut until this is false.  NULL: never.  Any thread.
	 */
	bool (*full)(void *ctx);
	/* Loads that were made and wait for whom they are for: while there are any the next is cut
	 * later.  NULL: none.  Any thread. */
	uint64_t (*behind)(void *ctx);
	void *ctx;
};

/*
 * A cut is made of what the topic holds behind the positions, when it reaches roll.rows or
 * roll.bytes, or when its first event has waited for roll.time, and as long again for each load
 * that is behind, for half a minute at most: many small ones would only be later.  It is written
 * down as the intent before a message of it is read, so that the clock decides nothing twice.  Ends
 * with RC_STOPPED after a signal, nothing half done: the open cut is dropped and its offsets are
 * for the next run.
 */
int stream_run(const struct job *job, const struct stream_options *opt, struct progress *progress,
	       struct error *err);

/* One sequence of loads: of a topic, or of one partition that is shared by a group (partitions.h).
 */
struct stream {
	const struct stream_options *opt;
	struct ingest in;
	const char *prefix;   /* of the loads' names, "p00003/" */
	char *parent;	      /* of the loads, owned */
	double waiting_since; /* the open cut's first event was seen; 0: it is empty */
	double event_bytes;   /* of the last load */
	struct state_note seen;
	struct meter meter; /* of its events */
};

/* Finish what a crash left. */
int stream_recover(struct stream *s, struct error *err);
/* Tell who wants to know it (holds). */
void stream_held(const struct stream *s, const char *state_dir, bool held);
/* Is it time to cut?  The ranges are then the cut. */
bool stream_is_due(struct stream *s);
int stream_load_cut(struct stream *s, struct error *err);
/* After a look: what all streams together wait for, since when (waiting_since; 0: for nothing). */
void stream_show(struct stream_gauges *g, uint64_t lag, double since);
/* Of the ranges that have not been loaded, in a row for each topic. */
void stream_show_topics(struct stream_gauges *g, const struct job *job,
			const struct offset_range *ranges, size_t n);
/* For `saltmill status`. */
void stream_note(struct stream *s);

#endif
