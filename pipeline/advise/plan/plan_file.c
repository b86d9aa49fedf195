/*
 * plan_file.c - writes, reads and merges the files of `plan --save`
 *
 *   8     "SMplan\0\3"
 *   8 8 8 events, rejected events, newest cell timestamp
 *   4     1 and the columns of the input; 0 if they are not known
 *   4     columns, then for each: 4 length of the name, name
 *   4     tables
 *   then for each: 4 length of the name, name, 8 disk_per_byte, 8 measured_bytes (IEEE doubles),
 *         8 length of the sample, the sample in its own checksummed form (splitter/sample.c),
 *         4 families with settings of `level: auto`, 0: none, or all; then for each 4 level,
 *         4 hash_log, 4 min_match, 4 chosen (0 or 1), 4 encoding, 4 block_bytes, 8 plain_bytes,
 *         8 stored_bytes, 8 usual_bytes
 *
 * All numbers are big-endian.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io.h"
#include "mem.h"
#include "planning.h"

static const char magic[8] = {'S', 'M', 'p', 'l', 'a', 'n', 0, SAMPLES_FORMAT};

#define BLOCK_MOST (16u << 20) /* as in the job */

int samples_check(const char *path, struct error *err)
{
	char head[sizeof magic];

	FILE *f = fopen(path, "re");
	if (!f && errno == ENOENT)
		return RC_OK;
	bool ours = f && fread(head, sizeof head, 1, f) == 1 && !memcmp(head, magic, sizeof head);
	if (f)
		fclose(f);
	return ours ? RC_OK
		    : error_set(err, RC_CONFIG,
				"%s already exists and is not a file of `saltmill plan --save`; "
				"choose another name",
				path);
}

static void put_double(struct buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	buf_be64(b, bits);
}

static void put_text(struct buf *b, const char *text)
{
	buf_be32(b, (uint32_t)strlen(text));
	buf_append_str(b, text);
}

static void put_counts(struct buf *b, const struct planning_counts *c)
{
	bool known = c->columns && !c->columns_differ;

	buf_be64(b, c->events);
	buf_be64(b, c->rejected);
	buf_be64(b, (uint64_t)c->newest_ms);
	buf_be32(b, known);
	buf_be32(b, known ? (uint32_t)c->ncolumns : 0);
	for (size_t i = 0; known && i < c->ncolumns; i++)
		put_text(b, c->columns[i]);
}

static void put_tuning(struct buf *b, const struct table_sample *s)
{
	size_t n = s->tuned && !s->untuned ? s->table->schema.nfamilies : 0;

	buf_be32(b, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		buf_be32(b, (uint32_t)s->tuned[i].level);
		buf_be32(b, s->tuned[i].hash_log);
		buf_be32(b, s->tuned[i].min_match);
		buf_be32(b, s->tuned[i].chosen);
		buf_be32(b, (uint32_t)s->tuned[i].encoding);
		buf_be32(b, s->tuned[i].block_bytes);
		buf_be64(b, s->tuned[i].plain_bytes);
		buf_be64(b, s->tuned[i].stored_bytes);
		buf_be64(b, s->tuned[i].usual_bytes);
	}
}

int samples_save(const struct job *job, const struct table_sample *samples,
		 const struct planning_counts *counts, const char *path, struct error *err)
{
	struct buf b = {0}, one = {0};

	buf_append(&b, magic, sizeof magic);
	put_counts(&b, counts);
	buf_be32(&b, (uint32_t)job->ntables);
	for (size_t t = 0; t < job->ntables; t++) {
		put_text(&b, job->tables[t].schema.name);
		put_double(&b, samples[t].disk_per_byte);
		put_double(&b, samples[t].measured_bytes);
		one.len = 0;
		sample_save(samples[t].sample, &one);
		buf_be64(&b, one.len);
		buf_append(&b, one.ptr, one.len);
		put_tuning(&b, &samples[t]);
	}
	int rc = io_replace_file(path, buf_bytes(&b), NULL, err);
	buf_release(&b);
	buf_release(&one);
	return rc;
}

/* The unread part of a file. `short` is true if the file ended too early. */
struct unread {
	struct bytes rest;
	bool cut;
};

static struct bytes take(struct unread *r, uint64_t len)
{
	struct bytes none = {0};

	if (len > r->rest.len) {
		r->cut = true;
		return none;
	}
	struct bytes out = bytes_of(r->rest.ptr, (size_t)len);
	r->rest = bytes_of(r->rest.ptr + len, r->rest.len - (size_t)len);
	return out;
}

static uint64_t take_number(struct unread *r, size_t width)
{
	struct bytes b = take(r, width);

	if (!b.ptr)
		return 0;
	return width == 4 ? get_be32(b.ptr) : get_be64(b.ptr);
}

static double take_double(struct unread *r)
{
	uint64_t bits = take_number(r, 8);
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

/* Add a measured ratio. The bytes of each measurement are the weight of its ratio. */
static void merge_ratio(struct table_sample *s, double ratio, double measured)
{
	double all = s->measured_bytes + measured;

	if (all > 0)
		s->disk_per_byte = (s->disk_per_byte * s->measured_bytes + ratio * measured) / all;
	s->measured_bytes = all;
}

static int damaged(const char *path, struct error *err)
{
	return error_set(err, RC_DATA,
			 "%s: truncated or damaged; run `saltmill plan --save` "
			 "again",
			 path);
}

/*
 * Prefer the settings that more bytes support. If the bytes are equal, compare the settings as
 * numbers, so that the order of the files does not matter.
 */
static bool is_better(const struct hfile_tuning *a, const struct hfile_tuning *b)
{
	if (a->plain_bytes != b->plain_bytes)
		return a->plain_bytes > b->plain_bytes;
	if (a->stored_bytes != b->stored_bytes)
		return a->stored_bytes < b->stored_bytes;
	if (a->level != b->level)
		return a->level < b->level;
	if (a->hash_log != b->hash_log)
		return a->hash_log < b->hash_log;
	if (a->min_match != b->min_match)
		return a->min_match < b->min_match;
	return a->encoding != b->encoding ? a->encoding < b->encoding
					  : a->block_bytes < b->block_bytes;
}

static struct hfile_tuning take_settings(struct unread *r)
{
	struct hfile_tuning t = {.level = (int)(int32_t)take_number(r, 4)};

	t.hash_log = (uint32_t)take_number(r, 4);
	t.min_match = (uint32_t)take_number(r, 4);
	t.chosen = take_number(r, 4) != 0;
	t.encoding = (enum block_encoding)take_number(r, 4);
	t.block_bytes = (uint32_t)take_number(r, 4);
	t.plain_bytes = take_number(r, 8);
	t.stored_bytes = take_number(r, 8);
	t.usual_bytes = take_number(r, 8);
	return t;
}

/* Read the tuning of a table. `rows` is true if the sample has rows. */
static int take_tuning(struct unread *r, struct table_sample *s, bool rows, struct arena *a,
		       const char *path, struct error *err)
{
	size_t n = (size_t)take_number(r, 4), families = s->table->schema.nfamilies;

	if (r->cut || (n && n != families))
		return damaged(path, err);
	s->untuned |= n == 0 && rows;
	for (size_t i = 0; i < n; i++) {
		struct hfile_tuning t = take_settings(r);

		if (r->cut || t.level > 22 || t.level < LEVEL_HUFFMAN || t.hash_log > 30 ||
		    t.min_match > 8 || !encoding_named(encoding_name(t.encoding), &t.encoding) ||
		    t.block_bytes > BLOCK_MOST)
			return damaged(path, err);
		if (!s->tuned)
			s->tuned = arena_alloc(a, families * sizeof *s->tuned);
		if (is_better(&t, &s->tuned[i]))
			s->tuned[i] = t;
	}
	return RC_OK;
}

static bool same_columns(const struct planning_counts *c, const char *const *columns, size_t n)
{
	bool same = c->ncolumns == n;

	for (size_t i = 0; same && i < n; i++)
		same = strcmp(c->columns[i], columns[i]) == 0;
	return same;
}

/*
 * Add the counts of a file. `first` is true for the first file. A file without events has the
 * columns of the plan only if no file has events.
 */
static int take_counts(struct unread *r, struct planning_counts *c, bool first, struct arena *a,
		       const char *path, struct error *err)
{
	uint64_t events = take_number(r, 8);
	bool decides = first || (events && !c->events);
	c->events += events;
	c->rejected += take_number(r, 8);
	int64_t newest = (int64_t)take_number(r, 8);
	c->newest_ms = newest > c->newest_ms ? newest : c->newest_ms;
	bool known = take_number(r, 4) == 1;
	size_t n = (size_t)take_number(r, 4);
	if (r->cut || n > r->rest.len)
		return damaged(path, err);
	const char **columns = arena_alloc(a, (n + 1) * sizeof *columns);
	for (size_t i = 0; i < n; i++) {
		struct bytes name = take(r, take_number(r, 4));

		columns[i] = arena_strndup(a, name.len ? (const char *)name.ptr : "", name.len);
	}
	if (r->cut)
		return damaged(path, err);
	if (decides) {
		c->columns = known ? columns : NULL;
		c->ncolumns = known ? n : 0;
		c->columns_differ = !known;
	} else if (events) {
		c->columns_differ |= !known || !same_columns(c, columns, n);
	}
	return RC_OK;
}

static int take_table(struct unread *r, const struct job *job, size_t t, struct table_sample *s,
		      struct arena *a, const char *path, struct error *err)
{
	struct bytes name = take(r, take_number(r, 4));
	const char *want = job->tables[t].schema.name;

	if (!r->cut && !bytes_eq(name, bytes_str(want)))
		return error_set(
			err, RC_DATA,
			"%s: found `%.*s` as table %zu, expected `%s` of the job; save the "
			"sketches with this job again",
			path, (int)name.len, (const char *)name.ptr, t + 1, want);
	double ratio = take_double(r), measured = take_double(r);
	struct bytes file = take(r, take_number(r, 8));
	if (r->cut || !(ratio >= 0 && measured >= 0))
		return damaged(path, err);
	struct sample *more;
	int rc = sample_load(&more, path, file, err);
	if (rc)
		return rc;
	s->table = &job->tables[t];
	merge_ratio(s, ratio, measured);
	if (s->sample) {
		rc = sample_merge(s->sample, more, err);
		sample_free(more);
		if (rc)
			return error_prefix(err, "%s: ", path);
	} else {
		s->sample = more;
	}
	return take_tuning(r, s, measured > 0, a, path, err);
}

int samples_merge(const struct job *job, struct table_sample *samples,
		  struct planning_counts *counts, struct arena *a, const char *path,
		  struct error *err)
{
	bool first = job->ntables && !samples[0].sample;
	struct buf b = {0};
	int rc = io_read_file(path, &b, err);
	struct unread r = {.rest = buf_bytes(&b)};

	if (rc == RC_OK) {
		struct bytes head = take(&r, sizeof magic);

		if (!head.ptr || memcmp(head.ptr, magic, sizeof magic) != 0)
			rc = error_set(err, RC_DATA,
				       "%s: found no sketches, expected a file that `saltmill plan "
				       "--save` wrote",
				       path);
		else
			rc = take_counts(&r, counts, first, a, path, err);
		if (rc == RC_OK && take_number(&r, 4) != job->ntables)
			rc = error_set(
				err, RC_DATA,
				"%s: found another number of tables than in the job; save the "
				"sketches with this job again",
				path);
	}
	for (size_t t = 0; rc == RC_OK && t < job->ntables; t++)
		rc = take_table(&r, job, t, &samples[t], a, path, err);
	if (rc == RC_OK && r.rest.len)
		rc = error_set(
			err, RC_DATA,
			"%s: found %zu bytes after the last table, expected none; run `saltmill "
			"plan --save` again",
			path, r.rest.len);
	buf_release(&b);
	return rc;
}
