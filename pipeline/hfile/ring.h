/*
 * ring.h - pack the data blocks of one file on helper threads (pool.h)
 *
 * Any free thread packs (encodes and compresses) full blocks. The thread that adds the cells writes
 * the blocks in order. The writer makes data that depends on the offset of a block (checksums,
 * inline blocks) when it writes the block. So the bytes are the same as with one thread.
 */
#ifndef SALTMILL_HFILE_RING_H
#define SALTMILL_HFILE_RING_H

#include "block.h"
#include "bloom.h"

struct hfile_writer;
struct ring_slot;

/*
 * Codecs for the blocks in the ring. There are few codecs, and a block takes the first free codec,
 * so the codecs stay in the CPU caches.
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
	uint64_t bytes;		  /* bytes of the cells in the ring */
};

/*
 * Take over the full block of the writer, and swap its cells and key for empty buffers. If no
 * helper is free or there is no room, returns false and changes nothing.
 */
bool hfile_ring_take(struct ring *r, struct hfile_writer *w, struct hbloom_due chunks);
/* Write the packed blocks in order. If `all` is true, wait until the ring has packed all blocks. */
int hfile_ring_collect(struct ring *r, struct hfile_writer *w, bool all, struct error *err);
/* Discard the blocks of the ring. */
void hfile_ring_drop(struct ring *r, struct hfile_writer *w);
void hfile_ring_slots_free(struct ring_slot *s);

#endif
