/*
 * records.h - a state as it is in memory (inside pipeline/stream/state only)
 */
#ifndef SALTMILL_STATE_RECORDS_H
#define SALTMILL_STATE_RECORDS_H

#include "lock.h"
#include "mem.h"
#include "state.h"

struct position {
	const char *topic; /* NULL: the one that topic.json calls unnamed */
	int32_t partition;
	int64_t offset;
	struct anchor last;
};

struct state {
	char *dir;
	struct lock lock; /* not held: only looking */
	struct state_topics of;
	struct state_load intent; /* name NULL: none */
	struct state_load *loads;
	size_t nloads, room;
	size_t skipped;	     /* records in front of loads[0], which only a checkpoint was read of */
	size_t checkpointed; /* records that the newest checkpoint counts */
	const char *last;    /* the newest record's name; NULL: none */
	struct state_load base;	    /* the newest load among the skipped; name NULL: none */
	struct position *positions; /* by topic and partition */
	size_t npositions;
	int64_t noted_ms; /* by clock_ms; 0: not yet */
	bool noted_parked;
	struct arena arena;
};

/* name in the state's folder; owned by the caller. */
char *state_path(const struct state *s, const char *name);
/* The folder itself and those in it, where they are missing. */
int state_make_folders(struct state *s, struct error *err);
/* NULL: none. */
const struct position *records_position(const struct state *s, const char *topic,
					int32_t partition);
/* The ranges with their topics, in the state's own memory. */
struct offset_range *records_copy(struct state *s, const struct offset_range *r, size_t n);
/* A new record: its ranges' ends are the positions now. */
int records_add(struct state *s, const struct state_load *l, struct error *err);
/* Of the folder; checkpoint: what one counts need not be read. */
int records_read(struct state *s, bool checkpoint, struct error *err);
/* With those that were not read. */
size_t records_count(const struct state *s);
/* handed.c: was the load handed over?  RC_DATA: its mark was damaged. */
int marks_see(struct state *s, struct state_load *l, struct error *err);
/* All marks of the folder that are records of loads, by name, in the state's memory. */
struct state_marks {
	struct state_load *load;
	size_t n;
	char **damaged; /* files of the state's folder */
	size_t ndamaged;
};
int marks_read(struct state *s, struct state_marks *out, struct error *err);
void marks_release(struct state_marks *m);
/* Write a checkpoint when the last one is old. */
void records_checkpoint(struct state *s);

#endif
