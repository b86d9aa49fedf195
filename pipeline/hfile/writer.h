/* writer.h - the state of an HFile writer, shared by writer.c and finish.c */
#ifndef SALTMILL_HFILE_WRITER_H
#define SALTMILL_HFILE_WRITER_H

#include "bloom.h"
#include "block_encode.h"
#include "hfile.h"
#include "index.h"
#include "ring.h"

/*
 * Short copies write up to this many extra bytes; there is room after the block and the last key.
 */
#define WRITER_SLACK 32

/* The buffers of a writer from its first cell to its end; borrowed from the scratch. */
struct write_buffers {
	struct write_buffers *next; /* in the scratch's list of idle buffers */
	struct buf cells;	    /* the open block: room for a header, then cells */
	struct buf last;	    /* last flat key of the block before; extra bytes after it */
	struct buf key;		    /* the index key of the block that ends */
	struct hbloom_hash *hashes;
	size_t hashes_cap;
};

struct hfile_scratch {
	/*
	 * For data blocks, and for all others. libzstd sizes a context for its input, so one
	 * context for both would be freed and allocated several times for each file.
	 */
	struct hcodec codec, other_codec;
	struct buf disk, work;
	const struct hfile_writer *user; /* the writer whose settings the codecs have */
	struct write_buffers *idle;
	struct ring_slot *slots; /* not in use */
	struct ring_codecs codecs;
};

/* Family and qualifier, which are between row key and timestamp. Extra bytes after all. */
struct column_head {
	uint8_t start[16];
	struct bytes all;
};

struct hfile_writer {
	/* touched for each cell */
	struct write_buffers *buffers;
	size_t previous_at; /* the flat key of the last cell, in buffers->cells; 0: in buffers->last
			     */
	size_t previous_bytes;
	size_t full_at;		   /* cells.len that makes the block full */
	size_t tail_bytes;	   /* after each value: tags if they are empty, mvcc */
	unsigned row_cost;	   /* ROW_INDEX_V1: bytes of a new row in the encoded block */
	struct buf family;	   /* length and name */
	struct column_head *heads; /* of opt.qualifiers */
	uint64_t cells, rows, key_bytes, value_bytes;
	int64_t min_ts, max_ts, earliest_put;
	uint64_t family_deletes;
	bool column_deletes; /* HBase's time range then begins at 0 */
	uint32_t max_tags;   /* bytes */
	struct hbloom bloom;
	struct hbloom deletes; /* of rows with a delete of the family; its pending is its own */
	bool row_deleted;      /* the last row is in it */
	/* touched for each block */
	struct hfile_options opt;
	struct hfile_scratch *scratch;
	bool own_scratch;
	bool ended; /* the sink was finished or aborted */
	struct hblock_out blocks;
	struct hindex index;
	struct ring ring;
	struct buf task; /* opt.source_task */
	struct buf head_bytes;
	struct buf first_row;
	uint64_t data_blocks, total_bytes; /* total_bytes: headers and plain payloads */
	uint64_t plain_bytes, disk_bytes;  /* of data blocks, for hfile_bytes_so_far */
	uint64_t first_data, last_data;
};

/* The flat key of the last cell. */
static inline struct bytes hfile_writer_last_key(const struct hfile_writer *w)
{
	const uint8_t *p =
		w->previous_at ? w->buffers->cells.ptr + w->previous_at : w->buffers->last.ptr;

	return bytes_of(p, w->previous_bytes);
}

static inline enum hblock_type hfile_writer_data_type(const struct hfile_options *o)
{
	return o->encoding == ENCODING_NONE ? HBLOCK_DATA : HBLOCK_ENCODED;
}

/* Write the open data block and what became due with it. */
int hfile_writer_end_block(struct hfile_writer *w, bool closing, struct error *err);

/* The family of all cells; false: no memory. */
bool hfile_writer_set_family(struct hfile_writer *w, struct bytes family);
/* What hfile_writer_new_to would say of options. */
int hfile_writer_check(const struct hfile_options *opt, struct error *err);

/* --- for ring.c --- */

/* Set a codec to this writer's settings. */
int hfile_writer_setup_codec(const struct hfile_options *o, struct hcodec *codec,
			     struct error *err);
/* The payload of a data block: the cells, or work with the cells encoded. */
int hfile_writer_payload(const struct hfile_options *o, struct buf *cells, struct buf *work,
			 struct buf **payload, struct error *err);
/*
 * Write the data block that hfile_block_pack made of payload, and the inline blocks behind it:
 * index leaves, and chunks of the bloom filter.
 */
int hfile_writer_put_data(struct hfile_writer *w, struct buf *disk, size_t plain_bytes,
			  size_t cell_bytes, struct bytes key, struct hbloom_due chunks,
			  struct error *err);

#endif
