/*
 * hdfs_sum.h - the checksum that HDFS returns for a file (GETFILECHECKSUM), computed from its bytes
 *
 * MD5-of-XMD5-of-512CRC32C (Hadoop's MD5MD5CRC32FileChecksum, computed by
 * FileChecksumHelper.ReplicatedFileChecksumComputer): for each block the MD5 of the big-endian
 * CRC32C of every 512 bytes; for the file the MD5 of those, padded with zeros to the capacity of a
 * DataOutputBuffer, which starts at 32 bytes and doubles.
 */
#ifndef SALTMILL_HDFS_SUM_H
#define SALTMILL_HDFS_SUM_H

#include <md5.h>

#include "bytes.h"

#define HDFS_SUM_BYTES 28 /* int32 512, int64 CRCs in a block (one block: 0), 16 bytes MD5 */

struct hdfs_sum {
	uint64_t block_bytes; /* of the file's blocks; a multiple of 512 */
	uint64_t in_block;    /* bytes of the current block */
	uint32_t crc;	      /* of the current chunk */
	size_t in_chunk;
	MD5_CTX block;
	struct buf blocks; /* MD5s of full blocks */
};

void hdfs_sum_start(struct hdfs_sum *s, uint64_t block_bytes);
void hdfs_sum_add(struct hdfs_sum *s, const uint8_t *p, size_t n);
/* The checksum of all added bytes, at least one. */
void hdfs_sum_end(struct hdfs_sum *s, uint8_t out[HDFS_SUM_BYTES]);
void hdfs_sum_release(struct hdfs_sum *s); /* {0} is fine */

#endif
