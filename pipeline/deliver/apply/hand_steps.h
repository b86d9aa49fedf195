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
 * Of a file whose call did not end with "loaded": into HAND_DONE, HAND_READY, or HAND_NEW when
 * it was taken away by somebody else before any call can have got hold of it.  refused: the region
 * that answered "not loaded", which does not say that none of its files is in; NULL: none did.
 */
int hand_resolve(struct handover *h, struct hand_file *f, const struct hbase_region *refused,
		 struct error *err);

/* n more files are in the table, or others have their cells. */
void hand_count(struct handover *h, size_t n);

/* recut.c: cut each file that waits and lies across regions; its parts are to be uploaded. */
int recut_files(struct handover *h, const struct hbase_regions *r, struct error *err);
/* The event of a cut, behind its word. */
int recut_replay(struct handover *h, char *rest, struct error *err);

#endif
