/*
 * plan.h - from a stream of row keys and sizes to split keys, with predicted region sizes
 *
 *   sample_new, sample_add*, [sample_merge*], plan_make, plan_release, sample_free
 *
 * Implemented in splitter/.  A sample is one thread's; threads have their own and merge them.
 */
#ifndef SALTMILL_PLAN_H
#define SALTMILL_PLAN_H

#include "divide.h"
#include "mem.h"
#include "sketch.h"

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
