/* hand_steps.h - the steps of the state machine that several files share (handover.h) */
#ifndef SALTMILL_APPLY_HAND_STEPS_H
#define SALTMILL_APPLY_HAND_STEPS_H

#include "handover.h"

/* Notes an event of files: its word, then the files' numbers. */
int hand_note(const struct handover *h, const char *what, struct hand_file *const *files, size_t n,
	      struct error *err);
/*
 * Parses the next number of a line, after a blank, and moves *p past it. False: there is none, or
 * it exceeds most.
 */
bool hand_number(char **p, uint64_t most, uint64_t *out);
/*
 * Finds out where a file is and sets its state: HAND_DONE in the table, HAND_READY in the upload
 * folder, HAND_NEW nowhere. r: the region that was called, searched first; NULL: unknown. ended:
 * the call was answered, so it cannot take the file any more.
 */
int hand_resolve(struct handover *h, struct hand_file *f, const struct hbase_region *r, bool ended,
		 struct error *err);

/* Counts n more files as in the table, or as replaced by their parts. */
void hand_count(struct handover *h, size_t n);

/* hand_call.c: makes the call of a group and notes its result. */
struct group;
int hand_send(struct handover *h, struct group *g, struct error *err);

/* recut.c: cuts each waiting file that crosses regions; its parts are to be uploaded. */
int recut_files(struct handover *h, const struct hbase_regions *r, struct error *err);
/* Replays the event of a cut, from after its word. */
int recut_replay(struct handover *h, char *rest, struct error *err);

#endif
