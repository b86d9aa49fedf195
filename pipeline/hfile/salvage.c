/*
 * salvage.c - write the cells of the intact blocks of a damaged file to a new file
 *
 * The walk goes from block to block. After damage, it searches for the next block with valid
 * checksums. A value may contain a whole HFile, so a data block must also link to a data block before
 * it, which was read or is in the damaged range.
 */
#include "salvage.h"

#include "mem.h"
#include "pool.h"
#include "trailer.h"

struct salvage {
	struct hfile *f;
	const char *to;
	struct hfile_writer *writer;
	struct hfile_salvaged *out;
	void (*lost)(void *ctx, const struct hfile_loss *l);
	void *ctx;
	bool has_trailer, opened;
	int64_t last_data;	/* offset of the last block whose cells were taken; -1 */
	struct buf last;	/* flat key of the last cell */
	struct hfile_loss loss; /* pending range; `why` NULL means none */
	struct error why;
};

/* --- check and write blocks --- */

/* Check that the block is at its place: it links to a block before it, and its cells come next. */
static int check_place(const struct salvage *s, const struct cell *first, struct error *err)
{
	const struct hblock *b = &s->f->data;
	uint64_t at = b->place.offset, previous = (uint64_t)b->previous;
	bool linked = b->previous == -1 ? at == 0
		      : s->loss.why	? b->previous == s->last_data ||
					      (previous >= s->loss.offset && previous < at)
				    : b->previous == s->last_data;
	struct cell last;

	if (!linked)
		return error_set(err, RC_DATA,
				 "found a data block that links to offset %lld, expected %lld",
				 (long long)b->previous, (long long)s->last_data);
	if (s->last.len && hfile_kv_key_parse(buf_bytes(&s->last), &last) &&
	    (cell_key_cmp(&last, first) > 0 || !bytes_eq(last.family, first->family)))
		return error_set(err, RC_DATA, "found cells before the cells of an earlier block");
	return RC_OK;
}

static int open_writer(struct salvage *s, struct error *err)
{
	struct hfile_options o;

	hfile_options_of(s->f, &o);
	if (!codec_is_written(o.codec))
		o.codec = CODEC_GZ; /* every HBase reads GZ */
	if (!s->opened)
		o.bloom = BLOOM_ROW;
	return hfile_writer_new(&s->writer, s->to, &o, err);
}

static int write_cells(struct salvage *s, struct bytes cells, struct error *err)
{
	struct cell c = {0};
	struct kv kv = {0};
	size_t at = 0;
	int rc = s->writer ? RC_OK : open_writer(s, err);

	while (rc == RC_OK &&
	       (rc = hfile_reader_take_cell(s->f, cells, &at, &kv, &c, err)) == RC_OK)
		rc = hfile_add(s->writer, &c, err);
	if (rc != RC_END)
		return rc;
	s->last.len = 0;
	return buf_try_append(&s->last, kv.key.ptr, kv.key.len)
		       ? RC_OK
		       : error_memory(err, kv.key.len, "a row key");
}

/* --- lost ranges --- */

static void lose(struct salvage *s, uint64_t from, uint64_t to, const struct error *why)
{
	if (!s->loss.why) {
		s->why = *why;
		s->loss = (struct hfile_loss){.offset = from, .why = s->why.msg};
	}
	s->loss.bytes = to - s->loss.offset;
}

static void report_loss(struct salvage *s, struct bytes after, bool no_cells)
{
	struct hfile_loss *l = &s->loss;

	if (!l->why)
		return;
	if (s->last.len)
		l->before = hfile_kv_key_row(buf_bytes(&s->last));
	l->after = after;
	l->no_cells = no_cells;
	s->out->ranges += !no_cells;
	s->lost(s->ctx, l);
	*l = (struct hfile_loss){0};
}

/* Take the cells of the data block. A block that fails a check is lost. */
static int take_block(struct salvage *s, struct error *err)
{
	struct hfile *f = s->f;
	struct hblock *b = &f->data;
	const uint64_t at = b->place.offset, end = at + b->place.disk_bytes;
	struct bytes cells;
	struct cell first;
	struct error why;
	int rc = hfile_block_unpack(&f->in, b, &why);

	if (rc == RC_OK)
		rc = hfile_reader_block_cells(f, b, &cells, &why);
	if (rc == RC_OK)
		rc = hfile_salvage_check(f, cells, &first, &why);
	if (rc == RC_OK)
		rc = check_place(s, &first, &why);
	if (rc == RC_MEMORY)
		*err = why;
	else if (rc)
		lose(s, at, end, &why);
	if (rc)
		return rc == RC_MEMORY ? rc : RC_OK;
	report_loss(s, first.row, b->previous == s->last_data);
	s->last_data = (int64_t)at;
	return write_cells(s, cells, err);
}

static int walk(struct salvage *s, struct error *err)
{
	struct hfile *f = s->f;
	struct error why;
	uint64_t at = 0, from = 0;
	int rc;

	while ((rc = hfile_salvage_find(f, &at, &f->data, &why, err)) == RC_OK) {
		if (at > from)
			lose(s, from, at, &why);
		from = at + f->data.place.disk_bytes;
		at = from;
		if (hfile_reader_chain(f->data.type) == HBLOCK_DATA)
			rc = take_block(s, err);
		if (rc || (rc = stop_check(err)) != RC_OK)
			return rc;
	}
	if (rc != RC_END)
		return rc;
	if (from < f->in.limit)
		lose(s, from, f->in.limit, &why);
	if (!s->has_trailer && !s->loss.why) {
		error_set(&why, RC_DATA, "found the end of the file, expected a trailer");
		lose(s, f->in.limit, f->in.limit, &why);
	}
	report_loss(s, (struct bytes){0},
		    s->has_trailer && s->last_data == (int64_t)f->trailer.last_data_block);
	return RC_OK;
}

/* --- the file --- */

/* Open a file whose trailer or file info is damaged. */
static int open_damaged(struct salvage *s, const char *from, struct error *err)
{
	struct hfile *f = s->f = mem_try_calloc(1, sizeof *f);
	uint8_t tail[HTRAILER_BYTES];
	struct error bad;

	if (!f)
		return error_memory(err, sizeof *f, "a damaged file");
	int rc = hfile_file_source(&f->source, from, err);
	if (rc)
		return rc;
	f->in.source = &f->source;
	f->in.state.extras = hfile_extras_used();
	f->in.limit = f->source.bytes;
	size_t n = f->source.bytes < sizeof tail ? (size_t)f->source.bytes : sizeof tail;
	s->has_trailer =
		f->source.read(f->source.self, f->source.bytes - n, tail, n, &bad) == RC_OK &&
		hfile_trailer_parse(&f->trailer, bytes_of(tail, n), &bad) == RC_OK;
	if (s->has_trailer) {
		f->in.limit -= f->trailer.trailer_bytes;
		rc = hfile_reader_unlock(f, err);
	}
	return rc ? rc : hfile_salvage_form(f, err);
}

static int open_file(struct salvage *s, const char *from, struct error *err)
{
	int rc = hfile_open(&s->f, from, err);

	s->opened = s->has_trailer = rc == RC_OK;
	return rc == RC_OK || rc == RC_MEMORY || rc == RC_CONFIG ? rc : open_damaged(s, from, err);
}

int hfile_salvage(const char *from, const char *to,
		  void (*lost)(void *ctx, const struct hfile_loss *l), void *ctx,
		  struct hfile_salvaged *out, struct error *err)
{
	struct salvage s = {.to = to, .out = out, .lost = lost, .ctx = ctx, .last_data = -1};

	*out = (struct hfile_salvaged){.expected = UINT64_MAX};
	int rc = open_file(&s, from, err);
	if (rc == RC_OK && s.has_trailer)
		out->expected = s.f->trailer.entry_count;
	if (rc == RC_OK)
		rc = walk(&s, err);
	if (rc == RC_OK && !s.writer)
		rc = error_set(err, RC_DATA, "%s: found no intact data block, expected one", from);
	if (rc == RC_OK)
		rc = hfile_finish(s.writer, &out->sum, err);
	else
		hfile_abort(s.writer);
	hfile_close(s.f);
	buf_release(&s.last);
	return rc;
}
