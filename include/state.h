/*
 * state.h - the state folder of a Kafka source, which records the offsets in each load
 *
 *   state_open, state_bind, [state_intend, state_publishing, state_published | state_drop]*,
 *   state_close
 *   shared_open, shared_take_in, shared_close    a topic that several instances share
 *
 * The folder contains these files. The program writes each under a temporary name, syncs and
 * renames it.
 *
 *   lock               a process that uses the folder holds flock on it (lock.h)
 *   topic.json         cluster, topics and their numbers of partitions
 *   intent.json        the load in progress: name, folder, ranges, phase
 *   loads/NAME.json    a published load, or positions that a user set by hand
 *   checkpoint.json    the sum of the records up to a certain record (checkpoint.h)
 *   handed/NAME        record of a load that is in HBase, with the time; empty after a user's mark
 *   handing            a process that applies a load holds flock on it
 *   applying.json      the last status of a follower (apply.h), for people, without a sync
 *   status.json        the last status of a running stream, for people, without a sync
 *   published/NAME/    the default place for the loads of `saltmill stream`
 *
 * Each JSON file contains its own digest, except those for people. The position of a partition is
 * the end of its range in the last loads/NAME.json. That file also has the last loaded message,
 * which identifies the topic.
 *
 * Places of a job with one `topic` have no topic name. Places of a job with several topics have a
 * topic name (event.h). A state that began with one topic may continue with several. topic.json
 * therefore records the topic of the places without a name. A place with this topic name is the
 * same place.
 */
#ifndef SALTMILL_STATE_H
#define SALTMILL_STATE_H

#include <stdbool.h>

#include "error.h"
#include "event.h"
#include "bytes.h"
#include "mem.h"

enum state_phase {
	STATE_READING,	  /* a recorded intent; its folder is certainly not published */
	STATE_PUBLISHING, /* a recorded intent; its folder may be in place */
	STATE_PUBLISHED,
	STATE_SEEK /* not a load, but positions that a user set by hand */
};

struct state_load {
	const char *name; /* a number with leading zeros: 00000042 */
	const char *dir;  /* absolute path of the load's folder; "" for STATE_SEEK */
	enum state_phase phase;
	struct offset_range *ranges; /* by topic and partition, including empty ones */
	size_t nranges;
	uint64_t read, rejected; /* events */
	int64_t published_ms;	 /* wall clock */
	bool handed;
	int64_t handed_ms;     /* time of the apply, wall clock; 0 means unknown */
	const char *handed_to; /* the cluster's id; NULL if a user marked it */
	/* false if an old record lacks the digest, or if the folder was missing */
	bool manifest_known;
	uint8_t manifest[16]; /* XXH3-128 of the load's manifest.json */
	/* name and digest of the previous load; `before` is NULL for the first load */
	const char *before;
	bool before_known;
	uint8_t before_manifest[16];
};

struct state_topic {
	const char *cluster, *topic;
	int32_t npartitions;
	const char *id; /* the brokers' id of the topic; NULL means unknown */
};

struct state_topics {
	struct state_topic *item;
	size_t n;     /* number of topics; 0 means that the state has no topics yet */
	bool unnamed; /* item[0] is the topic of places without a name */
};

struct buf;
struct form;

/* The files of the folder. */
extern const struct form state_load_form, state_topics_form, state_checkpoint_form, state_note_form,
	state_applying_form;

/*
 * Check that two topics are the same. Returns RC_CONFIG if `now` is another topic, and RC_DATA if
 * `now` is on another cluster. `dir` is the state's folder, for the message.
 */
int state_same_topic(const char *dir, const struct state_topic *was, const struct state_topic *now,
		     struct error *err);

struct state;
/*
 * Open a state. If `write` is true, create the folder if needed, and lock it. Returns RC_BUSY if
 * another process has the lock, or if the folder is older than the state in the lock (lock.h). If
 * `write` is false, only read the folder. Returns RC_CONFIG if the folder does not exist.
 */
int state_open(struct state **out, const char *dir, bool write, struct error *err);
void state_close(struct state *s); /* NULL is fine */

/* Return the topics of the state. */
const struct state_topics *state_topics(const struct state *s);
/*
 * Return the topics as text, such as "orders" or "orders, returns". The text is valid as long as *t
 * and *out.
 */
const char *state_topics_text(const struct state_topics *t, struct buf *out);
/*
 * Bind the state to topics. The first call records the topics. Later calls return RC_DATA, with the
 * fix, if the state is of other topics, or has loads but no recorded topics. If there are several
 * topics, at least one must be the same. The function adds new topics, and missing topics keep
 * their positions. The function records a larger number of partitions when all partitions have
 * positions. If `listed` is true, the job names its partitions, so the other partitions need no
 * positions.
 */
int state_bind(struct state *s, const struct state_topics *now, bool listed, struct error *err);

/*
 * Record the id of a recreated topic with new positions, or of a topic whose id was unknown.
 * state_bind records only the ids of new topics.
 */
int state_renew_topic(struct state *s, const char *topic, const char *id, struct error *err);

bool state_is_new(const struct state *s); /* true if there are no positions */
/* Get a place's position. Returns false if the place has no position. */
bool state_position(const struct state *s, const char *topic, int32_t partition, int64_t *offset);
/*
 * Return true if a place was at the offset before `saltmill seek` set the place back, and has not
 * reached that offset again.
 */
bool state_was_at(const struct state *s, const char *topic, int32_t partition, int64_t offset);
/*
 * Return the last loaded message of a place. `known` is false before the first message, or if a
 * user set the position by hand.
 */
struct anchor state_last(const struct state *s, const char *topic, int32_t partition);
/* Return true if a partition of the topic has a position. */
bool state_has_topic(const struct state *s, const char *topic);

/* Return the last published load, or NULL. */
const struct state_load *state_newest(const struct state *s);
/* Return the load that a crash left unfinished, or NULL. */
const struct state_load *state_intent(const struct state *s);
/* Return the name of the next load, which is valid until state_close. */
const char *state_next_name(struct state *s);
/* Record the intent to load the ranges into `dir`. */
int state_intend(struct state *s, const char *name, const char *dir,
		 const struct offset_range *ranges, size_t n, struct error *err);
/* Record that the intent's folder may be in place from now on. */
int state_publishing(struct state *s, struct error *err);
/*
 * Record that the folder is not in place. Then a new attempt loads its ranges again, or the intent
 * ends. Call this function before the removal of the working folder. Otherwise, a crash after the
 * removal leaves an intent without any folder. A load that a user has moved away leaves the same.
 */
int state_unpublished(struct state *s, struct error *err);
/* The result of a published load. */
struct state_result {
	/* ranges with `events`; NULL means the ranges of the intent */
	const struct offset_range *ranges;
	uint64_t read, rejected;
	const uint8_t *manifest; /* digest of 16 bytes; NULL means unknown */
};
/* Record the intent as a published load, and remove the intent. */
int state_published(struct state *s, const struct state_result *result, struct error *err);
/* Remove an intent whose load will never appear. */
int state_drop(struct state *s, struct error *err);

/* Set positions that the user gave. The function adds places that have no position. */
int state_seek(struct state *s, const struct offset_range *to, size_t n, struct error *err);

/* Set positions as state_seek does, but only in memory, for readers that may not write. */
int state_imagine(struct state *s, const struct offset_range *to, size_t n, struct error *err);

/*
 * Settle an intent whose folder is missing. `published` is true if the load was in place and then
 * moved away. If `published` is false, the next run loads the offsets again. Returns RC_CONFIG if
 * there is no such intent.
 */
int state_settle(struct state *s, const char *name, bool published, struct error *err);

/* A published load, read from its manifest. */
struct state_found {
	struct state_load load;
	/* the previous load; NULL if this is the first load, or if the manifest does not name it */
	const char *follows;
	uint8_t follows_manifest[16];
};
/*
 * Rebuild a damaged state. Undamaged files of records, intent and topic stay. The rebuild renames
 * damaged files and writes them again from the found loads. `topics` is for a state that has lost
 * its topics. If topics->n is 0, the topics are unknown. `lines` receives a line for each change.
 * Returns RC_DATA and changes nothing if the loads do not follow each other, or if their topic is
 * unknown. The same happens if the lock has newer loads than the found loads.
 */
int state_rebuild(const char *dir, const struct state_topics *topics,
		  const struct state_found *found, size_t n, struct buf *lines, struct error *err);

struct state_note {
	int64_t time_ms;
	/* number of offsets in no load yet; number of offsets of the open cut */
	uint64_t lag, cut;
	int64_t cut_age_ms; /* time since the stream found the first event of the open cut */
	double rate;	    /* loaded events a second, over the last minute */
	uint64_t loads, events, rejected; /* since the stream began */
	/* reason why the partition waits for a user's repair; "" if it does not wait */
	char parked[400];
};
/*
 * Write a note for `saltmill status`. The function writes at most one note a second, except when
 * `parked` changes. Failures are ignored.
 */
void state_note(struct state *s, const struct state_note *note);
/* Read the note. Returns false if there is no note. */
bool state_noted(const struct state *s, struct state_note *note);
/* Return true if a process has locked the folder. */
bool state_in_use(const struct state *s);

/*
 * Read all records, so that state_loads returns all. state_open reads only the newest records, and
 * a checkpoint instead of the older records.
 */
int state_read_all(struct state *s, struct error *err);
/*
 * Read the records since the last call, so that state_loads returns them. The caller must open the
 * state without `write`.
 */
int state_read_more(struct state *s, struct error *err);
/* Return the records so far, oldest first. The list is valid until the next change. */
const struct state_load *state_loads(const struct state *s, size_t *n);
/*
 * Mark a load as applied by this process to `cluster`. If `cluster` is NULL, the user has marked
 * the load. After RC_OK the mark is on disk. An existing mark of either kind stays. The call needs
 * no lock. Returns RC_CONFIG if there is no such load.
 */
int state_hand_over(struct state *s, const char *name, const char *cluster, struct error *err);
/* Read a load's mark from disk. Returns RC_DATA if the mark is damaged. */
enum state_mark { STATE_UNMARKED, STATE_MARKED_BY_HAND, STATE_MARKED_BY_FOLLOWER };
int state_mark_of(const char *dir, const char *name, enum state_mark *mark, struct error *err);
/*
 * Sync the folder of the marks. A process that died may have renamed a mark there without a sync.
 * Call this function before the removal of a load because of its mark.
 */
int state_keep_marks(const char *dir, struct error *err);
/*
 * Take the lock for applying. Only the owner of this lock applies loads of the state and marks
 * them. close(*fd) or the end of the process releases the lock. Returns RC_BUSY if another process
 * has the lock.
 */
int state_handing(const char *dir, int *fd, struct error *err);

/* The status of a follower, for `saltmill status`. */
struct state_applying {
	int64_t time_ms;
	char upto[24];	    /* name of the newest load that the follower found */
	uint64_t waiting;   /* loads up to `upto` without a mark */
	int64_t oldest_ms;  /* publication time of the oldest waiting load; 0 if no load waits */
	uint64_t applied;   /* applied loads since the follower began */
	int64_t applied_ms; /* time of the last applied load; 0 means no load */
	char trouble[sizeof(
		/* reason why the oldest load is not in HBase; "" if there is no problem */
		((struct error *)0)->msg)];
};
/* Write a follower's status, as state_note does. */
void state_note_applying(const char *dir, const struct state_applying *note);
/*
 * Read a follower's status, and count later loads as waiting. Returns false if there never was a
 * follower.
 */
bool state_applying(const struct state *s, struct state_applying *note);

/*
 * --- shared states: a topic that several instances share, with one state for each partition ---
 *
 *   shared.json   cluster, topic, and the number n of its partitions (0 to n-1) that have a state
 *   shared.lock   a process that adds partitions holds flock on it
 *   p00003/       the state of partition 3; the instance that uses it holds its lock
 *
 * The first record has the starts of all partitions that the topic has at that moment. So `start:
 * latest` means the same moment for all these partitions, whichever instance reads them. A later
 * partition begins at offset 0. If a partition has a record, but no state, the state is lost.
 */

struct shared {
	const char *dir;
	int lock_fd;		  /* descriptor of the lock; -1 if opened without `write` */
	struct state_topic topic; /* topic.topic is NULL in a new folder */
	struct arena arena;
};

int shared_is(const char *dir, bool *is_shared, struct error *err);
/*
 * Open shared states. If `write` is true, create the folder if needed, and lock it. Returns RC_BUSY
 * if another process has the lock. Returns RC_CONFIG if the folder has a state of another kind.
 * `dir` must outlive *s. Call shared_close whatever the result.
 */
int shared_open(struct shared *s, const char *dir, bool write, struct error *err);
void shared_close(struct shared *s);
/* Check the topic of shared states. Returns RC_DATA if the states are for another topic. */
int shared_check(const struct shared *s, const struct state_topic *now, struct error *err);
/* Create a state for each partition of `now` that has no state. Partition p begins at starts[p]. */
int shared_take_in(struct shared *s, const struct state_topic *now, const int64_t *starts,
		   struct error *err);

/*
 * Rebuild a missing or damaged shared.json. A damaged file stays as .damaged. The topic and its
 * number of partitions come from the partitions' states. If a partition then has no state, the next
 * use of the partition reports this. Returns RC_DATA if no state has the topic. `lines` receives a
 * line for each change.
 */
int shared_rebuild(const char *dir, struct buf *lines, struct error *err);
/*
 * Set *end to the number of the last partition with a folder in `dir`, plus 1. *end is 0 if there
 * is no such folder.
 */
int shared_folders(const char *dir, int32_t *end, struct error *err);

/* Return the path of the folder of a partition's state. The caller owns the path. */
char *shared_dir(const char *dir, int32_t partition);
/*
 * Split "p00003/00000042" into 3 and the name in that state. Returns NULL if `name` is not the name
 * of a load.
 */
const char *shared_name(const char *name, int32_t *partition);

#endif
