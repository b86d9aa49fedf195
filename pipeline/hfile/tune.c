/*
 * tune.c - ZSTD settings chosen by trying them on a table's own blocks
 *
 * A block of cells repeats its neighbours: with a small hash table the newest candidate is the
 * nearest row, which is both faster to find and shorter to write.  Text that repeats over longer
 * distances wants a larger one.  So a few settings are tried.
 *
 * How long they take is not measured: files must not depend on how busy a machine was.  What it
 * takes follows from what was made, in picoseconds: of a plain byte and a stored one where zstd
 * looks for matches; of a plain byte, a sequence and a literal where it is given sequences.  Fitted
 * on an EPYC to 64 KB blocks of ratings, flights, film titles and two logs; the first kind is off
 * by up to 22 %, the second by 3.  STORE_COST is what comes after: checksums, digest, writing,
 * three copies in HDFS.
 */
#include "reader.h"

#include "mem.h"
#include "pool.h"

#define STORE_COST    8000 /* picoseconds a stored byte: 125 MB/s */
#define SEQUENCE_COST 16500
#define LITERAL_COST  1150

struct trial {
	int level;
	uint32_t hash_log, min_match;
	uint32_t plain_cost, stored_cost;
};

/* On a tie the first wins. */
static const struct trial for_speed[] = {{2, 8, 8, 365, 0},    {2, 8, 4, 365, 0},
					 {2, 8, 0, 440, 6100}, {2, 10, 0, 290, 7600},
					 {2, 0, 0, 140, 9100}, {3, 0, 0, 80, 11000}};
static const struct trial for_size[] = {{2, 8, 0, 0, 0}, {2, 0, 0, 0, 0},  {3, 0, 0, 0, 0},
					{7, 8, 0, 0, 0}, {7, 10, 0, 0, 0}, {7, 0, 0, 0, 0},
					{9, 0, 0, 0, 0}};

/* All payloads of data blocks, one behind the other; ends has where each ends. */
struct sample {
	struct buf bytes;
	size_t *ends, count, cap;
	size_t tail_bytes; /* behind each cell */
	bool encoded;
};

static void sample_add(struct sample *s, struct bytes payload)
{
	if (s->count == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 64;
		s->ends = mem_realloc(s->ends, s->cap * sizeof *s->ends);
	}
	buf_append(&s->bytes, payload.ptr, payload.len);
	s->ends[s->count++] = s->bytes.len;
}

static int sample_read(struct sample *s, const char *path, struct error *err)
{
	struct hfile *f;
	struct hfile_block b;
	uint64_t at = 0;
	int rc = hfile_open(&f, path, err);
	if (rc)
		return rc;
	s->encoded = f->encoding != ENCODING_NONE;
	s->tail_bytes = (f->tail.tags ? 2u : 0u) + f->tail.mvcc;
	while ((rc = hfile_next_block(f, &at, &b, err)) == 0)
		if (strncmp(b.type, "DATABLK", 7) == 0)
			sample_add(s, b.payload);
	hfile_close(f);
	return rc == RC_END ? 0 : rc;
}

/* Compress the sample; *made false: some of it not in the way of the trial. */
static int try_one(struct hcodec *codec, const struct trial *t, const struct sample *s,
		   uint64_t *stored_bytes, bool *made, struct error *err)
{
	struct buf out = {0};
	int rc = hcodec_setup(codec, CODEC_ZSTD, t->level, ZSTD_FRAMING_HBASE, err);
	if (rc == 0)
		rc = hcodec_tune(codec, t->hash_log, err);
	if (rc == 0)
		rc = hcodec_sequence(codec, t->min_match, s->tail_bytes, err);
	codec->read_all = true;
	codec->sequencer.made = codec->sequencer.literals = 0;
	codec->sequencer.counts = true;
	*stored_bytes = 0;
	*made = true;
	for (size_t i = 0, at = 0; rc == 0 && i < s->count; at = s->ends[i++]) {
		struct bytes cells = {s->bytes.ptr + at, s->ends[i] - at};
		out.len = 0;
		rc = hcodec_compress_cells(codec, cells, &out, err);
		*stored_bytes += out.len;
		*made &= codec->sequenced || t->min_match == 0;
	}
	buf_release(&out);
	return rc;
}

/* Picoseconds or, for size, bytes. */
static uint64_t cost_of(const struct trial *t, enum codec_aim aim, uint64_t plain, uint64_t stored,
			const struct sequencer *s)
{
	if (aim == AIM_SIZE)
		return stored;
	return plain * t->plain_cost + stored * (t->stored_cost + STORE_COST) +
	       s->made * SEQUENCE_COST + s->literals * LITERAL_COST;
}

enum { TRIALS_MOST = 8 };
_Static_assert(sizeof for_speed <= TRIALS_MOST * sizeof *for_speed, "room for all outcomes");
_Static_assert(sizeof for_size <= TRIALS_MOST * sizeof *for_size, "room for all outcomes");

struct tuning {
	const struct sample *sample;
	const struct trial *trials;
	enum codec_aim aim;
	struct outcome {
		uint64_t stored, cost; /* cost UINT64_MAX: cannot be had */
	} outcomes[TRIALS_MOST];
};

static int one_trial(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct tuning *t = ctx;
	const struct trial *trial = &t->trials[index];
	struct outcome *o = &t->outcomes[index];
	struct hcodec codec = {0};
	bool made;
	(void)worker;
	o->cost = UINT64_MAX;
	if (trial->min_match && t->sample->encoded)
		return 0;
	int rc = try_one(&codec, trial, t->sample, &o->stored, &made, err);
	if (rc == 0 && made)
		o->cost = cost_of(trial, t->aim, t->sample->bytes.len, o->stored, &codec.sequencer);
	hcodec_release(&codec);
	return rc;
}

int hfile_tune(const char *path, enum codec_aim aim, unsigned threads, struct hfile_tuning *out,
	       struct error *err)
{
	struct sample s = {0};
	struct tuning t = {&s, aim == AIM_SIZE ? for_size : for_speed, aim, {{0}}};
	size_t count = aim == AIM_SIZE ? sizeof for_size / sizeof *for_size
				       : sizeof for_speed / sizeof *for_speed;
	int rc = sample_read(&s, path, err);
	if (rc == 0)
		rc = pool_run(threads, count, one_trial, &t, err);
	uint64_t best = UINT64_MAX;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		const struct trial *trial = &t.trials[i];
		if (t.outcomes[i].cost >= best)
			continue;
		best = t.outcomes[i].cost;
		*out = (struct hfile_tuning){trial->level, trial->hash_log, trial->min_match,
					     s.bytes.len, t.outcomes[i].stored};
	}
	buf_release(&s.bytes);
	mem_free(s.ends);
	return rc;
}
