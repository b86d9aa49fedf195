/* inputs.c - compute digests of the input files, and read what their file infos say */
#include <string.h>

#include "clock.h"
#include "hash.h"
#include "pool.h"
#include "rewrite.h"

#define PIECE ((size_t)1 << 20)

/* Read the whole file, for its digests. */
static int digest(struct rewrite_input *in, struct hfile_source *s, struct progress *progress,
		  struct error *err)
{
	struct file_digest d;
	XXH3_state_t *whole = XXH3_createState();
	uint8_t *piece = mem_alloc(PIECE);
	XXH128_canonical_t found;
	int rc = whole ? RC_OK : error_memory(err, sizeof d, "a digest");

	file_digest_open(&d, 0);
	if (whole)
		XXH3_128bits_reset(whole);
	for (uint64_t at = 0; rc == RC_OK && at < s->bytes; at += PIECE) {
		size_t n = s->bytes - at < PIECE ? (size_t)(s->bytes - at) : PIECE;

		rc = stop_check(err);
		if (rc == RC_OK)
			rc = s->read(s->self, at, piece, n, err);
		if (rc)
			break;
		file_digest_add(&d, piece, n);
		XXH3_128bits_update(whole, piece, n);
		progress_add(progress, n);
	}
	if (rc == RC_OK) {
		file_digest_sum(&d, in->digest);
		XXH128_canonicalFromHash(&found, XXH3_128bits_digest(whole));
		if (in->file->digest && memcmp(found.digest, in->file->digest, 16) != 0)
			rc = error_set(err, RC_DATA,
				       "%s: found other bytes than in the manifest of its load; "
				       "run `saltmill verify` on the load",
				       in->file->name);
	}
	file_digest_close(&d);
	XXH3_freeState(whole);
	mem_free(piece);
	return rc;
}

static int64_t number(const struct hfile *h, const char *key, size_t at, int64_t missing)
{
	struct bytes v;

	if (!hfile_info_get(h, key, &v) || v.len != at + 8)
		return missing;
	return (int64_t)get_be64(v.ptr + at);
}

static void take_info(struct rewrite_input *in, const struct hfile *h)
{
	struct hfile_options o;

	hfile_options_of(h, &o);
	in->entries = hfile_trailer(h)->entry_count;
	in->tags = o.tags;
	in->codec = o.codec;
	in->framing = o.framing;
	in->encoding = o.encoding;
	in->bloom = o.bloom;
	in->earliest_put = number(h, "EARLIEST_PUT_TS", 0, INT64_MIN);
	in->newest_ms = number(h, "TIMERANGE", 8, 0);
}

static int read_input(void *ctx, unsigned worker, size_t i, struct error *err)
{
	struct rewrite *r = ctx;
	struct rewrite_input *in = &r->inputs[i];
	struct hfile_source source;
	struct hfile *h;

	(void)worker;
	int rc = in->file->open(in->file, &source, err);
	if (rc)
		return rc;
	in->bytes = source.bytes;
	if (!r->opt->what_if && !in->known)
		rc = digest(in, &source, r->opt->progress, err);
	if (rc) {
		if (source.close)
			source.close(source.self);
		return rc;
	}
	rc = hfile_open_source(&h, &source, err);
	if (rc)
		return rc;
	take_info(in, h);
	hfile_close(h);
	return RC_OK;
}

/* Write the time of the newest cell into the files, as a load does. */
static int find_time(struct rewrite *r, struct error *err)
{
	int rc = source_date_epoch(&r->created_ms, err);

	if (rc || r->created_ms >= 0)
		return rc;
	r->created_ms = 0;
	for (size_t i = 0; i < r->ninputs; i++)
		if (r->inputs[i].newest_ms > r->created_ms &&
		    r->inputs[i].newest_ms < CELL_TS_LATEST)
			r->created_ms = r->inputs[i].newest_ms;
	return RC_OK;
}

int rewrite_read_inputs(struct rewrite *r, struct error *err)
{
	progress_begin(r->opt->progress, "reading", PROGRESS_BYTES, 0);
	int rc = pool_run(r->opt->threads, r->ninputs, read_input, r, err);

	return rc ? rc : find_time(r, err);
}
