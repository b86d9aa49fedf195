/*
 * plan_file.c - the file of `plan --save`
 *
 *   8     "SMplan\0\1"
 *   4     tables
 *   then for each: 4 length of the name, name, 8 disk_per_byte, 8 measured_bytes (IEEE doubles),
 *         8 length of the sample, the sample in its own checksummed form (splitter/sample.c)
 *
 * All numbers big-endian.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io.h"
#include "mem.h"
#include "planning.h"

static const char magic[8] = {'S', 'M', 'p', 'l', 'a', 'n', 0, SAMPLES_FORMAT};

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
				"%s exists already and is not a file of `saltmill plan --save`; "
				"name another",
				path);
}

static void put_double(struct buf *b, double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof bits);
	buf_be64(b, bits);
}

int samples_save(const struct job *job, const struct table_sample *samples, const char *path,
		 struct error *err)
{
	struct buf b = {0}, one = {0};
	buf_append(&b, magic, sizeof magic);
	buf_be32(&b, (uint32_t)job->ntables);
	for (size_t t = 0; t < job->ntables; t++) {
		const char *name = job->tables[t].schema.name;
		buf_be32(&b, (uint32_t)strlen(name));
		buf_append_str(&b, name);
		put_double(&b, samples[t].disk_per_byte);
		put_double(&b, samples[t].measured_bytes);
		one.len = 0;
		sample_save(samples[t].sample, &one);
		buf_be64(&b, one.len);
		buf_append(&b, one.ptr, one.len);
	}
	int rc = io_replace_file(path, buf_bytes(&b), NULL, err);
	buf_release(&b);
	buf_release(&one);
	return rc;
}

/* What is left of a file being read; short when it ended too early. */
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

/* The ratio of both, each for what it was measured on. */
static void merge_ratio(struct table_sample *s, double ratio, double measured)
{
	double all = s->measured_bytes + measured;
	if (all > 0)
		s->disk_per_byte = (s->disk_per_byte * s->measured_bytes + ratio * measured) / all;
	s->measured_bytes = all;
}

static int take_table(struct unread *r, const struct job *job, size_t t, struct table_sample *s,
		      const char *path, struct error *err)
{
	struct bytes name = take(r, take_number(r, 4));
	const char *want = job->tables[t].schema.name;
	if (!r->cut && !bytes_eq(name, bytes_str(want)))
		return error_set(err, RC_DATA, "%s: table %zu is `%.*s`, the job's is `%s`", path,
				 t + 1, (int)name.len, (const char *)name.ptr, want);
	double ratio = take_double(r), measured = take_double(r);
	struct bytes file = take(r, take_number(r, 8));
	if (r->cut || !(ratio >= 0 && measured >= 0))
		return error_set(err, RC_DATA, "%s: cut short or damaged", path);
	struct sample *more;
	int rc = sample_load(&more, path, file, err);
	if (rc)
		return rc;
	s->table = &job->tables[t];
	merge_ratio(s, ratio, measured);
	if (!s->sample) {
		s->sample = more;
		return RC_OK;
	}
	rc = sample_merge(s->sample, more, err);
	sample_free(more);
	return rc ? error_prefix(err, "%s: ", path) : RC_OK;
}

int samples_merge(const struct job *job, struct table_sample *samples, const char *path,
		  struct error *err)
{
	struct buf b = {0};
	int rc = io_read_file(path, &b, err);
	struct unread r = {.rest = buf_bytes(&b)};
	if (rc == RC_OK) {
		struct bytes head = take(&r, sizeof magic);
		if (!head.ptr || memcmp(head.ptr, magic, sizeof magic) != 0)
			rc = error_set(err, RC_DATA, "%s: not a file of `saltmill plan --save`",
				       path);
		else if (take_number(&r, 4) != job->ntables)
			rc = error_set(err, RC_DATA, "%s: its number of tables is not the job's",
				       path);
	}
	for (size_t t = 0; rc == RC_OK && t < job->ntables; t++)
		rc = take_table(&r, job, t, &samples[t], path, err);
	if (rc == RC_OK && r.rest.len)
		rc = error_set(err, RC_DATA, "%s: %zu bytes too many at the end", path, r.rest.len);
	buf_release(&b);
	return rc;
}
