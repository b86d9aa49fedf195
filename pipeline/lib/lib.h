/* lib.h - what the handles of libsaltmill share (inside pipeline/lib only) */
#ifndef SALTMILL_LIB_LIB_H
#define SALTMILL_LIB_LIB_H

#include "bytes.h"
#include "cell.h"
#include "error.h"
#include "hfile.h"
#include "saltmill.h"

_Static_assert((int)SM_OK == RC_OK && (int)SM_END == RC_END && (int)SM_IO == RC_IO &&
		       (int)SM_MEMORY == RC_MEMORY && (int)SM_DATA == RC_DATA &&
		       (int)SM_ORDER == RC_ORDER && (int)SM_LIMIT == RC_LIMIT &&
		       (int)SM_CONFIG == RC_CONFIG,
	       "the codes of saltmill.h are those of error.h");
_Static_assert((int)SM_PUT == CELL_PUT && (int)SM_DELETE == CELL_DELETE &&
		       (int)SM_DELETE_FAMILY_VERSION == CELL_DELETE_FAMILY_VERSION &&
		       (int)SM_DELETE_COLUMN == CELL_DELETE_COLUMN &&
		       (int)SM_DELETE_FAMILY == CELL_DELETE_FAMILY,
	       "the types of saltmill.h are those of cell.h");

struct sm_reader {
	struct hfile *file;
	struct hfile_extras *extras; /* keys and dictionaries of `file`, or NULL */
	struct error err;
	struct buf stop; /* the row at which the range ends; empty means no end */
	int ended;	 /* SM_END or the code of the failure that stopped the walk; or SM_OK */
	struct hfile_batch batch;
	struct sm_cell cells[HFILE_BATCH];
};

static inline struct bytes lib_in(struct sm_bytes b)
{
	return bytes_of(b.ptr, b.len);
}

static inline struct sm_bytes lib_out(struct bytes b)
{
	return (struct sm_bytes){b.ptr, b.len};
}

/*
 * Copy a struct of the caller, whose size member has the value `theirs`, to ours. Returns RC_CONFIG
 * if the caller's struct is older than the first version, or uses members that we do not know.
 */
int lib_take_struct(void *ours, size_t our_bytes, const void *given, const char *what,
		    struct error *err);
/* Copy our struct to the caller's, without members that the caller does not know. */
int lib_give_struct(void *given, const void *ours, size_t our_bytes, const char *what,
		    struct error *err);
/* Copy the counts of a file to the caller's, if the caller wants them. */
int lib_give_counts(struct sm_counts *given, const struct hfile_summary *sum, struct error *err);

/* Read the next cells into r->batch, and convert them to r->cells. */
int lib_next_batch(struct sm_reader *r, size_t *count);

#endif
