/*
 * tune.c - choose ZSTD settings, encoding and block size by trying them on a table's own blocks
 *
 * Neighbouring cells often have equal bytes. With a small hash table, the newest match is in the
 * nearest row, which is faster to find and shorter to write. Text that repeats over longer
 * distances needs a larger table. So saltmill tries a few settings on a quarter of the blocks,
 * spread evenly. Try settings close to the best on the other blocks, too.
 *
 * The search does not measure time, because files must not depend on how busy a machine was. The
 * search computes the cost from the output, in picoseconds. If zstd looks for matches, each plain
 * byte and each stored byte has a cost. If zstd gets sequences, each plain byte, sequence and
 * literal has a cost. The constants fit 64 KB blocks, on an EPYC, of ratings, flights, film titles
 * and two logs. The first formula is off by up to 22 %, the second by 9 %. STORE_COST is the cost
 * after compression, which includes checksums, digest, writing and three copies in HDFS. If the
 * encoding is free and the aim is balance, a byte costs KEEP_COST, because HBase also keeps and
 * caches three copies of it for years. The constants for DIFF fit ten tables of short and long
 * values. Below level 0, zstd skips positions, at LEVEL_HUFFMAN all. For DIFF of ratings, orders,
 * counters and flights, level -1 with a large hash table takes about the time of level 1, and makes
 * from 0.2 to 1.9 % fewer bytes. It makes 0.8 % more for flights in one family, so there is a trial
 * of both. Level -2 takes 0.84 to 0.98 of this time, and LEVEL_HUFFMAN 0.3 to 0.8.
 */
#include "reader.h"

#include "block_encode.h"
#include "mem.h"
#include "pool.h"

#define STORE_COST    8000 /* picoseconds for a stored byte: 125 MB/s */
#define KEEP_COST     24000
#define SEQUENCE_COST 17000
#define LITERAL_COST  1500
#define DIFF_COST     19000 /* picoseconds to encode a cell */

/*
 * Nanoseconds of a get in HBase 2.6. HBase reads a block on average up to its middle, cell by cell.
 * ROW_INDEX_V1 searches the row. If the block is not in the cache, HBase decompresses it first.
 */
#define GET_BASE      1500
#define GET_ROW_INDEX 3000
#define GET_CELL      17 /* for a cell of NONE */
#define GET_DIFF_CELL 70
#define GETS	      100 /* `aim: read` weighs one get against storing this many cells */

#define SMALL_BLOCK (16u << 10)

#define SMALL_SAMPLE (96u << 10)

#define QUARTER	    4  /* each trial gets one block of QUARTER */
#define BLOCKS_MANY 16 /* with fewer blocks, each trial gets all blocks */
#define CLOSE	    3  /* percent; similar settings differ by less than this from block to block */

struct trial {
	int level;
	uint32_t hash_log, min_match;
	uint32_t plain_cost, stored_cost; /* for bytes that the codec gets, and that it makes */
	/* only if the encoding is free: */
	enum block_encoding encoding;
	uint32_t cell_cost;
	uint32_t block_bytes; /* 0 means the blocks of the file */
};

/* The settings to try. If two settings have the same cost, choose the first. */
#define LEVEL(level, hash_log, min_match, plain, stored)                                           \
	{                                                                                          \
		level, hash_log, min_match, plain, stored, ENCODING_NONE, 0, 0                     \
	}
static const struct trial for_speed[] = {LEVEL(2, 8, 8, 290, 0),    LEVEL(2, 8, 4, 290, 0),
					 LEVEL(2, 8, 0, 440, 6100), LEVEL(2, 10, 0, 290, 7600),
					 LEVEL(2, 0, 0, 140, 9100), LEVEL(3, 0, 0, 80, 11000)};
/* The same for a small sample, which shows only large differences. */
static const struct trial few_for_speed[] = {LEVEL(2, 8, 8, 290, 0), LEVEL(3, 0, 0, 80, 11000)};
static const struct trial for_size[] = {LEVEL(2, 8, 0, 0, 0),  LEVEL(2, 0, 0, 0, 0),
					LEVEL(3, 0, 0, 0, 0),  LEVEL(7, 8, 0, 0, 0),
					LEVEL(7, 10, 0, 0, 0), LEVEL(7, 0, 0, 0, 0),
					LEVEL(9, 0, 0, 0, 0)};
/* The same if the encoding is free. The first setting also serves a table without cells. */
static const struct trial all_for_balance[] = {{1, 0, 0, 2000, 7500, ENCODING_DIFF, DIFF_COST, 0},
					       {-1, 15, 0, 2000, 7500, ENCODING_DIFF, DIFF_COST, 0},
					       {2, 8, 8, 290, 0, ENCODING_NONE, 0, 0},
					       {3, 0, 0, 1200, 12000, ENCODING_NONE, 0, 0}};
/* The writer encodes DIFF without plain blocks first, which takes less time than plain blocks. */
static const struct trial all_for_speed[] = {{1, 0, 0, 2000, 7500, ENCODING_DIFF, 0, 0},
					     {-1, 15, 0, 2000, 7500, ENCODING_DIFF, 0, 0},
					     {-2, 15, 0, 2300, 5500, ENCODING_DIFF, 0, 0},
					     {LEVEL_HUFFMAN, 6, 0, 2000, 0, ENCODING_DIFF, 0, 0},
					     {2, 8, 8, 290, 0, ENCODING_NONE, 0, 0},
					     {3, 0, 0, 1200, 12000, ENCODING_NONE, 0, 0}};
static const struct trial all_for_size[] = {{6, 0, 0, 0, 0, ENCODING_DIFF, 0, 0},
					    {2, 8, 0, 0, 0, ENCODING_DIFF, 0, 0},
					    {3, 0, 0, 0, 0, ENCODING_DIFF, 0, 0},
					    {9, 0, 0, 0, 0, ENCODING_DIFF, 0, 0},
					    {3, 0, 0, 0, 0, ENCODING_NONE, 0, 0},
					    {7, 0, 0, 0, 0, ENCODING_NONE, 0, 0},
					    {9, 0, 0, 0, 0, ENCODING_NONE, 0, 0}};
static const struct trial all_for_read[] = {{1, 0, 0, 0, 0, ENCODING_DIFF, 0, SMALL_BLOCK},
					    {3, 0, 0, 0, 0, ENCODING_ROW_INDEX_V1, 0, SMALL_BLOCK},
					    {3, 0, 0, 0, 0, ENCODING_ROW_INDEX_V1, 0, 0},
					    {3, 0, 0, 0, 0, ENCODING_NONE, 0, SMALL_BLOCK},
					    {3, 0, 0, 0, 0, ENCODING_NONE, 0, 0}};

/* The same if the blocks already have an encoding. */
static const struct trial encoded_for_speed[] = {LEVEL(-1, 15, 0, 2000, 7500),
						 LEVEL(-2, 15, 0, 2300, 5500),
						 LEVEL(LEVEL_HUFFMAN, 6, 0, 2000, 0)};

struct trial_list {
	const struct trial *item;
	size_t count;
};
#define LIST(trials) ((struct trial_list){trials, sizeof trials / sizeof *trials})

static struct trial_list list_of(const struct hfile_tune_request *r, size_t sample_bytes,
				 bool encoded)
{
	bool fast = r->aim == AIM_SPEED;

	switch (r->aim) {
	case AIM_NONE:
	case AIM_BALANCE:
	case AIM_SPEED:
		if (r->encoding)
			return fast ? LIST(all_for_speed) : LIST(all_for_balance);
		if (encoded && fast)
			return LIST(encoded_for_speed);
		return sample_bytes < SMALL_SAMPLE ? LIST(few_for_speed) : LIST(for_speed);
	case AIM_SIZE: return r->encoding ? LIST(all_for_size) : LIST(for_size);
	case AIM_READ: break;
	}
	return LIST(all_for_read);
}

/* The payloads of all data blocks, joined. `ends` has the end offset of each payload. */
struct tune_sample {
	struct buf bytes;
	size_t *ends, count, cap;
	size_t largest; /* bytes of the largest block */
	uint64_t cells;
	struct cell_tail tail;
	bool encoded;
};

static int sample_add(struct tune_sample *s, struct bytes payload, struct error *err)
{
	size_t *ends = mem_try_reserve(s->ends, &s->cap, s->count + 1, sizeof *ends);

	if (!ends)
		return error_memory(err, (s->count + 1) * sizeof *ends, "a sample");
	s->ends = ends;
	if (!buf_try_append(&s->bytes, payload.ptr, payload.len))
		return error_memory(err, payload.len, "a sample");
	s->ends[s->count++] = s->bytes.len;
	s->largest = payload.len > s->largest ? payload.len : s->largest;
	return 0;
}

static int sample_read(struct tune_sample *s, struct hfile *f, struct error *err)
{
	struct hfile_block b;
	uint64_t at = 0;
	int rc = 0;

	s->encoded = f->format.encoding != ENCODING_NONE;
	s->tail = f->format.tail;
	s->cells = hfile_trailer(f)->entry_count;
	while (rc == RC_OK && (rc = hfile_next_block(f, &at, &b, err)) == 0)
		if (strncmp(b.type, "DATABLK", 7) == 0)
			rc = sample_add(s, b.payload, err);
	return rc == RC_END ? 0 : rc;
}

/* The result of a trial so far. */
struct outcome {
	uint64_t cell_bytes;			/* bytes of the cells */
	uint64_t plain, stored, made, literals; /* `plain`: bytes that the codec got */
	uint64_t first_cost, first_stored;	/* of the blocks that all trials get */
	bool possible;				/* the trial's settings worked for all blocks */
	bool wanted;				/* the next round runs this trial */
	bool whole;				/* the trial got all blocks */
};

enum { TRIALS_MOST = 8 };
_Static_assert(sizeof for_speed <= TRIALS_MOST * sizeof *for_speed, "room for all outcomes");
_Static_assert(sizeof for_size <= TRIALS_MOST * sizeof *for_size, "room for all outcomes");
_Static_assert(sizeof all_for_size <= TRIALS_MOST * sizeof *all_for_size, "room for all outcomes");

struct tuning {
	const struct tune_sample *sample;
	const struct hfile_tune_request *request;
	const struct trial *trials;
	size_t count;
	bool rest; /* this round has the blocks that not all trials get */
	struct outcome outcomes[TRIALS_MOST];
};

static bool seen_by_all(const struct tune_sample *s, size_t block)
{
	return s->count < BLOCKS_MANY || block % QUARTER == 0;
}

/* The buffers of a trial. */
struct trial_bench {
	const struct tuning *tuning;
	const struct trial *trial;
	struct outcome *outcome;
	struct hcodec codec;
	struct buf encoded, out;
};

/* Encode and compress the cells of a block. */
static int try_block(struct trial_bench *b, struct bytes cells, struct error *err)
{
	struct outcome *o = b->outcome;
	struct bytes payload = cells;
	int rc = RC_OK;

	b->out.len = b->encoded.len = 0;
	if (b->trial->encoding != ENCODING_NONE) {
		struct block_format form = {.encoding = b->trial->encoding,
					    .tail = b->tuning->sample->tail};

		rc = hfile_block_encode(&form, cells, &b->encoded, err);
		payload = buf_bytes(&b->encoded);
	}
	if (rc == RC_OK)
		rc = hfile_codec_compress_cells(&b->codec, payload, &b->out, err);
	o->cell_bytes += cells.len;
	o->plain += payload.len;
	o->stored += b->out.len;
	o->possible &= b->codec.sequenced || b->codec.min_match == 0;
	return rc;
}

/* Return the bytes of the first cells that fill a block. */
static size_t cut_block(const struct tune_sample *s, struct bytes cells, size_t block_bytes)
{
	size_t at = 0;

	while (at < cells.len && at < block_bytes) {
		struct bytes tags;
		uint64_t mvcc;

		at += hfile_kv_at(cells.ptr + at).size;
		at += hfile_kv_tail(cells.ptr + at, cells.ptr + cells.len, s->tail, &tags, &mvcc);
	}
	return at;
}

/* Try a block of the file, as blocks of the trial's size. */
static int try_pieces(struct trial_bench *b, struct bytes cells, struct error *err)
{
	size_t block_bytes = b->tuning->request->block ? b->trial->block_bytes : 0, n;
	int rc = RC_OK;

	for (; rc == RC_OK && cells.len; cells = bytes_of(cells.ptr + n, cells.len - n)) {
		n = block_bytes ? cut_block(b->tuning->sample, cells, block_bytes) : cells.len;
		rc = try_block(b, bytes_of(cells.ptr, n), err);
	}
	return rc;
}

/* Compress the blocks of this round. */
static int try_blocks(struct trial_bench *b, struct error *err)
{
	const struct tune_sample *s = b->tuning->sample;
	int rc = RC_OK;

	b->codec.read_all = true;
	b->codec.sequencer.counts = true;
	for (size_t i = 0, at = 0; rc == RC_OK && i < s->count; at = s->ends[i++])
		if (seen_by_all(s, i) != b->tuning->rest)
			rc = try_pieces(b, bytes_of(s->bytes.ptr + at, s->ends[i] - at), err);
	b->outcome->made += b->codec.sequencer.made;
	b->outcome->literals += b->codec.sequencer.literals;
	return rc;
}

/*
 * Return the nanoseconds of a get. If blocks were as large in the cache as their cells, every
 * second get would find its block there. Smaller blocks leave more room.
 */
static uint64_t get_cost(const struct tuning *t, const struct trial *trial, const struct outcome *o)
{
	const struct tune_sample *s = t->sample;
	uint64_t block = t->request->block && trial->block_bytes ? trial->block_bytes : s->largest;
	uint64_t cells = block * s->cells / s->bytes.len, cached = GET_ROW_INDEX;
	uint64_t load = block * o->plain / o->cell_bytes; /* bytes, and so nanoseconds */
	bool diff = trial->encoding == ENCODING_DIFF;

	if (trial->encoding != ENCODING_ROW_INDEX_V1)
		cached = GET_BASE + cells / 2 * (diff ? GET_DIFF_CELL : GET_CELL);
	return cached + load * o->plain / o->cell_bytes / 2;
}

/* Return the cost in picoseconds, or in bytes if the goal is size. */
static uint64_t cost_of(const struct tuning *t, const struct trial *trial, const struct outcome *o)
{
	bool kept = t->request->encoding && t->request->aim != AIM_SPEED;
	uint64_t keep = kept ? KEEP_COST : STORE_COST;
	uint64_t cells = t->sample->cells * o->cell_bytes / t->sample->bytes.len;

	if (t->request->aim == AIM_SIZE)
		return o->stored;
	if (t->request->aim == AIM_READ)
		return o->stored * keep + cells * get_cost(t, trial, o) * 1000 / GETS;
	return cells * trial->cell_cost + o->plain * trial->plain_cost +
	       o->stored * (trial->stored_cost + keep) + o->made * SEQUENCE_COST +
	       o->literals * LITERAL_COST;
}

static int set_up(struct trial_bench *b, struct error *err)
{
	const struct tune_sample *s = b->tuning->sample;
	size_t tail_bytes = (s->tail.tags ? 2u : 0u) + s->tail.mvcc;
	int rc = hfile_codec_setup(&b->codec, CODEC_ZSTD, b->trial->level, ZSTD_FRAMING_HBASE, err);

	if (rc == RC_OK)
		rc = hfile_codec_tune(&b->codec, b->trial->hash_log, err);
	return rc ? rc : hfile_codec_sequence(&b->codec, b->trial->min_match, tail_bytes, err);
}

static int one_trial(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct tuning *t = ctx;
	struct outcome *o = &t->outcomes[index];
	struct trial_bench b = {.tuning = t, .trial = &t->trials[index], .outcome = o};

	(void)worker;
	if (!o->wanted)
		return 0;
	int rc = set_up(&b, err);
	if (rc == RC_OK)
		rc = try_blocks(&b, err);
	if (rc == RC_OK && !t->rest) {
		o->first_cost = cost_of(t, b.trial, o);
		o->first_stored = o->stored;
	}
	o->whole = t->rest;
	hfile_codec_release(&b.codec);
	buf_release(&b.encoded);
	buf_release(&b.out);
	return rc;
}

/*
 * Choose trials close to the best that did not get all blocks. Returns false if there is no such
 * trial.
 */
static bool want_close(struct tuning *t)
{
	uint64_t best = UINT64_MAX;
	bool any = false;

	for (size_t i = 0; i < t->count; i++)
		if (t->outcomes[i].possible && t->outcomes[i].first_cost < best)
			best = t->outcomes[i].first_cost;
	for (size_t i = 0; i < t->count; i++) {
		struct outcome *o = &t->outcomes[i];

		o->wanted = o->possible && !o->whole && o->first_cost <= best + best / 100 * CLOSE;
		any |= o->wanted;
	}
	return any;
}

/*
 * Run all trials on some blocks, then the best trials on the rest, until the best trials got all
 * blocks.
 */
static int try_all(struct tuning *t, unsigned threads, struct error *err)
{
	for (size_t i = 0; i < t->count; i++) {
		struct outcome *o = &t->outcomes[i];

		o->possible = o->wanted = t->trials[i].min_match == 0 || !t->sample->encoded;
	}
	int rc = pool_run(threads, t->count, one_trial, t, err);
	t->rest = true;
	while (rc == RC_OK && want_close(t))
		rc = pool_run(threads, t->count, one_trial, t, err);
	return rc;
}

/* Estimate the size with the default of `compression: ZSTD`, from the blocks that all trials get. */
static uint64_t usual_bytes(const struct tuning *t, const struct outcome *best)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct trial *x = &t->trials[i];

		if (x->level == 3 && x->encoding == ENCODING_NONE && !x->hash_log &&
		    !x->block_bytes)
			return t->outcomes[i].first_stored * best->stored / best->first_stored;
	}
	return 0;
}

static void settle(const struct tuning *t, size_t i, struct hfile_tuning *out)
{
	const struct trial *trial = &t->trials[i];
	const struct outcome *o = &t->outcomes[i];

	*out = (struct hfile_tuning){.level = trial->level,
				     .hash_log = trial->hash_log,
				     .min_match = trial->min_match,
				     .chosen = t->request->encoding,
				     .encoding = trial->encoding,
				     .block_bytes = t->request->block ? trial->block_bytes : 0,
				     .plain_bytes = t->sample->bytes.len,
				     .stored_bytes = o->stored};
	if (t->request->encoding)
		out->usual_bytes = usual_bytes(t, o);
}

int hfile_tune(struct hfile *f, const struct hfile_tune_request *request, unsigned threads,
	       struct hfile_tuning *out, struct error *err)
{
	struct tune_sample s = {0};
	uint64_t best = UINT64_MAX;
	int rc = sample_read(&s, f, err);
	const struct trial_list list = list_of(request, s.bytes.len, s.encoded);
	struct tuning t = {.sample = &s,
			   .request = request,
			   .trials = list.item,
			   .count = list.count};

	if (rc == RC_OK)
		rc = try_all(&t, threads, err);
	for (size_t i = 0; rc == RC_OK && i < t.count; i++) {
		const struct outcome *o = &t.outcomes[i];

		if (!o->possible || !o->whole || cost_of(&t, &t.trials[i], o) >= best)
			continue;
		best = cost_of(&t, &t.trials[i], o);
		settle(&t, i, out);
	}
	buf_release(&s.bytes);
	mem_free(s.ends);
	return rc;
}

struct hfile_tuning hfile_tune_blind(const struct hfile_tune_request *request)
{
	const struct trial *first = list_of(request, 0, false).item;

	if (!request->encoding)
		return (struct hfile_tuning){0};
	return (struct hfile_tuning){.level = first->level,
				     .hash_log = first->hash_log,
				     .chosen = true,
				     .encoding = first->encoding,
				     .block_bytes = request->block ? first->block_bytes : 0};
}
