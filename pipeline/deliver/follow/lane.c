#include "lane.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "run.h"
#include "io.h"
#include "mem.h"

/* time after which the follower opens a state again, because another state may have replaced it */
#define OPEN_ANEW_MS 60000
#define NOTE_MS	     1000
#define NOTE_AGAIN   10000 /* time between two notes if nothing changed */

/* --- items --- */

struct item item_copy(const struct item *i)
{
	struct item copy = *i;

	copy.name = mem_strdup(i->name);
	copy.dir = mem_strdup(i->dir);
	return copy;
}

void item_release(struct item *i)
{
	mem_free(i->name);
	mem_free(i->dir);
	*i = (struct item){0};
}

static void items_add(struct items *to, struct item i)
{
	to->item = mem_grow(to->item, to->n, sizeof *to->item);
	to->item[to->n++] = i;
}

static struct item items_take(struct items *from, size_t at)
{
	struct item i = from->item[at];

	memmove(&from->item[at], &from->item[at + 1], (--from->n - at) * sizeof *from->item);
	return i;
}

static void items_release(struct items *all)
{
	for (size_t i = 0; i < all->n; i++)
		item_release(&all->item[i]);
	mem_free(all->item);
	*all = (struct items){0};
}

/* --- a lane --- */

struct lane *lane_new(const char *dir, const char *prefix)
{
	struct lane *l = mem_calloc(1, sizeof *l);

	l->dir = mem_strdup(dir);
	l->prefix = mem_strdup(prefix);
	return l;
}

void lane_free(struct lane *l)
{
	lane_note(l, true);
	state_close(l->state);
	items_release(&l->waiting);
	items_release(&l->kept);
	mem_free(l->dir);
	mem_free(l->prefix);
	mem_free(l);
}

static int is_there(const char *dir, const char *suffix, bool *there, struct error *err)
{
	char *path = mem_format("%s%s", dir, suffix);
	int rc = io_exists(path, there, err);

	mem_free(path);
	return rc;
}

/* Keeps the item for its later removal, if the load's folder or journal still exists. */
static int see_kept(struct lane *l, struct item i, struct error *err)
{
	bool dir, removed, journal;
	int rc = is_there(i.dir, "", &dir, err);

	if (rc == RC_OK)
		rc = is_there(i.dir, APPLY_REMOVED, &removed, err);
	if (rc == RC_OK)
		rc = is_there(i.dir, APPLY_SUFFIX, &journal, err);
	if (rc || !(dir || removed || journal))
		return rc;
	if (!l->safe)
		rc = state_keep_marks(l->dir, err);
	if (rc)
		return rc;
	l->safe = true;
	i.left = !dir;
	items_add(&l->kept, item_copy(&i));
	return RC_OK;
}

static int see(struct lane *l, const struct state_load *s, const struct follow_keep *keep,
	       struct error *err)
{
	char *name = mem_strdup(s->name), *dir = mem_strdup(s->dir);
	struct item i = {.name = name,
			 .dir = dir,
			 .published_ms = s->published_ms,
			 .handed_ms = s->handed_ms,
			 .manifest_known = s->manifest_known};
	int rc = RC_OK;

	memcpy(i.manifest, s->manifest, sizeof i.manifest);
	if (s->phase == STATE_PUBLISHED && !s->handed)
		items_add(&l->waiting, item_copy(&i));
	/* do not remove a load that another program applied */
	else if (s->phase == STATE_PUBLISHED && s->handed_to && keep->by != KEEP_ALL)
		rc = see_kept(l, i, err);
	item_release(&i);
	return rc;
}

static int open_state(struct lane *l, struct error *err)
{
	if (l->state && (l->busy || clock_ms() - l->opened_ms < OPEN_ANEW_MS))
		return state_read_more(l->state, err);
	state_close(l->state);
	l->state = NULL;
	int rc = state_open(&l->state, l->dir, false, err);
	size_t n = 0;
	const struct state_load *all = rc ? NULL : state_loads(l->state, &n);
	/*
	 * the records after the checkpoint may not include the newest record that this lane knows
	 */
	if (rc == RC_OK && (!n || strcmp(all->name, l->newest) > 0))
		rc = state_read_all(l->state, err);
	l->opened_ms = clock_ms();
	return rc;
}

/* Returns true if the newest record of the last read still exists and is unchanged. */
static bool is_known(const struct lane *l, const struct state_load *all, size_t n)
{
	while (n > 0 && strcmp(all[n - 1].name, l->newest) > 0)
		n--;
	if (!l->newest[0])
		return true;
	const struct state_load *s = n > 0 ? &all[n - 1] : NULL;
	return s && strcmp(s->name, l->newest) == 0 && s->published_ms == l->newest_ms &&
	       memcmp(s->manifest, l->newest_manifest, sizeof s->manifest) == 0;
}

/*
 * Forgets a state that another state has replaced. The new state may use the names of old loads,
 * and the follower would skip them.
 */
static int begin_anew(struct lane *l, struct error *err)
{
	if (l->busy)
		return error_set(
			err, RC_DATA,
			"found another state in %s after apply ran for load %s of the earlier "
			"state",
			l->dir, l->waiting.item[0].name);
	items_release(&l->waiting);
	items_release(&l->kept);
	l->newest[0] = l->said[0] = 0;
	l->attempt = 0;
	l->try_ms = 0;
	l->slow = l->passed = false;
	l->anew = true;
	return state_read_all(l->state, err);
}

static void remember_newest(struct lane *l, const struct state_load *s)
{
	snprintf(l->newest, sizeof l->newest, "%s", s->name);
	l->newest_ms = s->published_ms;
	memcpy(l->newest_manifest, s->manifest, sizeof l->newest_manifest);
}

int lane_look(struct lane *l, const struct follow_keep *keep, struct error *err)
{
	size_t n = 0;
	int rc = open_state(l, err);
	const struct state_load *all = rc ? NULL : state_loads(l->state, &n);

	if (rc == RC_OK && !is_known(l, all, n)) {
		rc = begin_anew(l, err);
		all = rc ? NULL : state_loads(l->state, &n);
	}
	l->safe = false;
	size_t first = rc ? 0 : n;
	while (first > 0 && strcmp(all[first - 1].name, l->newest) > 0)
		first--;
	for (size_t i = first; rc == RC_OK && i < n; i++) {
		rc = see(l, &all[i], keep, err);
		if (rc == RC_OK)
			remember_newest(l, &all[i]);
	}
	if (rc && l->state) {
		state_close(l->state);
		l->state = NULL;
	}
	return rc;
}

void lane_in(struct lane *l, const struct follow_keep *keep, bool ours)
{
	struct item i = items_take(&l->waiting, 0);

	i.handed_ms = clock_wall_ms();
	if (keep->by == KEEP_ALL || !ours)
		item_release(&i);
	else
		items_add(&l->kept, i);
}

bool lane_removal(struct lane *l, const struct follow_keep *keep, struct item *out)
{
	if (!l->kept.n)
		return false;
	const struct item *oldest = &l->kept.item[0];
	/* negative if the clock went back */
	int64_t age_ms = clock_wall_ms() - oldest->handed_ms;
	bool due = oldest->left || (keep->by == KEEP_LOADS ? l->kept.n > keep->n
							   : age_ms >= (int64_t)keep->n * 1000);
	if (due)
		*out = items_take(&l->kept, 0);
	return due;
}

int64_t lane_slow_s(const struct lane *l)
{
	int64_t ms = l->busy ? clock_ms() - l->busy_ms : 0;

	return l->busy && ms >= l->slow_ms ? ms / 1000 + 1 : 0;
}

void lane_note(struct lane *l, bool now)
{
	struct state_applying n = {
		.time_ms = clock_wall_ms(),
		.waiting = l->waiting.n,
		.oldest_ms = l->waiting.n ? l->waiting.item[0].published_ms : 0,
		.applied = l->applied,
		.applied_ms = l->applied_ms,
	};

	snprintf(n.upto, sizeof n.upto, "%s", l->newest);
	snprintf(n.trouble, sizeof n.trouble, "%s", l->unread.why[0] ? l->unread.why : l->said);
	if (!n.trouble[0] && lane_slow_s(l))
		snprintf(n.trouble, sizeof n.trouble, "it is not yet in HBase after %lld s",
			 (long long)lane_slow_s(l));
	const struct state_applying *o = &l->noted;
	bool news = n.waiting != o->waiting || n.applied != o->applied ||
		    strcmp(n.upto, o->upto) != 0 || strcmp(n.trouble, o->trouble) != 0;
	int64_t now_ms = clock_ms(), least_ms = news ? NOTE_MS : NOTE_AGAIN;
	if ((!l->state && !l->unread.why[0]) ||
	    (!now && l->noted_ms && now_ms - l->noted_ms < least_ms))
		return;
	state_note_applying(l->dir, &n);
	l->noted = n;
	l->noted_ms = now_ms;
}

/* --- removing --- */

int item_remove(const struct item *i, struct error *err)
{
	return apply_remove(i->dir, err);
}
