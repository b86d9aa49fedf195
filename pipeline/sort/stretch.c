/*
 * stretch.c - write records that arrive in sorted order directly to a run, without a buffer
 *
 * A run needs its codec before its first record. So the first record sets the length of all keys
 * and the high half of all seqs. A record with another length or half ends the run. The next run
 * then accepts keys of any length, or any seq.
 */
#include "parts.h"

enum { LEAST_SHARE = 4, HEADER_MOST = 32 };

/* Return the most bytes of a record in a run. The first record of a block has its whole string. */
static size_t bytes_in_run(const struct run_builder *b, const struct record *r)
{
	return HEADER_MOST + r->key.len + b->sorter->opt.secondary_bytes + r->payload.len;
}

static int begin(struct run_builder *b, const struct record *r, struct error *err)
{
	const struct sorter *s = b->sorter;
	struct stretch *st = &b->stretch;
	struct run *run = mem_calloc(1, sizeof *run);
	size_t secondary_bytes = s->opt.secondary_bytes, most = bytes_in_run(b, r);
	struct key_span lengths = {.min_len = st->varies ? 1 : r->key.len,
				   .max_len = st->varies ? ROW_KEY_MAX : r->key.len};

	most = most > s->opt.run_bytes ? most : s->opt.run_bytes;
	st->run = run;
	st->min_len = st->max_len = r->key.len;
	st->first_seq = st->wide ? 0 : r->seq & ~(uint64_t)UINT32_MAX;
	st->last_seq = st->wide ? UINT64_MAX : r->seq | UINT32_MAX;
	run_codec_init(&run->codec, &lengths, secondary_bytes, st->first_seq, st->last_seq);
	st->first.len = st->last.len = 0;
	buf_reserve(&st->first, r->key.len + secondary_bytes + SLACK_BYTES);
	buf_append(&st->first, r->key.ptr, r->key.len + secondary_bytes);
	buf_append(&st->last, r->key.ptr, r->key.len + secondary_bytes);
	watch_start(&st->watch, st->first.ptr, r->key.len, secondary_bytes);
	return run_builder_begin(b, &st->writer, run, most, err);
}

int stretch_end(struct run_builder *b, struct error *err)
{
	struct stretch *st = &b->stretch;
	struct run *run = st->run;
	const size_t secondary_bytes = b->sorter->opt.secondary_bytes;

	if (!run)
		return RC_OK;
	if (!run->codec.fixed)
		run->codec.string_max = st->max_len + secondary_bytes;
	if (run->codec.fixed && !st->watch.lost)
		span_watched(&run->span, &st->watch, st->first.ptr, secondary_bytes);
	else
		span_between(&run->span, buf_bytes(&st->first), buf_bytes(&st->last), st->min_len,
			     st->max_len, secondary_bytes);
	int rc = run_writer_end(&st->writer, err);
	run_writer_release(&st->writer);
	run_list_add(&b->runs, &b->nruns, run);
	b->spilled_bytes += run->data ? 0 : run->bytes;
	st->run = NULL;
	return rc;
}

void stretch_release(struct run_builder *b)
{
	struct stretch *st = &b->stretch;

	run_writer_release(&st->writer);
	run_free(st->run, b->sorter->opt.budget);
	buf_release(&st->first);
	buf_release(&st->last);
	*st = (struct stretch){0};
}

/* Return true if the open run accepts record `r`. If not, the next run will accept such records. */
static bool suits(struct stretch *st, const struct record *r)
{
	st->varies |= r->key.len != st->max_len;
	st->wide |= r->seq < st->first_seq || r->seq > st->last_seq;
	return (!st->varies || !st->run->codec.fixed) && r->seq >= st->first_seq &&
	       r->seq <= st->last_seq;
}

static bool has_room(const struct run_builder *b, const struct record *r)
{
	const struct run_writer *w = &b->stretch.writer;

	return w->flushed + w->used + bytes_in_run(b, r) <= b->sorter->opt.run_bytes;
}

/* Record the varying bits of a record, or its key length and string, for the span of the run. */
static inline void watch(struct stretch *st, const struct ordered_record *r, size_t secondary_bytes)
{
	const size_t len = r->rec.key.len, string_len = len + secondary_bytes;

	if (st->run->codec.fixed && !st->watch.lost) {
		watch_tail(&st->watch, r->tail, r->shared);
		return;
	}
	st->min_len = len < st->min_len ? len : st->min_len;
	st->max_len = len > st->max_len ? len : st->max_len;
	st->last.len = r->shared;
	buf_append(&st->last, r->tail, string_len - r->shared);
}

int stretch_add(struct run_builder *b, const struct ordered_record *r, struct error *err)
{
	struct stretch *st = &b->stretch;
	const struct record_item it = {.rec = r->rec};
	int rc = RC_OK;

	if (st->run && (!suits(st, &r->rec) || !has_room(b, &r->rec))) {
		rc = stretch_end(b, err);
		if (rc)
			return rc;
	}
	if (!st->run)
		rc = begin(b, &r->rec, err);
	else
		watch(st, r, b->sorter->opt.secondary_bytes);
	return rc ? rc : run_writer_put_behind(&st->writer, &it, r->shared, r->tail, err);
}

int run_builder_stretch(struct run_builder *b, uint64_t bytes, bool goes_on, struct error *err)
{
	int rc = goes_on ? RC_OK : stretch_end(b, err);

	/* the stretch begins a block, so readers need no record before it */
	b->stretch.writer.block_end = 0;
	/* merging a short run costs more than sorting its records with other records */
	b->stretch.comes = bytes >= b->sorter->opt.run_bytes / LEAST_SHARE;
	return rc;
}
