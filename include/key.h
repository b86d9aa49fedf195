/*
 * key.h - encode and decode row keys and computed qualifiers; key ranges and filters
 *
 *   key_table_open, key_shape, key_build, key_decode, key_table_close
 *   key_ranges, key_filter                         key ranges and filters of a condition
 *
 * Implemented in pipeline/model/key. A schema depends only on a checked job. row/ handles the
 * columns of a source and parses values.
 *
 * Parts use the encodings of encoding.h. Salts and hashes depend on other parts:
 *
 *   murmur3    the unsigned hash modulo the buckets
 *   phoenix    SaltingUtil: Math.abs(hash31 % buckets) over everything after the salt
 *   opentsdb   as phoenix over the named parts, in `width` bytes (RowKey.prefixKeyWithSalt)
 *   hbasewd    OneByteSimpleHash: Math.abs(hash31) % buckets, negative for Integer.MIN_VALUE
 *
 * A salt may also be random or have a fan-out (job.h).
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

/* The encoding of a part. A constant, a salt and a hash use only the layout's width. */
struct key_step {
	enum part_kind kind;
	struct layout layout; /* `slot` is the value's index among the values that key_build gets */
	size_t at;	      /* offset in the key, if all parts before it have fixed widths */
	struct bytes constant;
};

/* A salt or hash part. key_build computes such a part after it has written all other parts. */
struct key_derived {
	const struct key_part *part;
	size_t at; /* index of its step */
	uint32_t width;
	struct hash_input {
		/*
		 * true means the bytes of step `part`; false means the encoding `natural` of the
		 * value
		 */
		bool in_parts;
		size_t part;
		struct layout natural;
	} * of;
	size_t nof;	   /* number of inputs; 0 means all bytes after this part */
	bool byte_of_part; /* the usual salt: one byte, murmur3 over one part */
	/*
	 * with byte_of_part: a mask of the part's bytes in a word if the part has 1 to 8 bytes,
	 * else 0
	 */
	uint64_t keep;
	/* with byte_of_part: offset and length of the part, offset of the salt */
	size_t of_at, of_bytes, to;
	size_t number; /* index of its struct salted */
};

struct key_schema {
	const struct key_part *parts;
	struct key_step *steps; /* the steps, one for each part */
	size_t nsteps;
	struct key_derived *derived; /* salts and hashes, in the order of the parts */
	size_t nderived;
	size_t fixed;	    /* bytes of all parts with a known length, and of all terminators */
	bool simple;	    /* all parts are numbers or derived, so their places never change */
	struct span *spans; /* if simple */
	struct number {	    /* if simple: the LAY_NUMBER layouts in a compact form */
		uint64_t bias, span, flip;
		uint32_t slot;
		uint16_t at;
		uint16_t shift;
	} * numbers;
	size_t nnumbers;
	bool one_salt; /* if simple: there is one derived part, and its `keep` is not 0 */
	bool drawn;    /* if simple: there is one derived part, a drawn salt */
};

/*
 * Data that the schemas of one job share. `slots` maps an index in job.fields to the index of the
 * field's value. If `slots` is NULL, both indexes are the same. The schemas' memory is in the
 * arena.
 */
struct key_maker {
	const struct job *job;
	struct arena *arena;
	const size_t *slots;
	/* maximum and sum over all schemas so far, for the size of the scratch */
	size_t max_steps, nsalts;
};
/* Make a schema from the parts of a row key or a qualifier. */
void key_schema_make(struct key_schema *s, struct key_maker *m, const struct key_part *parts,
		     size_t n);
/* Make the layout of a field's value. If `key` is true, the layout has the ordered form of keys. */
struct layout key_layout(const struct key_maker *m, size_t field, enum encode_as as, bool key);

/* The cached input and result of a salt. The next row often has the same input. */
struct salted {
	uint64_t input;
	uint8_t salt;
	bool known;
};
/* Memory of one thread for building keys with a maker's schemas. */
struct key_scratch {
	/*
	 * the event's bytes, for drawn salts; `ptr` NULL means no event; `place` is the line or
	 * offset (job.h)
	 */
	struct bytes event;
	uint64_t place;
	/* by table: the event's row key, for PART_KEY; NULL means no row keys */
	const struct bytes *rows;
	struct salted *salted;
	struct span *spans;
	struct buf hash_input;
};
void key_scratch_init(struct key_scratch *k, const struct key_maker *m);
void key_scratch_release(struct key_scratch *k);

/*
 * Build the key of these values. The key replaces the content of `out`. Returns RC_DATA if it
 * cannot encode a value. The caller checks that a row key is neither empty nor too long
 * (key_check_length).
 */
int key_build(const struct key_schema *s, struct key_scratch *k, const struct value *values,
	      struct buf *out, struct reject *why);
/* Check the length of a row key. Returns RC_DATA if HBase does not accept it. */
int key_check_length(const char *table, size_t len, struct reject *why);

/* --- decoding --- */

/* A decoded part of a key. */
struct key_piece {
	struct bytes bytes; /* bytes of the part without its terminator */
	size_t end;	    /* offset in the key after the part's terminator */
	uint64_t number;    /* the bucket of a salt */
	struct value value; /* the value of a field, as from layout_take */
};
/*
 * Split a key, or a prefix of a key, into its parts. Returns the number of complete parts. `pieces`
 * has room for s->nsteps parts.
 */
size_t key_split(const struct key_schema *s, struct bytes key, struct key_piece *pieces);
/*
 * Decode a whole key. If `forms` is not NULL, the function parses texts, so that all values have
 * their typed member. If `forms` is NULL, the values are as layout_take returns them. Returns
 * RC_DATA, with the reason, if the key ends within a part, has extra bytes or contains an invalid
 * value. Returns RC_DATA also if a constant, salt or hash does not match.
 */
int key_decode(const struct key_schema *s, const struct field_forms *forms, struct bytes key,
	       struct arena *a, struct key_piece *pieces, struct error *err);

/* --- the row key of a table --- */

/* Return the widths and terminators of the parts of a table's row key, for the splitter. */
struct key_shape key_shape(const struct job_table *t);

/*
 * Append to *out the split points of `count` regions. The function uses no events, only the parts
 * of the table's row key, `spread` and `histogram`. Salts and hashes are even, and so are digits
 * and UUIDs. Split points are as short as possible. Appends to `assumed`, unless it is NULL, the
 * fields whose values the result assumes to be even. Returns RC_CONFIG if the known parts give
 * fewer split points, or if a value is invalid.
 */
int key_splits(const struct job *job, const struct job_table *t, uint32_t count, struct splits *out,
	       struct buf *assumed, struct error *err);

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
 * --- the row key of names and texts, for `key encode`, `get` and libsaltmill ---
 *
 * Call key_values_open first. Set each field with key_values_give or key_values_take. Then call
 * key_values_build and key_values_close.
 */

/*
 * The value of each field of the job, the text that the value borrows, and whether the field has a
 * value.
 */
struct key_values {
	const struct job *job;
	const struct field_forms *forms;
	struct value *values;
	struct buf *texts;
	struct field_scratch *read;
	bool *has;
};

/* Prepare `g` without values. Borrows `job` and `forms`. */
void key_values_open(struct key_values *g, const struct job *job, const struct field_forms *forms);
void key_values_close(struct key_values *g);
/* Forget all values. */
void key_values_clear(struct key_values *g);
/*
 * Set the value of a field. Returns RC_CONFIG if there is no such field, if the line has it twice,
 * or if the value is invalid.
 */
int key_values_give(struct key_values *g, struct bytes name, struct bytes text, struct error *err);
/* Set the value of a field from the text "FIELD=VALUE", as key_values_give does. */
int key_values_take(struct key_values *g, const char *operand, struct error *err);
/* Return RC_CONFIG if a given field is not part of the row key. */
int key_values_check(const struct key_values *g, const struct job_table *t, struct error *err);
/* Append the table's row key. Returns RC_CONFIG if a value is missing or does not fit. */
int key_values_build(const struct key_values *g, struct key_table *k, struct buf *out,
		     struct error *err);
/* Append the value of a part of a key, which is a PART_FIELD, as field_text does. */
void key_piece_text(const struct key_table *k, size_t part, const struct value *v, struct buf *out);

/*
 * Name a key by its values, as plan_options.name_key for a struct key_table. The function appends
 * text such as "userId 42, movieId 7" for a key, or for its prefix up to the end of part `part`. A
 * salt has a name only if it is the only part. Hashes and constants have none.
 */
void key_name(void *key_table, struct bytes key, size_t part, struct buf *out);

/*
 * --- fast paths for keys of numbers only, and for the usual salt over one number ---
 *
 * These functions need a schema with `simple`, and for the salt also with `one_salt`. Their callers
 * are key_build and the code that encodes many keys at once (pipeline/load/row/quick.c).
 */

/*
 * Write the numbers of a key. The function may overwrite up to 8 bytes after the key. Returns false
 * if a value is out of range.
 */
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

/* Compute a drawn salt from the event's bytes or its place. */
uint64_t salt_drawn(const struct key_part *part, struct bytes event, uint64_t place);

static inline uint8_t salt_of(const struct key_derived *d, struct bytes in)
{
	return (uint8_t)(murmur3_32(in, 0) % d->part->buckets);
}

/* Write the salt of a schema with `one_salt`. 8 bytes after the key must be readable. */
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
 * `key ranges` and `scan` both use these functions, so they find the same ranges for a condition.
 * `key encode` and `get` both use key_build.
 */

/* The keys from `start` up to, but without, `stop`. Empty means unbounded. */
struct key_range {
	struct bytes start, stop;
};

struct key_conjunct; /* private to pipeline/model/key */

struct key_ranges {
	struct key_range *range; /* rising; at least one key is between two ranges */
	size_t n;
	bool exact; /* the ranges contain only rows that match the question */
	/*
	 * the scan must read the whole table, because the question does not limit the first part of
	 * the key
	 */
	bool whole;
	/*
	 * a field with a condition that gives no range, because the key does not keep the field's
	 * order; or NULL
	 */
	const char *lost;
	/*
	 * a time whose years, months, days or hours in the question are too many for ranges of
	 * their own, so one range contains all of them; or NULL
	 */
	const char *spans;
	/*
	 * The rest of the question. A row of the ranges is an answer if it matches the rest. NULL
	 * means that the ranges are exact.
	 */
	const struct question_node *rest;
	/* the question as a list of conditions that must all be true */
	struct key_conjunct *conjuncts;
	size_t nconjuncts;
};

/*
 * Compute ranges that contain all rows that match the question. If `q` is NULL, all rows match.
 * Names in the question are fields of the job or columns (family:qualifier) of the table. Values
 * have the form of the source. Times may also be ISO 8601. The ranges are in the arena, and the
 * question must outlive them. Returns RC_CONFIG, with the place, if a name or value is invalid.
 * Returns RC_LIMIT if there are too many ranges.
 */
int key_ranges(struct key_ranges *out, const struct key_table *k, const struct field_forms *forms,
	       const struct question *q, struct arena *a, struct error *err);

/* Return true if the range contains only one possible key, its start. */
static inline bool key_range_is_row(const struct key_range *r)
{
	return r->start.len > 0 && r->stop.len == r->start.len + 1 &&
	       r->stop.ptr[r->start.len] == 0 &&
	       memcmp(r->stop.ptr, r->start.ptr, r->start.len) == 0;
}

/* A condition that parts of the key can decide, although they do not contain the whole value. */
struct key_condition {
	size_t first, last;	 /* indexes of the parts */
	struct key_range *range; /* ranges of the parts' bytes */
	size_t n;
	bool by_seconds; /* the parts contain only whole seconds of the time */
};

/*
 * Find the parts that decide condition number `i` of the question. Returns RC_END if no part
 * decides the condition.
 */
int key_condition(struct key_condition *out, const struct key_table *k,
		  const struct field_forms *forms, const struct question *q, size_t i,
		  struct arena *a, struct error *err);
/* Test the condition on a row. `pieces` has the parts of the whole row key (key_split). */
bool key_condition_holds(const struct key_condition *c, const struct key_piece *pieces,
			 struct bytes row);

/*
 * --- key filters: HBase filters for conditions that key ranges do not decide ---
 *
 * The filters are lists, FUZZY_ROW, ROW with COMPARE_COMPONENT, and SINGLE_COLUMN_VALUE with
 * if_missing.
 */

/* The filters that the scan can use. */
struct key_filter_use {
	bool fuzzy, rows;
	bool any_version; /* filters test all versions of a column */
	/* Return true if the filter may read this column. NULL means it may read all columns. */
	bool (*column)(void *ctx, struct bytes family, struct bytes qualifier);
	void *ctx;
};

struct key_checks {
	struct filter *filter; /* the filter; NULL if servers cannot check any condition */
	bool exact; /* true if the ranges and the filter give exactly the rows of the question */
};

/*
 * Build the filter for the conditions of the question that `ranges` do not decide. If `use` is
 * NULL, the caller allows all filters. All rows of the answer pass the filter. The filter is in the
 * arena.
 */
void key_filter(struct key_checks *out, const struct key_ranges *ranges, const struct key_table *k,
		const struct key_filter_use *use, struct arena *a);

#endif
