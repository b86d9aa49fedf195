/*
 * records.c - a state's records: positions, the loads in their order, the checkpoint
 */
#include "records.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "checkpoint.h"
#include "io.h"
#include "state_files.h"

char *state_path(const struct state *s, const char *name)
{
	return mem_format("%s/%s", s->dir, name);
}

/* --- positions --- */

/* Return a topic as the positions name it. */
static const char *known_as(const struct state *s, const char *topic)
{
	return topic && s->of.unnamed && strcmp(topic, s->of.item->topic) == 0 ? NULL : topic;
}

/* Find the place's position; *at: its index, or where to insert it. */
static bool find_position(const struct state *s, const char *topic, int32_t partition, size_t *at)
{
	size_t lo = 0, hi = s->npositions;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct position *p = &s->positions[mid];

		if (place_order(p->topic, p->partition, topic, partition) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*at = lo;
	return lo < s->npositions && place_order(s->positions[lo].topic, s->positions[lo].partition,
						 topic, partition) == 0;
}

const struct position *records_position(const struct state *s, const char *topic, int32_t partition)
{
	size_t at;

	return find_position(s, known_as(s, topic), partition, &at) ? &s->positions[at] : NULL;
}

bool state_has_topic(const struct state *s, const char *topic)
{
	size_t at;

	topic = known_as(s, topic);
	return find_position(s, topic, 0, &at) ||
	       (at < s->npositions && place_order(s->positions[at].topic, 0, topic, 0) == 0);
}

static void set_position(struct state *s, const struct offset_range *r)
{
	const char *topic = known_as(s, r->topic);
	size_t at;

	if (!find_position(s, topic, r->partition, &at)) {
		s->positions = mem_grow(s->positions, s->npositions, sizeof *s->positions);
		memmove(&s->positions[at + 1], &s->positions[at],
			(s->npositions++ - at) * sizeof *s->positions);
	}
	s->positions[at] = (struct position){topic, r->partition, r->end, r->last};
}

bool state_position(const struct state *s, const char *topic, int32_t partition, int64_t *offset)
{
	const struct position *p = records_position(s, topic, partition);

	if (p)
		*offset = p->offset;
	return p != NULL;
}

struct anchor state_last(const struct state *s, const char *topic, int32_t partition)
{
	const struct position *p = records_position(s, topic, partition);

	return p ? p->last : (struct anchor){0};
}

/* Return the state's own copy of the name, so that each name is stored once. */
static const char *keep_name(struct state *s, const char *topic)
{
	if (!topic)
		return NULL;
	for (size_t i = 0; i < s->of.n; i++)
		if (strcmp(s->of.item[i].topic, topic) == 0)
			return s->of.item[i].topic;
	return arena_strdup(&s->arena, topic);
}

struct offset_range *records_copy(struct state *s, const struct offset_range *r, size_t n)
{
	struct offset_range *copy = arena_alloc(&s->arena, (n + 1) * sizeof *copy);

	for (size_t i = 0; i < n; i++) {
		copy[i] = r[i];
		copy[i].topic = keep_name(s, r[i].topic);
	}
	return copy;
}

bool state_is_new(const struct state *s)
{
	return s->npositions == 0;
}

/* Find the newest among the first n loads. */
static const struct state_load *newest(const struct state *s, size_t n)
{
	while (n > 0)
		if (s->loads[--n].phase == STATE_PUBLISHED)
			return &s->loads[n];
	return s->base.name ? &s->base : NULL;
}

/* Add a record; the ends of its ranges become the positions. */
int records_add(struct state *s, const struct state_load *l, struct error *err)
{
	int64_t at;

	for (size_t i = 0; i < l->nranges; i++) {
		const struct offset_range *r = &l->ranges[i];

		if (l->phase != STATE_SEEK && state_position(s, r->topic, r->partition, &at) &&
		    at != r->start)
			return error_set(
				err, RC_ORDER,
				"%s: load %s begins partition %s at %lld, expected %lld, where the previous load ends",
				s->dir, l->name, place_text(r->topic, r->partition).text,
				(long long)r->start, (long long)at);
		set_position(s, r);
	}
	s->loads = mem_grow(s->loads, s->nloads, sizeof *s->loads);
	struct state_load *kept = &s->loads[s->nloads++];
	const struct state_load *before = newest(s, s->nloads - 1);
	*kept = *l;
	s->last = l->name;
	if (before) {
		kept->before = before->name;
		kept->before_known = before->manifest_known;
		memcpy(kept->before_manifest, before->manifest, sizeof kept->before_manifest);
	}
	return RC_OK;
}

/* --- the folder --- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_record(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 5 && strcmp(e->d_name + n - 5, ".json") == 0;
}

size_t records_count(const struct state *s)
{
	return s->skipped + s->nloads;
}

static int read_load(struct state *s, const char *file, struct state_load *l, struct error *err)
{
	char *path = mem_format("%s/loads/%s", s->dir, file);
	int rc = load_read(path, l, &s->arena, err);

	mem_free(path);
	return rc ? rc : marks_see(s, l, err);
}

static bool is_record_of(const char *file, const char *name)
{
	size_t n = strlen(name);

	return strncmp(file, name, n) == 0 && strcmp(file + n, ".json") == 0;
}

/* Return how many of the records, in the order of names, need not be read. */
static size_t use_checkpoint(struct state *s, struct dirent **names, size_t n)
{
	struct checkpoint c;
	struct error ignored;
	char *file;

	if (!checkpoint_read(s->dir, &c, &s->arena) || c.records == 0 || c.records > n ||
	    !is_record_of(names[c.records - 1]->d_name, c.last))
		return 0;
	file = c.newest ? mem_format("%s.json", c.newest) : NULL;
	int rc = file ? read_load(s, file, &s->base, &ignored) : RC_OK;
	mem_free(file);
	if (rc) {
		s->base = (struct state_load){0};
		return 0;
	}
	for (size_t i = 0; i < c.npositions; i++)
		set_position(s, &c.positions[i]);
	s->last = c.last;
	s->skipped = s->checkpointed = c.records;
	return c.records;
}

int records_read(struct state *s, bool checkpoint, struct error *err)
{
	struct dirent **names;
	char *folder = state_path(s, "loads");
	int n = scandir(folder, &names, is_record, by_name), rc = RC_OK;

	if (n < 0)
		rc = error_set(err, RC_CONFIG, "%s is not a state folder: cannot read %s: %s",
			       s->dir, folder, strerror(errno));
	size_t first = checkpoint && n > 0 ? use_checkpoint(s, names, (size_t)n) : 0;
	for (int i = 0; i < n; i++) {
		struct state_load l;

		if (!rc && (size_t)i >= first)
			rc = read_load(s, names[i]->d_name, &l, err);
		if (!rc && (size_t)i >= first)
			rc = records_add(s, &l, err);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	mem_free(folder);
	return rc;
}

/* Reads from the start what was not read before. */
int state_read_all(struct state *s, struct error *err)
{
	if (!s->skipped)
		return RC_OK;
	s->nloads = s->skipped = s->npositions = 0;
	s->base = (struct state_load){0};
	s->last = NULL;
	return records_read(s, false, err);
}

/* Records are numbered without a gap. */
int state_read_more(struct state *s, struct error *err)
{
	bool there = true;
	int rc = RC_OK;

	while (!rc && there) {
		struct state_load l;
		char *file = mem_format("%s.json", state_next_name(s));
		char *path = mem_format("%s/loads/%s", s->dir, file);

		rc = io_exists(path, &there, err);
		if (!rc && there)
			rc = read_load(s, file, &l, err);
		if (!rc && there)
			rc = records_add(s, &l, err);
		mem_free(path);
		mem_free(file);
	}
	return rc;
}

void records_checkpoint(struct state *s)
{
	const struct state_load *l = newest(s, s->nloads);

	if (records_count(s) < s->checkpointed + CHECKPOINT_EVERY)
		return;
	struct offset_range *at = mem_calloc(s->npositions + 1, sizeof *at);
	for (size_t i = 0; i < s->npositions; i++) {
		const struct position *p = &s->positions[i];

		at[i] = (struct offset_range){.topic = p->topic,
					      .partition = p->partition,
					      .start = p->offset,
					      .end = p->offset,
					      .last = p->last};
	}
	const struct checkpoint c = {records_count(s), s->last, l ? l->name : NULL, at,
				     s->npositions};
	checkpoint_write(s->dir, &c);
	s->checkpointed = records_count(s);
	mem_free(at);
}

/* --- for others --- */

const struct state_load *state_newest(const struct state *s)
{
	return newest(s, s->nloads);
}

const struct state_load *state_loads(const struct state *s, size_t *n)
{
	*n = s->nloads;
	return s->loads;
}
