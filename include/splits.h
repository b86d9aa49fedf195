/*
 * splits.h - split keys: lists, their text form, HBase's split arithmetic, and the choice of
 * regions
 *
 *   splits_add*, splits_format, splits_release     a list; n keys make n + 1 regions
 *   splits_compute                                 HBase's own algorithms
 *   existing_parse                                 regions of a live table
 *   region_rule_count, divide                      the number of regions, and where to cut
 *
 * Region i is [key i-1, key i). Implemented in splitter/.
 */
#ifndef SALTMILL_SPLITS_H
#define SALTMILL_SPLITS_H

#include "bytes.h"
#include "error.h"

/*
 * A list of split keys. {0} is empty: one region. Keys are strictly rising and not empty. Release
 * with splits_release.
 */
struct splits {
	struct bytes *keys; /* each key's bytes are owned */
	size_t count;
};

/*
 * Append a copy of key. RC_ORDER: it is empty or not above the last one. RC_LIMIT: more than 32,767
 * bytes.
 */
int splits_add(struct splits *s, struct bytes key, struct error *err);
/* Append copies of all of from's keys; RC_ORDER as above. */
int splits_copy(struct splits *s, const struct splits *from, struct error *err);
void splits_release(struct splits *s);
/* Return the index of the region that contains row: the number of split keys <= row. */
size_t splits_region(const struct splits *s, struct bytes row);

/*
 * Append the keys as text: one in each line, in \xHH form, as SPLITS_FILE takes it
 * (splitter/README.md 2.2).
 */
void splits_format(const struct splits *s, struct buf *out);
/*
 * Parse such text; name is for messages. A line ends with \n or \r\n. RC_DATA, with name and line:
 * an empty line, \x without two upper-case hex digits, raw bytes outside 0x20..0x7E, or keys that
 * are out of order or repeated.
 */
int splits_parse(struct splits *s, const char *name, struct bytes text, struct error *err);

/* Do the same with the file `path`. */
int splits_read(struct splits *s, const char *path, struct error *err);

enum split_algorithm { SPLIT_ALGORITHM_UNIFORM, SPLIT_ALGORITHM_HEX, SPLIT_ALGORITHM_DECIMAL };

/*
 * Compute split keys for n regions, byte for byte as HBase's RegionSplitter (splitter/README.md 1),
 * including its errors (RC_CONFIG). first and last: texts for setFirstRow and setLastRow(String);
 * NULL: the defaults.
 */
int splits_compute(struct splits *s, enum split_algorithm a, uint32_t n, const char *first,
		   const char *last, struct error *err);
/*
 * Parse "UniformSplit", "HexStringSplit", "DecimalStringSplit", or a full class name; -1: unknown.
 */
int split_algorithm_parse(const char *name);
const char *split_algorithm_name(enum split_algorithm a);

/* Return the shortest key s with a < s <= b, for adjacent rows a < b; it is a prefix of b. */
struct bytes shortest_separator(struct bytes a, struct bytes b);

/* --- existing regions of a live table, from the shell's output --- */

#define EXISTING_UNKNOWN UINT64_MAX

/* All members are owned. Release with existing_release. */
struct existing {
	struct splits splits;
	struct existing_region {
		char *encoded; /* for merge_region; NULL: not printed */
		/* of its store files, in whole MiB; EXISTING_UNKNOWN: not printed */
		uint64_t size_bytes;
	} * regions; /* splits.count + 1 */
	char *table; /* NULL: not printed */
};

/*
 * Parse the output of `get_splits 't'` or `list_regions 't'`, including prompts and timings around
 * it; name is for messages. RC_DATA, with name and line: another text, a number of keys that
 * differs from the announced one, or regions with gaps or overlaps.
 */
int existing_parse(struct existing *e, const char *name, struct bytes text, struct error *err);
void existing_release(struct existing *e);

/* --- key shape: where the parts of a table's row keys end --- */

#define SHAPE_MAX_PARTS 16

/*
 * A part has a fixed width, or ends with (and includes) its terminator, or is the rest of the key.
 * {0}: nothing is known.
 */
struct key_shape {
	struct {
		uint32_t width; /* bytes; 0: not fixed */
		int terminator; /* byte; negative: the rest of the key */
	} parts[SHAPE_MAX_PARTS];
	size_t nparts;
	uint32_t salt_bytes; /* of a leading big-endian salt; 0: not salted */
	uint32_t buckets;    /* the salt's values are 0 to buckets - 1 */
};

/* Return the end of the part that begins at `at`; SIZE_MAX: the part is incomplete. */
size_t shape_part_end(uint32_t width, int terminator, struct bytes key, size_t at);
/*
 * Get the ends of the parts, rising; at most SHAPE_MAX_PARTS. An incomplete part has no end.
 * Returns how many.
 */
size_t shape_ends(const struct key_shape *shape, struct bytes key, size_t ends[SHAPE_MAX_PARTS]);
/*
 * Return how many whole parts `below` and the larger `key` share: a border between them cuts
 * through these.
 */
unsigned shape_depth(const struct key_shape *shape, struct bytes below, struct bytes key);

/*
 * --- key weights: how much of the rows is below a key ---
 *
 * divide needs these answers. The sorter answers exactly (sorter_weights), a sample as exactly as
 * its sketch (plan.h). Weights are bytes, or another measure that regions share evenly; every row
 * has a positive weight. The weight below identifies a place: there are rows between any two
 * places.
 */

/* A place between two row keys. */
struct split_point {
	struct buf below;      /* the row key just below; empty (len 0) if key is the first */
	struct buf key;	       /* the first row key at or above; empty if there are no rows */
	uint64_t weight_below; /* weight of all rows with a smaller key */
};
void split_point_release(struct split_point *p);

/*
 * Chooses a place near a target. Candidates are places whose weight_below differs from the target
 * by at most `slack`. The least deep one wins, then the nearest, then the smaller. Without
 * candidates the nearest of all places wins.
 */
struct split_choice {
	uint64_t slack; /* 0: the nearest */
	unsigned (*depth)(const void *ctx, struct bytes below, struct bytes key);
	const void *ctx;
};

struct key_weights {
	void *self;
	uint64_t total;
	/*
	 * Find the place for each target by choice (NULL: the nearest). Targets come in any order,
	 * and several may get the same place. out has n entries, {0} before; the caller releases
	 * them.
	 */
	int (*select)(void *self, const uint64_t *targets, size_t n,
		      const struct split_choice *choice, struct split_point *out,
		      struct error *err);
	/*
	 * Bound the weight below a key, whether or not a row has it: it is in [*least, *most].
	 * Without `exact` no row is read; with it both bounds are equal.
	 */
	int (*below)(void *self, struct bytes key, bool exact, uint64_t *least, uint64_t *most,
		     struct error *err);
};

/*
 * --- region rules and divide: how many regions a table gets, and where they are cut ---
 *
 * load, plan and drift all decide here.
 */

/*
 * hbase.hregion.max.filesize: the size at which HBase splits a region, and the default planned
 * size.
 */
#define REGION_BYTES (UINT64_C(10) << 30)

/* The job's settings for a table's regions; zero: not given. */
struct region_rule {
	/* How many: the first of these that is given; else size_bytes of REGION_BYTES. */
	uint32_t count;
	uint64_t size_bytes;	      /* of a region on disk */
	uint32_t servers, per_server; /* per_server 0: 10, as HBase's reference guide advises */
	uint32_t min, max;	      /* limits of the number */
	double headroom;	      /* with size_bytes: 0.5 leaves room for half as much again */
	double tolerance;	      /* largest allowed region / target */
	bool align_salt;	      /* put a border at each salt bucket */
};

/* Return the number of regions if it does not depend on the data; 0: it depends on their size. */
uint32_t region_rule_stated(const struct region_rule *r);
/* Return the number of regions for rows of this many bytes on disk; at least 1. */
uint32_t region_rule_count(const struct region_rule *r, double disk_bytes);

struct division {
	const struct key_shape *shape; /* NULL: unknown */
	/* the range to cut; empty: from the first, to the last row */
	struct bytes start, end;
	size_t regions; /* wanted number of regions */
	bool align_salt;
};

/*
 * Append to *out the split keys inside [start, end), rising, each as short as possible.
 *
 * A border is normally where the weight below is an even share. There are two exceptions:
 * - It moves to the first possible key of a salt bucket if less than 2 % of a region is between them.
 *   The neighbouring borders share the cost.
 * - It moves by at most 1 % of a region (which has two ends) to cut through fewer parts of the key:
 *   between two entities rather than inside one.
 *
 * A row heavier than a region would take several borders at the same place. So there may be fewer
 * regions than wanted.
 *
 * align_salt, for salted keys without start and end: each bucket gets a border, and the other
 * regions are shared among the buckets by their content. There are at least as many regions as
 * buckets.
 */
int divide(const struct key_weights *w, const struct division *d, struct splits *out,
	   struct error *err);

#endif
