/* records.h - a state in memory (private to this folder) */
#ifndef SALTMILL_STATE_RECORDS_H
#define SALTMILL_STATE_RECORDS_H

#include "lock.h"
#include "mem.h"
#include "state.h"

struct position {
	const char *topic; /* NULL for the single topic of topic.json */
	int32_t partition;
	int64_t offset;
	struct anchor last;
	/* the position before a seek backwards, until a load passes it; -1 if there is none */
	int64_t set_back_from;
};

struct state {
	char *dir;
	struct lock lock; /* a reader does not hold the lock */
	struct state_topics of;
	struct state_load intent; /* no intent if its name is NULL */
	struct state_load *loads;
	size_t nloads;
	size_t skipped;	     /* records before loads[0], which only a checkpoint describes */
	size_t checkpointed; /* records that the newest checkpoint counts */
	const char *last;    /* name of the newest record, NULL if there is none */
	/* newest load among the skipped records; its name is NULL if there is none */
	struct state_load base;
	struct position *positions; /* by topic and partition */
	size_t npositions;
	int64_t noted_ms; /* time of the last note (clock_ms), 0 if there is none */
	bool noted_parked;
	struct arena arena;
};

/* Return the path of `name` in the state's folder. The caller owns the path. */
char *state_path(const struct state *s, const char *name);
/* Create the folder and its subfolders if they are missing. */
int state_make_folders(struct state *s, struct error *err);
/* Find the position of a place. Return NULL if the place has none. */
const struct position *records_position(const struct state *s, const char *topic,
					int32_t partition);
/* Copy the ranges and their topics into the state's memory. */
struct offset_range *records_copy(struct state *s, const struct offset_range *r, size_t n);
/* Add a record. The ends of its ranges become the positions. */
int records_add(struct state *s, const struct state_load *l, struct error *err);
/*
 * Read the records of the folder. If `checkpoint` is true, skip the records that a checkpoint
 * summarizes.
 */
int records_read(struct state *s, bool checkpoint, struct error *err);
/* Count the records, including the unread records. */
size_t records_count(const struct state *s);
/* Return the path of a load's mark (handed_marks.c). The caller owns the path. */
char *mark_path(const char *dir, const char *name);
/*
 * Read a mark. Return RC_END if there is none. A mark that the user set by hand is empty. *mark is
 * then empty, too.
 */
int mark_read(const char *path, struct state_load *mark, struct arena *a, struct error *err);
/* Find out whether apply has loaded the load (handed.c). Return RC_DATA if its mark is damaged. */
int marks_see(struct state *s, struct state_load *l, struct error *err);
/* The marks of the folder that contain a record, sorted by name. The state owns the memory. */
struct state_marks {
	struct state_load *load;
	size_t n;
	char **damaged; /* paths of damaged marks */
	size_t ndamaged;
};
int marks_read(struct state *s, struct state_marks *out, struct error *err);
void marks_release(struct state_marks *m);
/* Write a checkpoint if the last one is at least CHECKPOINT_EVERY records old. */
void records_checkpoint(struct state *s);

#endif
