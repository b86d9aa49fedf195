/*
 * sketch_state.h - what a sketch holds; for sketch.c, sketch_sort.c and sketch_file.c
 */
#ifndef SALTMILL_SPLITTER_SKETCH_STATE_H
#define SALTMILL_SPLITTER_SKETCH_STATE_H

#include "plan.h"

#define SKETCH_LEVELS 64
#define ITEM_WORDS    2

struct sketch_item {
	uint64_t word[ITEM_WORDS]; /* the key's first 16 bytes, big-endian: comparisons end here */
	uint32_t offset;	   /* of the key in its level's keys */
	float rows;		   /* that it stands for */
	uint16_t len;
};

/* Items that stand for 2^level bytes each, in any order. */
struct level {
	struct sketch_item *items;
	size_t count, cap;
	uint8_t *keys;
	size_t keys_len, keys_cap;
};

struct sketch {
	uint32_t k;	    /* as asked */
	uint32_t k_now;	    /* less when keys are long */
	unsigned base;	    /* the lowest level in use; one byte of 2^base is sampled */
	unsigned top;	    /* the level that would hold all bytes in k_now items */
	uint64_t bytes;	    /* added */
	uint64_t all, rows; /* of the stream; all is bytes up to what pickers left out */
	uint64_t picked;    /* the widest window of a picker; 0: none */
	uint64_t window;    /* where the current window of 2^stride bytes starts... */
	uint64_t next;	    /* ...and which byte of it is sampled */
	unsigned stride;    /* base, or less until the window that base grew in is over */
	uint64_t random;
	double variance; /* sum of squared weights of all coin flips */
	size_t nitems, key_bytes;
	size_t limit; /* nitems above this are compacted */
	struct level level[SKETCH_LEVELS];
	struct sketch_item *scratch; /* for sorting */
	size_t scratch_cap;
};

/*
 * Read a sketch of sketch_save from the start of *file, which becomes what follows it; name is for
 * messages. RC_DATA: another kind of file, another version, truncated, or damaged (XXH3). On failure
 * *out is NULL.
 */
int sketch_take(struct sketch **out, const char *name, struct bytes *file, struct error *err);
/* Set limit, for a sketch whose other fields are there. */
void sketch_set_limit(struct sketch *s);
static inline struct bytes item_key(const struct level *l, const struct sketch_item *it)
{
	return bytes_of(l->keys + it->offset, it->len);
}

/* Does item a of level l come before item b of level m? */
bool item_below(const struct level *l, const struct sketch_item *a, const struct level *m,
		const struct sketch_item *b);
/* Put l's items in the order of their keys (sketch_sort.c). */
void level_sort(struct sketch *s, struct level *l);
void sketch_append(struct sketch *s, unsigned level, struct bytes key, float rows);

#endif
