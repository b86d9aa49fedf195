/*
 * key.h - row keys and computed qualifiers: values to bytes, bytes to values, key ranges and
 * filters
 *
 *   key_table_open, key_shape, key_build, key_decode, key_table_close
 *   key_ranges, key_filter                         the keys that a condition selects
 *
 * Implemented in pipeline/model/key. A schema depends only on a checked job. The columns of a
 * source, and how values were parsed, belong to row/.
 *
 * Parts use the encodings of encoding.h. Salts and hashes are derived from other parts:
 *
 *   murmur3    the unsigned hash modulo the buckets
 *   phoenix    SaltingUtil: Math.abs(hash31 % buckets) over everything after the salt
 *   opentsdb   the same over the named parts, in `width` bytes (RowKey.prefixKeyWithSalt)
 *   hbasewd    OneByteSimpleHash: Math.abs(hash31) % buckets, negative for Integer.MIN_VALUE
 *
 * A salt may also be drawn, and have a fan-out: see job.h.
 */
#ifndef SALTMILL_KEY_H
#define SALTMILL_KEY_H

#include "encoding.h"
#include "field.h"
#include "job.h"
#include "splits.h"
#include "hash.h"
#include "question.h"
#include "filter.h"

/* The position of a part in the bytes of a key. */
struct span {
	size_t at, len;
};

/* A part in its encoded form. For a constant, a salt and a hash only the layout's width is used. */
struct key_step {
	enum part_kind kind;
	struct layout layout; /* slot: of the value, as given to the schema */
	size_t at;	      /* offset in the key, if all parts before it have fixed widths */
	struct bytes constant;
};

/* A salt or hash part: computed after all other parts are in place. */
struct key_derived {
	const struct key_part *part;
	size_t at; /* its step */
	uint32_t width;
	struct hash_input {
		bool in_parts; /* the bytes of step number `part`; else `natural` of the value */
		size_t part;
		struct layout natural;
	} * of;
	size_t nof;	   /* 0: all bytes after this part */
	bool byte_of_part; /* the common salt: one byte, murmur3 over one part */
	/* with byte_of_part, if the part has 1..8 bytes: its bits in a word; else 0 */
	uint64_t keep;
	/* with byte_of_part: offset and length of the part, offset of the salt */
	size_t of_at, of_bytes, to;
	size_t number; /* index of its struct salted */
};

struct key_schema {
	const struct key_part *parts;
	struct key_step *steps; /* one for each part */
	size_t nsteps;
	struct key_derived *derived; /* in the order of their parts */
	size_t nderived;
	size_t fixed;	    /* bytes of all parts with a known length, and of terminators */
	bool simple;	    /* only numbers and derived parts, so spans never change */
	struct span *spans; /* if simple */
	struct number {	    /* if simple: LAY_NUMBER in a compact form */
		uint64_t bias, span, flip;
		uint32_t slot;
		uint16_t at;
		uint16_t shift;
	} * numbers;
	size_t nnumbers;
	bool one_salt; /* if simple: one derived part, with keep */
	bool drawn;    /* if simple: one derived part, a salt that is drawn */
};

/*
 * Data that the schemas of one job share. slots: the index of a field's value among the values, by index
 * in job.fields; NULL: the same index. The schemas' memory is in the arena.
 */
struct key_maker {
	const struct job *job;
	struct arena *arena;
	const size_t *slots;
	size_t max_steps, nsalts; /* over all schemas so far, for the scratch */
};
/* Make the schema of a row key's or a qualifier's parts. */
void key_schema_make(struct key_schema *s, struct key_maker *m, const struct key_part *parts,
		     size_t n);
/* Make the layout of a field's value; key: as in keys. */
struct layout key_layout(const struct key_maker *m, size_t field, enum encode_as as, bool key);

/* The input and result of a salt, cached: the next row often has the same. */
struct salted {
	uint64_t input;
	uint8_t salt;
	bool known;
};
/* Memory of one thread to build keys of a maker's schemas. */
struct key_scratch {
	/* the event's own bytes, for drawn salts; null: none; place: see job.h */
	struct bytes event;
	uint64_t place;
	const struct bytes *rows; /* by table: its row key of the event, for PART_KEY; NULL: none */
	struct salted *salted;
	struct span *spans;
	struct buf hash_input;
};
void key_scratch_init(struct key_scratch *k, const struct key_maker *m);
void key_scratch_release(struct key_scratch *k);

/*
 * Build the key of these values; it replaces out's content. RC_DATA: a value cannot be encoded. The
 * caller checks that a row key is neither empty nor too long (key_check_length).
 */
int key_build(const struct key_schema *s, struct key_scratch *k, const struct value *values,
	      struct buf *out, struct reject *why);
/* RC_DATA: HBase does not accept a row key of this length. */
int key_check_length(const char *table, size_t len, struct reject *why);

/* --- decoding --- */

/* A decoded part of a key. */
struct key_piece {
	struct bytes bytes; /* without its terminator */
	size_t end;	    /* offset in the key, after its terminator */
	uint64_t number;    /* for a salt */
	struct value value; /* for a field; see layout_take */
};
/*
 * Split a key, or a prefix of one, into its parts. Returns how many parts are complete. pieces has
 * room for s->nsteps.
 */
size_t key_split(const struct key_schema *s, struct bytes key, struct key_piece *pieces);
/*
 * Decode a whole key. The values have their typed member if forms describes how texts are parsed
 * (otherwise see layout_take). RC_DATA, with a sentence why it is no key of this job: it ends
 * within a part, has extra bytes, contains an invalid value, or a constant, salt or hash does not
 * match.
 */
int key_decode(const struct key_schema *s, const struct field_forms *forms, struct bytes key,
	       struct arena *a, struct key_piece *pieces, struct error *err);

/* --- the row key of a table --- */

/* Return where the parts of a table's row key end, for the splitter. */
struct key_shape key_shape(const struct job_table *t);

/* A table's row key, with values by field index. */
struct key_table {
	const struct job *job;
	const struct job_table *table;
	struct key_maker maker;
	struct key_schema schema;
	struct key_scratch scratch;
	struct arena arena;
};
void key_table_open(struct key_table *k, const struct job *job, const struct job_table *t);
void key_table_close(struct key_table *k);

/*
 * The plan_options.name_key of a struct key_table: append "userId 42, movieId 7" for a key or for
 * its prefix through a part. A salt is named only if it is the only part; hashes and constants
 * never.
 */
void key_name(void *key_table, struct bytes key, size_t part, struct buf *out);

/*
 * --- fast paths: keys of numbers only, and the common salt over one of them ---
 *
 * For schemas that are `simple`; the salt also needs `one_salt`. key_build uses them, and so does
 * the code that encodes many keys at once (pipeline/load/row/quick.c).
 */

/* Write the numbers. False: a value is out of range. Writes up to 8 bytes after the key. */
static inline bool numbers_put(const struct value *values, const struct key_schema *s, uint8_t *to)
{
	bool bad = false;

	for (const struct number *n = s->numbers, *end = n + s->nnumbers; n < end; n++) {
		uint64_t u = values[n->slot].u;

		bad |= u - n->bias > n->span;
		put_be64(to + n->at, (u ^ n->flip) << n->shift);
	}
	return !bad;
}

/* Compute a drawn salt from the event's own bytes or its place. */
uint64_t salt_drawn(const struct key_part *part, struct bytes event, uint64_t place);

static inline uint8_t salt_of(const struct key_derived *d, struct bytes in)
{
	return (uint8_t)(murmur3_32(in, 0) % d->part->buckets);
}

/* Write the salt of a schema with one_salt; 8 bytes after the key may be read. */
static inline void salt_put(struct key_scratch *k, const struct key_schema *s, uint8_t *to)
{
	const struct key_derived *d = s->derived;
	struct salted *last = &k->salted[d->number];
	uint64_t word;

	memcpy(&word, to + d->of_at, 8);
	word &= d->keep;
	if (__builtin_expect(word != last->input || !last->known, 0))
		*last = (struct salted){word, salt_of(d, bytes_of(to + d->of_at, d->of_bytes)),
					true};
	to[d->to] = last->salt;
}

/*
 * --- key ranges: the row keys that a condition selects ---
 *
 *   key_ranges, [key_filter], [key_condition, key_condition_holds*]
 *
 * `key ranges` and `scan` both use these functions, so that they agree on what a key tells about a
 * field. `key encode` and `get` both build the key (key_build).
 */

/* Keys from start to before stop; empty: open. */
struct key_range {
	struct bytes start, stop;
};

struct key_conjunct; /* private to pipeline/model/key */

struct key_ranges {
	struct key_range *range; /* rising; other keys lie between two ranges */
	size_t n;
	bool exact; /* the ranges contain only rows that match the question */
	/* a full scan, because the question leaves open a part at the front of the key */
	bool whole;
	/* NULL, or a field whose order the key does not keep, so that this question has no range */
	const char *lost;
	/* A row of the ranges matches if it matches the rest. NULL: the ranges are exact. */
	const struct question_node *rest;
	struct key_conjunct *conjuncts; /* the question as conditions that must all hold */
	size_t nconjuncts;
};

/*
 * Compute the ranges that contain every row that matches the question (NULL: all rows). A name in
 * it is a field of the job or a column family:qualifier of the table. A value is written as in the
 * source, a time also as ISO 8601. The ranges live in the arena; the question must outlive them.
 * RC_CONFIG: a name or value is invalid, with its place; RC_LIMIT: there are too many ranges.
 */
int key_ranges(struct key_ranges *out, const struct key_table *k, const struct field_forms *forms,
	       const struct question *q, struct arena *a, struct error *err);

/* True if the range holds one possible key: its start. */
static inline bool key_range_is_row(const struct key_range *r)
{
	return r->start.len > 0 && r->stop.len == r->start.len + 1 &&
	       r->stop.ptr[r->start.len] == 0 &&
	       memcmp(r->stop.ptr, r->start.ptr, r->start.len) == 0;
}

/* A condition that parts of the key decide although they do not contain the whole value. */
struct key_condition {
	size_t first, last;	 /* indexes of the parts */
	struct key_range *range; /* ranges of their bytes */
	size_t n;
	bool by_seconds; /* the condition is decided only to whole seconds */
};

/* Find the parts that decide condition number i of the question.  RC_END: no part does. */
int key_condition(struct key_condition *out, const struct key_table *k,
		  const struct field_forms *forms, const struct question *q, size_t i,
		  struct arena *a, struct error *err);
/* Test the condition on a row. pieces: of the whole row, by key_split. */
bool key_condition_holds(const struct key_condition *c, const struct key_piece *pieces,
			 struct bytes row);

/*
 * --- key filters: HBase filters with which servers check what key ranges leave open ---
 *
 * The filters are lists, FUZZY_ROW, ROW with COMPARE_COMPONENT, and SINGLE_COLUMN_VALUE with
 * if_missing.
 */

/* The filters that the scan can use. */
struct key_filter_use {
	bool fuzzy, rows;
	bool any_version; /* a column's filter looks at all its versions */
	/* True if the filter may read this column. NULL: it may read every column. */
	bool (*column)(void *ctx, struct bytes family, struct bytes qualifier);
	void *ctx;
};

struct key_checks {
	struct filter *filter; /* NULL: servers can check nothing */
	bool exact; /* true: the ranges and the filter give exactly the rows of the question */
};

/*
 * Build the filter for what ranges leave open of the question they were made for.  use NULL: all
 * filters.  Every row of the answer passes the filter.  The filter lives in the arena.
 */
void key_filter(struct key_checks *out, const struct key_ranges *ranges, const struct key_table *k,
		const struct key_filter_use *use, struct arena *a);

#endif
