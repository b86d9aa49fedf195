/*
 * compress.h - compress a block's payload in the containers that HBase reads (README.md 9)
 *
 *   style B  u32 plain bytes | chunks: u32 stored bytes, stored | ... [| u32 0]
 *   style S  the codec's own stream: one gzip member, one zstd frame
 *
 * GZ, BZIP2 and Hadoop's ZSTD codec read style S, and all other codecs style B. saltmill reads LZO,
 * BZIP2, LZMA and BROTLI, but does not write them.
 */
#ifndef SALTMILL_COMPRESS_H
#define SALTMILL_COMPRESS_H

#include "bytes.h"
#include "error.h"
#include "hfile.h"
#include "sequences.h"
#include "table.h"

/*
 * Contexts of the libraries, made at first use and kept, because a new context costs more time than
 * a block. {0} is empty.
 */
struct hcodec {
	enum codec codec;
	enum zstd_framing framing; /* reader: framing of the last block */
	int gz_level;
	unsigned min_match; /* shortest match of ready-made sequences; 0 means not used */
	size_t tail_bytes;  /* bytes after each cell */
	const struct hfile_extras *extras; /* dictionaries of the reader, or NULL */
	uint32_t dictionary;		   /* id of the dictionary that the last get lacked, or 0 */
	bool read_all;			   /* check each frame of sequences, not one in READ_BACK */
	bool no_memory;			   /* the last get had no memory */
	bool sequenced;			   /* the last cells became a frame of sequences */
	struct sequencer sequencer;
	struct buf back;
	void *zstd, *unzstd, *gunzip, *lz4;
	void *gz[13]; /* by level */
};

/* Choose codec, level and framing. Returns RC_CONFIG if saltmill cannot write this combination. */
int hfile_codec_setup(struct hcodec *h, enum codec codec, int level, enum zstd_framing framing,
		      struct error *err);
/*
 * Set ZSTD's hash table size, after hfile_codec_setup. 0 means the value of the level. Returns
 * RC_CONFIG if libzstd does not support the size.
 */
int hfile_codec_tune(struct hcodec *h, uint32_t hash_log, struct error *err);
/*
 * Let hfile_codec_compress_cells use sequences with matches of at least `min_match` bytes
 * (sequences.h), after hfile_codec_setup for ZSTD. Returns RC_CONFIG if `min_match` is invalid.
 */
int hfile_codec_sequence(struct hcodec *h, unsigned min_match, size_t tail_bytes,
			 struct error *err);
/*
 * Append the stored form of `in` (at most 1 GiB). The form is always the codec's output, even if
 * the output is larger than `in`.
 */
int hfile_codec_compress(struct hcodec *h, struct bytes in, struct buf *out, struct error *err);
/*
 * Compress the cells of a block, with sequences if enabled and possible. Returns RC_DATA also if a
 * decompressed frame differs from the cells.
 */
int hfile_codec_compress_cells(struct hcodec *h, struct bytes cells, struct buf *out,
			       struct error *err);
/*
 * Decompress `in` to exactly `out_bytes` bytes. Returns RC_DATA if the result has another length or
 * `in` is damaged. Returns RC_CONFIG if `in` needs a ZSTD dictionary that the extras lack. Accepts any
 * zstd framing.
 */
int hfile_codec_decompress(struct hcodec *h, enum codec codec, struct bytes in, uint8_t *out,
			   size_t out_bytes, struct error *err);
void hfile_codec_release(struct hcodec *h);

#endif
