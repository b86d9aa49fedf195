/*
 * rebuild_state.c - rebuild a state from its intact records and the loads in the folders
 *
 * If a load left no record, folder or mark, the next load still proves that the missing load
 * existed. The manifest of the next load contains the name and digest of the load before. Positions
 * set by hand appear only as the start of the next load. A mark in handed/ contains the record of
 * its load. Only the count in the lock shows that the newest load is missing. In this case, the
 * rebuild fails.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint.h"
#include "io.h"
#include "records.h"
#include "state_files.h"

struct rebuild {
	struct state state;	  /* the state being rebuilt */
	struct state_load *whole; /* intact records, by name */
	size_t nwhole;
	char **damaged; /* paths of damaged files */
	size_t ndamaged;
	/* number of found folders; only marks describe the loads after them in the list */
	size_t nfolders;
	bool *made; /* for each load of state.loads, true if it needs a record */
	struct buf *lines;
};

static int by_load_name(const void *a, const void *b)
{
	return strcmp(((const struct state_load *)a)->name, ((const struct state_load *)b)->name);
}

static void is_damaged(struct rebuild *r, const char *file)
{
	r->damaged = mem_grow(r->damaged, r->ndamaged, sizeof *r->damaged);
	r->damaged[r->ndamaged++] = mem_strdup(file);
}

/*
 * Decide what the result `rc` of reading a file means. If the file is damaged, note its path and
 * return RC_OK. If the disk or a permission prevented the read, return `rc`, because the file may
 * be intact.
 */
static int note_damage(struct rebuild *r, const char *file, int rc)
{
	if (rc == RC_DATA)
		is_damaged(r, file);
	return rc == RC_DATA ? RC_OK : rc;
}

/* Read a record such as "00000042.json". The content decides whether the record is intact. */
static int read_record(struct rebuild *r, const char *name, struct error *err)
{
	struct state_load l;
	int rc = RC_OK;
	char *file = mem_format("loads/%s", name), *path = state_path(&r->state, file);
	size_t len = strlen(name), end = strlen(".json");

	if (len > end && strcmp(name + len - end, ".json") == 0) {
		rc = load_read(path, &l, &r->state.arena, err);
		if (rc == RC_OK &&
		    (strlen(l.name) != len - end || strncmp(l.name, name, len - end) != 0))
			rc = RC_DATA;
		if (rc == RC_OK) {
			r->whole = mem_grow(r->whole, r->nwhole, sizeof *r->whole);
			r->whole[r->nwhole++] = l;
		}
		rc = note_damage(r, file, rc);
	}
	mem_free(path);
	mem_free(file);
	return rc;
}

static int read_records(struct rebuild *r, struct error *err)
{
	char *folder = state_path(&r->state, "loads");

	DIR *d = opendir(folder);
	int rc = d || errno == ENOENT ? RC_OK : error_errno(err, "cannot read %s", folder);
	for (struct dirent *e; d && rc == RC_OK && (errno = 0, e = readdir(d));)
		rc = read_record(r, e->d_name, err);
	if (d && rc == RC_OK && errno)
		rc = error_errno(err, "cannot read %s", folder);
	if (d)
		closedir(d);
	mem_free(folder);
	if (r->nwhole)
		qsort(r->whole, r->nwhole, sizeof *r->whole, by_load_name);
	return rc;
}

static int read_others(struct rebuild *r, struct error *err)
{
	struct state *s = &r->state;
	char *intent = state_path(s, "intent.json"), *topic = state_path(s, "topic.json");
	bool intends, knows = false;
	int rc = io_exists(intent, &intends, err);

	if (rc == RC_OK)
		rc = io_exists(topic, &knows, err);
	if (rc == RC_OK && intends)
		rc = note_damage(r, "intent.json", load_read(intent, &s->intent, &s->arena, err));
	if (rc == RC_OK && knows)
		rc = note_damage(r, "topic.json", topics_read(topic, &s->of, &s->arena, err));
	mem_free(intent);
	mem_free(topic);
	return rc;
}

static bool same_manifest(const struct state_load *a, const struct state_load *b)
{
	return !a->manifest_known || !b->manifest_known ||
	       memcmp(a->manifest, b->manifest, sizeof a->manifest) == 0;
}

/* Find the intact record with the name of `named`. Return NULL if there is none. */
static const struct state_load *whole_of(const struct rebuild *r, const struct state_load *named)
{
	return r->nwhole ? bsearch(named, r->whole, r->nwhole, sizeof *r->whole, by_load_name)
			 : NULL;
}

/*
 * Return true if a record or a folder describes the load of the mark, too. Set *other if that load
 * differs from the mark.
 */
static bool is_told(const struct rebuild *r, const struct state_found *found, size_t n,
		    const struct state_load *mark, bool *other)
{
	const struct state_load *l = whole_of(r, mark);

	for (size_t i = 0; !l && i < n; i++)
		if (strcmp(found[i].load.name, mark->name) == 0)
			l = &found[i].load;
	*other = l && !same_manifest(l, mark);
	return l != NULL;
}

/*
 * Add the loads that only their marks describe, because apply has removed their folders. The caller
 * owns *out.
 */
static int add_marks(struct rebuild *r, const struct state_found *found, size_t *n,
		     struct state_found **out, struct error *err)
{
	struct state_marks m;
	size_t at = r->nfolders = *n;
	int rc = marks_read(&r->state, &m, err);

	*out = mem_calloc(m.n + *n + 1, sizeof **out);
	if (*n)
		memcpy(*out, found, *n * sizeof **out);
	for (size_t i = 0; rc == RC_OK && i < m.n; i++) {
		bool other;
		char *file = mem_format("handed/%s", m.load[i].name);

		if (!is_told(r, found, *n, &m.load[i], &other)) {
			(*out)[at] = (struct state_found){.load = m.load[i]};
			/* records do not contain the time of apply */
			(*out)[at].load.handed_ms = 0;
			(*out)[at++].load.handed_to = NULL;
		} else if (other) {
			is_damaged(r, file);
		}
		mem_free(file);
	}
	for (size_t i = 0; rc == RC_OK && i < m.ndamaged; i++)
		is_damaged(r, m.damaged[i]);
	*n = at;
	marks_release(&m);
	return rc;
}

/* --- the loads, in order --- */

static int keep(struct rebuild *r, const struct state_load *l, bool made, struct error *err)
{
	struct state *s = &r->state;
	int rc = records_add(s, l, err);

	if (rc)
		return rc;
	r->made = mem_grow(r->made, s->nloads - 1, sizeof *r->made);
	r->made[s->nloads - 1] = made;
	return RC_OK;
}

static bool has_place(const struct state *s, const struct state_load *l, const struct position *p)
{
	for (size_t i = 0; i < l->nranges; i++)
		if (records_position(s, l->ranges[i].topic, l->ranges[i].partition) == p)
			return true;
	return false;
}

/*
 * Report places that the next load does not contain, because somebody deleted their topic or the
 * job named fewer partitions. The end of the missing load is unknown for these places, so their
 * positions do not change.
 */
static void say_not_bridged(const struct rebuild *r, const struct state_load *next)
{
	const struct state *s = &r->state;
	bool said = false;

	for (size_t i = 0; i < s->npositions; i++) {
		const struct position *p = &s->positions[i];

		if (has_place(s, next, p))
			continue;
		if (!said)
			buf_printf(r->lines,
				   "load %s has no offsets of these partitions, so the offsets "
				   "that the missing load before it had there are unknown; their "
				   "positions stay as before the missing load, and the next load "
				   "may repeat events; to skip events: `saltmill seek`; the "
				   "partitions are:",
				   next->name);
		buf_printf(r->lines, " %s=%lld", place_text(p->topic, p->partition).text,
			   (long long)p->offset);
		said = true;
	}
	buf_append_str(r->lines, said ? "\n" : "");
}

/*
 * Fill the gap between the end of the last load and the start of the next one. The gap is a missing
 * load, which the next load names as its predecessor, or a change of positions by hand.
 */
static int bridge(struct rebuild *r, const struct state_load *next, const struct state_found *f,
		  struct error *err)
{
	struct state *s = &r->state;
	char number[24];
	int64_t at;
	bool forward = true; /* a load only moves positions forward */
	struct state_load l = {.dir = "", .phase = STATE_SEEK, .published_ms = next->published_ms};

	l.ranges = arena_alloc(&s->arena, (next->nranges + 1) * sizeof *l.ranges);
	for (size_t i = 0; i < next->nranges; i++) {
		const struct offset_range *n = &next->ranges[i];

		if (!state_position(s, n->topic, n->partition, &at) || at == n->start)
			continue;
		forward = forward && at < n->start;
		l.ranges[l.nranges++] = (struct offset_range){.topic = n->topic,
							      .partition = n->partition,
							      .start = at,
							      .end = n->start};
	}
	const struct state_load *before = state_newest(s);
	bool missing = f && f->follows && (!before || strcmp(before->name, f->follows) < 0);
	if (l.nranges || missing)
		say_not_bridged(r, next);
	if (!l.nranges)
		return RC_OK;
	snprintf(number, sizeof number, "%08llu", strtoull(next->name, NULL, 10) - 1);
	l.name = arena_strdup(&s->arena, number);
	if (s->last && strcmp(s->last, l.name) >= 0)
		return error_set(
			err, RC_DATA,
			"load %s does not begin where load %s ends, and no load fits between "
			"them; saltmill changed nothing",
			next->name, s->last);
	if (forward && missing) {
		char *dir = mem_format("%s/published/%s", s->dir, f->follows);

		l.name = f->follows;
		l.phase = STATE_PUBLISHED;
		l.dir = arena_strdup(&s->arena, dir);
		l.manifest_known = true;
		memcpy(l.manifest, f->follows_manifest, sizeof l.manifest);
		mem_free(dir);
		buf_printf(r->lines,
			   "found no load %s; load %s names it as its predecessor, and begins at "
			   "the offsets where the missing load ended\n",
			   l.name, next->name);
	} else {
		buf_printf(r->lines,
			   "%s: positions set, because load %s begins where no found load ends\n",
			   l.name, next->name);
	}
	return keep(r, &l, true, err);
}

/* Find the load `name`. Fail if two different loads have that name. */
static int find(const struct state_found *found, size_t n, const char *name,
		const struct state_found **out, struct error *err)
{
	*out = NULL;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(found[i].load.name, name) != 0)
			continue;
		if (*out && memcmp((*out)->load.manifest, found[i].load.manifest, 16) != 0)
			return error_set(
				err, RC_DATA,
				"found two folders, %s and %s, for load %s; remove the wrong one "
				"from the command; saltmill changed nothing",
				(*out)->load.dir, found[i].load.dir, name);
		*out = &found[i];
	}
	return RC_OK;
}

static void say_recorded(const struct rebuild *r, const struct state_load *l, bool by_mark)
{
	if (by_mark)
		buf_printf(r->lines, "saltmill recorded load %s from its mark, %s/handed/%s\n",
			   l->name, r->state.dir, l->name);
	else
		buf_printf(r->lines, "saltmill recorded load %s from %s\n", l->name, l->dir);
}

static int merge(struct rebuild *r, const struct state_found *found, size_t n, struct error *err)
{
	size_t all = r->nwhole + n, at = 0;
	const struct state_found *f;
	struct state_load *l = mem_calloc(all + 1, sizeof *l);
	int rc = RC_OK;

	for (size_t i = 0; i < r->nwhole; i++)
		l[at++] = r->whole[i];
	for (size_t i = 0; i < n; i++)
		if (!whole_of(r, &found[i].load))
			l[at++] = found[i].load;
	if (at)
		qsort(l, at, sizeof *l, by_load_name);
	for (size_t i = 0; rc == RC_OK && i < at; i++) {
		bool made = !whole_of(r, &l[i]);

		if (i && strcmp(l[i].name, l[i - 1].name) == 0)
			continue;
		rc = find(found, n, l[i].name, &f, err);
		if (rc == RC_OK && l[i].phase != STATE_SEEK)
			rc = bridge(r, &l[i], f, err);
		if (rc == RC_OK)
			rc = keep(r, &l[i], made, err);
		if (rc == RC_OK && made)
			say_recorded(r, &l[i], f && f >= found + r->nfolders);
	}
	mem_free(l);
	return rc;
}

/*
 * Return an error if there is no topic, because the places of loads mean nothing without a topic.
 */
static int check_topic(const struct rebuild *r, struct error *err)
{
	if (r->state.of.n || !state_newest(&r->state))
		return RC_OK;
	return error_set(
		err, RC_DATA,
		"no file in %s contains the topic of this state; add the folders of its loads to "
		"the command; saltmill changed nothing",
		r->state.dir);
}

/* Compare the number of records with the lock's count, to detect a missing newest load. */
static int check_end(const struct rebuild *r, struct error *err)
{
	const struct state *s = &r->state;

	unsigned long long last = s->last ? strtoull(s->last, NULL, 10) : 0;
	bool intent = s->intent.name != NULL;
	if (last > s->lock.records || (last == s->lock.records && (intent || !s->lock.publishing)))
		return RC_OK;
	return error_set(
		err, RC_DATA,
		"%s had %llu records%s, but the newest one found is %llu; add the folders of the "
		"newer loads to the command; if they are lost, or never came into HBase, remove "
		"%s/lock to load their offsets again; saltmill changed nothing",
		s->dir, s->lock.records,
		s->lock.publishing ? " and a load that may be published" : "", last, s->dir);
}

/* --- writing --- */

static int put_aside(struct rebuild *r, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < r->ndamaged; i++) {
		char *path = state_path(&r->state, r->damaged[i]);
		char *to = mem_format("%s.damaged", path);

		if (rename(path, to) < 0)
			rc = error_errno(err, "cannot rename %s", path);
		else
			buf_printf(r->lines, "%s was damaged: now %s\n", path, to);
		mem_free(to);
		mem_free(path);
	}
	return rc;
}

static int write_all(struct rebuild *r, bool lost, struct error *err)
{
	struct state *s = &r->state;
	char *checkpoint = state_path(s, "checkpoint.json");
	int rc = put_aside(r, err);

	if (rc == RC_OK && unlink(checkpoint) < 0 && errno != ENOENT)
		rc = error_errno(err, "cannot remove %s", checkpoint);
	for (size_t i = 0; rc == RC_OK && i < s->nloads; i++) {
		char *path = mem_format("%s/loads/%s.json", s->dir, s->loads[i].name);

		if (r->made[i])
			rc = load_write(path, &s->loads[i], NULL, err);
		mem_free(path);
	}
	char *path = state_path(s, "topic.json");
	/* if the state has no loads, the first load will write topic.json */
	if (rc == RC_OK && lost && s->of.n && state_newest(s)) {
		rc = topics_write(path, &s->of, err);
		for (size_t i = 0; i < s->of.n; i++)
			buf_printf(r->lines, "%s was rebuilt: topic %s, %d partitions\n", path,
				   s->of.item[i].topic, s->of.item[i].npartitions);
	}
	if (rc == RC_OK)
		rc = lock_note(&s->lock, s->nloads, s->lock.publishing && s->intent.name, err);
	mem_free(path);
	mem_free(checkpoint);
	return rc;
}

int state_rebuild(const char *dir, const struct state_topics *topics,
		  const struct state_found *found, size_t n, struct buf *lines, struct error *err)
{
	struct rebuild r = {.state = {.dir = mem_strdup(dir), .lock.fd = -1}, .lines = lines};
	size_t said = lines->len;
	struct state_found *all = NULL;
	bool lost = false, there;
	int rc = io_exists(dir, &there, err);

	if (rc == RC_OK && !there)
		rc = error_set(err, RC_CONFIG, "found no folder %s, expected the state folder",
			       dir);
	if (rc == RC_OK)
		rc = state_make_folders(&r.state, err);
	if (rc == RC_OK)
		rc = lock_take(&r.state.lock, dir, err);
	if (rc == RC_OK)
		rc = read_records(&r, err);
	if (rc == RC_OK)
		rc = read_others(&r, err);
	lost = !r.state.of.n;
	if (lost) /* the records of a single topic omit its name */
		r.state.of = *topics;
	if (rc == RC_OK)
		rc = add_marks(&r, found, &n, &all, err);
	if (rc == RC_OK)
		rc = merge(&r, all, n, err);
	mem_free(all);
	if (rc == RC_OK)
		rc = check_topic(&r, err);
	if (rc == RC_OK)
		rc = check_end(&r, err);
	if (rc)
		lines->len = said;
	else
		rc = write_all(&r, lost, err);
	for (size_t i = 0; i < r.ndamaged; i++)
		mem_free(r.damaged[i]);
	mem_free(r.damaged);
	mem_free(r.whole);
	mem_free(r.made);
	lock_release(&r.state.lock);
	mem_free(r.state.dir);
	mem_free(r.state.loads);
	mem_free(r.state.positions);
	arena_release(&r.state.arena);
	return rc;
}
