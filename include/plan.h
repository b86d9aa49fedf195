/*
 * plan.h - sample the keys of a stream of rows in a few megabytes, and plan split keys from the
 * sample
 *
 *   sample_new, sample_add*, [sample_merge*], plan_make, plan_release, sample_free
 *   sketch_new, sketch_add*, [sketch_merge*], sketch_view_open, ..., sketch_view_close, sketch_free
 *
 * A sketch is a KLL quantile sketch over byte-string keys. In a sketch, every byte of a row counts
 * once. The same rows in the same order with the same seed give the same sketch. Only one thread at
 * a time may use a sketch. Each thread has a sketch with a different seed, and the planner merges
 * the sketches. Implemented in splitter/.
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
 * Create a sketch. `k` is the number of keys at the top level, from SKETCH_K_MIN to SKETCH_K_MAX.
 * The sketch keeps about 3 * `k` keys in total.
 */
struct sketch *sketch_new(uint32_t k, uint64_t seed);
void sketch_free(struct sketch *s);
/*
 * Add a row with a key of at most 65,535 bytes. `bytes` (more than 0) is the row's size in the
 * measure that the plan balances.
 */
void sketch_add(struct sketch *s, struct bytes key, uint64_t bytes);
/*
 * Add a row that a picker chose. A picker is useful because adding all rows of a fast
 * stream takes too long. The row counts as `bytes` bytes and `rows` rows. Call sketch_count at the
 * end of the stream, or of a piece, to add the picker's totals.
 */
void sketch_add_share(struct sketch *s, struct bytes key, uint64_t bytes, double rows);
struct picker;
void sketch_count(struct sketch *s, const struct picker *p);
/*
 * Merge the sketch `from` into the sketch `into`, as if `into` had got all rows. `from` is
 * unchanged.
 */
void sketch_merge(struct sketch *into, const struct sketch *from);

uint64_t sketch_bytes(const struct sketch *s);
uint64_t sketch_rows(const struct sketch *s);
/* The most heap bytes of a sketch, for any rows and keys. */
#define SKETCH_STATE_BYTES (16u << 20)

/*
 * Return an error bound for a key range with a true size of `bytes`. The range must not depend on
 * the sketch. With a probability of at most `risk`, for example 0.01, the sketch's size of the
 * range is wrong by more than the bound. The bound is valid for every input (proof at the head of
 * sketch.c).
 */
double sketch_error(const struct sketch *s, uint64_t bytes, double risk);

/*
 * Chooses the rows of a stream to add, before the copy of a key. The picker chooses all rows of at
 * least a window's bytes, with their true size. The picker divides the bytes of all smaller rows
 * into windows. The picker chooses one random byte in each window, and the row of this byte
 * represents the window (threshold sampling: Duffield, Lund, Thorup, 2005).
 */
struct picker {
	uint64_t bytes, rows; /* totals of all rows so far */
	uint64_t small;	      /* bytes of all rows that are smaller than a window */
	/* positions among the small bytes: the window's start, and the chosen byte */
	uint64_t start, next;
	uint64_t window; /* a power of two; 1 means all rows */
	uint64_t random;
};
void picker_start(struct picker *p, uint64_t seed, unsigned window_log2);
/*
 * Return the bytes that a row represents. Call picker_share only for a row for which picker_wants
 * just returned true.
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

/* One distinct kept key, with the bytes and rows that it represents. */
struct sketch_point {
	struct bytes key; /* row key, borrowed from the sketch */
	uint64_t bytes;
	double rows;
};

/* The kept keys in rising order. A view is valid until the sketch changes or ends. */
struct sketch_view {
	struct sketch_point *points;
	size_t count;
	/* sum over points, which differs from sketch_bytes only by the sampling error */
	uint64_t bytes;
};
/*
 * Open a view. The call sorts the sketch but does not change its content. Release the view with
 * sketch_view_close.
 */
void sketch_view_open(struct sketch_view *v, struct sketch *s);
void sketch_view_close(struct sketch_view *v);

/* Append the sketch in its file format (layout: sketch_file.c). */
void sketch_save(const struct sketch *s, struct buf *out);

/*
 * --- samples and plans: from row keys and sizes to split keys with predicted region sizes ---
 *
 *   sample_new, sample_add*, [sample_merge*], plan_make, plan_release, sample_free
 *
 * A sample belongs to one thread. The planner merges the samples of several threads.
 */

/* A sketch of the rows, with the shape of their keys. */
struct sample;
/*
 * Create a sample. The function copies `shape`; NULL means {0}. `k` and `seed` have the meaning of
 * sketch_new.
 */
struct sample *sample_new(uint32_t k, uint64_t seed, const struct key_shape *shape);
void sample_free(struct sample *s);
/* Add a row with its size (> 0) in the measure to balance, such as bytes of stored cells. */
void sample_add(struct sample *s, struct bytes key, uint64_t bytes);
/* Merge two samples. Returns RC_CONFIG if they have different key shapes. */
int sample_merge(struct sample *into, const struct sample *from, struct error *err);
struct sketch *sample_sketch(struct sample *s);
/*
 * Save and load the file format (layout: sample.c). sample_load returns RC_DATA if the file is
 * damaged or of another kind.
 */
void sample_save(const struct sample *s, struct buf *out);
int sample_load(struct sample **out, const char *name, struct bytes file, struct error *err);

struct plan_options {
	struct region_rule rule;
	const struct splits *given; /* existing borders; NULL means that `rule` decides */
	double disk_per_byte;	    /* bytes on disk for one byte of the sample; 0 means 1 */
	uint64_t disk_per_region;   /* bytes on disk that a region needs besides its rows */
	uint64_t max_filesize;	    /* size at which HBase splits a region; 0 means REGION_BYTES */
	/* size at which a new file begins; 0 means one file for each family and region */
	uint64_t max_hfile_bytes;
	double scale;	    /* number of all rows / rows of the sample; 0 means 1 */
	double scale_error; /* relative error of scaled sizes, at this risk */
	double risk;	    /* probability that a size exceeds its error bound; 0 means 0.01 */
	/*
	 * Append the name of a key, or of a key's prefix up to the end of a part, for messages.
	 * NULL means that messages show only the bytes.
	 */
	void (*name_key)(void *ctx, struct bytes key, size_t part, struct buf *out);
	void *name_ctx;
};

struct plan_region {
	uint64_t bytes; /* size in the sample's measure, scaled */
	/* bound of sketch_error, exceeded with a probability of at most `risk` */
	double bytes_error;
	double rows;
	/* `rows` times the relative error of `bytes`; only an estimate, because row sizes differ */
	double rows_error;
	/* bytes * disk_per_byte + disk_per_region; 0 if the region has no rows */
	uint64_t disk_bytes;
};

/* A range of keys and its bytes. The range ends at the next place's key. */
struct plan_place {
	struct bytes key;
	uint64_t bytes;
};
#define PLAN_PLACES 512 /* the most places */

/*
 * The regions that one of HBase's split algorithms, with its default rows, gives for the same rows.
 */
struct plan_rival {
	enum split_algorithm algorithm;
	size_t regions, empty;
	double largest_share; /* share of all bytes in the largest region */
};
#define PLAN_RIVALS 3

/*
 * A row (part == SHAPE_ROW), or a key prefix up to the end of part `part`, that alone exceeds a
 * region's share. `bytes` is an estimate. The true value is between `at_least` and `at_most` with
 * probability 1 - risk.
 */
#define SHAPE_ROW SHAPE_MAX_PARTS
struct plan_heavy {
	size_t part;
	struct bytes key;
	uint64_t bytes, at_least, at_most;
	double rows;
	uint32_t salts; /* number of salt values that divide it into parts smaller than a region */
};

struct plan {
	struct splits splits;
	struct plan_region *regions; /* splits.count + 1 */
	/* wanted number of regions; the data may allow fewer regions */
	size_t wanted;
	double target_bytes;	  /* all bytes / wanted */
	double bytes, rows;	  /* sum of all regions */
	size_t largest, smallest; /* index in regions */
	struct plan_rival rivals[PLAN_RIVALS];
	size_t nrivals;
	struct plan_heavy *heavy;
	size_t nheavy;
	struct plan_place *places; /* ranges in key order, with about equal bytes */
	size_t nplaces;
	const char **warnings; /* sentences */
	size_t nwarnings;
	struct arena arena;
};

/*
 * Make the plan. The plan of an empty sample has the given regions, or one. Call plan_release
 * whatever the result.
 */
int plan_make(struct plan *p, struct sample *s, const struct plan_options *o, struct error *err);
void plan_release(struct plan *p);

/*
 * --- replay: the regions that a stream of events writes over time ---
 *
 *   splits_region for each event in the order of arrival, replay_make, replay_release
 *
 * `design`, `plan --hotspot` and `watch` use it. Planned servers have regions in turn, so region i is
 * on server i modulo `servers`.
 */

struct replay_options {
	size_t regions, servers; /* at least 1 */
	/*
	 * events of a window, which is a unit of time, such as a minute of writes; at least
	 * REPLAY_WINDOW_LEAST, and at most a fifth of all events and REPLAY_WINDOWS_MOST windows;
	 * 0 means the least
	 */
	uint64_t window;
	/* [regions]: rows in each region before the replay, for `grown`; NULL means none */
	const uint64_t *before;
};
#define REPLAY_WINDOW_LEAST 200
#define REPLAY_WINDOWS_MOST 4000

/* A share of the events of a window, 0 to 1, over all windows. */
struct replay_share {
	double mean, p99;
	size_t which; /* the server or region that receives the most events of all windows */
};

struct write_replay {
	size_t regions, servers, windows;
	uint64_t events, window; /* all events; events of a window; the last may have more */
	uint32_t *counts;	 /* [windows][regions]: events */
	uint32_t *server_of;  /* [regions]; NULL means region i is on server i modulo `servers` */
	double *server_share; /* [servers]: share of all events */
	struct replay_share server; /* the busiest server of each window; even is 1 / servers */
	struct replay_share region; /* the busiest region of each window */
	double written;		    /* mean number of regions with at least 1 % of a window */
	double grown;		    /* rows of the largest region after the replay / mean rows */
	/*
	 * a difference of two shares below this is noise of the windows: 1.4 sqrt(p / events of a
	 * window), for p = server.mean
	 */
	double noise;
};

/*
 * Replay events. region[i] is the region that event number i writes, in the order of arrival. Call
 * replay_release. Without events, all shares are 0 and there are no windows.
 */
void replay_make(struct write_replay *r, const uint32_t *region, size_t n,
		 const struct replay_options *o);
/*
 * Compute the shares from `counts`, `events`, `window` and `server_of`, which the caller has set.
 * `server_share` has room for the shares. `before` is as in replay_options.
 */
void replay_summarize(struct write_replay *r, const uint64_t *before);
void replay_release(struct write_replay *r);
/* Return the server of a region. */
static inline size_t replay_server(const struct write_replay *r, size_t region)
{
	return r->server_of ? r->server_of[region] : region % r->servers;
}

#endif
