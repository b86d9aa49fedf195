/*
 * state.h - which offsets of which topics are in which load: the memory of a Kafka source
 *
 *   state_open, state_bind, [state_intend -> state_publishing -> state_published | state_drop]*,
 *   state_close
 *
 * The folder (every file is written beside its name, synced and renamed):
 *
 *   lock               held by flock while a process uses the folder (lock.h)
 *   topic.json         cluster, topics and how many partitions they have
 *   intent.json        the load that is being made: name, folder, ranges, phase
 *   loads/NAME.json    a load that was published, or positions that were set by hand
 *   checkpoint.json    what the records say together up to one of them (checkpoint.h)
 *   handed/NAME        is in HBase: the load's record, and since when; an empty one says the user
 *   handing            held by flock while a process hands a load over
 *   applying.json      what a follower (follow.h) saw last; for people, not synced
 *   status.json        what a running stream saw last; for people, not synced
 *   published/NAME/    where `saltmill stream` puts its loads if nothing else is said
 *
 * All of JSON but those for people carry a digest of themselves.  The position of a partition is
 * the end of its range in the last loads/NAME.json, which also holds the message that was loaded
 * last, to know the topic again by.
 *
 * The places of a job with one `topic` name no topic, those of a job with several do (offsets.h).
 * A state that began with one topic may go on with several: topic.json says which topic the places
 * without a name are of, and a place that names that topic is the same.
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
	STATE_SEEK /* no load: positions set by hand */
};

struct state_load {
	const char *name; /* a number with leading zeros: 00000042 */
	const char *dir;  /* its folder, absolute; "" of STATE_SEEK */
	enum state_phase phase;
	struct offset_range *ranges; /* by topic and partition, empty ones too */
	size_t nranges;
	uint64_t read, rejected; /* events */
	int64_t published_ms;	 /* wall clock */
	bool handed;
	int64_t handed_ms;     /* wall clock; 0: not known */
	const char *handed_to; /* the cluster's id; NULL: somebody said that it is in */
	bool manifest_known;   /* no: recorded before there was one, or its folder was gone */
	uint8_t manifest[16];  /* XXH3-128 of its manifest.json */
	/* the same of the load before it; before NULL: it is the first */
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
	size_t n;     /* 0: nothing was bound yet */
	bool unnamed; /* item[0] is the topic of the places that name none */
};

struct buf;

/* RC_CONFIG: another topic; RC_DATA: of another cluster.  dir: of the state, for the sentence. */
int state_same_topic(const char *dir, const struct state_topic *was, const struct state_topic *now,
		     struct error *err);

struct state;
/*
 * write: create the folder if need be and hold its lock; RC_BUSY when another process does,
 * or when the folder is shown older than it is (lock.h).
 * Otherwise only look at it; RC_CONFIG when it is not there.
 */
int state_open(struct state **out, const char *dir, bool write, struct error *err);
void state_close(struct state *s); /* NULL is fine */

/* What it is of. */
const struct state_topics *state_topics(const struct state *s);
/* "orders", "orders, returns"; valid as long as *t or *out. */
const char *state_topics_text(const struct state_topics *t, struct buf *out);
/*
 * The first time remember what the state is of; later RC_DATA when it is of something else, or has
 * loads and does not know of what, with what to do.  Of several topics some must be the same:
 * others come in, and those that are not among them any more keep their positions.  listed: the job
 * names its partitions, so that others may have been added.
 */
int state_bind(struct state *s, const struct state_topics *now, bool listed, struct error *err);

bool state_is_new(const struct state *s); /* there are no positions */
/* False: no position for that place. */
bool state_position(const struct state *s, const char *topic, int32_t partition, int64_t *offset);
/* The last message that was loaded of it; not known: none, or the position was set by hand. */
struct anchor state_last(const struct state *s, const char *topic, int32_t partition);
/* Has any partition of the topic a position? */
bool state_has_topic(const struct state *s, const char *topic);

/* The load that was published last, or NULL. */
const struct state_load *state_newest(const struct state *s);
/* What a crash left unfinished, or NULL. */
const struct state_load *state_intent(const struct state *s);
/* The name of the next load; valid until state_close. */
const char *state_next_name(struct state *s);
/* Write the intent to load the ranges into dir. */
int state_intend(struct state *s, const char *name, const char *dir,
		 const struct offset_range *ranges, size_t n, struct error *err);
/* From now on the intent's folder may be published. */
int state_publishing(struct state *s, struct error *err);
/* What is known of a load once it is published. */
struct state_result {
	const struct offset_range *ranges; /* with their events; NULL: the intent's */
	uint64_t read, rejected;
	const uint8_t *manifest; /* digest of 16 bytes; NULL: not known */
};
/* It is: remember it and remove the intent. */
int state_published(struct state *s, const struct state_result *result, struct error *err);
/* It is not and will not be. */
int state_drop(struct state *s, struct error *err);

/* Set positions by hand; partitions that have none yet come in. */
int state_seek(struct state *s, const struct offset_range *to, size_t n, struct error *err);

/* The same in memory only: for who looks and may not write. */
int state_imagine(struct state *s, const struct offset_range *to, size_t n, struct error *err);

/*
 * Say what became of an intent whose folder is gone: published and moved away, or never published
 * (its offsets are loaded again).  RC_CONFIG: there is no such intent.
 */
int state_settle(struct state *s, const char *name, bool published, struct error *err);

/* A published load, as its own manifest tells of it. */
struct state_found {
	struct state_load load;
	const char *follows; /* the load before it; NULL: there was none, or it does not say */
	uint8_t follows_manifest[16];
};
/*
 * Make a damaged state anew: records, intent and topic that are whole stay, others are put aside
 * and made from what was found.  topics: for a state that has lost them; n 0: not known.  Appends a
 * line to lines for each thing done.  RC_DATA, nothing changed: the loads do not follow each other,
 * nothing tells their topic, or the lock tells of newer ones than were found.
 */
int state_rebuild(const char *dir, const struct state_topics *topics,
		  const struct state_found *found, size_t n, struct buf *lines, struct error *err);

struct state_note {
	int64_t time_ms;
	uint64_t lag, cut;		  /* offsets not loaded yet; those of the open cut */
	int64_t cut_age_ms;		  /* since its first event was seen */
	double rate;			  /* events loaded a second, over the last minute */
	uint64_t loads, events, rejected; /* since the stream began */
	char parked[400]; /* why its partition waits for somebody to mend it; "": it does not */
};
/*
 * Leave a note for `saltmill status`, at most one a second but for one that says something new of
 * parked.  Failing is no harm.
 */
void state_note(struct state *s, const struct state_note *note);
/* False: there is none. */
bool state_noted(const struct state *s, struct state_note *note);
/* Some process has the folder locked. */
bool state_in_use(const struct state *s);

/*
 * Opening reads the newest records only, and a checkpoint in place of the others.  Read those too:
 * state_loads has them all then.
 */
int state_read_all(struct state *s, struct error *err);
/* Of a state that is only looked at: the records that were written since, as state_loads has them.
 */
int state_read_more(struct state *s, struct error *err);
/* Those that were read, oldest first; valid until the next change. */
const struct state_load *state_loads(const struct state *s, size_t *n);
/*
 * Mark a load as given to HBase, by this process to a cluster or, says the user, by somebody
 * (NULL); on disk with RC_OK.  A mark that is there already, whosever, stays.  Needs no lock.
 * RC_CONFIG: no such load.
 */
int state_hand_over(struct state *s, const char *name, const char *cluster, struct error *err);
/* Its mark as it is on disk now.  RC_DATA: that was damaged. */
enum state_mark { STATE_UNMARKED, STATE_MARKED_BY_HAND, STATE_MARKED_BY_FOLLOWER };
int state_mark_of(const char *dir, const char *name, enum state_mark *mark, struct error *err);
/*
 * Only who holds this hands loads of the state over, and marks them; close(*fd) lets it go, as the
 * end of the process does.  RC_BUSY: another process is at it.
 */
int state_handing(const char *dir, int *fd, struct error *err);

/* A follower, for `saltmill status`. */
struct state_applying {
	int64_t time_ms;
	char upto[24];	    /* the newest load that it has seen */
	uint64_t waiting;   /* loads up to there that were not handed over */
	int64_t oldest_ms;  /* the oldest of them was published then; 0: there is none */
	uint64_t applied;   /* since it began */
	int64_t applied_ms; /* the last; 0: none */
	char trouble[sizeof(
		((struct error *)0)->msg)]; /* why the oldest is not in; "": nothing is wrong */
};
/* As state_note. */
void state_note_applying(const char *dir, const struct state_applying *note);
/* With the loads that came later.  False: none was ever there. */
bool state_applying(const struct state *s, struct state_applying *note);

/*
 * --- the state of a topic that several instances share: a folder of states, one a
 * partition
 *
 *   shared.json   cluster, topic, and how many of its partitions (0 to n-1) have a state
 *   shared.lock   held by flock while partitions are taken in
 *   p00003/       the state of partition 3 (state.h); its lock says which instance has it
 *
 * Where a partition begins is written down once, for all that the topic has at that moment:
 * `start: latest` means the same moment for all of them, whoever reads them.  A partition that
 * comes later begins at offset 0.  Behind that a partition without a state is one that lost it.
 */

struct shared {
	const char *dir;
	int lock_fd;		  /* -1: only looking */
	struct state_topic topic; /* topic NULL: a new folder */
	struct arena arena;
};

int shared_is(const char *dir, bool *is_shared, struct error *err);
/*
 * write: create the folder if need be and hold its lock; RC_BUSY when another process does,
 * RC_CONFIG when it is a state that is not shared.  dir outlives *s; shared_close is due whatever
 * the result.
 */
int shared_open(struct shared *s, const char *dir, bool write, struct error *err);
void shared_close(struct shared *s);
/* RC_DATA: it is the state of something else. */
int shared_check(const struct shared *s, const struct state_topic *now, struct error *err);
/* Give a state to each partition of `now` that has none yet, [p] beginning at starts[p]. */
int shared_take_in(struct shared *s, const struct state_topic *now, const int64_t *starts,
		   struct error *err);

/*
 * Make shared.json anew where it is lost or damaged (it is then put beside its name, .damaged): the
 * topic as its partitions' states know it, with all partitions that any of them has seen.  One that
 * has no state is missed, and said to be, by who opens it.  RC_DATA: none of them knows.  lines: a
 * sentence a line for what was done.
 */
int shared_rebuild(const char *dir, struct buf *lines, struct error *err);
/* *end: the partition behind the last that has a folder in dir; 0: there are none. */
int shared_folders(const char *dir, int32_t *end, struct error *err);

/* The folder of a partition's state; owned by the caller. */
char *shared_dir(const char *dir, int32_t partition);
/* "p00003/00000042" -> 3 and the name in that state; NULL: that is no name of a load. */
const char *shared_name(const char *name, int32_t *partition);

#endif
