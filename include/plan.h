/*
 * plan.h - how the bytes of a stream of rows are spread over their keys, in a few megabytes
 *
 *   sketch_new, sketch_add*, [sketch_merge*], sketch_view_open, ..., sketch_view_close, sketch_free
 *
 * A KLL quantile sketch over byte-string keys in which every byte of a row counts once.  The same
 * rows in the same order with the same seed give the same sketch.  Implemented in splitter/; one
 * thread at a time: a thread has its own sketch (with its own seed), and they are merged.
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

/*
 * --- from a stream of row keys and sizes to split keys, with predicted region sizes
 *
 *   sample_new, sample_add*, [sample_merge*], plan_make, plan_release, sample_free
 *
 * Implemented in splitter/.  A sample is one thread's; threads have their own and merge them.
 */

/* What planning needs to know of the rows: a sketch of them. */
struct sample;
/* shape is copied; NULL: {0}.  k: SKETCH_K. */
struct sample *sample_new(uint32_t k, uint64_t seed, const struct key_shape *shape);
void sample_free(struct sample *s);
/* A row of key and bytes (> 0), in the measure to balance: cells as stored, say. */
void sample_add(struct sample *s, struct bytes key, uint64_t bytes);
/* RC_CONFIG if the two were taken with different key shapes. */
int sample_merge(struct sample *into, const struct sample *from, struct error *err);
struct sketch *sample_sketch(struct sample *s);
const struct key_shape *sample_shape(const struct sample *s);
/* File form, as sketch_save and sketch_load. */
void sample_save(const struct sample *s, struct buf *out);
int sample_load(struct sample **out, const char *name, struct bytes file, struct error *err);

struct plan_options {
	struct region_rule rule;
	const struct splits *given; /* borders that are there already; NULL: rule decides */
	double disk_per_byte;	    /* bytes on disk for one of the sample's; 0: 1 */
	uint64_t disk_per_region;   /* bytes on disk of a region besides its rows' */
	uint64_t max_filesize;	    /* where HBase splits a region; 0: REGION_BYTES */
	uint64_t max_hfile_bytes;   /* files are rolled there; 0: one file a family and region */
	double scale;		    /* all rows over those of the sample; 0: 1 */
	double scale_error;	    /* of what scale makes, as a share of it; with risk */
	double risk;		    /* of a stated bound not to hold; 0: 0.01 */
	/* Append what messages call a key or a prefix through a part; NULL: only its bytes. */
	void (*name_key)(void *ctx, struct bytes key, size_t part, struct buf *out);
	void *name_ctx;
};

struct plan_region {
	uint64_t bytes;	    /* in the sample's measure, scaled up */
	double bytes_error; /* sketch_error: a bound that holds but with probability risk */
	double rows;
	double rows_error;   /* the same share of rows: an estimate, since row sizes differ */
	uint64_t disk_bytes; /* bytes * disk_per_byte + disk_per_region; 0 without rows */
};

/* Where the bytes lie: those from this key on, up to the next place's. */
struct plan_place {
	struct bytes key;
	uint64_t bytes;
};
#define PLAN_PLACES 512 /* at most */

/* The same rows under one of HBase's own algorithms and its default rows. */
struct plan_rival {
	enum split_algorithm algorithm;
	size_t regions, empty;
	double largest_share; /* of all bytes */
};
#define PLAN_RIVALS 3

/*
 * A row (part == SHAPE_ROW) or a key prefix through part `part` that exceeds its share alone.  Its
 * bytes are the sketch's, so they are as sure as those of a region: between at_least and at_most
 * but with probability risk.
 */
#define SHAPE_ROW SHAPE_MAX_PARTS
struct plan_heavy {
	size_t part;
	struct bytes key;
	uint64_t bytes, at_least, at_most;
	double rows;
	uint32_t salts; /* how many salt values would bring it below a region */
};

struct plan {
	struct splits splits;
	struct plan_region *regions; /* splits.count + 1 */
	size_t wanted;		     /* regions before limits of the data */
	double target_bytes;	     /* all bytes / wanted */
	double bytes, rows;	     /* of all regions */
	size_t largest, smallest;    /* index in regions */
	struct plan_rival rivals[PLAN_RIVALS];
	size_t nrivals;
	struct plan_heavy *heavy;
	size_t nheavy;
	struct plan_place *places; /* in the order of their keys, of about the same bytes */
	size_t nplaces;
	const char **warnings; /* sentences */
	size_t nwarnings;
	struct arena arena;
};

/* RC_DATA: the sample is empty.  Release with plan_release whatever the result. */
int plan_make(struct plan *p, struct sample *s, const struct plan_options *o, struct error *err);
void plan_release(struct plan *p);
/*
 * The sample under any splits: out has splits->count + 1 places.  Of o only disk_per_byte,
 * disk_per_region and risk are read.
 */
void plan_evaluate(struct plan_region *out, struct sample *s, const struct splits *splits,
		   const struct plan_options *o);

#endif
