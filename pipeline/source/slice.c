/*
 * slice.c - some of a file's rows, and proof that slices read elsewhere are all of it
 *
 * A slice has the rows whose first byte lies in it, so the last one is read to its end behind it,
 * and the first one starts behind a line end that is searched from one byte before the slice: where
 * a row ends right there, the slice's first byte starts a row.  In quotes a line end ends no row;
 * the guess is then wrong, and shows, because the slice before ends elsewhere.
 */
#include "slice.h"

#include "blocks.h"
#include "cursor.h"
#include "io.h"
#include "xxhash_fast.h"

#define READ_BYTES ((size_t)1 << 20)

/* --- reading a slice --- */

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

/* The columns' names stand in a file of their own. */
static int read_columns(struct source *s, const char *path, struct error *err)
{
	struct cursor look = {0};
	size_t spare = s->nfiles; /* a place that no input has */

	if (s->json || !s->csv->header)
		return error_set(err, RC_CONFIG,
				 "--columns is for inputs whose header line stands elsewhere, but "
				 "by the job they have none");
	s->files[spare].path = path;
	int rc = input_check(path, &s->stamps[spare], err);
	if (rc == 0)
		rc = cursor_open(s, &look, spare, err);
	cursor_close(&look);
	s->headless = true;
	return rc;
}

static int check_slice(const struct source *s, struct error *err)
{
	const struct source_slice *a = &s->slice.asked;

	if (s->nfiles != 1 || !s->stamps[0].regular)
		return error_set(err, RC_CONFIG, "--slice is of one file: found %zu inputs%s",
				 s->nfiles, s->nfiles == 1 ? ", which is a stream" : "");
	if (s->blocks)
		return error_set(err, RC_CONFIG,
				 "--slice is of text, whose lines are found anywhere: found "
				 "%s, expected a csv or json source",
				 s->blocks->key);
	if (s->csv->encoding)
		return error_set(err, RC_CONFIG,
				 "--slice counts bytes of UTF-8, found source.csv.encoding: %s",
				 s->csv->encoding);
	if (a->parts ? a->part < 1 || a->part > a->parts : !a->exact && a->from > a->to)
		return error_set(err, RC_CONFIG, "--slice: the slice ends before it begins");
	return RC_OK;
}

/* A row key depends on where in the file its event stands. */
static bool draws_by_place(const struct job *job)
{
	for (size_t t = 0; t < job->ntables; t++)
		for (size_t i = 0; i < job->tables[t].nrowkey; i++)
			if (job->tables[t].rowkey[i].draw == DRAW_ROUND_ROBIN)
				return true;
	return false;
}

int slice_open(struct source *s, const struct source_options *o, struct error *err)
{
	struct slice *slice = &s->slice;
	int rc = RC_OK;

	s->seq_base = SOURCE_FILE_SEQ(o->number);
	slice->read.number = o->number;
	slice->given = o->slice != NULL;
	if (slice->given) {
		slice->asked = *o->slice;
		slice->digest = digest_new();
		rc = check_slice(s, err);
	}
	if (rc == 0 && slice->given && draws_by_place(o->job))
		rc = error_set(
			err, RC_CONFIG,
			"--slice: a salt is drawn in turn, `draw: round_robin`, by the line "
			"that an event stands in, and a slice does not know its lines; expected "
			"another salt");
	if (rc == 0 && o->columns_file)
		rc = read_columns(s, o->columns_file, err);
	return rc;
}

/* n-th border of so many equal parts. */
static uint64_t border(uint64_t size, unsigned n, unsigned parts)
{
	return size / parts * n + size % parts * n / parts;
}

/* Drop what is in front of the byte, which is not before the cursor. */
static int go_to(struct cursor *c, uint64_t byte, struct error *err)
{
	int rc = RC_OK;

	if (byte - c->offset <= c->rest.len) {
		cursor_advance(c, (size_t)(byte - c->offset));
	} else {
		rc = input_skip(&c->in, byte, err);
		c->rest.len = 0;
		c->offset = byte;
		c->eof = false;
	}
	return rc;
}

/* Behind the next line end, or to the input's end. */
static int go_behind_line(const struct source *s, struct cursor *c, struct error *err)
{
	int rc = RC_OK;

	while (rc == 0) {
		size_t len = c->rest.len;
		if (!c->eof)
			len -= len > 0 && c->rest.ptr[len - 1] == '\r';
		size_t line = csv_line(c->rest.ptr, len);
		cursor_advance(c, line > 0 ? line : len);
		if (line > 0)
			return RC_OK;
		if (c->eof) {
			cursor_advance(c, c->rest.len);
			return RC_OK;
		}
		rc = cursor_more(c, &c->rest, s->piece_bytes, err);
	}
	return rc;
}

int slice_begin(struct source *s, struct cursor *c, struct error *err)
{
	struct slice *slice = &s->slice;
	const uint64_t size = s->stamps[0].size;
	uint64_t from = slice->asked.from;
	int rc = RC_OK;

	slice->read.size = size;
	slice->read.head = slice->read.first = c->offset;
	slice->read.head_lines = slice->read.line_base = c->line;
	slice->read.whole = !slice->given;
	slice->to = UINT64_MAX;
	slice->read.to = size;
	if (!slice->given)
		return RC_OK;
	if (c->in.kind != INPUT_PLAIN)
		return error_set(err, RC_CONFIG,
				 "%s: --slice is of a plain file, and this one is packed: it is "
				 "read as a whole",
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
	if (from > c->offset) {
		rc = go_to(c, slice->asked.exact ? from : from - 1, err);
		if (rc == 0 && !slice->asked.exact)
			rc = go_behind_line(s, c, err);
		c->line = slice->read.line_base = 0;
	}
	slice->read.first = c->offset;
	s->bytes_before = 0 - c->offset;
	s->bytes_total = slice->to < size ? slice->to : size;
	s->bytes_total -= c->offset < s->bytes_total ? c->offset : s->bytes_total;
	return rc;
}

/* Where the row or line at `start` ends, in front of data + len; the one at `at` is in it. */
static size_t row_end(struct source *s, const uint8_t *data, size_t start, size_t at, size_t len)
{
	size_t from = s->json ? at - 1 : start;
	size_t n = s->json ? csv_line(data + from, len - from)
			   : csv_row(&s->cutter, data + from, len - from);

	return n > 0 ? from + n : len;
}

/* Bytes of whole rows and lines in data[0, len). */
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
		size_t between = data[at - 1] == '\r' && data[at] == '\n'; /* one line end */
		size_t start = whole_rows(s, data, at - between);
		if (start < at)
			at = row_end(s, data, start, at, cut);
		cut = at;
	}
	XXH3_128bits_update(slice->digest, data, cut);
	return cut;
}

bool slice_done(const struct source *s, const struct cursor *c)
{
	return s->slice.given && c->offset >= s->slice.to;
}

void slice_end(struct source *s, struct cursor *c)
{
	struct slice *slice = &s->slice;
	struct source_part *read = &slice->read;
	struct source_file *file = &s->files[0];

	read->end = c->offset;
	read->seqs = s->blocks ? c->ranks : c->offset;
	read->lines = c->line - read->line_base;
	read->last = !slice->given || (c->eof && !slice_done(s, c)) || c->offset == read->size;
	if (slice->given) {
		digest_of(slice->digest, file->digest);
		file->size = read->end - read->first;
		s->bytes_before = 0;
	}
	memcpy(read->digest, file->digest, sizeof(read->digest));
}

void slice_release(struct slice *s)
{
	mem_free(s->digest);
}

void source_part(struct source *s, struct source_part *out)
{
	*out = s->slice.read;
	out->rows = atomic_load(&s->rows[0]);
}

/* --- slices that were read elsewhere --- */

/* A file as it is now, and the parts that were read of it. */
struct proof {
	struct source *s;
	size_t file;
	const struct source_part *part;
	size_t n;
	struct input in;
	uint64_t at;	 /* bytes seen */
	void *all, *one; /* digests: of the file, of the part */
};

static int changed(const struct proof *p, const struct source_part *part, struct error *err)
{
	return error_set(err, RC_IO,
			 "%s: bytes %llu to %llu are not those that were mapped: it changed since",
			 p->in.name, (unsigned long long)part->first,
			 (unsigned long long)part->end);
}

/* Read on to `end`, into the file's digest and that of the part at hand. */
static int read_to(struct proof *p, uint64_t end, bool in_part, uint8_t *buf, struct error *err)
{
	while (p->at < end) {
		size_t got, want = end - p->at < READ_BYTES ? (size_t)(end - p->at) : READ_BYTES;
		int rc = input_read(&p->in, buf, want, &got, err);
		if (rc != 0)
			return rc;
		if (got == 0)
			return error_set(err, RC_IO,
					 "%s: found %llu bytes, expected %llu: it changed since it "
					 "was mapped",
					 p->in.name, (unsigned long long)p->at,
					 (unsigned long long)end);
		XXH3_128bits_update(p->all, buf, got);
		if (in_part)
			XXH3_128bits_update(p->one, buf, got);
		p->at += got;
	}
	return RC_OK;
}

static int prove_plain(struct proof *p, uint8_t *buf, struct error *err)
{
	struct source_file *file = &p->s->files[p->file];
	uint8_t digest[16];
	int rc = RC_OK;

	for (size_t i = 0; rc == 0 && i < p->n; i++) {
		const struct source_part *part = &p->part[i];
		if (part->whole || part->first == part->end)
			continue;
		rc = read_to(p, part->first, false, buf, err);
		XXH3_128bits_reset(p->one);
		if (rc == 0)
			rc = read_to(p, part->end, true, buf, err);
		digest_of(p->one, digest);
		if (rc == 0 && memcmp(digest, part->digest, sizeof(digest)) != 0)
			rc = changed(p, part, err);
	}
	if (rc == 0)
		rc = read_to(p, file->size, false, buf, err);
	if (rc == 0)
		rc = input_unchanged(&p->in, err);
	digest_of(p->all, file->digest);
	return rc;
}

static int prove_file(struct proof *p, struct error *err)
{
	struct source *s = p->s;
	struct source_file *file = &s->files[p->file];
	int rc = input_open(&p->in, file->path, err);

	if (rc == 0)
		rc = input_same(&p->in, &s->stamps[p->file], err);
	if (rc == 0 && p->in.kind != INPUT_PLAIN) {
		rc = io_digest_file(file->path, file->digest, &file->size, err);
	} else if (rc == 0) {
		uint8_t *buf = mem_alloc(READ_BYTES);
		p->all = digest_new();
		p->one = digest_new();
		rc = prove_plain(p, buf, err);
		mem_free(p->all);
		mem_free(p->one);
		mem_free(buf);
	}
	if (rc == 0 && p->n == 1 && p->part->whole &&
	    (memcmp(file->digest, p->part->digest, sizeof(file->digest)) != 0 ||
	     file->size != p->part->size))
		rc = changed(p, p->part, err);
	input_close(&p->in);
	return rc;
}

static void note_parts(const struct proof *p)
{
	struct source *s = p->s;
	uint64_t lines = p->n ? p->part->head_lines : 0, rows = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct source_part *part = &p->part[i];
		const struct place at = {.seq = SOURCE_FILE_SEQ(part->number) + part->first,
					 .line = lines,
					 .offset = part->first,
					 .file = p->file};
		places_note(&s->places, &at);
		lines += part->lines;
		rows += part->rows;
	}
	atomic_store(&s->rows[p->file], rows);
}

int source_take_parts(struct source *s, const struct source_part *parts, size_t n,
		      struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0, at = 0; rc == 0 && i < s->nfiles; i++) {
		struct proof p = {.s = s, .file = i, .part = parts + at};
		while (at < n && parts[at].number == i) {
			at++;
			p.n++;
		}
		rc = prove_file(&p, err);
		note_parts(&p);
	}
	return rc;
}
