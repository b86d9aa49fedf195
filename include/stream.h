/*
 * stream.h - loads from Kafka: one load (ingest), a stream of loads, and commands on the state
 * folder
 *
 *   ingest_open, ingest_recover, [ingest_look, ingest_load]*, ingest_close
 *   ingest_batch                       `saltmill load` of a topic
 *   stream_run                         `saltmill stream`
 *   state_view_open, state_view_close  `saltmill loads`, `status`
 *   seek_run                           `saltmill seek`
 *   rebuild_run                        `saltmill loads --rebuild`
 *
 * An ingest joins the Kafka client (kafka.h), the state folder (state.h) and load_run (load.h), so
 * that each offset is loaded once.
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
	struct load_options load; /* the caller's options, plus kafka */
	struct progress *progress;
	struct listener listener;
	struct kafka *client;
	bool batch;    /* one load, not a stream: waits for minutes, not for ever */
	bool borrowed; /* the client also serves others */
	bool claimed;  /* the group has offsets that this client committed */
	/* Commit to the group instead of the client; NULL: the client does it. */
	int (*tell)(void *ctx, const struct offset_range *ranges, size_t n, struct error *err);
	void *tell_ctx;
	struct state *state; /* NULL: no state folder */
	const char *state_dir;
	char cluster[64];
	bool looks; /* read only: write nothing */
	/* topics with positions that were reported as missing, or as no longer in the job */
	const char **gone;
	size_t ngone, nmissing; /* nmissing: of them, topics of the job that are missing */
	/* what can be loaded now: from the position to the end, by topic and partition */
	struct offset_range *ranges;
	size_t nranges;
	uint64_t available; /* number of offsets in the ranges */
};

/*
 * Open an ingest. load: output_dir is ignored. state_dir: NULL for none. All errors appear here:
 * another process uses the state, another topic, a lost position, a group that is ahead. The
 * positions are committed to the group, so that other users of it are noticed. *in is {0} before,
 * except batch, borrowed with client, and tell. Call ingest_close whatever the result.
 */
int ingest_open(struct ingest *in, const struct job *job, const struct load_options *load,
		const char *state_dir, const struct listener *listener, struct progress *progress,
		struct error *err);
void ingest_close(struct ingest *in);

/*
 * Finish the load that a crash interrupted: publish it, or find that it is published. *dir is its
 * folder, NULL if there was none. Release *result in either case.
 */
int ingest_recover(struct ingest *in, const char **dir, struct load_result *result,
		   struct error *err);

/*
 * Find the ranges that a load would take now, without writing, locking or committing anything. If
 * the source is not kafka, or files replace it (nfiles), nothing is opened and in->client stays
 * NULL. The state must exist. memory_bytes: of the command; the client takes a part. As with
 * ingest_open, *in is {0} before, and ingest_close must follow.
 */
int ingest_peek(struct ingest *in, const struct job *job, size_t nfiles, uint64_t memory_bytes,
		const char *state_dir, const struct listener *listener, struct error *err);
/* Return the client and ranges of an ingest. */
struct source_topic ingest_view(const struct ingest *in);

/* Query the brokers and set ranges and available. */
int ingest_look(struct ingest *in, struct error *err);
/* Do the same from their answer for the job's partitions. */
int ingest_see(struct ingest *in, const struct kafka_topic *t, struct error *err);
/* Publish the ranges as dir. The caller may have shortened ranges since ingest_look. */
int ingest_load(struct ingest *in, const char *dir, struct load_result *result, struct error *err);

/*
 * Run `saltmill load` of a topic: finish what a crash left, then load what is there now as
 * load->output_dir. If the first step published that folder, it is the result, and newer messages
 * are left for the next run.
 */
int ingest_batch(const struct job *job, const struct load_options *load, const char *state_dir,
		 const struct listener *listener, struct progress *progress,
		 struct load_result *result, struct error *err);

/* --- `saltmill stream`: one complete, published load after another, without end --- */

/*
 * The lag of each topic, written by one thread for others. Initialize lock with
 * PTHREAD_MUTEX_INITIALIZER.
 */
struct topic_lags {
	pthread_mutex_t lock;
	struct topic_lag {
		char *topic;
		uint64_t lag;
	} * item;
	size_t n;
};
void topic_lags_release(struct topic_lags *l);

/* Gauges of a stream; any thread may read them. */
struct stream_gauges {
	struct topic_lags *by_topic; /* lag by topic; NULL: not wanted */
	_Atomic uint64_t lag;	     /* offsets up to the end of the topic, at the last query */
	_Atomic uint64_t loads, events, rejected; /* published since the start */
	_Atomic int64_t published_ms;		  /* wall clock of the last publication; 0: none */
	_Atomic uint64_t parked;  /* partitions of a shared topic that wait for a user's repair */
	_Atomic uint64_t missing; /* loaded topics that are missing or that we may not read */
	_Atomic int looked;	  /* the topic was queried: the other gauges are set */
	_Atomic int loading;	  /* a cut is being loaded */
	_Atomic uint64_t cut;	  /* offsets of the open cut, loading or not due yet */
	_Atomic int64_t
		cut_since_ms; /* monotonic clock, when its first event was seen; 0: it is empty */
};

struct stream_options {
	const struct load_options
		*load; /* output_dir: parent folder of the loads; NULL: in the state */
	const char *state_dir;
	struct listener listener;
	struct stream_gauges *gauges;
	/* Called after each publication; name: as `saltmill loads` lists it. */
	void (*published)(void *ctx, const char *name, const char *dir,
			  const struct load_result *result);
	/*
	 * Called when this process gets a sequence of loads (again), and when it loses it, except
	 * at its end: with the folder of its state and the prefix of its loads' names. May be NULL.
	 */
	void (*holds)(void *ctx, const char *state_dir, const char *prefix, bool held);
	/* True: make no load now; the cut waits until it is false. NULL: never. Any thread. */
	bool (*full)(void *ctx);
	/*
	 * Number of published loads that wait to be applied; they delay the next cut. NULL: none.
	 * Any thread.
	 */
	uint64_t (*behind)(void *ctx);
	void *ctx;
};

/*
 * Run a stream. A cut is the topic's content after the positions. It is due when it reaches
 * roll.rows or roll.bytes, or when its first event has waited for roll.time. Each load that waits
 * to be applied lengthens that time by as much again, by at most half a minute: many small loads
 * would only be later.
 *
 * A cut is recorded as the intent before any of its messages is read, so a restart does not cut
 * differently. RC_STOPPED: a signal came; the open cut is dropped, and its offsets are left for the
 * next run.
 */
int stream_run(const struct job *job, const struct stream_options *opt, struct progress *progress,
	       struct error *err);

/* One sequence of loads: of a topic, or of one partition that a group shares (partitions.h). */
struct stream {
	const struct stream_options *opt;
	struct ingest in;
	const char *prefix;   /* of the loads' names, "p00003/" */
	char *parent;	      /* parent folder of the loads, owned */
	double waiting_since; /* when the open cut's first event was seen; 0: it is empty */
	double event_bytes;   /* average of the last load */
	struct state_note seen;
	struct meter meter; /* rate of its events */
};

/* Finish the load that a crash left. */
int stream_recover(struct stream *s, struct error *err);
/* Call the options' holds. */
void stream_held(const struct stream *s, const char *state_dir, bool held);
/* True if it is time to cut; the ranges are then the cut. */
bool stream_is_due(struct stream *s);
int stream_load_cut(struct stream *s, struct error *err);
/*
 * Set the gauges after a query: the lag of all streams, and since when (waiting_since) it waits; 0:
 * nothing waits.
 */
void stream_show(struct stream_gauges *g, uint64_t lag, double since);
/*
 * Set the lag of each topic from the ranges that have not been loaded, which are sorted by topic.
 */
void stream_show_topics(struct stream_gauges *g, const struct job *job,
			const struct offset_range *ranges, size_t n);
/* Write the note for `saltmill status`. */
void stream_note(struct stream *s);

/* --- state view: a state folder for people, with one state or one for each partition --- */

struct state_view {
	bool is_shared;
	struct shared shared;
	struct state **states;
	char **prefixes; /* of the loads' names: "p00003/", or "" */
	size_t n;
};

#define VIEW_ALL (-1)
/*
 * Open all states of the folder, or only partition `only` of a shared one. write: as in state_open.
 * Call state_view_close whatever the result.
 */
int state_view_open(struct state_view *v, const char *dir, int32_t only, bool write,
		    struct error *err);
void state_view_close(struct state_view *v);

/* A load as `saltmill loads` lists it. */
struct state_view_load {
	const char *prefix;
	const struct state_load *load;
};
/* List the loads, oldest first. The caller owns *out whatever the result. */
int state_view_loads(const struct state_view *v, struct state_view_load **out, size_t *n,
		     struct error *err);

/*
 * --- manifest chain: does each published load follow the previous one? ---
 *
 * A load's manifest contains the digest of the previous manifest, and the state keeps the digest of
 * each. So a load that was changed, exchanged, or made with another copy of the state is detected.
 */

/*
 * Check a load of a state against its folder and the previous load. Returns the problem as a
 * sentence that the caller owns, or NULL. *gone: its folder does not exist any more, which is a
 * problem until the user says that it was handed over (--loaded) or moved (--published). Older
 * loads without such digests are not checked.
 */
char *manifest_chain_check(const struct state_load *l, bool *gone);
/*
 * Check the load alone. Returns why the manifest in its folder is not, or may not be, the published
 * one, as a sentence that the caller owns. NULL: it is the published one, or gone.
 */
char *manifest_chain_content(const struct state_load *l);

/* --- `saltmill seek`: set positions by hand, and reject impossible ones as far as possible --- */

/* The result for one position. */
struct seek_step {
	const char *topic; /* NULL: the state's only topic, or the one without a name */
	int32_t partition;
	bool was_set; /* there was a position before: `from` */
	int64_t from, to;
	uint64_t lost; /* skipped offsets that the topic does not have any more */
	/* Loads with offsets that will be read again. */
	size_t nloads;
	const char *first, *last; /* the oldest and the newest of them; NULL: none */
};

struct seek_result {
	struct seek_step *steps; /* the steps that were done, also if a later one failed */
	size_t n;
	char why_unasked[760]; /* why the broker was not queried; "": it was */
	struct arena arena;
};
void seek_result_release(struct seek_result *r);

/*
 * Return the path of the job that made the state's loads, from their newest manifest. The caller
 * owns it; NULL: unknown.
 */
char *seek_job_path(const char *state_dir);

/*
 * Set positions to the end of each range. The ranges are sorted by topic and partition, without
 * repeats. For one topic they need no topic; it is removed if the state's places have none.
 * RC_CONFIG, and nothing is set: no such state, or a partition or offset that the topic does not
 * have. The brokers of job are queried for offsets. If job is NULL or no broker answers soon, only
 * the state is checked.
 */
int seek_run(const char *state_dir, const struct job *job, struct offset_range *to, size_t n,
	     struct seek_result *result, struct error *err);

/* --- `saltmill loads --rebuild`: rebuild a damaged state from the loads it published --- */

/*
 * Undamaged files of the state stay. Damaged ones are kept as .damaged and rebuilt from the
 * manifests in DIR/published and in folders (loads, or folders of loads); for shared states in each
 * partition's, and shared.json from these. lines: a sentence in each line for each change, also if
 * a later partition fails. RC_DATA, and that state is unchanged: its loads do not follow each
 * other, their topic is unknown, or newer loads are known to be missing.
 */
int rebuild_run(const char *state_dir, const char *const *folders, size_t nfolders,
		struct buf *lines, struct error *err);

#endif
