/*
 * lane.h - one state's loads that wait for HBase, and handed-over loads whose folders are kept
 *
 * Nothing here is thread-safe: callers hold the follower's lock.
 */
#ifndef SALTMILL_FOLLOW_LANE_H
#define SALTMILL_FOLLOW_LANE_H

#include "apply.h"
#include "state.h"

struct item {
	char *name, *dir; /* owned */
	int64_t published_ms, handed_ms;
	bool manifest_known;
	uint8_t manifest[16];
	bool left; /* kept: its removal has begun */
};
struct items { /* oldest first */
	struct item *item;
	size_t n;
};

/* A failure that is retried often, and reported only now and then. */
struct trouble {
	char why[sizeof(((struct error *)0)->msg)]; /* "": no failure */
	int64_t said_ms;			    /* when it was reported; 0: not yet */
};

struct lane {
	struct lane *next;
	char *dir, *prefix;
	struct state *state; /* read-only; NULL: not open */
	int64_t opened_ms;
	char newest[24];   /* name of the newest record seen */
	int64_t newest_ms; /* its time and manifest tell whether it is the same record */
	uint8_t newest_manifest[16];
	bool anew;	       /* the last look found another state in its place */
	struct trouble unread; /* why the state cannot be read */
	struct items waiting, kept;
	bool busy, dropped;
	int64_t busy_ms;  /* start of the call */
	int64_t slow_ms;  /* time it may take without a report */
	bool slow;	  /* reported as slow */
	unsigned attempt; /* failed attempts of the first waiting load */
	/* another lane's load was handed over while this one failed */
	bool passed;
	int64_t try_ms; /* next attempt, not earlier */
	/* why the first load waits, as reported; "": no failure */
	char said[sizeof(((struct error *)0)->msg)];
	int64_t said_ms;
	struct state_applying noted;
	int64_t noted_ms; /* last note for `saltmill status`; 0: none yet */
	uint64_t applied;
	int64_t applied_ms;
};

struct lane *lane_new(const char *dir, const char *prefix);
void lane_free(struct lane *l);
/*
 * Reads the loads that were published since the last call. If the state was replaced or rebuilt, it
 * forgets what it knew and reads all loads. RC_DATA: that happened while one of its loads is on its
 * way.
 */
int lane_look(struct lane *l, const struct follow_keep *keep, struct error *err);
/*
 * Moves the first waiting load out of the queue: it is in HBase now. ours: its folder may be
 * removed later, as keep says. A load that was marked by hand is not ours.
 */
void lane_in(struct lane *l, const struct follow_keep *keep, bool ours);
/*
 * Takes the next kept load whose folder must be removed; the caller releases it (item_release).
 * False: none now.
 */
bool lane_removal(struct lane *l, const struct follow_keep *keep, struct item *out);
/* Returns for how many seconds the first load has been on its way; 0: none is, or not for long. */
int64_t lane_slow_s(const struct lane *l);
/* Writes the note for `saltmill status`. now: even if the last note is recent. */
void lane_note(struct lane *l, bool now);

/*
 * Removes a load's folder and the journal of its hand-over. A crash leaves the folder whole, or in
 * a form that the next call removes.
 */
int item_remove(const struct item *i, struct error *err);
struct item item_copy(const struct item *i);
void item_release(struct item *i);

#endif
