/*
 * tune.c - ZSTD settings chosen by trying them on a table's own blocks
 *
 * A block of cells repeats its neighbours: with a small hash table the newest candidate is the
 * nearest row, which is both faster to find and shorter to write.  Text that repeats over longer
 * distances wants a larger one.  So a few settings are tried.
 *
 * How long they take is not measured: files must not depend on how busy a machine was.  What zstd
 * needs for a block follows roughly from what comes out, a picoseconds a plain byte + b a stored
 * one (fitted by hand on an EPYC to 64 KB blocks of ratings, two kinds of logs and film titles; how
 * far it is off was not checked).  STORE_COST stands for what comes after: checksums, digest, writing, sending.
 */
#include "reader.h"

#include "mem.h"

#define STORE_COST 4000 /* picoseconds a stored byte: 250 MB/s */

struct trial {
	int level;
	uint32_t hash_log;
	uint32_t plain_cost, stored_cost;
};

/* The cheapest first: on a tie the first wins. */
static const struct trial for_speed[] = {
	{2, 8, 300, 5200}, {2, 10, 280, 5900}, {2, 0, 0, 9000}, {3, 0, 0, 11400}};
static const struct trial for_size[] = {{2, 8, 0, 0},  {2, 0, 0, 0}, {3, 0, 0, 0}, {7, 8, 0, 0},
					{7, 10, 0, 0}, {7, 0, 0, 0}, {9, 0, 0, 0}};

/* All payloads of data blocks, one behind the other; ends has where each ends. */
struct sample {
	struct buf bytes;
	size_t *ends, count, cap;
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
	while ((rc = hfile_next_block(f, &at, &b, err)) == 0)
		if (strncmp(b.type, "DATABLK", 7) == 0)
			sample_add(s, b.payload);
	hfile_close(f);
	return rc == RC_END ? 0 : rc;
}

static int try_one(struct hcodec *codec, const struct trial *t, const struct sample *s,
		   uint64_t *stored_bytes, struct error *err)
{
	struct buf out = {0};
	int rc = hcodec_setup(codec, CODEC_ZSTD, t->level, ZSTD_FRAMING_HBASE, err);
	if (rc == 0)
		rc = hcodec_tune(codec, t->hash_log, err);
	*stored_bytes = 0;
	for (size_t i = 0, at = 0; rc == 0 && i < s->count; at = s->ends[i++]) {
		out.len = 0;
		rc = hcodec_compress(codec, bytes_of(s->bytes.ptr + at, s->ends[i] - at), &out, err);
		*stored_bytes += out.len;
	}
	buf_release(&out);
	return rc;
}

static uint64_t cost_of(const struct trial *t, enum codec_aim aim, uint64_t plain, uint64_t stored)
{
	return aim == AIM_SIZE ? stored
			       : plain * t->plain_cost + stored * (t->stored_cost + STORE_COST);
}

int hfile_tune(const char *path, enum codec_aim aim, struct hfile_tuning *out, struct error *err)
{
	const struct trial *trials = aim == AIM_SIZE ? for_size : for_speed;
	size_t count = aim == AIM_SIZE ? sizeof for_size / sizeof *for_size
				       : sizeof for_speed / sizeof *for_speed;
	uint64_t best = UINT64_MAX;
	struct hcodec codec = {0};
	struct sample s = {0};
	int rc = sample_read(&s, path, err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		uint64_t stored;
		rc = try_one(&codec, &trials[i], &s, &stored, err);
		uint64_t cost = cost_of(&trials[i], aim, s.bytes.len, stored);
		if (rc || cost >= best)
			continue;
		best = cost;
		*out = (struct hfile_tuning){trials[i].level, trials[i].hash_log, s.bytes.len, stored};
	}
	hcodec_release(&codec);
	buf_release(&s.bytes);
	mem_free(s.ends);
	return rc;
}
