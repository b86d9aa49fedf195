/*
 * keys.h - the row keys that a design can use (inside this folder only)
 *
 *   keys_list, [key_part_name, key_part_yaml], keys_release
 */
#ifndef SALTMILL_DESIGN_KEYS_H
#define SALTMILL_DESIGN_KEYS_H

#include "ask.h"
#include "key.h"

/* A row key. */
struct candidate {
	struct job_table table; /* a table of the job, with this row key */
	const char *name;	/* such as "salt16(owner) created8 (newest first) id4" */
	const char *obvious;	/* the usual name of a key that design only compares, or NULL */
	uint32_t width;		/* bytes; 0 means that the width varies */
	/*
	 * A wide table has a row for each entity, and the qualifiers of an event's cells begin with
	 * these parts. 0: a row for each event.
	 */
	const struct key_part *qualifier;
	size_t nqualifier;
	bool joined; /* events of one row key are one row, because qualifiers are computed */
	const struct cell_mean *mean; /* the cells of a row; NULL: those of table 0, by event */
	bool unique;		      /* no two different events of the sample have the same key */
};

struct candidates {
	struct candidate *key;
	size_t n;
	size_t id;     /* the field with a different value in each event; SIZE_MAX means none */
	uint32_t salt; /* buckets of the salts */
	bool repeated; /* some events are equal in all fields */
};

#define WIDE_P99  10   /* events of a wide row, at the 99th percentile */
#define WIDE_MOST 1000 /* events of the largest wide row */
/*
 * Return true if the events with equal values of these fields are few enough for one row, if each
 * row grows `grow` times (wide.c).
 */
bool wide_fits(const struct events *e, const size_t *fields, size_t n, double grow);
/*
 * Count the events of each combination of values of the fields, by 64-bit hashes. The counts rise,
 * and the caller frees them. Returns their number.
 */
size_t entity_counts(const struct events *e, const size_t *fields, size_t n, uint64_t **counts);
/* Return the bytes that a wide table adds to the qualifiers of an event. */
size_t wide_bytes(const struct events *e, const struct candidate *c, size_t event);

/*
 * List the keys of all questions, without two equal ones, and then the obvious keys. A key never
 * contains a field with nulls. Notes about fields that the keys leave out go to s->notes. The
 * events of an entity grow `grow` times.
 */
void keys_list(struct candidates *c, struct asks *s, const struct events *e, unsigned servers,
	       double grow, struct arena *a);

/* List the row keys of the job's tables, one for each table. */
void keys_of_job(struct candidates *c, const struct events *e, struct arena *a);

/* Append a part as the job file has it, such as {field: owner, as: u16}. */
void part_yaml(struct buf *out, const struct job *job, const struct key_part *p);
/* Return the name of a key in the arena. */
const char *parts_name(const struct job *job, const struct key_part *parts, size_t n,
		       struct arena *a);

/* Return the part for a field. `newest` makes a time fall. */
struct key_part part_of_field(const struct events *e, size_t field, bool newest, bool last);

/* --- parts of a key under construction --- */

#define BODY_PARTS_MOST 14 /* fields of a key, with the parts of a day */

struct body {
	struct key_part part[BODY_PARTS_MOST];
	size_t n;
};
/* Return true if a part contains the whole value of the field. */
bool body_has(const struct body *b, size_t field);
void body_add(struct body *b, const struct events *e, size_t field, bool newest);

/* The fields that make the keys of all questions different in each event. */
struct key_tail {
	const struct events *e;
	size_t id;	       /* as in struct candidates */
	const bool *preferred; /* [fields]: add these fields first */
	bool newest;	       /* times fall */
	struct arena *a;
	/* counts of different values so far, because several keys have the same fields */
	struct distinct_count {
		const bool *fields; /* [fields]: the counted ones */
		size_t distinct;
	} * counts;
	size_t ncounts;
};
/*
 * Add fields until no two different events have the same key. Add the id or, without an id, the
 * fields that separate the most events. The last resort is an md5 of all fields. Returns false if
 * some events stay equal, because they are equal in all fields.
 */
bool body_finish(struct key_tail *t, struct body *b);
/* Count the events that are equal to an earlier event in all fields. */
uint64_t events_repeated(const struct events *e);
/* Return true if the field can be a part of a key. */
bool field_may_be_part(const struct events *e, size_t field);
/* Return the id: a field without nulls that has a different value in each event, or SIZE_MAX. */
size_t find_id(const struct events *e);

#endif
