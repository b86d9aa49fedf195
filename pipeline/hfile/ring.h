/*
 * ring.h - pack the data blocks of one file on helper threads (pool.h)
 *
 * Full blocks are packed (encoded, compressed) by any free thread and written in order by the
 * thread that adds the cells. What depends on the place of a block (offsets, checksums, inline
 * blocks after it) is made when it is written. So the bytes are those of one thread.
 */
#ifndef SALTMILL_HFILE_RING_H
#define SALTMILL_HFILE_RING_H

#include "block.h"
#include "bloom.h"

struct hfile_writer;
struct ring_slot;

/*
 * Codecs of the blocks that are being packed. Few, and always the first free one: they stay in the
 * caches.
 */
#define RING_CODECS 8
struct ring_codecs {
	_Atomic(struct hcodec *) spare[RING_CODECS];
};
void hfile_ring_codecs_release(struct ring_codecs *c);

struct ring {				/* {0}: empty */
	struct ring_slot *first, *last; /* in file order */
	unsigned count;
	struct hbloom_due chunks; /* chunks to write after blocks of the ring */
	uint64_t bytes;		  /* of their cells */
};

/*
 * Take over a full block: cells and key are swapped for empty buffers. False: nothing is changed,
 * because no helper is free or there is no room.
 */
bool hfile_ring_take(struct ring *r, struct hfile_writer *w, struct buf *cells, struct buf *key,
		     struct hbloom_due chunks);
/* Write the packed blocks in order; all: wait for the others. */
int hfile_ring_collect(struct ring *r, struct hfile_writer *w, bool all, struct error *err);
/* Drop the blocks. */
void hfile_ring_drop(struct ring *r, struct hfile_writer *w);
void hfile_ring_slots_free(struct ring_slot *s);

#endif
