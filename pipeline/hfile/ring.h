/*
 * ring.h - data blocks of one file on their way through helpers (pool.h)
 *
 * Full blocks are handed over, packed (encoded, compressed) by whoever is free, and written in
 * order by the thread that adds the cells.  What a block's place decides (offsets, checksums, the
 * inline blocks behind it) is done when it is written, so the bytes are those of one thread.
 */
#ifndef SALTMILL_HFILE_RING_H
#define SALTMILL_HFILE_RING_H

#include "block.h"
#include "bloom.h"

struct hfile_writer;
struct ring_slot;

/* Codecs of the blocks being packed.  Few and taken first to last: they stay in the caches. */
#define RING_CODECS 8
struct ring_codecs {
	_Atomic(struct hcodec *) spare[RING_CODECS];
};
void hfile_ring_codecs_release(struct ring_codecs *c);

struct ring {				/* {0}: empty */
	struct ring_slot *first, *last; /* in file order */
	unsigned count;
	struct hbloom_due chunks; /* that are to follow blocks in here */
	uint64_t bytes;		  /* of their cells */
};

/*
 * Hand over a full block: cells and key are swapped for empty buffers.  False, and nothing is
 * touched, when nobody would help or there is no room.
 */
bool hfile_ring_take(struct ring *r, struct hfile_writer *w, struct buf *cells, struct buf *key,
		     struct hbloom_due chunks);
/* Write the blocks that are packed, in order; all: wait for the others too. */
int hfile_ring_collect(struct ring *r, struct hfile_writer *w, bool all, struct error *err);
/* Forget the blocks. */
void hfile_ring_drop(struct ring *r, struct hfile_writer *w);
void hfile_ring_slots_free(struct ring_slot *s);

#endif
