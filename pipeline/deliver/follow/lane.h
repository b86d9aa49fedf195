/*
 * lane.h - the loads of one state that wait for HBase, and applied loads that still have their
 * folders
 *
 * These functions are not thread-safe, so callers hold the follower's lock.
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
	bool left; /* true if the removal of the load has begun */
};
struct items { /* list of items, oldest first */
	struct item *item;
	size_t n;
};

/* A failure with many retries and at most one report a minute. */
struct trouble {
	char why[sizeof(((struct error *)0)->msg)]; /* empty if there is no failure */
	int64_t said_ms;			    /* time of the last report, 0 if none */
};

struct lane {
	struct lane *next;
	char *dir, *prefix;
	struct state *state; /* read-only, NULL if not open */
	int64_t opened_ms;
	char newest[24];   /* name of the newest record seen */
	int64_t newest_ms; /* publication time of that record, which also identifies the record */
	uint8_t newest_manifest[16];
	bool safe; /* true if the last read has synced the marks */
	bool anew; /* true if the last read found that another state replaced this one */
	struct trouble unread; /* why the follower cannot read the state */
	struct items waiting, kept;
	bool busy, dropped;
	int64_t busy_ms;  /* start of the call */
	int64_t slow_ms;  /* duration after which the follower reports the load as slow */
	bool slow;	  /* true after the report that the load is slow */
	unsigned attempt; /* failed attempts of the first waiting load */
	/* true if the follower applied another lane's load while this lane's load failed */
	bool passed;
	int64_t try_ms; /* earliest time of the next attempt */
	/* the reported reason why the first load waits, empty if there was no failure */
	char said[sizeof(((struct error *)0)->msg)];
	int64_t said_ms;
	struct state_applying noted;
	int64_t noted_ms; /* time of the last note for `saltmill status`, 0 if none */
	uint64_t applied;
	int64_t applied_ms;
};

struct lane *lane_new(const char *dir, const char *prefix);
void lane_free(struct lane *l);
/*
 * Reads the loads since the last call. After a replacement or rebuild of the state, forgets the
 * known loads and reads all loads again. Returns RC_DATA if another state replaced this state while
 * apply ran for one of its loads.
 */
int lane_look(struct lane *l, const struct follow_keep *keep, struct error *err);
/*
 * Removes the first waiting load from the queue, because the load is in HBase. `ours` is true if
 * the follower applied the load. Later the follower may remove the load's folder, as `keep` says.
 * `ours` is false if the user marked the load.
 */
void lane_in(struct lane *l, const struct follow_keep *keep, bool ours);
/*
 * Takes the next kept load whose time is over. The caller releases the item (item_release). Returns
 * false if no folder is due.
 */
bool lane_removal(struct lane *l, const struct follow_keep *keep, struct item *out);
/* Returns the seconds since apply began for the first load, or 0 if no load is slow. */
int64_t lane_slow_s(const struct lane *l);
/*
 * Writes the note for `saltmill status`. If `now` is true, writes the note even if the last note is
 * recent.
 */
void lane_note(struct lane *l, bool now);

/*
 * Removes a load's folder and its journal. A crash leaves the folder complete, or in a form that
 * the next call removes.
 */
int item_remove(const struct item *i, struct error *err);
struct item item_copy(const struct item *i);
void item_release(struct item *i);

#endif
