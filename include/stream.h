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
 * that exactly one load has each offset.
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
	struct load_options load; /* the caller's options, with the member `kafka` set */
	struct progress *progress;
	struct listener listener;
	struct kafka *client;
	/* one load, not a stream; the wait for brokers has a limit of minutes */
	bool batch;
	bool borrowed; /* the client belongs to the caller */
	bool claimed;  /* this client has committed the group's offsets */
	/* Commits to the group instead of the client. NULL means that the client commits. */
	int (*tell)(void *ctx, const struct offset_range *ranges, size_t n, struct error *err);
	void *tell_ctx;
	struct state *state; /* the state folder; NULL means no state folder */
	const char *state_dir;
	char cluster[64];
	bool looks;  /* true if the ingest is read-only and writes no files */
	bool no_ids; /* true after a report that saltmill cannot compare topic ids */
	/* partitions that cannot continue; NULL means that such a partition ends the run */
	struct parked_places *parked;
	const struct offset_range *only; /* load only this place, even a parked one; or NULL */
	bool data_fault;		 /* the last load failed because of the data that it read */
	/*
	 * topics whose positions the ingest has reported, because they are missing or not in the
	 * job
	 */
	const char **gone;
	size_t ngone, nmissing; /* `nmissing` counts the topics of the job that are missing */
	/* ranges for the next load, from position to end, by topic and partition */
	struct offset_range *ranges;
	size_t nranges;
	uint64_t available; /* number of offsets in the ranges */
};

/*
 * Open an ingest, which ignores load->output_dir. If `state_dir` is NULL, there is no state.
 * Returns an error if another process uses the state, if the state has another topic, or if it has
 * lost a position. Returns an error also if the group's offsets are ahead of the state. The call
 * commits the positions to the group, to detect other users of the group. *in must be {0}, except
 * for batch, borrowed with client, parked, and tell. Call ingest_close whatever the result.
 */
int ingest_open(struct ingest *in, const struct job *job, const struct load_options *load,
		const char *state_dir, const struct listener *listener, struct progress *progress,
		struct error *err);
void ingest_close(struct ingest *in);

/*
 * Finish the load that a crash interrupted. The function publishes the load, unless an earlier run
 * has. *dir is the load's folder, or NULL if there was no such load. Release *result in both cases.
 */
int ingest_recover(struct ingest *in, const char **dir, struct load_result *result,
		   struct error *err);

/*
 * Find the ranges that a load would take now. The call writes, locks and commits nothing. If the
 * source is not kafka, or if files replace the source (`nfiles` > 0), the function opens nothing
 * and in->client stays NULL. The state must exist. The client takes a part of `memory_bytes`, the
 * memory of the command. *in must be {0}, and ingest_close must follow.
 */
int ingest_peek(struct ingest *in, const struct job *job, size_t nfiles, uint64_t memory_bytes,
		const char *state_dir, const struct listener *listener, struct error *err);
/* Return the client and ranges of an ingest, as the input of a source. */
struct source_topic ingest_view(const struct ingest *in);

/* Query the brokers and set `ranges` and `available`. */
int ingest_look(struct ingest *in, struct error *err);
/* Set `ranges` and `available` from an answer of the brokers for the job's partitions. */
int ingest_see(struct ingest *in, const struct kafka_topic *t, struct error *err);
/*
 * Load the ranges and publish them as `dir`. The caller may have shortened ranges since
 * ingest_look.
 */
int ingest_load(struct ingest *in, const char *dir, struct load_result *result, struct error *err);

/*
 * Run `saltmill load` of a topic. First, finish the load that a crash interrupted. Then load all
 * available messages as load->output_dir. If the first step published that folder, that load is the
 * result, and the next run loads newer messages.
 */
int ingest_batch(const struct job *job, const struct load_options *load, const char *state_dir,
		 const struct listener *listener, struct progress *progress,
		 struct load_result *result, struct error *err);

/* --- `saltmill stream`: publish one load after another, without end --- */

/*
 * The lag of each partition, written by one thread and read by others. Initialize `lock` with
 * PTHREAD_MUTEX_INITIALIZER.
 */
struct topic_lags {
	pthread_mutex_t lock;
	struct partition_lag {
		char *topic;
		int32_t partition;
		uint64_t lag;
		/* the last look at the brokers: the partition's end, and the monotonic clock */
		int64_t seen_end, seen_ms;
		/* the latest look whose messages loads have, or the first look */
		int64_t since_ms;
	} * item;
	size_t n;
};
void topic_lags_release(struct topic_lags *l);

/* Gauges of a stream, which any thread may read. */
struct stream_gauges {
	struct topic_lags *by_topic; /* lag by partition; NULL means that no caller needs it */
	_Atomic uint64_t lag;	     /* offsets in no load at the last query */
	/* counts of the published loads since the start */
	_Atomic uint64_t loads, events, rejected;
	/* wall clock of the last publication; 0 means no publication */
	_Atomic int64_t published_ms;
	_Atomic uint64_t parked;  /* partitions of a shared topic that wait for a user's repair */
	_Atomic uint64_t missing; /* loaded topics that are missing or that the user may not read */
	/* 1 after the first query of the topic, when the other gauges have values */
	_Atomic int looked;
	_Atomic int loading; /* 1 during the load of a cut */
	/* offsets of the open cut, in a running load or not due yet */
	_Atomic uint64_t cut;
	_Atomic int64_t
		/*
		 * when the stream found the cut's first event, monotonic clock; 0 means that the
		 * cut is empty
		 */
		cut_since_ms;
};

struct stream_options {
	const struct load_options
		/* output_dir is the parent folder of the loads; NULL means a folder in the state */
		*load;
	const char *state_dir;
	struct listener listener;
	struct stream_gauges *gauges;
	/*
	 * The stream calls this function after each publication. `name` is the name in `saltmill
	 * loads`.
	 */
	void (*published)(void *ctx, const char *name, const char *dir,
			  const struct load_result *result);
	/*
	 * The stream calls this function each time this process gets or loses a sequence of loads.
	 * The end of the process causes no call. `state_dir` is the folder of the sequence's state,
	 * and `prefix` is the prefix of its loads' names. May be NULL.
	 */
	void (*holds)(void *ctx, const char *state_dir, const char *prefix, bool held);
	/*
	 * Returns true to make no load now. The cut waits until the result is false. NULL means
	 * that cuts never wait. Any thread may call this function.
	 */
	bool (*full)(void *ctx);
	/*
	 * Returns the number of published loads that wait for apply. These loads delay the next
	 * cut. NULL means no such loads. Any thread may call this function.
	 */
	uint64_t (*behind)(void *ctx);
	void *ctx;
};

/*
 * Run a stream. A cut is the topic's content after the positions. A cut is due when it reaches
 * roll.rows or roll.bytes, or when its first event has waited for roll.time. Each load that waits
 * for apply adds roll.time to this time, up to half a minute. Smaller loads would not reach HBase
 * sooner.
 *
 * The stream records a cut as the intent before it reads any of the messages, so a restart makes
 * the same cut. Returns RC_STOPPED if a signal came. The stream drops the open cut, and the next
 * run loads the offsets of this cut.
 */
int stream_run(const struct job *job, const struct stream_options *opt, struct progress *progress,
	       struct error *err);

/* One sequence of loads, from a topic or from one partition of a shared topic (partitions.c). */
struct stream {
	const struct stream_options *opt;
	struct ingest in;
	const char *prefix; /* prefix of the loads' names, such as "p00003/" */
	char *parent;	    /* parent folder of the loads, owned */
	/* when the stream found the open cut's first event; 0 means that the cut is empty */
	double waiting_since;
	double full_since;  /* time since which the disk is full; 0 if it is not full */
	double event_bytes; /* average event size of the last load, in bytes */
	struct state_note seen;
	struct meter meter; /* rate of loaded events */
};

/* Finish the load that a crash interrupted. */
int stream_recover(struct stream *s, struct error *err);
/* Call opt->holds unless it is NULL. */
void stream_held(const struct stream *s, const char *state_dir, bool held);
/* Run as stream_run does, for a job whose topic no other instance shares. */
int stream_run_one(const struct job *job, const struct stream_options *opt,
		   struct progress *progress, struct error *err);
/* Return true if the cut is due. The ranges are then the cut. */
bool stream_is_due(struct stream *s);
int stream_load_cut(struct stream *s, struct error *err);
/*
 * Set the gauges after a query of the brokers. `lag` is the lag of all streams. `since` is the
 * earliest waiting_since, or 0 if no event waits.
 */
void stream_show(struct stream_gauges *g, uint64_t lag, double since);
/* Set the lag of each partition from the remaining ranges, which the caller has sorted by topic. */
void stream_show_lags(struct stream_gauges *g, const struct job *job,
		      const struct offset_range *ranges, size_t n);
/* Write the note for `saltmill status`. */
void stream_note(struct stream *s);

/* --- state view: a state folder for commands, with one state or one for each partition --- */

struct state_view {
	bool is_shared;
	struct shared shared;
	struct state **states;
	char **prefixes; /* prefixes of the loads' names, "p00003/" or "" */
	size_t n;
};

#define VIEW_ALL (-1)
/*
 * Open all states of the folder, or only partition `only` of a shared folder. `write` has the
 * meaning of state_open. Call state_view_close whatever the result.
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
 * --- manifest chain: check that each published load follows the previous one ---
 *
 * A load's manifest contains the digest of the previous manifest, and the state keeps the digest of
 * each manifest. The check detects a load that somebody changed, exchanged, or made with another
 * copy of the state.
 */

/*
 * Check a load of a state against its folder and the previous load. Returns the problem as a
 * sentence that the caller owns, or NULL. *gone is true if the load's folder is missing. A missing
 * folder is a problem until the user marks the load with `--loaded` or gives the new folder with
 * `--published`. The function does not check older loads without digests.
 */
char *manifest_chain_check(const struct state_load *l, bool *gone);
/*
 * Check only the load's manifest. Returns NULL if the manifest is missing or is the published
 * manifest. In other cases, returns the problem as a sentence that the caller owns.
 */
char *manifest_chain_content(const struct state_load *l);

/* --- `saltmill seek`: set positions by hand, and reject impossible ones --- */

/* The result for one position. */
struct seek_step {
	/* name of the topic; NULL means the state's only topic, or the topic of places without a
	 * name */
	const char *topic;
	int32_t partition;
	bool was_set; /* the partition had a position before; `from` is that position */
	int64_t from, to;
	uint64_t lost; /* skipped offsets that the topic no longer has */
	/* number of loads with offsets that a stream will read again */
	size_t nloads;
	/* the oldest and the newest of these loads; NULL if nloads is 0 */
	const char *first, *last;
};

struct seek_result {
	struct seek_step *steps; /* the completed steps, even if a later step failed */
	size_t n;
	char why_unasked[760]; /* reason why seek did not query the broker; "" after a query */
	struct arena arena;
};
void seek_result_release(struct seek_result *r);

/*
 * Return the path of the job that made the state's loads, from their newest manifest. The caller
 * owns the path. Returns NULL if the path is unknown.
 */
char *seek_job_path(const char *state_dir);

/*
 * Set positions to the end of each range. The ranges are in the order of topic and partition,
 * without repeats. If there is only one topic, the ranges need no topic name. The function removes
 * the name if the state's places have no topic name. Returns RC_CONFIG and sets nothing if the
 * state does not exist, or if the topic lacks a partition or an offset. The brokers of `job` give
 * the offsets. If `job` is NULL or no broker answers soon, the function checks only the state.
 */
int seek_run(const char *state_dir, const struct job *job, struct offset_range *to, size_t n,
	     struct seek_result *result, struct error *err);

/* --- `saltmill loads --rebuild`: rebuild a damaged state from the loads it published --- */

/*
 * Rebuild the damaged files of a state and keep the others. The function renames damaged files to
 * .damaged and rebuilds them from the manifests in DIR/published and in folders (loads, or folders
 * of loads). Shared states are rebuilt one by one, and then shared.json from these states. `lines`
 * receives a line for each change, even if a later partition fails. Returns RC_DATA and leaves a
 * state unchanged if its loads do not follow each other, or if newer loads are missing. The same
 * happens if the topic of the loads is unknown.
 */
int rebuild_run(const char *state_dir, const char *const *folders, size_t nfolders,
		struct buf *lines, struct error *err);

#endif
