/*
 * plan.h - sample the keys of a stream of rows in a few megabytes, and plan split keys from the
 * sample
 *
 *   sample_new, sample_add*, [sample_merge*], plan_make, plan_release, sample_free
 *   sketch_new, sketch_add*, [sketch_merge*], sketch_view_open, ..., sketch_view_close, sketch_free
 *
 * A sketch is a KLL quantile sketch over byte-string keys in which every byte of a row counts once.
 * The same rows in the same order with the same seed give the same sketch. One thread at a time:
 * each thread has its own sketch, with its own seed, and they are merged. Implemented in splitter/.
 */
#ifndef SALTMILL_PLAN_H
#define SALTMILL_PLAN_H

#include "bytes.h"
#include "error.h"
#include "splits.h"
#include "mem.h"

#define SKETCH_K     32768
#define SKETCH_K_MIN 64
#define SKETCH_K_MAX 65536

struct sketch;

/*
 * Create a sketch. k: keys kept at the top level, SKETCH_K_MIN to SKETCH_K_MAX; about 3k are kept
 * in total.
 */
struct sketch *sketch_new(uint32_t k, uint64_t seed);
void sketch_free(struct sketch *s);
/*
 * Add a row with a key of at most 65,535 bytes. `bytes` (more than 0) is its size, in the measure
 * that the plan balances.
 */
void sketch_add(struct sketch *s, struct bytes key, uint64_t bytes);
/*
 * The same for streams that are too fast for that. A row that a picker chose stands for `bytes`
 * bytes and `rows` rows of the stream. Call sketch_count at the end of the stream, or of a piece,
 * to add the picker's totals.
 */
void sketch_add_share(struct sketch *s, struct bytes key, uint64_t bytes, double rows);
struct picker;
void sketch_count(struct sketch *s, const struct picker *p);
/* Merge from into into, as if its rows had been added there. from is unchanged. */
void sketch_merge(struct sketch *into, const struct sketch *from);

uint64_t sketch_bytes(const struct sketch *s);
uint64_t sketch_rows(const struct sketch *s);
/* The most heap bytes of a sketch, whatever the rows and the lengths of keys. */
#define SKETCH_STATE_BYTES (16u << 20)

/*
 * Return the error bound. For a key range fixed in advance (or all keys below one) with a true size
 * of `bytes`, the sketch's answer differs by more than this with probability at most `risk` (0.01,
 * say), for every input. Derivation: head of sketch.c.
 */
double sketch_error(const struct sketch *s, uint64_t bytes, double risk);

/*
 * Chooses the rows of a stream to add, before a key is copied. Rows of at least a window's bytes
 * are all chosen, with their own size. Of the bytes of all other rows, a random one in each window
 * is chosen, and its row stands for the window (threshold sampling: Duffield, Lund, Thorup, 2005).
 */
struct picker {
	uint64_t bytes, rows; /* of all rows so far */
	uint64_t small;	      /* bytes of the rows smaller than a window */
	uint64_t start, next; /* among the small bytes: the window's start, and the chosen byte */
	uint64_t window;      /* a power of two; 1: every row is chosen */
	uint64_t random;
};
void picker_start(struct picker *p, uint64_t seed, unsigned window_log2);
/*
 * Return the bytes that a row stands for; only for a row for which picker_wants just returned true.
 */
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

/* One distinct kept key, with the bytes and rows that it stands for. */
struct sketch_point {
	struct bytes key; /* borrowed from the sketch */
	uint64_t bytes;
	double rows;
};

/* The kept keys in rising order; valid until the sketch changes or is freed. */
struct sketch_view {
	struct sketch_point *points;
	size_t count;
	uint64_t bytes; /* sum over points: sketch_bytes, except for the sampling error */
};
/*
 * Open a view; it sorts the sketch, whose content does not change. Release with sketch_view_close.
 */
void sketch_view_open(struct sketch_view *v, struct sketch *s);
void sketch_view_close(struct sketch_view *v);

/* Append the sketch in its file format (layout: sketch_file.c). */
void sketch_save(const struct sketch *s, struct buf *out);

/*
 * --- samples and plans: row keys and sizes to split keys with predicted region sizes ---
 *
 *   sample_new, sample_add*, [sample_merge*], plan_make, plan_release, sample_free
 *
 * A sample belongs to one thread; the samples of several threads are merged.
 */

/* A sketch of the rows, with the shape of their keys. */
struct sample;
/* Create a sample. shape is copied; NULL: {0}. k: see SKETCH_K. */
struct sample *sample_new(uint32_t k, uint64_t seed, const struct key_shape *shape);
void sample_free(struct sample *s);
/* Add a row with its size (> 0) in the measure to balance, such as bytes of stored cells. */
void sample_add(struct sample *s, struct bytes key, uint64_t bytes);
/* Merge two samples. RC_CONFIG: they have different key shapes. */
int sample_merge(struct sample *into, const struct sample *from, struct error *err);
struct sketch *sample_sketch(struct sample *s);
/* Save and load the file format (layout: sample.c). RC_DATA: damaged, or another kind of file. */
void sample_save(const struct sample *s, struct buf *out);
int sample_load(struct sample **out, const char *name, struct bytes file, struct error *err);

struct plan_options {
	struct region_rule rule;
	const struct splits *given; /* existing borders; NULL: rule decides */
	double disk_per_byte;	    /* bytes on disk for one byte of the sample; 0: 1 */
	uint64_t disk_per_region;   /* bytes on disk that a region needs besides its rows */
	uint64_t max_filesize;	    /* size at which HBase splits a region; 0: REGION_BYTES */
	/* size at which a new file begins; 0: one file for each family and region */
	uint64_t max_hfile_bytes;
	double scale;	    /* all rows / rows of the sample; 0: 1 */
	double scale_error; /* relative error of scaled sizes, at this risk */
	double risk;	    /* probability that a bound does not hold; 0: 0.01 */
	/*
	 * Append the name of a key, or of a prefix through a part, for messages; NULL: only its
	 * bytes.
	 */
	void (*name_key)(void *ctx, struct bytes key, size_t part, struct buf *out);
	void *name_ctx;
};

struct plan_region {
	uint64_t bytes;	    /* in the sample's measure, scaled */
	double bytes_error; /* sketch_error: a bound that holds except with probability risk */
	double rows;
	double rows_error;   /* the same share of rows: an estimate, because row sizes differ */
	uint64_t disk_bytes; /* bytes * disk_per_byte + disk_per_region; 0 if it has no rows */
};

/* A stretch of keys and its bytes: from this key to the next place's. */
struct plan_place {
	struct bytes key;
	uint64_t bytes;
};
#define PLAN_PLACES 512 /* the most places */

/* The same rows with one of HBase's own split algorithms and its default rows. */
struct plan_rival {
	enum split_algorithm algorithm;
	size_t regions, empty;
	double largest_share; /* share of all bytes in the largest region */
};
#define PLAN_RIVALS 3

/*
 * A row (part == SHAPE_ROW) or a key prefix through part `part` that alone exceeds a region's
 * share. bytes is an estimate of the sketch; the true value is between at_least and at_most, except
 * with probability risk.
 */
#define SHAPE_ROW SHAPE_MAX_PARTS
struct plan_heavy {
	size_t part;
	struct bytes key;
	uint64_t bytes, at_least, at_most;
	double rows;
	uint32_t salts; /* number of salt values that would make it smaller than a region */
};

struct plan {
	struct splits splits;
	struct plan_region *regions; /* splits.count + 1 */
	size_t wanted;		     /* number of regions before limits of the data */
	double target_bytes;	     /* all bytes / wanted */
	double bytes, rows;	     /* sum of all regions */
	size_t largest, smallest;    /* index in regions */
	struct plan_rival rivals[PLAN_RIVALS];
	size_t nrivals;
	struct plan_heavy *heavy;
	size_t nheavy;
	struct plan_place *places; /* in key order, with about equal bytes */
	size_t nplaces;
	const char **warnings; /* sentences */
	size_t nwarnings;
	struct arena arena;
};

/* Make the plan. RC_DATA: the sample is empty. Call plan_release whatever the result. */
int plan_make(struct plan *p, struct sample *s, const struct plan_options *o, struct error *err);
void plan_release(struct plan *p);

#endif
