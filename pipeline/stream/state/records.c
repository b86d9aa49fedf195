/*
 * records.c - the records of a state, which are its positions, its loads in order, and the
 * checkpoint
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

/* Return the name that the positions use for a topic. */
static const char *known_as(const struct state *s, const char *topic)
{
	return topic && s->of.unnamed && strcmp(topic, s->of.item->topic) == 0 ? NULL : topic;
}

/*
 * Find the position of a place. Set *at to its index. If the place has no position, set *at to the
 * index for an insertion.
 */
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
	/* only the range of a seek, or of a checkpoint that counts a seek, ends before its start */
	int64_t from = r->start > r->end ? r->start : -1;
	size_t at;

	if (find_position(s, topic, r->partition, &at)) {
		if (s->positions[at].set_back_from > from)
			from = s->positions[at].set_back_from;
	} else {
		s->positions = mem_grow(s->positions, s->npositions, sizeof *s->positions);
		memmove(&s->positions[at + 1], &s->positions[at],
			(s->npositions++ - at) * sizeof *s->positions);
	}
	s->positions[at] =
		(struct position){topic, r->partition, r->end, r->last, from > r->end ? from : -1};
}

bool state_was_at(const struct state *s, const char *topic, int32_t partition, int64_t offset)
{
	const struct position *p = records_position(s, topic, partition);

	return p && p->set_back_from >= 0 && p->set_back_from == offset;
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

/* Return the state's copy of the name. Store each name once. */
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

/* Find the newest of the first `n` loads. */
static const struct state_load *newest(const struct state *s, size_t n)
{
	while (n > 0)
		if (s->loads[--n].phase == STATE_PUBLISHED)
			return &s->loads[n];
	return s->base.name ? &s->base : NULL;
}

/* Add a record. The ends of its ranges become the positions. */
int records_add(struct state *s, const struct state_load *l, struct error *err)
{
	int64_t at;

	for (size_t i = 0; i < l->nranges; i++) {
		const struct offset_range *r = &l->ranges[i];

		if (l->phase != STATE_SEEK && state_position(s, r->topic, r->partition, &at) &&
		    at != r->start)
			return error_set(
				err, RC_ORDER,
				"%s: load %s begins partition %s at %lld, expected %lld, where "
				"the previous load ends",
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

/*
 * Return the number of records that the checkpoint replaces. These records are the first in the
 * order of names.
 */
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
		rc = error_set(err, RC_CONFIG,
			       "%s: expected a state folder, but saltmill cannot read %s: %s",
			       s->dir, folder, strerror(errno));
	size_t first = checkpoint && n > 0 ? use_checkpoint(s, names, (size_t)n) : 0;
	for (int i = 0; i < n; i++) {
		struct state_load l;

		if (rc == RC_OK && (size_t)i >= first)
			rc = read_load(s, names[i]->d_name, &l, err);
		if (rc == RC_OK && (size_t)i >= first)
			rc = records_add(s, &l, err);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	mem_free(folder);
	return rc;
}

/* Read the records that the checkpoint replaced at the opening of the state. */
int state_read_all(struct state *s, struct error *err)
{
	if (!s->skipped)
		return RC_OK;
	s->nloads = s->skipped = s->npositions = 0;
	s->base = (struct state_load){0};
	s->last = NULL;
	return records_read(s, false, err);
}

/*
 * Read the records since the last read. Record numbers have no gaps, so try the next number until
 * no file has it.
 */
int state_read_more(struct state *s, struct error *err)
{
	bool there = true;
	int rc = RC_OK;

	while (rc == RC_OK && there) {
		struct state_load l;
		char *file = mem_format("%s.json", state_next_name(s));
		char *path = mem_format("%s/loads/%s", s->dir, file);

		rc = io_exists(path, &there, err);
		if (rc == RC_OK && there)
			rc = read_load(s, file, &l, err);
		if (rc == RC_OK && there)
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
					      .start = p->set_back_from < 0 ? p->offset
									    : p->set_back_from,
					      .end = p->offset,
					      .last = p->last};
	}
	const struct checkpoint c = {records_count(s), s->last, l ? l->name : NULL, at,
				     s->npositions};
	checkpoint_write(s->dir, &c);
	s->checkpointed = records_count(s);
	mem_free(at);
}

/* --- queries --- */

const struct state_load *state_newest(const struct state *s)
{
	return newest(s, s->nloads);
}

const struct state_load *state_loads(const struct state *s, size_t *n)
{
	*n = s->nloads;
	return s->loads;
}

const char *state_next_name(struct state *s)
{
	unsigned long long last = s->last ? strtoull(s->last, NULL, 10) : 0;
	return arena_format(&s->arena, "%08llu", last + 1);
}
