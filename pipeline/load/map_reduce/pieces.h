/*
 * pieces.h - sorted rows of one region on the way from a map to a reduce
 *
 * A piece describes itself, so it may travel in any way and arrive in any order. Numbers are
 * little-endian:
 *
 *    0   8  "SMpiece\1"
 *    8  16  digest of the plan that map and reduce use (pass.h)
 *   24   8  seq of the first row of the slice; it identifies the slice
 *   32   4  table, in the order of the job
 *   36   4  region
 *   40   4  number of the piece, from 0, for this slice, table and region
 *   44   2  1: the last of them
 *   46   2  packing
 *   48   8  records
 *   56   8  bytes of the records
 *   64   8  stored bytes of the records, after the head
 *   72   8  XXH3-64 of all bytes before this number and all bytes after the head
 *
 * Records are in the order of sorter.h. They share the beginning of key and secondary with the
 * record before (front coding, as sort/record_bytes.h, but without blocks: pieces are read from the
 * start):
 *
 *   shared varint | tail bytes varint | payload bytes varint | seq - that of the slice, varint |
 *   tail | payload
 */
#ifndef SALTMILL_HALVES_PIECES_H
#define SALTMILL_HALVES_PIECES_H

#include "load.h"
#include "sorter.h"

#define PIECE_HEAD_BYTES 80
#define PIECE_BYTES	 ((size_t)4 << 20)   /* bytes of records; one large record may have more */
#define PIECE_MOST	 ((uint64_t)5 << 28) /* a record has at most 1 GiB */

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

/* Start with {0}, then set plan, slice, table, region and packing of head. */
struct piece_writer {
	struct piece_head head;
	size_t secondary_bytes;
	struct buf plain, stored; /* both begin with the head; stored: packed */
	struct buf before;	  /* key and secondary of the last record */
	void *packer;		  /* ZSTD_CCtx */
};

/* Does the record fit into the open piece? If not, call piece_end. */
bool piece_fits(const struct piece_writer *w, const struct record *r);
/* RECORD_ROOM_BYTES after key and payload may be read. */
void piece_add(struct piece_writer *w, const struct record *r);
/*
 * Finish the piece. *out is valid until the next one is finished. The next piece has the next
 * number.
 */
int piece_end(struct piece_writer *w, bool last, struct bytes *out, struct error *err);
/* Begin another region; numbers restart at 0. */
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

/* RC_IO: the bytes are no head of a piece. name: for messages. */
int piece_head_read(struct piece_head *h, const uint8_t bytes[PIECE_HEAD_BYTES], const char *name,
		    struct error *err);
/*
 * Open a piece whose head was read and is at head_bytes. Its stored bytes, with RECORD_ROOM_BYTES
 * after them, must stay valid. RC_IO: damaged.
 */
int piece_open(struct piece_reader *r, const struct piece_head *h, const uint8_t *head_bytes,
	       const uint8_t *stored, size_t secondary_bytes, const char *name, struct error *err);
/* RC_OK, RC_END or RC_IO; *out is valid until the next call. */
int piece_next(struct piece_reader *r, struct ordered_record *out, const char *name,
	       struct error *err);
void piece_reader_release(struct piece_reader *r);

#endif
