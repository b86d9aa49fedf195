/*
 * sequences.h - a zstd frame of cells from ready-made matches (RFC 8878; zstd.h, "sequences")
 *
 * Most of zstd's time goes into finding matches by hashing.  Cells tell where they are: in the cell
 * of the same place one row before, and in the cell before.
 */
#ifndef SALTMILL_HFILE_SEQUENCES_H
#define SALTMILL_HFILE_SEQUENCES_H

#include "bytes.h"

/* Shortest match: 3 or less makes frames that libzstd writes and nobody reads. */
#define SEQUENCE_MIN 4
#define SEQUENCE_MAX 8

#define SEQUENCES_NO_MEMORY SIZE_MAX

/* Buffers, kept from block to block: 4.4 bytes a byte of the largest.  {0} is empty. */
struct sequencer {
	void *list;
	const uint8_t **cells;	 /* where those of a block are */
	size_t cap;		 /* sequences it has room for */
	uint64_t made, literals; /* sequences, and bytes in no match; ever, if counts */
	bool counts;
	bool portable; /* use nothing that not every processor has; the same sequences */
};

/* Prepare a compression context of libzstd, which keeps its other settings. */
void hfile_sequences_setup(void *zstd);
/*
 * Compress the cells of a block, each with tail_bytes behind it, to at most room bytes; matches are
 * of min_match bytes or more.  0: they are not whole cells, one is longer than a zstd block
 * (128 KB), or libzstd refuses; the caller compresses them without help.  SEQUENCES_NO_MEMORY: that
 * would be other bytes, so he does not.
 */
size_t hfile_sequences_compress(struct sequencer *s, void *zstd, struct bytes cells,
				size_t tail_bytes, unsigned min_match, uint8_t *out, size_t room);
void hfile_sequences_release(struct sequencer *s);

#endif
