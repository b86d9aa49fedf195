/*
 * stream.h - loads from Kafka: positions, ranges, and the protocol that ties both to a load
 *
 *   ingest_open, ingest_recover, [ingest_look -> ingest_load]*, ingest_close
 *
 * The conductor of the Kafka client (kafka.h), the state folder (state.h) and
 * load_run.
 */
#ifndef SALTMILL_STREAM_H
#define SALTMILL_STREAM_H

#include <pthread.h>

#include "load.h"
#include "kafka.h"
#include "state.h"
#include "clock.h"
#include "bytes.h"
#include "error.h"

struct ingest {
	const struct job *job;
	struct load_options load; /* of the caller, and kafka */
	struct progress *progress;
	struct listener listener;
	struct kafka *client;
	bool batch;    /* one load, not a stream: patient for minutes, not for ever */
	bool borrowed; /* client: it serves others too */
	bool claimed;  /* the group has noted positions by this client */
	/* Tell the group in place of the client; NULL: the client does. */
	int (*tell)(void *ctx, const struct offset_range *ranges, size_t n, struct error *err);
	void *tell_ctx;
	struct state *state; /* NULL: no state folder */
	const char *state_dir;
	char cluster[64];
	bool looks; /* nothing is to be written */
	/* topics with positions, said to be not there, or not the job's, any more */
	const char **gone;
	size_t ngone, nmissing; /* the job's that are not there, of them */
	/* what can be loaded now: from the position to the end, by topic and partition */
	struct offset_range *ranges;
	size_t nranges;
	uint64_t available; /* offsets in them */
};

/*
 * load: output_dir is not looked at.  state_dir: NULL for none.  Everything that can be refused is:
 * another process on the state, another topic, a position that is gone, a group that is ahead.  The
 * group is told the positions, so that others at work on them show.  *in is {0} before, but for
 * batch, a client to borrow and tell; ingest_close is due whatever the result.
 */
int ingest_open(struct ingest *in, const struct job *job, const struct load_options *load,
		const char *state_dir, const struct listener *listener, struct progress *progress,
		struct error *err);
void ingest_close(struct ingest *in);

/*
 * Finish the load that a crash interrupted: publish it, or see that it is published.  *dir is its
 * folder, NULL when there was none; *result is to be released either way.
 */
int ingest_recover(struct ingest *in, const char **dir, struct load_result *result,
		   struct error *err);

/*
 * For who only looks: the ranges that a load would take now, of a kafka source; of others, and with
 * files in its place (nfiles), nothing is opened and in->client stays NULL.  Nothing is written,
 * locked, nor told to the group; a state must be there already.  memory_bytes: of the command; the
 * client takes a part.  As with ingest_open, *in is {0} before and ingest_close is due.
 */
int ingest_peek(struct ingest *in, const struct job *job, size_t nfiles, uint64_t memory_bytes,
		const char *state_dir, const struct listener *listener, struct error *err);
/* Its client and ranges. */
struct source_topic ingest_view(const struct ingest *in);

/* Ask the brokers what there is: ranges and available. */
int ingest_look(struct ingest *in, struct error *err);
/* The same from what they have answered for the job's partitions. */
int ingest_see(struct ingest *in, const struct kafka_topic *t, struct error *err);
/* Publish the ranges as dir; a range may have been cut shorter than ingest_look left it. */
int ingest_load(struct ingest *in, const char *dir, struct load_result *result, struct error *err);

/*
 * `saltmill load` of a topic: finish what a crash left, then load what is there now as
 * load->output_dir.  When the former was that very folder it is the result, and what came later is
 * for the next run.
 */
int ingest_batch(const struct job *job, const struct load_options *load, const char *state_dir,
		 const struct listener *listener, struct progress *progress,
		 struct load_result *result, struct error *err);

/*
 * --- `saltmill stream`: one complete, published load after the other, without end ---
 */

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
	struct listener listener;
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

/*
 * --- a state folder as people look at it: one state, or one a partition
 * (shared_state.h)
 */

struct state_view {
	bool is_shared;
	struct shared shared;
	struct state **states;
	char **prefixes; /* of the loads' names: "p00003/", or "" */
	size_t n;
};

#define VIEW_ALL (-1)
/*
 * Open all that is in the folder, or of a shared one only that partition.  write: as state_open.
 * state_view_close is due whatever the result.
 */
int state_view_open(struct state_view *v, const char *dir, int32_t only, bool write,
		    struct error *err);
void state_view_close(struct state_view *v);

/* As `saltmill loads` lists it. */
struct state_view_load {
	const char *prefix;
	const struct state_load *load;
};
/* Oldest first; *out is owned by the caller whatever the result. */
int state_view_loads(const struct state_view *v, struct state_view_load **out, size_t *n,
		     struct error *err);

/*
 * --- does each published load follow the one before it?
 *
 * A load's manifest names the digest of the manifest before it, and the state keeps the digest of
 * each: a load that was changed, exchanged, or made with another copy of the state shows.
 */

/*
 * A load of a state against its folder and the load before it: what is wrong, as a sentence owned
 * by the caller, or NULL.  *gone: its folder is not there any more, which is wrong as long as
 * nobody has said that it was handed over (--loaded) or moved (--published).  One of before
 * manifests named each other is not looked into.
 */
char *manifest_chain_check(const struct state_load *l, bool *gone);
/*
 * The load alone: why the manifest in its folder is not, or may not be, the one that was published,
 * as a sentence owned by the caller.  NULL: it is that one, or gone.
 */
char *manifest_chain_content(const struct state_load *l);

/*
 * --- `saltmill seek`: positions set by hand, as far as can be told not to ones that cannot be ---
 */

/* What became of one position. */
struct seek_step {
	const char *topic; /* NULL: the state's only one, or the one without a name */
	int32_t partition;
	bool was_set; /* there was a position before, `from` */
	int64_t from, to;
	uint64_t lost; /* of the offsets that are skipped: the topic has no more */
	/* Loads that have offsets which will be read again. */
	size_t nloads;
	const char *first, *last; /* the oldest and the newest of them; NULL: none */
};

struct seek_result {
	struct seek_step *steps; /* those that were taken, also when a later one failed */
	size_t n;
	char why_unasked[760]; /* the broker was not asked what it has; "": it was */
	struct arena arena;
};
void seek_result_release(struct seek_result *r);

/*
 * The job that the state's loads were made by, as their newest manifest names it; owned by the
 * caller, NULL when none tells.
 */
char *seek_job_path(const char *state_dir);

/*
 * Set positions (end of each range; by topic and partition, each once; of one topic they need no
 * topic, and lose it where the state's places name none).  RC_CONFIG, and nothing is set: no such
 * state, a partition or an offset that the topic has not.  The latter is asked of the brokers of
 * job; NULL, or none that answers soon: only what the state knows is checked.
 */
int seek_run(const char *state_dir, const struct job *job, struct offset_range *to, size_t n,
	     struct seek_result *result, struct error *err);

/*
 * --- `saltmill loads --rebuild`: a damaged state made anew from the loads it published ---
 */

/*
 * What is whole in the state stays; what is not is put beside its name (.damaged) and made from the
 * manifests in DIR/published and in folders (loads, or folders of loads); of shared states in each
 * partition's, and shared.json from these.  lines: a sentence a line for each thing that was done,
 * also when a later partition fails.  RC_DATA, and nothing is changed in that state: its loads do
 * not follow each other, nothing tells their topic, or newer ones are known to be missing.
 */
int rebuild_run(const char *state_dir, const char *const *folders, size_t nfolders,
		struct buf *lines, struct error *err);

#endif
