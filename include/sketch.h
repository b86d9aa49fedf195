/*
 * sketch.h - how the bytes of a stream of rows are spread over their keys, in a few megabytes
 *
 *   sketch_new, sketch_add*, [sketch_merge*], sketch_view_open, ..., sketch_view_close, sketch_free
 *
 * A KLL quantile sketch over byte-string keys in which every byte of a row counts once.  The same
 * rows in the same order with the same seed give the same sketch.  Implemented in splitter/; one
 * thread at a time: a thread has its own sketch (with its own seed), and they are merged.
 */
#ifndef SALTMILL_SKETCH_H
#define SALTMILL_SKETCH_H

#include "bytes.h"
#include "error.h"

#define SKETCH_K     32768
#define SKETCH_K_MIN 64
#define SKETCH_K_MAX 65536

struct sketch;

/* k: keys kept at the top, SKETCH_K_MIN to SKETCH_K_MAX; about 3k are kept in all. */
struct sketch *sketch_new(uint32_t k, uint64_t seed);
void sketch_free(struct sketch *s);
/*
 * A row of key (65,535 bytes at most) and `bytes` bytes (more than 0) in whatever measure the plan
 * is to balance.
 */
void sketch_add(struct sketch *s, struct bytes key, uint64_t bytes);
/*
 * For streams too fast for that: a row that a picker took stands for `bytes` bytes and `rows` rows
 * of the stream, whose sums sketch_count is told once its end (or that of a piece) is reached.
 */
void sketch_add_share(struct sketch *s, struct bytes key, uint64_t bytes, double rows);
struct picker;
void sketch_count(struct sketch *s, const struct picker *p);
/* As if the rows of from had been added to into.  from is unchanged. */
void sketch_merge(struct sketch *into, const struct sketch *from);

uint64_t sketch_bytes(const struct sketch *s);
uint64_t sketch_rows(const struct sketch *s);
/* Heap bytes held: at most SKETCH_STATE_BYTES, whatever the rows and the length of their keys. */
size_t sketch_state_bytes(const struct sketch *s);
#define SKETCH_STATE_BYTES (16u << 20)

/*
 * The stated bound: the bytes that the sketch gives for a key range fixed beforehand (or for all
 * keys below one) and that amount to `bytes` differ from the truth by more than this with
 * probability `risk` (0.01, say) at most, for every input.  Derivation: head of sketch.c.
 */
double sketch_error(const struct sketch *s, uint64_t bytes, double risk);

/*
 * Which rows of a stream are worth adding: those of a window's bytes or more, for what they have;
 * and of the bytes of all others a random one in each window, whose row stands for the window
 * (threshold sampling: Duffield, Lund, Thorup, 2005).  Known before a key is copied anywhere.
 */
struct picker {
	uint64_t bytes, rows; /* of all rows so far */
	uint64_t small;	      /* bytes of those below a window */
	uint64_t start, next; /* of the small bytes: where the window starts, which one is picked */
	uint64_t window;      /* a power of two; 1: every row is taken */
	uint64_t random;
};
void picker_start(struct picker *p, uint64_t seed, unsigned window_log2);
/* For the row that picker_wants has just said true of: the bytes that it stands for. */
uint64_t picker_share(struct picker *p, uint64_t bytes);
static inline bool picker_wants(struct picker *p, uint64_t bytes)
{
	p->rows++;
	p->bytes += bytes;
	if (bytes >= p->window)
		return true;
	p->small += bytes;
	return p->next < p->small;
}

/* One distinct key that was kept, for the bytes and rows that it stands for. */
struct sketch_point {
	struct bytes key; /* borrowed from the sketch */
	uint64_t bytes;
	double rows;
};

/* The kept keys in rising order; valid until the sketch changes or is freed. */
struct sketch_view {
	struct sketch_point *points;
	size_t count;
	uint64_t bytes; /* sum over points: sketch_bytes up to sampling */
};
/* Sorts what the sketch holds; its content does not change.  Release with sketch_view_close. */
void sketch_view_open(struct sketch_view *v, struct sketch *s);
void sketch_view_close(struct sketch_view *v);

/* Append the sketch in its file form (layout: sketch_file.c). */
void sketch_save(const struct sketch *s, struct buf *out);
/*
 * Read what sketch_save wrote; name is for messages.  RC_DATA: another kind of file, another
 * version, cut short, or damaged (XXH3).  On failure *out is NULL.
 */
int sketch_load(struct sketch **out, const char *name, struct bytes file, struct error *err);

#endif
