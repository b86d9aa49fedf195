/*
 * splits.h - an ordered list of split keys, its text form, and HBase's split arithmetic
 *
 * Implemented in splitter/.  n keys make n + 1 regions; region i is [key i-1, key i).
 */
#ifndef SALTMILL_SPLITS_H
#define SALTMILL_SPLITS_H

#include "bytes.h"
#include "error.h"

/* {0} is empty: one region.  Keys are strictly rising and not empty.  Release: splits_release. */
struct splits {
	struct bytes *keys; /* each key's bytes are owned */
	size_t count, cap;
};

/*
 * Append a copy of key.  RC_ORDER if it is empty or not above the last one, RC_LIMIT above 32,767
 * bytes.
 */
int splits_add(struct splits *s, struct bytes key, struct error *err);
/* Append copies of all of from's keys; RC_ORDER as above. */
int splits_copy(struct splits *s, const struct splits *from, struct error *err);
void splits_release(struct splits *s);
/* Index of the region that holds row: how many split keys are <= row. */
size_t splits_region(const struct splits *s, struct bytes row);

/* One key a line, \xHH form (what SPLITS_FILE takes, splitter/README.md 2.2). */
void splits_format(const struct splits *s, struct buf *out);
/*
 * Read such text; name is for messages.  Empty lines, \x without two upper-case hex digits,
 * raw bytes outside 0x20..0x7E and keys that are out of order or doubled are RC_DATA with name and
 * line.  \n or \r\n ends a line.
 */
int splits_parse(struct splits *s, const char *name, struct bytes text, struct error *err);

/* The same from the file `path`. */
int splits_read(struct splits *s, const char *path, struct error *err);

enum split_algorithm { SPLIT_ALGORITHM_UNIFORM, SPLIT_ALGORITHM_HEX, SPLIT_ALGORITHM_DECIMAL };

/*
 * Split keys for n regions, to the byte of HBase's RegionSplitter (splitter/README.md 1), its
 * errors included (RC_CONFIG).  first and last: the text that setFirstRow/setLastRow(String)
 * take; NULL: the defaults.
 */
int splits_compute(struct splits *s, enum split_algorithm a, uint32_t n, const char *first,
		   const char *last, struct error *err);
/*
 * Admin.createTable(descriptor, start, end, n): start and end are split keys too, n >= 3 regions.
 */
int splits_between(struct splits *s, struct bytes start, struct bytes end, uint32_t n,
		   struct error *err);
/*
 * The key at which RegionSplitter's rolling split cuts [start, end), appended to s; HexStringSplit
 * and DecimalStringSplit with their default rows.  last_inclusive: as 2.6.4 and later do
 * (HBASE-29472).
 */
int splits_midpoint(struct splits *s, enum split_algorithm a, struct bytes start, struct bytes end,
		    bool last_inclusive, struct error *err);
/* "UniformSplit", "HexStringSplit", "DecimalStringSplit", also a full class name; -1 unknown. */
int split_algorithm_parse(const char *name);
const char *split_algorithm_name(enum split_algorithm a);

/* The shortest key s with a < s <= b, for neighbouring rows a < b; a prefix of b. */
struct bytes shortest_separator(struct bytes a, struct bytes b);

/* --- the regions of a live table, as the shell prints them --- */

#define EXISTING_UNKNOWN UINT64_MAX

/* Everything is owned.  Release: existing_release. */
struct existing {
	struct splits splits;
	struct existing_region {
		char *encoded;	     /* what merge_region takes; NULL: not printed */
		uint64_t size_bytes; /* of its store files, in whole MiB; EXISTING_UNKNOWN: not
					printed */
	} * regions;		     /* splits.count + 1 */
	char *table;		     /* NULL: not printed */
};

/*
 * Read what `get_splits 't'` or `list_regions 't'` printed, prompts and timings around it
 * included; name is for messages.  RC_DATA, with name and line: neither of them, keys that do not
 * come out as many as were announced, regions that leave a gap or overlap.
 */
int existing_parse(struct existing *e, const char *name, struct bytes text, struct error *err);
void existing_release(struct existing *e);

/*
 * --- where the parts of a table's row keys end, as far as cutting regions needs it
 *
 * Implemented in splitter/.
 */

#define SHAPE_MAX_PARTS 16

/*
 * A part has a fixed width, or ends with (and includes) its terminator, or is the rest of the key.
 * {0}: nothing is known.
 */
struct key_shape {
	struct {
		uint32_t width; /* bytes; 0: not fixed */
		int terminator; /* byte; below 0: the rest of the key */
	} parts[SHAPE_MAX_PARTS];
	size_t nparts;
	uint32_t salt_bytes; /* of a salt in front, big-endian; 0: not salted */
	uint32_t buckets;    /* its values are 0 to buckets - 1 */
};

/* Where the part that begins at `at` ends; SIZE_MAX: it is not all there. */
size_t shape_part_end(uint32_t width, int terminator, struct bytes key, size_t at);
/* Where the parts end, rising; at most SHAPE_MAX_PARTS.  A part that is not all there ends none. */
size_t shape_ends(const struct key_shape *shape, struct bytes key, size_t ends[SHAPE_MAX_PARTS]);
/* How many whole parts `below` and `key` (above it) share: those that a border between cuts. */
unsigned shape_depth(const struct key_shape *shape, struct bytes below, struct bytes key);

/*
 * --- what a decider of regions asks about the rows: how much of them is below a key
 *
 * The sorter answers exactly (sorter_weights), a sample as well as its sketch can (plan.h). Weights
 * are bytes, or whatever else the regions are to share evenly; every row has some.  A place is
 * known by the weight below it: there are rows between any two.
 */

/* A place between two row keys. */
struct split_point {
	struct buf below;      /* the row key just below; empty (len 0) when key is the first */
	struct buf key;	       /* the first row key at or above; empty when there are no rows */
	uint64_t weight_below; /* of all rows with a smaller key */
};
void split_point_release(struct split_point *p);

/*
 * Which place near a target: of those whose weight_below differs from it by `slack` at most the
 * least deep one, of these the nearest, of these the smaller.  There being none, the nearest of
 * all.
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
	 * For each target the place that choice (NULL: the nearest) means.  Targets in any order;
	 * several may get the same place.  out has n entries, {0} before; the caller releases them.
	 */
	int (*select)(void *self, const uint64_t *targets, size_t n,
		      const struct split_choice *choice, struct split_point *out,
		      struct error *err);
	/*
	 * The weight below a key, whether or not a row has it, lies in [*least, *most].  Without
	 * `exact` what is known without reading a row; with it both are the same.
	 */
	int (*below)(void *self, struct bytes key, bool exact, uint64_t *least, uint64_t *most,
		     struct error *err);
};

/*
 * --- the one place that decides how many regions a table gets and where they are cut
 *
 * Implemented in splitter/, and asked by load, plan and drift.
 */

/* hbase.hregion.max.filesize: where HBase splits a region, and what one is planned for. */
#define REGION_BYTES (UINT64_C(10) << 30)

/* What is asked of a table's regions; zero is not given. */
struct region_rule {
	/* how many: the first of these that is given, else size_bytes of REGION_BYTES */
	uint32_t count;
	uint64_t size_bytes;	      /* of a region on disk */
	uint32_t servers, per_server; /* per_server 0: 10, as HBase's reference guide advises */
	uint32_t min, max;	      /* bounds on the number */
	double headroom;	      /* with size_bytes: 0.5 leaves room for half as much again */
	double tolerance;	      /* largest region / target that is still fine */
	bool align_salt;	      /* a border at each salt bucket */
};

/* The number of regions if the rule says it without the data; 0: it takes their size. */
uint32_t region_rule_stated(const struct region_rule *r);
/* The number of regions for rows of so many bytes on disk; at least 1. */
uint32_t region_rule_count(const struct region_rule *r, double disk_bytes);

struct division {
	const struct key_shape *shape; /* NULL: nothing is known of the keys */
	struct bytes start, end;       /* what is cut; empty: from the first, to the last row */
	size_t regions;		       /* that it should become */
	bool align_salt;
};

/*
 * Append to *out the split keys inside [start, end), rising, as short as they can be.
 *
 * Borders lie where the weight below is an even share; or at a salt bucket's first possible key,
 * when that would leave less than 2 % of a region on its other side (the borders around it share
 * what it costs); or, at the cost of 1 % of a region (it has two ends), where fewer parts of the
 * key are cut through: between two entities rather than inside one.  A row heavier than a region
 * takes several borders, which fall together, so there may be fewer regions than asked.
 *
 * align_salt, for salted keys without start and end: a border at each bucket, and the other regions
 * go to the buckets by what they hold; as many regions as buckets at least.
 */
int divide(const struct key_weights *w, const struct division *d, struct splits *out,
	   struct error *err);

#endif
