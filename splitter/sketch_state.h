/* sketch_state.h - the members of a sketch, for sketch.c, sketch_sort.c and sketch_file.c */
#ifndef SALTMILL_SPLITTER_SKETCH_STATE_H
#define SALTMILL_SPLITTER_SKETCH_STATE_H

#include "plan.h"

#define SKETCH_LEVELS 64
#define ITEM_WORDS    2

struct sketch_item {
	/* the key's first 16 bytes, big-endian; most comparisons need only these bytes */
	uint64_t word[ITEM_WORDS];
	uint32_t offset; /* offset of the key in its level's keys */
	float rows;	 /* rows that the item represents */
	uint16_t len;
};

/* Items that each represent 2^level bytes, in any order. */
struct level {
	struct sketch_item *items;
	size_t count, cap;
	uint8_t *keys;
	size_t keys_len, keys_cap;
};

struct sketch {
	uint32_t k;	/* number of keys at the top level, as requested */
	uint32_t k_now; /* actual value of `k`, which is smaller if keys are long */
	unsigned base;	/* the lowest level in use; the sketch samples one of 2^base bytes */
	unsigned top;	/* the level at which all bytes fit in k_now items */
	uint64_t bytes; /* bytes added */
	/* totals of the stream; `all` equals `bytes` unless pickers left out rows */
	uint64_t all, rows;
	uint64_t picked; /* the widest window of a picker; 0 means no picker */
	uint64_t window; /* start of the current window of 2^stride bytes */
	uint64_t next;	 /* position of the sampled byte of the window */
	unsigned stride; /* `base`, or less until the end of the window in which `base` grew */
	uint64_t random;
	double variance; /* sum of squared weights of all coin flips */
	size_t nitems, key_bytes;
	size_t limit; /* the most items; with more items, the sketch needs a compaction */
	struct level level[SKETCH_LEVELS];
	struct sketch_item *scratch; /* for sorting */
	size_t scratch_cap;
};

/*
 * Read the output of sketch_save at the start of *file. *file gets the rest. `name` is for
 * messages. Returns RC_DATA if the kind or version of the file differs, or if the file is truncated
 * or damaged (XXH3). On failure *out is NULL.
 */
int sketch_take(struct sketch **out, const char *name, struct bytes *file, struct error *err);
/* Set the member `limit`. All other members must have values. */
void sketch_set_limit(struct sketch *s);
static inline struct bytes item_key(const struct level *l, const struct sketch_item *it)
{
	return bytes_of(l->keys + it->offset, it->len);
}

/* Return true if item `a` of level `l` comes before item `b` of level `m`. */
bool item_below(const struct level *l, const struct sketch_item *a, const struct level *m,
		const struct sketch_item *b);
/* Sort the items of level `l` by key (sketch_sort.c). */
void level_sort(struct sketch *s, struct level *l);
void sketch_append(struct sketch *s, unsigned level, struct bytes key, float rows);

#endif
