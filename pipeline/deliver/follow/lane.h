/*
 * lane.h - the loads of one state that wait for HBase, and those whose folders are kept behind it
 *
 * Nothing here is safe for threads: the follower's lock is held around it.
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
	bool left; /* kept: its removal has begun already */
};
struct items { /* oldest first */
	struct item *item;
	size_t n;
};

/* What is tried again and again, and not said each time. */
struct trouble {
	char why[sizeof(((struct error *)0)->msg)]; /* "": nothing is wrong */
	int64_t said_ms;			    /* 0: not yet */
};

struct lane {
	struct lane *next;
	char *dir, *prefix;
	struct state *state; /* only looked at; NULL: not open */
	int64_t opened_ms;
	char newest[24];   /* record that was seen */
	int64_t newest_ms; /* and by what it is known to be the same */
	uint8_t newest_manifest[16];
	bool anew;	       /* another state stood there at the last look */
	struct trouble unread; /* its state cannot be looked at */
	struct items waiting, kept;
	bool busy, dropped;
	int64_t busy_ms;			     /* since when */
	int64_t slow_ms;			     /* so long it may take unsaid */
	bool slow;				     /* and it was said that it takes long */
	unsigned attempt;			     /* of the first that waits */
	bool passed;				     /* another lane's came in while it failed */
	int64_t try_ms;				     /* not before */
	char said[sizeof(((struct error *)0)->msg)]; /* why it is not in; "": nothing is wrong */
	int64_t said_ms;
	struct state_applying noted;
	int64_t noted_ms; /* 0: not yet */
	uint64_t applied;
	int64_t applied_ms;
};

struct lane *lane_new(const char *dir, const char *prefix);
void lane_free(struct lane *l);
/*
 * See the loads that were published since.  Where another state, or the same one made anew, has
 * taken the place of the one that was looked at, all of it is seen, and what was known forgotten;
 * not while a load of it is on its way: RC_DATA.
 */
int lane_look(struct lane *l, const struct follow_keep *keep, struct error *err);
/* The first that waits is in HBase since now: no more it waits.  ours: its folder is to be removed
 * one day, if any is; what was marked by hand is not. */
void lane_in(struct lane *l, const struct follow_keep *keep, bool ours);
/* False: no folder is to be removed now.  The item is the caller's (item_release). */
bool lane_removal(struct lane *l, const struct follow_keep *keep, struct item *out);
/* Since so many seconds its first load is on its way; 0: none is, or not for long. */
int64_t lane_slow_s(const struct lane *l);
/* For `saltmill status`; now: however short ago the last one was. */
void lane_note(struct lane *l, bool now);

/*
 * Remove a load's folder and the journal of its hand-over; a crash at any moment leaves the folder
 * whole, or such that the next call ends it.
 */
int item_remove(const struct item *i, struct error *err);
struct item item_copy(const struct item *i);
void item_release(struct item *i);

#endif
