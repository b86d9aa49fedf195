/* records.h - a state in memory (inside pipeline/stream/state only) */
#ifndef SALTMILL_STATE_RECORDS_H
#define SALTMILL_STATE_RECORDS_H

#include "lock.h"
#include "mem.h"
#include "state.h"

struct position {
	const char *topic; /* NULL: the topic without a name in topic.json */
	int32_t partition;
	int64_t offset;
	struct anchor last;
};

struct state {
	char *dir;
	struct lock lock; /* not held by a reader */
	struct state_topics of;
	struct state_load intent; /* name NULL: none */
	struct state_load *loads;
	size_t nloads;
	size_t skipped;		    /* records before loads[0], known only from a checkpoint */
	size_t checkpointed;	    /* records that the newest checkpoint counts */
	const char *last;	    /* the newest record's name; NULL: none */
	struct state_load base;	    /* the newest load among the skipped; name NULL: none */
	struct position *positions; /* by topic and partition */
	size_t npositions;
	int64_t noted_ms; /* by clock_ms; 0: never */
	bool noted_parked;
	struct arena arena;
};

/* Return the path of name in the state's folder; the caller owns it. */
char *state_path(const struct state *s, const char *name);
/* Create the folder and its subfolders if they are missing. */
int state_make_folders(struct state *s, struct error *err);
/* Find a position; NULL: none. */
const struct position *records_position(const struct state *s, const char *topic,
					int32_t partition);
/* Copy the ranges and their topics into the state's memory. */
struct offset_range *records_copy(struct state *s, const struct offset_range *r, size_t n);
/* Add a record; the ends of its ranges become the positions. */
int records_add(struct state *s, const struct state_load *l, struct error *err);
/* Read the records of the folder; checkpoint: skip those that a checkpoint counts. */
int records_read(struct state *s, bool checkpoint, struct error *err);
/* Count the records, including those that were not read. */
size_t records_count(const struct state *s);
/* handed.c: find out whether the load was applied. RC_DATA: its mark is damaged. */
int marks_see(struct state *s, struct state_load *l, struct error *err);
/* All marks of the folder that are records of loads, by name; the state owns the memory. */
struct state_marks {
	struct state_load *load;
	size_t n;
	char **damaged; /* files of the state's folder */
	size_t ndamaged;
};
int marks_read(struct state *s, struct state_marks *out, struct error *err);
void marks_release(struct state_marks *m);
/* Write a checkpoint if the last one is old. */
void records_checkpoint(struct state *s);

#endif
