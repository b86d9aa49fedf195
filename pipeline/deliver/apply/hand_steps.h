/*
 * hand_steps.h - the steps of the state machine that its files share (handover.h)
 */
#ifndef SALTMILL_APPLY_HAND_STEPS_H
#define SALTMILL_APPLY_HAND_STEPS_H

#include "handover.h"

/* An event of files: its word, then their numbers. */
int hand_note(const struct handover *h, const char *what, struct hand_file *const *files, size_t n,
	      struct error *err);
/* In a line: the next number, behind a blank; *p goes behind it.  False: there is none, or it is
 * above most. */
bool hand_number(char **p, uint64_t most, uint64_t *out);
/*
 * Find out where a file is, and set its state: HAND_DONE in the table, HAND_READY in the upload
 * folder, HAND_NEW nowhere.  r: the region that was called, looked at first; NULL: not known.
 * ended: its call was answered, so it cannot take the file any more.
 */
int hand_resolve(struct handover *h, struct hand_file *f, const struct hbase_region *r, bool ended,
		 struct error *err);

/* n more files are in the table, or others have their cells. */
void hand_count(struct handover *h, size_t n);

/* hand_call.c: make the call of a group and note what came of it. */
struct group;
int hand_send(struct handover *h, struct group *g, struct error *err);

/* recut.c: cut each file that waits and lies across regions; its parts are to be uploaded. */
int recut_files(struct handover *h, const struct hbase_regions *r, struct error *err);
/* The event of a cut, behind its word. */
int recut_replay(struct handover *h, char *rest, struct error *err);

#endif
