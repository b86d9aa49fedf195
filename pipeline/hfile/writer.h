/* writer.h - the state of an HFile writer, shared by writer.c and finish.c */
#ifndef SALTMILL_HFILE_WRITER_H
#define SALTMILL_HFILE_WRITER_H

#include "bloom.h"
#include "block_encode.h"
#include "direct.h"
#include "hfile.h"
#include "index.h"
#include "ring.h"

/*
 * Short copies write up to this many extra bytes, so there is room after the block and after the
 * last key.
 */
#define WRITER_SLACK 32

/* Buffers that a writer borrows from the scratch, from the first cell to the end of the file. */
struct write_buffers {
	struct write_buffers *next; /* in the scratch's list of idle buffers */
	struct buf cells;	    /* the open block: room for a header, then cells */
	struct buf last;	    /* last flat key of the previous block; slack bytes follow */
	struct buf key;		    /* index key of the finished block */
	struct buf encoded;	    /* payload of the open block if it is direct */
	struct hbloom_hash *hashes;
	size_t hashes_cap;
};

struct hfile_scratch {
	/*
	 * Codecs for data blocks and for all other blocks. libzstd sizes a context for its input.
	 * So one context for both kinds would need several allocations for each file.
	 */
	struct hcodec codec, other_codec;
	struct buf disk, work;
	const struct hfile_writer *user; /* the writer whose settings the codecs have */
	struct write_buffers *idle;
	struct ring_slot *slots; /* list of idle slots */
	struct ring_codecs codecs;
};

/*
 * Family and qualifier as in a flat key, between row key and timestamp, with WRITER_SLACK bytes
 * after the qualifier.
 */
struct column_head {
	uint8_t start[16];
	struct bytes all;
	size_t same; /* leading bytes that `all` shares with that of the column before */
	/*
	 * The end of a key in a DIFF block, after the cell of the column before: a byte for the
	 * common length, the bytes that differ, a time difference of 0. `next_bytes` is 0 if they
	 * do not fit.
	 */
	uint8_t next[16];
	uint8_t next_bytes, next_flag;
};

struct hfile_writer {
	/* members used for each cell */
	struct write_buffers *buffers;
	/* offset of the last cell's flat key in `buffers->cells`; 0: in `buffers->last` */
	size_t previous_at;
	size_t previous_bytes;
	size_t full_at;		   /* value of `cells.len` at which the block is full */
	size_t tail_bytes;	   /* bytes after each value, for empty tags and mvcc */
	bool long_tails;	   /* cells may have an mvcc that is not 0 */
	unsigned row_cost;	   /* ROW_INDEX_V1: bytes of a new row in the encoded block */
	struct buf family;	   /* length and name */
	struct column_head *heads; /* one for each of opt.qualifiers */
	size_t head_most;	   /* bytes of the longest head */
	uint64_t cells, rows, key_bytes, value_bytes;
	int64_t min_ts, max_ts, earliest_put;
	uint64_t family_deletes;
	bool column_deletes; /* HBase's time range then begins at 0 */
	uint32_t max_tags;   /* bytes */
	uint64_t max_mvcc;
	struct hbloom bloom;
	struct hbloom deletes; /* rows with a family delete; owns `pending` */
	bool row_deleted;      /* the filter of deletes has the last row */
	struct direct direct;
	/* members used for each block */
	struct hfile_options opt;
	struct hfile_scratch *scratch;
	bool own_scratch;
	bool ended; /* true after the end of the sink */
	struct hblock_out blocks;
	struct hindex index;
	struct ring ring;
	struct buf task; /* opt.source_task */
	struct buf head_bytes;
	struct buf first_row;
	uint64_t data_blocks, total_bytes; /* total_bytes: headers and plain payloads */
	uint64_t plain_bytes, disk_bytes;  /* bytes of data blocks, for hfile_bytes_so_far */
	uint64_t first_data, last_data;
	uint64_t sequence; /* of hfile_set_sequence, if has_sequence */
	bool has_sequence;
};

/* Return the flat key of the last cell. The open block must not be direct. */
static inline struct bytes hfile_writer_last_key(const struct hfile_writer *w)
{
	const uint8_t *p =
		w->previous_at ? w->buffers->cells.ptr + w->previous_at : w->buffers->last.ptr;

	return bytes_of(p, w->previous_bytes);
}

/* Return the length of the open block in its plain form, with its header. */
static inline size_t hfile_writer_open_bytes(const struct hfile_writer *w)
{
	return w->direct.open ? w->direct.cell_bytes : w->buffers->cells.len;
}

static inline enum hblock_type hfile_writer_data_type(const struct hfile_options *o)
{
	return o->encoding == ENCODING_NONE ? HBLOCK_DATA : HBLOCK_ENCODED;
}

/* Count a row of Puts with one time, and the bytes of their values. */
static inline void hfile_writer_count_row(struct hfile_writer *w, int64_t ts, size_t cells,
					  size_t value_bytes)
{
	w->rows++;
	w->row_deleted = false;
	w->cells += cells;
	w->value_bytes += value_bytes;
	if (__builtin_expect(ts >= w->earliest_put && ts <= w->max_ts, 1))
		return; /* min_ts is at most earliest_put */
	w->min_ts = ts < w->min_ts ? ts : w->min_ts;
	w->max_ts = ts > w->max_ts ? ts : w->max_ts;
	w->earliest_put = ts < w->earliest_put ? ts : w->earliest_put;
}

/* Write the open data block, and then the index leaf and bloom chunk if they are full. */
int hfile_writer_end_block(struct hfile_writer *w, bool closing, struct error *err);

/* Do the same as hfile_add_values, for any open block and any row. */
int hfile_writer_add_any(struct hfile_writer *w, struct bytes row, int64_t ts,
			 const struct cell_value *values, size_t count, struct error *err);

/* Check the name of a family. Returns RC_LIMIT for its length, and RC_CONFIG for a colon. */
int hfile_check_family(struct bytes family, struct error *err);
/* Set the family of all cells. Returns false if memory is short. */
bool hfile_writer_set_family(struct hfile_writer *w, struct bytes family);
/* Check the options, with the same errors as hfile_writer_new_to. */
int hfile_writer_check(const struct hfile_options *opt, struct error *err);

/* --- for ring.c --- */

/* Set a codec to this writer's settings. */
int hfile_writer_setup_codec(const struct hfile_options *o, struct hcodec *codec,
			     struct error *err);
/* Return the payload of a data block, which is the cells, or `work` with the encoded cells. */
int hfile_writer_payload(const struct hfile_options *o, struct buf *cells, struct buf *work,
			 struct buf **payload, struct error *err);
/*
 * Write the data block that hfile_block_pack made of `payload`. Then write the index leaves and
 * bloom chunks that are full.
 */
int hfile_writer_put_data(struct hfile_writer *w, struct buf *disk, size_t plain_bytes,
			  size_t cell_bytes, struct bytes key, struct hbloom_due chunks,
			  struct error *err);

#endif
