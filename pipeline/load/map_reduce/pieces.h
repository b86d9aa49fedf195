/*
 * pieces.h - sorted rows of one region on the way from a map to a reduce
 *
 * A piece describes itself, so a user may send pieces in any way, and they may arrive in any order.
 * Numbers are little-endian:
 *
 *    0   8  "SMpiece\3"
 *    8  16  digest of the plan that map and reduce use (pass.h)
 *   24   8  seq of the first row of the slice, which identifies the slice
 *   32   4  table, in the order of the job
 *   36   4  region
 *   40   4  number of the piece, from 0, for this slice, table and region
 *   44   2  flags: 1 the last piece of this slice, table and region; 2 rows without an order;
 *         4 keys of one length; 8 a payload has LARGE_PAYLOAD_BYTES or more
 *   46   2  compression (enum piece_packing)
 *   48   8  number of records
 *   56   8  uncompressed bytes of the records
 *   64   8  stored bytes of the records, after the head
 *   72   8  rows without an order: sum of the rows' hashes (row_hash of pieces.c), else 0
 *   80   4  most bytes of key and secondary of a record
 *   84   4  stored bytes of a seq, from which the seq of the slice is subtracted
 *   88   8  XXH3-64 of all bytes before this number and all bytes after the head
 *
 * The records are packed, in the order of sorter.h, so a reduce can merge them as they are.
 */
#ifndef SALTMILL_HALVES_PIECES_H
#define SALTMILL_HALVES_PIECES_H

#include "load.h"
#include "sorter.h"

#define PIECE_HEAD_BYTES 96
/* usual bytes of the records; a piece with one large record has more */
#define PIECE_BYTES ((size_t)4 << 20)
/* limit of a piece, because a record has at most 1 GiB */
#define PIECE_MOST ((uint64_t)5 << 28)

enum piece_packing { PIECE_PLAIN, PIECE_ZSTD, PIECE_PACKINGS };

struct piece_head {
	uint8_t plan[16];
	uint64_t slice;
	uint32_t table, region, number;
	bool last;
	/*
	 * the slice's rows have no order, so another map of the slice may have other seqs, and other
	 * pieces of the same rows
	 */
	bool unordered;
	enum piece_packing packing;
	bool fixed, large;		/* as in struct run_codec and struct packed_records */
	uint32_t string_max, seq_bytes; /* as in struct run_codec */
	uint64_t records;
	uint64_t plain, stored; /* bytes of the records, uncompressed and as stored */
	uint64_t rows;		/* sum of the rows' hashes if `unordered`, else 0 */
	uint64_t digest;
};

/*
 * Return the piece's part of the sum that identifies the rows of a slice in a region. The sum does
 * not depend on the order of pieces. If the rows have no order, it does not depend on their order.
 */
static inline uint64_t piece_mark(const struct piece_head *h)
{
	return h->unordered ? h->rows : h->digest;
}

/* --- writing --- */

/*
 * A writer of pieces. Start with {0}, then set `plan`, `slice`, `table`, `region`, `unordered` and
 * `packing` of `head`.
 */
struct piece_writer {
	struct piece_head head;
	struct packed_writer rows; /* `bytes` begins with the head */
	struct buf stored;	   /* the head and the compressed records */
	void *packer;		   /* ZSTD_CCtx */
};

/*
 * Return true if the record fits into the open piece. If the record does not fit, the caller calls
 * piece_end.
 */
bool piece_fits(const struct piece_writer *w, const struct record *r);
/* Add a record. RECORD_ROOM_BYTES after key and payload must be readable. */
void piece_add(struct piece_writer *w, const struct record *r);
/*
 * Finish the piece. `*out` is valid until the end of the next piece. `*mark` receives piece_mark.
 * The number of the next piece is one higher.
 */
int piece_end(struct piece_writer *w, bool last, struct bytes *out, uint64_t *mark,
	      struct error *err);
/*
 * Begin another region, whose pieces count from 0. The codec is that of all records of the table
 * (sorter_codec), with the seq of the slice as seq_base.
 */
void piece_region(struct piece_writer *w, uint32_t table, uint32_t region,
		  const struct run_codec *codec);
void piece_writer_release(struct piece_writer *w);

/* --- reading --- */

struct piece_reader {
	struct buf plain; /* uncompressed */
	void *unpacker;	  /* ZSTD_DCtx */
};

/* Read the head of a piece. Return RC_IO if the bytes are not a head. Messages show `name`. */
int piece_head_read(struct piece_head *h, const uint8_t bytes[PIECE_HEAD_BYTES], const char *name,
		    struct error *err);
/*
 * Get the records of the piece of head `h`, whose bytes are at `head_bytes`. The stored bytes, with
 * PACKED_ROOM_BYTES after them, must stay valid. *out is valid until the next call. Return RC_IO
 * if the piece is damaged. The records are not checked.
 */
int piece_open(struct piece_reader *r, const struct piece_head *h, const uint8_t *head_bytes,
	       const uint8_t *stored, size_t secondary_bytes, struct packed_records *out,
	       const char *name, struct error *err);
void piece_reader_release(struct piece_reader *r);

#endif
