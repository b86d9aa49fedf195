/*
 * run.h - records as bytes, and sorted runs of them in memory or in a temporary file
 *
 *   record: seq low bits u32 | key bytes u16 | payload bytes varint | key | minor | payload
 *
 * Little-endian, unaligned.  A run holds the high part of its seqs; only a merged run whose
 * inputs differ in it stores u64 seqs.  A run is cut into blocks of up to BLOCK_BYTES or one
 * larger record; blocks are the unit of seeking and of reading back.
 *
 * A large payload does not go through runs: it is put aside once (aside.h), and the record has in
 * its place ASIDE_BYTES that say where; the highest bit of key bytes tells such a record.
 */
#ifndef SALTMILL_RUN_H
#define SALTMILL_RUN_H

#include "mem.h"
#include "prefix.h"
#include "record.h"

enum { BLOCK_BYTES = 16384, ASIDE_BYTES = 24, ASIDE_BIT = 0x80, HUGE_PAGE_BYTES = 2 << 20 };

struct record_codec {
	uint64_t seq_base;
	size_t seq_bytes; /* 4 or 8 */
	size_t minor_bytes;
};

/* Key, minor and payload lie together behind the header. */
static inline size_t record_body_bytes(const struct record_codec *c, const struct record *r)
{
	return r->key.len + c->minor_bytes + r->payload.len;
}

static inline size_t record_header_bytes(const struct record_codec *c, const struct record *r)
{
	size_t n = c->seq_bytes + 3;
	for (size_t v = r->payload.len; v >= 0x80; v >>= 7)
		n++;
	return n;
}

static inline uint8_t *record_write_header(const struct record_codec *c, const struct record *r,
					   uint8_t *p)
{
	uint64_t seq = r->seq - c->seq_base;
	uint16_t key_len = (uint16_t)r->key.len;
	memcpy(p, &seq, 8); /* little-endian; the next fields overwrite what is too much */
	p += c->seq_bytes;
	memcpy(p, &key_len, 2);
	return p + 2 + put_varint(p + 2, r->payload.len);
}

/* The header at p is of a record whose payload is ASIDE_BYTES. */
static inline void record_mark_aside(const struct record_codec *c, uint8_t *p)
{
	p[c->seq_bytes + 1] |= ASIDE_BIT;
}

/* Of a record that record_read gave: a payload of this length has a varint of one byte. */
static inline bool record_is_aside(const struct record *r)
{
	return r->payload.len == ASIDE_BYTES && (r->key.ptr[-2] & ASIDE_BIT) != 0;
}

/* Returns where the next record starts.  Reads at most SLACK_BYTES behind a damaged one. */
static inline const uint8_t *record_read(const struct record_codec *c, const uint8_t *p,
					 struct record *r)
{
	uint64_t seq = 0;
	uint16_t key_len;
	if (c->seq_bytes == 4)
		memcpy(&seq, p, 4);
	else
		memcpy(&seq, p, 8);
	p += c->seq_bytes;
	memcpy(&key_len, p, 2);
	p += 2;
	uint64_t payload = *p++;
	if (payload >= 0x80) {
		payload &= 0x7f;
		for (unsigned shift = 7; shift < 63; shift += 7) {
			payload |= (uint64_t)(*p & 0x7f) << shift;
			if (*p++ < 0x80)
				break;
		}
	}
	r->seq = c->seq_base + seq;
	r->key = bytes_of(p, key_len & 0x7fff);
	r->minor = p + r->key.len;
	r->payload = bytes_of(r->minor + c->minor_bytes, payload);
	return r->payload.ptr + payload;
}

/* Copy in whole 32-byte pieces: reads and writes up to 31 bytes too many. */
static inline void copy_with_slack(uint8_t *to, const uint8_t *from, size_t len)
{
	if (len > 256) {
		memcpy(to, from, len);
		return;
	}
	for (size_t i = 0; i < len; i += 32)
		memcpy(to + i, from + i, 32);
}

static inline int record_compare(const struct record *a, const struct record *b,
				 size_t minor_bytes)
{
	int c = bytes_cmp(a->key, b->key);
	if (c == 0 && minor_bytes > 0)
		c = memcmp(a->minor, b->minor, minor_bytes);
	return c ? c : (a->seq > b->seq) - (a->seq < b->seq);
}

/* A temporary file, appended to by one thread at a time.  {.fd = -1} is closed. */
struct spill {
	int fd;
	const char *dir;
	uint64_t end;
	struct budget *quota; /* of disk space; NULL: none */
	_Atomic uint64_t held_bytes; /* accounted there */
};
int spill_open(struct spill *s, struct error *err);
/* Append.  RC_LIMIT: the quota does not allow it. */
int spill_write(struct spill *s, const uint8_t *p, size_t len, struct error *err);
void spill_close(struct spill *s);

/* An entry of the seek index.  One more stands behind the last block and holds the totals. */
struct block {
	uint64_t offset; /* in the run */
	uint64_t weight; /* of the run's records before this block */
	size_t key_at;   /* of its first key, in run.keys */
};

struct run {
	struct record_codec codec;
	struct key_span span;
	uint8_t *data;             /* SLACK_BYTES longer; NULL: spilled */
	struct spill *spill;
	uint64_t spill_at;         /* offset of the run in its file */
	uint64_t bytes, records;
	size_t widest;             /* block */
	struct block *blocks;
	size_t nblocks, blocks_cap;
	struct buf keys;
	uint64_t held_bytes;       /* accounted for data and index */
};
void run_free(struct run *r, struct budget *budget);
/* Give a spilled run's disk space back, where the file system can. */
void run_punch(const struct run *r);
/* Move a run from memory to disk.  Nothing reads it meanwhile. */
int run_evict(struct run *r, struct spill *spill, struct budget *budget, struct error *err);

static inline struct bytes run_block_key(const struct run *r, size_t block)
{
	const struct block *b = &r->blocks[block];
	return bytes_of(r->keys.ptr + b->key_at, b[1].key_at - b->key_at);
}

/* Blocks whose first key is < key (or <= key). */
size_t run_blocks_below(const struct run *r, struct bytes key, bool or_equal);

/* Read blocks [first, end) into buf (or point into memory); valid up to SLACK_BYTES behind. */
int run_load(const struct run *r, size_t first, size_t end, struct buf *buf, const uint8_t **out,
	     struct error *err);

/* A record does not end where its block does. */
int run_damaged(const struct run *r, struct error *err);

struct run_position {
	uint64_t offset;        /* in the run, of the first record with key >= the one sought */
	size_t block;           /* that holds it; nblocks: none does */
	uint64_t weight_below;  /* of the run's records before it; when a weigher was given */
};
struct weigher {
	record_weigh *weigh; /* NULL: 1 */
	const void *ctx;
};
/* Of a record that record_read gave. */
static inline uint64_t weigh_record(const struct weigher *w, const struct record *r)
{
	uint64_t weight;
	if (!record_is_aside(r))
		return w->weigh ? w->weigh(w->ctx, r) : 1;
	memcpy(&weight, r->payload.ptr + 16, 8);
	return weight;
}
/*
 * Find key.  w NULL: weights are not wanted.  below (or NULL) becomes the largest key of the run
 * that is < key, if that is larger than what is there.
 */
int run_seek(const struct run *r, struct bytes key, const struct weigher *w, struct buf *scratch,
	     struct run_position *out, struct buf *below, struct error *err);

/* Writes one run, records in order. */
struct run_writer {
	struct run *run;
	struct spill *spill;   /* NULL: in memory */
	struct weigher weigher;
	struct budget *budget;
	uint8_t *buf;          /* SLACK_BYTES longer than cap */
	size_t used, cap;
	uint64_t flushed;
	uint64_t weight;
	uint64_t block_end;    /* offset that ends the block if it is filled */
};
/* A run in memory of exactly `bytes` bytes, which the caller has taken from the budget. */
void run_writer_memory(struct run_writer *w, struct run *run, size_t bytes);
/* A spilled run; buf has cap + SLACK_BYTES bytes and is the caller's. */
int run_writer_spill(struct run_writer *w, struct run *run, struct spill *spill, uint8_t *buf,
		     size_t cap, struct error *err);
/* Append.  r's key, minor and payload lie together, with SLACK_BYTES readable behind them. */
int run_writer_put(struct run_writer *w, const struct record *r, struct error *err);
/* Flush and close the index. */
int run_writer_end(struct run_writer *w, struct error *err);

#endif
