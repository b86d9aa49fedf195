/*
 * json_walk.h - find the records in a stream of JSON documents, without reading their values
 *
 *   json_walk_open, json_walk* (until the stream ends), json_walk_close
 */
#ifndef SALTMILL_SOURCE_JSON_WALK_H
#define SALTMILL_SOURCE_JSON_WALK_H

#include "bytes.h"
#include "error.h"
#include "job.h"
#include "mem.h"

/* The place in the documents between two calls. */
struct json_walk {
	enum json_layout layout;
	struct bytes *step; /* names of the members on the path to the list of records */
	size_t nsteps;
	bool listed;  /* there is a path; it ends with [], or with {} for JSON_MEMBERS */
	size_t level; /* objects on the path that are open; 0 between documents */
	bool in_list; /* the list of records is open */
	bool first;   /* the innermost list or object has no item yet */
	bool found;   /* the open document has the list */
	struct arena arena;
};

/* Compile the path in `form`. Return RC_CONFIG if `records` is no path to a list or an object. */
int json_walk_open(struct json_walk *w, const struct json_form *form, struct error *err);
void json_walk_close(struct json_walk *w);

/*
 * The next records. `skipped` bytes are no records, and the `len` bytes after them are one or more
 * whole records, with the bytes between them. If `len` is 0, the text has no whole record.
 */
struct json_walked {
	size_t skipped, len;
	size_t at;	      /* the byte of the fault */
	const char *expected; /* completes "expected ..."; NULL if there is no fault */
};
/* Continue in the text after the bytes of the last call. The text ends the stream if `final`. */
void json_walk(struct json_walk *w, struct bytes text, bool final, struct json_walked *out);

/*
 * Find the next record in the records of one call of json_walk. Advance `*at` past it. Return false
 * after the last record.
 */
bool json_walk_record(enum json_layout layout, struct bytes records, size_t *at,
		      struct bytes *record);

/*
 * Split a record of JSON_MEMBERS into the name, with its quotes, and the value. Return false if the
 * record is no member.
 */
bool json_member_split(struct bytes record, struct bytes *name, struct bytes *value);

/*
 * Split a record of JSON_BULK into the action's name, its object and the document, whose ptr is NULL
 * if the action has none. Return false if the record is no such pair.
 */
bool json_bulk_split(struct bytes record, struct bytes *action, struct bytes *meta,
		     struct bytes *document);

#endif
