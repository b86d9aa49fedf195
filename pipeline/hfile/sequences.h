/*
 * sequences.h - compress cells to a zstd frame from ready-made matches (RFC 8878; zstd.h,
 * "sequences")
 *
 * zstd spends most of its time on finding matches by hashing. In cells, matches are predictable.
 * They are in the cell at the same place in the previous row, and in the previous cell.
 */
#ifndef SALTMILL_HFILE_SEQUENCES_H
#define SALTMILL_HFILE_SEQUENCES_H

#include "bytes.h"

/* Shortest match. With 3 or less libzstd writes frames that no reader accepts. */
#define SEQUENCE_MIN 4
#define SEQUENCE_MAX 8

#define SEQUENCES_NO_MEMORY SIZE_MAX

/*
 * Buffers, kept from block to block. They take 4.4 bytes for each byte of the largest block. {0} is
 * empty.
 */
struct sequencer {
	void *list;
	const uint8_t **cells;	 /* the cells of a block */
	size_t cap;		 /* room for sequences */
	uint64_t made, literals; /* number of sequences, and of bytes in no match, if counted */
	bool counts;
	bool portable; /* use only portable instructions; the sequences are the same */
};

/* Prepare a compression context of libzstd. Other settings of the context do not change. */
void hfile_sequences_setup(void *zstd);
/*
 * Compress the cells of a block to at most `room` bytes, with matches of at least `min_match`
 * bytes. `tail_bytes` bytes follow each cell. Returns 0 if the bytes are not whole cells, a cell
 * exceeds a zstd block (128 KB), or libzstd refuses. The caller then compresses without sequences.
 * After SEQUENCES_NO_MEMORY the caller must fail, because compression without sequences would give
 * other bytes.
 */
size_t hfile_sequences_compress(struct sequencer *s, void *zstd, struct bytes cells,
				size_t tail_bytes, unsigned min_match, uint8_t *out, size_t room);
void hfile_sequences_release(struct sequencer *s);

#endif
