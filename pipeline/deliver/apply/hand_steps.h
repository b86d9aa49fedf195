/* hand_steps.h - steps of the state machine (handover.h) that several files use */
#ifndef SALTMILL_APPLY_HAND_STEPS_H
#define SALTMILL_APPLY_HAND_STEPS_H

#include "handover.h"

/* Notes an event of files in the journal. The line contains the word `what` and the files'
 * numbers. */
int hand_note(const struct handover *h, const char *what, struct hand_file *const *files, size_t n,
	      struct error *err);
/*
 * Parses the next number of a line, after a space, and moves *p to its end. Returns false if there
 * is no number or if the number exceeds `most`.
 */
bool hand_number(char **p, uint64_t most, uint64_t *out);
/*
 * Finds a file and sets its state. The state is HAND_DONE in the table, HAND_READY in the upload
 * folder, and HAND_NEW if the file is in neither. `r` is the region of the call, which comes first
 * in the search, or NULL. `ended` is true if the server has answered the call. The call then cannot
 * move the file later.
 */
int hand_resolve(struct handover *h, struct hand_file *f, const struct hbase_region *r, bool ended,
		 struct error *err);

/* Counts `n` more files that are in the table or replaced by their parts. */
void hand_count(struct handover *h, size_t n);

/* Waits until the next upload or call may begin. Returns RC_STOPPED after a signal. */
int hand_ready(const struct handover *h, struct error *err);
/* Chooses the files of the next batch, which are those of the first regions with open files. */
void hand_batch(struct handover *h, const struct hbase_regions *r);

/* Makes the call of a group and notes its result (hand_call.c). */
struct group;
int hand_send(struct handover *h, struct group *g, struct error *err);

/*
 * Cuts each waiting file that crosses a region border. Then apply must upload the parts of the file
 * (recut.c).
 */
int recut_files(struct handover *h, const struct hbase_regions *r, struct error *err);
/* Replays the event of a cut. `rest` is the line after its first word. */
int recut_replay(struct handover *h, char *rest, struct error *err);

#endif
