/*
 * shared_state.h - the state of a topic that several instances share: a folder of states, one a
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
#ifndef SALTMILL_SHARED_STATE_H
#define SALTMILL_SHARED_STATE_H

#include "bytes.h"
#include "mem.h"
#include "state.h"

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
