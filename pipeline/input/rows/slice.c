/*
 * slice.c - read a slice of a file's rows
 *
 * A slice has the rows whose first byte is in the slice, so the last row may end after the slice.
 * To find the first row, slice_begin searches for a line end from one byte before the slice. A row
 * may begin at the slice's first byte. A line end inside quotes does not end a row, so the guess
 * may be wrong. saltmill detects a wrong guess, because the previous slice then has another end.
 *
 * The digest of the file is a sum over its chunks. A slice adds up the chunks that begin in it, so
 * it reads on to the end of the last one. The bytes between its last row and that end are rows of
 * the next slice, or the other way round. Both slices digest these bytes, so `unite` notices if the
 * file changed between the two readings.
 */
#include "slice.h"

#include "blocks.h"
#include "cursor.h"
#include "hash.h"

static void digest_of(const void *state, uint8_t digest[16])
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
	memcpy(digest, canonical.digest, 16);
}

static void *digest_new(void)
{
	XXH3_state_t *state = mem_alloc_aligned(64, sizeof(XXH3_state_t));

	XXH3_128bits_reset(state);
	return state;
}

/* Read the column names from a separate file. */
static int read_columns(struct source *s, const char *path, struct error *err)
{
	struct cursor look = {0};
	size_t spare = s->nfiles; /* use an entry of the arrays that no input uses */

	if (s->json || !s->csv->header)
		return error_set(
			err, RC_CONFIG,
			"--columns: found a file with a header line, but the job says that the "
			"inputs have no header; remove --columns");
	s->files[spare].path = path;
	int rc = input_check(path, &s->stamps[spare], err);
	if (rc == RC_OK)
		rc = cursor_open(s, &look, spare, err);
	cursor_close(&look);
	s->headless = true;
	return rc;
}

static uint64_t file_size(const struct source *s)
{
	return s->input->feed ? s->input->feed->size : s->stamps[0].size;
}

static int check_slice(const struct source *s, struct error *err)
{
	const struct source_slice *a = &s->slice.asked;

	if (s->nfiles != 1 || !(s->input->feed ? s->input->feed->bytes != UINT64_MAX
					       : s->stamps[0].regular || s->stamps[0].object))
		return error_set(err, RC_CONFIG, "--slice: found %zu inputs%s, expected one file",
				 s->nfiles, s->nfiles == 1 ? " (a stream)" : "");
	if (s->blocks)
		return error_set(err, RC_CONFIG, "--slice: found %s, expected a csv or json source",
				 s->blocks->key);
	if (s->documents)
		return error_set(err, RC_CONFIG,
				 "--slice: found JSON documents, whose records need not begin on a "
				 "new line; expected `layout: lines`, or load the file without "
				 "--slice");
	if (s->csv->encoding)
		return error_set(err, RC_CONFIG,
				 "--slice: found source.csv.encoding: %s, expected UTF-8",
				 s->csv->encoding);
	if (a->parts ? a->part < 1 || a->part > a->parts : !a->exact && a->from > a->to)
		return error_set(err, RC_CONFIG,
				 "--slice: found an end before the start, "
				 "expected START-END in rising order");
	return RC_OK;
}

/* Return true if a row key depends on the position of its event in the file. */
static bool draws_by_place(const struct job *job)
{
	for (size_t t = 0; t < job->ntables; t++)
		for (size_t i = 0; i < job->tables[t].nrowkey; i++)
			if (job->tables[t].rowkey[i].draw == DRAW_ROUND_ROBIN)
				return true;
	return false;
}

/*
 * Check that standard input contains the slice's rows and that the source knows the column names.
 */
static int check_feed(struct source *s, const struct job *job, struct error *err)
{
	const struct source_feed *f = s->input->feed;
	bool blocks = job->source == SOURCE_AVRO || job->source == SOURCE_ARROW;

	if (f->bytes == UINT64_MAX && !blocks)
		return error_set(
			err, RC_CONFIG,
			"found standard input without --bytes, which does not show that all bytes "
			"arrived; add --bytes N, the number of its bytes (a DataFrame needs "
			"`source: {arrow: {files: ['-']}}`)");
	if (f->bytes != UINT64_MAX && (f->offset > f->size || f->bytes > f->size - f->offset))
		return error_set(err, RC_CONFIG,
				 "--offset plus --bytes exceeds the %llu bytes of --size",
				 (unsigned long long)f->size);
	if (!s->input->slice && (f->offset > 0 || f->bytes != f->size))
		return error_set(
			err, RC_CONFIG,
			"standard input is a part of a file, so the rows to read are unknown; "
			"add --slice");
	if (f->offset == 0 || !s->csv->header || s->json || s->input->columns_file ||
	    s->csv->replace)
		return RC_OK;
	if (!f->columns)
		return error_set(
			err, RC_CONFIG,
			"the header is before --offset; add --columns FILE, a file that starts "
			"with the header");
	s->columns = arena_alloc(&s->arena, (f->ncolumns + 1) * sizeof *s->columns);
	for (s->ncolumns = 0; s->ncolumns < f->ncolumns; s->ncolumns++)
		s->columns[s->ncolumns] = arena_strdup(&s->arena, f->columns[s->ncolumns]);
	return RC_OK;
}

int slice_open(struct source *s, const struct job *job, struct error *err)
{
	const struct input *in = s->input;
	struct slice *slice = &s->slice;
	int rc = in->feed ? check_feed(s, job, err) : RC_OK;

	if (rc)
		return rc;

	s->seq_base = SOURCE_FILE_SEQ(in->number);
	slice->read.number = in->number;
	slice->given = in->slice != NULL;
	if (slice->given) {
		slice->asked = *in->slice;
		slice->digest = digest_new();
		slice->before.state = digest_new();
		slice->after.state = digest_new();
		rc = check_slice(s, err);
	}
	bool whole = slice->given && in->slice->parts == 1; /* 1/1 gives the line numbers */
	if (rc == RC_OK && slice->given && !whole && draws_by_place(job))
		rc = error_set(
			err, RC_CONFIG,
			"--slice: found a salt with `draw: round_robin`, which depends on line "
			"numbers that a slice does not know; expected another salt");
	if (rc == RC_OK && in->columns_file)
		rc = read_columns(s, in->columns_file, err);
	return rc;
}

/* Return border number `n` of `parts` equal parts. */
static uint64_t border(uint64_t size, unsigned n, unsigned parts)
{
	return size / parts * n + size % parts * n / parts;
}

/* Add the bytes at `offset` that are in [lo, hi). */
static void border_add(struct slice_border *b, uint64_t offset, const uint8_t *p, size_t n)
{
	uint64_t lo = b->lo > offset ? b->lo : offset;
	uint64_t hi = b->hi < offset + n ? b->hi : offset + n;

	if (lo < hi)
		XXH3_128bits_update(b->state, p + (lo - offset), (size_t)(hi - lo));
}

static void borders_add(struct slice *slice, uint64_t offset, const uint8_t *p, size_t n)
{
	border_add(&slice->before, offset, p, n);
	border_add(&slice->after, offset, p, n);
}

/* Drop bytes that are no rows of the slice. */
static void pass_over(struct source *s, struct cursor *c, size_t n)
{
	borders_add(&s->slice, c->offset, c->rest.ptr, n);
	cursor_advance(c, n);
}

/*
 * Skip to `byte`, which must not be before the cursor. With `through`, read all bytes up to there.
 */
static int go_to(struct source *s, struct cursor *c, uint64_t byte, bool through, struct error *err)
{
	int rc = RC_OK;

	through |= s->input->feed != NULL;
	while (through && rc == RC_OK && !c->eof && byte - c->offset > c->rest.len) {
		pass_over(s, c, c->rest.len);
		rc = cursor_more(c, &c->rest, s->piece_bytes, err);
	}
	if (through && byte - c->offset > c->rest.len)
		byte = c->offset + c->rest.len;

	if (byte - c->offset <= c->rest.len) {
		pass_over(s, c, (size_t)(byte - c->offset));
	} else {
		rc = input_skip(&c->in, byte, err);
		c->rest.len = 0;
		c->offset = byte;
		c->eof = false;
	}
	return rc;
}

/* Go to the byte after the next line end, or to the input's end. */
static int go_behind_line(struct source *s, struct cursor *c, struct error *err)
{
	int rc = RC_OK;

	while (rc == RC_OK) {
		size_t len = c->rest.len;

		if (!c->eof)
			len -= len > 0 && c->rest.ptr[len - 1] == '\r';
		size_t line = csv_line(c->rest.ptr, len);
		pass_over(s, c, line > 0 ? line : len);
		if (line > 0)
			return RC_OK;
		if (c->eof) {
			pass_over(s, c, c->rest.len);
			return RC_OK;
		}
		rc = cursor_more(c, &c->rest, s->piece_bytes, err);
	}
	return rc;
}

/* Return the end of the chunk that contains the byte before `at`, which may be the file's end. */
static uint64_t chunk_end(const struct slice *slice, uint64_t at)
{
	uint64_t end = file_chunk_end(at);

	return end < slice->read.size ? end : slice->read.size;
}

/* Skip to the first row of the slice. */
static int go_to_row(struct source *s, struct cursor *c, struct error *err)
{
	struct slice *slice = &s->slice;
	const struct source_slice *asked = &slice->asked;
	uint64_t from = slice->read.from, border = chunk_end(slice, from);
	uint64_t row = asked->row < slice->read.size ? asked->row : slice->read.size;
	int rc = RC_OK;

	file_digest_limit(&c->in.digest, from, slice->read.to);
	slice->before.lo = border;
	slice->after.lo = chunk_end(slice, slice->read.to);
	slice->before.hi = slice->after.hi = UINT64_MAX;
	if ((asked->exact ? row : from) > c->offset || !slice->read.head_read) {
		if (from > c->offset)
			rc = go_to(s, c, asked->exact ? from : from - 1, false, err);
		if (rc == RC_OK && asked->exact)
			rc = go_to(s, c, row, true, err);
		else if (rc == RC_OK)
			rc = go_behind_line(s, c, err);
		c->line = slice->read.line_base = 0;
	}
	slice->read.first = c->offset;
	slice->before.hi = border;
	if (c->offset < border)
		slice->before.lo = c->offset;
	return rc;
}

int slice_begin(struct source *s, struct cursor *c, struct error *err)
{
	struct slice *slice = &s->slice;
	const uint64_t size = file_size(s);
	uint64_t from = slice->asked.from;
	int rc = RC_OK;

	slice->read.size = size;
	/* seqs count from `first`, which is 0 in block formats because the header has no seqs */
	slice->read.first = s->blocks ? 0 : c->offset;
	slice->read.head_read = !s->input->feed || s->input->feed->offset == 0;
	slice->read.head = slice->read.head_read ? slice->read.first : 0;
	slice->read.head_lines = slice->read.line_base = c->line;
	slice->read.whole = !slice->given;
	slice->to = UINT64_MAX;
	slice->read.to = size;
	if (!slice->given)
		return RC_OK;
	if (c->in.kind != INPUT_PLAIN)
		return error_set(
			err, RC_CONFIG,
			"%s: --slice: found a compressed file, expected a plain file; load the "
			"whole file without --slice",
			c->in.name);
	slice->to = slice->asked.to;
	if (slice->asked.parts) {
		from = border(size, slice->asked.part - 1, slice->asked.parts);
		slice->to = border(size, slice->asked.part, slice->asked.parts);
	}
	if (from > size)
		from = size;
	slice->read.from = from;
	slice->read.to = slice->to < size ? slice->to : size;
	if (!slice->read.head_read && from + slice->asked.exact <= c->offset)
		return error_set(
			err, RC_CONFIG,
			"%s: standard input begins at byte %llu, but the slice needs the bytes "
			"from %llu; change --offset",
			c->in.name, (unsigned long long)c->offset,
			(unsigned long long)(from - (from > 0 && !slice->asked.exact)));
	rc = go_to_row(s, c, err);
	s->bytes_before = (s->input->feed ? s->input->feed->offset : 0) - c->offset;
	s->bytes_total = slice->to < size ? slice->to : size;
	s->bytes_total -= c->offset < s->bytes_total ? c->offset : s->bytes_total;
	return rc;
}

/*
 * Return the end, before `data` + `len`, of the row or line that starts at `start` and contains
 * `at`.
 */
static size_t row_end(struct source *s, const uint8_t *data, size_t start, size_t at, size_t len)
{
	size_t from = s->json ? at - 1 : start;
	size_t n = s->json ? csv_line(data + from, len - from)
			   : csv_row(&s->cutter, data + from, len - from);

	return n > 0 ? from + n : len;
}

/* Return the bytes of whole rows or lines in data[0, len). */
static size_t whole_rows(struct source *s, const uint8_t *data, size_t len)
{
	bool open;

	if (!s->json)
		return csv_cut(&s->cutter, data, len, false, s->max_row_bytes, &open);
	while (len > 0 && !csv_is_end(data[len - 1]))
		len--;
	return len;
}

size_t slice_cut(struct source *s, const struct cursor *c, const uint8_t *data, size_t cut)
{
	struct slice *slice = &s->slice;

	if (!slice->given)
		return cut;
	if (cut > slice->to - c->offset) {
		size_t at = (size_t)(slice->to - c->offset);
		/* do not cut between \r and \n */
		size_t between = data[at - 1] == '\r' && data[at] == '\n';
		size_t start = whole_rows(s, data, at - between);

		if (start < at)
			at = row_end(s, data, start, at, cut);
		cut = at;
	}
	XXH3_128bits_update(slice->digest, data, cut);
	borders_add(slice, c->offset, data, cut);
	return cut;
}

bool slice_done(const struct source *s, const struct cursor *c)
{
	return s->slice.given && c->offset >= s->slice.to;
}

int slice_finish(struct source *s, struct cursor *c, struct error *err)
{
	struct slice *slice = &s->slice;
	uint64_t end = chunk_end(slice, slice->read.to);

	slice->finished = true;
	slice->read.end = c->offset;
	slice->after.hi = end;
	if (c->offset < end)
		slice->after.lo = c->offset;
	while (c->offset < end) {
		size_t n = end - c->offset < c->rest.len ? (size_t)(end - c->offset) : c->rest.len;

		pass_over(s, c, n);
		if (c->offset == end || c->eof || c->dry)
			break;
		int rc = cursor_more(c, &c->rest, s->piece_bytes, err);
		if (rc)
			return rc;
	}
	return input_unchanged(&c->in, err);
}

/* Record the digests of a slice. */
static void note_digests(struct source *s, struct cursor *c)
{
	struct slice *slice = &s->slice;
	struct source_part *read = &slice->read;

	digest_of(slice->digest, s->files[0].digest);
	digest_of(slice->before.state, read->before);
	digest_of(slice->after.state, read->after);
	file_digest_sum(&c->in.digest, read->sum);
	read->summed = c->in.digest.at >= chunk_end(slice, read->to);
}

void slice_end(struct source *s, struct cursor *c)
{
	struct slice *slice = &s->slice;
	struct source_part *read = &slice->read;
	struct source_file *file = &s->files[0];

	if (!slice->finished)
		read->end = c->offset;
	read->seqs = s->blocks ? c->ranks : read->end;
	read->lines = c->line - read->line_base;
	read->last = !slice->given || (c->eof && !slice_done(s, c)) || read->end == read->size;
	if (slice->given) {
		note_digests(s, c);
		file->size = read->end - read->first;
		s->bytes_before = 0;
	}
	memcpy(read->digest, file->digest, sizeof read->digest);
	if (read->size == UINT64_MAX)
		read->size = read->to = file->size;
}

void slice_release(struct slice *s)
{
	mem_free(s->digest);
	mem_free(s->before.state);
	mem_free(s->after.state);
}

void source_part(struct source *s, struct source_part *out)
{
	*out = s->slice.read;
	out->rows = atomic_load(&s->rows[0]);
}
