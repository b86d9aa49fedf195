/*
 * compress.h - compression of a block's payload in the containers HBase reads (README.md 9)
 *
 *   style B  u32 plain bytes | chunks: u32 stored bytes, stored | ... [| u32 0]
 *   style S  the codec's own stream: one gzip member, one zstd frame
 *
 * SNAPPY, LZ4 and HBase's ZSTD codec read style B, GZ and Hadoop's ZSTD codec style S.
 */
#ifndef SALTMILL_COMPRESS_H
#define SALTMILL_COMPRESS_H

#include "bytes.h"
#include "error.h"
#include "sequences.h"
#include "table.h"

/*
 * The contexts of the libraries, made when first used and kept: creating one costs more than a
 * block.  {0} is empty.
 */
struct hcodec {
	enum codec codec;
	enum zstd_framing framing; /* to write; of a reader: of the last block */
	int gz_level;
	unsigned min_match; /* of ready-made sequences; 0: none are made */
	size_t tail_bytes;  /* behind each cell */
	bool read_all;	    /* read back each frame of sequences, not one in READ_BACK */
	bool no_memory;	    /* why the last get failed */
	bool sequenced;	    /* the last cells became such a frame */
	struct sequencer sequencer;
	struct buf back;
	void *zstd, *unzstd, *gunzip, *lz4;
	void *gz[13]; /* by level */
};

/* Choose what hfile_codec_compress does.  RC_CONFIG for a codec or level that cannot be written. */
int hfile_codec_setup(struct hcodec *h, enum codec codec, int level, enum zstd_framing framing,
		      struct error *err);
/* For ZSTD, behind hfile_codec_setup: another hash table size; 0: what the level has.  RC_CONFIG.
 */
int hfile_codec_tune(struct hcodec *h, uint32_t hash_log, struct error *err);
/*
 * For ZSTD, behind hfile_codec_setup: let hfile_codec_compress_cells make sequences with matches of
 * min_match bytes or more (sequences.h).  RC_CONFIG.
 */
int hfile_codec_sequence(struct hcodec *h, unsigned min_match, size_t tail_bytes,
			 struct error *err);
/* Append what is stored for in (at most 1 GiB); always the codec's output, even if larger. */
int hfile_codec_compress(struct hcodec *h, struct bytes in, struct buf *out, struct error *err);
/*
 * The same for the cells of a block, from sequences if that was asked for and can be.  RC_DATA also
 * if a frame of them that is read back is not the cells.
 */
int hfile_codec_compress_cells(struct hcodec *h, struct bytes cells, struct buf *out,
			       struct error *err);
/* Fill out with exactly out_bytes; RC_DATA when in is anything else.  Any zstd framing. */
int hfile_codec_decompress(struct hcodec *h, enum codec codec, struct bytes in, uint8_t *out,
			   size_t out_bytes, struct error *err);
void hfile_codec_release(struct hcodec *h);

#endif
