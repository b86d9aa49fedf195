/*
 * hdfs_sum.h - the checksum that HDFS returns for a file (GETFILECHECKSUM), computed from its bytes
 *
 * The kind is MD5-of-XMD5-of-512CRC32C, Hadoop's MD5MD5CRC32FileChecksum.
 * FileChecksumHelper.ReplicatedFileChecksumComputer computes it in two steps.
 *
 * 1. The sum of a block is the MD5 of the big-endian CRC32Cs of all its 512-byte chunks.
 *
 * 2. The sum of the file is the MD5 of all block sums, padded with zeros to the capacity of a
 * DataOutputBuffer. The capacity starts at 32 bytes and doubles.
 */
#ifndef SALTMILL_HDFS_SUM_H
#define SALTMILL_HDFS_SUM_H

#include <md5.h>

#include "bytes.h"

/* int32 512, int64 number of CRCs in a block (0 if there is one block), 16 bytes MD5 */
#define HDFS_SUM_BYTES 28

struct hdfs_sum {
	uint64_t block_bytes; /* block size of the file, a multiple of 512 */
	uint64_t in_block;    /* bytes of the current block */
	uint32_t crc;	      /* CRC of the current chunk */
	size_t in_chunk;
	MD5_CTX block;
	struct buf blocks; /* MD5s of full blocks */
};

void hdfs_sum_start(struct hdfs_sum *s, uint64_t block_bytes);
void hdfs_sum_add(struct hdfs_sum *s, const uint8_t *p, size_t n);
/* Compute the checksum of all added bytes. The sum needs at least one byte. */
void hdfs_sum_end(struct hdfs_sum *s, uint8_t out[HDFS_SUM_BYTES]);
void hdfs_sum_release(struct hdfs_sum *s); /* `s` may be {0} */

#endif
