/*
 * pieces.h - sorted rows of one region on their way from a map to a reduce
 *
 * A piece says by itself what it is of, so it may travel any way and arrive in any order.  Numbers
 * are little-endian:
 *
 *    0   8  "SMpiece\1"
 *    8  16  digest of the plan that both halves keep to (kept_plan.h)
 *   24   8  seq of the first row of the slice: which slice it is of
 *   32   4  table, in the order of the job
 *   36   4  region
 *   40   4  number of the piece, from 0, among those of this slice, table and region
 *   44   2  1: the last one of them
 *   46   2  packing
 *   48   8  records
 *   56   8  bytes of the records
 *   64   8  bytes of them as stored behind the head
 *   72   8  XXH3-64 of all bytes in front of this number and all behind the head
 *
 * Records, in the order of record.h, share the beginning of key and secondary with the one before
 * (front coding, as sort/record_bytes.h; here without blocks, as pieces are read from their start):
 *
 *   shared varint | tail bytes varint | payload bytes varint | seq - that of the slice, varint |
 *   tail | payload
 */
#ifndef SALTMILL_HALVES_PIECES_H
#define SALTMILL_HALVES_PIECES_H

#include "load.h"
#include "sorter.h"

#define PIECE_HEAD_BYTES 80
#define PIECE_BYTES	 ((size_t)4 << 20)   /* of records, unless one alone has more */
#define PIECE_MOST	 ((uint64_t)5 << 28) /* no record is longer than 1 GiB */

enum piece_packing { PIECE_PLAIN, PIECE_ZSTD, PIECE_PACKINGS };

struct piece_head {
	uint8_t plan[16];
	uint64_t slice;
	uint32_t table, region, number;
	bool last;
	enum piece_packing packing;
	uint64_t records;
	uint64_t plain, stored; /* bytes */
	uint64_t digest;
};

/* --- writing --- */

/* {0}; then head's plan, slice, table, region and packing are set. */
struct piece_writer {
	struct piece_head head;
	size_t secondary_bytes;
	struct buf plain, stored; /* with the head in front; stored: packed */
	struct buf before;	  /* key and secondary of the record before */
	void *packer;		  /* ZSTD_CCtx */
};

/* Does the record go into the piece that was begun?  If not, piece_end is due. */
bool piece_fits(const struct piece_writer *w, const struct record *r);
/* RECORD_ROOM_BYTES behind key and payload may be read. */
void piece_add(struct piece_writer *w, const struct record *r);
/* The piece, valid until the next one ends; the writer goes on with the next number. */
int piece_end(struct piece_writer *w, bool last, struct bytes *out, struct error *err);
/* Begin with another region: numbers start anew. */
void piece_region(struct piece_writer *w, uint32_t table, uint32_t region, size_t secondary_bytes);
void piece_writer_release(struct piece_writer *w);

/* --- reading --- */

struct piece_reader {
	struct piece_head head;
	size_t secondary_bytes;
	const uint8_t *next, *end;
	uint64_t left;	   /* records */
	struct buf plain;  /* unpacked */
	struct buf string; /* key and secondary of the last record */
	void *unpacker;	   /* ZSTD_DCtx */
};

/* RC_IO: what is there is no head of a piece; name is for messages. */
int piece_head_read(struct piece_head *h, const uint8_t bytes[PIECE_HEAD_BYTES], const char *name,
		    struct error *err);
/*
 * Read the records of a piece whose head was read and is at head_bytes, and whose stored bytes,
 * with RECORD_ROOM_BYTES behind them, are good while they are read.  RC_IO: damaged.
 */
int piece_open(struct piece_reader *r, const struct piece_head *h, const uint8_t *head_bytes,
	       const uint8_t *stored, size_t secondary_bytes, const char *name, struct error *err);
/* RC_OK, RC_END or RC_IO; *out is valid until the next call. */
int piece_next(struct piece_reader *r, struct ordered_record *out, const char *name,
	       struct error *err);
void piece_reader_release(struct piece_reader *r);

#endif
