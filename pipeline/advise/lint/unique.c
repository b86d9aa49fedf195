/*
 * unique.c - group events that are one cell in HBase, with digests of their values
 *
 * A group keeps its first event in input order, and the first event with other values. So the
 * result of a merge does not depend on the order of the groups. One byte of digest for each of
 * eight columns shows which column differs.
 */
#include "unique.h"

#include <pthread.h>
#include <stdatomic.h>
#include <xxhash.h>

#include "mem.h"

#define ROOM_FIRST  1024
#define LEVEL_BITS  20 /* bits of a group's number that come from its hash */
#define NOT_THERE   UINT64_MAX
#define COLUMN_BITS 8

struct event_group {
	uint64_t number, first, values, columns;
	uint64_t second, second_columns;
	uint64_t events; /* 0 if the entry is unused */
};

struct unique {
	struct event_group *slot;
	size_t room, used,
		most; /* `room` is a power of two; at most half of the entries have a value */
	_Atomic unsigned level; /* keep only hashes with this many leading zeros */
	pthread_mutex_t lock;
};

struct unique *unique_new(size_t most_groups)
{
	struct unique *u = mem_calloc(1, sizeof *u);

	u->most = most_groups;
	u->room = ROOM_FIRST;
	u->slot = mem_calloc(u->room, sizeof *u->slot);
	pthread_mutex_init(&u->lock, NULL);
	return u;
}

void unique_free(struct unique *u)
{
	if (!u)
		return;
	pthread_mutex_destroy(&u->lock);
	mem_free(u->slot);
	mem_free(u);
}

uint64_t unique_hash(struct bytes key, int64_t ts)
{
	return XXH3_64bits_withSeed(key.ptr, key.len, (uint64_t)ts);
}

static bool is_kept(uint64_t hash, unsigned level)
{
	return level == 0 || hash >> (64 - level) == 0;
}

bool unique_wants(const struct unique *u, uint64_t hash)
{
	return is_kept(hash, atomic_load_explicit(&u->level, memory_order_relaxed));
}

static struct event_group *find(const struct unique *u, uint64_t number)
{
	size_t i = number & (u->room - 1);

	while (u->slot[i].events && u->slot[i].number != number)
		i = (i + 1) & (u->room - 1);
	return &u->slot[i];
}

/* Rebuild the table with this size. Drops groups whose hashes are no longer kept. */
static void rehash(struct unique *u, size_t room)
{
	struct event_group *old = u->slot;
	size_t n = u->room;

	u->room = room;
	u->slot = mem_calloc(room, sizeof *u->slot);
	u->used = 0;
	for (size_t i = 0; i < n; i++)
		if (old[i].events && is_kept(old[i].number, u->level)) {
			*find(u, old[i].number) = old[i];
			u->used++;
		}
	mem_free(old);
}

static void make_room(struct unique *u)
{
	if (2 * u->used < u->room && u->used <= u->most)
		return;
	if (u->used <= u->most) {
		rehash(u, 2 * u->room);
		return;
	}
	while (u->used > u->most && u->level < LEVEL_BITS) {
		u->level++;
		rehash(u, u->room);
	}
}

/* Add one event to a group. */
static void unite(struct event_group *g, const struct event_group *e)
{
	struct event_group a = *g, b = *e;

	if (b.first < a.first) {
		a = *e;
		b = *g;
	}
	g->first = a.first;
	g->values = a.values;
	g->columns = a.columns;
	g->second = a.second;
	g->second_columns = a.second_columns;
	bool differs = b.values != a.values;
	uint64_t other = differs ? b.first : b.second;
	if (other < g->second) {
		g->second = other;
		g->second_columns = differs ? b.columns : b.second_columns;
	}
	g->events = a.events + b.events;
}

static struct event_group digest(uint64_t hash, uint64_t seq, const struct row_cell *cells,
				 size_t n)
{
	uint64_t where = hash;
	struct event_group e = {.first = seq, .second = NOT_THERE, .events = 1};

	for (size_t i = 0; i < n; i++) {
		const struct cell *c = &cells[i].cell;
		uint64_t value = XXH3_64bits_withSeed(c->value.ptr, c->value.len, c->type);
		unsigned at = COLUMN_BITS * (cells[i].column % (64 / COLUMN_BITS));

		where = XXH3_64bits_withSeed(c->qualifier.ptr, c->qualifier.len,
					     where ^ cells[i].family ^ (uint64_t)c->ts << 8);
		e.values = XXH3_64bits_withSeed(&value, sizeof value, e.values);
		e.columns ^= value >> (64 - COLUMN_BITS) << at;
	}
	e.number = (hash & ~(UINT64_MAX >> LEVEL_BITS)) | where >> LEVEL_BITS;
	return e;
}

void unique_add(struct unique *u, uint64_t hash, uint64_t seq, const struct row_cell *cells,
		size_t n)
{
	struct event_group e = digest(hash, seq, cells, n);

	pthread_mutex_lock(&u->lock);
	if (is_kept(hash, u->level)) {
		struct event_group *g = find(u, e.number);

		if (g->events) {
			unite(g, &e);
		} else {
			*g = e;
			u->used++;
			make_room(u);
		}
	}
	pthread_mutex_unlock(&u->lock);
}

struct unique_result unique_judge(const struct unique *u, size_t columns)
{
	struct unique_result r = {.first = NOT_THERE, .share = 1.0 / (double)(1u << u->level)};

	for (size_t i = 0; i < u->room; i++) {
		const struct event_group *g = &u->slot[i];

		r.events += g->events;
		if (g->events < 2)
			continue;
		if (g->second == NOT_THERE) {
			r.repeated += g->events - 1;
			continue;
		}
		r.hidden += g->events - 1;
		if (g->first > r.first)
			continue;
		r.first = g->first;
		r.second = g->second;
		uint64_t differs = g->columns ^ g->second_columns;
		r.column = 0;
		while (r.column + 1 < columns && r.column + 1 < 64 / COLUMN_BITS &&
		       !(differs >> COLUMN_BITS * r.column & UINT8_MAX))
			r.column++;
	}
	return r;
}
