/*
 * tune.c - choose ZSTD settings by trying them on a table's own blocks
 *
 * Neighbouring cells often have equal bytes. With a small hash table, the newest match is in the
 * nearest row, which is faster to find and shorter to write. Text that repeats over longer
 * distances needs a larger table. So saltmill tries a few settings on a quarter of the blocks,
 * spread evenly. Settings close to the best are also tried on the other blocks.
 *
 * Time is not measured, because files must not depend on how busy a machine was. The cost is
 * computed from the output, in picoseconds. If zstd looks for matches, each plain byte and each
 * stored byte has a cost. If zstd gets sequences, each plain byte, sequence and literal has a cost.
 * The constants were fitted on an EPYC to 64 KB blocks of ratings, flights, film titles and two
 * logs. The first formula is off by up to 22 %, the second by 9 %. STORE_COST is the cost after
 * compression, which includes checksums, digest, writing and three copies in HDFS.
 */
#include "reader.h"

#include "mem.h"
#include "pool.h"

#define STORE_COST    8000 /* picoseconds for a stored byte: 125 MB/s */
#define SEQUENCE_COST 17000
#define LITERAL_COST  1500

#define QUARTER	    4  /* each trial gets one block of QUARTER */
#define BLOCKS_MANY 16 /* with fewer blocks, each trial gets all blocks */
#define CLOSE	    3  /* percent; similar settings differ by less than this from block to block */

struct trial {
	int level;
	uint32_t hash_log, min_match;
	uint32_t plain_cost, stored_cost;
};

/* The settings to try. If two settings have the same cost, the first is chosen. */
static const struct trial for_speed[] = {{2, 8, 8, 290, 0},    {2, 8, 4, 290, 0},
					 {2, 8, 0, 440, 6100}, {2, 10, 0, 290, 7600},
					 {2, 0, 0, 140, 9100}, {3, 0, 0, 80, 11000}};
static const struct trial for_size[] = {{2, 8, 0, 0, 0}, {2, 0, 0, 0, 0},  {3, 0, 0, 0, 0},
					{7, 8, 0, 0, 0}, {7, 10, 0, 0, 0}, {7, 0, 0, 0, 0},
					{9, 0, 0, 0, 0}};

/* The payloads of all data blocks, joined. `ends` has the end offset of each payload. */
struct tune_sample {
	struct buf bytes;
	size_t *ends, count, cap;
	size_t tail_bytes; /* bytes after each cell */
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
	return 0;
}

static int sample_read(struct tune_sample *s, struct hfile *f, struct error *err)
{
	struct hfile_block b;
	uint64_t at = 0;
	int rc = 0;

	s->encoded = f->format.encoding != ENCODING_NONE;
	s->tail_bytes = (f->format.tail.tags ? 2u : 0u) + f->format.tail.mvcc;
	while (rc == RC_OK && (rc = hfile_next_block(f, &at, &b, err)) == 0)
		if (strncmp(b.type, "DATABLK", 7) == 0)
			rc = sample_add(s, b.payload, err);
	return rc == RC_END ? 0 : rc;
}

/* The result of a trial so far. */
struct outcome {
	uint64_t plain, stored, made, literals;
	uint64_t first_cost; /* cost of the blocks that all trials get */
	bool possible;	     /* the trial's settings worked for all blocks */
	bool wanted;	     /* the next round runs this trial */
	bool whole;	     /* the trial got all blocks */
};

enum { TRIALS_MOST = 8 };
_Static_assert(sizeof for_speed <= TRIALS_MOST * sizeof *for_speed, "room for all outcomes");
_Static_assert(sizeof for_size <= TRIALS_MOST * sizeof *for_size, "room for all outcomes");

struct tuning {
	const struct tune_sample *sample;
	const struct trial *trials;
	size_t count;
	enum codec_aim aim;
	bool rest; /* this round has the blocks that not all trials get */
	struct outcome outcomes[TRIALS_MOST];
};

static bool seen_by_all(const struct tune_sample *s, size_t block)
{
	return s->count < BLOCKS_MANY || block % QUARTER == 0;
}

/* Compress the blocks of this round. */
static int try_blocks(struct hcodec *codec, const struct tuning *t, struct outcome *o,
		      struct error *err)
{
	const struct tune_sample *s = t->sample;
	struct buf out = {0};
	int rc = 0;

	codec->read_all = true;
	codec->sequencer.counts = true;
	for (size_t i = 0, at = 0; rc == RC_OK && i < s->count; at = s->ends[i++]) {
		struct bytes cells = {s->bytes.ptr + at, s->ends[i] - at};

		if (seen_by_all(s, i) == t->rest)
			continue;
		out.len = 0;
		rc = hfile_codec_compress_cells(codec, cells, &out, err);
		o->plain += cells.len;
		o->stored += out.len;
		o->possible &= codec->sequenced || codec->min_match == 0;
	}
	o->made += codec->sequencer.made;
	o->literals += codec->sequencer.literals;
	buf_release(&out);
	return rc;
}

/* Return the cost in picoseconds, or in bytes if the goal is size. */
static uint64_t cost_of(const struct tuning *t, const struct trial *trial, const struct outcome *o)
{
	if (t->aim == AIM_SIZE)
		return o->stored;
	return o->plain * trial->plain_cost + o->stored * (trial->stored_cost + STORE_COST) +
	       o->made * SEQUENCE_COST + o->literals * LITERAL_COST;
}

static int one_trial(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct tuning *t = ctx;
	const struct trial *trial = &t->trials[index];
	struct outcome *o = &t->outcomes[index];
	struct hcodec codec = {0};

	(void)worker;
	if (!o->wanted)
		return 0;
	int rc = hfile_codec_setup(&codec, CODEC_ZSTD, trial->level, ZSTD_FRAMING_HBASE, err);
	if (rc == RC_OK)
		rc = hfile_codec_tune(&codec, trial->hash_log, err);
	if (rc == RC_OK)
		rc = hfile_codec_sequence(&codec, trial->min_match, t->sample->tail_bytes, err);
	if (rc == RC_OK)
		rc = try_blocks(&codec, t, o, err);
	if (!t->rest)
		o->first_cost = cost_of(t, trial, o);
	o->whole = t->rest;
	hfile_codec_release(&codec);
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

int hfile_tune(struct hfile *f, enum codec_aim aim, unsigned threads, struct hfile_tuning *out,
	       struct error *err)
{
	struct tune_sample s = {0};
	struct tuning t = {.sample = &s, .trials = for_speed, .aim = aim};

	t.count = sizeof for_speed / sizeof *for_speed;
	if (aim == AIM_SIZE) {
		t.trials = for_size;
		t.count = sizeof for_size / sizeof *for_size;
	}
	int rc = sample_read(&s, f, err);
	if (rc == RC_OK)
		rc = try_all(&t, threads, err);
	uint64_t best = UINT64_MAX;
	for (size_t i = 0; rc == RC_OK && i < t.count; i++) {
		const struct trial *trial = &t.trials[i];
		const struct outcome *o = &t.outcomes[i];

		if (!o->possible || !o->whole || cost_of(&t, trial, o) >= best)
			continue;
		best = cost_of(&t, trial, o);
		*out = (struct hfile_tuning){trial->level, trial->hash_log, trial->min_match,
					     s.bytes.len, o->stored};
	}
	buf_release(&s.bytes);
	mem_free(s.ends);
	return rc;
}
