/* sketch_state.h - the members of a sketch, for sketch.c, sketch_sort.c and sketch_file.c */
#ifndef SALTMILL_SPLITTER_SKETCH_STATE_H
#define SALTMILL_SPLITTER_SKETCH_STATE_H

#include "plan.h"

#define SKETCH_LEVELS 64
#define ITEM_WORDS    2

struct sketch_item {
	/* the key's first 16 bytes, big-endian: most comparisons end here */
	uint64_t word[ITEM_WORDS];
	uint32_t offset; /* of the key in its level's keys */
	float rows;	 /* rows that it stands for */
	uint16_t len;
};

/* Items that each stand for 2^level bytes, in any order. */
struct level {
	struct sketch_item *items;
	size_t count, cap;
	uint8_t *keys;
	size_t keys_len, keys_cap;
};

struct sketch {
	uint32_t k;	    /* as requested */
	uint32_t k_now;	    /* smaller if keys are long */
	unsigned base;	    /* the lowest level in use; one byte of 2^base is sampled */
	unsigned top;	    /* the level at which all bytes would fit in k_now items */
	uint64_t bytes;	    /* bytes added */
	uint64_t all, rows; /* of the stream; all equals bytes, except for what pickers left out */
	uint64_t picked;    /* the widest window of a picker; 0: none */
	uint64_t window;    /* start of the current window of 2^stride bytes */
	uint64_t next;	    /* the byte of it that is sampled */
	unsigned stride;    /* base, or less until the window ends in which base grew */
	uint64_t random;
	double variance; /* sum of squared weights of all coin flips */
	size_t nitems, key_bytes;
	size_t limit; /* above this many items the sketch is compacted */
	struct level level[SKETCH_LEVELS];
	struct sketch_item *scratch; /* for sorting */
	size_t scratch_cap;
};

/*
 * Read the output of sketch_save at the start of *file; *file gets the rest. name is for messages.
 * RC_DATA: another kind of file, another version, truncated, or damaged (XXH3). On failure *out is
 * NULL.
 */
int sketch_take(struct sketch **out, const char *name, struct bytes *file, struct error *err);
/* Set limit; all other members are set. */
void sketch_set_limit(struct sketch *s);
static inline struct bytes item_key(const struct level *l, const struct sketch_item *it)
{
	return bytes_of(l->keys + it->offset, it->len);
}

/* True if item a of level l comes before item b of level m. */
bool item_below(const struct level *l, const struct sketch_item *a, const struct level *m,
		const struct sketch_item *b);
/* Sort l's items by key (sketch_sort.c). */
void level_sort(struct sketch *s, struct level *l);
void sketch_append(struct sketch *s, unsigned level, struct bytes key, float rows);

#endif
