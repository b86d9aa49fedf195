/*
 * splits.h - lists of split keys, their text form, HBase's split arithmetic, and the choice of
 * regions
 *
 *   splits_add*, splits_format, splits_release     a list; n keys make n + 1 regions
 *   splits_compute                                 HBase's own algorithms
 *   existing_parse                                 regions of a live table
 *   region_rule_count, divide                      the number of regions, and their borders
 *
 * Region i is [key i-1, key i). Implemented in splitter/.
 */
#ifndef SALTMILL_SPLITS_H
#define SALTMILL_SPLITS_H

#include "bytes.h"
#include "error.h"

/*
 * A list of split keys. {0} is an empty list, which means one region. Keys are strictly rising and
 * not empty. Release the list with splits_release.
 */
struct splits {
	struct bytes *keys; /* the struct owns each key's bytes */
	size_t count;
};

/*
 * Append a copy of `key`. Returns RC_ORDER if `key` is empty or not above the last key. Returns
 * RC_LIMIT if `key` has more than 32,767 bytes.
 */
int splits_add(struct splits *s, struct bytes key, struct error *err);
/* Append copies of all keys of `from`. Errors are those of splits_add. */
int splits_copy(struct splits *s, const struct splits *from, struct error *err);
void splits_release(struct splits *s);
/* Return the index of the region that contains `row`. The index equals the number of split keys <=
 * `row`. */
size_t splits_region(const struct splits *s, struct bytes row);

/*
 * Append the keys as text, one key in each line, in \xHH form, as in SPLITS_FILE
 * (splitter/README.md 2.2).
 */
void splits_format(const struct splits *s, struct buf *out);
/*
 * Parse the text of splits_format. `name` is for messages. A line ends with \n or \r\n. Returns
 * RC_DATA, with name and line, if a line is empty, has \x without two upper-case hex digits, or has
 * raw bytes outside 0x20..0x7E. Returns RC_DATA also if keys are out of order or repeated.
 */
int splits_parse(struct splits *s, const char *name, struct bytes text, struct error *err);

/* Parse the file `path` as splits_parse parses a text. */
int splits_read(struct splits *s, const char *path, struct error *err);

enum split_algorithm { SPLIT_ALGORITHM_UNIFORM, SPLIT_ALGORITHM_HEX, SPLIT_ALGORITHM_DECIMAL };

/*
 * Compute split keys for n regions, byte for byte as HBase's RegionSplitter (splitter/README.md 1),
 * including its errors (RC_CONFIG). `first` and `last` are the texts for setFirstRow(String) and
 * setLastRow(String). NULL means the default.
 */
int splits_compute(struct splits *s, enum split_algorithm a, uint32_t n, const char *first,
		   const char *last, struct error *err);
/*
 * Return the algorithm for "UniformSplit", "HexStringSplit", "DecimalStringSplit" or a full class
 * name, or -1 if it is unknown.
 */
int split_algorithm_parse(const char *name);
const char *split_algorithm_name(enum split_algorithm a);

/*
 * Return the shortest key s with a < s <= b, for adjacent rows a < b. The key is a prefix of `b`.
 */
struct bytes shortest_separator(struct bytes a, struct bytes b);

/* --- existing regions of a live table, from the shell's output --- */

#define EXISTING_UNKNOWN UINT64_MAX

/*
 * The regions of an existing table. The struct owns all members. Release the struct with
 * existing_release.
 */
struct existing {
	struct splits splits;
	struct existing_region {
		char *encoded; /* encoded name, for merge_region; NULL if the output has no names */
		/*
		 * size of the region's store files, in whole MiB, or EXISTING_UNKNOWN if the output
		 * has no sizes
		 */
		uint64_t size_bytes;
	} * regions; /* splits.count + 1 */
	char *table; /* name of the table; NULL if the output does not name the table */
};

/*
 * Parse the output of `get_splits 't'` or `list_regions 't'`, with the shell's prompts and timings.
 * `name` is for messages. Returns RC_DATA, with name and line, if the text is other output, or if
 * regions have gaps or overlaps. Returns RC_DATA also if the number of keys differs from the
 * announced number.
 */
int existing_parse(struct existing *e, const char *name, struct bytes text, struct error *err);
void existing_release(struct existing *e);

/* --- key shape: the ends of the parts of a table's row keys --- */

#define SHAPE_MAX_PARTS 16

/*
 * The parts of a row key. A part has a fixed width, or ends with (and includes) its terminator, or
 * is the rest of the key. {0} means unknown.
 */
struct key_shape {
	struct {
		uint32_t width; /* bytes; 0 means not fixed */
		int terminator; /* a byte; negative means that the part is the rest of the key */
	} parts[SHAPE_MAX_PARTS];
	size_t nparts;
	uint32_t salt_bytes; /* bytes of a leading big-endian salt; 0 means not salted */
	uint32_t buckets;    /* the salt's values are 0 to buckets - 1 */
};

/* Return the end of the part that begins at `at`, or SIZE_MAX if the part is incomplete. */
size_t shape_part_end(uint32_t width, int terminator, struct bytes key, size_t at);
/*
 * Get the ends of the parts, in rising order, and return the number of ends, at most
 * SHAPE_MAX_PARTS. An incomplete part has no end.
 */
size_t shape_ends(const struct key_shape *shape, struct bytes key, size_t ends[SHAPE_MAX_PARTS]);
/*
 * Return the number of whole parts that are equal in `below` and the larger `key`. A border between
 * both keys cuts through these parts.
 */
unsigned shape_depth(const struct key_shape *shape, struct bytes below, struct bytes key);

/*
 * --- key weights: the weight of the rows below a key ---
 *
 * divide needs these weights. The sorter gives exact weights (sorter_weights). A sample gives
 * weights within the error of its sketch (plan.h). Weights are bytes, or another measure to balance
 * among regions. Every row has a positive weight. There are rows between any two places, so the
 * weight below a place identifies the place.
 */

/* A place between two row keys. */
struct split_point {
	/* the row key just below the place; empty (len 0) if `key` is the first row key */
	struct buf below;
	/* the first row key at or above the place; empty if there are no rows */
	struct buf key;
	uint64_t weight_below; /* weight of all rows with a smaller key */
};
void split_point_release(struct split_point *p);

/*
 * Chooses a place near a target. Candidates are places whose weight_below differs from the target
 * by at most `slack`. The candidate with the least shape_depth wins. Among equal depths, the
 * nearest candidate wins, and then the smaller one. Without candidates, the nearest of all places
 * wins.
 */
struct split_choice {
	uint64_t slack; /* largest distance from the target; 0 means the nearest place */
	unsigned (*depth)(const void *ctx, struct bytes below, struct bytes key);
	const void *ctx;
};

struct key_weights {
	void *self;
	uint64_t total;
	/*
	 * Find the place for each target by `choice`. If `choice` is NULL, find the nearest place.
	 * Targets may be in any order, and several targets may get the same place. `out` has `n`
	 * entries, which are {0} before the call. The caller releases the entries.
	 */
	int (*select)(void *self, const uint64_t *targets, size_t n,
		      const struct split_choice *choice, struct split_point *out,
		      struct error *err);
	/*
	 * Find bounds *least and *most of the weight below a key. The key need not be a row key. If
	 * `exact` is false, the function reads no row. If `exact` is true, both bounds are equal.
	 */
	int (*below)(void *self, struct bytes key, bool exact, uint64_t *least, uint64_t *most,
		     struct error *err);
};

/* Row keys in memory, in rising order and without equal keys. */
struct listed_keys {
	const void *ctx;
	struct bytes (*key)(const void *ctx, size_t i);
	size_t count;
	const uint64_t *before; /* [count + 1]: weight of the keys before this key */
};
/* Return the exact weights of the keys. `keys` must stay in place. */
struct key_weights listed_weights(struct listed_keys *keys);

/*
 * --- region rules and divide: the number and the borders of a table's regions ---
 *
 * load, plan and drift all use these functions.
 */

/*
 * The default of hbase.hregion.max.filesize, the size at which HBase splits a region. This size is
 * also the default of planned regions.
 */
#define REGION_BYTES (UINT64_C(10) << 30)

/* The job's settings for a table's regions. 0 means that the job does not give a setting. */
struct region_rule {
	/*
	 * The number of regions comes from `count`, else from `size_bytes`, else from `servers`.
	 * The default is a `size_bytes` of REGION_BYTES.
	 */
	uint32_t count;
	uint64_t size_bytes; /* size of a region on disk */
	/*
	 * regions are servers * per_server; `per_server` 0 means 10, as HBase's reference guide
	 * advises
	 */
	uint32_t servers, per_server;
	uint32_t min, max; /* limits of the number of regions */
	/* with size_bytes: room for growth; 0.5 means growth by 50 % */
	double headroom;
	double tolerance; /* largest allowed ratio of a region's size to the target */
	bool align_salt;  /* put a border at each salt bucket */
};

/* Return the number of regions, or 0 if this number depends on the size of the data. */
uint32_t region_rule_stated(const struct region_rule *r);
/* Return the number of regions, at least 1, for rows of this many bytes on disk. */
uint32_t region_rule_count(const struct region_rule *r, double disk_bytes);

struct division {
	const struct key_shape *shape; /* parts of the row key; NULL means unknown */
	/* the range to cut; empty means from the first row, or to the end */
	struct bytes start, end;
	size_t regions; /* wanted number of regions */
	bool align_salt;
};

/*
 * Append to *out the split keys inside [start, end), in rising order and each as short as possible.
 *
 * Normally borders divide the weight evenly. There are two exceptions:
 *
 *   - A border moves to the first possible key of a salt bucket if less than 2 % of a region is
 *     between both keys. The neighbouring borders share the difference.
 *   - A border moves by at most 1 % of a region to cut through fewer parts of the key. Such a
 *     border is between two entities rather than inside one entity.
 *
 * If a row is heavier than a region, several borders are at the same place. Then there are fewer
 * regions than wanted.
 *
 * align_salt is for salted keys without start and end. Each bucket gets a border, and the buckets
 * share the other borders by their weight. There are at least as many regions as buckets.
 */
int divide(const struct key_weights *w, const struct division *d, struct splits *out,
	   struct error *err);

#endif
