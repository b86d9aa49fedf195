/*
 * stretch.c - take packed records that arrive in sorted order as a run, without sorting
 *
 * The builder copies the bytes of all records at once, and reads only their lengths. All records of
 * a run have one codec. Packed records of another codec begin another run.
 */
#include "parts.h"

enum {
	LEAST_SHARE = 4,	/* of run_bytes */
	SHORT_BYTES = 64 << 10, /* a builder takes SHORT_RUNS shorter runs */
	SHORT_RUNS = 128
};

static int beyond_end(const struct packed_records *p, struct error *err)
{
	return error_set(
		err, RC_IO,
		"%s: damaged: found a row beyond the end of its piece, expected whole rows",
		p->name);
}

static int check_end(const struct packed_records *p, const uint8_t *at, uint64_t records,
		     struct error *err)
{
	if (at < p->bytes.ptr + p->bytes.len)
		return error_set(err, RC_IO,
				 "%s: damaged: found bytes after the last row of a piece, expected "
				 "none",
				 p->name);
	return records == p->records ? RC_OK : beyond_end(p, err);
}

static int begin(struct run_builder *b, const struct packed_records *p, struct error *err)
{
	const struct sorter *s = b->sorter;
	struct stretch *st = &b->stretch;

	st->run = mem_calloc(1, sizeof *st->run);
	st->run->codec = st->codec = p->codec;
	st->min_len = SIZE_MAX;
	st->max_len = 0;
	st->first.len = 0;
	st->last.len = 0;
	buf_reserve(&st->last, p->codec.string_max + SLACK_BYTES);
	return run_builder_begin(b, &st->writer, st->run,
				 p->bytes.len > s->opt.run_bytes ? p->bytes.len : s->opt.run_bytes,
				 err);
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

/* Begin a block with a record at `offset` of the run. The record has its whole string. */
static void begin_block(struct stretch *st, uint64_t offset, struct bytes key)
{
	const size_t secondary_bytes = st->codec.secondary_bytes, bytes = key.len + secondary_bytes;

	run_writer_index(&st->writer, offset, key);
	if (st->first.len > 0)
		return;
	buf_reserve(&st->first, bytes + SLACK_BYTES);
	buf_append(&st->first, key.ptr, bytes);
	watch_start(&st->watch, st->first.ptr, key.len, secondary_bytes);
}

/* The sums that index_records makes. A copy on its stack stays in registers. */
struct summing {
	struct run_codec codec;
	struct usual_weight usual;
	struct span_watch watch;
	size_t min_len, max_len;
	uint64_t weight;
};

static struct summing sum_from(const struct stretch *st)
{
	return (struct summing){.codec = st->codec,
				.usual = st->writer.weigher.usual,
				.watch = st->watch,
				.min_len = st->min_len,
				.max_len = st->max_len,
				.weight = st->writer.weight};
}

static void sum_to(struct stretch *st, const struct summing *s)
{
	st->watch = s->watch;
	st->min_len = s->min_len;
	st->max_len = s->max_len;
	st->writer.weight = s->weight;
}

/* Note the varying bits of a record, or the length of its key, for the span of the run. */
static inline void watch(struct summing *s, const struct packed_head *h, const uint8_t *tail,
			 size_t key_len)
{
	if (s->codec.fixed && !s->watch.lost) {
		watch_tail(&s->watch, tail, h->shared);
		return;
	}
	s->min_len = key_len < s->min_len ? key_len : s->min_len;
	s->max_len = key_len > s->max_len ? key_len : s->max_len;
}

static __attribute__((noinline)) uint64_t weigh_unusual(const struct weigher *w, struct bytes key,
							struct bytes payload)
{
	return weigh_record(w, &(struct record){.key = key,
						.secondary = key.ptr + key.len,
						.payload = payload});
}

/* Add the records to the run's index, at the end of the run. */
static int index_records(struct stretch *st, const struct packed_records *p, struct error *err)
{
	struct summing s = sum_from(st);
	const uint64_t offset = st->writer.flushed + st->writer.used;
	const uint8_t *at = p->bytes.ptr, *end = at + p->bytes.len, *block = at;
	uint8_t *string = st->last.ptr;
	size_t bytes = 0;
	uint64_t n = 0;

	for (; at < end && n < p->records; n++) {
		struct packed_head h;
		const uint8_t *tail = packed_read_head(&s.codec, at, end, &h);

		if (!tail || h.large || h.shared > bytes ||
		    h.shared + h.tail == s.codec.secondary_bytes)
			return beyond_end(p, err);
		/* a reader must not meet a restart within a block */
		bool begins = h.shared == 0 &&
			      (n == 0 || tail[0] == string[0] || at - block >= BLOCK_BYTES / 2);
		copy_with_slack(string + h.shared, tail, h.tail);
		bytes = h.shared + h.tail;
		struct bytes key = bytes_of(string, bytes - s.codec.secondary_bytes);
		if (begins) {
			block = at;
			sum_to(st, &s);
			begin_block(st, offset + (size_t)(at - p->bytes.ptr), key);
			s = sum_from(st);
		}
		watch(&s, &h, tail, key.len);
		at = tail + h.tail + h.payload;
		const struct record r = {.key = key,
					 .payload = bytes_of(at - h.payload, h.payload)};
		s.weight += weight_is_usual(&s.usual, &r)
				    ? weigh_usual(&s.usual, &r)
				    : weigh_unusual(&st->writer.weigher, key, r.payload);
	}
	sum_to(st, &s);
	st->last.len = bytes;
	st->writer.run->records += n;
	return check_end(p, at, n, err);
}

static bool suits(const struct run_builder *b, const struct packed_records *p)
{
	const struct stretch *st = &b->stretch;
	const struct run_writer *w = &st->writer;
	const struct run_codec *a = &st->codec, *c = &p->codec;

	return a->seq_base == c->seq_base && a->seq_bytes == c->seq_bytes &&
	       a->string_max == c->string_max && a->fixed == c->fixed &&
	       w->flushed + w->used + p->bytes.len <= b->sorter->opt.run_bytes;
}

static int take_as_run(struct run_builder *b, const struct packed_records *p, struct error *err)
{
	struct stretch *st = &b->stretch;
	int rc = st->run && !suits(b, p) ? stretch_end(b, err) : RC_OK;

	if (rc == RC_OK && !st->run)
		rc = begin(b, p, err);
	if (rc == RC_OK)
		rc = index_records(st, p, err);
	return rc ? rc : run_writer_append(&st->writer, p->bytes, err);
}

/* Add each record to the buffer. */
static int take_each(struct run_builder *b, const struct packed_records *p, struct error *err)
{
	struct run run = {.codec = p->codec};
	struct run_reader rd = {0};
	uint64_t n = 0;
	int rc = RC_OK;

	reader_start(&rd, &run);
	rd.next = p->bytes.ptr;
	rd.end = p->bytes.ptr + p->bytes.len;
	for (; rc == RC_OK && rd.next < rd.end && n < p->records; n++) {
		const struct record_item *it = reader_item(&rd, rd.turn + 1);

		if (reader_take(&rd) && it->rec.key.len > 0 && !it->large)
			rc = run_builder_add(b, &it->rec, err);
		else
			rc = beyond_end(p, err);
	}
	if (rc == RC_OK)
		rc = check_end(p, rd.next, n, err);
	reader_release(&rd);
	return rc;
}

int run_builder_add_packed(struct run_builder *b, const struct packed_records *p, struct error *err)
{
	return b->stretch.comes && !p->large ? take_as_run(b, p, err) : take_each(b, p, err);
}

int run_builder_stretch(struct run_builder *b, uint64_t bytes, bool goes_on, struct error *err)
{
	int rc = goes_on ? RC_OK : stretch_end(b, err);

	/* merging many short runs costs more than sorting their records together */
	b->stretch.comes = bytes >= b->sorter->opt.run_bytes / LEAST_SHARE ||
			   (bytes >= SHORT_BYTES && b->nruns < SHORT_RUNS && b->spill->fd < 0);
	return rc;
}
