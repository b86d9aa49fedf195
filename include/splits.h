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

#endif
