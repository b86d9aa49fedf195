/*
 * state.h - the state folder of a Kafka source: which offsets of which topics are in which load
 *
 *   state_open, state_bind, [state_intend, state_publishing, state_published | state_drop]*, state_close
 *   shared_open, shared_take_in, shared_close        a topic that several instances share
 *
 * The folder contains (every file is written under a temporary name, synced and renamed):
 *
 *   lock               held by flock while a process uses the folder (lock.h)
 *   topic.json         cluster, topics and their numbers of partitions
 *   intent.json        the load in progress: name, folder, ranges, phase
 *   loads/NAME.json    a published load, or positions that were set by hand
 *   checkpoint.json    the sum of the records up to one of them (checkpoint.h)
 *   handed/NAME        the load is in HBase: its record, and since when; empty: marked by the user
 *   handing            held by flock while a process hands a load over
 *   applying.json      what a follower (apply.h) saw last; for people, not synced
 *   status.json        what a running stream saw last; for people, not synced
 *   published/NAME/    the default place for the loads of `saltmill stream`
 *
 * Each JSON file contains its own digest, except those for people. The position of a partition is
 * the end of its range in the last loads/NAME.json. That file also has the last loaded message, to
 * recognise the topic.
 *
 * Places of a job with one `topic` have no topic name, those of a job with several have one
 * (event.h). A state that began with one topic may continue with several: topic.json records the
 * topic of the places without a name, and a place that names this topic is the same place.
 */
#ifndef SALTMILL_STATE_H
#define SALTMILL_STATE_H

#include <stdbool.h>

#include "error.h"
#include "event.h"
#include "bytes.h"
#include "mem.h"

enum state_phase {
	STATE_READING,	  /* an intent; its folder is certainly not published */
	STATE_PUBLISHING, /* an intent; its folder may be published */
	STATE_PUBLISHED,
	STATE_SEEK /* not a load: positions set by hand */
};

struct state_load {
	const char *name; /* a number with leading zeros: 00000042 */
	const char *dir;  /* its folder, absolute; "" for STATE_SEEK */
	enum state_phase phase;
	struct offset_range *ranges; /* by topic and partition, including empty ones */
	size_t nranges;
	uint64_t read, rejected; /* events */
	int64_t published_ms;	 /* wall clock */
	bool handed;
	int64_t handed_ms;     /* wall clock; 0: unknown */
	const char *handed_to; /* the cluster's id; NULL: a user marked it */
	bool manifest_known;   /* false: an old record without it, or the folder was gone */
	uint8_t manifest[16];  /* XXH3-128 of its manifest.json */
	/* the same for the previous load; before NULL: this is the first */
	const char *before;
	bool before_known;
	uint8_t before_manifest[16];
};

struct state_topic {
	const char *cluster, *topic;
	int32_t npartitions;
};

struct state_topics {
	struct state_topic *item;
	size_t n;     /* 0: not bound yet */
	bool unnamed; /* item[0] is the topic of places without a name */
};

struct buf;

/*
 * Check that a topic is the same. RC_CONFIG: another topic; RC_DATA: a topic of another cluster.
 * dir: of the state, for the message.
 */
int state_same_topic(const char *dir, const struct state_topic *was, const struct state_topic *now,
		     struct error *err);

struct state;
/*
 * Open a state. write: create the folder if needed and lock it; RC_BUSY: another process has the
 * lock, or the folder shows an older state than the lock knows (lock.h). Otherwise only read it;
 * RC_CONFIG: it does not exist.
 */
int state_open(struct state **out, const char *dir, bool write, struct error *err);
void state_close(struct state *s); /* NULL is fine */

/* Return the topics of the state. */
const struct state_topics *state_topics(const struct state *s);
/* Return "orders" or "orders, returns"; valid as long as *t or *out. */
const char *state_topics_text(const struct state_topics *t, struct buf *out);
/*
 * Bind the state to topics. The first call records them. Later, RC_DATA, with what to do: the state
 * is of other topics, or has loads but does not know its topics. Of several topics some must be the
 * same: new ones are added, and missing ones keep their positions. listed: the job names its
 * partitions, so others may have been added.
 */
int state_bind(struct state *s, const struct state_topics *now, bool listed, struct error *err);

bool state_is_new(const struct state *s); /* true: there are no positions */
/* Get a place's position; false: it has none. */
bool state_position(const struct state *s, const char *topic, int32_t partition, int64_t *offset);
/* Return the last loaded message of a place; not known: none, or the position was set by hand. */
struct anchor state_last(const struct state *s, const char *topic, int32_t partition);
/* True if a partition of the topic has a position. */
bool state_has_topic(const struct state *s, const char *topic);

/* Return the load that was published last, or NULL. */
const struct state_load *state_newest(const struct state *s);
/* Return the load that a crash left unfinished, or NULL. */
const struct state_load *state_intent(const struct state *s);
/* Return the name of the next load; valid until state_close. */
const char *state_next_name(struct state *s);
/* Record the intent to load the ranges into dir. */
int state_intend(struct state *s, const char *name, const char *dir,
		 const struct offset_range *ranges, size_t n, struct error *err);
/* Record that the intent's folder may be published from now on. */
int state_publishing(struct state *s, struct error *err);
/* The result of a published load. */
struct state_result {
	const struct offset_range *ranges; /* with their events; NULL: the intent's */
	uint64_t read, rejected;
	const uint8_t *manifest; /* digest of 16 bytes; NULL: not known */
};
/* Record that the intent was published, and remove the intent. */
int state_published(struct state *s, const struct state_result *result, struct error *err);
/* Remove an intent that was not published and will not be. */
int state_drop(struct state *s, struct error *err);

/* Set positions by hand; places without a position are added. */
int state_seek(struct state *s, const struct offset_range *to, size_t n, struct error *err);

/* Do the same in memory only, for readers that may not write. */
int state_imagine(struct state *s, const struct offset_range *to, size_t n, struct error *err);

/*
 * Settle an intent whose folder is gone: it was published and moved away, or it was never published
 * and its offsets are loaded again. RC_CONFIG: there is no such intent.
 */
int state_settle(struct state *s, const char *name, bool published, struct error *err);

/* A published load, read from its own manifest. */
struct state_found {
	struct state_load load;
	const char *follows; /* the previous load; NULL: none, or not recorded */
	uint8_t follows_manifest[16];
};
/*
 * Rebuild a damaged state. Undamaged records, intent and topic stay; damaged ones are put aside and
 * made from the found loads. topics: for a state that has lost them; n 0: unknown. Appends a line
 * to lines for each change. RC_DATA, nothing changed: the loads do not follow each other, their
 * topic is unknown, or the lock knows newer loads than were found.
 */
int state_rebuild(const char *dir, const struct state_topics *topics,
		  const struct state_found *found, size_t n, struct buf *lines, struct error *err);

struct state_note {
	int64_t time_ms;
	uint64_t lag, cut;		  /* offsets not loaded yet; offsets of the open cut */
	int64_t cut_age_ms;		  /* since its first event was seen */
	double rate;			  /* loaded events a second, over the last minute */
	uint64_t loads, events, rejected; /* since the stream began */
	char parked[400]; /* why its partition waits for a user's repair; "": it does not wait */
};
/*
 * Write a note for `saltmill status`, at most once a second, except when parked changes. Failures
 * are ignored.
 */
void state_note(struct state *s, const struct state_note *note);
/* Read the note; false: there is none. */
bool state_noted(const struct state *s, struct state_note *note);
/* True if a process has locked the folder. */
bool state_in_use(const struct state *s);

/*
 * Read all records. Opening reads only the newest ones, and a checkpoint instead of the others;
 * afterwards state_loads has all.
 */
int state_read_all(struct state *s, struct error *err);
/*
 * Read the records that were written since; for a state opened without write. state_loads then has
 * them.
 */
int state_read_more(struct state *s, struct error *err);
/* Return the records that were read, oldest first; valid until the next change. */
const struct state_load *state_loads(const struct state *s, size_t *n);
/*
 * Mark a load as handed to HBase: by this process to a cluster, or (NULL) by hand, as the user
 * says. The mark is on disk with RC_OK. An existing mark of either kind stays. Needs no lock.
 * RC_CONFIG: no such load.
 */
int state_hand_over(struct state *s, const char *name, const char *cluster, struct error *err);
/* Read a load's mark from disk. RC_DATA: the mark is damaged. */
enum state_mark { STATE_UNMARKED, STATE_MARKED_BY_HAND, STATE_MARKED_BY_FOLLOWER };
int state_mark_of(const char *dir, const char *name, enum state_mark *mark, struct error *err);
/*
 * Take the lock for handing over: only its owner hands loads of the state over and marks them.
 * close(*fd) or the end of the process releases it. RC_BUSY: another process has it.
 */
int state_handing(const char *dir, int *fd, struct error *err);

/* The status of a follower, for `saltmill status`. */
struct state_applying {
	int64_t time_ms;
	char upto[24];	    /* the newest load that it has seen */
	uint64_t waiting;   /* loads up to there that were not handed over */
	int64_t oldest_ms;  /* when the oldest of them was published; 0: none waits */
	uint64_t applied;   /* loads since it began */
	int64_t applied_ms; /* when the last was applied; 0: none */
	char trouble[sizeof(
		((struct error *)0)->msg)]; /* why the oldest was not applied; "": no problem */
};
/* Write a follower's status, as state_note does. */
void state_note_applying(const char *dir, const struct state_applying *note);
/* Read it, and count later loads as waiting. False: there never was one. */
bool state_applying(const struct state *s, struct state_applying *note);

/*
 * --- shared states: a topic that several instances share, with one state for each partition ---
 *
 *   shared.json   cluster, topic, and how many of its partitions (0 to n-1) have a state
 *   shared.lock   held by flock while partitions are added
 *   p00003/       the state of partition 3; its lock shows which instance uses it
 *
 * The start of a partition is recorded once, for all partitions that the topic has at that moment.
 * So `start: latest` means the same moment for all of them, whichever instance reads them. A
 * partition that is added later begins at offset 0. After that, a partition without a state has
 * lost it.
 */

struct shared {
	const char *dir;
	int lock_fd;		  /* -1: opened without write */
	struct state_topic topic; /* topic NULL: a new folder */
	struct arena arena;
};

int shared_is(const char *dir, bool *is_shared, struct error *err);
/*
 * Open shared states. write: create the folder if needed and lock it; RC_BUSY: another process has
 * the lock; RC_CONFIG: it is a state that is not shared. dir outlives *s. Call shared_close
 * whatever the result.
 */
int shared_open(struct shared *s, const char *dir, bool write, struct error *err);
void shared_close(struct shared *s);
/* RC_DATA: the states are for another topic. */
int shared_check(const struct shared *s, const struct state_topic *now, struct error *err);
/* Create a state for each partition of `now` that has none; partition p begins at starts[p]. */
int shared_take_in(struct shared *s, const struct state_topic *now, const int64_t *starts,
		   struct error *err);

/*
 * Rebuild shared.json if it is lost or damaged (a damaged one is kept as .damaged). The topic comes
 * from the partitions' states, with all partitions that any of them has seen. If one of these has
 * no state, opening it reports that. RC_DATA: no state knows the topic. lines: a sentence in each
 * line for each change.
 */
int shared_rebuild(const char *dir, struct buf *lines, struct error *err);
/* Set *end to the number of the last partition with a folder in dir, plus 1; 0: there are none. */
int shared_folders(const char *dir, int32_t *end, struct error *err);

/* Return the folder of a partition's state; the caller owns it. */
char *shared_dir(const char *dir, int32_t partition);
/* Split "p00003/00000042" into 3 and the name in that state; NULL: it is not a load's name. */
const char *shared_name(const char *name, int32_t *partition);

#endif
