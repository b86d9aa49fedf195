/*
 * delta.h - the state of the decoders of PREFIX, DIFF and FAST_DIFF between two cells of a block
 */
#ifndef SALTMILL_HFILE_DELTA_H
#define SALTMILL_HFILE_DELTA_H

#include "kv.h"
#include "tag_dictionary.h"

/* Untrusted input. `bad` is true after the first read past the end. */
struct in {
	const uint8_t *p, *end;
	bool bad;
};

/* The members are offsets, because `store` moves when it grows. */
struct delta {
	struct in in;
	struct buf *store;
	struct cell_tail tail;
	struct tag_dictionary *tags; /* NULL means that the cells have uncompressed tags */
	uint64_t left;		     /* bytes that the declared plain size still allows */
	bool first, no_memory;
	size_t cell_end; /* end of the open cell */
	size_t key_at, value_at;
	uint32_t key_bytes, value_bytes;
	uint64_t ts; /* previous cell */
	uint8_t type;
	struct bytes family; /* DIFF: length and name, stored once per block */
};

#endif
