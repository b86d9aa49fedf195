#include "hdfs_sum.h"

#include "hash.h"

enum { CHUNK = 512, FIRST_CAPACITY = 32, MD5_BYTES = 16 };

void hdfs_sum_start(struct hdfs_sum *s, uint64_t block_bytes)
{
	*s = (struct hdfs_sum){.block_bytes = block_bytes, .crc = UINT32_MAX};
	MD5Init(&s->block);
}

static void end_chunk(struct hdfs_sum *s)
{
	uint8_t crc[4];

	if (s->in_chunk == 0)
		return;
	put_be32(crc, ~s->crc);
	MD5Update(&s->block, crc, sizeof crc);
	s->crc = UINT32_MAX;
	s->in_chunk = 0;
}

static void end_block(struct hdfs_sum *s)
{
	uint8_t digest[MD5_BYTES];

	if (s->in_block == 0)
		return;
	MD5Final(digest, &s->block);
	MD5Init(&s->block);
	buf_append(&s->blocks, digest, sizeof digest);
	s->in_block = 0;
}

void hdfs_sum_add(struct hdfs_sum *s, const uint8_t *p, size_t n)
{
	while (n) {
		size_t take = CHUNK - s->in_chunk < n ? CHUNK - s->in_chunk : n;

		s->crc = crc32c_add(s->crc, p, take);
		s->in_chunk += take;
		s->in_block += take;
		p += take;
		n -= take;
		if (s->in_chunk == CHUNK)
			end_chunk(s);
		if (s->in_block == s->block_bytes)
			end_block(s);
	}
}

void hdfs_sum_end(struct hdfs_sum *s, uint8_t out[HDFS_SUM_BYTES])
{
	end_chunk(s);
	end_block(s);
	size_t n = s->blocks.len, capacity = FIRST_CAPACITY;
	while (capacity < n)
		capacity *= 2;
	memset(buf_reserve(&s->blocks, capacity - n), 0, capacity - n);
	put_be32(out, CHUNK);
	put_be64(out + 4, n > MD5_BYTES ? s->block_bytes / CHUNK : 0);
	MD5_CTX all;
	MD5Init(&all);
	MD5Update(&all, s->blocks.ptr, capacity);
	MD5Final(out + 12, &all);
}

void hdfs_sum_release(struct hdfs_sum *s)
{
	buf_release(&s->blocks);
}
