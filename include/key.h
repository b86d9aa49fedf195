/*
 * key.h - row keys and computed qualifiers: values to bytes, bytes to values, and their shape
 *
 *   key_table_open, key_shape, key_build, key_decode, key_table_close
 *
 * Implemented in pipeline/model/key.  A schema comes of a checked job alone; which column of a source a
 * value is in, and how it was read, is none of its business (row/ knows).
 *
 * Parts that stand in a key are laid down by the table of encoding.h.  Salts and hashes are derived
 * from them: the salt of murmur3 is its unsigned value modulo the buckets, phoenix is SaltingUtil
 * (Math.abs(hash31 % buckets) over all behind the salt), opentsdb the same over the named parts in
 * `width` bytes (RowKey.prefixKeyWithSalt), hbasewd OneByteSimpleHash (Math.abs(hash31) % buckets,
 * negative for Integer.MIN_VALUE).  A salt may be drawn, and have a fan-out: job.h.
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

/* Where a part stands in the bytes of a key. */
struct span {
	size_t at, len;
};

/* A part as it is laid down.  Of a constant, a salt and a hash only the layout's width counts. */
struct key_step {
	enum part_kind kind;
	struct layout layout; /* slot: of the value, as the schema was told */
	size_t at;	      /* in the key, if all parts before it have fixed widths */
	struct bytes constant;
};

/* A salt or hash part: computed when all other parts stand. */
struct key_derived {
	const struct key_part *part;
	size_t at; /* its step */
	uint32_t width;
	struct hash_input {
		bool in_parts; /* the bytes of step number `part`, else `natural` of the value */
		size_t part;
		struct layout natural;
	} * of;
	size_t nof;	   /* 0: all bytes behind this part */
	bool byte_of_part; /* the usual salt: one byte, murmur3 over one part */
	uint64_t keep; /* then, if the part has 1..8 bytes: which bits of a word it is, else 0 */
	size_t of_at, of_bytes, to; /* then: where the part stands, and where the salt goes */
	size_t number;		    /* of its struct salted */
};

struct key_schema {
	const struct key_part *parts;
	struct key_step *steps; /* one a part */
	size_t nsteps;
	struct key_derived *derived; /* in the order of their parts */
	size_t nderived;
	size_t fixed;	    /* bytes of all parts whose length is known, and terminators */
	bool simple;	    /* nothing but numbers and derived parts: spans never change */
	struct span *spans; /* then */
	struct number {	    /* then: LAY_NUMBER in few words */
		uint64_t bias, span, flip;
		uint32_t slot;
		uint16_t at;
		uint16_t shift;
	} * numbers;
	size_t nnumbers;
	bool one_salt; /* then: one derived part, with keep */
	bool drawn;    /* then: one derived part, a salt that is drawn */
};

/*
 * What schemas of one job have in common.  slots: by index in job.fields where the value of a field
 * is among the values; NULL: at that index.  What schemas are made of lives in the arena.
 */
struct key_maker {
	const struct job *job;
	struct arena *arena;
	const size_t *slots;
	size_t max_steps, nsalts; /* of all schemas so far, for the scratch */
};
/* Of a row key's parts or a qualifier's. */
void key_schema_make(struct key_schema *s, struct key_maker *m, const struct key_part *parts,
		     size_t n);
/* Of a field's value; key: as in keys. */
struct layout key_layout(const struct key_maker *m, size_t field, enum encode_as as, bool key);

/* The input and the result of a salt, kept: the next row has often the same. */
struct salted {
	uint64_t input;
	uint8_t salt;
	bool known;
};
/* What a thread needs to build keys of a maker's schemas. */
struct key_scratch {
	struct bytes event; /* its own bytes and place, for salts that are drawn; null: none */
	uint64_t place;
	const struct bytes *rows; /* by table its row key of the event, for PART_KEY; NULL: none */
	struct salted *salted;
	struct span *spans;
	struct buf hash_input;
};
void key_scratch_init(struct key_scratch *k, const struct key_maker *m);
void key_scratch_release(struct key_scratch *k);

/*
 * The key of these values, instead of out's content.  RC_DATA: a value does not go there.  That a
 * row key is neither empty nor too long is the caller's to see (key_check_length).
 */
int key_build(const struct key_schema *s, struct key_scratch *k, const struct value *values,
	      struct buf *out, struct reject *why);
/* RC_DATA: HBase takes no row key of so many bytes. */
int key_check_length(const char *table, size_t len, struct reject *why);

/* --- the other direction --- */

/* A part of a key, read back. */
struct key_piece {
	struct bytes bytes; /* without its terminator */
	size_t end;	    /* in the key, its terminator included */
	uint64_t number;    /* of a salt */
	struct value value; /* of a field; see layout_take */
};
/*
 * Which bytes belong to which part: returns how many parts of the key, or of a prefix of one, are
 * all there; pieces has s->nsteps places.
 */
size_t key_split(const struct key_schema *s, struct bytes key, struct key_piece *pieces);
/*
 * The values of a whole key, each with its typed member where forms tell how texts are read (else
 * see layout_take).  RC_DATA with a sentence on why it cannot be a key of this job: it
 * ends within a part, has bytes left over, holds what no value of a field is, or a constant, salt
 * or hash that does not belong to the others.
 */
int key_decode(const struct key_schema *s, const struct field_forms *forms, struct bytes key,
	       struct arena *a, struct key_piece *pieces, struct error *err);

/* --- of a table --- */

/* Where the parts of a table's row key end, as the splitter wants to know it. */
struct key_shape key_shape(const struct job_table *t);

/* A table's row key, by field index. */
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
 * plan_options.name_key with a struct key_table: append "userId 42, movieId 7" for a key or for its
 * prefix through a part.  A salt is named only when it stands alone; hashes and constants never.
 */
void key_name(void *key_table, struct bytes key, size_t part, struct buf *out);

/*
 * --- keys of numbers alone and the usual salt over one of them, laid down in a few
 * stores
 *
 * For schemas that are `simple`, and of those for the ones with `one_salt`: key_build goes this
 * way, and so does who lays down many keys at once (pipeline/load/row/quick.c).
 */

/* false: a value is out of its range.  Writes up to 8 bytes behind the key. */
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

/* Of a salt that is drawn, by the event's own bytes or its place. */
uint64_t salt_drawn(const struct key_part *part, struct bytes event, uint64_t place);

static inline uint8_t salt_of(const struct key_derived *d, struct bytes in)
{
	return (uint8_t)(murmur3_32(in, 0) % d->part->buckets);
}

/* Of schemas with one_salt; behind the key 8 bytes may be read. */
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
 * --- what the row keys of a table know of a question
 *
 *   key_ranges, [key_filter], [key_condition, key_condition_holds*]
 *
 * Implemented in pipeline/model/key.  `key ranges` and `scan` both use these functions, so that they
 * agree on what a key knows of a field.  `key encode` and `get` both build the key (key_build).
 */

/* Keys from start to before stop; empty: open. */
struct key_range {
	struct bytes start, stop;
};

struct key_conjunct; /* private to pipeline/model/key */

struct key_ranges {
	struct key_range *range; /* rising; there are other keys between two ranges */
	size_t n;
	bool exact; /* the ranges hold no other rows than those of the question */
	bool whole; /* a part at the front, which the question leaves open, makes it a full scan */
	/* NULL, or a field whose order the key does not keep, so that this question has no range */
	const char *lost;
	/* A row of the ranges matches if it matches the rest.  NULL: the ranges are exact. */
	const struct question_node *rest;
	struct key_conjunct *conjuncts; /* the question as conditions that must all hold */
	size_t nconjuncts;
};

/*
 * The ranges hold every key that answers the question (NULL: all rows).  A name in it is a field of
 * the job or a column family:qualifier of the table.  A value is written as in the source, a time
 * also as ISO 8601.  The ranges live in the arena; the question must outlive them.  RC_CONFIG: a
 * name or value is invalid, with its place; RC_LIMIT: there are too many ranges.
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

/* A condition that parts of the key decide although they do not hold the whole value. */
struct key_condition {
	size_t first, last;	 /* of the parts */
	struct key_range *range; /* of their bytes */
	size_t n;
	bool by_seconds; /* the condition is decided by whole seconds only */
};

/* Find the parts that decide condition number i of the question.  RC_END: no part does. */
int key_condition(struct key_condition *out, const struct key_table *k,
		  const struct field_forms *forms, const struct question *q, size_t i,
		  struct arena *a, struct error *err);
/* pieces: of the whole row, by key_split. */
bool key_condition_holds(const struct key_condition *c, const struct key_piece *pieces,
			 struct bytes row);

/*
 * --- the filters with which HBase's servers check what key ranges leave open
 *
 * Implemented in pipeline/model/key.  The filters are lists, FUZZY_ROW, ROW with COMPARE_COMPONENT and
 * SINGLE_COLUMN_VALUE with if_missing.
 */

/* Which filters the scan can use. */
struct key_filter_use {
	bool fuzzy, rows;
	bool any_version; /* a column's filter looks at all its versions */
	/* May the filter read this column?  NULL: it may read every column. */
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
